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

from sayso.agents.desk import RunDesk
from sayso.agents.model import Conversation, Project, Run, RunChoices
from sayso.agents.projects import Projects
from sayso.agents.terminal_sessions import (
    TerminalMessage,
    TerminalSession,
    places_to_watch,
    read_session,
    session_files,
)
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
    conversations: tuple[Conversation, ...] = ()
    """Those in Talk that were taken over from it."""

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


@dataclass(frozen=True, kw_only=True)
class BesideTalk:
    """What is said in terminals beside a conversation: in the one that it was taken over from, up to the copy and
    since, and in the one that it was handed back to."""

    before: tuple[TerminalMessage, ...] = ()
    since: tuple[TerminalMessage, ...] = ()
    handed_back: tuple[TerminalMessage, ...] = ()
    others: tuple[Conversation, ...] = ()
    """Those that were taken over from the same terminal."""


class Takeovers:
    """The sessions in terminals of the person whose account this process runs under."""

    def __init__(self, config: Config, projects: Projects, roster: Roster, runs: RunDesk) -> None:
        self._config, self._projects, self._roster, self._runs = config, projects, roster, runs

    def of(self, asker: Asker, user: str) -> Takeover | None:
        """None where this person has no say over it, or nothing was said in it so far."""
        agent = self._agent_of(asker, user)
        if not agent or (session := read_session(agent, asker.session)) is None or not session.messages:
            return None
        server = shared_socket(asker.pid, os.environ) if agent == "codex" and asker.pid else None
        found = Takeover(
            name=asker.session,
            agent=agent,
            session=session,
            server=str(server or ""),
            conversations=tuple(self._runs.taken_over_from(asker.session, user)),
        )
        folder = os.path.realpath(asker.project)
        for project in self._projects.all(user):
            if os.path.realpath(project.directory) == folder and project.options.agent == agent:
                return replace(found, project=project)
        handed_back = self._runs.latest_in_session(asker.session, user)
        if handed_back and os.path.realpath(handed_back.directory) == folder:
            # It works in a working tree of its own, which is no project.
            return replace(found, project=handed_back.project)
        chosen = [] if agent == "claude" else ["--agent", agent]
        return replace(found, to_add=_shown(["sayso", "project", "add", asker.project, *chosen]))

    def places_to_watch(self, asker: Asker, user: str) -> list[tuple[Path, int]]:
        """Where there will be news of it for this person, if ever."""
        agent = self._agent_of(asker, user)
        return places_to_watch(agent, asker.session, asker.project) if agent else []

    def _agent_of(self, asker: Asker, user: str) -> str:
        """What projects call its agent; empty where this person has no say over it."""
        return _AGENTS.get(asker.client, "") if not asker.run and owns_rules(self._config, user) else ""

    def waits(self, run: Run) -> bool:
        """Whether the session that the run is to go on from is in the middle of a turn in its terminal. What was shown
        of one at its rest is copied whatever the terminal does now."""
        return _is_undecided(run) and self.is_open(run) and _in_turn(run)

    def is_broken_off(self, run: Run) -> bool:
        """Whether that session has ended in the middle of a turn."""
        return _is_undecided(run) and not self.is_open(run) and _in_turn(run)

    def is_open(self, run: Run) -> bool:
        """Whether the terminal is still there whose session a run is to go on from."""
        clients = [client for client, agent in _AGENTS.items() if agent == run.agent]
        return any(self._roster.is_open(client, run.to_copy) for client in clients)

    def beside(self, first: Run, latest: Run) -> BesideTalk:
        """What is said in terminals beside a conversation, by its first turn and its latest, where its person may see
        that."""
        if not owns_rules(self._config, latest.user):
            return BesideTalk()
        name, step = first.taken_from
        source = first.choices.joins or name
        began, back = read_session(first.agent, source), _said_since_back(latest)
        if began is None:
            return BesideTalk(handed_back=back)
        others = tuple(each for each in self._runs.taken_over_from(source, first.user) if each.id != first.id)
        if first.choices.joins:
            return BesideTalk(before=began.before(first.started_at), handed_back=back, others=others)
        return BesideTalk(before=began.until(step), since=began.since(step), handed_back=back, others=others)

    def files_beside(self, first: Run, latest: Run) -> list[Path]:
        """Where that is kept, as far as it may change."""
        if not owns_rules(self._config, latest.user):
            return []
        began = "" if first.choices.joins else first.taken_from[0]
        back = latest.choices.joins or latest.session if _is_left(latest) else ""
        return [path for name in dict.fromkeys((began, back)) for path in session_files(latest.agent, name)]


def _is_undecided(run: Run) -> bool:
    """Whether it is yet to be seen how far the session is copied. One that was handed back is copied as it is by
    then."""
    return run.is_handed_back or not run.choices.copied_to


def last_step(agent: str, session: str) -> str:
    """How far a session has come."""
    found = read_session(agent, session)
    return found.last_step if found else ""


def step_at(run: Run, moment: int) -> str:
    """How far the session that a conversation is to be copied from had come by then."""
    session = read_session(run.agent, run.to_copy)
    return session.step_at(moment) if session else ""


def said_since(run: Run) -> tuple[TerminalMessage, ...]:
    """What was said in a terminal after a conversation was handed back to one."""
    session = read_session(run.agent, run.session) if run.is_handed_back else None
    return session.since(run.choices.copied_to) if session else ()


def _is_left(run: Run) -> bool:
    """Whether a conversation rests with a terminal."""
    return run.is_handed_back and run.state.ended


def _said_since_back(run: Run) -> tuple[TerminalMessage, ...]:
    if not _is_left(run):
        return ()
    return said_meanwhile(run, run.ended_at or 0) if run.choices.joins else said_since(run)


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
