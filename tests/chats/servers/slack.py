"""Slack on loopback, as its documentation has it: the Web API's shapes, errors and limits, and Socket Mode."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from tests.chats.servers.served import Served

BOT_TOKEN = "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy"
APP_TOKEN = "xapp-1-A111-222-3333"
LONGEST_TEXT = 3000
Method = Callable[[dict[str, Any]], Awaitable[web.Response]]


@dataclass(frozen=True)
class Posted:
    """A message in a channel as everybody there sees it."""

    channel: str
    ts: str
    data: dict[str, Any]
    changed: bool = False
    only_for: str = ""

    @property
    def text(self) -> str:
        """All that its blocks say; else its plain text."""
        if "blocks" not in self.data:
            return str(self.data["text"])
        blocks = [block for block in self.data["blocks"] if block["type"] == "rich_text"]
        parts = [part for block in blocks for part in block["elements"]]
        return "\n".join("".join(each["text"] for each in part["elements"]) for part in parts)

    @property
    def exact(self) -> str:
        blocks = [block for block in self.data.get("blocks", []) if block["type"] == "rich_text"]
        parts = [part for block in blocks for part in block["elements"] if part["type"] == "rich_text_preformatted"]
        return "".join(each["text"] for part in parts for each in part["elements"])

    @property
    def buttons(self) -> dict[str, str]:
        rows = [block["elements"] for block in self.data.get("blocks", []) if block["type"] == "actions"]
        return {each["text"]["text"]: each.get("value") or each["url"] for row in rows for each in row}


@dataclass(frozen=True)
class SlackUser:
    id: str
    server: Slack

    @property
    def room(self) -> str:
        return f"D{self.id}"

    def writes(self, text: str, answers: Posted | None = None, **more: Any) -> str:
        event = {
            "type": "message",
            "user": self.id,
            "text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
            "channel": self.room,
            "channel_type": "im",
            "ts": self.server.new_ts(),
            **({"thread_ts": answers.ts} if answers else {}),
            **more,
        }
        payload = {"type": "event_callback", "event_id": f"Ev{next(self.server.numbers)}", "event": event}
        return self.server.say("events_api", payload)

    def presses(self, message: Posted, label: str) -> str:
        return self.presses_value(message.buttons[label], message)

    def presses_value(self, value: str, message: Posted, channel: str = "", ts: str = "", at: str = "") -> str:
        """Press a button, or what a client that was tampered with makes of it."""
        place = {"type": "message", "message_ts": ts or message.ts, "channel_id": channel or message.channel}
        action = {"type": "button", "action_id": value, "value": value, "action_ts": at or self.server.new_ts()}
        payload = {
            "type": "block_actions",
            "user": {"id": self.id, "username": self.id.lower(), "team_id": "T1"},
            "container": place,
            "channel": {"id": place["channel_id"]},
            "actions": [action],
        }
        return self.server.say("interactive", payload)


class Slack(Served):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = itertools.count(1)
        self.messages: dict[tuple[str, str], Posted] = {}
        self.acknowledged: set[str] = set()
        self.limited: list[str] = []
        self.gone: set[str] = set()
        self.opened = 0
        self._waiting: list[dict[str, Any]] = []

    def begin(self) -> None:
        self._lines: list[web.WebSocketResponse] = []

    def user(self, name: str) -> SlackUser:
        return SlackUser(name, self)

    def new_ts(self) -> str:
        return f"1503435956.{next(self.numbers):06}"

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.post("/api/{method}", self._handle), web.get("/link", self._socket)]

    def say(self, kind: str, payload: dict[str, Any], envelope: str = "") -> str:
        """Send an envelope down the line, or once there is one. Its id."""
        name = envelope or f"env-{next(self.numbers)}"
        body = {
            "envelope_id": name,
            "type": kind,
            "payload": payload,
            "accepts_response_payload": kind == "interactive",
        }

        async def send() -> None:
            if self._lines:
                await self._lines[-1].send_str(json.dumps(body))
            else:
                self._waiting.append(body)

        asyncio.run_coroutine_threadsafe(send(), self.loop).result(timeout=60)
        return name

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Have the client open another line, as Slack does every few hours."""

        async def send() -> None:
            line = self._lines.pop()
            await line.send_str(json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "x"}}))

        asyncio.run_coroutine_threadsafe(send(), self.loop).result(timeout=60)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        line = web.WebSocketResponse()
        await line.prepare(request)
        await line.send_str(json.dumps({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}))
        for body in self._waiting:
            await line.send_str(json.dumps(body))
        self._waiting.clear()
        self._lines.append(line)
        async for frame in line:
            self.acknowledged.add(json.loads(frame.data)["envelope_id"])
        if line in self._lines:
            self._lines.remove(line)
        return line

    async def _handle(self, request: web.Request) -> web.Response:
        method, token = request.match_info["method"], request.headers.get("Authorization", "")
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if token != f"Bearer {wanted}":
            return _refused("invalid_auth")
        if method in self.limited:
            self.limited.remove(method)
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": "1"})
        serve: Method | None = getattr(self, "_" + method.replace(".", "_"), None)
        return await serve(await request.json()) if serve else _refused("unknown_method")

    async def _apps_connections_open(self, given: dict[str, Any]) -> web.Response:
        self.opened += 1
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{self.port}/link"})

    async def _auth_test(self, given: dict[str, Any]) -> web.Response:
        return web.json_response({"ok": True, "user": "sayso", "team": "shop", "user_id": "UBOT"})

    async def _chat_postMessage(self, given: dict[str, Any]) -> web.Response:
        if given.get("channel") in self.gone or not str(given.get("channel", "")).startswith("D"):
            return _refused("channel_not_found")
        if wrong := _wrong(given):
            return _refused(wrong)
        posted = Posted(channel=given["channel"], ts=self.new_ts(), data=given)
        self.messages[posted.channel, posted.ts] = posted
        self.news.put(posted)
        return web.json_response({"ok": True, "channel": posted.channel, "ts": posted.ts})

    async def _chat_update(self, given: dict[str, Any]) -> web.Response:
        if (given.get("channel"), given.get("ts")) not in self.messages:
            return _refused("message_not_found")
        if wrong := _wrong(given):
            return _refused(wrong)
        posted = Posted(channel=given["channel"], ts=given["ts"], data=given, changed=True)
        self.messages[posted.channel, posted.ts] = posted
        self.news.put(posted)
        return web.json_response({"ok": True, "channel": posted.channel, "ts": posted.ts})

    async def _chat_postEphemeral(self, given: dict[str, Any]) -> web.Response:
        self.news.put(Posted(channel=given["channel"], ts="", data=given, only_for=given["user"]))
        return web.json_response({"ok": True, "message_ts": self.new_ts()})


def _wrong(given: dict[str, Any]) -> str:
    """What Slack would not take of a message."""
    blocks = given.get("blocks", [])
    if not given.get("text") and not blocks:
        return "no_text"
    if len(blocks) > 50:
        return "invalid_blocks"
    for block in blocks:
        if block["type"] == "actions":
            names = [each["action_id"] for each in block["elements"]]
            fits = all(
                1 <= len(each["text"]["text"]) <= 75 and len(each.get("value", "")) <= 2000
                for each in block["elements"]
            )
            if not 1 <= len(names) <= 25 or len(set(names)) < len(names) or not fits or max(map(len, names)) > 255:
                return "invalid_blocks"
        elif len(json.dumps(block, ensure_ascii=False)) > LONGEST_TEXT + 1000:
            return "msg_blocks_too_long"
    return ""


def _refused(error: str) -> web.Response:
    return web.json_response({"ok": False, "error": error})


@contextmanager
def slack() -> Iterator[Slack]:
    server = Slack()
    with server.running():
        yield server
