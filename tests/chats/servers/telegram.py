"""Telegram's Bot API on loopback, as its documentation has it: shapes, limits, errors, and what confirms an update."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from tests.chats.servers.served import Served

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
LONGEST_TEXT = 4096
LONGEST_DATA = 64
Method = Callable[[dict[str, Any]], Awaitable[web.Response]]


@dataclass
class Sent:
    """A message in a chat as everybody there sees it."""

    chat: int
    id: int
    data: dict[str, Any]
    edits: int = 0

    @property
    def text(self) -> str:
        return str(self.data["text"])

    @property
    def buttons(self) -> dict[str, str]:
        """The data, or the address, of each button by its label."""
        rows = self.data.get("reply_markup", {}).get("inline_keyboard", [])
        return {each["text"]: each.get("callback_data") or each.get("url") for row in rows for each in row}

    @property
    def exact(self) -> str:
        """What is shown letter by letter."""
        for entity in self.data.get("entities", []):
            if entity["type"] == "pre":
                units = self.text.encode("utf-16-le")[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])]
                return units.decode("utf-16-le")
        return ""


@dataclass(frozen=True)
class Toast:
    """What somebody saw who pressed a button."""

    query: str
    text: str


@dataclass
class TelegramUser:
    id: int
    server: Telegram
    name: str

    def writes(self, text: str, answers: Sent | None = None, **more: Any) -> int:
        """Write to the bot; the number of the update."""
        message = {"text": text, **more}
        if answers:
            message["reply_to_message"] = {"message_id": answers.id, "chat": {"id": answers.chat}, "text": answers.text}
        return self.server.soon(lambda: self.server.put_message(self, message))

    def presses(self, message: Sent, label: str) -> int:
        return self.presses_data(message.buttons[label], message)

    def presses_data(self, data: str, message: Sent, chat: int | None = None, place: int | None = None) -> int:
        """Press a button, or what a client that was tampered with makes of it."""
        at = {"chat": {"id": chat or message.chat, "type": "private"}, "message_id": place or message.id, "date": 1}
        query = f"q{next(self.server.numbers)}"
        given = {"id": query, "from": self.about, "message": at, "chat_instance": "1", "data": data}
        return self.server.soon(lambda: self.server.put({"callback_query": given}))

    @property
    def about(self) -> dict[str, Any]:
        return {"id": self.id, "is_bot": False, "first_name": self.name.capitalize(), "username": self.name}


class Telegram(Served):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = itertools.count(1000)
        self.updates: dict[int, dict[str, Any]] = {}
        self.messages: dict[tuple[int, int], Sent] = {}
        self.people: dict[int, TelegramUser] = {}
        self.blocked: set[int] = set()
        self.queries: set[str] = set()
        self.limited: list[tuple[str, int]] = []
        """Methods that are refused the next time, with the seconds after which they may be tried again."""
        self.polls = 0
        self.conflicts = 0
        self.told_at: dict[int, float] = {}
        """When the server said each update first."""

    def begin(self) -> None:
        self._something = asyncio.Event()
        self._poll: asyncio.Event | None = None

    def user(self, number: int, name: str) -> TelegramUser:
        return self.people.setdefault(number, TelegramUser(number, self, name))

    def put_message(self, user: TelegramUser, message: dict[str, Any]) -> int:
        given = {
            "message_id": next(self.numbers),
            "from": user.about,
            "chat": {"id": user.id, "type": "private"},
            "date": int(time.time()),
        }
        return self.put({"message": {**given, **message}})

    def put(self, update: dict[str, Any]) -> int:
        number = next(self.numbers)
        self.updates[number] = {"update_id": number, **update}
        if "callback_query" in update:
            self.queries.add(update["callback_query"]["id"])
        self._something.set()
        return number

    def put_again(self, number: int, update: dict[str, Any]) -> None:
        """Say an update once more, as after a connection that broke before it was confirmed."""
        self.soon(lambda: self._put_again(number, update))

    def _put_again(self, number: int, update: dict[str, Any]) -> None:
        self.updates[number] = update
        self._something.set()

    def poll_as_another(self) -> bool:
        """Be another program that asks for updates of this bot. Whether one asked just now, who is refused then."""
        return self.soon(self._end_poll)

    def _end_poll(self) -> bool:
        if self._poll:
            self._poll.set()
        return self._poll is not None

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.post("/{bot}/{method}", self._handle), web.get("/{bot}/{method}", self._handle)]

    async def _handle(self, request: web.Request) -> web.Response:
        if request.match_info["bot"] != f"bot{TOKEN}":
            return _refused(401, "Unauthorized")
        method = request.match_info["method"]
        for place, (limited, seconds) in enumerate(self.limited):
            if limited == method:
                del self.limited[place]
                said = f"Too Many Requests: retry after {seconds}"
                return _refused(429, said, parameters={"retry_after": seconds})
        serve: Method | None = getattr(self, f"_{method}", None)
        if serve is None:
            return _refused(404, "Not Found")
        try:
            given = await request.json()
        except ValueError:
            return _refused(400, "Bad Request: can't parse JSON object")
        return await serve(given)

    async def _getMe(self, given: dict[str, Any]) -> web.Response:
        return _taken({"id": 110201543, "is_bot": True, "first_name": "Sayso", "username": "sayso_of_ada_bot"})

    async def _getUpdates(self, given: dict[str, Any]) -> web.Response:
        self.polls += 1
        if self._poll:
            self._poll.set()
        ended = self._poll = asyncio.Event()
        offset = int(given.get("offset", 0))
        if offset > 0:
            self.updates = {number: update for number, update in self.updates.items() if number >= offset}
        ends = self.loop.time() + float(given.get("timeout", 0))
        while not self._wanted(given) and self.loop.time() < ends and not ended.is_set():
            self._something.clear()
            waits = [asyncio.ensure_future(each.wait()) for each in (self._something, ended)]
            await asyncio.wait(waits, timeout=ends - self.loop.time(), return_when=asyncio.FIRST_COMPLETED)
            for each in waits:
                each.cancel()
        if ended.is_set():
            self.conflicts += 1
            said = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
            return _refused(409, said)
        self._poll = None
        found = self._wanted(given)[:100]
        for update in found:
            self.told_at.setdefault(update["update_id"], time.perf_counter())
        return _taken(found)

    def _wanted(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        kinds = set(given.get("allowed_updates") or ["message", "callback_query"])
        return [update for _, update in sorted(self.updates.items()) if kinds & update.keys()]

    async def _sendMessage(self, given: dict[str, Any]) -> web.Response:
        if given.get("chat_id") not in self.people:
            return _refused(400, "Bad Request: chat not found")
        if given["chat_id"] in self.blocked:
            return _refused(403, "Forbidden: bot was blocked by the user")
        if wrong := _wrong(given):
            return _refused(400, f"Bad Request: {wrong}")
        sent = Sent(chat=given["chat_id"], id=next(self.numbers), data=given)
        self.messages[sent.chat, sent.id] = sent
        self.news.put(Sent(chat=sent.chat, id=sent.id, data=given))
        return _taken(_message(sent))

    async def _editMessageText(self, given: dict[str, Any]) -> web.Response:
        sent = self.messages.get((given.get("chat_id", 0), given.get("message_id", 0)))
        if sent is None:
            return _refused(400, "Bad Request: message to edit not found")
        if wrong := _wrong(given):
            return _refused(400, f"Bad Request: {wrong}")
        seen = ("text", "entities", "reply_markup")
        if all(sent.data.get(name) == given.get(name) for name in seen):
            why = "message is not modified: specified new message content and reply markup are exactly the same"
            return _refused(400, f"Bad Request: {why}")
        sent.data, sent.edits = given, sent.edits + 1
        self.news.put(Sent(chat=sent.chat, id=sent.id, data=given, edits=sent.edits))
        return _taken(_message(sent))

    async def _answerCallbackQuery(self, given: dict[str, Any]) -> web.Response:
        if given.get("callback_query_id") not in self.queries:
            return _refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(given.get("text", "")) > 200:
            return _refused(400, "Bad Request: MESSAGE_TOO_LONG")
        self.queries.discard(given["callback_query_id"])
        self.news.put(Toast(query=given["callback_query_id"], text=given.get("text", "")))
        return _taken(True)


def _wrong(given: dict[str, Any]) -> str:
    """What Telegram would not take of a message."""
    text = given.get("text", "")
    if not text.strip():
        return "message text is empty"
    units = len(text.encode("utf-16-le")) // 2
    if units > LONGEST_TEXT:
        return "message is too long"
    for entity in given.get("entities", []):
        if entity["offset"] + entity["length"] > units:
            return "entity is out of the text"
    for row in given.get("reply_markup", {}).get("inline_keyboard", []):
        for button in row:
            if not button["text"]:
                return "BUTTON_TEXT_EMPTY"
            if ("url" in button) == ("callback_data" in button):
                return "BUTTON_TYPE_INVALID"
            if not 1 <= len(button.get("callback_data", "x").encode()) <= LONGEST_DATA:
                return "BUTTON_DATA_INVALID"
    return ""


def _message(sent: Sent) -> dict[str, Any]:
    return {"message_id": sent.id, "chat": {"id": sent.chat, "type": "private"}, "date": 1, "text": sent.text}


def _taken(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


def _refused(code: int, description: str, **more: Any) -> web.Response:
    body = {"ok": False, "error_code": code, "description": description, **more}
    return web.Response(status=code, text=json.dumps(body), content_type="application/json")


@contextmanager
def telegram() -> Iterator[Telegram]:
    server = Telegram()
    with server.running():
        yield server
