"""The relay's file and what clients are told of the server: private, exact, and never in anybody else's way."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.trusting import trust

from sayso.agents import relay_file
from sayso.agents.relay_file import RelayFile
from sayso.config import Config, load
from sayso.errors import ConfigError, RelayFileError
from sayso.records import replace

TOKEN = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
RUN = "0123456789abcdef01234567"
RELAY = RelayFile(
    api_url="http://127.0.0.1:7297", stream_token=TOKEN, user_id="ada", project_id=5, csrf_token="abc", timeout=90
)


def settings(tmp_path: Path, **values: str) -> Config:
    named = {f"SAYSO_{name.upper()}": value for name, value in values.items()}
    folders = {"XDG_CONFIG_HOME": str(tmp_path / ".config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return load(environ={**folders, **named}, cwd=tmp_path)


WRONG: list[tuple[str, Mapping[str, Any]]] = [
    ("apiUrl is null", {"apiUrl": None}),
    ("apiUrl", {"apiUrl": "ftp://127.0.0.1"}),
    ("apiUrl", {"apiUrl": 5}),
    ("of this machine", {"apiUrl": "http://[::1"}),
    ("of this machine", {"apiUrl": "http://localhost:99999"}),
    ("must not leave this machine", {"apiUrl": "http://192.0.2.1:8080"}),
    ("must not leave this machine", {"apiUrl": "http://0.0.0.0:8080"}),
    ("must not leave this machine", {"apiUrl": "http://no-such-host.invalid"}),
    ("streamToken", {"streamToken": "not-a-uuid"}),
    ("userId", {"userId": True}),
    ("projectId", {"projectId": ""}),
    ("csrfToken", {"csrfToken": 7}),
    ("timeout", {"timeout": "300"}),
    ("timeout", {"timeout": 0}),
]


@pytest.mark.requirement("P-15", "P-17", "P-18")
@pytest.mark.parametrize(("word", "changes"), WRONG)
def test_a_field_that_does_not_fit_is_named_with_what_would(
    tmp_path: Path, word: str, changes: Mapping[str, Any]
) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps({**RELAY.data(), **changes}))
    with pytest.raises(ConfigError, match=re.escape(word)) as told:
        relay_file.read(file)
    assert str(file) in str(told.value)


@pytest.mark.requirement("P-16", "P-17")
def test_a_missing_timeout_is_300_seconds_and_anything_else_missing_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    for name in RELAY.data():
        file.write_text(json.dumps({key: value for key, value in RELAY.data().items() if key != name}))
        if name == "timeout":
            assert relay_file.read(file).timeout == 300
        else:
            with pytest.raises(ConfigError, match=f"{name} is missing"):
                relay_file.read(file)
    for broken in ("{", "[]", "\udcff"):
        file.write_text(broken, errors="surrogateescape")
        with pytest.raises(ConfigError, match="JSON"):
            relay_file.read(file)
    file.write_text(json.dumps({**RELAY.data(), "apiUrl": "http://[::1]:80/", "userId": 1, "projectId": "x"}))
    assert relay_file.read(file).api_url == "http://[::1]:80"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.requirement("P-59", "P-60")
def test_the_file_has_its_name_its_fields_and_no_other_reader(tmp_path: Path) -> None:
    assert settings(tmp_path).relay_dir == Path("/tmp/claude-ask-user")
    before = os.umask(0)
    try:
        file = relay_file.write(tmp_path / "relay", RELAY)
    finally:
        os.umask(before)
    assert file == tmp_path / "relay" / f"{TOKEN}.json"
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    assert json.loads(file.read_text()) == {
        "apiUrl": "http://127.0.0.1:7297",
        "streamToken": TOKEN,
        "userId": "ada",
        "projectId": 5,
        "csrfToken": "abc",
        "timeout": 90,
    }
    assert relay_file.read(file).data() == RELAY.data()
    assert relay_file.write(tmp_path / "relay", RELAY) == file, "it can be rewritten"


def test_nothing_is_written_through_links_or_into_a_folder_that_is_not_ours_alone(tmp_path: Path) -> None:
    folder, loot = tmp_path / "relay", tmp_path / "loot"
    folder.mkdir(mode=0o777)
    (folder / f"{TOKEN}.json").symlink_to(loot)
    file = relay_file.write(folder, RELAY)
    assert (file.is_symlink(), loot.exists(), mode(folder)) == (False, False, 0o700)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(RelayFileError, match="Set relay_dir to a directory of your own"):
        relay_file.write(tmp_path / "link", RELAY)
    if os.getuid() != 0:
        with pytest.raises(RelayFileError, match="belongs to somebody else"):
            relay_file.write(Path("/tmp"), RELAY)
    else:
        os.chown(folder, 4242, 4242)
        with pytest.raises(RelayFileError, match="belongs to somebody else"):
            relay_file.write(folder, RELAY)


def test_files_are_removed_with_their_run_and_leftovers_after_an_hour(tmp_path: Path) -> None:
    folder = tmp_path / "relay"
    file = relay_file.write(folder, RELAY)
    config = settings(tmp_path)
    config = replace(config, relay_dir=folder)
    client = relay_file.write_client_config(folder, RUN, relay_file.entry(config), file, config)
    other = folder / "notes.json"
    other.write_text("not ours to remove")
    relay_file.remove(config, TOKEN, RUN)
    assert list(folder.iterdir()) == [other]
    relay_file.remove(config, TOKEN, RUN)
    relay_file.write(folder, RELAY)
    relay_file.write_client_config(folder, RUN, relay_file.entry(config), file, config)
    long_ago = time.time() - 3700
    for old in (file, client, other):
        os.utime(old, (long_ago, long_ago))
    assert relay_file.sweep(config, living=frozenset({TOKEN, RUN})) == 0
    assert relay_file.sweep(config) == 2
    assert (file.exists(), other.exists(), client.exists()) == (False, True, False)
    relay_file.write(folder, RELAY)
    assert relay_file.sweep(config) == 0, "younger than an hour"
    assert relay_file.sweep(replace(config, relay_dir=tmp_path / "nowhere")) == 0


def test_what_a_killed_process_left_half_written_is_removed_too(tmp_path: Path) -> None:
    folder = tmp_path / "relay"
    half = relay_file.write(folder, RELAY).rename(folder / f".{TOKEN}.json.0a1b2c3d")
    os.utime(half, (time.time() - 3700,) * 2)
    assert relay_file.sweep(replace(settings(tmp_path), relay_dir=folder)) == 1
    assert not half.exists()


def test_the_client_is_given_the_same_entry_with_the_environment_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_LOG_LEVEL", "debug")
    config = settings(tmp_path, store="postgresql://ada:secret@localhost/sayso")
    entry = relay_file.entry(config)
    file = relay_file.write(tmp_path / "relay", RELAY)
    client = relay_file.write_client_config(tmp_path / "relay", RUN, entry, file, config)
    assert mode(client) == 0o600
    server = json.loads(client.read_text())["mcpServers"]["ask-user"]
    assert {name: server[name] for name in ("command", "args")} == entry.data()
    assert server["alwaysLoad"] is True, "else Claude Code does not wait for it"
    assert server["env"] == {
        "ASK_USER_CONFIG": str(file),
        "SAYSO_LOG_LEVEL": "debug",
        "SAYSO_STATE_DIR": str(config.state_dir),
        "SAYSO_STORE": config.store,
    }
    assert relay_file.PERMISSION_TOOL == "mcp__ask-user__approve"


@pytest.mark.requirement("P-67")
def test_the_server_is_ours_unless_the_settings_name_another(tmp_path: Path) -> None:
    ours = relay_file.entry(settings(tmp_path))
    assert ours.asking_only == tuple(word for word in (ours.command, *ours.args) if word != "--approve")
    assert ours.asking_only != (ours.command, *ours.args), "who has no use for `approve` is not shown it"
    assert ours.command == str(Path(sys.executable).parent / "sayso")
    assert (ours.args, ours.approves) == (("server", "--approve"), True)
    script = relay_file.entry(settings(tmp_path, mcp_ask_user_server_path="/opt/ask/server.js"))
    assert (script.data(), script.approves) == ({"command": "node", "args": ["/opt/ask/server.js"]}, False)
    program = relay_file.entry(settings(tmp_path, mcp_ask_user_server_path="/opt/ask/server"))
    assert (program.data(), program.approves) == ({"command": "/opt/ask/server", "args": []}, False)
    other = relay_file.entry(settings(tmp_path, mcp_ask_user_server_path="/opt/venv/bin/sayso"))
    assert (other.command, other.args, other.approves) == ("/opt/venv/bin/sayso", ("server", "--approve"), True)


def test_the_server_takes_no_code_from_the_project_where_no_program_lies_beside_its_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, ran = tmp_path / "bin" / "python3", tmp_path / "ran"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    package = tmp_path / "project" / "sayso"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    monkeypatch.setattr(sys, "executable", str(python))
    entry = relay_file.entry(settings(tmp_path))
    assert entry.command == str(python)
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": str(tmp_path)}
    subprocess.run([entry.command, *entry.args, "--help"], cwd=package.parent, env=paths, timeout=60, check=True)
    assert not ran.exists()


@pytest.mark.requirement("P-67", "P-68", "P-70", "P-73")
def test_the_settings_are_known_by_the_seeds_names_and_keep_their_bounds(tmp_path: Path) -> None:
    config = settings(tmp_path)
    assert (config.mcp_ask_user_enabled, config.mcp_ask_user_timeout) == (True, 300_000)
    file = tmp_path / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('mcpAskUserEnabled = false\nmcpAskUserTimeout = 30\nmcpAskUserServerPath = "/opt/server.js"\n')
    config = settings(tmp_path)
    assert (config.mcp_ask_user_enabled, config.mcp_ask_user_timeout) == (False, 30_000)
    assert config.mcp_ask_user_server_path == Path("/opt/server.js")
    assert settings(tmp_path, mcp_ask_user_timeout="15m").mcp_ask_user_timeout == 900_000
    for wrong in ("29", "901", "1h", "soon"):
        with pytest.raises(ConfigError, match="from 30 to 900 seconds"):
            settings(tmp_path, mcp_ask_user_timeout=wrong)
    ours = tmp_path / ".sayso" / "config.toml"
    ours.parent.mkdir()
    ours.write_text('mcpAskUserServerPath = "/evil"\n')
    trust(config.state_dir, tmp_path)
    with pytest.raises(ConfigError, match="may not be set by a project"):
        settings(tmp_path)
