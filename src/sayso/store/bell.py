"""The bell: after a commit it wakes every process that looks at the store. It says "look again", nothing else.

A lost ring does no harm: the system also tells of changes, and where it does not, a listener looks by itself once a
second. A hung-up bell is also how others know that a process lives: the system takes it down when the process ends,
however it ends.
"""

from __future__ import annotations

import os
import select
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from io import FileIO
from math import ceil
from typing import Protocol

LOOK_EVERY = 1.0
"""Seconds between two looks of a listener that heard nothing, while something is going on, or where it is not told."""

LONGEST_RING = 2048
"""Bytes."""


class _Readable(Protocol):
    def fileno(self) -> int: ...


class Look(Protocol):
    """A number that changes whenever somebody else has changed the store. Used by one thread."""

    def __call__(self) -> int: ...
    def is_being_written(self) -> bool:
        """Whether somebody is about to change it, or nobody can tell."""

    def close(self) -> None: ...


class Bell(ABC):
    """One process's bell."""

    def __init__(self) -> None:
        self.process = f"{os.getpid()}-{os.urandom(6).hex()}"
        self.hung_again = 0
        """How often it had fallen: whoever looked meanwhile may have taken this process for dead."""
        self.named: frozenset[str] | None = None
        """Whose waits the last ring was about; None: anybody's."""
        ends = os.pipe()
        for end in ends:
            os.set_blocking(end, False)
        self._nudged, self._nudge = FileIO(ends[0], "r"), FileIO(ends[1], "w")
        self._listeners: tuple[Listener, ...] = ()
        self._listening: threading.Thread | None = None
        self._changing = threading.Lock()

    @abstractmethod
    def wait(self, timeout: float | None) -> bool:
        """Block until it rings, the store was seen to change, or `timeout` seconds are over (then False). Without a
        timeout: until something may have happened, endless while nothing does."""

    def why_untold(self) -> str:
        """Why it has to look at the store every second while somebody listens; empty where it need not."""
        return ""

    def nudge(self) -> None:
        """End the `wait` of another thread now."""
        self._nudge.write(b"!")

    @abstractmethod
    def alive(self, processes: Iterable[str]) -> set[str]:
        """Those of the processes whose bell still hangs."""

    def close(self) -> None:
        self._nudge.close()
        self._nudged.close()

    def add_listener(self, listener: Listener) -> None:
        with self._changing:
            self._listeners += (listener,)
            self._listeners_changed()
            if self._listening is None or not self._listening.is_alive():
                self._listening = threading.Thread(target=self._listen, name="sayso-bell", daemon=True)
                self._listening.start()
            elif listener.tick:
                self.nudge()  # it may be sleeping until something happens

    def remove_listener(self, listener: Listener) -> None:
        with self._changing:
            self._listeners = tuple(each for each in self._listeners if each is not listener)
            self._listeners_changed()
            thread = None if self._listeners else self._listening
        if thread:
            self.nudge()
            thread.join(timeout=5)
            self._take_nudges()

    def _listeners_changed(self) -> None:  # noqa: B027  only a bell that others see from outside has to tell them
        """The listeners have changed. Called under the lock."""

    def _listen(self) -> None:
        while self._somebody_listens():
            rung = self._wait_whatever_happens()
            for listener in self._listeners:
                if rung and listener.heeds(self.named):
                    listener.heard()
                elif not rung and listener.tick:
                    listener.tick()

    def _wait_whatever_happens(self) -> bool:
        """One fault that nobody thought of must not leave all deaf who listen in this process: they look, and go on."""
        try:
            return self.wait(LOOK_EVERY if any(listener.tick for listener in self._listeners) else None)
        except Exception:
            import logging  # hardly ever needed

            logging.getLogger(__name__).exception("The bell cannot be heard just now")
            self.named = None
            time.sleep(LOOK_EVERY)
            return True

    def _somebody_listens(self) -> bool:
        with self._changing:
            if not self._listeners:
                self._listening = None
            return bool(self._listeners)

    def _heard_something(self, *sources: _Readable, timeout: float | None) -> set[int]:
        """Block until a source has something, someone nudges, or the time is over. The descriptors of those who did."""
        poll = select.poll()
        for each in (self._nudged, *sources):
            poll.register(each, select.POLLIN)
        heard = {fd for fd, _ in poll.poll(None if timeout is None else ceil(timeout * 1000))}
        self._take_nudges()
        return heard

    def _take_nudges(self) -> None:
        """Many nudges are one."""
        while self._nudged.read(LONGEST_RING):
            pass


class Listener:
    """Has `heard` called after each ring of a bell, and `tick`, if there is one, about once a second while it is quiet.

    All listeners of a bell share one thread: what one thread takes in at the bell, no other would hear.
    """

    def __init__(
        self, bell: Bell, heard: Callable[[], None], tick: Callable[[], None] | None = None, *, about: str = ""
    ) -> None:
        """`about` is a process: then only what may be news to its waits is heard."""
        self.heard, self.tick = heard, tick
        self.about = about
        self._bell = bell
        bell.add_listener(self)

    def heeds(self, named: frozenset[str] | None) -> bool:
        return named is None or not self.about or self.about in named

    def close(self) -> None:
        self._bell.remove_listener(self)


class LocalBell(Bell):
    """For a store that lives in this process only."""

    def wait(self, timeout: float | None) -> bool:
        return bool(self._heard_something(timeout=timeout))

    def alive(self, processes: Iterable[str]) -> set[str]:
        return {process for process in processes if process == self.process}


class LookingBell(Bell):
    """Where there are no unix sockets: looks at the store several times a second."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._seen = look()

    def wait(self, timeout: float | None) -> bool:
        for _ in range(max(1, int((LOOK_EVERY if timeout is None else timeout) / 0.2))):
            nudged = self._heard_something(timeout=0.2)
            before, self._seen = self._seen, self._look()
            if nudged or self._seen != before:
                return True
        return False

    def alive(self, processes: Iterable[str]) -> set[str]:
        return set(processes)

    def close(self) -> None:
        super().close()
        self._look.close()
