"""Permission to ask: each client is told by name which tools it may call unprompted; everything else stays."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.install.golden import SERVER, machine, registration

from sayso.clients import known
from sayso.config import Config
from sayso.dialects import ahma
from sayso.dialects.profiles import profile
from sayso.install.entry import ServerProgram
from sayso.install.grants import copilot_hook, tools_of
from sayso.install.ledger import Ledger
from sayso.install.machine import Machine
from sayso.install.part import Done, Part, add, take_back
from sayso.install.targets import BY_KEY, TARGETS, Scope, Target

GRANTING = [target for target in TARGETS if target.grant]
ASKING = ("ask_user", "ask_user_questions", "get_answers", "question_ask", "question_summary")
"""The tools that only ask a person, and nothing else."""

EVERY_CLIENT = pytest.mark.parametrize("target", GRANTING, ids=lambda target: target.key)
BEFORE = {
    "claude-code": '{\n  "permissions": {"allow": ["Bash(ls)"]}\n}\n',
    "codex": '[mcp_servers.sayso]\ncommand = "/opt/sayso/bin/sayso"\n\n[mcp_servers.other]\ncommand = "other"\n',
    "qwen": '{"mcpServers": {"sayso": {"command": "sayso"}}}',
}


def grant(target: Target, home: Path) -> Part:
    part = target.leave_to_ask(machine(home), Scope.USER, SERVER)
    assert part is not None
    return part


def given(target: Target, home: Path) -> Part:
    """The client's file as a person has it, or none."""
    part = grant(target, home)
    if target.key in BEFORE:
        part.path.parent.mkdir(parents=True, exist_ok=True)
        part.path.write_text(BEFORE[target.key])
    return part


def everything(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != "ledger.json"}


@pytest.mark.finding("F-80")
@EVERY_CLIENT
def test_leave_to_ask_is_given_once_and_taken_back_to_the_byte(target: Target, tmp_path: Path) -> None:
    part, ledger = given(target, tmp_path), Ledger(tmp_path / "ledger.json")
    before = everything(tmp_path)
    assert add(part, ledger) is Done.ADDED
    with_it = everything(tmp_path)
    assert add(part, ledger) is Done.ALREADY
    assert everything(tmp_path) == with_it
    assert take_back(part, ledger) is Done.RESTORED
    assert everything(tmp_path) == before


@pytest.mark.finding("F-80")
@EVERY_CLIENT
def test_it_names_the_tools_that_ask_and_never_a_whole_server(target: Target, tmp_path: Path) -> None:
    part, ledger = given(target, tmp_path), Ledger(tmp_path / "ledger.json")
    add(part, ledger)
    text = part.path.read_text()
    names = [known(target.known_as).other_names.get(name, name) for name in ASKING]
    assert all(name in text for name in names)
    assert "trust" not in text
    assert not any(name in text for name in ("default_tools_approval_mode", "mcp__sayso__*", *ahma.NAMES))
    match target.key:
        case "claude-code" | "qwen":
            allowed = json.loads(text)["permissions"]["allow"]
            assert {rule for rule in allowed if "sayso" in rule} == {f"mcp__sayso__{name}" for name in names}
        case "codex":
            approved = tomllib.loads(text)["mcp_servers"]["sayso"]["tools"]
            assert approved == {name: {"approval_mode": "approve"} for name in names}
        case "gemini":
            (rule,) = tomllib.loads(text)["rule"]
            assert (rule["mcpName"], rule["decision"]) == ("sayso", "allow")
            assert sorted(rule["toolName"]) == sorted(names)


@pytest.mark.finding("F-80")
@EVERY_CLIENT
def test_what_a_person_added_since_stays_when_it_is_taken_back(target: Target, tmp_path: Path) -> None:
    part, ledger = given(target, tmp_path), Ledger(tmp_path / "ledger.json")
    add(part, ledger)
    text = part.path.read_text()
    match target.key:
        case "claude-code":
            part.path.write_text(text.replace("Bash(ls)", "Bash(pwd)"))
            left = BEFORE["claude-code"].replace("Bash(ls)", "Bash(pwd)")
        case "codex":
            part.path.write_text(f"# mine\n{text}")
            left = f"# mine\n{BEFORE['codex']}"
        case "qwen":
            part.path.write_text(text.replace('"command": "sayso"', '"command": "mine"'))
            left = BEFORE["qwen"].replace('"command": "sayso"', '"command": "mine"')
        case _:
            # The whole file is ours, whatever was done to it.
            part.path.write_text(f"{text}\n")
            left = ""
    assert take_back(part, ledger) is Done.REMOVED
    assert (part.path.read_text() if part.path.exists() else "") == left


@pytest.mark.finding("F-80")
def test_a_file_is_not_put_back_to_a_state_in_which_another_part_of_ours_was(tmp_path: Path) -> None:
    """The entry was there before, from a time that left no record: it must not come back with the copy."""
    part, ledger = given(BY_KEY["codex"], tmp_path), Ledger(tmp_path / "ledger.json")
    there = Machine(home=tmp_path, project=tmp_path / "project", system="linux", environ={"PATH": ""})
    piece = registration(BY_KEY["codex"], there)
    add(part, ledger, [piece.part])
    assert piece.remove(ledger) is Done.REMOVED
    assert tomllib.loads(part.path.read_text()) == {"mcp_servers": {"other": {"command": "other"}}}


def test_what_a_person_decided_of_a_tool_in_codex_stays(tmp_path: Path) -> None:
    part, ledger = given(BY_KEY["codex"], tmp_path), Ledger(tmp_path / "ledger.json")
    mine = BEFORE["codex"] + '\n[mcp_servers.sayso.tools.ask_user]\napproval_mode = "prompt"\n'
    part.path.write_text(mine)
    add(part, ledger)
    tools = tomllib.loads(part.path.read_text())["mcp_servers"]["sayso"]["tools"]
    assert tools["ask_user"] == {"approval_mode": "prompt"}
    assert tools["get_answers"] == {"approval_mode": "approve"}


@pytest.mark.finding("F-91")
def test_a_lean_server_gets_leave_for_its_two_tools_alone() -> None:
    lean = ServerProgram(name="sayso", command="sayso", args=("server", "--lean"))
    assert tools_of(lean) == ("ask_user", "get_answers")
    assert tools_of(SERVER) == ASKING


@pytest.mark.finding("F-80")
@pytest.mark.parametrize(
    ("tool", "is_allowed"),
    [("sayso-ask_user", True), ("sayso-get_answers", True), ("bash", False), ("sayso-cargo_build", False)],
)
def test_the_hook_for_copilot_allows_no_other_tool_even_if_it_were_run_for_one(tool: str, is_allowed: bool) -> None:
    (hook,) = json.loads(copilot_hook("sayso", ASKING))["hooks"]["preToolUse"]
    told = json.dumps({"toolName": tool, "toolArgs": {"command": "echo sayso-ask_user"}})
    ran = subprocess.run(["bash", "-c", hook["bash"]], input=told, capture_output=True, text=True, check=True)
    assert ("allow" in ran.stdout) is is_allowed
    assert bool(re.search(hook["matcher"], tool)) is is_allowed


@pytest.mark.finding("F-80")
@pytest.mark.parametrize("name", ["all", "auq", "swissarmyhammer", "codenomad", "promptmanager"])
def test_every_tool_that_a_profile_shows_to_models_is_one_that_clients_are_told_of(name: str) -> None:
    shown = profile(Config(profile=name)).for_models
    assert [tool.name for tool in shown if tool.name not in ASKING] == []


def test_a_project_cannot_give_leave_to_gemini(tmp_path: Path) -> None:
    assert BY_KEY["gemini"].leave_to_ask(machine(tmp_path), Scope.PROJECT, SERVER) is None
