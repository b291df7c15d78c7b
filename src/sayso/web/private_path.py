"""Where people are let in under a name that other servers have too: below a path that nobody can guess.

Browsers send a cookie to every port of a host, but only below the path that it was set for. So where the name itself
keeps no secret (127.0.0.1, an address on the network), the whole page is served below such a path. Links in pages are
relative and redirects are put below it here, so that nothing else need know of it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DOOR = "sayso.door"


def door_of(scope: Scope) -> str:
    """The path below which this request came in, without a slash at its end; empty where it came by the root."""
    return str(scope.get(_DOOR, ""))


def own_path(scope: Scope) -> str:
    """What was asked for, as our routes name it."""
    return str(scope["path"]).removeprefix(door_of(scope))


class PrivatePath:
    """Middleware that serves below the unguessable path what is otherwise at the root."""

    def __init__(self, app: ASGIApp, *, path: str, keeps_cookies: Callable[[str], bool]) -> None:
        """`keeps_cookies` tells the names that need no such path."""
        self._app, self._path, self._keeps_cookies = app, path, keeps_cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_below(scope):
            await self._app(scope, receive, send)
            return
        door = self._path

        async def send_below(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("location", "").startswith("/"):
                    headers["location"] = door + headers["location"]
            await send(message)

        await self._app({**scope, "root_path": door, _DOOR: door}, receive, send_below)

    def _is_below(self, scope: Scope) -> bool:
        first, slash, _ = str(scope["path"])[1:].partition("/")
        if not slash or not hmac.compare_digest(first.encode(), self._path[1:].encode()):
            return False
        return not self._keeps_cookies(Headers(scope=scope).get("host", ""))
