"""A person's say-so before a command runs, by an ordinary ask in the inbox. Anything but a plain yes is a no."""

from __future__ import annotations

import asyncio
import logging
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sayso.asks.desk import Held
from sayso.asks.model import SAY_SO, Ask, Asker, Kind, NewAsk, Question, Settler, State
from sayso.asks.waiting import Waiting
from sayso.errors import AlreadySettled, StoreError
from sayso.toolfiles.catalog import CommandTool

logger = logging.getLogger(__name__)

MOST_STEPS = 20

Asked = Callable[[str], Awaitable[None]]
"""Hears by which ask a person is asked."""


@dataclass(frozen=True, kw_only=True)
class WantedApproval:
    """What a person is to agree to."""

    tool: CommandTool
    argv: Sequence[str]
    cwd: str
    asker: Asker


class Approvals:
    """Asks for say-so in one process. `once` holds for a tool in a project for as long as the process lives."""

    def __init__(self, waiting: Waiting, tell: Callable[[Ask], object]) -> None:
        self._waiting, self._tell = waiting, tell
        self._given: set[tuple[str, str]] = set()
        self._asking: dict[tuple[str, str], asyncio.Lock] = {}

    def needed(self, tool: CommandTool, asker: Asker) -> bool:
        """Whether a person has yet to agree."""
        once = tool.leaf.approve == "once" and _key(tool, asker) in self._given
        return tool.leaf.approve != "never" and not once

    async def refusal(self, wanted: WantedApproval, dropped: asyncio.Event, asked: Asked) -> str:
        """Wait for the person; empty if they agreed, else why the command must not run. Once it is `dropped`, nobody is
        bothered with the question any more. It ends with this call, however that ends: a later yes allows nothing."""
        if wanted.tool.leaf.approve == "always":
            return await self._ask(wanted, dropped, asked)
        key = _key(wanted.tool, wanted.asker)
        async with self._asking.setdefault(key, asyncio.Lock()):
            if key in self._given:
                return ""
            refused = await self._ask(wanted, dropped, asked)
            if not refused:
                self._given.add(key)
            return refused

    async def _ask(self, wanted: WantedApproval, dropped: asyncio.Event, asked: Asked) -> str:
        held = await self._waiting.hold(_new_ask(wanted))
        if not held.reattached:
            self._tell(held.ask)
        outcome, drop = asyncio.ensure_future(self._waiting.outcome(held)), asyncio.ensure_future(dropped.wait())
        try:
            await asked(held.ask.id)
            await asyncio.wait([outcome, drop], return_when=asyncio.FIRST_COMPLETED)
        except (asyncio.CancelledError, StoreError):
            await self._waiting.release(held, "the call that wanted to run it was let go")
            raise
        finally:
            drop.cancel()
        if not outcome.done():
            outcome.cancel()
            await self._withdraw(held, wanted.asker)
            return "It was cancelled before anyone had allowed it."
        ask = outcome.result()
        await self._waiting.delivered(held)
        return _refusal(ask)

    async def _withdraw(self, held: Held, asker: Asker) -> None:
        by = Settler(person=asker.client or "the agent", surface="its own call")
        try:
            await self._waiting.do(self._waiting.desk.cancel, held.ask.id, by)
        except AlreadySettled:
            logger.info("The question about %s was settled just before it was withdrawn", held.ask.tool)
        await self._waiting.delivered(held)


def _key(tool: CommandTool, asker: Asker) -> tuple[str, str]:
    return tool.name, asker.project


def _new_ask(wanted: WantedApproval) -> NewAsk:
    question = Question(id=SAY_SO, text=_text(wanted), kind=Kind.CONFIRM)
    title = f"Run {wanted.tool.name}?"
    return NewAsk(tool=wanted.tool.name, title=title, questions=(question,), asker=wanted.asker, bound=True)


def _text(wanted: WantedApproval) -> str:
    leaf = wanted.tool.leaf
    what = shlex.join(wanted.argv)
    if leaf.sequence:
        steps = [f"{step.tool} {step.subcommand}" for step in leaf.sequence[:MOST_STEPS]]
        what = "\n    ".join([*steps, *(["..."] if len(leaf.sequence) > MOST_STEPS else [])])
    again = "" if leaf.approve == "always" else f"\n\nA yes holds for all further calls of {leaf.name} in this session."
    return f"May the agent run this?\n\n    {what}\n\nin {wanted.cwd}{again}"


def _refusal(ask: Ask) -> str:
    answer = ask.answer(SAY_SO)
    if ask.state is State.ANSWERED and answer and answer.chosen == ("yes",):
        return ""
    who = ask.outcome.person if ask.outcome else ""
    reason = (ask.outcome.reason if ask.outcome else "") or (answer.note if answer else "")
    told = f" Reason: {reason}" if reason else ""
    return f"{who or 'The user'} did not allow it ({'no' if ask.state is State.ANSWERED else ask.state}).{told}"
