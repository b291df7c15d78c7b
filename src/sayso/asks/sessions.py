"""Whose an ask or an operation is: its session's while that lives; another of the same agent may take it only when that
is gone.

A session is known by the name its client gives it, by its run, or by the one server process that it alone talks to.
Over HTTP one process serves many; a conversation there that shows no name cannot be told from its neighbours, so
nothing passes to it unasked while the process lives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import cache
from typing import Protocol, TypeVar

from sayso.asks.model import Ask, Asker
from sayso.processes import ProcessName, name_of, this_host

Alive = Callable[[Set[str]], Set[str]]
"""Tells those of some processes that still live."""

Lives = Callable[[Asker], bool]
"""Whether a session that asks through this very process is still there."""


IsBack = Callable[[Asker, Asker], bool]
"""Whether the session of the first has been taken up again and is there, though it has yet to call a tool; not in the
second one's process."""

IsKin = Callable[[Asker], bool]
"""Whether this process belongs to the client that asked, so that what it hears that client hears."""


class Owned(Protocol):
    """What a session has asked for, through which server process."""

    @property
    def asker(self) -> Asker: ...

    @property
    def server(self) -> str: ...


T = TypeVar("T", bound=Owned)


class AgentSessions:
    """Tells what belongs to living sessions from what is free to take, for the sessions of one server process."""

    def __init__(self, process: str, alive: Alive, lives: Lives, is_kin: IsKin, is_back: IsBack) -> None:
        self._process, self._alive, self._lives, self._is_kin, self._is_back = process, alive, lives, is_kin, is_back

    def belonging(self, things: Iterable[T], asker: Asker) -> list[T]:
        """Those that this session asked for, or that a session asked for which is gone."""
        things = list(things)
        servers = {thing.server for thing in things if thing.server and not self._is_own(thing, asker)}
        living = self._alive(servers) if servers else set()
        is_back = cache(self._is_back)  # there may be many of one session
        return [thing for thing in things if self._is_own(thing, asker) or self._is_gone(thing, asker, living, is_back)]

    def left_elsewhere(self, things: Iterable[T], asker: Asker) -> list[T]:
        """Those that this session, by its client's name for it, asked for through servers that have ended."""
        named = [thing for thing in things if asker.session and thing.asker.session == asker.session]
        servers = {thing.server for thing in named if thing.server != self._process}
        ended = servers - self._alive(servers) if servers else set()
        return [thing for thing in named if thing.server in ended]

    def keep_from(self, thing: Owned, asker: Asker) -> bool:
        """Whether it is for another session, which lives, as far as sessions can be told apart."""
        return _can_be_told_apart(thing.asker, asker) and not self.belonging([thing], asker)

    def of_others(self, asks: Iterable[Ask], asker: Asker) -> frozenset[str]:
        """The ids of those that another session asked, as far as sessions can be told apart."""
        return frozenset(
            ask.id for ask in asks if not self._is_own(ask, asker) and _can_be_told_apart(ask.asker, asker)
        )

    def _is_own(self, thing: Owned, asker: Asker) -> bool:
        theirs = thing.asker
        if self._is_kin(theirs):
            return True
        if (theirs.run or asker.run) and theirs.run == asker.run:
            return True
        if theirs.session or asker.session:
            return theirs.session == asker.session
        return thing.server == self._process and not (theirs.run or asker.run or is_nameless(asker))

    def _is_gone(self, thing: Owned, asker: Asker, living: Set[str], is_back: IsBack) -> bool:
        theirs = thing.asker
        if thing.server == self._process:
            return not self._lives(theirs)
        if thing.server in living or _another_client_lives(theirs, asker):
            return False
        return not (theirs.session and is_back(theirs, asker))


def _can_be_told_apart(theirs: Asker, ours: Asker) -> bool:
    if theirs.session and ours.session:
        return True
    same_client = (theirs.host, theirs.pid, theirs.started) == (ours.host, ours.pid, ours.started)
    return not (same_client or is_nameless(theirs) or is_nameless(ours))


def is_nameless(asker: Asker) -> bool:
    """Whether nothing tells it from others with the same token."""
    return bool(asker.agent) and not asker.session


def nobody(_: Asker) -> bool:
    """Of a process that belongs to no client."""
    return False


def never(*_: Asker) -> bool:
    """Where a session that was taken up again is known by its calls alone."""
    return False


def always(_: Asker) -> bool:
    """Of a process that serves one session: while the process lives, so does that."""
    return True


def _another_client_lives(theirs: Asker, ours: Asker) -> bool:
    """Whether the client that asked is still at work: it may just have lost its server, and will start another."""
    if not theirs.pid or theirs.host != this_host():
        return False
    process = ProcessName(pid=theirs.pid, started=theirs.started)
    return process != ProcessName(pid=ours.pid, started=ours.started) and name_of(theirs.pid) == process
