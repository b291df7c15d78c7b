"""The client's own form as a surface for one ask, beside the inbox: shown, read, settled by, or given up.

Handshake clients hold the form open while the call waits; from 2026-07-28 on each form is a round of the call.
"""

from __future__ import annotations

import logging

from sayso.asks.model import CLIENT_FORM, Ask, Settler, State
from sayso.asks.waiting import Waiting
from sayso.clock import now_ms, ticks_ms
from sayso.config import Config
from sayso.errors import AlreadySettled, FormUnavailable, InvalidInput, SaysoError
from sayso.mcp_server import elicit
from sayso.mcp_server.caller import described, is_unattended
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.elicit import FormReply, Round
from sayso.mcp_server.forms import KEYS, Form, answers_from, form_for, form_for_words
from sayso.records import replace

logger = logging.getLogger(__name__)

MOST_FORMS = 3
"""How often a form that was filled in wrongly, or too fast, is shown."""


class ClientForm:
    """One ask in the form of the client that asks it. `is_late` says that a filled-in form came second."""

    def __init__(self, ask: Ask, ctx: CallContext, waiting: Waiting, config: Config) -> None:
        self.is_late = False
        self._ask, self._ctx, self._waiting, self._config = ask, ctx, waiting, config
        wanted = config.forms != "never" and ctx.client.shows_forms and not is_unattended(ctx)
        self._form = form_for(ask, ctx.request.version, described(ctx).client) if wanted else None

    @property
    def opens_at_once(self) -> bool:
        """Whether it is shown while the call is held, which is how handshake clients do it."""
        return self._form is not None and not self._ctx.comes_again and self._ask.state is State.PENDING

    async def stay_open(self) -> None:
        """Show it until it settles the ask or is given up. It is one way among others: the inbox goes on."""
        form = self._form
        try:
            for _ in range(MOST_FORMS):
                if form is None:
                    return
                begun = ticks_ms()
                form = await self._settle(await self._filled_in(form), ticks_ms() - begun)
        except SaysoError as error:
            logger.info("The client's form is not available: %s", error)

    async def _filled_in(self, form: Form) -> FormReply:
        """What somebody filled in, with the words that they want to add."""
        reply = await elicit.show(self._ctx, form)
        content, client = reply.content, described(self._ctx).client
        asked = form_for_words(self._ask, content, client) if reply.action == "accept" else None
        if asked is None:
            return reply
        words = await elicit.show(self._ctx, asked)
        return replace(words, content={**content, **words.content})

    def first_round(self) -> Form | None:
        """The form that a modern client is to show before the call waits."""
        return self._form if self._ctx.comes_again and self._ask.state is State.PENDING else None

    async def next_round(self, came: Round, reply: FormReply) -> Form | None:
        """Take what a modern client brought back. The form again where that did not fit, but not for ever."""
        if self._form is None or not came.keys:
            return None  # no form was sent that this could be the reply to
        if reply.action == "accept" and came.keys != KEYS:
            return self.first_round()  # filled in while another version of Sayso ran
        again = await self._settle(reply, now_ms() - came.at)
        return again if came.count < MOST_FORMS else None

    async def _settle(self, reply: FormReply, after_ms: int) -> Form | None:
        """Settle by what the form brought; the form again, with what was wrong, where that did not fit."""
        try:
            await self._settle_by(reply, after_ms)
        except AlreadySettled as error:
            self.is_late = reply.action == "accept"
            logger.info("The client's form came second: %s", error)
        except FormUnavailable as error:
            logger.info("Nothing was taken from the client's form: %s", error)
            # A quick hand is asked once more; a program is as fast again, until the form is given up.
            return elicit.once_more(self._form) if self._form and reply.action == "accept" else None
        except InvalidInput as error:
            return self._form and replace(self._form, message=f"{error}\n\n{self._form.message}")
        return None

    async def _settle_by(self, reply: FormReply, after_ms: int) -> None:
        desk, ask = self._waiting.desk, self._ask
        # All that is known is that the client says so: it names nobody.
        by = Settler(person=f"someone at {ask.asker.agent or ask.asker.client or 'the client'}", surface=CLIENT_FORM)
        if after_ms < self._config.form_reaction:
            raise FormUnavailable(elicit.too_fast(reply, after_ms))
        if reply.action == "accept":
            await self._waiting.do(desk.answer, ask.id, answers_from(ask, reply.content), by)
        else:
            await self._waiting.do(desk.decline if reply.action == "decline" else desk.cancel, ask.id, by)
