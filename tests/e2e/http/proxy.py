"""Plain proxies: one sends each connection to the next server in turn that takes it, one waits for its server, another
shows a token."""

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
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", backlog=1024)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carrying = asyncio.create_task(self._carry(reader, writer))
        self._open.add(carrying)
        carrying.add_done_callback(self._open.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends, ways = [writer], set[asyncio.Task[None]]()
        try:
            far_reader, far_writer = await self._next()
            ends.append(far_writer)
            far_writer.write(await self._beginning(reader))
            ways = {asyncio.create_task(_pump(reader, far_writer)), asyncio.create_task(_pump(far_reader, writer))}
            # One side's end is the end of both: that is how a client leaves, and how a server dies.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except ConnectionError:
            pass
        finally:
            for way in ways:
                way.cancel()
            for end in ends:
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


class Patient(RoundRobin):
    """Waits for a server that is being restarted. Endless by itself: whoever calls sets the limit."""

    async def _next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            with suppress(ConnectionError):
                return await super()._next()
            await asyncio.sleep(0.05)


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
def patient(port: int) -> Iterator[str]:
    """The address of a proxy before a port at which nobody may listen for a while."""
    with _serving(Patient([port])) as address:
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
        try:
            yield f"http://127.0.0.1:{proxy.port}"
        finally:
            portal.call(proxy.close)
