"""Where each client keeps its servers, on each system and by each variable; and how it is recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.clients import CLIENTS
from sayso.install.entry import MARGIN_SECONDS, ServerProgram, written
from sayso.install.machine import Machine
from sayso.install.targets import BY_KEY, TARGETS, Scope, Target

HOME = Path("/home/ada")


def file_of(key: str, system: str, **environ: str) -> str:
    machine = Machine(home=HOME, project=HOME / "shop", system=system, environ=environ)
    return BY_KEY[key].file(machine, Scope.USER).as_posix()


@pytest.mark.parametrize(
    ("key", "linux", "mac", "windows"),
    [
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json"),
        ("opencode", *[".config/opencode/opencode.json"] * 3),
        ("qwen", *[".qwen/settings.json"] * 3),
        ("copilot", *[".copilot/mcp-config.json"] * 3),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            ".config/goose/config.yaml",
            "AppData/Roaming/Block/goose/config/config.yaml",
        ),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
        (
            "cline",
            *(
                f"{folder}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
                for folder in (".config", "Library/Application Support", "AppData/Roaming")
            ),
        ),
        ("windsurf", *[".codeium/windsurf/mcp_config.json"] * 3),
    ],
)
def test_each_client_keeps_its_servers_where_its_system_says(key: str, linux: str, mac: str, windows: str) -> None:
    for system, path in (("linux", linux), ("darwin", mac), ("win32", windows)):
        assert file_of(key, system) == f"/home/ada/{path}"


@pytest.mark.parametrize(
    ("key", "variable", "path"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "CODEX_HOME", "/x/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "/x/.gemini/settings.json"),
        ("qwen", "QWEN_HOME", "/x/settings.json"),
        ("copilot", "COPILOT_HOME", "/x/mcp-config.json"),
        ("opencode", "OPENCODE_CONFIG", "/x"),
        ("opencode", "OPENCODE_CONFIG_DIR", "/x/opencode.json"),
        ("opencode", "XDG_CONFIG_HOME", "/x/opencode/opencode.json"),
        ("goose", "XDG_CONFIG_HOME", "/x/goose/config.yaml"),
        ("zed", "XDG_CONFIG_HOME", "/x/zed/settings.json"),
        ("vscode", "XDG_CONFIG_HOME", "/x/Code/User/mcp.json"),
    ],
)
def test_variables_that_move_a_clients_files_are_followed(key: str, variable: str, path: str) -> None:
    assert file_of(key, "linux", **{variable: "/x"}) == path


def test_every_client_is_one_that_the_table_of_limits_knows() -> None:
    assert [target.key for target in TARGETS if target.known_as not in CLIENTS] == []


@pytest.mark.parametrize("target", [target for target in TARGETS if target.shape.limit], ids=lambda target: target.key)
def test_a_call_comes_back_before_the_client_gives_it_up(target: Target) -> None:
    limit = target.shape.limit
    assert limit is not None
    entry = written(target.shape, ServerProgram(name="sayso", command="/bin/sayso"), target.known_as)
    assert entry[limit.key] == limit.seconds * limit.units
    assert entry[target.shape.env] == {"SAYSO_CALL_LIMITS": f"{target.known_as}={limit.seconds - MARGIN_SECONDS}s"}


def test_limits_are_in_the_unit_of_each_client() -> None:
    units = {target.key: target.shape.limit.units for target in TARGETS if target.shape.limit}
    thousands = {"gemini": 1000, "opencode": 1000, "qwen": 1000, "copilot": 1000}
    assert units == {**thousands, "codex": 1, "goose": 1, "zed": 1, "cline": 1}


def test_a_client_is_recognised_by_its_program_or_its_folder(tmp_path: Path) -> None:
    nothing = Machine(home=tmp_path, project=tmp_path, system="linux", environ={"PATH": ""})
    assert [target.key for target in TARGETS if target.is_used(nothing)] == []
    (tmp_path / ".cursor").mkdir()
    (tmp_path / "goose").touch(mode=0o755)
    there = Machine(home=tmp_path, project=tmp_path, system="linux", environ={"PATH": str(tmp_path)})
    assert [target.key for target in TARGETS if target.is_used(there)] == ["cursor", "goose"]
