"""Hostile text in every field: shown as what it is, never obeyed, and the screen stays quick."""

from __future__ import annotations

import re
import unicodedata

import pytest
from tests.tui.harness import Person, Place, option
from textual.events import Key, Paste
from textual.message import Message

from sayso.asks.model import Answer, Kind, Question, Settler
from sayso.tui.field import clean
from sayso.tui.markdown import MOST_CHARACTERS, blocks, cut, plain_line
from sayso.tui.pasting import PasteKeepingParser
from sayso.tui.prose import lay_out

pytestmark = pytest.mark.anyio

SCREEN_TRICKS = "\x1b[2J\x1b[31mred\x1b]0;owned\x07\x9b2J\x90tmux;\x1b]52;c;ZXZpbA==\x07\r\x08\x00"
TEXT_TRICKS = "\u202egnp.exe\u2066\u200f\u200b\u2028\ufeff\U000e0041"
MARKUP = "[bold red]markup[/] [@click=app.quit]click[/] [link=http://evil.example]x[/] $error [/nonsense]"
ENTITIES = "&#27;[31m &#x202e;x &#x9b; &lt;b&gt; <script>alert(1)</script> <b>bold</b>"
LONG = "very " * 20_000
WIDE = "漢字" * 5_000 + "👩‍👩‍👧" * 100 + "e\u0301" * 5_000
BOMBS = {
    "brackets": "[" * 50_000,
    "images": "![" * 30_000,
    "stars": "*a **b " * 10_000,
    "quotes": "> " * 30_000 + "deep",
    "nested lists": "".join("  " * depth + "- x\n" for depth in range(500)),
    "items": "- x\n" * 30_000,
    "table": "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + ("|b" * 300 + "|\n") * 300,
    "backticks": "".join("`" * number + " " for number in range(300)),
    "links": "[a](b" * 20_000,
    "code": "```python\n" + "x = '" * 20_000 + "\n```",
    "definitions": "[a]: b\n" * 10_000,
    "lines": "\n" * 100_000,
    "entity bomb": "&#x202e;" * 10_000,
}
HOSTILE = {
    "screen tricks": SCREEN_TRICKS,
    "text tricks": TEXT_TRICKS,
    "markup": MARKUP,
    "entities": ENTITIES,
    "long": LONG,
    "wide": WIDE,
    **BOMBS,
}
_DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def safe(screen: str) -> bool:
    """Nothing on the screen drives or deceives a terminal."""
    return not _DANGEROUS.search(screen)


def hostile_question(text: str) -> Question:
    return Question(
        id="q",
        text=text,
        title=text,
        kind=Kind.MULTI_SELECT,
        options=(option("a", text, text, recommended=True), option("b", "Fine", text)),
    )


async def answer_it(place: Place, anna: Person, text: str) -> None:
    """Be asked something hostile in every field, go through every screen that shows it, and answer."""
    # Names are kept short where they come in.
    short = text[:200].replace("\x00", "")
    held = place.ask(
        hostile_question(text),
        Question(id="w", text="What now?", placeholder=text),
        title=text,
        client=short,
        project=f"/home/{short}",
        host=short,
    )
    await anna.sees("1 waiting")
    assert safe(anna.screen())
    await anna.open()
    assert safe(anna.screen())
    await anna.press("pagedown", "2")
    await anna.sees("[x] 2. Fine")
    assert safe(anna.screen())
    await anna.press("enter")
    await anna.sees("What now?")
    assert safe(anna.screen())
    await anna.press("x", "enter")
    await anna.sees("Check your answers")
    assert safe(anna.screen())
    await anna.press("enter")
    assert (await place.outcome(held)).answer("q") == Answer(question="q", chosen=("b",))
    await anna.sees("nobody is waiting")


EVERY_WAY = ["screen tricks", "text tricks", "markup", "entities", "long", "wide", "brackets", "nested lists", "table"]
"""Texts that are taken through every screen; the layout of all of them is tried below."""


@pytest.mark.parametrize(("size", "names"), [((100, 30), EVERY_WAY), ((40, 20), EVERY_WAY[:4])], ids=["wide", "narrow"])
async def test_hostile_text_in_every_field_is_shown_safely_and_can_be_answered(
    place: Place, size: tuple[int, int], names: list[str]
) -> None:
    async with place.inbox(size=size) as anna:
        for name in names:
            await answer_it(place, anna, HOSTILE[name])
        await anna.press("h")
        await anna.sees("answered by anna")
        for _ in names:
            await anna.press("enter")
            assert safe(anna.screen())
            await anna.press("escape", "down")


async def test_what_looks_like_markup_is_shown_as_it_is(place: Place) -> None:
    place.ask(Question(id="q", text=MARKUP), title="[red]title[/]")
    async with place.inbox() as anna:
        await anna.sees("[red]title[/]")
        await anna.open()
        await anna.sees("[red]title[/]", "[bold red]markup[/] [@click=app.quit]click[/]")


async def test_escape_sequences_and_direction_marks_are_spelt_out(place: Place) -> None:
    place.ask(Question(id="q", text=f"run {SCREEN_TRICKS} {TEXT_TRICKS} {ENTITIES}"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("<U+001B>[2J", "<U+202E>gnp.exe", "<script>alert(1)</script>", "<b>bold</b>")


async def test_a_hostile_person_and_reason_of_another_surface_are_shown_safely(place: Place) -> None:
    held = place.ask(Question(id="q", text="What now?"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("x")
        evil = Settler(person=SCREEN_TRICKS.replace("\x00", ""), surface=TEXT_TRICKS)
        place.desk.reject(held.ask.id, SCREEN_TRICKS.replace("\x00", "") + MARKUP, evil)
        await anna.sees("Already rejected by")
        assert safe(anna.screen())
        await anna.press("escape", "escape")
        await anna.sees("No questions.")
        await anna.press("h")
        await anna.sees("rejected by")
        await anna.press("enter")
        await anna.sees("[bold red]markup[/]")
        assert safe(anna.screen())


async def test_a_long_question_is_cut_and_says_how_to_read_the_rest(place: Place) -> None:
    place.ask(Question(id="q", text="word " * 20_000))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("word word")
        await anna.press("escape", *["pagedown"] * 40)
        await anna.sees("94,000 more characters. v shows the whole text.")


@pytest.mark.parametrize("name", list(HOSTILE))
@pytest.mark.parametrize("width", [4, 40, 120])
def test_no_line_is_wider_than_there_is_room(name: str, width: int) -> None:
    lines = list(lay_out(blocks(cut(HOSTILE[name]).text), width))
    assert all(line.cell_length <= width for line in lines)
    assert safe("\n".join(line.plain for line in lines))


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert cut("x" * MOST_CHARACTERS).left_out == 0
    assert cut("x" * (MOST_CHARACTERS + 1)).left_out == 1
    assert cut("\n" * 1000).left_out > 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# One\n\ntwo", ["One", "", "two"]),
        ("a *b* **c** ~~d~~ `e`", ["a b c d e"]),
        ("one\ntwo", ["one", "two"]),
        ("- a\n- b\n  - c\n\n1. d\n2. e", ["- a", "- b", "  - c", "", "1. d", "2. e"]),
        ("> said\n> so", ["│ said", "│ so"]),
        ("[label](http://a.example)", ["label (http://a.example)"]),
        ("<http://a.example>", ["http://a.example"]),
        ("![alt](http://a.example/i.png)", ["[alt] (http://a.example/i.png)"]),
        ("| a | b |\n|---|---|\n| 1 | 22 |", ["a │ b ", "1 │ 22"]),
        ("| a | b | c |\n|--:|:-:|:--|\n| 100 | 333 | 22 |", ["  a │  b  │ c ", "100 │ 333 │ 22"]),
        ("x\n\n---\n\ny", ["x", "", "─" * 20, "", "y"]),
        ("7. seven\n8. eight", ["7. seven", "8. eight"]),
        ("", [""]),
    ],
)
def test_markdown_becomes_lines(text: str, shown: list[str]) -> None:
    lines = [line.plain.rstrip() if "│" not in line.plain else line.plain for line in lay_out(blocks(text), 40)]
    assert [line[: len(wanted)] for line, wanted in zip(lines, shown, strict=True)] == shown


def test_code_is_highlighted_and_keeps_its_shape() -> None:
    (block,) = blocks("```python\ndef f():\n    return 1  # one\n```")
    assert block.content.plain == "def f():\n    return 1  # one"
    assert {"$code-keyword", "$code-number", "$code-comment italic"} <= {span.style for span in block.content.spans}


def test_a_headline_is_the_first_paragraph_without_signs() -> None:
    assert plain_line("## Which **one**?\n\nThere are `two`.") == "Which one?"


@pytest.mark.parametrize("text", ["Ship it now?", "Größe: 3", "Well, 3.", "One.  Two", "Don't!", "A 1. b"])
def test_a_headline_without_signs_reads_as_its_markdown(text: str) -> None:
    (block,) = blocks(text)
    assert plain_line(text) == " ".join(block.content.plain.split())


def test_pasted_text_loses_what_no_keyboard_types() -> None:
    pasted = clean("a\x1b[31mb\r\nc\rd\te\x00\x9b")
    assert pasted == "a[31mb\nc\nd\te"
    assert all(unicodedata.category(character) != "Cc" or character in "\n\t" for character in pasted)


MANY_KEYS = "y" * 40
"""More than any sequence of a terminal has: from there on Textual takes what came for keys."""


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("\x1b[200~yes\x1b[201~y", ["pasted yes", "y"]),
        (f"\x1b[200~a\x1b{MANY_KEYS}\r\x1b[201~", [f"pasted a{MANY_KEYS}\r"]),
        ("\x1b[200~a\x1b\x1b[201~x", ["pasted a", "x"]),
        ("\x1b[200~\x1b[20y\x1b[A\n\x1b[201~\x1b[A", ["pasted [20y[A\n", "up"]),
        ("\x1b[200~\x1b[200~y\x1b[201~", ["pasted [200~y"]),
        ("\x1b[20y", ["left_square_bracket", "2", "0", "y"]),
    ],
)
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_no_escape_within_a_paste_makes_a_key_of_what_follows(given: str, taken: list[str], at_once: int) -> None:
    parser, came = PasteKeepingParser(), list[Message]()
    for start in range(0, len(given), at_once):
        came += parser.feed(given[start : start + at_once])
    came += parser.feed("")
    assert [f"pasted {event.text}" if isinstance(event, Paste) else _key(event) for event in came] == taken


def _key(event: Message) -> str:
    assert isinstance(event, Key)
    return event.key
