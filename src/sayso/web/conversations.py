"""The conversations of a person as the page lists them, and which of them wait for that person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from sayso.agents.desk import RunDesk
from sayso.agents.model import Conversation, Run
from sayso.asks.desk import AskDesk
from sayso.text import one_line

CONVERSATIONS = 50
"""The most conversations that one page lists."""


@dataclass(frozen=True, kw_only=True)
class Talked:
    """One conversation of the list; `waits`: its agent is blocked until somebody answers."""

    conversation: Conversation
    waits: bool

    @property
    def id(self) -> str:
        return self.conversation.id

    @property
    def version(self) -> str:
        """Another one for all that changes its row."""
        latest, title = self.conversation.latest, self.conversation.marks.title
        unread = int(self.conversation.is_unread)
        return f"{latest.turn}.{latest.version}.{int(self.waits)}.{unread}.{crc32(title.encode(errors='replace')):x}"


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
        return [f"{name}: {count} {'waits' if count == 1 else 'wait'}" for name, count in projects.items()]


class Conversations:
    """Lists them. The newest are asked for after each ring of the bell, and read only when they have changed."""

    def __init__(self, runs: RunDesk, desk: AskDesk) -> None:
        self._runs, self._desk = runs, desk
        self._known: dict[str, tuple[list[tuple[object, ...]], list[Conversation]]] = {}

    def newest(self, user: str) -> ConversationPage:
        versions = self._runs.conversation_versions(user, most=CONVERSATIONS + 1)
        known = self._known.get(user)
        if known is None or known[0] != versions:
            known = self._known[user] = versions, self._runs.conversations(user, most=CONVERSATIONS + 1)
        return self._page(user, known[1])

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
        rows = [Talked(conversation=each, waits=each.latest.id in waiting) for each in shown]
        return ConversationPage(
            rows=sorted(rows, key=lambda row: not row.waits),
            older=f"talk?before={shown[-1].id}" if len(found) > CONVERSATIONS else "",
        )
