"""ntfy, at ntfy.sh or a server of one's own. A button publishes what is sealed in it to a topic that Sayso listens to.

ntfy does not say who publishes, so whoever reads a person's topic could press for them: nothing is ever allowed here,
and topics have names that nobody can guess.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote, urlsplit

from sayso.bridge import BackgroundTasks
from sayso.chats.adapter import ChatAdapter, Heard
from sayso.chats.http import AGAIN, ChatReply
from sayso.chats.model import Button, ChatKind, ChatMessage, ChatSaid, Pressed
from sayso.chats.topics import REPLIES, server_of
from sayso.chats.wording import ChatLimits
from sayso.errors import ChatFailed

logger = logging.getLogger(__name__)

MOST_BYTES = 3900
"""Of a message; a longer one would arrive as a file. ntfy takes 4096."""
MOST_ACTIONS = 3
SILENCE = 150.0
"""Seconds without a word after which a stream has broken: the server says something every 45 by itself."""
LOW = 2
_SLOWLY = 300.0


def _text(message: ChatMessage) -> str:
    return "\n\n".join(part for part in (message.body, message.hint) if part)


def _fits(message: ChatMessage) -> bool:
    return len(_text(message).encode(errors="replace")) <= MOST_BYTES


class Ntfy(ChatAdapter):
    kind = ChatKind.NTFY
    limits = ChatLimits(fits=_fits, most_options=MOST_ACTIONS, takes_words=False, allows=False)

    async def who(self) -> str:
        path = "/v1/account" if self._access.get("token") else "/v1/health"
        await self._call("GET", path)
        return urlsplit(server_of(self._access)).netloc

    async def listen(self, heard: Heard, read_to: str) -> None:
        url = f"{server_of(self._access)}/{quote(self._access[REPLIES])}/json?since={quote(read_to) or 'all'}"
        telling = BackgroundTasks()
        try:
            async for said in self._http.lines(url, self._headers, SILENCE):
                if isinstance(said, ChatReply):
                    raise _failure(said)
                if isinstance(said, dict) and said.get("event") == "message" and "id" in said:
                    name = str(said["id"])
                    reply = await heard(Pressed(id=name, token=str(said.get("message", "")), read_to=name))
                    if reply.text and reply.room and not reply.shown:
                        telling.start(self._say(reply))
        finally:
            await telling.finish(AGAIN)
        raise ChatFailed("ntfy has ended the stream", AGAIN)

    async def send(self, room: str, message: ChatMessage) -> str:
        return str((await self._publish(room, message, {}))["id"])

    async def change(self, room: str, place: str, message: ChatMessage) -> None:
        """Servers and apps before 2.16 show it as another message."""
        await self._publish(room, message, {"sequence_id": place})

    async def _say(self, reply: ChatSaid) -> None:
        try:
            await self.send(reply.room, ChatMessage(heading="Sayso", body=reply.text, quiet=True))
        except ChatFailed as error:
            logger.info("Somebody by ntfy was not told what came of their press: %s", error)

    async def _publish(self, room: str, message: ChatMessage, more: dict[str, Any]) -> Any:
        opens = [button.url for button in message.buttons if button.url]
        given: dict[str, Any] = {
            "topic": room,
            "title": message.heading,
            "message": _text(message) or message.heading,
            "actions": [self._action(button) for button in message.buttons if button.token],
            **({"click": opens[0]} if opens else {}),
            **({"priority": LOW} if message.quiet else {}),
            **more,
        }
        return await self._call("POST", "/", given)

    def _action(self, button: Button) -> dict[str, Any]:
        """What the phone does when it is pressed: it publishes the token where we listen, and the message goes."""
        return {
            "action": "http",
            "label": button.label,
            "url": f"{server_of(self._access)}/{self._access[REPLIES]}",
            "method": "POST",
            "body": button.token,
            "clear": True,
        }

    @property
    def _headers(self) -> dict[str, str]:
        token = self._access.get("token")
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _call(self, method: str, path: str, given: dict[str, Any] | None = None) -> Any:
        reply = await self._http.call(method, server_of(self._access) + path, headers=self._headers, body=given)
        if reply.status == 200 and isinstance(reply.data, dict):
            return reply.data
        raise _failure(reply)


def _failure(reply: ChatReply) -> ChatFailed:
    why = reply.data.get("error", "") if isinstance(reply.data, dict) else ""
    text = f"ntfy refuses: {why or f'status {reply.status}'}"
    if reply.status in (401, 403):
        return ChatFailed(
            "ntfy does not let Sayso in with this token. `sayso chat add ntfy` takes another, and docs/chats.md says "
            "what the server has to allow.",
            _SLOWLY,
        )
    return ChatFailed(text, (reply.retry_after or AGAIN) if reply.status == 429 or reply.status >= 500 else None)
