"""Reading back what a command wrote: a range, the end, or the lines that match, of one stream of an operation's folder.

Long output was cut in the middle when it was captured (capture.py); nothing here glues over the cut in silence.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path

from sayso.errors import InvalidInput, Problem
from sayso.records import record, replace
from sayso.running.capture import STREAMS, segments
from sayso.running.folder import read_status

MOST_BYTES = 1 << 20
MOST_MATCHES = 1000
GREP_SECONDS = 5
"""Processor time that a search may take: on a busy machine every pattern takes long by the clock on the wall."""

GREP_PATIENCE = 60.0


@record
class Piece:
    """Part of a stream as text. Read on at `next_offset`; there is nothing more (yet) when that is `seen`.

    `skipped` bytes lay between the place asked for and `offset`, and were cut when the output was captured.
    """

    text: str
    offset: int
    next_offset: int
    seen: int
    skipped: int = 0


@record
class OutputLines(Piece):
    """Whole lines of a stream, and how far the one after them has come: what is to be shown of it until it is whole."""

    unfinished: str = ""

    @property
    def more(self) -> bool:
        """Whether reading on would bring more lines now."""
        return bool(self.text) and not self.unfinished and self.next_offset < self.seen


@record
class Match:
    """A line that matches, shortened if it is long, and where it begins in the stream."""

    offset: int
    text: str


@record
class Found:
    """The first lines that match; `more` says there are others, `cut` how many bytes could not be searched."""

    matches: tuple[Match, ...]
    more: bool
    cut: int


@record
class _Stretch:
    """Bytes that lie on disk without a gap."""

    begin: int
    end: int
    files: tuple[tuple[int, int, str], ...]


@record
class _Part:
    """Bytes of one stretch. `is_first`: nothing on disk lies right before them; `is_last`: no stretch comes after."""

    data: bytes
    begin: int
    seen: int
    skipped: int = 0
    is_first: bool = True
    is_last: bool = True

    def after(self, count: int) -> _Part:
        """The same without its first bytes."""
        return replace(self, data=self.data[count:], begin=self.begin + count)


def read(folder: Path, stream: str, *, offset: int = 0, limit: int = 16384) -> Piece:
    """At most `limit` bytes from `offset` on; a cut ends the piece, and is skipped when the piece begins in it."""
    return _decode(_part_from(folder, stream, offset, limit))


def raw(folder: Path, stream: str, *, offset: int, limit: int) -> tuple[bytes, int]:
    """The same as bytes, and where they begin: later than at `offset` if some before them were cut."""
    part = _part_from(folder, stream, offset, limit)
    return part.data, part.begin if part.data else offset


def lines(folder: Path, stream: str, *, offset: int = 0, limit: int = 16384) -> OutputLines:
    """Whole lines from `offset` on, at most `limit` bytes; a line that is longer, or was cut, comes in parts."""
    part = _part_from(folder, stream, offset, limit)
    if part.is_last and len(part.data) < limit:
        return _growing(part)
    whole = part.data[: part.data.rfind(b"\n") + 1] or part.data
    return OutputLines(**vars(_decode(replace(part, data=whole))))


def newest_lines(folder: Path, stream: str, *, limit: int = 16384) -> OutputLines:
    """The lines at the end, at most `limit` bytes of them, none from before a cut."""
    part = _last_part(folder, stream, limit)
    # The rest of a line whose beginning is left out is left out too, unless there is nothing else.
    rest = 0 if part.is_first else part.data.find(b"\n", 0, -1) + 1 or _broken_start(part.data)
    return _growing(part.after(rest))


def tail(folder: Path, stream: str, *, limit: int = 4096) -> Piece:
    """The last `limit` bytes, fewer when a cut comes before, from the beginning of a character on."""
    part = _last_part(folder, stream, limit)
    whole = part.after(_broken_start(part.data) if part.begin else 0)
    text = whole.data.decode(errors="replace")
    return Piece(text=text, offset=whole.begin, next_offset=whole.seen, seen=whole.seen)


def grep(folder: Path, stream: str, pattern: str, *, limit: int = 100) -> Found:
    """The first `limit` lines in which the regular expression is found, within a time limit whatever the pattern."""
    _check(stream, limit, MOST_MATCHES)
    try:
        re.compile(pattern)
    except re.error as error:
        raise _wrong("grep", f"is {pattern!r}; it must be a regular expression: {error}.") from error
    # Few search, and these take their time to import.
    import signal
    import subprocess

    from sayso.running import isolated, search

    command = isolated.command(search.__name__, str(folder), stream, str(limit), str(GREP_SECONDS), pattern)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=GREP_PATIENCE, check=True, cwd="/"
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        if isinstance(error, subprocess.CalledProcessError) and error.returncode != -signal.SIGXCPU:
            raise
        text = f"is {pattern!r}, which takes more than {GREP_SECONDS} s on this output; use a simpler pattern."
        raise _wrong("grep", text) from error
    rows = json.loads(done.stdout)
    matches = tuple(Match(offset=offset, text=text) for offset, text in rows[:limit])
    return Found(matches=matches, more=len(rows) > limit, cut=_cut(folder, stream))


def size(folder: Path, stream: str) -> int:
    """How many bytes were written to a stream so far, kept or not."""
    return _layout(folder, stream)[1]


def lines_before(folder: Path, stream: str, place: int) -> int | None:
    """How many lines of a stream end before a place; None where some of what came before it was not kept."""
    stretches, _ = _layout(folder, stream)
    if not place or (stretches and stretches[0].begin == 0 and stretches[0].end >= place):
        return sum(chunk.count(b"\n") for chunk in _chunks(stretches[0], 0, place)) if place else 0
    return None


def _cut(folder: Path, stream: str) -> int:
    stretches, seen = _layout(folder, stream)
    return seen - sum(stretch.end - stretch.begin for stretch in stretches)


def _layout(folder: Path, stream: str) -> tuple[list[_Stretch], int]:
    """The stretches of a stream in order, and how many bytes of it were seen."""
    stretches: list[_Stretch] = []
    for offset, size, path in segments(str(folder), stream):
        file = (offset, size, path)
        if stretches and stretches[-1].end == offset:
            last = stretches.pop()
            stretches.append(_Stretch(begin=last.begin, end=offset + size, files=(*last.files, file)))
        elif size:
            stretches.append(_Stretch(begin=offset, end=offset + size, files=(file,)))
    status = read_status(folder)
    captured = status.captured(stream).seen if status else 0
    return stretches, max(captured, stretches[-1].end if stretches else 0)


def _part_from(folder: Path, stream: str, offset: int, limit: int) -> _Part:
    """What is there from `offset` on, up to a cut."""
    _check(stream, limit, MOST_BYTES)
    if offset < 0:
        raise _wrong("offset", f"is {offset}; it must be 0 or more.")
    stretches, seen = _layout(folder, stream)
    for stretch in stretches:
        if offset < stretch.end:
            begin = max(offset, stretch.begin)
            return _Part(
                data=_load(stretch, begin, limit),
                begin=begin,
                seen=seen,
                skipped=begin - offset,
                is_first=begin == stretch.begin,
                is_last=stretch is stretches[-1],
            )
    return _Part(data=b"", begin=seen, seen=seen, skipped=max(0, seen - offset))


def _last_part(folder: Path, stream: str, limit: int) -> _Part:
    """What is there at the end, back to a cut."""
    _check(stream, limit, MOST_BYTES)
    stretches, seen = _layout(folder, stream)
    if not stretches:
        return _Part(data=b"", begin=seen, seen=seen)
    last = stretches[-1]
    begin = max(last.begin, last.end - limit)
    return _Part(data=_load(last, begin, limit), begin=begin, seen=seen, is_first=begin == last.begin)


def _load(stretch: _Stretch, begin: int, limit: int) -> bytes:
    return b"".join(_chunks(stretch, begin, min(stretch.end, begin + limit)))


def _chunks(stretch: _Stretch, begin: int, end: int) -> Iterator[bytes]:
    for offset, size, path in stretch.files:
        if offset < end and begin < offset + size:
            start = max(begin, offset)
            try:
                with open(path, "rb") as file:
                    file.seek(start - offset)
                    yield file.read(min(end, offset + size) - start)
            except FileNotFoundError:
                # The command goes on writing and this file has just been dropped; what follows it is a later piece.
                return


def _decode(part: _Part) -> Piece:
    """Text without half a character at its end, unless there is nothing else."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(part.data)
    used = len(part.data) - len(decoder.getstate()[0])
    if not text:
        text, used = decoder.decode(b"", final=True), len(part.data)
    return Piece(text=text, offset=part.begin, next_offset=part.begin + used, seen=part.seen, skipped=part.skipped)


def _growing(part: _Part) -> OutputLines:
    """All that is there of the end of a stream; its last line may go on."""
    end = part.data.rfind(b"\n") + 1
    return OutputLines(
        text=part.data[:end].decode(errors="replace"),
        offset=part.begin,
        next_offset=part.begin + end,
        seen=part.seen,
        skipped=part.skipped,
        unfinished=_decode(part.after(end)).text,
    )


def _broken_start(data: bytes) -> int:
    """How many bytes at the beginning are the rest of a character that began before."""
    return next((index for index, byte in enumerate(data[:3]) if byte & 0xC0 != 0x80), min(3, len(data)))


def _check(stream: str, limit: int, most: int) -> None:
    if stream not in STREAMS:
        raise _wrong("stream", f"is {stream!r}; it must be one of {', '.join(STREAMS)}.")
    if not 1 <= limit <= most:
        raise _wrong("limit", f"is {limit}; it must be from 1 to {most:,}.")


def _wrong(path: str, text: str) -> InvalidInput:
    return InvalidInput([Problem(path=path, text=text)])
