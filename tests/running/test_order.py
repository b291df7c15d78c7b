"""What a command wrote to both streams is told in the order in which it came, with nothing lost or said twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.running.processes import PATIENCE, eventually, shell

from sayso.running.capture import ORDER, STREAMS, Capture, TurnNotes
from sayso.running.excerpt import Excerpts
from sayso.running.masking import Masks, default_masks
from sayso.running.spawner import Spawner

BEGINNING = dict.fromkeys(STREAMS, 0)
PLAIN = Excerpts(Masks(()))
Written = list[tuple[str, str]]


def write(folder: Path, written: Written, max_bytes: int = 1 << 20) -> None:
    """As a runner does."""
    notes = TurnNotes(str(folder))
    captures = {stream: Capture(str(folder), stream, max_bytes) for stream in STREAMS}
    for stream, text in written:
        notes.note(stream, captures[stream].seen)
        captures[stream].write(text.encode())
    for capture in captures.values():
        capture.close()


def joined(parts: Written) -> Written:
    """The same with what follows itself put together."""
    return [(stream, "".join(text for _, text in each)) for stream, each in groupby(parts, lambda part: part[0])]


def read(folder: Path, limit: int, excerpts: Excerpts = PLAIN) -> Written:
    found, places, more = list[tuple[str, str]](), dict(BEGINNING), True
    while more:
        both = excerpts.both(folder, places, limit=limit)
        found += [(part.stream, part.text) for part in both.parts if part.text]
        places, more = dict(both.places), both.more
    return joined(found)


@settings(deadline=None)
@given(
    written=st.lists(st.tuples(st.sampled_from(STREAMS), st.text("añ€😀b\n", min_size=1, max_size=8)), max_size=30),
    limit=st.integers(4, 60),
)
def test_both_streams_are_read_back_as_they_came_whatever_the_pieces(
    tmp_path_factory: pytest.TempPathFactory, written: Written, limit: int
) -> None:
    folder = tmp_path_factory.mktemp("op")
    write(folder, written)
    assert read(folder, limit) == joined(written)


def test_the_newest_of_both_begins_with_whole_lines_and_says_what_is_left_out(tmp_path: Path) -> None:
    lines = [(STREAMS[number % 2], f"line {number:03}\n") for number in range(100)]
    write(tmp_path, lines)
    for limit, count in ((45, 5), (40, 4), (36, 4)):
        newest = PLAIN.newest_of_both(tmp_path, limit=limit)
        told = "".join(part.text for part in newest.parts)
        assert told == "".join(text for _, text in lines[-count:])
        assert newest.left_out == 900 - limit
    assert PLAIN.newest_of_both(tmp_path, limit=10_000).left_out == 0


def test_lines_that_match_come_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    write(
        tmp_path,
        [("stderr", "a1\n"), ("stdout", "a2\nb\na3\n"), ("stderr", "a4"), ("stdout", "a5\n"), ("stderr", "x\n")],
    )
    found = PLAIN.grep_both(tmp_path, STREAMS, "a[0-9]").matches
    assert [each.match.text.strip() for each in found] == ["a1", "a2", "a3", "a4x", "a5"]
    assert [each.stream for each in found] == ["stderr", "stdout", "stdout", "stderr", "stdout"]
    fewer = PLAIN.grep_both(tmp_path, STREAMS, "a", limit=2)
    assert [each.match.text.strip() for each in fewer.matches] == ["a1", "a2", "a3", "a4x"]
    assert fewer.more == ("stdout",)
    alone = PLAIN.grep_both(tmp_path, ["stderr"], "a")
    assert [each.match.text.strip() for each in alone.matches] == ["a1", "a4x"]


def test_what_was_captured_without_notes_is_shown_stream_after_stream(tmp_path: Path) -> None:
    write(tmp_path, [("stderr", "no\n"), ("stdout", "out\n"), ("stderr", "oh\n")])
    (tmp_path / ORDER).unlink()
    assert read(tmp_path, 1000) == [("stdout", "out\n"), ("stderr", "no\noh\n")]


def test_turns_without_end_take_little_room_and_all_that_was_written_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.running.capture._MOST_NOTES", 64)
    lines = [(STREAMS[number % 2], f"{number}\n") for number in range(100)]
    write(tmp_path, lines)
    assert sum(file.stat().st_size for file in tmp_path.glob(f"{ORDER}*")) <= 64
    told = read(tmp_path, 1000)
    assert told[:3] == lines[:3]
    assert told[-3:] == lines[-3:]
    for stream in STREAMS:
        whole = "".join(text for of, text in told if of == stream)
        assert whole == "".join(text for of, text in lines if of == stream)


def test_what_was_not_kept_is_named_where_it_is_missing(tmp_path: Path) -> None:
    write(tmp_path, [("stdout", "x" * 1000), ("stderr", "oh\n"), ("stdout", "y" * 1000)], max_bytes=400)
    parts = PLAIN.both(tmp_path, BEGINNING, limit=1 << 16)
    places, skipped = parts.places, 0
    while parts.more:
        parts = PLAIN.both(tmp_path, places, limit=1 << 16)
        places, skipped = parts.places, skipped + sum(part.skipped for part in parts.parts)
    assert skipped == 2000 - 400


def test_a_secret_that_is_spread_over_two_turns_is_hidden(tmp_path: Path) -> None:
    write(tmp_path, [("stdout", "password=hunter"), ("stderr", "warning\n"), ("stdout", "2-is-long\n")])
    told = "".join(text for _, text in read(tmp_path, 1000, Excerpts(default_masks())))
    assert "hunter" not in told
    assert "is-long" not in told
    assert "warning" in told


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    spawner = Spawner()
    yield spawner
    spawner.stop()


def test_a_real_command_that_takes_turns_is_told_as_it_wrote(spawner: Spawner, tmp_path: Path) -> None:
    """It goes on when what it wrote last is there: what it writes faster than anyone looks has no order."""
    folder = tmp_path / "op"
    lines = [("stderr", "first to stderr"), ("stdout", "one"), ("stdout", "two"), ("stderr", "oh"), ("stdout", "three")]
    signs = [tmp_path / f"go-{number}" for number in range(len(lines))]  # through a single one a sign may be lost
    for sign in signs:
        os.mkfifo(sign)
    steps = [
        f"echo {text}{' >&2' if stream == 'stderr' else ''}; read _ < {sign};"
        for (stream, text), sign in zip(lines, signs, strict=True)
    ]
    end = spawner.start_operation(shell(folder, "".join(steps)))
    for (stream, text), sign in zip(lines, signs, strict=True):
        eventually(partial(_holds, folder / stream, f"{text}\n"))
        sign.write_text("on\n")
    assert end.result(PATIENCE).exit_code == 0
    assert read(folder, 1000) == joined([(stream, f"{text}\n") for stream, text in lines])


def _holds(file: Path, text: str) -> bool:
    return file.exists() and text in file.read_text()


def test_of_two_streams_that_were_written_at_once_the_one_that_began_comes_first(
    spawner: Spawner, tmp_path: Path
) -> None:
    spawner.start_operation(shell(tmp_path / "op", "echo err >&2; echo out")).result(PATIENCE)
    assert read(tmp_path / "op", 1000) == [("stderr", "err\n"), ("stdout", "out\n")]


def test_whole_lines_are_told_once_and_a_line_that_is_begun_again_when_it_goes_on(tmp_path: Path) -> None:
    write(tmp_path, [("stdout", "one\n10%"), ("stderr", "oh\n"), ("stdout", "\r20%")])
    first = PLAIN.lines_of_both(tmp_path, BEGINNING)
    assert [part.text for part in first.parts] == ["one\n", "oh\n"]
    assert [(part.stream, part.text) for part in first.unfinished] == [("stdout", "10%"), ("stdout", "20%")]
    assert first.places == {"stdout": 4, "stderr": 3}
    with (tmp_path / "stdout").open("ab") as file:
        file.write(b"\r30%\ntwo\n")
    again = PLAIN.lines_of_both(tmp_path, first.places)
    assert "".join(part.text for part in again.parts).endswith("30%\ntwo\n")
    assert again.unfinished == ()
    assert again.places == {"stdout": 20, "stderr": 3}
