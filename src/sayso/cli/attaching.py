"""Pictures and files that go with an answer from the command line: read, added to the ask, and sent with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sayso.asks.model import Answer, Ask, Attachment, Question, fit
from sayso.cli.settling import answer
from sayso.cli.shared import settler
from sayso.cli.values import question_and_value
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problems, StoreError
from sayso.files import read_regular
from sayso.records import replace
from sayso.text import quoted


def answer_with_files(desks: Desks, ask: Ask, answers: Sequence[Answer], attached: Sequence[str]) -> Ask:
    """Settle with answers and what goes with them. What cannot be sent leaves nothing behind."""
    files = _files(ask, attached, desks.config.attachments_bytes)
    wanted = [(question, Attachment(id=path.name)) for question, path, _ in files]
    fit(ask, _with(ask, answers, wanted))
    person, added = settler(desks.config).person, []
    try:
        for question, path, data in files:
            added.append((question, desks.asks.add_attachment(ask.id, person, path.name, data)))
        return answer(desks, ask, _with(ask, answers, added))
    except BaseException:
        with suppress(StoreError):
            for _, attachment in added:
                desks.asks.drop_attachment(ask.id, person, attachment.id)
        raise


def _files(ask: Ask, attached: Sequence[str], most: int) -> list[tuple[Question, Path, bytes]]:
    problems, files = Problems(), []
    for given in attached:
        try:
            question, name = question_and_value(ask, given, "--attach", "FILE")
            path = Path(name).expanduser()
            data = read_regular(path, most)
            if len(data) > most:
                problems.add("--attach", f"{quoted(name)} is larger than {most / 1_000_000:g} MB. Send a smaller one.")
            files.append((question, path, data))
        except OSError as error:
            why = error.strerror or str(error)
            problems.add("--attach", f"{quoted(name)} cannot be read: {why}. Name a file that is there.")
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
