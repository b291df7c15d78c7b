"""A server that sessions of Codex share, as a gate meets it. What it says was recorded from the real one, 0.166."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SECONDS = 60.0
THREAD, TURN = "01a1e2d9-da05-7d60-8971-5f49daba76f7", "01a1e2d9-dabd-7a32-b32b-2b911f2a88e3"


class FakeCodex:
    """One client's line to it. Nothing is said that the test does not say."""

    def __init__(self, path: Path, project: Path) -> None:
        self.path, self._project = path, project
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen(1)
        self._line: socket.socket | None = None
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        line, _ = self._listening.accept()
        line.settimeout(SECONDS)
        assert self._shake_hands(line)
        self._line = line

    def _shake_hands(self, line: socket.socket) -> bool:
        """Whether it is a client, and not somebody who only looks whether the server is there."""
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := line.recv(4096)):
                return False
            head += more
        (key,) = (text.split(b": ")[1] for text in head.split(b"\r\n") if text.startswith(b"Sec-WebSocket-Key: "))
        proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        line.sendall(b"HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: " + proof + b"\r\n\r\n")
        return True

    @property
    def line(self) -> socket.socket:
        self._accepting.join(SECONDS)
        assert self._line is not None
        return self._line

    def say(self, *, pieces: int = 1, **message: Any) -> None:
        data = json.dumps(message).encode()
        step = -(-len(data) // pieces)
        for start in range(0, len(data), step):
            part, is_last = data[start : start + step], start + step >= len(data)
            first = (0x80 if is_last else 0) | (1 if start == 0 else 0)
            size = bytes([len(part)]) if len(part) < 126 else struct.pack(">BH", 126, len(part))
            self.line.sendall(bytes([first]) + size + part)

    def ping(self) -> None:
        self.line.sendall(b"\x89\x02hi")

    def hear(self) -> Json:
        """The next message of the client's."""
        kind, text = self.hear_frame()
        assert kind == 1
        message: Json = json.loads(text)
        return message

    def hear_frame(self) -> tuple[int, bytes]:
        first, second = self._exactly(2)
        size = second & 0x7F
        if size > 125:
            (size,) = struct.unpack(">H" if size == 126 else ">Q", self._exactly(2 if size == 126 else 8))
        mask, data = self._exactly(4), self._exactly(size)
        return first & 0x0F, bytes(letter ^ mask[place % 4] for place, letter in enumerate(data))

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self.line.recv(size - len(found)) or self._ended()
        return found

    def _ended(self) -> bytes:
        raise ConnectionError("the client has gone")

    def expect(self, method: str) -> Json:
        """The next message, which is a request or a notification of this name."""
        message = self.hear()
        assert message["method"] == method, message
        return message

    # What the real one says

    def meet(self) -> None:
        """The handshake, with one session that is at work."""
        self.say(id=self.expect("initialize")["id"], result={"codexHome": str(self.path.parent)})
        self.expect("initialized")
        self.say(id=self.expect("thread/loaded/list")["id"], result={"data": [THREAD], "nextCursor": None})

    def let_join(self, thread: str = THREAD, status: str = "active", **more: Any) -> None:
        asked = self.expect("thread/resume")
        assert asked["params"] == {"threadId": thread, "excludeTurns": True}
        about = {"id": thread, "cwd": str(self._project), "cliVersion": "0.166.0", "status": {"type": status}}
        self.say(id=asked["id"], result={"thread": {**about, **more}})

    def status(self, status: str, *flags: str, thread: str = THREAD) -> None:
        self.say(
            method="thread/status/changed",
            params={"threadId": thread, "status": {"type": status, "activeFlags": list(flags)}},
        )

    def ask_command(self, request: int = 0, command: str = "touch made", thread: str = THREAD, **more: Any) -> None:
        params = {
            "kind": "command",
            "threadId": thread,
            "turnId": TURN,
            "itemId": f"call_{request}",
            "startedAtMs": 1794807291981,
            "environmentId": "local",
            "reason": "Need it",
            "command": f"/bin/bash -lc '{command}'",
            "cwd": str(self._project),
            "commandActions": [{"type": "unknown", "command": command}],
            "proposedExecpolicyAmendment": command.split(),
            "availableDecisions": [
                "accept",
                {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": command.split()}},
                "cancel",
            ],
        }
        self.say(method="item/commandExecution/requestApproval", id=request, params={**params, **more})

    def ask_change(self, *changes: Json, request: int = 0) -> None:
        item = {"type": "fileChange", "id": f"call_{request}", "changes": list(changes), "status": "inProgress"}
        self.say(method="item/started", params={"item": item, "threadId": THREAD, "turnId": TURN})
        about = {"itemId": f"call_{request}", "startedAtMs": 1794807450473, "reason": None, "grantRoot": None}
        self.say(
            method="item/fileChange/requestApproval", id=request, params={"threadId": THREAD, "turnId": TURN, **about}
        )

    def ask_questions(self, *questions: Json, request: int = 0) -> None:
        params = {"threadId": THREAD, "turnId": TURN, "itemId": f"call_{request}", "isBlocking": True}
        self.say(method="item/tool/requestUserInput", id=request, params={**params, "questions": list(questions)})

    def begin_call(self, number: int = 0, tool: str = "deploy", server: str = "shop", **arguments: Any) -> None:
        """A call of an MCP server's tool begins."""
        call = {"type": "mcpToolCall", "id": f"call_{number}", "server": server, "tool": tool, "arguments": arguments}
        self.say(
            method="item/started", params={"item": {**call, "status": "inProgress"}, "threadId": THREAD, "turnId": TURN}
        )

    def ask_call(self, request: int = 0, server: str = "shop", kind: str = "mcp_tool_call", **arguments: Any) -> None:
        """Whether a tool may be called; which one it does not say."""
        about = {"codex_approval_kind": kind, "persist": ["session", "always"], "tool_params": arguments}
        params = {"threadId": THREAD, "turnId": TURN, "serverName": server, "mode": "form", "_meta": about}
        self.say(method="mcpServer/elicitation/request", id=request, params=params)

    def let_speak(self) -> Json:
        """Takes a message to the agent, and says so."""
        asked = self.expect("turn/steer")
        self.say(id=asked["id"], result={"turnId": TURN})
        params: Json = asked["params"]
        return params

    def resolve(self, request: int = 0) -> None:
        """It was decided by whichever client."""
        self.say(method="serverRequest/resolved", params={"threadId": THREAD, "requestId": request})

    def complete(self, status: str, request: int = 0, kind: str = "commandExecution") -> None:
        item = {"type": kind, "id": f"call_{request}", "status": status}
        self.say(method="item/completed", params={"item": item, "threadId": THREAD, "turnId": TURN})

    def end_turn(self, status: str) -> None:
        self.say(method="turn/completed", params={"threadId": THREAD, "turn": {"id": TURN, "status": status}})

    def go_away(self) -> None:
        self.line.close()

    def close(self) -> None:
        with suppress(OSError):  # else it goes on listening for as long as a thread waits for somebody to come
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.path.unlink(missing_ok=True)
        if self._line:
            self._line.close()


@contextmanager
def serving(path: Path, project: Path) -> Iterator[FakeCodex]:
    server = FakeCodex(path, project)
    try:
        yield server
    finally:
        server.close()
