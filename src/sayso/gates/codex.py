"""Codex's hooks, as tried with 0.166: `SessionStart`, and `PermissionRequest`, which runs before its own prompt.

Where sessions share a server, a hook only sees to it that the gate of that server runs, which asks beside the terminal
(`codex_gate.py`). Where there is none, the hook asks itself, and its client's own prompt comes afterwards.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.clients import RUN_VARIABLE
from sayso.config import load
from sayso.dialects.approve import Permission
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt, Trail
from sayso.gates.codex_server import MCP_TOOL, NAME, PATCH, TITLE, CodexServer
from sayso.gates.hook_words import EVENT, behavior, own_tools, permission, told
from sayso.gates.patches import of_patch
from sayso.process_table import command_line
from sayso.processes import ProcessName, ancestry
from sayso.shared_codex import shared_socket

BEGUN = "SessionStart"
OWN_TOOLS = own_tools(MCP_TOOL)
NEAR = 5
"""How many ancestors are looked at: between a hook and Codex may be a shell and a package runner."""
READY_SECONDS = 5.0
"""For the gate to join the sessions that are there. A session begins all the same when it takes longer."""
_WITHOUT_A_TERMINAL = ("exec", "e", "app-server", "mcp-server")


class CodexHook:
    name, title = NAME, TITLE
    patience = 86_400 - 5.0

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        if environ.get(RUN_VARIABLE):
            return True
        if found := shared_server(environ):
            # All of its prompts come by the gate of that server, if it runs.
            see_to_gate(*found, load().gates_dir)
            return True
        if event.get("hook_event_name") == BEGUN:
            self._note_session(event)
            return True
        return event.get("hook_event_name") != EVENT or OWN_TOOLS.fullmatch(str(event.get("tool_name"))) is not None

    def _note_session(self, event: Mapping[str, Any]) -> None:
        """Prints nothing: what such a hook prints is told to the model."""
        from sayso.asks.askers import asker_here
        from sayso.desks import open_desks
        from sayso.gates.asker import project_of

        session, process = str(event.get("session_id") or ""), _codex_process()
        if session and process and not has_no_terminal(command_line(process.pid)):
            config = load(cwd=project_of(Path(str(event.get("cwd") or "."))))
            with open_desks(config) as desks:
                desks.roster.note_gate(asker_here(process, config.project_name, client=self.name, session=session), "")

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        process = _codex_process()
        has_terminal = process is None or not has_no_terminal(command_line(process.pid))
        return Prompt(
            permission=_wanted(permission(event.get("tool_name"), event.get("tool_input"), {})),
            session=str(event.get("session_id") or ""),
            version="",
            process=process.pid if process else 0,
            folder=Path(str(event.get("cwd") or ".")),
            own_prompt=OwnPrompt.AFTERWARDS if has_terminal else OwnPrompt.NEVER,
        )

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> Trail | None:
        return None

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        return told(behavior(verdict))


def _wanted(asked: Permission) -> Permission:
    """A patch with the files that it changes, so that rules about these hold."""
    patch = asked.given.get("command")
    if asked.tool != PATCH or not isinstance(patch, str):
        return asked
    return Permission(tool=PATCH, given=of_patch(patch))


def _near() -> Sequence[ProcessName]:
    return ancestry()[1:NEAR]


def _codex_process() -> ProcessName | None:
    return next((near for near in _near() if _is_codex(command_line(near.pid))), None)


def _is_codex(words: Sequence[str]) -> bool:
    return bool(words) and os.path.basename(words[0]).startswith("codex")


def has_no_terminal(words: Sequence[str]) -> bool:
    """Whether nobody sits at a Codex that was started with these."""
    return any(word in _WITHOUT_A_TERMINAL for word in words[1:])


# Where sessions share a server


def shared_server(environ: Mapping[str, str]) -> tuple[ProcessName, Path] | None:
    """The process that has started this hook, and its socket, where it is a server that sessions share."""
    for process in _near():
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
    _become_gate(server, socket, there, path)


def _is_ours(lock: int) -> bool:
    """Whether nobody else has it; the system takes it from a process that ends, however it ends."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _become_gate(server: ProcessName, socket: Path, ready: int, lock: Path) -> None:
    """Never returns."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.chdir("/")
        import gc

        gc.enable()  # a hook is over before that pays
        from sayso.gates.codex_gate import CodexGate

        CodexGate(CodexServer(socket), server).serve(lambda: os.close(ready))
    finally:
        lock.unlink(missing_ok=True)
        os._exit(0)


def _plain(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)
