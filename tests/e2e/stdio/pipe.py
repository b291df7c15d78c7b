"""A server behind bare pipes: lines of JSON in and out, in any version of the protocol. No client library."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from tests.e2e.stdio.log import Log
from tests.e2e.stdio.person import WAIT

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSIONS = (*HANDSHAKES, MODERN)
Json = dict[str, Any]


class Pipe:
    """Speaks for a client, line by line."""

    def __init__(self, process: subprocess.Popen[bytes], log: Log) -> None:
        self.process, self.log = process, log
        self.client = {"name": "tester", "version": "7"}
        self.received: list[bytes] = []
        self.meta: Json = {}
        self._rest = b""
        self._requests = 0

    def connect(self, version: str, capabilities: Mapping[str, Any] | None = None) -> Json:
        """Say hello as this version does it. The result of `initialize` or `server/discover`."""
        able = dict(capabilities or {})
        if version in HANDSHAKES:
            told = self.request("initialize", protocolVersion=version, capabilities=able, clientInfo=self.client)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            return told
        named = {"protocolVersion": version, "clientInfo": self.client, "clientCapabilities": able}
        self.meta = {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}
        return self.request("server/discover")

    def request(self, method: str, **params: Any) -> Json:
        """The result of a request; an error response fails the test."""
        answer = self.response(self.begin(method, **params))
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def begin(self, method: str, **params: Any) -> int:
        """Send a request and do not wait for it: its id."""
        self._requests += 1
        if self.meta:
            params = {**params, "_meta": self.meta}
        self.send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        return self._requests

    def cancel(self, request: int) -> None:
        params = {"requestId": request, "reason": "the test says so"}
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def response(self, request: int) -> Json:
        """The response to a request. What comes before it is passed over."""
        while (message := self.next()).get("id") != request or "method" in message:
            pass
        return message

    def send(self, message: Mapping[str, Any]) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def next(self) -> Json:
        """The next line, which must be one JSON-RPC message."""
        line = self._line()
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        assert isinstance(message, dict)
        return message

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> list[Json]:
        """Whatever else comes until the server closes its end."""
        deadline = time.monotonic() + WAIT
        while self._more(deadline):
            pass
        lines, self._rest = self._rest.splitlines(), b""
        self.received += lines
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """Close the client's end; a server that does not end by itself is killed with its agent."""
        try:
            hang_up(self.process)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def _line(self) -> bytes:
        deadline = time.monotonic() + WAIT
        while b"\n" not in self._rest:
            assert self._more(deadline), f"the server ended:\n{self.log.text}"
        line, _, self._rest = self._rest.partition(b"\n")
        self.received.append(line)
        return line

    def _more(self, deadline: float) -> bool:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing came in time:\n{self.log.text}"
        chunk = os.read(self.process.stdout.fileno(), 1 << 20)
        self._rest += chunk
        return bool(chunk)


def hang_up(process: subprocess.Popen[bytes]) -> None:
    """Close the client's end of both pipes, and wait until the server has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    process.wait(WAIT)
