"""Agents that speak ACP, as heard without a process: each program tells the same in words of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sayso.adapters import acp_asks
from sayso.adapters.acp import AcpAdapter
from sayso.adapters.acp_calls import AcpCall, action_of, asked_for, known_as, told_more
from sayso.adapters.acp_choices import offered
from sayso.adapters.adapter import AdapterOrder
from sayso.adapters.held_prompts import HeldPrompts
from sayso.adapters.line import PersonSaid, TalkLine
from sayso.adapters.rpc import Rpc
from sayso.agents.model import Saying
from sayso.rules.uses import Ground, use_of

Json = dict[str, Any]
OPTIONS = [
    {"optionId": "always", "kind": "allow_always"},
    {"optionId": "yes", "kind": "allow_once"},
    {"optionId": "no", "kind": "reject_once"},
]


def _call(**said: object) -> AcpCall:
    return told_more(AcpCall(id="1"), said)


@pytest.mark.parametrize(
    "given",
    [
        {"filePath": "/p/a", "oldString": "x", "newString": "y"},
        {"path": "/p/a", "old_str": "x", "new_str": "y"},
        {"file_path": "/p/a", "old_string": "x", "new_string": "y"},
    ],
    ids=["opencode", "copilot", "qwen"],
)
def test_an_edit_is_known_by_claude_codes_names_however_it_is_spelt(given: Json) -> None:
    known = known_as(_call(kind="edit", rawInput=given))
    assert (known.tool, known.given) == ("Edit", {"file_path": "/p/a", "old_string": "x", "new_string": "y"})


def test_fields_that_would_become_one_are_left_as_they_are() -> None:
    given = {"path": "/p/a", "file_path": "/p/b", "content": "x"}
    assert known_as(_call(kind="edit", title="Write", rawInput=given)).given == given


def test_a_command_is_asked_for_with_its_whole_input_and_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    use = _call(kind="execute", rawInput={"command": "make", "description": "Build", "workdir": str(tmp_path / "sub")})
    asked = asked_for(use, {"kind": "execute", "title": "make", "rawInput": {"command": "make"}})
    action = action_of(asked, tmp_path, "opencode")
    assert (action.kind, action.tool, action.folder) == ("shell", "Bash", str((tmp_path / "sub").resolve()))
    assert action.data["input"] == {"command": "make", "description": "Build"}


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "other", "title": "make", "rawInput": {"command": "make", "directories": ["/etc"]}},
        {"kind": "execute", "title": "rm", "rawInput": {"command": "rm -rf /"}},
    ],
    ids=["about something else", "another command"],
)
def test_what_is_asked_about_a_call_that_says_otherwise_shows_both(said: Json, tmp_path: Path) -> None:
    asked = asked_for(_call(kind="execute", rawInput={"command": "make"}), said)
    data = action_of(asked, tmp_path, "opencode").data
    assert data["input"] == {**said["rawInput"], "use": {"command": "make"}}


def test_a_command_whose_input_is_not_told_is_shown_and_in_doubt_for_every_rule(tmp_path: Path) -> None:
    text = [{"type": "content", "content": {"type": "text", "text": "[in sub] (Build)"}}]
    asked = asked_for(AcpCall(id="1"), {"kind": "execute", "title": "make", "content": text})
    action = action_of(asked, tmp_path, "Gemini")
    assert action.data["input"] == {"command": "make", "description": "[in sub] (Build)"}
    assert "Gemini does not tell" in action.data["not_told"]
    assert use_of(action.plain, Ground(leads_to=lambda path: path)).doubts == ("its agent does not tell all of it",)


def test_only_what_allows_this_one_call_is_ever_chosen() -> None:
    assert acp_asks.yes(OPTIONS) == {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert acp_asks.no(OPTIONS) == {"outcome": {"outcome": "selected", "optionId": "no"}}
    assert not acp_asks.takes_yes(OPTIONS[:1])
    for options in (OPTIONS[:1], [], None, "junk"):
        assert acp_asks.yes(options) == acp_asks.no(options) == acp_asks.CANCELLED


def test_modes_and_models_are_chosen_by_a_request_or_by_an_option_of_the_session() -> None:
    option = {"id": "m", "category": "model", "currentValue": "a", "options": [{"options": [{"value": "a"}]}]}
    found = offered({"modes": {"availableModes": [{"id": "plan"}]}, "configOptions": [option]})
    mode, model = found[Saying.MODE], found[Saying.MODEL]
    assert (mode.method, mode.parameters("plan")) == ("session/set_mode", {"modeId": "plan"})
    assert (model.method, model.parameters("b")) == ("session/set_config_option", {"configId": "m", "value": "b"})
    assert model.in_words() == "It has a."


# The adapter, with what it writes kept


class Played:
    """An adapter of one program, at work on a first message."""

    def __init__(self, agent: str, session: str = "", **able: object) -> None:
        self.told: list[Json] = []
        self.sent: list[Json] = []
        order = AdapterOrder(label=agent, install="", command=(agent,), agent=agent, session=session)
        prompts = HeldPrompts(lambda: None, asks=False)
        self.adapter = AcpAdapter(order, TalkLine(self._tell), Rpc(self._send), prompts, 1)
        self.adapter.begin()
        self.reply({"agentCapabilities": able})

    def _tell(self, line: bytes) -> None:
        self.told.append(json.loads(line))

    def _send(self, message: Any) -> bool:
        self.sent.append(message)
        return True

    def reply(self, result: Json) -> None:
        self.take(id=self.sent[-1]["id"], result=result)

    def take(self, **message: Any) -> None:
        self.adapter.take(json.dumps(message).encode())

    def update(self, **update: Any) -> None:
        self.take(method="session/update", params={"update": update})

    def say(self, text: str) -> None:
        self.adapter.say(PersonSaid(what=Saying.MESSAGE, name=text, text=text))

    def texts(self) -> list[str]:
        return [line["body"]["text"] for line in self.told if line.get("event") == "delta"]


def _chunk(text: str) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def test_what_gemini_tells_of_earlier_turns_is_not_told_again_however_late_it_comes() -> None:
    played = Played("gemini", session="s", loadSession=True)
    played.say("Go on")
    played.update(**_chunk("Old"))
    played.reply({})
    assert played.sent[-1]["method"] == "session/prompt"
    played.update(**_chunk("Old too"))
    played.update(sessionUpdate="available_commands_update")
    played.update(**_chunk("New"))
    assert played.texts() == ["New"]


def test_opencode_is_asked_about_a_command_only_once_its_whole_input_is_known() -> None:
    played = Played("opencode")
    played.say("Go on")
    played.reply({"sessionId": "s"})
    played.update(sessionUpdate="tool_call", toolCallId="t", kind="execute", status="pending", rawInput={"cwd": "/p"})
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": "make"}}
    played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
    assert not any(message.get("id") == 7 for message in played.sent)
    given = {"command": "make", "workdir": "/q"}
    played.update(sessionUpdate="tool_call_update", toolCallId="t", status="in_progress", rawInput=given)
    # Nobody can be asked here, which is a no.
    assert played.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": acp_asks.no(OPTIONS)}


def test_a_message_steers_opencode_and_waits_for_the_others() -> None:
    for agent, messages in (("opencode", 2), ("copilot", 1)):
        played = Played(agent)
        for text in ("One", "Two"):
            played.say(text)
        played.reply({"sessionId": "s"})
        assert len([each for each in played.sent if each["method"] == "session/prompt"]) == messages
        assert [line["taken"] for line in played.told if "taken" in line] == [["One"], ["Two"]][:messages]


def test_qwen_asks_for_all_it_does_unless_it_was_set_otherwise() -> None:
    played = Played("qwen")
    played.reply({"sessionId": "s", "modes": {"currentModeId": "auto", "availableModes": [{"id": "default"}]}})
    assert played.sent[-1]["params"] == {"sessionId": "s", "modeId": "default"}
