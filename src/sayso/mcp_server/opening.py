"""What a client says first: the requests whose answers can be kept ready, and all that each of those depends on.

Imports next to nothing: it runs before anything large is there. It judges no message: what it does not know at first
sight is left to the SDK.
"""

from __future__ import annotations

try:
    from _json import make_scanner
except ImportError:  # another Python than CPython
    from json.scanner import py_make_scanner as make_scanner  # type: ignore[attr-defined,no-redef,unused-ignore]

_NAMED = "io.modelcontextprotocol/"
_MODERN = (_NAMED + "protocolVersion", _NAMED + "clientInfo", _NAMED + "clientCapabilities")

MOST_BRACKETS = 500
"""What no client needs to say hello. What is nested deeper than Python can follow must not even be begun: how deep that
is differs from caller to caller."""

Json = dict[str, object]
RequestId = int | str


class _Plainly:
    """How the scanner reads: as the `json` package does by default. That package itself takes a third of the time that
    an empty Python takes to start."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012


_scan = make_scanner(_Plainly)  # type: ignore[arg-type]


def read(line: bytes) -> Json | None:
    """The object that a line holds; None where it holds none, or one that is not plain to see."""
    if line.count(b"[") + line.count(b"{") > MOST_BRACKETS:
        return None
    try:
        text = line.strip().decode()
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError, SystemError):
        # SystemError: the scanner takes its own exception from the `json` package, which is not imported here.
        return None
    return value if end == len(text) and isinstance(value, dict) else None


class Question:
    """A request whose answer can be kept ready."""

    def __init__(self, request_id: RequestId, depends_on: str) -> None:
        self.request_id, self.depends_on = request_id, depends_on

    def answered(self, result: bytes) -> bytes:
        """The line that answers it, exactly as the SDK writes it."""
        return self._before + result + b"}\n"

    def result_in(self, line: bytes) -> bytes | None:
        """What a line answers to it; None if that is an error."""
        before = self._before
        return line[len(before) : -2] if line.startswith(before) else None

    @property
    def _before(self) -> bytes:
        name = f'"{self.request_id}"' if isinstance(self.request_id, str) else str(self.request_id)
        return b'{"jsonrpc":"2.0","id":' + name.encode() + b',"result":'


class Opening:
    """Follows what a client says until its first list of tools."""

    def __init__(self) -> None:
        self.over = False
        """Whether the tools have been asked for: from then on nothing is kept ready."""
        self._hello: object = None
        self._ids: set[RequestId] = set()

    def question(self, message: Json) -> Question | None:
        """The question that a message is; None for all messages whose answers cannot be kept ready."""
        request_id = message.get("id")
        if self.over or message.get("jsonrpc") != "2.0" or not _is_plain(request_id):
            return None
        assert isinstance(request_id, int | str)
        # Two requests under one id: which answer is whose, only the order of the SDK's tells.
        is_first = request_id not in self._ids
        self._ids.add(request_id)
        depends_on = self._depends_on(message.get("method"), message.get("params", {}))
        return Question(request_id, repr(depends_on)) if depends_on and is_first else None

    def _depends_on(self, method: object, params: object) -> tuple[object, ...] | None:
        if not isinstance(params, dict):
            return None
        if method == "initialize" and self._hello is None:
            self._hello = params
            return method, params
        if method not in ("server/discover", "tools/list") or params.keys() - {"_meta"}:
            return None
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or not all(_is_plain(value) for key, value in meta.items() if key not in _MODERN):
            return None
        self.over = method == "tools/list"
        if _MODERN[0] in meta:
            return None if self._hello else (method, *(meta.get(name) for name in _MODERN))
        return (method, self._hello) if self._hello and self.over else None


def _is_plain(value: object) -> bool:
    """Whether this is an id, or a mark on a request, that every JSON library writes in the same way."""
    if isinstance(value, str):
        return value.isascii() and value.isprintable() and not {'"', "\\"} & set(value)
    return isinstance(value, int) and not isinstance(value, bool)
