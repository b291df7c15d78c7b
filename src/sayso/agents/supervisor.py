"""Sees the runs of one server process through: starts agents, follows what they print, takes over what others left.

States change at the desk alone. Leaving lets the agents go on: each is held by a runner of its own, and the next
server finds it again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

from sayso.accounts import Accounts
from sayso.agents import stopping, takeover
from sayso.agents.agent import text_event
from sayso.agents.desk import RunDesk
from sayso.agents.file_news import FileNews
from sayso.agents.follower import Follower, has_gone_on
from sayso.agents.kinds import AGENTS
from sayso.agents.launching import Launcher, some_names
from sayso.agents.model import Ending, EventKind, NewEvent, NewRun, Picture, Project, Run, RunChoices, RunState, Spoken
from sayso.agents.printing import Printing
from sayso.agents.project_places import check_place
from sayso.agents.projects import Projects
from sayso.agents.queue import QueuedMessage
from sayso.agents.takeover import Takeovers
from sayso.agents.terminal_sessions import QUEUE_PATIENCE, TerminalMessage, session_files
from sayso.asks.desk import AskDesk
from sayso.asks.model import Settler
from sayso.bridge import BackgroundTasks, Patience, Threads, endless, insistently, seen_through
from sayso.brought import BroughtFile
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import NotFound, RunGoesOn, SaysoError, SpawnerUnavailable, StoreError, TooManyRuns
from sayso.file_events import IN_A_FILE
from sayso.permissions.like_rule import owns_rules
from sayso.processes import this_host
from sayso.roster import Roster
from sayso.running import speaking
from sayso.running.folder import Status
from sayso.store import Store
from sayso.store.leaps import leapt
from sayso.text import spelt_out
from sayso.trees.keeping import Trees
from sayso.trees.worktrees import Worktrees

logger = logging.getLogger(__name__)

LOOK_EVERY = 2.0
"""Seconds between two looks for what others left, and for whose agents must end."""
TIDY_EVERY = 3600.0
LOOK_AT_TERMINAL = 0.5
"""Seconds between two looks whether a takeover was stopped, or its terminal has ended, while that tells nothing."""
SURFACE = "server"
_THREADS = 32


class RunSupervisor:
    """The runs of one process. Work with it inside `running()`."""

    def __init__(self, config: Config, store: Store, address: str) -> None:
        self.runs, self.projects = RunDesk(store, config.runs_dir), Projects(store)
        self.takeovers = Takeovers(config, self.projects, Roster(store), self.runs)
        self.trees, self.worktrees = Trees(config.trees_dir), Worktrees(config.worktrees_dir)
        self._config, self._store, self._accounts = config, store, Accounts(store)
        self._desk = AskDesk(store, keeps_history=lambda _: config.history)
        self._launcher = Launcher(config, store, address)
        self._tasks = BackgroundTasks()
        self._do = Threads(_THREADS).do
        self._ending = threading.Event()
        self._host = this_host()
        self._resting: set[str] = set()
        """The lines of the agents that are seen off here once they end between two turns."""
        self._followed: set[str] = set()
        """The lines of the agents that are at work."""
        self._look_now = asyncio.Event()

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

    async def start(
        self,
        project: Project,
        prompt: str,
        conversation: str = "",
        attempt: str = "",
        choices: RunChoices | None = None,
        queued: str = "",
        pictures: tuple[Picture, ...] = (),
    ) -> Run:
        """Begin a turn. It returns once the run is there; whether its agent could be started, its events tell. With the
        id of a message that was queued, that one does not wait any more, and is the prompt if there is no other."""
        token, line = await self._do(self._waiting_agent, conversation, project.owner) if conversation else ("", "")
        new = NewRun(
            project=project,
            prompt=prompt,
            token=token or str(uuid.uuid4()),
            conversation=conversation,
            attempt=attempt,
            line=line,
            choices=choices,
            queued=queued,
            pictures=pictures,
        )
        run = await self._do(self.runs.open, new, most=self._config.most_runs)
        self._tasks.start(self._watched(run, self._see_through(run)))
        return run

    def is_installed(self, project: Project) -> bool:
        """Whether the program of its agent is there."""
        return self._launcher.finds(project)

    def check_there(self, project: Project) -> None:
        """ToolUnavailable where it is not."""
        self._launcher.check_there(project)

    def _waiting_agent(self, conversation: str, user: str) -> tuple[str, str]:
        """The token and the line of the agent that waits for the next message of a conversation; empty without one."""
        before = self.runs.turns(conversation, user)[-1]
        token = self._launcher.token_if_ready(before) if before.state.ended else ""
        return (token, before.line) if token else ("", "")

    async def say(self, run: Run, said: Spoken, *, by: str, attempt: str = "", queued: str = "") -> None:
        """Say something to an agent at work. It is kept first, so that whatever happens to this server the agent is
        told, once; RunHasEnded if it is not at work any more. With the id of a message that was queued, that
        one does not wait any more."""
        run = await self._do(self.runs.say, run.id, said, by=by, attempt=attempt, queued=queued)
        await self._do(self._pass_on, run)

    async def _send_queued(self) -> None:
        """Begin the turns for which messages were queued and whose time has come."""
        for message in await self._do(self.runs.queue.due):
            try:
                project = await self._do(self._project_of, message)
                await self.start(project, "", message.conversation, queued=message.id)
            except (NotFound, TooManyRuns, RunGoesOn) as error:
                # Taken or removed meanwhile, or it has to wait: it is looked at again.
                logger.debug("A queued message is not sent now: %s", error)

    def _project_of(self, message: QueuedMessage) -> Project:
        """Where a message is to be sent. NotFound once the project was removed, or its user shut out."""
        run = self.runs.get(message.after)
        if run.user not in self._accounts.welcome():
            raise NotFound(f"{run.user} was revoked.")
        return self.projects.of(run.user, run.project.id)

    def _pass_on(self, run: Run) -> None:
        """Tell an agent of this machine what it was not told yet."""
        if run.host == self._host:
            self._launcher.speak(run, self.runs.to_be_said(run, after=speaking.state(run.folder).handed_on))

    # One run

    async def _see_through(self, run: Run) -> None:
        if run.line != run.id:
            await self._take_up(run)
            return
        if run.choices.joins and not await self._do(takeover.is_shared, run):
            await self._do(self._tell_once, run, _NOT_SHARED.format(agent=AGENTS[run.agent].label))
            run = await self._do(self._leave_shared, run)
        if run.choices.joins:
            run = await self._do(self._tell_of_meanwhile, run)
        if run.to_copy:
            if not await self._turn_in_terminal_is_over(run):
                return
            run = await self._do(self._fix_step, run)
        try:
            await self._do(check_place, run.project)
            # First of all: what a working tree brings is known once it is there.
            await self._do(self._see_to_tree, run)
            kept_out = await self._do(self._launcher.kept_out, run)
            self._launcher.check_trust(run, kept_out)
            await self._do(self.runs.append, run.id, *_told_of(kept_out, run))
            await self._do(self._dismiss_earlier, run)
            await self._do(self._show_what_is_asked, run, run.choices.joins)
            said = await self._do(self.runs.to_be_said, run, after=0)
            ended = await self._do(self._launcher.start, run, said, kept_out)
        except (SaysoError, OSError) as error:
            await self._do(self._launcher.clear_away, run)
            await self._do(self.runs.end, run.id, RunState.FAILED, Ending(message=f"It could not be started: {error}"))
            return
        # Somebody may have wanted it stopped before there was a runner to tell.
        if (await self._do(self.runs.get, run.id)).stopped_by:
            await self._do(self.runs.want_stopped, run.id, "")
        await self._begin_following(run, ended)

    async def _begin_following(self, run: Run, ended: Future[Status]) -> None:
        """Follow it, or let it rest at once if nothing was said to it. An agent that has joined a session says by
        itself whether that is at work."""
        if run.only_takes_over and not run.choices.joins:
            resting = await self._do(self.runs.rest_if_silent, run.id)
            if resting.state.ended:
                await self._end_turn(run, resting, asyncio.wrap_future(ended))
                return
            await self._do(self._pass_on, resting)
        await self._follow(run, ended)

    def _leave_shared(self, run: Run) -> Run:
        """Go on in a copy of a session that was shared. What was said there before the last turn here ended is told."""
        copied = self.runs.go_on_from(run.id, copies=run.choices.joins, joins="", server="")
        earlier = self.runs.turns(run.conversation, run.user)[:-1]
        step = takeover.step_at(copied, earlier[-1].ended_at or 0) if earlier else ""
        return self.runs.go_on_from(run.id, copied_to=step)

    def _tell_of_meanwhile(self, run: Run) -> Run:
        """What was said in a session that is shared while nobody here took part in it."""
        earlier = self.runs.turns(run.conversation, run.user)[:-1]
        if not earlier or self.runs.events_of(run.id, EventKind.ELSEWHERE):
            return run
        said = takeover.said_meanwhile(run, earlier[-1].ended_at or 0)
        return self.runs.go_on_from(run.id, *_as_events(said))

    def _fix_step(self, run: Run) -> Run:
        """Keep how far the session in the terminal is copied, and what was said there since it was handed back."""
        if self.takeovers.is_broken_off(run):
            self._tell_once(run, _BROKEN_OFF.format(agent=AGENTS[run.agent].label))
            return self.runs.go_on_from(run.id, *_told_elsewhere(run), copied_to="") if run.is_handed_back else run
        if run.choices.copied_to and not run.is_handed_back:
            return run
        step = takeover.last_step(run.agent, run.to_copy)
        return self.runs.go_on_from(run.id, *_told_elsewhere(run), copied_to=step)

    async def _turn_in_terminal_is_over(self, run: Run) -> bool:
        """Wait for it, and say so. False if somebody stops the run first. Endless on purpose: it lasts as long as that
        turn may."""
        if not await self._do(self.takeovers.waits, run):
            return True
        await self._do(self._tell_once, run, _WAITS_FOR_TERMINAL.format(agent=AGENTS[run.agent].label))
        files = await self._do(session_files, run.agent, run.to_copy)
        with FileNews(*((path, IN_A_FILE) for path in files)) as news:
            while await self._do(self.takeovers.waits, run):
                if by := await self._stopped_before_news(run, news):
                    why = f"Not taken over: stopped by {by} before the turn in the terminal was over."
                    await self._do(self.runs.end, run.id, RunState.STOPPED, Ending(message=why))
                    return False
        return True

    async def _stopped_before_news(self, run: Run, news: FileNews) -> str:
        """Who has stopped a run before there was anything new in the terminal; empty when there may be. Without a word
        a terminal may end, and a message that was queued there may turn out to be left over."""
        give_up = time.monotonic() + QUEUE_PATIENCE / 1000
        while not (by := (await self._do(self.runs.get, run.id)).stopped_by):
            await self._do(self._show_what_is_asked, run, run.to_copy)
            is_told = await news.within(LOOK_AT_TERMINAL)
            if is_told or time.monotonic() > give_up or not await self._do(self.takeovers.is_open, run):
                break
        return by

    def _tell_once(self, run: Run, text: str) -> None:
        """Also where a server before this one has told it."""
        if not any(event.body.get("text") == text for event in self.runs.events_of(run.id, EventKind.NOTICE)):
            self.runs.append(run.id, *text_event(EventKind.NOTICE, text))

    async def hand_back(self, run: Run) -> None:
        """Leave the session of a conversation to a terminal: its agent ends here. RunGoesOn while that is at work."""
        step = await self._do(takeover.last_step, run.agent, run.session or run.to_copy)
        back = await self._do(partial(self.runs.hand_back, run, last_step=step))
        await self._do(self._launcher.dismiss, back)

    def _show_what_is_asked(self, run: Run, session: str) -> None:
        """What is asked in a terminal: in a session that is shared, before there was a turn here; in one whose turn is
        waited for."""
        if session and owns_rules(self._config, run.user):
            for ask in self._desk.all_open(person=run.user):
                if ask.asker.session == session and not self.runs.shows_ask(run.id, ask.id):
                    self.runs.note_ask(run.id, ask.id)

    def _see_to_tree(self, run: Run) -> None:
        """The working tree in which the agent is to work, and what it was like at the beginning."""
        begins = run.id == run.conversation
        if run.has_worktree:
            make = self.worktrees.add if begins else self.worktrees.make_sure
            make(self.trees.shadow(run.conversation), run.directory, run.project.directory, run.prompt[:200])
        if begins:
            self.trees.begin(run.conversation, run.directory)

    def _dismiss_earlier(self, run: Run) -> None:
        """A conversation of an agent's own has one process at a time."""
        for earlier in self.runs.turns(run.conversation, run.user)[:-1][-1:]:
            self._launcher.dismiss(earlier)

    async def _take_up(self, run: Run) -> None:
        """Go on with an agent that is there already: another server has started it, or an earlier turn; or with one
        that another server was yet to start."""
        waits = run.to_copy or run.only_takes_over
        if waits and run.line == run.id and not await self._do(self._launcher.was_started, run):
            await self._see_through(run)
            return
        if run.is_unbidden:
            await self._do(self._launcher.let_work, run)
            await self._do(self._show_what_is_asked, run, run.choices.joins)
        await self._do(self._pass_on, run)
        await self._begin_following(run, await self._do(self._launcher.adopt, run))

    async def _follow(self, run: Run, ended: Future[Status]) -> None:
        """Endless on purpose: it lasts as long as the agent may."""
        follower, over = Follower(self.runs, run), asyncio.wrap_future(ended)
        with Printing(run.folder, over) as printing, self._following(run.line):
            while not over.done():
                took = await insistently(lambda: self._do(follower.step), _warn)
                if follower.turn_is_over:
                    await self._end_turn(run, follower.run, over)
                    return
                await (printing.more() if took else printing.next())
        status = over.result()
        if await self._do(self._launcher.heard_nothing, run, await self._do(self.runs.said, run, after=0)):
            await self._do(self._launcher.clear_away, run)
            # Another token, because whoever clears away after the earlier process removes what belongs to its own.
            run = await self._do(self.runs.start_line, run.id, token=str(uuid.uuid4()))
            if not run.state.ended:
                await self._see_through(run)
            return
        # What it was killed over is asked no more, before anybody hears that the run has ended.
        await insistently(lambda: self._do(self._desk.release_the_dead), _warn)
        await insistently(lambda: self._do(follower.end, status), _warn)
        await self._do(self._launcher.clear_away, run)

    @contextmanager
    def _following(self, line: str) -> Iterator[None]:
        self._followed.add(line)
        try:
            yield
        finally:
            self._followed.discard(line)

    async def _end_turn(self, run: Run, ended: Run, over: asyncio.Future[Status]) -> None:
        """The turn is over, and its agent stays. What is to be cleared away later is named by the run as it was."""
        await self._do(self._launcher.let_rest, ended)
        if run.line not in self._resting:
            self._tasks.start(self._see_off(run, over))
        if ended.state is RunState.STOPPED:
            await insistently(lambda: self._do(self._cancel_awaited, run), _warn)

    def _cancel_awaited(self, run: Run) -> None:
        stopping.cancel_awaited(self._desk, run, Settler(person=run.user, surface=SURFACE))

    async def _see_off(self, run: Run, over: asyncio.Future[Status]) -> None:
        """Clear away after an agent that ends between two turns, and look when it goes on by itself. Endless on
        purpose: it lasts as long as the agent."""
        self._resting.add(run.line)
        with Printing(run.folder, over) as printing:
            while not over.done():
                await printing.while_at_rest()
                if run.line not in self._followed:
                    self.look_soon()
        self._resting.discard(run.line)
        if not any(other.line == run.line for other in await self._do(self.runs.open_here)):
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
        finally:
            self.look_soon()

    # Beside the runs

    def look_soon(self) -> None:
        """Something may have to be done at once: a turn is over, or a message was queued."""
        self._look_now.set()

    async def _look_around(self) -> None:
        """Endless until cancelled."""
        while True:
            try:
                for run in await self._do(self.runs.adopt_orphans):
                    self._tasks.start(self._watched(run, self._take_up(run)))
                resting = await self._do(self._heed_stops)
                for run in await self._do(self._unbidden_turns, resting):
                    self._tasks.start(self._watched(run, self._take_up(run)))
                await self._do(self._bury_the_dead)
                await self._do(self._pass_on_what_is_left)
                await self._send_queued()
            except SaysoError as error:
                logger.warning("Cannot look for runs just now: %s", error)
            async with Patience(LOOK_EVERY):
                await self._look_now.wait()
            self._look_now.clear()

    def _unbidden_turns(self, resting: Sequence[Run]) -> list[Run]:
        """New runs for the agents that have begun a turn by themselves. However many are at work: these are, too."""
        begun = []
        for before in resting:
            if has_gone_on(before):
                with suppress(RunGoesOn, FileNotFoundError):
                    begun.append(self.runs.open_unbidden(before, self._launcher.token_of_agent(before)))
        return begun

    def _heed_stops(self) -> list[Run]:
        """End what somebody on another machine wants to end, and the agents of those who were shut out. The last turns
        of the agents that may rest on."""
        at_work, resting = self.runs.open_here(), self.runs.resting_here()
        there = at_work or resting
        welcome = self._accounts.welcome() if there else set()
        for run in resting:
            if run.user not in welcome:
                self.runs.dismiss(run)
        for run in at_work:
            shut_out = "" if run.user in welcome else f"the server, because {run.user} was revoked"
            if by := run.stopped_by or shut_out:
                stopping.stop(self.runs, self._desk, run, Settler(person=by, surface=SURFACE))
        return [run for run in resting if run.user in welcome]

    def _bury_the_dead(self) -> None:
        """The agents whose runner was killed while they rested, unless they are seen off here."""
        for run in self.runs.died_at_rest():
            if run.line not in self._resting:
                self._launcher.bury(run)

    def _pass_on_what_is_left(self) -> None:
        """What was kept by a server on another machine, or by one that died before it could pass it on."""
        for run in self.runs.open_here():
            if run.process == self.runs.process and run.said > speaking.state(run.folder).handed_on:
                self._pass_on(run)

    async def _tidy(self) -> None:
        """Endless until cancelled."""
        while True:
            try:
                await self._do(self._launcher.sweep, self.runs)
                longer = await self._do(leapt, self._store, now_ms())
                await self._do(self.runs.collect, self._config.keep_runs + longer, self._ending)
                await self._do(self.trees.sweep, self.runs.is_there)
                await self._do(self.worktrees.sweep)
            except (SaysoError, OSError) as error:
                logger.warning("Old runs could not be tidied up: %s", error)
            await asyncio.sleep(TIDY_EVERY)


_BROKEN_OFF = (
    "The session in the terminal has ended in the middle of a turn. {agent} goes on here from there: what it was told "
    "last may be half done."
)
_NOT_SHARED = "The server that {agent} shared with the terminal has ended. It goes on here in a copy of the session."
_WAITS_FOR_TERMINAL = (
    "{agent} is in the middle of a turn in the terminal. Your message is sent as soon as that turn is over; until "
    "then, Stop takes it back."
)


def _told_elsewhere(run: Run) -> list[NewEvent]:
    """What was said in a terminal since the conversation was handed back to one."""
    return _as_events(takeover.said_since(run))


def _as_events(said: Sequence[TerminalMessage]) -> list[NewEvent]:
    """What was said before the message that begins the turn, which is shown above it."""
    told = (text_event(EventKind.ELSEWHERE, each.text, by_person=each.by_person, earlier=True) for each in said)
    return [event for events in told for event in events]


def _told_of(kept_out: Sequence[BroughtFile], run: Run) -> tuple[NewEvent, ...]:
    """That the agent works without what its project brings, where it does."""
    text = (
        f"Started without what this project brings ({some_names(kept_out)}), because you have not trusted it as it is."
    )
    fix = f"To look at it, and trust it: sayso trust {spelt_out(str(run.project.directory))}"
    return text_event(EventKind.NOTICE, f"{text} {fix}" if kept_out else "")


def _warn(error: StoreError) -> None:
    # Nothing is lost meanwhile: what the agent prints waits on disk.
    logger.warning("What an agent said cannot be kept just now: %s", error)
