"""A transport for the SDK's client over the pipes of a process that somebody else has started."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from tests.e2e.stdio.person import WAIT

LONGEST = 64 << 20
"""Bytes of a line."""
FLUSH = 0.5
"""Seconds that the SDK's own transport gives a client to say what it has begun to say."""
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError)


@asynccontextmanager
async def speaking_to(process: subprocess.Popen[bytes]) -> AsyncIterator[TransportStreams]:
    """Leaving closes the server's input, reads what it still says, and waits until it has ended."""
    writer, reader, reading = await streams_of(process)
    to_client, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, said = anyio.create_memory_object_stream[SessionMessage](0)
    all_said = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_hear, reader, to_client)
        tasks.start_soon(_say, said, writer, to_client, all_said)
        try:
            yield heard, to_server
        finally:
            heard.close()
            to_server.close()
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(FLUSH):
                    await all_said.wait()
                writer.close()
                await _ended(process)
            reading.close()
            tasks.cancel_scope.cancel()


async def streams_of(
    process: subprocess.Popen[bytes],
) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.ReadTransport]:
    """What a process is told by, what it says, and what closes that."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=LONGEST)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
    writing, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    return asyncio.StreamWriter(writing, flow, reader, loop), reader, reading


async def _hear(reader: asyncio.StreamReader, to_client: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with to_client:
        while line := await reader.readline():
            with suppress(*_CLOSED):
                await to_client.send(_message(line))


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _say(
    said: MemoryObjectReceiveStream[SessionMessage],
    writer: asyncio.StreamWriter,
    to_client: MemoryObjectSendStream[SessionMessage | Exception],
    all_said: anyio.Event,
) -> None:
    async with said:
        try:
            async for message in said:
                writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()
        except _CLOSED:
            to_client.close()
    all_said.set()


async def _ended(process: subprocess.Popen[bytes]) -> None:
    try:
        await anyio.to_thread.run_sync(process.wait, WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
