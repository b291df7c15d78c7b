"""Colours, sizes and spacing in one place; contrasts that people can read in light and dark; a small first load."""

from __future__ import annotations

import hashlib
import re

import pytest
from scripts.design_language import CONTRASTS, DOCUMENT, STYLES, TOKENS, contrast, drawn_parts, made, tokens
from tests.e2e.browser.test_meant import permission
from tests.web.house import USER, House, confirm, select, text

from sayso.web.boards import DRAWN

FIRST_LOAD = 60_000
"""Bytes of a page with all that it needs, as they are sent."""
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(", re.I)
_LENGTHS = {
    "font-size": re.compile(r"^[\d.]+rem$"),
    "border-radius": re.compile(r"\b(?!0)\d+px"),
    "gap": re.compile(r"\b[\d.]+rem"),
}


def declarations(css: str) -> list[tuple[str, str]]:
    return re.findall(r"(?<![-\w])([a-z-]+): ([^;{}]+);", css)


@pytest.mark.parametrize("pair", CONTRASTS, ids=lambda pair: f"{pair[0]} on {pair[1]}")
def test_what_is_written_can_be_read_in_light_and_dark(pair: tuple[str, str, float]) -> None:
    text, ground, least = pair
    for theme in ("light", "dark"):
        assert contrast(tokens()[text][theme], tokens()[ground][theme]) >= least, theme


def test_every_colour_of_a_text_stands_in_the_table_of_contrasts() -> None:
    used = {name for _, css in STYLES for name in re.findall(r"(?<![-\w])color: var\(--([\w-]+)\)", css)}
    assert used <= {text for text, _, _ in CONTRASTS}


def test_colours_and_sizes_are_written_in_one_place() -> None:
    rest = [css if name != "app.css" else css.replace(TOKENS, "") for name, css in STYLES]
    assert [value for css in rest for _, value in declarations(css) if _COLOUR.search(value)] == []
    literal = [
        f"{name}: {value}"
        for css in rest
        for name, value in declarations(css)
        if name in _LENGTHS and _LENGTHS[name].search(value)
    ]
    assert literal == []


def test_every_name_that_is_used_is_declared_and_the_other_way_round() -> None:
    everything = "".join(css for _, css in STYLES)
    declared = set(re.findall(r"(?<![\w(])--([\w-]+):", everything))
    used = set(re.findall(r"var\(--([\w-]+)", everything))
    assert used == declared


def test_the_document_shows_what_holds_now() -> None:
    assert DOCUMENT.read_text("utf-8") == made()


def test_the_parts_in_the_document_are_drawn_by_the_real_templates() -> None:
    html = drawn_parts()
    for part in ('class="row"', "row-answers", "row crowd", "banner", "pill", 'class="empty"', "option"):
        assert part in html


def test_the_first_load_of_a_full_inbox_is_small(house: House) -> None:
    for number in range(40):
        house.ask(confirm(f"Shall I go on with step {number}, which moves what {names(number)} holds?"))
        house.ask(select(f"Which of these for step {number}?", *names(number).split()), text("And what is it called?"))
    for number in range(20):
        permission(house, f"git push --force-with-lease origin {names(number).replace(' ', '-')}")
    cookie = f"{house.cookie_name}={house.session(USER)}"
    page = house.web.call("GET", "/", cookie=cookie, headers={"Accept-Encoding": "gzip"})
    assert page.text.count('<li class="row"') == DRAWN
    files = set(re.findall(r'(?:src|href)="(static/[^"]+|manifest[^"]+)"', page.text))
    assert len(files) > 8
    sizes = {"the page": page.size}
    for name in files:
        sent = house.web.call("GET", f"/{name}", headers={"Accept-Encoding": "gzip"})
        assert sent.status == 200
        sizes[name.partition("?")[0]] = sent.size
    assert sum(sizes.values()) < FIRST_LOAD, sizes


def names(number: int) -> str:
    """Words that are others for each number, so that they cannot be packed as one."""
    return " ".join(hashlib.sha256(f"{number} {word}".encode()).hexdigest()[:9] for word in range(3))
