"""`sayso doctor`: each way in which a set-up can be broken is named, with how to fix it."""

from __future__ import annotations

import errno
import json
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.program import BIN, Home, choice
from tests.cli.pseudo_terminal import Terminal

from sayso.cli import doctor
from sayso.cli.doctor import command
from sayso.config import Config
from sayso.dialects.dialect import ASK_TOOLS
from sayso.web_addresses import Proves, ServedAt

SAYSO = str(BIN / "sayso")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A home whose environment this process has taken on."""

    home: Home
    monkeypatch: pytest.MonkeyPatch
    stack: ExitStack

    def write(self, path: str, text: str) -> Path:
        file = self.home.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def trusted(self, path: str, text: str) -> None:
        self.write(path, text)
        self.home.trust()

    def settings(self, text: str) -> None:
        self.write(".config/sayso/config.toml", text)

    def cursor(self, **entry: Any) -> None:
        whole = {"command": SAYSO, "args": ["server"], "env": {"SAYSO_STATE_DIR": str(self.home.state)}, **entry}
        self.write(".cursor/mcp.json", json.dumps({"mcpServers": {"sayso": whole}}))

    def codex(self, limits: str) -> None:
        env = f'[mcp_servers.sayso.env]\nSAYSO_STATE_DIR = "{self.home.state}"\n'
        entry = f'[mcp_servers.sayso]\ncommand = "{SAYSO}"\nargs = ["server"]\n'
        allowed = "".join(f'[mcp_servers.sayso.tools.{tool}]\napproval_mode = "approve"\n' for tool in ASK_TOOLS)
        more = f"{entry}{limits.partition('|')[0]}\n{env}{limits.partition('|')[2]}\n{allowed}"
        self.write(".codex/config.toml", more)

    def examine(self, *arguments: str) -> tuple[int, list[dict[str, str]]]:
        ran = CliRunner().invoke(command, ["--json", *arguments])
        assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
        data = json.loads(ran.stdout)
        assert data["exit_code"] == ran.exit_code
        return ran.exit_code, data["findings"]


@pytest.fixture
def machine(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    for name in [*os.environ]:
        if name.startswith(("SAYSO_", "XDG_", "CLAUDE", "CODEX", "GEMINI", "OPENCODE", "SSH_")):
            monkeypatch.delenv(name)
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SAYSO_WEB_PORT", "0")
    monkeypatch.chdir(home.project)
    monkeypatch.setattr("sys.argv", [SAYSO])
    with ExitStack() as stack:
        yield Machine(home=home, monkeypatch=monkeypatch, stack=stack)


def garbage(machine: Machine) -> None:
    machine.home.state.mkdir(mode=0o700)
    (machine.home.state / "sayso.db").write_bytes(b"no store " * 1000)


def too_new(machine: Machine) -> None:
    machine.home.leave(choice())
    with sqlite3.connect(machine.home.state / "sayso.db") as store:
        store.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    store.close()


def open_to_others(machine: Machine) -> None:
    machine.home.state.mkdir()
    machine.home.state.chmod(0o755)


def hidden_notes(machine: Machine) -> None:
    def refused(config: Config, proves: Proves) -> list[ServedAt]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), config.web_addresses_dir)

    machine.monkeypatch.setattr(doctor, "running", refused)  # no mode keeps root from reading a folder


def closed_to_all(machine: Machine) -> None:
    machine.home.state.mkdir(mode=0o700)
    machine.monkeypatch.setattr(os, "access", lambda path, mode: False)  # no mode keeps root from reading a folder


def taken_port(machine: Machine) -> None:
    other = machine.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    machine.monkeypatch.setenv("SAYSO_WEB_PORT", str(other.getsockname()[1]))


def two_entries(machine: Machine) -> None:
    machine.cursor()
    other = {"command": str(BIN / "auq"), "args": ["server"], "env": {"SAYSO_STATE_DIR": str(machine.home.state)}}
    machine.write("project/.cursor/mcp.json", json.dumps({"mcpServers": {"sayso": other}}))


def hook_gone(machine: Machine) -> None:
    machine.cursor()
    hook = {"hooks": [{"type": "command", "command": "env SAYSO_CONFIG=/c /gone/sayso hook"}]}
    machine.write(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [hook]}}))


def gate_gone(machine: Machine) -> None:
    machine.cursor()
    hook = {"hooks": [{"type": "command", "command": "exec env SAYSO_CONFIG=/c /gone/sayso gate claude-code"}]}
    machine.write(".claude/settings.json", json.dumps({"hooks": {"PermissionRequest": [hook]}}))


def not_allowed(machine: Machine) -> None:
    env = {"SAYSO_STATE_DIR": str(machine.home.state)}
    whole = {"type": "stdio", "alwaysLoad": True, "command": SAYSO, "args": ["server"], "env": env}
    machine.write(".claude.json", json.dumps({"mcpServers": {"sayso": whole}}))
    machine.write(".claude/settings.json", json.dumps({"permissions": {"allow": ["mcp__sayso__get_answers"]}}))


def agent_missing(machine: Machine) -> None:
    machine.cursor()
    added = machine.home.run("project", "add", ".", "--agent", "gemini", "--command", "/gone/gemini --acp")
    assert added.code == 0, added.err


BROKEN: dict[str, tuple[Callable[[Machine], object], str, str, str, str]] = {
    "a key that would do two things": (
        lambda m: m.settings('[keys]\nallow = "n"\n'),
        *("settings", "fault", "'n' would do allow and deny", "Fix that setting"),
    ),
    "settings that are no TOML": (
        lambda m: m.settings("profile = all"),
        *("settings", "fault", "is not valid TOML", "Fix that setting"),
    ),
    "a project that sets what only a person may": (
        lambda m: m.trusted("project/.sayso/config.toml", 'store = "postgresql://evil"\n'),
        *("settings", "fault", "store may not be set by a project", "Fix that setting"),
    ),
    "a file where the state folder should be": (
        lambda m: m.write("state", ""),
        *("state", "fault", "is not a folder", "set SAYSO_STATE_DIR"),
    ),
    "a state folder that others can read": (
        open_to_others,
        *("state", "warning", "is open to others (drwxr-xr-x)", "chmod 700"),
    ),
    "a state folder that nobody can read": (
        closed_to_all,
        *("state", "fault", "cannot be read and written (drwx------), not by you either", "chmod 700"),
    ),
    "a folder that may not be read": (
        hidden_notes,
        *("state", "fault", "web-addresses cannot be read: Permission denied.", "Check who may read it."),
    ),
    "a store that is none": (garbage, "store", "fault", "sayso.db", "Move"),
    "a store of a newer version": (too_new, "store", "fault", "999", "Update Sayso"),
    "a PostgreSQL that is not there": (
        lambda m: m.settings('store = "postgresql://ada:secret@127.0.0.1:9/asks"\n'),
        *("postgresql", "fault", "127.0.0.1", "that the server runs"),
    ),
    "a client's file that cannot be read": (
        lambda m: m.write(".cursor/mcp.json", '{"mcpServers": '),
        *("cursor", "fault", "is not valid JSON", "sayso install cursor"),
    ),
    "a program that is gone": (
        lambda m: m.cursor(command="/gone/sayso"),
        *("cursor", "fault", "starts /gone/sayso, which is not there", "sayso install cursor"),
    ),
    "a program that is another": (
        lambda m: m.cursor(command="/bin/true"),
        *("cursor", "warning", "which is not Sayso", "sayso install cursor"),
    ),
    "questions that go to another store": (
        lambda m: m.cursor(env={"SAYSO_STATE_DIR": "/elsewhere"}),
        *("cursor", "fault", "keeps its questions in /elsewhere", "sayso install cursor"),
    ),
    "settings that are named and are not there": (
        lambda m: m.monkeypatch.setenv("SAYSO_CONFIG", str(m.home.folder / "nope.toml")),
        *("settings", "fault", "nope.toml, which is not there. Correct it, make that file", "does not start"),
    ),
    "a client that names settings which are not there": (
        lambda m: m.cursor(env={"SAYSO_STATE_DIR": str(m.home.state), "SAYSO_CONFIG": "/gone/sayso.toml"}),
        *("cursor", "fault", "is told of the settings /gone/sayso.toml, which are not there", "sayso install cursor"),
    ),
    "a variable that the client does not hand on": (
        lambda m: m.cursor(env={}),
        *("cursor", "warning", "does not know of it", "sayso install cursor"),
    ),
    "an entry that is switched off": (
        lambda m: m.cursor(disabled=True),
        *("cursor", "warning", "switched off", "Switch it on"),
    ),
    "a limit shorter than calls are held": (
        lambda m: m.codex('tool_timeout_sec = 60|SAYSO_CALL_LIMITS = "codex-mcp-client=290s"'),
        *("codex", "warning", "tool_timeout_sec is 60 s, but a call is held 290 s", "sayso install codex"),
    ),
    "a limit that is missing": (
        lambda m: m.codex('|SAYSO_CALL_LIMITS = "codex-mcp-client=1h"'),
        *("codex", "warning", "it has no tool_timeout_sec", "sayso install codex"),
    ),
    "questions that a client must be allowed first": (
        not_allowed,
        *("claude-code", "warning", "refuses it where there is none", "sayso install claude-code"),
    ),
    "two entries that differ": (two_entries, "cursor", "warning", "two different entries", "sayso uninstall cursor"),
    "no agent that is connected": (
        lambda m: m.write(".cursor/mcp.json", "{}"),
        *("agents", "warning", "No agent is connected", "sayso install"),
    ),
    "a hook whose program is gone": (
        hook_gone,
        *("hook", "fault", "runs /gone/sayso, which is not there", "sayso install claude-code --hook"),
    ),
    "a hook for prompts whose program is gone": (
        gate_gone,
        *("approvals", "fault", "runs /gone/sayso, which is not there", "sayso install claude-code --approvals"),
    ),
    "a project whose agent is not installed": (
        agent_missing,
        *("talk", "fault", "/gone/gemini is not there", "npm install -g @google/gemini-cli"),
    ),
    "a tool file with a fault": (
        lambda m: m.trusted("project/.sayso/tools/git.json", '{"name": "git", "description": "git"}'),
        *("tools", "fault", "git.json", "sayso tools validate"),
    ),
    "a notification command that is not there": (
        lambda m: m.settings('notify_command = ["/gone/notify"]\n'),
        *("notifications", "fault", "'/gone/notify', which is not there", "Correct it"),
    ),
    "a notification address that cannot be reached": (
        lambda m: m.settings('notify_url = "http://127.0.0.1:9/secret-topic"\n'),
        *("notifications", "fault", "127.0.0.1 cannot be reached", "Check the address"),
    ),
    "a port that another program has": (taken_port, "browser", "warning", "Another program listens", "web_port"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_set_up_is_named_with_what_mends_it(machine: Machine, what: str) -> None:
    break_it, subject, level, text, fix = BROKEN[what]
    break_it(machine)
    code, findings = machine.examine()
    found = [finding for finding in findings if finding["level"] in ("warning", "fault")]
    assert [finding["subject"] for finding in found] == [subject]
    assert found[0]["level"] == level
    assert text in found[0]["text"]
    assert fix in found[0]["fix"]
    assert "ada:secret" not in json.dumps(findings)
    assert "secret-topic" not in json.dumps(findings)
    assert code == {"warning": 1, "fault": 2}[level]


def test_a_sound_set_up_gets_a_clean_bill_and_is_not_changed(machine: Machine) -> None:
    machine.home.leave(choice())
    machine.cursor()
    before = {path: path.read_bytes() for path in machine.home.folder.rglob("mcp.json")}
    code, findings = machine.examine()
    assert code == 0
    said = {finding["subject"] for finding in findings if finding["level"] == "ok"}
    assert {"versions", "settings", "state", "store", "bell", "cursor", "browser"} <= said
    assert {"enforced", "not enforced"} <= {finding["subject"] for finding in findings}
    assert {path: path.read_bytes() for path in machine.home.folder.rglob("mcp.json")} == before


def test_what_is_found_stands_in_a_column_in_which_no_word_is_torn(home: Home) -> None:
    with Terminal(home, "doctor", columns=80) as terminal:
        terminal.end()
    lines = terminal.screen.splitlines()
    begins = next(line for line in lines if "A question is settled once" in line).index("A question")
    assert [line for line in lines if len(line) > 80 and "→" not in line] == []
    last = next(line for line in lines if line.endswith("have."))
    assert not last[:begins].strip()


def test_the_way_of_a_prompt_is_gone_with_the_client_that_brings_them_and_it_is_denied(home: Home) -> None:
    assert home.run("install", "claude-code", "--approvals").code == 0
    said = home.run("doctor", "--client", "claude-code")
    assert said.code == 0, said.out
    assert "a prompt was in your inbox, and its denial came back" in said.out
    logged = home.run("log", "--json").data
    assert [entry["what"] for entry in logged] == ["denied"]


def test_hooks_that_an_older_version_did_not_set_up_are_missed(home: Home) -> None:
    assert home.run("install", "claude-code", "--approvals").code == 0
    settings = home.folder / ".claude" / "settings.json"
    held = json.loads(settings.read_text())
    del held["hooks"]["SessionStart"], held["hooks"]["SessionEnd"]
    settings.write_text(json.dumps(held))
    (found,) = [each for each in home.run("doctor", "--json").data["findings"] if each["subject"] == "approvals"]
    assert (found["level"], found["fix"]) == ("warning", "sayso install claude-code --approvals")
    assert "lacks the hooks for SessionStart and SessionEnd" in found["text"]
    assert home.run("install", "claude-code", "--approvals").code == 0
    assert "approvals" not in {
        each["subject"] for each in home.run("doctor", "--json").data["findings"] if each["level"] == "warning"
    }


@pytest.mark.finding("F-80")
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "qwen", "copilot"])
def test_leave_to_ask_that_was_taken_away_is_missed(home: Home, client: str) -> None:
    assert home.run("install", client, "--no-allow").code == 0
    missing = home.run("doctor", "--json")
    found = [finding for finding in missing.data["findings"] if finding["level"] == "warning"]
    assert [finding["subject"] for finding in found] == [client]
    assert "refuses it where there is none" in found[0]["text"]
    assert found[0]["fix"] == f"sayso install {client}"
    assert missing.code == 1
    assert home.run("install", client).code == 0
    assert home.run("doctor").code == 0


@pytest.mark.finding("F-80")
@pytest.mark.parametrize(
    ("client", "where", "key"),
    [
        ("codex", ".codex/config.toml", "disabled_tools"),
        ("gemini", ".gemini/settings.json", "excludeTools"),
        ("qwen", ".qwen/settings.json", "includeTools"),
        ("copilot", ".copilot/mcp-config.json", "tools"),
    ],
)
def test_an_entry_that_keeps_tools_from_the_agent_is_seen(home: Home, client: str, where: str, key: str) -> None:
    assert home.run("install", client).code == 0
    file, tools = home.folder / where, ["ask_user"] if key in ("disabled_tools", "excludeTools") else ["other"]
    text = file.read_text()
    if client == "codex":
        file.write_text(text.replace("[mcp_servers.sayso]\n", f"[mcp_servers.sayso]\n{key} = {json.dumps(tools)}\n", 1))
    else:
        given = json.loads(text)
        given["mcpServers"]["sayso"][key] = tools
        file.write_text(json.dumps(given))
    said = home.run("doctor", "--json")
    (found,) = [finding for finding in said.data["findings"] if finding["level"] == "warning"]
    assert f"is kept from asking you by its own settings ({key}: {tools[0]})" in found["text"]
    assert found["fix"] == f"Take that out of {file}, unless you mean it."


@pytest.mark.finding("F-80")
@pytest.mark.parametrize("client", ["claude-code", "claude-code, local", "codex"])
def test_settings_that_keep_an_agent_from_asking_are_seen(home: Home, client: str) -> None:
    client, _, local = client.partition(", ")
    assert home.run("install", client).code == 0
    if local:
        file = home.folder / ".claude" / "settings.local.json"
        file.write_text(json.dumps({"permissions": {"deny": ["mcp__sayso__ask_user"]}}))
    elif client == "codex":
        file = home.folder / ".codex" / "config.toml"
        head, tool, rest = file.read_text().partition("tools.ask_user]")
        file.write_text(head + tool + rest.replace('"approve"', '"prompt"', 1))
    else:
        file = home.folder / ".claude" / "settings.json"
        given = json.loads(file.read_text())
        given["permissions"]["deny"] = ["mcp__sayso__ask_user"]
        file.write_text(json.dumps(given))
    said = home.run("doctor", "--json")
    (found,) = [finding for finding in said.data["findings"] if finding["level"] == "warning"]
    assert found["subject"] == client
    assert "is kept from asking you by its own settings" in found["text"]
    assert "ask_user" in found["text"]
    assert str(file) in found["fix"]
    assert said.code == 1


@pytest.mark.finding("F-83")
def test_the_doctor_knows_whether_claude_code_keeps_calls_in_the_foreground(home: Home) -> None:
    home.run("install", "claude-code", "--no-foreground")
    assert "your answer then counts as no user input" in home.run("doctor").out
    home.run("install", "claude-code", "--foreground")
    said = home.run("doctor").out
    assert "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS is 0" in said
    assert "counts as no user input" not in said


def test_on_a_terminal_every_finding_is_a_line_and_the_end_sums_up(home: Home) -> None:
    ran = home.run("doctor")
    assert ran.code == 0, ran.out
    assert "ok      store" in ran.out
    assert ran.out.endswith("\nNothing is broken. Next: connect an agent with `sayso install`.\n")
    (home.folder / ".cursor").mkdir()
    broken = home.run("doctor")
    assert broken.code == 1
    assert "→ sayso install\n" in broken.out


def test_what_a_client_would_start_is_started_and_asks_for_real(home: Home) -> None:
    home.run("install", "codex")
    ran = home.run("doctor", "--client", "codex", "--json")
    assert ran.code == 0, ran.out
    steps = [finding["text"] for finding in ran.data["findings"]][1:]
    for step, words in zip(steps, ("started as Codex would", "lists", "in your inbox", "received it"), strict=True):
        assert words in step
    asked = home.run("history", "--json").data
    assert [(ask["status"], ask["delivered"], ask["asker"]["client"]) for ask in asked] == [
        ("answered", True, "codex-mcp-client")
    ]


@pytest.mark.parametrize(
    ("program", "words"),
    [("#!/bin/sh\necho went wrong >&2\nexit 1\n", "went wrong"), (None, "is not connected")],
    ids=["it fails", "there is none"],
)
def test_a_server_that_does_not_start_is_told_with_what_it_said(home: Home, program: str | None, words: str) -> None:
    if program:
        home.run("install", "codex")
        file = home.folder / "sayso"
        file.write_text(program)
        file.chmod(0o755)
        config = home.folder / ".codex" / "config.toml"
        config.write_text(config.read_text().replace(str(BIN / "sayso"), str(file)))
    ran = home.run("doctor", "--client", "codex")
    assert ran.code == 2
    assert words in ran.out
    assert "sayso install codex" in ran.out


def test_what_was_meant_for_a_setting_and_is_none_is_told(home: Home) -> None:
    ran = home.run("doctor", SAYSO_CONFIG=os.devnull, SAYSO_NOTIFY_ULR="x", SAYSO_RUN="1")
    assert ran.code == 1, ran.out
    assert "SAYSO_CONFIG" not in ran.out
    assert "SAYSO_NOTIFY_ULR is set in the environment, and is no setting." in ran.out
    assert "Did you mean SAYSO_NOTIFY_URL?" in ran.out
    assert "SAYSO_RUN" not in ran.out
