"""An HTTP server on this machine that keeps what is posted to it, and answers as it is told."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Posted:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Loopback:
    """`posted` are the requests that nobody has taken yet."""

    def __init__(self) -> None:
        self.status = 200
        self.posted: queue.Queue[Posted] = queue.Queue()
        self.answering = threading.Event()
        self.answering.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._kind())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self) -> Posted:
        return self.posted.get(timeout=SECONDS)

    def _kind(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Answerer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                loopback.posted.put(Posted(path=self.path, headers=dict(self.headers), body=body))
                loopback.answering.wait(SECONDS)
                self.send_response(loopback.status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        return Answerer

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            self.answering.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join(SECONDS)
