"""The roster: the agents at work. Each session that a gate or a server has seen is on it until it has ended, with what
it is doing and what it waits for.

Nobody has to sign off, though some clients do: a session has ended when its client's process has, or its server on
another machine; one that comes over the network is believed to be there for a while after its last call. Whoever looks
takes the ended ones off.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar

from sayso.asks.model import Ask, Asker, asker_from_json
from sayso.asks.sessions import Owned
from sayso.asks.truth import session_name, session_of, short_sessions
from sayso.clock import Clock, now_ms
from sayso.errors import AmbiguousId, NotFound
from sayso.hashes import sha256
from sayso.process_table import is_running
from sayso.processes import this_host
from sayso.records import asdict, record
from sayso.text import one_line

if TYPE_CHECKING:
    from sayso.asks.crowds import OpenBySession
    from sayso.operations.operation import Operation
    from sayso.store import Row, Store, Transaction

T = TypeVar("T", bound="Owned")

BELIEVED = 600_000
"""Milliseconds for which a session is believed to be there that no process tells of."""
_LONGEST = 200
"""Characters that are kept of what an agent is doing."""


def agent_id(asker: Asker) -> str:
    """The same for all that one session of an agent does, through whatever gate or server. One that its client does not
    name is what it does in one project. Empty where nothing is known of it."""
    return _id_of(asker.agent, asker.client, asker.session, "" if asker.session else asker.source, asker.project)


def _id_of(agent: str, client: str, session: str, source: str, project: str) -> str:
    named = f"session\n{agent}\n{client}\n{session}" if session else source and f"{source}\n{project}"
    return sha256(named.encode())[:12] if named else ""


@record
class AgentAtWork:
    """One session of an agent."""

    id: str
    name: str
    """Tells it from all others that are at work."""
    asker: Asker
    since: int
    """When it was first seen."""
    seen_at: int
    doing: str = ""
    """What it last wanted to do, as far as a gate has seen it."""
    asks: tuple[Ask, ...] = ()
    """What it has open in the inbox; what it waits for first. Where very much is open, not all of it."""
    open: int = 0
    """How much that is."""
    attended: int = 0
    """How much of it it waits for."""
    commands: tuple[Operation, ...] = ()
    """What it runs."""
    in_turn: bool | None = None
    """Whether it is in the middle of a turn, where the agent's own file of the session tells."""
    said: str = ""
    """What was last said in it, in one line, where that file tells."""
    said_at: int = 0

    @property
    def names(self) -> tuple[str, str]:
        """What it can be called: others may have the short one too."""
        return self.name, session_of(self.asker)

    @property
    def waits(self) -> bool:
        """Whether it goes on only when a person has decided."""
        return self.attended > 0

    @property
    def version(self) -> str:
        """Another one whenever it is told differently."""
        asks = [f"{ask.id}.{ask.version}" for ask in self.asks]
        commands = [f"{command.id}.{command.version}" for command in self.commands]
        sizes = f"{self.open} {self.attended}"
        facts = (sizes, self.doing, self.asker.branch, str(self.since), str(self.in_turn), self.said)
        told = "\n".join((*asks, *commands, *facts))
        return sha256(told.encode())[:8]


@record
class _Noted:
    id: str
    asker: Asker
    process: str
    doing: str
    since: int
    seen_at: int


class Roster:
    """Who is at work in one store."""

    def __init__(self, store: Store, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    def note_server(self, asker: Asker, since: int | None = None) -> None:
        """A session has called a tool of this process, for the first time then; now, if nothing is said."""
        self._note(asker, self._store.bell().process, "", since)

    def note_gate(self, asker: Asker, doing: str) -> None:
        """A session has asked whether it may do something; or has begun, and does nothing yet."""
        self._note(asker, "", one_line(doing, _LONGEST))

    def note_end(self, asker: Asker) -> None:
        """A session is over, as its client says."""

        def work(tx: Transaction) -> None:
            tx.run("end_on_roster", id=agent_id(asker))
            tx.wake_only()

        self._store.write(work)

    def at_work(
        self,
        asks: Iterable[Ask],
        commands: Iterable[Operation],
        person: str | None = None,
        sizes: Iterable[OpenBySession] | None = None,
    ) -> list[AgentAtWork]:
        """Everybody who is at work, given what is open and what runs: first those who wait for a person, the longest
        first; then the others, each oldest first. With a person: those that person may see. With sizes: how much each
        has open, where these asks are not all."""
        asked, run = _by_agent(asks), _by_agent(commands)
        counted = _counted(asked) if sizes is None else _summed(sizes)
        noted = self._present({*asked, *run, *counted}, person)
        known = {each.id for each in noted}
        waiting = {agent: ask for agent, found in asked.items() for ask in found if ask.attended}
        noted += [_from_ask(agent, ask) for agent, ask in waiting.items() if agent not in known]
        short = short_sessions(session_name(each.asker) for each in noted)
        agents = [
            _agent(each, short, asked.get(each.id, []), run.get(each.id, []), counted.get(each.id, (0, 0)))
            for each in noted
        ]
        seen = [each for each in agents if person is None or each.asker.owner in ("", person)]
        return sorted(seen, key=lambda each: (not each.waits, _since(each)))

    def is_open(self, client: str, session: str) -> bool:
        """Whether the process of a client's session is still there. Nobody is taken off."""
        rows = self._store.all("roster")
        noted = [_noted(row) for row in rows if _as_written(session) in row["body"]]
        named = [each for each in noted if (each.asker.client, each.asker.session) == (client, session)]
        living = self._living(named)
        return any(_lives(each, living, recent=True) for each in named)

    def is_back(self, theirs: Asker, ours: Asker) -> bool:
        """Whether the session of the first is there by what it was last seen in: a gate, a hook or a server saw it go
        on in a process that is not the second one's, and that has not gone on to another session."""
        row = self._store.one("on_roster", id=agent_id(theirs))
        if row is None or _process((found := _noted(row)).asker) == _process(ours):
            return False
        if not (found.asker.pid and found.asker.host == this_host()):
            return found.process in self._living([found])
        return is_running(found.asker.pid, found.asker.started) and not self._has_gone_on(found)

    def _has_gone_on(self, noted: _Noted) -> bool:
        """Whether its process was seen in another session after it."""
        process, rows = _process(noted.asker), self._store.all("roster")
        return any(_process(each.asker) == process and each.seen_at > noted.seen_at for each in map(_noted, rows))

    # Within the store

    def _note(self, asker: Asker, process: str, doing: str, since: int | None = None) -> None:
        agent, now = agent_id(asker), self._clock()
        if not agent:
            return
        body = _as_written(asdict(asker))
        values = {"owner": asker.owner, "process": process, "body": body, "doing": doing, "now": now}
        values["since"] = now if since is None else min(since, now)

        def work(tx: Transaction) -> None:
            tx.run("put_on_roster", id=agent, **values)
            tx.wake_only()

        self._store.write(work)

    def _present(self, busy: Set[str], person: str | None) -> list[_Noted]:
        """Those who have not ended. The others are taken off. With a person: of those that person may see."""
        rows = self._store.all("roster") if person is None else self._store.all("roster_of", person=person)
        noted = [_noted(row) for row in rows]
        living = self._living(noted)
        now, there, ended = self._clock(), list[_Noted](), list[_Noted]()
        newest = {_process(each.asker): each.id for each in sorted(noted, key=lambda each: each.seen_at)}
        runs = cache(is_running)  # one process may have many of them
        for each in noted:
            recent = now - each.seen_at < BELIEVED or each.id in busy
            is_there = _lives(each, living, recent, runs) and (recent or newest[_process(each.asker)] == each.id)
            (there if is_there else ended).append(each)
        if ended and not self._store.only_shows:
            self._drop(ended)
        return there

    def _living(self, noted: Sequence[_Noted]) -> Set[str]:
        """Which of their servers live."""
        servers = {each.process for each in noted if each.process}
        return self._store.bell().alive(servers) if servers else set()

    def _drop(self, ended: Sequence[_Noted]) -> None:
        def work(tx: Transaction) -> None:
            for each in ended:
                tx.run("drop_from_roster", id=each.id, seen_at=each.seen_at)
            tx.wake_only()

        self._store.write(work)


def of_agent(things: Iterable[T], agent: str) -> list[T]:
    """Those of one session."""
    return [thing for thing in things if agent_id(thing.asker) == agent]


def find_agent(agents: Sequence[AgentAtWork], name: str) -> AgentAtWork:
    """The one that is called so, or whose id begins so. A short name is enough where no other has it."""
    found = [each for each in agents if name and (name in each.names or each.id.startswith(name))]
    if len(found) > 1:
        raise AmbiguousId(name, [each.name for each in found])
    if not found:
        raise NotFound(f"No agent at work is called {name!r}. `sayso agents` lists them.")
    return found[0]


def _lives(noted: _Noted, living: Set[str], recent: bool, runs: Callable[[int, str], bool] = is_running) -> bool:
    asker = noted.asker
    if asker.pid and asker.host == this_host():
        return runs(asker.pid, asker.started)
    # Over the network one process serves many.
    return noted.process in living if asker.pid and noted.process else recent


def _as_written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _process(asker: Asker) -> tuple[str, ...]:
    """One process may have several sessions, one after the other or side by side."""
    return (asker.host, str(asker.pid), asker.started) if asker.pid else (agent_id(asker),)


def _by_agent(things: Iterable[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for thing in things:
        if agent := agent_id(thing.asker):
            found.setdefault(agent, []).append(thing)
    return found


def _counted(asked: Mapping[str, Sequence[Ask]]) -> dict[str, tuple[int, int]]:
    """How much each agent has open, and how much of that it waits for."""
    return {agent: (len(asks), sum(ask.attended for ask in asks)) for agent, asks in asked.items()}


def _summed(sizes: Iterable[OpenBySession]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for each in sizes:
        if agent := _id_of(each.agent, each.client, each.session, each.source, each.project):
            size, attended = found.get(agent, (0, 0))
            found[agent] = size + each.size, attended + each.attended
    return found


def _since(agent: AgentAtWork) -> int:
    return agent.asks[0].created_at if agent.waits and agent.asks else agent.since


def _agent(
    noted: _Noted, short: Mapping[str, str], asks: list[Ask], commands: list[Operation], counted: tuple[int, int]
) -> AgentAtWork:
    ordered = sorted(asks, key=lambda ask: (not ask.attended, ask.created_at))
    return AgentAtWork(
        id=noted.id,
        name=short[session_name(noted.asker)] or session_of(noted.asker) or noted.id[:6],
        asker=noted.asker,
        since=noted.since,
        seen_at=noted.seen_at,
        doing=noted.doing,
        asks=tuple(ordered),
        open=counted[0],
        attended=counted[1],
        commands=tuple(commands),
    )


def _from_ask(agent: str, ask: Ask) -> _Noted:
    """A session that waits, though nobody has noted it."""
    return _Noted(id=agent, asker=ask.asker, process="", doing="", since=ask.created_at, seen_at=ask.changed_at)


@lru_cache(maxsize=16_384)
def _asker(body: str) -> Asker:
    """It is looked at after each ring, and seldom another one."""
    return asker_from_json(json.loads(body))


def _noted(row: Row) -> _Noted:
    return _Noted(
        id=row["id"],
        asker=_asker(row["body"]),
        process=row["process"],
        doing=row["doing"],
        since=row["since"],
        seen_at=row["seen_at"],
    )
