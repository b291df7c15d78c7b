"""What each key of the person makes of a draft: choose, take back, write, skip, accept what is recommended."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.asks.draft import Draft, Said, answer
from sayso.asks.model import Ask, Kind, Question
from sayso.records import replace


def choose(question: Question, said: Said, option_id: str) -> Said:
    """Choose this option; where only one may be chosen it takes the place of all else."""
    if question.kind is Kind.MULTI_SELECT:
        chosen = tuple(o.id for o in question.choices if o.id in (*said.chosen, option_id))
        return replace(said, chosen=chosen, skipped=False)
    return replace(said, chosen=(option_id,), own=False, skipped=False)


def decide(question: Question, said: Said, ids: Sequence[str]) -> Said:
    """Take the option of these that is marked, or else the first of them that there is."""
    offered = [option_id for option_id in ids if question.option(option_id)]
    marked = [option_id for option_id in said.chosen if option_id in offered]
    return choose(question, said, (marked or offered)[0])


def toggle(question: Question, said: Said, option_id: str) -> Said:
    """Choose this option, or take the choice back."""
    if option_id in said.chosen:
        return replace(said, chosen=tuple(chosen for chosen in said.chosen if chosen != option_id))
    return choose(question, said, option_id)


def write(question: Question, said: Said, text: str) -> Said:
    """Answer in own words. Beside single choices they take the place of the chosen option."""
    own = bool(text.strip())
    chosen = said.chosen if question.kind is Kind.MULTI_SELECT or not own else ()
    return replace(said, text=text, own=own, chosen=chosen, skipped=False if own else said.skipped)


def toggle_own(question: Question, said: Said) -> Said:
    """Let the own words that were written count, or no longer."""
    return replace(said, own=False) if said.own else write(question, said, said.text)


def skip(said: Said) -> Said:
    """Leave the question out. What was written is kept, but does not count."""
    return replace(said, chosen=(), own=False, skipped=True)


def recommended(question: Question) -> tuple[str, ...]:
    """The recommended options: all of them, or the first where only one may be chosen."""
    found = tuple(option.id for option in question.choices if option.recommended)
    return found if question.kind is Kind.MULTI_SELECT else found[:1]


def accept_recommended(ask: Ask, draft: Draft) -> Draft:
    """Every question that has no answer yet, answered with what is recommended."""
    for question in ask.questions:
        said = draft.of(question)
        if (wanted := recommended(question)) and answer(question, said).skipped:
            draft = draft.put(question, replace(said, chosen=wanted, own=False, skipped=False))
    return draft


def missing(ask: Ask, draft: Draft) -> list[int]:
    """The places of the questions that still need an answer."""
    return [
        place
        for place, question in enumerate(ask.questions)
        if question.required and answer(question, draft.of(question)).skipped
    ]
