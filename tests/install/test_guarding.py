"""A server behind a guard in a client's own file, and off it again: words in, words out, nothing else."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from sayso.errors import CannotEdit
from sayso.install.guarding import GuardedEntry, entries_in, guard_words, guarded_in
from sayso.install.in_jsonc import read
from sayso.install.machine import Machine
from sayso.install.part import Done
from sayso.install.targets import BY_KEY, Scope

GUARD = ("/opt/sayso", "guard", "--name", "files", "--")

CODEX = """# mine
[mcp_servers.other]
command = "x"

[mcp_servers.files]   # the files
command = 'npx'  # from npm
args = [
  "-y", # yes
  "files",
]
env = { A = "1" }

[mcp_servers.files.tools.write]
approval_mode = "approve"
"""

TEXTS = {
    "args": '{\n"mcpServers": {\n  "files": {"command": "np\\u0078", "args": [ "-y",\n "f" ], "env": {"A": "1"}}\n}\n}',
    "args first": '{"mcpServers":{"files":{"args":["-y","files"],"command":"npx"}}}',
    "no args": '{\n\t"mcpServers": {\n\t\t"files": {\n\t\t\t"command": "npx"\n\t\t}\n\t}\n}',
    "empty args": '{"mcpServers": {"files": {"command": "npx", "args": []}, "b": {"command": "y"}}}\r\n',
    "empty args over lines": '{"mcpServers": {"files": {"command": "npx", "args": [\n]}}}',
}


def entry(tmp_path: Path, client: str, text: str) -> GuardedEntry:
    target = BY_KEY[client]
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    return GuardedEntry(target=target, path=path, steps=(*target.table, "files"), guard=GUARD)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("client", ["claude-code", "gemini", "qwen", "copilot", "cursor"])
def test_a_server_in_json_is_put_behind_a_guard_and_off_it_to_the_byte(tmp_path: Path, client: str, text: str) -> None:
    found = entry(tmp_path, client, text)
    before = read(text)["mcpServers"]["files"]
    assert found.put() is Done.CHANGED
    now = read(found.path.read_text())
    wrapped = now["mcpServers"].pop("files")
    assert [wrapped.pop("command"), *wrapped.pop("args")] == [*GUARD, "npx", *before.get("args", [])]
    assert wrapped == {key: value for key, value in before.items() if key not in ("command", "args")}
    assert found.put() is Done.ALREADY
    assert found.take_off() is Done.REMOVED
    assert found.path.read_bytes() == text.encode()
    assert found.take_off() is Done.ABSENT


@pytest.mark.parametrize(
    "text",
    [
        CODEX,
        CODEX.replace("\n", "\r\n"),
        '[mcp_servers.files]\ncommand = "npx"\n',
        '[mcp_servers.files]\ncommand = "npx"',
        '[mcp_servers."files"]\nargs = []\ncommand = "npx"\n[other]\nargs = [1]\n',
    ],
    ids=["whole", "line ends", "no args", "no end", "empty args"],
)
def test_a_server_of_codex_likewise(tmp_path: Path, text: str) -> None:
    found = entry(tmp_path, "codex", text)
    before = tomllib.loads(text.replace("\r\n", "\n"))
    assert found.put() is Done.CHANGED
    now = tomllib.loads(found.path.read_bytes().decode().replace("\r\n", "\n"))
    wrapped = now["mcp_servers"]["files"]
    assert [wrapped["command"], *wrapped["args"]] == [*GUARD, "npx", *before["mcp_servers"]["files"].get("args", [])]
    assert found.take_off() is Done.REMOVED
    assert found.path.read_bytes().decode().rstrip("\n") == text.rstrip("\n")
    assert tomllib.loads(found.path.read_bytes().decode().replace("\r\n", "\n")) == before


def test_a_server_whose_command_is_one_list_likewise(tmp_path: Path) -> None:
    text = '{ // mine\n  "mcp": {"files": {"type": "local", "command": ["npx", "-y", "files"], "enabled": true,}},\n}\n'
    found = entry(tmp_path, "opencode", text)
    found.put()
    assert read(found.path.read_text())["mcp"]["files"]["command"] == [*GUARD, "npx", "-y", "files"]
    found.take_off()
    assert found.path.read_text() == text


def test_what_else_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    found = entry(tmp_path, "claude-code", TEXTS["args"])
    found.put()
    changed = found.path.read_text().replace('"A": "1"', '"A": "2"').replace("{\n", '{\n  "new": 1,\n', 1)
    found.path.write_text(changed)
    found.take_off()
    assert found.path.read_text() == TEXTS["args"].replace('"A": "1"', '"A": "2"').replace("{\n", '{\n  "new": 1,\n', 1)


def test_a_file_that_another_program_has_written_anew_says_the_same_again(tmp_path: Path) -> None:
    found = entry(tmp_path, "claude-code", TEXTS["args"])
    before = read(TEXTS["args"])
    found.put()
    found.path.write_text(json.dumps(read(found.path.read_text()), indent=4))
    found.take_off()
    assert read(found.path.read_text()) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "b\\u001b": {}}}', "has no server files. It has a, "),
        ("{}", "It has none."),
        ('{"mcpServers": {"files": {"url": "https://x"}}}', "starts no command"),
        ('{"mcpServers": {"files": {"command": "/opt/sayso", "args": ["server"]}}}', "needs no guard"),
    ],
)
def test_what_cannot_be_guarded_is_said_and_left_alone(tmp_path: Path, text: str, words: str) -> None:
    found = entry(tmp_path, "claude-code", text)
    with pytest.raises(CannotEdit, match=words):
        found.put()
    assert found.path.read_text() == text


def test_claude_codes_servers_of_one_project_are_found_first(tmp_path: Path) -> None:
    machine = Machine(home=tmp_path, project=tmp_path / "shop", environ={})
    claude = BY_KEY["claude-code"]
    own, everywhere = entries_in(claude, Scope.USER, machine, GUARD, "files")
    assert own.steps == ("projects", str((tmp_path / "shop").resolve()), "mcpServers", "files")
    text = json.dumps({"projects": {own.steps[1]: {"mcpServers": {"files": {"command": "npx"}}}}})
    own.path.write_text(text)
    own.put()
    (found,) = guarded_in(claude, Scope.USER, machine)
    assert (found.steps, found.guard) == (own.steps, GUARD)
    found.take_off()
    assert own.path.read_text() == text
    with pytest.raises(CannotEdit):
        everywhere.put()


@pytest.mark.parametrize(
    ("argv", "count"),
    [
        ([*GUARD, "npx"], 5),
        (["env", "A=1", *GUARD, "npx", "x"], 7),
        ([*GUARD], 0),
        (["guard", "--name", "files", "--", "npx"], 0),
        (["coastguard", "guard", "--name", "files", "--", "npx"], 0),
    ],
)
def test_a_guard_is_known_by_all_of_its_words(argv: list[str], count: int) -> None:
    assert guard_words(argv) == count
