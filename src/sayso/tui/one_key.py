"""Answering a short question by one key where it is listed: what each key says, and whether all of it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.asks.model import Ask, Kind, Question
from sayso.text import one_line
from sayso.tui.shared import Shared
from sayso.tui.wording import WIDEST_TAB

_MOST_OPTIONS = 9
_LONGEST_QUESTION, _LONGEST_BESIDE = 300, 2_000
_LONGEST_DESCRIPTION = 200
_LONGEST_LABEL = 100


def keys_for(ask: Ask) -> Mapping[str, str]:
    """The option that each key chooses. None for a permission, and none where one choice does not answer all of it."""
    if ask.is_permission or len(ask.questions) != 1 or not ask.state.answerable:
        return {}
    question = ask.questions[0]
    if question.kind is Kind.CONFIRM:
        return {"y": "yes", "n": "no"}
    if question.kind is not Kind.SELECT or len(question.options) > _MOST_OPTIONS:
        return {}
    return {str(number): option.id for number, option in enumerate(question.options, 1)}


def shown_keys(ask: Ask) -> str:
    """The same for a person: `1-3`, `y n`."""
    keys = [*keys_for(ask)]
    return f"{keys[0]}-{keys[-1]}" if len(keys) > 1 and keys[0] == "1" else " ".join(keys)


def row_choices(shared: Shared, ask: Ask) -> str:
    """What the keys say, if nothing more is to be known of the question than what a row tells."""
    keys = keys_for(ask)
    if not keys or not _is_one_line(shared, ask) or not _fit_in_one_line(ask.questions[0], keys):
        return ""
    question = ask.questions[0]
    title = f"{one_line(question.title, WIDEST_TAB)}:  " if question.title.strip() else ""
    return title + "  ".join(_choice(shared, question, key, chosen) for key, chosen in keys.items())


def is_told_beside(ask: Ask) -> bool:
    """Whether what stands beside the list is all of its question, and not a part of it."""
    question = ask.questions[0]
    about = [one_line(option.description, _LONGEST_DESCRIPTION) for option in question.choices]
    seen = len(question.title) + len(question.text) < _LONGEST_BESIDE and not question.is_visual
    return seen and not any(map(_is_cut, about)) and _can_be_told_apart(question)


def _choice(shared: Shared, question: Question, key: str, chosen: str) -> str:
    option = question.option(chosen)
    best = f" ({shared.texts.recommended})" if option and option.recommended else ""
    return f"{key} {shared.wording.option(question, chosen)}{best}"


def _is_one_line(shared: Shared, ask: Ask) -> bool:
    text, title = ask.questions[0].text.strip(), ask.questions[0].title
    fits = len(text) < _LONGEST_QUESTION and len(title) <= WIDEST_TAB and not ask.title.strip()
    return fits and text == shared.wording.headline(ask)


def _fit_in_one_line(question: Question, keys: Mapping[str, str]) -> bool:
    """Whether they need no more than their names, and no name looks like two of them, or like who asks."""
    signs = {*keys, "·"}
    return _can_be_told_apart(question) and not any(
        option.is_explained or signs & set(option.name.split()) for option in question.choices
    )


def _can_be_told_apart(question: Question) -> bool:
    names = [one_line(option.name, _LONGEST_LABEL) for option in question.choices]
    return len(set(names)) == len(names) and not any(map(_is_cut, names))


def _is_cut(shown: str) -> bool:
    return shown.endswith("…")
