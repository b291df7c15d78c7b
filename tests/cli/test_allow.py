"""`sayso allow` and `sayso deny`: a yes is for exactly what was shown, and all of it was."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.asks.samples import AGENT
from tests.cli.program import Home, confirm
from tests.cli.pseudo_terminal import Terminal
from tests.permissions.test_desk import QUESTION

from sayso.asks.model import Ask, Asker, NewAsk, State
from sayso.asks.quorum import Demand, Quorum
from sayso.asks.truth import as_it_went_on
from sayso.cli.action_card import action_card
from sayso.cli.like_prompts import _numbered
from sayso.cli.settling import what_happens
from sayso.config import system_user
from sayso.permissions.action import Action, ActionKind, AllowScope, asking
from sayso.permissions.verdict import Decision, Verdict, verdict_of
from sayso.process_table import started
from sayso.records import replace
from sayso.text import exact, exact_words, is_read_from_the_right

PUSH = Action(kind=ActionKind.SHELL, tool="Bash", folder="/srv/shop", data={"input": {"command": "git push --force"}})
PROMPT = "y allows it, anything else leaves it open: "
TURNED = "Some letters here are read from the right"
LINK = 'x\n```\n\n[n]: /u "\nrm -rf /srv\n"'
HOSTILE = "\x1b[2J\x1b[8mrm -rf ~\x1b[0m\u202e\u200b\r"


def command(*argv: str, stdin: str = "", **files: str) -> Action:
    data = {"argv": list(argv), "stdin": stdin, "files": files, "environment": {}, "first": [], "tool_file": {}}
    return Action(kind=ActionKind.COMMAND, tool="sh", folder="/srv/shop", data=data)


def verdict(home: Home, ask: Ask) -> Verdict:
    found = verdict_of(home.ask_of(ask))
    assert found is not None
    return found


def test_in_a_terminal_the_whole_action_is_shown_and_y_allows_it(home: Home) -> None:
    with home.permission(PUSH) as ask, Terminal(home, "allow", ask.id) as terminal:
        shown = terminal.expect(PROMPT)
        assert "claude-code 2.1, in ~/project" in shown
        assert "    │ git push --force" in shown
        assert "    │ /srv/shop" in shown
        while "Allowed" not in _typed(terminal, "y"):
            pass
        assert terminal.end() == 0
        assert verdict(home, ask).allows(PUSH)
        assert (verdict(home, ask).person, verdict(home, ask).surface) == ("ada", "command line")


@pytest.mark.parametrize("word", ["allow", "deny"])
def test_whoever_decides_too_late_is_told_so_and_that_is_logged(home: Home, word: str) -> None:
    with home.permission(PUSH) as ask:
        assert home.run("deny", ask.id).code == 0
        late = home.run(word, ask.id, *(["--digest", ask.digest] if word == "allow" else []))
    assert (late.code, "Already denied" in late.error) == (4, True), late.error
    (logged,) = [line for line in home.run("log", "show", ask.id).out.splitlines() if "too late" in line]
    assert f"too late, a {'yes' if word == 'allow' else 'no'}: Already denied" in logged
    assert verdict(home, ask).decision is Decision.DENIED


@pytest.mark.finding("F-04")
def test_a_yes_that_was_typed_before_it_could_be_read_counts_for_nothing(home: Home) -> None:
    with home.permission(PUSH) as ask:
        # On a busy machine a word may come late however soon it is typed; then once more.
        for _ in range(3):
            with Terminal(home, "allow", ask.id) as terminal:
                terminal.press(b"y\ny\n")
                terminal.expect(PROMPT)
                told = _typed(terminal, "y")
                if "counts for nothing" in told:
                    break
        else:
            pytest.fail("a word typed at once counts for nothing")
        assert home.ask_of(ask).state is State.PENDING


@pytest.mark.parametrize("typed", ["", "n", "1", "Allow", "yy"])
def test_nothing_but_a_y_allows(home: Home, typed: str) -> None:
    with home.permission(PUSH) as ask, Terminal(home, "allow", ask.id) as terminal:
        terminal.reply(PROMPT, typed)
        terminal.expect(f"Nothing was decided. Deny it: sayso deny {ask.id[:8]}")
        assert terminal.end() == 1
        assert home.ask_of(ask).state is State.PENDING


@pytest.mark.finding("F-11")
def test_what_is_longer_than_the_terminal_is_read_to_its_end_first(home: Home) -> None:
    script = "\n".join(f"echo {number}" for number in range(100)) + "\nrm -rf ~/important"
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/srv", data={"input": {"command": script}})
    with home.permission(action) as ask:
        with Terminal(home, "allow", ask.id) as terminal:
            assert "rm -rf" not in terminal.expect("more lines; Enter shows them, q leaves) ")
            terminal.type("y")
            assert terminal.end() == 1
        assert home.ask_of(ask).state is State.PENDING
        with Terminal(home, "allow", ask.id) as terminal:
            for _ in range(2):
                terminal.reply("q leaves) ", "")
            assert "    │ rm -rf ~/important" in terminal.expect(PROMPT)


@pytest.mark.finding("F-10", "F-12")
@pytest.mark.parametrize("columns", [40, 100])
def test_nothing_in_an_action_leaves_its_block_or_stays_unseen(home: Home, columns: int) -> None:
    action = command("/bin/sh", LINK, HOSTILE, "long " * 60, stdin=f"curl x | sh\n{LINK}", **{"/tmp/x\nTool": HOSTILE})
    with home.permission(action) as ask, Terminal(home, "allow", ask.id, columns=columns) as terminal:
        terminal.expect("wants to do this:")
        shown = terminal.expect("Allow exactly this?").replace("\r\n", "\n")
        assert not re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\u202e\u200b]|\x1b(?!\\[[01]?m)", shown)
        lines = [re.sub(r"\x1b\[\d*m", "", line) for line in shown.split("\n")[1:-1]]
        ours = [line for line in lines if not line.startswith(("    │ ", "    > "))]
        assert [line.split()[0] for line in ours if line] == ["Command", "Standard", "File", "Tool", "Folder"]
        assert max(map(len, lines)) <= columns
        text = "".join(line.removeprefix("    │ ") for line in lines)
        for value in (action.data["stdin"], HOSTILE):
            assert exact(value).replace("\n", "") in text
        assert shlex.quote("long " * 60) in text


def test_a_terminal_that_may_show_arguments_in_another_order_is_said_to(home: Home) -> None:
    with home.permission(command("cp", "א", "--to", "ב")) as ask, Terminal(home, "allow", ask.id) as terminal:
        assert f"    │ cp 'א' --to 'ב'\n{TURNED}" in terminal.expect(PROMPT)
    with home.permission(command("cp", "é", "--to", "Δ")) as ask, Terminal(home, "allow", ask.id) as terminal:
        assert TURNED not in terminal.expect(PROMPT)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(), min_size=1), st.text(), st.dictionaries(st.text(min_size=1), st.text(), max_size=2))
@example(argv=["\xa0"], stdin="\xa0", files={"\xa0": ""})
def test_every_byte_of_any_action_is_in_its_card(argv: list[str], stdin: str, files: dict[str, str]) -> None:
    action = command(*argv, stdin=stdin, **files)
    card = action_card(_asking_for(action))
    inside = "\n".join(line.removeprefix("    │ ") for line in card if line.startswith("    │ "))
    assert exact(stdin) in inside
    assert all(exact(text) in inside for text in files.values())
    named = "\n".join(line.removeprefix("    > ") for line in card if line.startswith("    > "))
    assert all(exact_words(path) in named for path in files)
    ours = [line for line in card if not line.startswith(("    │ ", "    > "))]
    empty = [line for line in ours if line == "    (empty)"]
    assert len(empty) == [stdin, *files.values()].count("")
    turned = [line for line in ours if line.startswith(TURNED)]
    assert len(turned) == sum(map(is_read_from_the_right, (" ".join(argv), stdin, *map("".join, files.items()))))
    assert len(ours) == 4 + len(files) + len(empty) + len(turned)
    assert not re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\u202a-\u202e]", "\n".join(card))


@pytest.mark.parametrize("words", [[], ["--digest", "0" * 64], ["--digest", PUSH.digest[:12]]])
def test_without_a_terminal_only_the_digest_of_the_action_allows_it(home: Home, words: list[str]) -> None:
    with home.permission(PUSH) as ask:
        ran = home.run("allow", ask.id, *words, stdin="y\n")
        assert ran.code == 2
        assert f"sayso show {ask.id[:8]}" in ran.error
        assert home.ask_of(ask).state is State.PENDING
        shown = home.run("show", ask.id, "--json").data
        assert shown["action"]["data"] == PUSH.data
        told = home.run("show", ask.id)
        assert f"Digest  {PUSH.digest}" in told.out
        assert "    │ git push --force" in told.out
        assert f"Allow it: sayso allow {ask.id[:8]}    Deny it: sayso deny {ask.id[:8]}" in told.err
        ran = home.run("allow", ask.id, "--digest", shown["digest"], "--json")
        assert ran.code == 0
        assert ran.err.startswith("Allowed. ")
        assert ran.data["verdict"]["decision"] == "allowed"
        assert verdict(home, ask).allows(PUSH)


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that writes what lies in `typed.1`, then `typed.2`..., and ends the last line as editors do."""
    program = tmp_path / "editor"
    program.write_text(
        f'#!/bin/sh\nn=$(ls {tmp_path} | grep -c seen)\ncp "$1" {tmp_path}/seen.$((n + 1))\n'
        f'cat {tmp_path}/typed.$((n + 1)) > "$1"\n'
    )
    program.chmod(0o755)
    return program


def test_what_was_edited_is_shown_whole_once_more_and_then_allowed(home: Home, tmp_path: Path, editor: Path) -> None:
    (tmp_path / "typed.1").write_text("git push --dry-run\n")
    with (
        home.permission(PUSH, takes_changes=True) as ask,
        Terminal(home, "allow", ask.id, "--edit", EDITOR=str(editor), VISUAL="") as terminal,
    ):
        shown = terminal.expect(PROMPT)
        assert "    │ -git push --force" in shown
        assert "    │ +git push --dry-run" in shown
        assert shown.rindex("    │ git push --dry-run") > shown.rindex("Shell command")
        while "Allowed as edited" not in _typed(terminal, "y"):
            pass
        assert terminal.end() == 0
        found = verdict(home, ask)
        assert found.action
        assert found.action.data["input"] == {"command": "git push --dry-run"}
        assert found.allows(found.action)
        assert (tmp_path / "seen.1").read_text() == "git push --force\n"
        told = home.run("show", ask.id).out
        assert f"As edited, with the digest {found.digest}:" in told
        assert "    │ +git push --dry-run" in told
        row = home.run("history").out
        assert "allowed as edited" in row
        assert "git push --dry-run" in row
        assert "--force" not in row
        logged = home.run("log", "show", ask.id).out
        assert "allowed as edited" in logged
        assert "edited: its input command" in logged
        assert "    │ -git push --force" in logged


def test_an_editor_that_is_not_there_is_named_with_the_variable_that_chose_it(home: Home) -> None:
    with home.permission(PUSH, takes_changes=True) as ask:
        with Terminal(home, "allow", ask.id, "--edit", EDITOR="no-editor", VISUAL="") as terminal:
            assert terminal.end() == 2
        assert "Error: EDITOR: your editor could not be started, or failed (no-editor: " in terminal.screen
        assert home.ask_of(ask).state is State.PENDING


def test_a_bad_edit_is_told_and_what_was_typed_comes_back(home: Home, tmp_path: Path, editor: Path) -> None:
    fetch = Action(kind=ActionKind.FETCH, tool="WebFetch", folder="/", data={"input": {"url": "https://a.example"}})
    (tmp_path / "typed.1").write_text('{"url": ')
    (tmp_path / "typed.2").write_text('{"url": 7}')
    with home.permission(fetch, takes_changes=True) as ask:
        with Terminal(home, "allow", ask.id, "--edit", EDITOR=str(editor), VISUAL="") as terminal:
            assert "input: is no JSON" in terminal.expect("anything else leaves it: ")
            terminal.type("")
            assert "url: expected a text, as the agent gave it, got 7" in terminal.expect("anything else leaves it: ")
            terminal.type("q")
            terminal.expect("What you wrote is kept.")
            assert terminal.end() == 1
        assert (tmp_path / "seen.2").read_text() == '{"url": \n'
        (tmp_path / "typed.3").write_text('{"url": "https://b.example"}')
        with Terminal(home, "allow", ask.id, "--edit", EDITOR=str(editor), VISUAL="") as terminal:
            terminal.reply(PROMPT, "n")
            assert terminal.end() == 1
        assert (tmp_path / "seen.3").read_text() == '{"url": 7}\n'
        assert home.ask_of(ask).state is State.PENDING


def test_an_edit_that_was_left_without_a_last_line_break_takes_none_from_the_next(
    home: Home, tmp_path: Path, editor: Path
) -> None:
    write = {"file_path": str(tmp_path / "new.txt"), "content": "a\n"}
    action = Action(kind=ActionKind.EDIT, tool="Write", folder="/", data={"input": write})
    (tmp_path / "typed.1").write_text("")
    (tmp_path / "typed.2").write_text("a\nb\n")
    with home.permission(action, takes_changes=True) as ask:
        with Terminal(home, "allow", ask.id, "--edit", EDITOR=str(editor), VISUAL="") as terminal:
            terminal.reply(PROMPT, "n")
            assert terminal.end() == 1
        with Terminal(home, "allow", ask.id, "--edit", EDITOR=str(editor), VISUAL="") as terminal:
            assert "Your editor has what you wrote before." in terminal.expect(PROMPT)
            while "Allowed as edited" not in _typed(terminal, "y"):
                pass
            assert terminal.end() == 0
        found = verdict(home, ask)
        assert found.action
        assert found.action.data["input"]["content"] == "a\nb\n"


def test_a_script_allows_another_input_by_the_digest_of_what_it_looked_at(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text('{"command": "git push --dry-run"}')
    with home.permission(PUSH, takes_changes=True) as ask:
        assert home.run("show", ask.id, "--json").data["action"]["takes_changes"] is True
        assert home.run("allow", ask.id, "--input", str(file)).code == 2
        assert home.run("allow", ask.id, "--input", str(file), "--digest", "0" * 64).code == 2
        assert home.run("allow", ask.id, "--edit").code == 2
        ran = home.run("allow", ask.id, "--input", "-", "--digest", PUSH.digest, stdin='{"command": 1}')
        assert "command: expected a text, as the agent gave it, got 1" in ran.error
        assert home.ask_of(ask).state is State.PENDING
        ran = home.run("allow", ask.id, "--input", str(file), "--digest", PUSH.digest, "--json")
        assert ran.err.startswith("Allowed as edited. ")
        assert ran.data["verdict"]["edited"]["data"]["input"] == {"command": "git push --dry-run"}
        received = replace(home.ask_of(ask), wait=None, delivered_at=1)
        assert what_happens(received).startswith("Allowed as edited. The agent has been told that it may, not what you")


def test_who_allows_what_has_changed_since_it_was_shown_is_told_that_it_had_no_effect(home: Home) -> None:
    with home.permission(PUSH) as ask:
        assert home.run("allow", ask.id, "--digest", PUSH.digest).code == 0
        settled = home.ask_of(ask)
        with home.desk() as desk:
            desk.void(ask.id, "changed after it was shown: file")
        seen = as_it_went_on(settled, home.ask_of(ask))
        assert what_happens(seen) == "Not done: changed after it was shown: file."


def test_no_edit_comes_to_what_a_rule_denies(home: Home) -> None:
    rules = Path(home.env["HOME"]) / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text('[[rule]]\ndeny = ["Bash(rm *)"]\nbecause = "Use trash."\n')
    with home.permission(PUSH, takes_changes=True) as ask:
        ran = home.run("allow", ask.id, "--input", "-", "--digest", PUSH.digest, stdin='{"command": "rm -rf build"}')
        assert ran.code == 2
        assert "Use trash." in ran.error
        assert home.ask_of(ask).state is State.PENDING


@pytest.mark.parametrize("words", [["--edit"], ["--input", "/dev/null", "--digest", PUSH.digest]])
def test_nothing_is_edited_where_it_would_not_be_done(home: Home, words: list[str]) -> None:
    with home.permission(PUSH) as ask:
        assert "cannot be changed here" in home.run("allow", ask.id, *words).error
        assert home.ask_of(ask).state is State.PENDING


def test_what_a_plain_yes_covers_beyond_this_call_is_said(home: Home) -> None:
    with home.permission(PUSH, (AllowScope.TOOL,)) as ask:
        assert "Allowing it holds for every call of this tool, whatever its input" in home.run("show", ask.id).out


def test_an_allow_goes_as_far_as_was_offered_and_no_further(home: Home) -> None:
    with home.permission(PUSH, (AllowScope.ONCE, AllowScope.SESSION)) as ask:
        ran = home.run("allow", ask.id, "--digest", PUSH.digest, "--scope", "tool")
        assert ran.code == 2
        assert "it can be allowed for: once, session" in ran.error
        assert home.run("allow", ask.id, "--digest", PUSH.digest, "--scope", "session").code == 0
        assert verdict(home, ask).scope is AllowScope.SESSION


@pytest.mark.parametrize(("verb", "option"), [("deny", "--because"), ("reject", "--reason")])
def test_a_no_is_told_with_its_reason_and_told_apart_ever_after(home: Home, verb: str, option: str) -> None:
    with home.permission(PUSH) as ask:
        ran = home.run(verb, ask.id, option, "on a Friday?")
        assert ran.err.startswith("Denied. ")
        assert (verdict(home, ask).decision, verdict(home, ask).because) == (Decision.DENIED, "on a Friday?")
        listed = home.run("history").out
        assert "denied" in listed
        assert "git push --force" in listed
        assert "→ on a Friday?" in listed
        shown = home.run("show", ask.id, "--events").out
        assert "Denied by ada at the command line" in shown
        assert "    │ git push --force" in shown
        assert f"denied: pending → answered by ada at the command line ({PUSH.digest})" in shown
        again = home.run("allow", ask.id, "--digest", PUSH.digest)
        assert again.code == 4
        assert "Already denied" in again.error


def test_a_permission_whose_call_is_over_is_allowed_by_nobody(home: Home) -> None:
    with home.permission(PUSH) as ask:
        pass
    assert home.run("allow", ask.id, "--digest", PUSH.digest).code == 4
    assert verdict(home, ask).decision is Decision.UNDECIDED
    assert "undecided" in home.run("history").out


@pytest.mark.parametrize("words", [["yes"], ["Allow"], ["-q", "decision=Allow"], []])
def test_no_answer_decides_a_permission(home: Home, words: list[str]) -> None:
    with home.permission(PUSH) as ask:
        if words:
            ran = home.run("answer", ask.id, *words)
            code, told = ran.code, ran.err
        else:
            with Terminal(home, "answer", ask.id) as terminal:
                code = terminal.end()
                told = terminal.screen
        assert code == 2
        assert f"Decide it: sayso allow {ask.id[:8]}, sayso deny {ask.id[:8]}" in " ".join(told.split())
        assert home.ask_of(ask).state is State.PENDING


def test_who_answers_at_prompts_hears_of_permissions_too(home: Home) -> None:
    question = home.leave(confirm("Deploy?"))
    with home.permission(PUSH) as ask, Terminal(home, "answer") as terminal:
        told = terminal.expect("y or n")
        assert f"Allow Bash: git push --force? Decide it: sayso allow {ask.id[:8]}" in told
        assert "Deploy?" in told
    assert home.ask_of(question).state is State.PENDING


@pytest.mark.parametrize("words", [["allow", "ID", "--digest", PUSH.digest], ["deny", "ID"]])
def test_a_question_is_neither_allowed_nor_denied(home: Home, words: list[str]) -> None:
    ask = home.leave(confirm("Deploy?"))
    ran = home.run(*(ask.id if word == "ID" else word for word in words))
    assert ran.code == 2
    assert f"asks for no permission. Answer it: sayso answer {ask.id[:8]}" in ran.error


def _typed(terminal: Terminal, line: str) -> str:
    """What the terminal says to this. Where it asks again, it has asked: typed ahead, one word would meet the other."""
    terminal.type(line)
    told = terminal.expect(".")
    if "counts for nothing" in told:
        terminal.expect("leaves it open: ")
    return told


def _asking_for(action: Action) -> Ask:
    wanted = {"action": action.plain, "scopes": ["once"]}
    return Ask(
        id="a", call_id="c", tool="t", questions=(), asker=AGENT, created_at=0, changed_at=0, bound=True, wanted=wanted
    )


# Allow like this


def shell(home: Home, line: str) -> Action:
    return Action(kind=ActionKind.SHELL, tool="Bash", folder=str(home.project), data={"input": {"command": line}})


@pytest.fixture
def agent(home: Home) -> Iterator[Asker]:
    """An agent whose client runs, so that its session lasts, and has not started us."""
    with subprocess.Popen(["/bin/sh", "-c", "read _"], stdin=subprocess.PIPE) as client:
        yield Asker(
            client="claude-code",
            project=str(home.project),
            session="s-1",
            host=socket.gethostname(),
            pid=client.pid,
            started=started(client.pid),
        )
        client.kill()


def rules_of(home: Home) -> Path:
    return home.folder / ".config" / "sayso" / "rules.toml"


def test_in_a_terminal_a_rule_is_proposed_shown_and_added_with_a_y(home: Home, agent: Asker) -> None:
    action = shell(home, "npm test -- --watch")
    with home.permission(action, asker=agent) as ask, Terminal(home, "allow", ask.id, "--like") as terminal:
        shown = terminal.expect("nothing leaves it open: ")
        assert "  1) Bash(npm test -- --watch)" in shown
        assert "  2) Bash(npm test *)" in shown
        terminal.type("2")
        assert "2) this project" in terminal.expect("A number; nothing leaves it open: ")
        terminal.type("2")
        asked = terminal.expect("y does both, anything else leaves it open: ")
        assert "The rule (this project):" in asked
        assert "nothing was decided that this rule would have matched" in asked
        while "Allowed" not in _typed(terminal, "y"):
            pass
        assert terminal.end() == 0
        assert verdict(home, ask).allows(action)
    assert 'allow = ["Bash(npm test *)"]' in rules_of(home).read_text()
    checked = home.run("rules", "check", "Bash(npm test)", "--json")
    assert checked.data["verdict"] == "allow"


def test_a_proposed_rule_of_several_patterns_has_one_number() -> None:
    assert _numbered(1, "Bash(npm ci)\nBash(npm test)") == ["  1) Bash(npm ci)", "   | Bash(npm test)"]
    assert _numbered(12, "Bash(ls)\nBash(pwd)") == ["  12) Bash(ls)", "    | Bash(pwd)"]


def test_a_script_names_rule_reach_and_digest_or_nothing_happens(home: Home, agent: Asker) -> None:
    action = shell(home, "npm test")
    with home.permission(action, asker=agent) as ask:
        for incomplete in (
            ["--like"],
            ["--like", "Bash(npm test)"],
            ["--like", "--for", "project"],
            ["--for", "project"],
        ):
            assert home.run("allow", ask.id, *incomplete).code == 2
        assert home.run("allow", ask.id, "--like", "--digest", ask.digest).code == 2
        wrong = home.run("allow", ask.id, "--like", "Bash(rm *)", "--for", "project", "--digest", ask.digest)
        assert "this rule does not allow what the agent wants to do here." in wrong.error
        assert home.ask_of(ask).state is State.PENDING
        assert not rules_of(home).exists()
        done = home.run("allow", ask.id, "--like", "Bash(npm test)", "--for", "session", "--digest", ask.digest)
        assert done.code == 0, done.err
        assert verdict(home, ask).allows(action)
    (rule,) = home.run("rules", "--json").data["session_rules"]
    assert (rule["about"], rule["ask"]) == (["Bash(npm test)"], ask.id)
    listed = home.run("rules").out
    assert f"session rule {rule['id'][:8]}" in listed
    assert f"session {rule['session'][-6:]}, " in listed
    assert "rule added" in home.run("log").out
    assert home.run("rules", "end", "0" * 32).code == 3
    assert "It holds no longer: Bash(npm test)" in home.run("rules", "end", rule["id"][:8]).err
    assert home.run("rules", "--json").data["session_rules"] == []


def test_where_several_have_to_agree_a_yes_is_one_of_them_and_can_be_taken_back(home: Home) -> None:
    demand = Demand(rule="Bash(git push *)", place="/etc/sayso/rules.toml:3", people=(system_user(), "ben"), need=2)
    with home.desk() as desk:
        new = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=Asker(client="claude-code"))
        ask = desk.hold(asking(new, PUSH, quorum=Quorum(demands=(demand,)))).ask
        agree = ("allow", ask.id, "--digest", ask.digest)
        assert "Your yes counts. Agreed so far: 1 of 2." in home.run(*agree, SAYSO_PERSON="mira").err
        assert "Agreed so far: 1 of 2." in home.run(*agree, SAYSO_PERSON="ben").err
        shown = home.run("show", ask.id).out
        assert "Who has to agree" in shown
        assert f"Agreed: {system_user()}. Awaited: 1 more of ben." in shown
        assert home.run("show", ask.id, "--json").data["approval"]["demands"][0]["missing"] == 1
        assert "Agreed so far: 0 of 2." in home.run("allow", ask.id, "--take-back").err
        assert home.run("deny", ask.id).code == 0
        assert verdict(home, ask).decision is Decision.DENIED
