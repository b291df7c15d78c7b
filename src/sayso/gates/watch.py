"""Everything that can end the wait of a gate, in one wait: a ring of the bell, a signal, the end of the client, news in
the file in which the client tells what it did. The system wakes it; where it cannot, it looks once a second."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterable, Set
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from types import FrameType, TracebackType

from sayso.file_events import IN_A_FILE, KEY_READ, ON_THE_WAY, watch

LOOK_EVERY = 1.0
"""Seconds between two looks where the system does not tell everything."""
LOOK_SELDOM = 15.0
"""And where it does: of a file on a shared disk it does not."""

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The signals by which a process is told to end."""
_YES = getattr(signal, "SIGUSR1", None)
"""By which a plugin of ours tells of a yes in its client's own prompt."""


class GateNews(Enum):
    LOOK = auto()
    """Something may have changed."""
    TOLD_TO_END = auto()
    CLIENT_GONE = auto()


class WakePipe:
    """Ends a wait of this process, from any thread or from a signal: `fd` can be read then."""

    def __init__(self) -> None:
        self.fd, self._there = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._there, False)

    def ring(self) -> None:
        with suppress(BlockingIOError):  # enough rings are there already
            os.write(self._there, b"!")

    def clear(self) -> None:
        """What has rung so far is heard. Only when `fd` can be read."""
        os.read(self.fd, 4096)


class Watch:
    """Of one gate. From the beginning on it keeps signals from ending the process."""

    def __init__(self) -> None:
        self._wake = WakePipe()
        self.told_to_end = self.told_of_yes = False
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(self._wake.fd, select.POLLIN)
        self._processes: set[int] = set()
        self._outputs: set[int] = set()
        self._trail: Path | None = None
        self._changes = self._keys = -1
        for number in (*ENDING, _YES) if _YES else ENDING:
            signal.signal(number, self._note_signal)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disarm()
        for opened in (*self._processes, *([self._keys] if self._keys >= 0 else [])):
            os.close(opened)

    def ring(self) -> None:
        """Have the wait end now. From any thread."""
        self._wake.ring()

    def also(self, processes: Iterable[int], output: int | None, trail: Path | None) -> None:
        """Have it end also with one of these processes, with whoever reads from this descriptor, and with news in that
        file."""
        for pid in processes if hasattr(os, "pidfd_open") else ():
            with suppress(OSError):
                found = os.pidfd_open(pid)
                self._processes.add(found)
                self._poll.register(found, select.POLLIN)
        if output is not None:
            self._outputs.add(output)
            self._poll.register(output, 0)
        self._trail = trail
        self._arm()

    def also_keys(self, terminal: str) -> None:
        """Have it end also with a key in this terminal: whoever presses one is there."""
        if terminal and sys.platform == "linux":
            with suppress(OSError):
                self._keys = watch([(Path(terminal), KEY_READ)])
                self._poll.register(self._keys, select.POLLIN)

    def wait(self, seconds: float | None = None) -> GateNews:
        """Until something happens, or so many seconds are over. Whoever looks at the file after this misses nothing."""
        if self.told_to_end:
            return GateNews.TOLD_TO_END
        ready = self.pause(self.longest if seconds is None else min(seconds, self.longest))
        if self.is_end(ready) or os.getppid() != self._parent:
            return GateNews.CLIENT_GONE
        return GateNews.TOLD_TO_END if self.told_to_end else GateNews.LOOK

    def is_end(self, ready: Set[int]) -> bool:
        """Whether one of these descriptors tells that a process has ended, or nobody reads any more."""
        return bool(ready & (self._processes | self._outputs))

    def pause(self, seconds: float) -> set[int]:
        """The descriptors that tell of something, once one does, or so many seconds are over."""
        ready = {fd for fd, _ in self._poll.poll(max(0, seconds) * 1000)}
        if self._changes in ready:
            self._arm()
        if self._keys in ready:
            os.read(self._keys, 4096)
        if self._wake.fd in ready:
            self._wake.clear()
        return ready

    @property
    def longest(self) -> float:
        """Seconds after which it is to be looked whatever happens."""
        told = bool(self._processes) and (self._trail is None or self._changes >= 0)
        return LOOK_SELDOM if told else LOOK_EVERY

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self.told_to_end, self.told_of_yes = True, self.told_of_yes or number == _YES
        self.ring()

    def _arm(self) -> None:
        """The file itself, or the folder in which it, or what leads to it, is yet to come."""
        self._disarm()
        if self._trail is None or sys.platform != "linux":
            return
        there = next(path for path in (self._trail, *self._trail.absolute().parents) if path.exists())
        with suppress(OSError):  # there is a limit to how many of them a user may have
            self._changes = watch([(there, IN_A_FILE if there == self._trail else ON_THE_WAY)])
            self._poll.register(self._changes, select.POLLIN)

    def _disarm(self) -> None:
        if self._changes >= 0:
            self._poll.unregister(self._changes)
            os.close(self._changes)
        self._changes = -1
