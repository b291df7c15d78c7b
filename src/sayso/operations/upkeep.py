"""What the supervisor does beside its work: heed who wants what cancelled, look for alerts, delete what is old."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from sayso.config import Config
from sayso.errors import SaysoError, StoreError
from sayso.operations.detection import Detection
from sayso.running import folder as runner_folder

if TYPE_CHECKING:
    from sayso.operations.job import Job
    from sayso.operations.supervisor import OperationSupervisor

logger = logging.getLogger(__name__)

TIDY_EVERY = 3600.0
MODEL_THREADS = 8
LOOK_PAUSE = 0.05
"""Seconds to let a burst of changes pass: most are our own, and nobody who cancels a running command waits for this."""


class Upkeep:
    """The background work of one supervisor. Each is endless until it is cancelled."""

    def __init__(self, supervisor: OperationSupervisor, config: Config) -> None:
        self._supervisor, self._config = supervisor, config
        self._models = anyio.CapacityLimiter(MODEL_THREADS)
        self.ending = threading.Event()
        """Set when there is no time left for more."""

    async def watch(self) -> None:
        """Look after each ring of the bell, and about once a second without."""
        while True:
            await self._supervisor.news()
            await anyio.sleep(LOOK_PAUSE)
            try:
                if self._supervisor.jobs:
                    await self._heed_cancels()
                    await self._look_for_alerts()
            except StoreError as error:
                logger.warning("Cannot look for cancelled operations just now: %s", error)

    async def tidy(self) -> None:
        """Delete what is old now and then."""
        while True:
            try:
                limits = self._config.keep_operations, self._config.keep_operations_bytes
                await self._supervisor.in_thread(self._supervisor.desk.collect, *limits, self.ending)
            except SaysoError as error:
                logger.warning("Old operations could not be deleted: %s", error)
            await anyio.sleep(TIDY_EVERY)

    async def _heed_cancels(self) -> None:
        for operation in await self._supervisor.do(self._supervisor.desk.wanted_cancelled):
            job = self._supervisor.jobs.get(operation.id)
            if job and not job.dropped.is_set():
                job.operation = operation
                job.dropped.set()
                await self._supervisor.do(runner_folder.cancel, operation.folder)

    async def _look_for_alerts(self) -> None:
        for job in [job for job in self._supervisor.jobs.values() if job.looks_for_alerts]:
            if await self._supervisor.in_thread(job.look):
                self._supervisor.tell(job)
            if job.detection and (lines := job.detection.chunk()):
                self._supervisor.beside(self._have_looked_at(job, job.detection, lines))

    async def _have_looked_at(self, job: Job, detection: Detection, lines: list[str]) -> None:
        """Ask the model, without anybody having to wait for it: neither the command nor the other background work."""

        def look() -> list[str]:
            return detection.look(lines, self._supervisor.environment_of(job))

        alerts: list[str] = []
        try:
            with anyio.fail_after(detection.timeout):
                alerts = await anyio.to_thread.run_sync(look, abandon_on_cancel=True, limiter=self._models)
        except TimeoutError:
            alerts = detection.unseen(lines, "it did not answer in time")
        finally:
            detection.looked(alerts)
        if alerts and not job.end.done():
            job.report(alerts)
            self._supervisor.tell(job)
