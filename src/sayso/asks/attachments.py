"""Pictures and files that go with an answer or with a question, as the store keeps them: in parts, gone with the ask.

Functions of one transaction, for the desk. What is taken at all, and what is kept of it, says `new_attachments.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from sayso.asks.model import PERMISSION_TAKES_NONE, Answer, Ask, Attachment, NewAttachment
from sayso.errors import InvalidInput, NotFound, Problem, Problems
from sayso.records import record, replace
from sayso.text import quoted

if TYPE_CHECKING:
    from sayso.store import Row, Transaction

PART = 512 * 1024
"""Bytes that lie in one row, so that nobody has to move a large file at once."""
ASKED = ""
"""Whose those are that came with the question."""


_TAKES_NONE = "none is taken here: the setting `attachments` is 0."


@record
class AttachmentLimits:
    """How many one person may add to one ask, and how large all of them may be."""

    count: int = 10
    size: int = 20_000_000


def add(tx: Transaction, ask: Ask, person: str, new: NewAttachment, limits: AttachmentLimits, now: int) -> Attachment:
    """Keep a file for an answer that a person has yet to send. The same one twice is one."""
    if ask.is_permission:
        raise _refused("file", PERMISSION_TAKES_NONE)
    tx.wake_only()
    # Whoever else adds one waits, so that both are counted.
    tx.run("lock_ask", id=ask.id)
    there = of_person(tx, ask.id, person)
    if found := there.get(new.kept.id):
        return found
    if len(there) >= limits.count:
        what = f"at most {limits.count} can go with one answer. Remove one first." if limits.count else _TAKES_NONE
        raise _refused("file", what)
    if sum(each.size for each in there.values()) + new.kept.size > limits.size:
        shown, most = quoted(new.kept.name), f"{limits.size / 1_000_000:g} MB"
        raise _refused("file", f"{shown} makes them too large: all of an answer may have {most}. Send a smaller one.")
    put(tx, ask.id, person, new, now)
    return new.kept


def put(tx: Transaction, ask_id: str, person: str, new: NewAttachment, now: int) -> None:
    kept = new.kept
    sizes = {"size": kept.size, "width": kept.width, "height": kept.height}
    named = {"ask_id": ask_id, "person": person, "id": kept.id}
    if not tx.run("insert_attachment", **named, name=kept.name, media=kept.media, **sizes, now=now):
        return
    import base64  # only where there is a file

    for number, place in enumerate(range(0, kept.size, PART)):
        data = base64.b64encode(new.data[place : place + PART]).decode()
        tx.run("insert_attachment_part", ask_id=ask_id, person=person, attachment_id=kept.id, number=number, data=data)


def of_person(tx: Transaction, ask_id: str, person: str) -> dict[str, Attachment]:
    """What a person has added to an ask, by their ids, the first one first."""
    return {row["id"]: _read(row) for row in tx.all("attachments_of", ask_id=ask_id, person=person)}


def content(tx: Transaction, ask_id: str, person: str, attachment_id: str) -> bytes:
    rows = tx.all("attachment_parts", ask_id=ask_id, person=person, attachment_id=attachment_id)
    if not rows:
        raise NotFound("This file is not there any more: what goes with an ask is deleted with it.")
    import base64

    return b"".join(base64.b64decode(row["data"]) for row in rows)


def drop(tx: Transaction, ask_id: str, person: str, attachment_id: str) -> None:
    tx.run("drop_attachment", ask_id=ask_id, person=person, id=attachment_id)


def settled(
    tx: Transaction, ask_id: str, person: str, answers: Iterable[Answer], draft: Callable[[], str] = str
) -> None:
    """Of what the person had added, keep what they sent, and what their draft names: they may have begun that
    elsewhere, where it was not sent."""
    sent = {each.id for answer in answers for each in answer.attachments}
    unsent = of_person(tx, ask_id, person).keys() - sent
    kept = draft() if unsent else ""
    for each in unsent:
        if each not in kept:
            drop(tx, ask_id, person, each)


def found(tx: Transaction, ask: Ask, person: str, answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """The answers with what is known of their attachments; InvalidInput names those that this person has not added."""
    answers = tuple(answers)
    if not any(answer.attachments for answer in answers):
        return answers
    there, problems = of_person(tx, ask.id, person), Problems()
    for answer in answers:
        for each in answer.attachments:
            if each.id not in there:
                text = (
                    f"there is no file {quoted(each.id)} of yours at this ask. Add it first, then answer with its id."
                )
                problems.add(f"answers[{quoted(answer.question)}].attachments", text)
    problems.check()
    return tuple(_known(answer, there) for answer in answers)


def _known(answer: Answer, there: dict[str, Attachment]) -> Answer:
    unique = dict.fromkeys(each.id for each in answer.attachments)
    return replace(answer, attachments=tuple(there[each] for each in unique))


def whose(ask: Ask, attachment_id: str) -> Iterator[str]:
    """Under whose names everybody who sees the ask may look for it: the question's own, and those of the answer."""
    if any(each.id == attachment_id for each in ask.pictures()):
        yield ASKED
    if ask.outcome and any(each.id == attachment_id for each in ask.attachments()):
        yield ask.outcome.person


def _read(row: Row) -> Attachment:
    return Attachment(**{name: row[name] for name in ("id", "name", "media", "size", "width", "height")})


def _refused(path: str, text: str) -> InvalidInput:
    return InvalidInput([Problem(path=path, text=text)])
