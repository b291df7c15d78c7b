"""The methods that a client may call: in which era each exists, and what its parameters must be. Declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sayso.errors import ProtocolError
from sayso.protocol.messages import INVALID_PARAMS
from sayso.protocol.versions import CAPABILITIES_KEY, CLIENT_KEY

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Parameter:
    """One parameter: what it must be, in words and as a check; and what must be inside it."""

    def __init__(
        self,
        says: str,
        holds: Callable[[Any], bool],
        inside: Mapping[str, Parameter] | None = None,
        *,
        needed: bool = False,
    ) -> None:
        self.says, self.holds, self.inside, self.needed = says, holds, inside or {}, needed

    def required(self) -> Parameter:
        return Parameter(self.says, self.holds, self.inside, needed=True)


def _object(**inside: Parameter) -> Parameter:
    return Parameter("an object", lambda value: isinstance(value, dict), inside)


def _all_of(says: str, each: Callable[[Any], bool]) -> Parameter:
    return Parameter(says, lambda value: isinstance(value, list) and all(map(each, value)))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_token(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


_TEXT = Parameter("a string", _is_text)
_BOOLEAN = Parameter("true or false", lambda value: isinstance(value, bool))
_LEVEL = Parameter("one of " + ", ".join(LOG_LEVELS), lambda value: value in LOG_LEVELS)
_CLIENT = _object(name=_TEXT.required(), version=_TEXT.required(), title=_TEXT)
_CAPABILITIES = _object(
    elicitation=_object(form=_object(), url=_object()),
    experimental=_object(),
    extensions=_object(),
    roots=_object(listChanged=_BOOLEAN),
    sampling=_object(),
    tasks=_object(),
)
_META = Parameter(
    "an object",
    lambda value: isinstance(value, dict),
    {
        "progressToken": Parameter("a string or an integer", _is_token),
        CLIENT_KEY: _CLIENT,
        CAPABILITIES_KEY: _CAPABILITIES,
    },
)
_PAGE = {"cursor": _TEXT}
_URI = {"uri": _TEXT.required()}
_TASK = {"taskId": _TEXT.required()}


class Method:
    """A method in the eras that have it."""

    def __init__(self, params: Mapping[str, Parameter], *, handshake: bool = True, modern: bool = True) -> None:
        self.params, self.handshake, self.modern = {**params, "_meta": _META}, handshake, modern


METHODS: dict[str, Method] = {
    "initialize": Method(
        {
            "protocolVersion": _TEXT.required(),
            "capabilities": _CAPABILITIES.required(),
            "clientInfo": _CLIENT.required(),
        },
        modern=False,
    ),
    "ping": Method({}, modern=False),
    "server/discover": Method({}, handshake=False),
    "tools/list": Method(_PAGE),
    "tools/call": Method(
        {"name": _TEXT.required(), "arguments": _object(), "inputResponses": _object(), "task": _object()}
    ),
    "resources/list": Method(_PAGE),
    "resources/templates/list": Method(_PAGE),
    "resources/read": Method(_URI),
    "resources/subscribe": Method(_URI, modern=False),
    "resources/unsubscribe": Method(_URI, modern=False),
    "subscriptions/listen": Method(
        {
            "notifications": _object(
                toolsListChanged=_BOOLEAN,
                promptsListChanged=_BOOLEAN,
                resourcesListChanged=_BOOLEAN,
                resourceSubscriptions=_all_of("a list of strings", _is_text),
            ).required()
        },
        handshake=False,
    ),
    "logging/setLevel": Method({"level": _LEVEL.required()}, modern=False),
    "tasks/get": Method(_TASK),
    "tasks/cancel": Method(_TASK),
}

CACHED = frozenset(("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"))
"""Whose results say, from 2026-07-28 on, how long they may be kept: not at all."""

_FORM_REPLY = {
    "action": Parameter(
        "accept, decline or cancel", lambda value: value in ("accept", "decline", "cancel"), needed=True
    ),
    "content": Parameter(
        "an object of strings, numbers, booleans and lists of strings",
        lambda value: isinstance(value, dict) and all(map(_is_plain, value.values())),
    ),
}


def _is_plain(value: object) -> bool:
    return (
        value is None or isinstance(value, str | int | float) or (isinstance(value, list) and all(map(_is_text, value)))
    )


def check_params(method: str, params: Mapping[str, Any]) -> None:
    """ProtocolError with all that is wrong with the parameters of a request."""
    if wrong := list(_faults(params, METHODS[method].params, "")):
        raise ProtocolError(INVALID_PARAMS, f"Invalid request parameters: {'; '.join(wrong)}.")


def faults_of_reply(reply: Mapping[str, Any]) -> str:
    """What is wrong with what came back from a client's form; nothing if it is in order."""
    return "; ".join(_faults(reply, _FORM_REPLY, ""))


def _faults(given: Mapping[str, Any], fields: Mapping[str, Parameter], where: str) -> Iterator[str]:
    for name, field in fields.items():
        value = given.get(name)
        if value is None:
            if field.needed:
                yield f"{where}{name} is missing, and must be {field.says}"
        elif not field.holds(value):
            yield f"{where}{name} must be {field.says}"
        elif field.inside:
            yield from _faults(value, field.inside, f"{where}{name}.")
