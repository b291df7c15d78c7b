"""Commands that are declared without click: plain lines are read by what is declared, others by click made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from tests.cli.program import Home

from sayso.cli import READERS, declared
from sayso.cli.command_table import COMMANDS
from sayso.cli.declared import Declared
from sayso.cli.lazy_group import load

Given = dict[str, Any]
DEFAULTS: Given = {"name": None, "words": (), "folder": None, "limit": 20, "form": None, "as_json": False}


def example(into: Given) -> Declared:
    @declared.reading_group()
    @declared.argument("name", required=False, type=declared.one_of(["old", "new"]))
    @declared.argument("words", nargs=-1)
    @declared.option("--folder", type=declared.PATH)
    @declared.option("--limit", type=declared.POSITIVE, default=20)
    @declared.option("--count", "form", flag_value="count")
    @declared.option("--lines", "form", flag_value="lines")
    @declared.option("--json", "as_json", is_flag=True)
    def command(**given: Any) -> None:
        into.update(given)

    return command


PLAIN: list[tuple[list[str], Given]] = [
    ([], {}),
    (["--json"], {"as_json": True}),
    (["--limit", "3", "--count"], {"limit": 3, "form": "count"}),
    (["--limit=3"], {"limit": 3}),
    (["--folder", "a"], {"folder": Path("a")}),
    (["new"], {"name": "new"}),
    (["new", "--json", "a", "b"], {"name": "new", "as_json": True, "words": ("a", "b")}),
]


@pytest.mark.parametrize(("words", "given"), PLAIN)
def test_a_plain_line_is_read_as_click_reads_it(words: list[str], given: Given) -> None:
    plainly: Given = {}
    work = example(plainly).plain(words)
    assert work is not None
    work()
    assert plainly == DEFAULTS | given
    by_click: Given = {}
    alone = example(by_click)
    alone.below = None
    alone.in_click().main(words, standalone_mode=False)
    assert by_click == plainly


@pytest.mark.parametrize(
    "words",
    [
        ["--limit", "0"],
        ["--limit", "x"],
        ["--limit"],
        ["--limit", "--json"],
        ["--limit", "3", "--limit", "4"],
        ["--json=yes"],
        ["--json", "--json"],
        ["--count", "--lines"],
        ["--js"],
        ["--help"],
        ["--", "new"],
        ["other"],
        ["--folder", "a\udcff"],
        ["--folder", ""],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_a_closer_look(words: list[str]) -> None:
    assert example({}).plain(words) is None


def test_a_word_that_has_to_be_there_is_missed() -> None:
    @declared.reader()
    @declared.argument("ask_id", metavar="ID")
    def command(ask_id: str) -> None: ...

    assert command.plain(["3f2a"]) is not None
    assert command.plain([]) is None
    assert command.plain(["3f2a", "3f2b"]) is None


def test_a_command_below_that_does_more_than_read_is_left_to_click() -> None:
    said: list[str] = []

    @declared.group()
    def group() -> None: ...

    @group.reader("list")
    def show() -> None:
        said.append("shown")

    @group.command()
    def remove() -> None:
        said.append("removed")

    work = group.plain(["list"])
    assert work is not None
    work()
    assert group.plain(["remove"]) is None
    group.in_click().main(["remove"], standalone_mode=False)
    assert said == ["shown", "removed"]


def test_a_command_that_only_reads_with_some_options_is_plain_with_these_alone() -> None:
    @declared.reader("--show")
    @declared.option("--show", is_flag=True)
    @declared.option("--json", is_flag=True)
    def command(show: bool, json: bool) -> None: ...

    assert command.plain(["--json"]) is None
    assert command.plain(["--show", "--json"]) is not None


@pytest.mark.parametrize("name", READERS)
def test_each_reader_is_a_command_that_is_declared(name: str) -> None:
    command = load(name)
    below = command.commands if isinstance(command, click.Group) else {}
    assert name in COMMANDS
    assert {param.name for param in command.params} | {*below}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_help_is_drawn_without_click_as_click_draws_it(home: Home, columns: str, language: str) -> None:
    settings = {"COLUMNS": columns, "SAYSO_LANGUAGE": language}
    by_click = home.run("--help", "--help", **settings)
    assert "Usage" in by_click.out or "Aufruf" in by_click.out
    assert home.run("--help", **settings).out == by_click.out
