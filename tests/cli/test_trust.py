"""`sayso trust`, and what a cloned repository may do until then: nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import Home
from tests.cli.pseudo_terminal import Terminal
from tests.trusting import trust

from sayso.brought import Used, brought
from sayso.config import load

TOOL: dict[str, Any] = {
    "schema_version": 2,
    "name": "deploy",
    "description": "Deploys.",
    "command": "sh -c 'touch ran-tool'",
    "synchronous": True,
    "availability_check": {"command": "touch", "args": ["ran-check"]},
}
PROMPT = "[y/N]: "


@pytest.fixture
def clone(home: Home) -> Path:
    """A project as it comes from somewhere else, which tries everything."""
    write(home, ".sayso/tools/deploy.json", TOOL)
    write(home, ".sayso/config.toml", 'max_questions = 9\nstore = "postgresql://evil"\n')
    write(home, ".mcp.json", {"mcpServers": {"sayso": {"command": "./tools/sayso", "args": ["server"]}}})
    hook = {"type": "command", "command": "touch ran-hook"}
    write(home, ".claude/settings.json", {"hooks": {"SessionStart": [{"hooks": [hook]}]}})
    program = home.project / "tools" / "sayso"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {home.project}/ran-program\necho sayso 0.0.0\n")
    program.chmod(0o755)
    return home.project


def write(home: Home, name: str, content: object) -> Path:
    file = home.project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return file


def nothing_ran(project: Path) -> bool:
    return not list(project.glob("ran-*"))


def standings(home: Home) -> dict[str, str]:
    return {file["file"]: file["standing"] for file in home.run("trust", "--show", "--json").data["files"]}


def tools(home: Home) -> set[str]:
    return {tool["name"] for tool in home.run("tools", "list", "--json").data}


# Looking and agreeing


def test_what_a_project_brings_is_shown_whole_and_a_typed_y_trusts_it(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").write_text("max_questions = 9\n")
    with Terminal(home, "trust") as terminal:
        shown = terminal.expect(PROMPT)
        for words in (
            f"{clone} brings 4 files:",
            "deploy, to see whether it is there: touch ran-check",
            "deploy, without asking you: sh -c 'touch ran-tool'",
            "max_questions = 9",
            "mcpServers.sayso: ./tools/sayso server",
            "hooks.SessionStart.hooks: touch ran-hook",
            "Trust these 4 files as shown?",
        ):
            assert words in shown
        for line in json.dumps(TOOL, indent=1).splitlines():
            assert f"│ {line}" in shown
        terminal.type("y")
        terminal.expect("Trusted: 4 files, as they are now.")
        assert terminal.end() == 0
    assert set(standings(home).values()) == {"trusted"}
    assert "deploy" in tools(home)
    assert home.run("config", "--json").data["settings"]["max_questions"]["value"] == 9
    assert nothing_ran(clone)


def test_a_tool_file_that_is_broken_is_named_with_what_is_wrong_and_where(home: Home) -> None:
    write(home, ".sayso/tools/deploy.json", TOOL)
    write(home, ".sayso/tools/broken.json", '{\n "name": "broken",\n')
    shown = home.run("trust", "--show").out
    assert "`sayso tools validate .sayso/tools/broken.json` says all of it" in shown
    assert ".sayso/tools/broken.json:3: [json]" in shown
    assert shown.count("It is broken") == 1
    checked = home.run("tools", "validate")
    assert checked.code == 1, "what was just written by hand is what one wants to know about"
    assert ".sayso/tools/broken.json:3: [json] this is not valid JSON: " in checked.out
    assert "2 tool files, 1 of them wrong." in checked.err


@pytest.mark.parametrize("typed", ["", "n", "yy", "maybe"])
def test_anything_but_a_typed_y_trusts_nothing(home: Home, clone: Path, typed: str) -> None:
    with Terminal(home, "trust") as terminal:
        terminal.reply(PROMPT, typed)
        terminal.expect("Nothing was trusted.")
        assert terminal.end() == 1
    assert set(standings(home).values()) == {"not trusted"}


def test_a_file_that_is_swapped_between_what_was_shown_and_the_yes_is_not_trusted(home: Home, clone: Path) -> None:
    with Terminal(home, "trust") as terminal:
        terminal.expect(PROMPT)
        write(home, ".sayso/tools/deploy.json", {**TOOL, "command": "sh -c 'rm -rf ~'"})
        terminal.type("y")
        terminal.expect("has changed meanwhile: .sayso/tools/deploy.json. Nothing was trusted.")
        assert terminal.end() == 4
    assert set(standings(home).values()) == {"not trusted"}


def test_without_a_terminal_only_the_digest_of_what_was_shown_trusts(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    refused = home.run("trust", stdin="y\n")
    assert refused.code == 2
    assert "sayso trust --show --json" in refused.error
    shown = home.run("trust", "--show", "--json").data
    assert shown["project"] == str(clone)
    assert (
        next(file["text"] for file in shown["files"] if file["file"] == ".mcp.json")
        == (clone / ".mcp.json").read_text()
    )
    write(home, ".mcp.json", {"mcpServers": {"other": {"command": "other"}}})
    assert home.run("trust", "--digest", shown["digest"]).code == 4
    assert home.run("trust", "--digest", "0" * 64).code == 4
    assert set(standings(home).values()) == {"not trusted"}
    again = home.run("trust", "--show", "--json").data
    assert home.run("trust", "--digest", again["digest"]).code == 0
    assert set(standings(home).values()) == {"trusted"}


def test_the_digest_of_what_was_shown_is_also_one_of_the_names(home: Home, clone: Path) -> None:
    shown = home.run("trust", "--show", "--json").data
    (clone / ".claude" / "settings.json").rename(clone / ".claude" / "settings.local.json")
    assert home.run("trust", "--digest", shown["digest"]).code == 4
    assert set(standings(home).values()) == {"not trusted"}


def test_a_single_file_is_looked_at_and_trusted_alone(home: Home, clone: Path) -> None:
    with Terminal(home, "trust", ".sayso/tools/deploy.json") as terminal:
        shown = terminal.expect(PROMPT)
        assert "deploy, without asking you: sh -c 'touch ran-tool'" in shown
        assert "ran-hook" not in shown
        terminal.type("y")
        terminal.expect("Trusted: 1 file, as it is now.")
        assert terminal.end() == 0
    others = dict.fromkeys((".sayso/config.toml", ".mcp.json", ".claude/settings.json"), "not trusted")
    assert standings(home) == {".sayso/tools/deploy.json": "trusted", **others}
    seen = home.run("trust", ".mcp.json", "--show", "--json").data
    assert [file["file"] for file in seen["files"]] == [".mcp.json"]
    assert home.run("trust", ".mcp.json", "--digest", seen["digest"]).code == 0
    assert standings(home) == {**others, ".sayso/tools/deploy.json": "trusted", ".mcp.json": "trusted"}
    assert home.run("trust", ".sayso/tools/deploy.json", "--revoke").code == 0
    assert standings(home) == {**others, ".sayso/tools/deploy.json": "not trusted", ".mcp.json": "trusted"}
    assert "is nothing that Sayso would use" in home.run("trust", "tools/sayso", "--show").error


def test_what_install_writes_into_a_project_needs_no_second_question(home: Home) -> None:
    assert home.run("install", "claude-code", "--project", "--hook").code == 0
    assert standings(home) == {".mcp.json": "trusted", ".claude/settings.json": "trusted"}


def test_what_lay_in_a_file_before_is_not_trusted_because_install_wrote_to_it(home: Home, clone: Path) -> None:
    ran = home.run("install", "claude-code", "--project", "--hook")
    assert ran.code == 0
    assert "sayso trust .mcp.json" in ran.err
    assert standings(home)[".mcp.json"] == standings(home)[".claude/settings.json"] == "not trusted"


def test_an_agent_cannot_trust_and_what_it_has_written_is_not_trusted(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    digest = home.run("trust", "--show", "--json").data["digest"]
    refused = home.run("trust", "--digest", digest, CLAUDECODE="1")
    assert refused.code == 5
    assert "an agent may not trust a project's files" in refused.error
    written = home.run("tools", "init", "git", CLAUDECODE="1")
    assert "not used until a person trusts them" in written.err
    assert set(standings(home).values()) == {"not trusted"}
    assert tools(home) == set()


def test_trust_can_be_taken_from_what_was_deleted_and_what_never_was_is_an_error(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    home.trust()
    (clone / ".mcp.json").unlink()
    assert home.run("trust", ".mcp.json", "--revoke").code == 0
    assert ".mcp.json" not in home.run("trust", "--list", "--json").data[0]["files"]
    gone = home.folder / "gone"
    (gone / ".sayso" / "tools").mkdir(parents=True)
    (gone / ".sayso" / "tools" / "deploy.json").write_text(json.dumps(TOOL))
    trust(home.state, gone)
    shutil.rmtree(gone)
    assert str(gone) in home.run("trust", "--list").out
    assert home.run("trust", str(gone), "--revoke").code == 0
    assert [each["project"] for each in home.run("trust", "--list", "--json").data] == [str(clone)]
    for words in ([], ["--show"], ["--revoke"]):
        ran = home.run("trust", str(gone), *words)
        assert (ran.code, ran.out) == (2, "")
        assert f"DIR|FILE: there is no file or folder {gone}. `sayso trust --list` shows what you trust." in ran.error


def test_trust_ends_for_a_file_when_it_changes_and_for_all_when_it_is_revoked(home: Home, clone: Path) -> None:
    write(home, ".sayso/config.toml", "max_questions = 9\n")
    home.trust()
    write(home, ".sayso/config.toml", "max_questions = 8\n")
    assert standings(home) == {
        ".sayso/tools/deploy.json": "trusted",
        ".sayso/config.toml": "changed since you trusted it",
        ".mcp.json": "trusted",
        ".claude/settings.json": "trusted",
    }
    config = home.run("config", "--json").data
    assert config["settings"]["max_questions"]["from"] == "default"
    assert config["files"]["project settings"]["used"] is False
    assert "not used: sayso trust" in home.run("config").out
    listed = home.run("trust", "--list").out
    assert "changed since you trusted it" in listed
    assert str(clone) in listed
    (clone / ".mcp.json").unlink()
    kept = {file["file"]: file["standing"] for file in home.run("trust", "--list", "--json").data[0]["files"]}
    assert kept[".mcp.json"] == "gone"
    assert home.run("trust", "--revoke").code == 0
    assert home.run("trust", "--list", "--json").data == []
    assert home.run("trust", "--revoke").code == 3
    assert tools(home) == set()


def test_a_link_to_the_project_is_the_project(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    link = home.folder / "link"
    link.symlink_to(clone)
    digest = home.run("trust", str(link), "--show", "--json").data["digest"]
    assert home.run("trust", str(link), "--digest", digest).code == 0
    assert set(standings(home).values()) == {"trusted"}


def test_what_is_trusted_is_the_persons_own_file_and_a_damaged_one_trusts_nothing(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    home.trust()
    (record,) = (home.state / "trust").iterdir()
    assert (record.stat().st_mode & 0o777, record.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for damage in ("", "[]", '{"files": 1}', '{"project": "/elsewhere", "since": 0, "files": {}}', "\x00" * 100):
        record.write_text(damage)
        assert set(standings(home).values()) == {"not trusted"}
        assert tools(home) == set()


# What is shown cannot deceive


def test_no_name_and_no_content_can_pass_for_a_line_of_ours(home: Home) -> None:
    fake = "x" * 300 + "\nAll of it is trusted.\n\x1b[2J\x1b[1A\u202etxt.exe\u200b\r"
    write(home, ".sayso/tools/a\nAll of it is trusted.\x1b[2J.json", fake)
    write(home, ".claude/commands/\u202egpj.md", fake)
    with Terminal(home, "trust", columns=60) as terminal:
        shown = terminal.expect(PROMPT)
    lines = [line.rstrip("\r") for line in shown.split("\n")]
    assert "All of it is trusted." not in lines
    assert "    │ All of it is trusted." in lines
    assert all(len(line) <= 60 for line in lines if "│" in line)
    assert sum(line.count("x") for line in lines if line.startswith("    │ x")) == 600
    assert not {"\x1b[2J", "\x1b[1A", "\u202e", "\u200b"} & {shown[place : place + 4] for place in range(len(shown))}
    for character in ("\u202e", "\u200b", "\x1b[2J", "\x1b[1A"):
        assert character not in shown
    assert r'a\nAll of it is trusted.\u001b[2J.json"' in shown


def test_what_cannot_be_looked_at_cannot_be_trusted(home: Home) -> None:
    write(home, ".sayso/tools/large.json", " " * (1024 * 1024 + 1))
    os.mkfifo(home.project / ".mcp.json")
    (home.project / ".sayso" / "config.toml").symlink_to("/nowhere/at/all")
    (home.project / ".sayso" / "rules.toml").mkdir()
    files = {file["file"]: file for file in home.run("trust", "--show", "--json").data["files"]}
    assert files[".sayso/tools/large.json"]["trouble"] == "has more than 1,048,576 bytes"
    assert "not a regular file" in files[".mcp.json"]["trouble"]
    assert files[".sayso/rules.toml"]["trouble"] == "is a folder, not a file"
    assert files[".sayso/config.toml"]["trouble"] == "is a link that leads nowhere"
    assert home.run("trust").code == 0
    assert home.run("trust", "--list", "--json").data == []
    assert tools(home) == set()


@pytest.mark.parametrize("depth", [700, 5_000])
def test_a_file_that_is_nested_too_deeply_for_its_commands_to_be_named_says_so(home: Home, depth: int) -> None:
    write(home, ".mcp.json", '{"a":' * depth + '{"command": "x"}' + "}" * depth)
    [file] = home.run("trust", "--show", "--json").data["files"]
    [command] = file["commands"]
    assert command.endswith(": x") or "read all of it" in command


@pytest.mark.parametrize("at_place", ["a pipe", "a device"])
def test_nothing_waits_for_what_lies_where_a_file_of_a_client_should_be(home: Home, at_place: str) -> None:
    for name in (".mcp.json", ".claude/settings.local.json", ".claude/settings.json"):
        file = home.project / name
        file.parent.mkdir(exist_ok=True)
        if at_place == "a pipe":
            os.mkfifo(file)
        else:
            file.symlink_to("/dev/zero")
    for words in (("install", "claude-code", "--project"), ("uninstall", "claude-code", "--project")):
        assert home.run(*words).code == 1
    added = home.run("project", "add", ".")
    assert (added.code, "left alone" in added.err) == (1, True), added
    assert str(home.project) in home.run("doctor").out


def test_only_the_checkouts_that_claude_code_keeps_are_left_out(home: Home) -> None:
    brought = [".claude/skills/worktrees/SKILL.md", ".claude/commands/worktrees/go.md", ".codex/worktrees/config.toml"]
    for name in [*brought, ".claude/worktrees/other/.claude/settings.json"]:
        write(home, name, "anything")
    assert sorted(standings(home)) == sorted(brought)


def test_of_a_folder_with_too_many_files_the_rest_cannot_be_trusted(home: Home) -> None:
    (home.project / ".codex").mkdir()
    for number in range(501):
        (home.project / ".codex" / str(number)).touch()
    shown = home.run("trust", "--show", "--json").data
    assert home.run("trust", "--digest", shown["digest"]).code == 0
    told = {file["file"]: file["trouble"] for file in shown["files"] if file["trouble"]}
    left = [name for name, standing in standings(home).items() if standing != "trusted"]
    assert (told, left) == ({".codex": "has more than 500 files"}, [".codex"])


def test_a_folder_in_the_place_of_a_file_is_told_as_one_however_many_files_there_are(home: Home) -> None:
    for folder in (".sayso/tools/d.json", ".mcp.json", ".codex"):
        (home.project / folder).mkdir(parents=True)
    for number in range(501):
        (home.project / ".codex" / str(number)).touch()
    told = {file["file"]: file["trouble"] for file in home.run("trust", "--show", "--json").data["files"]}
    folder = "is a folder, not a file"
    assert {name: trouble for name, trouble in told.items() if trouble} == {
        ".sayso/tools/d.json": folder,
        ".mcp.json": folder,
        ".codex": "has more than 500 files",
    }
    assert "It is a folder, not a file, so it is not used." in home.run("trust", "--show").out


def test_as_many_files_as_there_may_be_are_not_too_many(home: Home) -> None:
    (home.project / ".codex").mkdir()
    for number in range(500):
        (home.project / ".codex" / str(number)).touch()
    files = home.run("trust", "--show", "--json").data["files"]
    assert (len(files), {file["trouble"] for file in files}) == (500, {None})


def test_who_reads_what_claude_code_does_is_kept_from_it_too(home: Home) -> None:
    write(home, ".mcp.json", {"mcpServers": {"x": {"command": "x"}}})
    found = brought(load(environ=home.env, cwd=home.project), home.project)
    kept = {used for used in Used if found.kept_from(used)}
    assert kept == {Used.CLAUDE, Used.OPENCODE, Used.COPILOT, Used.QWEN, Used.ANY_AGENT}


def test_a_folder_that_cannot_be_listed_counts_as_brought(home: Home) -> None:
    deep = home.project / ".claude"
    deep.mkdir()
    opened = os.open(deep, os.O_RDONLY)
    for _ in range(20):  # so deep that its whole name is too long for the system, for root as well
        os.mkdir("d" * 250, dir_fd=opened)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened = inner
    os.close(opened)
    files = home.run("trust", "--show", "--json").data["files"]
    assert [file["trouble"] for file in files] == ["cannot be read: File name too long"]
    assert home.run("trust").code == 0
    assert home.run("trust", "--list", "--json").data == []


# On all paths


@pytest.mark.finding("F-17", "F-20")
def test_nothing_of_an_untrusted_project_runs_and_the_person_is_told_where_they_look(home: Home, clone: Path) -> None:
    listed = home.run("tools", "list")
    assert "deploy" not in listed.out
    assert "1 tool file of this project is not used" in listed.err
    assert "sayso trust" in listed.err
    run = home.run("tools", "run", "deploy")
    assert run.code == 3
    assert "sayso trust" in run.err
    assert home.run("tools", "validate").code == 0
    assert home.run("list").code == 0, "settings that a project may not have do no harm until they are trusted"
    told = home.run("doctor").out
    for name in (".sayso/tools/deploy.json", ".sayso/config.toml", ".mcp.json", ".claude/settings.json"):
        assert f"{name} (" in told
    assert "is not used: not trusted." in told
    assert nothing_ran(clone)


@pytest.mark.finding("F-21")
def test_the_doctor_runs_nothing_that_a_project_names(home: Home, clone: Path) -> None:
    (home.folder / ".claude").mkdir()
    write(home, ".sayso/config.toml", "")
    for words in (("doctor",), ("doctor", "--client", "claude-code")):
        for trusted in (False, True):
            if trusted:
                home.trust()
            told = home.run(*words).out
            assert "nothing is run that a project names" in told, told
            assert nothing_ran(clone)
    assert "this Sayso is, in its place" in told
    assert "answered, and the agent received it" in told


@pytest.mark.finding("F-21")
def test_the_doctor_runs_no_program_that_lies_in_the_project_whoever_names_it(home: Home, clone: Path) -> None:
    entry = {"command": str(clone / "tools" / "sayso"), "args": ["server"]}
    (home.folder / ".claude.json").write_text(json.dumps({"mcpServers": {"sayso": entry}}))
    (clone / ".mcp.json").unlink()
    assert "nothing is run that a project names" in home.run("doctor").out
    assert nothing_ran(clone)


@pytest.mark.finding("F-23")
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("CLAUDE.md", ("install", "claude-code", "--project", "--skill")),
        (".mcp.json", ("install", "claude-code", "--project")),
        (".mcp.json", ("uninstall", "claude-code", "--project")),
        (".claude", ("install", "claude-code", "--project", "--hook")),
        (".sayso", ("tools", "init", "git")),
        (".claude/settings.local.json", ("project", "add", ".")),
    ],
)
def test_nothing_is_written_through_a_link_out_of_the_project(home: Home, link: str, words: tuple[str, ...]) -> None:
    outside = home.folder / "outside"
    outside.mkdir()
    file = outside / "settings.json"
    file.write_text('{"mcpServers": {"sayso": {"command": "x"}}}')
    place = home.project / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside if link in (".claude", ".sayso") else file)
    ran = home.run(*words)
    assert ran.code == 1
    assert f"{home.project}/{link}" in ran.err
    assert "leads out of the project by a link" in ran.err
    assert file.read_text() == '{"mcpServers": {"sayso": {"command": "x"}}}'
    assert sorted(each.name for each in outside.iterdir()) == ["settings.json"]
    assert not list(home.project.rglob("*.before-sayso"))


def test_a_project_that_brings_something_is_told_of_when_agents_may_run_there(home: Home, clone: Path) -> None:
    (clone / ".sayso" / "config.toml").unlink()
    told = home.run("project", "add", ".")
    assert told.code == 0
    assert "It brings 3 files that you have not trusted" in told.err
    assert f"sayso trust {clone}" in told.err


def test_what_is_trusted_and_cannot_be_read_is_not_told_as_nothing(home: Home) -> None:
    write(home, ".sayso/tools/deploy.json", TOOL)
    digest = home.run("trust", "--show", "--json").data["digest"]
    assert home.run("trust", "--digest", digest).code == 0
    (note,) = (home.state / "trust").iterdir()
    for hidden in (note, note.parent):  # no mode keeps root from reading one
        hidden.rename(home.folder / "kept")
        hidden.symlink_to(hidden.name)
        for words in (("--list",), ("--show",), ("--revoke",), ("--list", "--json"), ("--digest", digest)):
            ran = home.run("trust", *words)
            assert (ran.code, ran.out) == (1, "")
            assert str(hidden) in ran.error
        assert tools(home) == set(), "doubt is a no"
        hidden.unlink()
        (home.folder / "kept").rename(hidden)
    assert set(standings(home).values()) == {"trusted"}
