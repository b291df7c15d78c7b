"""Calls of `approve`: a permission is asked for in the inbox, Claude's own questions become ordinary asks.

Deny on doubt: whatever goes wrong is told as a denial that says why, and never as an allow.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sayso.asks.desk import Held
from sayso.asks.happening import CALL_ENDED
from sayso.asks.model import Ask
from sayso.asks.waiting import Waiting
from sayso.bridge import in_thread
from sayso.dialects import approve as dialect
from sayso.dialects.approve import Permission
from sayso.errors import InvalidInput, SaysoError, StoreError, StoreFull, WaitEnded
from sayso.mcp_server.ask import AskCalls
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.heartbeat import ClientPatience
from sayso.mcp_server.replies import result
from sayso.permissions.action import Action, differing_parts
from sayso.permissions.ruled import asked_by
from sayso.permissions.standing import StandingAllows
from sayso.permissions.verdict import AllowedAction, allowed_by
from sayso.protocol.results import ToolResult

logger = logging.getLogger(__name__)

T = TypeVar("T")

NAME = dialect.NAME
CUT = (
    "Sayso could not put this request to the user as it is: it holds half of a surrogate pair, which is no character. "
    "Remove or replace it."
)
SPACE_SECONDS = 10.0
"""For how long a permission that the user was asked for waits for space on a full disk before it is denied."""
SPACE_EVERY = 1.0
NOT_KEPT = "Sayso could not keep what the user decided, or learn of it: {error} So this may not be done now."


class ApproveCalls:
    """Serves `approve` of one server process, with which it forgets what was allowed for the rest of the run."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._asks = backend, AskCalls(backend, strict=True)
        self._allowed = StandingAllows()
        """Which session was allowed which action from then on."""

    async def call(self, ctx: CallContext) -> ToolResult:
        try:
            permission = dialect.read(ctx.arguments)
            if permission.is_question:
                return await self._ask(ctx)
            if ctx.request.mended:
                return _denied(CUT)
            return await self._permit(permission, ctx)
        except InvalidInput as error:
            return _denied(f"Sayso could not put this request to the user: {error}")
        except SaysoError as error:
            logger.error("A permission could not be asked for: %s", error)
            return _denied(f"Sayso could not ask the user: {error}")
        except Exception:
            # The top: a fault of ours must not leave a client to its own idea of what that means.
            logger.exception("A permission could not be asked for")
            return _denied("Sayso failed on this request; its log says why.")

    async def _ask(self, ctx: CallContext) -> ToolResult:
        """Claude's own questions: an ask like any other, whose answers go back as part of the tool's input."""
        told = await self._asks.call(dialect.question_tool(), ctx)
        if isinstance(told, ToolResult) and not told.is_error:
            # A client that reads the data first would find another form there than the one it wants.
            told.data = None
            return told
        texts = told.texts if isinstance(told, ToolResult) else []
        return _denied(" ".join(texts) or "The user could not be asked. Do not assume an answer.")

    async def _permit(self, permission: Permission, ctx: CallContext) -> ToolResult:
        await self._backend.find_run()
        asker = self._backend.asker_of(ctx)
        action = await in_thread(self._action, permission, ctx)
        waiting, permissions = await self._backend.waiting(), (await self._backend.desks()).permissions
        ruled = await waiting.do(permissions.by_rules, action, asker)
        if ruled.denied:
            return result(dialect.deny(ruled.denied))
        if ruled.allowed:
            return result(dialect.allow(permission.given))
        before = self._allowed.find(asker.session, action.digest, asker.run, asked_by=ruled.asked_by)
        if before and ruled.accepts_earlier_yes and not asker.agent:
            logger.info("Allowed %s again, as the user said", permission.tool)
            again = AllowedAction(action=action, ask=before)
            await waiting.do(permissions.note_handed_over, again, asker)
            return result(dialect.allow(permission.given))
        held = await waiting.hold(dialect.ask_for(action, asker, self._backend.config, ruled))
        try:
            ask = await self._decided(held, waiting, ctx)
            changed = await in_thread(self._changed, action, permission, ask, ctx)
            if changed:
                await waiting.do(waiting.desk.void, ask.id, f"changed after it was shown: {' and '.join(changed)}")
            elif allowed := allowed_by(ask):
                await self._as_soon_as_there_is_space(lambda: waiting.do(permissions.note_handed_over, allowed, asker))
        except StoreError as error:
            logger.error("A permission came to nothing: %s", error)
            await waiting.release(held, CALL_ENDED)
            return result(dialect.deny(NOT_KEPT.format(error=error)))
        except BaseException:
            # Whatever ends this call ends the ask too.
            await waiting.release(held, CALL_ENDED)
            raise
        if not changed and dialect.is_for_the_rest(ask) and ask.outcome:
            self._allowed.keep(asker.session, ask.outcome.digest, asker.run, ask.id, knowing=asked_by(ask))
        self._backend.note_delivery(ctx, held)
        return result(dialect.decision(ask, changed))

    async def _decided(self, held: Held, waiting: Waiting, ctx: CallContext) -> Ask:
        """The ask once it has ended."""
        await self._backend.note_in_run(held.ask)
        self._backend.clean_up()

        def tell(ask: Ask) -> None:
            self._backend.send_out(self._asks.notify(ask, waiting, after=0))

        tell(held.ask)
        async with ClientPatience(ctx, self._backend):
            return await self._as_soon_as_there_is_space(lambda: waiting.outcome(held, tell))
        raise WaitEnded("The server is stopping.")

    async def _as_soon_as_there_is_space(self, work: Callable[[], Awaitable[T]]) -> T:
        """What this brings, tried again while the disk is full: a verdict of the user's is not thrown away for that."""
        end = time.monotonic() + SPACE_SECONDS
        while True:
            try:
                return await work()
            except StoreFull as error:
                if self._backend.stopping or time.monotonic() >= end:
                    raise
                logger.warning("A permission has to wait for the store: %s", error)
                await self._backend.pause(SPACE_EVERY)

    def _changed(self, shown: Action, permission: Permission, ask: Ask, ctx: CallContext) -> tuple[str, ...]:
        """What is not as it was shown to whoever decided."""
        elsewhere = self._backend.asker_of(ctx).agent
        as_edited = () if elsewhere else dialect.turned_links(ask, self._backend.folder_of(ctx))
        return (*differing_parts(shown, self._action(permission, ctx)), *as_edited)

    def _action(self, permission: Permission, ctx: CallContext) -> Action:
        """What the agent wants to do, as things stand now."""
        asker = self._backend.asker_of(ctx)
        if asker.agent:
            # An agent that came over HTTP means files of its own machine.
            return dialect.wanted_action(permission, asker.project, None)
        return dialect.wanted_here(permission, self._backend.folder_of(ctx))


def _denied(why: str) -> ToolResult:
    return result(dialect.deny(f"{why} It was not allowed."))
