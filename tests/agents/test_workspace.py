"""The workspace's settings get the server and lose it again; everything else in them stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso.agents.relay_file import ServerEntry
from sayso.agents.workspace import PLACE, add_server, remove_server
from sayso.errors import CannotEdit

ENTRY = ServerEntry(command="/usr/bin/sayso", args=("server", "--approve"))


@pytest.mark.requirement("P-64")
def test_the_server_is_put_in_with_command_and_args_and_no_environment(tmp_path: Path) -> None:
    assert add_server(tmp_path, ENTRY)
    wanted = {"mcpServers": {"ask-user": {"command": "/usr/bin/sayso", "args": ["server", "--approve"]}}}
    assert json.loads((tmp_path / PLACE).read_text()) == wanted
    assert not add_server(tmp_path, ENTRY), "nothing is written where nothing changes"
    assert add_server(tmp_path, ServerEntry(command="node", args=("server.js",)))
    assert remove_server(tmp_path)
    assert json.loads((tmp_path / PLACE).read_text()) == {}
    assert not remove_server(tmp_path)
    assert sorted(path.name for path in (tmp_path / ".claude").iterdir()) == ["settings.local.json"]


@pytest.mark.requirement("P-64")
def test_all_else_in_the_settings_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / PLACE
    file.parent.mkdir()
    mine = {"permissions": {"defaultMode": "plan", "allow": ["Bash(ls:*)"]}, "mcpServers": {"näh": {"command": "x"}}}
    file.write_text(json.dumps(mine, ensure_ascii=False))
    file.chmod(0o640)
    assert add_server(tmp_path, ENTRY)
    told = json.loads(file.read_text(encoding="utf-8"))
    assert told["mcpServers"].pop("ask-user")
    assert (told, list(told), file.stat().st_mode & 0o777) == (mine, list(mine), 0o640)
    assert remove_server(tmp_path)
    assert json.loads(file.read_text(encoding="utf-8")) == mine


@pytest.mark.parametrize("broken", ["{", "[]", '{"mcpServers": []}', "\xff", "[" * 200_000])
def test_settings_that_cannot_be_understood_are_left_alone_with_a_word_on_why(tmp_path: Path, broken: str) -> None:
    file = tmp_path / PLACE
    file.parent.mkdir()
    file.write_bytes(broken.encode("latin-1"))
    with pytest.raises(CannotEdit, match="left alone"):
        add_server(tmp_path, ENTRY)
    with pytest.raises(CannotEdit, match="left alone"):
        remove_server(tmp_path)
    assert file.read_bytes() == broken.encode("latin-1")


def test_a_link_to_settings_elsewhere_stays_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "shared.json"
    elsewhere.write_text("{}")
    (tmp_path / ".claude").mkdir()
    (tmp_path / PLACE).symlink_to(elsewhere)
    assert add_server(tmp_path, ENTRY)
    assert (tmp_path / PLACE).is_symlink()
    assert "ask-user" in elsewhere.read_text()
