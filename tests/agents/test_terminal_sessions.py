"""Sessions in terminals as their files tell them, in the words of Claude Code 2.1.325 and Codex 0.166."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sayso.agents.terminal_sessions import TAIL, TerminalSession, read_session, session_files

SESSION = "13aee6f8-eca7-451f-9f13-b038b6dde598"
Json = dict[str, Any]


def person(text: str, **more: Any) -> Json:
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "timestamp": "2026-11-16T11:51:15.122Z",
        **more,
    }


def agent(*blocks: Json, stop: str | None = "end_turn", **more: Any) -> Json:
    return {"type": "assistant", "message": {"content": list(blocks), "stop_reason": stop}, **more}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


USE = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
RESULT = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}}
NO = {"type": "user", "message": {"content": [text("[Request interrupted by user for tool use]")]}}
OVER = {"type": "system", "subtype": "turn_duration", "durationMs": 3567, "isMeta": False}
BESIDE = {"type": "permission-mode", "permissionMode": "default"}


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects" / "-home-ada-shop"
    folder.mkdir(parents=True)
    return folder / f"{SESSION}.jsonl"


def written(file: Path, *entries: Json) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    # As both programs write it: without blanks.
    file.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
    return file


def read(home: Path, kind: str = "claude", session: str = SESSION) -> TerminalSession | None:
    return read_session(kind, session, {"HOME": str(home)})


def in_turn(home: Path) -> bool:
    session = read(home)
    assert session
    return session.in_turn


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ([person("Go on."), agent(text("Done.")), OVER, BESIDE], False),
        ([person("Go on."), agent(text("Done.")), BESIDE], False),
        ([person("Go on."), BESIDE], True),
        ([person("Go on."), agent(USE, stop="tool_use")], True),
        ([person("Go on."), agent(USE, stop="tool_use"), RESULT], True),
        ([person("Go on."), agent(text("First I look"), stop=None)], True),
        ([person("Go on."), agent(USE, stop="tool_use"), RESULT, NO], False),
        ([person("Go on."), agent(USE, stop="tool_use"), RESULT, NO, OVER], False),
        # What it does by itself is no turn, and neither is what its own commands say.
        ([person("Go on."), agent(text("Done.")), OVER, person("<command-name>/cost</command-name>")], False),
        ([person("Go on."), agent(text("Done.")), OVER, person("Note", isMeta=True)], False),
        # An agent that it has started says nothing of its own turn.
        ([person("Go on."), agent(USE, stop="tool_use"), agent(text("Found"), isSidechain=True)], True),
        ([BESIDE], False),
        # Claude marks what it was told: then it does not matter how that begins.
        ([agent(text("Done.")), OVER, person("Caveat: only the tests.")], True),
        ([agent(text("Done.")), OVER, person("<command-line> is what I mean", promptSource="typed")], True),
        ([agent(text("Done.")), OVER, person("[Request interrupted by user] means?", promptSource="typed")], True),
        # A command of its own that begins a turn is marked too.
        ([agent(text("Done.")), OVER, person("Look at it.", isMeta=True, turnOrigin="human")], True),
    ],
)
def test_a_session_of_claude_is_in_a_turn_from_a_message_until_that_is_answered(
    claude: Path, tmp_path: Path, entries: list[Json], wanted: bool
) -> None:
    written(claude, *entries)
    assert in_turn(tmp_path) is wanted


def queued(operation: str) -> Json:
    return {"type": "queue-operation", "operation": operation, "timestamp": "2026-11-16T11:51:20.000Z"}


DONE = [person("Go on."), agent(text("Done.")), OVER]


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        # As Claude writes it: taken from the queue before the end of the turn, and noted as said after that.
        ([queued("enqueue"), *DONE], True),
        ([person("Go on."), queued("enqueue"), queued("dequeue"), *DONE[1:]], True),
        ([queued("enqueue"), queued("dequeue"), *DONE, person("Next.", promptSource="queued"), *DONE[1:]], False),
        # The agent was told of it in the middle of its turn, or the person has taken it back.
        ([person("Go on."), queued("enqueue"), queued("remove"), *DONE[1:]], False),
        ([person("Go on."), queued("enqueue"), queued("enqueue"), queued("popAll"), *DONE[1:]], False),
    ],
)
def test_a_session_of_claude_in_which_a_message_is_queued_is_not_at_its_end(
    claude: Path, tmp_path: Path, entries: list[Json], wanted: bool
) -> None:
    written(claude, *entries)
    home = {"HOME": str(tmp_path)}
    now = read_session("claude", SESSION, home, lambda: 1_794_829_881_000)
    then = read_session("claude", SESSION, home, lambda: 1_794_829_940_000)
    assert now
    assert then
    # What is still queued long after the turn is left from a client that has died.
    assert (now.in_turn, then.in_turn) == (wanted, False)


def test_what_a_person_has_typed_is_told_however_it_begins(claude: Path, tmp_path: Path) -> None:
    typed = ["Caveat: drop nothing", "<command-line> is it", "<bash-like> shells"]
    written(claude, *(person(words, promptSource="typed") for words in typed), person("Wake up", promptSource="system"))
    session = read(tmp_path)
    assert session
    assert [message.text for message in session.messages] == typed


def test_what_was_last_said_is_told_without_what_tools_and_commands_said(claude: Path, tmp_path: Path) -> None:
    said = [person("Fix it."), agent(text("I look."), stop=None), agent(USE, stop="tool_use"), RESULT]
    noted = [person("<local-command-stdout>$1</local-command-stdout>"), person("Summary", isCompactSummary=True), NO]
    # What the agent itself says in the words of the filler is said.
    filler = agent(text("No response requested."), stop="stop_sequence")
    filler["message"]["model"] = "<synthetic>"
    written(claude, *said, agent(text("Fixed.")), OVER, *noted, filler, agent(text("No response requested.")))
    session = read(tmp_path)
    assert session
    told = [(message.by_person, message.text) for message in session.messages]
    assert told == [(True, "Fix it."), (False, "I look."), (False, "Fixed."), (False, "No response requested.")]


def test_a_session_is_split_at_a_step_also_at_one_in_which_nothing_was_said(claude: Path, tmp_path: Path) -> None:
    looked = [person("Fix it.", uuid="1"), agent(USE, stop="tool_use", uuid="2"), {**RESULT, "uuid": "3"}]
    written(claude, *looked, agent(text("Fixed."), uuid="4"), OVER, person("And the tests?", uuid="5"))
    session = read(tmp_path)
    assert session
    assert session.last_step == "5"

    def split(step: str) -> tuple[list[str], list[str]]:
        return [each.text for each in session.until(step)], [each.text for each in session.since(step)]

    assert split("3") == (["Fix it."], ["Fixed.", "And the tests?"])
    assert split("4") == (["Fix it.", "Fixed."], ["And the tests?"])
    assert split("5") == split("unknown") == (["Fix it.", "Fixed.", "And the tests?"], [])


@pytest.mark.parametrize("name", ["--add-dir=/", "", "a b", "x" * 101, 7, None])
def test_what_cannot_be_a_word_of_a_command_line_is_no_step(claude: Path, tmp_path: Path, name: object) -> None:
    written(claude, person("Fix it.", uuid="1"), agent(text("Fixed."), uuid=name))
    session = read(tmp_path)
    assert session
    assert session.steps == ("1",)


def test_a_session_of_codex_is_in_a_turn_until_it_is_complete_or_aborted(tmp_path: Path) -> None:
    name = f"rollout-2026-11-16T11-51-15-{SESSION}.jsonl"
    file = tmp_path / ".codex" / "sessions" / "2026" / "11" / "16" / name

    def event(kind: str, **more: Any) -> Json:
        return {"timestamp": "2026-11-16T11:51:15.122Z", "type": "event_msg", "payload": {"type": kind, **more}}

    def item(kind: str, *parts: Json) -> Json:
        return event("item_completed", item={"type": kind, "content": list(parts)}, turn_id="turn-1")

    done = item("AgentMessage", {"type": "Text", "text": "Done."})
    begun = [event("task_started"), item("UserMessage", text("Go on.")), item("CommandExecution"), done]
    written(file, *begun)
    session = read(tmp_path, "codex")
    assert session
    assert session.in_turn
    assert [(message.by_person, message.text) for message in session.messages] == [(True, "Go on."), (False, "Done.")]
    assert (session.steps, {message.step for message in session.messages}) == (("turn-1",), {"turn-1"})
    for over in ("task_complete", "turn_aborted"):
        written(file, *begun, event(over))
        ended = read(tmp_path, "codex")
        assert ended
        assert not ended.in_turn


def test_only_a_plain_file_in_the_agents_own_folder_is_read(claude: Path, tmp_path: Path) -> None:
    secret = written(tmp_path / "elsewhere" / f"{SESSION}.jsonl", person("A secret"))
    claude.symlink_to(secret)
    assert read(tmp_path) is None
    claude.unlink()
    claude.parent.rmdir()
    claude.parent.symlink_to(secret.parent)
    assert read(tmp_path) is None
    claude.parent.unlink()
    claude.parent.mkdir()
    os.mkfifo(claude)
    assert read(tmp_path) is None
    claude.unlink()
    written(claude, person("Mine"))
    assert read(tmp_path) is not None
    for name in ("", "*", f"../elsewhere/{SESSION}", SESSION.upper(), SESSION + "\n"):
        assert read(tmp_path, session=name) is None
    assert read(tmp_path, "gemini") is None


def test_a_long_file_is_read_from_its_end_and_lines_that_are_no_json_are_passed_over(
    claude: Path, tmp_path: Path
) -> None:
    written(claude, person("The first"), person("x" * TAIL), person("The last"))
    with claude.open("a") as file:
        file.write('{"type":"user", but no JSON\n[1, "type":"user"]\n{"type":"assistant","message":')
    session = read(tmp_path)
    assert session
    assert [message.text for message in session.messages] == ["The last"]
    assert session.in_turn


def test_a_session_of_codex_is_found_by_its_day_however_many_there_are_and_on_any_other_too(tmp_path: Path) -> None:
    sessions = tmp_path / ".codex" / "sessions"
    began = "01a1e673-8159-7781-8b10-40e2a3917d85"
    for day in ("2026/11/16", "2026/11/01", "2025/01/02"):
        for session in (began, SESSION):
            file = sessions / day / f"rollout-2026-11-16T22-21-32-{session}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}\n")
    environ = {"HOME": str(tmp_path)}
    assert [path.parent for path in session_files("codex", began, environ)] == [sessions / "2026" / "11" / "16"]
    assert len(session_files("codex", SESSION, environ)) == 3
    assert session_files("codex", "ffffffff-ffff-7781-8b10-40e2a3917d85", environ) == []
    (sessions / "2026" / "11" / "16" / f"rollout-2026-11-16T22-21-32-{began}.jsonl").unlink()
    assert len(session_files("codex", began, environ)) == 2
