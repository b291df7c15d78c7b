"""Plain proxies: one sends each connection to the next server in turn that takes it, another shows a token."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from anyio.from_thread import start_blocking_portal


class RoundRobin:
    """Listens on a port of its own."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = deque(ports)
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", backlog=1024)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._next()
        except ConnectionError:
            writer.close()
            return
        far_writer.write(await self._beginning(reader))
        ways = {asyncio.create_task(_pump(reader, far_writer)), asyncio.create_task(_pump(far_reader, writer))}
        # One side's end is the end of both: that is how a client leaves, and how a server dies.
        _, other = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in other:
            way.cancel()
        for end in (writer, far_writer):
            end.close()

    async def _beginning(self, reader: asyncio.StreamReader) -> bytes:
        """What the server is to hear first."""
        return b""

    async def _next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._ports.rotate(-1)
        for port in tuple(self._ports):
            with suppress(ConnectionError):
                return await asyncio.open_connection("127.0.0.1", port)
        raise ConnectionRefusedError


class WithToken(RoundRobin):
    """Adds an agent's token to each request, for a client that cannot. One request a connection, for simplicity."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__([port])
        self._added = f"Connection: close\r\nAuthorization: Bearer {token}\r\n".encode()

    async def _beginning(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readline() + self._added
        except ConnectionError:
            return b""


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@contextmanager
def round_robin(*ports: int) -> Iterator[str]:
    """The address of a proxy before these ports."""
    with _serving(RoundRobin(ports)) as address:
        yield address


@contextmanager
def with_token(port: int, token: str) -> Iterator[str]:
    """The address of a proxy that shows this token."""
    with _serving(WithToken(port, token)) as address:
        yield address


@contextmanager
def _serving(proxy: RoundRobin) -> Iterator[str]:
    with start_blocking_portal() as portal:
        portal.call(proxy.open)
        yield f"http://127.0.0.1:{proxy.port}"
        portal.call(proxy.close)
