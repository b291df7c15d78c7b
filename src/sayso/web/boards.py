"""What the event streams of each person were last told (the inbox, the commands, the conversations) and the events of
what changed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sayso.asks.crowds import Entry, Folded
from sayso.operations.operation import Operation
from sayso.operations.reader import Overview
from sayso.presence import Whereabouts
from sayso.roster import AgentAtWork
from sayso.text import json_line, one_line
from sayso.waiting_room import WaitingRequest
from sayso.web.conversations import ConversationPage, Talked
from sayso.web.sessions import Visitor
from sayso.web.whereabouts import absence_data

PAGE = 100
"""The most asks that one inbox shows, beside those of agents that have many open."""
DRAWN = 25
"""The rows that a page comes with: more than a screen has. The script fetches the others once the page can be used."""
ALL = "all"
"""In place of the mark of a listing: all that is needed is there."""
END = b""
"""In place of an event: there will be none."""
_MOST_UNREAD = 64


class OpenStream:
    """One open stream."""

    def __init__(self, visitor: Visitor) -> None:
        self.user, self.secret, self.session = visitor.user, visitor.secret, visitor.session
        self.unread: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, event: bytes) -> None:
        """Hand over an event. A reader that does not read is cut off; it comes back and gets everything again."""
        unread = self.unread.qsize()
        if unread <= _MOST_UNREAD:
            self.unread.put_nowait(event if unread < _MOST_UNREAD else END)

    def end(self, *last: bytes) -> None:
        for event in (*last, END):
            self.unread.put_nowait(event)


class VersionedItem(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int | str: ...


T = TypeVar("T", bound=VersionedItem)


def listing_mark(things: Sequence[VersionedItem]) -> str:
    """Which things these are, in which order and version: a page that was drawn with them has their rows."""
    known = json_line([[thing.id, thing.version] for thing in things])
    return hashlib.blake2s(known.encode(), digest_size=9).hexdigest()


class Listing(Generic[T]):
    """Things in their order, as they were last told. Their rows are drawn when somebody has to be told of them."""

    def __init__(self, event: str, name: str, render: Callable[[T], str]) -> None:
        self._event, self._name, self._render = event, name, render
        self._things: dict[str, T] = {}
        self._begun = False
        self._drawn: dict[str, str] = {}
        self._facts: dict[str, object] = {}

    def update(self, things: Sequence[T], **facts: object) -> bytes | None:
        """Take them in as they are now. The event that tells of what changed, None when nothing did. At first, when
        nobody has been told anything, that is nothing."""
        before, known, begun = self._things, self._facts, self._begun
        self._begun = True
        self._things, self._facts = {thing.id: thing for thing in things}, facts
        same = {key for key, now in self._things.items() if key in before and before[key].version == now.version}
        self._drawn = {key: row for key, row in self._drawn.items() if key in same}
        changed = [key for key in self._things if key not in same]
        is_news = changed or list(before) != list(self._things) or known != facts
        return self._told(changed) if begun and is_news else None

    def whole(self, has: str = "") -> bytes:
        """The event that tells everything: without the rows, if those of this mark are there, or none is needed."""
        mark = listing_mark(list(self._things.values()))
        return self._told([] if has in (mark, ALL) else list(self._things))

    def _row(self, key: str) -> str:
        if key not in self._drawn:
            self._drawn[key] = self._render(self._things[key])
        return self._drawn[key]

    def _told(self, changed: Sequence[str]) -> bytes:
        data = {
            self._name: [[key, thing.version] for key, thing in self._things.items()],
            "rows": {key: self._row(key) for key in changed},
            "mark": listing_mark(list(self._things.values())),
            **self._facts,
        }
        return f"event: {self._event}\ndata: {json_line(data)}\n\n".encode()


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How each thing becomes a row."""

    ask: Callable[[Entry, str], str]
    """For whom, it is told as well."""
    command: Callable[[Operation], str]
    conversation: Callable[[Talked], str]
    agent: Callable[[AgentAtWork], str]


@dataclass(frozen=True, kw_only=True)
class SeenByPerson:
    """What one person has before them at one moment."""

    inbox: Folded
    snoozed: int
    """How many asks they have put off."""
    commands: Overview
    talk: ConversationPage
    agents: Sequence[AgentAtWork]
    absence: Whereabouts | None
    connecting: Sequence[WaitingRequest]
    """Programs that want to connect."""


class StreamBoard:
    """What one person's streams were last told."""

    def __init__(self, drawing: Drawing, user: str) -> None:
        self.readers: set[OpenStream] = set()
        self._inbox = Listing[Entry]("inbox", "asks", lambda entry: drawing.ask(entry, user))
        self._commands = Listing("commands", "operations", drawing.command)
        self._conversations = Listing("conversations", "conversations", drawing.conversation)
        self._agents = Listing("agents", "agents", drawing.agent)
        self._absence = self._connecting = b""

    def update(self, seen: SeenByPerson) -> list[bytes]:
        """Take in what is there now. The events that tell of what changed."""
        inbox, commands, talk = seen.inbox, seen.commands, seen.talk
        absence, self._absence = self._absence, _presence_event(seen.absence)
        connecting, self._connecting = self._connecting, _connecting_event(seen.connecting)
        told = (
            self._inbox.update(inbox.entries, more=inbox.last is not None, snoozed=seen.snoozed),
            self._commands.update([*commands.under_way, *commands.ended], running=commands.running),
            self._conversations.update(talk.rows, older=talk.older, waiting=talk.waiting),
            self._agents.update(seen.agents),
            self._absence if self._absence != absence else None,
            self._connecting if self._connecting != connecting else None,
        )
        return [event for event in told if event]

    def whole(self, has: str = "") -> list[bytes]:
        """Everything, but for the rows of the inbox where the page already `has` them."""
        listings = (self._commands, self._conversations, self._agents)
        told = [self._inbox.whole(has), *(listing.whole() for listing in listings)]
        return [*told, self._absence, self._connecting]


def _presence_event(absence: Whereabouts | None) -> bytes:
    return f"event: presence\ndata: {json_line(absence_data(absence))}\n\n".encode()


def _connecting_event(waiting: Sequence[WaitingRequest]) -> bytes:
    data = {"waiting": [{"id": one.id, "name": one_line(one.name, 60), "mark": one.mark} for one in waiting]}
    return f"event: connecting\ndata: {json_line(data)}\n\n".encode()
