"""Text from agents and people is shown in a way that can neither drive nor deceive a terminal, and loses nothing."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.text import (
    age,
    exact,
    exact_diff,
    fit_for_column,
    heading,
    iso_time,
    json_block,
    json_line,
    one_line,
    printable,
    quoted,
)

any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode, 日本語\tand\nlines", "plain, ünïcode, 日本語\tand\nlines"),
        ("\x1b[2J\x1b]0;owned\x07", "<U+001B>[2J<U+001B>]0;owned<U+0007>"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\rb\r\nc", "a<U+000D>b\nc"),
        ("nul\x00", "nul<U+0000>"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("in\u200bvisible", "in<U+200B>visible"),
        ("\U000e0041", "<U+E0041>"),
        ("half \ud800", "half <U+D800>"),
        ("👩🏽\u200d🚀 a\u200db", "👩🏽\u200d🚀 a<U+200D>b"),
        ("❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ©\ufe0f", "❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ©\ufe0f"),
        ("Yes\ufe0f ❤\ufe0f\ufe0f", "Yes<U+FE0F> ❤\ufe0f<U+FE0F>"),
    ],
)
def test_what_could_drive_or_deceive_a_terminal_is_spelt_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.finding("F-11")
@pytest.mark.parametrize(
    "code",
    [
        *(0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x2065, 0x206A, 0x206F, 0x2800, 0x3164),
        *(0xFE00, 0xFE0F, 0xFFA0, 0xFFF0, 0x16FE4, 0x1BCA0, 0x1D159, 0x1D173, 0x1D17A, 0xE0101, 0xE01EF, 0xE0FFF),
    ],
    ids=hex,
)
def test_no_character_without_a_picture_of_its_own_hides_on_any_surface(code: int) -> None:
    assert printable(f"Yes{chr(code)}") == f"Yes<U+{code:04X}>"
    assert one_line(f"Yes{chr(code)}") != "Yes"
    assert chr(code) not in json_line(f"Yes{chr(code)}")


def test_nothing_that_formats_others_or_that_each_font_draws_as_it_likes_is_shown_as_it_is() -> None:
    kinds = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
    hidden = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in kinds} - {"\n", "\t"}
    assert [character for character in hidden if printable(character) == character] == []
    assert [character for character in hidden if character in json_line(character)] == []


@given(any_text)
def test_no_text_at_all_can_drive_a_terminal(text: str) -> None:
    for character in printable(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs")
    for shown in (one_line(text), json_line(text), quoted(text)):
        assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)


pieces = st.sampled_from(
    ["<", "U+", "<U+", "003C", "202E", "0", ">", "\\", "x00", "\x00", "\r", "\u202e", "\u200d", "🚀"]
)


@given(any_text | st.lists(pieces).map("".join))
def test_different_texts_never_have_the_same_spelling(text: str) -> None:
    read_back = re.sub(r"<U\+([0-9A-F]{4,6})>", lambda found: chr(int(found[1], 16)), exact(text))
    assert read_back == text


def test_a_nul_and_what_looks_like_one_are_told_apart() -> None:
    assert len({exact(text) for text in ("\x00", "\\x00", "<U+0000>", "<U+003C>U+0000>")}) == 4
    assert exact("printf '\\x1b[31m'") == "printf '\\x1b[31m'"


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_json_for_a_terminal_reads_back_as_it_was(value: object) -> None:
    assert json.loads(json_line(value)) == value
    assert json.loads(json_block(value)) == value


@given(any_text, st.integers(1, 200))
def test_one_line_is_never_wider_than_asked(text: str, width: int) -> None:
    shown = one_line(text, width)
    assert len(shown) <= width
    assert shown == shown.strip()


def test_one_line_joins_lines_and_shows_that_it_was_cut() -> None:
    assert one_line("  one\n\n two\tthree ") == "one two three"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"
    assert one_line("\n" * 1_000_000 + "far below") == "…"
    assert one_line("git status" + " " * 1_000_000 + "; rm -rf ~") == "git status…"
    assert one_line("git status" + " " * 1_000_000) == "git status"


def test_a_heading_shows_where_lines_end() -> None:
    assert heading("git status\n\n  rm -rf ~\n", 80) == "git status ↵ rm -rf ~"
    assert heading("git status" + "\n" * 120 + "rm -rf ~", 20) == "git status ↵ rm -rf…"
    assert heading("git status" + "\n" * 1_000_000 + "rm -rf ~", 80) == "git status…"


def test_a_value_in_an_error_is_json_cut_to_size() -> None:
    assert quoted('say "hi"\n') == '"say \\"hi\\"\\n"'
    assert quoted("x" * 1000) == '"' + "x" * 59 + "…"
    assert quoted({"a": [1, None]}) == '{"a": [1, null]}'


def test_times_are_rfc_3339_in_utc() -> None:
    assert iso_time(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(None) is None


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "now"),
        (999, "now"),
        (-5, "now"),
        (1000, "1s"),
        (59_999, "59s"),
        (60_000, "1m"),
        (7_200_000, "2h"),
        (345_600_000, "4d"),
    ],
)
def test_an_age_is_told_as_people_say_it(milliseconds: int, said: str) -> None:
    assert age(milliseconds) == said


@pytest.mark.parametrize(
    ("diff", "shown"),
    [
        ("-    c()\n+    c() ", "-    c()\n+    c()<U+0020>"),
        ("-c()   \n+d()", "-c()  <U+0020>\n+d()"),
        ("-\tc()\n+    c()", "-<U+0009>c()\n+    c()"),
        ("-a b\n+a\u00a0b", "-a b\n+a<U+00A0>b"),
        ("-\n+\t\t", "-\n+<U+0009><U+0009>"),
        ("-\tc()\n+\td()", "-\tc()\n+\td()"),
        (" same \n+a<U+0020>", " same \n+a<U+003C>U+0020>"),
    ],
)
def test_a_diff_shows_what_changes_in_nothing_but_blanks(diff: str, shown: str) -> None:
    assert exact_diff(diff) == shown


@given(any_text)
def test_a_diff_that_is_shown_can_be_read_back(diff: str) -> None:
    read_back = re.sub(r"<U\+([0-9A-F]{4,6})>", lambda found: chr(int(found[1], 16)), exact_diff(diff))
    assert read_back == diff


def test_a_name_from_outside_fits_every_store() -> None:
    assert fit_for_column("a\x00b\ud800c" + "x" * 300) == "ab?c" + "x" * 196
