"""Diffs of edits: they apply, they show everything, and no text makes them take long or break out of their fence."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sayso.permissions import edits

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
    assert edits.unified("f", "a\r\n", "a\n").endswith("-a\\r\n+a")
    assert edits.unified("f", "", "a\n").endswith("@@ -0,0 +1,1 @@\n+a")


def test_large_files_are_compared_too() -> None:
    lines = [f"line {number}\n" for number in range(50_000)]
    diff = edits.unified("f", "".join(lines), "".join([*lines[:25_000], "new\n", *lines[25_001:]]))
    assert diff.count("\n") == 10
    other = edits.unified("f", "same\n" * 9_000 + "x\n", "y\n" + "same\n" * 9_000)
    assert other.count("\n+y") == 1
    whole = edits.unified("f", "".join(lines), "".join(reversed(lines)))
    assert whole.count("\n-line") == 50_000
