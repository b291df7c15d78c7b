"""What is known of clients: how long their calls are held, what overrides that, and that the page says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sayso.clients import CLIENTS, UNKNOWN, ClientFacts, call_limit, entry_in, has_progress, is_headless, known
from sayso.config import load

PAGE = (Path(__file__).parents[1] / "docs" / "clients.md").read_text(encoding="utf-8")
TOKEN = {"progressToken": 1}


@pytest.mark.parametrize(
    ("name", "without", "with_progress"),
    [
        ("claude-code", None, None),
        ("codex-mcp-client", 290, 290),
        ("gemini-cli-mcp-client", 590, 590),
        ("opencode", 50, None),
        ("Cursor", 50, 50),
        ("Visual Studio Code", None, None),
        ("claude-ai", 50, 50),
        ("goose", 290, 290),
        ("Zed", 55, 55),
        ("Cline", 55, 55),
        ("windsurf", 50, 50),
        ("never heard of", 50, None),
        ("", 50, None),
    ],
)
def test_a_call_is_held_as_long_as_its_client_allows(
    name: str, without: float | None, with_progress: float | None
) -> None:
    assert call_limit(name, {}, load(environ={})) == without
    assert call_limit(name, TOKEN, load(environ={})) == with_progress


def test_a_setting_overrides_what_is_known() -> None:
    config = load(environ={"SAYSO_CALL_LIMITS": "cursor=4m,zed=none,mine=500ms"})
    assert call_limit("Cursor", TOKEN, config) == 240
    assert call_limit("Zed", {}, config) is None
    assert call_limit("mine", {}, config) == 0.5
    assert call_limit("Cline", {}, config) == 55


def test_claude_code_is_held_as_long_as_its_person_has_set_for_all_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    config = load(environ={})
    monkeypatch.setenv("MCP_TOOL_TIMEOUT", "60000")
    assert call_limit("claude-code", TOKEN, config) is None, "of a server that Claude Code has not started"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    assert call_limit("claude-code", TOKEN, config) == 50
    assert call_limit("Cursor", {}, config) == 50
    assert call_limit("claude-code", {}, load(environ={"SAYSO_CALL_LIMITS": "claude-code=4m"})) == 240
    for value, seconds in {"8000": 6.0, "0": None, "-1": None, "soon": None, "": None}.items():
        monkeypatch.setenv("MCP_TOOL_TIMEOUT", value)
        assert call_limit("claude-code", {}, config) == seconds


@pytest.mark.parametrize("meta", [{"progressToken": 0}, {"progressToken": "a"}, {"progress_token": 3}])
def test_any_progress_token_counts(meta: dict[str, object]) -> None:
    assert has_progress(meta)


@pytest.mark.parametrize("meta", [{}, {"progressToken": None}])
def test_no_progress_token_counts_as_none(meta: dict[str, object]) -> None:
    assert not has_progress(meta)


@pytest.mark.parametrize(
    ("meta", "headless"),
    [
        ({}, False),
        ({"x-codex-turn-metadata": {"turn_trigger": "exec"}}, True),
        ({"x-codex-turn-metadata": {"turn_trigger": "user"}}, False),
        ({"x-codex-turn-metadata": "exec"}, False),
    ],
)
def test_a_run_without_a_person_says_so_itself(meta: dict[str, object], headless: bool) -> None:
    assert is_headless(meta) is headless


def test_claude_code_says_how_it_was_started() -> None:
    assert [entry_in(f"claude-code/2.1.325{more}") for more in (" (sdk-cli)", " (cli, client-app/x)", "")] == [
        "sdk-cli",
        "cli",
        "",
    ]
    assert is_headless({}, "claude-code", "sdk-cli")
    assert not is_headless({}, "claude-code", "cli")
    # Another program that it has started has the same in its environment, and a terminal of its own.
    assert not is_headless({}, "codex-mcp-client", "sdk-cli")


def test_a_name_is_known_whatever_its_case_and_spaces() -> None:
    assert known(" ZED ") == CLIENTS["zed"]
    assert known("nonesuch") is UNKNOWN


def documented() -> dict[str, tuple[str, str]]:
    """The rows of the page's first table: name, seconds without progress, seconds with."""
    table = re.search(r"<!-- limits -->\n(.*?)<!-- end of limits -->", PAGE, re.S)
    assert table
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[1].splitlines()[2:]]
    return {name.strip("`"): (without, with_progress) for name, without, with_progress in rows}


def as_told(client: ClientFacts) -> tuple[str, str]:
    def told(limit: float | None) -> str:
        return "no limit" if limit is None else f"{limit:g} s"

    return told(client.limit), told(client.limit_with_progress)


def test_the_page_has_exactly_the_limits_there_are() -> None:
    limits = {name: as_told(client) for name, client in CLIENTS.items()}
    assert documented() == {**limits, "any other": as_told(UNKNOWN)}
