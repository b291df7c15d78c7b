"""Calls of the ask tools: open the ask, hold on while inbox and client form show it, hand the outcome over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types

from sayso.asks.desk import Held, now_ms
from sayso.asks.model import Ask, Asker, Settler, State
from sayso.asks.waiting import Waiting
from sayso.clients import call_limit, has_progress, is_headless
from sayso.dialects.dialect import AskTool, Reply, Request
from sayso.dialects.outcomes import STILL_WAITING, outcome_data
from sayso.errors import AlreadySettled, FormUnavailable, InvalidInput, NotFound, SaysoError
from sayso.mcp_server import elicit
from sayso.mcp_server.caller import Context
from sayso.mcp_server.elicit import Round
from sayso.mcp_server.office import Office
from sayso.notify import Notifier

logger = logging.getLogger(__name__)

HEARTBEAT = 10.0
"""Seconds between two signs of life while a call is held."""

MOST_ROUNDS = 8
"""Clients give up after ten rounds of one call; the last ones are left for a form."""

MOST_FORMS = 3
"""How often a form that was filled in wrongly is shown."""

Result = types.CallToolResult | types.InputRequiredResult


class AskCalls:
    """Serves the ask tools of one server process."""

    def __init__(self, office: Office, *, strict: bool) -> None:
        self.office, self.config, self.strict = office, office.config, strict
        self._notifier = Notifier(office.config)

    async def call(self, tool: AskTool, ctx: Context, params: types.CallToolRequestParams) -> Result:
        """Put the call's questions to a person and wait. Every end is a result; only a cancel is not."""
        try:
            request = tool.read(params.arguments or {}, self.office.asker_of(ctx), self.config)
        except InvalidInput as error:
            return result(tool.refuse(error))
        try:
            waiting = await self.office.waiting()
            if not request.waits:
                return await self._leave(request, waiting)
            held = await self._take_up(request, waiting, Round.of(params))
        except SaysoError as error:
            logger.error("Session failed: %s", error)
            return failure(error)
        self.office.clean_up()
        return await Call(self, request, held, waiting, ctx, params).hold_on()

    async def _take_up(self, request: Request, waiting: Waiting, came: Round | None) -> Held:
        """The ask of this call: the one it brings back, the same one asked before, or a new one."""
        if came:
            try:
                if held := await waiting.attach(came.ask, request.new.timeout_ms):
                    return held
            except NotFound:
                logger.info("The ask a call came back for is gone; asking anew")
        return await waiting.hold(request.new)

    async def _leave(self, request: Request, waiting: Waiting) -> types.CallToolResult:
        ask = await waiting.do(waiting.desk.leave, request.new)
        self.office.clean_up()
        self.office.start(self.notify(ask, waiting, after=0))
        return result(pending(ask))

    async def notify(self, ask: Ask, waiting: Waiting, after: float) -> None:
        """Tell the person in their own way, unless a surface shows the ask or it has been settled by then."""
        await asyncio.sleep(after)
        if not self._notifier.configured:
            return
        try:
            seen = await waiting.do(waiting.desk.open_surfaces)
            now = await waiting.do(waiting.desk.get, ask.id)
        except SaysoError as error:
            logger.warning("Could not look who sees ask %s: %s", ask.id, error)
            return
        if not seen and now.state is State.PENDING:
            await self._notifier.tell(now)

    async def somebody_looks(self, waiting: Waiting) -> bool:
        """Whether a person can answer elsewhere than in the client's form."""
        return self._notifier.configured or bool(await waiting.do(waiting.desk.open_surfaces))

    async def news(self, asker: Asker, ask: Ask, waiting: Waiting) -> str:
        """A sentence about earlier questions of this asker whose answers still wait for it."""
        try:
            owed = await waiting.do(waiting.desk.undelivered, asker)
        except SaysoError:
            return ""
        settled = [one.id for one in owed if not one.state.answerable and one.id != ask.id and one.wait is None]
        if not settled:
            return ""
        ids = ", ".join(settled)
        return f"Answers to earlier questions of yours have arrived ({ids}). Call get_answers to receive them."


class Call:
    """One call of an ask tool while it is held."""

    def __init__(
        self,
        calls: AskCalls,
        request: Request,
        held: Held,
        waiting: Waiting,
        ctx: Context,
        params: types.CallToolRequestParams,
    ) -> None:
        self._calls, self._request, self._held, self._waiting, self._ctx = calls, request, held, waiting, ctx
        self._meta: Mapping[str, Any] = dict(ctx.meta or {})
        self._round = Round.of(params)
        self._reply = elicit.brought_back(params)

    async def hold_on(self) -> Result:
        held = self._held
        try:
            if form := await self._modern_form():
                return await self._come_again(form)
            ask = await self._outcome()
            if ask is None:
                return await self._not_yet()
        except asyncio.CancelledError:
            logger.info("Session failed: the client let go of it %s", _names(held.ask))
            await self._waiting.release(held, "the client let go of the call")
            raise
        except SaysoError as error:
            logger.error("Session failed: %s %s", error, _names(held.ask))
            await self._waiting.release(held, "the store failed")
            return failure(error)
        return await self._hand_over(ask)

    async def _outcome(self) -> Ask | None:
        """The ask once it has ended, or None when the client's patience does first."""
        config = self._calls.config
        limit = None if self._calls.strict else call_limit(self._held.ask.asker.client, self._meta, config)
        ask: Ask | None = None
        trouble: SaysoError | None = None
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._beat)
            beside.start_soon(self._show_and_tell)
            with anyio.move_on_after(limit):
                try:
                    ask = await self._waiting.outcome(self._held)
                except SaysoError as error:
                    trouble = error
            beside.cancel_scope.cancel()
        if trouble:
            raise trouble
        return ask

    async def _beat(self) -> None:
        """Endless until the call ends: tell the client that it is not forgotten."""
        if not has_progress(self._meta):
            return
        begun, beats = anyio.current_time(), 0
        while True:
            await anyio.sleep(HEARTBEAT)
            beats += 1
            waited = f"Waiting for the user, {anyio.current_time() - begun:.0f} s"
            await self._ctx.session.report_progress(beats, None, waited)

    async def _show_and_tell(self) -> None:
        """Bring the ask before the person: in the client's form, or else by a notification."""
        form = self._legacy_form()
        reaction = self._calls.config.form_reaction / 1000
        if not self._held.reattached:
            self._calls.office.start(self._calls.notify(self._held.ask, self._waiting, after=reaction if form else 0))
        try:
            for _ in range(MOST_FORMS):
                if form:
                    begun = now_ms()
                    form = await self._settle_by_form(form, await elicit.show(self._ctx, form), now_ms() - begun)
        except SaysoError as error:
            # The form is one way among others: the inbox goes on.
            logger.info("The client's form is not available: %s", error)

    def _forms_wanted(self) -> bool:
        return (
            not self._calls.strict
            and self._calls.config.forms != "never"
            and self._held.ask.state is State.PENDING
            and elicit.can_show_forms(self._ctx)
            and not is_headless(self._meta)
        )

    def _legacy_form(self) -> elicit.Form | None:
        if elicit.is_modern(self._ctx) or not self._forms_wanted():
            return None
        return elicit.form_for(self._held.ask, self._ctx.protocol_version)

    async def _modern_form(self) -> elicit.Form | None:
        """A form to show now. It blocks the agent until it is filled in: only where nobody could answer elsewhere."""
        if not elicit.is_modern(self._ctx) or not self._forms_wanted():
            return None
        form = elicit.form_for(self._held.ask, self._ctx.protocol_version)
        if form and self._round:
            if not self._reply or self._round.count >= MOST_FORMS:
                return None
            return await self._settle_by_form(form, self._reply, now_ms() - self._round.at)
        if self._calls.config.forms == "auto" and await self._calls.somebody_looks(self._waiting):
            return None
        return form

    async def _settle_by_form(self, form: elicit.Form, reply: types.ElicitResult, after_ms: int) -> elicit.Form | None:
        """Settle by what the form brought; the form again, with what was wrong, where that did not fit.
        Too fast a no came from no person."""
        desk, ask = self._waiting.desk, self._held.ask
        by = Settler(person=ask.asker.client, surface="client form")
        try:
            if reply.action == "accept":
                answers = elicit.answers_from(ask, reply.content or {})
                await self._waiting.do(desk.answer, ask.id, answers, by)
            elif after_ms < self._calls.config.form_reaction:
                raise FormUnavailable(elicit.too_fast(reply, after_ms))
            else:
                await self._waiting.do(desk.decline if reply.action == "decline" else desk.cancel, ask.id, by)
        except AlreadySettled as error:
            logger.info("The client's form came second: %s", error)
        except FormUnavailable as error:
            logger.info("Nothing was taken from the client's form: %s", error)
        except InvalidInput as error:
            return elicit.Form(message=f"{error}\n\n{elicit.message_of(ask)}", schema=form.schema)
        return None

    async def _come_again(self, form: elicit.Form | None) -> types.InputRequiredResult:
        """Let a modern client call again, with the form's reply or only with a fresh clock."""
        await self._waiting.release(self._held, "the client will call again")
        count = self._round.count + 1 if self._round else 1
        state = Round(ask=self._held.ask.id, at=now_ms(), count=count, form=form is not None)
        return elicit.input_required(state.sealed_later(), form)

    async def _not_yet(self) -> Result:
        """The client would soon give up: a fresh round where it knows them, else a result that says `pending`."""
        if elicit.is_modern(self._ctx) and (self._round is None or self._round.count < MOST_ROUNDS):
            return await self._come_again(None)
        await self._waiting.release(self._held, "the client's time limit was near")
        return result(pending(self._held.ask))

    async def _hand_over(self, ask: Ask) -> types.CallToolResult:
        if ask.state is State.TIMED_OUT:
            logger.warning("Session failed: timed out %s", _names(ask))
        else:
            logger.info("Session completed successfully %s (%s)", _names(ask), ask.state)
        told = result(self._request.render(ask))
        if not self._calls.strict and (news := await self._calls.news(ask.asker, ask, self._waiting)):
            told.content.append(types.TextContent(type="text", text=news))
        self._calls.office.note_delivery(self._ctx, self._held)
        return told


def pending(ask: Ask) -> Reply:
    """Not an answer and not an error: the question is open, and how to come back for it."""
    return Reply(text=STILL_WAITING.format(ask_id=ask.id), data={**outcome_data(ask), "outcome": "pending"})


def failure(error: SaysoError) -> types.CallToolResult:
    """A fault of ours or of the machine's, as a result."""
    data = {"outcome": "failed", "error": str(error)}
    return result(Reply(text=f"{error} No answer was given; do not assume one.", data=data, is_error=True))


def result(reply: Reply) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reply.text)],
        structured_content=reply.data,
        is_error=reply.is_error,
    )


def _names(ask: Ask) -> str:
    return f"sessionId={ask.id} callId={ask.call_id}"
