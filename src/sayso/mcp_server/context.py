"""What a handler knows of the request it serves. Neither how messages travel nor which version the client speaks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from sayso.protocol.connection import Connection
from sayso.protocol.messages import Json
from sayso.protocol.request import ClientInfo, Request, Tell

if TYPE_CHECKING:
    from sayso.asks.model import Asker

Handler = Callable[["CallContext"], Awaitable[Mapping[str, Any]]]
"""Serves one method: the result of a request, as it goes on the wire."""


class ClientLine(Protocol):
    """Carries what is said to the client while a request is served."""

    async def say(self, message: Json, about: Request | None) -> None:
        """Send something that belongs to a request, or to none. Returns once it has left, or never will."""

    async def ask(self, method: str, params: Mapping[str, Any], about: Request) -> Mapping[str, Any]:
        """The reply to a request of ours; ProtocolError where it is refused. Cancelling withdraws it."""


class CallContext:
    """One request while it is served."""

    __slots__ = ("_line", "asker", "connection", "request", "state")

    def __init__(self, request: Request, connection: Connection, line: ClientLine) -> None:
        self.request, self.connection, self._line = request, connection, line
        self.state: str = request.exchange.state if request.exchange is not None else ""
        """What we handed to the client with the round before, or before it lost the connection; empty at first."""
        self.asker: Asker | None = None
        """Who calls, once somebody has looked."""

    @property
    def client(self) -> ClientInfo:
        return self.request.client

    @property
    def params(self) -> Mapping[str, Any]:
        return self.request.params

    @property
    def tool(self) -> str:
        """The name of the tool that is called."""
        name: str = self.params["name"]
        return name

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.params.get("arguments") or {}

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the client says beside the parameters."""
        return self.request.meta

    @property
    def exchange(self) -> Any:
        """What the transport that brought it knows of it."""
        return self.request.exchange

    @property
    def comes_again(self) -> bool:
        """Whether the client can be told to call again, with a form's reply or without: it then cannot be asked."""
        return self.request.is_modern

    def note(self, state: str) -> None:
        """Have the client keep what this call has come to, where it can come back for the answer if it loses the
        connection. It is then found in `state`."""
        if self.exchange is not None:
            self.exchange.note(state)

    async def progress(self, progress: float, total: float | None = None, text: str | None = None) -> None:
        """A sign of life, for a client that wants such."""
        if message := self.request.progress(progress, total, text):
            await self._line.say(message, self.request)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client something of ours while it waits. Not for one that comes again."""
        assert not self.comes_again
        return await self._line.ask(method, params, self.request)

    def when_written(self, tell: Tell) -> None:
        """Tell when the response has been written (True), or never will be, or was thrown away unread (False)."""
        self.request.when_written(tell)
