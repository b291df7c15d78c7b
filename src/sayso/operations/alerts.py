"""Lines of a running command's output that are worth a word: those its tool file says to look for.

Those of a log that is followed are not reported as they are: a model looks at them first (`detection`).
"""

from __future__ import annotations

import re
from itertools import compress
from pathlib import Path

from sayso.running.capture import STREAMS
from sayso.running.excerpt import Excerpts
from sayso.toolfiles.matching import matches
from sayso.toolfiles.model import ToolFile

_AT_ONCE = 1 << 16
_MOST_LINES = 20
"""Alerts of one look; a command that reports more than that is not worth quoting in full."""

_LONGEST = 500
ANY_LINE = "."
_LEVELS = (
    ("error", "error|fatal|panic|critical|exception"),
    ("warn", "warn|warning"),
    ("info", "info|notice"),
    ("debug", "debug"),
    ("trace", "trace"),
)


def alert_pattern(tool: ToolFile) -> str:
    """The regular expression of lines to report while the tool's commands run; empty for none."""
    if tool.livelog is not None:
        return tool.livelog.prefilter_regex or ANY_LINE
    if tool.monitor_level is None:
        return ""
    names = [name for name, _ in _LEVELS]
    wanted = [words for _, words in _LEVELS[: names.index(tool.monitor_level) + 1]]
    return rf"(?i)\b(?:{'|'.join(wanted)})\b"


def alert_streams(tool: ToolFile) -> tuple[str, ...]:
    if tool.livelog is not None or tool.monitor_stream == "both":
        return STREAMS
    return (tool.monitor_stream,)


class Alerts:
    """Looks through the output of one operation, each byte once."""

    def __init__(
        self, folder: Path, pattern: str, streams: tuple[str, ...], excerpts: Excerpts, most: int = _MOST_LINES
    ) -> None:
        self._folder, self._pattern, self._excerpts, self._most = folder, re.compile(pattern), excerpts, most
        self._offsets = dict.fromkeys(streams, 0)
        self._begun = dict.fromkeys(streams, "")

    def look(self) -> list[str]:
        """The lines that have come since the last look and match, the newest last."""
        lines = [line for stream in self._offsets for line in self._new_lines(stream)]
        try:
            found = list(compress(lines, matches(self._pattern, lines)))
        except TimeoutError:
            return [f"{len(lines)} lines could not be held against `{self._pattern.pattern}` in time."]
        return [line[:_LONGEST] for line in found[-self._most :]]

    def _new_lines(self, stream: str) -> list[str]:
        piece = self._excerpts.read(self._folder, stream, offset=self._offsets[stream], limit=_AT_ONCE)
        self._offsets[stream] = piece.next_offset
        *lines, self._begun[stream] = (self._begun[stream] + piece.text).split("\n")
        return lines
