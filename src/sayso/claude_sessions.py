"""What Claude Code tells of its sessions: a file for each of its processes names the session that it is in now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from sayso import untrusted_json
from sayso.files import read_regular
from sayso.processes import ProcessName, name_of

CLIENT = "claude-code"
_MOST_ABOUT_SESSION = 65_536
"""Bytes of the file about a session that are read."""


def session_of(processes: Iterable[ProcessName]) -> str:
    """The session that the first of these that tells it is in."""
    return next((session for each in processes if (session := _session_in(each))), "")


def processes_in(session: str) -> Iterator[ProcessName]:
    """The processes that are in this session now."""
    with suppress(OSError):
        for entry in os.listdir(_folder()):
            number = entry.removesuffix(".json")
            process = name_of(int(number)) if number.isascii() and number.isdigit() else None
            if process and _session_in(process) == session:
                yield process


def _session_in(process: ProcessName) -> str:
    with suppress(OSError, ValueError):
        match untrusted_json.loads(read_regular(_folder() / f"{process.pid}.json", _MOST_ABOUT_SESSION)):
            # A file that a process of the same number has left says nothing of this one.
            case {"procStart": process.started, "sessionId": str(session)}:
                return session
    return ""


def _folder() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "sessions")
