"""What a client should never send, and what it might: strategies for lines of JSON-RPC and for HTTP requests."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from sayso.protocol.messages import Json

METHODS = (
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
)
TOOLS = ("ask_user_questions", "ask_user", "question_ask", "question_summary", "get_answers", "status", "await", "no")
NAMED = "io.modelcontextprotocol/"
VERSIONS = ("2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01")
RAW = (
    "null",
    "true",
    "-0",
    "0.5",
    "1e999",
    "-1e999",
    "1E400",
    "NaN",
    "Infinity",
    "9223372036854775808",
    "1" * 5000,
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"' + "i" * 10_000 + '"',
    "[]",
    "{}",
    '{"a":1,"a":2}',
    "\x00",
    "",
)
"""What can stand where a value belongs, not all of it JSON."""

SPOILERS = (b"\xff", b"\xc3", b"\x00", b"\xed\xa0\x80", b"\\", b'"')

texts = st.text(st.characters(exclude_categories=()), max_size=30)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(VERSIONS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
ids = st.integers(0, 5) | st.sampled_from(["a", ""]) | values


def _meta() -> st.SearchStrategy[Any]:
    named = {NAMED + "protocolVersion": st.sampled_from(VERSIONS) | values, NAMED + "clientInfo": values}
    return st.fixed_dictionaries({}, optional={**named, NAMED + "clientCapabilities": values, "progressToken": values})


def _arguments() -> st.SearchStrategy[Any]:
    option = st.fixed_dictionaries({}, optional={"label": values, "description": values, "recommended": values})
    question = st.fixed_dictionaries(
        {},
        optional={
            "question": texts,
            "prompt": values,
            "options": st.lists(option | values, max_size=5),
            "type": values,
        },
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "questions": st.lists(question | values, max_size=5) | values,
            "question": values,
            "nonBlocking": values,
            "timeout": values,
            "id": values,
            "ask_id": values,
        },
    )


params = (
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from(TOOLS) | values,
            "arguments": _arguments() | values,
            "_meta": _meta() | values,
            "protocolVersion": st.sampled_from(VERSIONS) | values,
            "capabilities": values,
            "clientInfo": st.just({"name": "fuzz", "version": "1"}) | values,
            "requestId": ids,
            "requestState": values,
            "inputResponses": values,
            "uri": values,
            "cursor": values,
        },
    )
    | values
)
messages: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": ids,
        "method": st.sampled_from(METHODS) | values,
        "params": params,
        "result": values,
        "error": values,
    },
)
requests: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(0, 5), "method": st.sampled_from(METHODS), "params": params}
)


def _written(message: object) -> bytes:
    return json.dumps(message).encode()


@st.composite
def _cut(draw: st.DrawFn) -> bytes:
    """Half a message."""
    line = _written(draw(requests))
    return line[: draw(st.integers(0, len(line)))]


@st.composite
def _spoilt(draw: st.DrawFn) -> bytes:
    """A message with bytes in it that do not belong there."""
    line = _written(draw(requests))
    place = draw(st.integers(0, len(line)))
    return line[:place] + draw(st.sampled_from(SPOILERS)) + line[place:]


@st.composite
def _raw(draw: st.DrawFn) -> bytes:
    """A request in which one part is whatever comes."""
    parts = {"jsonrpc": '"2.0"', "id": "1", "method": '"tools/list"', "params": "{}"}
    parts[draw(st.sampled_from(list(parts)))] = draw(st.sampled_from(RAW))
    return ("{" + ",".join(f'"{name}":{value}' for name, value in parts.items()) + "}").encode("utf-8", "replace")


@st.composite
def _deep(draw: st.DrawFn) -> bytes:
    """A request with something in it that is nested deeply, whole or broken off."""
    depth = draw(st.sampled_from([50, 120, 200, 240, 300, 450, 700, 950, 990, 1500, 100_000]))
    opening, closing = draw(st.sampled_from([(b"[", b"]"), (b'{"a":', b"}")]))
    method = draw(st.sampled_from(METHODS)).encode()
    core = b"1" if opening == b'{"a":' else b""
    nest = opening * depth + core + closing * depth * draw(st.integers(0, 1))
    return b'{"jsonrpc":"2.0","id":3,"method":"' + method + b'","params":{"protocolVersion":"x","y":' + nest + b"}}"


@st.composite
def _huge(draw: st.DrawFn) -> bytes:
    size = draw(st.sampled_from([60_000, 70_000, 1_100_000, 2_000_000]))
    return b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"' + b"x" * size + b'"}}'


_often = st.one_of(messages.map(_written), requests.map(_written), _cut(), _spoilt(), _raw(), st.binary(max_size=80))
_rarely = st.one_of(_deep(), _huge(), st.just(b"[]"), st.just(b"[" + b"{}," * 1000 + b"{}]"))
_any = st.integers(0, 19).flatmap(lambda number: _often if number else _rarely)
lines = _any.map(lambda line: line.replace(b"\n", b""))
"""One line, without its end."""


@st.composite
def pieces(draw: st.DrawFn) -> list[bytes]:
    """Several lines as they come over a pipe: cut anywhere, the last one perhaps without its end."""
    sent = b"\n".join(draw(st.lists(lines, min_size=1, max_size=6))) + draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
    cuts = sorted({draw(st.integers(0, len(sent))) for _ in range(draw(st.integers(0, 3)))})
    edges = [0, *cuts, len(sent)]
    return [sent[begin:end] for begin, end in pairwise(edges) if end > begin]
