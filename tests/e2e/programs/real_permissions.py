"""What the real clients let an agent do under settings of their own, as `tests/rules/as_clients_do.json` has it: the
table that imported rules are held against. `make test-clients` sees whether it is still true, and

    .venv/bin/python -m tests.e2e.programs.real_permissions

writes it anew. A client runs once, without a terminal, on a scripted model that calls one tool after the other; what
needs a person's say-so is refused there, in words of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.programs.fetch import programs
from tests.e2e.programs.machine import Machine, new_machine
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.seats import SEATS, at_work, until

from sayso.records import replace

TABLE = Path(__file__).parents[2] / "rules" / "as_clients_do.json"
PATIENCE = 900.0
ALLOWED, REFUSED = "allowed", "refused"
SEAT = {seat.key: seat for seat in SEATS}
FILES = ("src/a.py", "src/secret/key.py", "src/.env", "docs/b.md", ".env", "sub/.env", "secrets/key", "README.md")
"""What is in the project, and below `~/notes`."""

LINES = (
    "git status",
    "git status -s",
    "git status && git status -s",
    "git status; touch made",
    "git status | cat",
    "git status > made",
    "git status 2>/dev/null",
    "git status &",
    "git status\ntouch made",
    "git  status",
    "git statusx",
    "git -C . status",
    "git -c core.pager=cat status",
    "/usr/bin/git status",
    "GIT_PAGER=cat git status",
    "env git status",
    "timeout 5 git status",
    "nohup git status",
    "bash -c 'git status'",
    "(git status)",
    "git status $(touch made)",
    "git status `touch made`",
    "git status <(touch made)",
    "'git' status",
    "g\\it status",
    "git push",
    "git push origin main",
    "git status && git push",
    "echo hello",
    "echo hello > made",
    "echo $(rm -rf build)",
    "echo a; rm -rf build",
    "echo $HOME",
    "rm -rf build",
    "/bin/rm -rf build",
    "npm test",
    "npm test -- --watch",
    "npm tests",
    "npm run deploy",
    "make build",
    "make build deploy",
    "make",
    "cd src && git status",
    "true && echo hello",
    "xargs echo hello < /dev/null",
    "find . -name x -exec echo {} +",
    "sh -c 'echo hello'",
    "touch made",
    "if true; then echo hello; fi",
    "for x in a b; do echo $x; done",
    "echo hello | sh",
    "! git status",
)

CLAUDE = {
    "permissions": {
        "allow": [
            "Bash(git status:*)",
            "Bash(npm test *)",
            "Bash(echo *)",
            "Bash(make build)",
            "Read(src/**)",
            "Edit(src/**)",
            "Read(~/notes/**)",
            "WebFetch(domain:example.invalid)",
        ],
        "ask": ["Bash(git push *)", "Edit(src/secret/**)"],
        "deny": ["Bash(rm *)", "Read(.env)", "Read(secrets/**)", "WebFetch(domain:evil.invalid)"],
        "defaultMode": "default",
    }
}
CODEX = """\
prefix_rule(pattern=["git", "status"], decision="allow")
prefix_rule(pattern=["npm", "test"], decision="allow")
prefix_rule(pattern=["echo"], decision="allow")
prefix_rule(pattern=["make", ["build", "check"]], decision="allow")
prefix_rule(pattern=["git", "push"], decision="prompt")
prefix_rule(pattern=["rm"], decision="forbidden")
"""
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "model": {"disableLoopDetection": True},
    "tools": {
        "allowed": ["run_shell_command(git status)", "run_shell_command(npm test)", "run_shell_command(echo)"],
        "exclude": ["run_shell_command(rm)"],
    },
}
GEMINI_POLICY = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = "make build"
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "ask_user"
priority = 200
"""
OPENCODE = {
    "experimental": {"continue_loop_on_deny": True},
    "permission": {
        "bash": {
            "*": "ask",
            "git status": "allow",
            "git status *": "allow",
            "npm test *": "allow",
            "npm test": "allow",
            "echo *": "allow",
            "make build": "allow",
            "git push *": "ask",
            "git push": "ask",
            "rm *": "deny",
        },
        "edit": "ask",
        "webfetch": "deny",
        "external_directory": "ask",
    },
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One client under settings of its own. `actions` are written as examples of rules are."""

    client: str
    files: Mapping[str, str]
    """The settings by their path from the home."""
    actions: Sequence[str]
    call: Callable[[str, str], tuple[str, Json]]
    """From an action's tool and what it is about to the tool and the input that the client knows."""
    refused: str
    """What a result says where it was not done: it would have been asked, or was denied."""
    sandboxed: bool = False
    """Whether what it does not allow by a rule is run all the same, in a sandbox of its own. Only what is run outside
    of it counts as allowed, and every shell tells so."""


def _claude(tool: str, about: str) -> tuple[str, Json]:
    match tool:
        case "Bash":
            return tool, {"command": about, "description": "Try it"}
        case "Read":
            return tool, {"file_path": about}
        case "Edit":
            return tool, {"file_path": about, "old_string": "here\n", "new_string": "there\n"}
        case "Write":
            return tool, {"file_path": about, "content": "new\n"}
    return tool, {"url": about, "prompt": "What is there?"}


def _opencode(tool: str, about: str) -> tuple[str, Json]:
    match tool:
        case "Bash":
            return "bash", {"command": about, "description": "Try it"}
        case "Read":
            return "read", {"filePath": about}
        case "Edit":
            return "edit", {"filePath": about, "oldString": "here\n", "newString": "there\n"}
        case "Write":
            return "write", {"filePath": about, "content": "new\n"}
    return "webfetch", {"url": about, "format": "text"}


def _gemini(tool: str, about: str) -> tuple[str, Json]:
    return ("run_shell_command", {"command": about}) if tool == "Bash" else ("read_file", {"file_path": about})


def _codex(tool: str, about: str) -> tuple[str, Json]:
    return "exec_command", {"cmd": about}


def shell(*more: str) -> tuple[str, ...]:
    return (*(f"Bash({line})" for line in LINES), *more)


FILE_ACTIONS = (
    *(f"Read({{project}}/{name})" for name in FILES),
    "Read({home}/notes/a.md)",
    "Read({home}/other.md)",
    "Read(/etc/hosts)",
    "Edit({project}/src/a.py)",
    "Edit({project}/src/secret/key.py)",
    "Edit({project}/README.md)",
    "Write({project}/src/new.py)",
    "Write({project}/new.py)",
    "Write({home}/new.py)",
    "WebFetch(https://example.invalid/x)",
    "WebFetch(https://www.example.invalid/)",
    "WebFetch(https://evil.invalid/)",
    "WebFetch(https://other.invalid/)",
)

CASES = (
    Case(
        client="claude-code",
        files={".claude/settings.json": json.dumps(CLAUDE)},
        actions=shell(*FILE_ACTIONS),
        call=_claude,
        refused=r"requested permissions|has been denied|denied by your permission|requires approval|haven't granted|"
        r"was blocked|blocked\. For security|need approval|needs approval|Permission to use",
    ),
    Case(
        client="codex",
        files={".codex/rules/default.rules": CODEX},
        actions=shell(),
        call=_codex,
        refused=r"rejected",
        sandboxed=True,
    ),
    Case(
        client="gemini",
        files={".gemini/settings.json": json.dumps(GEMINI), ".gemini/policies/own.toml": GEMINI_POLICY},
        actions=shell(),
        call=_gemini,
        refused=r"denied by policy|requires user confirmation|not allowed|not found|blocked",
    ),
    Case(
        client="opencode",
        files={".config/opencode/opencode.json": json.dumps(OPENCODE)},
        actions=shell(*FILE_ACTIONS),
        call=_opencode,
        refused=r"rejected permission|prevents you from using|unavailable tool",
    ),
)
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.client)


def done_by(machine: Machine, case: Case) -> dict[str, str]:
    """What the client does with each action; and the words of its last refusals, for whoever looks."""
    home, seat = machine.home, SEAT[case.client]
    seat.move_in(home)
    for name, text in case.files.items():
        (home.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (home.folder / name).write_text(text)
    for name in (*FILES, "../notes/a.md", "../other.md"):
        (home.project / name).parent.mkdir(parents=True, exist_ok=True)
        (home.project / name).write_text("here\n")
    assert machine.run("git", "init", "-q").code == 0
    outside = home.folder / "outside"
    outside.touch()
    note = home.folder / "note.sh"
    note.write_text(f"{{ echo >> {outside}; }} 2>/dev/null\n")
    sizes: dict[int, int] = {}
    calls = [case.call(*_parts(each, home.folder, home.project)) for each in case.actions]

    def script(request: Json) -> Json:
        place = len(told(request).results)
        sizes[place] = outside.stat().st_size
        return use(calls[place][0], f"toolu_{place}", calls[place][1]) if place < len(calls) else say("Done.")

    home = replace(home, extra={**home.extra, "BASH_ENV": str(note)})
    with Model(script).serving() as model, at_work(seat, "headless", home, model.url) as client:
        until(
            PATIENCE,
            lambda: client.has_ended or len(_results(model)) >= len(calls),
            lambda: f"{len(_results(model))} of {len(calls)} calls; it shows\n{client.shows()}",
        )
        results = _results(model)
        assert len(results) == len(calls), f"{len(results)} of {len(calls)}; it shows\n{client.shows()}"
    said = re.compile(case.refused, re.IGNORECASE)
    left_it = [not case.sandboxed or sizes[place] < sizes[place + 1] for place in range(len(calls))]
    return {
        action: ALLOWED if left and not said.search(result) else REFUSED
        for action, result, left in zip(case.actions, results, left_it, strict=True)
    }


def _results(model: Model) -> Sequence[str]:
    return max((told(request).results for request in model.requests), key=len, default=())


def _parts(action: str, home: Path, project: Path) -> tuple[str, str]:
    tool, _, about = action.partition("(")
    return tool, about[:-1].replace("{home}", str(home)).replace("{project}", str(project))


def version_of(machine: Machine, case: Case) -> str:
    program = SEAT[case.client].headless("")[0]
    found = re.search(r"\d+\.\d+\.\d+", machine.run(program, "--version").out)
    assert found
    return found[0]


def row(machine: Machine, case: Case) -> Json:
    return {"version": version_of(machine, case), "files": dict(case.files), "did": done_by(machine, case)}


@EVERY_CASE
def test_the_table_says_what_the_real_client_does(machine: Machine, case: Case) -> None:
    assert row(machine, case) == json.loads(TABLE.read_text())[case.client]


def write_table() -> None:
    found: Json = {}
    for case in CASES:
        with new_machine(programs()) as machine:
            found[case.client] = row(machine, case)
    TABLE.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write_table()
