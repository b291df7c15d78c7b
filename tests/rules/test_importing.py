"""Rules from clients' settings: never wider than what the client itself would have allowed."""

from __future__ import annotations

import pytest

from sayso.rules.importing import imported
from sayso.rules.rule import Effect

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
            {(A, "Bash(git log *)"), (A, "Bash(git diff *)"), (Q, "Bash")},
            set(),
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
