"""What pages sent, by the name that they gave it. A page that hears nothing calls it off: then it knows whether it was
taken, and that it will not be taken any more.

In memory: what a server that has ended was sent cannot reach the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.web.fields import read_form
from sayso.web.sessions import CSRF_FIELD, Visitor, required_browser

MOST = 10_000
"""The most attempts that are remembered, of all people."""
_CALLED_OFF = "The page that sent this has called it off."


@dataclass(eq=False)
class Attempt:
    """One thing that was sent, and whether it has had its effect."""

    taken: bool = False
    called_off: bool = False
    over: anyio.Event = field(default_factory=anyio.Event)


class Attempts:
    """Those that are under way, and the last ones that were."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Attempt] = {}

    @contextmanager
    def under_way(self, visitor: Visitor, name: object) -> Iterator[Attempt]:
        """Around what the attempt does; it says itself when that is done."""
        if not name or not isinstance(name, str):
            yield Attempt()
            return
        if (known := self._known.get((visitor.user, name))) and known.called_off:
            raise HTTPException(409, _CALLED_OFF)
        attempt = self._remember(visitor, name)
        try:
            yield attempt
        finally:
            attempt.over.set()

    async def call_off(self, visitor: Visitor, name: str) -> bool:
        """Whether it was taken. If not, it never will be."""
        attempt = self._known.get((visitor.user, name))
        if attempt is None:
            attempt = self._remember(visitor, name)
            attempt.over.set()
        attempt.called_off = True
        await attempt.over.wait()
        return attempt.taken

    def _remember(self, visitor: Visitor, name: str) -> Attempt:
        attempt = self._known[visitor.user, name] = Attempt()
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return attempt


def attempts_of(request: Request) -> Attempts:
    attempts: Attempts = request.app.state.attempts
    return attempts


async def call_off(request: Request) -> Response:
    """What became of an attempt, once nothing can become of it any more."""
    visitor = await required_browser(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    taken = await attempts_of(request).call_off(visitor, fields.one("attempt"))
    return JSONResponse({"taken": taken})
