"""An MCP client cut down to the wire, so that only the server's time is measured."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

PATIENCE = 60.0
HANDSHAKE = "2025-06-18"


class Client:
    """Speaks to one server, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self._into, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._rest = b""
        self._ids = iter(range(1, 1 << 62))

    def shake_hands(self) -> dict[str, Any]:
        about = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        told = self.request("initialize", **about)
        self.send({"method": "notifications/initialized"})
        return told

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        return self.result(self.begin(method, **params))

    def begin(self, method: str, **params: Any) -> int:
        """Send a request and do not wait for it: its id."""
        number = next(self._ids)
        self.send({"id": number, "method": method, "params": params})
        return number

    def result(self, wanted: int) -> dict[str, Any]:
        """The result of a request, as soon as its line is there."""
        while (message := self.next()).get("id") != wanted or "method" in message:
            pass
        return _result(message)

    def calls_per_second(self, tool: str, arguments: Mapping[str, Any], in_flight: int, calls: int) -> float:
        """How many calls are answered in a second while so many are always open."""
        begun = time.perf_counter()
        sent = [self.begin("tools/call", name=tool, arguments=arguments) for _ in range(in_flight)]
        for answered in range(calls):
            while "id" not in (message := self.next()) or "method" in message:
                pass
            _result(message)
            if answered < calls - len(sent):
                self.begin("tools/call", name=tool, arguments=arguments)
        return calls / (time.perf_counter() - begun)

    def send(self, message: Mapping[str, Any]) -> None:
        rest = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._into, rest) :]

    def next(self) -> dict[str, Any]:
        while b"\n" not in self._rest:
            assert select.select([self._out], [], [], PATIENCE)[0], "the server says nothing"
            chunk = os.read(self._out, 1 << 20)
            assert chunk, "the server has ended"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def memory(self) -> float:
        """What the server and its children hold for themselves, in megabytes."""
        server = psutil.Process(self.process.pid)
        return sum(own_memory(one) for one in [server, *server.children(recursive=True)]) / 1e6

    def cpu_seconds(self) -> float:
        spent = psutil.Process(self.process.pid).cpu_times()
        return float(spent.user + spent.system)


def _result(message: dict[str, Any]) -> dict[str, Any]:
    assert "result" in message, message
    return dict(message["result"])


def own_memory(process: psutil.Process) -> int:
    """What a process holds for itself, in bytes; nothing once it has ended."""
    try:
        return int(process.memory_full_info().uss)
    except psutil.NoSuchProcess:
        return 0


@contextmanager
def server(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, errors: IO[bytes] | int = subprocess.DEVNULL
) -> Iterator[Client]:
    """A server that is ended with its children, however it behaves."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0, env=dict(env), cwd=cwd
    )
    assert process.stdin
    assert process.stdout
    try:
        yield Client(process)
    finally:
        family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        for left in family:
            if left.is_running():
                left.kill()
