"""Rules from clients' settings: never wider than what the client itself would have allowed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.importing import imported
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.rules.rule import Effect
from sayso.rules.uses import Ground, example, use_of

A, Q, D = Effect.ALLOW, Effect.ASK, Effect.DENY


@pytest.mark.parametrize(
    ("client", "text", "rules", "left_out"),
    [
        (
            "claude-code",
            """{"permissions": {
            "allow": ["Bash(git status)", "Bash(npm run test:*)", "Read", "Edit", "Write(src/**)", "Read(/x)",
                      "mcp__github",
                      "WebFetch(domain:a.com)", "Bash(* --version)", "Read(~/x/**)", "Agent(z)"],
            "ask": ["Bash(git push *)", "Write(x)"],
            "deny": ["Read(./.env)", "Read(/secret)", "Bash(rm *)", "Skill(y)", "strange thing"]}}""",
            {
                (A, "Bash(git status)"),
                (A, "Bash(npm run test:*)"),
                (A, "Read(**)"),
                (A, "Edit(**)"),
                (A, "mcp__github"),
                (A, "WebFetch(domain:a.com)"),
                (A, "Read(~/x/**)"),
                (Q, "Bash(git push *)"),
                (Q, "Write"),
                (D, "Read(./.env)"),
                (Q, "Read"),
                (D, "Bash(rm *)"),
                (Q, "Skill"),
                (Q, "*"),
            },
            {"Write(src/**)", "Read(/x)", "Bash(* --version)", "Agent(z)"},
        ),
        (
            "codex",
            """
prefix_rule(pattern=["git", ["status", "log"]], decision="allow")
prefix_rule(pattern=["git", "push"], decision="prompt")
prefix_rule(pattern=["rm", "-rf"], decision="forbidden", justification="no")
prefix_rule(pattern=["echo", "a b"])
""",
            {
                (A, "Bash(git status *)"),
                (A, "Bash(git log *)"),
                (Q, "Bash(git push *)"),
                (D, "Bash(rm -rf *)"),
                (A, "Bash(echo 'a b' *)"),
            },
            set(),
        ),
        (
            "gemini",
            """{"tools": {"allowed": ["run_shell_command(git status)", "read_file"],
            "exclude": ["run_shell_command(rm)"]}}""",
            {(A, "Bash(git status *)"), (D, "Bash(rm *)")},
            {"read_file (all of it)"},
        ),
        (
            "gemini",
            """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git log", "git diff"]
decision = "allow"
[[rule]]
toolName = "run_shell_command"
commandRegex = "rm.*"
decision = "deny"
""",
            {(Q, "Bash")},
            {"run_shell_command (by a policy: git log, git diff)"},
        ),
        (
            "opencode",
            """{"permission": {"edit": "deny", "webfetch": "ask", // no
            "bash": {"*": "ask", "git status": "allow", "git push *": "deny"}, "skill": "allow"}}""",
            {(D, "Edit"), (A, "Bash(git status)"), (D, "Bash(git push *)")},
            {"skill (all of it)"},
        ),
    ],
)
def test_what_cannot_be_told_exactly_is_left_out_or_asked(
    client: str, text: str, rules: set[tuple[Effect, str]], left_out: set[str]
) -> None:
    found = imported(client, [text])
    assert set(found.rules) == rules
    assert set(found.left_out) == left_out


AS_CLIENTS_DO: Mapping[str, Any] = json.loads((Path(__file__).parent / "as_clients_do.json").read_text())
"""What the real programs did, as `tests/e2e/programs/real_permissions.py` has recorded it."""
HOME, PROJECT = "/home/ada", "/home/ada/project"


def allowed(book: RuleBook, action: str) -> bool:
    named = action.replace("{home}", HOME).replace("{project}", PROJECT)
    use = use_of(example(named, PROJECT), Ground(leads_to=os.path.normpath, project=PROJECT))
    return book.judge(use, Circumstances(project=PROJECT, agent="any")).effect is Effect.ALLOW


def as_imported(client: str, texts: list[str]) -> RuleBook:
    read = read_rules(imported(client, texts).text.encode(), Path("rules.toml"), RuleLevel.PERSON)
    assert read.faults == ()
    return RuleBook([read])


@pytest.mark.parametrize("client", AS_CLIENTS_DO)
def test_imported_rules_never_allow_what_the_real_client_did_not(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)
    recorded = AS_CLIENTS_DO[client]
    book = as_imported(client, list(recorded["files"].values()))
    ours = {action for action in recorded["did"] if allowed(book, action)}
    theirs = {action for action, did in recorded["did"].items() if did == "allowed"}
    assert ours - theirs == set()
    assert len(ours) >= 5, "it is of use"


def test_the_record_is_of_at_least_200_actions_of_four_clients() -> None:
    assert set(AS_CLIENTS_DO) == {"claude-code", "codex", "gemini", "opencode"}
    assert sum(len(recorded["did"]) for recorded in AS_CLIENTS_DO.values()) >= 200


@pytest.mark.parametrize(
    ("line", "is_allowed"),
    [
        ("npm test", True),
        ("npm test -- --watch src/a.js", True),
        ("npm test && npm test -- b", True),
        *((line, False) for line in ("npm  test", "'npm' test", "npm test &", "npm test 2>/dev/null", "(npm test)")),
        *(
            (line, False)
            for line in ("timeout 5 npm test", "CI=1 npm test", "bash -c 'npm test'", "npm test *", "! npm test")
        ),
        *(
            (line, False)
            for line in ('npm test "$X"', "npm test 'a b'", "npm test; npm test", "npm test\n", "npm test #")
        ),
    ],
)
def test_a_rule_for_plain_words_allows_nothing_that_is_written_otherwise(line: str, is_allowed: bool) -> None:
    rules = '[[rule]]\nallow = ["Bash(npm test *)", "Read(src/**)"]\nwhen = { plain = true }\n'
    book = RuleBook([read_rules(rules.encode(), Path("rules.toml"), RuleLevel.PERSON)])
    assert allowed(book, f"Bash({line})") is is_allowed
    assert allowed(book, "Read(src/a.py)")


def test_what_asks_or_denies_is_about_every_spelling_whatever_it_says_of_plain_words() -> None:
    rules = '[[rule]]\ndeny = ["Bash(npm test *)"]\nwhen = { plain = true }\n[[rule]]\nallow = ["Bash(npm *)"]\n'
    book = RuleBook([read_rules(rules.encode(), Path("rules.toml"), RuleLevel.PERSON)])
    assert not allowed(book, "Bash(timeout 5 npm test)")
