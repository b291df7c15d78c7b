"""What the adapter for Codex does with what comes from either side, without a process: also what comes crosswise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from sayso.adapters import line
from sayso.adapters.adapter import AdapterOrder
from sayso.adapters.codex import CodexAdapter, tool_permission
from sayso.adapters.held_prompts import AskingSession, HeldPrompts
from sayso.adapters.line import TalkLine
from sayso.adapters.rpc import Json, Rpc
from sayso.agents.kinds import AGENTS
from sayso.agents.model import Picture, Saying, Spoken
from sayso.asks.model import Ask, Asker
from sayso.clients import RUN_VARIABLE
from sayso.config import Config
from sayso.desks import open_desks
from sayso.errors import NotFound
from sayso.gates.client import GateVerdict

THREAD = "thread-1"


class FakePrompts(HeldPrompts):
    """Prompts that the test decides."""

    def __init__(self) -> None:
        super().__init__(lambda: None, asks=True)
        self.tell: dict[Any, Callable[[GateVerdict], bool]] = {}

    def put(self, request: Any, who: Any, make: Any, tell: Callable[[GateVerdict], bool]) -> None:
        self.tell[request] = tell

    def drop(self, request: Any, why: str) -> None:
        self.tell.pop(request, None)

    def drop_all(self, why: str) -> None:
        self.tell.clear()


class Table:
    """The adapter between a person and an agent, both of whom are the test."""

    kind: type[CodexAdapter] = CodexAdapter

    def __init__(self, **order: Any) -> None:
        self.told: list[dict[str, Any]] = []
        self.sent: list[Json] = []
        self.prompts = FakePrompts()
        whole = AdapterOrder(label="Codex", install="", command=("codex",), **order)
        talk = TalkLine(lambda data: self.told.append(json.loads(data)))
        self.adapter = self.kind(whole, talk, Rpc(self._send), self.prompts, os.getpid())
        self.adapter.begin()

    def _send(self, message: Json) -> bool:
        self.sent.append(message)
        return True

    def person(self, what: Saying, name: str, text: str = "") -> None:
        """What Talk writes for it, read as the adapter does."""
        self.adapter.say(line.read(AGENTS["codex"].spoken(name, Spoken(what=what, text=text))))

    def says(self, **message: Any) -> None:
        self.adapter.take(json.dumps(message).encode())

    def tells(self, method: str, **params: Any) -> None:
        self.says(method=method, params={"threadId": THREAD, **params})

    def reply(self, method: str, **reply: Any) -> None:
        """Answer the last request of this name."""
        number = next(sent["id"] for sent in reversed(self.sent) if sent.get("method") == method)
        self.says(id=number, **reply)

    def asked(self, method: str) -> list[Any]:
        return [sent["params"] for sent in self.sent if sent.get("method") == method]

    def began(self) -> Table:
        self.reply("initialize", result={"userAgent": "codex"})
        self.reply("thread/start", result={"thread": {"id": THREAD, "cliVersion": "0.166.0"}, "model": "m"})
        return self

    def at_work(self) -> Table:
        self.began().person(Saying.MESSAGE, "one", "Go")
        self.starts("turn-1")
        return self

    def starts(self, turn: str) -> None:
        self.reply("turn/start", result={"turn": {"id": turn}})
        self.tells("turn/started", turn={"id": turn, "status": "inProgress"})

    def ends(self, status: str = "completed", **more: Any) -> None:
        self.tells("turn/completed", turn={"id": "turn-1", "status": status, **more})

    def heard(self, key: str) -> list[Any]:
        return [told[key] for told in self.told if key in told]


def test_a_message_that_comes_early_waits_until_the_conversation_is_there() -> None:
    table = Table(mode="acceptEdits", model="big")
    table.person(Saying.MESSAGE, "one", "Go")
    assert table.asked("turn/start") == []
    table.began()
    (started,) = table.asked("thread/start")
    assert started == {
        "cwd": os.getcwd(),
        "approvalPolicy": "on-request",
        "sandbox": "workspace-write",
        "model": "big",
    }
    assert table.asked("turn/start") == [{"threadId": THREAD, "input": [{"type": "text", "text": "Go"}]}]
    assert table.heard("taken") == []
    table.reply("turn/start", result={"turn": {"id": "turn-1"}})
    assert table.heard("taken") == []
    table.tells("turn/started", turn={"id": "turn-1"})
    assert table.heard("taken") == [["one"]]


def test_without_a_mode_it_asks_whatever_its_own_settings_say() -> None:
    (started,) = Table().began().asked("thread/start")
    assert (started["approvalPolicy"], started["sandbox"]) == ("on-request", "read-only")


def test_pictures_come_before_the_words_that_are_about_them() -> None:
    table = Table().began()
    said = Spoken(what=Saying.MESSAGE, text="What is it?", pictures=(Picture(media="image/png", data=b"PNG"),))
    table.adapter.say(line.read(AGENTS["codex"].spoken("one", said)))
    (started,) = table.asked("turn/start")
    assert started["input"] == [
        {"type": "image", "url": "data:image/png;base64,UE5H"},
        {"type": "text", "text": "What is it?"},
    ]


def test_a_message_that_reaches_a_turn_too_late_begins_another() -> None:
    table = Table().at_work()
    table.person(Saying.MESSAGE, "two", "More")
    table.ends()
    table.reply("turn/steer", error={"code": -32600, "message": "no active turn to steer"})
    assert [started["input"][0]["text"] for started in table.asked("turn/start")] == ["Go", "More"]
    table.starts("turn-2")
    assert table.heard("taken") == [["one"], ["two"]]


def test_a_message_to_a_turn_that_takes_none_waits_for_its_end() -> None:
    table = Table().at_work()
    table.person(Saying.MESSAGE, "two", "More")
    table.reply("turn/steer", error={"message": "this turn cannot be steered"})
    assert len(table.asked("turn/steer")) == len(table.asked("turn/start")) == 1
    table.ends()
    assert len(table.asked("turn/start")) == 2


def test_a_message_to_a_turn_is_taken_up_only_when_the_model_is_given_it() -> None:
    table = Table().at_work()
    table.person(Saying.MESSAGE, "two", "More")
    assert table.asked("turn/steer")[0]["clientUserMessageId"] == "two"
    table.reply("turn/steer", result={"turnId": "turn-1"})
    table.tells("item/started", item={"type": "userMessage", "id": "i", "clientId": "another"})
    assert table.heard("taken") == [["one"]]
    table.tells("item/started", item={"type": "userMessage", "id": "j", "clientId": "two"})
    assert table.heard("taken") == [["one"], ["two"]]
    table.ends()
    assert len(table.asked("turn/start")) == 1


@pytest.mark.parametrize("status", ["interrupted", "failed", "completed"])
def test_what_a_turn_kept_and_never_gave_its_model_begins_the_next_one_once(status: str) -> None:
    table = Table().at_work()
    for name in ("two", "three"):
        table.person(Saying.MESSAGE, name, name)
        table.reply("turn/steer", result={"turnId": "turn-1"})
    table.ends(status)
    assert table.heard("taken") == [["one"]]
    table.starts("turn-2")
    table.tells("item/started", item={"type": "userMessage", "id": "j", "clientId": "three"})
    assert table.heard("taken") == [["one"], ["two"], ["three"]]
    assert [started["input"][0]["text"] for started in table.asked("turn/start")] == ["Go", "two"]
    assert table.asked("turn/steer")[-1]["expectedTurnId"] == "turn-2"


def test_an_interrupt_ends_the_commands_that_the_turn_has_begun_and_those_alone() -> None:
    table = Table().at_work()
    for name in ("ended", "left"):
        table.tells("item/started", item={"type": "commandExecution", "id": name, "command": name}, turnId="turn-1")
    table.tells("item/completed", item={"type": "commandExecution", "id": "ended"}, turnId="turn-1")
    table.ends("interrupted")
    table.person(Saying.MESSAGE, "two", "More")
    assert (table.heard("ended"), len(table.asked("turn/start"))) == ([], 1)
    there = [{"itemId": name, "processId": f"process of {name}"} for name in ("of an earlier turn", "left")]
    table.reply("thread/backgroundTerminals/list", result={"data": there})
    (named,) = table.asked("thread/backgroundTerminals/terminate")
    assert named == {"threadId": THREAD, "processId": "process of left"}
    table.reply("thread/backgroundTerminals/terminate", result={"terminated": True})
    assert [ended["message"] for ended in table.heard("ended")] == ["Interrupted."]
    table.starts("turn-2")
    before = len(table.told)
    table.tells("item/completed", item={"type": "commandExecution", "id": "left"}, turnId="turn-1")
    assert len(table.told) == before, "its result is no part of the next turn"
    assert "notice" not in table.heard("event")


@pytest.mark.parametrize("reply", [{"error": {"message": "unknown method"}}, {"result": {}}])
def test_a_command_that_an_interrupt_could_not_end_is_told_of(reply: Json) -> None:
    table = Table().at_work()
    table.tells("item/started", item={"type": "commandExecution", "id": "left", "command": "make"}, turnId="turn-1")
    table.ends("interrupted")
    table.reply("thread/backgroundTerminals/list", **reply)
    assert table.told[-2]["event"] == "notice"
    assert "may still be running" in table.told[-2]["body"]["text"]
    assert table.told[-1]["ended"]["message"] == "Interrupted."


def test_a_turn_that_cannot_begin_is_told_as_one_that_failed() -> None:
    table = Table().began()
    table.person(Saying.MESSAGE, "one", "Go")
    table.person(Saying.INTERRUPT, "stop")
    table.reply("turn/start", error={"message": "usage limit reached"})
    assert (table.heard("taken"), table.heard("done")) == ([["one"]], ["stop"])
    assert table.heard("ended")[0]["message"] == "usage limit reached"


def test_an_agent_that_begins_in_an_unknown_way_ends_the_conversation_instead_of_leaving_it_waiting() -> None:
    table = Table()
    table.person(Saying.MESSAGE, "one", "Go")
    table.reply("initialize", result={})
    table.reply("thread/start", result={"thread": "another one"})
    assert table.adapter.has_failed
    assert "could not begin a conversation: its answer is not understood" in table.heard("ended")[0]["message"]


def test_an_interrupt_waits_for_the_turn_that_was_asked_for_and_takes_its_prompts_along() -> None:
    table = Table().began()
    table.person(Saying.INTERRUPT, "nothing to stop")
    assert table.heard("done") == ["nothing to stop"]
    table.person(Saying.MESSAGE, "one", "Go")
    table.person(Saying.INTERRUPT, "stop")
    assert table.asked("turn/interrupt") == []
    table.starts("turn-1")
    assert table.asked("turn/interrupt") == [{"threadId": THREAD, "turnId": "turn-1"}]
    table.says(id=7, method="item/commandExecution/requestApproval", params={"threadId": THREAD, "itemId": "i"})
    assert list(table.prompts.tell) == [7]
    table.person(Saying.INTERRUPT, "stop again")
    assert table.prompts.tell == {}
    table.reply("turn/interrupt", error={"message": "too late"})
    assert table.told[-1] == {"done": "stop again", "refused": "too late"}


def test_modes_and_models_hold_from_the_next_turn_on_and_an_unknown_one_is_refused() -> None:
    table = Table(mode="plan").at_work()
    (first,) = table.asked("turn/start")
    assert first["collaborationMode"] == {"mode": "plan", "settings": {"model": "m"}}
    table.person(Saying.MODE, "mode", "bypassPermissions")
    table.person(Saying.MODE, "no mode", "root")
    table.person(Saying.MODEL, "model", "small")
    refused = {told["done"]: bool(told["refused"]) for told in table.told if "done" in told}
    assert refused == {"mode": False, "no mode": True, "model": False}
    table.ends()
    table.person(Saying.MESSAGE, "two", "More")
    last = table.asked("turn/start")[-1]
    assert (last["approvalPolicy"], last["sandboxPolicy"]) == ("never", {"type": "dangerFullAccess"})
    assert last["collaborationMode"] == {"mode": "default", "settings": {"model": "small"}}
    table.starts("turn-2")
    table.ends()
    table.person(Saying.MESSAGE, "three", "More")
    assert table.asked("turn/start")[-1].keys() == {"threadId", "input"}


def test_two_requests_with_one_id_are_both_refused_and_what_was_decided_meanwhile_is_not_told() -> None:
    table = Table().at_work()
    wanted = {"threadId": THREAD, "turnId": "turn-1", "itemId": "i"}
    table.says(id=7, method="item/commandExecution/requestApproval", params=wanted)
    tell = table.prompts.tell[7]
    table.says(id=7, method="item/commandExecution/requestApproval", params={**wanted, "itemId": "j"})
    assert table.prompts.tell == {}
    assert ["error" in sent for sent in table.sent if sent.get("id") == 7] == [True, True]
    before = len(table.sent)
    assert not tell(GateVerdict(allowed=True, given={}))
    assert len(table.sent) == before
    table.says(id=7, method="item/commandExecution/requestApproval", params=wanted)
    assert list(table.prompts.tell) == [7]


def test_a_patch_that_changes_after_it_was_asked_is_asked_anew_and_the_old_one_is_no_more() -> None:
    def changes(path: str) -> list[Json]:
        return [{"path": path, "kind": {"type": "add"}, "diff": "x\n"}]

    table = Table().at_work()
    table.tells("item/started", item={"id": "i", "type": "fileChange", "changes": changes("a")})
    wanted = {"threadId": THREAD, "turnId": "turn-1", "itemId": "i"}
    table.says(id=7, method="item/fileChange/requestApproval", params=wanted)
    first = table.prompts.tell[7]
    table.tells("item/fileChange/patchUpdated", itemId="i", changes=changes("a"))
    assert table.prompts.tell[7] is first
    table.tells("item/fileChange/patchUpdated", itemId="i", changes=changes("/etc/evil"))
    assert table.prompts.tell[7] is not first
    table.person(Saying.INTERRUPT, "stop")
    table.tells("item/fileChange/patchUpdated", itemId="i", changes=changes("b"))
    assert table.prompts.tell == {}


def test_the_words_of_a_no_reach_the_agent_before_the_no() -> None:
    table = Table().at_work()
    wanted = {"threadId": THREAD, "turnId": "turn-1", "itemId": "i"}
    asked = {**wanted, "command": "/bin/bash -lc 'touch x'"}
    table.says(id=7, method="item/commandExecution/requestApproval", params=asked)
    table.prompts.tell[7](GateVerdict(allowed=False, given={}, message="Not here"))
    (told,) = table.asked("turn/steer")
    assert told["input"] == [{"type": "text", "text": "About `touch x`: Not here"}]
    table.reply("turn/steer", result={})
    assert table.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"decision": "decline"}}
    table.says(id=8, method="item/tool/requestUserInput", params=wanted)
    table.prompts.tell[8](GateVerdict(allowed=True, given={"answers": {"a": {"answers": ["b"]}}}))
    assert table.sent[-1]["result"] == {"answers": {"a": {"answers": ["b"]}}}


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("mcpServer/elicitation/request", {"action": "decline"}),
        ("item/permissions/requestApproval", {"permissions": {}, "scope": "turn"}),
    ],
)
def test_what_cannot_be_asked_here_is_refused_and_told(method: str, answer: Json) -> None:
    table = Table().at_work()
    table.says(id=7, method=method, params={"threadId": THREAD, "message": "Which?", "reason": "More"})
    assert table.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": answer}
    assert table.told[-1]["event"] == "notice"


@pytest.mark.parametrize(
    "message",
    [
        {"id": 7, "method": "item/tool/call", "params": {}},
        {"id": 7, "method": "item/commandExecution/requestApproval", "params": []},
        {"id": 7, "method": "mcpServer/elicitation/request", "params": {"_meta": {"codex_approval_kind": "other"}}},
        {"method": "item/completed", "params": {"item": 3}},
        {"method": "serverRequest/resolved"},
        {"method": "turn/plan/updated", "params": {"plan": [{"step": 1}]}},
        {"id": 4711, "result": 3},
        {"id": [1], "result": {}},
        [],
    ],
)
def test_what_is_not_understood_breaks_nothing_and_allows_nothing(message: Any) -> None:
    table = Table().at_work()
    before = len(table.sent)
    table.adapter.take(json.dumps(message).encode())
    answers = [sent for sent in table.sent[before:] if "method" not in sent]
    assert all("error" in answer or answer["result"] == {"action": "decline"} for answer in answers)
    table.person(Saying.MESSAGE, "two", "More")
    assert table.sent[-1]["method"] == "turn/steer"


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "mcpToolCall", "id": tool, "server": "shop", "tool": tool, "arguments": arguments}


def test_a_call_of_an_mcp_tool_is_asked_for_only_where_it_is_certain_which_one_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config(state_dir=tmp_path / "state")
    params = {"serverName": "shop", "_meta": {"tool_params": {"count": 1}}}
    with open_desks(config) as desks:
        for calls in ([], [_call("deploy", count=2)], [_call("deploy", count=1), _call("burn", count=1)]):
            with pytest.raises(ValueError, match="not certain"):
                tool_permission(params, calls)(Asker(), config, desks)
        asked = tool_permission(params, [_call("deploy", count=1), _call("burn", count=True)])(Asker(), config, desks)
    assert asked.new.title == "Allow mcp__shop__deploy?"


class _BrokenPrompt:
    """One whose ask is not in the store any more."""

    is_given_up = store_is_away = False
    ask = Ask(id="gone", call_id="", tool="", questions=(), asker=Asker(), created_at=0, changed_at=0)

    def look(self) -> Ask:
        raise NotFound("No ask has this id")

    def leave(self, why: str) -> None:
        pytest.fail("it was told")


def test_a_fault_while_something_is_looked_at_is_a_no_and_the_agent_goes_on() -> None:
    told: list[GateVerdict] = []

    def tell(verdict: GateVerdict) -> bool:
        told.append(verdict)
        return True

    prompts = HeldPrompts(lambda: None, asks=True)
    prompts._open[1] = cast("Any", _BrokenPrompt()), tell
    prompts.look()
    prompts.look()
    prompts.close("over")
    assert [verdict.allowed for verdict in told] == [False]


def test_a_fault_while_something_is_put_to_people_is_a_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv(RUN_VARIABLE, "no such run")
    told: list[GateVerdict] = []

    def tell(verdict: GateVerdict) -> bool:
        told.append(verdict)
        return True

    for asks in (True, False):
        prompts = HeldPrompts(lambda: None, asks=asks)
        prompts.put(1, AskingSession(client="c", title="C"), lambda *_: pytest.fail("asked"), tell)
        prompts.close("over")
    assert [verdict.allowed for verdict in told] == [False, False]
    assert "is not in the store" in told[0].message


def test_a_turn_that_ends_before_it_was_told_to_have_begun_leaves_nothing_waiting() -> None:
    table = Table().began()
    table.person(Saying.MESSAGE, "one", "Go")
    table.person(Saying.INTERRUPT, "stop")
    table.ends()
    assert (table.heard("taken"), table.heard("done")) == ([["one"]], ["stop"])
    assert table.asked("turn/interrupt") == []
    table.person(Saying.MESSAGE, "two", "More")
    assert len(table.asked("turn/start")) == 2
