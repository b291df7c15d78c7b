"""Programs that want to connect, and came where nobody is signed in: they wait until a person sees it in an inbox.

In the store, so that every server knows them, and one that is started again. What was decided stays so: the page that
the program opened can be loaded again, and nobody is asked the same twice.
"""

from __future__ import annotations

import secrets

from sayso.clock import Clock, now_ms
from sayso.hashes import sha256
from sayso.records import record
from sayso.store import Row, Store, Transaction

WAITS = 600_000
"""Milliseconds for which a request waits for its person."""
IN_A_CROWD = 120_000
"""The same where many wait: nobody begins that many at once, and so they are gone soon."""
MANY, MOST_WAITING = 3, 8
CONNECTED, REFUSED, SENT_AWAY = "connect", "no", "away"
"""What a person can have said."""
_KNOWN_FOR = 86_400_000
"""How long it is known that a request was decided."""
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@record
class WaitingRequest:
    """What an agent wants."""

    id: str
    mark: str
    """Shown on both pages, so that the person sees that they belong together."""
    name: str
    issuer: str
    query: str
    until: int
    said: str
    """Empty as long as nobody has decided."""


class WaitingRoom:
    """The requests of one store. Whoever waits is not sent away by others who come later; these find the room full."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    def take_in(self, name: str, issuer: str, query: str) -> WaitingRequest | None:
        """Let it wait; the same again is the one that waits already, or what became of it. None where there is no
        room."""
        if known := self.known(issuer, query):
            return known
        if len(self.all()) >= MOST_WAITING:
            return None
        letters = "".join(secrets.choice(_LETTERS) for _ in range(6))
        named = {"name": name, "mark": f"{letters[:3]}-{letters[3:]}", "issuer": issuer, "query": query, "said": ""}

        def work(tx: Transaction) -> WaitingRequest | None:
            now = self._clock()
            tx.run("drop_old_connection_requests", now=now)
            before = len(tx.all("waiting_connection_requests", now=now))
            if before < MOST_WAITING:
                until = now + (WAITS if before < MANY else IN_A_CROWD)
                tx.run("put_connection_request", id=_new_id(), hash=_hash(issuer, query), **named, now=now, until=until)
            return _read(tx.one("connection_request_like", hash=_hash(issuer, query), now=now))

        return self._store.write(work)

    def known(self, issuer: str, query: str) -> WaitingRequest | None:
        """The same request as it waits already, or as it was decided."""
        key = _hash(issuer, query)
        return _read(self._store.one("connection_request_like", hash=key, now=self._clock()))

    def find(self, waiting: str) -> WaitingRequest | None:
        return _read(self._store.one("connection_request", id=waiting, now=self._clock()))

    def all(self) -> list[WaitingRequest]:
        """Those that nobody has decided on, the first one first."""
        rows = self._store.all("waiting_connection_requests", now=self._clock())
        return [request for request in map(_read, rows) if request]

    def next_place(self) -> int:
        """In how many milliseconds the next of them has waited for too long."""
        return max(min((known.until for known in self.all()), default=0) - self._clock(), 0)

    def time_left(self, waiting: WaitingRequest) -> int:
        return max(waiting.until - self._clock(), 0)

    def decide(self, waiting: str, issuer: str, query: str, said: str) -> bool:
        """Note what a person has said, once. False if it was decided before, or has waited for too long. One that came
        to the person's own page has not waited at all, and no name here."""

        def work(tx: Transaction) -> bool:
            now, key = self._clock(), _hash(issuer, query)
            decided = {"said": said, "until": now + _KNOWN_FOR, "hash": key}
            tx.run("drop_old_connection_requests", now=now)
            if waiting or tx.one("connection_request_like", hash=key, now=now):
                return tx.run("decide_connection_request", **decided) > 0
            nothing = {"name": "", "mark": "", "issuer": "", "query": ""}
            tx.run("put_connection_request", id=_new_id(), **nothing, now=now, **decided)
            return True

        return self._store.write(work)

    def clear(self) -> None:
        """Send all of them away."""
        until = self._clock() + _KNOWN_FOR
        self._store.write(lambda tx: tx.run("send_connection_requests_away", said=SENT_AWAY, until=until))


def _read(row: Row | None) -> WaitingRequest | None:
    if row is None:
        return None
    return WaitingRequest(**{name: row[name] for name in ("id", "mark", "name", "issuer", "query", "until", "said")})


def _new_id() -> str:
    return secrets.token_urlsafe(16)


def _hash(issuer: str, query: str) -> str:
    return sha256(f"{issuer} {query}".encode())
