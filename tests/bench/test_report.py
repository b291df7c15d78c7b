"""What the measuring programs print finds its place in the document, and reads as Markdown."""

from __future__ import annotations

import socket
from importlib.util import find_spec

import pytest
from bench.report import BEGIN, DOCUMENT, END, PROGRAMS, put, section
from bench.tables import ratio, setting, table


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_there_and_has_its_place_in_the_document(name: str) -> None:
    assert find_spec(f"bench.{name}")
    text = DOCUMENT.read_text("utf-8")
    assert f"## {PROGRAMS[name]}" in text
    new = put(text, name, "measured anew")
    assert "measured anew" in new
    assert put(new, name, "and again") == put(text, name, "and again")


def test_a_document_without_a_place_for_a_program_is_left_alone() -> None:
    with pytest.raises(SystemExit, match="has no place for peers"):
        put("# Nothing here", "peers", "figures")


def test_tables_are_markdown_and_all_else_looks_as_in_a_terminal() -> None:
    rows = table(["", "ms"], [["quick", "1"], ["not so quick", "1000"]])
    assert rows == "|              |   ms |\n|--------------|-----:|\n| quick        |    1 |\n| not so quick | 1000 |"
    assert "```" not in section("peers", rows)
    assert "```\nplain words\n```" in section("peers", "plain words")


def test_the_setting_tells_of_the_machine_but_not_its_name() -> None:
    told = setting()
    assert "UTC" in told
    assert "cores" in told
    assert socket.gethostname() not in told


def test_ratios_are_short() -> None:
    assert (ratio(1, 4), ratio(30, 2)) == ("0.25x", "15x")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_kept_of_every_program_is_tables(name: str) -> None:
    kept = DOCUMENT.read_text("utf-8").partition(BEGIN.format(name=name))[2].partition(END.format(name=name))[0]
    assert "|---" in kept
    assert "```" not in kept
