"""A scripted model on loopback, in the form of Anthropic's API: what it says depends on what it was told so far."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Script = Callable[[Json], Json]
"""From a request to the one block of content that answers it."""


def say(text: str) -> Json:
    return {"type": "text", "text": text}


def use(tool: str, call_id: str, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


class Model:
    """Keeps the requests of the conversation itself; a client also asks for titles and the like."""

    def __init__(self, script: Script) -> None:
        self.requests: list[Json] = []
        self._script = script
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._kind())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[Model]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def answer(self, request: Json) -> Json:
        if not request.get("tools"):
            return say("ok")
        self.requests.append(request)
        return self._script(request)

    def _kind(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Answerer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                block = model.answer(request) if "messages" in request else say("")
                body = _stream(block) if request.get("stream") else json.dumps(_message(block)).encode()
                self.send_response(200)
                kind = "text/event-stream" if request.get("stream") else "application/json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Answerer


def _message(block: Json) -> Json:
    stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _stream(block: Json) -> bytes:
    whole = _message(block)
    if block["type"] == "tool_use":
        empty: Json = {**block, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
