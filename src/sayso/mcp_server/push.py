"""What a client is told outside its results: changed tools and operations, late results, and what is wrong with tool
files or what a running command reports, as log messages. How it wants to be told is the connection's business.
"""

from __future__ import annotations

from sayso.mcp_server.dispatcher import Dispatcher
from sayso.protocol.messages import RequestId


class Push:
    """Tells the one client of a stdio server, once it is there."""

    def __init__(self) -> None:
        self.dispatcher: Dispatcher | None = None

    async def say(self, level: str, about: str, text: str) -> None:
        """Send a log message to whoever wants such."""
        if self.dispatcher:
            await self.dispatcher.send(self.dispatcher.connection.log(level, f"sayso.{about}", text))

    async def tools_changed(self) -> None:
        if self.dispatcher:
            await self.dispatcher.send(self.dispatcher.connection.tools_changed())

    async def resources_changed(self) -> None:
        if self.dispatcher:
            await self.dispatcher.send(self.dispatcher.connection.resources_changed())

    async def updated(self, uri: str) -> None:
        if self.dispatcher:
            await self.dispatcher.send(self.dispatcher.connection.updated(uri))

    async def late_progress(self, token: RequestId, text: str) -> None:
        """The end of an operation as progress of the call that began it, which has long been answered."""
        if self.dispatcher:
            await self.dispatcher.send(self.dispatcher.connection.late_progress(token, text))
