"""Starting the registered gate as Claude Code would, and going the whole way of a prompt with it: it is denied."""

from __future__ import annotations

import json
import secrets
import subprocess
import time
from collections.abc import Iterator

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Settler
from sayso.config import Config
from sayso.doctor.finding import Finding, fault, ok
from sayso.errors import SaysoError
from sayso.permissions.desk import PermissionDesk
from sayso.store import open_store
from sayso.store.bell import LOOK_EVERY

SECONDS = 40.0
SUBJECT = "approvals"
_NO = "This was a test of sayso doctor, which denied it by itself."


def probe_gate(command: str, config: Config) -> Iterator[Finding]:
    """Whether a prompt reaches the inbox, and the verdict the client."""
    mark, begun = f"sayso doctor {secrets.token_hex(4)}", time.perf_counter()
    try:
        said = _denied(command, config, mark)
    except (SaysoError, OSError, subprocess.SubprocessError) as error:
        again = "sayso install claude-code --approvals, then look again"
        yield fault(SUBJECT, f"A test prompt got no verdict: {str(error).rstrip('.')}.", again)
        return
    if _NO not in said and '"behavior"' in said:
        yield ok(SUBJECT, f"your rules decided a test prompt at once ({_milliseconds(begun)} ms)")
        return
    if _NO not in said:
        text = f"A test prompt was not brought into your inbox; Claude Code would have been told {said[:200]!r}."
        yield fault(SUBJECT, text, "sayso install claude-code --approvals")
        return
    yield ok(SUBJECT, f"a prompt was in your inbox, and its denial came back ({_milliseconds(begun)} ms)")


def _denied(command: str, config: Config, mark: str) -> str:
    """What the gate prints for a prompt that is denied in the inbox."""
    event = {
        "hook_event_name": "PermissionRequest",
        "session_id": mark,
        "cwd": str(config.project),
        "tool_name": "Bash",
        "tool_input": {"command": f"# {mark}: a test, denied by itself"},
    }
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
    return next((ask for ask in desk.inbox(most=1000) if ask.asker.session == mark), None)


def _milliseconds(begun: float) -> str:
    return f"{(time.perf_counter() - begun) * 1000:.0f}"
