"""A small MCP client, for going the way of an agent's call: it starts a server on stdio and calls its tools."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from sayso.errors import ProtocolError
from sayso.protocol import messages
from sayso.protocol.messages import CONNECTION_CLOSED, METHOD_NOT_FOUND, Json
from sayso.protocol.versions import CAPABILITIES_KEY, CLIENT_KEY, LATEST_HANDSHAKE, MODERN, VERSION_KEY

LEAVE_SECONDS = 5.0
"""How long a server has to end once its client has left."""


class StdioClient:
    """One server and what is said to it. `with` it: leaving ends the server."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        version: str,
        environment: Mapping[str, str],
        folder: Path | None = None,
        errors: IO[Any] | None = None,
        seconds: float | None = None,
    ) -> None:
        """`seconds` are for all that is done with it; without, calls take as long as a person does."""
        self._info = {"name": name, "version": version}
        self._until = None if seconds is None else time.monotonic() + seconds
        self._meta: Json = {}
        self._said: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self._number = 0
        self.version = ""
        """The version that both speak."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=dict(environment), cwd=folder
        )
        self._hearing = threading.Thread(target=self._hear, name="sayso-client", daemon=True)
        self._hearing.start()

    def __enter__(self) -> StdioClient:
        try:
            self._greet()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave. Called from any thread; whoever waits for the server hears that it has ended."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it may have left first
            self._process.stdin.close()
        try:
            self._process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # What it has started may go on, and hold on to where it has written to.
        self._hearing.join(1)

    def tools(self) -> list[Json]:
        tools: list[Json] = self.request("tools/list")["tools"]
        return tools

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Json:
        """The result of a call, however many rounds it takes. It shows no forms."""
        state: Json = {}
        while (told := self.request("tools/call", name=tool, arguments=arguments, **state)).get(
            "resultType"
        ) == "input_required":
            state = {"requestState": told["requestState"]}
        return told

    def request(self, method: str, **params: Any) -> Json:
        """The result of a request; ProtocolError where it fails."""
        self._number += 1
        self._write(messages.request(self._number, method, {**params, "_meta": self._meta} if self._meta else params))
        while (message := self._next()).get("id") != self._number or "method" in message:
            pass
        if error := message.get("error"):
            raise ProtocolError(error["code"], error["message"])
        result: Json = message["result"]
        return result

    def _greet(self) -> None:
        """As a client does that speaks every version: the newest, or a handshake where that is not known."""
        self._meta = {VERSION_KEY: MODERN, CLIENT_KEY: self._info, CAPABILITIES_KEY: {}}
        try:
            self.request("server/discover")
            self.version = MODERN
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            self._meta = {}
            hello = {"protocolVersion": LATEST_HANDSHAKE, "capabilities": {}, "clientInfo": self._info}
            self.version = self.request("initialize", **hello)["protocolVersion"]
            self._write(messages.notification("notifications/initialized"))

    def _write(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(messages.encode(message))
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise _ended() from None

    def _next(self) -> Json:
        left = None if self._until is None else max(self._until - time.monotonic(), 0)
        try:
            message = self._said.get(timeout=left)
        except queue.Empty:
            raise TimeoutError from None
        if message is None:
            raise _ended()
        return message

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = messages.decode(line)
            except ProtocolError:
                continue
            if isinstance(message, dict):
                self._said.put(message)
        self._said.put(None)


def _ended() -> ProtocolError:
    return ProtocolError(CONNECTION_CLOSED, "the server ended")


def text_of(result: Json) -> str:
    """What a result says to a model."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
