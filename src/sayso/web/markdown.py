"""Agents' Markdown as HTML that is safe to show: no HTML of theirs, no images, no scripts, nothing loaded.

Made by markdown-it without HTML and then cleaned by nh3, so that a fault in either alone lets nothing through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Any
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore, linkify
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from sayso.text import one_line, printable
from sayso.web.code_colours import COLOURS, in_order, line_html, of_language
from sayso.whole_markdown import parsed, parser_of

MOST_CHARACTERS = 10_000
"""The longest text that is shown in place; the whole of a longer one has a page of its own."""
_MOST_ADDRESSES = 50
"""Of more addresses than these none becomes a link by itself: looking for them would be slow."""
_HEADLINE_CHARACTERS = 1_000
_SHORT_WORD = 28
"""Characters that have room in a line on every screen."""
_HEADING_CHARACTERS = 240
_ONE_PARAGRAPH = re.compile(r"<p>((?:(?!<p>).)*)</p>\s*")

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "ins", "del"),
    # Around a table, which scrolls by itself, and around a word of code.
    *("div", "span"),
    # Around letters that are read from the right.
    "bdi",
}
_ATTRIBUTES: dict[str, set[str]] = {"*": set(), "a": {"href"}, "ol": {"start"}}
_SIDES = {"text-align:right": "right", "text-align:center": "centre"}
"""How a column of a table stands, by what the parser says of it: no page takes styles from a text."""
_BARE, _TASK = "bare", "task"
"""A link that shows its whole address; an item of a list that is done or not."""
_TASK_MARK = re.compile(r"\[([ xX])\] ")
_BREAKS = {"softbreak": " ", "hardbreak": " ", "html_inline": ""}
_WORD = re.compile(r"\S+")
_BACKTICKS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SCHEMES = {"http", "https", "mailto"}
_PRIVATE_NAME = re.compile(r"sayso-[a-z2-7]{16,}\.localhost")
"""What `accounts.py` calls the inboxes of this machine, however a browser is made to read it."""


@dataclass(frozen=True, kw_only=True)
class ShownText:
    """The part of a text that is shown, and how many characters are not."""

    html: Markup
    left_out: int = 0


@lru_cache(maxsize=256)
def shown(text: str) -> ShownText:
    """A text as HTML, cut where it is too long."""
    kept = text[:MOST_CHARACTERS]
    safe = printable(kept)
    tokens = parsed(_PARSER, safe)
    if tokens is None:
        html = f"<pre>{nh3.clean_text(safe)}</pre>"
    else:
        html = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return ShownText(html=Markup(_clean(html)), left_out=len(text) - len(kept))  # noqa: S704


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A text whose first paragraph can be a heading, and what comes after that."""

    html: Markup
    rest: str


@lru_cache(maxsize=256)
def heading_of(text: str) -> Heading | None:
    """None where the text does not begin with one short paragraph in one line."""
    first, _, rest = text.strip().partition("\n\n")
    if len(first) > _HEADING_CHARACTERS or "\n" in first:
        return None
    # On its own it is what it is in the text: no mark reaches over an empty line.
    alone = _ONE_PARAGRAPH.fullmatch(shown(first).html)
    return Heading(html=Markup(alone[1]), rest=rest.strip("\n")) if alone else None  # noqa: S704


@lru_cache(maxsize=1024)
def plain_line(text: str, width: int = 200) -> str:
    """The words of a text on one line, without its marks, and up to its first table: cells in a row tell nothing."""
    start = printable(text[:_HEADLINE_CHARACTERS])
    tokens = parsed(_PARSER, start)
    if tokens is None:
        return one_line(start, width)
    before_tables = takewhile(lambda token: token.type != "table_open", tokens)
    return one_line(" ".join(_words(before_tables)) or " ".join(_words(tokens)) or start, width)


def unbroken(text: str, is_exact: bool = False) -> Markup:
    """A line that may hold a command, with its words kept whole in the same way. Of one that is exact, they stand in
    the order in which they are written."""
    html = _whole_words(text, '<span class="unbroken">', '<span class="short-word">')
    return Markup(in_order(html) if is_exact else html)  # noqa: S704


def with_code(text: str) -> Markup:
    """Plain words in which only what stands between backticks is a mark."""
    parts = _BACKTICKS.split(text)
    shown = (f"<code>{_code(part)}</code>" if place % 2 else escapeHtml(part) for place, part in enumerate(parts))
    return Markup("".join(shown))  # noqa: S704


def _whole_words(text: str, opening: str, of_short: str = "") -> str:
    def whole(word: re.Match[str]) -> str:
        if "-" not in word[0]:
            return word[0]
        return f"{of_short if of_short and len(word[0]) <= _SHORT_WORD else opening}{word[0]}</span>"

    return _WORD.sub(whole, escapeHtml(text))


def _words(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children:
            yield "".join(_BREAKS.get(child.type, child.content) for child in token.children)
        elif token.type in ("fence", "code_block"):
            yield token.content


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes={
            "span": {f"code-{colour}" for colour in COLOURS},
            "a": {_BARE},
            "li": {_TASK},
            "th": {*_SIDES.values()},
            "td": {*_SIDES.values()},
        },
        url_schemes=_SCHEMES,
        url_relative="deny",
        attribute_filter=_own_names_unlinked,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}, "div": {"tabindex": "0"}},
    )


def _own_names_unlinked(tag: str, name: str, value: str) -> str | None:
    return None if name == "href" and _is_own_name(value) else value


def _is_own_name(address: str) -> bool:
    """No link leads to a private name of an inbox: on another port, that server would be sent the session."""
    spelt = re.sub(r"[^a-z0-9.-]", "", unicodedata.normalize("NFKC", unquote(address)).lower())
    return _PRIVATE_NAME.search(spelt) is not None


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """An agent's heading looks like one, but is none among the headings of our page."""
    return "<p><strong>" if tokens[place].nesting > 0 else "</strong></p>\n"


def _table(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """A table that is too wide scrolls; its words are never broken."""
    return "<div><table>\n" if tokens[place].nesting > 0 else "</table></div>\n"


def _link_addresses(state: StateCore) -> None:
    """Bare addresses become links; none where something that cannot be seen might have been part of one."""
    if state.src.count("://") <= _MOST_ADDRESSES and "<U+" not in state.src:
        linkify(state)
    for token in state.tokens:
        for link, text in pairwise(token.children or ()):
            if link.type == "link_open" and link.info == "auto" and text.content == link.attrGet("href"):
                link.attrSet("class", _BARE)


def _show_addresses(state: StateCore) -> None:
    """An address that is no link of ours is told all the same."""
    for token in state.tokens:
        token.children = list(_without_links(token.children)) if token.children else token.children


def _without_links(children: Sequence[Token]) -> Iterator[Token]:
    address, label = "", ""
    for child in children:
        if child.type == "link_open":
            address, label = str(child.attrGet("href")), ""
            if address.partition(":")[0].lower() in _SCHEMES and not _is_own_name(address):
                address = ""
        label += child.content
        is_told = child.type == "link_close" and address
        if address and child.type in ("link_open", "link_close"):
            child.tag, child.attrs = "span", {}
        yield child
        if is_told:
            yield Token("text", "", 0, content=f" ({address})" if label != address else "")
            address = ""


def _mark_tasks(state: StateCore) -> None:
    """`- [x]` is an item that is done. Nobody can tick it here, so it is no box to tick."""
    for item, _, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type != "list_item_open" or not inline.children:
            continue
        first = inline.children[0]
        if found := _TASK_MARK.match(first.content):
            item.attrSet("class", _TASK)
            first.content = ("☐ " if found[1] == " " else "☑ ") + first.content[found.end() :]


def _align_columns(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and (side := _SIDES.get(str(token.attrs.get("style")))):
            token.attrs = {"class": side}


def _make_printable(tokens: Sequence[Token]) -> None:
    """Once more after parsing: an entity such as `&#x202e;` is a character only now."""
    for token in tokens:
        token.content = printable(token.content)
        _make_printable(token.children or ())


def _code(text: str) -> str:
    """Code whose words stay whole: broken at a hyphen, `--force` would read as another command."""
    return in_order(_whole_words(text, "<span>"))


def _code_inline(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return f"<code>{_code(tokens[place].content)}</code>"


def _fence(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """A block of code; in a diff, what is new and what is gone can be told apart."""
    token = tokens[place]
    if (language := token.info.strip()) == "diff":
        return f"<pre><code>{''.join(map(_diff_line, token.content.splitlines(keepends=True)))}</code></pre>\n"
    pattern = of_language(language) if language else None
    shown = (line_html(line, pattern, whole_word="<span>") for line in token.content.split("\n"))
    return f"<pre><code>{chr(10).join(shown)}</code></pre>\n"


def _diff_line(line: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    if tag is None or line.startswith(("+++ ", "--- ")):
        return _code(line)
    return f"<{tag}>{_code(line.rstrip(chr(10)))}\n</{tag}>"


def _parser() -> MarkdownIt:
    # Agents mean the line breaks they write.
    parser = parser_of(breaks=True, linkify=True)
    parser.core.ruler.enable("linkify")
    assert parser.linkify is not None
    # Only what is surely an address: `README.md` and `main.rs` are names of hosts as well.
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    for schema in ("//", "ftp:", "mailto:"):
        parser.linkify.add(schema, None)
    parser.core.ruler.at("linkify", _link_addresses)
    parser.core.ruler.push("unlinked", _show_addresses)
    parser.core.ruler.push("tasks", _mark_tasks)
    parser.core.ruler.push("columns", _align_columns)
    parser.disable(["image", "html_block", "html_inline"])
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("code_inline", _code_inline)
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", _table)
    parser.core.ruler.push("printable", lambda state: _make_printable(state.tokens))
    return parser


_PARSER = _parser()
