"""A call of a guarded server's tool: as the action that a person decides about, and as the line that is sent on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sayso.action_data import canonical, digest_of
from sayso.guard.reading import CALL, encoded, is_id, meta_of, read
from sayso.linked_paths import links_in
from sayso.protocol.messages import Json, RequestId
from sayso.protocol.request import ClientInfo
from sayso.protocol.versions import CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, VERSION_KEY
from sayso.records import record

_BESIDE = ("name", "arguments", "_meta")
"""What is shown by itself, and what is said of the call beside it."""
_CARRIED = frozenset(
    (
        *("progressToken", VERSION_KEY, LOG_LEVEL_KEY, "traceparent", "tracestate"),
        *("claudecode/toolUseId", "threadId", "callId", "sessionId", "vscode.conversationId", "vscode.requestId"),
    )
)
"""By which protocol and clients tell one call from another. As a plain name such a field is sent on and not shown: it
differs from call to call, and a yes for the rest of a session would never count again."""
_OF_THE_CLIENT = (CLIENT_KEY, CAPABILITIES_KEY)
"""Objects of the protocol, about the client and no call of its."""
_KEPT_BACK = frozenset(("x-codex-turn-metadata",))
"""What a client says about itself, anew with each turn, in more than a name: it is not sent on."""
_NAME = re.compile(r"[\w.,:;/+=@-]{0,200}", re.ASCII)
_OF_A_ROUND = ("requestState", "inputResponses")
"""What a client adds that comes again with the reply to a form."""


@record
class GuardedServer:
    """A server behind a guard: what people call it, how it is started, and in which real folder."""

    name: str
    command: tuple[str, ...]
    folder: str


@record
class GuardedCall:
    """One call while it is held. `message` is what the client sent."""

    message: Json
    server: GuardedServer
    client: ClientInfo

    @property
    def id(self) -> RequestId:
        found: RequestId = self.message["id"]
        return found

    @property
    def tool(self) -> str:
        name: str = self.message["params"]["name"]
        return name

    @property
    def meta(self) -> Mapping[str, Any]:
        return meta_of(self.message)

    @property
    def action(self) -> Json:
        """What it would do, as the data of an action."""
        return _action(self.message["params"], self.server)

    @property
    def comes_again(self) -> bool:
        """Whether its client says that it brings the reply to a form of an earlier round."""
        return any(name in self.message["params"] for name in _OF_A_ROUND)

    @property
    def round(self) -> tuple[str, str]:
        """What tells the next round of the same call, in which its client brings the reply to a form."""
        params = self.message["params"]
        first = {name: value for name, value in params.items() if name not in _OF_A_ROUND}
        return digest_of(_action(first, self.server)), canonical(params.get("requestState"))

    def line(self, arguments: Mapping[str, Any] | None) -> bytes:
        """What is sent to the server, with these arguments instead of its own if there are any. It is written anew:
        what was shown is in it, and what says which call it is, and nothing else."""
        params = dict(self.message["params"])
        if isinstance(meta := params.get("_meta"), Mapping):
            params["_meta"] = {key: value for key, value in meta.items() if key not in _KEPT_BACK}
        if arguments is not None:
            params["arguments"] = dict(arguments)
        return encoded({"jsonrpc": "2.0", "id": self.id, "method": CALL, "params": params})

    def digest_of(self, line: bytes) -> str:
        """Names what a line that is about to be sent would do."""
        return digest_of(_action(read(line)["params"], self.server))


def _action(params: Mapping[str, Any], server: GuardedServer) -> Json:
    data: Json = {"input": params.get("arguments") or {}}
    others = {key: value for key, value in params.items() if key not in _BESIDE}
    if meta := _said_beside(params.get("_meta")):
        others["_meta"] = meta
    if others:
        data["params"] = others
    if links := links_in(data["input"], server.folder):
        data["leads_to"] = links
    return {"kind": "mcp", "tool": f"mcp__{server.name}__{params['name']}", "folder": server.folder, "data": data}


def _said_beside(meta: object) -> object:
    """What a server might go by, of all that is said of the call beside it: whatever does not only say which call it
    is."""
    if not isinstance(meta, Mapping):
        return meta
    return {key: value for key, value in meta.items() if key not in _KEPT_BACK and not _only_carries(key, value)}


def _only_carries(key: str, value: object) -> bool:
    if key in _OF_THE_CLIENT:
        return isinstance(value, Mapping)
    return key in _CARRIED and (is_id(value) and _NAME.fullmatch(str(value)) is not None)
