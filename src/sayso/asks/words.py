"""How an ask is named wherever it is told: what it is about, who asks, from which project. How it stands: truth.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from sayso.asks.model import Ask, Asker
from sayso.text import one_line


def headline(ask: Ask, width: int, plain: Callable[[str], str] = str) -> str:
    """What it is about, in one line: its title, or the `plain` words of its first question. Empty where they were not
    kept."""
    if ask.title.strip():
        return one_line(ask.title, width)
    text = ask.questions[0].text if ask.questions else ""
    return one_line(plain(text) or text, width)


def project_name(asker: Asker, width: int) -> str:
    """The last part of the project's path, which tells projects apart."""
    return one_line(PurePath(asker.project).name, width)
