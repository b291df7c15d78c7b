"""The gate of sessions that share a server of Codex: what is asked there stands in the inbox as well."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import warm
from tests.cli.codex_server import SECONDS, THREAD, TURN, FakeCodex, Json, serving
from tests.cli.program import BIN, SOMEONE, Home

from sayso.agents.desk import RunDesk
from sayso.agents.model import EventKind, NewRun, Options, RunChoices
from sayso.agents.projects import Projects
from sayso.asks.model import Answer, Ask, State
from sayso.chain import LogKind
from sayso.errors import StoreUnavailable
from sayso.gates.codex import CodexHook, has_no_terminal
from sayso.gates.codex_asks import command_action, patched
from sayso.gates.codex_gate import CodexGate
from sayso.gates.codex_server import WORDS_OF_NO, CodexServer
from sayso.permissions.action import AllowScope, takes_changes
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.verdict import Decision, verdict_of
from sayso.processes import name_of
from sayso.records import replace
from sayso.roster import Roster

HARBOUR: Json = {
    "id": "harbour",
    "header": "Harbour",
    "question": "Which harbour?",
    "options": [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}],
}


class Session:
    """The gate, the server, and the inbox of the person."""

    def __init__(self, home: Home, codex: FakeCodex) -> None:
        self.home, self.codex = home, codex
        self.server = CodexServer(codex.path)
        process = name_of(os.getpid())
        assert process is not None
        self.gate = CodexGate(self.server, process)

    def until(self, look: Callable[[], object]) -> None:
        """Let the gate do what there is to be done until that is so."""
        end = time.monotonic() + SECONDS
        while not look():
            assert time.monotonic() < end
            self.gate.turn(0.05)

    def join(self) -> None:
        self.codex.meet()
        self.until(lambda: self.gate.joining)
        self.codex.let_join()
        self.until(lambda: not self.gate.joining)

    @property
    def asks(self) -> list[Ask]:
        with self.home.desk() as desk:
            return [ask for ask in desk.inbox() if ask.state is State.PENDING]

    def prompt(self) -> Ask:
        self.until(lambda: self.asks)
        (ask,) = self.asks
        return ask

    def allow(self, ask: Ask, scope: AllowScope | None = None) -> None:
        with self.home.desk() as desk:
            PermissionDesk(desk).allow(ask.id, ask.digest, SOMEONE, scope)
        self.until(lambda: self.home.ask_of(ask).delivered)

    def deny(self, ask: Ask, because: str = "") -> None:
        with self.home.desk() as desk:
            PermissionDesk(desk).deny(ask.id, SOMEONE, because)
        self.until(lambda: self.home.ask_of(ask).delivered)

    def told(self) -> Json:
        """The next message to the server."""
        self.until(lambda: select.select([self.codex.line], [], [], 0)[0])
        return self.codex.hear()

    def heard(self) -> None:
        """All that the server has said so far has been heard."""
        self.codex.status("active", thread="a marker")
        self.until(lambda: "a marker" in self.gate.joining)
        self.codex.expect("thread/resume")

    def end_of(self, ask: Ask) -> str:
        """Why it is over, and that no verdict of ours is."""
        self.until(lambda: self.home.ask_of(ask).state is not State.PENDING)
        found = verdict_of(self.home.ask_of(ask))
        assert found is not None
        assert found.decision is Decision.ELSEWHERE
        return found.because

    def logged(self, ask: Ask) -> list[LogKind]:
        with self.home.desk() as desk:
            return [entry.event.kind for entry in PermissionLog(desk._store).find(ask.id).entries]


@pytest.fixture
def session(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME")
    (home.folder / "hooks.json").write_text('{"hooks": {"PermissionRequest": "sayso gate codex"}}')
    with serving(home.folder / "codex.sock", home.project) as codex:
        found = Session(home, codex)
        try:
            yield found
        finally:
            found.gate.close("the test is over")
            found.server.close()


def test_an_allow_from_the_inbox_is_a_plain_accept_of_the_whole_command(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    assert ask.wanted is not None
    assert ask.wanted["action"] == {
        "kind": "shell",
        "tool": "Bash",
        "folder": str(session.home.project),
        "data": {"input": {"command": "touch made", "description": "Need it"}, "runs": "/bin/bash -lc 'touch made'"},
    }
    assert not takes_changes(ask)
    session.allow(ask)
    assert session.codex.hear() == {"id": 0, "result": {"decision": "accept"}}
    assert session.logged(ask) == [LogKind.ASKED, LogKind.ALLOWED, LogKind.HANDED_OVER]


def test_its_asker_is_that_of_the_sessions_mcp_server(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    asker = session.prompt().asker
    assert (asker.client, asker.version, asker.session) == ("codex-mcp-client", "0.166.0", THREAD)
    assert (asker.project, asker.pid) == (str(session.home.project), os.getpid())


def test_a_denial_is_a_decline_once_the_persons_words_have_arrived(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    session.deny(session.prompt(), "use the other pier")
    steered = session.codex.let_speak()
    words = "About `touch made`: The user did not allow this. They said: use the other pier"
    assert steered.pop("clientUserMessageId").startswith(WORDS_OF_NO)
    assert steered == {"threadId": THREAD, "expectedTurnId": TURN, "input": [{"type": "text", "text": words}]}
    assert session.told() == {"id": 0, "result": {"decision": "decline"}}


@pytest.mark.parametrize(
    ("happens", "how"),
    [
        (lambda codex: codex.complete("completed"), "allowed in the terminal of Codex"),
        (lambda codex: codex.complete("failed"), "allowed in the terminal of Codex"),
        (lambda codex: codex.complete("declined"), "denied in the terminal of Codex"),
        (lambda codex: codex.end_turn("interrupted"), "denied in the terminal of Codex"),
        (lambda codex: None, "decided in the terminal of Codex"),
    ],
    ids=["it ran", "it failed", "it was declined", "its turn was ended", "nothing more"],
)
def test_what_was_decided_in_the_terminal_leaves_the_inbox_which_says_how(
    session: Session, happens: Callable[[FakeCodex], None], how: str
) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    session.codex.resolve()
    happens(session.codex)
    assert session.end_of(ask) == how


@pytest.mark.parametrize(("became", "noted"), [("completed", True), ("failed", True), ("declined", False)])
def test_what_ran_although_a_no_was_told_is_noted_beside_that_no(session: Session, became: str, noted: bool) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    session.deny(ask)
    # A plain no needs no words, which its model would hear after it has done it.
    assert session.told() == {"id": 0, "result": {"decision": "decline"}}
    session.codex.complete(became)
    session.heard()
    outcome = session.home.ask_of(ask).outcome
    assert outcome is not None
    assert outcome.verdict == Decision.DENIED
    assert ("allowed in its terminal before the no given here arrived" in outcome.noted) is noted


def test_who_was_told_the_words_of_a_no_that_came_too_late_is_told_that_it_was_done(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    session.deny(session.prompt(), "use the other pier")
    session.codex.let_speak()
    assert session.told() == {"id": 0, "result": {"decision": "decline"}}
    session.codex.complete("completed")
    told = session.told()
    assert told["method"] == "turn/steer"
    (said,) = told["params"]["input"]
    assert said["text"].startswith("About `touch made`: This was allowed in the terminal before that no arrived")
    session.codex.say(id=told["id"], result={"turnId": TURN})
    session.heard()


def test_two_sessions_with_the_same_command_never_cross(session: Session) -> None:
    session.join()
    session.codex.ask_command(0)
    first = session.prompt()
    session.codex.status("active", thread="second")
    session.until(lambda: session.gate.joining)
    session.codex.let_join("second")
    session.codex.ask_command(1, thread="second")
    session.until(lambda: len(session.asks) == 2)
    (second,) = (ask for ask in session.asks if ask.id != first.id)
    assert (first.asker.session, second.asker.session) == (THREAD, "second")
    session.deny(second, "not there")
    assert session.codex.let_speak()["threadId"] == "second"
    assert session.told() == {"id": 1, "result": {"decision": "decline"}}
    session.allow(first)
    assert session.codex.hear() == {"id": 0, "result": {"decision": "accept"}}


def test_a_change_is_shown_as_a_diff_against_the_file_and_not_allowed_once_that_has_changed(session: Session) -> None:
    file = session.home.project / "port.txt"
    file.write_text("host\n80\n")
    session.join()
    session.codex.ask_change(
        {
            "path": str(file),
            "kind": {"type": "update", "move_path": None},
            "diff": "@@ -1,2 +1,2 @@\n host\n-80\n+8080\n",
        }
    )
    ask = session.prompt()
    assert ask.wanted is not None
    action = ask.wanted["action"]
    assert (action["kind"], action["tool"]) == ("edit", "apply_patch")
    assert action["data"]["input"] == {"file_path": str(file), "change": "update"}
    assert action["data"]["diff"].endswith("@@ -1,2 +1,2 @@\n host\n-80\n+8080")
    file.write_text("host\n80 # mine\n")
    session.allow(ask)
    assert "changed after they had looked at it" in session.codex.let_speak()["input"][0]["text"]
    assert session.told() == {"id": 0, "result": {"decision": "decline"}}


def test_several_files_are_shown_whole_and_a_rule_that_denies_one_of_them_denies_all(session: Session) -> None:
    project = session.home.project
    (project / ".env").write_text("KEY=1\n")
    session.join()
    changes: list[Json] = [
        {"path": str(project / "new.txt"), "kind": {"type": "add"}, "diff": "hello\n"},
        {"path": str(project / ".env"), "kind": {"type": "delete"}, "diff": "KEY=1\n"},
    ]
    session.codex.ask_change(*changes)
    ask = session.prompt()
    assert ask.wanted is not None
    assert ask.title == "Allow apply_patch: new.txt, .env?"
    assert "+hello" in ask.wanted["action"]["data"]["diff"]
    assert "-KEY=1" in ask.wanted["action"]["data"]["diff"]
    session.allow(ask)
    assert session.codex.hear() == {"id": 0, "result": {"decision": "accept"}}
    rules = session.home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\ndeny = ["Edit(.env)"]\n')
    session.codex.ask_change(*changes, request=1)
    words = session.told()
    assert ".env" in words["params"]["input"][0]["text"]
    session.codex.say(id=words["id"], error={"code": -32600, "message": "no active turn"})
    assert session.told() == {"id": 1, "result": {"decision": "decline"}}
    assert session.asks == []


def test_questions_of_its_own_tool_are_answered_or_refused_in_its_words(session: Session) -> None:
    session.join()
    session.codex.ask_questions(HARBOUR, {"id": "why", "header": "Why", "question": "And why?", "options": None})
    ask = session.prompt()
    assert not ask.is_permission
    answers = [Answer(question="harbour", chosen=("2",), note="it is new"), Answer(question="why", text="The tide")]
    with session.home.desk() as desk:
        desk.answer(ask.id, answers, SOMEONE)
    session.until(lambda: session.home.ask_of(ask).delivered)
    told = {"harbour": {"answers": ["South", "user_note: it is new"]}, "why": {"answers": ["user_note: The tide"]}}
    assert session.codex.hear() == {"id": 0, "result": {"answers": told}}
    session.codex.ask_questions(HARBOUR, request=1)
    again = session.prompt()
    with session.home.desk() as desk:
        desk.reject(again.id, "ask the pilot", SOMEONE)
    session.until(lambda: session.home.ask_of(again).delivered)
    assert "ask the pilot" in session.codex.let_speak()["input"][0]["text"]
    assert session.told() == {"id": 1, "result": {"answers": {}}}


def test_questions_answered_in_the_terminal_leave_the_inbox(session: Session) -> None:
    session.join()
    session.codex.ask_questions(HARBOUR)
    ask = session.prompt()
    session.codex.resolve()
    session.until(lambda: session.home.ask_of(ask).state is State.CANCELLED)
    assert session.home.ask_of(ask).withdrawn == "answered in the terminal of Codex"


def test_a_call_of_an_mcp_tool_is_allowed_once_or_declined(session: Session) -> None:
    session.join()
    session.codex.begin_call(where="north")
    session.codex.ask_call(where="north")
    ask = session.prompt()
    assert ask.wanted is not None
    assert ask.wanted["action"]["tool"] == "mcp__shop__deploy"
    assert ask.wanted["action"]["data"]["input"] == {"where": "north"}
    session.allow(ask)
    assert session.codex.hear() == {"id": 0, "result": {"action": "accept", "content": {}}}
    session.codex.resolve()
    session.codex.complete("completed", kind="mcpToolCall")
    session.codex.begin_call(1, where="south")
    session.codex.ask_call(1, where="south")
    session.deny(session.prompt(), "use the other pier")
    assert "use the other pier" in session.codex.let_speak()["input"][0]["text"]
    assert session.told() == {"id": 1, "result": {"action": "decline"}}


@pytest.mark.parametrize(("status", "how"), [("completed", "allowed"), ("failed", "decided")])
def test_a_call_of_an_mcp_tool_decided_in_the_terminal_leaves_the_inbox(
    session: Session, status: str, how: str
) -> None:
    session.join()
    session.codex.begin_call(where="north")
    session.codex.ask_call(where="north")
    ask = session.prompt()
    session.codex.resolve()
    session.codex.complete(status, kind="mcpToolCall")
    assert session.end_of(ask) == f"{how} in the terminal of Codex"


def test_a_rule_decides_about_a_call_of_an_mcp_tool(session: Session) -> None:
    rules = session.home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\nallow = ["mcp__shop__deploy"]\n')
    session.join()
    session.codex.begin_call(where="north")
    session.codex.ask_call(where="north")
    assert session.told() == {"id": 0, "result": {"action": "accept", "content": {}}}


def test_a_call_of_an_mcp_tool_stays_in_the_terminal_where_it_is_not_certain_which_is_meant(session: Session) -> None:
    session.join()
    session.codex.ask_call(1, where="north")
    session.codex.begin_call(2, where="north")
    session.codex.ask_call(2, where="south")
    session.codex.ask_call(3, server="other", where="north")
    session.codex.ask_call(4, kind="other", where="north")
    session.codex.begin_call(5, tool="burn", where="north")
    session.codex.ask_call(5, where="north")
    session.codex.begin_call(6, tool="ask_user", server="sayso", question="Which?")
    session.codex.ask_call(6, server="sayso", question="Which?")
    session.heard()
    assert session.asks == []


def test_what_is_not_understood_whole_is_left_to_the_terminal(session: Session) -> None:
    session.join()
    session.codex.ask_command(1, kind="writeStdin")
    session.codex.ask_command(3, availableDecisions=["acceptForSession", "cancel"])
    session.codex.ask_command(4, thread="nobody joined this one")
    session.codex.ask_change(request=5)
    session.codex.ask_change({"path": "/tmp/x", "kind": {"type": "unheard of"}, "diff": ""}, request=6)
    session.codex.ask_questions({**HARBOUR, "isSecret": True}, request=7)
    session.codex.say(method="item/permissions/requestApproval", id=8, params={"threadId": THREAD})
    session.codex.say(method="item/started", params=None)
    session.heard()
    assert session.asks == []
    session.codex.ask_command(9)
    assert session.prompt().digest


def test_more_than_the_command_that_it_asks_for_is_shown_and_allowed_by_no_rule(session: Session) -> None:
    rules = session.home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\nallow = ["Bash(touch *)"]\n')
    session.join()
    session.codex.ask_command(0)
    assert session.told() == {"id": 0, "result": {"decision": "accept"}}
    session.codex.ask_command(1, additionalPermissions={"network": {"enabled": True}})
    ask = session.prompt()
    assert ask.wanted is not None
    assert ask.wanted["action"]["data"]["input"]["additionalPermissions"] == {"network": {"enabled": True}}


def test_what_was_allowed_for_the_rest_of_a_session_is_accepted_once_each_time(session: Session) -> None:
    session.join()
    session.codex.ask_command(0)
    session.allow(session.prompt(), AllowScope.SESSION)
    assert session.codex.hear() == {"id": 0, "result": {"decision": "accept"}}
    session.codex.ask_command(1)
    assert session.told() == {"id": 1, "result": {"decision": "accept"}}
    assert session.asks == []


def test_a_session_is_joined_while_it_works_and_left_when_it_rests(session: Session) -> None:
    session.join()
    session.codex.status("idle")
    session.until(lambda: not session.gate.threads)
    assert session.codex.expect("thread/unsubscribe")["params"] == {"threadId": THREAD}
    session.codex.status("active")
    session.until(lambda: session.gate.joining)
    session.codex.let_join()
    session.codex.ask_command()
    assert session.prompt()


def test_a_session_is_at_work_without_having_asked_anything_but_not_what_codex_begins_for_itself(
    session: Session,
) -> None:
    session.join()
    for thread, more in (("a title", {"ephemeral": True}), ("a helper", {"parentThreadId": THREAD})):
        session.codex.status("active", thread=thread)
        session.until(lambda: session.gate.joining)
        session.codex.let_join(thread, **more)
        session.until(lambda: not session.gate.joining)
    with session.home.desk() as desk:
        (noted,) = Roster(desk._store).at_work([], [])
    assert (noted.asker.session, noted.asker.pid, noted.asker.project) == (
        THREAD,
        os.getpid(),
        str(session.home.project),
    )


def test_what_is_asked_stands_in_the_conversation_that_takes_part_in_the_session(session: Session) -> None:
    with session.home.desk() as desk:
        runs = RunDesk(desk._store, session.home.state / "runs")
        project = Projects(desk._store).add("ada", session.home.project, name="shop", options=Options(agent="codex"))
        choices = RunChoices(joins=THREAD, server="/run/codex.sock")
        new = NewRun(project=project, prompt="Go", token="t-1", choices=choices)
        run, other = runs.open(new, most=9), runs.open(replace(new, token="t-2", choices=RunChoices()), most=9)
        session.join()
        session.codex.ask_command()
        ask = session.prompt()
        assert [event.body["ask"] for event in runs.events_of(run.id, EventKind.ASK)] == [ask.id]
        assert runs.events_of(other.id, EventKind.ASK) == []


def test_a_prompt_of_a_session_that_has_come_to_rest_leaves_the_inbox(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    session.codex.status("idle")
    assert session.end_of(ask) == "decided in the terminal of Codex"


def test_an_allow_is_told_once_the_store_is_back(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    with monkeypatch.context() as away:
        lost: list[str] = []

        def note(*_: object) -> None:
            lost.append("away")
            raise StoreUnavailable("away")

        away.setattr(PermissionDesk, "note_handed_over", note)
        with session.home.desk() as desk:
            PermissionDesk(desk).allow(ask.id, ask.digest, SOMEONE)
        session.until(lambda: lost)
        assert select.select([session.codex.line], [], [], 0)[0] == []
    assert session.told() == {"id": 0, "result": {"decision": "accept"}}


def test_what_is_told_twice_is_asked_once(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    session.codex.ask_command()
    session.heard()
    assert len(session.asks) == 1


def test_once_its_hooks_are_taken_back_nothing_more_is_asked(session: Session) -> None:
    session.join()
    (session.home.folder / "hooks.json").unlink()
    session.codex.ask_command()
    session.until(lambda: session.gate.is_over)
    assert session.asks == []


def test_when_the_server_goes_nothing_is_left_in_the_inbox(session: Session) -> None:
    session.join()
    session.codex.ask_command()
    ask = session.prompt()
    session.codex.go_away()
    session.until(lambda: session.gate.is_over)
    session.gate.close("its client has ended")
    assert session.home.ask_of(ask).state is State.EXPIRED


def test_a_long_message_comes_in_pieces_and_a_ping_is_answered(session: Session) -> None:
    session.join()
    session.codex.ping()
    changes = [{"path": str(session.home.project / "a"), "kind": {"type": "add"}, "diff": "line\n" * 3_000}]
    item = {"type": "fileChange", "id": "call_0", "changes": changes}
    session.codex.say(pieces=9, method="item/started", params={"item": item, "threadId": THREAD, "turnId": TURN})
    about = {"itemId": "call_0", "threadId": THREAD, "turnId": TURN}
    session.codex.say(method="item/fileChange/requestApproval", id=0, params=about)
    ask = session.prompt()
    assert session.codex.hear_frame() == (10, b"hi")
    assert ask.wanted is not None
    assert ask.wanted["action"]["data"]["diff"].count("+line") == 3_000


@pytest.mark.parametrize(
    ("before", "diff", "after"),
    [
        ("one\n", "@@ -1 +1 @@\n-one\n+two\n", "two\n"),
        ("a\nb\nc\nd\n", "@@ -2,2 +2,1 @@\n-b\n c\n@@ -4 +3,2 @@\n d\n+e\n", "a\nc\nd\ne\n"),
        ("", "@@ -0,0 +1 @@\n+one\n", "one\n"),
        ("a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n"),
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "b"),
        ("three\n", "@@ -1 +1 @@\n-one\n+two\n", None),
        ("one\n", "@@ -2 +2 @@\n-one\n+two\n", None),
        ("one\n", "what is this\n", None),
    ],
)
def test_hunks_are_applied_where_they_fit_and_nowhere_else(before: str, diff: str, after: str | None) -> None:
    assert patched(before, diff) == after


def test_the_file_that_a_change_is_moved_to_is_shown(session: Session) -> None:
    file = session.home.project / "old.txt"
    file.write_text("one\n")
    session.join()
    kind = {"type": "update", "move_path": str(Path("/srv/new.txt"))}
    session.codex.ask_change({"path": str(file), "kind": kind, "diff": "@@ -1 +1 @@\n-one\n+two\n"})
    ask = session.prompt()
    assert ask.wanted is not None
    moved = {"path": str(file), "change": "update", "move_path": "/srv/new.txt"}
    assert ask.wanted["action"]["data"]["input"] == {"changes": [moved]}


# The hook


PROMPT: Json = {
    "session_id": THREAD,
    "turn_id": TURN,
    "hook_event_name": "PermissionRequest",
    "model": "scripted",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": "touch made", "description": "Need it"},
}
AS_TERMINAL = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdin=0)"
AS_SERVER = "import subprocess, sys; [subprocess.run(sys.argv[4:], check=True, input=b'{}') for _ in range(2)]"
"""A process with the words of a server that sessions share, which runs a hook twice."""


def hook(home: Home, event: Json) -> subprocess.Popen[bytes]:
    process = warm.start(
        [BIN / "sayso", "gate", "codex"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home.project,
        env=home.env,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({**event, "cwd": str(home.project)}).encode())
    process.stdin.close()
    process.stdin = None
    return process


def test_without_a_shared_server_the_hook_holds_while_the_person_is_away_and_not_while_they_are_here(
    home: Home,
) -> None:
    assert home.run("away").code == 0
    held = hook(home, PROMPT)
    ask = home.wait_for_ask()
    assert (ask.asker.client, ask.asker.session) == ("codex-mcp-client", THREAD)
    with home.desk() as desk:
        PermissionDesk(desk).allow(ask.id, ask.digest, SOMEONE)
    out, err = held.communicate(timeout=SECONDS)
    assert json.loads(out)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}, err
    assert home.run("back").code == 0
    assert hook(home, PROMPT).communicate(timeout=SECONDS) == (b"", b"")
    assert hook(home, {**PROMPT, "hook_event_name": "SessionStart"}).communicate(timeout=SECONDS) == (b"", b"")


def test_without_a_shared_server_a_session_is_at_work_from_its_begin(home: Home) -> None:
    event = {**PROMPT, "hook_event_name": "SessionStart", "cwd": str(home.project)}
    words = ["codex", "-c", AS_TERMINAL, str(BIN / "sayso"), "gate", "codex"]
    given = json.dumps(event).encode()
    told = subprocess.check_output(
        words, executable=sys.executable, input=given, cwd=home.project, env=home.env, timeout=SECONDS
    )
    assert told == b""
    with home.desk() as desk:
        (row,) = desk._store.read(lambda tx: tx.all("roster"))
    assert json.loads(row["body"])["session"] == THREAD


def test_a_server_that_sessions_share_has_one_gate_however_many_hooks_it_runs(home: Home) -> None:
    with serving(home.folder / "codex.sock", home.project) as codex:
        address = ["app-server", "--listen", f"unix://{codex.path}"]
        words = [sys.executable, "-c", AS_SERVER, *address, str(BIN / "sayso"), "gate", "codex"]
        with subprocess.Popen(words, cwd=home.project, env=home.env) as server:
            codex.meet()
            codex.let_join()
            assert server.wait(SECONDS) == 0
        (lock,) = (home.state / "gates").iterdir()
        assert lock.name.startswith(f"codex-{server.pid}-")
        codex.go_away()
        end = time.monotonic() + SECONDS
        while lock.exists():
            assert time.monotonic() < end
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["codex", "Go on."], False),
        (["codex", "-c", 'model="x"', "--no-daemon"], False),
        (["codex", "exec", "Go on."], True),
        (["codex", "-m", "x", "e", "Go on."], True),
    ],
)
def test_it_is_known_whether_somebody_sits_at_its_terminal(words: list[str], expected: bool) -> None:
    assert has_no_terminal(words) is expected


def test_a_patch_names_its_files_to_the_rules() -> None:
    one = "*** Begin Patch\n*** Delete File: .env\n*** End Patch"
    changes = "*** Add File: new.txt\n+hello\n*** Update File: old.txt\n*** Move to: .env\n@@\n-a\n+b\n"
    two = f"*** Begin Patch\n{changes}*** End Patch"
    event = {**PROMPT, "tool_name": "apply_patch"}
    assert CodexHook().read({**event, "tool_input": {"command": one}}, {}).permission.given == {
        "file_path": ".env",
        "patch": one,
    }
    assert CodexHook().read({**event, "tool_input": {"command": two}}, {}).permission.given == {
        "changes": [
            {"path": "new.txt", "change": "add"},
            {"path": "old.txt", "change": "update"},
            {"move_path": ".env"},
        ],
        "patch": two,
    }


@pytest.mark.parametrize("shell", ["./bash", "/srv/shop/bash", "bin/sh"])
def test_a_program_that_is_only_called_as_a_shell_is_none(shell: str) -> None:
    line = f"{shell} -lc 'git status'"
    assert command_action({"command": line}, Path("/srv")).data["input"]["command"] == line


@pytest.mark.parametrize(
    "more",
    [
        " *** Add File: .env\n+x",
        "\t*** Add File: .env\n+x",
        "*** Add File: .env  \n+x",
        "***Add File: .env\n+x",
        "\u00a0*** Move to: .env",
        "\n*** Delete File: .env",
        "*** Add File: .env\r\n+x\r",
        "*** Environment: elsewhere",
    ],
)
def test_a_patch_in_which_codex_may_find_another_file_is_not_one_of_a_single_file(more: str) -> None:
    patch = f"*** Begin Patch\n*** Add File: src/a.txt\n+hello\n{more}\n*** End Patch"
    event = {**PROMPT, "tool_name": "apply_patch", "tool_input": {"command": patch}}
    given = CodexHook().read(event, {}).permission.given
    assert "file_path" not in given
    names = [name for change in given["changes"] for name in change.values()]
    assert "src/a.txt" in names
    assert ".env" in names or ".env" not in more
