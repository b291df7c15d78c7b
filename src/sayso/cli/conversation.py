"""Answering at plain prompts: one question after the other, a review, and only then is anything sent.

Lines of text in and out, nothing drawn, so that it reads well aloud. Nothing is chosen for the person.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from sayso.asks.model import Answer, Ask, Kind, Question, fit
from sayso.cli.asks_in_words import answer_lines, headline, place, question_block, status
from sayso.cli.begun import Begun
from sayso.cli.settling import Rejection
from sayso.cli.terminal import bold, dim, flowing, forget_typed_ahead, put, read_line
from sayso.cli.texts import mark, plural, tr, translated
from sayso.cli.values import answer_typed
from sayso.errors import InvalidInput
from sayso.records import replace
from sayso.text import one_line, printable


class Wish(Enum):
    """What a person can want at a prompt instead of answering."""

    BACK = "/b"
    REJECT = "/r"
    LEAVE = "/q"
    SEND = "y"


@dataclass(frozen=True, kw_only=True)
class ChangeAnswer:
    """Answer this question again."""

    question: str


Step = Answer | ChangeAnswer | Wish
_ANYWHERE = {wish.value: wish for wish in (Wish.BACK, Wish.REJECT, Wish.LEAVE)}
_IN_REVIEW = {**_ANYWHERE, "b": Wish.BACK, "r": Wish.REJECT, "q": Wish.LEAVE, "y": Wish.SEND, "yes": Wish.SEND}
_HOW = {
    Kind.TEXT: mark("Your answer; an empty line ends it"),
    Kind.SELECT: mark("Number, label or own words"),
    Kind.MULTI_SELECT: mark("Numbers or labels with commas between, or own words"),
    Kind.CONFIRM: mark("y or n"),
}


_SKIPS = "/s"
"""Leaves out what was answered and need not be."""
_EMPTY_SKIPS, _EMPTY_KEEPS = mark(" (empty skips)"), mark(" (empty keeps it)")
_EMPTY_KEEPS_OR_SKIP = mark(" (empty keeps it, /s skips)")


def converse(ask: Ask, begun: Begun | None = None) -> Sequence[Answer] | Rejection | None:
    """The person's answers, their no, or None when they left it open. It goes on with what was begun, where each answer
    is kept."""
    _introduce(ask)
    given, before = dict(begun.given) if begun else {}, dict[str, Answer]()
    if given:
        put(flowing(tr("What you have answered before is kept; it is shown before anything is sent.")))
    while True:
        number, question = _first_open(ask, given)
        if forget_typed_ahead() and given:
            put(
                "   "
                + tr("More lines came after that answer was complete; they were dropped. To add them, go /b back.")
            )
        step = _put_question(ask, number, question, before) if question else _review(ask, given)
        match step:
            case Answer():
                given[step.question] = step
                if begun:
                    begun.keep(step)
            case ChangeAnswer():
                before[step.question] = given.pop(step.question)
            case Wish.BACK:
                before |= _take_back(ask, given, number)
            case Wish.SEND:
                return list(given.values())
            case Wish.REJECT:
                return _rejection()
            case Wish.LEAVE:
                return None


def choose_ask(asks: Sequence[Ask], left_out: int) -> Ask | None:
    """The only open ask, or the one the person picks by its number, once they know how many are not among these."""
    if len(asks) == 1 and not left_out:
        return asks[0]
    put_numbered(asks)
    if left_out:
        put(flowing(tr("… and {n} more are open: `sayso list --all` shows them.", n=left_out)))
    forget_typed_ahead()
    by_number = {str(number): ask for number, ask in enumerate(asks, start=1)}
    while (line := read_line(tr("Which one, 1 to {n}? ", n=len(asks)))) is not None and line.strip() not in ("q", "/q"):
        if ask_chosen := by_number.get(line.strip()):
            return ask_chosen
        if line.strip():
            put(flowing(none_of_these(line, len(asks))))
    return None


def none_of_these(typed: str, count: int) -> str:
    """That so many asks were listed, and this is the number of none."""
    return tr("{typed} is none of these: it takes a number from 1 to {n}.", typed=one_line(typed, 40), n=count)


def put_numbered(asks: Sequence[Ask]) -> None:
    """The asks, each with its number, and who asks below it."""
    for number, ask in enumerate(asks, start=1):
        put(f"{number}) {headline(ask)}")
        client, standing = one_line(ask.asker.client, 30), translated(status(ask))
        put(dim(f"   {ask.id[:8]}, {standing}, {client}, {place(ask.asker.project)}"))


def _introduce(ask: Ask) -> None:
    asker = bold(one_line(ask.asker.client, 40) or tr("An agent"))
    if ask.asker.project:
        asker = tr("{agent} in {where}", agent=asker, where=place(ask.asker.project))
    told = plural(
        len(ask.questions), "{asker} has a question for you.", "{asker} has {n} questions for you.", asker=asker
    )
    put(flowing(told))
    if ask.title:
        put(bold(flowing(one_line(ask.title, 200))))
    put(dim(flowing(tr("At any prompt /b goes back, /r rejects the whole ask, /q leaves it open."))))


def _first_open(ask: Ask, given: Mapping[str, Answer]) -> tuple[int, Question | None]:
    for number, question in enumerate(ask.questions, start=1):
        if question.id not in given:
            return number, question
    return len(ask.questions) + 1, None


def _take_back(ask: Ask, given: dict[str, Answer], number: int) -> Mapping[str, Answer]:
    """The answer before question `number`, which is no longer given."""
    id = ask.questions[number - 2].id
    return {id: given.pop(id)} if number > 1 else {}


def _put_question(ask: Ask, number: int, question: Question, before: Mapping[str, Answer]) -> Step:
    """What the person wants here. An answer that they have gone back to stays unless they give another."""
    put(f"\n{question_block(number, question)}")
    kept = before.get(question.id)
    if kept:
        put(f"   {tr('Your answer so far:')}")
        put(textwrap.indent("\n".join(answer_lines(question, kept)), "   "))
    while True:
        typed = _read(question, kept)
        if isinstance(typed, Wish):
            return typed
        if kept and not typed.strip():
            return kept
        if kept and not question.required and typed == _SKIPS:
            return Answer(question=question.id)
        try:
            return _understood(ask, question, typed)
        except InvalidInput as error:
            put(flowing("\n".join(f"   {printable(translated(problem.text))}" for problem in error.problems)))


def _read(question: Question, kept: Answer | None) -> str | Wish:
    """A line; for a text all lines up to an empty one, so that a paste of several stays one answer."""
    line = read_line(f"   {tr(_HOW[question.kind])}{tr(_what_empty_does(question, kept))}: ")
    if line is None:
        return Wish.LEAVE
    if kept and not question.required and line.strip() == _SKIPS:
        return _SKIPS
    if wish := _ANYWHERE.get(line.strip()):
        return wish
    if question.kind is not Kind.TEXT:
        return line.strip()
    lines = []
    while line:
        lines.append(line)
        line = read_line("   ")
    return "\n".join(lines).rstrip()


def _what_empty_does(question: Question, kept: Answer | None) -> str:
    if kept:
        return _EMPTY_KEEPS if question.required else _EMPTY_KEEPS_OR_SKIP
    return "" if question.required else _EMPTY_SKIPS


def _understood(ask: Ask, question: Question, typed: str) -> Answer:
    """The answer that was typed; an InvalidInput says what is wrong with it."""
    answer = answer_typed(question, typed) if typed.strip() else Answer(question=question.id)
    return fit(replace(ask, questions=(question,)), [answer])[0]


def _review(ask: Ask, given: Mapping[str, Answer]) -> Step:
    put(f"\n{bold(tr('Your answers'))}")
    for number, question in enumerate(ask.questions, start=1):
        put(f"{number}. {one_line(question.text, 100)}")
        put(textwrap.indent("\n".join(answer_lines(question, given[question.id])), "   "))
    changes = {
        str(number): ChangeAnswer(question=question.id) for number, question in enumerate(ask.questions, start=1)
    }
    prompt = tr("Send them? y sends, a number changes that answer, r rejects, q leaves: ")
    while (line := read_line(prompt)) is not None:
        word = line.strip().lower()
        if step := changes.get(word) or _IN_REVIEW.get(word):
            return step
    return Wish.LEAVE


def _rejection() -> Rejection | None:
    reason = read_line(tr("Why? The agent is told; empty for no reason: "))
    return None if reason is None else Rejection(reason=reason.strip())
