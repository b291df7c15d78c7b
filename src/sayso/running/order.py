"""In which order a command wrote to its two streams: its turns, from what its runner has noted (`capture.TurnNotes`).

What it wrote to both before its runner could look has no order but that in which each began.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from sayso.records import record
from sayso.running.capture import ORDER, STREAMS, segments


@record
class StreamTurn:
    """Part of a stream with nothing of the other stream in between; without an `end` it goes on."""

    stream: str
    begin: int
    end: int | None = None


def turns(folder: Path, after: Mapping[str, int]) -> list[StreamTurn]:
    """The turns in order, without what lies before these places of the streams. To be read after the output is: then
    they tell of all of it."""
    found, ends = list[StreamTurn](), dict[str, int]()
    for stream, begin in reversed(list(_noted(folder))):
        end, first = ends.get(stream), max(begin, after[stream])
        if end is None or first < end:
            found.append(StreamTurn(stream=stream, begin=first, end=end))
        ends[stream] = begin
        if all(ends.get(each, 0) <= after[each] for each in STREAMS) and len(ends) == len(STREAMS):
            break
    return found[::-1]


def newest(folder: Path, sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    """The places from which on the last `limit` bytes of both streams together came, as they were this long."""
    places, left = dict(sizes), limit
    for stream, begin in reversed(list(_noted(folder))):
        first = max(begin, places[stream] - left, 0)
        left -= max(places[stream] - first, 0)
        places[stream] = min(places[stream], first)
        if left <= 0:
            break
    return places


def _noted(folder: Path) -> Iterator[tuple[str, int]]:
    """Each turn's stream and beginning. A command begins with stdout, unless it is noted otherwise; what there is of a
    stream without a note comes last."""
    yield STREAMS[0], 0
    known = {STREAMS[0]}
    for _, _, path in segments(str(folder), ORDER):
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            continue  # dropped meanwhile; what was noted there is no longer known
        for (note,) in struct.iter_unpack("<Q", data[: len(data) - len(data) % 8]):
            yield STREAMS[note & 1], note >> 1
            known.add(STREAMS[note & 1])
    yield from ((stream, 0) for stream in STREAMS if stream not in known)
