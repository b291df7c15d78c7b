"""Settings, rules and tools count only where nobody else can have written them: the files are used without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.program import Home
from tests.cli.test_tools import SLEEPER, write_tool


def of_others(place: Path, mode: int) -> None:
    """Have it belong to a group that is not one's own."""
    os.chown(place, -1, 4242)
    place.chmod(mode)


WAYS: dict[str, Callable[[Path], None]] = {
    "everybody can write it": lambda file: file.chmod(0o606),
    "everybody can write its folder": lambda file: file.parent.chmod(0o777),
    "everybody can write a folder above": lambda file: file.parent.parent.chmod(0o777),
}
if os.geteuid() == 0:
    WAYS |= {
        "it is somebody else's": lambda file: os.chown(file, 4242, -1),
        "a group of others can write it": lambda file: of_others(file, 0o660),
        "a group of others can write its folder": lambda file: of_others(file.parent, 0o770),
        "its folder is somebody else's": lambda file: os.chown(file.parent, 4242, -1),
    }


@pytest.fixture
def own(home: Home) -> Path:
    folder = home.folder / ".config" / "sayso"
    folder.mkdir(mode=0o700, parents=True)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_settings_that_somebody_else_can_write_are_not_used(home: Home, own: Path, way: str) -> None:
    file = own / "config.toml"
    file.write_text(f'notify_command = "touch {home.folder}/was-here"\n')
    assert home.run("config").code == 0
    WAYS[way](file)
    ran = home.run("list")
    assert ran.code == 2
    assert f"{file}: somebody else can write " in ran.error
    assert "chown and chmod go-w" in ran.error
    told = home.run("doctor", "--json")
    assert told.code == 2
    assert "somebody else can write" in told.data["findings"][0]["text"]


@pytest.mark.parametrize("way", WAYS)
def test_rules_that_somebody_else_can_write_allow_nothing(home: Home, own: Path, way: str) -> None:
    file = own / "rules.toml"
    file.write_text('[[rule]]\nallow = ["Bash(ls)"]\n')
    assert home.run("rules", "check", "Bash(ls)").code == 0
    WAYS[way](file)
    assert home.run("rules", "check", "Bash(ls)").code == 10
    (fault,) = home.run("rules", "--json").data["faults"]
    assert "somebody else can write" in fault["text"]
    findings = home.run("doctor", "--json").data["findings"]
    assert any(each["subject"] == "rules" and "somebody else can write" in each["text"] for each in findings)


@pytest.mark.parametrize("way", WAYS)
def test_tools_that_somebody_else_can_write_are_not_run(home: Home, own: Path, way: str) -> None:
    file = write_tool(home, SLEEPER)
    assert home.run("tools", "run", "sleeper", "script=true").code == 0
    WAYS[way](file)
    assert home.run("tools", "list", "--json").data == []
    assert home.run("tools", "run", "sleeper", "script=true").code == 3
    (fault,) = home.run("tools", "validate", "--json").data
    assert (fault["kind"], fault["file"]) == ("writable", str(file))
    assert "somebody else can write" in fault["actual"]
    findings = home.run("doctor", "--json").data["findings"]
    assert any(each["subject"] == "tools" and "somebody else can write" in each["text"] for each in findings)


def test_a_tool_comes_back_once_it_is_ones_own_again(home: Home, own: Path) -> None:
    file = write_tool(home, SLEEPER)
    file.chmod(0o606)
    assert home.run("tools", "list", "--json").data == []
    file.chmod(0o600)
    assert len(home.run("tools", "list", "--json").data) == 1
