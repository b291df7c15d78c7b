"""What the row of an ask says beside its words: of which kind it is, and how much there is to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.asks.model import Ask, Kind, Option
from sayso.permissions.action import Action, ActionKind, action_of
from sayso.web.wording import headline, question_in_heading

MOST_OPTIONS, MOST_LABEL, MOST_WORDS, MOST_TITLE = 4, 30, 160, 40
"""A question with no more of each is shown whole in its row, and can be answered there."""


@dataclass(frozen=True, kw_only=True)
class RowKind:
    """`icon` tells it at a glance, `word` to who does not see that."""

    icon: str
    word: str


_QUESTIONS = {
    Kind.TEXT: RowKind(icon="question", word="Question"),
    Kind.SELECT: RowKind(icon="choice", word="Choice"),
    Kind.MULTI_SELECT: RowKind(icon="choices", word="Choice of several"),
    Kind.CONFIRM: RowKind(icon="confirm", word="Yes or no"),
}
_FORM = RowKind(icon="form", word="Form")
_ACTIONS = {
    ActionKind.COMMAND: RowKind(icon="command", word="Permission to run a command"),
    ActionKind.SEQUENCE: RowKind(icon="command", word="Permission to run commands"),
    ActionKind.SHELL: RowKind(icon="command", word="Permission to run a command"),
    ActionKind.EDIT: RowKind(icon="edit", word="Permission to change a file"),
    ActionKind.READ: RowKind(icon="read", word="Permission to read"),
    ActionKind.FETCH: RowKind(icon="fetch", word="Permission to fetch"),
    ActionKind.MCP: RowKind(icon="tool", word="Permission to use a tool"),
    ActionKind.PLAN: RowKind(icon="plan", word="Permission to carry out a plan"),
    ActionKind.SERVER: RowKind(icon="server", word="Permission to use a server"),
}
_PERMISSION = RowKind(icon="key", word="Permission")


def kind_of(ask: Ask) -> RowKind:
    if ask.is_permission:
        action = action_of(ask)
        return _ACTIONS.get(action.kind, _PERMISSION) if action else _PERMISSION
    return _QUESTIONS[ask.questions[0].kind] if len(ask.questions) == 1 else _FORM


def options_in_row(ask: Ask) -> tuple[Option, ...]:
    """What a row offers to answer with: all that its question offers, where the row shows all of both. Never for a
    permission."""
    only = ask.questions[0] if len(ask.questions) == 1 else None
    if only is None or not ask.state.answerable or only.kind not in (Kind.CONFIRM, Kind.SELECT):
        return ()
    # A mark that the row does not show, such as a line through a word, may turn round what is asked.
    if question_in_heading(ask) is None or only.text.strip() != headline(ask):
        return ()
    fits = len(only.text) <= MOST_WORDS and len(only.title) <= MOST_TITLE and len(only.choices) <= MOST_OPTIONS
    return only.choices if fits and all(map(_is_short, only.choices)) else ()


def _is_short(option: Option) -> bool:
    return not option.is_explained and 0 < len(option.name.strip()) <= MOST_LABEL and "\n" not in option.name


def size_of(ask: Ask) -> str:
    """How much there is to read: the lines of a change or of a long command, the number of questions; empty where the
    row itself says all."""
    if action := action_of(ask):
        return _size_of_change(action) or _size_of_text(action)
    count = len(ask.questions)
    return f"{count} questions" if count > 1 else ""


def _size_of_change(action: Action) -> str:
    diff = action.data.get("diff")
    if action.kind is not ActionKind.EDIT or not isinstance(diff, str):
        return ""
    lines = diff.split("\n")
    # The first two lines name the file, where they do.
    named = [line[:4] for line in lines[:2]] == ["--- ", "+++ "]
    added, removed = (sum(line.startswith(mark) for line in lines[2 if named else 0 :]) for mark in "+-")
    return f"+{added:,} \N{MINUS SIGN}{removed:,} lines"


def _size_of_text(action: Action) -> str:
    given = action.data.get("input")
    text = (given.get("command") or given.get("plan")) if isinstance(given, Mapping) else None
    lines = text.strip().count("\n") + 1 if isinstance(text, str) else 1
    return f"{lines:,} lines" if lines > 1 else ""
