"""Diffs of edits: they apply, they show everything, and no text makes them take long or break out of their fence."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.permissions import edits
from sayso.permissions.seen_file import seen
from sayso.text import exact

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " ", "-x", "+y", "@@ z"]), max_size=12)


@given(LINES, LINES)
def test_a_diff_turns_the_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    assert _applied(old, edits.unified("f", before, after)) == new


def _applied(lines: list[str], diff: str) -> list[str]:
    """The lines after a diff, by the plainest reading of the format."""
    made: list[str] = []
    place = 0
    for line in diff.split("\n")[2:]:
        if header := re.fullmatch(r"@@ -(\d+),(\d+) \+\d+,\d+ @@", line):
            first = int(header[1]) - (1 if int(header[2]) else 0)
            made += lines[place:first]
            place = first
        elif line[:1] in (" ", "-"):
            assert lines[place] == line[1:]
            made += [line[1:]] if line[0] == " " else []
            place += 1
        elif line != "(no change)":
            assert line[0] == "+"
            made.append(line[1:])
    return [*made, *lines[place:]]


def test_a_text_without_a_last_line_break_and_with_other_line_breaks_is_told_apart() -> None:
    assert edits.unified("f", "a\n", "a").endswith("-a\n+a\n\\ No newline at end of file")
    assert exact(edits.unified("f", "a\r\n", "a\n")).endswith("-a<U+000D>\n+a")
    assert edits.unified("f", "", "a\n").endswith("@@ -0,0 +1,1 @@\n+a")


@given(st.text("\\r\ra"), st.text("\\r\ra"))
def test_a_carriage_return_never_looks_like_the_letters_that_stand_for_it(one: str, other: str) -> None:
    assert exact(edits.unified("f", "x\r\n", "x\\r\n")).endswith("-x<U+000D>\n+x\\r")
    assert (exact(edits.unified("f", "", one)) == exact(edits.unified("f", "", other))) == (one == other)


NOTEBOOK = json.dumps({"cells": [{"id": "A", "source": "x = 1"}, {"id": "B", "source": ["check", "()"]}]})
NOT_KNOWN = "its present text is not known"


@pytest.mark.parametrize(
    ("cell", "gone"),
    [
        ({"cell_id": "B"}, "-check()"),
        ({"cell_number": 1}, "-check()"),
        ({"cell_id": "B", "cell_number": 1}, "-check()"),
        ({"cell_id": "B", "cell_number": 0}, NOT_KNOWN),
        ({"cell_id": "C"}, NOT_KNOWN),
        ({"cell_number": True}, NOT_KNOWN),
        ({}, NOT_KNOWN),
    ],
)
def test_a_cell_of_a_notebook_is_compared_only_when_it_is_certain_which(cell: dict[str, object], gone: str) -> None:
    for more in ({"new_source": "x = 1"}, {"new_source": "", "edit_mode": "delete"}):
        change = edits.change("NotebookEdit", {"notebook_path": "/n.ipynb", **more, **cell}, NOTEBOOK)
        assert change
        assert gone in change.diff
        assert "no change" not in change.diff


def test_a_notebook_that_is_nested_too_deeply_is_one_whose_text_is_not_known() -> None:
    change = edits.change("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "", "cell_id": "A"}, "[" * 99_999)
    assert change
    assert NOT_KNOWN in change.diff


@pytest.mark.parametrize("every", [1, "true", "false", 0, None, []])
def test_how_often_an_edit_is_made_is_not_guessed(every: object) -> None:
    edit = {"old_string": "a", "new_string": "b", "replace_all": every}
    for tool, given_input in (("Edit", edit), ("MultiEdit", {"edits": [edit]})):
        change = edits.change(tool, {"file_path": "/f", **given_input}, "a\na\n")
        assert change
        assert "in one place or in every place: not known" in change.diff


ONCE = {"old_string": "a", "new_string": "b"}


@pytest.mark.parametrize(
    ("tool", "given_input", "before", "hunks", "told"),
    [
        ("Edit", ONCE, "a\nx\na\n", "@@ -1,3 +1,3 @@\n-a\n+b\n x\n a", {"old_string", "new_string"}),
        (
            "Edit",
            {**ONCE, "replace_all": True},
            "a\na\n",
            "@@ -1,2 +1,2 @@\n-a\n-a\n+b\n+b",
            {"old_string", "new_string", "replace_all"},
        ),
        (
            "MultiEdit",
            {"edits": [ONCE, {"old_string": "b", "new_string": "c"}]},
            "a\n",
            "@@ -1,1 +1,1 @@\n-a\n+c",
            {"edits"},
        ),
        (
            "Edit",
            {"old_string": "", "new_string": "b\n"},
            "",
            "@@ -0,0 +1,1 @@\n+b",
            {"old_string", "new_string"},
        ),
        (
            "Edit",
            ONCE,
            "x\n",
            "@@ somewhere @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
            None,
        ),
        ("Write", {"content": "b\n"}, "a\n", "@@ -1,1 +1,1 @@\n-a\n+b", {"content"}),
    ],
)
def test_an_edit_is_shown_as_what_it_makes_of_its_file(
    tool: str, given_input: dict[str, object], before: str, hunks: str, told: set[str] | None
) -> None:
    change = edits.change(tool, {"file_path": "/f", **given_input}, before)
    assert change
    assert change.diff == f"--- /f\n+++ /f\n{hunks}"
    assert told is None or change.told == {"file_path", *told}


def test_an_edit_with_more_in_it_than_a_diff_shows_is_left_as_it_is() -> None:
    for edit in ({**ONCE, "mode": "regex"}, {"old_string": "a"}, "a"):
        assert edits.change("MultiEdit", {"file_path": "/f", "edits": [edit]}, "a\n") is None


def test_where_an_edit_has_no_place_in_the_file_no_part_of_it_has_line_numbers() -> None:
    before = [f"line {number}\n" for number in range(80)]
    edit = {"old_string": "".join(before), "new_string": "".join(["first\n", *before[1:-1], "last\n"])}
    change = edits.change("Edit", {"file_path": "/f", **edit}, None)
    assert change
    headings = [line for line in change.diff.split("\n") if line.startswith("@@")]
    assert headings == ["@@ somewhere @@", "@@ somewhere @@"]


def test_only_an_edit_names_a_file_to_compare_with() -> None:
    assert edits.path_of("mcp__x__y", {"": "/etc/passwd", "file_path": "/etc/passwd"}) == ""
    assert edits.path_of("Write", {"file_path": "/f"}) == "/f"


def test_a_large_file_is_not_read_and_a_change_of_it_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)
    before = seen(file)
    assert before.text is None
    assert before == seen(file)
    os.truncate(file, 1 << 39)
    assert before != seen(file)


def test_large_files_are_compared_too() -> None:
    lines = [f"line {number}\n" for number in range(50_000)]
    diff = edits.unified("f", "".join(lines), "".join([*lines[:25_000], "new\n", *lines[25_001:]]))
    assert diff.count("\n") == 10
    other = edits.unified("f", "same\n" * 9_000 + "x\n", "y\n" + "same\n" * 9_000)
    assert other.count("\n+y") == 1
    whole = edits.unified("f", "".join(lines), "".join(reversed(lines)))
    assert whole.count("\n-line") == 50_000
