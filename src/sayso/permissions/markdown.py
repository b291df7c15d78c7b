"""Actions as Markdown, for surfaces that have no card for them yet: each part in a fence that no text can leave."""

from __future__ import annotations

import re

from sayso.permissions.action import Action
from sayso.permissions.parts import parts_of


def told(action: Action) -> str:
    """Everything that is to be allowed, what matters most first."""
    return "\n\n".join(
        text for part in parts_of(action) for text in (f"{part.name}:", fenced(part.text, part.language))
    )


def fenced(text: str, language: str) -> str:
    """A block of code that ends where we say, whatever backticks the text holds."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}"
