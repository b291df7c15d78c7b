"""Questions in a chat: one that a press or a few words answer, and several that are gone through in one message.

Of several, what was said so far is the person's draft, as on every surface. Nothing of it is an answer before they have
seen all of it in one piece and pressed "Send", and that button is good for exactly what it stood below.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sayso.asks.draft import Draft, Said, answer, answers
from sayso.asks.model import Answer, Ask, Kind, Option, Question
from sayso.records import asdict, replace
from sayso.text import exact, one_line

T = TypeVar("T")
OPTION = "o"
"""The choice of a button that is the whole answer; the place of its option follows."""
PICK, TICK, UNTICK, SKIP, GO, SEND = "p", "t", "u", "k", "g", "s"
"""Those of an ask that is gone through. Each says what is to be so, so that one which comes twice does nothing more:
a question, with an option; where to go on; what is sent."""
MOST_QUESTIONS = 12
LONGEST_LABEL = 30
_LINE, _SO_FAR = 80, 60
_BAR = "│"
_CHOICE = re.compile(r"([a-z])([0-9]+)(?:-([0-9]+))?")

IN_YOUR_WORDS = "Reply to this message to answer in your own words."
REPLY = "Reply to this message with your answer."
LOOK = "Nothing is sent yet. Look at all of it."
LEFT_OUT = "No answer."
MISSING = "Still to be answered."


@dataclass(frozen=True, kw_only=True)
class ChatQuestion:
    """What a message says of an ask, and its buttons: each label with its choice."""

    body: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()


def is_gone_through(ask: Ask) -> bool:
    """Whether it takes more than one press, or a few words."""
    return not ask.is_permission and (len(ask.questions) > 1 or ask.questions[0].kind is Kind.MULTI_SELECT)


def whole(ask: Ask, most_options: int, takes_words: bool) -> ChatQuestion | None:
    """A question that is answered by one press or in a few words; None where a chat cannot offer that."""
    question = ask.questions[0]
    if not _is_offered(question, most_options) or not (question.choices or takes_words):
        return None
    labels = _labels(question.choices)
    hint = _words_hint(question) if takes_words else ""
    choices = tuple((label, f"{OPTION}{place}") for place, label in enumerate(labels))
    return ChatQuestion(body=_body(question, ask.title), hint=hint, choices=choices)


def picked(ask: Ask, choice: str) -> Option | None:
    """The option that is the whole answer; None where it has no such."""
    return _at(ask.questions[0].choices, int(choice[1:])) if choice[0] == OPTION and choice[1:].isdecimal() else None


def step(ask: Ask, draft: Draft, most_options: int) -> ChatQuestion | None:
    """Where the person is: at one of the questions, or at the end. None where a chat cannot offer all of them."""
    if len(ask.questions) > MOST_QUESTIONS or not all(_is_offered(each, most_options) for each in ask.questions):
        return None
    return _end(ask, draft) if draft.step >= len(ask.questions) else _question(ask, draft)


def steps(ask: Ask, most_options: int) -> list[ChatQuestion | None]:
    """Every question, as somebody sees it who has said nothing yet."""
    return [step(ask, Draft(step=place), most_options) for place in range(len(ask.questions))]


def can_go_on(ask: Ask, draft: Draft) -> bool:
    """Whether a chat can show all that was entered so far, wherever that was."""
    beside = any(each.note or each.attachments for each in answers(ask, draft))
    return draft.empty or (is_gone_through(ask) and not beside and not draft.reason and draft.edit is None)


def seal(given: Sequence[Answer]) -> str:
    """Names answers by what is in them, in the button that sends them."""
    return hashlib.sha256(json.dumps([asdict(each) for each in given]).encode()).hexdigest()[:16]


def pressed(ask: Ask, draft: Draft, choice: str) -> Draft | None:
    """What was entered, after one more press; None where the ask has no such button."""
    found = _CHOICE.fullmatch(choice)
    place = int(found[2]) if found else -1
    if found and found[1] == GO and place <= len(ask.questions):
        return replace(draft, step=place)
    if found is None or not 0 <= place < len(ask.questions):
        return None
    question, said = ask.questions[place], draft.of(ask.questions[place])
    if found[1] == SKIP and not question.required:
        return _entered(ask, draft, place, Said(skipped=True))
    option = _at(question.choices, int(found[3] or -1))
    several = question.kind is Kind.MULTI_SELECT
    if option is None or several != (found[1] in (TICK, UNTICK)) or found[1] not in (PICK, TICK, UNTICK):
        return None
    if not several:
        return _entered(ask, draft, place, Said(chosen=(option.id,)))
    ticked = {*said.chosen, option.id} if found[1] == TICK else {*said.chosen} - {option.id}
    chosen = tuple(each.id for each in question.choices if each.id in ticked)
    return replace(draft.put(question, replace(said, chosen=chosen, skipped=False)), step=place)


def wrote(ask: Ask, draft: Draft, text: str) -> Draft | None:
    """What was entered, after words about the question that the person is at; None where it takes none."""
    question = _at(ask.questions, draft.step)
    if question is None or not question.takes_own_text:
        return None
    chosen = draft.of(question).chosen if question.kind is Kind.MULTI_SELECT else ()
    return _entered(ask, draft, draft.step, Said(chosen=chosen, text=text, own=True))


def _entered(ask: Ask, draft: Draft, place: int, said: Said) -> Draft:
    """With what was said to one question, and the person at the next that is open; at the end when none is."""
    after = draft.put(ask.questions[place], said)
    count = len(ask.questions)
    order = [(place + ahead) % count for ahead in range(1, count)]
    return replace(after, step=next((each for each in order if after.of(ask.questions[each]).empty), count))


def _question(ask: Ask, draft: Draft) -> ChatQuestion:
    place = draft.step
    question, said, last = ask.questions[place], draft.of(ask.questions[place]), len(ask.questions) - 1
    several = question.kind is Kind.MULTI_SELECT
    choices = []
    for number, (option, label) in enumerate(zip(question.choices, _labels(question.choices), strict=True)):
        ticked = option.id in said.chosen
        sign = ("☑ " if ticked else "☐ ") if several else ""
        choices.append((f"{sign}{label}", f"{(UNTICK if ticked else TICK) if several else PICK}{place}-{number}"))
    if not said.empty:
        choices.append(("Next", f"{GO}{place + 1}"))
    elif not question.required:
        choices.append(("Skip", f"{SKIP}{place}"))
    if place:
        choices.append(("Back", f"{GO}{place - 1}"))
    count = f"Question {place + 1} of {last + 1}" if last else ""
    so_far = "; ".join(_told(question, answer(question, said))) if not said.empty else ""
    so_far = f"So far: {one_line(so_far, _SO_FAR)}" if so_far else ""
    hint = "\n".join(filter(None, (so_far, _words_hint(question))))
    return ChatQuestion(body=_body(question, ask.title, count), hint=hint, choices=tuple(choices))


def _end(ask: Ask, draft: Draft) -> ChatQuestion:
    """All answers, whole. They can be sent where none is missing."""
    given, parts, missing = answers(ask, draft), [], False
    for number, (question, said) in enumerate(zip(ask.questions, given, strict=True), start=1):
        told = [f"{_BAR} {line}" for each in _told(question, said) for line in each.split("\n")]
        missing = missing or (question.required and not told)
        told = told or [MISSING if question.required else LEFT_OUT]
        parts.append("\n".join([f"{number}. {one_line(question.text or question.title, _LINE)}", *told]))
    send = () if missing else (("Send", SEND + seal(given)),)
    return ChatQuestion(body="\n\n".join(parts), hint=LOOK, choices=(*send, *changes(ask)))


def changes(ask: Ask) -> tuple[tuple[str, str], ...]:
    """The way back to each question."""
    return tuple((f"Change {number}", f"{GO}{number - 1}") for number in range(1, len(ask.questions) + 1))


def _told(question: Question, said: Answer) -> Iterator[str]:
    """Each option that was chosen, on one line, and the person's own words as they are."""
    for chosen in said.chosen:
        if option := question.option(chosen):
            yield _on_one_line(option.label)
    if said.text:
        yield exact(said.text)


def _is_offered(question: Question, most_options: int) -> bool:
    """Whether buttons can offer it. What is to be looked at side by side is seen on its page."""
    return not question.is_visual and len(question.choices) <= most_options


def _words_hint(question: Question) -> str:
    if not question.takes_own_text:
        return ""
    return IN_YOUR_WORDS if question.choices else REPLY


def _body(question: Question, *before: str) -> str:
    said = dict.fromkeys(exact(part) for part in (*before, question.title, question.text) if part.strip())
    options = question.choices
    listed = [] if _are_named(options) and not any(each.description for each in options) else list(_listed(options))
    return "\n\n".join([*said, *(["\n".join(listed)] if listed else [])])


def _labels(options: Sequence[Option]) -> list[str]:
    """What their buttons say: their names where all fit on one, else their numbers."""
    named = _are_named(options)
    return [option.label if named else str(number) for number, option in enumerate(options, start=1)]


def _are_named(options: Sequence[Option]) -> bool:
    labels = [option.label for option in options]
    return all(map(_is_short, labels)) and len(set(labels)) == len(labels)


def _listed(options: Sequence[Option]) -> Iterator[str]:
    for number, option in enumerate(options, start=1):
        about = f": {exact(option.description)}" if option.description.strip() else ""
        yield f"{number}. {exact(option.label)}{about}"


def _is_short(label: str) -> bool:
    return 0 < len(label) <= LONGEST_LABEL and label == exact(label) == _on_one_line(label)


def _on_one_line(text: str) -> str:
    return " ".join(exact(text).split())


def _at(items: Sequence[T], place: int) -> T | None:
    return items[place] if 0 <= place < len(items) else None
