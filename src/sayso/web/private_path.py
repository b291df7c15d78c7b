"""Where people are let in under a name that other servers have too: below a path that nobody can guess.

Browsers send a cookie to every port of a host, but only below the path that it was set for. So where the name itself
keeps no secret (127.0.0.1, an address on the network), the whole page is served below such a path. Links in pages are
relative and redirects are put below it here, so that nothing else need know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.private_addresses import PrivateAddresses

_DOOR = "sayso.door"


def door_of(scope: Scope) -> str:
    """The path below which this request came in, without a slash at its end; empty where it came by the root."""
    return str(scope.get(_DOOR, ""))


def own_path(scope: Scope) -> str:
    """What was asked for, as our routes name it."""
    return str(scope["path"]).removeprefix(door_of(scope))


class PrivatePath:
    """Middleware that serves below each person's unguessable path what is otherwise at the root."""

    def __init__(self, app: ASGIApp, *, private: PrivateAddresses, keeps_cookies: Callable[[str], bool]) -> None:
        """`keeps_cookies` tells the names that need no such path."""
        self._app, self._private, self._keeps_cookies = app, private, keeps_cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first, slash, rest = str(scope.get("path", ""))[1:].partition("/")
        if scope["type"] != "http" or not slash or self._keeps_cookies(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        elif self._private.was_path(first):
            # People shared it once. By signing in they come to their own.
            await RedirectResponse(f"/{quote(rest.lstrip('/'))}", 303)(scope, receive, send)
        elif self._private.is_path(first):
            await self._app({**scope, "root_path": f"/{first}", _DOOR: f"/{first}"}, receive, _below(f"/{first}", send))
        else:
            await self._app(scope, receive, send)


def _below(door: str, send: Send) -> Send:
    """Put redirects below the path."""

    async def send_below(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("location", "").startswith("/"):
                headers["location"] = door + headers["location"]
        await send(message)

    return send_below
