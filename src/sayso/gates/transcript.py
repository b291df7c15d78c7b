"""The transcript of a Claude Code session: JSON lines that it adds to. It says what became of the use of a tool.

A prompt of Claude Code does not name the use that it is about. So all uses count that have the same tool and input and
had no result when the prompt came; it is decided once each of them has one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.dialects.approve import Permission
from sayso.gates.client import DecidedThere

TAIL = 4 * 1024 * 1024
"""Bytes before its end from which it is read: the use that the prompt is about is among the newest."""
_CHUNK = 256 * 1024
_USE, _RESULT = b'"tool_use"', b'"tool_result"'
REJECTED = ("The user doesn't want to proceed with this tool use", "[Request interrupted by user")
"""How the result of a tool begins that a person at the terminal did not allow."""


class SessionTranscript:
    """Read from where it was left, whole lines only."""

    def __init__(self, path: Path, permission: Permission) -> None:
        self.path, self._permission = path, permission
        self._asked_at = _size(path)
        self._at = max(0, self._asked_at - TAIL)
        self._rest = b""
        self._open: dict[str, DecidedThere | None] = {}
        """What became of each use that this prompt may be about."""

    def look(self) -> DecidedThere | None:
        for end, line in self._lines():
            if _USE in line or _RESULT in line:
                for block in _blocks(line):
                    self._take(block, is_new=end > self._asked_at)
        ends = list(self._open.values())
        return ends[-1] if ends and all(ends) else None

    def _take(self, block: Mapping[str, Any], *, is_new: bool) -> None:
        match block:
            case {"type": "tool_use", "id": str(use), "name": name, "input": dict(given)} if (
                name == self._permission.tool
            ):
                # Of some tools the prompt has more in its input than their use has: of ExitPlanMode the plan.
                if all(self._permission.given.get(name) == value for name, value in given.items()):
                    self._open.setdefault(use, None)
            case {"type": "tool_result", "tool_use_id": str(use)} if use in self._open:
                if is_new:
                    self._open[use] = self._end(block)
                else:
                    del self._open[use]

    def _end(self, result: Mapping[str, Any]) -> DecidedThere:
        if result.get("is_error") is True and _text(result.get("content")).startswith(REJECTED):
            return DecidedThere.DENIED
        return DecidedThere.ANSWERED if self._permission.is_question else DecidedThere.ALLOWED

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Each whole line that was added since the last look, with the place where it ends."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                while chunk := file.read(_CHUNK):
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    start = self._at + len(chunk) - len(self._rest) - sum(len(line) + 1 for line in lines)
                    self._at += len(chunk)
                    for line in lines:
                        start += len(line) + 1
                        yield start, line
        except OSError:
            return  # not there yet, or no more


def _blocks(line: bytes) -> Sequence[Mapping[str, Any]]:
    try:
        said = json.loads(line)
    except ValueError:
        return ()  # where reading began in the middle of a line
    message = said.get("message") if isinstance(said, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else ()


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
