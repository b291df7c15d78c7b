"""Puts commands on their way: looks whether the program is there, prepares folder and environment, starts a runner.

Plain code that may block: not for the event loop. Costs nothing before the first command.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from sayso.config import Config
from sayso.operations.availability import Availability
from sayso.operations.operation import Operation
from sayso.operations.order import Order
from sayso.running.environment import Environments
from sayso.running.folder import Status
from sayso.running.launch import Launch
from sayso.running.spawner import Spawner
from sayso.toolfiles.argv import Invocation

BEFORE_SECONDS = 60.0
"""How long the command that empties a log before it is followed may take."""


class Starter:
    """Starts the commands of one process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.spawner = Spawner(pool_size=config.command_runners, idle_seconds=config.command_idle / 1000)
        self._environments = Environments(folder=config.environments_dir)
        self._availability = Availability(self.spawner)

    def check(self, order: Order) -> None:
        """Return when the program of the tool is there; a ToolUnavailable says how to install it."""
        if order.tool.leaf.probes:
            self._availability.check(order.tool.leaf, order.project, self._environments.for_project(order.project))

    def environment(self, project: Path) -> Mapping[str, str]:
        return self._environments.for_project(project)

    def start(self, operation: Operation, order: Order, command: Invocation) -> Future[Status]:
        """Start the command; the future ends with it."""
        if command.files or command.before:
            operation.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in command.files:
            file.write()
        launch = Launch(
            folder=operation.folder,
            argv=command.argv,
            cwd=command.cwd,
            env={**self._environments.for_project(order.project), **command.env},
            stdin=command.stdin,
            timeout_seconds=operation.timeout_seconds,
            grace_seconds=self._config.command_grace / 1000,
            max_bytes=order.max_bytes(self._config),
        )
        if command.before:
            self._run_first(replace(launch, folder=operation.folder / "before", argv=command.before, stdin=None))
        return self.spawner.start_operation(launch)

    def _run_first(self, launch: Launch) -> None:
        """Run to its end what comes before. How it ends does not matter; how long it takes is bounded."""
        self.spawner.start_operation(replace(launch, timeout_seconds=BEFORE_SECONDS)).result()
