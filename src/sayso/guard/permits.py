"""The way to the permission desk: each call of a guarded tool, and each list of tools, as a permission that is held.

Anything but an allow of this very action is a no, and so is whatever goes wrong.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from sayso.asks.desk import Held
from sayso.asks.model import SAY_SO, Ask, Kind, NewAsk, Question
from sayso.asks.waiting import Waiting
from sayso.bridge import BackgroundTasks, Patience
from sayso.clients import call_limit, has_progress
from sayso.config import Config
from sayso.dialects import approve
from sayso.errors import SaysoError
from sayso.guard import words
from sayso.guard.calls import GuardedCall, GuardedServer
from sayso.guard.passage import GuardOutcome
from sayso.mcp_server.ask import AskCalls
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.caller import beside_us
from sayso.permissions.action import Action, AllowScope, action_from, asking
from sayso.permissions.ruled import asked_by
from sayso.permissions.standing import StandingAllows
from sayso.permissions.verdict import AllowedAction, Decision, allowed_by, verdict_of
from sayso.protocol.messages import Json, RequestId
from sayso.protocol.request import ClientInfo

logger = logging.getLogger(__name__)

Begin = Callable[["Permits"], None]
"""Hears when asking has begun."""

_GIVEN_UP = "the call that wanted it has ended"


class OutcomeListener(Protocol):
    """Who hears what came of it."""

    def decided(self, key: RequestId, outcome: GuardOutcome) -> None: ...
    def accepted(self, outcome: GuardOutcome) -> None: ...
    def still_held(self, key: RequestId, waited: float) -> None: ...


def serve(config: Config, server: GuardedServer, told: OutcomeListener, begin: Begin) -> None:
    """Ask for all that comes, until stopped."""
    gc.freeze()  # all that was imported stays
    gc.enable()
    asyncio.run(_serve(config, server, told, begin))


async def _serve(config: Config, server: GuardedServer, told: OutcomeListener, begin: Begin) -> None:
    async with Backend(config, asker_of=lambda ctx: beside_us(ctx.client, ctx.meta, config)) as backend:
        permits = Permits(config, server, told, backend)
        begin(permits)
        await permits.until_stopped()


class Permits:
    """Holds the permissions of one guard. Allows for the rest of a session are forgotten with it."""

    def __init__(self, config: Config, server: GuardedServer, told: OutcomeListener, backend: Backend) -> None:
        self._config, self._server, self._told, self._backend = config, server, told, backend
        self._asks = AskCalls(backend, strict=True)
        self._calls: dict[RequestId, asyncio.Task[None]] = {}
        self._offer: asyncio.Task[None] | None = None
        self._tasks = BackgroundTasks()
        self._allowed = StandingAllows()
        """Which session was allowed which action from then on."""
        self._stopped = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def until_stopped(self) -> None:
        await self._stopped.wait()  # endless: a client may stay for days
        await self._tasks.cancel()

    # What the loop wants

    def wake(self, work: Callable[[], None]) -> None:
        """From another thread: do this in the one of the event loop, unless that has ended."""
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            logger.info("Asking has ended already")

    def ask(self, call: GuardedCall) -> None:
        task = self._tasks.start(self._decide(call))
        self._calls[call.id] = task
        task.add_done_callback(lambda done: self._forget(call.id, done))

    def withdraw(self, call: GuardedCall) -> None:
        if task := self._calls.pop(call.id, None):
            task.cancel()

    def offer(self, action: Json, client: ClientInfo) -> None:
        if self._offer:
            self._offer.cancel()
        self._offer = self._tasks.start(self._accept(action_from(action), client))

    def void(self, outcome: GuardOutcome, why: str) -> None:
        self._tasks.start(self._void(outcome, why))

    def stop(self) -> None:
        self._stopped.set()

    def _forget(self, key: RequestId, task: asyncio.Task[None]) -> None:
        if self._calls.get(key) is task:
            del self._calls[key]

    # Asking

    async def _decide(self, call: GuardedCall) -> None:
        self._told.decided(call.id, await _in_doubt_no(self._call_outcome(call)))

    async def _accept(self, action: Action, client: ClientInfo) -> None:
        question = Question(id=SAY_SO, kind=Kind.CONFIRM, text="May agents see and use these tools, as they are here?")
        asker = beside_us(client, {}, self._config)
        title = f"Accept the tools of {self._server.name}?"
        new = NewAsk(tool=action.tool, title=title, questions=(question,), asker=asker)
        self._told.accepted(await _in_doubt_no(self._outcome(asking(new, action, (AllowScope.ONCE,)), action)))

    async def _call_outcome(self, call: GuardedCall) -> GuardOutcome:
        action, asker = action_from(call.action), beside_us(call.client, call.meta, self._config)
        self._backend.note_at_work(asker)
        waiting, permissions = await self._backend.waiting(), (await self._backend.desks()).permissions
        ruled = await waiting.do(permissions.by_rules, action, asker)
        if ruled.denied:
            return GuardOutcome(refusal=ruled.denied)
        if ruled.allowed:
            return GuardOutcome(digest=action.digest, ask=ruled.allowed.ask)
        before = self._allowed.find(asker.session, action.digest, (), asked_by=ruled.asked_by)
        if before and ruled.accepts_earlier_yes:
            await waiting.do(permissions.note_handed_over, AllowedAction(action=action, ask=before), asker)
            return GuardOutcome(digest=action.digest, ask=before)
        limit = call_limit(call.client.name, call.meta, self._config)
        beat = self._tasks.start(self._beat(call)) if has_progress(call.meta) else None
        try:
            outcome = await self._outcome(approve.ask_for(action, asker, self._config, ruled), action, limit)
        finally:
            if beat:
                beat.cancel()
        return outcome

    async def _outcome(self, new: NewAsk, action: Action, limit: float | None = None) -> GuardOutcome:
        """What a person says to it. However this ends, the permission ends with it."""
        waiting = await self._backend.waiting()
        held = await waiting.hold(new)
        try:
            self._backend.clean_up()
            self._tell(held.ask, waiting)
            ask = await self._ended(held, waiting, limit)
            if ask is None:
                await waiting.release(held, "the client's time limit was near")
                return GuardOutcome(refusal=words.LIMIT)
            if allowed := allowed_by(ask):
                # Before it is done: whoever is killed in between has logged too much, and never too little.
                permissions = (await self._backend.desks()).permissions
                await waiting.do(permissions.note_handed_over, allowed, new.asker)
            await waiting.delivered(held)
        except BaseException:
            await waiting.release(held, _GIVEN_UP)
            raise
        outcome = _outcome_in(ask, action)
        if outcome.digest and approve.is_for_the_rest(ask):
            self._allowed.keep(new.asker.session, outcome.digest, (), ask.id, knowing=asked_by(ask))
        return outcome

    async def _ended(self, held: Held, waiting: Waiting, limit: float | None) -> Ask | None:
        async with Patience(limit):
            return await waiting.outcome(held, lambda ask: self._tell(ask, waiting))
        return None

    def _tell(self, ask: Ask, waiting: Waiting) -> None:
        self._backend.send_out(self._asks.notify(ask, waiting, after=0))

    async def _beat(self, call: GuardedCall) -> None:
        """Signs of life, until cancelled."""
        begun = time.monotonic()
        while True:
            await asyncio.sleep(self._config.heartbeat / 1000)
            self._told.still_held(call.id, time.monotonic() - begun)

    async def _void(self, outcome: GuardOutcome, why: str) -> None:
        try:
            waiting = await self._backend.waiting()
            await waiting.do(waiting.desk.void, outcome.ask, why)
        except SaysoError as error:
            logger.warning("Could not note that ask %s came to nothing: %s", outcome.ask, error)


def _outcome_in(ask: Ask, action: Action) -> GuardOutcome:
    verdict = verdict_of(ask)
    if verdict is None or verdict.decision is Decision.UNDECIDED:
        return GuardOutcome(refusal=words.UNDECIDED, ask=ask.id)
    if not verdict.allowed or not verdict.digest or verdict.action is None:
        return GuardOutcome(refusal=words.denied(verdict.person, verdict.surface, verdict.because), ask=ask.id)
    arguments = None if verdict.allows(action) else verdict.action.data.get("input")
    return GuardOutcome(digest=verdict.digest, arguments=arguments, ask=ask.id, person=verdict.person)


async def _in_doubt_no(asked: Coroutine[Any, Any, GuardOutcome]) -> GuardOutcome:
    try:
        return await asked
    except SaysoError as error:
        logger.error("A permission could not be asked for: %s", error)
        return GuardOutcome(refusal=words.FAILED.format(why=error))
    except Exception:
        # The top: a fault of ours must not leave a call hanging.
        logger.exception("A permission could not be asked for")
        return GuardOutcome(refusal=words.FAILED.format(why="an error of its own; its log says more"))
