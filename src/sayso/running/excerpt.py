"""What is shown of a command's output: without what drives a terminal, secrets hidden, and every gap said.

Reading the bytes is in output.py. Here is what may go before a model's or a person's eyes.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sayso.config import Config
from sayso.records import record, replace
from sayso.running import order, output
from sayso.running.capture import STREAMS
from sayso.running.looks import PLAIN, ColouredRun, PrintedLook, cut, runs_of
from sayso.running.masking import Masks, masks_of
from sayso.running.output import Found, Match, OutputLines, Piece
from sayso.text import printable

_CONTEXT = 8192
"""Bytes looked at on both sides, so that a secret is known by its neighbourhood when only part of it is shown."""

LINE_BYTES = 400
"""How long lines are thought to be, when the last few are wanted."""


@record
class Excerpt:
    """The beginning and the end of a stream. `left_out` bytes lie between them."""

    head: str
    tail: str = ""
    seen: int = 0
    left_out: int = 0
    resume: int = 0
    """Where what was left out begins."""


@record
class StreamText:
    """What came from one stream before the other had its turn. `skipped` bytes before it were not kept."""

    stream: str
    runs: tuple[ColouredRun, ...]
    skipped: int = 0

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


@record
class StreamMatch:
    """A line that matches, and the stream that it is from."""

    stream: str
    match: Match


@record
class FoundInBoth:
    """The first lines of each stream that match, in the order in which they were begun. `more` names the streams that
    have others, `cut` says how many bytes of which could not be searched."""

    matches: tuple[StreamMatch, ...]
    more: tuple[str, ...]
    cut: Mapping[str, int]


@record
class BothStreams:
    """Part of what a command wrote, in the order in which it came; `places` says where in the streams to read on."""

    parts: tuple[StreamText, ...]
    places: Mapping[str, int]
    sizes: Mapping[str, int]
    more: bool
    """Whether reading on would bring more now."""
    begin: Mapping[str, int]
    """Where it begins in the streams."""
    unfinished: tuple[StreamText, ...] = ()
    """The lines that were begun after these, as far as they are written; to be told again when they are whole."""
    first_line: int | None = None
    """Which line of all it begins with, if that is known."""

    @property
    def left_out(self) -> int:
        """Bytes of both that lie before it."""
        return sum(self.begin.values())


class Excerpts:
    """Reads output as it is shown."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks

    @classmethod
    def of(cls, config: Config) -> Excerpts:
        return cls(masks_of(config))

    def ends(self, folder: Path, stream: str, limit: int) -> Excerpt:
        """All of a stream if it is short; else its first quarter of the limit and the rest from its end."""
        whole = output.read(folder, stream, limit=limit)
        if whole.next_offset >= whole.seen:
            return Excerpt(head=self._plain(self._masks.hide(whole.text)), seen=whole.seen)
        head = self.read(folder, stream, limit=max(1, limit // 4))
        tail = self.tail(folder, stream, limit=max(1, limit - limit // 4))
        return Excerpt(
            head=head.text,
            tail=tail.text,
            seen=tail.seen,
            left_out=tail.offset - head.next_offset,
            resume=head.next_offset,
        )

    def read(self, folder: Path, stream: str, *, offset: int = 0, limit: int = 16384) -> Piece:
        """At most `limit` bytes from `offset` on."""
        return self._piece(folder, stream, output.read(folder, stream, offset=offset, limit=limit))

    def tail(self, folder: Path, stream: str, *, limit: int) -> Piece:
        """The last `limit` bytes."""
        return self._piece(folder, stream, output.tail(folder, stream, limit=limit))

    def lines(self, folder: Path, stream: str, *, offset: int = 0, limit: int = 16384) -> OutputLines:
        """Whole lines from `offset` on, and the one begun after them."""
        return self._lines(folder, stream, output.lines(folder, stream, offset=offset, limit=limit))

    def newest_lines(self, folder: Path, stream: str, *, limit: int = 16384) -> OutputLines:
        """The lines at the end, and the one begun after them."""
        return self._lines(folder, stream, output.newest_lines(folder, stream, limit=limit))

    def last_lines(self, folder: Path, stream: str, count: int) -> Piece:
        """The last lines, as many as are wanted and not too long to show."""
        raw = output.tail(folder, stream, limit=min(output.MOST_BYTES, max(4096, count * LINE_BYTES)))
        lines = raw.text.splitlines(keepends=True)
        text = "".join(lines[-count:])
        before = len(raw.text.encode()) - len(text.encode())
        return self._piece(folder, stream, replace(raw, text=text, offset=raw.offset + before))

    def grep(self, folder: Path, stream: str, pattern: str, *, limit: int = 100) -> Found:
        """The first lines in which the regular expression is found."""
        found = output.grep(folder, stream, pattern, limit=limit)
        return replace(found, matches=tuple(self._match(folder, stream, match) for match in found.matches))

    def grep_both(self, folder: Path, streams: Sequence[str], pattern: str, *, limit: int = 100) -> FoundInBoth:
        """The same in these streams, at most so many lines of each, in the order in which the lines were begun."""
        found = {stream: self.grep(folder, stream, pattern, limit=limit) for stream in streams}
        matches = [StreamMatch(stream=stream, match=match) for stream in found for match in found[stream].matches]
        turns = list(enumerate(order.turns(folder, dict.fromkeys(STREAMS, 0))))
        begins = {stream: [turn.begin for _, turn in turns if turn.stream == stream] for stream in STREAMS}
        places = {stream: [place for place, turn in turns if turn.stream == stream] for stream in STREAMS}

        def came(each: StreamMatch) -> tuple[int, int]:
            own = bisect_right(begins[each.stream], each.match.offset) - 1
            return places[each.stream][own], each.match.offset

        return FoundInBoth(
            matches=tuple(sorted(matches, key=came)),
            more=tuple(stream for stream in found if found[stream].more),
            cut={stream: found[stream].cut for stream in found if found[stream].cut},
        )

    def _match(self, folder: Path, stream: str, match: Match) -> Match:
        size = max(1, len(match.text.encode()))
        return replace(match, text=self.read(folder, stream, offset=match.offset, limit=size).text)

    def both(self, folder: Path, places: Mapping[str, int], *, limit: int = 16384) -> BothStreams:
        """What came after these places of the streams, in the order in which it came: at most `limit` bytes of each."""
        loaded = {stream: output.raw(folder, stream, offset=places[stream], limit=limit) for stream in STREAMS}
        sizes = {stream: output.size(folder, stream) for stream in STREAMS}
        shares = list(_in_turns(loaded, sizes, order.turns(folder, places)))
        texts, reached = dict[str, Iterator[tuple[ColouredRun, ...]]](), dict(places)
        for stream, (data, begin) in loaded.items():
            own = [share for of, share in shares if of == stream]
            shown, read = self._shares(folder, stream, begin, own)
            texts[stream] = iter(shown)
            reached[stream] = begin + read if data else places[stream]
        skipped = {stream: loaded[stream][1] - places[stream] for stream in STREAMS}
        parts = []
        for stream, _ in shares:
            if (runs := next(texts[stream])) or skipped[stream]:
                parts.append(StreamText(stream=stream, runs=runs, skipped=skipped[stream]))
                skipped[stream] = 0
        more = reached != dict(places) and any(reached[stream] < sizes[stream] for stream in STREAMS)
        return BothStreams(parts=tuple(parts), places=reached, sizes=sizes, more=more, begin=places)

    def lines_of_both(self, folder: Path, places: Mapping[str, int], *, limit: int = 16384) -> BothStreams:
        """The same in whole lines of each stream, and the lines that were begun after them."""
        found, parts, begun = self.both(folder, places, limit=limit), list[StreamText](), list[StreamText]()
        ends = {stream: _last_line(folder, stream, places[stream], found.places[stream]) for stream in STREAMS}
        left = {stream for stream in STREAMS if ends[stream] < found.places[stream]}
        for part in reversed(found.parts):
            whole, rest = part.runs, tuple[ColouredRun, ...]()
            if part.stream in left:
                whole, rest = cut(part.runs, part.text.rfind("\n") + 1)
                left -= {part.stream} if whole else set()
            parts += [replace(part, runs=whole)] if whole or (part.skipped and not rest) else []
            begun += [replace(part, runs=rest, skipped=0 if whole else part.skipped)] if rest else []
        return replace(found, parts=tuple(parts[::-1]), unfinished=tuple(begun[::-1]), places=ends)

    def newest_of_both(self, folder: Path, *, limit: int = 16384) -> BothStreams:
        """What came last, about so many bytes of both streams together, in whole lines of each, and those begun."""
        sizes = {stream: output.size(folder, stream) for stream in STREAMS}
        places = order.newest(folder, sizes, limit)
        found = self.lines_of_both(folder, places, limit=limit)
        begun = {stream for stream, place in places.items() if place and _is_within_a_line(folder, stream, place)}
        parts, left_out = [], 0
        for part in found.parts:
            if part.stream in begun and "\n" in part.text:
                begun.discard(part.stream)
                left_out += 1
                parts.append(replace(part, runs=cut(part.runs, part.text.index("\n") + 1)[1]))
            elif part.stream not in begun:
                parts.append(part)
        # One line that is longer than all there is room for is better than none.
        shown = tuple(parts) if parts or found.unfinished else found.parts
        before = [output.lines_before(folder, stream, place) for stream, place in places.items()]
        first = None if None in before else sum(map(int, filter(None, before))) + left_out + 1
        return replace(found, parts=shown, begin=places, first_line=first)

    def _shares(
        self, folder: Path, stream: str, begin: int, shares: Sequence[bytes]
    ) -> tuple[list[tuple[ColouredRun, ...]], int]:
        """What is shown of each share of a stream, and how many bytes that is: half a character at the end is left for
        later, unless there is nothing else. A secret is hidden also where it is spread over several."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        texts, size = [decoder.decode(share) for share in shares], sum(map(len, shares))
        left = len(decoder.getstate()[0])
        if left == size and texts:
            texts[-1], left = decoder.decode(b"", final=True), 0
        whole = Piece(
            text="".join(texts), offset=begin, next_offset=begin + size - left, seen=output.size(folder, stream)
        )
        hidden, shown, place, look = self._hidden(folder, stream, whole) if size else "", [], 0, PLAIN
        for text in texts:
            runs, look = self._coloured(hidden[place : place + len(text)], look)
            shown.append(runs)
            place += len(text)
        return shown, size - left

    def hide(self, text: str) -> str:
        """Any text with its secrets hidden."""
        return self._masks.hide(text)

    def _lines(self, folder: Path, stream: str, raw: OutputLines) -> OutputLines:
        begun = Piece(text=raw.unfinished, offset=raw.next_offset, next_offset=raw.seen, seen=raw.seen)
        unfinished = self._piece(folder, stream, begun).text if begun.text else ""
        return replace(raw, text=self._piece(folder, stream, raw).text, unfinished=unfinished)

    def _piece(self, folder: Path, stream: str, piece: Piece) -> Piece:
        return replace(piece, text=self._plain(self._hidden(folder, stream, piece)))

    def _hidden(self, folder: Path, stream: str, piece: Piece) -> str:
        """The text of a piece, its secrets hidden that are known by what stands around it too."""
        before = _before(folder, stream, piece)
        after = output.read(folder, stream, offset=piece.next_offset, limit=_CONTEXT)
        behind = after.text if not after.skipped and piece.next_offset < piece.seen else ""
        hidden = self._masks.hide(before + piece.text + behind)
        return hidden[len(before) : len(before) + len(piece.text)]

    def _plain(self, text: str) -> str:
        shown = plain(text)
        # Once more without the sequences: colours may have stood between the letters of a secret.
        return self._masks.hide(shown) if shown != text else shown

    def _coloured(self, text: str, look: PrintedLook) -> tuple[tuple[ColouredRun, ...], PrintedLook]:
        """The same with the colours that the program gave it, and with which it goes on."""
        found, look = runs_of(text, look)
        runs = tuple(run._replace(text=printable(run.text)) for run in found)
        hidden, done, place = self._masks.hide("".join(run.text for run in runs)), list[ColouredRun](), 0
        for run in runs:
            done.append(run._replace(text=hidden[place : place + len(run.text)]))
            place += len(run.text)
        return tuple(done), look


def _in_turns(
    loaded: Mapping[str, tuple[bytes, int]], sizes: Mapping[str, int], turns: Sequence[order.StreamTurn]
) -> Iterator[tuple[str, bytes]]:
    """What was loaded of the streams, each with where it begins, as it came."""
    for turn in turns:
        data, begin = loaded[turn.stream]
        yield turn.stream, data[max(turn.begin - begin, 0) : None if turn.end is None else max(turn.end - begin, 0)]
        end = sizes[turn.stream] if turn.end is None else turn.end
        if begin + len(data) < min(end, sizes[turn.stream]):
            return  # what came next can only be told after the rest of this


def plain(text: str) -> str:
    """Text without escape sequences; of a line that was written over, only what it became; nothing hidden or unseen."""
    return printable("".join(run.text for run in runs_of(text)[0]))


def _last_line(folder: Path, stream: str, begin: int, end: int) -> int:
    """Where the last line begins that was not ended between these places; at the end, where there is none or no other
    line, which is then told in parts."""
    data, begin = output.raw(folder, stream, offset=begin, limit=max(end - begin, 1))
    found = data[: max(end - begin, 0)].rfind(b"\n") + 1
    return begin + found if found else end


def _is_within_a_line(folder: Path, stream: str, place: int) -> bool:
    return output.raw(folder, stream, offset=place - 1, limit=1) != (b"\n", place - 1)


def _before(folder: Path, stream: str, piece: Piece) -> str:
    begin = max(0, piece.offset - _CONTEXT)
    if begin == piece.offset:
        return ""
    before = output.read(folder, stream, offset=begin, limit=piece.offset - begin)
    return before.text if before.next_offset == piece.offset else ""
