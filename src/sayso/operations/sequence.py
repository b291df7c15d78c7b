"""Runs the steps of a sequence one after another: the next begins when the one before has succeeded, else none does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from sayso.bridge import Patience
from sayso.errors import SaysoError
from sayso.operations.desk import OperationDesk
from sayso.operations.job import Job
from sayso.operations.operation import NewOperation, Operation, OperationState, not_started
from sayso.operations.order import Order
from sayso.records import replace
from sayso.running.folder import Reason, Status
from sayso.toolfiles.argv import Invocation
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.leaves import leaf_name
from sayso.toolfiles.model import SequenceStep

_REASONS: dict[OperationState, Reason] = {
    OperationState.CANCELLED: "cancelled",
    OperationState.TIMED_OUT: "timed_out",
    OperationState.LOST: "lost",
}


class StepRunner(Protocol):
    """What a sequence needs of the place where operations are run."""

    @property
    def desk(self) -> OperationDesk: ...
    @property
    def tools(self) -> Mapping[str, CommandTool]: ...
    async def start(self, order: Order) -> Job: ...
    async def cancel(self, operation_id: str, by: str) -> Operation: ...
    async def do(self, work: Callable[..., Operation], *arguments: object) -> Operation: ...


class Sequence:
    """One run of a sequence."""

    def __init__(self, runs: StepRunner, job: Job, order: Order, command: Invocation) -> None:
        self._runs, self._job, self._order, self._command = runs, job, order, command
        self._steps = order.tool.leaf.sequence
        limit = job.operation.timeout_seconds
        self._deadline = None if limit is None else time.monotonic() + limit

    async def run(self) -> Status:
        """Run the steps; how the whole ended."""
        for number, step in enumerate(self._steps, start=1):
            if number > 1:
                await self._pause()
            if self._job.dropped.is_set():
                return self._ended("cancelled", f"Cancelled before step {number} of {len(self._steps)}.")
            if (left := self._left()) is not None and left <= 0:
                return self._ended("timed_out", f"Its time was over before step {number} of {len(self._steps)}.")
            try:
                ended = await self._step(number, step, left)
            except SaysoError as error:
                return self._not_begun(number, str(error))
            if ended.state is not OperationState.COMPLETED:
                return self._failed(number, ended)
        return Status(reason="exit", exit_code=0, text=f"All {len(self._steps)} steps are done.")

    async def _step(self, number: int, step: SequenceStep, left: float | None) -> Operation:
        order = self._step_order(number, left)
        if why := self._needless(step):
            return await self._runs.do(self._runs.desk.open_skipped, self._skipped(order), why)
        self._job.step = await self._runs.start(order)
        dropped = asyncio.ensure_future(self._job.dropped.wait())
        try:
            first: list[asyncio.Future[Any]] = [self._job.step.end, dropped]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not self._job.step.end.done():
                await self._runs.cancel(order.id, self._job.operation.cancelled_by or "whoever cancelled the sequence")
            return await asyncio.shield(self._job.step.end)
        finally:
            dropped.cancel()
            self._job.step = None

    def _step_order(self, number: int, left: float | None) -> Order:
        held = self._job.operation.lock or self._order.held_lock
        return replace(self._order.step(number, self._runs.tools), most_seconds=left, held_lock=held)

    def _skipped(self, order: Order) -> NewOperation:
        return NewOperation(
            id=order.id,
            tool=order.tool.name,
            argv=order.tool.leaf.segments[0].words,
            cwd=str(self._command.cwd),
            asker=order.asker,
            parent=order.parent,
            background=False,
        )

    def _needless(self, step: SequenceStep) -> str:
        """Why the step is skipped, if it is."""
        there, missing = step.skip_if_file_exists, step.skip_if_file_missing
        if there and self._path(there).exists():
            return f"Skipped: {there} is there."
        if missing and not self._path(missing).exists():
            return f"Skipped: {missing} is not there."
        return ""

    def _path(self, name: str) -> Path:
        return self._command.cwd / name

    async def _pause(self) -> None:
        """What the file says lies between two steps; less when it is cancelled or its time is over."""
        wanted = self._order.tool.leaf.step_delay_ms / 1000
        left = self._left()
        async with Patience(wanted if left is None else max(0.0, min(wanted, left))):
            await self._job.dropped.wait()

    def _left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _not_begun(self, number: int, why: str) -> Status:
        """The end with a step that could not be started. Once there was one before it, the sequence itself was."""
        text = f"{self._name(number)} could not begin: {why}{self._rest(number)}"
        return self._ended("spawn_failed" if number == 1 else "exit", text)

    def _failed(self, number: int, step: Operation) -> Status:
        if step.status and step.status.reason == "spawn_failed":
            return self._not_begun(number, f"{step.tool} {not_started(step.status.text)}")
        code = step.status.exit_code if step.status else None
        text = f"{self._name(number)} {step.state.replace('_', ' ')}.{self._rest(number)}"
        return self._ended(_REASONS.get(step.state, "exit"), text, code or None)

    def _rest(self, number: int) -> str:
        """What becomes of the steps after this one."""
        rest = len(self._steps) - number
        return f" The {rest} after it were not run." if rest else ""

    def _name(self, number: int) -> str:
        step = self._steps[number - 1]
        return f"Step {number} of {len(self._steps)}, {leaf_name(step.tool, step.subcommand)},"

    def _ended(self, reason: Reason, text: str, exit_code: int | None = None) -> Status:
        return Status(reason=reason, exit_code=exit_code, text=text)
