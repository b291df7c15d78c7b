"""`sayso gate`: a prompt of a client stands in the inbox as well, and the first of the two that decides wins."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.cli.program import BIN, SECONDS, SOMEONE, Home

from sayso.asks.model import Answer, Ask, Asker, Settler, State
from sayso.chain import LogKind
from sayso.config import Config
from sayso.desks import open_desks
from sayso.dialects.approve import Permission
from sayso.dialects.profiles import profile
from sayso.errors import AlreadySettled, InvalidInput, StoreUnavailable
from sayso.gates.claude_code import OWN_TOOLS, ClaudeCode
from sayso.gates.client import Aftermath, DecidedThere, GateVerdict
from sayso.gates.open_prompt import OpenPrompt
from sayso.gates.prompts import AskedPermission
from sayso.gates.transcript import MOST_LINE, SessionTranscript
from sayso.permissions.action import AllowScope, action_of
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.parts import parts_of
from sayso.permissions.verdict import Decision, verdict_of
from sayso.presence import PresenceDesk
from sayso.processes import name_of
from sayso.roster import Roster

Json = dict[str, Any]
BASH: Json = {"command": "make deploy", "description": "Deploy"}
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
QUESTIONS: Json = {
    "questions": [
        {
            "question": "Which harbour?",
            "header": "Harbour",
            "options": [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}],
            "multiSelect": False,
        },
        {
            "question": "Which cargo?",
            "header": "Cargo",
            "options": [{"label": "Tea", "description": ""}, {"label": "Salt", "description": ""}],
            "multiSelect": True,
        },
    ]
}
Start = Callable[..., subprocess.Popen[bytes]]
Env = Mapping[str, str]
NOTHING: Env = {}
HEADLESS = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}


def prompt(home: Home, tool: str = "Bash", given: Json | None = None, **more: Any) -> Json:
    """The event that Claude Code 2.1.325 hands to its hook."""
    return {
        "hook_event_name": "PermissionRequest",
        "session_id": "s-1",
        "transcript_path": str(home.folder / "transcript.jsonl"),
        "cwd": str(home.project),
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": BASH if given is None else given,
        **more,
    }


def write(home: Home, *lines: Json) -> None:
    with (home.folder / "transcript.jsonl").open("a") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)


def used(use: str, tool: str = "Bash", given: Json | None = None) -> Json:
    block = {"type": "tool_use", "id": use, "name": tool, "input": BASH if given is None else given}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def result(use: str, content: str = "done", *, is_error: bool = False, decided: Json | None = None) -> Json:
    block = {"type": "tool_result", "tool_use_id": use, "content": content, "is_error": is_error}
    line = {"type": "user", "message": {"role": "user", "content": [block]}}
    return {**line, "permissionDecision": decided} if decided else line


YES_THERE = {"decision": "accept", "source": "user_temporary", "grantScope": "once", "reasonCode": "unknown"}
NO_THERE = {"decision": "reject", "source": "user_reject", "reasonCode": "unknown"}
YES_HERE = {"decision": "accept", "source": "hook", "reasonType": "hook", "reasonCode": "unknown"}
NO_HERE = {"decision": "reject", "source": "hook", "reasonType": "hook", "reasonCode": "hook:PermissionRequest"}
"""Who has decided, as 2.1.325 writes it beside the result of a tool."""
STOPPED: list[Json] = [
    {
        **result("toolu_1", REJECTED, is_error=True),
        "toolUseResult": "User rejected tool use",
        "toolDenialKind": "user-rejected",
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
        },
        "interruptedMessageId": "msg_1",
    },
]
"""What it writes after an Esc, also after one that stops a command which a hook has allowed: it names nobody."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A gate whose prompt is in the inbox."""

    home: Home
    process: subprocess.Popen[bytes]
    ask: Ask

    def allow(self, scope: AllowScope | None = None, changed: Json | None = None) -> None:
        with self.home.desk() as desk:
            PermissionDesk(desk).allow(self.ask.id, self.ask.digest, SOMEONE, scope, changed)

    def deny(self, because: str = "") -> None:
        with self.home.desk() as desk:
            PermissionDesk(desk).deny(self.ask.id, SOMEONE, because)

    def printed(self) -> str:
        """All that it has printed, once it has ended."""
        out, err = self.process.communicate(timeout=SECONDS)
        assert (self.process.returncode, err) == (0, b"")
        return out.decode()

    def decision(self) -> Json:
        said = json.loads(self.printed())["hookSpecificOutput"]
        assert said["hookEventName"] == "PermissionRequest"
        decision: Json = said["decision"]
        return decision

    @property
    def end(self) -> Ask:
        """The ask as it is now."""
        return self.home.ask_of(self.ask)

    @property
    def logged(self) -> list[LogKind]:
        with self.home.desk() as desk:
            return [entry.event.kind for entry in PermissionLog(desk._store).find(self.ask.id).entries]


def started(
    home: Home, event: Json, env: Env = NOTHING, out: int = subprocess.PIPE, start: Start = warm.start
) -> subprocess.Popen[bytes]:
    process = start(
        [BIN / "sayso", "gate", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=subprocess.PIPE,
        cwd=home.project,
        env={**home.env, "CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_ENTRYPOINT": "cli", **env},
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(event).encode())
    process.stdin.close()
    process.stdin = None
    return process


@contextmanager
def waiting(home: Home, event: Json | None = None, env: Env = NOTHING, start: Start = warm.start) -> Iterator[Gate]:
    process = started(home, event or prompt(home), env, start=start)
    try:
        yield Gate(home=home, process=process, ask=home.wait_for_ask())
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def until(look: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not look():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.02)


# Deciding here


def test_an_allow_from_the_inbox_is_told_to_the_client_and_logged_as_handed_over(home: Home) -> None:
    with waiting(home, env={"AI_AGENT": "claude-code_2-1-325_harness"}) as gate:
        gate.allow()
        assert gate.decision() == {"behavior": "allow"}
        assert gate.end.delivered
        assert gate.logged == [LogKind.ASKED, LogKind.ALLOWED, LogKind.HANDED_OVER]
    asker = gate.ask.asker
    assert (asker.client, asker.version, asker.session) == ("claude-code", "2.1.325", "s-1")
    assert (asker.project, asker.host) == (str(home.project), socket.gethostname())
    assert name_of(os.getpid()) is not None
    assert asker.pid == os.getpid()


def test_the_client_is_told_once_all_have_agreed_whom_the_rules_name_at_first_or_after_a_while(home: Home) -> None:
    _write_rules(home, 'approvers = ["mira", "ben"]\nneed = 2\nescalate = { after = "100ms", to = ["cy"] }')
    with waiting(home) as gate:
        gate.allow()
        assert gate.end.state is State.PENDING
        until(lambda: LogKind.ESCALATED in gate.logged, "more people to be asked")
        with home.desk() as desk:
            with pytest.raises(InvalidInput, match="It takes a yes of mira, ben, cy"):
                PermissionDesk(desk).allow(gate.ask.id, gate.ask.digest, Settler(person="eve", surface="page"))
            PermissionDesk(desk).allow(gate.ask.id, gate.ask.digest, Settler(person="cy", surface="page"))
        assert gate.decision() == {"behavior": "allow"}
        assert gate.logged[-2:] == [LogKind.ALLOWED, LogKind.HANDED_OVER]


def test_what_several_have_to_agree_to_is_a_no_when_its_time_is_over_also_beside_a_terminal(home: Home) -> None:
    _write_rules(home, 'approvers = ["ben"]\ntimeout = "200ms"')
    out, _ = started(home, prompt(home)).communicate(timeout=SECONDS)
    decision = json.loads(out)["hookSpecificOutput"]["decision"]
    assert (decision["behavior"], decision["message"][:14]) == ("deny", "Nobody decided")


def _write_rules(home: Home, demand: str) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(f'[[rule]]\nask = ["Bash(make *)"]\n{demand}\n')


def test_a_denial_reaches_the_agent_with_the_persons_words(home: Home) -> None:
    with waiting(home) as gate:
        gate.deny("not before the release")
        assert gate.decision() == {
            "behavior": "deny",
            "message": "The user did not allow this. They said: not before the release",
        }
        assert gate.logged == [LogKind.ASKED, LogKind.DENIED]


def test_what_a_person_has_changed_is_what_the_client_is_to_do(home: Home) -> None:
    with waiting(home) as gate:
        gate.allow(changed={**BASH, "command": "make deploy TARGET=test"})
        assert gate.decision()["updatedInput"] == {**BASH, "command": "make deploy TARGET=test"}


def test_a_plan_is_allowed_with_its_input_without_which_the_client_takes_no_allow(home: Home) -> None:
    plan = {"plan": "# The plan\n\n1. Dig\n", "planFilePath": "/p.md"}
    with waiting(home, prompt(home, "ExitPlanMode", plan)) as gate:
        assert gate.ask.wanted is not None
        assert gate.ask.wanted["action"]["kind"] == "plan"
        gate.allow()
        assert gate.decision() == {"behavior": "allow", "updatedInput": plan}


def test_an_edit_shows_its_diff_and_is_not_allowed_once_the_file_has_changed(home: Home) -> None:
    file = home.project / "port.txt"
    file.write_text("80\n")
    edit = {"file_path": str(file), "old_string": "80", "new_string": "8080"}
    with waiting(home, prompt(home, "Edit", edit)) as gate:
        assert gate.ask.wanted is not None
        assert "+8080" in gate.ask.wanted["action"]["data"]["diff"]
        file.write_text("80 # mine\n")
        gate.allow()
        assert gate.decision()["behavior"] == "deny"
        found = verdict_of(gate.end)
        assert found is not None
        assert found.decision is Decision.NOT_DONE


def test_who_allows_a_read_sees_where_a_link_leads_and_no_yes_follows_it_elsewhere(home: Home) -> None:
    notes, harmless, secret = home.project / "notes.md", home.project / "ok.md", home.project / "secret"
    notes.symlink_to(harmless)
    read = prompt(home, "Read", {"file_path": str(notes)})
    with waiting(home, read) as gate:
        assert gate.ask.title.startswith("Allow Read: notes.md → /")
        action = action_of(gate.ask)
        assert action
        first, *_ = parts_of(action)
        assert (first.label, first.text) == ("Link", f"{notes} -> {harmless}")
        gate.allow(scope=AllowScope.SESSION)
        assert gate.decision()["behavior"] == "allow"
    notes.unlink()
    notes.symlink_to(secret)
    with waiting(home, read) as gate:
        assert str(secret) in str(gate.ask.wanted)
        notes.unlink()
        notes.symlink_to(harmless)
        gate.allow()
        assert gate.decision()["behavior"] == "deny"


def test_an_edit_to_a_path_with_a_link_that_nobody_was_shown_is_not_done(home: Home) -> None:
    (home.project / "notes.md").symlink_to(home.project / "secret")
    with waiting(home, prompt(home, "Read", {"file_path": "ok.md"})) as gate:
        gate.allow(changed={"file_path": "notes.md"})
        assert gate.decision() == {
            "behavior": "deny",
            "message": 'The user allowed this, but where "notes.md" leads changed after they had looked at it, so it '
            "was not allowed. Look at it again, and then ask again.",
        }


def test_the_questions_of_claudes_own_tool_are_answered_from_the_inbox(home: Home) -> None:
    with waiting(home, prompt(home, "AskUserQuestion", QUESTIONS)) as gate:
        assert not gate.ask.is_permission
        answers = [
            Answer(question="1", text="The western one", note="it is new"),
            Answer(question="2", chosen=("1", "2")),
        ]
        with home.desk() as desk:
            desk.answer(gate.ask.id, answers, SOMEONE)
        told = gate.decision()
        assert told["behavior"] == "allow"
        assert told["updatedInput"] == {
            **QUESTIONS,
            "answers": {"Which harbour?": "The western one (note: it is new)", "Which cargo?": "Tea, Salt"},
        }
        assert gate.end.delivered


def test_what_was_allowed_for_the_rest_of_the_session_is_answered_at_once_there_and_nowhere_else(home: Home) -> None:
    with waiting(home) as gate:
        gate.allow(AllowScope.SESSION)
        assert gate.decision() == {"behavior": "allow"}
    again = started(home, prompt(home))
    assert json.loads(again.communicate(timeout=SECONDS)[0])["hookSpecificOutput"]["decision"] == {"behavior": "allow"}
    assert gate.logged[-1] is LogKind.HANDED_OVER
    _write_rules(home, 'approvers = ["ben"]')  # and he has agreed to nothing
    with waiting(home) as other:
        assert other.ask.id != gate.ask.id
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    for later in ('[[rule]]\nask = ["Bash(make *)"]\n', "[[rule]]\nallow = 1\n"):
        rules.write_text(later)
        with waiting(home) as other:
            assert other.ask.id != gate.ask.id
    rules.unlink()
    others: list[tuple[Json, Env]] = [
        (prompt(home, session_id="s-2"), {}),
        (prompt(home, given={**BASH, "command": "make deploy "}), {}),
        (prompt(home, cwd=str(home.folder)), {}),
        (prompt(home), {"CLAUDE_PID": str(os.getppid())}),
    ]
    for event, env in others:
        with waiting(home, event, env) as other:
            assert other.ask.id != gate.ask.id


def test_who_knew_the_rule_that_asks_is_not_asked_by_it_again_in_that_session(home: Home) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\nask = ["Bash(make *)"]\n')
    with waiting(home) as gate:
        gate.allow(AllowScope.SESSION)
        assert gate.decision() == {"behavior": "allow"}
    for _ in ("while it asks", "once it is gone"):
        again = started(home, prompt(home))
        told = json.loads(again.communicate(timeout=SECONDS)[0])
        assert told["hookSpecificOutput"]["decision"] == {"behavior": "allow"}
        rules.unlink(missing_ok=True)


@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_rules_decide_before_anybody_is_asked(home: Home, effect: str) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text(f'[[rule]]\n{effect} = ["Bash(make deploy)"]\n')
    ran = home.run("gate", "claude-code", stdin=json.dumps(prompt(home)))
    assert ran.data["hookSpecificOutput"]["decision"]["behavior"] == effect
    with home.desk() as desk:
        assert desk.inbox() == []


@pytest.mark.parametrize("told", [True, False], ids=["told by the client", "found by its repository"])
def test_what_a_rule_means_does_not_follow_the_folder_that_an_agent_changes_to(home: Home, told: bool) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text(
        '[[rule]]\ndeny = ["Edit(infra/**)", "Read(x/own/**)"]\n'
        '[[rule]]\nallow = ["Edit(**)", "Read(**)", "Bash(git log *)", "Bash(./run.sh)"]\n'
    )
    theirs = home.project / ".sayso" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text('[[rule]]\ndeny = ["Bash(git log *)"]\n')
    below = home.project / "infra" / "x"
    for folder in (below / "x" / "own", home.project / ".git"):
        folder.mkdir(parents=True)
    (home.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    env = {"CLAUDE_PROJECT_DIR": str(home.project)} if told else {}
    folders = [home.project, below.parent, below, *([home.folder, Path("/")] if told else [])]
    main, other = str(below / "main.tf"), str(home.project / "a.py")
    log, near = {"command": "git log"}, {"file_path": "own/key"}
    wanted = [(folder, "Edit", {"file_path": main}, "deny") for folder in folders]
    wanted += [(folder, "Read", {"file_path": other}, "allow") for folder in folders]
    wanted += [(folder, "Bash", log, "deny") for folder in folders]
    # What denies also counts as seen from the folder.
    wanted += [(below, "Read", {"file_path": "x/own/key"}, "deny"), (below / "x", "Read", near, "allow")]
    wanted += [(home.project, "Bash", {"command": "./run.sh"}, "allow")]
    for folder, tool, given, behavior in wanted:
        event = prompt(home, tool, given, cwd=str(folder))
        ran = home.run("gate", "claude-code", stdin=json.dumps(event), **env)
        assert ran.data["hookSpecificOutput"]["decision"]["behavior"] == behavior, (folder, tool)


def test_a_rule_allows_nothing_for_the_folder_that_an_agent_changes_to(home: Home) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\nallow = ["Read(**)", "Bash(./run.sh)"]\n')
    (home.project / "sub").mkdir()
    env = {"CLAUDE_PROJECT_DIR": str(home.project)}
    asked: list[tuple[Path, str, Json]] = [
        (Path("/"), "Read", {"file_path": "/etc/hosts"}),
        (home.project / "sub", "Bash", {"command": "./run.sh"}),
    ]
    for folder, tool, given in asked:
        with waiting(home, prompt(home, tool, given, cwd=str(folder)), env) as gate:
            gate.deny()
            assert gate.decision()["behavior"] == "deny"


@pytest.mark.parametrize(
    ("env", "said"), [(HEADLESS, "Nobody decided within 1 second, so this was not allowed."), ({}, "")]
)
def test_when_its_time_is_over_a_client_without_a_terminal_hears_that_nobody_decided(
    home: Home, env: Env, said: str
) -> None:
    with waiting(home, env={"SAYSO_APPROVE_TIMEOUT": "1s", **env}) as gate:
        printed = gate.printed()
        assert said in printed
        assert bool(printed) == bool(said)
        assert 'allow"' not in printed
        assert gate.end.state is State.EXPIRED


# Deciding there


def test_a_no_in_the_terminal_ends_the_hook_and_withdraws_the_prompt(home: Home) -> None:
    write(home, used("toolu_1"))
    with waiting(home) as gate:
        gate.process.send_signal(signal.SIGTERM)
        assert gate.printed() == ""
        end = gate.end
        assert (end.state, end.delivered) == (State.CANCELLED, True)
        assert end.outcome is not None
        assert end.outcome.reason == "denied in the terminal of Claude Code"
        assert "Decided elsewhere by someone in the terminal of Claude Code" in home.run("show", end.id).out
        assert "im Terminal von Claude Code abgelehnt" in home.run("history", SAYSO_LANGUAGE="de").out
        assert gate.logged == [LogKind.ASKED, LogKind.ELSEWHERE]


def test_a_client_without_a_terminal_that_ends_its_hook_has_denied_nothing(home: Home) -> None:
    with waiting(home, env=HEADLESS) as gate:
        gate.process.send_signal(signal.SIGTERM)
        assert gate.printed() == ""
        assert gate.end.state is State.EXPIRED
        assert gate.logged == [LogKind.ASKED, LogKind.UNDECIDED]


@pytest.mark.parametrize(
    ("line", "how"),
    [
        (result("toolu_2"), "allowed"),
        (result("toolu_2", "exit 1", is_error=True), "allowed"),
        (result("toolu_2", REJECTED, is_error=True), "denied"),
    ],
)
def test_the_result_of_the_tool_in_the_transcript_withdraws_the_prompt(home: Home, line: Json, how: str) -> None:
    # The same was done before, and something else is under way.
    write(home, used("toolu_0"), result("toolu_0"), used("toolu_1", given={"command": "ls"}), used("toolu_2"))
    with waiting(home) as gate:
        write(home, result("toolu_1"))
        write(home, line)
        assert gate.printed() == ""
        outcome = gate.end.outcome
        assert outcome is not None
        assert outcome.reason == f"{how} in the terminal of Claude Code"
        with home.desk() as desk, pytest.raises(AlreadySettled):
            PermissionDesk(desk).allow(gate.ask.id, gate.ask.digest, SOMEONE)


def test_a_transcript_that_comes_later_and_in_pieces_is_read_all_the_same(home: Home) -> None:
    with waiting(home) as gate:
        text = "".join(f"{json.dumps(line)}\n" for line in (used("toolu_1"), result("toolu_1")))
        with (home.folder / "transcript.jsonl").open("w") as file:
            for piece in (text[:50], text[50:-30], text[-30:]):
                file.write(piece)
                file.flush()
        assert gate.printed() == ""
        assert gate.end.state is State.CANCELLED


def test_of_an_agent_that_another_has_started_the_transcript_is_a_file_of_its_own(home: Home) -> None:
    file = home.folder / "transcript" / "subagents" / "agent-a1.jsonl"
    with waiting(home, prompt(home, agent_id="a1")) as gate:
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"{json.dumps(line)}\n" for line in (used("toolu_1"), result("toolu_1"))))
        assert gate.printed() == ""


def about_agent(home: Home, **about: str) -> Json:
    """The prompt of an agent that another has started, with what Claude Code writes about it."""
    file = home.folder / "transcript" / "subagents" / "agent-a1.meta.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"agentType": "general-purpose", **about}))
    return prompt(home, agent_id="a1", agent_type="general-purpose")


@pytest.mark.parametrize("about", [{"requestShape": "background"}, {}], ids=["background", "not told"])
def test_of_an_agent_in_the_background_claudes_own_prompt_comes_at_once_to_a_person_who_is_here(
    home: Home, about: Mapping[str, str]
) -> None:
    """It shows none as long as the hook waits: nobody at that terminal would see that anything is asked."""
    assert home.run("back").code == 0
    gate = started(home, about_agent(home, **about))
    assert gate.communicate(timeout=SECONDS) == (b"", b"")
    with home.desk() as desk:
        assert desk.inbox() == []


def test_of_an_agent_in_the_background_a_prompt_waits_in_the_inbox_until_the_person_is_back(home: Home) -> None:
    assert home.run("away").code == 0
    event = about_agent(home, requestShape="background")
    with waiting(home, event) as gate:
        gate.allow()
        assert gate.decision() == {"behavior": "allow"}
    with waiting(home, event) as gate:
        with home.desk() as desk:
            PresenceDesk(desk._store, away_after=600_000).come_back("ada", "test")
        assert gate.printed() == ""
        assert gate.end.state is State.EXPIRED


def test_of_an_agent_in_the_foreground_both_prompts_are_open(home: Home) -> None:
    assert home.run("back").code == 0
    with waiting(home, about_agent(home, requestShape="foreground")) as gate:
        gate.deny("not that")
        assert gate.decision()["behavior"] == "deny"


def test_a_person_is_told_which_subagent_wants_it(home: Home) -> None:
    event = prompt(home, agent_id="a1", agent_type="code-reviewer\x1b[2J")
    assert home.run("away").code == 0
    with waiting(home, event) as gate:
        shown = home.run("show", gate.ask.id).out
        assert "Asked by the subagent" in shown
        assert "code-reviewer<U+001B>[2J" in shown
        gate.deny("not that")
    assert home.run("back").code == 0
    with waiting(home, prompt(home, agent_type="main")) as gate:
        assert "subagent" not in home.run("show", gate.ask.id).out
        gate.deny("not that")


def test_questions_answered_in_the_terminal_leave_the_inbox_and_are_owed_to_nobody(home: Home) -> None:
    write(home, used("toolu_1", "AskUserQuestion", QUESTIONS))
    with waiting(home, prompt(home, "AskUserQuestion", QUESTIONS)) as gate:
        write(home, result("toolu_1", "Your questions have been answered"))
        assert gate.printed() == ""
        outcome = gate.end.outcome
        assert outcome is not None
        assert outcome.reason == "answered in the terminal of Claude Code"
    step = {"hook_event_name": "PostToolUse", "cwd": str(home.project), "session_id": "s-1"}
    assert home.run("hook", stdin=json.dumps(step)).out == ""


# Deciding in both places


def in_a_line(home: Home, *words: str) -> str:
    return " ".join(home.run(*words).out.split())


def test_a_no_stays_the_verdict_whatever_the_transcript_says_which_is_noted_beside_it(home: Home) -> None:
    # It may write down late what it asks about, where it has much to do.
    write(home, used("toolu_0", given={"command": "ls"}))
    said = home.folder / "said"
    with waiting(home, env={"SAYSO_NOTIFY_COMMAND": f"tee -a {said}"}) as gate:
        gate.deny("use make clean")
        assert gate.decision()["behavior"] == "deny"
        write(home, used("toolu_1"), result("toolu_1", decided=YES_THERE))
        until(lambda: LogKind.NOTED in gate.logged, "what the transcript says to be noted")
        assert gate.logged == [LogKind.ASKED, LogKind.DENIED, LogKind.NOTED]
        found = verdict_of(gate.end)
        assert found is not None
        assert (found.decision, found.person, found.because) == (Decision.DENIED, SOMEONE.person, "use make clean")
        how = "own record says that it was allowed in its terminal before the no given here arrived, and done"
        for words in (("show", gate.ask.id), ("history",), ("log",), ("log", "show", gate.ask.id)):
            shown = in_a_line(home, *words)
            assert f"Claude Code's {how}" in shown
            assert "denied" in shown.lower()
            assert "use make clean" in shown
            assert "elsewhere" not in shown
        german = home.run("history", SAYSO_LANGUAGE="de").out
        assert "in seinem Terminal erlaubt und ausgeführt wurde, ehe das Nein von hier ankam" in german
        assert home.run("log", "verify").code == 0
        until(lambda: said.exists() and "by its own record, its terminal was first" in said.read_text(), "a notice")
        assert "make clean" not in said.read_text()


def test_a_yes_that_a_no_in_the_terminal_may_have_come_before_stands_but_not_for_the_session(home: Home) -> None:
    write(home, used("toolu_1"))
    with waiting(home) as gate:
        gate.allow(AllowScope.SESSION)
        assert gate.decision() == {"behavior": "allow"}
        write(home, result("toolu_1", REJECTED, is_error=True, decided=NO_THERE))
        until(lambda: LogKind.NOTED in gate.logged, "what the transcript says to be noted")
        assert gate.logged == [LogKind.ASKED, LogKind.ALLOWED, LogKind.HANDED_OVER, LogKind.NOTED]
        found = verdict_of(gate.end)
        assert found is not None
        assert found.decision is Decision.ALLOWED
        how = "Claude Code's own record says that it was denied in its terminal before the yes given here arrived"
        assert how in in_a_line(home, "show", gate.ask.id)
        assert home.run("log", "verify").code == 0
    write(home, used("toolu_2"))
    with waiting(home) as gate:
        gate.deny()
        assert gate.decision()["behavior"] == "deny"


def test_answers_stay_what_a_person_said_also_where_the_terminal_may_have_been_first(home: Home) -> None:
    write(home, used("toolu_1", "AskUserQuestion", QUESTIONS))
    with waiting(home, prompt(home, "AskUserQuestion", QUESTIONS)) as gate:
        with home.desk() as desk:
            desk.answer(
                gate.ask.id, [Answer(question="1", text="The new one"), Answer(question="2", text="Tin")], SOMEONE
            )
        assert gate.decision()["behavior"] == "allow"
        write(home, result("toolu_1", "Your questions have been answered", decided=YES_THERE))
        until(lambda: gate.end.outcome and gate.end.outcome.noted, "what the transcript says to be noted")
        assert gate.end.state is State.ANSWERED
        how = "own record says that it was answered in its terminal before the answer given here arrived"
        for words in (("show", gate.ask.id), ("history",)):
            shown = in_a_line(home, *words)
            assert how in shown
            assert "The new one" in shown
        assert f"Answered by {SOMEONE.person}" in in_a_line(home, "show", gate.ask.id)


def test_an_esc_after_an_allow_is_not_taken_for_a_no_to_what_ran(home: Home) -> None:
    write(home, used("toolu_1"))
    with waiting(home) as gate:
        gate.allow()
        assert gate.decision() == {"behavior": "allow"}
        write(home, *STOPPED)
        until(lambda: not of_home(home), "what looks after the verdict to end")
        assert gate.logged == [LogKind.ASKED, LogKind.ALLOWED, LogKind.HANDED_OVER]
        assert gate.end.outcome is not None
        assert (gate.end.outcome.void, gate.end.outcome.noted) == ("", "")
        assert "handed over" in home.run("log").out


def test_where_both_have_allowed_it_nothing_says_that_it_did_not_run(home: Home) -> None:
    event = ClaudeCode().read(prompt(home), {})
    with open_desks(Config(state_dir=home.state, project=home.project)) as desks:
        question = AskedPermission(event, Asker(client="claude-code", session="s-1"), desks.config, desks)
        opened = OpenPrompt("Claude Code", "claude-code", question, desks.asks.hold(question.new), desks)
        desks.permissions.allow(opened.ask.id, opened.ask.digest, SOMEONE)
        opened.withdraw(DecidedThere.ALLOWED)
        kinds = [entry.event.kind for entry in desks.log.find(opened.ask.id).entries]
    assert kinds == [LogKind.ASKED, LogKind.ALLOWED, LogKind.HANDED_OVER]


def test_what_was_allowed_as_edited_here_and_as_it_was_there_was_not_done_as_allowed_here(home: Home) -> None:
    event = ClaudeCode().read(prompt(home), {})
    with open_desks(Config(state_dir=home.state, project=home.project)) as desks:
        question = AskedPermission(event, Asker(client="claude-code", session="s-1"), desks.config, desks)
        opened = OpenPrompt("Claude Code", "claude-code", question, desks.asks.hold(question.new), desks)
        edited = {**BASH, "command": "make deploy DRY=1"}
        desks.permissions.allow(opened.ask.id, opened.ask.digest, SOMEONE, changed_input=edited)
        opened.withdraw(DecidedThere.ALLOWED)
        assert not desks.asks.get(opened.ask.id).delivered


def test_an_allow_that_nobody_took_does_not_count_as_handed_over(home: Home) -> None:
    event = ClaudeCode().read(prompt(home), {})
    with open_desks(Config(state_dir=home.state, project=home.project)) as desks:
        question = AskedPermission(event, Asker(client="claude-code", session="s-1"), desks.config, desks)
        opened = OpenPrompt("Claude Code", "claude-code", question, desks.asks.hold(question.new), desks)
        ask = desks.permissions.allow(opened.ask.id, opened.ask.digest, SOMEONE)
        assert opened.hand_over(ask, lambda _: False)
        assert (desks.asks.get(ask.id).delivered, opened.told) == (False, None)


def of_home(home: Home) -> list[int]:
    """The gates of this home, and what they left behind."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mine = f"SAYSO_STATE_DIR={home.state}".encode() in (entry / "environ").read_bytes().split(b"\0")
            if mine and b"\0gate\0" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def test_what_looks_after_a_verdict_is_small_keeps_nobody_waiting_and_ends_with_the_client(home: Home) -> None:
    write(home, used("toolu_1"))
    event = home.folder / "event.json"
    event.write_text(json.dumps(prompt(home)))
    words = ["sh", "-c", f"sayso gate claude-code < {event}; echo over; read rest"]
    with subprocess.Popen(words, stdin=-1, stdout=-1, cwd=home.project, env=home.env, text=True) as client:
        ask = home.wait_for_ask()
        gate = int(ask.server.partition("-")[0])
        with home.desk() as desk:
            PermissionDesk(desk).deny(ask.id, SOMEONE)
        assert client.stdout is not None
        assert client.stdout.readline().endswith("over\n")
        until(lambda: len(of_home(home)) == 1 and name_of(gate) is None, "the gate to leave one behind")
        (left,) = of_home(home)
        status = Path(f"/proc/{left}/status").read_text()
        rss = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        assert rss < 25 * 1024
        ends = [Path(f"/proc/{left}/fd/{number}") for number in (0, 1, 2)]
        until(lambda: {os.readlink(end) for end in ends} == {os.devnull}, "it to hold nothing of its client's")
    until(lambda: not of_home(home), "it to end with the client")
    assert home.ask_of(ask).state is State.ANSWERED


@pytest.mark.parametrize(
    ("lines", "no", "yes", "edited"),
    [
        ([result("toolu_1", decided=YES_THERE)], Aftermath.ALLOWED, Aftermath.TAKEN, Aftermath.ALLOWED),
        (
            [result("toolu_1", "exit 1", is_error=True, decided=YES_THERE)],
            Aftermath.ALLOWED,
            Aftermath.TAKEN,
            "allowed",
        ),
        ([result("toolu_1", decided=YES_HERE)], Aftermath.ALLOWED, Aftermath.TAKEN, Aftermath.TAKEN),
        ([result("toolu_1", "no", is_error=True, decided=NO_HERE)], *[Aftermath.TAKEN] * 3),
        ([result("toolu_1", REJECTED, is_error=True, decided=NO_THERE)], Aftermath.TAKEN, "denied", "denied"),
        (STOPPED, *[Aftermath.TAKEN] * 3),
        # A client that does not say who has decided:
        ([result("toolu_1")], Aftermath.ALLOWED, Aftermath.TAKEN, Aftermath.TAKEN),
        ([result("toolu_1", "exit 1", is_error=True)], Aftermath.TAKEN, Aftermath.TAKEN, Aftermath.TAKEN),
        ([result("toolu_1", REJECTED, is_error=True)], *[Aftermath.TAKEN] * 3),
        # What it sends to its model is not what it says itself, and of two alike nobody knows which is meant:
        ([{**result("toolu_1"), "type": "api-request-blob"}], None, None, None),
        ([used("toolu_2"), result("toolu_1", decided=YES_THERE)], None, None, None),
        (
            [
                used("toolu_2"),
                result("toolu_1", decided=YES_THERE),
                result("toolu_2", "no", is_error=True, decided=NO_HERE),
            ],
            *[Aftermath.TAKEN] * 3,
        ),
    ],
)
def test_the_transcript_says_whether_what_was_told_has_counted(
    tmp_path: Path, lines: list[Json], no: str | None, yes: str | None, edited: str | None
) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text(f"{json.dumps(used('toolu_1'))}\n")
    told = (
        GateVerdict(allowed=False, given={}, message="no"),
        GateVerdict(allowed=True, given=BASH),
        GateVerdict(allowed=True, given={"command": "true"}),
    )
    trails = [SessionTranscript(path, Permission(tool="Bash", given=BASH)) for _ in told]
    assert [trail.after(verdict) for trail, verdict in zip(trails, told, strict=True)] == [None] * 3
    with path.open("a") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)
    assert [trail.after(verdict) for trail, verdict in zip(trails, told, strict=True)] == [no, yes, edited]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"tool_use": ' + b"[" * 3000 + b"]" * 3000 + b"}", id="deep"),
        pytest.param(b'{"tool_use": "' + b"x" * (MOST_LINE + 1) + b'"}', id="long"),
        pytest.param(b'{"tool_use": "\xff\xfe"}', id="not UTF-8"),
        pytest.param(b'["tool_use"]', id="no object"),
        pytest.param(b'{"tool_use": ' + b"9" * 5000 + b"}", id="a long number"),
    ],
)
def test_a_line_of_the_transcript_that_nobody_can_read_keeps_no_other_one_from_being_read(
    tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(line + b"\n" + json.dumps(used("toolu_1")).encode() + b"\n")
    trail = SessionTranscript(path, Permission(tool="Bash", given=BASH))
    assert trail.look() is None
    with path.open("ab") as file:
        file.write(line + b"\n" + json.dumps(result("toolu_1")).encode() + b"\n")
    assert trail.look() is DecidedThere.ALLOWED


def test_no_pipe_in_the_place_of_the_transcript_is_waited_for(home: Home) -> None:
    os.mkfifo(home.folder / "transcript.jsonl")
    with waiting(home) as gate:
        gate.deny("use make clean")
        assert gate.decision()["behavior"] == "deny"


# When something ends


@pytest.mark.parametrize(
    ("tool", "given", "state"), [("Bash", BASH, State.EXPIRED), ("AskUserQuestion", QUESTIONS, State.CANCELLED)]
)
def test_a_gate_ends_with_its_client_and_takes_the_prompt_along(
    home: Home, tool: str, given: Json, state: State
) -> None:
    event = home.folder / "event.json"
    event.write_text(json.dumps(prompt(home, tool, given)))
    words = ["sh", "-c", f"sayso gate claude-code < {event} > {home.folder / 'out'}; true"]
    with subprocess.Popen(words, cwd=home.project, env=home.env) as client:
        ask = home.wait_for_ask()
        gate = int(ask.server.partition("-")[0])
        client.kill()
    until(lambda: name_of(gate) is None, "the gate to end")
    assert home.ask_of(ask).state is state
    assert (home.folder / "out").read_text() == ""


def test_a_gate_ends_when_nobody_reads_what_it_prints(home: Home) -> None:
    reads, writes = os.pipe()
    process = started(home, prompt(home), out=writes)
    os.close(writes)
    ask = home.wait_for_ask()
    os.close(reads)
    assert process.wait(timeout=SECONDS) == 0
    assert home.ask_of(ask).state is State.EXPIRED
    process.communicate()


def test_a_verdict_for_a_gate_that_was_killed_is_refused_as_too_late(home: Home) -> None:
    with waiting(home) as gate:
        gate.process.kill()
        gate.process.wait(timeout=SECONDS)
        with pytest.raises(AlreadySettled):
            gate.allow()
        assert LogKind.TOO_LATE in gate.logged
        assert LogKind.HANDED_OVER not in gate.logged


def test_however_gates_end_the_client_hears_of_an_allow_only_where_somebody_gave_it(home: Home) -> None:
    chance, gates = random.Random(7), list[tuple[str, Ask, subprocess.Popen[bytes]]]()
    for number in range(12):
        process = started(home, prompt(home, given={"command": f"echo {number}"}))
        with home.desk() as desk:
            until(lambda desk=desk, n=number: len(desk.inbox(most=100)) > n, "the prompt")  # type: ignore[misc]
            ask = max(desk.inbox(most=100), key=lambda each: each.created_at)
        gates.append((chance.choice(["allow", "deny", "kill", "end", "allow and kill"]), ask, process))
    chance.shuffle(gates)
    with home.desk() as desk:
        permissions = PermissionDesk(desk)
        for fate, ask, process in gates:
            if "allow" in fate:
                permissions.allow(ask.id, ask.digest, SOMEONE)
            elif fate == "deny":
                permissions.deny(ask.id, SOMEONE)
            if "kill" in fate:
                process.kill()
            elif fate == "end":
                process.terminate()
        told = [b'"allow"' in process.communicate(timeout=SECONDS)[0] for _, _, process in gates]
        desk.release_the_dead()
        log = PermissionLog(desk._store)
        for (fate, ask, _), allowed in zip(gates, told, strict=True):
            assert not desk.get(ask.id).state.answerable
            kinds = [entry.event.kind for entry in log.find(ask.id).entries]
            assert allowed == ("allow" in fate) or fate == "allow and kill"
            assert not allowed or LogKind.HANDED_OVER in kinds
        assert log.check().whole


# No decision


@pytest.mark.parametrize("stdin", ["", "{", "[]", '{"hook_event_name": "PermissionRequest", "tool_name": 7}'])
def test_what_cannot_be_read_is_no_decision(home: Home, stdin: str) -> None:
    ran = home.run("gate", "claude-code", stdin=stdin)
    assert (ran.code, ran.out) == (0, "")


def test_without_a_store_there_is_no_decision(home: Home) -> None:
    home.state.write_text("a file where the folder should be")
    ran = home.run("gate", "claude-code", stdin=json.dumps(prompt(home)))
    assert (ran.code, ran.out) == (0, "")
    assert "Claude Code's own prompt decides" in ran.err


def test_a_store_that_goes_away_allows_nothing(home: Home) -> None:
    with waiting(home) as gate:
        for file in home.state.glob("sayso.db*"):
            file.unlink()
        gate.process.send_signal(signal.SIGTERM)
        out, _ = gate.process.communicate(timeout=SECONDS)
        assert out == b""


def test_what_a_person_has_allowed_is_told_once_a_store_is_back_that_was_away_just_then(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_away(*_: object) -> None:
        raise StoreUnavailable("locked")

    told: list[GateVerdict] = []

    def tell(verdict: GateVerdict) -> bool:
        told.append(verdict)
        return True

    event = ClaudeCode().read(prompt(home), {})
    with open_desks(Config(state_dir=home.state, project=home.project)) as desks:
        question = AskedPermission(event, Asker(client="claude-code", session="s-1"), desks.config, desks)
        opened = OpenPrompt("Claude Code", "claude-code", question, desks.asks.hold(question.new), desks)
        ask = desks.permissions.allow(opened.ask.id, opened.ask.digest, SOMEONE)
        with monkeypatch.context() as away:
            away.setattr(desks.permissions, "note_handed_over", is_away)
            assert not opened.hand_over(ask, tell)
        assert (opened.look(), opened.store_is_away, told) == (ask, True, [])
        assert opened.hand_over(ask, tell)
        assert [verdict.allowed for verdict in told] == [True]
        assert desks.asks.get(ask.id).delivered


def session_event(home: Home, what: str) -> Json:
    return {"hook_event_name": what, "session_id": "s-1", "cwd": str(home.project), "source": "startup"}


def at_work(home: Home) -> list[tuple[str, str]]:
    with home.desk() as desk:
        return [(each.asker.session, each.asker.version) for each in Roster(desk._store).at_work((), ())]


def test_a_session_is_at_work_from_its_begin_to_its_end_without_having_asked_anything(home: Home) -> None:
    env = {"AI_AGENT": "claude-code_2-1-325_harness"}
    assert started(home, session_event(home, "SessionStart"), env).communicate(timeout=SECONDS) == (b"", b"")
    assert at_work(home) == [("s-1", "2.1.325")]
    assert started(home, session_event(home, "SessionEnd")).communicate(timeout=SECONDS) == (b"", b"")
    assert at_work(home) == []


def test_a_session_that_has_ended_before_its_hook_ran_is_not_taken_for_another_process(home: Home) -> None:
    event = session_event(home, "SessionStart")
    assert started(home, event, {"CLAUDE_PID": "4194305"}).communicate(timeout=SECONDS) == (b"", b"")
    assert at_work(home) == []


@pytest.mark.parametrize(
    ("more", "env"),
    [
        ({"tool_name": "mcp__sayso__ask_user"}, {}),
        ({"tool_name": "mcp__plugin_sayso_sayso__get_answers"}, {}),
        ({"hook_event_name": "PreToolUse"}, {}),
        ({}, {"SAYSO_RUN": "a-run"}),
        ({"hook_event_name": "SessionStart"}, {"SAYSO_RUN": "a-run"}),
    ],
)
def test_a_gate_stands_back_where_it_is_not_meant_or_another_way_brings_the_same(
    home: Home, more: Json, env: Env
) -> None:
    ran = home.run("gate", "claude-code", stdin=json.dumps(prompt(home, **more)), **env)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert not home.state.exists()


@pytest.mark.parametrize(
    ("words", "stands_back"),
    [
        (["--permission-prompt-tool", "mcp__sayso__approve"], True),
        (["--permission-prompt-tool=mcp__ask-user__approve"], True),
        (["--permission-prompt-tool", "mcp__other__decide"], False),
        (["--permission-prompt-tool"], False),
        (["-p", "use --permission-prompt-tool mcp__sayso__approve"], False),
    ],
)
def test_a_gate_stands_back_for_the_tool_by_which_the_same_client_asks_anyway(
    home: Home, words: list[str], stands_back: bool
) -> None:
    wait = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", wait, *words], stdin=subprocess.PIPE) as client:
        until(lambda: words[-1].encode() in Path(f"/proc/{client.pid}/cmdline").read_bytes(), "the client to start")
        found = ClaudeCode().stands_back(prompt(home), {"CLAUDE_PID": str(client.pid)})
        client.kill()
    assert found is stands_back


def test_every_tool_that_asks_is_known_as_our_own() -> None:
    for tool in profile(Config()).for_models:
        if "ask" in tool.name or tool.name == "get_answers":
            assert OWN_TOOLS.fullmatch(f"mcp__sayso__{tool.name}")


# What it costs


def test_a_gate_that_waits_is_small_and_loads_neither_click_nor_an_event_loop(home: Home) -> None:
    with waiting(home, start=subprocess.Popen) as gate:
        maps = Path(f"/proc/{gate.process.pid}/status").read_text()
        rss = int(next(line.split()[1] for line in maps.splitlines() if line.startswith("VmRSS")))
        assert rss < 25 * 1024
        with suppress(ProcessLookupError):
            gate.process.terminate()
    code = "import sys; import sayso.cli.gating; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"asyncio", "click", "ssl", "sayso.tui", "sayso.web"} & set(loaded)


@pytest.mark.parametrize("words", [("gate", "nope"), ("gate",), ("gate", "--nope"), ("gate", "a", "b"), ("hook", "x")])
def test_words_that_mean_nothing_to_a_hook_are_no_verdict_for_any_client(home: Home, words: tuple[str, ...]) -> None:
    ran = home.run(*words, stdin=json.dumps(prompt(home)))
    assert (ran.code, ran.out) == (0, "")
    assert "Error" in ran.err
