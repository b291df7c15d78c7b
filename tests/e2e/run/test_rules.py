"""Rules decide the routine at every gate: nobody is asked, and the log says which rule of which file it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.run.kit import Place, background, data_of, text_of, waited_for, worker
from tests.e2e.stdio.harness import Agent, new_place

from sayso.asks.quorum import quorum_of
from sayso.permissions.action import rules_say

RULES = """
[[rule]]
deny = ["Bash(git push --force *)"]
because = "Use --force-with-lease."

[[rule]]
ask = ["Bash(terraform *)"]
approvers = ["ada"]
need = 2

[[rule]]
allow = ["Bash(git status *)", "Edit(src/**)"]
"""


def write_rules(place: Place, text: str) -> Path:
    file = place.home / ".config" / "sayso" / "rules.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def wanted(agent: Agent, tool: str, **given: Any) -> dict[str, Any]:
    call = agent.call("approve", {"tool_name": tool, "input": given})
    told: dict[str, Any] = json.loads(text_of(call.result(120)))
    return told


def logged(place: Place) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.run("log", "--json").stdout)
    return found


def test_what_a_rule_allows_or_denies_opens_no_ask_and_is_logged_with_the_rule_and_its_file(place: Place) -> None:
    file = write_rules(place, RULES)
    with place.agent(program="sayso", flags=["--approve"], name="claude-code") as agent, place.person() as person:
        command = {"command": "git status --short"}
        assert wanted(agent, "Bash", **command) == {"behavior": "allow", "updatedInput": command}
        edit = {"file_path": str(place.project / "src" / "a.py"), "content": "x"}
        assert wanted(agent, "Write", **edit)["behavior"] == "allow"
        denied = wanted(agent, "Bash", command="ls; git push --force origin main")
        assert denied["behavior"] == "deny"
        assert "Bash(git push --force *)" in denied["message"]
        assert denied["message"].endswith("Use --force-with-lease.")
        assert person.desk.inbox() == []
    allowed, edited, refused = logged(place)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (allowed["what"], allowed["rule"], allowed["rules_file"]) == ("allowed", "Bash(git status *)", digest)
    assert (allowed["surface"], allowed["person"], allowed["ran"]) == ("rule", "", 1)
    assert (edited["rule"], refused["rule"]) == ("Edit(src/**)", "Bash(git push --force *)")
    assert (refused["what"], refused["why"]) == ("denied", "Use --force-with-lease.")
    assert "git status --short" in place.run("log", "show", allowed["ask"]).stdout
    assert place.run("log", "verify").returncode == 0


def test_what_rules_leave_to_a_person_is_asked_and_says_why(place: Place) -> None:
    write_rules(place, RULES)
    with place.agent(program="sayso", flags=["--approve"], name="claude-code") as agent, place.person() as person:
        reasons = {
            "terraform apply": "Bash(terraform *)",
            "git status > out": "it reads from or writes to a file",
            "git status && rm x": "",
        }
        for line, why in reasons.items():
            call = agent.call("approve", {"tool_name": "Bash", "input": {"command": line}})
            ask = person.wait_for_ask(lambda ask, line=line: line in str(ask.wanted))  # type: ignore[misc]
            assert why in rules_say(ask)
            assert bool(why) == bool(rules_say(ask))
            person.answer(ask, "Deny")
            assert json.loads(text_of(call.result(120)))["behavior"] == "deny"
            if line.startswith("terraform"):
                quorum = quorum_of(ask)
                assert quorum
                assert [demand.need for demand in quorum.demands] == [2]


def test_a_file_with_an_error_decides_nothing_until_it_is_mended(place: Place) -> None:
    write_rules(place, RULES + "\n[[rule]]\nalow = []\n")
    with place.agent(program="sayso", flags=["--approve"], name="claude-code") as agent, place.person() as person:
        call = agent.call("approve", {"tool_name": "Bash", "input": {"command": "git status"}})
        ask = person.wait_for_ask(lambda ask: "git status" in str(ask.wanted))
        assert "Your rules are not used" in rules_say(ask)
        assert "rules.toml:15: alow: this key is not known. Did you mean allow?" in rules_say(ask)
        person.answer(ask, "Deny")
        call.result(120)
        write_rules(place, RULES)
        assert wanted(agent, "Bash", command="git status")["behavior"] == "allow"


@pytest.mark.finding("F-20")
def test_a_project_that_nobody_trusts_allows_nothing_and_may_deny(place: Place) -> None:
    theirs = place.project / ".sayso" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text('[[rule]]\nallow = ["Bash(ls *)"]\n[[rule]]\ndeny = ["Bash(rm *)"]\n')
    with place.agent(program="sayso", flags=["--approve"], name="claude-code") as agent, place.person() as person:
        assert wanted(agent, "Bash", command="rm x")["behavior"] == "deny"
        call = agent.call("approve", {"tool_name": "Bash", "input": {"command": "ls"}})
        person.answer(person.wait_for_ask(lambda ask: "ls" in str(ask.wanted)), "Deny")
        assert json.loads(text_of(call.result(120)))["behavior"] == "deny"
        digest = json.loads(place.run("trust", "--show", "--json").stdout)["digest"]
        assert place.run("trust", "--digest", digest).returncode == 0
        assert wanted(agent, "Bash", command="ls")["behavior"] == "allow"


def test_rules_hold_for_tools_of_tool_files_and_the_runner_still_compares(place: Place) -> None:
    waited_for(place, approve="always")
    background(place, "other", approve="always")
    waited_for(place, "quick")
    write_rules(
        place,
        '[[rule]]\nallow = ["fg"]\n[[rule]]\ndeny = ["other"]\nbecause = "Not here."\n'
        '[[rule]]\nask = ["quick(bash -c *asked*)"]\n[[rule]]\ndeny = ["Bash(touch denied)"]\n',
    )
    with worker(place) as one, place.person() as person:
        assert data_of(one.do("fg", script="echo ran"))["stdout"] == "ran\n"
        denied = one.ended(one.start("other", script="echo ran"))
        assert denied["status"] == "cancelled"
        assert "A rule of the user's denies this: other. It was not done. Not here." in str(denied)
        # What needs nobody's say-so runs as ever, unless a rule is about it.
        assert data_of(one.do("quick", script="echo ran"))["stdout"] == "ran\n"
        assert "denies this" in str(one.do("quick", script="touch denied"))
        assert person.desk.inbox() == []
        call = one.call("quick", {"script": "echo asked"})
        person.answer(person.wait_for_ask(lambda ask: "asked" in str(ask.wanted)), "Yes")
        assert data_of(call.result(120))["stdout"] == "asked\n"
    verdicts = [(entry["what"], entry["rule"], entry["ran"]) for entry in logged(place)]
    assert verdicts[0] == ("allowed", "fg", 1)
    assert [verdict[:2] for verdict in verdicts[1:3]] == [("denied", "other"), ("denied", "Bash(touch denied)")]
    assert not (place.project / "denied").exists()


def test_a_yes_for_a_tool_stands_when_a_rule_that_asked_is_gone_and_not_when_another_asks(place: Place) -> None:
    waited_for(place, approve="once")
    asks = '[[rule]]\nask = ["fg"]\n'
    write_rules(place, asks)
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "echo first"})
        person.answer(person.wait_for_ask(lambda ask: "first" in str(ask.wanted)), "Yes")
        assert data_of(call.result(120))["stdout"] == "first\n"
        for rules in (asks, '[[rule]]\nask = ["other"]\n'):
            write_rules(place, rules)
            assert data_of(one.do("fg", script="echo again"))["stdout"] == "again\n"
        write_rules(place, '[[rule]]\nask = ["fg(bash *)"]\n')
        call = one.call("fg", {"script": "echo third"})
        person.answer(person.wait_for_ask(lambda ask: "third" in str(ask.wanted)), "No")
        assert "third" not in data_of(call.result(120)).get("stdout", "")


@pytest.fixture
def place() -> Any:
    with new_place(command_grace="200ms") as place:
        yield place
