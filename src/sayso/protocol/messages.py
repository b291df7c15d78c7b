"""JSON-RPC messages: how they are read and written, and what the sender of something else hears."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.errors import ProtocolError

Json = dict[str, Any]
RequestId = str | int

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

MAX_LINE = 64 * 1024 * 1024
MAX_DEPTH = 200
"""No client nests deeper, and what we hand on must be safe for whoever reads it."""

TOO_LONG = (
    f"Invalid request: the line was over {MAX_LINE:,} bytes (64 MiB), the limit for one message, and was dropped."
)
_PARSE_ERROR = "Parse error: the line is not JSON in UTF-8. Send one JSON-RPC message per line."
NO_OBJECT = "Invalid request: a message must be one JSON object per line. Batches are not supported."
BAD_RESPONSE = (
    'Invalid response: jsonrpc must be "2.0", id the string or integer of the request, and either result an object '
    "or error an object with an integer code and a message."
)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode(message: Mapping[str, Any]) -> bytes:
    """A message as one line."""
    return _encode(message).encode("utf-8", "replace") + b"\n"


class Mended(dict[str, Any]):
    """A message in which half a character was replaced: it is not quite what the client meant."""


def decode(line: bytes | bytearray) -> Any:
    """What a line holds. ProtocolError where that is no JSON. What clients really send is put right: a byte order mark,
    or half an emoji where a text was cut."""
    try:
        given = json.loads(line.decode().removeprefix("\ufeff"))
        return _mended(given) if b"\\ud" in line or b"\\uD" in line else given
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, _PARSE_ERROR) from None


def _mended(given: Any) -> Any:
    whole = json.dumps(given, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    put_right = json.loads(whole)
    return Mended(put_right) if isinstance(put_right, dict) and put_right != given else put_right


def is_too_deep(given: object, line: bytes | bytearray) -> bool:
    """Whether it is nested deeper than anybody needs."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    level = [given]
    for _ in range(MAX_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def request_id(given: object) -> RequestId | None:
    """The id of a request; None for what is none."""
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def other_spellings(named: RequestId) -> tuple[RequestId, ...]:
    """What a client that is careless about types may have meant by an id: 7 and "7" are two, and no request is taken
    for another while it is there under the very id that was named."""
    if isinstance(named, int):
        return (str(named),)
    return (int(named),) if named.isdecimal() and len(named) < 19 else ()


def faults_of(given: Json) -> str:
    """What is wrong with an object that should be a request or a notification; nothing if it is one."""
    checks = {
        'jsonrpc must be "2.0"': given.get("jsonrpc") == "2.0",
        "id must be a string or an integer": given.get("id") is None or request_id(given["id"]) is not None,
        "method must be a string": isinstance(given.get("method"), str),
        "params must be an object": given.get("params") is None or isinstance(given["params"], dict),
    }
    return ", ".join(text for text, holds in checks.items() if not holds)


def is_response(given: Json) -> bool:
    return "method" not in given and ("result" in given or "error" in given)


def is_whole_response(given: Json) -> bool:
    if given.get("jsonrpc") != "2.0" or request_id(given.get("id")) is None:
        return False
    if "error" not in given:
        return isinstance(given["result"], dict)
    error = given["error"]
    return isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)


def notification(method: str, params: Mapping[str, Any] | None = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def request(request: RequestId, method: str, params: Mapping[str, Any] | None = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": request, "method": method}
    return message if params is None else {**message, "params": params}


def result(request: RequestId, result: Mapping[str, Any]) -> Json:
    return {"jsonrpc": "2.0", "id": request, "result": result}


def error(request: RequestId | None, failed: ProtocolError) -> Json:
    told: Json = {"code": failed.code, "message": str(failed)}
    if failed.data is not None:
        told["data"] = failed.data
    return {"jsonrpc": "2.0", "id": request, "error": told}
