"""Puts agents on their way: their line to the person, their environment, a runner of their own. May block."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import Any

from sayso.agents import relay_file
from sayso.agents.agent import PersonLine, saying_name
from sayso.agents.desk import RunDesk
from sayso.agents.kinds import AGENTS, program_of
from sayso.agents.model import Project, Run, Saying, Spoken
from sayso.agents.rows import options_data
from sayso.brought import BroughtFile, brought
from sayso.clients import RUN_VARIABLE
from sayso.config import Config
from sayso.dialects import promptmanager
from sayso.errors import NotTrusted, RelayFileError, ToolUnavailable
from sayso.files import replace_file
from sayso.running import speaking
from sayso.running.environment import Environments
from sayso.running.folder import Status, end_leftovers, is_running, wait
from sayso.running.launch import Launch
from sayso.running.program import find, in_short
from sayso.running.spawner import Spawner
from sayso.store import Store
from sayso.text import spelt_out

logger = logging.getLogger(__name__)

OUTPUT_BYTES = 64 * 1024 * 1024
"""The most that is kept on disk of what an agent prints. Whoever follows it may fall behind by a quarter of that."""
SpokenInOrder = Sequence[tuple[int, Spoken]]
"""What is said to an agent, with its numbers."""
MOST_NAMES = 5
"""Files that are named to the person when an agent works without them, or not at all."""
_STARTED = "started.json"
_LEAVES_WITHIN = 30.0
"""Seconds in which an agent must be gone that was told to go."""
_OF_ANOTHER_AGENT = {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"}
"""What an agent that started this very server would hand down; it is not about the agents that the page starts."""


class Launcher:
    """Starts the agents of one process. `address` is where they reach the web server, on this machine."""

    def __init__(self, config: Config, store: Store, address: str) -> None:
        self._config, self._store, self._address = config, store, address
        self._spawner = Spawner(pool_size=1, idle_seconds=config.command_idle / 1000)
        self._environments = Environments(folder=config.environments_dir)
        self._ends: dict[str, Future[Status]] = {}
        """By line: an agent's process is waited for once, however many turns it serves."""

    def kept_out(self, run: Run) -> tuple[BroughtFile, ...]:
        """What the agent would load of its project, and must not: nobody has trusted it as it is. What a terminal has
        started loads what it has loaded."""
        if run.choices.joins:
            return ()
        return brought(self._config, run.directory, trusted_as=run.project.directory).kept_from(AGENTS[run.agent].reads)

    def finds(self, project: Project) -> bool:
        """Whether the program of its agent is there: where this server finds programs, or a login shell does."""
        program = program_of(project.options, self._config)
        if not program or shutil.which(program):
            return bool(program)
        return bool(shutil.which(program, path=self._environments.for_project(project.directory).get("PATH", "")))

    def check_there(self, project: Project) -> None:
        """ToolUnavailable where that program is not there; it says how to install it."""
        agent, folder = AGENTS[project.options.agent], project.directory
        try:
            find(program_of(project.options, self._config), self._environments.for_project(folder), str(folder))
        except OSError as error:
            raise ToolUnavailable(
                f"{agent.label} could not be started: {in_short(str(error))} {agent.install}"
            ) from error

    def check_trust(self, run: Run, kept_out: Sequence[BroughtFile]) -> None:
        """NotTrusted where nothing would keep the agent from loading it."""
        agent = AGENTS[run.agent]
        if kept_out and not agent.keeps_out:
            raise NotTrusted(
                f"{agent.label} may load what this project brings ({some_names(kept_out)}), which you have not trusted "
                f"as it is, and nothing keeps it from that. To look at it, and trust it: "
                f"sayso trust {spelt_out(str(run.project.directory))}"
            )

    def start(self, run: Run, said: SpokenInOrder, kept_out: Sequence[BroughtFile] = ()) -> Future[Status]:
        """Start the agent with what is said to it; the future ends with it. One that cannot be started is a status
        too."""
        line, timeout, agent = self._line(run), self._config.run_timeout, AGENTS[run.agent]
        if run.only_takes_over:
            # It has the number of the message that others begin with, and has the agent ready before one comes.
            speaking.say(run.folder, 1, agent.greeting() or b"\n")
        self.speak(run, said)
        replace_file(run.folder / _STARTED, json.dumps(self._terms(run, kept_out)).encode())
        launch = Launch(
            folder=run.folder,
            argv=agent.argv(self._config, run, line, kept_out),
            cwd=run.directory,
            env=self._environment(run, line),
            spoken_to=True,
            timeout_seconds=timeout / 1000 if timeout else None,
            grace_seconds=self._config.command_grace / 1000,
            # An agent that may still act would go on with whatever it is told of its open questions.
            stop_grace_seconds=0,
            max_bytes=OUTPUT_BYTES,
        )
        ended = self._ends[run.line] = self._spawner.start_operation(launch)
        return ended

    def was_started(self, run: Run) -> bool:
        """Whether its agent was, or may have been."""
        return (run.folder / _STARTED).exists()

    def adopt(self, run: Run) -> Future[Status]:
        """The end of an agent that is there already, whoever has started it. Its line leads to this server from now
        on."""
        try:
            self._line(run)
        except RelayFileError as error:
            logger.warning("The line of run %s leads nowhere: %s", run.id, error)
        if run.line not in self._ends:
            self._ends[run.line] = self._spawner.adopt(run.folder)
        return self._ends[run.line]

    # Agents that are spoken to

    def speak(self, run: Run, said: SpokenInOrder) -> None:
        """Have an agent of this machine told what it has not been told yet."""
        agent = AGENTS[run.agent]
        for number, each in said:
            name = saying_name(run.line, number)
            speaking.say(run.folder, number, self._first(run, each) + agent.spoken(name, each))

    def _first(self, run: Run, said: Spoken) -> bytes:
        """What goes before a message with which a process begins: a greeting; and with which it begins another turn:
        the mode and the model that a process of its own would be started with."""
        if not said.begins:
            return b""
        if run.line == run.id:
            return AGENTS[run.agent].greeting()
        agent, wanted = AGENTS[run.agent], run.options
        told = ((Saying.MODE, wanted.permission_mode), (Saying.MODEL, wanted.model))
        return b"".join(agent.spoken(f"again-{what}", Spoken(what=what, text=text)) for what, text in told if text)

    def token_if_ready(self, run: Run) -> str:
        """The token of the agent that had this turn and waits for the next; empty where none does, or where one that
        is started now would be started otherwise."""
        if not is_running(run.folder) or speaking.state(run.folder).closed:
            return ""
        try:
            started = json.loads((run.folder / _STARTED).read_bytes())
        except OSError:
            return ""
        token: str = started["token"]
        return token if started == self._terms(run, self.kept_out(run)) | {"token": token} else ""

    def _terms(self, run: Run, kept_out: Sequence[BroughtFile]) -> dict[str, Any]:
        """What an agent's process was started on, besides what was said to it."""
        command = [*self._config.claude_command, *self._config.codex_command]
        offered = self._config.mcp_ask_user_enabled
        options = options_data(run.project.options)
        return {"token": run.token, "command": command, "options": options, "offered": offered, "bare": bool(kept_out)}

    def let_rest(self, run: Run) -> None:
        """The turn is over. Its agent waits for the next message for a while, server or not, and then ends."""
        speaking.let_rest(run.folder, run.said, self._config.run_rest / 1000)

    def let_work(self, run: Run) -> None:
        """Its agent has begun this turn by itself: it does not rest any more."""
        speaking.let_work(run.folder)

    def token_of_agent(self, run: Run) -> str:
        """The token by which the agent that had this turn is known as long as it is there."""
        started: dict[str, str] = json.loads((run.folder / _STARTED).read_bytes())
        return started["token"]

    def dismiss(self, run: Run) -> None:
        """End an agent that waits for a message, so that another can go on with its conversation."""
        if is_running(run.folder):
            speaking.dismiss(run.folder, run.said)
            wait(run.folder, _LEAVES_WITHIN)

    def heard_nothing(self, run: Run, said: SpokenInOrder) -> bool:
        """Whether the agent of an earlier turn ended before anything of this one was handed to it."""
        return run.line != run.id and not run.is_unbidden and speaking.state(run.folder).begun < said[0][0]

    def clear_away(self, run: Run) -> None:
        """What an agent that has ended needs no more. What it printed has become events."""
        self._ends.pop(run.line, None)
        relay_file.remove(self._config, run.token, run.line)
        shutil.rmtree(run.folder, ignore_errors=True)

    def bury(self, run: Run) -> None:
        """End what a runner that was killed has left of an agent at rest, and take its folder away."""
        end_leftovers(run.folder)
        shutil.rmtree(run.folder, ignore_errors=True)

    def sweep(self, runs: RunDesk) -> None:
        """What agents left behind that nobody cleared away after."""
        living = frozenset(name for run in runs.open_here() for name in (run.token, run.line))
        for run in runs.resting_here():
            # The server that saw the turn end may have been killed before it could tell.
            self.let_rest(run)
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
            config_file=relay_file.write_client_config(folder, run.line, entry, file, config),
            server=relay_file.SERVER_NAME,
            command=entry.asking_only,
            ask_tool=f"mcp__{relay_file.SERVER_NAME}__{promptmanager.NAME}",
            approve_tool=relay_file.PERMISSION_TOOL if entry.approves else "",
        )

    @cached_property
    def _relay_key(self) -> bytes:
        return self._store.secret(relay_file.KEY)

    def _environment(self, run: Run, line: PersonLine | None) -> Mapping[str, str]:
        login = self._environments.for_project(run.directory)
        environment = {name: value for name, value in login.items() if name not in _OF_ANOTHER_AGENT}
        environment[RUN_VARIABLE] = run.line
        return environment | relay_file.environment(line.relay_file, self._config) if line else environment


def some_names(files: Sequence[BroughtFile]) -> str:
    """Their names for a sentence: the first of them, and how many there are besides."""
    names = ", ".join(spelt_out(file.name) for file in files[:MOST_NAMES])
    return names + (f" and {len(files) - MOST_NAMES} more" if len(files) > MOST_NAMES else "")
