"""Taking over a session that a person has begun in a terminal, and handing one back to a terminal.

Talk never writes to a session that a terminal has: it goes on in a copy. So nothing is lost there, neither what is half
typed nor what is asked, and two never write to one file.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

from sayso.agents.model import Project, Run
from sayso.agents.projects import Projects
from sayso.agents.terminal_sessions import TerminalSession, read_session
from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.like_rule import owns_rules
from sayso.roster import Roster
from sayso.text import spelt_out

_AGENTS = {"claude-code": "claude", "codex-mcp-client": "codex"}
"""What projects call the agents of these clients."""
RESUMED = {"claude": ("claude", "--resume"), "codex": ("codex", "resume")}
"""What goes on with a session in a terminal, but for its name."""


@dataclass(frozen=True, kw_only=True)
class Takeover:
    """What can be done about a session in a terminal from here."""

    session: TerminalSession
    project: Project | None = None
    to_add: str = ""
    """Where no project is there for it: the command that adds one."""


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
        folder = os.path.realpath(asker.project)
        for project in self._projects.all(user):
            if os.path.realpath(project.directory) == folder and project.options.agent == agent:
                return Takeover(session=session, project=project)
        chosen = [] if agent == "claude" else ["--agent", agent]
        return Takeover(session=session, to_add=_shown(["sayso", "project", "add", asker.project, *chosen]))

    def waits(self, run: Run) -> bool:
        """Whether the session that the run is to go on from is in the middle of a turn in its terminal."""
        return self._is_open(run) and _in_turn(run)

    def is_broken_off(self, run: Run) -> bool:
        """Whether that session has ended in the middle of a turn."""
        return not self._is_open(run) and _in_turn(run)

    def _is_open(self, run: Run) -> bool:
        clients = [client for client, agent in _AGENTS.items() if agent == run.agent]
        return any(self._roster.is_open(client, run.to_copy) for client in clients)

    def before(self, run: Run) -> TerminalSession | None:
        """The session that a conversation began from, where its person may see it."""
        if not run.choices.copies or run.is_handed_back or not owns_rules(self._config, run.user):
            return None
        return read_session(run.agent, run.choices.copies)


def _in_turn(run: Run) -> bool:
    session = read_session(run.agent, run.to_copy)
    return session is not None and session.in_turn


def command_to_go_on(run: Run) -> str:
    """What goes on with the session of a conversation in a terminal."""
    return f"cd {_shown([str(run.directory)])} && {_shown([*RESUMED[run.agent], run.session])}"


def _shown(words: list[str]) -> str:
    """A command to read and to copy: what cannot be seen in it is spelt out."""
    return spelt_out(shlex.join(words))
