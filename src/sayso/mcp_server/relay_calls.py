"""Calls of `ask_user` that go through the relay of `ASK_USER_CONFIG`: posted over HTTP, then polled for.

It keeps no state and opens no store. The poll is held open where the relay knows how; else it comes every two seconds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sayso.agents import relay_file
from sayso.agents.relay_file import RelayFile
from sayso.asks.model import Ask, Asker, NewAsk, State
from sayso.bridge import BackgroundTasks, Patience, in_thread, seen_through
from sayso.clients import has_progress
from sayso.clock import now_ms
from sayso.config import Config
from sayso.dialects import promptmanager, relay
from sayso.dialects.dialect import AskTool
from sayso.dialects.outcomes import given_earlier
from sayso.errors import ConfigError, InvalidInput, RelayRefused
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.fetching import Response, fetch
from sayso.mcp_server.heartbeat import beat
from sayso.mcp_server.replies import add, failure, result
from sayso.protocol.results import ToolResult
from sayso.records import replace
from sayso.text import one_line

logger = logging.getLogger(__name__)

POLL_EVERY = 2.0
"""Seconds between two polls that the relay does not hold open."""
HOLD = 25
"""Seconds that the relay is asked to hold a poll open."""
ANSWER_WITHIN = 10.0
"""Seconds in which the relay must answer, beyond those that it holds a poll open."""

LONG = 60_000
"""Characters of a question from which on the relay wants to know the token before it reads."""
POST_WITHIN = 5.0
"""Seconds in which the relay must take one post."""

_TRY_AGAIN = 0.25
_ENDS = frozenset(State) - {State.PENDING}


class RelayCalls:
    """Serves `ask_user` of one server process. One question is open at a time: a newer one takes its place."""

    def __init__(self, config: Config, relay: RelayFile, asker_of: Callable[[CallContext], Asker]) -> None:
        self._config, self._relay, self._asker_of = config, relay, asker_of
        self._newest: Patience | None = None
        self._posting = asyncio.Lock()

    async def call(self, tool: AskTool, ctx: CallContext) -> ToolResult:
        """Every end is a result; only a cancel is not."""
        try:
            new = tool.read(ctx.arguments, self._asker_of(ctx), self._config).new
            if any(option.picture for question in new.questions for option in question.options):
                new = await in_thread(_with_pictures, new, self._config.project)
        except InvalidInput as error:
            return result(tool.refuse(error))
        beside = BackgroundTasks()
        if has_progress(ctx.meta):
            beside.start(beat(ctx, self._config.heartbeat, 0, self._relay.timeout))
        try:
            return await self._told(replace(new, timeout_ms=self._relay.timeout * 1000))
        finally:
            await seen_through(beside.cancel())

    async def _told(self, new: NewAsk) -> ToolResult:
        began = now_ms()
        try:
            return told_of(await self._outcome(new), began)
        except RelayRefused as error:
            logger.warning("%s", error)
            return failure(error)

    async def _outcome(self, new: NewAsk) -> Ask:
        """The question as it ended. A relay that cannot be reached is as good as nobody there, for as long as a person
        has time: it may just be restarting."""
        asked = relay.relayed_ask(new, "", now_ms())
        async with Patience() as place, Patience(self._relay.timeout):
            if self._newest:
                self._newest.end()
            self._newest = place
            try:
                return await self._ask(new)
            finally:
                self._newest = None if self._newest is place else self._newest
        return replace(asked, state=State.SUPERSEDED if place.over else State.TIMED_OUT)

    async def _ask(self, new: NewAsk) -> Ask:
        """Endless but for the time limit around it."""
        asked_at, question_id = now_ms(), await self._post(new)
        while True:
            begun = time.monotonic()
            if told := await self._poll(question_id):
                return _ended(new, told, asked_at)
            await asyncio.sleep(begun + POLL_EVERY - time.monotonic())

    async def _post(self, new: NewAsk) -> str:
        """Hand the question over: the id that the relay gave it, if it gives any."""
        put, pause = os.urandom(16).hex(), _TRY_AGAIN
        while True:
            body = {"streamToken": self._relay.stream_token, **relay.posted_data(new)}
            query = {"p": str(self._relay.project_id)}
            if len(json.dumps(body)) > LONG:
                query["streamToken"] = self._relay.stream_token
            # One at a time, and each to its end: a question that is given up must not arrive after the newer one.
            async with self._posting:
                reply = await seen_through(self._posted(query, body, put))
            if reply is not None:
                question_id = reply.data.get("ask")
                return question_id if isinstance(question_id, str) else ""
            await asyncio.sleep(pause)
            pause = min(2 * pause, POLL_EVERY)

    async def _posted(self, query: Mapping[str, str], body: Mapping[str, Any], put: str) -> Response | None:
        async with Patience(POST_WITHIN):
            return await self._exchange("POST", "relay-question", query, body, {relay_file.PUT_HEADER: put})
        return None

    async def _poll(self, question_id: str) -> Mapping[str, Any] | None:
        """How the question ended; None while it has not, or the relay is away."""
        query = {"p": str(self._relay.project_id), "streamToken": self._relay.stream_token, "wait": str(HOLD)}
        if question_id:
            query["ask"] = question_id
        reply = await self._exchange("GET", "poll-answer", query)
        told = reply.data if reply is not None and reply.status == 200 else {}
        return told if str(told.get("status")) in _ENDS else None

    async def _exchange(
        self,
        method: str,
        route: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response | None:
        """The relay's response; None where there is none that says anything. RelayRefused when it wants none of us."""
        url, seconds = f"{self._relay.api_url}/claude/{route}", HOLD + ANSWER_WITHIN
        given = {**self._headers(), **(headers or {})}
        try:
            reply = await fetch(method, url, query=query, headers=given, body=body, seconds=seconds)
        except OSError as error:
            logger.info("The relay is away: %s", error)
            await in_thread(self._look_again)
            return None
        if 400 <= reply.status < 500:
            why = reply.data.get("error") or reply.text
            raise RelayRefused(f"The relay refused this question ({reply.status}): {one_line(str(why), 300)}")
        return reply if 200 <= reply.status < 300 else None

    def _headers(self) -> dict[str, str]:
        return {"X-CSRF-Token": self._relay.csrf_token} if self._relay.csrf_token else {}

    def _look_again(self) -> None:
        """A web server that was restarted may be elsewhere, and then says so in the same file."""
        try:
            fresh = relay_file.read(self._relay.file) if self._relay.file else self._relay
        except ConfigError:
            return
        if fresh.stream_token == self._relay.stream_token:
            self._relay = fresh


def _with_pictures(new: NewAsk, project: Path) -> NewAsk:
    """The question with the pictures of its options as they are now."""
    from sayso.asks import asked_pictures  # few questions have any

    return asked_pictures.read(new, project)


def told_of(ended: Ask, began: int) -> ToolResult:
    """What the agent is told of the end of its question, in a call that began then."""
    told = result(promptmanager.render(ended))
    if ended.outcome and ended.ended_at and ended.ended_at < began:
        add(told, "given_earlier", given_earlier(ended, now_ms()))
    return told


def _ended(new: NewAsk, told: Mapping[str, Any], asked_at: int) -> Ask:
    try:
        return relay.ended_ask(new, told, asked_at, now_ms())
    except InvalidInput as error:
        raise RelayRefused(f"What the relay brought back is no answer: {error}") from error
