"""Rules about files and tools of which nothing is known but what they are given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sayso.config import load
from sayso.permissions.action import Action, ActionKind
from sayso.rules.book import Ruling
from sayso.rules.judge import RuleJudge

Json = dict[str, Any]
ALLOWING = '[[rule]]\nallow = ["*", "Edit(**)", "Read(**)"]\n'
DENYING = '[[rule]]\ndeny = ["Read(.env)", "Edit(infra/**)"]\n\n'
KEYS = (
    "files_to_read file_to_edit filesToStage path_in_repo path_a file_a file_list fileList pathList pathspec pathspecs "
    "directories src_directories allowedDirectories directories_to_scan repositories "
    "save_as saveAs out image images attachment document config template worktree repository href glob includes FILE_A"
)
PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch"


class Place:
    """A project, and rules of a person's."""

    def __init__(self, folder: Path, rules: str = DENYING + ALLOWING) -> None:
        self.project = folder / "shop"
        (self.project / ".git" / "hooks").mkdir(parents=True, exist_ok=True)
        (self.project / "infra").mkdir(exist_ok=True)
        self.config = load(environ={"HOME": str(folder), "SAYSO_CONFIG_DIR": ""}, cwd=self.project)
        file = self.config.user_rules
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(rules)

    def ruling(self, given: Any, tool: str = "mcp__files__do", **data: Any) -> Ruling:
        kind = ActionKind.MCP if tool.startswith("mcp__") else ActionKind.OTHER
        action = Action(kind=kind, tool=tool, folder=str(self.project), data={"input": given, **data})
        return RuleJudge(self.config).ruling(action.plain, str(self.project), "a-client")

    def effect(self, given: Any, tool: str = "mcp__files__do") -> str:
        return self.ruling(given, tool).effect


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Place(tmp_path.resolve())


@pytest.mark.parametrize(
    "given",
    [
        {"path": ".env"},
        {"path": "./src/../.env"},
        {"Path": ".ENV"},
        {"absolutePath": "{project}/.env"},
        {"absolute_path": " .env"},
        {"filePath": "\ufeff.env\n"},
        {"file": '".env"'},
        {"paths": ["a.txt", ".env"]},
        {"edits": [{"file_path": "a.txt"}, {"file_path": ".env"}]},
        {"use": {"tool": "read", "input": {"filePath": ".env"}}},
        {"uri": "file://{project}/.env"},
        {"uri": "file:///{project}/%2Eenv"},
        {"url": "FILE://localhost{project}/.env"},
        {"uri": "vscode://file{project}/.env"},
        {"target": "infra/main.tf"},
        {"source": "a.txt", "destination": "infra/main.tf"},
        {"from": "infra/main.tf", "to": "a.txt"},
        {"dir": "infra", "name": "main.tf"},
        {"path": "infra\\main.tf"},
        {"files": {"infra/main.tf": "x"}},
        {"arguments": '{"path": ".env"}'},
        {"arguments_json": '{"path": ".env"}'},
        {"toolArgs": '{"path": ".env"}'},
        {"inputJSON": '[{"path": ".env"}]'},
        {"directories": ["."], "names": [".env"]},
        {"patch": f"{' ' * 70}--- a/.env\n{' ' * 70}+++ b/.env\n"},
        {"patch": "- --- a/.env\n+++ /dev/null\n"},
        {"path": "@.env"},
        {"text": PATCH.format("infra/main.tf")},
        {"text": "--- a/infra/main.tf\n+++ b/infra/main.tf\n@@ -1 +1 @@\n-a\n+b\n"},
        {"text": "diff --git a/x b/x\nrename from x\nrename to infra/main.tf\n"},
        {"path": "~/shop/.env"},
        {"path": "$PWD/.env"},
        {"path": "/proc/self/cwd/.env"},
        {"path": ".env:10"},
        {"path": ".env#L3-L5"},
        {"path": ".env\0.txt"},
        {"path": "./" * 3_000 + ".env"},
        {"paths": "a.txt, .env"},
        {"paths": "a.txt\n.env"},
        {"dest": "infra"},
        {"path": "https://example.com/../../.env"},
        {"uri": "https://example.com/../../.env"},
        {"textDocument": {"uri": "file://{project}/.env"}},
        {"path": ".env", "padding": "\ud800"},
        {"path": "a\ud800", "file": ".env"},
        {"file_path": ".env", "path": "a.txt"},
        {"a": {"b": [[{"c": {"path": [".env"]}}]]}},
        {"path": ".env", "more": ["x"] * 4_000},
        {"path": ".env", "more": ["x"] * 6_000},
        {"more": ["x"] * 6_000, "path": ".env"},
        {"more": [["x"]] * 6_000, "inside": {"paths": [".env"]}},
        {"paths": [".env", *(f"{number}.txt" for number in range(3_000))]},
        {**{f"k{number}": number for number in range(12_000)}, "path": ".env"},
        {"source": "./" * 60_000 + "infra/main.tf"},
        {"root": "a/../" * 60_000 + "infra/main.tf"},
        {"url": "file:///" + "./" * 60_000 + "{project}/infra/main.tf"},
        {"source": "%2e/" * 60_000 + "infra/main.tf"},
        {"source": ".\\" * 60_000 + "infra\\main.tf"},
        {"changes": {"./" * 60_000 + "infra/main.tf": "x"}},
        {"folder": "./" * 60_000 + "infra", "file": "main.tf"},
        {"text": f"x\n+++ {'./' * 6_000}infra/main.tf\n"},
        {"url": "f\nile://{project}/.env"},
        {"path": "@%2eenv"},
        {"path": "%252eenv"},
        {"url": "jar:file:{project}/.env!/x"},
        {"url": "file://infra/main.tf"},
        {"url": "file:///infra/main.tf"},
        {"paths": "a|infra/main.tf"},
        {"dirname": "infra", "basename": "main.tf"},
        {"patch": "*** Update File: infra/main.tf"},
        {"request": '{"path": ".env"}'},
        {"data": '{"body": "{\\"path\\": \\".env\\"}"}'},
        {"path": {"x": {"y": ".env"}}},
        {"folder": ["infra"], "file": "main.tf"},
        {"root": {"path": "infra"}, "file": "main.tf"},
        {"location": "infra", "file": "main.tf"},
        {"target": "infra", "file": "main.tf"},
        {"parent": "infra", "name": "main.tf"},
        {"text": '--- "a/\\056env"\n+++ zz\n'},
        {"text": '--- "a/\\056e\\156v"\n+++ zz\n'},
        {"text": "*** infra/main.tf\n--- zz\n"},
        {"text": "--- infra/main.tf 2026-01-01 00:00:00\n+++ zz\n"},
        {"text": "x\u2028*** Delete File: infra/main.tf\ny"},
    ],
)
@pytest.mark.parametrize("tool", ["mcp__files__do", "some_new_tool"])
def test_what_is_denied_of_a_file_is_denied_to_every_tool_whose_input_names_it(
    place: Place, tool: str, given: Json
) -> None:
    given = json.loads(json.dumps(given).replace("{project}", str(place.project)))
    assert place.effect(given, tool) == "deny"


def test_a_link_to_a_file_is_that_file(place: Place) -> None:
    (place.project / "plain.txt").symlink_to(".env")
    (place.project / "place").symlink_to("infra")
    assert place.effect({"path": "plain.txt"}) == "deny"
    assert place.effect({"path": "place/main.tf"}) == "deny"


@pytest.mark.parametrize(
    "given",
    [
        {"path": ".git/hooks/pre-commit"},
        {"path": "{home}/.config/sayso/rules.toml"},
        {"path": "~/.config/sayso/rules.toml"},
        {"path": "~/.CONFIG/Sayso/rules.toml"},
        {"path": "$HOME/.config/sayso/rules.toml"},
        {"root": "~/.config", "file": "sayso/rules.toml"},
        {"folder": ".github", "entry": "workflows/ci.yml"},
        {"anything": ".git/config"},
        {"key": {"deep": ["CLAUDE.md"]}},
        {".git/hooks/pre-commit": "x"},
        {"command": "echo x >.git/hooks/pre-commit"},
        {"command": "rm", "args": ["-rf", ".git"]},
        {"args": "--output=.vscode/tasks.json"},
        {"text": PATCH.format(".git/hooks/pre-commit")},
        {"path": ".g*t/hooks/pre-commit"},
        {"pattern": "x", "value": "file:///p/.husky/pre-push"},
        {"path": ".git\\hooks\\pre-commit"},
        {"path": "linked/pre-commit"},
        {"path": ".g\u200cit/config"},
        {"path": ".K\u0130RO/../.\u212airo/x"},
        {"code": "open('.git/config', 'w')"},
        {"script": "true; " * 2_000 + "echo >.git/config"},
        {"files": "README .git/config"},
        {"file": "x" * 200_000},
        {"x": "linked"},
        {"values": [f"v{number}" for number in range(6_000)]},
        {"name": "./" * 60_000 + "CLAUDE.md"},
        {"to": "./" * 60_000 + "CLAUDE.md"},
        {"x": "./" * 60_000 + "CLAUDE.md"},
        {"source": "a." * 5_000},
        {"x": "a/." * 5_000},
        {"x": "vscode://" + "a" * 5_000},
        {"text": '--- "a/CLAUDE\\056md"\n+++ zz\n'},
        {"text": "--- zz/.git/config\n+++ zz\n"},
        {"paths": [f"*{number}" for number in range(200)]},
        {"path": "[" * 4_000},
    ],
)
@pytest.mark.parametrize("tool", ["mcp__files__do", "some_new_tool"])
def test_no_rule_allows_a_tool_whose_input_names_what_others_run(place: Place, tool: str, given: Json) -> None:
    (place.project / "linked").symlink_to(".git/hooks")
    home = str(place.project.parent)
    given = json.loads(json.dumps(given).replace("{home}", home))
    ruling = place.ruling(given, tool)
    assert (ruling.effect, bool(ruling.why)) == ("ask", True)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"path": "src/a.txt"},
        {"path": "src/a.txt", "content": "See AGENTS.md\nand .git/config\n"},
        {"owner": "me", "repo": "me/app", "title": "Fix what CLAUDE.md says", "labels": ["bug"]},
        {"url": "https://example.com/.github/workflows/ci.yml"},
        {"uri": "https://example.com/.env"},
        {"query": "what is in .git?"},
        {"path": "app/page.tsx", "line": 3, "flags": [True, None, 1.5]},
        {"body": "--- \ntitle: x\n---\n\nText"},
        {"profile": "default", "env": "prod"},
        {"path": "."},
        {"paths": [f"src/{number}.txt" for number in range(100)]},
        {"edits": [{"path": f"src/{number}.txt", "text": "x"} for number in range(50)]},
        {"path": "app/(shop)/[id]"},
        {"path": "a.txt", "todos": [{"text": f"do {number}", "done": False} for number in range(300)]},
    ],
)
@pytest.mark.parametrize("tool", ["mcp__files__do", "some_new_tool"])
def test_what_names_no_such_file_is_allowed_by_the_name_of_the_tool(tmp_path: Path, tool: str, given: Json) -> None:
    place = Place(tmp_path.resolve(), f'{DENYING}[[rule]]\nallow = ["{tool}"]\n')
    assert place.effect(given, tool) == "allow"


@pytest.mark.parametrize(
    "key",
    KEYS.split(),
)
def test_a_key_says_in_whichever_of_its_words_that_it_names_files(place: Place, key: str) -> None:
    assert place.effect({key: "infra/main.tf"}) == "deny"


def test_what_looks_like_a_file_that_a_rule_is_about_is_asked_under_whichever_key(place: Place) -> None:
    assert place.effect({"anything": "infra/main.tf"}) == "ask"
    assert place.effect({"deep": [{"value": ".env"}]}) == "ask"
    assert place.effect({"flags": "--output=infra/main.tf"}) == "ask"
    assert place.effect({"ref": "HEAD:infra/main.tf"}) == "ask"
    assert place.effect({"at": {"path": {"segments": ["src", "..", ".env"]}}}) in ("ask", "deny")
    assert place.effect({"anything": "src/main.tf"}) == "allow"
    assert place.effect({"text": "infra/main.tf", "title": ".env", "file_content": "infra/x\n.env"}) == "allow"


def test_contents_are_no_names_however_long_they_are(place: Place) -> None:
    assert place.effect({"path": "a.png", "image": "iVBORw0/KGgo" * 20_000}) == "allow"
    assert place.effect({"path": "a.json", "content": '{"a":"b/c.d"}' * 20_000}) == "allow"
    assert place.effect({"key": "cache:user:*"}) == "allow"
    given = {"path": "a.png", "data": "iVBORw0/KGgo" * 20_000, "text": "some words " * 20_000, "more": "a b\n" * 20_000}
    assert place.effect(given) == "allow"


def test_a_file_whose_links_cannot_be_followed_is_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.path.realpath

    def refused(path: str, **options: Any) -> str:
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, **options)

    monkeypatch.setattr(os.path, "realpath", refused)
    assert place.effect({"path": "locked/x"}) == "ask"
    assert place.effect({"path": "locked/x", "file": ".env"}) == "deny"
    assert place.effect({"command": "rm x; ls locked"}, "some_new_tool") == "allow"


def test_a_fault_of_ours_opens_nothing_that_is_denied_by_name(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.config.user_rules.write_text('[[rule]]\ndeny = ["mcp__a", "Bash(rm *)"]\n\n[[rule]]\nallow = ["*"]\n')

    def failing(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(RuleJudge, "use", failing)
    assert place.effect({}, "mcp__a__b") == "deny"
    assert place.effect({"command": "cd x && rm y"}, "some_new_tool") == "deny"
    assert place.effect({"command": "ls"}, "some_new_tool") == "ask"


@pytest.mark.parametrize("inner", ["infra", "infra/prod"])
def test_a_folder_that_poses_as_the_project_does_not_hide_what_a_rule_of_a_persons_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rules = '[[rule]]\ndeny = ["Edit(infra/**)"]\nexcept = ["Edit(infra/docs/**)", "Edit(infra/prod/docs/**)"]\n\n'
    place = Place(tmp_path.resolve(), rules + ALLOWING)
    shop, place.project = place.project, place.project / inner
    place.project.mkdir(exist_ok=True)
    (shop / ".git" / "hooks").rmdir()
    (shop / ".git").rmdir()

    def effect(kind: str, tool: str, given: Json) -> str:
        action = {"kind": kind, "tool": tool, "folder": str(place.project), "data": {"input": given}}
        return RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect

    assert effect("edit", "Write", {"file_path": "main.tf", "content": ""}) == "ask"
    assert effect("mcp", "mcp__files__do", {"path": "main.tf"}) == "ask"
    assert effect("shell", "Bash", {"command": "make main.tf"}) == "ask"
    assert effect("edit", "Write", {"file_path": "docs/a.md", "content": ""}) == "allow"
    assert effect("read", "Read", {"file_path": "main.tf"}) == "allow"
    assert effect("shell", "Bash", {"command": "make docs/a.md"}) == "allow"


def test_a_home_is_no_folder_that_projects_lie_in(place: Place) -> None:
    place.config.user_rules.write_text('[[rule]]\ndeny = ["Edit(shop/**)"]\n\n' + ALLOWING)
    assert place.effect({"path": "main.tf"}) == "allow"


@pytest.mark.parametrize("key", ["glob", "include", "filePattern", "path_pattern", "exclude", "pattern"])
def test_what_files_are_looked_for_by_is_no_name_where_no_rule_is_about_files(tmp_path: Path, key: str) -> None:
    place = Place(tmp_path.resolve(), '[[rule]]\nallow = ["*"]\n')
    assert place.effect({key: "**/*.ts", "path": "src"}) == "allow"


@pytest.mark.parametrize("target", ["[role=button]", "div > *", "stash@{0}", "a[href]"])
def test_what_picks_a_part_of_a_page_is_no_file(tmp_path: Path, target: str) -> None:
    place = Place(tmp_path.resolve(), '[[rule]]\nallow = ["*"]\n')
    assert place.effect({"target": target, "selector": target}) == "allow"
    place.config.user_rules.write_text('[[rule]]\ndeny = ["Read(secrets/**)"]\n\n[[rule]]\nallow = ["*"]\n')
    assert [place.effect({key: target}) for key in ("target", "selector")] == ["ask", "allow"]


@pytest.mark.parametrize("name", [".e*", ".en[vx]", ".[e]nv", ".{env,x}", "infr?/x"])
def test_a_name_with_stars_may_be_that_of_any_file_that_a_rule_is_about(place: Place, name: str) -> None:
    assert place.effect({"path": name}) == "ask"
    assert place.effect({"include": [f"**/{name}"]}) == "ask"
    assert place.effect({"path": "app/[...slug]/page.tsx"}) == "allow"


@pytest.mark.parametrize(
    "given", [{"command": "cat infra/a"}, {"code": "write('infra/a')"}, {"args": ["-f", "infra/a"]}]
)
def test_a_line_that_names_a_file_which_a_rule_is_about_is_asked(place: Place, given: Json) -> None:
    assert place.effect(given) == "ask"


def test_a_rule_about_files_alone_allows_no_tool_of_which_nothing_is_known(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve(), '[[rule]]\nallow = ["Read(**)", "Edit(**)", "Read", "Edit", "Bash"]\n')
    assert place.effect({"path": "a.txt"}, "some_new_tool") == "ask"
    assert place.effect({"command": "ls"}, "some_new_tool") == "ask"


def test_a_new_tool_of_a_client_counts_as_one_that_reads_and_edits(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve(), '[[rule]]\ndeny = ["Edit", "Bash(git push *)"]\n\n[[rule]]\nallow = ["*"]\n')
    assert place.effect({"path": "a.txt"}, "some_new_tool") == "deny"
    assert place.effect({"command": "git push origin"}, "some_new_tool") == "deny"
    assert place.effect({"subject": "x"}, "some_new_tool") == "allow"
    for given in (
        {"command": ["git", "push", "--force"]},
        {"command": "git", "args": ["push", "--force"]},
        {"program": "git", "arguments": "push"},
        {"argv": ["git", "push"]},
        {"shell_command": "git push"},
        {"commands": ["ls", "git push"]},
        {"bash": "git push"},
        {"run": "git push"},
    ):
        assert place.effect(given, "some_new_tool") == "deny"
    assert place.effect({"path": "a.txt"}, "mcp__files__read") == "allow", "what a server has is denied by its name"


def test_what_a_rule_excepts_is_excepted_for_every_tool(tmp_path: Path) -> None:
    rules = (
        '[[rule]]\ndeny = ["Edit(infra/**)"]\nexcept = ["Edit(infra/docs/**)"]\n\n[[rule]]\nallow = ["mcp__files"]\n'
    )
    place = Place(tmp_path.resolve(), rules + 'except = ["Read(private/**)"]\n')
    assert place.effect({"path": "infra/docs/a.md"}) == "allow"
    assert place.effect({"path": "infra/a.tf"}) == "deny"
    assert place.effect({"paths": ["infra/docs/a.md", "infra/a.tf"]}) == "deny"
    assert place.effect({"path": "private/a.md"}) == "ask"


@pytest.mark.parametrize(
    ("kind", "tool", "given", "effect"),
    [
        ("edit", "Edit", {"file_path": "a.txt", "old_string": "a", "new_string": "b"}, "allow"),
        ("edit", "Write", {"file_path": "a.md", "content": "x\n--- a/infra/x\n+++ b/infra/x\n"}, "allow"),
        ("edit", "Write", {"file_path": "@types/a.d.ts", "content": ""}, "allow"),
        ("edit", "Write", {"file_path": "a.txt", "filePath": "infra/x", "content": ""}, "deny"),
        ("edit", "Write", {"file_path": "a.txt", "path": "b.txt", "content": ""}, "ask"),
        ("edit", "MultiEdit", {"file_path": "a.txt", "edits": [{"filePath": "infra/x", "old_string": "a"}]}, "deny"),
        ("edit", "Write", {"file_path": "infra/x ", "content": ""}, "deny"),
        ("edit", "Write", {"file_path": "\ufeffinfra/x", "content": ""}, "deny"),
        ("edit", "Write", {"file_path": "file:///infra/../p/a.txt", "content": ""}, "ask"),
        ("edit", "Write", {"file_path": "app/(shop)", "content": ""}, "allow"),
        ("edit", "Write", {"file_path": "a.txt", "filePath": "b.txt", "x": [1] * 6_000}, "ask"),
        ("edit", "edit", {"path": "infra/x"}, "deny"),
        ("edit", "move", {"source": "a.txt", "destination": "infra/x"}, "deny"),
        ("edit", "apply_patch", {"changes": [{"path": "a.txt"}, {"move_path": "infra/x"}]}, "deny"),
        ("read", "read_file", {"absolute_path": ".env"}, "deny"),
        ("read", "Read", {"file_path": "a.txt", "offset": 3}, "allow"),
        ("read", "Read", {"file_path": "a.txt", "paths": [".env"]}, "deny"),
        ("read", "Grep", {"pattern": "x", "path": "src", "paths": [".env"]}, "deny"),
        ("edit", "Write", {"file_path": "a.txt", "content": "", "x": {"y": ["infra/main.tf"]}}, "ask"),
        ("edit", "Edit", {"file_path": "a.txt", "old_string": "infra/x", "new_string": ".env"}, "allow"),
        ("read", "LS", {"path": "src"}, "allow"),
        ("read", "LS", {}, "allow"),
        ("read", "LS", {"path": "src", "paths": ["lib"]}, "ask"),
        ("read", "Glob", {"pattern": "**/*.tf"}, "allow"),
        ("read", "Glob", {"pattern": "../**"}, "ask"),
        ("read", "Grep", {"pattern": "x", "path": "src"}, "ask"),
        ("read", "rg", {"pattern": "x", "paths": ["src"]}, "ask"),
        ("fetch", "WebFetch", {"url": "file:///{project}/.env"}, "deny"),
    ],
)
def test_what_the_input_of_a_tool_for_files_names_besides_its_file_counts_too(
    place: Place, kind: str, tool: str, given: Json, effect: str
) -> None:
    given = json.loads(json.dumps(given).replace("{project}", str(place.project)))
    action = {"kind": kind, "tool": tool, "folder": str(place.project), "data": {"input": given}}
    assert RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect == effect


@pytest.mark.parametrize(
    ("given", "effect"),
    [
        ({"url": "https://ok.com/a"}, "allow"),
        ({"url": "https://ok.com/a", "prompt": "What does it say of evil?", "format": "markdown"}, "allow"),
        ({"url": "https://ok.com/a", "prompt": "and https://ok.com/b"}, "allow"),
        ({"url": "https://ok.com/a", "prompt": "and https://other.com/b"}, "ask"),
        ({"urls": ["https://other.com"]}, "ask"),
        ({"prompt": "x"}, "ask"),
        ({}, "ask"),
        ({"url": ["https://other.com"]}, "ask"),
        ({"url": "https://ok.com", "more": ["x"] * 6_000}, "ask"),
        ({"urls": ["https://evil.com"]}, "deny"),
        ({"uri": "https://evil.com"}, "deny"),
        ({"url": "https://ok.com", "urls": ["https://evil.com"]}, "deny"),
        ({"url": "https://ok.com", "next": {"host": "www.evil.com:443/x"}}, "deny"),
        ({"url": "https://ok.com", "next": "//evil.com/x"}, "deny"),
        ({"urls": ["https:\\\\evil.com\\x"]}, "deny"),
        ({"uri": "https://me@ev%69l.com/"}, "deny"),
        ({"prompt": "get htt\nps://EVIL.com./x"}, "deny"),
        ({"url": "https://evil.com/ä"}, "deny"),
        ({"url": "HTTPS:evil.com"}, "deny"),
        ({"url": "https://ok.com", "also": "evil.com,ok.com"}, "deny"),
        ({"url": "https://ok.com", "also": "https://ok.com,https://evil.com"}, "deny"),
        ({"url": "https://ok.com", "also": "ssh://a,b@evil.com|x"}, "deny"),
        ({"url": "https://ok.com", "also": "git@evil.com:x"}, "deny"),
        ({"url": "https://ok.com", "also": "10.0.0.1:80/x"}, "deny"),
        ({"url": "https://ok.com", "also": "localhost:8080"}, "deny"),
        ({"url": "https://ok.com", "also": "http://[::1]:80/"}, "ask"),
        ({"url": "https://ok.com/?u=https://evil.com/"}, "deny"),
        ({"url": "https://ok.com/https://www.evil.com/x"}, "deny"),
        ({"url": "https://ok.com/?u=evil.com"}, "deny"),
        ({"url": "https://ok.com/go?u=https%253A%252F%252Fevil.com&v=1"}, "deny"),
        ({"url": "https://ok.com/?next=https://other.com", "prompt": "Is node.js in next.js? See a:/b."}, "allow"),
    ],
)
def test_every_address_in_the_input_of_a_fetch_counts(tmp_path: Path, given: Json, effect: str) -> None:
    place = Place(
        tmp_path.resolve(),
        '[[rule]]\ndeny = ["WebFetch(domain:evil.com)", "WebFetch(domain:10.0.0.1)", "WebFetch(domain:localhost)"]\n\n'
        '[[rule]]\nallow = ["WebFetch"]\n',
    )
    action = {"kind": "fetch", "tool": "WebFetch", "folder": str(place.project), "data": {"input": given}}
    assert RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect == effect


def test_a_patch_of_very_many_files_takes_no_long_time_to_look_at(place: Place) -> None:
    changes = [{"path": f"src/{number}", "change": "add"} for number in range(30_000)]
    for more, effect in (([], "ask"), ([{"path": "infra/x"}], "deny")):
        given = {"changes": [*changes, *more], "patch": ""}
        action = {"kind": "edit", "tool": "apply_patch", "folder": str(place.project), "data": {"input": given}}
        assert RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect == effect


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ({"workdir": "{project}"}, "allow"),
        ({"directory": "{project}/"}, "allow"),
        ({"workdir": "{project}/src/.."}, "ask"),
        ({"workdir": "src"}, "ask"),
        ({"directory": "/"}, "ask"),
    ],
)
def test_a_shell_call_that_says_what_holds_anyway_is_as_good_as_one_that_does_not(
    place: Place, more: Json, effect: str
) -> None:
    given = json.loads(json.dumps({"command": "make", **more}).replace("{project}", str(place.project)))
    action = {"kind": "shell", "tool": "Bash", "folder": str(place.project), "data": {"input": given}}
    assert RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect == effect


@pytest.mark.parametrize(
    ("given", "effect"),
    [
        ({"path": "src"}, "allow"),
        ({"path": "src", "glob": "*.ts"}, "allow"),
        ({"path": "src", "glob": "../secrets/**"}, "ask"),
        ({"path": "src", "include": ["/etc/*"]}, "ask"),
        ({"path": "/proc/self/cwd"}, "ask"),
        ({"paths": ["src"]}, "allow"),
        ({"path": "src", "paths": ["lib"]}, "ask"),
        ({"path": "Secrets"}, "deny"),
        ({"path": "linked"}, "deny"),
        ({"path": "data"}, "ask"),
        ({"path": "DATA/keys"}, "ask"),
        ({"path": "data/other"}, "allow"),
        ({"path": "."}, "ask"),
        ({"path": ".."}, "ask"),
        ({"path": "{home}/other"}, "ask"),
        ({"path": "/"}, "ask"),
        ({}, "ask"),
    ],
)
def test_a_search_is_asked_where_what_may_not_be_read_may_lie_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Json, effect: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rules = '[[rule]]\ndeny = ["Read(secrets/**)", "Read(data/keys/*.pem)", "Read(~/other/x/**)", "Edit(src/**)"]\n\n'
    place = Place(tmp_path.resolve(), rules + '[[rule]]\nallow = ["Grep"]\n')
    for folder in ("secrets", "data/keys"):
        (place.project / folder).mkdir(parents=True)
    (place.project / "linked").symlink_to("secrets")
    given = json.loads(json.dumps({"pattern": "x", **given}).replace("{home}", str(place.project.parent)))
    action = {"kind": "read", "tool": "Grep", "folder": str(place.project), "data": {"input": given}}
    assert RuleJudge(place.config).ruling(action, str(place.project), "a-client").effect == effect


def test_a_tool_that_writes_what_agents_are_told_from_then_on_is_asked(place: Place) -> None:
    assert place.effect({"fact": "always push"}, "save_memory") == "ask"


@pytest.mark.parametrize(
    "given",
    [
        {"text": ("+++ " + "a/" * 2_000 + "\n") * 500, "path": ["x" * 5_000] * 100, "b": "{" * 100_000},
        {"path": "[" * 90_000},
        {"path": ["[" * 250 + str(number) for number in range(3_000)]},
        {"path": " ".join(f"n{number}" for number in range(12_000)), **{f"{n}dir": f"d{n}" for n in range(15)}},
        {"path": "a/" * 50_000, "dir": "x", "folder": "y"},
        {"path": "\\" * 500_000, "source": ":1" * 200_000, "x": "%25" * 100_000},
        {f"key{number}": "v" for number in range(10_000)},
        {f"d{number}_dir": ":1" * 1_900 + "a" for number in range(250)},
        {**{f"command_{n}": "a" for n in range(5_000)}, **{f"args_{n}": "b" for n in range(5_000)}},
        {"target": "[a=" * 300_000},
    ],
)
def test_a_long_input_takes_no_long_time_to_look_at(place: Place, given: Json) -> None:
    assert place.effect(given) == "ask"


def test_a_line_that_cannot_be_looked_at_is_asked(place: Place) -> None:
    assert place.effect({"command": "git push" + " " * 20_000}, "some_new_tool") == "ask"
