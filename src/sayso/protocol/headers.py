"""What the protocol says about the headers of an HTTP request, and which errors are also a status of HTTP."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from sayso.errors import ProtocolError
from sayso.protocol.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Json,
)
from sayso.protocol.versions import VERSION_KEY

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
METHOD = "mcp-method"
NAME = "mcp-name"
LAST_EVENT = "last-event-id"

JSON = "application/json"
EVENTS = "text/event-stream"

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""What of the parameters is said in a header too."""

_BAD_REQUEST = (
    PARSE_ERROR,
    INVALID_REQUEST,
    INVALID_PARAMS,
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)
_STATUS = {**dict.fromkeys(_BAD_REQUEST, 400), METHOD_NOT_FOUND: 404}

_ENCODED = ("=?base64?", "?=")


def status_of(answer: Json) -> int:
    """The status of HTTP that goes with an answer on 2026-07-28."""
    return _STATUS.get(answer["error"]["code"], 200) if "error" in answer else 200


def accepts(header: str, kind: str) -> bool:
    """Whether an Accept header takes this type of content."""
    taken = {each.partition(";")[0].strip().lower() for each in header.split(",")}
    return bool(taken & {kind, f"{kind.partition('/')[0]}/*", "*/*"})


def is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == JSON


def check(given: Json, headers: Iterable[tuple[str, str]]) -> None:
    """On 2026-07-28, what a request says in headers for those who only look at these must be what it says itself."""
    said: dict[str, str] = {}
    for name, value in headers:
        if name in (VERSION, METHOD, NAME) and name in said:
            raise _mismatch(f"the header {name} is there more than once")
        said[name] = value
    params = given.get("params") or {}
    meta = params.get("_meta")
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        raise ProtocolError(INVALID_PARAMS, f"params._meta must be an object with {VERSION_KEY!r}.")
    if said.get(VERSION) != meta[VERSION_KEY]:
        raise _mismatch(f"{VERSION} is {_shown(said, VERSION)}, and params._meta says {meta[VERSION_KEY]!r}")
    if given["method"] == "initialize":
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", "initialize")
    if said.get(METHOD) != given["method"]:
        raise _mismatch(f"{METHOD} is {_shown(said, METHOD)}, and the method is {given['method']!r}")
    _check_name(given["method"], params, said)


def _check_name(method: str, params: Mapping[str, Any], said: Mapping[str, str]) -> None:
    field = _NAMED.get(method, "")
    if params.get(field) is not None and _decoded(said.get(NAME)) != params[field]:
        raise _mismatch(f"{NAME} is {_shown(said, NAME)}, and params.{field} is {params[field]!r}")


def _decoded(value: str | None) -> str | None:
    """What a header says: as it is, or in base64 where it holds what headers cannot. None for bad base64."""
    before, after = _ENCODED
    if value is None or not (value.startswith(before) and value.endswith(after) and len(value) >= 11):
        return value
    body = value[len(before) : -len(after)]
    try:
        plain = base64.b64decode(body, validate=True)
        return plain.decode() if base64.b64encode(plain).decode() == body else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _shown(said: Mapping[str, str], name: str) -> str:
    return repr(said[name]) if name in said else "missing"


def _mismatch(what: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"Headers and body differ: {what}.")
