"""What a line between a client and a server holds, read so that nobody can read something else in it.

What two programs could understand in two ways is not passed on: one of them would do what nobody was shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sayso.protocol.messages import Json

CALL = "tools/call"

_LINE_ENDS = re.compile(rb"\r|\xc2\x85|\xe2\x80[\xa8\xa9]")
_METHOD = re.compile(r"[!-~]+")
_FIELDS = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
_CALL_FIELDS = frozenset(("name", "arguments"))


class Ambiguous(dict[str, Any]):
    """An object that has a name twice: which of the two values counts, every program decides for itself."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Ambiguous(found)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_strict = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
_lenient = json.JSONDecoder(object_pairs_hook=_object)


def read(line: bytes) -> Any:
    """What a line of the client holds; ValueError where it is not plain JSON."""
    return _read(_strict, line)


def read_leniently(line: bytes) -> Any:
    """The same for a line of the server: with all that some client might let pass."""
    return _read(_lenient, line)


def _read(decoder: json.JSONDecoder, line: bytes) -> Any:
    try:
        return decoder.decode(line.decode())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def faults_of(message: Json) -> str:
    """Why some program might read another message than we do; empty where none would."""
    if isinstance(message, Ambiguous):
        return "it has a field twice"
    if other := _misspelt(message, _FIELDS):
        return f"its field {other!r} is not spelt as the protocol spells it"
    method, params = message.get("method"), message.get("params")
    if isinstance(params, Ambiguous):
        return "its params have a field twice"
    if isinstance(method, str) and (not _METHOD.fullmatch(method) or method.casefold() == CALL != method):
        return f"its method {method!r} is not spelt as the protocol spells one"
    if method != CALL:
        return ""
    if not isinstance(params, dict) or not isinstance(params.get("name"), str):
        return "a call of a tool needs params with its name"
    if other := _misspelt(params, _CALL_FIELDS):
        return f"params.{other!r} is not spelt as the protocol spells it"
    if not isinstance(params.get("arguments") or {}, dict):
        return "params.arguments must be an object"
    return "" if is_id(message.get("id")) else "a call of a tool needs an id, a string or a whole number"


def is_id(given: object) -> bool:
    return isinstance(given, str | int) and not isinstance(given, bool)


def has_ambiguities(value: object) -> bool:
    """Whether there is an object anywhere in it that has a name twice."""
    if isinstance(value, Ambiguous):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(has_ambiguities(each) for each in inner)


def is_one_line(line: bytes) -> bool:
    """Whether every program takes it for one line. Some also end lines where JSON allows other characters."""
    return not _LINE_ENDS.search(line, 0, len(line.rstrip(b"\r\n")))


def encoded(message: object) -> bytes:
    """As one line, in letters that every program reads alike."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def meta_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said beside the parameters."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _misspelt(found: Mapping[str, Any], known: frozenset[str]) -> str:
    """A name that some programs, which care little about capitals, would take for another."""
    return next((name for name in found if name not in known and name.casefold() in known), "")
