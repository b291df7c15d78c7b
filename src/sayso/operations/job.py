"""One operation that this process sees through, as its coroutines share it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from sayso.asks.model import CALLED_OFF
from sayso.operations.alerts import Alerts
from sayso.operations.detection import Detection
from sayso.operations.operation import Operation
from sayso.running.excerpt import Excerpts
from sayso.toolfiles.model import Livelog

_MOST_ALERTS = 20


class Job:
    """An operation under way. `operation` is as this process last saw it; `end` is set once it has ended."""

    def __init__(self, operation: Operation, excerpts: Excerpts, log: Livelog | None) -> None:
        self.operation = operation
        self.detection = Detection(log) if log else None
        self.end: asyncio.Future[Operation] = asyncio.get_running_loop().create_future()
        self.under_way = asyncio.Event()
        """Set when it runs, when it has to wait for its turn or a person, and when it has ended."""
        self.running = asyncio.Event()
        """Set when it has begun to run, and when it has ended."""
        self.dropped = asyncio.Event()
        """Set when somebody wants it to end."""
        self.dropped_because = CALLED_OFF
        """What is said of it to the person who was to decide."""
        self.waits_for = ""
        """Before what it cannot begin; empty once there is nothing like that, even if it has yet to start."""
        self.step: Job | None = None
        self.alerts: deque[str] = deque(maxlen=_MOST_ALERTS)
        self.untold_alerts: deque[str] = deque(maxlen=_MOST_ALERTS)
        """Those that no reply has told of."""
        self.new_alerts: deque[str] = deque(maxlen=_MOST_ALERTS)
        """Those that no observer has taken."""
        self._looking = _alerts(operation, excerpts, log)

    @property
    def id(self) -> str:
        return self.operation.id

    @property
    def place(self) -> tuple[int, str]:
        """Its place in the queue for a lock."""
        return self.operation.created_at, self.operation.id

    @property
    def looks_for_alerts(self) -> bool:
        return self._looking is not None and not self.end.done()

    def wait_for(self, what: str) -> None:
        self.waits_for = what
        self.under_way.set()

    def run(self) -> None:
        self.waits_for = ""
        self.under_way.set()
        self.running.set()

    def finish(self, operation: Operation) -> None:
        self.operation = operation
        self.run()
        if not self.end.done():
            self.end.set_result(operation)

    def fail(self, error: Exception) -> None:
        """How it ended cannot be told."""
        self.run()
        if not self.end.done():
            self.end.set_exception(error)
            self.end.exception()  # seen: nobody need be waiting for it

    def leave(self) -> None:
        """This process lets go of it."""
        self.run()
        self.end.cancel()

    def look(self) -> bool:
        """Take in new alerts; whether there were any. Reads files: not for the event loop."""
        found = self._looking.look() if self._looking else []
        if self.detection:
            self.detection.collect(found)
            return False
        self.report(found)
        return bool(found)

    def report(self, lines: Sequence[str]) -> None:
        self.alerts.extend(lines)
        self.untold_alerts.extend(lines)
        self.new_alerts.extend(lines)


def _alerts(operation: Operation, excerpts: Excerpts, log: Livelog | None) -> Alerts | None:
    if not operation.alert:
        return None
    found = operation.folder, operation.alert, operation.alert_streams, excerpts
    return Alerts(*found, most=log.chunk_max_lines) if log else Alerts(*found)
