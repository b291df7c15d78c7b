"""`sayso rules`: which rules hold, what they make of an action, what is wrong with them, and what rules would help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import Home
from tests.cli.test_gate import prompt
from tests.cli.test_log import decide

RULES = """[[rule]]
deny = ["Bash(git push --force *)"]
because = "Use --force-with-lease."
match = ["Bash(git push --force)"]

[[rule]]
ask = ["Bash(terraform *)"]
approvers = ["ada"]

[[rule]]
allow = ["Bash(git status *)", "Bash(cp *)"]
"""


def write(home: Home, text: str) -> Path:
    file = home.folder / ".config" / "sayso" / "rules.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_rules_are_listed_with_where_they_are_and_how_often_each_decided(home: Home) -> None:
    told, _, example = home.run("rules").err.partition("\n\n")
    assert told.startswith("There are no rules, so everything is asked")
    assert str(write(home, example)) in told
    assert home.run("rules", "check", "Bash(git status)").code == 0, "what is shown as an example can be used as it is"
    file = write(home, RULES)
    ran = home.run("rules")
    header, *rows = ran.out.splitlines()
    assert header.split() == ["RULE", "DECIDED", "PLACE", "ABOUT"]
    assert [row.split()[:2] for row in rows] == [["deny", "0"], ["ask", "0"], ["allow", "0"]]
    assert f"{file.name}:1" in rows[0]
    assert "Bash(git push --force *) → Use --force-with-lease." in rows[0]
    data = home.run("rules", "--json").data
    assert [rule["about"] for rule in data["rules"]][2] == ["Bash(git status *)", "Bash(cp *)"]
    assert data["rules"][1]["approvers"]["names"] == ["ada"]
    assert "Bash(terraform *) (one of ada)" in rows[1]
    assert "rules.toml:6: There is one person here" in ran.err


def test_where_and_for_whom_alone_a_rule_holds_is_listed(home: Home) -> None:
    when = 'when = { project = "/srv/shop", agent = "codex", sandbox = "workspace", plain = true }'
    write(home, f'[[rule]]\nallow = ["Bash(npm test *)"]\n{when}\n\n[[rule]]\nallow = ["Bash(ls *)"]\n')
    _, shop, everywhere = home.run("rules").out.splitlines()
    told = "Bash(npm test *) (only in /srv/shop) (only for codex) (only in the sandbox workspace) (only as plain words)"
    assert shop.endswith(told)
    assert everywhere.endswith("Bash(ls *)")
    holds = [rule["when"] for rule in home.run("rules", "--json").data["rules"]]
    assert holds == [{"projects": ["/srv/shop"], "agents": ["codex"], "sandbox": "workspace", "plain": True}, None]


@pytest.mark.parametrize(
    ("action", "code", "said"),
    [
        ("Bash(git status)", 0, "rules.toml:10: Bash(git status *)"),
        ("Bash(git status > x)", 10, "it reads from or writes to a file"),
        ("Bash(terraform apply)", 10, "Must agree: one of ada."),
        ("Bash(cp x ~/.config/sayso/rules.toml)", 10, "says what agents may do"),
        ("Bash(ls)", 10, "no rule is about it"),
        ("Bash(ls; git push --force)", 11, "Use --force-with-lease."),
    ],
)
def test_an_action_is_tried_and_the_exit_code_is_the_verdict(home: Home, action: str, code: int, said: str) -> None:
    write(home, RULES)
    ran = home.run("rules", "check", action)
    assert ran.code == code
    assert said in ran.out
    assert home.run("rules", "check", action, "--json").data["verdict"] == {0: "allow", 10: "ask", 11: "deny"}[code]


def test_what_is_wrong_is_said_with_its_line_and_everything_is_asked(home: Home) -> None:
    file = write(home, RULES)
    assert home.run("rules", "test").out == "3 rules, and their examples come out as they say.\n"
    write(home, RULES.replace("because", "becuase"))
    tested = home.run("rules", "test")
    assert (tested.code, tested.out) == (1, f"{file}:3: becuase: this key is not known. Did you mean because?\n")
    write(home, '[[rule]]\nallow = "git_status"\n')
    said = f'{file}:2: allow: it must be a list of texts such as ["Bash(git status *)"].'
    assert home.run("rules", "test").out == f"{said}\n"
    write(home, RULES.replace("because", "becuase"))
    assert home.run("rules", "check", "Bash(git status)").code == 10
    assert "Because of that everything is asked" in home.run("rules").err
    assert "becuase: this key is not known" in home.run("doctor").out
    assert home.run("rules", "check", "Bash").code == 2


def test_a_rule_that_keeps_nothing_from_agents_own_tools_for_want_of_a_capital_says_so(home: Home) -> None:
    file = write(home, '[[rule]]\ndeny = ["bash(rm *)", "Bash(dd *)"]\n\n[[rule]]\nallow = ["bash(ls *)"]\n')
    told = f"{file}:1: bash(rm *) is about a tool called bash in a tool file alone. What agents do by their own is"
    assert home.run("rules", "check", "Bash(rm x)").code == 10
    for ran in (home.run("rules"), home.run("rules", "test")):
        assert (ran.code, ran.err.count("is about a tool called"), told in ran.err) == (0, 1, True)
    assert "bash(rm *) is about a tool called bash" in home.run("doctor").out


@pytest.mark.parametrize("name", ["Bsh", "Raed", "shell"])
def test_a_rule_with_a_name_that_is_nearly_one_of_agents_own_tools_says_so(home: Home, name: str) -> None:
    write(home, f'[[rule]]\ndeny = ["{name}"]\n')
    assert f"{name} is about a tool called {name} in a tool file alone. " in home.run("rules", "test").err


def test_what_a_project_allows_is_listed_as_not_counting_until_it_is_trusted(home: Home) -> None:
    theirs = home.project / ".sayso" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text('[[rule]]\nallow = ["Bash(ls *)"]\n')
    assert "allows does not count, nor whom it names: you have not trusted it" in home.run("rules").err
    assert home.run("rules", "check", "Bash(ls)").code == 10
    home.trust()
    assert home.run("rules", "check", "Bash(ls)").code == 0


def test_rules_are_suggested_for_what_was_allowed_often_and_never_denied(home: Home) -> None:
    tested = [f"npm test -- {word}" for word in "abc"]
    for line in ("npm test", *tested, "rm x", "rm x", "rm x", "ls > x", "git show a", "git show b"):
        decide(home, line)
    decide(home, "rm x", because="no")
    for line in ("git log -1", "git log -2", "git log -3"):
        decide(home, line)
    decide(home, "git log", because="what is suggested would allow this too")
    ran = home.run("rules", "suggest")
    assert ran.out == '# allowed 3 times, never denied\n[[rule]]\nallow = [\n  "Bash(npm test *)",\n]\n\n'
    write(home, '[[rule]]\nallow = ["Bash(npm test *)"]')
    assert home.run("rules", "suggest", "--json").data == []


def test_the_settings_of_a_client_are_proposed_as_rules_that_can_be_used(home: Home) -> None:
    assert "nothing in its settings" in home.run("rules", "import", "claude-code").err
    settings = home.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(
        '{"permissions": {"allow": ["Bash(npm run test:*)", "Agent(x)"], "deny": ["Bash(rm *)", "Skill(y)"]}}'
    )
    ran = home.run("rules", "import", "claude-code")
    assert "left out, because no rule can say it: Agent(x)" in ran.out
    write(home, ran.out)
    checked = {"npm run test -- a": 0, "rm x": 11, "ls": 10}
    assert {line: home.run("rules", "check", f"Bash({line})").code for line in checked} == checked
    assert home.run("rules", "check", "Skill").code == 10
    for broken in ("{", "[" * 100_000):
        settings.write_text(broken)
        ran = home.run("rules", "import", "claude-code")
        assert (ran.code, "cannot be understood" in ran.err) == (2, True)


def test_a_gate_that_rules_decide_asks_nobody_and_tells_its_client_why(home: Home) -> None:
    write(home, RULES)

    def told(line: str) -> dict[str, Any]:
        ran = home.run("gate", "claude-code", stdin=json.dumps(prompt(home, given={"command": line})))
        said: dict[str, Any] = json.loads(ran.out)["hookSpecificOutput"]["decision"]
        return said

    assert told("git status")["behavior"] == "allow"
    denied = told("git push --force")
    assert (denied["behavior"], "Use --force-with-lease." in denied["message"]) == ("deny", True)
    assert home.run("list", "--json").data == []
    assert [(one["what"], one["surface"]) for one in home.run("log", "--json").data] == [
        ("allowed", "rule"),
        ("denied", "rule"),
    ]
    assert [rule["decided"] for rule in home.run("rules", "--json").data["rules"]] == [1, 0, 1]


def test_an_id_of_no_rule_of_a_session_is_not_found(home: Home) -> None:
    for given in ("zz", "abc", ""):
        ran = home.run("rules", "end", given)
        assert (ran.code, ran.error) == (
            3,
            f"Error: No rule of a session has the id {given!r}. `sayso rules` shows them.",
        )
