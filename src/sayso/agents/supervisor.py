"""Sees the runs of one server process through: starts agents, follows what they print, takes over what others left.

States change at the desk alone. Leaving lets the agents go on: each is held by a runner of its own, and the next
server finds it again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import AsyncIterator, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

from sayso.accounts import Accounts
from sayso.agents import stopping
from sayso.agents.agent import text_event
from sayso.agents.desk import RunDesk
from sayso.agents.follower import Follower
from sayso.agents.launching import Launcher
from sayso.agents.model import Ending, EventKind, NewEvent, NewRun, Project, Run, RunState
from sayso.agents.projects import Projects
from sayso.asks.desk import AskDesk
from sayso.asks.model import Settler
from sayso.bridge import BackgroundTasks, Threads, endless, insistently, seen_through
from sayso.brought import BroughtFile
from sayso.config import Config
from sayso.errors import NotFound, SaysoError, SpawnerUnavailable, StoreError
from sayso.running.folder import Status
from sayso.store import Store
from sayso.text import spelt_out

logger = logging.getLogger(__name__)

QUICK, SLOW = 0.02, 0.1
"""Seconds between two looks at what an agent prints: while it does, and while it is quiet."""
LOOK_EVERY = 2.0
"""Seconds between two looks for what others left, and for whose agents must end."""
TIDY_EVERY = 3600.0
SURFACE = "server"
MOST_NAMES = 5
"""Files that are named to the person when an agent works without them."""
_THREADS = 32


class RunSupervisor:
    """The runs of one process. Work with it inside `running()`."""

    def __init__(self, config: Config, store: Store, address: str) -> None:
        self.runs, self.projects = RunDesk(store, config.runs_dir), Projects(store)
        self._config, self._accounts = config, Accounts(store)
        self._desk = AskDesk(store, keeps_history=lambda _: config.history)
        self._launcher = Launcher(config, store, address)
        self._tasks = BackgroundTasks()
        self._do = Threads(_THREADS).do
        self._ending = threading.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Takes up what earlier servers left, and lets go of everything at the end."""
        self._tasks.start(endless("Looking for runs", self._look_around))
        self._tasks.start(endless("Tidying up old runs", self._tidy))
        try:
            yield
        finally:
            self._ending.set()
            await seen_through(self._leave())

    async def _leave(self) -> None:
        await self._do(self._launcher.leave)
        await self._tasks.cancel()

    async def start(self, project: Project, prompt: str, conversation: str = "", attempt: str = "") -> Run:
        """Begin a turn. It returns once the run is there; whether its agent could be started, its events tell."""
        token = str(uuid.uuid4())
        new = NewRun(project=project, prompt=prompt, token=token, conversation=conversation, attempt=attempt)
        run = await self._do(self.runs.open, new, most=self._config.most_runs)
        self._tasks.start(self._watched(run, self._see_through(run)))
        return run

    # One run

    async def _see_through(self, run: Run) -> None:
        try:
            kept_out = await self._do(self._launcher.kept_out, run)
            await self._do(self.runs.append, run.id, *_told_of(kept_out, run))
            ended = await self._do(self._launcher.start, run, kept_out)
        except (SaysoError, OSError) as error:
            await self._do(self._launcher.clear_away, run)
            await self._do(self.runs.end, run.id, RunState.FAILED, Ending(message=f"It could not be started: {error}"))
            return
        # Somebody may have wanted it stopped before there was a runner to tell.
        if (await self._do(self.runs.get, run.id)).stopped_by:
            await self._do(self.runs.want_stopped, run.id, "")
        await self._follow(run, ended)

    async def _take_up(self, run: Run) -> None:
        logger.info("Run %s is taken up again", run.id)
        await self._follow(run, await self._do(self._launcher.adopt, run))

    async def _follow(self, run: Run, ended: Future[Status]) -> None:
        """Endless on purpose: it lasts as long as the agent may."""
        follower, over = Follower(self.runs, run), asyncio.wrap_future(ended)
        pause = QUICK
        while not over.done():
            took = await insistently(lambda: self._do(follower.step), _warn)
            pause = QUICK if took else min(pause * 1.3, SLOW)
            await asyncio.wait([over], timeout=pause)
        status = over.result()
        await insistently(lambda: self._do(follower.end, status), _warn)
        await self._do(self._launcher.clear_away, run)

    async def _watched(self, run: Run, work: Coroutine[Any, Any, None]) -> None:
        """See to it that a run never hangs because of us."""
        try:
            await work
        except SpawnerUnavailable:
            logger.info("Run %s goes on without this server", run.id)
        except NotFound as error:
            logger.warning("Run %s is not followed any more: %s", run.id, error)
        except Exception:
            logger.exception("Run %s cannot be followed", run.id)
            await self._do(self.runs.want_stopped, run.id, "")
            lost = Ending(message="Sayso failed on this run; its log says why. The agent was stopped.")
            await self._do(self.runs.end, run.id, RunState.LOST, lost)

    # Beside the runs

    async def _look_around(self) -> None:
        """Endless until cancelled."""
        while True:
            try:
                for run in await self._do(self.runs.adopt_orphans):
                    self._tasks.start(self._watched(run, self._take_up(run)))
                await self._do(self._heed_stops)
            except SaysoError as error:
                logger.warning("Cannot look for runs just now: %s", error)
            await asyncio.sleep(LOOK_EVERY)

    def _heed_stops(self) -> None:
        """End what somebody on another machine wants to end, and the agents of those who were shut out."""
        at_work = self.runs.open_here()
        welcome = {user.name for user in self._accounts.users() if user.revoked_at is None} if at_work else set()
        for run in at_work:
            shut_out = "" if run.user in welcome else f"the server, because {run.user} was revoked"
            if by := run.stopped_by or shut_out:
                stopping.stop(self.runs, self._desk, run, Settler(person=by, surface=SURFACE))

    async def _tidy(self) -> None:
        """Endless until cancelled."""
        while True:
            try:
                await self._do(self._launcher.sweep, self.runs)
                await self._do(self.runs.collect, self._config.keep_runs, self._ending)
            except (SaysoError, OSError) as error:
                logger.warning("Old runs could not be tidied up: %s", error)
            await asyncio.sleep(TIDY_EVERY)


def _told_of(kept_out: Sequence[BroughtFile], run: Run) -> tuple[NewEvent, ...]:
    """That the agent works without what its project brings, where it does."""
    names = ", ".join(spelt_out(file.name) for file in kept_out[:MOST_NAMES])
    more = f" and {len(kept_out) - MOST_NAMES} more" if len(kept_out) > MOST_NAMES else ""
    text = f"Started without what this project brings ({names}{more}), because you have not trusted it as it is."
    fix = f"To look at it, and trust it: sayso trust {spelt_out(str(run.project.directory))}"
    return text_event(EventKind.NOTICE, f"{text} {fix}" if kept_out else "")


def _warn(error: StoreError) -> None:
    # Nothing is lost meanwhile: what the agent prints waits on disk.
    logger.warning("What an agent said cannot be kept just now: %s", error)
