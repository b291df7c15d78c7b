"""The line from an agent of a soak to one server of its own: JSON-RPC by hand, so that agents cost next to nothing."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.stdio.harness import WAIT, Place
from tests.e2e.stdio.log import Log
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, hang_up

Json = dict[str, Any]
START_SECONDS = 60.0


class Gone(Exception):
    """The server has ended, or nobody is at its end of the pipe any more."""


class Line:
    """One server, started by a shell as agents' programs do, and what is said to it."""

    def __init__(self, place: Place, client: str, version: str, environment: Mapping[str, str]) -> None:
        self._command = place.command("sayso")
        self._client = {"name": client, "version": "1"}
        self._version = version
        self._meta: Json = {}
        self._rest = b""
        self._requests = 0
        self.log = Log()
        self.process = subprocess.Popen(
            self._command.argv,
            cwd=place.project,
            env={**place.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.writer,
            bufsize=0,
        )
        self.log.close_our_end()

    def connect(self) -> None:
        """Say hello in the words of the version."""
        named: Json = {"protocolVersion": self._version, "clientInfo": self._client}
        if self._version in HANDSHAKES:
            hello = self.request("initialize", {**named, "capabilities": {}})
        else:
            assert self._version == MODERN
            named["clientCapabilities"] = {}
            self._meta = {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}
            hello = self.request("server/discover", {})
        deadline = time.monotonic() + START_SECONDS
        while (message := self.next(1.0)) is None or message.get("id") != hello:
            assert time.monotonic() < deadline, f"a server said nothing for {START_SECONDS:.0f} s:\n{self.log.text}"
        assert "result" in message, message
        if not self._meta:
            self.send({"method": "notifications/initialized"})

    @property
    def pid(self) -> int | None:
        """The server's, once it runs."""
        try:
            return self._command.pid
        except (OSError, ValueError):
            return None

    def request(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request: its id."""
        self._requests += 1
        told = {**params, "_meta": self._meta} if self._meta else dict(params)
        self.send({"id": self._requests, "method": method, "params": told})
        return self._requests

    def cancel(self, request: int) -> None:
        self.send({"method": "notifications/cancelled", "params": {"requestId": request, "reason": "no time"}})

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        rest = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        try:
            while rest:
                rest = rest[os.write(self.process.stdin.fileno(), rest) :]
        except OSError:
            # What it has said before it went is still to be heard.
            return

    def next(self, timeout: float) -> Json | None:
        """The next message, or None when none comes in time. Raises Gone after the last."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout
        while b"\n" not in self._rest:
            if not select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise Gone
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        message: Json = json.loads(line)
        return message

    def leave(self) -> list[Json]:
        """Close our end, and wait for the server to end. What it said at last."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        last: list[Json] = []
        deadline = time.monotonic() + WAIT
        try:
            while message := self.next(max(0.1, deadline - time.monotonic())):
                last.append(message)
        except Gone:
            pass
        self.end()
        return last

    def end(self) -> None:
        """Take back what belongs to a server that is ending or has ended."""
        try:
            hang_up(self.process)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"a server did not end:\n{self.log.text}") from None
        with self.log:
            self.log.whole(WAIT)

    def signal(self, number: signal.Signals) -> None:
        if (pid := self.pid) is not None and self._is_it(pid):
            os.kill(pid, number)

    def _is_it(self, pid: int) -> bool:
        """Whether the process of that number is still the server, and not another that got its number."""
        try:
            parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1]
        except OSError:
            return False
        return int(parent) == self.process.pid
