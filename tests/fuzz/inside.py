"""What comes from others and is read without a process in between: rules and the lines they judge, tool files and the
arguments of their tools, what clients hand to their hooks, and what agents print."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.fuzz.junk import RAW, texts, values
from tests.rules import test_real_shells as shells

from sayso.adapters import codex_items
from sayso.adapters.acp_calls import FolderWords
from sayso.adapters.acp_events import AcpEvents
from sayso.agents.kinds import AGENTS
from sayso.asks.model import Asker
from sayso.cli.gating import CLIENTS, _client
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import InvalidInput
from sayso.gates.client import GateVerdict
from sayso.gates.prompts import asked
from sayso.jsontext import Strict, read_json
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.toolfiles import toolfile
from sayso.toolfiles.argv import build_argv
from sayso.toolfiles.leaves import leaves
from sayso.toolfiles.model import ToolFile

READY = sorted((Path(toolfile.__file__).parent / "ready").glob("*.json"))
PROJECT = Path("/project")

# A document of a known shape in which something else stands somewhere


def _places(value: object, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        yield from _places(each, (*way, step))


@st.composite
def changed(draw: st.DrawFn, documents: Sequence[Any], most: int = 3) -> Any:
    """One of the documents with a few parts replaced, taken out, or put where another belongs."""
    root = {"": copy.deepcopy(draw(st.sampled_from(documents)))}
    for _ in range(draw(st.integers(0, most))):
        ways = list(_places(root))[1:]
        if not ways:
            break
        *around, last = draw(st.sampled_from(ways))
        owner: Any = root
        for step in around:
            owner = owner[step]
        match draw(st.sampled_from(["other", "gone", "moved", "renamed"])):
            case "gone" if around:
                del owner[last]
            case "moved":
                found: Any = root
                for step in draw(st.sampled_from(ways)):
                    found = found[step]
                owner[last] = copy.deepcopy(found)
            case "renamed" if isinstance(owner, dict) and around:
                owner[draw(texts)] = owner.pop(last)
            case _:
                owner[last] = draw(values)
    return root.get("")


@st.composite
def spoilt(draw: st.DrawFn, written: str) -> str:
    """A text in which a few characters are others, or missing."""
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(written)))
        piece = draw(texts | st.sampled_from([*RAW, "{", "}", "[", "]", ",", ":", '"', "\n", "//", "\ufeff"]))
        written = written[:place] + piece + written[place + draw(st.integers(0, 5)) :]
    return written


# Tool files


def tool_files() -> st.SearchStrategy[tuple[str, Any]]:
    """The text of one, and arguments for its tools."""
    documents = [json.loads(file.read_text()) for file in READY]
    named = st.sampled_from([name for document in documents for name in _names(document)]) | texts
    written = changed(documents).map(lambda document: json.dumps(document, indent=1))
    return st.tuples(written.flatmap(spoilt), st.dictionaries(named, values, max_size=4))


def _names(value: object) -> Iterator[str]:
    for way in _places(value):
        found: Any = value
        for step in way:
            found = found[step]
        if way and way[-1] == "name" and isinstance(found, str):
            yield found


def read_tool_file(example: tuple[str, Mapping[str, object]]) -> None:
    text, arguments = example
    _read_alike(text)
    found = toolfile.parse(text, Path("tool.json"))
    if not isinstance(found, ToolFile):
        assert found
        assert all(1 <= fault.line <= text.count("\n") + 1 and str(fault) for fault in found)
        return
    for leaf in leaves(found):
        with suppress(InvalidInput):
            command = build_argv(leaf, arguments, project=PROJECT, roots=[PROJECT], folder=PROJECT / "operation")
            assert all(isinstance(word, str) and "\0" not in word for word in command.argv)


def _read_alike(text: str) -> None:
    """The quick way to read JSON takes and refuses what the careful one does."""
    try:
        careful = Strict(text).root().value
    except json.JSONDecodeError as error:
        with pytest.raises(json.JSONDecodeError, match=f"^{re.escape(str(error))}$"):
            read_json(text)
    else:
        assert repr(read_json(text).value) == repr(careful)


# Rules

RULES = [
    '[[rule]]\nallow = ["Bash(ls *)", "Read", "mcp__github__get_*"]\nbecause = "harmless"\n',
    '[[rule]]\ndeny = ["Bash(git push --force *)"]\nwhen = { project = ["~/shop"], agent = "codex" }\n',
    '[[rule]]\nask = ["Edit(src/**)", "WebFetch(domain:*.example.com)"]\napprovers = ["ada", "ben"]\nneed = 2\n'
    'not_asker = true\nescalate = { after = "10m", to = ["eve"] }\n',
]


def rules_and_lines() -> st.SearchStrategy[tuple[str, str]]:
    """The text of a file of rules, and a line for a shell."""
    pieces = st.lists(st.sampled_from(shells.PIECES), max_size=12).map("".join)
    return st.tuples(st.sampled_from(RULES).flatmap(spoilt), shells.lines() | pieces)


def judge_in(folder: Path) -> Callable[[tuple[str, str]], None]:
    def judge(example: tuple[str, str]) -> None:
        text, line = example
        data = text.encode("utf-8", "surrogatepass")
        read = read_rules(data, Path("rules.toml"), RuleLevel.PERSON)
        assert all(0 <= fault.line <= data.count(b"\n") + 1 for fault in read.faults)
        shells.check(line.encode("utf-8", "replace").decode(), folder)

    return judge


# What clients hand to their hooks

_USE = {"tool_name": "Bash", "tool_input": {"command": "ls -l", "description": "List"}, "session_id": "s", "cwd": "/"}
EVENTS = [
    {"hook_event_name": "PermissionRequest", "transcript_path": "/t.jsonl", "permission_mode": "default", **_USE},
    {
        "hook_event_name": "PermissionRequest",
        **_USE,
        "tool_name": "Edit",
        "tool_input": {"file_path": "/a", "edits": []},
    },
    {
        "hook_event_name": "PermissionRequest",
        "tool_name": "AskUserQuestion",
        "tool_input": {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]},
    },
    {"toolName": "bash", "toolInput": {"command": "ls"}, "sessionId": "s", "cwd": "/"},
    {
        "type": "permission.asked",
        "directory": "/",
        "version": "1",
        "properties": {"permission": "bash", "metadata": {"command": "ls"}, "patterns": ["ls"], "sessionID": "s"},
        "use": {"tool": "bash", "input": {"command": "ls"}},
    },
    {"type": "question.asked", "properties": {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}},
]


def events() -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.sampled_from(CLIENTS), changed(EVENTS, most=4))


@contextmanager
def hooks(folder: Path) -> Iterator[Callable[[tuple[str, Any]], None]]:
    """Nothing but `ls` is allowed by the rules there."""
    config = Config(project=folder, user_dir=folder / "mine", state_dir=folder / "state")
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text('[[rule]]\nallow = ["Bash(ls *)"]\n')
    with open_desks(config) as desks:
        yield lambda example: _hand_over(*example, config, desks)


def _hand_over(name: str, event: Any, config: Config, desks: Desks) -> None:
    if not isinstance(event, dict):
        return
    client = _client(name)
    with suppress(InvalidInput):  # whose text is told, and the client's own prompt decides
        prompt = client.read(event, {})
        client.trail(event, prompt)
        question = asked(prompt, Asker(client=name, project=str(config.project)), config, desks)
        verdict = question.decided_before()
        if verdict and verdict.allowed:
            assert prompt.permission.tool == "Bash"
            assert str(prompt.permission.given["command"]).lstrip().startswith("ls"), event
            json.dumps(client.told(verdict, prompt))
        json.dumps(client.told(GateVerdict(allowed=False, given={}, message="no"), prompt))


# What agents print

PRINTED = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": ["Bash"], "slash_commands": ["a"]},
    {
        "type": "assistant",
        "message": {
            "id": "m",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "thinking", "thinking": "so"},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
            ],
            "usage": {"input_tokens": 1, "output_tokens": 2},
        },
        "parent_tool_use_id": None,
    },
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": False}]},
    },
    {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "h"}}},
    {"type": "result", "subtype": "success", "is_error": False, "result": "done", "total_cost_usd": 0.1, "usage": {}},
    {"type": "control_response", "response": {"subtype": "success", "request_id": "r", "response": {"commands": []}}},
    {"kind": "text", "body": {"text": "hi"}},
]
UPDATES = [
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}},
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "ls",
        "kind": "execute",
        "status": "pending",
        "rawInput": {"command": "ls", "cwd": "/"},
        "content": [{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}],
        "locations": [{"path": "/a"}],
    },
    {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "rawOutput": {"output": "x"}},
    {"sessionUpdate": "plan", "entries": [{"content": "a", "status": "pending", "priority": "high"}]},
    {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.1, "currency": "USD"}},
]
ITEMS = [
    {"type": "agentMessage", "id": "i", "text": "hi"},
    {"type": "reasoning", "summary": ["so"], "content": []},
    {"type": "commandExecution", "id": "i", "command": "bash -lc 'ls'", "status": "failed", "aggregatedOutput": "x"},
    {"type": "fileChange", "id": "i", "changes": [{"path": "/a", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@"}]},
    {"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": {}, "result": {"content": []}},
]


def streams() -> st.SearchStrategy[tuple[list[Any], list[Any], list[Any]]]:
    said, updates, items = (st.lists(changed(each), max_size=3) for each in (PRINTED, UPDATES, ITEMS))
    return st.tuples(said, updates, items)


def hear(example: tuple[list[Any], list[Any], list[Any]]) -> None:
    """All is understood or passed over, and what becomes of it can be kept and shown."""
    said, updates, items = ([each for each in part if isinstance(each, dict)] for part in example)
    for agent in AGENTS.values():
        for each in said:
            json.dumps([event.body for event in agent.hear(each).events])
    acp = AcpEvents(FolderWords())
    told = [event for update in updates for event in acp.hear(update)] + list(acp.over())
    for item in items:
        told += [*codex_items.begun(item), *codex_items.ended(item), *codex_items.todo([item])]
        told += codex_items.notice(str(item.get("type")), item)
    json.dumps([event.body for event in told])
