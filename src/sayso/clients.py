"""What is known of each MCP client: how long it lets a call last, and what its forms do. One table, by its name.

Starting values from measurements and sources of autumn 2026; the setting `call_limits` overrides the limits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from sayso.config import Config
from sayso.records import field, record


class Pictures(StrEnum):
    """Whether a client shows the model the pictures of a result."""

    BESIDE_DATA = "beside data"
    WITHOUT_DATA = "without data"
    """Only where the result has no `structuredContent`: of one that has, the model sees nothing else."""
    NONE = "none"
    """It is told where the file lies."""


@record
class ClientFacts:
    """How long a call is held, in seconds, without and with progress notifications; None is for ever."""

    limit: float | None
    limit_with_progress: float | None
    form_line: int | None = None
    """The longest line that it shows whole at a field of its forms, where it shows one line only. None: any text."""
    form_lines: int | None = None
    """How many lines of the message of a form it shows, each cut at the edge of the terminal. None: all."""
    leaves_text_empty: bool = True
    """Whether a person can go on in its forms without filling in a field for text."""
    keeps_lists: bool = False
    """Whether it keeps our list of tools from one start to the next, whatever forms it can show then."""
    cancels: bool = True
    """Whether it says so when its person interrupts a call. Else such a call looks as if it waited on, and its result
    is seen by nobody."""
    rounds_renew: bool = True
    """Whether its clock begins anew when it calls again by itself, as it is told to from 2026-07-28 on."""
    pictures: Pictures = Pictures.BESIDE_DATA
    other_names: Mapping[str, str] = field(default_factory=dict)
    """Names of ours that it has for tools of its own, so that it hides ours; and what they are called there."""


RUN_VARIABLE = "SAYSO_RUN"
"""In the environment of an agent that Talk has started: its permissions come by a line of their own."""

_CONVERSATION = ("threadId", "vscode.conversationId")
"""Where in the `_meta` of a call its client names the conversation: Codex, Visual Studio Code."""

UNKNOWN = ClientFacts(limit=50, limit_with_progress=None)

CLIENTS: Mapping[str, ClientFacts] = {
    "claude-code": ClientFacts(
        limit=None,
        limit_with_progress=None,
        form_line=45,
        form_lines=3,
        rounds_renew=False,
        pictures=Pictures.WITHOUT_DATA,
    ),
    "codex-mcp-client": ClientFacts(
        limit=290, limit_with_progress=290, leaves_text_empty=False, pictures=Pictures.WITHOUT_DATA
    ),
    "gemini-cli-mcp-client": ClientFacts(
        limit=590, limit_with_progress=590, cancels=False, other_names={"ask_user": "ask_person"}
    ),
    "opencode": ClientFacts(limit=50, limit_with_progress=None),
    "qwen-cli-mcp-client": ClientFacts(limit=590, limit_with_progress=590),
    "copilot-cli": ClientFacts(limit=120, limit_with_progress=120, keeps_lists=True),
    "cursor": ClientFacts(limit=50, limit_with_progress=50),
    "cursor-vscode": ClientFacts(limit=50, limit_with_progress=50),
    "visual studio code": ClientFacts(limit=None, limit_with_progress=None),
    "vscode": ClientFacts(limit=None, limit_with_progress=None),
    "claude-ai": ClientFacts(limit=50, limit_with_progress=50),
    "claude desktop": ClientFacts(limit=50, limit_with_progress=50),
    "goose": ClientFacts(limit=290, limit_with_progress=290),
    "zed": ClientFacts(limit=55, limit_with_progress=55),
    "cline": ClientFacts(limit=55, limit_with_progress=55),
    "windsurf": ClientFacts(limit=50, limit_with_progress=50),
}


OTHER_NAMES = frozenset(name for client in CLIENTS.values() for name in client.other_names.values())
"""All names under which clients are shown tools that have another name elsewhere."""

_WITH_SERVER_NAME = "qwen-cli-mcp-client"
"""A client that adds the name of the server's entry to its own."""


_CLAUDE = "claude-code"
LIMIT_VARIABLE = "MCP_TOOL_TIMEOUT"
"""In the environment of Claude Code, in milliseconds."""
SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""In which Claude Code names its session to all that it starts."""
_MARGIN = 10.0
"""Seconds before the end at which a call comes back."""


def known(name: str) -> ClientFacts:
    return CLIENTS.get(_key(name), UNKNOWN)


def _key(name: str) -> str:
    key = name.strip().lower()
    return _WITH_SERVER_NAME if key.startswith(f"{_WITH_SERVER_NAME}-") else key


def call_limit(name: str, meta: Mapping[str, Any], config: Config) -> float | None:
    """How many seconds a call of this client may be held before it must return."""
    if (given := config.call_limits.get(_key(name))) is not None:
        return given / 1000 or None
    if _key(name) == _CLAUDE and (told := _told_limit(os.environ)):
        return told
    client = known(name)
    return client.limit_with_progress if has_progress(meta) else client.limit


def _told_limit(environ: Mapping[str, str]) -> float | None:
    """What a person has set for all calls of Claude Code, which hands its environment on to the servers that it starts.
    Progress does not extend it."""
    given = environ.get(LIMIT_VARIABLE, "") if environ.get(SESSION_VARIABLE) else ""
    seconds = int(given) / 1000 if given.isascii() and given.isdigit() else 0
    return seconds - min(_MARGIN, seconds / 4) if seconds else None


def has_progress(meta: Mapping[str, Any]) -> bool:
    return meta.get("progress_token", meta.get("progressToken")) is not None


def conversation(meta: Mapping[str, Any]) -> str:
    """The client's own name for the conversation that a call belongs to, where it tells one."""
    names = (meta.get(key) for key in _CONVERSATION)
    return next((name for name in names if isinstance(name, str) and name), "")


ENTRY_VARIABLE = "CLAUDE_CODE_ENTRYPOINT"
"""In the environment of the servers that Claude Code starts: how it was started itself."""
_PRINTS = "sdk-cli"
"""What Claude Code calls its mode without a terminal, `claude -p`."""


def is_headless(meta: Mapping[str, Any], client: str = "", entry: str = "") -> bool:
    """Whether the call itself says, or how the client was started, that no person sits at it. Its forms show to nobody,
    and it answers them by itself, on a busy machine as late as a person would."""
    turn = meta.get("x-codex-turn-metadata")
    says_so = isinstance(turn, dict) and turn.get("turn_trigger") == "exec"
    return says_so or (client, entry) == (_CLAUDE, _PRINTS)


def entry_in(user_agent: str) -> str:
    """How Claude Code was started, as it says over HTTP: `claude-code/2.1.325 (sdk-cli)`."""
    return user_agent.partition("(")[2].rstrip(")").partition(",")[0].strip()


IN_A_SHELL = ("CLAUDECODE", SESSION_VARIABLE, "CODEX_THREAD_ID", "CODEX_SANDBOX", "GEMINI_CLI", "QWEN_CODE")
"""What agents set in the environment of the commands they run."""
