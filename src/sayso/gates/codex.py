"""Codex's hooks, as tried with 0.166: `SessionStart`, and `PermissionRequest`, which runs before its own prompt.

Where sessions share a server, a hook only sees to it that the gate of that server runs, which asks beside the terminal
(`codex_gate.py`). The hook itself asks where there is no such server, and for what only it brings.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from pathlib import Path

from sayso.config import load
from sayso.gates.codex_server import CodexServer, shared_socket
from sayso.processes import ProcessName, ancestry

START, PROMPT = "SessionStart", "PermissionRequest"
NEAR = 5
"""How many ancestors may be between a hook and the server: a shell, a package runner."""
READY_SECONDS = 5.0
"""For the gate to join the sessions that are there. A session begins all the same when it takes longer."""


def shared_server(environ: Mapping[str, str]) -> tuple[ProcessName, Path] | None:
    """The process that has started this hook, and its socket, where it is a server that sessions share."""
    for process in ancestry()[1:NEAR]:
        if socket := shared_socket(process.pid, environ):
            return process, socket
    return None


def see_to_gate(server: ProcessName, socket: Path, locks: Path) -> None:
    """Have the gate of this server run: one, which ends with it. Returns once it listens."""
    locks.mkdir(parents=True, exist_ok=True)
    path = locks / f"codex-{server.pid}-{_plain(server.started)}.lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _is_ours(lock):
        os.close(lock)
        return
    here, there = os.pipe()
    if os.fork():
        os.close(there)
        os.close(lock)  # the gate holds on to it
        select.select([here], [], [], READY_SECONDS)
        os.close(here)
        return
    os.close(here)
    _become_gate(socket, there, path)


def _is_ours(lock: int) -> bool:
    """Whether nobody else has it; the system takes it from a process that ends, however it ends."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _become_gate(socket: Path, ready: int, lock: Path) -> None:
    """Never returns."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.chdir("/")
        import gc

        gc.enable()  # a hook is over before that pays
        _serve(socket, ready)
    finally:
        lock.unlink(missing_ok=True)
        os._exit(0)


def _serve(socket: Path, ready: int) -> None:
    from sayso.gates.codex_gate import CodexGate

    gate = CodexGate(CodexServer(socket))
    gate.serve(lambda: os.close(ready))


def _plain(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def serve() -> None:
    if found := shared_server(os.environ):
        see_to_gate(*found, load().gates_dir)
