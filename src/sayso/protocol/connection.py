"""One client, as the protocol sees it: what it may say now, what it is told, and which requests are under way.

Not how messages travel, and not how requests are served. Feed it what came in, and do what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from sayso.errors import ProtocolError
from sayso.protocol import messages
from sayso.protocol.messages import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Json,
    RequestId,
    other_spellings,
)
from sayso.protocol.methods import LOG_LEVELS, METHODS, check_params
from sayso.protocol.request import ClientInfo, Request
from sayso.protocol.versions import (
    BATCHES,
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKES,
    LATEST_HANDSHAKE,
    LOG_LEVEL_KEY,
    MODERN,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
)

MOST_CROSSING = 64
"""So many answered requests are remembered, in case a cancel crosses the answer."""

MOST_LISTENING = 1024

_ENVELOPE = (VERSION_KEY, CAPABILITIES_KEY)
_NO_ENVELOPE = (
    f"params._meta must be an object carrying the required {VERSION_KEY!r} and {CAPABILITIES_KEY!r} envelope keys"
)
_HANDSHAKE_HERE = "This session began with a handshake, so requests of the 2026-07-28 protocol are not served in it."
_MODERN_HERE = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
_NOT_YET = "Invalid request parameters: this session has not begun. Send initialize first."


class Served:
    """A server as its clients see it: who it is, and which methods somebody serves."""

    def __init__(self, *, name: str, version: str, instructions: str = "", methods: Iterable[str] = ()) -> None:
        self.info = {"name": name, "version": version}
        self.instructions = instructions
        self.methods = {"initialize", "ping", "server/discover", *methods}
        self.extensions: Json = {}
        """What it can beyond the protocol, for clients of 2026-07-28."""
        self.announces = False
        """Whether it tells when its lists change."""

    def capabilities(self, *, modern: bool) -> Json:
        told: Json = {}
        if "logging/setLevel" in self.methods:
            told["logging"] = {}
        if "resources/list" in self.methods:
            told["resources"] = {"listChanged": self.announces, "subscribe": self.announces}
        told["tools"] = {"listChanged": self.announces}
        return {**told, "extensions": self.extensions} if modern and self.extensions else told


class Send:
    """A message to be sent. It belongs to a request: as its answer, or as something said on the way to that."""

    __slots__ = ("about", "message")

    def __init__(self, message: Json, about: Request | None = None) -> None:
        self.message, self.about = message, about


class Cancelled:
    """A request that its client no longer wants: nothing more is to be said about it."""

    __slots__ = ("request",)

    def __init__(self, request: Request) -> None:
        self.request = request


class ClientReply:
    """What a client replied to a request of ours."""

    __slots__ = ("error", "id", "result")

    def __init__(self, id: RequestId, result: Mapping[str, Any] | None, error: ProtocolError | None = None) -> None:
        self.id, self.result, self.error = id, result, error


Event = Send | Request | Cancelled | ClientReply


_NOBODY = ClientInfo(None, None)


class Connection:
    """What one client and this server have said to each other so far."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.version = ""
        """The version that was agreed on; empty until then, and for what says it with every request."""
        self.client = _NOBODY
        """Who shook hands; from 2026-07-28 on each request says it."""
        self.open: dict[RequestId, Request] = {}
        """The requests that have not been answered."""
        self.subscribed: Set[str] = frozenset()
        """The resources whose changes a handshake client wants to hear of."""
        self._modern = False
        self._least_level = LOG_LEVELS[0]
        self._answered: dict[RequestId, Request] = {}
        self._listening: dict[RequestId, Request] = {}
        self._asked: Set[RequestId] = frozenset()
        self._next_id = 0

    @property
    def shook_hands(self) -> bool:
        return bool(self.version)

    # What comes in

    def receive(self, line: bytes | bytearray) -> list[Event]:
        """Take one line, or one body, and say what is to be done about it."""
        try:
            given = messages.decode(line)
        except ProtocolError as error:
            return [Send(messages.error(None, error))]
        if messages.is_too_deep(given, line):
            named = messages.request_id(given.get("id")) if isinstance(given, dict) else None
            return [_refusal("it is nested too deeply", named)]
        return self.take(given)

    def take(self, given: Any) -> list[Event]:
        """The same for a message that has been read already."""
        if isinstance(given, dict):
            return self._take_one(given)
        if isinstance(given, list) and given and self.version == BATCHES:
            return [event for each in given for event in self._in_batch(each)]
        return [Send(messages.error(None, ProtocolError(INVALID_REQUEST, messages.NO_OBJECT)))]

    def _in_batch(self, given: Any) -> list[Event]:
        if not isinstance(given, dict):
            return [_refusal("each message of a batch must be an object", None)]
        if given.get("method") == "initialize":
            return [_refusal("initialize must not be part of a batch", messages.request_id(given.get("id")))]
        return self._take_one(given)

    def _take_one(self, given: Json) -> list[Event]:
        if messages.is_response(given):
            return self._take_reply(given)
        named = messages.request_id(given.get("id"))
        if wrong := messages.faults_of(given):
            return [_refusal(wrong, named)]
        params = given.get("params") or {}
        if named is None:
            return self._take_notification(given["method"], params)
        events = self._take_request(named, given["method"], params)
        for request in (event for event in events if isinstance(event, Request)):
            request.mended = isinstance(given, messages.Mended)
        return events

    def _take_reply(self, given: Json) -> list[Event]:
        named = messages.request_id(given.get("id"))
        if named is not None and named not in self._asked:
            named = next((key for key in other_spellings(named) if key in self._asked), None)
        if not messages.is_whole_response(given):
            error = ProtocolError(INVALID_REQUEST, messages.BAD_RESPONSE)
            told = Send(messages.error(None, error))
            return [told] if named is None else [told, ClientReply(self._done(named), None, error)]
        if named is None:
            return []
        if "error" in given:
            failed = given["error"]
            error = ProtocolError(failed["code"], failed["message"], failed.get("data"))
            return [ClientReply(self._done(named), None, error)]
        return [ClientReply(self._done(named), given["result"])]

    def _done(self, named: RequestId) -> RequestId:
        self._asked -= {named}
        return named

    def _take_notification(self, method: str, params: Mapping[str, Any]) -> list[Event]:
        named = messages.request_id(params.get("requestId")) if method == "notifications/cancelled" else None
        if named is None:
            return []
        key = self._meant(named)
        self._listening.pop(key, None)
        request = self.open.pop(key, None)
        if request is None:
            if crossed := self._answered.pop(key, None):
                crossed.lost()
            return []
        request.cancelled = True
        request.lost()
        return [Cancelled(request)]

    def _meant(self, named: RequestId) -> RequestId:
        """The request that a cancel names: some clients cancel "7" where they asked 7."""
        known = (self.open, self._listening, self._answered)
        return next((key for key in (named, *other_spellings(named)) if any(key in each for each in known)), named)

    def _take_request(self, named: RequestId, method: str, params: Mapping[str, Any]) -> list[Event]:
        self._use_again(named)
        try:
            request = self._understood(named, method, params)
            answer = self._own_answer(request)
        except ProtocolError as error:
            return [Send(messages.error(named, error))]
        if answer is not None:
            return answer
        self.open[named] = request
        return [request]

    def _use_again(self, key: RequestId) -> None:
        """An id that is used again takes nothing over from its former use."""
        self._answered.pop(key, None)
        if former := self.open.pop(key, None):
            former.lost()

    def _understood(self, named: RequestId, method: str, params: Mapping[str, Any]) -> Request:
        """The request, if it may be made now and its parameters are in order."""
        meta = params.get("_meta")
        enveloped = isinstance(meta, dict) and VERSION_KEY in meta and method != "initialize"
        if self.shook_hands and enveloped:
            raise ProtocolError(INVALID_REQUEST, _HANDSHAKE_HERE)
        if self._modern and method == "initialize":
            raise _unsupported(_MODERN_HERE, params.get("protocolVersion"))
        if self._modern or enveloped:
            client = _client_in(meta)
            # Whoever only asks which versions are spoken here may still shake hands.
            self._modern = self._modern or method != "server/discover"
            version = MODERN
        else:
            client, version = self.client, self.version or LATEST_HANDSHAKE
        self._check(method, params, version)
        return Request(named, method, params, version, client, self.served.info)

    def _check(self, method: str, params: Mapping[str, Any], version: str) -> None:
        known = METHODS.get(method)
        exists = known is not None and (known.modern if version == MODERN else known.handshake)
        if not exists or method not in self.served.methods:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
        if version != MODERN and not self.shook_hands and method not in ("initialize", "ping"):
            raise ProtocolError(INVALID_PARAMS, _NOT_YET)
        check_params(method, params)

    # What is answered here

    def _own_answer(self, request: Request) -> list[Event] | None:
        """The answer to what concerns the protocol alone; None for what somebody has to serve."""
        match request.method:
            case "ping":
                return [Send(request.result({}), request)]
            case "initialize":
                return [Send(request.result(self._agreed(request.params)), request)]
            case "server/discover":
                return [Send(request.result(self._discovered()), request)]
            case "logging/setLevel":
                self._least_level = request.params["level"]
                return [Send(request.result({}), request)]
            case "subscriptions/listen":
                return [Send(self._listen(request), request)]
        return None

    def _agreed(self, params: Mapping[str, Any]) -> Json:
        wanted = params["protocolVersion"]
        self.version = wanted if wanted in HANDSHAKES else LATEST_HANDSHAKE
        self.client = ClientInfo(params["clientInfo"], params["capabilities"])
        told = {
            "protocolVersion": self.version,
            "capabilities": self.served.capabilities(modern=False),
            "serverInfo": self.served.info,
        }
        return {**told, "instructions": self.served.instructions} if self.served.instructions else told

    def _discovered(self) -> Json:
        told = {"supportedVersions": [MODERN], "capabilities": self.served.capabilities(modern=True)}
        return {**told, "instructions": self.served.instructions} if self.served.instructions else told

    def _listen(self, request: Request) -> Json:
        if len(self._listening) >= MOST_LISTENING:
            raise ProtocolError(messages.INTERNAL_ERROR, "Subscription limit reached")
        self._listening[request.id] = request
        wanted = {kind: value for kind, value in request.params["notifications"].items() if value}
        params = {"_meta": {SUBSCRIPTION_KEY: request.id}, "notifications": wanted}
        return messages.notification("notifications/subscriptions/acknowledged", params)

    # What goes out

    def answered(self, request: Request) -> None:
        """The answer to this request is on its way."""
        key = request.id
        if self.open.get(key) is request:
            del self.open[key]
        self._answered[key] = request
        if len(self._answered) > MOST_CROSSING:
            del self._answered[next(iter(self._answered))]

    def drop(self, request: Request) -> None:
        """Nobody waits for this request any more, though its client has not said so."""
        key = request.id
        for among in (self.open, self._listening):
            if among.get(key) is request:
                del among[key]
        request.cancelled = True
        request.lost()

    def ask(self, method: str, params: Mapping[str, Any]) -> tuple[RequestId, Json]:
        """A request of ours, and the id that its reply will have. Handshake clients only."""
        self._next_id += 1
        self._asked |= {self._next_id}
        return self._next_id, messages.request(self._next_id, method, params)

    def withdraw(self, asked: RequestId) -> Json | None:
        """Take a request of ours back; None if it has been replied to."""
        if asked not in self._asked:
            return None
        self._asked -= {asked}
        params = {"requestId": asked, "reason": "caller cancelled"}
        return messages.notification("notifications/cancelled", params)

    def tools_changed(self) -> list[Send]:
        return [*self._to_listeners("tools/list_changed"), *self._to_all("tools/list_changed")]

    def resources_changed(self) -> list[Send]:
        return [*self._to_listeners("resources/list_changed"), *self._to_all("resources/list_changed")]

    def updated(self, uri: str) -> list[Send]:
        """A resource has changed."""
        subscribed = self._to_all("resources/updated", uri=uri) if uri in self.subscribed else ()
        return [*self._to_listeners("resources/updated", uri=uri), *subscribed]

    def log(self, level: str, logger: str, text: str) -> list[Send]:
        """A log message for a handshake client that wants such; on 2026-07-28 once, with the latest open request that
        asks for it."""
        message = messages.notification("notifications/message", {"level": level, "logger": logger, "data": text})
        if self.shook_hands:
            return [Send(message)] if _reaches(level, self._least_level) else []
        open_ones = [each for each in self.open.values() if _reaches(level, each.meta.get(LOG_LEVEL_KEY))]
        return [Send(message, open_ones[-1])] if open_ones else []

    def late_progress(self, token: RequestId, text: str) -> list[Send]:
        """The end of something that a call began which has long been answered. Handshake clients only."""
        params = {"progressToken": token, "progress": 1.0, "total": 1.0, "message": text}
        return [Send(messages.notification("notifications/progress", params))] if self.shook_hands else []

    def close(self) -> list[Send]:
        """No more comes in: what is still open is answered so that nobody waits for it."""
        still_open, self.open = list(self.open.values()), {}
        closed = ProtocolError(CONNECTION_CLOSED, "Connection closed")
        told = [Send(request.error(closed), request) for request in still_open]
        for request in still_open:
            request.lost()
        return told

    def _to_all(self, change: str, **about: str) -> Iterator[Send]:
        if self.shook_hands:
            yield Send(messages.notification(f"notifications/{change}", about or None))

    def _to_listeners(self, change: str, **about: str) -> Iterator[Send]:
        for request in list(self._listening.values()):
            wanted = request.params["notifications"]
            if wanted.get(_KINDS[change]) if not about else about["uri"] in (wanted.get(_KINDS[change]) or ()):
                params = {**about, "_meta": {SUBSCRIPTION_KEY: request.id}}
                yield Send(messages.notification(f"notifications/{change}", params), request)


_KINDS = {
    "tools/list_changed": "toolsListChanged",
    "resources/list_changed": "resourcesListChanged",
    "resources/updated": "resourceSubscriptions",
}


def _refusal(wrong: str, named: RequestId | None) -> Send:
    return Send(messages.error(named, ProtocolError(INVALID_REQUEST, f"Invalid request: {wrong}.")))


def _client_in(meta: object) -> ClientInfo:
    """Who makes a request of 2026-07-28."""
    if not isinstance(meta, dict):
        raise ProtocolError(INVALID_PARAMS, _NO_ENVELOPE)
    if missing := [key for key in _ENVELOPE if key not in meta]:
        text = f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
        raise ProtocolError(INVALID_PARAMS, text)
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if version != MODERN:
        raise _unsupported("Unsupported protocol version", version)
    info, capabilities = meta.get(CLIENT_KEY), meta[CAPABILITIES_KEY]
    # Whether they are in order is said with all that is wrong with the parameters.
    return ClientInfo(
        info if isinstance(info, dict) else None, capabilities if isinstance(capabilities, dict) else None
    )


def _unsupported(text: str, requested: object) -> ProtocolError:
    data: Json = {"supported": [MODERN]}
    return ProtocolError(
        UNSUPPORTED_VERSION, text, {**data, "requested": requested} if isinstance(requested, str) else data
    )


def _reaches(level: str, least: object) -> bool:
    return least in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(str(least))
