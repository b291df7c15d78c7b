"""The stdio transport with handlers of its own: in a process of its own behind real pipes, files and terminals.

`served_tools.py` is that server. Finer points are shown on bare pipes, without a server.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import socket
import subprocess
import sys
import termios
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from sayso.mcp_server.context import CallContext
from sayso.mcp_server.pipes import thrown_away
from sayso.mcp_server.transport import StdioTransport
from sayso.protocol import connection as core
from sayso.protocol.messages import CONNECTION_CLOSED
from sayso.protocol.results import ToolResult

WAIT = 120.0
PROGRAM = [sys.executable, str(Path(__file__).with_name("served_tools.py"))]
MIB = 1024 * 1024


# Driving it with raw bytes, every wait bounded.


class Lines:
    """Lines from a descriptor."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._buffer = b""

    def next(self) -> bytes:
        deadline = time.monotonic() + WAIT
        chunks = [self._buffer]
        while b"\n" not in chunks[-1]:
            assert select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0], "no line in time"
            chunks.append(os.read(self.fd, MIB))
            assert chunks[-1], "the stream ended"
        line, _, self._buffer = b"".join(chunks).partition(b"\n")
        return line

    def until(self, text: str) -> None:
        while self.next() != text.encode():
            pass

    def rest(self) -> bytes:
        """Everything up to the end."""
        deadline = time.monotonic() + WAIT
        chunks = [self._buffer]
        while chunks[-1] or len(chunks) == 1:
            assert select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0], "no end in time"
            chunks.append(os.read(self.fd, MIB))
        return b"".join(chunks)


def encoded(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def opening() -> bytes:
    info = {"name": "raw", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": info}
    hello = encoded({"id": "hello", "method": "initialize", "params": params})
    return hello + encoded({"method": "notifications/initialized"})


def calling(request_id: int | str, tool: str, **arguments: Any) -> bytes:
    return encoded({"id": request_id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


class Served:
    """One server process and our ends of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.answers = Lines(process.stdout.fileno())
        self.said = Lines(process.stderr.fileno()) if process.stderr else Lines(-1)

    def send(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        message = json.loads(self.answers.next())
        assert isinstance(message, dict)
        return message

    def open(self) -> None:
        self.send(opening())
        assert self.receive()["id"] == "hello"

    def call(self, tool: str, **arguments: Any) -> str:
        self.send(calling("call", tool, **arguments))
        return text_of(self.receive())

    def leave(self) -> int:
        self.stdin.close()
        return self.process.wait(WAIT)


def text_of(message: dict[str, Any]) -> str:
    text = message["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


@contextmanager
def started(stderr: int = subprocess.PIPE) -> Iterator[Served]:
    pipe = subprocess.PIPE
    with subprocess.Popen(PROGRAM, stdin=pipe, stdout=pipe, stderr=stderr) as process:
        served = Served(process)
        try:
            yield served
        finally:
            process.kill()
            with suppress(BrokenPipeError):
                served.stdin.close()


@pytest.fixture
def served() -> Iterator[Served]:
    with started() as served:
        served.open()
        yield served


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One process for the tests that leave it as they found it."""
    with started() as served:
        served.open()
        yield served


# Nobody else reaches the protocol.


def test_stray_output_and_children_never_reach_the_protocol(shared: Served) -> None:
    assert shared.call("stray") == repr(("", b""))
    assert shared.call("echo", text="still in order") == "still in order"
    for text in ("a stray print", "a stray write", "a stray child"):
        shared.said.until(text)


def test_stray_output_stays_out_even_when_stderr_is_the_same_pipe() -> None:
    with started(stderr=subprocess.STDOUT) as served:
        served.open()
        assert served.call("stray") == repr(("", b""))


def test_a_closed_standard_input_is_refused_with_a_reason() -> None:
    command = ["sh", "-c", 'exec "$0" "$1" <&-', *PROGRAM]
    ended = subprocess.run(command, capture_output=True, timeout=WAIT, check=False)
    assert ended.returncode == 1
    assert ended.stdout == b""
    assert b"NoClient: Standard input or output is closed." in ended.stderr


# The real client, in both protocol eras.


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_thousand_concurrent_calls_and_five_megabytes_each_way_come_back_right(mode: str) -> None:
    answers: dict[int, str] = {}
    big = "\u00e9" * (5 * MIB // 2)

    async def ask(number: int) -> None:
        answers[number] = text_from(await client.call_tool("echo", {"text": f"answer {number}"}))

    with anyio.fail_after(WAIT):
        async with Client(StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:]), mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            async with anyio.create_task_group() as tasks:
                for number in range(1000):
                    tasks.start_soon(ask, number)
            assert text_from(await client.call_tool("echo", {"text": big})) == big
            assert text_from(await client.call_tool("stray", {})) == repr(("", b""))
    assert answers == {number: f"answer {number}" for number in range(1000)}


def text_from(result: types.CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return content.text


# What is no message is answered, and the session goes on.

DEEP = b"[" * 100_000
MALFORMED: list[tuple[bytes, int, int | str | None, str]] = [
    (b"hello", -32700, None, "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, None, "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None, "UTF-8"),
    (DEEP, -32700, None, "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + DEEP + b"]" * 100_000 + b"}", -32700, None, "not JSON"),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
        -32600,
        1,
        "nested too deeply",
    ),
    (b"[]", -32600, None, "Batches are not supported"),
    (b"17", -32600, None, "one JSON object"),
    (b'{"id":1,"method":"ping"}', -32600, 1, 'jsonrpc must be "2.0"'),
    (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a", "method must be a string"),
    (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}', -32600, 2, "params must be an object"),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None, "id must be a string or an integer"),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None, "id must be a string or an integer"),
    (b'{"jsonrpc":"2.0","id":9,"result":"none of yours"}', -32600, None, "Invalid response"),
]


def test_malformed_lines_are_answered_and_the_session_goes_on(shared: Served) -> None:
    for line, code, request_id, reason in MALFORMED:
        shared.send(line + b"\n")
        answer = shared.receive()
        assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", request_id, code)
        assert reason in answer["error"]["message"]
    assert shared.call("echo", text="fine") == "fine"


def test_a_call_whose_work_was_cancelled_by_nobody_is_answered_all_the_same(shared: Served) -> None:
    shared.send(calling(1, "forsaken"))
    assert shared.receive()["error"] == {"code": -32603, "message": "Internal server error"}


def test_the_content_of_a_refused_line_is_not_logged(served: Served) -> None:
    served.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"my secret"}\n')
    assert "my secret" not in json.dumps(served.receive())
    served.leave()
    said = served.said.rest()
    assert b"refused a line from the client" in said
    assert b"my secret" not in said


def test_half_an_emoji_and_a_byte_order_mark_are_mended(shared: Served) -> None:
    shared.send(b"\xef\xbb\xbf" + calling(1, "echo", text="cut \ud83d here, whole \U0001f600"))
    assert text_of(shared.receive()) == "cut \ufffd here, whole \U0001f600"


def test_a_malformed_response_of_the_client_ends_the_wait_for_it(shared: Served) -> None:
    shared.send(calling("asked", "ask"))
    request = shared.receive()
    assert request["method"] == "elicitation/create"
    shared.send(encoded({"id": request["id"], "result": "yes"}))
    answers = {answer["id"]: answer for answer in (shared.receive(), shared.receive())}
    assert answers[None]["error"]["code"] == -32600
    assert text_of(answers["asked"]).startswith("Invalid response")


def test_a_line_over_the_limit_is_dropped_while_it_comes_in(shared: Served) -> None:
    before = int(shared.call("peak"))
    for _ in range(256):
        shared.send(b" " * MIB)
    shared.send(b"\n")
    answer = shared.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "67,108,864 bytes (64 MiB)" in answer["error"]["message"]
    assert int(shared.call("peak")) - before < 160 * MIB


# A client that does not read, or is gone.


def test_a_full_pipe_stops_neither_timers_nor_other_calls(served: Served) -> None:
    served.send(calling(1, "fill", size=5 * MIB))
    assert select.select([served.stdout], [], [], WAIT)[0]
    served.send(calling(2, "nap"))
    served.said.until("awake")
    assert not select.select([served.said.fd], [], [], 0)[0], "written was reported with most of it unwritten"
    assert text_of(served.receive()) == "x" * 5 * MIB
    assert text_of(served.receive()) == "awake"
    served.said.until("written 1")
    assert served.leave() == 0


def test_a_client_that_stops_reading_and_closes_its_end_does_not_hold_the_process(served: Served) -> None:
    served.send(calling(1, "fill", size=5 * MIB))
    assert select.select([served.stdout], [], [], WAIT)[0]
    served.send(b"no message\n")
    assert served.leave() == 0
    assert served.said.rest().splitlines()[-1] == b"ended broken=False input_ended=True"


def test_the_last_answer_is_completed_for_a_client_that_still_reads(served: Served) -> None:
    served.send(calling(1, "fill", size=5 * MIB))
    assert select.select([served.stdout], [], [], WAIT)[0]
    served.stdin.close()
    assert text_of(json.loads(served.answers.rest())) == "x" * 5 * MIB
    assert served.process.wait(WAIT) == 0


def test_a_failed_write_ends_the_session_without_a_traceback(served: Served) -> None:
    served.send(calling(1, "hang"))
    served.said.until("hanging")
    served.send(calling(2, "fill", size=5 * MIB))
    assert select.select([served.stdout], [], [], WAIT)[0]
    served.stdout.close()
    assert served.process.wait(WAIT) == 0
    assert served.said.rest() == b"ended broken=True input_ended=True\n"


def test_the_end_of_input_ends_the_process_and_an_unanswered_call_counts_as_unwritten(served: Served) -> None:
    served.send(calling(1, "hang"))
    served.said.until("hanging")
    assert served.leave() == 0
    assert json.loads(served.answers.rest())["error"]["code"] == CONNECTION_CLOSED
    assert served.said.rest() == b"ended broken=False input_ended=True\n"


def test_a_killed_client_ends_the_process() -> None:
    script = "import os, subprocess, sys\nserver = subprocess.Popen(sys.argv[1:], stdin=-1, stdout=-1)\n"
    script += f"server.stdin.write({opening() + calling(1, 'hang')!r})\nserver.stdin.flush()\nos.read(0, 1)"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script, *PROGRAM], stdin=pipe, stderr=pipe) as client:
        assert client.stderr is not None
        said = Lines(client.stderr.fileno())
        said.until("hanging")
        client.kill()
        assert said.rest() == b"ended broken=True input_ended=True\n"


# Files and terminals.


def test_requests_from_a_file_are_all_answered_into_a_file(tmp_path: Path) -> None:
    requests, answers = tmp_path / "requests", tmp_path / "answers"
    calls = b"".join(calling(number, "echo", text=f"answer {number}") for number in range(2000))
    requests.write_bytes(opening() + calls + calling("last", "nap").rstrip(b"\n"))
    with requests.open("rb") as stdin, answers.open("wb") as stdout:
        ended = subprocess.run(PROGRAM, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=WAIT, check=True)
    answered = {message["id"]: message for message in map(json.loads, answers.read_bytes().splitlines())}
    assert answered.keys() == {"hello", "last", *range(2000)}
    assert all(text_of(answered[number]) == f"answer {number}" for number in range(2000))
    assert text_of(answered["last"]) == "awake"
    assert ended.stderr.endswith(b"ended broken=False input_ended=True\n")


def test_the_null_device_for_a_client_ends_the_process_at_once() -> None:
    ended = subprocess.run(PROGRAM, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT, check=True)
    assert (ended.stdout, ended.stderr) == (b"", b"ended broken=False input_ended=True\n")


def test_a_terminal_shared_with_the_parent_is_left_in_blocking_mode() -> None:
    ours, theirs = pty.openpty()
    modes = termios.tcgetattr(theirs)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    with subprocess.Popen(PROGRAM, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.write(ours, opening())
        assert json.loads(Lines(ours).next())["id"] == "hello"
        assert not os.get_blocking(theirs)
        os.write(ours, b"\x04")
        assert process.wait(WAIT) == 0
    assert os.get_blocking(theirs)
    os.close(theirs)
    os.close(ours)


# Bare pipes: lines, back-pressure, and when a response counts as written.


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Piped:
    """A transport on two pipes with handlers that wait to be told, and the client's ends of the pipes."""

    def __init__(self, ends: tuple[int, int]) -> None:
        self.to_server, self.from_server = ends
        self.happened: list[str] = []
        self.served: list[CallContext] = []
        self.ended = asyncio.Event()
        self._may_end = asyncio.Event()
        self._news = asyncio.Event()

    async def serve(self, ctx: CallContext) -> dict[str, Any]:
        """Held until `finish`; tells what becomes of its answer under its own name."""
        self.served.append(ctx)
        self._news.set()
        name = ctx.tool
        ctx.when_written(lambda written: self.happened.append(name if written else f"not {name}"))
        await self._may_end.wait()
        return ToolResult("x" * ctx.arguments.get("size", 1)).on_the_wire()

    def finish(self) -> None:
        self._may_end.set()

    async def until_served(self, count: int) -> None:
        while len(self.served) < count:
            self._news.clear()
            await self._news.wait()

    def send(self, data: bytes) -> None:
        os.write(self.to_server, data)

    async def read(self, lines: int) -> list[dict[str, Any]]:
        data = b""
        while data.count(b"\n") < lines:
            await anyio.wait_readable(self.from_server)
            data += os.read(self.from_server, MIB)
        return [json.loads(line) for line in data.splitlines()]


@asynccontextmanager
async def piped() -> AsyncIterator[Piped]:
    """Leaving hangs up."""
    read_fd, to_server = os.pipe()
    from_server, write_fd = os.pipe()
    pipe = Piped((to_server, from_server))
    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_piped, StdioTransport(read_fd=read_fd, write_fd=write_fd), pipe)
            pipe.send(opening())
            await pipe.read(1)
            yield pipe
            for fd in (to_server, from_server):
                with suppress(OSError):
                    os.close(fd)


async def serve_piped(transport: StdioTransport, pipe: Piped) -> None:
    handlers = {"tools/call": pipe.serve}
    await transport.serve(core.Connection(core.Served(name="pipes", version="1", methods=handlers)), handlers)
    pipe.happened.append(f"ended broken={transport.broken} input_ended={transport.input_ended.is_set()}")
    pipe.ended.set()


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 7, 50, 10_000])
async def test_lines_come_out_whole_however_they_are_cut(size: int) -> None:
    a, b, c, d = (calling(name, name) for name in "abcd")
    lines = a + b"\r\n \n\n" + b.replace(b"\n", b"\r\n") + c + d
    async with piped() as pipe:
        for start in range(0, len(lines), size):
            pipe.send(lines[start : start + size])
            await asyncio.sleep(0)
        await pipe.until_served(4)
        assert [ctx.tool for ctx in pipe.served] == ["a", "b", "c", "d"]


@pytest.mark.anyio
async def test_a_server_whose_client_does_not_read_stops_reading_and_loses_nothing() -> None:
    async with piped() as pipe:
        os.set_blocking(pipe.to_server, False)
        sent = 0
        ping = encoded({"id": 1, "method": "ping"})
        # As long as something goes into the pipe: the server answers until nobody takes its answers any more.
        with anyio.move_on_after(WAIT):
            while sent < 1_000_000:
                try:
                    sent += os.write(pipe.to_server, ping * 10) // len(ping)
                except BlockingIOError:
                    with anyio.move_on_after(1) as quiet:
                        await anyio.wait_writable(pipe.to_server)
                    if quiet.cancelled_caught:
                        break
                await asyncio.sleep(0)
        assert sent < 100_000
        assert len(await pipe.read(sent)) == sent


@pytest.mark.anyio
async def test_answers_count_as_written_in_order_and_only_when_all_bytes_are_in_the_pipe() -> None:
    async with piped() as pipe:
        for number, word in enumerate(("first", "second", "third")):
            pipe.send(calling(number, word, size=MIB))
        await pipe.until_served(3)
        pipe.finish()
        await anyio.wait_all_tasks_blocked()
        assert pipe.happened == []
        assert [message["id"] for message in await pipe.read(3)] == [0, 1, 2]
        assert pipe.happened == ["first", "second", "third"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "then",
    [calling(1, "again"), encoded({"method": "notifications/cancelled", "params": {"requestId": 1}})],
    ids=["the id is used again", "the request is cancelled"],
)
async def test_an_answer_that_nobody_takes_for_its_own_counts_as_unwritten(then: bytes) -> None:
    async with piped() as pipe:
        pipe.send(calling(1, "once"))
        await pipe.until_served(1)
        pipe.send(then + encoded({"id": 2, "method": "ping"}))
        assert [message["id"] for message in await pipe.read(1)] == [2]
        assert pipe.happened == ["not once"]
        pipe.finish()
        await anyio.wait_all_tasks_blocked()
        assert "once" not in pipe.happened


@pytest.mark.anyio
async def test_a_cancel_that_crosses_the_answer_takes_it_back() -> None:
    async with piped() as pipe:
        pipe.send(calling(1, "crossed"))
        await pipe.until_served(1)
        pipe.finish()
        await pipe.read(1)
        # As some clients spell the number that they gave.
        pipe.send(encoded({"method": "notifications/cancelled", "params": {"requestId": "1"}}))
        pipe.send(encoded({"id": 2, "method": "ping"}))
        await pipe.read(1)
        assert pipe.happened == ["crossed", "not crossed"]


@pytest.mark.anyio
async def test_a_failed_write_counts_as_unwritten_and_ends_the_input() -> None:
    async with piped() as pipe:
        pipe.send(calling(1, "one", size=MIB) + calling(2, "two"))
        await pipe.until_served(2)
        pipe.finish()
        await anyio.wait_all_tasks_blocked()
        os.close(pipe.from_server)
        await pipe.ended.wait()
        assert pipe.happened == ["not one", "not two", "ended broken=True input_ended=True"]


@pytest.mark.anyio
async def test_a_cancelled_call_leaves_no_torn_line() -> None:
    async with piped() as pipe:
        pipe.send(calling(1, "torn", size=MIB) + calling(2, "whole"))
        await pipe.until_served(2)
        pipe.finish()
        await anyio.wait_all_tasks_blocked()
        pipe.send(encoded({"method": "notifications/cancelled", "params": {"requestId": 1}}))
        await anyio.wait_all_tasks_blocked()
        assert [message["id"] for message in await pipe.read(2)] == [1, 2]
        assert pipe.happened == ["not torn", "whole"]


@pytest.mark.anyio
async def test_who_fails_to_hear_of_an_answer_harms_neither_that_nor_the_next(caplog: pytest.LogCaptureFixture) -> None:
    async with piped() as pipe:
        pipe.send(calling(1, "one"))
        await pipe.until_served(1)
        pipe.served[0].when_written(lambda _: [].pop())
        pipe.served[0].when_written(lambda _: pipe.happened.append("next"))
        pipe.finish()
        assert [message["id"] for message in await pipe.read(1)] == [1]
        assert pipe.happened == ["one", "next"]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [IndexError]


@pytest.mark.anyio
async def test_one_socket_serves_both_directions_and_is_left_in_blocking_mode() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        transport = StdioTransport(read_fd=os.dup(theirs.fileno()), write_fd=os.dup(theirs.fileno()))
        pipe = Piped((ours.fileno(), ours.fileno()))
        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve_piped, transport, pipe)
                pipe.send(opening())
                assert (await pipe.read(1))[0]["id"] == "hello"
                assert not os.get_blocking(theirs.fileno())
                ours.shutdown(socket.SHUT_WR)
        assert os.get_blocking(theirs.fileno())


@pytest.mark.anyio
async def test_a_socket_reset_by_a_killed_client_is_an_end_like_any_other(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = socket.socketpair()
    transport = StdioTransport(read_fd=os.dup(theirs.fileno()), write_fd=theirs.detach())
    pipe = Piped((ours.fileno(), ours.fileno()))
    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_piped, transport, pipe)
            pipe.send(opening())
            await anyio.wait_readable(ours.fileno())
            ours.close()
    assert transport.input_ended.is_set()
    assert caplog.records == []


def test_it_is_known_what_was_thrown_away_unread() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"read" + b"unread")
    os.read(reading, 4)
    assert thrown_away(writing) == 0
    os.close(reading)
    assert thrown_away(writing) == 6
    os.close(writing)
    here, there = socket.socketpair()
    with here:
        here.send(b"unread")
        there.close()
        assert thrown_away(here.fileno()) == 1
