"""The conversations of a person as the page lists them, and which of them wait for that person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from sayso.agents.desk import RunDesk
from sayso.agents.model import Conversation, Run, RunEvent
from sayso.asks.desk import AskDesk
from sayso.text import isolated, one_line
from sayso.web import talk_wording

CONVERSATIONS = 50
"""The most conversations that one page lists."""
_MOST_LASTS = 2_000
PRINTS_EVERY = 1.0
"""Seconds between two looks at what agents at work have last said: they print far more often than anybody reads."""


@dataclass(frozen=True, kw_only=True)
class LastThing:
    """What was last said or done in a turn, in one line; when, and the number of its event. Empty where nothing was."""

    text: str = ""
    at: int = 0
    seq: int = 0

    @classmethod
    def of(cls, event: RunEvent | None, run: Run) -> LastThing:
        return cls(text=talk_wording.happened(event, run.directory), at=event.at, seq=event.seq) if event else cls()


@dataclass(frozen=True, kw_only=True)
class Talked:
    """One conversation of the list; `waits`: its agent is blocked until somebody answers. `last` is what was last said
    or done in its latest turn."""

    conversation: Conversation
    waits: bool
    last: LastThing

    @property
    def id(self) -> str:
        return self.conversation.id

    @property
    def version(self) -> str:
        """Another one for all that changes its row."""
        latest, title = self.conversation.latest, self.conversation.marks.title
        unread, name = int(self.conversation.is_unread), crc32(title.encode(errors="replace"))
        return f"{latest.turn}.{latest.version}.{self.last.seq}.{int(self.waits)}.{unread}.{name:x}"

    @property
    def moved_at(self) -> int:
        """When something last happened in it."""
        latest = self.conversation.latest
        return max(latest.started_at, latest.ended_at or 0, self.last.at)


@dataclass(frozen=True, kw_only=True)
class ConversationPage:
    """A part of the list: those that wait for the person first, then the newest. `older` is the address of the next
    part, if there is any."""

    rows: Sequence[Talked] = ()
    older: str = ""

    @property
    def waiting(self) -> list[str]:
        """How many wait in each project."""
        projects = Counter(one_line(row.conversation.latest.project.name, 40) for row in self.rows if row.waits)
        return [f"{isolated(name)}: {count} {'waits' if count == 1 else 'wait'}" for name, count in projects.items()]


@dataclass(frozen=True, kw_only=True)
class _KnownList:
    """The newest conversations of a person as they were last read."""

    versions: Mapping[tuple[object, ...], int]
    found: Sequence[Conversation]
    read_at: float

    def holds_for(self, versions: Mapping[tuple[object, ...], int]) -> bool:
        """Whether nothing has changed since but what agents at work have just printed."""
        if list(versions) != list(self.versions):
            return False
        return versions == self.versions or time.monotonic() - self.read_at < PRINTS_EVERY


class Conversations:
    """Lists them. The newest are asked for after each ring of the bell, and read only when they have changed."""

    def __init__(self, runs: RunDesk, desk: AskDesk) -> None:
        self._runs, self._desk = runs, desk
        self._known: dict[str, _KnownList] = {}
        self._lasts: dict[str, tuple[int, LastThing]] = {}
        """Of each latest turn that was listed: how many events it had, and the last thing in them."""

    def newest(self, user: str) -> ConversationPage:
        versions = self._runs.conversation_versions(user, most=CONVERSATIONS + 1)
        known = self._known.get(user)
        if known is None or not known.holds_for(versions):
            found = self._runs.conversations(user, most=CONVERSATIONS + 1)
            known = self._known[user] = _KnownList(versions=versions, found=found, read_at=time.monotonic())
        return self._page(user, known.found)

    def before(self, user: str, latest: Run) -> ConversationPage:
        """Those that were last spoken in before the conversation of this latest turn."""
        return self._page(user, self._runs.conversations(user, before=latest, most=CONVERSATIONS + 1))

    def archived(self, user: str) -> ConversationPage:
        """Those that the person has put away, the newest of them."""
        return self._page(user, self._runs.archived(user, most=CONVERSATIONS))

    def search(self, user: str, query: str) -> ConversationPage:
        """Those in which all words of the query are."""
        return self._page(user, self._runs.search(user, query.split(), most=CONVERSATIONS))

    def _page(self, user: str, found: Sequence[Conversation]) -> ConversationPage:
        waiting = self._desk.runs_that_wait(user)
        shown = found[:CONVERSATIONS]
        lasts = self._last(shown)
        rows = [Talked(conversation=each, waits=each.latest.id in waiting, last=lasts[each.id]) for each in shown]
        return ConversationPage(
            rows=sorted(rows, key=lambda row: not row.waits),
            older=f"talk?before={shown[-1].id}" if len(found) > CONVERSATIONS else "",
        )

    def _last(self, found: Sequence[Conversation]) -> dict[str, LastThing]:
        """What was last said or done in each; read where anything has happened since the last time."""
        if len(self._lasts) > _MOST_LASTS:
            self._lasts = {}
        lasts = self._lasts
        new = [each for each in found if each.latest.id not in lasts or lasts[each.latest.id][0] != each.events]
        read = self._runs.last_said_or_done([each.latest.id for each in new]) if new else {}
        lasts |= {each.latest.id: (each.events, LastThing.of(read.get(each.latest.id), each.latest)) for each in new}
        return {each.id: lasts[each.latest.id][1] for each in found}
