"""Diffs of edits: they apply, they show everything, and no text makes them take long or break out of their fence."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.dialects.approve import Permission, permission_ask
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


@given(st.text(alphabet="`~\n a", max_size=40), st.text(alphabet="`\n*[]x", min_size=1, max_size=10))
def test_no_text_of_an_agent_breaks_out_of_the_place_it_is_shown_in(text: str, tool: str) -> None:
    for given_input in ({"command": text}, {"file_path": text or "x", "content": text}):
        name = "Bash" if "command" in given_input else "Write"
        shown = permission_ask(Permission(tool=name, given=given_input), Asker(), Config(), "").questions[0].text
        opened = re.findall(r"^(`{3,})(?:bash|diff)$", shown, re.M)
        assert len(opened) == 1
        assert shown.count(f"\n{opened[0]}") == 2, "only our own lines begin and end the block"
        assert shown.endswith(f"\n{opened[0]}")
    named = permission_ask(Permission(tool=tool, given={}), Asker(), Config(), None).questions[0].text
    assert "\n" not in named
