"""What is shown of a command's output: without what drives a terminal, secrets hidden, and every gap said.

Reading the bytes is in output.py. Here is what may go before a model's or a person's eyes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sayso.config import Config
from sayso.records import replace
from sayso.running import output
from sayso.running.masking import Masks, default_masks
from sayso.running.output import Found, Match, OutputLines, Piece
from sayso.text import printable

_CONTEXT = 8192
"""Bytes looked at on both sides, so that a secret is known by its neighbourhood when only part of it is shown."""

_LINE_BYTES = 400
"""How long lines are thought to be, when the last few are wanted."""

_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[PX^_][^\x1b]{0,4000}(?:\x1b\\)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor
    r"|\x1b[ -/]*[0-~]?"
)


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The beginning and the end of a stream. `left_out` bytes lie between them."""

    head: str
    tail: str = ""
    seen: int = 0
    left_out: int = 0
    resume: int = 0
    """Where what was left out begins."""


class Excerpts:
    """Reads output as it is shown."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks

    @classmethod
    def of(cls, config: Config) -> Excerpts:
        return cls(default_masks(config.mask_patterns) if config.mask_output else Masks(()))

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
        raw = output.tail(folder, stream, limit=min(output.MOST_BYTES, max(4096, count * _LINE_BYTES)))
        lines = raw.text.splitlines(keepends=True)
        text = "".join(lines[-count:])
        before = len(raw.text.encode()) - len(text.encode())
        return self._piece(folder, stream, replace(raw, text=text, offset=raw.offset + before))

    def grep(self, folder: Path, stream: str, pattern: str, *, limit: int = 100) -> Found:
        """The first lines in which the regular expression is found."""
        found = output.grep(folder, stream, pattern, limit=limit)
        return replace(found, matches=tuple(self._match(folder, stream, match) for match in found.matches))

    def _match(self, folder: Path, stream: str, match: Match) -> Match:
        size = max(1, len(match.text.encode()))
        return replace(match, text=self.read(folder, stream, offset=match.offset, limit=size).text)

    def hide(self, text: str) -> str:
        """Any text with its secrets hidden."""
        return self._masks.hide(text)

    def _lines(self, folder: Path, stream: str, raw: OutputLines) -> OutputLines:
        begun = Piece(text=raw.unfinished, offset=raw.next_offset, next_offset=raw.seen, seen=raw.seen)
        unfinished = self._piece(folder, stream, begun).text if begun.text else ""
        return replace(raw, text=self._piece(folder, stream, raw).text, unfinished=unfinished)

    def _piece(self, folder: Path, stream: str, piece: Piece) -> Piece:
        before = _before(folder, stream, piece)
        after = output.read(folder, stream, offset=piece.next_offset, limit=_CONTEXT)
        behind = after.text if not after.skipped and piece.next_offset < piece.seen else ""
        hidden = self._masks.hide(before + piece.text + behind)
        return replace(piece, text=self._plain(hidden[len(before) : len(before) + len(piece.text)]))

    def _plain(self, text: str) -> str:
        shown = plain(text)
        # Once more without the sequences: colours may have stood between the letters of a secret.
        return self._masks.hide(shown) if shown != text else shown


def plain(text: str) -> str:
    """Text without escape sequences; of a line that was written over, only what it became; nothing hidden or unseen."""
    bare = _SEQUENCES.sub("", text).replace("\r\n", "\n")
    if "\r" in bare:
        bare = "\n".join(_last_written(line) for line in bare.split("\n"))
    return printable(bare)


def _last_written(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "")


def _before(folder: Path, stream: str, piece: Piece) -> str:
    begin = max(0, piece.offset - _CONTEXT)
    if begin == piece.offset:
        return ""
    before = output.read(folder, stream, offset=begin, limit=piece.offset - begin)
    return before.text if before.next_offset == piece.offset else ""
