"""An agent's line to the person, as it is when a real page starts a real agent: its files, its server, its settings."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.talk.stage import OPTIONS, Stage, ask, new_stage
from tests.web.house import USER, WAIT

from sayso.agents.model import Run
from sayso.asks.model import Answer, Settler

SEEDS_FOLDER = Path("/tmp/claude-ask-user")
OTHER_SERVER = """#!{python}
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    told = {{
        "initialize": {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": {{"name": "x"}}}},
        "tools/list": {{"tools": [{{"name": "ask_user", "inputSchema": {{"type": "object"}}}}]}},
        "tools/call": {{"content": [{{"type": "text", "text": "It is the other server."}}]}},
    }}
    if "id" in said:
        print(json.dumps({{"jsonrpc": "2.0", "id": said["id"], "result": told[said["method"]]}}), flush=True)
"""


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@contextmanager
def _at_work(stage: Stage, folder: Path, **options: Any) -> Iterator[tuple[Run, dict[str, Any]]]:
    """A run whose agent has noted what it was given, and goes on until the end of the block."""
    note, go = folder / "note", folder / "go"
    project = stage.project(**options)
    conversation = stage.visitor().start(project, f"environment {note}", "say Noted", f"wait {go}")
    try:
        stage.until_true(lambda: "Noted" in stage.texts(stage.latest(conversation)))
        yield stage.latest(conversation), json.loads(note.read_text())
    finally:
        go.touch()
        stage.ended(conversation)


@pytest.mark.finding("F-31")
def test_no_secret_of_a_run_is_in_a_process_list(stage: Stage, tmp_path: Path) -> None:
    with _at_work(stage, tmp_path) as (run, noted):
        listed = subprocess.run(
            ["ps", "-e", "-ww", "-o", "args="], capture_output=True, check=True, timeout=WAIT
        ).stdout
        assert b"--mcp-config" in listed, "the agent is in the list"
        for secret in (run.token, noted["relay"]["csrfToken"]):
            assert secret.encode() not in listed


@pytest.mark.requirement("P-59", "P-60", "P-68", "P-70")
def test_by_default_the_file_lies_where_promptmanager_has_it_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    if SEEDS_FOLDER.exists() and SEEDS_FOLDER.stat().st_uid != os.getuid():
        pytest.skip(f"{SEEDS_FOLDER} is somebody else's on this machine")
    with ExitStack() as cleanup:
        before = os.umask(0)
        try:
            stage = cleanup.enter_context(new_stage())
        finally:
            os.umask(before)
        with _at_work(stage, tmp_path) as (run, noted):
            file = SEEDS_FOLDER / f"{run.token}.json"
            assert noted["environment"]["ASK_USER_CONFIG"] == str(file)
            assert json.loads(file.read_text()) == noted["relay"]
            assert set(noted["relay"]) == {"apiUrl", "streamToken", "userId", "projectId", "csrfToken", "timeout"}
            assert noted["relay"]["timeout"] == 300
            client = Path(noted["argv"][noted["argv"].index("--mcp-config") + 1])
            assert [_mode(each) for each in (file, client, SEEDS_FOLDER)] == [0o600, 0o600, 0o700]
            assert len(_children(noted["pid"])) == 1, "its server"
        stage.until_true(lambda: not file.exists() and not client.exists())


@pytest.mark.finding("F-36")
@pytest.mark.parametrize("taken", ["by another user", "by a link", "by a file"])
def test_a_folder_that_somebody_else_made_first_is_neither_used_nor_in_the_way(tmp_path: Path, taken: str) -> None:
    there, loot = tmp_path / "claude-ask-user", tmp_path / "loot"
    loot.mkdir()
    match taken:
        case "by another user":
            if os.getuid() != 0:
                pytest.skip("only root can give a folder to another user")
            there.mkdir(mode=0o777)
            os.chown(there, 4242, 4242)
        case "by a link":
            there.symlink_to(loot)
        case "by a file":
            there.touch()
    with new_stage(relay_dir=str(there)) as stage:
        with _at_work(stage, tmp_path) as (run, noted):
            file = Path(noted["environment"]["ASK_USER_CONFIG"])
            assert file.parent == stage.house.place.state / "relay"
            assert (_mode(file), _mode(file.parent)) == (0o600, 0o700)
        conversation = stage.visitor().start(run.project.id, ask("Does it work?", options=OPTIONS))
        asked = stage.open_ask(conversation)
        (question,) = asked.questions
        answer = Answer(question=question.id, chosen=(question.options[0].id,))
        stage.house.desk.answer(asked.id, [answer], Settler(person=USER, surface="terminal"))
        assert stage.texts(stage.ended(conversation)) == ["Heard: User selected: Option A"]
        assert not list(loot.iterdir())
        assert not there.is_dir() or not list(there.iterdir())
        stage.until_true(lambda: not list((stage.house.place.state / "relay").iterdir()))


@pytest.mark.requirement("P-64")
def test_a_project_that_is_added_gets_the_server_into_its_settings_and_nothing_else(stage: Stage) -> None:
    place = stage.house.place
    file = place.project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": {"allow": ["Bash(ls)"]}, "mcpServers": {"mine": {"command": "mine"}}}))
    added = place.run("project", "add", ".", "--user", USER)
    assert added.returncode == 0, added.stderr
    settings = json.loads(file.read_text())
    assert settings["permissions"] == {"allow": ["Bash(ls)"]}
    assert set(settings["mcpServers"]) == {"mine", "ask-user"}
    entry = settings["mcpServers"]["ask-user"]
    assert set(entry) == {"command", "args"}
    # Whoever starts what is written there gets the server that asks.
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "other", "version": "1"}}
    said: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
    ]
    said.append({"id": 2, "method": "tools/list", "params": {}})
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in said)
    with subprocess.Popen(
        [entry["command"], *entry["args"]],
        env=place.environment,
        cwd=place.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(lines.encode())
        server.stdin.flush()
        told = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    tools = [tool["name"] for tool in told[1]["result"]["tools"]]
    assert {"ask_user", "approve"} <= set(tools)
    assert place.run("project", "remove", ".").returncode == 0
    assert set(json.loads(file.read_text())["mcpServers"]) == {"mine"}


@pytest.mark.requirement("P-67", "P-70")
def test_the_users_settings_name_another_server_and_another_time_limit_by_the_seeds_names(tmp_path: Path) -> None:
    server = tmp_path / "other-server"
    server.write_text(OTHER_SERVER.format(python=sys.executable))
    server.chmod(0o755)
    with new_stage(relay_dir=str(tmp_path / "relay")) as stage:
        stage.house.web.stop()
        file = stage.house.place.home / ".config" / "sayso" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f'mcpAskUserServerPath = "{server}"\nmcpAskUserTimeout = 42\n')
        stage.house.restart()
        with _at_work(stage, tmp_path) as (run, noted):
            assert noted["relay"]["timeout"] == 42
            assert str(server) in [part for child in _children(noted["pid"]) for part in child.cmdline()]
        conversation = stage.visitor().start(run.project.id, ask("Who is there?"))
        assert stage.texts(stage.ended(conversation)) == ["Heard: It is the other server."]


@pytest.mark.requirement("P-68")
def test_the_seeds_switch_in_the_users_settings_leaves_the_server_out(tmp_path: Path) -> None:
    with new_stage(relay_dir=str(tmp_path / "relay")) as stage:
        stage.house.web.stop()
        file = stage.house.place.home / ".config" / "sayso" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text("mcpAskUserEnabled = false\n")
        stage.house.restart()
        with _at_work(stage, tmp_path) as (_, noted):
            assert noted["relay"] is None
            assert _children(noted["pid"]) == []


def _children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.finding("F-50")
@pytest.mark.requirement("P-66")
def test_sync_workspaces_brings_every_workspace_up_to_date(stage: Stage) -> None:
    place = stage.house.place
    assert place.run("project", "add", ".", "--user", USER).returncode == 0
    file = place.project / ".claude" / "settings.local.json"
    right = json.loads(file.read_text())
    file.write_text(json.dumps({"mcpServers": {"ask-user": {"command": "old", "args": []}}}))
    done = place.run("sync-workspaces")
    assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())["mcpServers"]["ask-user"] == right["mcpServers"]["ask-user"]
    assert place.run("project", "remove", ".").returncode == 0
