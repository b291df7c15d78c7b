"""The transcript of a Claude Code session: JSON lines that it adds to. It says what became of the use of a tool.

A prompt of Claude Code does not name the use that it is about. So all uses count that have the same tool and input and
had no result when the prompt came; it is decided once each of them has one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.dialects.approve import Permission
from sayso.files import open_regular
from sayso.gates.client import Aftermath, DecidedThere, GateVerdict
from sayso.records import record

TAIL = 4 * 1024 * 1024
"""Bytes before its end from which it is read: the use that the prompt is about is among the newest."""
_CHUNK = 256 * 1024
MOST_LINE = 8 * 1024 * 1024
"""Bytes of a line that is read; a longer one is passed over."""
_CUT = b"\0"
"""In place of the beginning of such a line: what is no JSON."""
_USE, _RESULT = b'"tool_use"', b'"tool_result"'
REJECTED = ("The user doesn't want to proceed with this tool use", "[Request interrupted by user")
"""How the result of a tool begins that a person at the terminal did not allow."""


@record
class UseEnd:
    """What became of a use of a tool."""

    there: DecidedThere
    by_hook: bool | None
    """Whether a hook decided it; None where the client does not say."""
    failed: bool


class SessionTranscript:
    """Read from where it was left, whole lines only."""

    def __init__(self, path: Path, permission: Permission) -> None:
        self.path, self._permission = path, permission
        self._asked_at = _size(path)
        self._at = max(0, self._asked_at - TAIL)
        self._rest = b""
        self._open: dict[str, UseEnd | None] = {}
        """What became of each use that this prompt may be about."""

    def look(self) -> DecidedThere | None:
        ends = self._ends()
        return ends[-1].there if ends else None

    def after(self, told: GateVerdict) -> Aftermath | None:
        """Of several uses that cannot be told apart it is known only where the same became of all."""
        found = {self._aftermath(end, told) for end in self._ends()}
        return found.pop() if len(found) == 1 else Aftermath.TAKEN if found else None

    def _aftermath(self, end: UseEnd, told: GateVerdict) -> Aftermath:
        there = Aftermath(end.there)
        is_denied = there is Aftermath.DENIED
        if end.by_hook is None:
            # An Esc is written down alike whether it closed the prompt or stopped what was allowed and at work; and of
            # what failed, an older client does not say whether our no was the reason.
            is_other = not told.allowed and not end.failed
        elif told.allowed:
            is_other = not end.by_hook and (is_denied or told.given != self._permission.given)
        else:
            is_other = not is_denied
        return there if is_other else Aftermath.TAKEN

    def _ends(self) -> Sequence[UseEnd]:
        """Of all uses that this prompt may be about, once each has one."""
        for end, line in self._lines():
            if _USE in line or _RESULT in line:
                # Agents can have anything written there: what nobody can read keeps nothing else from being read.
                with suppress(ValueError):
                    self._take(untrusted_json.loads(line), is_new=end > self._asked_at)
        ends = [end for end in self._open.values() if end]
        return ends if len(ends) == len(self._open) else ()

    def _take(self, said: object, *, is_new: bool) -> None:
        if not isinstance(said, dict):
            return
        for block in _blocks(said):
            match said.get("type"), block:
                case "assistant", {
                    "type": "tool_use",
                    "id": str(use),
                    "name": self._permission.tool,
                    "input": dict(given),
                }:
                    # Of some tools the prompt has more in its input than their use has: of ExitPlanMode the plan.
                    if all(self._permission.given.get(name) == value for name, value in given.items()):
                        self._open.setdefault(use, None)
                case "user", {"type": "tool_result", "tool_use_id": str(use)} if use in self._open:
                    if is_new:
                        self._open[use] = self._end(block, said.get("permissionDecision"))
                    else:
                        del self._open[use]

    def _end(self, result: Mapping[str, Any], decided: object) -> UseEnd:
        failed, by_hook = result.get("is_error") is True, None
        is_denied = failed and _text(result.get("content")).startswith(REJECTED)
        match decided:
            case {"decision": "accept" | "reject" as decision, "source": str(source)}:
                is_denied, by_hook = decision == "reject", source == "hook"
        done = DecidedThere.ANSWERED if self._permission.is_question else DecidedThere.ALLOWED
        return UseEnd(there=DecidedThere.DENIED if is_denied else done, by_hook=by_hook, failed=failed)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Each whole line that was added since the last look, with the place where it ends."""
        with suppress(OSError), open(self.path, "rb", opener=open_regular) as file:  # not there yet, or no more
            file.seek(self._at)
            while chunk := file.read(_CHUNK):
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                start = self._at + len(chunk) - len(self._rest) - sum(len(line) + 1 for line in lines)
                self._at += len(chunk)
                if len(self._rest) > MOST_LINE:
                    self._rest = _CUT
                for line in lines:
                    start += len(line) + 1
                    yield start, line


def _blocks(said: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    message = said.get("message")
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
