"""`sayso ask` at work: opens the ask, waits for its end, hands it to the caller. Needs the event loop, so it is
imported only when something is asked."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sayso.agent_guard import agent_behind
from sayso.asks.desk import Held
from sayso.asks.handed_files import with_files
from sayso.asks.model import Ask, NewAsk, State
from sayso.asks.waiting import Waiting
from sayso.asks.words import place
from sayso.bridge import BackgroundTasks
from sayso.cli.asks_in_words import status
from sayso.cli.shared import settler
from sayso.cli.terminal import say, takes_keys
from sayso.cli.texts import tr, translated
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import AlreadySettled, StoreError
from sayso.notify import Notifier
from sayso.text import one_line

logger = logging.getLogger(__name__)


def put_and_wait(config: Config, new: NewAsk, opened: Callable[[Held], None], ended: Callable[[Ask], None]) -> Ask:
    """Put the ask, tell when it is `opened`, and hand it to `ended` once it is no longer pending.

    It counts as delivered only when `ended` has returned. Interrupted, the ask stays open. A yes or no that was given
    before is only told of, as `opened`: things may have changed since, so it is asked again.
    """
    with open_desks(config) as desks:
        # Before there is an ask of this very process, by which it would take itself for an agent.
        plain = len(new.questions) == 1 and not new.questions[0].is_visual
        here = plain and takes_keys() and not agent_behind(desks)
        hear = _answered_here_or_elsewhere if here else _answered_elsewhere
        return asyncio.run(_ask(desks, new, opened, ended, hear))


def settled_before(held: Held) -> bool:
    """Whether a person had settled it before this call took it up."""
    return held.reattached and not held.ask.state.answerable


def is_old_yes_or_no(held: Held) -> bool:
    return settled_before(held) and held.ask.confirms and held.ask.state is State.ANSWERED


Hear = Callable[[Desks, Waiting, Held], Awaitable[Ask]]
"""How the end of an ask is waited for."""


async def _answered_elsewhere(desks: Desks, waiting: Waiting, held: Held) -> Ask:
    return await waiting.outcome(held)


async def _answered_here_or_elsewhere(desks: Desks, waiting: Waiting, held: Held) -> Ask:
    """The first answer counts, from whichever side; who looks here is told when it was not theirs."""
    if held.ask.state is not State.PENDING:
        return await waiting.outcome(held)
    from sayso.cli.answering_here import AnswerHere  # not every system has such terminals

    prompt = AnswerHere(held.ask)
    outcome, typed = asyncio.create_task(waiting.outcome(held)), asyncio.create_task(prompt.taken())
    sent = False
    try:
        await asyncio.wait((outcome, typed), return_when=asyncio.FIRST_COMPLETED)
        prompt.is_over()
        if (answer := await typed) and not outcome.done():
            with suppress(AlreadySettled):
                await waiting.do(desks.asks.answer, held.ask.id, [answer], settler(desks.config))
                sent = True
        ask = await outcome
    finally:
        typed.cancel()
        outcome.cancel()
        await asyncio.wait((outcome, typed))
    if not sent:
        _say_who_was_first(ask)
    return ask


def _say_who_was_first(ask: Ask) -> None:
    if ask.outcome and not ask.let_go:
        person, where = one_line(ask.outcome.person, 60) or tr("someone"), translated(place(ask.outcome.surface, 60))
        say(f"{translated(status(ask)).capitalize()}{tr(' by {person} {place}', person=person, place=where)}.")


async def _ask(
    desks: Desks, new: NewAsk, opened: Callable[[Held], None], ended: Callable[[Ask], None], hear: Hear
) -> Ask:
    async with desks.waiting(desks.asks) as waiting:
        while is_old_yes_or_no(held := await waiting.hold(new)):
            opened(held)
            await waiting.delivered(held)
        ending = threading.Event()
        tidying = asyncio.create_task(_tidy(desks, ending))
        opened(held)
        telling = BackgroundTasks()
        if not held.reattached:
            telling.start(Notifier(desks.config).tell_in_time(held.ask, waiting, desks.presence, desks.bell))
        try:
            ask = await hear(desks, waiting, held)
            ended(await waiting.do(with_files, desks.asks, desks.config.attachments_dir, ask))
        except BaseException:
            await waiting.release(held, "its caller went away")
            raise
        finally:
            ending.set()
            await telling.cancel()
        await waiting.delivered(held)
        await tidying
        return ask


async def _tidy(desks: Desks, ending: threading.Event) -> None:
    """Delete what has ended long ago, while the answer is being waited for."""
    try:
        await asyncio.to_thread(desks.clean_up, ending)
    except StoreError as error:
        logger.warning("Cleaning up failed: %s", error)
