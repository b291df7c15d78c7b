"""Agents' Markdown as styled blocks of text. Safe with anything: what is too long is cut, what is too wild stays plain.

No widget here, and no HTML, no clickable links: an address is shown beside its label, as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content, Span

from sayso.records import replace
from sayso.text import printable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 6_000
MOST_LINES = 300
_MOST_CODE = 4_000
_WIDEST_CELL = 40
_WORDS = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.?!'])*")
"""What no sign of Markdown is in: most questions, which are told at once without its parser."""
_STYLES = {"strong_open": "bold", "em_open": "italic", "s_open": "strike", "link_open": "underline"}


@dataclass(frozen=True, kw_only=True)
class Block:
    """Some text that is wrapped as one, and what stands before its first line and before the others."""

    content: Content
    first: str = ""
    rest: str = ""
    solid: bool = False
    """Code: lines stay as they are and get a background of their own."""
    tight: bool = False
    """No empty line before it."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The part of a text that is shown, and how many characters are not."""

    text: str
    left_out: int = 0


def cut(text: str, most: int = MOST_CHARACTERS) -> Cut:
    """The beginning of a long text."""
    shown = text[:most]
    if shown.count("\n") >= MOST_LINES:
        shown = "\n".join(shown.split("\n", MOST_LINES)[:MOST_LINES])
    return Cut(text=shown, left_out=len(text) - len(shown))


@lru_cache(maxsize=256)
def blocks(text: str) -> tuple[Block, ...]:
    """The text as Markdown; as it is where it is no sensible Markdown. Cut it before."""
    from sayso.whole_markdown import parsed

    tokens = parsed(_parser(), text)
    return (() if tokens is None else tuple(_Reader(tokens).blocks())) or _as_it_is(text)


def load_parser() -> None:
    """Before somebody waits for it."""
    _parser()


@lru_cache(maxsize=2048)
def plain_line(text: str, most: int = 300) -> str:
    """The text's first paragraph on one line, without Markdown's signs."""
    if _WORDS.fullmatch(text[:most]):
        return " ".join(printable(text[:most]).split())
    found = blocks(text.strip()[:most])
    return " ".join(found[0].content.plain.split()) if found else ""


def _as_it_is(text: str) -> tuple[Block, ...]:
    return (Block(content=Content(printable(text)), tight=True),)


@cache
def _parser() -> MarkdownIt:
    # Loaded when it is first wanted: the empty inbox needs no parser, and starts sooner without.
    from sayso.whole_markdown import parser_of

    parser = parser_of()
    # An entity such as &#27; becomes its character while parsing, so what is shown is made safe after it.
    parser.core.ruler.push("printable", lambda state: _make_printable(state.tokens))
    return parser


def _make_printable(tokens: Sequence[Token]) -> None:
    for token in tokens:
        token.content = printable(token.content)
        token.info = printable(token.info)
        token.attrs = {key: printable(str(value)) for key, value in token.attrs.items()}
        _make_printable(token.children or ())


class _Reader:
    """Walks the parser's tokens once and puts out blocks."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._indent: list[str] = []
        self._numbers: list[int | None] = []
        self._marker: str | None = None
        self._begins_list = False

    def blocks(self) -> Iterator[Block]:
        style = ""
        rows: list[list[Content]] = []
        sides: list[str] = []
        for token in self._tokens:
            match token.type:
                case "heading_open":
                    style = "bold" if token.tag not in ("h1", "h2") else "bold underline"
                case "heading_close":
                    style = ""
                case "inline" if token.level and rows:
                    rows[-1].append(_inline(token))
                case "inline":
                    yield self._block(_inline(token, style))
                case "fence" | "code_block":
                    yield replace(self._block(_code(token)), solid=True)
                case "hr":
                    yield self._block(Content.styled("─" * 20, "$muted"))
                case "table_open" | "tr_open":
                    rows.append([])
                case "table_close":
                    yield replace(self._block(_table(rows[1:], sides)), solid=True)
                    rows, sides = [], []
                case "th_open":
                    sides.append(str(token.attrs.get("style", "")))
                case _:
                    self._nest(token)

    def _nest(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._begins_list = not self._numbers
                bullet = token.type == "bullet_list_open"
                self._numbers.append(None if bullet else int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
            case "list_item_open":
                self._begin_item()
            case "blockquote_open":
                self._indent.append("│ ")
            case "list_item_close" | "blockquote_close":
                self._indent.pop()
                self._marker = None

    def _begin_item(self) -> None:
        number = self._numbers[-1]
        self._marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._numbers[-1] = number + 1
        self._indent.append(" " * len(self._marker))

    def _block(self, content: Content) -> Block:
        rest = "".join(self._indent)
        marker, self._marker = self._marker, None
        first = rest if marker is None else rest[: len(rest) - len(marker)] + marker
        tight, self._begins_list = marker is not None and not self._begins_list, False
        return Block(content=content, first=first, rest=rest, tight=tight)


def _inline(token: Token, base: str = "") -> Content:
    """The text of one paragraph. A line's end stays one: agents write lines, not paragraphs."""
    parts: list[tuple[str, str] | str] = []
    styles, links = [base] if base else [], list[tuple[str, int]]()
    for child in token.children or ():
        if child.type in _STYLES:
            styles.append(_STYLES[child.type])
            if child.type == "link_open":
                links.append((str(child.attrs.get("href", "")), len(parts)))
        elif child.type == "link_close":
            styles.pop()
            parts += _address(parts, *links.pop())
        elif child.type.endswith("_close"):
            styles.pop()
        else:
            parts.append(_piece(child, " ".join(styles)))
    return Content.assemble(*parts)


def _piece(child: Token, style: str) -> tuple[str, str] | str:
    match child.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            return child.content, f"{style} $code on $code-background".strip()
        case "image":
            return f"[{child.content}] ({child.attrs.get('src', '')})", style
    return (child.content, style) if style else child.content


def _address(parts: list[tuple[str, str] | str], href: str, since: int) -> list[tuple[str, str] | str]:
    """Where a link really leads, unless its label says just that."""
    label = "".join(part if isinstance(part, str) else part[0] for part in parts[since:])
    return [] if label == href else [(f" ({href})", "$muted")]


def _code(token: Token) -> Content:
    code = token.content.rstrip("\n")
    language = re.split(r"\W", token.info.strip())[0].lower()
    if not language or len(code) > _MOST_CODE:
        return Content(code)
    from sayso.tui.code import coloured

    return coloured(code, language)


def _table(rows: Sequence[Sequence[Content]], sides: Sequence[str]) -> Content:
    """Rows in columns, the first one bold. A long cell stands out of its column. `sides` has the parser's style of each
    column."""
    columns = zip_longest(*rows, fillvalue=Content(""))
    widths = [max(min(cell.cell_length, _WIDEST_CELL) for cell in column) for column in columns]
    lines = [_row(row, widths, sides) for row in rows]
    head = Content(lines[0].plain, [*lines[0].spans, Span(0, len(lines[0]), "bold")])
    return Content("\n").join([head, *lines[1:]])


def _row(row: Sequence[Content], widths: Sequence[int], sides: Sequence[str]) -> Content:
    return Content(" │ ").join(map(_padded, row, widths, sides))


def _padded(cell: Content, width: int, side: str) -> Content:
    room = max(width - cell.cell_length, 0)
    before = {"text-align:right": room, "text-align:center": room // 2}.get(side, 0)
    return (Content(" " * before) + cell).extend_right(room - before)
