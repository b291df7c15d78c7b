"""Starting a registered gate as its client would, and going the whole way of a prompt with it: it is denied."""

from __future__ import annotations

import json
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Settler
from sayso.config import Config
from sayso.doctor.finding import Finding, fault, note, ok
from sayso.errors import SaysoError
from sayso.install.targets import Target
from sayso.permissions.desk import PermissionDesk
from sayso.store import open_store
from sayso.store.bell import LOOK_EVERY

SECONDS = 40.0
SUBJECT = "approvals"
_NO = "This was a test of sayso doctor, which denied it by itself."


def probe_gate(target: Target, command: str, config: Config) -> Iterator[Finding]:
    """Whether a prompt reaches the inbox, and the verdict the client."""
    mark, begun = f"sayso doctor {secrets.token_hex(4)}", time.perf_counter()
    try:
        said = _denied(command, config, mark, _EVENTS[target.key](mark, str(config.project)))
    except (SaysoError, OSError, subprocess.SubprocessError) as error:
        again = f"sayso install {target.key} --approvals, then look again"
        yield fault(SUBJECT, f"A test prompt got no verdict: {str(error).rstrip('.')}.", again)
        return
    yield _told(target, said, _milliseconds(begun))


def _told(target: Target, said: str, milliseconds: str) -> Finding:
    if _NO in said:
        return ok(SUBJECT, f"a prompt was in your inbox, and its denial came back ({milliseconds} ms)")
    if said:
        return ok(SUBJECT, f"your rules decided a test prompt at once ({milliseconds} ms)")
    if target.gate and (target.gate.also_holds or not target.gate.stays_open):
        return note(
            SUBJECT, f"You are here, so a test prompt was left to {target.title}.", "sayso away, then look again"
        )
    return fault(SUBJECT, "A test prompt was not brought into your inbox.", f"sayso install {target.key} --approvals")


def _claude_event(mark: str, folder: str, tool: str = "Bash") -> dict[str, object]:
    given = {"command": f"# {mark}: a test, denied by itself"}
    called = {"tool_name": tool, "tool_input": given}
    return {"hook_event_name": "PermissionRequest", "session_id": mark, "cwd": folder, **called}


def _copilot_event(mark: str, folder: str) -> dict[str, object]:
    given = {"command": f"# {mark}: a test, denied by itself"}
    return {"hookName": "permissionRequest", "sessionId": mark, "cwd": folder, "toolName": "bash", "toolInput": given}


def _opencode_event(mark: str, folder: str) -> dict[str, object]:
    use = {"tool": "bash", "input": {"command": f"# {mark}: a test, denied by itself"}}
    asked = {"id": mark, "sessionID": mark, "permission": "bash", "patterns": [], "metadata": {}}
    return {"type": "permission.asked", "properties": asked, "use": use, "directory": folder}


_EVENTS: Mapping[str, Callable[[str, str], dict[str, object]]] = {
    "claude-code": _claude_event,
    "codex": _claude_event,
    "copilot": _copilot_event,
    "opencode": _opencode_event,
    "qwen": lambda mark, folder: _claude_event(mark, folder, "run_shell_command"),
}


def _denied(command: str, config: Config, mark: str, event: dict[str, object]) -> str:
    """What the gate prints for a prompt that is denied in the inbox."""
    shell = ["/bin/sh", "-c", command]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=config.project) as gate:
        assert gate.stdin is not None
        try:
            gate.stdin.write(json.dumps(event).encode())
            gate.stdin.close()
            gate.stdin = None
            _deny(config, mark, gate)
            return gate.communicate(timeout=SECONDS)[0].decode(errors="replace")
        finally:
            gate.terminate()


def _deny(config: Config, mark: str, gate: subprocess.Popen[bytes]) -> None:
    opened = open_store(config)
    try:
        desk, end = AskDesk(opened), time.monotonic() + SECONDS
        while (ask := _found(desk, mark)) is None:
            if gate.poll() is not None:
                return
            if time.monotonic() > end:
                raise SaysoError("it did not arrive in your inbox: the gate uses another store")
            opened.bell().wait(LOOK_EVERY)
        PermissionDesk(desk).deny(ask.id, Settler(person=config.person, surface="doctor"), _NO)
    finally:
        opened.close()


def _found(desk: AskDesk, mark: str) -> Ask | None:
    return next((ask for ask in desk.all_open() if ask.asker.session == mark), None)


def _milliseconds(begun: float) -> str:
    return f"{(time.perf_counter() - begun) * 1000:.0f}"
