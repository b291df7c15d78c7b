"""Calls of the ask tools: open the ask, hold on while inbox and client form show it, hand the outcome over."""

from __future__ import annotations

import asyncio
import logging

from sayso import records
from sayso.asks.desk import Held
from sayso.asks.handed_files import with_places
from sayso.asks.model import Ask, Asker, Away, NewAsk, State
from sayso.asks.waiting import Waiting
from sayso.bridge import in_thread
from sayso.clients import call_limit, known
from sayso.clock import now_ms
from sayso.dialects.dialect import AskRequest, AskTool
from sayso.dialects.outcomes import given_earlier, is_wiped
from sayso.errors import InvalidInput, NotFound, SaysoError, WaitEnded
from sayso.mcp_server import elicit
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.client_form import ClientForm
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.elicit import Round
from sayso.mcp_server.forms import KEYS, Form
from sayso.mcp_server.heartbeat import ClientPatience
from sayso.mcp_server.held_calls import WaitingCall, drops_calls
from sayso.mcp_server.replies import add, failure, pending, result, say_stopping
from sayso.notify import Notifier
from sayso.protocol.results import InputRequired, ToolResult
from sayso.records import replace

logger = logging.getLogger(__name__)

MOST_ROUNDS = 8
"""Clients give up after ten rounds of one call; the last ones are left for a form."""

MOST_ROUNDS_WHEN_STOPPING = 3
"""A client that still comes to a server that stops finds no other, and has to hear of it before the door is closed."""

Result = ToolResult | InputRequired

_FORM_CAME_LATE = "The client's form was filled in too late, and nothing of it was used: {who} had settled this before."
_STOPPED = "The server is stopping; the question stays open. Make the same call again: it is not asked twice."


class AskCalls:
    """Serves the ask tools of one server process."""

    def __init__(self, backend: Backend, *, strict: bool) -> None:
        self.backend, self.config, self.strict = backend, backend.config, strict
        self._notifier = Notifier(backend.config)

    async def call(self, tool: AskTool, ctx: CallContext) -> Result:
        """Put the call's questions to a person and wait. Every end is a result; only a cancel is not."""
        try:
            await self.backend.find_run()
            request = tool.read(ctx.arguments, self.backend.asker_of(ctx), self.config)
            if any(question.is_visual for question in request.new.questions):
                request = await in_thread(self._with_pictures, request, ctx)
            waiting = await self.backend.waiting()
            with waiting.leaving.call() as tell, self.backend.held_calls.waits(ctx) as call:
                ctx.when_written(tell)
                begun = await (self._wait if request.waits else self._leave)(request, waiting, ctx, call)
                # From here on, and from no further in: each frame of a call that waits takes its memory.
                return await begun.hold_on() if isinstance(begun, HeldCall) else begun
        except InvalidInput as error:
            return result(tool.refuse(error))
        except SaysoError as error:
            logger.error("Session failed: %s", error)
            return failure(error)

    def _with_pictures(self, request: AskRequest, ctx: CallContext) -> AskRequest:
        """The request with the pictures of its options as they are now."""
        from sayso.asks import asked_pictures  # few questions have any

        folder = None if request.new.asker.agent else self.backend.folder_of(ctx)
        return records.replace(request, new=asked_pictures.read(request.new, folder))

    async def _wait(
        self, request: AskRequest, waiting: Waiting, ctx: CallContext, call: WaitingCall | None
    ) -> HeldCall:
        if call and not self.strict:
            await self.backend.held_calls.recall(lambda call: call.is_about(request.new))
        if call:
            call.new = request.new
        held = await self._take_up(self._within_limit(request, ctx), waiting, Round.of(ctx))
        if call:
            call.asks = (held.ask,)
        await self.backend.note_in_run(held.ask)
        self.backend.clean_up()
        return HeldCall(self, request, held, waiting, ctx, call)

    def _within_limit(self, request: AskRequest, ctx: CallContext) -> AskRequest:
        """The request with what its client's patience makes of its time limit. A modern client goes on waiting in the
        next round, where that has a clock of its own."""
        if self.strict or _has_rounds(ctx):
            return request
        limit = call_limit(request.new.asker.client, ctx.meta, self.config)
        new = replace(request.new, call_limit_ms=int(limit * 1000) if limit else None)
        return records.replace(request, new=new)

    async def _take_up(self, request: AskRequest, waiting: Waiting, came: Round | None) -> Held:
        """The ask of this call: the one it brings back, the same one asked before, or a new one."""
        # The call before was just cancelled: let it let go, or a person is asked twice.
        await waiting.leaving.over()
        if came and (held := await self._attach(came, request.new.asker, waiting)):
            return held
        return await waiting.hold(request.new)

    async def _attach(self, came: Round, asker: Asker, waiting: Waiting) -> Held | None:
        left = None if came.until is None else max(came.until - now_ms(), 1)
        try:
            held = await waiting.attach(came.ask, left, asker)
        except NotFound:
            logger.info("The ask a call came back for is gone; asking anew")
            return None
        if held and is_wiped(held.ask):
            await waiting.release(held, "it was delivered before and wiped")
            return None
        return held

    async def _leave(
        self, request: AskRequest, waiting: Waiting, ctx: CallContext, call: WaitingCall | None
    ) -> HeldCall | Result:
        """Open the ask without waiting for it; if it was asked before and the answer is there, that."""
        ask = await waiting.do(waiting.desk.leave, request.new)
        await self.backend.note_in_run(ask)
        self.backend.clean_up()
        if not ask.state.answerable and (held := await waiting.attach(ask.id, asker=request.new.asker)):
            if call:
                call.asks = (held.ask,)
            return HeldCall(self, request, held, waiting, ctx, call)
        if ask.version == 1:
            self.backend.send_out(self.notify(ask, waiting, after=0))
        return pending(ask)

    async def notify(self, ask: Ask, waiting: Waiting, after: float) -> None:
        """Tell the person in their own way, unless a surface shows the ask or it has been settled by then."""
        if not self._notifier.reaches:
            return
        await self.backend.pause(after)
        try:
            desks = await self.backend.desks()
        except SaysoError as error:
            logger.warning("Could not look who sees ask %s: %s", ask.id, error)
            return
        await self._notifier.tell_in_time(ask, waiting, desks.presence, desks.bell)

    async def somebody_looks(self, ask: Ask, waiting: Waiting) -> bool:
        """Whether a person can answer elsewhere than in the client's form."""
        return self._notifier.configured or await waiting.do(waiting.desk.is_looked_at, ask)


class HeldCall:
    """One call of an ask tool while it is held."""

    def __init__(
        self,
        calls: AskCalls,
        request: AskRequest,
        held: Held,
        waiting: Waiting,
        ctx: CallContext,
        call: WaitingCall | None,
    ) -> None:
        self._calls, self._request, self._held, self._waiting, self._ctx = calls, request, held, waiting, ctx
        self._call = call
        self._left = False
        self._came = Round.of(ctx)
        self._reply = elicit.brought_back(ctx)
        # A form shows no pictures and no previews: what one chooses there would not be what was asked.
        hidden = calls.config.forms != "always" and any(question.is_visual for question in held.ask.questions)
        self._form = None if calls.strict or hidden else ClientForm(held.ask, ctx, waiting, calls.config)

    async def hold_on(self) -> Result:
        held = self._held
        try:
            form = await self._round_with_form()
            self._tell(form)
            if form:
                return await self._come_again(form)
            self._ctx.note(self._next_round().sealed_later())
            ask = None
            async with self._patience() as patience:
                try:
                    ask = await self._waiting.outcome(held)
                except asyncio.CancelledError:
                    if not patience.over:
                        self._let_go()
                    raise
            return await self._not_yet() if ask is None else await self._hand_over(ask)
        except SaysoError as error:
            logger.error("Session failed: %s %s", error, _names(held.ask))
            await self._waiting.release(held, "the store failed")
            return failure(error)
        except asyncio.CancelledError:
            logger.info("Session failed: the client let go of it %s", _names(held.ask))
            # Not waited for here: this call must end at once, and the same one made again waits until it has let go.
            self._let_go()
            raise
        except BaseException:
            await self._waiting.release(held, "its server failed")
            raise

    async def _round_with_form(self) -> Form | None:
        """A form that a modern client is to show now. It blocks the agent until it is filled in, so by itself only
        where nobody could answer elsewhere."""
        if self._form is None:
            return None
        if self._came:
            return await self._form.next_round(self._came, self._reply) if self._reply else None
        form = self._form.first_round()
        if form is None or self._calls.config.forms != "auto":
            return form
        return None if await self._calls.somebody_looks(self._held.ask, self._waiting) else form

    def _tell(self, form: Form | None) -> None:
        """Have the person told of a new ask; where the client shows a form, once that has had its moment."""
        if self._held.reattached:
            return
        shown = form is not None or (self._form is not None and self._form.opens_at_once)
        after = 2 * self._calls.config.form_reaction / 1000 if shown else 0
        self._calls.backend.send_out(self._calls.notify(self._held.ask, self._waiting, after))

    def _patience(self) -> ClientPatience:
        config = self._calls.config
        limit = None if self._calls.strict else call_limit(self._held.ask.asker.client, self._ctx.meta, config)
        waited = now_ms() - self._held.ask.created_at
        beside = self._form.stay_open if self._form and self._form.opens_at_once else None
        patience = ClientPatience(self._ctx, self._calls.backend, limit, waited, beside)
        if self._call:
            self._call.wait_with(patience)
        return patience

    def _let_go(self) -> None:
        if not self._left:
            self._left = True
            self._waiting.leaving.let_go(self._held, "the client let go of the call")

    async def _come_again(self, form: Form | None) -> InputRequired:
        """Let a modern client call again, with the form's reply or only with a fresh clock."""
        held = replace(self._held, away=Away.IN_FORM) if form else self._held
        await self._waiting.release(held, "the client will call again")
        return elicit.input_required(self._next_round(form).sealed_later(), form)

    def _next_round(self, form: Form | None = None) -> Round:
        """What the client brings back when it comes again for this ask, which tells whether it was sent a form."""
        count, keys = self._came.count + 1 if self._came else 1, KEYS if form else ""
        return Round(ask=self._held.ask.id, at=now_ms(), count=count, until=self._held.wait.until, keys=keys)

    async def _not_yet(self) -> Result:
        """The client would soon give up, or we stop: a fresh round where it knows them, else a result that says
        `pending`."""
        most = MOST_ROUNDS_WHEN_STOPPING if self._calls.backend.stopping else MOST_ROUNDS
        is_helped = _has_rounds(self._ctx) or (self._ctx.comes_again and self._calls.backend.stopping)
        if is_helped and (self._came is None or self._came.count < most):
            return await self._come_again(None)
        # Before the client hears of it: it may come again at once, and to another process.
        why = "its server stopped" if self._calls.backend.stopping else "the client's time limit was near"
        if self._call and self._call.is_recalled:
            why = "another call of the agent came for it"
        await self._waiting.release(replace(self._held, away=Away.AT_WORK), why)
        # A strict profile has no word for "pending", and gets here only when we stop.
        if self._calls.strict:
            return failure(WaitEnded(_STOPPED))
        told = pending(self._held.ask)
        if self._calls.backend.stopping:
            say_stopping(told)
        return told

    async def _hand_over(self, ask: Ask) -> ToolResult:
        if ask.state is State.TIMED_OUT:
            logger.warning("Session failed: timed out %s", _names(ask))
        else:
            logger.info("Session completed successfully %s (%s)", _names(ask), ask.state)
        asker = self._request.new.asker
        files = await self._calls.backend.files_of(ask, asker)
        if self._request.is_words_alone:
            files = [replace(each, in_result=False) for each in files]
        told = result(self._request.render(_as_asked(with_places(ask, files), self._request.new)))
        if self._came is None and self._found_settled(ask):
            add(told, "given_earlier", given_earlier(ask, now_ms(), to_another=self._held.of_another))
        if self._form and self._form.is_late:
            first = ask.outcome.person if ask.outcome else ""
            add(told, "form", _FORM_CAME_LATE.format(who=first or "somebody"))
        if files:
            from sayso.mcp_server.files import put_into

            put_into(told, files, asker)
        self._calls.backend.note_delivery(self._ctx, self._held)
        if drops_calls(self._ctx):
            self._calls.backend.held_calls.note_told(ask)
        return told

    def _found_settled(self, ask: Ask) -> bool:
        """Whether it was settled before this call took it up. A further round is still the same call."""
        since = self._held.wait.since
        return self._held.reattached and not ask.state.answerable and (ask.ended_at or since) < since


def _has_rounds(ctx: CallContext) -> bool:
    """Whether its client waits longer when it is told to call again."""
    return ctx.comes_again and known(ctx.client.name).rounds_renew


def _as_asked(ask: Ask, new: NewAsk) -> Ask:
    """The ask as this call put it: the one that opened it may have given other ids, and another time limit."""
    ids = {mine.id: asked.id for mine, asked in zip(ask.questions, new.questions, strict=True)}
    questions = tuple(replace(question, id=ids[question.id]) for question in ask.questions)
    asked = replace(ask, questions=questions, timeout_ms=new.timeout_ms)
    if ask.outcome is None:
        return asked
    answers = tuple(replace(answer, question=ids[answer.question]) for answer in ask.outcome.answers)
    return replace(asked, outcome=replace(ask.outcome, answers=answers))


def _names(ask: Ask) -> str:
    return f"sessionId={ask.id} callId={ask.call_id}"
