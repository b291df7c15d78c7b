"""A person's say-so before a command runs, by a permission in the inbox. Anything but an allow of this very action is a
no."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from functools import cached_property
from weakref import WeakValueDictionary

from sayso.asks.desk import Held
from sayso.asks.model import CALLED_OFF, ITS_CALL, SAY_SO, Ask, Asker, Kind, NewAsk, Question, Settler, State
from sayso.asks.waiting import Waiting
from sayso.errors import AlreadySettled, InvalidInput, StoreError
from sayso.operations.wanted_action import programs, tool_files, touched
from sayso.permissions.action import Action, AllowScope, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.ruled import RuledAction
from sayso.permissions.standing import StandingAllows
from sayso.permissions.verdict import Decision, verdict_of
from sayso.records import field, record
from sayso.toolfiles.catalog import CommandTool

logger = logging.getLogger(__name__)

Asked = Callable[[str], Awaitable[None]]
"""Hears by which ask a person is asked."""

CANCELLED = "It was cancelled before anyone had allowed it."
DROPPED = "was cancelled before it began"


@record
class WantedApproval:
    """What a person is to agree to."""

    tool: CommandTool
    action: Action
    asker: Asker
    ruled: RuledAction = field(default_factory=RuledAction)
    """What the rules have made of it already."""

    @property
    def scope(self) -> AllowScope:
        """How far a yes goes. Where sessions cannot be told apart, none has an end that we would hear of; where the
        rules say who has to agree, they agree to this alone."""
        nameless = bool(self.asker.agent) and not self.asker.session
        lasts = self.tool.leaf.approve == "once" and not nameless and self.ruled.accepts_earlier_yes
        return AllowScope.TOOL if lasts else AllowScope.ONCE

    @property
    def session(self) -> Hashable:
        return self.asker.project, self.asker.agent, self.asker.session

    @cached_property
    def terms(self) -> Hashable:
        """What a yes for the tool holds on to: its words find the same programs, and neither those nor its tool files
        are touched. Looked at once, when it is first needed."""
        files = [(path, content, *touched(path)) for path, content in tool_files(self.action)]
        return tuple(files), tuple(programs(self.action))


@record
class SaySo:
    """What came of asking."""

    refused: str = ""
    """Why the command must not run; empty if it may."""
    ask: str = ""
    """The ask by which somebody has allowed it."""
    shown: bool = False
    """Whether somebody has looked at this very action, and not at another of the same tool."""


class Approvals:
    """Asks for say-so in one process. `once` holds for a tool in a session for as long as the process lives."""

    def __init__(self, waiting: Waiting, permissions: PermissionDesk, tell: Callable[[Ask], object]) -> None:
        self._waiting, self._permissions, self._tell = waiting, permissions, tell
        self._given = StandingAllows()
        self._asking = WeakValueDictionary[Hashable, asyncio.Lock]()
        """Held by those that ask, one after another."""

    def needed(self, wanted: WantedApproval) -> bool:
        """Whether a person has yet to agree, or a rule does not."""
        return bool(wanted.ruled.denied) or not self.given(wanted).ask

    def given(self, wanted: WantedApproval) -> SaySo:
        """The yes of a rule, or the one from before that holds for it."""
        if wanted.ruled.allowed:
            return SaySo(ask=wanted.ruled.allowed.ask, shown=True)
        if wanted.scope is not AllowScope.TOOL:
            return SaySo()
        what = wanted.session, wanted.tool.name, wanted.terms
        return SaySo(ask=self._given.find(*what, asked_by=wanted.ruled.asked_by))

    def wanted(self, tool: CommandTool, asker: Asker, action: Callable[[], Action]) -> WantedApproval | None:
        """What somebody has to agree to before the tool is run; None where nobody need."""
        asks = tool.leaf.approve != "never"
        if not asks and not self._permissions.may_be_strict(asker):
            return None
        wanted = action()
        ruling = None if asks else self._permissions.ruling(wanted, asker)
        if ruling and not (ruling.is_demanded or ruling.is_denied):
            return None
        return WantedApproval(tool=tool, action=wanted, asker=asker, ruled=self._permissions.by_rules(wanted, asker))

    async def say_so(
        self, wanted: WantedApproval, dropped: asyncio.Event, asked: Asked, why: Callable[[], str] = lambda: CALLED_OFF
    ) -> SaySo:
        """Wait for the person. Once it is `dropped`, nobody is bothered with the question any more, and `why` says what
        is noted of that. It ends with this call, however that ends: a later yes allows nothing."""
        if wanted.ruled.denied:
            return SaySo(refused=wanted.ruled.denied)
        if wanted.scope is AllowScope.ONCE:
            return await self._ask(wanted, dropped, asked, why)
        async with self._asking.setdefault((wanted.session, wanted.tool.name), asyncio.Lock()):
            if not self.needed(wanted):
                return self.given(wanted)
            if dropped.is_set():
                return SaySo(refused=CANCELLED)
            said = await self._ask(wanted, dropped, asked, why)
            if not said.refused:
                what = wanted.session, wanted.tool.name, wanted.terms
                self._given.keep(*what, said.ask, knowing=wanted.ruled.asked_by)
            return said

    async def _ask(self, wanted: WantedApproval, dropped: asyncio.Event, asked: Asked, why: Callable[[], str]) -> SaySo:
        try:
            held = await self._waiting.hold(_new_ask(wanted))
        except InvalidInput as error:
            return SaySo(refused=f"It cannot be shown to the user as it is, so it was not run. {error}")
        self._tell(held.ask)
        outcome = asyncio.ensure_future(self._waiting.outcome(held, self._tell))
        drop = asyncio.ensure_future(dropped.wait())
        try:
            await asked(held.ask.id)
            await asyncio.wait([outcome, drop], return_when=asyncio.FIRST_COMPLETED)
        except (asyncio.CancelledError, StoreError):
            outcome.cancel()
            await self._waiting.release(held, "the call that wanted to run it was let go")
            raise
        finally:
            drop.cancel()
        if not outcome.done() or dropped.is_set():
            outcome.cancel()
            await self._withdraw(held, why())
            return SaySo(refused=CANCELLED)
        ask = outcome.result()
        await self._waiting.delivered(held)
        return SaySo(refused=_refusal(ask, wanted.action), ask=ask.id, shown=True)

    async def _withdraw(self, held: Held, why: str) -> None:
        # Nobody is named: it is not the agent that decides how long its client lets a call last.
        by = Settler(person="", surface=ITS_CALL)
        try:
            await self._waiting.do(self._waiting.desk.withdraw, held.ask.id, by, why)
        except AlreadySettled:
            logger.info("The question about %s was settled just before it was withdrawn", held.ask.tool)
            await self._take_back(held)
            return
        except StoreError as error:
            logger.warning("Could not withdraw the question about %s: %s", held.ask.tool, error)
            await self._waiting.release(held, "the call that wanted to run it was let go")
            return
        await self._waiting.delivered(held)

    async def _take_back(self, held: Held) -> None:
        """A yes that came together with the cancel allows nothing, and everyone is told so."""
        try:
            await self._waiting.do(self._waiting.desk.void, held.ask.id, DROPPED)
        except StoreError as error:
            logger.warning("Could not note that nothing came of the yes for %s: %s", held.ask.tool, error)
        await self._waiting.delivered(held)


def _new_ask(wanted: WantedApproval) -> NewAsk:
    question = Question(id=SAY_SO, text=_text(wanted), kind=Kind.CONFIRM)
    title = f"Run {wanted.tool.name}?"
    new = NewAsk(tool=wanted.tool.name, title=title, questions=(question,), asker=wanted.asker)
    ruled = wanted.ruled
    return asking(
        new,
        wanted.action,
        (wanted.scope,),
        rules_say=ruled.asked,
        asking_rules=ruled.asking_rules,
        quorum=ruled.quorum,
    )


def _text(wanted: WantedApproval) -> str:
    leaf = wanted.tool.leaf
    again = (
        "" if wanted.scope is AllowScope.ONCE else f" A yes holds for all further calls of {leaf.name} in this session."
    )
    return f"May the agent run this?{again}"


def _refusal(ask: Ask, action: Action) -> str:
    verdict = verdict_of(ask)
    if verdict and verdict.allows(action):
        return ""
    if verdict is None or verdict.decision is Decision.UNDECIDED:
        return "Nobody decided whether it may run, so it was not run. That is not a decision of the user's."
    reason = f" Reason: {verdict.because}" if verdict.because else ""
    how = "no" if ask.state is State.ANSWERED else ask.state
    return f"{verdict.person or 'The user'} did not allow it ({how}).{reason}"
