"""Markdown without what leaves words out: a person who answers has seen all that is asked.

What the syntax would drop is shown. Definitions of links stay text, cells beyond the columns of a table stand in its
last one, and the title of a link, and what a block of code is called in more than a word, are told with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_DEEPEST = 20
_MOST_BRACKETS = 300
"""Brackets that open nothing make the parser slow; no honest text of this length has as many."""
_MOST_CELLS = 10_000
"""The parser fills up each row of a table to the widest: a few letters could make one of any size."""
_LANGUAGE = re.compile(r"[\w+#-]{0,12}", re.ASCII)


def parser_of(**options: Any) -> MarkdownIt:
    """CommonMark with tables and strikethrough, and without HTML."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST, **options})
    parser.enable(["table", "strikethrough"]).disable(["reference"])
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph"]})
    parser.core.ruler.after("inline", "whole", _tell_all)
    return parser


def parsed(parser: MarkdownIt, text: str) -> Sequence[Token] | None:
    """What the parser makes of a text; None where that is no sensible Markdown, and is shown as it is."""
    lines = text.split("\n")
    if text.count("[") > _MOST_BRACKETS or len(lines) * max(line.count("|") for line in lines) > _MOST_CELLS:
        return None
    try:
        tokens = parser.parse(text)
    except RecursionError:
        return None
    # Deeper than this the parser leaves text out without a word.
    return None if any(token.level >= _DEEPEST - 1 for token in tokens) else tokens


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    before = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    cells = [token for token in state.tokens[before:] if token.type == "inline"]
    columns = sum(1 for cell in cells if cell.map and cell.map[0] == start)
    for cell in cells[columns - 1 :: columns] if columns else ():
        line = getLine(state, cell.map[0]).strip() if cell.map else ""
        given = escapedSplit(line.removeprefix("|"))
        if len(given) > columns and any(each.strip() for each in given[columns:]):
            cell.content = " | ".join(each.strip() for each in given[columns - 1 :])
    return True


def _tell_all(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "fence" and not _LANGUAGE.fullmatch(token.info.strip()):
            token.content, token.info = f"{token.markup}{token.info}\n{token.content}", ""
        if token.children:
            token.children = list(_with_titles(token.children))


def _with_titles(children: Sequence[Token]) -> Iterator[Token]:
    titles = []
    for child in children:
        yield child
        if child.type in ("link_open", "image"):
            titles.append(str(child.attrs.pop("title", "")))
        if child.type in ("link_close", "image") and (title := titles.pop()):
            yield Token("text", "", 0, content=f" “{title}”")
