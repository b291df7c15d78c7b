"""`sayso ask` at work: opens the ask, waits for its end, hands it to the caller. Needs the event loop, so it is
imported only when something is asked."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from sayso.asks.desk import Held
from sayso.asks.model import Ask, Kind, NewAsk, State
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import StoreError

logger = logging.getLogger(__name__)


def put_and_wait(config: Config, new: NewAsk, opened: Callable[[Held], None], ended: Callable[[Ask], None]) -> Ask:
    """Put the ask, tell when it is `opened`, and hand it to `ended` once it is no longer pending.

    It counts as delivered only when `ended` has returned. Interrupted, the ask stays open. A yes or no that was given
    before is only told of, as `opened`: things may have changed since, so it is asked again.
    """
    with open_desks(config) as desks:
        return asyncio.run(_ask(desks, new, opened, ended))


def settled_before(held: Held) -> bool:
    """Whether a person had settled it before this call took it up."""
    return held.reattached and not held.ask.state.answerable


def is_old_yes_or_no(held: Held) -> bool:
    confirms = any(question.kind is Kind.CONFIRM for question in held.ask.questions)
    return settled_before(held) and confirms and held.ask.state is State.ANSWERED


async def _ask(desks: Desks, new: NewAsk, opened: Callable[[Held], None], ended: Callable[[Ask], None]) -> Ask:
    async with desks.waiting(desks.asks) as waiting:
        while is_old_yes_or_no(held := await waiting.hold(new)):
            opened(held)
            await waiting.delivered(held)
        ending = threading.Event()
        tidying = asyncio.create_task(_tidy(desks, ending))
        opened(held)
        try:
            ask = await waiting.outcome(held)
            ended(ask)
        except BaseException:
            await waiting.release(held, "its caller went away")
            raise
        finally:
            ending.set()
        await waiting.delivered(held)
        await tidying
        return ask


async def _tidy(desks: Desks, ending: threading.Event) -> None:
    """Delete what has ended long ago, while the answer is being waited for."""
    try:
        await asyncio.to_thread(desks.clean_up, ending)
    except StoreError as error:
        logger.warning("Cleaning up failed: %s", error)
