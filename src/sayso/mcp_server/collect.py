"""Calls of `get_answers`: hand over what an agent asked earlier, hold on for it, mention it in other replies."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence, Set

from sayso.asks.desk import Held, Owed
from sayso.asks.handed_files import with_places
from sayso.asks.model import Ask, Asker, Away, State
from sayso.asks.sessions import is_nameless
from sayso.asks.waiting import Waiting
from sayso.bridge import BackgroundTasks, seen_through
from sayso.clients import call_limit
from sayso.desks import LOOK_EVERY
from sayso.dialects import get_answers as dialect
from sayso.dialects.dialect import ToolReply
from sayso.errors import InvalidInput, NotFound, SaysoError
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.heartbeat import ClientPatience
from sayso.mcp_server.held_calls import WaitingCall, drops_calls
from sayso.mcp_server.replies import add, failure, result, say_stopping
from sayso.protocol.results import ToolResult
from sayso.records import replace

logger = logging.getLogger(__name__)

MOST_QUIET = 256
MOST_MET = 20_000
"""More than one process has connections for: whoever is met again costs a look at all that its agent is owed."""


class QuietAgents:
    """Agents that were owed nothing, which is believed for a moment: only what other processes of the same agent do
    could be missed, and that not for long."""

    def __init__(self) -> None:
        self._until: dict[Asker, tuple[int, float]] = {}

    def holds(self, asker: Asker, changes: int) -> bool:
        """Whether that is still believed, when this process itself has changed things so many times."""
        before, until = self._until.get(asker, (changes, 0.0))
        return changes == before and time.monotonic() < until

    def add(self, asker: Asker, changes: int) -> None:
        """Nothing was owed at a look that began after so many changes."""
        if len(self._until) >= MOST_QUIET:
            self._until.clear()
        self._until[asker] = changes, time.monotonic() + LOOK_EVERY


class CollectCalls:
    """Serves `get_answers` of one server process."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._quiet = QuietAgents()
        self._met: dict[tuple[str, str, str], None] = {}
        """The sessions that have called, by the names their clients have for them, the oldest first."""

    async def meet(self, ctx: CallContext) -> None:
        """At the first call of a session: what it asked through servers before this one is its own again."""
        asker = self._backend.asker_of(ctx)
        session = (asker.agent, asker.client, asker.session)
        if not asker.session or session in self._met:
            return
        try:
            waiting = await self._backend.waiting()
            await waiting.do(waiting.desk.resume, asker)
        except SaysoError as error:
            logger.warning("Could not look for what session %s asked before: %s", asker.session, error)
            return
        if len(self._met) >= MOST_MET:
            del self._met[next(iter(self._met))]
        self._met[session] = None

    async def call(self, ctx: CallContext) -> ToolResult:
        try:
            return await self._collected(ctx, dialect.read(ctx.arguments))
        except InvalidInput as error:
            return result(ToolReply(text=str(error), data={"outcome": "invalid"}, is_error=True))
        except SaysoError as error:
            return failure(error)

    async def mention(self, ctx: CallContext, told: ToolResult) -> None:
        """Say in another tool's reply that answers to earlier questions of this agent wait for it."""
        try:
            owed = await self._owed(self._backend.asker_of(ctx))
        except SaysoError as error:
            logger.warning("Could not look for late answers: %s", error)
            return
        if owed and (owed.late or owed.perhaps):
            add(told, "late_answers", " ".join(dialect.mention(owed)))

    async def _owed(self, asker: Asker) -> Owed | None:
        """What there is for an agent; None for nothing at all, which is believed for a moment."""
        waiting = await self._backend.waiting()
        opened = waiting.desk.opened
        if self._quiet.holds(asker, opened):
            return None
        owed = await self._backend.look(waiting.desk.owed, asker)
        if owed.anything:
            return owed
        self._quiet.add(asker, opened)
        return None

    async def _collected(self, ctx: CallContext, wanted: dialect.WantedAnswers) -> ToolResult:
        waiting, asker = await self._backend.waiting(), self._backend.asker_of(ctx)
        asks = await self._freed(ctx, waiting, asker, wanted.ask_id)
        of_others = waiting.desk.of_other_sessions(asks, asker)
        awaited = _awaited(waiting, asks)
        for_long = wanted.wait and not any(_settled(ask) for ask in asks)
        # To hold on for what another session has asked takes it over: only who names it wants that.
        for_these = [ask for ask in asks if for_long and (wanted.ask_id or ask.id not in of_others)]
        free = [ask for ask in asks if ask.id not in awaited and (ask in for_these or _settled(ask))]
        held = await _take(waiting, asker, free)
        if wanted.ask_id is None:
            asks = [ask for ask in asks if not _settled(ask) or any(one.ask.id == ask.id for one in held)]
        asks = await self._hand_over(ctx, waiting, asks, held)
        return await self._told(ctx, asks, of_others, awaited)

    async def _freed(self, ctx: CallContext, waiting: Waiting, asker: Asker, ask_id: str | None) -> list[Ask]:
        """What is asked for, once no call of this agent holds on to it that has ended for its client."""
        asks = await self._asked(waiting, asker, ask_id)
        calls, named = self._backend.held_calls, {ask.id for ask in asks}
        recalled = drops_calls(ctx) and await calls.recall(lambda call: any(ask.id in named for ask in call.asks))
        # Who was just told that nobody has answered in time may wait on: no other call does.
        if await waiting.leaving.noted(ask.id for ask in asks if ask.state is State.TIMED_OUT) or recalled:
            return await self._asked(waiting, asker, ask_id)
        return asks

    async def _told(self, ctx: CallContext, asks: Sequence[Ask], of_others: Set[str], awaited: Set[str]) -> ToolResult:
        asker = self._backend.asker_of(ctx)
        files = {ask.id: await self._backend.files_of(ask, asker) for ask in asks}
        before = self._backend.held_calls.told if drops_calls(ctx) else ()
        nothing = dialect.NOTHING if asks else await self._nothing(asker)
        shown = [with_places(ask, files[ask.id]) for ask in asks]
        told = result(dialect.render(shown, of_others, awaited, before, nothing))
        if handed := [each for of_ask in files.values() for each in of_ask]:
            from sayso.mcp_server.files import put_into

            put_into(told, handed, asker)
        if self._backend.stopping and not all(_settled(ask) for ask in asks):
            say_stopping(told)
        return told

    async def _nothing(self, asker: Asker) -> str:
        """What is true where an agent gets nothing. Of one that nothing tells from its neighbours, what it asked is not
        known as long as this process lives."""
        return dialect.NOTHING_KNOWN if is_nameless(asker) and await self._owed(asker) else dialect.NOTHING

    async def _asked(self, waiting: Waiting, asker: Asker, ask_id: str | None) -> list[Ask]:
        """One ask by its id; or all that this agent is owed, also what other calls of its are waiting for."""
        if ask_id is not None:
            ask = await self._backend.look(waiting.desk.get, ask_id)
            if not asker.may_fetch_from(ask.asker):
                raise NotFound(f"No ask of this project has the id {ask_id!r}.")
            if ask.bound:
                raise NotFound(
                    f"The ask {ask_id!r} is a permission, not a question: its verdict is told only to the call that "
                    "asked for it. Make that call again if you still want to do it."
                )
            if await self._backend.look(waiting.desk.is_for_another, ask, asker):
                raise NotFound(
                    f"The ask {ask_id!r} is not yours: another session, which is still at work, asked it, and the "
                    "answer is for that one. Ask the person yourself if you need to know."
                )
            return [await self._without_dead_wait(waiting, ask)]
        asks = await self._backend.look(waiting.desk.undelivered, asker)
        if any(ask.wait for ask in asks):
            await waiting.do(waiting.desk.release_the_dead)
            asks = await self._backend.look(waiting.desk.undelivered, asker)
        return asks

    async def _without_dead_wait(self, waiting: Waiting, ask: Ask) -> Ask:
        if ask.wait is None:
            return ask
        await waiting.do(waiting.desk.release_the_dead)
        return await self._backend.look(waiting.desk.get, ask.id)

    async def _hand_over(
        self, ctx: CallContext, waiting: Waiting, asks: Sequence[Ask], held: Sequence[Held]
    ) -> list[Ask]:
        """How the asks stand once one of those held has ended, or the client's patience has."""
        with self._backend.held_calls.waits(ctx, *(one.ask for one in held)) as call:
            return await self._once_ended(ctx, waiting, asks, held, call)

    async def _once_ended(
        self, ctx: CallContext, waiting: Waiting, asks: Sequence[Ask], held: Sequence[Held], call: WaitingCall | None
    ) -> list[Ask]:
        try:
            await self._wait_for_one(ctx, waiting, held, call)
            # What is not held here is told as it stood: should it end just now, nobody could note that it was told.
            ours = {one.ask.id for one in held}
            asks = [await waiting.do(waiting.desk.get, ask.id) if ask.id in ours else ask for ask in asks]
        except BaseException:
            await _let_go(waiting, held)
            raise
        settled = {ask.id: ask for ask in asks if _settled(ask)}
        for one in held:
            if one.ask.id in settled:
                self._backend.note_delivery(ctx, replace(one, ask=settled[one.ask.id]))
            else:
                await waiting.release(replace(one, away=Away.AT_WORK), "the agent will come again")
        return list(asks)

    async def _wait_for_one(
        self, ctx: CallContext, waiting: Waiting, held: Sequence[Held], call: WaitingCall | None
    ) -> None:
        if not held or any(_settled(one.ask) for one in held):
            return
        limit = call_limit(held[0].ask.asker.client, ctx.meta, self._backend.config)
        async with ClientPatience(ctx, self._backend, limit) as patience:
            if call:
                call.wait_with(patience)
            await _first_end(waiting, held)


def _settled(ask: Ask) -> bool:
    return not ask.state.answerable


def _received(ask: Ask) -> bool:
    """Whether the agent has what a person said. Of one that timed out it has only heard that."""
    return ask.delivered and _settled(ask)


def _awaited(waiting: Waiting, asks: Sequence[Ask]) -> frozenset[str]:
    """The ids of those that another call waits for, such as one that its client has moved to the background: the answer
    comes with the result of that call."""
    in_hand = waiting.in_hand
    return frozenset(ask.id for ask in asks if ask.wait is not None or ask.id in in_hand)


async def _take(waiting: Waiting, asker: Asker, asks: Sequence[Ask]) -> list[Held]:
    """Hold what the agent has not received. What another call holds or has handed over is left to that one."""
    held: list[Held] = []
    try:
        for ask in asks:
            if _received(ask) or (taken := await waiting.attach(ask.id, asker=asker)) is None:
                continue
            if _received(taken.ask):
                await waiting.release(taken, "it was handed over meanwhile")
            else:
                held.append(taken)
    except BaseException:
        await _let_go(waiting, held)
        raise
    return held


async def _let_go(waiting: Waiting, held: Sequence[Held]) -> None:
    for one in held:
        await waiting.release(one, "the client let go of the call")


async def _first_end(waiting: Waiting, held: Sequence[Held]) -> None:
    """Until one of them has ended."""

    async def watch(one: Held) -> None:
        try:
            await waiting.outcome(one)
        except SaysoError as error:
            logger.warning("Ask %s can no longer be waited for: %s", one.ask.id, error)

    tasks = BackgroundTasks()
    try:
        await asyncio.wait([tasks.start(watch(one)) for one in held], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await seen_through(tasks.cancel())
