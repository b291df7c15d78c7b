"""How an ask is named wherever it is told: what it is about, who asks, from which project. How it stands: truth.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

from sayso.asks.model import ITS_CALL, Ask, Asker, Attachment, Option, Question
from sayso.asks.truth import session_of
from sayso.text import one_line


def headline(ask: Ask, width: int, plain: Callable[[str], str] = str) -> str:
    """What it is about, in one line: its title, or the `plain` words of its first question. Empty where they were not
    kept. An action that was allowed as somebody had edited it is told by what it was then."""
    edited = ask.outcome.changed_title if ask.outcome else ""
    if title := (title_with(ask, edited) if edited else ask.title).strip():
        return one_line(title, width)
    text = ask.questions[0].text if ask.questions else ""
    return one_line(plain(text) or text, width)


def title_with(ask: Ask, action: str) -> str:
    """Its title, with another action in it than the agent wants."""
    return ask.title.replace((ask.wanted or {}).get("title", ""), action)


def with_previews(question: Question, longest_title: int = 0) -> str:
    """All that there is to read of a question: its title, unless it is no longer than what is shown elsewhere, its
    text, and what its options would look like."""
    title = " ".join(question.title.split())
    shown = [_preview(option) for option in question.options if option.preview.strip() or option.picture]
    text = f"{title}\n{question.text}" if len(title) > longest_title else question.text
    return "\n\n".join([text, *shown])


def _preview(option: Option) -> str:
    parts = [f"**{option.name}**"]
    if option.picture:
        parts.append(f"[{picture_line(option.picture)}]")
    if option.preview.strip():
        longest = max((len(run) for run in re.findall("`+", option.preview)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"{fence}\n{option.preview}\n{fence}")
    return "\n\n".join(parts)


def picture_line(picture: Attachment) -> str:
    """A picture where none can be shown."""
    return f"{picture.name}, {picture.width} × {picture.height}"


_PLACES = {
    "browser": "in the browser",
    "terminal": "in the terminal",
    "command line": "at the command line",
    ITS_CALL: "with its call",
}


def place(surface: str, width: int) -> str:
    """Where something was said: `at the command line`, `in Telegram`."""
    return _PLACES.get(surface) or f"in {one_line(surface, width) or 'an unknown place'}"


_LONGEST_NAME = 40


def who_asks(asker: Asker) -> str:
    """`claude-code 1f3a5b in shop`: two sessions in one project are told apart."""
    session = f" {session_of(asker)}" if asker.session else ""
    where = f" in {project_name(asker, _LONGEST_NAME)}" if asker.project else ""
    return f"{one_line(asker.client, _LONGEST_NAME) or 'An agent'}{session}{where}"


def who_wants(ask: Ask) -> str:
    """The same, with whether it asks something or wants a permission."""
    return f"{who_asks(ask.asker)} {'wants a permission' if ask.is_permission else 'asks'}"


def project_name(asker: Asker, width: int) -> str:
    """The last part of the project's path, which tells projects apart."""
    return one_line(PurePath(asker.project).name, width)
