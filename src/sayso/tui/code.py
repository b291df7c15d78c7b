"""Code in colours. Apart from the rest because the lexers take a while to load, and most questions have no code."""

from __future__ import annotations

from textual.content import Content
from textual.highlight import HighlightTheme, highlight


class CodeColours(HighlightTheme):
    """Syntax colours out of the theme's own variables, so that they follow it."""

    STYLES = {  # noqa: RUF012 - the base class has it so
        ("Comment",): "$code-comment italic",
        ("Keyword",): "$code-keyword",
        ("Literal", "Number"): "$code-number",
        ("Literal", "String"): "$code-string",
        ("Name", "Builtin"): "$code-name",
        ("Name", "Class"): "$code-name",
        ("Name", "Decorator"): "$code-name",
        ("Name", "Function"): "$code-name",
        ("Name", "Tag"): "$code-name",
        ("Operator", "Word"): "$code-keyword",
        ("Generic", "Deleted"): "$code-number",
        ("Generic", "Inserted"): "$code-string",
    }


def coloured(code: str, language: str) -> Content:
    """The code with its syntax marked; as it is where the language is not known."""
    return highlight(code, language=language, theme=CodeColours, tab_size=4)
