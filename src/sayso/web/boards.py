"""What the event streams of each person were last told (the inbox, the commands, the conversations) and the events of
what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sayso.asks.crowds import Entry, Folded
from sayso.operations.operation import Operation
from sayso.operations.reader import Overview
from sayso.presence import Whereabouts
from sayso.roster import AgentAtWork
from sayso.text import json_line, one_line
from sayso.web.conversations import ConversationPage, Talked
from sayso.web.sessions import Visitor
from sayso.web.waiting_room import WaitingRequest
from sayso.web.whereabouts import absence_data

PAGE = 100
"""The most asks that one inbox shows, beside those of agents that have many open."""
END = b""
"""In place of an event: there will be none."""
_MOST_UNREAD = 64


class OpenStream:
    """One open stream."""

    def __init__(self, visitor: Visitor) -> None:
        self.user, self.secret = visitor.user, visitor.secret
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


class Listing(Generic[T]):
    """Things in their order, as they were last told: which version of each, and its row."""

    def __init__(self, event: str, name: str, render: Callable[[T], str]) -> None:
        self._event, self._name, self._render = event, name, render
        self._rows: dict[str, tuple[int | str, str]] = {}
        self._facts: dict[str, object] = {}

    def update(self, things: Sequence[T], **facts: object) -> bytes | None:
        """Take them in as they are now. The event that tells of what changed, None when nothing did."""
        before, order, known = self._rows, list(self._rows), self._facts
        self._rows, self._facts = {thing.id: self._row(thing) for thing in things}, facts
        changed = [key for key, row in self._rows.items() if before.get(key) != row]
        return self._told(changed) if changed or order != list(self._rows) or known != facts else None

    def whole(self) -> bytes:
        """The event that tells everything."""
        return self._told(list(self._rows))

    def _row(self, thing: T) -> tuple[int | str, str]:
        known = self._rows.get(thing.id)
        return known if known and known[0] == thing.version else (thing.version, self._render(thing))

    def _told(self, changed: Sequence[str]) -> bytes:
        data = {
            self._name: [[key, version] for key, (version, _) in self._rows.items()],
            "rows": {key: self._rows[key][1] for key in changed},
            **self._facts,
        }
        return f"event: {self._event}\ndata: {json_line(data)}\n\n".encode()


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How each thing becomes a row."""

    ask: Callable[[Entry], str]
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

    def __init__(self, drawing: Drawing) -> None:
        self.readers: set[OpenStream] = set()
        self._inbox = Listing("inbox", "asks", drawing.ask)
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
            self._commands.update([*commands.under_way, *commands.ended], running=len(commands.under_way)),
            self._conversations.update(talk.rows, older=talk.older, waiting=talk.waiting),
            self._agents.update(seen.agents),
            self._absence if self._absence != absence else None,
            self._connecting if self._connecting != connecting else None,
        )
        return [event for event in told if event]

    def whole(self) -> list[bytes]:
        listings = (self._inbox, self._commands, self._conversations, self._agents)
        return [*(listing.whole() for listing in listings), self._absence, self._connecting]


def _presence_event(absence: Whereabouts | None) -> bytes:
    return f"event: presence\ndata: {json_line(absence_data(absence))}\n\n".encode()


def _connecting_event(waiting: Sequence[WaitingRequest]) -> bytes:
    data = {"waiting": [{"id": one.id, "name": one_line(one.name, 60), "mark": one.mark} for one in waiting]}
    return f"event: connecting\ndata: {json_line(data)}\n\n".encode()
