"""A real file server from npm behind a guard, with the real Claude Code and the real Codex: it asks before it writes.

Like `real_clients.py` not part of `make test`: `make test-clients` fetches the programs and runs this file.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.program import SOMEONE
from tests.e2e.clients.install import PINS, packages
from tests.e2e.programs.fetch import node
from tests.e2e.programs.machine import SECONDS, Machine
from tests.e2e.programs.model import Json
from tests.e2e.programs.real_clients import PATIENCE, SEAT, Talk, await_asks, looking, open_asks
from tests.e2e.programs.seats import Seat, at_work, until

from sayso.asks.desk import AskDesk
from sayso.permissions.action import action_of
from sayso.permissions.desk import PermissionDesk

TOOLS = {"claude-code": "mcp__files__{}", "codex": "mcp__files/{}"}


@pytest.fixture(scope="session")
def file_server() -> list[str]:
    """How the file server is started, but for the folder that it serves."""
    modules = packages(PINS / "servers", node()) / "node_modules"
    return [str(node().node), str(modules / "@modelcontextprotocol/server-filesystem/dist/index.js")]


def has_files(machine: Machine, seat: Seat, server: list[str]) -> Path:
    """Somebody whose client has the file server, and lets its tools be called. The client's file."""
    seat.move_in(machine.home)
    folder, command = machine.home.folder, [*server, str(machine.home.project)]
    if seat.key == "codex":
        path = folder / ".codex" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        words = f"command = {json.dumps(command[0])}\nargs = {json.dumps(command[1:])}\n"
        path.write_text(f'[mcp_servers.files]\n{words}required = true\ndefault_tools_approval_mode = "approve"\n')
        return path
    path = folder / ".claude.json"
    known = json.loads(path.read_text())
    entry = {"type": "stdio", "command": command[0], "args": command[1:], "alwaysLoad": True}
    path.write_text(json.dumps({**known, "mcpServers": {"files": entry}}))
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / "settings.json").write_text(json.dumps({"permissions": {"allow": ["mcp__files"]}}))
    return path


def words_in(path: Path) -> list[str]:
    """How the client starts the server."""
    if path.suffix == ".toml":
        import tomllib

        entry = tomllib.loads(path.read_text())["mcp_servers"]["files"]
    else:
        entry = json.loads(path.read_text())["mcpServers"]["files"]
    return [entry["command"], *entry["args"]]


def decide(desk: AskDesk, tool: str, because: str = "") -> Mapping[str, object]:
    """Allow what is asked for, or deny it because of something; what it is."""
    until(PATIENCE, lambda: open_asks(desk), lambda: "a permission")
    (ask,) = open_asks(desk)
    action = action_of(ask)
    assert action
    assert action.tool == tool
    permissions = PermissionDesk(desk)
    if because:
        permissions.deny(ask.id, SOMEONE, because)
    else:
        permissions.allow(ask.id, action.digest, SOMEONE)
    return action.data


def accept_tools(machine: Machine, desk: AskDesk, words: list[str]) -> Mapping[str, object]:
    """Start the server as its client would, and accept what it offers."""
    info = {"name": "before", "version": "1"}
    hello: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=machine.home.project, env=machine.home.env
    ) as guard:
        assert guard.stdin
        assert guard.stdout
        guard.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        guard.stdin.flush()
        offered = decide(desk, "tools of files")
        while b"tools/list_changed" not in guard.stdout.readline():
            pass
        guard.stdin.close()
        guard.wait(SECONDS)
    return offered


@pytest.mark.parametrize("verdict", ["allowed", "denied"])
@pytest.mark.parametrize("key", ["claude-code", "codex"])
def test_a_guarded_file_server_asks_before_it_writes(
    machine: Machine, file_server: list[str], key: str, verdict: str
) -> None:
    seat = SEAT[key]
    path = has_files(machine, seat, file_server)
    before = path.read_bytes()
    ran = machine.run("sayso", "install", key, "--guard", "files")
    assert ran.code == 0, ran.err
    target = machine.home.project / "made.txt"
    talk = Talk(seat, {"path": str(target), "content": "by an agent"})
    talk._tool = TOOLS[key].format("write_file")
    with looking(machine.home) as desk:
        offered = accept_tools(machine, desk, words_in(path))
        assert offered["argv"] == [*file_server, str(machine.home.project)]
        with talk.model.serving(), at_work(seat, "headless", machine.home, talk.model.url) as client:
            await_asks(desk, 1, talk, client)
            assert not target.exists()
            wanted = decide(desk, "mcp__files__write_file", "" if verdict == "allowed" else "Not today.")
            assert wanted["input"] == {"path": str(target), "content": "by an agent"}
            until(PATIENCE, lambda: talk.results, lambda: f"a result; the client shows\n{client.shows()}")
    assert target.exists() == (verdict == "allowed")
    assert ("Not today." in talk.results[0]) == (verdict == "denied")
    if key == "codex":  # Claude Code keeps more in this file than its servers
        machine.run("sayso", "uninstall", key, "--guard", "files")
        assert path.read_bytes() == before
