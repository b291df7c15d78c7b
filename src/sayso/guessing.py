"""Failed attempts of late, by where they came from: who guesses has to wait."""

from __future__ import annotations

import time

MOST_FAILURES = 10
WINDOW = 60.0
_MOST_REMEMBERED = 10_000


class Failures:
    """In so many seconds, each may fail so many times."""

    def __init__(self, most: int = MOST_FAILURES, window: float = WINDOW) -> None:
        self._most, self._window = most, window
        self._times: dict[str, list[float]] = {}

    def wait(self, client: str) -> int:
        """Seconds until this client may try again; 0 for at once."""
        recent = self._recent(client)
        return 0 if len(recent) < self._most else int(recent[0] + self._window - time.monotonic()) + 1

    def note(self, client: str) -> None:
        recent = [*self._recent(client), time.monotonic()]
        # Put at the end, so that the one that was quiet for longest is forgotten first.
        self._times.pop(client, None)
        self._times[client] = recent
        if len(self._times) > _MOST_REMEMBERED:
            del self._times[next(iter(self._times))]

    def _recent(self, client: str) -> list[float]:
        since = time.monotonic() - self._window
        return [moment for moment in self._times.get(client, ()) if moment > since]
