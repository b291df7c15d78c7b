"""How agents of a proof reach Sayso: lines of JSON to a server of their own, or requests over HTTP.

JSON-RPC by hand, in one event loop and without a thread, so that an agent that keeps many questions open costs next to
nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from tests.e2e.stdio.folders import PROGRAMS
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN
from tests.proof.ground import Ground
from tests.proof.notes import Json

START_SECONDS = 90.0
END_SECONDS = 60.0
CLOSED = {"error": {"code": -32000, "message": "closed"}}
"""What stands for a response that never came."""


class Gone(Exception):
    """The server has ended, or nobody is at its end of the line any more."""


class Refused(Gone):
    """Nobody was there, or nobody who knew us: nothing was asked."""


class Line(Protocol):
    """One connection of an agent."""

    number: int

    async def connect(self) -> None: ...

    def begin(self, method: str, params: Mapping[str, Any]) -> tuple[int, asyncio.Future[Json]]:
        """Send a request: its id, and the response that will come, or Gone."""
        ...

    def cancel(self, request: int) -> None: ...

    def cut(self) -> None:
        """Have the wire cut, as a network does it."""
        ...

    async def leave(self) -> None: ...


class Pipe:
    """A `sayso server`, started by a shell as agents' programs do."""

    def __init__(self, ground: Ground, name: str, place: int, number: int, version: str, log: int) -> None:
        self.number, self._name, self._version = number, name, version
        self._meta: Json = {}
        self._requests = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._rest, self._unsent = b"", b""
        self._ended = asyncio.Event()
        self._is_cut = False
        self._pid = ground.place.folder / f"pid{place}"
        self._pid.unlink(missing_ok=True)
        # Some sessions have a name of their own, and some calls end by their own limit.
        named = {"CLAUDE_CODE_SESSION_ID": f"session of {name}"} if place == 2 else {}
        limit = {"SAYSO_ASK_TIMEOUT": "2s"} if place == 3 else {}
        clock = {"PYTHONPATH": str(Path(__file__).parent / "clock"), "PROOF_CLOCK": str(ground.clock(place))}
        self.process = subprocess.Popen(
            ["/bin/sh", ground.place.folder / "agent", self._pid, PROGRAMS / "sayso", "server", "--approve"],
            cwd=ground.place.project,
            env={**ground.environment, **clock, **named, **limit},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        asyncio.get_running_loop().add_reader(self._stdout.fileno(), self._read)

    async def connect(self) -> None:
        """Say hello in the words of the version."""
        client = {"name": self._name, "version": "1"}
        named: Json = {"protocolVersion": self._version, "clientInfo": client}
        if self._version in HANDSHAKES:
            _, hello = self.begin("initialize", {**named, "capabilities": {}})
        else:
            assert self._version == MODERN
            named["clientCapabilities"] = {}
            self._meta = {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}
            _, hello = self.begin("server/discover", {})
        answer = await asyncio.wait_for(hello, START_SECONDS)
        assert "result" in answer, answer
        if not self._meta:
            self._send({"method": "notifications/initialized"})

    def begin(self, method: str, params: Mapping[str, Any]) -> tuple[int, asyncio.Future[Json]]:
        self._requests += 1
        coming: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self._ended.is_set():
            coming.set_exception(Gone())
            return self._requests, coming
        self._waiting[self._requests] = coming
        told = {**params, "_meta": self._meta} if self._meta else dict(params)
        self._send({"id": self._requests, "method": method, "params": told})
        return self._requests, coming

    def cancel(self, request: int) -> None:
        self._waiting.pop(request, None)
        self._send({"method": "notifications/cancelled", "params": {"requestId": request, "reason": "no time"}})

    def cut(self) -> None:
        """Both ends of the pipe at once: nothing that the server says from now on is heard."""
        self._is_cut = self._is_cut or not self._ended.is_set()
        self._end()

    async def leave(self) -> None:
        """Close our end, and hear what it says at last."""
        self._forget_unsent()
        self._stdin.close()
        await asyncio.wait_for(self._ended.wait(), END_SECONDS)

    def signal(self, number: signal.Signals) -> bool:
        """Whether there is a server to be sent it. One that was cut off is let be: it alone knows what is lost."""
        if self._is_cut or (pid := self.pid) is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        return True

    @property
    def pid(self) -> int | None:
        """The server's, once it runs, and only while that number is its own."""
        try:
            pid = int(self._pid.read_text())
            parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1]
        except (OSError, ValueError):
            return None
        return pid if int(parent) == self.process.pid else None

    def _send(self, message: Mapping[str, Any]) -> None:
        begun = bool(self._unsent)
        self._unsent += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        if not begun and not self._stdin.closed:
            self._write()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            # What it has said before it went is still to be heard.
            self._unsent = b""
        if self._unsent:
            loop.add_writer(self._stdin.fileno(), self._write)
        else:
            loop.remove_writer(self._stdin.fileno())

    def _forget_unsent(self) -> None:
        if not self._stdin.closed:
            asyncio.get_running_loop().remove_writer(self._stdin.fileno())
        self._unsent = b""

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._hear(json.loads(line))
        if not chunk:
            self._end()

    def _hear(self, message: Json) -> None:
        """What comes for a call that was let go of is of no use to anybody."""
        coming = None if "method" in message else self._waiting.pop(message["id"], None)
        if coming and not coming.done():
            coming.set_result(message)

    def _end(self) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        asyncio.get_running_loop().remove_reader(self._stdout.fileno())
        self._forget_unsent()
        self._stdin.close()
        self._stdout.close()
        for coming in self._waiting.values():
            if not coming.done():
                coming.set_exception(Gone())
        self._waiting.clear()


class Remote:
    """An agent's session over HTTP: each request on a connection of its own."""

    def __init__(self, ground: Ground, name: str, number: int, version: str) -> None:
        self.number, self._name, self._version = number, name, version
        self._port, self._token = ground.known["port"], ground.known["token"]
        self._requests = 0
        self._session = ""
        self._under_way: dict[int, asyncio.Task[Json]] = {}

    async def connect(self) -> None:
        if self._version == MODERN:
            return
        client = {"name": self._name, "version": "1"}
        hello = {"protocolVersion": self._version, "clientInfo": client, "capabilities": {}}
        _, opened = self.begin("initialize", hello)
        answer = await opened
        if "result" not in answer:
            raise Gone
        await self._post({"method": "notifications/initialized"})

    def begin(self, method: str, params: Mapping[str, Any]) -> tuple[int, asyncio.Future[Json]]:
        self._requests += 1
        told = dict(params)
        if self._version == MODERN:
            named = {
                "protocolVersion": self._version,
                "clientInfo": {"name": self._name, "version": "1"},
                "clientCapabilities": {},
            }
            told["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}
            # As Codex names its conversation: without such a name nobody could tell whose answer it is.
            told["_meta"]["threadId"] = f"thread of {self._name}"
        request = self._requests
        task = asyncio.ensure_future(self._post({"id": request, "method": method, "params": told}))
        self._under_way[request] = task
        task.add_done_callback(lambda _: self._under_way.pop(request, None))
        return request, task

    def cancel(self, request: int) -> None:
        """A modern client lets go of the connection, an older one says so."""
        if task := self._under_way.pop(request, None):
            task.cancel()
        if self._version != MODERN:
            params = {"requestId": request, "reason": "no time"}
            self._later(self._post({"method": "notifications/cancelled", "params": params}))

    def cut(self) -> None:
        for request in list(self._under_way):
            task = self._under_way[request]
            self.cancel(request)
            task.cancel()

    async def leave(self) -> None:
        if self._session:
            with suppress(OSError, Gone):
                await self._exchange(b"", "DELETE")

    def _later(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._under_way[-id(task)] = task
        task.add_done_callback(
            lambda done: (self._under_way.pop(-id(done), None), done.cancelled() or done.exception())
        )

    async def _post(self, message: Mapping[str, Any]) -> Json:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        method = str(message["method"])
        name = message.get("params", {}).get("name", "")
        return await self._exchange(body, "POST", {"Mcp-Method": method, **({"Mcp-Name": name} if name else {})})

    async def _exchange(self, body: bytes, verb: str, modern: Mapping[str, str] | None = None) -> Json:
        headers = {
            "Host": f"127.0.0.1:{self._port}",
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        if self._version == MODERN:
            headers |= {"MCP-Protocol-Version": self._version, **(modern or {})}
        elif self._session:
            headers |= {"MCP-Protocol-Version": self._version, "Mcp-Session-Id": self._session}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
        except OSError:
            raise Refused from None
        try:
            writer.write(f"{verb} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
            answer = await reader.read(-1)
        except OSError:
            raise Gone from None
        finally:
            writer.transport.abort()
        return self._understood(answer)

    def _understood(self, answer: bytes) -> Json:
        top, _, body = answer.partition(b"\r\n\r\n")
        status = top.split(b" ", 2)[1] if top else b""
        for line in top.split(b"\r\n")[1:]:
            name, _, value = line.partition(b": ")
            if name.lower() == b"mcp-session-id":
                self._session = value.decode()
        if status == b"202":
            return {}
        if status == b"404" and self._session:
            raise Refused
        said = [line for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.startswith((b"data: {", b"{"))]
        if not said:
            # Cut off, or the server could do no better just then.
            return dict(CLOSED)
        try:
            message: Json = json.loads(said[-1].removeprefix(b"data: "))
        except ValueError:
            return dict(CLOSED)
        return message if "method" not in message else dict(CLOSED)


async def ended(process: subprocess.Popen[Any], seconds: float = END_SECONDS) -> int:
    """The exit code of a process of ours, without a thread that waits for it."""
    if (code := process.poll()) is not None:
        return code
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    handle = os.pidfd_open(process.pid)
    loop.add_reader(handle, over.set)
    try:
        await asyncio.wait_for(over.wait(), seconds)
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return process.wait()
