"""Searching the captured output of one stream, as a process of its own: a bad pattern may take for ever, and then only
this process has to be ended. Used by output.py."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterator

from sayso.running.capture import segments

LONGEST_LINE = 8192
"""A line longer than this is searched in pieces."""

LONGEST_TEXT = 500
"""How much of a line is shown."""


def main() -> None:
    """Print the lines that match, as one JSON value. Arguments: folder, stream, limit, seconds, pattern."""
    folder, stream, limit, seconds, pattern = sys.argv[-5:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    json.dump(matches(folder, stream, int(limit), re.compile(pattern)), sys.stdout)


def matches(folder: str, stream: str, limit: int, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """The offset and text of the first lines that match, one more than the limit if there are more."""
    found: list[tuple[int, str]] = []
    for offset, line in lines(folder, stream):
        text = line.decode(errors="replace").rstrip("\r\n")
        if pattern.search(text):
            found.append((offset, text[:LONGEST_TEXT]))
            if len(found) > limit:
                break
    return found


def lines(folder: str, stream: str) -> Iterator[tuple[int, bytes]]:
    """Every line that is on disk with its offset; a line that goes on in the next file is one line."""
    begun = b""
    end = 0
    for offset, _, path in segments(folder, stream):
        if begun and offset != end:
            yield end - len(begun), begun
            begun = b""
        end = offset
        with open(path, "rb") as file:
            while part := file.readline(LONGEST_LINE - len(begun)):
                end += len(part)
                begun += part
                if begun.endswith(b"\n") or len(begun) >= LONGEST_LINE:
                    yield end - len(begun), begun
                    begun = b""
    if begun:
        yield end - len(begun), begun
