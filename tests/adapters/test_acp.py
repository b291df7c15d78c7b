"""Agents that speak ACP, as heard without a process: each program tells the same in words of its own."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.adapters import acp, acp_asks, adapter
from sayso.adapters.acp import AcpAdapter
from sayso.adapters.acp_calls import AcpCall, FolderWords, action_of, asked_for, known_as, told_more
from sayso.adapters.acp_choices import offered
from sayso.adapters.adapter import AdapterOrder
from sayso.adapters.held_prompts import HeldPrompts
from sayso.adapters.line import PersonSaid, TalkLine
from sayso.adapters.rpc import Rpc
from sayso.agents.acp import PROGRAMS
from sayso.agents.model import Saying
from sayso.permissions.action import Action
from sayso.permissions.parts import parts_of
from sayso.rules.uses import UNCLEAR, Ground, use_of
from sayso.web import tool_wording

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
    given = {"command": "make", "description": "Build", "workdir": str(tmp_path / "sub")}
    use = told_more(AcpCall(id="1", folders=FolderWords(chosen="workdir")), {"kind": "execute", "rawInput": given})
    asked = asked_for(use, {"kind": "execute", "title": "make", "rawInput": {"command": "make"}})
    action = action_of(asked, tmp_path, "opencode")
    assert (action.kind, action.tool, action.folder) == ("shell", "Bash", str((tmp_path / "sub").resolve()))
    assert action.data["input"] == {"command": "make", "description": "Build"}


def _doubts(action: Action, project: Path) -> tuple[str, ...]:
    return use_of(action.plain, Ground(leads_to=lambda path: path, project=str(project))).doubts


@pytest.mark.parametrize("word", ["cwd", "directory", "workdir"])
def test_a_word_for_a_folder_that_the_program_may_ignore_hides_nothing_and_is_a_doubt(
    word: str, tmp_path: Path
) -> None:
    """The model can write both: the one that the program goes by, and one that says the project."""
    where = tmp_path / "vendor"
    given = {"command": "./test.sh", word: str(tmp_path), "folder": str(where)}
    folders = FolderWords(chosen="folder", added={"cwd": str(tmp_path)})
    call = told_more(AcpCall(id="1", folders=folders), {"kind": "execute", "rawInput": given})
    action = action_of(call, tmp_path, "opencode")
    assert action.folder == str(where.resolve())
    assert action.data["input"] == {"command": "./test.sh", word: str(tmp_path)}
    assert f"it has an input that rules know nothing of: {word}" in _doubts(action, tmp_path)


def test_the_folder_that_the_program_adds_by_itself_is_no_input_of_the_model(tmp_path: Path) -> None:
    folders = FolderWords(chosen="workdir", added={"cwd": str(tmp_path)})

    def action(folder: str) -> Action:
        said = {"kind": "execute", "rawInput": {"command": "./test.sh", "cwd": folder}}
        return action_of(told_more(AcpCall(id="1", folders=folders), said), tmp_path, "opencode")

    assert (action(str(tmp_path)).data["input"], _doubts(action(str(tmp_path)), tmp_path)) == (
        {"command": "./test.sh"},
        (),
    )
    assert action("/elsewhere").data["input"] == {"command": "./test.sh", "cwd": "/elsewhere"}
    assert _doubts(action("/elsewhere"), tmp_path) != ()


@pytest.mark.parametrize("agent", PROGRAMS)
def test_a_tool_that_is_no_shell_loses_no_argument_whatever_its_agent_is(agent: str, tmp_path: Path) -> None:
    given = {"cwd": os.getcwd(), "directory": "/home/me", "workdir": "/x", "todos": []}
    played = Played(agent)
    played.say("Go on")
    played.reply({"sessionId": "s"})
    said = {"toolCallId": "t", "kind": "other", "title": "files_delete_tree", "status": "in_progress"}
    played.update(sessionUpdate="tool_call", rawInput=given, **said)
    (told,) = [line["body"] for line in played.told if line.get("event") == "tool"]
    assert (told["name"], told["title"], told["input"]) == ("a tool", "files_delete_tree", given)
    call = _call(kind="other", title="files_delete_tree", rawInput=given)
    assert action_of(call, tmp_path, agent).data["input"] == given


@pytest.mark.parametrize("kind", ["other", "read", "search"])
def test_a_title_is_no_name_that_a_rule_could_know_the_tool_by(kind: str, tmp_path: Path) -> None:
    said = {"kind": kind, "title": "mcp__shop__look", "rawInput": {"file_path": "a"}}
    action = action_of(_call(**said), tmp_path, "Agent")
    assert UNCERTAIN in _doubts(action, tmp_path)
    assert action.tool != "mcp__shop__look"
    assert "mcp__shop__look" in action.data[UNCLEAR]
    first = parts_of(action)[0]
    assert (first.name, first.text) == ("Not certain", action.data[UNCLEAR])
    named = action_of(_call(**said, _meta={"toolName": "mcp__shop__look"}), tmp_path, "Agent")
    assert (named.tool, UNCERTAIN in _doubts(named, tmp_path)) == ("mcp__shop__look", False)


def test_a_command_whose_input_is_not_told_stands_once_in_its_line() -> None:
    played = Played("gemini")
    played.say("Go on")
    played.reply({"sessionId": "s"})
    played.update(sessionUpdate="tool_call", toolCallId="t", kind="execute", title="make", status="in_progress")
    (told,) = [line["body"] for line in played.told if line.get("event") == "tool"]
    assert (tool_wording.name(told), tool_wording.subject(told, Path("/shop"))) == ("execute", "make")


def test_a_file_that_may_be_meant_from_another_folder_is_in_doubt_for_every_rule(tmp_path: Path) -> None:
    call = _call(kind="edit", rawInput={"filePath": "src/a", "content": "x", "cwd": "/etc"})
    action = action_of(call, tmp_path, "Agent")
    assert action.data["input"]["cwd"] == "/etc"
    assert UNCERTAIN in _doubts(action, tmp_path)


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


UNCERTAIN = "it is not certain what its agent would do"


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "execute", "rawInput": {"script": "rm -rf ~", "env": {"LD_PRELOAD": "x"}}},
        {"kind": "execute", "rawInput": {"command": "ls", "use": "theirs"}},
        {"kind": "other", "title": "ls"},
        {"kind": "execute", "_meta": {"toolName": "another"}},
    ],
    ids=["other words", "a word of ours", "another kind", "another tool"],
)
def test_what_a_request_says_beyond_the_call_is_shown_beside_it_and_in_doubt(said: Json, tmp_path: Path) -> None:
    call = _call(kind="execute", rawInput={"command": "ls"}, _meta={"toolName": "shell"})
    action = action_of(asked_for(call, said), tmp_path, "Agent")
    shown = action.data["input"]
    assert said.get("rawInput", {}).items() <= shown.items()
    assert {"command": "ls"} in shown.values()
    assert UNCERTAIN in _doubts(action, tmp_path)


ELSEWHERE: Json = {"type": "diff", "path": "/etc/x", "oldText": "", "newText": "evil"}


@pytest.mark.parametrize(
    "said",
    [
        {"rawInput": {"filePath": "src/a", "content": "x"}, "content": [ELSEWHERE]},
        {"rawInput": {"filePath": "src/a", "content": "x"}, "locations": [{"path": "/etc/x"}]},
        {"rawInput": {"filePath": "/etc/x", "file_path": "src/a", "content": "x"}},
        {"rawInput": {"filePath": "src/a", "content": "x", "diff": "--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n"}},
    ],
    ids=["diff", "location", "two spellings", "told as a diff"],
)
def test_an_edit_that_names_two_files_shows_both_and_is_in_doubt_for_every_rule(said: Json, tmp_path: Path) -> None:
    action = action_of(asked_for(AcpCall(id="1"), {"kind": "edit", **said}), tmp_path, "Agent")
    shown = "\n".join(part.text for part in parts_of(action))
    assert "src/a" in shown
    assert "/etc/x" in shown
    assert UNCERTAIN in _doubts(action, tmp_path)


def test_an_edit_of_opencodes_is_one_thing_with_the_diff_that_it_asks_with(tmp_path: Path) -> None:
    file = str(tmp_path / "a")
    call = _call(kind="edit", rawInput={"filePath": file, "oldString": "one", "newString": "two"})
    diff = f"Index: {file}\n====\n--- {file}\n+++ {file}\n@@ -1,1 +1,1 @@\n-one\n+two\n"
    asking = {"kind": "edit", "rawInput": {"filepath": file, "diff": diff}, "locations": [{"path": file}]}
    shown = {"type": "diff", "path": file, "oldText": "one\n", "newText": "two\n"}
    for content, told in (([shown], {}), ([], {"diff": diff})):
        action = action_of(asked_for(call, {**asking, "content": content}), tmp_path, "opencode")
        assert action.data["input"] == {"file_path": file, "old_string": "one", "new_string": "two", **told}
        assert (action.tool, _doubts(action, tmp_path)) == ("Edit", ())


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


def test_an_option_whose_name_stands_twice_is_never_chosen() -> None:
    twice = [{"optionId": "yes", "kind": kind} for kind in ("reject_once", "allow_once")]
    assert not acp_asks.takes_yes(twice)
    assert acp_asks.yes(twice) == acp_asks.no(twice) == acp_asks.CANCELLED
    assert acp_asks.no([*twice, {"optionId": "no", "kind": "reject_once"}])["outcome"]["optionId"] == "no"


def test_modes_and_models_are_chosen_by_a_request_or_by_an_option_of_the_session() -> None:
    option = {"id": "m", "category": "model", "currentValue": "a", "options": [{"options": [{"value": "a"}]}]}
    found = offered({"modes": {"availableModes": [{"id": "plan"}]}, "configOptions": [option]})
    mode, model = found[Saying.MODE], found[Saying.MODEL]
    assert (mode.method, mode.parameters("plan")) == ("session/set_mode", {"modeId": "plan"})
    assert (model.method, model.parameters("b")) == ("session/set_config_option", {"configId": "m", "value": "b"})
    assert model.in_words() == "It has a."


# The adapter, with what it writes kept


class KeptPrompts(HeldPrompts):
    """Prompts that nobody decides."""

    def __init__(self) -> None:
        super().__init__(lambda: None, asks=True)
        self.happened: list[str] = []

    def put(self, request: Any, who: Any, make: Any, tell: Any) -> None:
        self.happened.append(f"put {request}")

    def drop(self, request: Any, why: str) -> None:
        self.happened.append(f"drop {request}")


class Played:
    """An adapter of one program, at work on a first message."""

    def __init__(
        self,
        agent: str,
        session: str = "",
        prompts: HeldPrompts | None = None,
        server: tuple[str, ...] = (),
        **able: object,
    ) -> None:
        self.told: list[Json] = []
        self.sent: list[Json] = []
        order = AdapterOrder(label=agent, install="", command=(agent,), agent=agent, session=session, server=server)
        prompts = prompts or HeldPrompts(lambda: None, asks=False)
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

    def say(self, text: str, *pictures: str) -> None:
        self.adapter.say(PersonSaid(what=Saying.MESSAGE, name=text, text=text, pictures=pictures))

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


def test_gemini_goes_on_with_a_conversation_only_after_the_minute_in_which_that_began(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It overwrites the file of a session that it loads earlier."""
    began = datetime(2026, 3, 1, 23, 7, 18, tzinfo=UTC).timestamp()
    passed = [0.0]
    clock = SimpleNamespace(time=lambda: began + passed[0], monotonic=lambda: passed[0])
    for module in (acp, adapter):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    chats = tmp_path / ".gemini" / "tmp" / "shop" / "chats"
    chats.mkdir(parents=True)
    (chats / "session-2026-03-01T23-07-4c1e9ea6.jsonl").touch()

    assert Played("gemini", session="01fa9dc2-970a", loadSession=True).sent[-1]["method"] == "session/load"
    played = Played("gemini", session="4c1e9ea6-7eb4", loadSession=True)
    played.say("Go on")
    played.adapter.look()
    assert [message["method"] for message in played.sent] == ["initialize"]
    assert played.told[-1]["body"]["text"].endswith("in which that began. It goes on in 42 s.")
    assert played.adapter.rest() == 42
    passed[0] = 42.0
    played.adapter.look()
    assert played.sent[-1]["method"] == "session/load"
    assert played.adapter.rest() is None
    played.reply({})
    assert played.sent[-1]["method"] == "session/prompt"


def test_pictures_go_to_an_agent_that_says_that_it_takes_them() -> None:
    played = Played("gemini", promptCapabilities={"image": True})
    played.say("Look", "data:image/png;base64,AAA=")
    played.reply({"sessionId": "s"})
    image = {"type": "image", "mimeType": "image/png", "data": "AAA="}
    assert played.sent[-1]["params"]["prompt"] == [image, {"type": "text", "text": "Look"}]
    (offers,) = [line["body"] for line in played.told if line.get("event") == "offers"]
    assert offers["takes_pictures"] is True


def test_a_message_with_pictures_is_not_given_without_them_to_an_agent_that_takes_none() -> None:
    played = Played("gemini", promptCapabilities={"image": "yes"})
    played.say("Look", "data:image/png;base64,AAA=")
    played.reply({"sessionId": "s"})
    assert [message["method"] for message in played.sent] == ["initialize", "session/new"]
    assert "takes no pictures, so this message was not given to it" in played.told[-1]["ended"]["message"]


def test_the_commands_that_an_agent_tells_of_are_told_if_they_can_be_written_after_a_slash() -> None:
    played = Played("opencode")
    played.say("Go on")
    told = [{"name": "init", "description": "Begin"}, {"name": "two words"}, {"name": 7}, "odd"]
    played.update(sessionUpdate="available_commands_update", availableCommands=told)
    events = [line["body"] for line in played.told if line.get("event") == "commands"]
    assert events == [{"commands": [{"name": "init", "about": "Begin"}]}]


def test_opencode_is_asked_about_a_command_only_once_its_whole_input_is_known() -> None:
    played = Played("opencode")
    played.say("Go on")
    played.reply({"sessionId": "s"})
    played.update(
        sessionUpdate="tool_call", toolCallId="t", kind="execute", status="pending", rawInput={"cwd": os.getcwd()}
    )
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": "make"}}
    played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
    assert not any(message.get("id") == 7 for message in played.sent)
    given = {"command": "make", "workdir": "/q"}
    played.update(sessionUpdate="tool_call_update", toolCallId="t", status="in_progress", rawInput=given)
    # Nobody can be asked here, which is a no.
    assert played.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": acp_asks.no(OPTIONS)}


def test_two_requests_with_one_id_are_both_refused_and_the_next_one_is_not() -> None:
    played = Played("opencode")
    played.say("Go on")
    played.reply({"sessionId": "s"})
    for name in ("t", "u"):
        played.update(sessionUpdate="tool_call", toolCallId=name, kind="execute", status="pending", rawInput={})
        call = {"toolCallId": name, "kind": "execute", "rawInput": {"command": "make"}}
        played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
    assert ["error" in sent for sent in played.sent if sent.get("id") == 7] == [True, True]
    before = len(played.sent)
    played.update(sessionUpdate="tool_call_update", toolCallId="t", status="pending", rawInput={"command": "make"})
    assert len(played.sent) == before
    played.take(id=7, method="session/request_permission", params={"toolCall": {"toolCallId": "t"}, "options": OPTIONS})
    assert played.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": acp_asks.no(OPTIONS)}


def test_opencode_is_asked_at_once_about_what_it_has_told_nothing_of_or_will_tell_no_more_of() -> None:
    """Nobody can be asked here, so that a no says that it was."""
    for told in ({}, {"toolCallId": "t", "kind": "other", "status": "in_progress", "rawInput": {}}):
        played = Played("opencode")
        played.say("Go on")
        played.reply({"sessionId": "s"})
        call = {"toolCallId": "t", "kind": "other", "title": "tool", "rawInput": {"path": "/x"}}
        played.update(sessionUpdate="tool_call", **told) if told else None
        played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
        assert played.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": acp_asks.no(OPTIONS)}


def test_what_changes_after_it_was_asked_is_asked_anew_and_the_old_one_is_no_more() -> None:
    prompts = KeptPrompts()
    played = Played("acp", prompts=prompts)
    played.say("Go on")
    played.reply({"sessionId": "s"})
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": "ls"}}
    played.update(sessionUpdate="tool_call", status="pending", **call)
    played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
    played.update(sessionUpdate="tool_call_update", toolCallId="t", status="pending", title="Another title")
    assert prompts.happened == ["put 7"]
    played.update(sessionUpdate="tool_call_update", toolCallId="t", rawInput={"command": "rm -rf ~"})
    assert prompts.happened == ["put 7", "drop 7", "put 7"]


def test_only_a_question_may_use_the_tool_that_asks_without_being_asked_about() -> None:
    def answer(**said: object) -> object:
        played = Played("qwen", server=("sayso", "server"))
        played.say("Go on")
        played.reply({"sessionId": "s"})
        call = {"toolCallId": "t", "kind": "other", "_meta": {"toolName": "mcp__ask-user__ask_user"}, **said}
        played.take(id=7, method="session/request_permission", params={"toolCall": call, "options": OPTIONS})
        return next(sent["result"] for sent in played.sent if sent.get("id") == 7 and "result" in sent)

    assert answer(rawInput={"question": "Which?"}) == acp_asks.yes(OPTIONS)
    assert answer(rawInput={"question": "Which?", "command": "rm"}) == acp_asks.no(OPTIONS)
    assert answer(rawInput={"question": "Which?"}, kind="execute") == acp_asks.no(OPTIONS)
    assert answer(rawInput={"question": "Which?"}, content=[ELSEWHERE]) == acp_asks.no(OPTIONS)
    assert answer() == acp_asks.no(OPTIONS)


def test_questions_beside_something_else_to_do_are_no_questions() -> None:
    said = {"_meta": {"qwenQuestions": [{"question": "Which?"}]}}
    assert acp_asks.questions_of(_call(kind="think", rawInput={"questions": []}), said)
    assert not acp_asks.questions_of(_call(kind="think", rawInput={"questions": [], "command": "rm"}), said)
    assert not acp_asks.questions_of(_call(kind="execute", rawInput={"questions": []}), said)


def test_a_message_steers_opencode_and_waits_for_the_others() -> None:
    for agent, messages in (("opencode", 2), ("copilot", 1)):
        played = Played(agent)
        for text in ("One", "Two"):
            played.say(text)
        played.reply({"sessionId": "s"})
        assert len([each for each in played.sent if each["method"] == "session/prompt"]) == messages
        assert [line["taken"] for line in played.told if "taken" in line] == [["One"], ["Two"]][:messages]


@pytest.mark.parametrize("agent", ["qwen", "gemini"])
def test_it_asks_for_all_it_does_unless_it_was_set_otherwise_for_talk(agent: str) -> None:
    # Gemini's own settings can name another mode, for terminals.
    played = Played(agent)
    played.reply({"sessionId": "s", "modes": {"currentModeId": "auto", "availableModes": [{"id": "default"}]}})
    assert played.sent[-1]["params"] == {"sessionId": "s", "modeId": "default"}
