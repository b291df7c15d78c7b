"""A scripted model on loopback, in the form of Anthropic's, OpenAI's and Google's APIs: what it says depends on what
it was told so far."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Script = Callable[[Json], Json]
"""From a request to the one block of content that answers it."""


FEWEST_TOOLS = 2
"""With fewer a client asks for something of its own, such as a title, or a guess in the form of one tool."""


def say(text: str) -> Json:
    return {"type": "text", "text": text}


def use(tool: str, call_id: str, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a request tells the model, whatever API it is written for."""

    tools: tuple[str, ...]
    results: tuple[str, ...]
    """What its calls of tools returned, in the words that the client made of it."""
    whole: str


def told(request: Json) -> Told:
    api = _api_of(request)
    return Told(tools=tuple(api.tools(request)), results=tuple(api.results(request)), whole=json.dumps(request))


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
        if len(told(request).tools) < FEWEST_TOOLS:
            return say("ok")
        self.requests.append(request)
        return self._script(request)

    def _kind(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Answerer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(b'{"data": [], "models": []}', "application/json")

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                streams = bool(request.get("stream")) or "stream" in self.path
                if not _is_turn(request):
                    self._send(b"{}", "application/json")
                    return
                block, api = model.answer(request), _api_of(request)
                events = api.events(block) if streams else [api.message(block)]
                body = _as_events(events) if streams else json.dumps(events[0]).encode()
                self._send(body, "text/event-stream" if streams else "application/json")

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Answerer


def _is_turn(request: Json) -> bool:
    return any(key in request for key in ("messages", "input", "contents"))


def _as_events(events: Sequence[Json]) -> bytes:
    named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    return "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events, strict=True)).encode()


def _text(content: Any) -> str:
    """The words of a result, which some clients give as one text and some in parts."""
    if isinstance(content, list):
        return "\n".join(_text(part) for part in content)
    if isinstance(content, dict):
        return str(content["text"]) if "text" in content else json.dumps(content, ensure_ascii=False)
    return str(content)


class Anthropic:
    """`/v1/messages`"""

    def tools(self, request: Json) -> Iterator[str]:
        yield from (str(tool.get("name")) for tool in request.get("tools") or [])

    def results(self, request: Json) -> Iterator[str]:
        for message in request["messages"]:
            content = message["content"]
            for part in content if isinstance(content, list) else []:
                if part["type"] == "tool_result":
                    yield _text(part.get("content", ""))

    def message(self, block: Json) -> Json:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def events(self, block: Json) -> list[Json]:
        whole = self.message(block)
        if block["type"] == "tool_use":
            empty: Json = {**block, "input": {}}
            delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        return [
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


class OpenAI:
    """`/responses`"""

    def tools(self, request: Json) -> Iterator[str]:
        for tool in request.get("tools") or []:
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            yield from (f"{tool['name']}/{one['name']}" for one in inner) if inner else (str(tool.get("name")),)

    def results(self, request: Json) -> Iterator[str]:
        for item in request["input"] if isinstance(request["input"], list) else []:
            if item.get("type") == "function_call_output":
                yield _text(item["output"])

    def message(self, block: Json) -> Json:
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return {"id": "resp_1", "status": "completed", "output": [self._item(block)], "usage": usage}

    def _item(self, block: Json) -> Json:
        if block["type"] == "tool_use":
            namespace, _, name = block["name"].rpartition("/")
            called = {"name": name, **({"namespace": namespace} if namespace else {})}
            arguments = json.dumps(block["input"])
            return {"type": "function_call", "call_id": block["id"], **called, "arguments": arguments}
        content = [{"type": "output_text", "text": block["text"]}]
        return {"type": "message", "role": "assistant", "id": "msg_1", "content": content}

    def events(self, block: Json) -> list[Json]:
        return [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": self._item(block)},
            {"type": "response.completed", "response": self.message(block)},
        ]


class Google:
    """`:streamGenerateContent`"""

    def tools(self, request: Json) -> Iterator[str]:
        for tool in request.get("tools") or []:
            yield from (str(one["name"]) for one in tool.get("functionDeclarations") or [])

    def results(self, request: Json) -> Iterator[str]:
        for content in request["contents"]:
            for part in content.get("parts") or []:
                if response := part.get("functionResponse", {}).get("response"):
                    yield _text(response.get("output", response.get("error", response)))

    def message(self, block: Json) -> Json:
        if block["type"] == "tool_use":
            part: Json = {"functionCall": {"name": block["name"], "args": block["input"], "id": block["id"]}}
        else:
            part = {"text": block["text"]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage}

    def events(self, block: Json) -> list[Json]:
        return [self.message(block)]


def _api_of(request: Json) -> Anthropic | OpenAI | Google:
    if "contents" in request:
        return Google()
    return OpenAI() if "input" in request else Anthropic()
