"""The chats of one store: how to get in, who is whom there, what was sent. The only place where that changes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from sayso.accounts import no_such_user
from sayso.chats.model import ChatAccess, ChatKind, ChatLink, SentMessage
from sayso.clock import Clock, now_ms
from sayso.errors import NotFound
from sayso.hashes import sha256
from sayso.store import Row, Store, Transaction
from sayso.wishes import NewsKind, Wishes, read_wishes

CODE_LIFE = 15 * 60_000
MESSAGE_LIFE = 7 * 86_400_000
"""How long a button can be pressed, and how long it is remembered what became of it."""
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without what is easily taken for something else."""
_HALF = 4
TOLD = (NewsKind.QUESTION, NewsKind.PERMISSION)
"""What a chat can tell of."""


def as_code(text: str) -> str:
    """A code in the form in which it was shown, from what somebody has typed; empty where it cannot be one."""
    bare = "".join(text.split()).replace("-", "").upper()
    fits = len(bare) == 2 * _HALF and not set(bare) - set(_ALPHABET)
    return f"{bare[:_HALF]}-{bare[_HALF:]}" if fits else ""


class ChatDesk:
    """What is known of chats. Every change is one transaction."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    # How to get in

    def add(self, kind: ChatKind, access: Mapping[str, str]) -> None:
        """Have this chat, or get into it in another way from now on. Who is linked there stays so."""
        self._write(lambda tx: tx.run("put_chat", kind=kind, access=json.dumps(dict(access)), now=self._clock()))

    def remove(self, kind: ChatKind) -> None:
        """Forget a chat and everyone who is linked there."""
        if not self._write(lambda tx: tx.run("drop_chat", kind=kind)):
            raise no_such_chat(kind)

    def all(self) -> list[ChatAccess]:
        return [_access(row) for row in self._store.all("chats")]

    def get(self, kind: ChatKind) -> ChatAccess:
        row = self._store.one("chat", kind=kind)
        if row is None:
            raise no_such_chat(kind)
        return _access(row)

    def hold(self, chat: ChatAccess) -> bool:
        """Whether this process is the one that is there for this chat; it is from now on if the last one has ended."""
        bell = self._store.bell()
        if chat.held_by == bell.process:
            return True
        if chat.held_by and chat.held_by in bell.alive({chat.held_by}):
            return False
        return self._change_holder(chat.kind, chat.held_by, bell.process)

    def let_go(self, kind: ChatKind) -> None:
        """Another process may be there for this chat now."""
        self._change_holder(kind, self._store.bell().process, "")

    def is_held(self, chat: ChatAccess) -> bool:
        """Whether a living process is there for it."""
        return bool(chat.held_by) and bool(self._store.bell().alive({chat.held_by}))

    def _change_holder(self, kind: ChatKind, before: str, after: str) -> bool:
        return bool(self._write(lambda tx: tx.run("hold_chat", kind=kind, before=before, process=after)))

    def note_trouble(self, kind: ChatKind, trouble: str) -> None:
        """What is in the way there; empty once nothing is."""
        self._write(lambda tx: tx.run("note_chat_trouble", kind=kind, trouble=trouble))

    def note_read(self, kind: ChatKind, read_to: str) -> None:
        """What came before this, this included, has had its effect."""
        self._write(lambda tx: tx.run("note_chat_read", kind=kind, read_to=read_to))

    # Who is whom

    def make_code(self, kind: ChatKind, user: str, room: str = "") -> str:
        """A code that says in the chat who somebody is, once, within its life. An older one of theirs is void."""
        import secrets  # those who only look at chats need none

        code = as_code("".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF)))
        self._put_code(kind, user, code, room)
        return code

    def make_token(self, kind: ChatKind, user: str, room: str) -> str:
        """The same for a chat where nobody has a name: who brings this back is in that room."""
        from secrets import token_urlsafe

        token = token_urlsafe(24)
        self._put_code(kind, user, token, room)
        return token

    def _put_code(self, kind: ChatKind, user: str, code: str, room: str) -> None:
        now = self._clock()

        def work(tx: Transaction) -> None:
            if tx.one("chat", kind=kind) is None:
                raise no_such_chat(kind)
            if tx.one("user", name=user) is None:
                raise no_such_user(user)
            tx.run("drop_old_chat_codes", before=now - MESSAGE_LIFE)
            tx.run("drop_chat_codes_of", kind=kind, user_name=user)
            tx.run("put_chat_code", hash=_hash(code), kind=kind, user_name=user, room=room, expires_at=now + CODE_LIFE)

        self._write(work)

    def redeem(
        self, kind: ChatKind, code: str, account_there: str = "", room_there: str = "", label: str = ""
    ) -> ChatLink | None:
        """Link whoever brings a code; None where it was used, is too old or never was. Brought again by the same one,
        it is what it was. One that was made for a room says itself who they are."""
        if not code.isascii():
            return None
        now, linked = self._clock(), [account_there]

        def work(tx: Transaction) -> bool:
            row = tx.one("chat_code", hash=_hash(code), kind=kind)
            if row is None:
                return False
            account, room = (row["room"] or given for given in (account_there, room_there))
            linked[:] = [account]
            if not tx.run("use_chat_code", hash=_hash(code), now=now):
                known = [link for link in tx.all("chat_links") if (link["kind"], link["account"]) == (kind, account)]
                return any(link["user_name"] == row["user_name"] for link in known)
            tx.run("drop_chat_account", kind=kind, account=account)
            wishes = Wishes(kinds=TOLD).as_text
            given = {"account": account, "room": room, "label": label, "user_name": row["user_name"]}
            tx.run("put_chat_link", id=os.urandom(8).hex(), kind=kind, wishes=wishes, now=now, **given)
            return True

        is_there = self._store.one("chat_code", hash=_hash(code), kind=kind) is not None
        return self.link_of(kind, linked[0]) if is_there and self._write(work) else None

    def links(self) -> list[ChatLink]:
        """Everyone who is linked anywhere and may still sign in."""
        return [_link(row) for row in self._store.all("chat_links")]

    def links_in(self, kind: ChatKind) -> list[ChatLink]:
        return [link for link in self.links() if link.kind is kind]

    def link_of(self, kind: ChatKind, account: str) -> ChatLink | None:
        return next((link for link in self.links_in(kind) if link.account == account), None)

    def unlink(self, link_id: str, user: str | None = None) -> None:
        """End a link; with a user, only one of theirs."""
        found = [link for link in self.links() if link.id == link_id and user in (None, link.user)]
        if not found or not self._write(lambda tx: tx.run("drop_chat_link", id=link_id)):
            raise NotFound("There is no such link to a chat. It may have ended already; `sayso chat list` shows them.")

    def wish(self, link_id: str, user: str, wishes: Wishes) -> None:
        wishes.check()
        if not self._write(lambda tx: tx.run("put_chat_wishes", id=link_id, user_name=user, wishes=wishes.as_text)):
            raise NotFound("There is no such link to a chat. It may have ended already.")

    # What was sent

    def begin_message(self, message: str, link: ChatLink, ask: str, shown: str, digest: str) -> None:
        """Note that this person is about to be sent something about an ask, by a new id, which is in its buttons."""
        given = {"id": message, "link": link.id, "ask_id": ask, "shown": shown, "digest": digest}
        self._write(lambda tx: tx.run("put_chat_message", now=self._clock(), **given))

    def note_place(self, message: str, place: str) -> None:
        """It was sent, and this is what the chat calls it."""
        self._write(lambda tx: tx.run("note_chat_place", id=message, place=place))

    def message(self, message: str) -> SentMessage | None:
        row = self._store.one("chat_message", id=message)
        return _message(row) if row else None

    def message_at(self, link: ChatLink, place: str) -> SentMessage | None:
        row = self._store.one("chat_message_at", link=link.id, place=place)
        return _message(row) if row else None

    def open_messages(self, kind: ChatKind) -> list[SentMessage]:
        """Those that still ask for something, oldest first."""
        return [_message(row) for row in self._store.all("open_chat_messages", kind=kind)]

    def confirm(self, message: str, since: int | None) -> None:
        """Ask for a second press from now on, or no longer."""
        self._write(lambda tx: tx.run("confirm_chat_message", id=message, since=since))

    def is_first(self, said: str) -> bool:
        """Whether this is heard for the first time: a chat says it again where it does not know that it was."""
        return self._store.claim(f"chat {said}", self._clock())

    def close(self, message: str) -> None:
        """It says what became of the ask, and nothing changes it any more. What is old is forgotten."""
        now = self._clock()

        def work(tx: Transaction) -> None:
            tx.run("close_chat_message", id=message, now=now)
            tx.run("drop_old_chat_messages", before=now - MESSAGE_LIFE)

        self._write(work)

    def _write(self, work: Callable[[Transaction], int | None]) -> int:
        def quietly(tx: Transaction) -> int:
            tx.wake_only()  # no process waits for an ask because of it
            return work(tx) or 0

        return self._store.write(quietly)


def no_such_chat(kind: str) -> NotFound:
    return NotFound(f"There is no chat '{kind}' yet. Add it with `sayso chat add {kind}`.")


def _hash(code: str) -> str:
    return sha256(code.encode())


def _access(row: Row) -> ChatAccess:
    return ChatAccess(
        kind=ChatKind(row["kind"]),
        access=json.loads(row["access"]),
        held_by=row["held_by"],
        read_to=row["read_to"],
        trouble=row["trouble"],
        created_at=row["created_at"],
    )


def _link(row: Row) -> ChatLink:
    return ChatLink(
        id=row["id"],
        kind=ChatKind(row["kind"]),
        account=row["account"],
        room=row["room"],
        label=row["label"],
        user=row["user_name"],
        system_account=row["system_account"] or "",
        wishes=read_wishes(row["wishes"]),
        created_at=row["created_at"],
    )


def _message(row: Row) -> SentMessage:
    return SentMessage(
        id=row["id"],
        link=row["link"],
        ask=row["ask_id"],
        shown=row["shown"],
        digest=row["digest"],
        place=row["place"],
        confirming_since=row["confirming_since"],
        created_at=row["created_at"],
        closed_at=row["closed_at"],
    )
