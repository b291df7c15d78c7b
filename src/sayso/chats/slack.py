"""Slack, by Socket Mode: a WebSocket that Sayso opens, so that nothing has to be reachable from outside.

What comes is acknowledged once the store has it. Texts are sent as plain elements, which Slack takes for nothing else:
no markup, no mention, no link.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Coroutine
from typing import Any

from sayso import untrusted_json
from sayso.bridge import BackgroundTasks
from sayso.chats.adapter import UNREADABLE, ChatAdapter, Heard
from sayso.chats.http import AGAIN
from sayso.chats.model import Button, ChatKind, ChatMessage, Pressed, Wrote
from sayso.chats.wording import ChatLimits
from sayso.errors import ChatFailed, ChatGone

logger = logging.getLogger(__name__)

SERVER = "https://slack.com/api"
LONGEST_TEXT = 2900
"""Characters of all that a message says. Slack takes 3000 in a block."""
IN_A_ROW = 5
MOST_OPTIONS = 20
BEAT = 20.0
"""Seconds between two signs of life."""
AT_ONCE = 1.0
"""Seconds: a line that is to be opened anew so soon is not opened again right away."""
_SLOWLY = 300.0
_NO_ENTRY = (
    "invalid_auth",
    "not_authed",
    "token_revoked",
    "token_expired",
    "account_inactive",
    "not_allowed_token_type",
)
_GONE = (
    "channel_not_found",
    "user_not_found",
    "user_disabled",
    "is_archived",
    "not_in_channel",
    "messages_tab_disabled",
)
_UNCHANGED = ("message_not_found", "cant_update_message", "edit_window_closed")
_LINK = re.compile(r"<((?:https?://|mailto:)[^|>]+)(?:\|[^>]*)?>")


def _fits(message: ChatMessage) -> bool:
    return sum(map(len, (message.heading, message.body, message.hint))) <= LONGEST_TEXT


class Slack(ChatAdapter):
    kind = ChatKind.SLACK
    limits = ChatLimits(fits=_fits, most_options=MOST_OPTIONS)

    async def who(self) -> str:
        await self._call("apps.connections.open", self._access["app_token"])
        me = await self._call("auth.test", self._access["bot_token"])
        return f"@{me['user']}"

    async def listen(self, heard: Heard, read_to: str) -> None:
        telling = BackgroundTasks()
        try:
            while True:
                await self._listen_once(heard, telling)
        finally:
            await telling.finish(AGAIN)

    async def _listen_once(self, heard: Heard, telling: BackgroundTasks) -> None:
        """Until Slack wants the line to be opened anew, which it does every few hours."""
        opened = await self._call("apps.connections.open", self._access["app_token"])
        began = asyncio.get_running_loop().time()
        async with self._http.socket(str(opened["url"]), BEAT) as line:
            async for frame in line:
                said = _json(frame.data)
                if said.get("type") == "disconnect":
                    if said.get("reason") == "link_disabled":
                        raise ChatFailed("Slack's Socket Mode is turned off for this app. Turn it on there.", _SLOWLY)
                    if asyncio.get_running_loop().time() - began < AT_ONCE:
                        break
                    return
                if "envelope_id" in said:
                    then = await self._taken(said, heard)
                    await line.send_str(json.dumps({"envelope_id": said["envelope_id"]}))
                    if then:
                        telling.start(then)
        raise ChatFailed("Slack has ended the line", AGAIN)

    async def send(self, room: str, message: ChatMessage) -> str:
        sent = await self._post("chat.postMessage", {"channel": room, **_drawn(message)})
        return str(sent["ts"])

    async def change(self, room: str, place: str, message: ChatMessage) -> None:
        try:
            await self._post("chat.update", {"channel": room, "ts": place, **_drawn(message)})
        except ChatFailed as error:
            if not any(text in str(error) for text in _UNCHANGED):
                raise

    # What comes

    async def _taken(self, said: dict[str, Any], heard: Heard) -> Coroutine[Any, Any, None] | None:
        """Hand on what an envelope holds. What is to be said then; None for nothing."""
        try:
            what = _read(said)
        except UNREADABLE as error:
            logger.warning("Passed over what Slack said, which cannot be read (%s)", type(error).__name__)
            return None
        if what is None:
            return None
        reply = await heard(what)
        if not reply.text or (isinstance(what, Pressed) and reply.shown):
            return None
        given = {"channel": what.room, "text": _escaped(reply.text)}
        if isinstance(what, Pressed):
            return self._say("chat.postEphemeral", {**given, "user": what.account})
        thread = str(said["payload"]["event"].get("thread_ts", ""))
        return self._say("chat.postMessage", {**given, **({"thread_ts": thread} if thread else {})})

    async def _say(self, method: str, given: dict[str, Any]) -> None:
        """What cannot be said any more is not missed: the message itself tells what became of it."""
        try:
            await self._post(method, {**given, "mrkdwn": False, "parse": "none", "link_names": False})
        except ChatFailed as error:
            logger.info("Somebody in Slack was not told what came of their press: %s", error)

    # Calls

    async def _post(self, method: str, given: dict[str, Any]) -> Any:
        return await self._call(method, self._access["bot_token"], given)

    async def _call(self, method: str, token: str, given: dict[str, Any] | None = None) -> Any:
        server = self._access.get("server") or SERVER
        headers = {"Authorization": f"Bearer {token}"}
        reply = await self._http.call("POST", f"{server}/{method}", headers=headers, body=given or {})
        data = reply.data if isinstance(reply.data, dict) else {}
        if data.get("ok") is True:
            return data
        why = str(data.get("error", "")) or f"status {reply.status}"
        if reply.status == 429 or why == "ratelimited" or reply.status >= 500:
            raise ChatFailed(f"Slack refuses: {why}", reply.retry_after or AGAIN)
        if why in _NO_ENTRY:
            raise ChatFailed("Slack does not know these tokens. `sayso chat add slack` takes others.", _SLOWLY)
        raise (ChatGone if why in _GONE else ChatFailed)(f"Slack refuses: {why}")


def _read(said: dict[str, Any]) -> Pressed | Wrote | None:
    """What an envelope holds; None where that is nothing to us."""
    payload = said.get("payload") or {}
    if said.get("type") == "interactive" and payload.get("type") == "block_actions":
        return _pressed(payload)
    event = payload.get("event") or {}
    is_words = event.get("type") == "message" and not event.get("subtype") and not event.get("bot_id")
    if said.get("type") == "events_api" and is_words and event.get("user"):
        return _wrote(str(payload.get("event_id", said["envelope_id"])), event)
    return None


def _pressed(payload: dict[str, Any]) -> Pressed | None:
    action, person, at = payload["actions"][0], str(payload["user"]["id"]), payload.get("container") or {}
    if "value" not in action:  # it opens an address
        return None
    room, place = str(at.get("channel_id", "")), str(at.get("message_ts", ""))
    name = f"{person} {action.get('action_ts', '')}"
    return Pressed(id=name, token=str(action["value"]), account=person, room=room, place=place)


def _wrote(name: str, event: dict[str, Any]) -> Wrote:
    answers = str(event.get("thread_ts", ""))
    return Wrote(
        id=name,
        account=str(event["user"]),
        room=str(event["channel"]),
        text=_plain(str(event.get("text", ""))),
        label=str(event["user"]),
        answers=answers if answers != event.get("ts") else "",
        private=event.get("channel_type") == "im",
        forwarded=bool(event.get("attachments")),
    )


def _drawn(message: ChatMessage) -> dict[str, Any]:
    parts = [_section(message.heading, style={"bold": True})]
    if message.body:
        parts.append(_exactly(message.body) if message.exact else _section(f"\n{message.body}"))
    if message.hint:
        parts.append(_section(f"\n{message.hint}"))
    rows = [message.buttons[place : place + IN_A_ROW] for place in range(0, len(message.buttons), IN_A_ROW)]
    blocks = [{"type": "rich_text", "elements": parts}, *map(_actions, rows)]
    # What a notification shows; there Slack would take some characters for more than they are.
    plain = {"text": _escaped(message.heading), "mrkdwn": False, "parse": "none", "link_names": False}
    return {"blocks": blocks, **plain, "unfurl_links": False, "unfurl_media": False}


def _section(text: str, **style: Any) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text, **style}]}


def _exactly(text: str) -> dict[str, Any]:
    return {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}


def _actions(buttons: tuple[Button, ...]) -> dict[str, Any]:
    drawn = []
    for place, each in enumerate(buttons):
        given = {"url": each.url} if each.url else {"value": each.token}
        label = {"type": "plain_text", "text": each.label, "emoji": False}
        drawn.append(
            {"type": "button", "action_id": f"{each.token or 'open'}"[:255] or str(place), "text": label, **given}
        )
    return {"type": "actions", "elements": drawn}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> str:
    """What somebody typed, from what Slack makes of it."""
    return _LINK.sub(r"\1", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _json(text: Any) -> dict[str, Any]:
    try:
        found = untrusted_json.loads(text)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
