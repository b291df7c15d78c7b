"""The commands of the agents of one server: their supervisor, opened at first need, and what is yet to be told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from sayso.asks.model import Ask, Asker
from sayso.asks.waiting import Waiting
from sayso.bridge import seen_through
from sayso.errors import AmbiguousId, NotFound, SaysoError
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.collect import QuietAgents
from sayso.mcp_server.context import CallContext
from sayso.operations.approval import Approvals
from sayso.operations.desk import OperationDesk
from sayso.operations.job import Job
from sayso.operations.operation import Operation
from sayso.operations.report import Report, reads_nothing, report_on
from sayso.operations.supervisor import OperationSupervisor
from sayso.toolfiles.catalog import Catalog

logger = logging.getLogger(__name__)

Notify = Callable[[Ask, Waiting, float], Coroutine[Any, Any, None]]
"""Tells a person of an ask that nobody looks at, after so many seconds."""

Observer = Callable[[Job], None]


class AgentCommands:
    """Opens the supervisor when it is needed, and knows what the agent has not heard of yet."""

    def __init__(self, backend: Backend, catalog: Catalog, notify: Notify, observer: Observer) -> None:
        self.backend, self.config = backend, backend.config
        self._catalog, self._notify, self._observer = catalog, notify, observer
        self._opening = asyncio.Lock()
        self._supervisor: OperationSupervisor | None = None
        self._offered: set[str] = set()
        self._unwritten = 0
        """How many replies were never written."""
        self._quiet = QuietAgents()

    async def supervisor(self) -> OperationSupervisor:
        """The supervisor. Nothing is opened, listened to or started before somebody asks for it."""
        if self._supervisor:
            return self._supervisor
        # Not to be cancelled halfway: what a half-opened one has taken over, no other would see through.
        return await seen_through(self._opened())

    async def _opened(self) -> OperationSupervisor:
        async with self._opening:
            if self._supervisor is None:
                waiting = await self.backend.waiting()
                desks = await self.backend.desks()
                approvals = Approvals(
                    waiting, desks.permissions, lambda ask: self.backend.send_out(self._notify(ask, waiting, 0.0))
                )
                supervisor = desks.operation_supervisor(self._catalog, approvals)
                supervisor.observers.append(self._observer)
                await supervisor.open()
                self._supervisor = supervisor
            return self._supervisor

    async def leave(self) -> None:
        """The client has gone."""
        if self._supervisor:
            await seen_through(self._supervisor.leave())

    async def stop(self) -> None:
        """Somebody wants this server to end, and all it has begun."""
        if self._supervisor:
            await seen_through(self._supervisor.stop())

    async def find(self, operation_id: str, asker: Asker) -> Operation:
        """The operation of this asker with that id, or whose id begins so."""
        supervisor = await self.supervisor()
        try:
            found = await supervisor.do(supervisor.desk.find, operation_id)
        except (NotFound, AmbiguousId):
            found = None
        if found is None or not asker.is_same_agent(found.asker):
            raise NotFound(f"None of your operations has the id {operation_id!r}. Call status for those there are.")
        return found

    async def report(self, operation: Operation, limit: int | None = None) -> Report:
        supervisor = await self.supervisor()
        most = self.config.reply_bytes if limit is None else limit
        whole = operation, supervisor.desk, supervisor.excerpts, most
        return report_on(*whole) if reads_nothing(operation) else await supervisor.in_thread(report_on, *whole)

    async def owed(self, asker: Asker, *, but: Iterable[str] = ()) -> list[Operation]:
        """What has ended since the agent was last told, and is not on its way to it already."""
        supervisor = await self.supervisor()
        known = {*self._offered, *but}
        return [
            operation
            for operation in await supervisor.do(supervisor.desk.undelivered, asker)
            if operation.id not in known
        ]

    async def has_news(self, asker: Asker) -> bool:
        """Whether there may be something to tell. While no command of this server is at work, nothing ends but what
        was begun through others, and most replies need not look. Opens no supervisor: most who ask a question run no
        commands."""
        if self._supervisor and self._supervisor.jobs:
            return True
        changes = self._unwritten + (self._supervisor.taken_on if self._supervisor else 0)
        if self._quiet.holds(asker, changes):
            return False
        if await self._looked(asker):
            return True
        self._quiet.add(asker, changes)
        return False

    async def _looked(self, asker: Asker) -> bool:
        """Whether the store has something to tell."""
        if self._supervisor:
            return bool(await self.owed(asker))
        operations = (await self.backend.desks()).operations
        return await (await self.backend.waiting()).do(_has_ended, operations, asker)

    async def alerts(self, asker: Asker) -> list[tuple[Operation, list[str]]]:
        """Lines that running commands have reported since the agent was last told."""
        supervisor = await self.supervisor()
        jobs = {
            job.id: job
            for job in supervisor.jobs.values()
            if job.untold_alerts and asker.is_same_agent(job.operation.asker)
        }
        told = []
        for operation in await supervisor.do(
            supervisor.desk.belonging, [job.operation for job in jobs.values()], asker
        ):
            lines = jobs[operation.id].untold_alerts
            told.append((operation, list(lines)))
            lines.clear()
        return told

    def hand_over(self, ctx: CallContext, operations: Iterable[Operation]) -> None:
        """Those that have ended count as delivered once the response to this request has been written."""
        ids = [operation.id for operation in operations if operation.state.ended and not operation.delivered]
        self._offered.update(ids)
        ctx.when_written(partial(self._handed_over, ids))

    def _handed_over(self, ids: list[str], written: bool) -> None:
        if written:
            self.backend.start(self._note_delivered(ids))
        else:
            self._offered.difference_update(ids)
            self._unwritten += 1

    async def _note_delivered(self, ids: list[str]) -> None:
        supervisor = await self.supervisor()
        for operation_id in ids:
            try:
                await supervisor.do(supervisor.desk.delivered, operation_id)
            except SaysoError as error:
                # The agent may hear of it once more; better than never.
                logger.warning("Could not note the delivery of operation %s: %s", operation_id, error)
        self._offered.difference_update(ids)


def _has_ended(desk: OperationDesk, asker: Asker) -> bool:
    desk.end_the_dead()
    return bool(desk.undelivered(asker, most=1))
