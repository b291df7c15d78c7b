"""Keys that come faster than the screen follows, after a slow line for example, are handed on one at a time.

Textual gives each widget a queue of its own, so keys of one burst would reach the question they were not meant for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message

from sayso.tui.reflexes import Reflexes

Deliver = Callable[[events.Event], Awaitable[None]]
_ROUNDS = 4
"""How often a key is followed from the focus up to the app: what it sets off may set off more."""
_LOST_AFTER = 0.1
_PATIENCE = 2.0
"""Seconds after which keys are handed on whatever is still under way. Never lose a key, never hang."""


class Passed(Message):
    """Bubbles from the focus up to the app: whatever was before it is done when it arrives."""

    def __init__(self, turn: int, rounds: int) -> None:
        super().__init__()
        self.turn, self.rounds = turn, rounds


class TypeAhead:
    """Keeps keys until all that the last one did is done."""

    def __init__(self, reflexes: Reflexes) -> None:
        self._reflexes = reflexes
        self._waiting: deque[events.Event] = deque()
        self._since: float | None = None
        self._holds = 0
        self._turn = 0
        """Counts what is followed; whatever follows an earlier turn has been overtaken."""
        self._overdue: asyncio.TimerHandle | None = None
        self._app: App[Any] | None = None
        self._deliver: Deliver | None = None

    def begin(self, app: App[Any], deliver: Deliver) -> None:
        self._app, self._deliver = app, deliver

    @property
    def idle(self) -> bool:
        """Whether every key has been handed on and has done what it does."""
        return self._since is None and not self._waiting

    async def take(self, event: events.Event) -> None:
        """Hand this key or paste on when its turn has come."""
        self._waiting.append(event)
        self._reflexes.came_in(event.time)
        await self._hand_on()
        self._be_patient()

    def _be_patient(self) -> None:
        if self._waiting and self._overdue is None:
            self._overdue = asyncio.get_running_loop().call_later(_PATIENCE, self._hand_on_anyway)

    def _hand_on_anyway(self) -> None:
        self._overdue = None
        if self._waiting and self._app is not None and self._app.is_running:
            self._app.run_worker(self._hand_on(), group="typing")
            self._be_patient()

    async def _hand_on(self) -> None:
        """The next key, unless one is still under way."""
        under_way = self._since is not None and time.monotonic() - self._since < _PATIENCE
        if under_way or not self._waiting or self._deliver is None:
            return
        self._since = time.monotonic()
        event = self._waiting.popleft()
        name = event.key if isinstance(event, events.Key) else "paste"
        self._reflexes.pressed(name, event.time, self._waiting[0].time if self._waiting else None)
        await self._deliver(event)
        self._follow()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the screen is about to change, keys wait for what comes."""
        self._holds += 1
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._holds -= 1
            self._follow()

    def _follow(self) -> None:
        self._turn += 1
        self._set_out(self._turn)

    def _set_out(self, turn: int) -> None:
        """Follow, and follow again when nothing has arrived: a follower is lost with a screen that goes away."""
        if turn == self._turn and self._since is not None and self._app is not None and self._app.is_running:
            self._send(Passed(turn, _ROUNDS))
            asyncio.get_running_loop().call_later(_LOST_AFTER, self._set_out, turn)

    def _send(self, message: Passed) -> None:
        """Up from the focus to the app, behind everything that waits in the queues on the way."""
        if self._app is not None and self._app.is_running:
            focus = self._app.focused or self._app.screen
            if not focus.post_message(message):
                self._app.post_message(message)

    async def arrive(self, message: Passed) -> None:
        """A follower has come up to the app."""
        if message.turn != self._turn:
            return
        if message.rounds:
            self._send(Passed(message.turn, message.rounds - 1))
        elif not self._holds:
            self._since = None
            await self._hand_on()
