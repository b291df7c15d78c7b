"""What the adapter does for a session that a terminal shares: it takes part, and answers for nobody."""

from __future__ import annotations

from typing import Any

from tests.adapters.test_codex import THREAD, Table

from sayso.adapters.shared_codex import AS_IN_THE_TERMINAL, SharedCodexAdapter
from sayso.agents.model import EventKind, Saying
from sayso.gates.codex_server import WORDS_OF_NO


class SharedTable(Table):
    """A session is joined in which the terminal may be at work."""

    kind = SharedCodexAdapter

    def __init__(self) -> None:
        super().__init__(session=THREAD, socket="/run/codex.sock")

    def joined(self, status: str = "idle", *turns: dict[str, Any]) -> SharedTable:
        self.reply("initialize", result={"userAgent": "codex"})
        thread = {"id": THREAD, "cliVersion": "0.166.0", "status": {"type": status}}
        self.reply("thread/resume", result={"thread": thread, "model": "m", "initialTurnsPage": {"data": list(turns)}})
        return self

    def is_told(self, text: str, client: str) -> None:
        item = {"type": "userMessage", "id": "i", "clientId": client, "content": [{"type": "text", "text": text}]}
        self.tells("item/started", item=item, turnId="turn-1")

    def elsewhere(self) -> list[str]:
        return [told["body"]["text"] for told in self.told if told.get("event") == EventKind.ELSEWHERE]


def test_it_joins_with_nothing_of_its_own_and_says_at_once_that_nothing_goes_on() -> None:
    table = SharedTable().joined("idle", {"id": "turn-0", "status": "completed", "items": []})
    (resumed,) = table.asked("thread/resume")
    assert not {"cwd", "approvalPolicy", "sandbox", "model"} & set(resumed)
    assert table.heard("session") == [THREAD]
    assert len(table.heard("ended")) == 1


def test_a_turn_that_goes_on_in_the_terminal_is_told_so_far_and_can_be_steered_and_interrupted() -> None:
    said = {"type": "userMessage", "id": "1", "clientId": "theirs", "content": [{"type": "text", "text": "Count."}]}
    ran = {"type": "commandExecution", "id": "2", "command": "ls", "status": "completed", "aggregatedOutput": "a"}
    runs = {"type": "commandExecution", "id": "3", "command": "make", "status": "inProgress"}
    turn = {"id": "turn-1", "status": "inProgress", "items": [said, ran, runs]}
    table = SharedTable().joined("active", turn)
    assert (table.elsewhere(), table.heard("ended")) == (["Count."], [])
    assert [told["event"] for told in table.told if "event" in told][-3:] == ["tool", "tool_result", "tool"]
    table.person(Saying.MESSAGE, "one", "And the boats?")
    (steered,) = table.asked("turn/steer")
    assert (steered["expectedTurnId"], steered["clientUserMessageId"]) == ("turn-1", "one")
    table.is_told("And the boats?", "one")
    assert (table.heard("taken"), table.elsewhere()) == ([["one"]], ["Count."])
    table.person(Saying.INTERRUPT, "two")
    assert table.asked("turn/interrupt") == [{"threadId": THREAD, "turnId": "turn-1"}]
    table.ends("interrupted")
    # As Esc in the terminal does, it leaves what is running.
    assert table.asked("thread/backgroundTerminals/list") == []
    assert table.heard("ended")[-1]["message"] == "Interrupted."


def test_a_turn_that_the_terminal_begins_at_the_same_moment_is_not_taken_for_ours() -> None:
    table = SharedTable().joined()
    table.person(Saying.MESSAGE, "one", "From the phone")
    table.tells("turn/started", turn={"id": "turn-1"})
    table.is_told("From the terminal", "theirs")
    assert (table.heard("taken"), table.elsewhere()) == ([], ["From the terminal"])
    table.ends()
    table.reply("turn/start", result={"turn": {"id": "turn-2"}})
    table.tells("turn/started", turn={"id": "turn-2"})
    assert table.heard("taken") == []
    table.is_told("From the phone", "one")
    assert table.heard("taken") == [["one"]]
    assert len(table.asked("turn/start")) == 1, "it is said once"


def test_what_a_gate_says_with_a_no_is_not_told_as_said_in_the_terminal() -> None:
    table = SharedTable().joined("active", {"id": "turn-1", "status": "inProgress", "items": []})
    table.is_told("About `make`: The user did not allow this. They said: later", f"{WORDS_OF_NO}1")
    told = [each["body"]["text"] for each in table.told if each.get("event") == EventKind.NOTICE]
    assert (told, table.elsewhere()) == (
        ["Codex is told: About `make`: The user did not allow this. They said: later"],
        [],
    )


def test_a_turn_of_ours_that_ends_before_its_message_was_given_waits_for_nothing() -> None:
    table = SharedTable().joined()
    table.person(Saying.MESSAGE, "one", "From the phone")
    table.starts("turn-1")
    table.ends("failed", error={"message": "No credit"})
    assert table.heard("taken") == [["one"]]
    assert table.heard("ended")[-1]["message"] == "No credit"


def test_nothing_that_is_asked_in_the_session_is_answered_from_here() -> None:
    table = SharedTable().joined("active", {"id": "turn-1", "status": "inProgress", "items": []})
    before = len(table.sent)
    asked = {"threadId": THREAD, "turnId": "turn-1", "itemId": "i", "command": "rm -r /"}
    for method in ("item/commandExecution/requestApproval", "item/fileChange/requestApproval", "something/new"):
        table.says(id=7, method=method, params=asked)
    assert (table.sent[before:], table.prompts.tell) == ([], {})


def test_mode_and_model_are_left_to_the_terminal() -> None:
    table = SharedTable().joined()
    table.person(Saying.MODE, "one", "bypassPermissions")
    table.person(Saying.MODEL, "two", "big")
    assert [told["refused"] for told in table.told if "done" in told] == [AS_IN_THE_TERMINAL] * 2
    table.person(Saying.MESSAGE, "three", "Go")
    (started,) = table.asked("turn/start")
    assert set(started) == {"threadId", "input", "clientUserMessageId"}
