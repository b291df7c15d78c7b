from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import InvalidInput
from sayso.running.capture import Capture
from sayso.running.excerpt import Excerpts
from sayso.running.masking import default_masks
from sayso.running.output import OutputLines, Piece, grep, lines, newest_lines, read, tail


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def capture(folder: Path, data: bytes, *, max_bytes: int = 1 << 20, piece: int = 1000) -> Capture:
    captured = Capture(str(folder), "stdout", max_bytes)
    for start in range(0, len(data), piece):
        captured.write(data[start : start + piece])
    captured.close()
    return captured


def read_all(folder: Path, limit: int) -> list[Piece]:
    pieces = [read(folder, "stdout", limit=limit)]
    while pieces[-1].next_offset < pieces[-1].seen:
        pieces.append(read(folder, "stdout", offset=pieces[-1].next_offset, limit=limit))
    return pieces


def test_output_is_read_in_ranges(folder: Path) -> None:
    capture(folder, b"0123456789")

    assert read(folder, "stdout", offset=2, limit=3) == Piece(text="234", offset=2, next_offset=5, seen=10)
    assert read(folder, "stdout", offset=8) == Piece(text="89", offset=8, next_offset=10, seen=10)
    assert read(folder, "stdout", offset=10) == Piece(text="", offset=10, next_offset=10, seen=10)


def test_a_command_that_wrote_nothing_has_empty_output(folder: Path) -> None:
    nothing = Piece(text="", offset=0, next_offset=0, seen=0)

    assert read(folder, "stderr") == tail(folder, "stderr") == nothing
    assert grep(folder, "stderr", "x").matches == ()


def test_the_tail_is_the_end(folder: Path) -> None:
    capture(folder, b"0123456789")

    assert tail(folder, "stdout", limit=3) == Piece(text="789", offset=7, next_offset=10, seen=10)


def test_long_output_keeps_its_beginning_and_its_end_within_the_limit(folder: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(10_000))
    captured = capture(folder, data, max_bytes=4096)
    head, *rest = read_all(folder, 1 << 20)

    assert sum(file.stat().st_size for file in folder.iterdir()) == captured.kept <= 4096
    assert (captured.seen, head.seen) == (80_000, 80_000)
    assert head.text.encode() == data[:2048]
    (end,) = rest
    assert end.skipped == captured.seen - captured.kept > 0
    assert end.offset == head.next_offset + end.skipped
    assert data.endswith(end.text.encode())
    assert len(end.text) >= 1024


def test_the_tail_never_reaches_over_the_cut(folder: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(10_000))
    capture(folder, data, max_bytes=4096)
    end = tail(folder, "stdout", limit=10_000)

    assert data[end.offset :] == end.text.encode()


@settings(deadline=None)
@given(data=st.binary(max_size=3000), piece=st.integers(1, 700), limit=st.integers(1, 500))
def test_whatever_is_written_is_read_back_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, piece: int, limit: int
) -> None:
    folder = tmp_path_factory.mktemp("op")
    captured = capture(folder, data, max_bytes=1024, piece=piece)
    pieces = read_all(folder, limit)

    position = 0
    for part in pieces:
        assert part.offset == position + part.skipped
        stored = data[part.offset : part.next_offset]
        assert part.text == stored.decode(errors="replace")
        position = part.next_offset
    assert position == captured.seen == len(data)
    assert sum(part.skipped for part in pieces) == captured.seen - captured.kept
    assert captured.kept <= 1024 or captured.seen <= 1024


def test_a_character_is_never_torn_between_two_pieces(folder: Path) -> None:
    sentence = "grüße 🌍 an alle"
    capture(folder, sentence.encode(), piece=1)

    for limit in range(4, 9):
        assert "".join(piece.text for piece in read_all(folder, limit)) == sentence
        assert "\ufffd" not in tail(folder, "stdout", limit=limit).text


def test_bytes_that_are_not_text_are_replaced(folder: Path) -> None:
    capture(folder, b"a\xff\xfeb\0c")

    assert read(folder, "stdout").text == "a\ufffd\ufffdb\0c"


def test_half_a_character_at_the_very_end_is_shown_at_last(folder: Path) -> None:
    capture(folder, b"ab\xe2\x82")

    assert "".join(piece.text for piece in read_all(folder, 100)) == "ab\ufffd"


def test_output_that_could_not_be_stored_counts_as_cut(folder: Path) -> None:
    capture(folder, b"stored")
    streams = {"stdout": {"seen": 100, "kept": 6, "fault": "disk"}, "stderr": {}}
    (folder / "status.json").write_text(json.dumps({"reason": "exit", "survivors": [], **streams}))

    assert read(folder, "stdout", offset=6) == Piece(text="", offset=100, next_offset=100, seen=100, skipped=94)
    assert grep(folder, "stdout", "x").cut == 94


def test_matching_lines_come_with_the_place_to_read_on(folder: Path) -> None:
    capture(folder, b"one\ntwo\r\nthree\nno newline: two")
    found = grep(folder, "stdout", r"\btwo$")

    assert [(match.offset, match.text) for match in found.matches] == [(4, "two"), (15, "no newline: two")]
    assert (found.more, found.cut) == (False, 0)
    assert read(folder, "stdout", offset=4, limit=3).text == "two"


def test_matches_are_limited_and_it_says_so(folder: Path) -> None:
    capture(folder, b"x\n" * 50)
    found = grep(folder, "stdout", "x", limit=3)

    assert (len(found.matches), found.more) == (3, True)
    assert not grep(folder, "stdout", "x", limit=50).more


def test_a_line_is_found_across_files_but_never_across_the_cut(folder: Path) -> None:
    data = b"".join(b"line %05d end\n" % number for number in range(2000))
    capture(folder, data, max_bytes=4096)
    found = grep(folder, "stdout", "^line [0-9]{5} end$", limit=1000)

    for match in found.matches:
        assert data[match.offset : match.offset + len(match.text)].decode() == match.text
    whole = sum(piece.text.count("end\n") for piece in read_all(folder, 1 << 20))
    assert len(found.matches) in (whole, whole - 1)
    assert found.cut > 0


def test_a_very_long_line_is_shown_in_part(folder: Path) -> None:
    capture(folder, b"needle " + b"x" * 100_000 + b"\n")
    (match,) = grep(folder, "stdout", "needle").matches

    assert len(match.text) == 500


def test_a_pattern_that_never_ends_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.running.output.GREP_SECONDS", 1)
    capture(folder, b"a" * 60 + b"!\n")

    with pytest.raises(InvalidInput, match=r"grep: is '.*', which takes more than 1 s"):
        grep(folder, "stdout", "(a+)+$")


@pytest.mark.parametrize("pattern", ["(", "*", "[a"])
def test_a_pattern_that_is_none_is_refused(folder: Path, pattern: str) -> None:
    with pytest.raises(InvalidInput, match=r"grep: .* must be a regular expression"):
        grep(folder, "stdout", pattern)


def test_a_pattern_may_begin_with_a_dash(folder: Path) -> None:
    capture(folder, b"--help\n")

    assert len(grep(folder, "stdout", "--help").matches) == 1


def test_wrong_limits_are_named(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="limit: is 0; it must be from 1 to 1,048,576"):
        read(folder, "stdout", limit=0)
    with pytest.raises(InvalidInput, match="offset: is -1"):
        read(folder, "stdout", offset=-1)
    with pytest.raises(InvalidInput, match="stream: is 'stdin'; it must be one of stdout, stderr"):
        tail(folder, "stdin")


def test_output_can_be_read_while_it_is_written(folder: Path) -> None:
    captured = Capture(str(folder), "stdout", 4096)
    for number in range(2000):
        captured.write(b"%09d\n" % number)
        end = tail(folder, "stdout", limit=100)
        assert end.seen == captured.seen
        assert end.text.endswith(f"{number:09d}\n")
    captured.close()


def test_lines_come_whole_and_the_last_one_as_far_as_it_is_written(folder: Path) -> None:
    captured = Capture(str(folder), "stdout", 1 << 20)
    captured.write(b"one\ntwo\nthr")
    first = lines(folder, "stdout")
    assert first == OutputLines(text="one\ntwo\n", offset=0, next_offset=8, seen=11, unfinished="thr")
    captured.write(b"ee\n")
    captured.close()
    then = lines(folder, "stdout", offset=first.next_offset)
    assert then == OutputLines(text="three\n", offset=8, next_offset=14, seen=14)
    assert lines(folder, "stdout", offset=14) == OutputLines(text="", offset=14, next_offset=14, seen=14)


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=400).map(lambda data: data.replace(b"\r", b"\n")),
    limit=st.integers(min_value=4, max_value=60),
    max_bytes=st.integers(min_value=40, max_value=300),
)
def test_lines_read_on_from_each_other_bring_every_kept_byte_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int, max_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    captured = capture(folder, data, max_bytes=max_bytes, piece=7)
    place, taken, skipped, found = 0, 0, 0, lines(folder, "stdout", limit=limit)
    for _ in range(len(data) + 2):
        skipped += found.skipped
        taken += found.next_offset - found.offset
        place = found.next_offset
        if not found.text:
            break
        found = lines(folder, "stdout", offset=place, limit=limit)
    assert taken + (found.seen - place) == captured.kept
    assert skipped == captured.seen - captured.kept
    assert b"\n" not in found.unfinished.encode()


def test_the_newest_lines_begin_with_a_whole_one(folder: Path) -> None:
    capture(folder, b"".join(b"line %03d\n" % number for number in range(100)) + b"begun")
    newest = newest_lines(folder, "stdout", limit=30)
    assert (newest.text, newest.unfinished) == ("line 098\nline 099\n", "begun")
    assert (newest.offset, newest.next_offset, newest.seen) == (882, 900, 905)
    assert newest_lines(folder, "stderr").text == ""


def test_the_end_of_one_endless_line_is_shown_all_the_same(folder: Path) -> None:
    capture(folder, "é".encode() * 1000)
    newest = newest_lines(folder, "stdout", limit=21)
    assert (newest.text, newest.unfinished) == ("", "é" * 10)


def test_a_progress_line_is_shown_as_it_is_now_and_a_secret_in_it_never(folder: Path) -> None:
    shown = Excerpts(default_masks())
    captured = Capture(str(folder), "stdout", 1 << 20)
    captured.write(b"begin\n\x1b[32m 10 %\r 20 %\r\x1b[1m 30 %")
    first = shown.lines(folder, "stdout")
    assert (first.text, first.unfinished) == ("begin\n", " 30 %")
    captured.write(b"\r 40 %\ntoken=abcdef")
    second = shown.lines(folder, "stdout", offset=first.next_offset)
    assert (second.text, second.unfinished) == (" 40 %\n", "token=******")
    captured.write(b"ghijkl\n")
    captured.close()
    assert shown.lines(folder, "stdout", offset=second.next_offset).text == "token=************\n"
    assert shown.newest_lines(folder, "stdout").text.endswith("token=************\n")


def test_every_private_key_is_hidden_also_one_that_was_cut_off_and_many_of_them_take_no_time() -> None:
    masks, begun = default_masks(), time.process_time()
    begin, body, end = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "\nDEK-Info: A\n\nSecretBody",
        "\n-----END RSA PRIVATE KEY-----\n",
    )
    for text in (begin + body + end, begin + body, begin + body + "\n" + begin + body + end):
        hidden = masks.hide(text)
        assert (len(hidden), "SecretBody" in hidden, begin in hidden) == (len(text), False, True)
    assert masks.hide(begin * 20_000) == begin * 20_000
    assert time.process_time() - begun < 10
