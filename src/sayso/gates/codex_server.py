"""A line to the server that sessions of Codex share, as its terminals have: JSON-RPC over a WebSocket on a unix socket.

As tried with 0.166. Each of its clients may join any session, and is then asked whatever is asked there; the first
answer counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso import __version__, untrusted_json
from sayso.gates.websocket import WebSocket

NAME, TITLE = "codex-mcp-client", "Codex"
"""As it calls itself to MCP servers, and as people call it."""
PATCH = "apply_patch"
"""Its tool that changes files."""
MCP_TOOL = "mcp__{server}__{tool}"
"""How it names a tool of an MCP server to its hooks."""
COMMAND = "item/commandExecution/requestApproval"
CHANGE = "item/fileChange/requestApproval"
QUESTIONS = "item/tool/requestUserInput"
FORM = "mcpServer/elicitation/request"
"""A form of an MCP server; or, as one, whether a tool of such a server may be called."""
TOOL_ACCEPTED: Mapping[str, Any] = {"action": "accept", "content": {}}
TOOL_DECLINED: Mapping[str, Any] = {"action": "decline"}
"""What it takes for a yes to this one call, and for a no."""
WORDS_OF_NO = "sayso-no-"
"""How the names begin of messages in which a gate says what a person said with a no."""
_NOT_WANTED = (
    *("item/agentMessage/delta", "item/plan/delta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta"),
    *("item/reasoning/summaryPartAdded", "item/commandExecution/outputDelta", "item/fileChange/outputDelta"),
    *("command/exec/outputDelta", "process/outputDelta", "item/mcpToolCall/progress", "turn/diff/updated"),
    *("turn/plan/updated", "thread/tokenUsage/updated", "account/rateLimits/updated", "hook/started", "hook/completed"),
)
"""What it would tell at every word of an agent's."""

Json = Mapping[str, Any]


def asks_for_tool(method: str, params: Json) -> bool:
    """Whether this asks if a tool of an MCP server may be called."""
    about = params.get("_meta")
    return method == FORM and isinstance(about, dict) and about.get("codex_approval_kind") == "mcp_tool_call"


class CodexServer:
    """OSError where it is not there. Once the line is broken, nothing is taken and nothing comes."""

    def __init__(self, socket: Path) -> None:
        self._line = WebSocket(socket)
        self._number = 0
        self._sent: dict[int, tuple[str, Json]] = {}
        self.is_broken = False
        about = {"name": "sayso", "title": "Sayso", "version": __version__}
        wanted = {"experimentalApi": True, "optOutNotificationMethods": list(_NOT_WANTED)}
        self.request("initialize", clientInfo=about, capabilities=wanted)
        self._send({"method": "initialized"})

    def fileno(self) -> int:
        return self._line.fileno()

    def close(self) -> None:
        self._line.close()

    def request(self, method: str, **params: Any) -> int:
        """Its number, which its result has too."""
        self._number += 1
        self._sent[self._number] = method, params
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, request: int | str, result: Json) -> bool:
        """Whether it was taken."""
        return self._send({"id": request, "result": result})

    def read(self) -> Iterator[Json]:
        """What it has said by now: requests and notifications as they are, and the result of a request of ours with
        that request's `method` and `asked`, its parameters."""
        try:
            for text in self._line.read():
                said = untrusted_json.loads(text)
                if isinstance(said, dict):
                    yield self._with_request(said)
        except (OSError, ValueError):
            self.is_broken = True

    def _with_request(self, said: dict[str, Any]) -> Json:
        if "method" in said:
            return said
        method, asked = self._sent.pop(said.get("id", 0), ("", {}))
        return {"method": method, "asked": asked, "is_result": True, "id": said.get("id"), "result": said.get("result")}

    def _send(self, message: Json) -> bool:
        try:
            self._line.send(json.dumps(message))
        except OSError:
            self.is_broken = True
        return not self.is_broken
