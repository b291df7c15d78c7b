"""The calls of one process that wait for a person, for clients that drop a call without a word: a later call of theirs
takes up what an earlier one still waits for, and is told what may have gone to nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from sayso.asks.model import Ask, NewAsk
from sayso.bridge import Patience
from sayso.clients import known
from sayso.mcp_server.context import CallContext

MOST_TOLD = 5
"""How many answers of earlier calls are named."""
LETTING_GO_SECONDS = 5.0
_NOTHING_KEPT = nullcontext()


def drops_calls(ctx: CallContext) -> bool:
    """Whether its client drops calls without a word, and is alone on this line: what waits on it is its own."""
    return ctx.exchange is None and not known(ctx.client.name).cancels


class WaitingCall:
    """A call that waits for these asks, or is about to put a new one."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        self.asks = asks
        self.new: NewAsk | None = None
        self.over: asyncio.Event | None = None
        """Tells when it is over to who has recalled it."""
        self._patience: Patience | None = None

    @property
    def is_recalled(self) -> bool:
        return self.over is not None

    def wait_with(self, patience: Patience) -> None:
        self._patience = patience
        if self.is_recalled:
            patience.end()

    def end(self) -> asyncio.Event:
        """Have it return without an answer, as at the end of its client's patience. What comes back tells when."""
        self.over = self.over or asyncio.Event()
        if self._patience:
            self._patience.end()
        return self.over

    def is_about(self, new: NewAsk) -> bool:
        """Whether another call asks the same."""
        own = [NewAsk(tool=ask.tool, questions=ask.questions, asker=ask.asker, title=ask.title) for ask in self.asks]
        return any(each.fingerprint == new.fingerprint for each in (*own, *([self.new] if self.new else [])))


class HeldCalls:
    def __init__(self) -> None:
        self._waiting: set[WaitingCall] = set()
        self._told: deque[Ask] = deque(maxlen=MOST_TOLD)

    def waits(self, ctx: CallContext, *asks: Ask) -> AbstractContextManager[WaitingCall | None]:
        """Until it has let go of them, or they are handed over. Of others than those that drop calls nothing is kept:
        there may be thousands."""
        return self._kept(WaitingCall(asks)) if drops_calls(ctx) else _NOTHING_KEPT

    @contextmanager
    def _kept(self, call: WaitingCall) -> Iterator[WaitingCall]:
        self._waiting.add(call)
        try:
            yield call
        finally:
            self._waiting.discard(call)
            if call.over:
                call.over.set()

    async def recall(self, is_meant: Callable[[WaitingCall], bool]) -> bool:
        """Have these calls end, and let go of what they hold. Whether there were any."""
        ends = [call.end() for call in self._waiting if is_meant(call)]
        for end in ends:
            with suppress(TimeoutError):
                await asyncio.wait_for(end.wait(), LETTING_GO_SECONDS)
        return bool(ends)

    def note_told(self, ask: Ask) -> None:
        """Its outcome is the result of a call, which its client may have dropped."""
        self._told.append(ask)

    @property
    def told(self) -> Sequence[Ask]:
        return tuple(self._told)
