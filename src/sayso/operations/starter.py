"""Puts commands on their way: looks whether the program is there, prepares folder and environment, starts a runner.

Plain code that may block: not for the event loop. Costs nothing before the first command.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from sayso.config import Config
from sayso.errors import SaysoError, ToolUnavailable
from sayso.operations.operation import BEFORE, Operation, not_started
from sayso.operations.order import Order
from sayso.operations.wanted_action import place_among_first
from sayso.permissions.action import Action
from sayso.records import replace
from sayso.running.capture import STREAMS
from sayso.running.environment import Environments
from sayso.running.excerpt import Excerpts
from sayso.running.folder import Status
from sayso.running.launch import Launch
from sayso.running.program import in_short
from sayso.running.sandbox import Sandbox
from sayso.running.spawner import Spawner
from sayso.toolfiles.argv import Invocation
from sayso.toolfiles.leaves import Leaf, Probe

BEFORE_SECONDS = 60.0
"""How long the command that empties a log before it is followed may take."""

NOT_ALLOWED_FIRST = (
    "It was not run: a command that runs before it changed after it was allowed. "
    "Call it again to have it allowed as it is now."
)
PROBE_SECONDS = 20.0
_PROBE_BYTES = 4096


class Starter:
    """Starts the commands of one process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.spawner = Spawner(pool_size=config.command_runners, idle_seconds=config.command_idle / 1000)
        self._environments = Environments(folder=config.environments_dir)
        self._there: set[tuple[Probe, Path]] = set()

    def checks(self, order: Order) -> tuple[Probe, ...]:
        """What has to be run to see whether the program of the tool is there. What was not there is asked for again: it
        may have been installed."""
        return tuple(probe for probe in order.tool.leaf.probes if (probe, order.project) not in self._there)

    def sandbox(self, order: Order) -> Sandbox | None:
        """What its commands are kept to."""
        return order.sandbox(self._config)

    def check(self, order: Order, allowed: Action | None) -> Status | None:
        """See whether the program of the tool is there; a ToolUnavailable says how to install it. Where somebody had to
        allow that, there is an operation by now: a status says why it does not begin."""
        for probe in self.checks(order):
            status = self._run_probe(probe, order, allowed)
            if status.refused:
                return status
            if status.reason != "exit" or status.exit_code not in probe.success_exit_codes:
                why = _missing(order.tool.leaf, probe, status)
                if allowed:
                    return Status(reason="spawn_failed", text=why)
                raise ToolUnavailable(f"{order.tool.leaf.name} {not_started(why)}")
            self._there.add((probe, order.project))
        return None

    def _run_probe(self, probe: Probe, order: Order, allowed: Action | None) -> Status:
        project, sandbox = order.project, self.sandbox(order)
        with tempfile.TemporaryDirectory(prefix="sayso-probe-") as folder:
            launch = Launch(
                folder=Path(folder),
                argv=probe.argv,
                cwd=project / (probe.cwd or ""),
                env=self.environment(project),
                timeout_seconds=PROBE_SECONDS,
                max_bytes=_PROBE_BYTES,
                sandbox=sandbox.message if sandbox else None,
            )
            return self._run_first(launch, allowed)

    def _run_first(self, launch: Launch, allowed: Action | None) -> Status:
        """How a command ended that comes before another, if it is what was allowed, where somebody had to."""
        if allowed:
            place = place_among_first(allowed, launch.argv, launch.cwd)
            if place is None:
                return Status(reason="cancelled", text=NOT_ALLOWED_FIRST)
            launch = replace(launch, allowed=_allowed(allowed, place))
        # Bounded by the launch's own limit, and by how long a tree takes to end.
        return self.spawner.start_operation(launch).result()

    def environment(self, project: Path) -> Mapping[str, str]:
        return self._environments.for_project(project)

    def is_ready(self, order: Order, command: Invocation) -> bool:
        """Whether it can be started without waiting for a runner, a login shell or another command."""
        return not command.before and self.spawner.is_ready and self._environments.knows(order.project)

    def start(self, operation: Operation, order: Order, command: Invocation, allowed: Action | None) -> Future[Status]:
        """Start the command, if it still is what was allowed, where somebody had to; the future ends with it. That it
        could not be started is an end too."""
        try:
            return self._started(operation, order, command, allowed)
        except (SaysoError, OSError) as error:
            return _at_once(Status(reason="spawn_failed", text=str(error)))
        except Exception as error:  # of ours: it is open by now, and whoever sees it through must hear
            return _failed(error)

    def _started(
        self, operation: Operation, order: Order, command: Invocation, allowed: Action | None
    ) -> Future[Status]:
        if command.files or command.before:
            operation.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in command.files:
            file.write()
        launch = Launch(
            folder=operation.folder,
            argv=command.argv,
            cwd=command.cwd,
            env={**self.environment(order.project), **command.env},
            stdin=command.stdin,
            timeout_seconds=operation.timeout_seconds,
            grace_seconds=self._config.command_grace / 1000,
            max_bytes=order.max_bytes(self._config),
            allowed=_allowed(allowed, None),
            leads_to=command.leads_to,
            sandbox=_reading(self.sandbox(order), command),
        )
        if command.before:
            first = replace(launch, folder=operation.folder / BEFORE, argv=command.before, stdin=None)
            # How it ends does not matter; how long it takes is bounded.
            ended = self._run_first(replace(first, timeout_seconds=BEFORE_SECONDS), allowed)
            if ended.refused:
                return _at_once(ended)
        return self.spawner.start_operation(launch)

    def explained(self, status: Status, order: Order, command: Invocation, folder: Path, excerpts: Excerpts) -> Status:
        """How a command failed, with what its sandbox may have to do with it."""
        sandbox = self.sandbox(order)
        if sandbox is None:
            return status
        from sayso.running.denials import LOOKED_AT, guess  # only for what a sandbox may have kept from its work

        printed = [excerpts.tail(folder, stream, limit=LOOKED_AT).text for stream in STREAMS]
        return replace(status, text=guess("\n".join(printed), sandbox, str(command.cwd)))


def _allowed(action: Action | None, first: int | None) -> Mapping[str, Any] | None:
    """What the runner compares; `first` is which of those that run first it is about to run."""
    return {"action": action.plain, "digest": action.digest, "first": first} if action else None


def _reading(sandbox: Sandbox | None, command: Invocation) -> Mapping[str, Any] | None:
    """What the runner is told of the sandbox: the files that were written for the command are there for it to read."""
    if sandbox is None:
        return None
    written = (os.path.realpath(file.path) for file in command.files)
    return replace(sandbox, read=(*sandbox.read, *written)).message


def _at_once(status: Status) -> Future[Status]:
    ended: Future[Status] = Future()
    ended.set_result(status)
    return ended


def _failed(error: Exception) -> Future[Status]:
    ended: Future[Status] = Future()
    ended.set_exception(error)
    return ended


def with_install_hint(why: str, leaf: Leaf) -> str:
    """Why a program cannot be started, and how to get it where its tool file says that."""
    told = leaf.settings.install_instructions
    return f"{in_short(why)} To install it: {told}" if told else why


def _missing(leaf: Leaf, probe: Probe, status: Status) -> str:
    """What a check has found out that did not go well."""
    check = f"`{shlex.join(probe.argv)}`"
    match status.reason:
        case "exit":
            why = f"{check} ended with {status.ended_with}."
        case "timed_out":
            why = f"{check} took more than {PROBE_SECONDS:.0f} s."
        case _:
            why = status.text
    return with_install_hint(why, leaf)
