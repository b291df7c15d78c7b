"""`sayso gate` for the clients that are not Claude Code: their words in, their words out, and who is asked where."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import BIN, SECONDS, SOMEONE, Home

from sayso.asks.model import Answer, Ask, State
from sayso.config import load
from sayso.errors import InvalidInput
from sayso.gates.client import GateClient, GateVerdict, OwnPrompt
from sayso.gates.copilot import Copilot
from sayso.gates.opencode import Opencode
from sayso.gates.qwen import Qwen
from sayso.permissions.desk import PermissionDesk
from sayso.presence import PresenceDesk

Json = dict[str, Any]
HELD = ("copilot", "qwen")
QUESTIONS: Json = {
    "questions": [
        {"question": "Which harbour?", "header": "Harbour", "options": [{"label": "North"}, {"label": "South"}]},
        {"question": "Which cargo?", "header": "Cargo", "options": [{"label": "Tea"}], "multiple": True},
    ]
}
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch\n"
MOVING = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: .env\n@@\n-a\n+b\n*** End Patch\n"
CLIENTS: Mapping[str, GateClient] = {"copilot": Copilot(), "opencode": Opencode(), "qwen": Qwen()}


def event(client: str, folder: Path, tool: str, given: Json) -> Json:
    """What each client hands over for the use of a tool, as it was seen of the real program."""
    match client:
        case "copilot":
            called = {"toolName": tool, "toolInput": given, "permissionSuggestions": []}
            return {"hookName": "permissionRequest", "sessionId": "s-1", "cwd": str(folder), **called}
        case "opencode":
            asked = {"id": "per_1", "sessionID": "s-1", "permission": tool, "patterns": [], "metadata": {}}
            use = {"tool": tool, "input": given}
            return {"type": "permission.asked", "properties": asked, "use": use, "directory": str(folder)}
    called = {"tool_name": tool, "tool_input": given}
    return {"hook_event_name": "PermissionRequest", "session_id": "s-1", "cwd": str(folder), **called}


def change(source: str, target: str) -> Json:
    """What Copilot CLI hands over for whatever changes a file."""
    file = source if target == "/dev/null" else target
    return {"file_path": file, "diff": f"\n{diff(source, target)}\n"}


def diff(source: str, target: str) -> str:
    made = (
        "create file mode 100644\nindex 0000000..0000000" if source == "/dev/null" else "index 0000000..0000000 100644"
    )
    return f"diff --git a{source} b{target}\n{made}\n--- a{source}\n+++ b{target}\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO"


SHELL = {"copilot": "bash", "opencode": "bash", "qwen": "run_shell_command"}


def shell(client: str, home: Home) -> Json:
    return event(client, home.project, SHELL[client], {"command": "make deploy"})


@dataclass(frozen=True, kw_only=True)
class Gate:
    home: Home
    process: subprocess.Popen[bytes]
    ask: Ask

    def told(self) -> Json:
        out, err = self.process.communicate(timeout=SECONDS)
        assert (self.process.returncode, err) == (0, b"")
        said: Json = json.loads(out) if out else {}
        return said


@contextmanager
def waiting(home: Home, client: str, asked: Json) -> Iterator[Gate]:
    """A gate whose prompt is in the inbox."""
    words = [str(BIN / "sayso"), "gate", client]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=home.project, env=home.env)
    assert process.stdin is not None
    process.stdin.write(json.dumps(asked).encode())
    process.stdin.close()
    process.stdin = None
    try:
        yield Gate(home=home, process=process, ask=home.wait_for_ask())
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


# Their words


@pytest.mark.parametrize(
    ("client", "tool", "given", "known_as", "known"),
    [
        ("copilot", "bash", {"command": "ls"}, "Bash", {"command": "ls"}),
        ("copilot", "edit", change("/p/a", "/p/a"), "Edit", {"file_path": "/p/a", "diff": diff("/p/a", "/p/a")}),
        (
            *("copilot", "edit", change("/dev/null", "/p/a")),
            *("Write", {"file_path": "/p/a", "diff": diff("/dev/null", "/p/a")}),
        ),
        (
            *("copilot", "edit", change("/p/a", "/dev/null")),
            *("Edit", {"file_path": "/p/a", "diff": diff("/p/a", "/dev/null")}),
        ),
        (
            *("copilot", "edit", change("/p/a", "/p/b")),
            *("apply_patch", {"changes": [{"path": "/p/a", "move_path": "/p/b"}], "diff": diff("/p/a", "/p/b")}),
        ),
        # Where it is not certain which files it means, none is named as the one.
        (
            *("copilot", "edit", {"file_path": "/p/a", "diff": diff("/p/b", "/p/c")}),
            *("apply_patch", {"path": "/p/a", "diff": diff("/p/b", "/p/c")}),
        ),
        (
            *("copilot", "edit", {"file_path": "/p/a", "diff": "+b"}),
            *("apply_patch", {"path": "/p/a", "diff": "+b"}),
        ),
        ("copilot", "github-create_issue", {"title": "x"}, "github-create_issue", {"title": "x"}),
        ("qwen", "run_shell_command", {"command": "ls", "directory": "/"}, "Bash", {"command": "ls", "directory": "/"}),
        (
            *("qwen", "run_shell_command", {"command": "ls", "is_background": True}),
            *("Bash", {"command": "ls", "run_in_background": True}),
        ),
        ("qwen", "write_file", {"file_path": "/a", "content": "b"}, "Write", {"file_path": "/a", "content": "b"}),
        ("qwen", "mcp__files__read", {"path": "a"}, "mcp__files__read", {"path": "a"}),
        (
            *("opencode", "edit", {"filePath": "/a", "oldString": "b", "newString": "c"}),
            *("Edit", {"file_path": "/a", "old_string": "b", "new_string": "c"}),
        ),
        # With two that would come to one name, nothing is renamed.
        (
            *("opencode", "write", {"filePath": "/a", "file_path": "/b", "content": "c"}),
            *("write", {"filePath": "/a", "file_path": "/b", "content": "c"}),
        ),
        ("opencode", "files_read", {"filePath": "/a"}, "files_read", {"filePath": "/a"}),
        ("opencode", "read", {"filePath": "/a"}, "Read", {"file_path": "/a"}),
        ("opencode", "list", {"path": "/p"}, "LS", {"path": "/p"}),
        (
            *("opencode", "multiedit", {"filePath": "/a", "edits": [{"oldString": "b", "newString": "c"}]}),
            *("MultiEdit", {"file_path": "/a", "edits": [{"old_string": "b", "new_string": "c"}]}),
        ),
        ("opencode", "apply_patch", {"patchText": PATCH}, "apply_patch", {"file_path": "a.txt", "patch": PATCH}),
        (
            *("opencode", "patch", {"patchText": MOVING}),
            *(
                "apply_patch",
                {"changes": [{"path": "a.txt", "change": "update"}, {"move_path": ".env"}], "patch": MOVING},
            ),
        ),
        ("qwen", "read_file", {"file_path": "/a"}, "Read", {"file_path": "/a"}),
        ("qwen", "read_file", {"absolute_path": "/a"}, "Read", {"file_path": "/a"}),
        ("qwen", "grep_search", {"pattern": "x", "path": "src"}, "Grep", {"pattern": "x", "path": "src"}),
        ("qwen", "list_directory", {"path": "/p"}, "LS", {"path": "/p"}),
        (
            "qwen",
            "notebook_edit",
            {"notebook_path": "/a", "new_source": "1"},
            "NotebookEdit",
            {"notebook_path": "/a", "new_source": "1"},
        ),
        ("copilot", "view", {"path": "/a", "view_range": [1, 2]}, "Read", {"file_path": "/a", "view_range": [1, 2]}),
        ("copilot", "create", {"path": "/a", "file_text": "b"}, "Write", {"file_path": "/a", "content": "b"}),
        (
            *("copilot", "edit", {"path": "/a", "old_str": "b", "new_str": "c"}),
            *("Edit", {"file_path": "/a", "old_string": "b", "new_string": "c"}),
        ),
        (
            "copilot",
            "str_replace_editor",
            {"command": "view", "path": "/a"},
            "Read",
            {"command": "view", "file_path": "/a"},
        ),
        (
            "copilot",
            "str_replace_editor",
            {"command": "create", "path": "/a"},
            "Edit",
            {"command": "create", "file_path": "/a"},
        ),
        ("copilot", "rg", {"pattern": "x", "path": "."}, "Grep", {"pattern": "x", "path": "."}),
        ("copilot", "apply_patch", {"input": PATCH}, "apply_patch", {"file_path": "a.txt", "patch": PATCH}),
    ],
)
def test_a_tool_that_does_what_one_of_claudes_does_is_known_by_its_name_with_its_whole_input(
    client: str, tool: str, given: Json, known_as: str, known: Json
) -> None:
    found = CLIENTS[client].read(event(client, Path("/p"), tool, given), {})
    assert (found.permission.tool, found.permission.given) == (known_as, known)
    assert (found.session, found.folder, found.takes_changes) == ("s-1", Path("/p"), False)


def test_a_patch_that_comes_as_a_bare_text_is_read_all_the_same() -> None:
    asked = event("copilot", Path("/p"), "apply_patch", {}) | {"toolInput": PATCH}
    assert Copilot().read(asked, {}).permission.given == {"file_path": "a.txt", "patch": PATCH}


@pytest.mark.parametrize("blank", ["\ufeff", "\u200b", "\xa0"])
def test_a_file_of_a_patch_after_a_letter_that_some_take_for_a_blank_is_not_certain(blank: str) -> None:
    patch = PATCH.replace("a.txt", f"{blank}.env")
    given = Opencode().read(event("opencode", Path("/p"), "patch", {"patchText": patch}), {}).permission.given
    assert "file_path" not in given
    assert given["changes"] == [{"path": ".env", "change": "update"}]


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_ends_a_line_for_some_hides_no_file_in_a_patch(end: str) -> None:
    patch = PATCH.replace("+b\n", f"+b{end}*** Delete File: infra/main.tf\n")
    asked = event("copilot", Path("/p"), "apply_patch", {"input": patch})
    given = CLIENTS["copilot"].read(asked, {}).permission.given
    assert [each["path"] for each in given["changes"]] == ["a.txt", "infra/main.tf"]
    crlf = event("copilot", Path("/p"), "apply_patch", {"input": PATCH.replace("+b\n", "+b\r\n")})
    assert CLIENTS["copilot"].read(crlf, {}).permission.given["file_path"] == "a.txt"


def test_what_opencode_asks_besides_is_shown_with_all_that_it_says_and_the_use_it_is_about() -> None:
    asked = event("opencode", Path("/p"), "bash", {"command": "ls /etc"})
    asked["properties"] |= {"permission": "external_directory", "patterns": ["/etc/*"]}
    found = Opencode().read(asked, {}).permission
    assert found.tool == "external_directory"
    assert found.given == {"patterns": ["/etc/*"], "use": {"tool": "bash", "input": {"command": "ls /etc"}}}


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("bash", {"command": "ls"}, {"command": "rm -r ."}),
        ("edit", {"filePath": "a.txt", "oldString": "b", "newString": "c"}, {"filepath": "/etc/a.txt"}),
        ("webfetch", {"url": "https://a.example"}, {"url": "https://b.example"}),
    ],
)
def test_what_opencode_tells_in_two_ways_is_shown_in_both(tool: str, given: Json, told: Json) -> None:
    asked = event("opencode", Path("/p"), tool, given)
    asked["properties"]["metadata"] = told
    found = Opencode().read(asked, {}).permission
    assert (found.tool, found.given) == (tool, {"metadata": told, "use": {"tool": tool, "input": given}})


def test_a_file_that_opencode_tells_by_its_whole_path_is_the_one_that_its_agent_names_from_its_folder() -> None:
    asked = event("opencode", Path("/p"), "edit", {"filePath": "src/../a.txt", "oldString": "b", "newString": "c"})
    asked["properties"]["metadata"] = {"filepath": "/p/a.txt", "diff": "-b"}
    assert Opencode().read(asked, {}).permission.tool == "Edit"


@pytest.mark.parametrize("client", CLIENTS)
def test_what_cannot_be_read_is_refused_and_never_asked_as_something_else(client: str) -> None:
    with pytest.raises(InvalidInput):
        CLIENTS[client].read(event(client, Path("/p"), "", {}), {})


@pytest.mark.parametrize(
    ("client", "tool"),
    [
        ("copilot", "sayso-ask_user"),
        ("opencode", "sayso_get_answers"),
        ("qwen", "mcp__sayso__ask_user"),
        ("qwen", "ask_user_question"),
        ("qwen", "exit_plan_mode"),
    ],
)
def test_a_gate_stands_back_for_our_own_tools_and_for_what_only_the_terminal_can_answer(client: str, tool: str) -> None:
    assert CLIENTS[client].stands_back(event(client, Path("/p"), tool, {}), {})
    assert not CLIENTS[client].stands_back(event(client, Path("/p"), SHELL[client], {}), {})
    assert CLIENTS[client].stands_back(event(client, Path("/p"), SHELL[client], {}), {"SAYSO_RUN": "a-run"})


@pytest.mark.parametrize("option", ["--deny-tool=shell(rm)", "--deny-tool", "--allow-all-tools", "--yolo"])
def test_what_a_person_has_decided_at_copilots_command_line_is_left_to_copilot(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = event("copilot", Path("/p"), "bash", {"command": "ls"})
    monkeypatch.setattr("sayso.gates.copilot.command_line", lambda _: ["copilot", "-p", "Go on."])
    assert not Copilot().stands_back(asked, {})
    assert Copilot().read(asked, {}).own_prompt is OwnPrompt.NEVER
    monkeypatch.setattr("sayso.gates.copilot.command_line", lambda _: ["copilot", option])
    assert Copilot().stands_back(asked, {})
    monkeypatch.setattr("sayso.gates.copilot.command_line", lambda _: ["a-runner", "-p", "plugin"])
    assert Copilot().read(asked, {}).own_prompt is OwnPrompt.AFTERWARDS


def test_a_question_of_opencode_that_nobody_wants_to_answer_is_rejected() -> None:
    asked = {"type": "question.asked", "properties": {"id": "que_1", "sessionID": "s-1", **QUESTIONS}}
    found = Opencode().read(asked, {})
    assert Opencode().told(GateVerdict(allowed=False, given={}), found) == {"to": "reject", "body": {}}


# Their prompts in the inbox


ALLOWED: Mapping[str, Json] = {
    "copilot": {"behavior": "allow"},
    "opencode": {"to": "reply", "body": {"reply": "once"}},
    "qwen": {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_allow_from_the_inbox_is_told_in_the_clients_words(home: Home, client: str) -> None:
    assert home.run("away").code == 0
    with waiting(home, client, shell(client, home)) as gate, home.desk() as desk:
        assert gate.ask.wanted is not None
        assert gate.ask.wanted["action"]["data"] == {"input": {"command": "make deploy"}}
        PermissionDesk(desk).allow(gate.ask.id, gate.ask.digest, SOMEONE)
        assert gate.told() == ALLOWED[client]
        assert desk.get(gate.ask.id).delivered


def rules(home: Home, text: str) -> None:
    file = home.folder / ".config" / "sayso" / "rules.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


FILE_TOOLS: list[tuple[str, str, Json]] = [
    ("copilot", "edit", change("{}", "{}")),
    ("copilot", "edit", change("/dev/null", "{}")),
    ("copilot", "create", {"path": "{}", "file_text": "x"}),
    ("copilot", "view", {"path": "{}"}),
    ("copilot", "str_replace_editor", {"command": "str_replace", "path": "{}", "old_str": "a", "new_str": "b"}),
    ("copilot", "apply_patch", {"input": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"}),
    ("copilot", "a_new_tool", {"targetFile": "{}"}),
    ("qwen", "read_file", {"file_path": "{}"}),
    ("qwen", "write_file", {"file_path": "{}", "content": "x"}),
    ("opencode", "read", {"filePath": "{}"}),
    ("opencode", "patch", {"patchText": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"}),
]


def naming(given: Json, path: Path) -> Json:
    return {key: value.replace("{}", str(path)) if isinstance(value, str) else value for key, value in given.items()}


@pytest.mark.parametrize(("client", "tool", "given"), FILE_TOOLS)
def test_a_rule_about_a_file_holds_for_the_file_tools_of_every_client(
    home: Home, client: str, tool: str, given: Json
) -> None:
    rules(home, '[[rule]]\ndeny = ["Read(.env)", "Edit(.env)"]\nbecause = "Secret."\n\n[[rule]]\nallow = ["*"]\n')
    asked = event(client, home.project, tool, naming(given, home.project / ".env"))
    assert "Secret." in home.run("gate", client, stdin=json.dumps(asked)).out
    other = event(client, home.project, tool, naming(given, home.project / "a.txt"))
    assert json.loads(home.run("gate", client, stdin=json.dumps(other)).out) == ALLOWED[client]


@pytest.mark.parametrize(
    ("client", "tool", "given"), [each for each in FILE_TOOLS if each[1] not in ("view", "read", "read_file")]
)
def test_no_rule_lets_a_clients_own_tool_change_what_others_run(
    home: Home, client: str, tool: str, given: Json
) -> None:
    rules(home, f'[[rule]]\nallow = ["*", "Edit(**)", "{tool}"]\n')
    assert home.run("away").code == 0
    hook = home.project / ".git" / "hooks" / "pre-commit"
    with waiting(home, client, event(client, home.project, tool, naming(given, hook))) as gate:
        assert "run by other programs" in str((gate.ask.wanted or {}).get("rules_say"))


@pytest.mark.parametrize("allowed", ["*", "Edit(src/**)"])
def test_what_copilot_moves_is_looked_at_where_it_was_and_where_it_comes_to(home: Home, allowed: str) -> None:
    rules(home, f'[[rule]]\ndeny = ["Edit(infra/**)"]\nbecause = "Ours."\n\n[[rule]]\nallow = ["{allowed}"]\n')
    assert home.run("away").code == 0
    for source, target in (("infra/main.tf", "src/a.tf"), ("src/a.tf", "infra/main.tf")):
        moved = event("copilot", home.project, "edit", change(*(str(home.project / each) for each in (source, target))))
        assert "Ours." in home.run("gate", "copilot", stdin=json.dumps(moved)).out
    asked = change(str(home.project / "AGENTS.md"), str(home.project / "src" / "a.txt"))
    with waiting(home, "copilot", event("copilot", home.project, "edit", asked)) as gate:
        assert gate.ask.title == "Allow apply_patch: AGENTS.md → src/a.txt?"


def test_what_opencode_says_that_a_patch_would_change_is_shown(home: Home) -> None:
    assert home.run("away").code == 0
    asked = event("opencode", home.project, "apply_patch", {"patchText": PATCH})
    asked["properties"]["metadata"] = {"filepath": "a.txt", "diff": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-gone\n+b\n"}
    with waiting(home, "opencode", asked) as gate:
        shown = home.run("show", gate.ask.id).out
    assert "-gone" in shown
    assert "Compared with" in shown


DEEP = {
    "700": "[" * 700 + "]" * 700,
    "5000": "[" * 5_000 + "]" * 5_000,
    "nan": "NaN",
    "huge": "1e999",
    "half": '"\\ud800"',
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("odd", DEEP)
def test_what_is_denied_is_denied_whatever_else_is_in_the_input(home: Home, client: str, odd: str) -> None:
    rules(home, '[[rule]]\ndeny = ["Bash(make *)", "Edit(.env)"]\nbecause = "Never."\n\n[[rule]]\nallow = ["*"]\n')
    asked = json.dumps(event(client, home.project, SHELL[client], {"command": "make deploy", "zz": "ODD"}))
    assert "Never." in home.run("gate", client, stdin=asked.replace('"ODD"', DEEP[odd])).out
    asked = json.dumps(event(client, home.project, "edit", {"filePath": ".env", "zz": "ODD"}))
    assert "Never." in home.run("gate", client, stdin=asked.replace('"ODD"', DEEP[odd])).out


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "loop/x", "locked"])
def test_a_name_that_can_be_no_files_ends_no_gate(home: Home, name: str) -> None:
    (home.project / "loop").symlink_to("loop")
    rules(home, '[[rule]]\ndeny = ["Edit"]\nbecause = "Never."\n')
    asked = event("qwen", home.project, "write_file", {"file_path": name, "content": "x"})
    assert "Never." in home.run("gate", "qwen", stdin=json.dumps(asked)).out


def test_an_agent_does_not_leave_the_rules_of_its_project_by_a_repository_of_its_own(home: Home) -> None:
    for folder in (home.project, home.project / "infra" / "sub"):
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (home.project / ".sayso").mkdir(exist_ok=True)
    (home.project / ".sayso" / "rules.toml").write_text('[[rule]]\ndeny = ["Edit(infra/**)"]\nbecause = "Ours."\n')
    rules(home, '[[rule]]\nallow = ["Edit(**)"]\n')
    asked = event("qwen", home.project / "infra" / "sub", "write_file", {"file_path": "main.tf", "content": "x"})
    assert "Ours." in home.run("gate", "qwen", stdin=json.dumps(asked)).out


def test_a_denial_reaches_opencode_with_its_words_so_that_its_agent_goes_on(home: Home) -> None:
    with waiting(home, "opencode", shell("opencode", home)) as gate, home.desk() as desk:
        PermissionDesk(desk).deny(gate.ask.id, SOMEONE, "use the other pier")
        said = "The user did not allow this. They said: use the other pier"
        assert gate.told() == {"to": "reply", "body": {"reply": "reject", "message": said}}


def test_questions_of_opencode_are_answered_in_their_order(home: Home) -> None:
    asked = {"type": "question.asked", "properties": {"id": "que_1", "sessionID": "s-1", **QUESTIONS}}
    with waiting(home, "opencode", {**asked, "directory": str(home.project)}) as gate, home.desk() as desk:
        answers = [Answer(question="1", chosen=("2",)), Answer(question="2", text="Salt")]
        desk.answer(gate.ask.id, answers, SOMEONE)
        assert gate.told() == {"to": "reply", "body": {"answers": [["South"], ["Salt"]]}}


@pytest.mark.parametrize(("number", "how"), [(signal.SIGUSR1, "allowed"), (signal.SIGTERM, "denied")])
def test_what_was_decided_in_the_terminal_of_opencode_leaves_the_inbox_which_says_how(
    home: Home, number: signal.Signals, how: str
) -> None:
    with waiting(home, "opencode", shell("opencode", home)) as gate:
        gate.process.send_signal(number)
        assert gate.told() == {}
        end = home.ask_of(gate.ask)
        assert end.outcome is not None
        assert end.outcome.reason == f"{how} in the terminal of opencode"


# Where a prompt is held back


@pytest.mark.parametrize("client", HELD)
def test_while_the_person_is_here_the_clients_own_prompt_comes_at_once(home: Home, client: str) -> None:
    assert home.run("back").code == 0
    ran = home.run("gate", client, stdin=json.dumps(shell(client, home)))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    with home.desk() as desk:
        assert desk.inbox() == []


@pytest.mark.parametrize("client", HELD)
def test_what_others_have_to_agree_to_is_not_left_to_whoever_is_here(home: Home, client: str) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\nask = ["Bash(make *)"]\napprovers = ["ben"]\n')
    assert home.run("back").code == 0
    with waiting(home, client, shell(client, home)) as gate:
        assert gate.ask.state is State.PENDING


def test_a_prompt_that_is_held_back_is_let_go_when_the_person_comes_back(home: Home) -> None:
    assert home.run("away").code == 0
    with waiting(home, "qwen", shell("qwen", home)) as gate, home.desk() as desk:
        # What its own client's family runs cannot speak for a person, and that is what this test is here.
        PresenceDesk(desk._store, away_after=600_000).come_back(load(environ=home.env, cwd=home.project).person, "test")
        assert gate.told() == {}
        assert home.ask_of(gate.ask).state is State.EXPIRED
