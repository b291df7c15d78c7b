"""Calls of `get_answers`: hand over what an agent asked earlier, and hold on for it if it wants."""

from __future__ import annotations

import asyncio
import logging

import anyio
import mcp_types as types

from sayso.asks.desk import Held
from sayso.asks.model import Ask, Asker
from sayso.asks.waiting import Waiting
from sayso.clients import call_limit
from sayso.dialects import get_answers as dialect
from sayso.dialects.dialect import Reply
from sayso.errors import InvalidInput, NotFound, SaysoError
from sayso.mcp_server.ask import failure, result
from sayso.mcp_server.caller import Context
from sayso.mcp_server.office import Office

logger = logging.getLogger(__name__)


class CollectCalls:
    """Serves `get_answers` of one server process."""

    def __init__(self, office: Office) -> None:
        self._office = office

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        asker = self._office.asker_of(ctx)
        held: list[Held] = []
        try:
            wanted = dialect.read(params.arguments or {})
            waiting = await self._office.waiting()
            asks = await _asked(waiting, asker, wanted.ask_id)
            held = await _take(waiting, asks, for_long=wanted.wait and not _settled(asks))
            if wanted.wait and not _settled(asks):
                limit = call_limit(asker.client, dict(ctx.meta or {}), self._office.config)
                await _first_end(waiting, held, limit)
            asks = [await waiting.do(waiting.desk.get, ask.id) for ask in asks]
            return await self._hand_over(ctx, waiting, held, asks)
        except asyncio.CancelledError:
            await _let_go(self._office, held)
            raise
        except InvalidInput as error:
            return result(Reply(text=str(error), data={"outcome": "invalid"}, is_error=True))
        except SaysoError as error:
            await _let_go(self._office, held)
            return failure(error)

    async def _hand_over(
        self, ctx: Context, waiting: Waiting, held: list[Held], asks: list[Ask]
    ) -> types.CallToolResult:
        open_ids = {ask.id for ask in asks if ask.state.answerable}
        for one in held:
            if one.ask.id in open_ids:
                await waiting.release(one, "the agent will come again")
            else:
                self._office.note_delivery(ctx, one)
        return result(dialect.render(asks))


async def _asked(waiting: Waiting, asker: Asker, ask_id: str | None) -> list[Ask]:
    if ask_id is None:
        return await waiting.do(waiting.desk.undelivered, asker)
    ask = await waiting.do(waiting.desk.get, ask_id)
    if (ask.asker.agent, ask.asker.project) != (asker.agent, asker.project):
        raise NotFound(f"No ask of this project has the id {ask_id!r}.")
    return [ask]


def _settled(asks: list[Ask]) -> bool:
    return any(not ask.state.answerable for ask in asks)


async def _take(waiting: Waiting, asks: list[Ask], *, for_long: bool) -> list[Held]:
    """Hold what is handed over, and what is waited for. What another call holds is left to that one."""
    wanted = [ask for ask in asks if not ask.delivered and (for_long or not ask.state.answerable)]
    taken = [await waiting.attach(ask.id) for ask in wanted]
    return [held for held in taken if held]


async def _first_end(waiting: Waiting, held: list[Held], limit: float | None) -> None:
    """Until one of them has ended, or the client's patience."""
    if not held:
        return
    with anyio.move_on_after(limit):
        async with anyio.create_task_group() as tasks:

            async def watch(one: Held) -> None:
                await waiting.outcome(one)
                tasks.cancel_scope.cancel()

            for one in held:
                tasks.start_soon(watch, one)


async def _let_go(office: Office, held: list[Held]) -> None:
    for one in held:
        await (await office.waiting()).release(one, "the client let go of the call")
