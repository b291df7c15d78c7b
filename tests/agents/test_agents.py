"""What the agents' own lines become, and how little of what they print is ever in memory."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.agents import lines
from sayso.agents.agent import ParsedLine, PersonLine, shortened, trimmed
from sayso.agents.kinds import AGENTS
from sayso.agents.lines import PassedOver, RunOutput
from sayso.agents.model import EventKind, Options, Project, Run, RunChoices
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.records import replace
from sayso.trust import TrustStanding

LINE = PersonLine(
    relay_file=Path("/r/t.json"),
    config_file=Path("/r/t.mcp.json"),
    server="ask-user",
    command=("/bin/sayso", "server"),
    ask_tool="mcp__ask-user__ask_user",
    approve_tool="mcp__ask-user__approve",
)


def run_of(agent: str, session: str = "", **options: Any) -> Run:
    project = Project(
        id=1,
        owner="ada",
        host="h",
        directory=Path("/p"),
        name="p",
        options=Options(agent=agent, **options),
        created_at=0,
    )
    return Run(
        id="r",
        project=project,
        user="ada",
        conversation="r",
        turn=1,
        token="t",
        agent=agent,
        session=session,
        host="h",
        process="p",
        folder=Path("/f"),
        prompt="Do it",
        started_at=0,
        changed_at=0,
    )


def test_claude_gets_its_line_its_options_and_the_conversation_to_resume() -> None:
    run = run_of("claude", "s-1", model="opus", permission_mode="plan")
    assert " ".join(AGENTS["claude"].argv(Config(), run, LINE)) == (
        "claude -p --input-format stream-json --output-format stream-json --verbose --include-partial-messages "
        "--replay-user-messages --mcp-config /r/t.mcp.json "
        "--allowedTools mcp__ask-user__ask_user --permission-prompt-tool mcp__ask-user__approve "
        "--model opus --permission-mode plan --resume s-1"
    )
    plain = AGENTS["claude"].argv(Config(), run_of("claude"), None)
    assert plain[-3:] == ["--replay-user-messages", "--permission-mode", "default"], "not what holds in a terminal"


def test_a_session_from_a_terminal_is_copied_once_and_then_the_copy_is_resumed() -> None:
    taken = RunChoices(copies="s-0")
    words = AGENTS["claude"].argv(Config(), replace(run_of("claude"), choices=taken), None)
    assert words[-3:] == ["--resume", "s-0", "--fork-session"]
    assert AGENTS["claude"].argv(Config(), replace(run_of("claude", "s-1"), choices=taken), None)[-2:] == [
        "--resume",
        "s-1",
    ]
    # One that was handed back is copied in its turn: a terminal may have gone on with it.
    back = replace(run_of("claude", "s-1"), choices=RunChoices(copies="s-1"))
    assert AGENTS["claude"].argv(Config(), back, None)[-3:] == ["--resume", "s-1", "--fork-session"]
    orders = [order_of(replace(run_of("codex", session), choices=taken), None) for session in ("", "s-1")]
    assert [(order["session"], order["copies"]) for order in orders] == [("", "s-0"), ("s-1", "")]


def order_of(run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile] = ()) -> dict[str, Any]:
    """What the adapter of a run's agent is told to start, and how."""
    *start, protocol, order = AGENTS[run.agent].argv(Config(), run, line, kept_out)
    assert (start[0], start[-1], protocol) == (sys.executable, "sayso.adapters.__main__", run.agent)
    told: dict[str, Any] = json.loads(order)
    return told


def test_codex_gets_its_line_its_options_and_the_conversation_to_resume() -> None:
    order = order_of(run_of("codex", "s-1", model="gpt", permission_mode="plan"), LINE)
    assert order["command"][:2] == ["codex", "app-server"]
    assert 'mcp_servers.ask-user.args=["server"]' in order["command"]
    assert 'mcp_servers.ask-user.tools.ask_user.approval_mode="approve"' in order["command"]
    told = {name: order[name] for name in ("model", "mode", "session", "asks")}
    assert told == {"model": "gpt", "mode": "plan", "session": "s-1", "asks": True}
    bare = order_of(run_of("codex"), None)
    assert (bare["command"], bare["asks"]) == (["codex", "app-server"], False)


@pytest.mark.finding("F-22")
def test_codex_is_told_to_take_nothing_from_a_project_that_is_not_trusted() -> None:
    kept_out = BroughtFile(name=".codex/config.toml", used=Used.CODEX, standing=TrustStanding.NEW)
    words = order_of(run_of("codex"), None, [kept_out])["command"]
    projects = tomllib.loads(words[words.index("-c") + 1])["projects"]
    folder = run_of("codex").project.directory.resolve()
    assert set(projects) == {str(place) for place in (folder, *folder.parents)}
    assert all(project == {"trust_level": "untrusted"} for project in projects.values())
    tree = replace(run_of("codex"), choices=RunChoices(directory="/trees/one"))
    words = order_of(tree, None, [kept_out])["command"]
    assert {"/trees/one", str(folder)} <= set(tomllib.loads(words[words.index("-c") + 1])["projects"])


@pytest.mark.parametrize(
    ("agent", "said", "kind", "wanted"),
    [
        ("claude", {"type": "system", "subtype": "init", "model": "m", "session_id": "s"}, "started", {"model": "m"}),
        (
            "claude",
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "Hi"}]}},
            "text",
            {"text": "Hi"},
        ),
        (
            "claude",
            {
                "type": "assistant",
                "parent_tool_use_id": "p",
                "message": {"content": [{"type": "thinking", "thinking": "H"}]},
            },
            "thinking",
            {"text": "H", "parent": "p"},
        ),
        (
            "claude",
            {
                "type": "user",
                "message": {
                    "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}]
                },
            },
            "tool_result",
            {"id": "t", "text": "no", "error": True},
        ),
        (
            "claude",
            {"type": "result", "is_error": True, "subtype": "error_max_turns"},
            "result",
            {"text": "error max turns"},
        ),
        ("codex", {"ended": {"message": "No more"}}, "result", {"error": True, "text": "No more"}),
        ("codex", {"event": "notice", "body": {"text": "Reconnecting"}}, "notice", {"text": "Reconnecting"}),
    ],
)
def test_lines_become_events(agent: str, said: dict[str, Any], kind: str, wanted: dict[str, Any]) -> None:
    (event,) = AGENTS[agent].hear(said).events
    assert event.kind == kind
    assert {key: event.body[key] for key in wanted} == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    *("message", "content", "event", "delta", "mcp_servers", "total_cost_usd", "num_turns", "result", "error"),
    *("ended", "taken", "done", "refused", "session", "body"),
)
TYPES = ("system", "assistant", "user", "result", "stream_event")


@settings(max_examples=40)
@given(
    agent=st.sampled_from(sorted(AGENTS)),
    kind=st.sampled_from(TYPES),
    rest=st.dictionaries(st.sampled_from(KEYS), JSON | st.fixed_dictionaries({"content": st.lists(JSON, max_size=2)})),
)
def test_no_line_of_an_agent_breaks_its_reader(agent: str, kind: str, rest: dict[str, Any]) -> None:
    heard = AGENTS[agent].hear({"type": kind, "subtype": "init", **rest})
    for event in heard.events:
        assert isinstance(event.kind, EventKind)
        json.dumps(event.body)


def test_lines_are_read_as_they_come_and_again_after_a_restart(tmp_path: Path) -> None:
    output = tmp_path / "stdout"
    reader = RunOutput(tmp_path, 0)
    assert list(reader.read()) == []
    output.write_bytes(b"one\ntw")
    assert list(reader.read()) == [b"one"]
    assert reader.place == 4
    with output.open("ab") as file:
        file.write(b"o\nthree")
    assert list(reader.read()) == [b"two"]
    assert list(RunOutput(tmp_path, 4).read()) == [b"two"]
    assert list(reader.rest()) == [b"three"]
    assert reader.place == output.stat().st_size


def test_a_line_that_is_too_long_is_passed_over_without_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 100)
    monkeypatch.setattr(lines, "CHUNK", 64)
    (tmp_path / "stdout").write_bytes(b"x" * 1000 + b"\nnext\n")
    reader, found = RunOutput(tmp_path, 0), []
    for _ in range(30):
        found += list(reader.read())
    assert found == [PassedOver(size=1000), b"next"]


def test_what_was_dropped_on_disk_is_told_as_a_gap(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"first\n")
    (tmp_path / "stdout.500").write_bytes(b"later\n")
    reader = RunOutput(tmp_path, 0)
    assert list(reader.read()) == [b"first"]
    assert list(reader.read()) == [PassedOver(size=494, too_fast=True), b"later"]


def test_long_texts_are_cut_in_the_middle_and_say_so() -> None:
    assert shortened("a" * 30, 10) == "aaaaa\n… 20 characters left out …\naaaaa"
    cut = trimmed({"content": "b" * 100_000, "more": ["c"] * 1000})
    assert isinstance(cut, dict)
    assert len(json.dumps(cut)) < 12_000


def test_claude_is_asked_for_its_commands_first_and_what_it_replies_becomes_an_event() -> None:
    claude = AGENTS["claude"]
    asked = json.loads(claude.greeting())
    assert asked["request"] == {"subtype": "initialize"}
    known = [{"name": "compact", "description": "x" * 1000}, {"name": "a/b", "description": ""}, None]
    reply = {"subtype": "success", "request_id": asked["request_id"], "response": {"commands": known}}
    (event,) = claude.hear({"type": "control_response", "response": reply}).events
    assert (event.kind, event.body) == (EventKind.COMMANDS, {"commands": [{"name": "compact", "about": "x" * 300}]})
    refused = {"subtype": "error", "request_id": asked["request_id"], "error": "No"}
    assert claude.hear({"type": "control_response", "response": refused}) == ParsedLine()
