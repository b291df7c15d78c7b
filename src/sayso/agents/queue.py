"""Messages that wait until their agent is free: kept in the store, so that every page shows the same, and taken once.

Each is meant to follow one turn. If that turn is stopped or fails, the message stays until the person says what is to
become of it: what they had in mind may no longer hold.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence

from sayso import sent_once
from sayso.agents.model import Picture, Run, RunState, Saying, Spoken
from sayso.clock import Clock, now_ms
from sayso.errors import InvalidInput, NotFound, Problem
from sayso.processes import this_host
from sayso.records import record
from sayso.store import Row, Store, Transaction

MOST_QUEUED = 20
"""Messages that may wait in one conversation."""
_TOO_MANY = f"cannot be queued: {MOST_QUEUED} messages wait already. Wait until one is sent, or remove one."


@record
class QueuedMessage:
    """One message, and the run after which it is to be sent."""

    id: str
    conversation: str
    after: str
    text: str
    pictures: int = 0
    """How many go with it."""

    def is_held(self, latest: Run) -> bool:
        """Whether it goes only when the person says so."""
        return latest.id != self.after or (latest.state.ended and latest.state is not RunState.COMPLETED)


class MessageQueue:
    """The messages that wait, in one store."""

    def __init__(self, store: Store, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock
        self._host = this_host()

    def of(self, conversation: str) -> list[QueuedMessage]:
        return self._store.read(lambda tx: _all(tx, conversation))

    def add(self, run: Run, text: str, attempt: str = "", pictures: Sequence[Picture] = ()) -> None:
        """Have it sent when this run is done."""

        message = os.urandom(12).hex()
        values = {"conversation": run.conversation, "after_run": run.id, "text": json.dumps(text)}

        def work(tx: Transaction) -> None:
            tx.wake_only()
            sent_once.take(tx, attempt, self._clock())
            waiting = tx.all("queued_messages", conversation=run.conversation)
            if len(waiting) >= MOST_QUEUED:
                raise InvalidInput([Problem(path="prompt", text=_TOO_MANY)])
            # After those before it, however close they follow each other.
            now = max(self._clock(), *(row["at"] + 1 for row in waiting[-1:]), 0)
            tx.run("queue_message", id=message, **values, now=now)
            for number, picture in enumerate(pictures):
                data = base64.b64encode(picture.data).decode()
                tx.run("queue_picture", message_id=message, number=number, media=picture.media, data=data)

        self._store.write(work)

    def change(self, run: Run, message: str, text: str) -> None:
        """Say it otherwise, after this run. NotFound if it was taken meanwhile."""
        self._act("change_queued", run, message, text=json.dumps(text), after_run=run.id)

    def remove(self, run: Run, message: str) -> None:
        """Take it back. NotFound if it was taken meanwhile."""
        self._act("remove_queued", run, message)

    def due(self) -> list[QueuedMessage]:
        """The first message of each conversation of this machine whose turn has come."""
        found = [_read(row) for row in self._store.all("due_messages", host=self._host)]
        return list({message.conversation: message for message in reversed(found)}.values())

    def _act(self, query: str, run: Run, message: str, **values: str) -> None:
        def work(tx: Transaction) -> int:
            tx.wake_only()
            return tx.run(query, id=message, conversation=run.conversation, **values)

        if not self._store.write(work):
            raise _taken()


def take(tx: Transaction, conversation: str, message: str) -> Spoken:
    """A message that is sent now, with its pictures; nobody else gets it. NotFound if somebody has, or if it was
    removed."""
    found = tx.all("queued_pictures", message_id=message)
    row = tx.one("take_queued", id=message, conversation=conversation)
    if row is None:
        raise _taken()
    pictures = tuple(Picture(media=each["media"], data=base64.b64decode(each["data"])) for each in found)
    return Spoken(what=Saying.MESSAGE, text=json.loads(row["text"]), pictures=pictures)


def _taken() -> NotFound:
    return NotFound("This message does not wait any more: it was taken as it was, or removed.")


def _all(tx: Transaction, conversation: str) -> list[QueuedMessage]:
    return [_read(row) for row in tx.all("queued_messages", conversation=conversation)]


def _read(row: Row) -> QueuedMessage:
    text = json.loads(row["text"])
    return QueuedMessage(
        id=row["id"], conversation=row["conversation"], after=row["after_run"], text=text, pictures=row["pictures"]
    )
