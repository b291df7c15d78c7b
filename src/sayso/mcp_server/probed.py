"""A client that asks with `server/discover` which protocols are spoken here, and does not wait for a slow answer.

It then shakes hands on the same pipe, as with a server of before 2026-07-28. To the SDK the era is settled by the first
request; here it is settled by the first that is more than a probe.
"""

from __future__ import annotations

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

from sayso.mcp_server.transport import Inbound, Outbound


class UntilHandshake(ObjectReceiveStream[SessionMessage]):
    """What the client says; ends before a handshake that follows nothing but probes."""

    def __init__(self, incoming: Inbound) -> None:
        self.handshake = False
        self._incoming, self._only_probes = incoming, True

    async def receive(self) -> SessionMessage:
        item = await self._incoming.receive()
        if self._only_probes and isinstance(item.message, types.JSONRPCRequest):
            if item.message.method == "initialize":
                self.handshake = True
                self._incoming.put_back(item)
                raise anyio.EndOfStream
            self._only_probes = item.message.method == "server/discover"
        return item

    async def aclose(self) -> None:
        """The pipe stays open: it is closed by whoever opened it."""


class StaysOpen(ObjectSendStream[SessionMessage]):
    """What is said to the client, by one session of several on the same pipe."""

    def __init__(self, outgoing: Outbound) -> None:
        self._outgoing = outgoing

    async def send(self, item: SessionMessage) -> None:
        await self._outgoing.send(item)

    async def aclose(self) -> None:
        """As above."""
