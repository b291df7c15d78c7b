"""Pictures and files that go with an answer from the command line: read, added to the ask, and sent with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from sayso.asks.model import Answer, Ask, Attachment, Question, fit
from sayso.asks.new_attachments import from_disk
from sayso.cli.settling import Settling
from sayso.cli.shared import settler
from sayso.cli.values import question_and_value
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problems, StoreError
from sayso.records import replace


def answer_with_files(desks: Desks, settling: Settling, answers: Sequence[Answer], attached: Sequence[str]) -> Ask:
    """Settle with answers and what goes with them. What cannot be sent leaves nothing behind."""
    ask = settling.ask
    files = _files(ask, attached, desks.config.attachments_bytes)
    wanted = [(question, Attachment(id=name)) for question, name, _ in files]
    fit(ask, _with(ask, answers, wanted))
    person, added = settler(desks.config).person, []
    try:
        for question, name, data in files:
            added.append((question, desks.asks.add_attachment(ask.id, person, name, data)))
        return settling.answer(_with(ask, answers, added))
    except BaseException:
        with suppress(StoreError):
            for _, attachment in added:
                desks.asks.drop_attachment(ask.id, person, attachment.id)
        raise


def _files(ask: Ask, attached: Sequence[str], most: int) -> list[tuple[Question, str, bytes]]:
    problems, files = Problems(), []
    for given in attached:
        try:
            question, named = question_and_value(ask, given, "--attach", "FILE")
            files.append((question, *from_disk(named, most, "--attach")))
        except InvalidInput as error:
            problems.found.extend(error.problems)
    problems.check()
    return files


def _with(ask: Ask, answers: Sequence[Answer], attached: Sequence[tuple[Question, Attachment]]) -> list[Answer]:
    """The answers, each with its files; one of its own for a question that has nothing but files."""
    given = {each.question: each for each in answers}
    for question, attachment in attached:
        before = given.get(question.id, Answer(question=question.id))
        given[question.id] = replace(before, attachments=(*before.attachments, attachment))
    return list(given.values())
