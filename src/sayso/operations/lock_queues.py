"""Whose turn it is: jobs with the same lock run one after another, in the order in which they were opened.

The store decides between processes; here only the first of this process's queue asks it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Awaitable, Callable

from sayso.operations.job import Job
from sayso.operations.operation import Operation


class LockQueues:
    """The queues of one process. `begin` asks the store, `news` returns when it may be worth asking again."""

    def __init__(
        self, begin: Callable[[str], Awaitable[Operation | None]], news: Callable[[], Awaitable[None]]
    ) -> None:
        self._begin, self._news = begin, news
        self._queues: dict[tuple[str, str], list[Job]] = {}

    async def take(self, job: Job) -> Operation:
        """The operation once it runs, or has been ended while it waited."""
        if job.operation.lock is None:
            begun = await self._begin(job.id)
            assert begun is not None
            return begun
        lock = job.operation.lock, job.operation.asker.project
        queue = self._queues.setdefault(lock, [])
        insort(queue, job, key=lambda each: each.place)
        try:
            return await self._wait(job, queue)
        finally:
            queue.remove(job)
            if not queue:
                self._queues.pop(lock, None)

    async def _wait(self, job: Job, queue: list[Job]) -> Operation:
        """Endless until it is its turn: it lasts as long as those before it do."""
        while True:
            if queue[0] is job or job.dropped.is_set():
                begun = await self._begin(job.id)
                if begun is not None:
                    return begun
            job.wait_for(f"the lock {job.operation.lock!r}")
            await self._news()
