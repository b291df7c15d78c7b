"""A call of a guarded server's tool: as the action that a person decides about, and as the line that is sent on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.action_data import canonical, digest_of
from sayso.guard.reading import encoded, meta_of, read
from sayso.protocol.messages import Json, RequestId
from sayso.protocol.request import ClientInfo
from sayso.records import record

_BESIDE = ("name", "arguments", "_meta")
"""What is shown by itself, or belongs to how the call is carried."""
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
        what was shown is in it, and nothing that was not."""
        if arguments is None:
            return encoded(self.message)
        return encoded({**self.message, "params": {**self.message["params"], "arguments": dict(arguments)}})

    def digest_of(self, line: bytes) -> str:
        """Names what a line that is about to be sent would do."""
        return digest_of(_action(read(line)["params"], self.server))


def _action(params: Mapping[str, Any], server: GuardedServer) -> Json:
    data: Json = {"input": params.get("arguments") or {}}
    if others := {key: value for key, value in params.items() if key not in _BESIDE}:
        data["params"] = others
    return {"kind": "mcp", "tool": f"mcp__{server.name}__{params['name']}", "folder": server.folder, "data": data}
