"""The colours that programs print for a terminal, as words; nothing is hidden by them, and no secret comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.running.excerpt import Excerpts, plain
from sayso.running.looks import PLAIN, ColouredRun, cut, runs_of
from sayso.running.masking import default_masks

ESC = "\x1b["


@pytest.mark.parametrize(
    ("codes", "look"),
    [
        ("31", "red"),
        ("1;32", "bold green"),
        ("91", "red"),
        ("90", "grey"),
        ("37", ""),
        ("38;5;208", "yellow"),
        ("38;5;21", "blue"),
        ("38;5;240", "grey"),
        ("38;2;200;0;200", "magenta"),
        ("38:2:0:200:200", "cyan"),
        ("97;41", "on-red"),
        ("4;9;3;2;7", "dim inverse italic strike underline"),
        ("31;39", ""),
        ("1;31;22", "red"),
        ("31;0", ""),
        ("31;", ""),
        ("8", ""),
        ("38;5", ""),
        ("38;2;1", "bold"),
        ("99999999999999", ""),
        ("<0", ""),
    ],
)
def test_a_colour_is_told_by_its_name(codes: str, look: str) -> None:
    assert runs_of(f"{ESC}{codes}mx")[0] == [ColouredRun("x", look)]


def test_colours_go_on_until_they_end_and_lines_written_over_are_gone() -> None:
    runs, look = runs_of(f"{ESC}33m10%\r20%\r{ESC}32m30%{ESC}0m\r\nend{ESC}1m")
    assert runs == [ColouredRun("30%", "green"), ColouredRun("\n"), ColouredRun("end")]
    assert look.words == "bold"
    assert runs_of("on", look)[0] == [ColouredRun("on", "bold")]


@given(st.text(alphabet=f"ab\r\n{ESC};m013\x9b"))
def test_the_words_are_the_same_with_colours_and_without(text: str) -> None:
    runs, _ = runs_of(text)
    assert "".join(run.text for run in runs) == plain(text)
    assert not any("\x1b" in run.text or "\r" in run.text or not run.text for run in runs)


@given(st.lists(st.text(max_size=5), max_size=5), st.integers(0, 30))
def test_cutting_loses_nothing(texts: list[str], place: int) -> None:
    whole = "".join(texts)
    before, after = cut([ColouredRun(text, str(number)) for number, text in enumerate(texts)], place)
    assert "".join(run.text for run in before) == whole[:place]
    assert "".join(run.text for run in after) == whole[place:]


def test_a_secret_with_colours_between_its_letters_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(f"pass{ESC}31mword=hunt{ESC}32mer2hun{ESC}0mter\nfine\n")
    (part,) = Excerpts(default_masks()).both(tmp_path, {"stdout": 0, "stderr": 0}).parts
    assert part.text == "password=*************\nfine\n"
    assert [run.look for run in part.runs] == ["", "red", "green", ""]
    assert PLAIN.words == ""
