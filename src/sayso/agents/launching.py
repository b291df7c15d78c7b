"""Puts agents on their way: their line to the person, their environment, a runner of their own. May block."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property

from sayso.agents import relay_file
from sayso.agents.agent import PersonLine
from sayso.agents.desk import RunDesk
from sayso.agents.kinds import AGENTS
from sayso.agents.model import Run
from sayso.brought import BroughtFile, brought
from sayso.clients import RUN_VARIABLE
from sayso.config import Config
from sayso.dialects import promptmanager
from sayso.errors import RelayFileError
from sayso.running.environment import Environments
from sayso.running.folder import Status
from sayso.running.launch import Launch
from sayso.running.spawner import Spawner
from sayso.store import Store

logger = logging.getLogger(__name__)

OUTPUT_BYTES = 64 * 1024 * 1024
"""The most that is kept on disk of what an agent prints. Whoever follows it may fall behind by a quarter of that."""
_OF_ANOTHER_AGENT = {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"}
"""What an agent that started this very server would hand down; it is not about the agents that the page starts."""


class Launcher:
    """Starts the agents of one process. `address` is where they reach the web server, on this machine."""

    def __init__(self, config: Config, store: Store, address: str) -> None:
        self._config, self._store, self._address = config, store, address
        self._spawner = Spawner(pool_size=1, idle_seconds=config.command_idle / 1000)
        self._environments = Environments(folder=config.environments_dir)

    def kept_out(self, run: Run) -> tuple[BroughtFile, ...]:
        """What the agent would load of its project, and must not: nobody has trusted it as it is."""
        return brought(self._config, run.project.directory).kept_from(AGENTS[run.agent].reads)

    def start(self, run: Run, kept_out: Sequence[BroughtFile] = ()) -> Future[Status]:
        """Start the agent; the future ends with it. One that cannot be started is a status too."""
        line, timeout = self._line(run), self._config.run_timeout
        launch = Launch(
            folder=run.folder,
            argv=AGENTS[run.agent].argv(self._config, run, line, kept_out),
            cwd=run.project.directory,
            env=self._environment(run, line),
            stdin=run.prompt.encode(errors="replace"),
            timeout_seconds=timeout / 1000 if timeout else None,
            grace_seconds=self._config.command_grace / 1000,
            # An agent that may still act would go on with whatever it is told of its open questions.
            stop_grace_seconds=0,
            max_bytes=OUTPUT_BYTES,
        )
        return self._spawner.start_operation(launch)

    def adopt(self, run: Run) -> Future[Status]:
        """The end of an agent that another server has started. Its line leads to this server from now on."""
        try:
            self._line(run)
        except RelayFileError as error:
            logger.warning("The line of run %s leads nowhere: %s", run.id, error)
        return self._spawner.adopt(run.folder)

    def clear_away(self, run: Run) -> None:
        """What an agent that has ended needs no more. What it printed has become events."""
        relay_file.remove(self._config, run.token, run.id)
        shutil.rmtree(run.folder, ignore_errors=True)

    def sweep(self, runs: RunDesk) -> None:
        """What agents left behind that nobody cleared away after."""
        living = frozenset(name for run in runs.open_here() for name in (run.token, run.id))
        relay_file.sweep(self._config, living)

    def leave(self) -> None:
        """Let go of the agents; they go on."""
        self._spawner.leave()

    def _line(self, run: Run) -> PersonLine | None:
        """The agent's line to the person, unless the settings or the project say that it has none."""
        config, options = self._config, run.project.options
        if not config.mcp_ask_user_enabled or not options.ask_user:
            return None
        relay = relay_file.RelayFile(
            api_url=self._address,
            stream_token=run.token,
            user_id=run.user,
            project_id=run.project.id,
            csrf_token=relay_file.csrf_token(self._relay_key, run.token),
            timeout=options.ask_user_timeout or config.mcp_ask_user_timeout // 1000,
        )
        folder, entry = relay_file.home(config, run.token), relay_file.entry(config)
        file = relay_file.write(folder, relay)
        return PersonLine(
            relay_file=file,
            config_file=relay_file.write_client_config(folder, run.id, entry, file, config),
            server=relay_file.SERVER_NAME,
            command=entry.asking_only,
            ask_tool=f"mcp__{relay_file.SERVER_NAME}__{promptmanager.NAME}",
            approve_tool=relay_file.PERMISSION_TOOL if entry.approves else "",
        )

    @cached_property
    def _relay_key(self) -> bytes:
        return self._store.secret(relay_file.KEY)

    def _environment(self, run: Run, line: PersonLine | None) -> Mapping[str, str]:
        login = self._environments.for_project(run.project.directory)
        environment = {name: value for name, value in login.items() if name not in _OF_ANOTHER_AGENT}
        environment[RUN_VARIABLE] = run.id
        return environment | relay_file.environment(line.relay_file, self._config) if line else environment
