"""ntfy on loopback, as its documentation has it: topics with a cache, JSON publishing, streams, access, limits."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web
from tests.chats.servers.served import Served

TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
LONGEST_MESSAGE = 4096
MOST_ACTIONS = 3


@dataclass(frozen=True)
class Published:
    """A message in a topic as a phone shows it."""

    topic: str
    data: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def title(self) -> str:
        return str(self.data.get("title", ""))

    @property
    def text(self) -> str:
        return str(self.data["message"])

    @property
    def replaces(self) -> str:
        return str(self.data.get("sequence_id", ""))

    @property
    def buttons(self) -> dict[str, dict[str, Any]]:
        return {action["label"]: action for action in self.data.get("actions", [])}


class Ntfy(Served):
    """With a token, only who has it reads and writes; everybody may write to topics of replies."""

    def __init__(self, token: str = "") -> None:
        super().__init__()
        self._token, self._numbers = token, itertools.count(1)
        self.cache: list[dict[str, Any]] = []
        self.limited = 0
        self.streams = 0

    def begin(self) -> None:
        self._something = asyncio.Condition()
        self._stop = asyncio.Event()

    def routes(self) -> list[web.AbstractRouteDef]:
        return [
            web.get("/v1/health", self._health),
            web.get("/v1/account", self._account),
            web.post("/", self._publish_json),
            web.post("/{topic}", self._publish),
            web.get("/{topic}/json", self._subscribe),
        ]

    def press(self, message: Published, label: str) -> None:
        """What a phone does whose button is pressed: the request that its action describes."""
        action = message.buttons[label]
        assert (action["action"], action["method"], action["clear"]) == ("http", "POST", True)
        self.publish(action["url"].rpartition("/")[2], action["body"])

    def publish(self, topic: str, text: str) -> None:
        """What anybody can do who knows a topic's name."""

        async def post() -> None:
            async with (
                aiohttp.ClientSession() as session,
                session.post(f"{self.address}/{topic}", data=text.encode()) as reply,
            ):
                assert reply.status == 200, await reply.text()

        asyncio.run_coroutine_threadsafe(post(), self.loop).result(timeout=60)

    def break_streams(self) -> None:
        self.soon(self._break)

    def _break(self) -> None:
        self._stop.set()
        self._stop = asyncio.Event()

    def _may(self, request: web.Request, topic: str, writes: bool) -> bool:
        signed_in = request.headers.get("Authorization") == f"Bearer {self._token}"
        return not self._token or signed_in or (writes and topic.startswith("sayso-replies-"))

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"healthy": True})

    async def _account(self, request: web.Request) -> web.Response:
        if not self._may(request, "", False):
            return _refused(401, 40101, "unauthorized")
        return web.json_response({"username": "ada", "role": "user"})

    async def _publish_json(self, request: web.Request) -> web.Response:
        given = json.loads(await request.text())
        if not given.get("topic"):
            return _refused(400, 40009, "invalid request: topic invalid")
        return await self._taken(request, given.pop("topic"), given)

    async def _publish(self, request: web.Request) -> web.Response:
        return await self._taken(request, request.match_info["topic"], {"message": await request.text()})

    async def _taken(self, request: web.Request, topic: str, given: dict[str, Any]) -> web.Response:
        if not self._may(request, topic, True):
            return _refused(403, 40301, "forbidden")
        if self.limited:
            self.limited -= 1
            return _refused(429, 42901, "limit reached: too many requests", {"Retry-After": "1"})
        if len(given.get("actions", [])) > MOST_ACTIONS:
            return _refused(400, 40018, "invalid request: actions invalid; only 3 actions allowed")
        if len(given.get("message", "").encode()) > LONGEST_MESSAGE:
            given = {
                **given,
                "message": "You received a file: attachment.txt",
                "attachment": {"name": "attachment.txt"},
            }
        about = {"id": f"m{next(self._numbers):09}", "time": int(time.time()), "event": "message", "topic": topic}
        message = {**about, **given}
        async with self._something:
            self.cache.append(message)
            self._something.notify_all()
        if not topic.startswith("sayso-replies-"):
            self.news.put(Published(topic, message))
        return web.json_response(message)

    async def _subscribe(self, request: web.Request) -> web.StreamResponse:
        topic, since = request.match_info["topic"], request.query.get("since", "")
        if not self._may(request, topic, False):
            return _refused(403, 40301, "forbidden")
        stream = web.StreamResponse(headers={"Content-Type": "application/x-ndjson; charset=utf-8"})
        await stream.prepare(request)
        self.streams += 1
        stop = self._stop
        await _write(stream, {"id": "open", "time": 1, "event": "open", "topic": topic})
        ids = [each["id"] for each in self.cache]
        place = ids.index(since) + 1 if since in ids else 0 if since else len(ids)
        while not stop.is_set():
            while place < len(self.cache):
                if self.cache[place]["topic"] == topic:
                    await _write(stream, self.cache[place])
                place += 1
            async with self._something:
                if place == len(self.cache):
                    try:
                        await asyncio.wait_for(self._something.wait(), 0.2)
                    except TimeoutError:
                        continue
        return stream


async def _write(stream: web.StreamResponse, said: dict[str, Any]) -> None:
    await stream.write(json.dumps(said).encode() + b"\n")


def _refused(status: int, code: int, error: str, headers: dict[str, str] | None = None) -> web.Response:
    said = {"code": code, "http": status, "error": error, "link": "https://ntfy.sh/docs/publish/"}
    return web.json_response(said, status=status, headers=headers)


@contextmanager
def ntfy(token: str = "") -> Iterator[Ntfy]:
    server = Ntfy(token)
    with server.running():
        yield server
