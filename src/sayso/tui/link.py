"""The way to the desk: its plain code runs in one thread of ours, in order, and the screen never waits for it.

A store that goes away is dropped and looked for again at the next call; one that was moved counts as gone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Settler
from sayso.bridge import Threads
from sayso.clients import IN_A_SHELL
from sayso.config import Config
from sayso.desks import LOOK_EVERY, Desks, Listener, open_desks
from sayso.errors import NotYours, SaysoError, StoreError, StoreFull, StoreReadOnly, StoreUnavailable

if TYPE_CHECKING:
    from sayso.operations.reader import OperationReader

SURFACE = "terminal"
_SILENCE = 5 * LOOK_EVERY
"""Seconds after which a listener that gave no sign is taken for dead."""
_GOODBYE_SECONDS = 2.0
T = TypeVar("T")
Identity = tuple[int, int] | None


class Link:
    """Opens the store when it is first wanted, shows this process as a surface, and calls `heard` after each ring."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.heard: Callable[[], None] = lambda: None
        self._thread = Threads(1, "sayso-desk")
        self._desks: Desks | None = None
        self._listener: Listener | None = None
        self._last_sign = self._last_round = 0.0
        self._watched: frozenset[str] = frozenset()
        self._leaving = False
        self._identity: Identity = None
        # In a shell that is marked as an agent's nobody looks at it: people are told of what is asked all the same.
        self._seen = self._can_be_seen = not any(map(os.environ.get, IN_A_SHELL))
        self._is_persons = False
        self._refused: NotYours | None = None
        self.unwritable: StoreError | None = None
        """Why nothing can be kept just now, though it can be read."""
        # Begun now, while the screen is built. What goes wrong is told to the first who asks.
        self._thread.put(self._open_early)

    async def do(self, work: Callable[[AskDesk], T]) -> T:
        """Run work of the desk in its thread. Once handed over it is done, even if nobody waits for it any more."""
        return await self._thread.look(self._perform, work)

    async def ask(self, work: Callable[[OperationReader], T]) -> T:
        """The same for what agents run."""

        def look(_: AskDesk) -> T:
            assert self._desks is not None
            return work(self._desks.reader)

        return await self.do(look)

    async def with_desks(self, work: Callable[[Desks], T]) -> T:
        """The same for what several desks have to do with."""

        def look(_: AskDesk) -> T:
            assert self._desks is not None
            return work(self._desks)

        return await self.do(look)

    async def settle_ask(self, ask: Ask, settler: Settler, work: Callable[[AskDesk], Ask]) -> Ask:
        """Settle an ask, unless this is the terminal of an agent that may not."""

        def settle(desk: AskDesk) -> Ask:
            from sayso.agent_guard import refuse_agents_settling  # a person who only looks has no use for it

            assert self._desks is not None
            refuse_agents_settling(self._desks, ask, settler)
            return work(desk)

        return await self.do(settle)

    async def settle_each(self, asks: Sequence[Ask], settler: Settler, work: Callable[[AskDesk], T]) -> T:
        """The same for several. Whether an agent is behind it does not depend on which ask of an asker it is."""

        def settle(desk: AskDesk) -> T:
            from sayso.agent_guard import refuse_agents_settling

            assert self._desks is not None
            for ask in {(ask.asker, ask.is_permission): ask for ask in asks}.values():
                refuse_agents_settling(self._desks, ask, settler)
            return work(desk)

        return await self.do(settle)

    async def enter(self, work: Callable[[AskDesk], T]) -> T:
        """Keep what was entered and not sent, unless this is the terminal of an agent: a person would find it in their
        inbox as their own."""

        def entered(desk: AskDesk) -> T:
            self.refuse_agents()
            return work(desk)

        return await self.do(entered)

    def watch_over(self, processes: frozenset[str]) -> None:
        """When one of these dies, let go of what it holds; the ring that follows shows it."""
        self._watched = processes

    def show_up(self) -> None:
        """Somebody can see here what is asked."""
        self._thread.put(self._show_up)

    def go_away(self) -> None:
        """Nobody looks at it just now."""
        self._thread.put(self._go_away)

    def settle(self) -> None:
        """Wait until what was handed over is done. A store that does not react is not waited for."""
        done = threading.Event()
        self._thread.put(done.set)
        done.wait(_GOODBYE_SECONDS)

    def close(self) -> None:
        """Say goodbye and end. A store that does not react is not waited for."""
        self._leaving = True
        self._thread.put(self._say_goodbye)
        self._thread.close(patience=_GOODBYE_SECONDS)

    # In the thread

    def refuse_agents(self) -> None:
        """Raise NotYours where an agent has started this process. It is looked for once, and recorded once."""
        if self._refused:
            raise self._refused
        if not self._is_persons:
            from sayso.agent_guard import refuse_agents  # a person who only looks has no use for it

            assert self._desks is not None
            try:
                refuse_agents(self._desks, "answer what a person is asked")
            except NotYours as error:
                self._refused = error
                raise
            self._is_persons = True

    def _open_early(self) -> None:
        with suppress(SaysoError):
            self._desk()

    def _perform(self, work: Callable[[AskDesk], T]) -> T:
        try:
            return work(self._desk())
        except StoreError:
            self._drop()
            raise

    def _desk(self) -> AskDesk:
        if self._desks is not None and _identity(self._config) != self._identity:
            self._drop()
        if self._desks is None:
            self._desks = self._open()
        elif self.unwritable:
            self._appear(self._desks)
        if self._listener is None or time.monotonic() - self._last_sign > _SILENCE:
            self._listen(self._desks)
        return self._desks.asks

    def _open(self) -> Desks:
        # Whoever had a store must not make an empty one in its place while it is only away.
        if self._identity is not None and _identity(self._config) is None:
            raise StoreUnavailable(f"The file {self._config.database} is not there any more.")
        desks = open_desks(self._config, begins_anew=False)
        try:
            self._appear(desks)
        except BaseException:
            desks.close()
            raise
        self._identity = _identity(self._config)
        return desks

    def _appear(self, desks: Desks) -> None:
        """Be there for others to see. Where there is no space for that, what is asked can be read all the same."""
        self.unwritable = None
        if self._seen:
            try:
                desks.asks.show_up(SURFACE, self._config.person)
            except (StoreFull, StoreReadOnly) as error:
                self.unwritable = error

    def _show_up(self) -> None:
        self._seen = self._can_be_seen
        if self._desks is not None and self._seen:
            with suppress(SaysoError):
                self._desks.asks.show_up(SURFACE, self._config.person)

    def _go_away(self) -> None:
        self._seen = False
        if self._desks is not None:
            with suppress(SaysoError):
                self._desks.asks.go_away()

    def _listen(self, desks: Desks) -> None:
        if self._listener:
            self._listener.close()
        self._last_sign = time.monotonic()
        self._listener = desks.listen(self._rung, self._note_sign)

    def _make_round(self) -> None:
        """See after those that are watched. Whoever does the next work hears of a store that is away."""
        if self._leaving:
            return  # it would open the store again, and show itself there
        with suppress(SaysoError):
            desk, watched = self._desk(), self._watched
            assert self._desks is not None
            if watched - self._desks.bell().alive(watched):
                desk.release_the_dead()

    # In the bell's thread

    def _rung(self) -> None:
        self._note_sign()
        self.heard()

    def _note_sign(self) -> None:
        """The bell gives one about once a second anyway: nothing else has to wake for a round."""
        self._last_sign = time.monotonic()
        if self._watched and self._last_sign - self._last_round > LOOK_EVERY * 0.9:
            self._last_round = self._last_sign
            self._thread.put(self._make_round)

    def _say_goodbye(self) -> None:
        if self._desks is not None:
            with suppress(StoreError):
                self._desks.asks.go_away()
        self._drop()

    def _drop(self) -> None:
        listener, self._listener = self._listener, None
        desks, self._desks = self._desks, None
        if listener:
            listener.close()
        if desks:
            with suppress(StoreError, OSError):
                desks.close()


def _identity(config: Config) -> Identity:
    """Which file the store is. A file that was moved or removed goes on working, unseen by everybody else."""
    if config.store:
        return None
    try:
        found = config.database.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
