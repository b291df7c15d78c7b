"""The browsers that want to be told, and of what: one for each session of a person, gone with that session."""

from __future__ import annotations

import base64
import binascii
import logging
from dataclasses import dataclass

from sayso.clock import Clock, now_ms
from sayso.errors import InvalidInput, NotFound, Problem
from sayso.public_hosts import may_be_called
from sayso.store import Row, Store, Transaction
from sayso.wishes import Wishes, read_wishes

logger = logging.getLogger(__name__)

_POINT, _AUTH = 65, 16
"""Bytes of a browser's public key and of the secret that goes with it."""


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """A browser that can be told something: where its push service takes messages, and the keys that they are for."""

    session: str
    user: str
    account: str
    """Who they are to the system, where that is known."""
    endpoint: str
    p256dh: bytes
    auth: bytes
    wishes: Wishes
    created_at: int


class PushDesk:
    """The subscriptions of one store."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock
        self._unreadable: set[str] = set()

    def subscribe(self, session: str, endpoint: str, p256dh: str, auth: str, zone: str) -> None:
        """Tell this browser from now on. What it wished before stays as it was."""
        _check(endpoint, p256dh, auth)
        wishes = Wishes(zone=zone).as_text
        given = {"endpoint": endpoint, "public_key": p256dh, "auth": auth, "wishes": wishes, "now": self._clock()}

        def work(tx: Transaction) -> None:
            tx.run("drop_push_at", endpoint=endpoint, session=session)
            tx.run("put_push", session=session, **given)

        self._store.write(work)

    def wish(self, session: str, wishes: Wishes) -> None:
        wishes.check()
        if not self._store.write(lambda tx: tx.run("put_push_wishes", session=session, wishes=wishes.as_text)):
            raise NotFound("This browser is not told anything. Turn that on first.")

    def end(self, session: str, user: str) -> None:
        """Tell a browser of this person nothing any more."""
        self._store.write(lambda tx: tx.run("drop_push_of", session=session, user_name=user))

    def forget(self, endpoint: str) -> None:
        """A push service says that nobody is there any more."""
        self._store.write(lambda tx: tx.run("drop_push_at", endpoint=endpoint, session=""))

    def all(self) -> list[Subscription]:
        """Those of everybody who is still signed in there."""
        found = self._store.all("pushes", now=self._clock())
        return [subscription for row in found if (subscription := self._read(row))]

    def _read(self, row: Row) -> Subscription | None:
        """None for one that cannot be read, which is said once: it must not keep the others from being told."""
        try:
            return _read(row)
        except (ValueError, KeyError, TypeError) as error:
            if row["session"] not in self._unreadable:
                self._unreadable.add(row["session"])
                logger.warning("What a browser of %s wants to be told cannot be read: %r", row["user_name"], error)
            return None

    def lasts(self, subscription: Subscription) -> bool:
        """Whether that browser is still to be told, and its person still signed in there."""
        found = self.of(subscription.user).get(subscription.session)
        return found is not None and found.endpoint == subscription.endpoint

    def of(self, user: str) -> dict[str, Subscription]:
        """Those of one person, by their sessions."""
        return {each.session: each for each in self.all() if each.user == user}


def _read(row: Row) -> Subscription:
    return Subscription(
        session=row["session"],
        user=row["user_name"],
        account=row["account"],
        endpoint=row["endpoint"],
        p256dh=_bytes(row["public_key"]),
        auth=_bytes(row["auth"]),
        wishes=read_wishes(row["wishes"]),
        created_at=row["created_at"],
    )


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _check(endpoint: str, p256dh: str, auth: str) -> None:
    problems = []
    if not may_be_called(endpoint):
        problems.append(Problem(path="endpoint", text="is no https:// address of a push service."))
    for name, text, size in (("p256dh", p256dh, _POINT), ("auth", auth, _AUTH)):
        try:
            fits = len(_bytes(text)) == size
        except (ValueError, binascii.Error):
            fits = False
        if not fits:
            problems.append(Problem(path=name, text=f"must be {size} bytes as base64url."))
    if problems:
        raise InvalidInput(problems)
