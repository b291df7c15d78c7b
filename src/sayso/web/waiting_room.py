"""Programs that want to connect, and came where nobody is signed in: they wait until a person sees it in the inbox."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

WAITS = 600.0
"""Seconds for which a request waits for its person."""
MOST_WAITING = 8
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, kw_only=True)
class WaitingRequest:
    """What an agent wants, and a person has not seen yet."""

    id: str
    mark: str
    """Shown on both pages, so that the person sees that they belong together."""
    name: str
    issuer: str
    query: str
    until: float


class WaitingRoom:
    """The requests that came where nobody is signed in. In memory: who began one has a page that says how to go on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, WaitingRequest] = {}

    def take_in(self, name: str, issuer: str, query: str) -> WaitingRequest:
        """Let it wait; the same again is the one that waits already."""
        for known in self.all():
            if (known.issuer, known.query) == (issuer, query):
                return known
        if len(self._waiting) >= MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        letters = "".join(secrets.choice(_LETTERS) for _ in range(6))
        fresh = WaitingRequest(
            id=secrets.token_urlsafe(16),
            mark=f"{letters[:3]}-{letters[3:]}",
            name=name,
            issuer=issuer,
            query=query,
            until=self._clock() + WAITS,
        )
        self._waiting[fresh.id] = fresh
        return fresh

    def all(self) -> list[WaitingRequest]:
        now = self._clock()
        self._waiting = {known.id: known for known in self._waiting.values() if known.until > now}
        return list(self._waiting.values())

    def find(self, waiting: str) -> WaitingRequest | None:
        return next((known for known in self.all() if known.id == waiting), None)

    def done(self, waiting: str) -> None:
        self._waiting.pop(waiting, None)
