"""The system's word that something has changed in a folder, for when there are no more of `file_events` to be had:
dnotify, on Linux alone. It has no limit, but it speaks of whole folders, not of the way to them, and by signals."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import threading
from collections.abc import Iterable
from pathlib import Path

from sayso.file_events import (
    ATTRIBUTES,
    CREATED,
    DELETED,
    GONE,
    MODIFIED,
    MOVED_FROM,
    MOVED_TO,
    SELF_DELETED,
    SELF_MOVED,
)

_MEANINGS = {
    MODIFIED: fcntl.DN_MODIFY,
    ATTRIBUTES: fcntl.DN_ATTRIB,
    CREATED: fcntl.DN_CREATE,
    DELETED | SELF_DELETED: fcntl.DN_DELETE,
    MOVED_FROM | MOVED_TO | SELF_MOVED: fcntl.DN_RENAME,
}
_SIGNALS = range(signal.SIGRTMIN + 8, signal.SIGRTMIN + 16)
"""One for each of those who watch. Libraries take the first ones for themselves."""
_SET_OWNER, _THREAD = 15, 0
"""F_SETOWN_EX and F_OWNER_TID, which `fcntl` does not name."""


class FolderEvents:
    """Becomes readable with the first change, as a descriptor of `file_events` does; then it has told all it will."""

    def __init__(self, wanted: Iterable[tuple[Path, int]]) -> None:
        """OSError where the system does not tell."""
        self._folders: list[int] = []
        self._told = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            signal_number = _signals.begin(self)
            for folder, mask in _by_folder(wanted).items():
                fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                self._folders.append(fd)
                fcntl.fcntl(fd, fcntl.F_SETSIG, signal_number)
                fcntl.fcntl(fd, _SET_OWNER, struct.pack("ii", _THREAD, _signals.thread))
                fcntl.fcntl(fd, fcntl.F_NOTIFY, mask)
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        return self._told

    def tell(self) -> None:
        os.eventfd_write(self._told, 1)

    def close(self) -> None:
        _signals.end(self)
        for fd in (self._told, *self._folders):
            os.close(fd)


class _Signals:
    """Takes them all in a thread of its own: no other one must meet them, and their default is to end the process."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._listeners: dict[int, FolderEvents] = {}
        self._taking: threading.Thread | None = None
        self.thread = 0

    def begin(self, listener: FolderEvents) -> int:
        with self._changing:
            free = next((each for each in _SIGNALS if each not in self._listeners), None)
            if free is None:
                raise OSError(f"only {len(_SIGNALS)} in a process can watch by signals")
            if self._taking is None or not self._taking.is_alive():
                self._start()
            self._listeners[free] = listener
            return free

    def end(self, listener: FolderEvents) -> None:
        with self._changing:
            self._listeners = {number: each for number, each in self._listeners.items() if each is not listener}

    def _start(self) -> None:
        ready = threading.Event()
        self._taking = threading.Thread(target=self._take, args=[ready], name="sayso-folders", daemon=True)
        self._taking.start()
        ready.wait()

    def _take(self, ready: threading.Event) -> None:
        mine: set[int] = {*_SIGNALS, signal.SIGIO}
        signal.pthread_sigmask(signal.SIG_BLOCK, mine)
        self.thread = threading.get_native_id()
        ready.set()
        while True:
            number = signal.sigwait(mine)
            with self._changing:
                for each, listener in self._listeners.items():
                    if number in (each, signal.SIGIO):  # SIGIO: some were lost
                        listener.tell()


_signals = _Signals()


def _by_folder(wanted: Iterable[tuple[Path, int]]) -> dict[Path, int]:
    """Each folder, and for what it is watched. That a file's times or rights change is not told: whoever does that to
    one in a folder would wake all who watch another one in it."""
    folders = dict[Path, int]()
    for path, mask in wanted:
        if mask != GONE and path.exists():
            folder, asked = (path, mask) if path.is_dir() else (path.parent, mask & ~ATTRIBUTES)
            for bits, meaning in _MEANINGS.items():
                folders[folder] = folders.get(folder, 0) | (meaning if asked & bits else 0)
    return folders
