"""Answering at plain prompts: one question after the other, a review, and only then is anything sent.

Lines of text in and out, nothing drawn, so that it reads well aloud. Nothing is chosen for the person.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from sayso.asks.model import Answer, Ask, Kind, Option, Question, fit
from sayso.cli.asks_in_words import answer_lines, headline, place, question_block, status
from sayso.cli.list import inbox_table
from sayso.cli.terminal import bold, dim, put, read_line
from sayso.cli.values import answer_to, option_named, option_numbered
from sayso.errors import InvalidInput, Problem
from sayso.text import one_line, printable


class Wish(Enum):
    """What a person can want at any prompt instead of answering."""

    BACK = "/b"
    REJECT = "/r"
    LEAVE = "/q"
    SEND = "/s"


@dataclass(frozen=True, kw_only=True)
class Rejection:
    reason: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """Answer this question again."""

    question: str


Step = Answer | Change | Wish
Settlement = Sequence[Answer] | Rejection | None


def converse(ask: Ask) -> Settlement:
    """The person's answers, their no, or None when they left it open."""
    _open(ask)
    given: dict[str, Answer] = {}
    while True:
        number, question = _first_open(ask, given)
        step = _review(ask, given) if question is None else _put_question(number, question)
        match step:
            case Answer():
                given[step.question] = step
            case Change():
                del given[step.question]
            case Wish.BACK:
                _take_back(ask, given, number)
            case Wish.SEND:
                return list(given.values())
            case Wish.REJECT:
                return _rejection()
            case Wish.LEAVE:
                return None


def choose_ask(asks: Sequence[Ask]) -> Ask | None:
    """The only open ask, or the one the person picks by its number."""
    if len(asks) == 1:
        return asks[0]
    for number, ask in enumerate(asks, start=1):
        put(f"{number}) {headline(ask)}")
        put(dim(f"   {ask.id[:8]}, {status(ask)}, {one_line(ask.asker.client, 30)}, {place(ask.asker.project)}"))
    while (line := read_line(f"Which one, 1 to {len(asks)}? ")) is not None and line.strip() != Wish.LEAVE.value:
        if line.strip().isdecimal() and 1 <= int(line) <= len(asks):
            return asks[int(line) - 1]
    return None


def _open(ask: Ask) -> None:
    asker = one_line(ask.asker.client, 40) or "An agent"
    many = "a question" if len(ask.questions) == 1 else f"{len(ask.questions)} questions"
    where = f" in {place(ask.asker.project)}" if ask.asker.project else ""
    put(f"{bold(asker)}{where} has {many} for you.")
    if ask.title:
        put(bold(one_line(ask.title, 200)))
    put(dim("At any prompt: /b goes back, /r rejects the whole ask, /q leaves it open."))


def _first_open(ask: Ask, given: Mapping[str, Answer]) -> tuple[int, Question | None]:
    for number, question in enumerate(ask.questions, start=1):
        if question.id not in given:
            return number, question
    return len(ask.questions) + 1, None


def _take_back(ask: Ask, given: dict[str, Answer], number: int) -> None:
    """Forget the answer before question `number`."""
    if number > 1:
        del given[ask.questions[number - 2].id]


def _put_question(ask: Ask, number: int, question: Question) -> Step:
    put(f"\n{question_block(number, question)}")
    while True:
        typed = _read_text(question) if question.kind is Kind.TEXT else _read_choice(question)
        if isinstance(typed, Wish):
            return typed
        try:
            return _understood(ask, question, typed)
        except InvalidInput as error:
            put("\n".join(f"   {printable(problem.text)}" for problem in error.problems))


def _read_choice(question: Question) -> str | Wish:
    how = {Kind.CONFIRM: "y or n", Kind.SELECT: "Number, label or own words"}
    line = read_line(f"   {how.get(question.kind, 'Numbers or labels with commas, or own words')}{_or_skip(question)}: ")
    return _wish(line) or str(line).strip()


def _read_text(question: Question) -> str | Wish:
    """Lines up to an empty one: a paste of several lines stays one answer."""
    line = read_line(f"   Your answer{_or_skip(question)}; an empty line ends it: ")
    if wish := _wish(line):
        return wish
    lines: list[str] = []
    while line:
        lines.append(line)
        line = read_line("   ")
    return "\n".join(lines).rstrip()


def _or_skip(question: Question) -> str:
    return "" if question.required else " (empty skips)"


def _wish(line: str | None) -> Wish | None:
    """What the line wants; the end of input wants to leave."""
    if line is None:
        return Wish.LEAVE
    return next((wish for wish in _ANYWHERE if wish.value == line.strip()), None)


def _understood(ask: Ask, question: Question, typed: str) -> Answer:
    """The answer a line stands for; an InvalidInput says what is wrong with it."""
    answer = Answer(question=question.id)
    if typed.strip():
        answer = answer_to(question, [typed]) if question.kind is Kind.TEXT else _chosen(question, typed)
    return fit(replace(ask, questions=(question,)), [answer])[0]


def _chosen(question: Question, typed: str) -> Answer:
    if question.kind is not Kind.MULTI_SELECT:
        option = _option(question, typed)
        return Answer(question=question.id, **_as_fields([(typed, option)]))
    return Answer(question=question.id, **_as_fields(_several(question, typed)))


def _several(question: Question, typed: str) -> list[tuple[str, Option | None]]:
    """Options by commas. A text with commas in which no part names an option is one text."""
    whole = _option(question, typed)
    pieces = [piece.strip() for piece in typed.split(",") if piece.strip()]
    named = [(piece, _option(question, piece)) for piece in pieces]
    if whole or not any(option for _, option in named):
        return [(typed, whole)]
    return named
