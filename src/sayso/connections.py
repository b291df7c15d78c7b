"""The agents that people have let in by a click: codes, tokens and what replaces them, as OAuth has them.

Secrets are random and kept as hashes. A connection is an agent's door like a token of `accounts.py`: what comes in by
it asks in the name of its agent, for the person who let it in, and can answer nothing.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from sayso.accounts import SEEN_EVERY, Accounts, AgentToken, no_such_user
from sayso.clock import Clock, now_ms
from sayso.errors import NotFound, SignInRefused, StoreError
from sayso.hashes import sha256
from sayso.records import asdict, record
from sayso.store import Row, Store, Transaction

CODE_LIFE = 60_000
ACCESS_LIFE = 3_600_000
REFRESH_LIFE = 30 * 86_400_000
AGAIN_WITHIN = 30_000
"""How long a refresh token is still good after it was replaced: for two processes of one client, or a lost reply."""
_CODES_KEPT = 600_000
"""How long after its end a code is known, so that one that is used twice gives itself away."""
_ACCESS, _REFRESH = "access", "refresh"
_MARKS = {_ACCESS: "saysoa_", _REFRESH: "saysor_"}


@record
class Consent:
    """What a person has agreed to, and what the client has to show for it."""

    user: str
    client: str
    client_name: str
    redirect_uri: str
    resource: str
    """The address that the agent may use, and no other."""
    challenge: str


@record
class AgentConnection:
    """One program that asks for one person."""

    id: str
    user: str
    agent: str
    """Its name as an agent."""
    client: str
    client_name: str
    resource: str
    created_at: int
    seen_at: int


@record
class TokenPair:
    """What a client is given, this once."""

    access: str
    refresh: str


def new_pair() -> TokenPair:
    return TokenPair(access=_new(_ACCESS), refresh=_new(_REFRESH))


def is_of_connection(secret: str) -> bool:
    """Whether a token is of this kind, by its form."""
    return secret.startswith(tuple(_MARKS.values()))


class Connections:
    """The connections of one store."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    # Connecting

    def agree(self, code: str, consent: Consent) -> None:
        """Let the client get its tokens by this code, once, within a minute."""

        def work(tx: Transaction) -> None:
            now = self._clock()
            if tx.one("user", name=consent.user) is None:
                raise no_such_user(consent.user)
            tx.run("drop_old_codes", before=now - _CODES_KEPT)
            kept = {"user_name": consent.user, "consent": json.dumps(asdict(consent))}
            tx.run("insert_code", hash=_hash(code), **kept, expires_at=now + CODE_LIFE)

        self._store.write(work)

    def consent(self, code: str) -> Consent | None:
        """What this code stands for. One that was used before was stolen by somebody: what came of it ends."""
        row = self._store.one("code", hash=_hash(code))
        if row is None:
            return None
        if row["connection"] is not None:
            self._end_stolen(row["connection"], "use a sign-in code for the second time")
            return None
        return Consent(**json.loads(row["consent"])) if row["expires_at"] > self._clock() else None

    def connect(self, code: str, pair: TokenPair) -> None:
        """Make these the tokens of a new connection. SignInRefused if the code was used or ran out meanwhile."""
        connection = os.urandom(16).hex()

        def work(tx: Transaction) -> bool:
            now, row = self._clock(), tx.one("code", hash=_hash(code))
            if row is None or not tx.run("use_code", hash=_hash(code), connection=connection, now=now):
                return False
            agreed = Consent(**json.loads(row["consent"]))
            tx.run("drop_old_connection_tokens", now=now)
            tx.run("drop_ended_connections", now=now)
            named = {"client": agreed.client, "client_name": agreed.client_name, "resource": agreed.resource}
            agent = f"{_slug(agreed.client_name)}#{connection[:6]}"
            tx.run("insert_connection", id=connection, user_name=agreed.user, agent=agent, **named, now=now)
            _insert(tx, connection, pair, now)
            return True

        if not self._store.write(work):
            raise SignInRefused("This code has been used or is too old. Sign in again.")

    def refreshed_by(self, refresh: str) -> AgentConnection | None:
        """Whose refresh token this is. One that was replaced a while ago was stolen by somebody, so all ends."""
        row = self._token(refresh)
        if row is None or row["kind"] != _REFRESH:
            return None
        if row["replaced_at"] is not None and row["replaced_at"] <= self._clock() - AGAIN_WITHIN:
            self._end_stolen(row["id"], f"use a refresh token of {row['agent']} that had been replaced")
            return None
        return _connection(row)

    def refresh(self, refresh: str, pair: TokenPair) -> None:
        """Put these tokens in the place of that one. SignInRefused if it is good no more."""

        def work(tx: Transaction) -> bool:
            now = self._clock()
            row = tx.one("connection_token", hash=_hash(refresh), now=now)
            marked = {"hash": _hash(refresh), "now": now, "since": now - AGAIN_WITHIN}
            if row is None or not tx.run("replace_connection_token", **marked):
                return False
            tx.run("drop_old_connection_tokens", now=now)
            tx.run("see_connection", id=row["id"], now=now)
            _insert(tx, row["id"], pair, now)
            return True

        if not self._store.write(work):
            raise SignInRefused("This refresh token is good no more. Sign in again.")

    # Coming in

    def agent(self, access: str, resource: str) -> AgentToken | None:
        """The agent that may come in at this address by this token."""
        row = self._token(access)
        if row is None or row["kind"] != _ACCESS or row["resource"] != resource:
            return None
        now = self._clock()
        if row["seen_at"] <= now - SEEN_EVERY:
            # A store that takes nothing more now keeps nobody out.
            with suppress(StoreError):
                self._store.write(lambda tx: tx.run("see_connection", id=row["id"], now=now))
        return AgentToken(name=row["agent"], user=row["user_name"], project="", created_at=row["created_at"])

    def all(self) -> list[AgentConnection]:
        """Those of everybody, the one that was used last first."""
        return [_connection(row) for row in self._store.all("connections")]

    def of(self, user: str) -> list[AgentConnection]:
        return [connection for connection in self.all() if connection.user == user]

    # Ending

    def end(self, connection: str, user: str) -> None:
        """Shut one agent of this person out, at once."""
        if not self._store.write(lambda tx: tx.run("drop_connection_of", id=connection, user_name=user)):
            raise NotFound("There is no such connection. It may have ended already.")

    def held_by(self, secret: str) -> AgentConnection | None:
        """The connection that a token of either kind belongs to."""
        row = self._token(secret)
        return _connection(row) if row else None

    def give_up(self, connection: AgentConnection) -> None:
        """The client itself wants its tokens no more."""
        self._store.write(lambda tx: tx.run("drop_connection", id=connection.id))

    def _end_stolen(self, connection: str, wanted: str) -> None:
        if self._store.write(lambda tx: tx.run("drop_connection", id=connection)):
            Accounts(self._store, clock=self._clock).note_refusal(wanted, "so it was disconnected")

    def _token(self, secret: str) -> Row | None:
        if not is_of_connection(secret):
            return None
        return self._store.one("connection_token", hash=_hash(secret), now=self._clock())


def _insert(tx: Transaction, connection: str, pair: TokenPair, now: int) -> None:
    for kind, secret, life in ((_ACCESS, pair.access, ACCESS_LIFE), (_REFRESH, pair.refresh, REFRESH_LIFE)):
        kept = {"hash": _hash(secret), "connection": connection, "kind": kind}
        tx.run("insert_connection_token", **kept, expires_at=now + life)


def _connection(row: Row) -> AgentConnection:
    return AgentConnection(
        id=row["id"],
        user=row["user_name"],
        agent=row["agent"],
        client=row["client"],
        client_name=row["client_name"],
        resource=row["resource"],
        created_at=row["created_at"],
        seen_at=row["seen_at"],
    )


def _new(kind: str) -> str:
    from secrets import token_urlsafe  # those who only look at connections need none

    return _MARKS[kind] + token_urlsafe(32)


def _slug(name: str) -> str:
    """A name that is fit for a folder, and with the mark that follows it never that of another token."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "agent"


def _hash(secret: str) -> str:
    return sha256(secret.encode())
