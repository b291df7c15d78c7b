"""Where Codex keeps its files, and the server that its sessions in terminals share. Small: hooks load it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sayso.process_table import command_line

_SOCKET = Path("app-server-control", "app-server-control.sock")
_LISTEN = "unix://"


def codex_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"))


def shared_socket(pid: int, environ: Mapping[str, str]) -> Path | None:
    """Where this process serves sessions that several clients share; None where it is no such server."""
    words = command_line(pid)
    listening = words.index("--listen") + 1 if "app-server" in words and "--listen" in words else len(words)
    address = words[listening] if listening < len(words) else ""
    if not address.startswith(_LISTEN):
        return None
    return Path(address.removeprefix(_LISTEN) or codex_home(environ) / _SOCKET)
