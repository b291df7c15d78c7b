"""What a person has made of a conversation: a name for it, whether it is put away, and when they last saw it."""

from __future__ import annotations

import json

from sayso.agents.model import Marks
from sayso.clock import Clock, now_ms
from sayso.store import Row, Store, Transaction

MOST_TITLE = 200
"""Characters of a name that are kept."""


class ConversationMarks:
    """The marks of conversations in one store. Whether one is this person's is for others to know."""

    def __init__(self, store: Store, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    def of(self, conversation: str) -> Marks:
        row = self._store.one("marks_of_conversation", id=conversation)
        return read_marks(row) if row else Marks()

    def name(self, conversation: str, title: str) -> None:
        self._set("name_conversation", id=conversation, title=json.dumps(title.strip()[:MOST_TITLE]))

    def archive(self, conversation: str) -> None:
        self._set("archive_conversation", id=conversation, at=self._clock())

    def bring_back(self, conversation: str) -> None:
        self._set("archive_conversation", id=conversation, at=None)

    def see(self, conversation: str) -> None:
        """All of it has been shown by now."""
        self._set("see_conversation", id=conversation, at=self._clock())

    def _set(self, query: str, **values: object) -> None:
        def work(tx: Transaction) -> None:
            tx.wake_only()
            tx.run(query, **values)

        self._store.write(work)


def read_marks(row: Row) -> Marks:
    """From the columns of a conversation's marks, all of which are missing where there are none."""
    title = json.loads(row["title"]) if row["title"] else ""
    return Marks(title=title, archived_at=row["archived_at"], seen_at=row["seen_at"] or 0)
