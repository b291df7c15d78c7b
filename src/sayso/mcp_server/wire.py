"""What a line must be to count as a JSON-RPC message, and what its sender hears when it is not one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import mcp_types as types
from mcp.shared.dispatcher import as_request_id
from pydantic import ValidationError

MAX_LINE: Final = 64 * 1024 * 1024
_PARSE_ERROR: Final = "Parse error: the line is not JSON in UTF-8. Send one JSON-RPC message per line."
TOO_LONG: Final = (
    f"Invalid request: the line was over {MAX_LINE:,} bytes (64 MiB), the limit for one message, and was dropped."
)
_NO_OBJECT: Final = "Invalid request: a message must be one JSON object per line. Batches are not supported."
_BAD_RESPONSE: Final = (
    'Invalid response: jsonrpc must be "2.0", id the string or integer of the request, and either result an object '
    "or error an object with an integer code and a message."
)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a line is no message, and who must hear of it: a request of the client's, or ours that waits for this."""

    text: str
    code: int = types.INVALID_REQUEST
    request_id: types.RequestId | None = None
    waiting_id: types.RequestId | None = None


def decode(line: bytearray) -> types.JSONRPCMessage | Refusal:
    message = _validated(line)
    # A request whose id is a number like 1.5 passes for a notification, and its sender would wait for ever.
    if message is None or (isinstance(message, types.JSONRPCNotification) and b'"id"' in line):
        return _decode_leniently(line)
    return message


def _validated(line: bytearray | str) -> types.JSONRPCMessage | None:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None


def _decode_leniently(line: bytearray) -> types.JSONRPCMessage | Refusal:
    """Mend what clients really send: a byte order mark, or half an emoji where a text was cut."""
    try:
        text = json.dumps(json.loads(line.decode("utf-8-sig")), ensure_ascii=False)
        mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        given = json.loads(mended)
    except (ValueError, RecursionError):
        return Refusal(text=_PARSE_ERROR, code=types.PARSE_ERROR)
    message = _validated(mended)
    if message is None or (isinstance(message, types.JSONRPCNotification) and given.get("id") is not None):
        return _refusal(given)
    return message


def _refusal(given: Any) -> Refusal:
    if not isinstance(given, dict):
        return Refusal(text=_NO_OBJECT)
    given_id = as_request_id(given.get("id"))
    if "method" not in given and given.keys() & {"result", "error"}:
        return Refusal(text=_BAD_RESPONSE, waiting_id=given_id)
    return Refusal(text=f"Invalid request: {_faults(given)}.", request_id=given_id)


def _faults(given: dict[str, Any]) -> str:
    checks = {
        'jsonrpc must be "2.0"': given.get("jsonrpc") == "2.0",
        "id must be a string or an integer": as_request_id(given.get("id", 0)) is not None,
        "method must be a string": isinstance(given.get("method"), str),
        "params must be an object": isinstance(given.get("params"), dict | None),
    }
    return ", ".join(text for text, holds in checks.items() if not holds) or "it is nested too deeply"
