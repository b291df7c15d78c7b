"""`sayso install` and `sayso uninstall` as people run them, in a home of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.program import BIN, Home
from tests.cli.pseudo_terminal import Terminal

from sayso.asks.model import State
from sayso.cli.ask import EXIT_CODES
from sayso.cli.connecting import words_for
from sayso.config import Config
from sayso.dialects.dialect import ASK_TOOLS
from sayso.dialects.profiles import profile
from sayso.install.skill import paragraph, skill


@pytest.fixture
def cursor(home: Home) -> Path:
    """The file of a client that is used here."""
    folder = home.folder / ".cursor"
    folder.mkdir()
    return folder / "mcp.json"


def files(home: Home) -> set[str]:
    found = {str(path.relative_to(home.folder)) for path in home.folder.rglob("*") if path.is_file()}
    return {path for path in found if not path.startswith("state/")}


def test_the_clients_that_are_found_are_connected_and_disconnected_again(home: Home, cursor: Path) -> None:
    (home.folder / ".codex").mkdir()
    ran = home.run("install")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Codex: added in ~/.codex/config.toml\nCursor: added in ~/.cursor/mcp.json\n")
    assert "ask me with sayso" in ran.err
    entry = json.loads(cursor.read_text())["mcpServers"]["sayso"]
    assert (entry["command"], entry["args"]) == (str(BIN / "sayso"), ["server"])
    assert entry["env"] == {"SAYSO_STATE_DIR": str(home.state)}
    assert home.run("install").out.count("already there") == 3
    gone = home.run("uninstall")
    words = "removed, and ~/{} is as it was before"
    assert gone.out == "".join(
        f"{name}: {words.format(file)}\n"
        for name, file in (("Codex", ".codex/config.toml"), ("Cursor", ".cursor/mcp.json"))
    )
    assert gone.err == f"\nWhat you were asked and have set is kept:\n  {home.state}\n"
    assert files(home) == set()
    assert "nothing to take back" in home.run("uninstall").err


def test_a_dry_run_shows_the_difference_and_changes_nothing(home: Home, cursor: Path) -> None:
    cursor.write_text('{\n  "mcpServers": {}\n}\n')
    ran = home.run("install", "cursor", "--skill", "--dry-run")
    assert ran.code == 0
    assert '-  "mcpServers": {}\n' in ran.out
    assert '+    "sayso": {\n' in ran.out
    assert "SKILL.md" in ran.out
    assert "Nothing was changed." in ran.err
    assert files(home) == {".cursor/mcp.json"}
    assert cursor.read_text() == '{\n  "mcpServers": {}\n}\n'


def test_what_to_paste_is_printed_and_nothing_is_changed(home: Home) -> None:
    ran = home.run("install", "cursor", "codex", "goose", "--skill", "--print")
    assert ran.code == 0
    assert "Cursor in ~/.cursor/mcp.json:" in ran.out
    assert "[mcp_servers.sayso]" in ran.out
    assert "extensions:\n  sayso:" in ran.out
    assert skill(EXIT_CODES).strip() in ran.out
    assert paragraph().strip() in ran.out
    assert files(home) == set()


def test_a_projects_entry_names_the_program_as_everybody_has_it(home: Home) -> None:
    ran = home.run("install", "claude-code", "--project", "--hook")
    assert ran.code == 0, ran.err
    entry = json.loads((home.project / ".mcp.json").read_text())["mcpServers"]["sayso"]
    assert entry == {"type": "stdio", "alwaysLoad": True, "command": "sayso", "args": ["server"]}
    assert '"command": "sayso hook"' in (home.project / ".claude" / "settings.json").read_text()
    assert home.run("uninstall", "--project").code == 0
    assert files(home) == set()


def test_the_hooks_of_a_person_look_into_the_store_that_they_were_installed_for(home: Home) -> None:
    ran = home.run("install", "claude-code", "--hook", "--approvals")
    assert ran.code == 0, ran.err
    hooks = json.loads((home.folder / SETTINGS).read_text())["hooks"]
    commands = [hook["command"] for items in hooks.values() for item in items for hook in item["hooks"]]
    assert {command.split()[-1] for command in commands} == {"hook", "claude-code"}
    assert all(f"env SAYSO_STATE_DIR={home.state} " in command for command in commands)
    assert home.run("uninstall", "claude-code").code == 0
    assert not (home.folder / SETTINGS).exists()


def test_one_broken_file_keeps_no_other_client_from_being_connected(home: Home, cursor: Path) -> None:
    cursor.write_text("{")
    (home.folder / ".codex").mkdir()
    ran = home.run("install")
    assert ran.code == 1
    assert f"{cursor}: is not valid JSON" in ran.err
    assert "left as it is" in ran.err
    assert "Codex: added" in ran.out
    assert cursor.read_text() == "{"
    (home.folder / ".claude.json").write_text("{")
    ran = home.run("install", "claude-code", "--hook", "--foreground", "--approvals")
    assert ran.code == 1
    assert not (home.folder / SETTINGS).exists(), "no permission, hook or prompt for a client that is not connected"
    assert "Restart the agent" not in ran.err


@pytest.mark.parametrize(
    ("client", "file", "text", "words"),
    [
        (
            "claude-code",
            ".claude.json",
            '{"mcpServers": {"mine": {"command": "true"},}}',
            "Remove the comma after the last",
        ),
        (
            "claude-code",
            ".claude.json",
            '{ // mine\n"mcpServers": {}}',
            "JSON has no comments. Remove it: line 1",
        ),
        ("gemini", ".gemini/settings.json", '{ // mine\n"mcpServers": {},}', "Remove the comma after the last"),
        ("qwen", ".qwen/settings.json", '{ // mine\n"mcpServers": {},}', "Remove the comma after the last"),
    ],
)
def test_a_file_that_its_client_would_drop_whole_is_left_alone_and_told(
    home: Home, client: str, file: str, text: str, words: str
) -> None:
    path = home.folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    ran = home.run("install", client)
    assert (ran.code, path.read_text()) == (1, text)
    assert f"{path}: is not valid JSON: {words}" in ran.err
    assert files(home) == {file}
    checked = home.run("doctor")
    assert checked.code == 2
    assert f"{path}: is not valid JSON" in checked.out


def test_settings_of_claude_code_that_it_would_drop_whole_take_no_permission(home: Home) -> None:
    path = home.folder / SETTINGS
    path.parent.mkdir()
    path.write_text('{"model": "x",}')
    ran = home.run("install", "claude-code")
    assert (ran.code, path.read_text()) == (1, '{"model": "x",}')
    assert f"{path}: is not valid JSON: Remove the comma after the last element: line 1 column 14" in ran.err
    checked = home.run("doctor")
    assert f"{path}: is not valid JSON" in checked.out


def test_comments_that_a_client_takes_stay_in_its_file(home: Home) -> None:
    path = home.folder / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{ // mine\n  "mcpServers": {}\n}\n')
    ran = home.run("install", "gemini")
    assert ran.code == 0, ran.err
    assert "// mine" in path.read_text()
    assert '"sayso"' in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 1, "No agent's client was found on this machine. Name one: sayso install claude-code."),
        (["cursr"], 2, "There is no client 'cursr'. Did you mean cursor?"),
        (["cursr", "--list"], 2, "There is no client 'cursr'. Did you mean cursor?"),
        (["cursor", "--hook"], 2, "--hook and --foreground are for Claude Code. Name claude-code too"),
        (["cursor", "--foreground"], 2, "--hook and --foreground are for Claude Code. Name claude-code too"),
        (["zed", "--skill"], 2, "None of these clients reads skills or instructions from a file."),
        (["windsurf", "--project"], 2, "Windsurf has no file of its own in projects. Leave --project out."),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(home: Home, arguments: list[str], code: int, words: str) -> None:
    ran = home.run("install", *arguments)
    assert ran.code == code
    assert words in ran.error


def test_the_hook_for_prompts_is_added_beside_others_and_taken_back_to_the_byte(home: Home) -> None:
    settings = home.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    other = '{"hooks": [{"type": "command", "command": "gate claude-code"}]}'
    mine = f'{{"hooks": {{\n "PermissionRequest": [{other}] }},\n "model": "opus"}}'
    settings.write_text(mine)
    assert home.run("install", "claude-code", "--no-allow").code == 0
    assert settings.read_text() == mine
    ran = home.run("install", "claude-code", "--no-allow", "--approvals", "--hook")
    assert "prompts in your inbox: added in" in ran.out
    # In a terminal the real one begins in a mode in which it runs commands without a prompt.
    assert "start it like this: claude --permission-mode default" in " ".join(ran.err.split())
    hooks = json.loads(settings.read_text())["hooks"]
    assert hooks["PermissionRequest"][0] == json.loads(other)
    assert hooks["PermissionRequest"][1]["hooks"] == [
        {
            "type": "command",
            "command": f"exec env SAYSO_STATE_DIR={home.state} {BIN / 'sayso'} gate claude-code",
            "timeout": 86_400,
        }
    ]
    notes = [hook for event in ("SessionStart", "SessionEnd") for hook in hooks[event][-1]["hooks"]]
    assert [(hook["async"], "gate claude-code" in hook["command"]) for hook in notes] == [(True, True)] * 2
    assert "already there" in home.run("install", "claude-code", "--no-allow", "--approvals").out
    assert home.run("uninstall", "claude-code").code == 0
    assert settings.read_text() == mine
    # What somebody has changed since keeps everything else.
    assert home.run("install", "claude-code", "--no-allow", "--approvals").code == 0
    settings.write_text(settings.read_text().replace("opus", "sonnet"))
    assert home.run("uninstall", "claude-code").code == 0
    assert json.loads(settings.read_text()) == json.loads(mine.replace("opus", "sonnet"))
    assert home.run("install", "claude-code", "--project", "--approvals").code == 2


@pytest.mark.parametrize(
    ("client", "file", "words"),
    [
        ("copilot", ".copilot/hooks/sayso-approvals.json", '"timeoutSec": 86400'),
        ("opencode", ".config/opencode/plugin/sayso.js", "permission"),
        # It reads such a number as milliseconds.
        ("qwen", ".qwen/settings.json", '"timeout": 86400000'),
    ],
)
def test_what_brings_a_clients_prompts_is_told_added_tried_and_taken_back_to_the_byte(
    home: Home, client: str, file: str, words: str
) -> None:
    folder = (home.folder / file).parent
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"theme": "dark"}')

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = files()
    assert home.run("install", client, "--approvals", "--dry-run").code == 0
    assert files() == before
    assert f"install {client} --approvals" in home.run("install", client).err
    assert "prompts in your inbox: added in" in home.run("install", client, "--approvals").out
    text = (home.folder / file).read_text()
    assert words in text
    assert str(BIN / "sayso") in text
    assert "already there" in home.run("install", client, "--approvals").out
    assert home.run("away").code == 0
    tried = home.run("doctor", "--client", client)
    assert "a prompt was in your inbox, and its denial came back" in tried.out
    assert home.run("uninstall", client).code == 0
    assert files() == before


def test_codexs_question_about_hooks_is_explained_before_it_comes_and_doctor_knows_the_answer(home: Home) -> None:
    folder = home.folder / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('model = "x"\n')
    ran = home.run("install", "codex", "--no-allow", "--approvals")
    assert "Hooks need review" in ran.err
    assert list(json.loads((folder / "hooks.json").read_text())["hooks"]) == ["SessionStart", "PermissionRequest"]
    assert "has not been told yet that it may run the hook" in home.run("doctor").out
    assert home.run("uninstall", "codex").code == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"config.toml": 'model = "x"\n'}
    trusted = f'[hooks.state."{folder}/hooks.json:permission_request:0:0"]\ntrusted_hash = "sha256:58a1"\n'
    (folder / "config.toml").write_text(trusted)
    assert home.run("install", "codex", "--no-allow", "--approvals").code == 0
    assert "what Codex asks in its terminal stands in your inbox too" in home.run("doctor").out


def test_that_opencode_asks_about_hardly_anything_is_said_before_somebody_believes_that_all_is_asked(
    home: Home,
) -> None:
    said = home.run("install", "opencode", "--approvals").err
    assert '"permission": {"*": "ask"}' in said
    assert '"permission"' not in home.run("install", "copilot", "--approvals").err


def test_every_client_is_listed_with_what_it_has_here(home: Home) -> None:
    assert home.run("install", "qwen", "--approvals").code == 0
    found = {client.pop("client"): client for client in home.run("install", "--list", "--json").data["clients"]}
    assert found["qwen"] == {"here": True, "program_found": False, "connected": True, "prompts": True}
    assert (found["gemini"]["connected"], found["gemini"]["prompts"]) == (False, None)
    (one,) = home.run("install", "qwen", "--list", "--json").data["clients"]
    assert one["client"] == "qwen"
    lines = home.run("install", "--list").out.splitlines()
    (qwen,) = (line for line in lines if line.startswith("qwen"))
    assert " ".join(qwen.split()) == "qwen entry written, program not found while you are away"


def test_an_entry_for_a_client_whose_program_is_not_there_is_told_as_that(home: Home) -> None:
    said = home.run("install", "claude-code", "--no-foreground")
    assert "Claude Code itself was not found on PATH (claude)" in said.out + said.err
    assert "the entry is written, but claude was not found on PATH." in home.run("doctor").out
    assert "not found on PATH" not in home.run("install", "cursor").err, "it can be an app"


def test_the_hook_and_the_skill_come_with_a_client_and_go_with_it(home: Home) -> None:
    settings = home.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = '{\n  "permissions": {"allow": ["Bash(ls)"]},\n  "hooks": {"PostToolUse": [{"hooks": []}]}\n}\n'
    settings.write_text(mine)
    notes = home.folder / ".claude" / "CLAUDE.md"
    notes.write_text("# Mine\n")
    ran = home.run("install", "claude-code", "--hook", "--skill")
    assert ran.code == 0, ran.err
    hooks = json.loads(settings.read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PostToolUse"}
    assert hooks["PostToolUse"][1]["hooks"][0]["command"].endswith(f"{BIN / 'sayso'} hook")
    assert (home.folder / ".claude" / "skills" / "sayso" / "SKILL.md").read_text() == skill(EXIT_CODES)
    assert notes.read_text().startswith("# Mine\n\n<!-- sayso -->\n## Asking me")
    assert home.run("install", "claude-code", "--hook", "--skill").out.count("already there") == 5
    settings.write_text(settings.read_text().replace("Bash(ls)", "Bash(pwd)"))
    notes.write_text(notes.read_text() + "More.\n")
    assert home.run("uninstall").code == 0
    assert settings.read_text() == mine.replace("Bash(ls)", "Bash(pwd)")
    assert notes.read_text() == "# Mine\nMore.\n"
    assert {name for name in files(home) if "before-sayso" not in name} == {
        ".claude/settings.json",
        ".claude/CLAUDE.md",
    }


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("/home/ada/.cache/uv/archive-v0/x1/bin/sayso", ["uvx", "sayso"]),
        (r"C:\Users\Ada\AppData\Local\uv\cache\archive-v0\x1\Scripts\sayso.exe", ["uvx", "sayso"]),
        ("/home/ada/.cache/pipx/5ffe11/bin/sayso", ["pipx", "run", "sayso"]),
        ("/home/ada/.local/pipx/.cache/5ffe11/bin/sayso", ["pipx", "run", "sayso"]),
        (str(BIN / "sayso"), [str(BIN / "sayso")]),
    ],
)
def test_a_program_that_is_there_for_a_while_only_is_started_as_it_was(program: str, words: list[str]) -> None:
    found = words_for(Path(program))
    assert [Path(found[0]).name if len(found) > 1 else found[0], *found[1:]] == words


def test_in_a_terminal_the_clients_and_the_hook_are_offered(home: Home) -> None:
    (home.folder / ".claude").mkdir()
    with Terminal(home, "install") as terminal:
        terminal.reply("Connect Sayso to each of them? [Y/n]", "y")
        terminal.reply("Add the setting? [Y/n]", "n")
        terminal.reply("Add the hook? [Y/n]", "n")
        terminal.reply("Bring these prompts into your inbox? [Y/n]", "n")
        assert terminal.end() == 0
    assert files(home) == {".claude.json", ".claude/settings.json"}


SETTINGS = Path(".claude") / "settings.json"


@pytest.mark.finding("F-80")
def test_the_tools_that_ask_are_allowed_at_install_and_no_more_after_uninstall(home: Home) -> None:
    ran = home.run("install", "claude-code", "codex", "gemini", "qwen", "copilot")
    assert ran.code == 0, ran.err
    assert ran.out.count("permission to ask you: added in ~/") == 5
    assert "Allowed without a prompt of the client: ask_user, " in ran.err
    assert "run no command" in ran.err
    allowed = json.loads((home.folder / SETTINGS).read_text())["permissions"]["allow"]
    assert "mcp__sayso__ask_user" in allowed
    assert {rule.rpartition("__")[2] for rule in allowed} == set(ASK_TOOLS)
    gone = home.run("uninstall")
    assert gone.code == 0, gone.err
    assert files(home) == set()
    assert "No agent's client was found" in home.run("install").err, "an empty folder looks like a client"


@pytest.mark.finding("F-80")
def test_leave_to_ask_can_be_left_out(home: Home) -> None:
    ran = home.run("install", "claude-code", "--no-allow", "--no-foreground", "--no-hook")
    assert ran.code == 0, ran.err
    assert "Allowed" not in ran.err
    assert files(home) == {".claude.json"}


@pytest.mark.finding("F-80")
def test_a_project_that_cannot_give_leave_says_so(home: Home) -> None:
    ran = home.run("install", "gemini", "--project")
    assert ran.code == 0, ran.err
    assert "Gemini CLI takes no such permission from a project." in ran.err
    assert "sayso install gemini" in ran.err


@pytest.mark.finding("F-83")
def test_calls_stay_in_the_foreground_where_a_person_wants_that(home: Home) -> None:
    (home.folder / ".claude").mkdir()
    with Terminal(home, "install", "claude-code") as terminal:
        terminal.reply("not only for Sayso", "")
        terminal.reply("Add the hook? [Y/n]", "n")
        terminal.reply("Bring these prompts into your inbox? [Y/n]", "n")
        assert terminal.end() == 0
    env = json.loads((home.folder / SETTINGS).read_text())["env"]
    assert env == {"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0"}
    assert home.run("uninstall").code == 0
    assert files(home) == set()


@pytest.mark.finding("F-83")
def test_the_setting_goes_with_uninstall_although_the_file_was_changed_since(home: Home) -> None:
    settings = home.folder / SETTINGS
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus"\n}\n')
    assert home.run("install", "claude-code", "--foreground", "--hook").code == 0
    settings.write_text(settings.read_text().replace("opus", "sonnet"))
    assert home.run("uninstall").code == 0
    assert settings.read_text() == '{\n  "model": "sonnet"\n}\n'


@pytest.mark.finding("F-83")
@pytest.mark.parametrize("value", ["0", "300000"])
def test_a_setting_that_is_a_persons_own_is_neither_changed_nor_taken_away(home: Home, value: str) -> None:
    settings = home.folder / SETTINGS
    settings.parent.mkdir()
    mine = json.dumps({"env": {"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": value}, "model": "opus"})
    settings.write_text(mine)
    assert home.run("install", "claude-code", "--foreground").code == 0
    assert json.loads(settings.read_text())["env"] == {"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": value}
    settings.write_text(settings.read_text().replace("opus", "sonnet"))
    assert home.run("uninstall").code == 0
    assert json.loads(settings.read_text()) == {**json.loads(mine), "model": "sonnet"}


@pytest.mark.finding("F-91")
def test_a_lean_entry_starts_a_server_with_two_tools(home: Home) -> None:
    assert home.run("install", "claude-code", "--lean").code == 0
    entry = json.loads((home.folder / ".claude.json").read_text())["mcpServers"]["sayso"]
    assert entry["args"] == ["server", "--lean"]
    allowed = json.loads((home.folder / SETTINGS).read_text())["permissions"]["allow"]
    assert allowed == ["mcp__sayso__ask_user", "mcp__sayso__get_answers"]


@pytest.mark.requirement("N-57")
def test_the_skill_says_of_every_tool_and_outcome_what_their_definitions_say() -> None:
    text = skill(EXIT_CODES)
    for tool in profile(Config()).for_models:
        assert f"### `{tool.name}`" in text
        assert tool.description in text
    for state, code in EXIT_CODES.items():
        assert f"| {code} | {state} | " in text
    assert text.startswith("---\nname: sayso\ndescription: ")
    assert "never a yes" in text
    for name in ("ask_user", "ask_user_questions", "get_answers"):
        assert f"`{name}`" in paragraph()
    assert State.REJECTED in EXIT_CODES


def test_a_server_that_a_client_has_is_put_behind_a_gate_and_off_it_to_the_byte(home: Home, cursor: Path) -> None:
    text = '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}}}\n'
    cursor.write_text(text)
    home.run("install", "cursor")
    with_sayso = cursor.read_text()
    shown = home.run("install", "cursor", "--guard", "files", "--dry-run")
    assert "Nothing was changed." in shown.err
    assert cursor.read_text() == with_sayso

    ran = home.run("install", "cursor", "--guard", "files")
    assert ran.out == "Cursor: files is behind a gate, in ~/.cursor/mcp.json\n"
    entry = json.loads(cursor.read_text())["mcpServers"]["files"]
    guard = [f"SAYSO_STATE_DIR={home.state}", str(BIN / "sayso"), "guard", "--name", "files", "--"]
    assert [entry["command"], *entry["args"]] == ["env", *guard, "npx", "-y", "files"]
    assert "already" in home.run("install", "cursor", "--guard", "files").out
    assert home.run("uninstall", "cursor", "--guard", "files").out.startswith("Cursor: files is off its gate")
    assert cursor.read_text() == with_sayso

    home.run("install", "cursor", "--guard", "files")
    assert "Cursor (user): files is behind a gate" in home.run("doctor").out
    gone = home.run("uninstall", "cursor")
    assert gone.out.startswith("Cursor: gate of files: removed in ~/.cursor/mcp.json\nCursor: removed, and ~/.cursor")
    assert cursor.read_text() == text


def test_a_server_that_is_not_there_cannot_be_guarded(home: Home, cursor: Path) -> None:
    cursor.write_text('{"mcpServers": {"files": {"command": "npx"}}}')
    ran = home.run("install", "cursor", "--guard", "mail")
    assert ran.code == 1
    assert "has no server mail. It has files." in ran.err
    assert home.run("install", "--guard", "mail").code == 2
    assert home.run("install", "cursor", "--guard", "a__b").code != 0
