"""Sees operations through in one process: starts them, waits for their turn and their end, takes over orphans.

States change at the desk alone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from sayso.bridge import BackgroundTasks, Patience, Rings, Threads, endless, in_thread, insistently, listening
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import SaysoError, SpawnerUnavailable, StoreError
from sayso.operations.approval import DROPPED, Approvals, SaySo, WantedApproval
from sayso.operations.desk import OperationDesk
from sayso.operations.detection import Detection
from sayso.operations.job import Job
from sayso.operations.lock_queues import LockQueues
from sayso.operations.operation import TO_BE_ASKED, Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.sequence import Sequence
from sayso.operations.starter import Starter, with_install_hint
from sayso.operations.wanted_action import WantedActions
from sayso.permissions.verdict import AllowedAction
from sayso.records import record, replace
from sayso.running import folder as runner_folder
from sayso.running.excerpt import Excerpts
from sayso.running.folder import Status
from sayso.store import Store
from sayso.store.bell import LOOK_EVERY
from sayso.store.leaps import leapt
from sayso.toolfiles.argv import Invocation
from sayso.toolfiles.catalog import Catalog, CommandTool

logger = logging.getLogger(__name__)

Observer = Callable[[Job], None]

LAUNCH_THREADS = 32
MODEL_THREADS = 8
TIDY_EVERY = 3600.0
LOOK_PAUSE = 0.05
"""Seconds to let a burst of changes pass: most are our own, and nobody who cancels a running command waits for this."""

LEAVE_SECONDS = 1.0
"""How long leaving waits for commands that were waited for: clients kill a server that does not end within two."""

CLOSE_SECONDS = 5.0

SAY_SO = "the user's say-so"
DROPPED_WHEN_ALLOWED = "It was cancelled just when it was allowed, so it was not run."
DROPPED_WHILE_CHECKED = "It was cancelled while its availability was checked, so it was not run."
STOPPED = "the server, which was stopped"
LEFT = "the server, whose client left"


@record
class BegunOperation:
    """What a call has come to: an operation that has been opened, and perhaps started, and perhaps has ended."""

    command: Invocation
    operation: Operation
    wanted: WantedApproval | None = None
    ended: Future[Status] | None = None
    """The end of what has been started."""


class OperationSupervisor:
    """The operations of one process. `open` it, and end with `leave` or `stop`."""

    def __init__(self, config: Config, store: Store, catalog: Catalog, approvals: Approvals) -> None:
        self._config, self._catalog, self._approvals = config, catalog, approvals
        self.desk = OperationDesk(store, config.operations_dir, most_open=config.max_open_commands)
        self.excerpts = Excerpts.of(config)
        self.jobs: dict[str, Job] = {}
        """Those whose end has not been noted."""
        self._at_work = asyncio.Event()
        """Set while there are any."""
        self.taken_on = 0
        """How many jobs there have been whose end is told later."""
        self.observers: list[Observer] = []
        """Called on the event loop when a job begins to run, has something to report, or has ended."""
        self._starter = Starter(config)
        self.do = Threads(store.threads).do
        """Runs plain code of the desk."""
        self._lock_queues = LockQueues(lambda waiting: self.do(self.desk.begin, waiting), self.news)
        self.in_thread = Threads(LAUNCH_THREADS).do
        """Runs plain code that may take longer, such as reading output or starting a command."""
        self._recovering = asyncio.Lock()
        self._tasks = BackgroundTasks()
        self.beside = self._tasks.start
        """Does something that nobody waits for; it ends with this supervisor."""
        self._store, self._rings, self._listening = store, Rings(), AsyncExitStack()
        self._models = Threads(MODEL_THREADS, "sayso-model")
        self._ending = threading.Event()
        """Set when there is no time left for tidying."""

    async def open(self) -> None:
        """Take over what earlier servers left, and begin to listen."""
        await self.recover()
        await self._listening.enter_async_context(listening(self._store.bell(), self._rings.ring))
        self.beside(endless("Looking for cancelled operations", self._watch))
        self.beside(self._tidy())

    # Running

    @property
    def tools(self) -> Mapping[str, CommandTool]:
        return self._catalog.loaded.tools

    async def start(self, order: Order) -> Job:
        """Open the operation and see it through. An InvalidInput or ToolUnavailable says why nothing was begun."""
        begun = await self.in_thread(self._begin, order)
        operation = begun.operation
        job = self._take_on(operation)
        logger.info("Operation %s (%s) is %s", operation.id, operation.tool, operation.state)
        logger.debug("Operation %s: %s in %s", operation.id, begun.command.argv, begun.command.cwd)
        if operation.state.ended:
            self._let_know(job, operation)
        else:
            self.beside(self._see_through(job, partial(self._status, job, order, begun)))
        return job

    async def cancel(self, operation_id: str, by: str) -> Operation:
        """Have it ended, with all its processes. Returns at once; `ended` waits."""
        operation = await self.do(self.desk.want_cancelled, operation_id, by)
        if job := self.jobs.get(operation_id):
            job.operation = operation
            job.dropped.set()
        return operation

    async def ended(self, operation_id: str) -> Operation:
        """The operation once it has ended, whichever process sees it through. Endless: as long as the command."""
        while True:
            if job := self.jobs.get(operation_id):
                await asyncio.wait([job.end])
                if not job.end.cancelled():
                    return job.end.result()
            operation = await self.do(self.desk.get, operation_id)
            if operation.state.ended:
                return operation
            await self.recover()
            if operation_id not in self.jobs:
                await self.news()

    async def recover(self) -> None:
        """Take over what dead processes were seeing through."""
        async with self._recovering:
            for operation in await self.do(self.desk.adopt_orphans):
                logger.info("Found operation %s (%s) of an earlier server again", operation.id, operation.tool)
                job = self._take_on(operation)
                job.run()
                self.beside(self._see_through(job, partial(self._end_of_adopted, operation)))

    async def news(self) -> None:
        """Wait until the store has changed, or a second is over."""
        rung = self._rings.next
        async with Patience(LOOK_EVERY):
            await rung.wait()

    # Ending

    async def leave(self) -> None:
        """The client has gone. Background commands go on by themselves; what was waited for, or waits, is cancelled."""
        jobs = list(self.jobs.values())
        waited_for = [job for job in jobs if self._is_waited_for(job) or job.operation.state is OperationState.QUEUED]
        await self._drop(waited_for, LEFT)
        if ends := [job.end for job in waited_for]:
            await asyncio.wait(ends, timeout=LEAVE_SECONDS)
        for job in jobs:
            if job.operation.background and job.operation.is_sequence and not job.end.done():
                await self._abandon(job)
        await in_thread(self._starter.spawner.leave)
        await self._close()

    def _is_waited_for(self, job: Job) -> bool:
        """Whether a call waits for it, or for the sequence that it is a step of."""
        whole = self.jobs.get(job.operation.parent, job)
        return not whole.operation.background

    async def stop(self, by: str = STOPPED) -> None:
        """Cancel all that was begun here, and return when no process of it is left. What was only taken over goes on by
        itself."""
        process = self._store.bell().process
        await self._drop([job for job in self.jobs.values() if job.operation.server == process], by)
        await in_thread(self._starter.spawner.stop)
        await self._close()

    async def _drop(self, jobs: list[Job], by: str) -> None:
        for job in jobs:
            try:
                await self.cancel(job.id, by)
            except SaysoError as error:
                logger.warning("Could not note that operation %s is cancelled: %s", job.id, error)

    async def _abandon(self, sequence: Job) -> None:
        number = sequence.step.id.rpartition(".")[2] if sequence.step else "?"
        text = f"Its server ended during step {number}. That step goes on by itself; those after it were not begun."
        try:
            await self.do(self.desk.end, sequence.id, Status(reason="lost", text=text))
        except SaysoError as error:
            logger.warning("Could not note that operation %s is left: %s", sequence.id, error)

    async def _close(self) -> None:
        self._ending.set()
        await self._listening.aclose()
        if ends := [job.end for job in self.jobs.values()]:
            await asyncio.wait(ends, timeout=CLOSE_SECONDS)
        await self._tasks.cancel(CLOSE_SECONDS)

    # Seeing one through

    def _begin(self, order: Order) -> BegunOperation:
        """Open the operation. What need not wait for anybody or anything is started on the same trip to a thread, and
        its end is noted if that is quick: another trip takes longer than most of what is done on it."""
        begun = self._open(order)
        if begun.operation.state is not OperationState.RUNNING or begun.wanted or order.allowed:
            return begun
        if order.tool.leaf.sequence or not self._starter.is_ready(order, begun.command):
            return begun
        ended = self._starter.start(begun.operation, order, begun.command, None)
        return self._noted(order, replace(begun, ended=ended)) if ended.done() else replace(begun, ended=ended)

    def _noted(self, order: Order, begun: BegunOperation) -> BegunOperation:
        """The same with its end, unless there is trouble with that, which is for whoever sees it through."""
        assert begun.ended
        try:
            status = self._explained(begun.ended.result(), begun.operation, order, begun.command)
            return replace(begun, operation=self.desk.end(begun.operation.id, status, known_here=True))
        except Exception as error:
            logger.debug("The end of operation %s was not noted at once: %r", begun.operation.id, error)
            return begun

    def _open(self, order: Order) -> BegunOperation:
        command = order.command(self._config, self.desk.folder_of(order.id))
        self._starter.sandbox(order)  # what cannot be enforced is not begun
        wanted = self._wanted(order, command)
        if not wanted and not order.allowed:
            self._starter.check(order, None)
        new = order.operation(command, self._config)
        if wanted and self._approvals.needed(wanted):
            opened = self.desk.open(replace(new, say_so=TO_BE_ASKED), known_here=True)
        elif new.lock:
            opened = self.desk.open(new, known_here=True)
        else:
            opened = self.desk.open_running(new, known_here=True)
        return BegunOperation(command=command, operation=opened, wanted=wanted)

    def _wanted(self, order: Order, command: Invocation) -> WantedApproval | None:
        """What a person has to allow; None where nobody need, or has allowed the sequence that it is part of."""
        if order.allowed:
            return None
        actions = WantedActions(self._config, self.tools, self._starter)
        folder = self.desk.folder_of(order.id)
        return self._approvals.wanted(order.tool, order.asker, lambda: actions.of(order, command, folder))

    async def _see_through(self, job: Job, end: Callable[[], Awaitable[Status | None]]) -> None:
        try:
            await self._finish(job, await end())
        except SpawnerUnavailable:
            job.leave()
        except StoreError as error:
            logger.error("The end of operation %s could not be noted: %s", job.id, error)
            job.fail(error)
        except Exception as error:  # the top of this task: whoever waits must hear of it
            logger.exception("Operation %s ended in a fault", job.id)
            job.fail(SaysoError(f"Sayso failed on operation {job.id}; its log says why ({type(error).__name__})."))
        finally:
            job.leave()
            self.jobs.pop(job.id, None)

    async def _status(self, job: Job, order: Order, begun: BegunOperation) -> Status | None:
        """How it ended; None when somebody ended it before it began."""
        command, wanted = begun.command, begun.wanted
        if begun.ended:
            return await self._end_of_started(job, order, command, begun.ended)
        said = self._approvals.given(wanted) if wanted else SaySo()
        if job.operation.state is OperationState.QUEUED:
            said = await self._say_so(job, wanted)
            if said.refused:
                return Status(reason="cancelled", text=said.refused)
            job.operation = await self._lock_queues.take(job)
            if job.operation.state.ended:
                await self._note_not_run(job, wanted, said)
                return None
        allowed = AllowedAction(action=wanted.action, ask=said.ask) if wanted else order.allowed
        if order.tool.leaf.sequence:
            # The steps of a sequence that nobody was shown ask for themselves.
            shown = allowed if said.shown else order.allowed
            return await self._run_steps(job, replace(order, allowed=shown), command, allowed)
        return await self._execute(job, order, command, allowed)

    async def _say_so(self, job: Job, wanted: WantedApproval | None) -> SaySo:
        async def asked(ask_id: str) -> None:
            if job.operation.say_so != ask_id:
                job.operation = await self.do(self.desk.awaits, job.id, ask_id)

        said = self._approvals.given(wanted) if wanted else SaySo()
        if wanted and self._approvals.needed(wanted):
            job.wait_for(SAY_SO)
            said = await self._approvals.say_so(wanted, job.dropped, asked, lambda: job.dropped_because)
            job.waits_for = ""
            if job.dropped.is_set() and not said.refused:
                await self._note_not_run(job, wanted, said)
                return SaySo(refused=DROPPED_WHEN_ALLOWED)
        if not said.refused:
            await asked("")
        return said

    async def _note_not_run(self, job: Job, wanted: WantedApproval | None, said: SaySo) -> None:
        """Have the log say why nothing came of what somebody has just allowed."""
        if wanted is None or not said.shown:
            return
        allowed = AllowedAction(action=wanted.action, ask=said.ask)
        try:
            await self.do(self.desk.note_not_run, job.operation, allowed, DROPPED)
        except StoreError as error:
            logger.warning("Could not note that operation %s was not run: %s", job.id, error)

    async def _run_steps(
        self, job: Job, order: Order, command: Invocation, allowed: AllowedAction | None
    ) -> Status | None:
        try:
            refused = await self._check(job, order, allowed) if allowed else None
        except (SaysoError, OSError) as error:
            return Status(reason="spawn_failed", text=str(error))
        if refused:
            return refused
        self.tell(job)
        return await Sequence(self, job, order, command).run()

    async def _execute(self, job: Job, order: Order, command: Invocation, allowed: AllowedAction | None) -> Status:
        try:
            if allowed:
                await self.do(self.desk.note_run, job.operation, allowed)
                if refused := await self._check(job, order, allowed):
                    return refused
        except (SaysoError, OSError) as error:
            return Status(reason="spawn_failed", text=str(error))
        action = allowed.action if allowed else None
        ended = await self.in_thread(self._starter.start, job.operation, order, command, action)
        return await self._end_of_started(job, order, command, ended)

    async def _end_of_started(self, job: Job, order: Order, command: Invocation, ended: Future[Status]) -> Status:
        if not ended.done():
            self.tell(job)
        if job.dropped.is_set():
            # Whoever cancelled it may have come before there was a runner to tell.
            await self.do(runner_folder.cancel, job.operation.folder)
        status = await asyncio.wrap_future(ended)
        if status.reason == "exit" and status.exit_code in job.operation.success_exit_codes:
            return status
        return await self.in_thread(self._explained, status, job.operation, order, command)

    def _explained(self, status: Status, operation: Operation, order: Order, command: Invocation) -> Status:
        """The same with what may help, where it did not go well."""
        if status.reason == "exit" and status.exit_code not in operation.success_exit_codes:
            return self._starter.explained(status, order, command, operation.folder, self.excerpts)
        if status.reason == "spawn_failed" and status.started_at:  # its runner has looked for the program
            return replace(status, text=with_install_hint(status.text, order.tool.leaf))
        return status

    async def _check(self, job: Job, order: Order, allowed: AllowedAction) -> Status | None:
        """Run the checks that were allowed with the command. Why it must not begin after all, if it must not."""
        if not self._starter.checks(order):
            return None
        refused = await self.in_thread(self._starter.check, order, allowed.action)
        if job.dropped.is_set() and not refused:
            return Status(reason="cancelled", text=DROPPED_WHILE_CHECKED)
        return refused

    async def _end_of_adopted(self, operation: Operation) -> Status:
        return await asyncio.wrap_future(self._starter.spawner.adopt(operation.folder))

    async def _finish(self, job: Job, status: Status | None) -> None:
        self._let_know(job, await self._note_end(job, status))

    def _let_know(self, job: Job, ended: Operation) -> None:
        """Its end has been noted."""
        self.jobs.pop(job.id, None)
        self._rings.ring()
        logger.info("Operation %s (%s) ended: %s", ended.id, ended.tool, ended.state)
        job.finish(ended)
        self.tell(job)

    async def _note_end(self, job: Job, status: Status | None) -> Operation:
        """As often as it takes: as long as this process lives, nobody else does it. Whoever waits hears of the trouble
        at once."""

        def tell(error: StoreError) -> None:
            if not job.end.done():
                logger.error("The end of operation %s could not be noted yet: %s", job.id, error)
            job.fail(error)

        if status is None:
            return await insistently(lambda: self.do(self.desk.get, job.id), tell)
        return await insistently(lambda: self.do(self.desk.end, job.id, status, known_here=True), tell)

    # Beside the work, until it is cancelled

    async def _watch(self) -> None:
        """Look after each ring of the bell, and about once a second without, while there is something to look at."""
        while True:
            if not self.jobs:
                self._at_work.clear()
            # The beginning of a job rings as well.
            await (self.news() if self.jobs else self._at_work.wait())
            await asyncio.sleep(LOOK_PAUSE)
            try:
                if self.jobs:
                    await self._heed_cancels()
                    await self._look_for_alerts()
            except StoreError as error:
                logger.warning("Cannot look for cancelled operations just now: %s", error)

    async def _tidy(self) -> None:
        """Delete what is old now and then."""
        while True:
            try:
                longer = await self.do(leapt, self._store, now_ms())
                limits = self._config.keep_operations + longer, self._config.keep_operations_bytes
                await self.in_thread(self.desk.collect, *limits, self._ending)
            except SaysoError as error:
                logger.warning("Old operations could not be deleted: %s", error)
            await asyncio.sleep(TIDY_EVERY)

    async def _heed_cancels(self) -> None:
        for operation in await self.do(self.desk.wanted_cancelled):
            job = self.jobs.get(operation.id)
            if job and not job.dropped.is_set():
                job.operation = operation
                job.dropped.set()
                await self.do(runner_folder.cancel, operation.folder)
        for job in [job for job in self.jobs.values() if job.waits_for == SAY_SO and not job.dropped.is_set()]:
            # Cancelled by another process it has ended, and nobody need decide on it any more.
            if (operation := await self.do(self.desk.get, job.id)).state.ended:
                job.operation = operation
                job.dropped.set()

    async def _look_for_alerts(self) -> None:
        for job in [job for job in self.jobs.values() if job.looks_for_alerts]:
            if await self.in_thread(job.look):
                self.tell(job)
            if job.detection and (lines := job.detection.chunk()):
                self.beside(self._have_looked_at(job, job.detection, lines))

    async def _have_looked_at(self, job: Job, detection: Detection, lines: list[str]) -> None:
        """Ask the model. Neither the command nor the other work waits for it, nor for the login shell it may need."""

        def look() -> list[str]:
            return detection.look(lines, self._starter.environment(Path(job.operation.asker.project)))

        alerts: list[str] = []
        try:
            async with asyncio.timeout(detection.timeout):
                alerts = await self._models.look(look)
        except TimeoutError:
            alerts = detection.unseen(lines, "it did not answer in time")
        finally:
            detection.looked(alerts)
        if alerts and not job.end.done():
            job.report(alerts)
            self.tell(job)

    # The rest

    def _take_on(self, operation: Operation) -> Job:
        tool = self.tools.get(operation.tool)
        job = Job(operation, self.excerpts, tool.file.livelog if tool else None)
        if operation.background:
            self.taken_on += 1
        if not operation.state.ended:
            self.jobs[job.id] = job
            self._at_work.set()
            self._rings.ring()
        return job

    def tell(self, job: Job) -> None:
        """Something about the job is new."""
        job.run()
        for observer in self.observers:
            observer(job)
