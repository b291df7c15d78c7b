"""Who may come in over HTTP: people by one-time links and session cookies, agents by bearer tokens.

Secrets are shown once and kept as hashes; they are long and random, so a plain hash is enough.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sayso.clock import Clock, now_ms
from sayso.errors import InvalidInput, NotFound, Problem, SignInRefused, StoreError
from sayso.hashes import sha256
from sayso.records import record
from sayso.store import Row, Store, Transaction

if TYPE_CHECKING:
    from sayso.private_addresses import PrivateAddresses

LINK_REFUSED = "This link has been used or is too old. Make another with `sayso web --link`."
LINK_LIFE = 15 * 60_000
SESSION_LIFE = 30 * 86_400_000
REFUSALS_LIFE = 90 * 86_400_000
SEEN_EVERY = 5 * 60_000
"""How exactly it is known when a session was last used: each page would be a write otherwise."""
_NAME = re.compile(r"[^\W_][\w.@+-]{0,63}")


@record
class User:
    name: str
    created_at: int
    revoked_at: int | None = None
    account: str = ""
    """Who they are to the system, where that is known."""


@record
class Session:
    """A browser that is signed in, or a script that has a token. The csrf token belongs to it alone."""

    id: str
    """Names it to its user; nobody gets in by it."""
    user: str
    user_since: int
    csrf: str
    device: str
    created_at: int
    seen_at: int


@record
class AgentToken:
    """An agent's way in. With a user, its questions are for that user alone."""

    name: str
    user: str
    project: str
    created_at: int
    revoked_at: int | None = None


@record
class Refusal:
    """That an agent tried to make itself a link, a token or a user."""

    at: int
    wanted: str
    why: str


def user_name(person: str) -> str:
    """The name by which somebody is a user, who has not chosen another."""
    return re.sub(r"[^\w.@+-]+", ".", person).strip("._@+-")[:64] or "me"


class Accounts:
    """Users, links, sessions and tokens of one store."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    # People

    def add_user(self, name: str) -> None:
        """Let a person in, or let them in again."""
        _check_name("user", name)
        self._store.write(lambda tx: tx.run("insert_user", name=name, now=self._clock()))

    def note_account(self, name: str, account: str) -> None:
        """This user is who has that account of the system, and no second person."""
        self._store.write(lambda tx: tx.run("note_account", name=name, account=account))

    def users(self) -> list[User]:
        return [User(**row) for row in self._store.all("users")]

    def welcome(self) -> set[str]:
        """The names of those who are let in."""
        return {user.name for user in self.users() if user.revoked_at is None}

    def revoke_user(self, name: str) -> None:
        """Shut a person out at once, everywhere: their sessions, links and chats end, and so do the tokens and
        connections of their agents. Nobody decides in their place any more, nor they in anybody's."""

        def work(tx: Transaction) -> int:
            tx.run("drop_sessions_of", user_name=name)
            tx.run("drop_links_of", user_name=name)
            tx.run("drop_chat_links_of", user_name=name)
            tx.run("drop_all_chat_codes_of", user_name=name)
            tx.run("drop_codes_of", user_name=name)
            tx.run("drop_connections_of", user_name=name)
            _end_delegations(tx, name, self._clock())
            tx.run("revoke_tokens_of", user_name=name, now=self._clock())
            return tx.run("revoke_user", name=name, now=self._clock())

        if not self._store.write(work):
            raise NotFound(f"There is no user {name!r} to revoke. `sayso user list` shows them.")

    # Signing in

    def make_link(self, name: str, life_ms: int = LINK_LIFE) -> str:
        """A secret that signs this person in once, within its life."""
        secret = _new_secret(24)

        def work(tx: Transaction) -> None:
            if tx.one("user", name=name) is None:
                raise no_such_user(name)
            now = self._clock()
            tx.run("drop_old_links", now=now - LINK_LIFE)
            tx.run("insert_link", hash=_hash(secret), user_name=name, expires_at=now + life_ms)

        self._store.write(work)
        return secret

    def user_of(self, link: str) -> str:
        """Whom this link would sign in; empty if nobody."""
        row = self._store.one("link", hash=_hash(link))
        return str(row["user_name"]) if row and row["used_at"] is None and row["expires_at"] > self._clock() else ""

    def was_made(self, link: str) -> bool:
        """Whether this is a link of ours, though it may be used or too old. One is known for a while after its life."""
        return self._store.one("link", hash=_hash(link)) is not None

    def redeem(self, link: str, device: str = "") -> str:
        """Sign in by a link: the secret of a new session. A used or expired link is refused, without a write."""
        secret = _new_secret(32)

        def work(tx: Transaction) -> bool:
            now = self._clock()
            row = tx.one("link", hash=_hash(link))
            tx.run("drop_old_access", now=now)
            if row is None or not tx.run("use_link", hash=_hash(link), now=now):
                return False
            expires = now + SESSION_LIFE
            session = {"hash": _hash(secret), "user_name": row["user_name"], "device": device}
            tx.run("insert_session", **session, now=now, expires_at=expires)
            return True

        if not self.user_of(link) or not self._store.write(work):
            raise SignInRefused(LINK_REFUSED)
        return secret

    def session(self, secret: str) -> Session | None:
        now = self._clock()
        row = self._store.one("session", hash=_hash(secret), now=now)
        if row and row["seen_at"] <= now - SEEN_EVERY:
            # A store that takes nothing more now keeps nobody out.
            with suppress(StoreError):
                self._store.write(lambda tx: tx.run("see_session", hash=row["hash"], now=now))
        return _session(row, self._csrf(secret)) if row else None

    def sessions(self, user: str) -> list[Session]:
        """Where this person is signed in, the one that was used last first."""
        rows = self._store.all("sessions_of", user_name=user, now=self._clock())
        return [_session(row, csrf="") for row in rows]

    def signed_in(self) -> set[str]:
        """The ids of all sessions that let somebody in."""
        return {row["hash"] for row in self._store.all("signed_in", now=self._clock())}

    def end_session(self, session_id: str, user: str) -> None:
        """Sign one browser or script of this person out."""
        if not self._store.write(lambda tx: tx.run("drop_session_of", hash=session_id, user_name=user)):
            raise NotFound("There is no such session. It may have ended already.")

    def sign_out(self, secret: str) -> None:
        self._store.write(lambda tx: tx.run("drop_session", hash=_hash(secret)))

    def _csrf(self, secret: str) -> str:
        import hashlib
        import hmac

        return hmac.new(self._csrf_key, secret.encode(), hashlib.sha256).hexdigest()

    def proof(self, challenge: str, host: str, port: int) -> str:
        """What only a process of this store says to a challenge that came to it at this address and port."""
        import hashlib
        import hmac

        return hmac.new(self._proof_key, f"{host} {port} {challenge}".encode(), hashlib.sha256).hexdigest()

    @cached_property
    def _proof_key(self) -> bytes:
        return self._store.secret("proof_key")

    @cached_property
    def addresses(self) -> PrivateAddresses:
        from sayso.private_addresses import PrivateAddresses

        return PrivateAddresses(self._csrf_key)

    def private_name(self, user: str) -> str:
        """The host name under which this person is let in on this machine."""
        return self.addresses.host(user, self._since(user))

    def private_path(self, user: str) -> str:
        """The path below which they are let in under all other names."""
        return self.addresses.path(user, self._since(user))

    def _since(self, user: str) -> int:
        row = self._store.one("user", name=user)
        if row is None:
            raise no_such_user(user)
        return int(row["created_at"])

    @cached_property
    def _csrf_key(self) -> bytes:
        # Kept, because every page looks at a session and asking the store for a key is a write.
        return self._store.secret("csrf_key")

    # What was refused

    def note_refusal(self, wanted: str, why: str) -> None:
        """Record that an agent tried to become somebody."""
        now = self._clock()

        def work(tx: Transaction) -> None:
            tx.run("drop_old_refusals", before=now - REFUSALS_LIFE)
            tx.run("insert_refusal", id=os.urandom(16).hex(), now=now, wanted=wanted, why=why)

        self._store.write(work)

    def refusals(self, most: int = 20) -> list[Refusal]:
        """What agents tried, the newest first."""
        return [Refusal(**row) for row in self._store.all("refusals", most=most)]

    # Agents

    def add_token(self, name: str, *, project: str = "", user: str = "") -> str:
        """A new token's secret, which is shown this once."""
        _check_name("token", name)
        secret = f"sayso_{_new_secret(32)}"

        def work(tx: Transaction) -> int:
            if user and tx.one("user", name=user) is None:
                raise no_such_user(user)
            return tx.run(
                "insert_token",
                name=name,
                hash=_hash(secret),
                user_name=user or None,
                project=project,
                now=self._clock(),
            )

        if not self._store.write(work):
            taken = Problem(path="name", text=f"{name!r} is taken, perhaps by a revoked token. Choose another name.")
            raise InvalidInput([taken])
        return secret

    def take_back_token(self, secret: str) -> None:
        """As if it had never been made: nobody has it."""
        self._store.write(lambda tx: tx.run("drop_token", hash=_hash(secret)))

    def tokens(self) -> list[AgentToken]:
        return [_token(row) for row in self._store.all("tokens")]

    def valid_tokens(self) -> set[str]:
        """The names of those that let their agents in."""
        return {row["name"] for row in self._store.all("valid_tokens")}

    def token(self, secret: str) -> AgentToken | None:
        row = self._store.one("token", hash=_hash(secret))
        return _token(row) if row else None

    def revoke_token(self, name: str) -> None:
        if not self._store.write(lambda tx: tx.run("revoke_token", name=name, now=self._clock())):
            raise NotFound(f"There is no token {name!r} to revoke. `sayso token list` shows them.")


def _end_delegations(tx: Transaction, revoked: str, now: int) -> None:
    from sayso import chain

    for row in tx.all("delegations", now=now):
        if revoked in (row["person"], row["delegate"]):
            chain.end_delegation(tx, row["person"], now, f"{revoked} was revoked")


def opens_on_other_devices(link: str) -> bool:
    """Whether a phone that is shown this link could open it: not if it leads back to the phone itself."""
    host = urlsplit(link).hostname or ""
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host.rpartition(".")[2] != "localhost"


def no_such_user(name: str) -> NotFound:
    return NotFound(f"There is no user {name!r}. Add them with `sayso user add {name}`.")


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        allowed = "letters, digits and . _ @ + -, beginning with a letter or digit, at most 64 characters"
        raise InvalidInput([Problem(path=what, text=f"{name!r} is not a name. Use {allowed}.")])


def _hash(secret: str) -> str:
    return sha256(secret.encode())


def _session(row: Row, csrf: str) -> Session:
    return Session(
        id=row["hash"],
        user=row["user_name"],
        user_since=row["user_since"],
        csrf=csrf,
        device=row["device"],
        created_at=row["created_at"],
        seen_at=row["seen_at"],
    )


def _token(row: Row) -> AgentToken:
    return AgentToken(
        name=row["name"],
        user=row["user_name"] or "",
        project=row["project"],
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )


def _new_secret(size: int) -> str:
    from secrets import token_urlsafe  # those who only look at accounts need none

    return token_urlsafe(size)
