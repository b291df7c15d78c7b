"""Telegram, by its Bot API: long polling, so that nothing has to be reachable from outside.

An update is confirmed by the next call that asks for later ones, which is made only once the store has what it said.
Texts are sent without any markup of theirs; only places in them are marked, by numbers. Telegram itself would make
something to tap of what looks like a command, a name or an address, but not in what is marked as code: words of agents
in which something does are marked so, and stay as they are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Coroutine
from typing import Any

from sayso.bridge import BackgroundTasks
from sayso.chats.adapter import UNREADABLE, ChatAdapter, Heard
from sayso.chats.http import AGAIN
from sayso.chats.model import Button, ChatKind, ChatMessage, ChatSaid, Pressed, Wrote
from sayso.chats.wording import ChatLimits
from sayso.errors import ChatFailed, ChatGone

logger = logging.getLogger(__name__)

SERVER = "https://api.telegram.org"
LONGEST_TEXT = 4096
LONGEST_TOAST = 200
POLL = 50
"""Seconds that the server holds on to a question for news."""
MOST_OPTIONS = 12
WANTED = ["message", "callback_query"]
_ROW = 3
_SLOWLY = 300.0
"""Seconds between two tries where only a person can mend what is wrong."""
_TAPPED = re.compile(r"(?<![A-Za-z0-9_])[/#$]\w|@\w|\S\.\w|://|(?:\d[ -]?){13}")
"""Commands, hashtags and shares, names and mail addresses, sites, other addresses, cards: rather too much than too
little."""


def _text(message: ChatMessage) -> str:
    return "\n\n".join(part for part in (message.heading, message.body, message.hint) if part)


def _fits(message: ChatMessage) -> bool:
    return _units(_text(message)) <= LONGEST_TEXT


def _units(text: str) -> int:
    """How Telegram counts: in units of UTF-16."""
    return len(text.encode("utf-16-le", errors="replace")) // 2


class Telegram(ChatAdapter):
    kind = ChatKind.TELEGRAM
    limits = ChatLimits(fits=_fits, most_options=MOST_OPTIONS)

    _offset = 0
    """What was confirmed last, and one."""

    async def who(self) -> str:
        me = await self._call("getMe")
        return f"@{me['username']}"

    async def listen(self, heard: Heard, read_to: str) -> None:
        telling = BackgroundTasks()
        try:
            while True:
                given = {"timeout": POLL, "allowed_updates": WANTED, "offset": self._offset}
                updates = await self._call("getUpdates", given, patience=POLL + 10)
                if updates != [] and not any(map(_after, _list(updates))):
                    raise ChatFailed("Telegram says nothing but what cannot be read", AGAIN)
                for update in _list(updates):
                    if said := await self._taken(update, heard):
                        telling.start(said)
                    self._offset = _after(update) or self._offset
        finally:
            await telling.finish(AGAIN)

    async def send(self, room: str, message: ChatMessage) -> str:
        sent = await self._call("sendMessage", {"chat_id": int(room), **_drawn(message)})
        return str(sent["message_id"])

    async def change(self, room: str, place: str, message: ChatMessage) -> None:
        given = {"chat_id": int(room), "message_id": int(place), **_drawn(message)}
        given.pop("disable_notification", None)
        try:
            await self._call("editMessageText", given)
        except ChatFailed as error:
            # What reads like this already, and what the person has deleted, needs no change.
            if not any(text in str(error) for text in ("not modified", "to edit not found", "can't be edited")):
                raise

    # What comes

    async def _taken(self, update: Any, heard: Heard) -> Coroutine[Any, Any, None] | None:
        """Hand on what an update says. What is to be said then, as something to do; None for nothing."""
        try:
            read = _read(update)
        except UNREADABLE as error:
            logger.warning("Passed over what Telegram said, which cannot be read (%s)", type(error).__name__)
            return None
        if read is None:
            return None
        what, to = read
        said = await heard(what)
        if isinstance(what, Pressed):
            return self._answer(to, said)
        return self._reply(to, said) if said.text else None

    async def _answer(self, to: dict[str, Any], said: ChatSaid) -> None:
        """Whoever pressed sees it, and their button stops waiting."""
        await self._say("answerCallbackQuery", {**to, "text": said.text[:LONGEST_TOAST]})

    async def _reply(self, to: dict[str, Any], said: ChatSaid) -> None:
        about_an_ask = bool(said.message)  # so that words of an agent may be in it
        entities = _untapped([("pre" if about_an_ask and _TAPPED.search(said.text) else "", said.text)])
        given = {**to, "text": said.text, "entities": entities, "link_preview_options": {"is_disabled": True}}
        await self._say("sendMessage", given)

    async def _say(self, method: str, given: dict[str, Any]) -> None:
        """What cannot be said any more is not missed: the message itself tells what became of it."""
        try:
            await self._call(method, given)
        except ChatFailed as error:
            logger.info("Somebody in Telegram was not told what came of their press: %s", error)

    # Calls

    async def _call(self, method: str, given: dict[str, Any] | None = None, patience: float = 0) -> Any:
        server = self._access.get("server") or SERVER
        url = f"{server}/bot{self._access['token']}/{method}"
        reply = await self._http.call("POST", url, body=given or {}, patience=patience)
        data = reply.data if isinstance(reply.data, dict) else {}
        if data.get("ok") is True:
            return data.get("result")
        raise _failure(reply.status, data)


def _failure(status: int, data: dict[str, Any]) -> ChatFailed:
    code = data.get("error_code", status)
    why = str(data.get("description", "")) or f"status {status}"
    after = (data.get("parameters") or {}).get("retry_after")
    text = f"Telegram refuses: {why}"
    match code:
        case 401 | 404:
            return ChatFailed(
                "Telegram does not know this bot's token. `sayso chat add telegram` takes another.", _SLOWLY
            )
        case 403:
            return ChatGone(text)
        case 400 if "chat not found" in why or "migrate_to_chat_id" in (data.get("parameters") or {}):
            return ChatGone(text)
        case 409:
            return ChatFailed(
                "Another program gets what is sent to this bot. Stop it, or give Sayso a bot alone.", AGAIN
            )
        case 429:
            return ChatFailed(text, float(after) if isinstance(after, int) else AGAIN)
    return ChatFailed(text, AGAIN if int(code) >= 500 else None)


def _list(updates: Any) -> list[Any]:
    return updates if isinstance(updates, list) else []


def _after(update: Any) -> int | None:
    """What confirms an update; None where it has no number."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number + 1 if isinstance(number, int) else None


def _read(update: Any) -> tuple[Pressed | Wrote, dict[str, Any]] | None:
    """What an update says, and where to reply to it; None where it says nothing to us."""
    name = str(update["update_id"])
    if (pressed := update.get("callback_query")) and "data" in pressed:
        return _pressed(name, pressed), {"callback_query_id": pressed["id"]}
    if (wrote := update.get("message")) and isinstance(wrote.get("text"), str) and "from" in wrote:
        to = {"message_id": wrote["message_id"], "allow_sending_without_reply": True}
        return _wrote(name, wrote), {"chat_id": wrote["chat"]["id"], "reply_parameters": to}
    return None


def _pressed(name: str, query: dict[str, Any]) -> Pressed:
    at = query.get("message") or {}
    return Pressed(
        id=name,
        token=str(query["data"]),
        account=str(query["from"]["id"]),
        room=str((at.get("chat") or {}).get("id", "")),
        place=str(at.get("message_id", "")),
    )


def _wrote(name: str, message: dict[str, Any]) -> Wrote:
    person, room = message["from"], message["chat"]
    answered = message.get("reply_to_message") or {}
    names = [f"@{person['username']}"] if person.get("username") else [person.get("first_name", "")]
    return Wrote(
        id=name,
        account=str(person["id"]),
        room=str(room["id"]),
        text=message["text"],
        label=" ".join(names),
        answers=str(answered.get("message_id", "")),
        forwarded=any(key in message for key in ("forward_origin", "forward_date", "via_bot")),
        private=room.get("type") == "private",
    )


def _drawn(message: ChatMessage) -> dict[str, Any]:
    heading, body, hint = message.heading, message.body, message.hint
    parts = [
        ("code" if _TAPPED.search(heading) else "bold", heading),
        ("pre" if message.exact or _TAPPED.search(body) else "", body),
        ("code" if _TAPPED.search(hint) else "", hint),
    ]
    drawn: dict[str, Any] = {
        "text": _text(message),
        "entities": _untapped(parts),
        "link_preview_options": {"is_disabled": True},
        "reply_markup": {"inline_keyboard": _rows(message.buttons)},
    }
    return {**drawn, "disable_notification": True} if message.quiet else drawn


def _untapped(parts: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The marks of a text of these parts, each with the kind of its mark, or none."""
    marks, at = [], 0
    for kind, part in parts:
        if kind and part:
            marks.append({"type": kind, "offset": at, "length": _units(part)})
        at += _units(f"{part}\n\n") if part else 0
    return marks


def _rows(buttons: tuple[Button, ...]) -> list[list[dict[str, str]]]:
    """Short ones beside each other, long ones each in a row of its own."""
    drawn = [
        {"text": each.label, "url": each.url} if each.url else {"text": each.label, "callback_data": each.token}
        for each in buttons
    ]
    width = 1 if any(len(each.label) > 12 for each in buttons) else _ROW
    return [drawn[place : place + width] for place in range(0, len(drawn), width)]
