"""The relayed questions that this process holds: opened in the place of older ones, waited for, handed out once.

Not the routes: who may ask and answer is settled in relay.py. A question outlives this process; whoever polls for it
next has it taken up again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sayso.agents import relay_file
from sayso.agents.model import Run
from sayso.asks.desk import Held
from sayso.asks.handed_files import with_files
from sayso.asks.model import Ask, NewAsk, State
from sayso.bridge import BackgroundTasks, endless, in_thread, seen_through
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import open_desks
from sayso.dialects import relay as dialect
from sayso.dialects.outcomes import is_wiped
from sayso.errors import NotFound, SaysoError
from sayso.notify import Notifier, seconds_left

logger = logging.getLogger(__name__)

LOOK_EVERY = 2.0
"""Seconds between two looks whether the run of a question goes on."""
SWEEP_EVERY = 30.0
"""Seconds between two looks for what has lived its time."""


@dataclass(eq=False, kw_only=True)
class Relayed:
    """A question that this process holds for a run."""

    run: Run
    held: Held
    ask: Ask
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    told: Mapping[str, Any] | None = None
    """What is handed out, or was. A poller that names its question may have missed it and come again."""

    def end(self, ask: Ask) -> None:
        self.ask = ask
        self.ended.set()


class RelayedQuestions:
    """Work with it inside `running()`."""

    def __init__(self, config: Config) -> None:
        self._config, self._notifier = config, Notifier(config)
        self._held: dict[str, Relayed] = {}
        self._newest: dict[str, str] = {}
        """The question that each run put last: what is asked again may be older than others."""
        self._put: dict[tuple[str, str], asyncio.Task[Ask]] = {}
        """What each run has put, by the name that its MCP server gave it."""
        self._tasks = BackgroundTasks()
        self._taking_up = asyncio.Lock()
        self.stopping = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """On a store of its own: a process tells a store only once what it waits for."""
        desks = await in_thread(open_desks, self._config)
        self._key = await in_thread(desks.secret, relay_file.KEY)
        self._desk, self.runs, self._presence = desks.asks, desks.runs, desks.presence
        try:
            async with desks.waiting(desks.asks) as self._waiting:
                self.do = self._waiting.do
                self._tasks.start(endless("Forgetting old relayed questions", self._sweep))
                try:
                    yield
                finally:
                    self.stopping.set()
                    for putting in self._put.values():
                        putting.cancel()
                    await seen_through(self._tasks.cancel())
        finally:
            await seen_through(in_thread(desks.close))

    def csrf_token(self, run: Run) -> str:
        """What the file of a run says as `csrfToken`."""
        return relay_file.csrf_token(self._key, run.token)

    # Asking

    async def open(self, run: Run, new: NewAsk, put: str = "") -> Ask:
        """Put a question in the place of the run's last one. What is asked again is taken up again: an agent's MCP
        server that heard nothing puts its question once more, whether it had arrived or not. What has a name, by `put`,
        is put once however often and however late it comes."""
        if not put:
            return await self._open(run, new)
        putting = self._put.get((run.id, put))
        if putting is None or (putting.done() and putting.exception()):
            putting = self._put[run.id, put] = asyncio.ensure_future(self._open(run, new))
        return await asyncio.shield(putting)

    async def _open(self, run: Run, new: NewAsk) -> Ask:
        told = {each.ask.id for each in self._held.values() if each.told is not None and each.ask.outcome}
        held = await self._waiting.succeed(new, told)
        relayed = self._hold(run, held)
        self._newest[run.id] = held.ask.id
        if not held.reattached or not await self.do(self.runs.shows_ask, run.id, held.ask.id):
            await self.do(self.runs.note_ask, run.id, held.ask.id)
        if not held.reattached and self._notifier.reaches:
            self._tasks.start(self._notify(held.ask))
        return relayed.ask

    async def find(self, run: Run, ask_id: str = "") -> Relayed | None:
        """A question of this run: the one with this id, or the newest. None where there is none to wait for."""
        async with self._taking_up:
            ask = await self._ask(run, ask_id)
            if ask is None or dialect.is_over(ask, now_ms()):
                return None
            known = self._held.get(ask.id)
            if known is None and (held := await self._take_up(ask)):
                known = self._hold(run, held)
            if known and not known.ended.is_set() and ask.state is not State.PENDING:
                # The bell has not got round to us yet.
                known.end(ask)
            return known

    async def newest(self, run: Run) -> Ask | None:
        return await self._ask(run, "")

    async def _ask(self, run: Run, ask_id: str) -> Ask | None:
        ask_id = ask_id or self._newest.get(run.id, "")
        if not ask_id:
            return await self.do(self._desk.newest_of_run, run.id, dialect.TOOL)
        try:
            ask = await self.do(self._desk.get, ask_id)
        except NotFound:
            return None
        return ask if (ask.asker.run, ask.tool) == (run.id, dialect.TOOL) else None

    async def _take_up(self, ask: Ask) -> Held | None:
        """Wait for what another process let go of, for the rest of its time. What was delivered is gone."""
        if ask.state is State.TIMED_OUT or ask.delivered or is_wiped(ask):
            return None
        left = max(ask.created_at + (ask.timeout_ms or 0) - now_ms(), 1)
        return await self._waiting.attach(ask.id, left)

    def _hold(self, run: Run, held: Held) -> Relayed:
        known = self._held.get(held.ask.id)
        if known and known.run.id == run.id and known.told is None:
            # Whoever polls for it already is told too.
            self._tasks.start(self._waiting.release(known.held, "it was put again"))
            known.held = held
        else:
            known = self._held[held.ask.id] = Relayed(run=run, held=held, ask=held.ask)
        self._tasks.start(self._see_through(known))
        return known

    async def _see_through(self, relayed: Relayed) -> None:
        """Until it has ended, or its run has."""
        held = relayed.held
        if not self._waiting.holds(held):
            # What was settled already may be handed out before this begins.
            return
        end = asyncio.ensure_future(self._waiting.outcome(held))
        try:
            while not end.done():
                await asyncio.wait([end], timeout=LOOK_EVERY)
                if relayed.told is not None or relayed.held is not held:
                    return
                if not end.done() and await self._is_over(relayed.run):
                    await self._waiting.release(relayed.held, "its run has ended")
                    relayed.end(await self.do(self._desk.get, relayed.ask.id))
                    return
            relayed.end(await self.do(with_files, self._desk, self._config.attachments_dir, end.result()))
            if relayed.ask.state in (State.SUPERSEDED, State.TIMED_OUT):
                # Whoever waited knows, or knows from the clock.
                await self._waiting.delivered(relayed.held)
        except SaysoError as error:
            logger.warning("Relayed question %s can no longer be waited for: %s", relayed.ask.id, error)
            self._held.pop(relayed.ask.id, None)
            relayed.ended.set()
        finally:
            end.cancel()

    async def _is_over(self, run: Run) -> bool:
        try:
            return await self.do(self.runs.active, run.token) is None
        except SaysoError:
            return False

    # Handing out

    async def wait(self, relayed: Relayed, seconds: float) -> None:
        """Until it has ended, but no longer than this, and not while the server stops."""
        waits = [asyncio.ensure_future(event.wait()) for event in (relayed.ended, self.stopping)]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def delivered(self, relayed: Relayed) -> None:
        """It was handed out. Where no history is kept, its texts are known to nobody but the run from now on."""
        await self._waiting.delivered(relayed.held)

    # Beside

    async def _sweep(self) -> None:
        """Endless until cancelled: questions and answers that have lived their time are forgotten."""
        while True:
            try:
                for ask in await self.do(self._desk.undelivered_by, dialect.TOOL):
                    if dialect.is_over(ask, now_ms()) and ask.state is not State.EXPIRED and not is_wiped(ask):
                        await self.do(self._desk.lapse, ask.id)
            except SaysoError as error:
                logger.warning("Old relayed questions could not be forgotten: %s", error)
            for relayed in list(self._held.values()):
                if relayed.ended.is_set() and dialect.is_over(relayed.ask, now_ms()):
                    self._held.pop(relayed.ask.id, None)
            self._newest = {run: ask_id for run, ask_id in self._newest.items() if ask_id in self._held}
            self._put = {put: task for put, task in self._put.items() if not task.done() or self._holds(task)}
            await asyncio.sleep(SWEEP_EVERY)

    def _holds(self, task: asyncio.Task[Ask]) -> bool:
        """Whether a question that was put is not forgotten yet."""
        return not task.cancelled() and task.exception() is None and task.result().id in self._held

    async def _notify(self, ask: Ask) -> None:
        try:
            left = await self.do(seconds_left, ask.id, self._config, self._desk, self._presence)
            if left is not None:
                await self._notifier.tell(ask, await self.do(self._desk.open_of, ask.asker))
        except SaysoError as error:
            logger.warning("Could not look who sees ask %s: %s", ask.id, error)
