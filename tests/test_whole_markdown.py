"""That no word of what an agent asks is left out, on the page or in the terminal, however it is marked up."""

from __future__ import annotations

import time
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.tui import markdown as tui
from sayso.web import markdown as web

WORD = "unseenwordof{}letters"
"""Longer than the name of any language, which a block of code need not show."""
MARKS = (
    *("> ", "- ", "1. ", "\n", "\n\n", "|", "\n|---|---|\n", "\n|-|\n", "`", "```", "\n~~~", "    ", "*", "**"),
    *("[", "]", "(", ")", "](", "]: ", "[x]: ", "[ ] ", "<", ">", "&", "&#x41;", "\\", "![", "# ", "\n===\n"),
    *(
        "_",
        "~~",
        "\n---\n",
        '"',
        "'",
        " ",
        "http://a.b/",
        "<http://",
        "/",
        "ftp://",
        "javascript:",
        "<!--",
        "-->",
        "<b ",
        "\n    ",
    ),
)


def seen(text: str) -> tuple[str, str]:
    """What the page shows, with the addresses of links, and what the terminal does."""
    drawn = "\n".join(block.content.plain for block in tui.blocks(text))
    return unescape(str(web.shown(text).html)), drawn


@pytest.mark.parametrize(
    "text",
    [
        "Format it?\n\n[{}]: <{}> '{}'",
        "Format it?\n\n| a |\n|---|\n| b | {} | {} |\n| c | {}",
        "> | a |\n> |---|\n> | b | {} |",
        "Format it?\n\n```sh {} {}\nls\n```",
        "Format it? [x](https://a.example '{}') ![{}](https://{} '{}')",
        "Format it? [x]({}) [x](/{}) [x](ftp://{}) [x][{}]",
        "[x](http://sayso-aaaaaaaaaaaaaaaa.localhost/{})",
        "Format it?\n\n" + "> " * 25 + "{}",
        "Format it?\n\n" + "- " * 11 + "{}",
        "| a |\n|---|\n| " + "long " * 20 + "{} |",
    ],
)
def test_what_markdown_would_leave_out_is_shown(text: str) -> None:
    words = [WORD.format(number) for number in range(text.count("{}"))]
    for shown in seen(text.format(*words)):
        assert [word for word in words if word not in shown] == []


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(MARKS) | st.just(""), max_size=30))
def test_however_it_is_marked_up_every_word_is_shown(marks: list[str]) -> None:
    words = [WORD.format(number) for number in range(marks.count(""))]
    left = iter(words)
    text = "".join(mark or next(left) for mark in marks)
    for shown in seen(text):
        assert [word for word in words if word not in shown] == []


def test_an_address_that_is_no_link_is_told_once() -> None:
    page, _ = seen("[the readme](docs/readme.md) <made-up:thing>")
    assert page == "<p><span>the readme</span> (docs/readme.md) <span>made-up:thing</span></p>\n"


def test_a_table_that_would_be_filled_up_with_cells_takes_no_time() -> None:
    table = "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n" + "x\n" * 2_900
    begun = time.process_time()
    seen(table[: web.MOST_CHARACTERS])
    assert time.process_time() - begun < 0.5
