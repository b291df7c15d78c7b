"""Taking over a session that a person has begun in a terminal, and handing one back to a terminal.

Talk never writes to a session that a terminal alone has: it goes on in a copy, up to the step that was shown. So
nothing is lost there, neither what is half typed nor what is asked, and two never write to one file. A session on a
server that several clients share needs no copy: Talk becomes one of them.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sayso.agents.model import Project, Run, RunChoices
from sayso.agents.projects import Projects
from sayso.agents.terminal_sessions import TerminalMessage, TerminalSession, read_session, session_files
from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.like_rule import owns_rules
from sayso.records import replace
from sayso.roster import Roster
from sayso.shared_codex import shared_socket
from sayso.text import spelt_out

_AGENTS = {"claude-code": "claude", "codex-mcp-client": "codex"}
"""What projects call the agents of these clients."""
RESUMED = {"claude": ("claude", "--resume"), "codex": ("codex", "resume")}
"""What goes on with a session in a terminal, but for its name."""


@dataclass(frozen=True, kw_only=True)
class Takeover:
    """What can be done about a session in a terminal from here."""

    name: str
    """The agent's own name for it."""
    agent: str
    """What projects call its agent."""
    session: TerminalSession
    project: Project | None = None
    to_add: str = ""
    """Where no project is there for it: the command that adds one."""
    server: str = ""
    """Where it runs on a server that others can join: where that listens."""

    @property
    def files(self) -> list[Path]:
        """Where the session is kept."""
        return session_files(self.agent, self.name)

    @property
    def step(self) -> str:
        """The step with which a copy would end; empty while there is no saying, in the middle of a turn."""
        return "" if self.session.in_turn else self.session.last_step

    def choices(self, shown: str) -> RunChoices:
        """What a conversation goes on from. `shown` is the step that the person has seen; where the terminal has gone
        on since, that is not in the copy."""
        if self.server:
            return RunChoices(joins=self.name, server=self.server)
        return RunChoices(copies=self.name, copied_to=shown if shown in self.session.steps else "")


class Takeovers:
    """The sessions in terminals of the person whose account this process runs under."""

    def __init__(self, config: Config, projects: Projects, roster: Roster) -> None:
        self._config, self._projects, self._roster = config, projects, roster

    def of(self, asker: Asker, user: str) -> Takeover | None:
        """None where this person has no say over it, or nothing was said in it so far."""
        agent = _AGENTS.get(asker.client, "")
        if not agent or asker.run or not owns_rules(self._config, user):
            return None
        if (session := read_session(agent, asker.session)) is None or not session.messages:
            return None
        server = shared_socket(asker.pid, os.environ) if agent == "codex" and asker.pid else None
        found = Takeover(name=asker.session, agent=agent, session=session, server=str(server or ""))
        folder = os.path.realpath(asker.project)
        for project in self._projects.all(user):
            if os.path.realpath(project.directory) == folder and project.options.agent == agent:
                return replace(found, project=project)
        chosen = [] if agent == "claude" else ["--agent", agent]
        return replace(found, to_add=_shown(["sayso", "project", "add", asker.project, *chosen]))

    def waits(self, run: Run) -> bool:
        """Whether the session that the run is to go on from is in the middle of a turn in its terminal. What was shown
        of one at its rest is copied whatever the terminal does now."""
        return _is_undecided(run) and self._is_open(run) and _in_turn(run)

    def is_broken_off(self, run: Run) -> bool:
        """Whether that session has ended in the middle of a turn."""
        return _is_undecided(run) and not self._is_open(run) and _in_turn(run)

    def _is_open(self, run: Run) -> bool:
        clients = [client for client, agent in _AGENTS.items() if agent == run.agent]
        return any(self._roster.is_open(client, run.to_copy) for client in clients)

    def before(self, run: Run) -> TerminalSession | None:
        """The session that a conversation began from, where its person may see it."""
        name = run.choices.joins or ("" if run.is_handed_back else run.choices.copies)
        return read_session(run.agent, name) if name and owns_rules(self._config, run.user) else None


def _is_undecided(run: Run) -> bool:
    """Whether it is yet to be seen how far the session is copied. One that was handed back is copied as it is by
    then."""
    return run.is_handed_back or not run.choices.copied_to


def last_step(agent: str, session: str) -> str:
    """How far a session has come."""
    found = read_session(agent, session)
    return found.last_step if found else ""


def said_since(run: Run) -> tuple[TerminalMessage, ...]:
    """What was said in a terminal after a conversation was handed back to one."""
    session = read_session(run.agent, run.session) if run.is_handed_back else None
    return session.since(run.choices.copied_to) if session else ()


def said_meanwhile(run: Run, since: int) -> tuple[TerminalMessage, ...]:
    """What was said after a moment in a session that is shared; what belongs to a turn that goes on, that one tells."""
    session = read_session(run.agent, run.choices.joins)
    return session.between(since, session.last_step if session.in_turn else "") if session else ()


def is_shared(run: Run) -> bool:
    """Whether the server is still there on which a conversation and a terminal share a session."""
    import socket

    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(os.path.realpath(run.choices.server))
        return True
    return False


def _in_turn(run: Run) -> bool:
    session = read_session(run.agent, run.to_copy)
    return session is not None and session.in_turn


def command_to_go_on(run: Run) -> str:
    """What goes on with the session of a conversation in a terminal."""
    return f"cd {_shown([str(run.directory)])} && {_shown([*RESUMED[run.agent], run.session])}"


def _shown(words: list[str]) -> str:
    """A command to read and to copy: what cannot be seen in it is spelt out."""
    return spelt_out(shlex.join(words))
