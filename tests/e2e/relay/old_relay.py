"""A relay as PromptManager has it: two routes for the MCP server, a plain poll, no ids, nothing that we added."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request that came in."""

    method: str
    target: str
    headers: dict[str, str]
    body: Any
    at: float


@dataclass
class OldRelay:
    """What has come in, and what polls are answered with: 202 for ever, unless something else is set."""

    port: int = 0
    status: int = 200
    """For questions."""
    answer: dict[str, Any] | None = None
    answer_after: int = 0
    """How many polls go by before the answer is there."""
    seen: list[Seen] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    put_often: threading.Event = field(default_factory=threading.Event)
    """Questions came ten times."""

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def polls(self) -> list[Seen]:
        return [one for one in self.seen if one.method == "GET"]

    def reply(self, seen: Seen) -> tuple[int, bytes]:
        self.seen.append(seen)
        if seen.method == "POST":
            self.asked.set()
            if len(self.seen) - len(self.polls) >= 10:
                self.put_often.set()
            return self.status, b"OK" if self.status == 200 else b"Forbidden"
        if self.answer is None or len(self.polls) <= self.answer_after:
            return 202, b'{"status": "waiting"}'
        told, self.answer = self.answer, None
        return 200, json.dumps({"status": "answered", **told}).encode()


@contextmanager
def old_relay() -> Iterator[OldRelay]:
    relay = OldRelay()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen = Seen(
                method=self.command,
                target=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(body) if body else None,
                at=time.monotonic(),
            )
            status, content = relay.reply(seen)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    relay.port = server.server_address[1]
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield relay
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
