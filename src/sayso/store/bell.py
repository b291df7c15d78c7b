"""The bell: after a commit it wakes every process that looks at the store. It says "look again", nothing else.

A lost ring does no harm: a listener also looks by itself once a second. A hung-up bell is also how others
know that a process lives: the system takes it down when the process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import selectors
import socket
import stat
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sayso.errors import StoreUnavailable

LOOK_EVERY = 1.0
"""Seconds between two looks of a listener that heard nothing."""

_LONGEST_ADDRESS = 100
"""Bytes in a socket's path that every system allows (104 on macOS, 108 on Linux)."""

_TRIES = 20

_TO_ALL = b"!"
_LONGEST_RING = 2048
_MANY_RINGS = 8
"""So many at once may be all that the queue held, and others were lost."""


class _Readable(Protocol):
    def fileno(self) -> int: ...


class Look(Protocol):
    """A number that changes whenever somebody else has changed the store. Used by one thread."""

    def __call__(self) -> int: ...
    def close(self) -> None: ...


class Bell(ABC):
    """One process's bell."""

    def __init__(self) -> None:
        self.process = f"{os.getpid()}-{secrets.token_hex(6)}"
        self.hung_again = 0
        """How often it had fallen: whoever looked meanwhile may have taken this process for dead."""
        self.named: frozenset[str] | None = None
        """Whose waits the last ring was about; None: anybody's."""
        self._nudge, self._nudged = socket.socketpair()
        self._nudge.setblocking(False)
        self._nudged.setblocking(False)
        self._listeners: tuple[Listener, ...] = ()
        self._listening: threading.Thread | None = None
        self._changing = threading.Lock()

    @abstractmethod
    def wait(self, timeout: float) -> bool:
        """Block until it rings, the store was seen to change, or `timeout` seconds are over (then False)."""

    def nudge(self) -> None:
        """End the `wait` of another thread now."""
        with suppress(BlockingIOError):
            self._nudge.send(b"!")

    @abstractmethod
    def alive(self, processes: Iterable[str]) -> set[str]:
        """Those of the processes whose bell still hangs."""

    def close(self) -> None:
        self._nudge.close()
        self._nudged.close()

    def add_listener(self, listener: Listener) -> None:
        with self._changing:
            self._listeners += (listener,)
            if self._listening is None or not self._listening.is_alive():
                self._listening = threading.Thread(target=self._listen, name="sayso-bell", daemon=True)
                self._listening.start()

    def remove_listener(self, listener: Listener) -> None:
        with self._changing:
            self._listeners = tuple(each for each in self._listeners if each is not listener)
            thread = None if self._listeners else self._listening
        if thread:
            self.nudge()
            thread.join(timeout=5)
            _drain(self._nudged)

    def _listen(self) -> None:
        while self._somebody_listens():
            rung = self.wait(LOOK_EVERY)
            for listener in self._listeners:
                if not rung:
                    listener.tick()
                elif listener.heeds(self.named):
                    listener.heard()

    def _somebody_listens(self) -> bool:
        with self._changing:
            if not self._listeners:
                self._listening = None
            return bool(self._listeners)

    def _heard_something(self, source: _Readable | None, timeout: float) -> bool:
        """Block until the source has something, someone nudges, or the time is over (then False)."""
        with selectors.DefaultSelector() as selector:
            for each in (self._nudged, *([source] if source else [])):
                selector.register(each, selectors.EVENT_READ)
            heard = bool(selector.select(timeout))
        _drain(self._nudged)
        return heard


class Listener:
    """Has `heard` called after each ring of a bell, and `tick` about once a second while it is quiet.

    All listeners of a bell share one thread: what one thread takes in at the bell, no other would hear.
    """

    def __init__(
        self, bell: Bell, heard: Callable[[], None], tick: Callable[[], None] | None = None, *, about: str = ""
    ) -> None:
        """`about` is a process: then only what may be news to its waits is heard."""
        self.heard, self.tick = heard, tick or (lambda: None)
        self._bell, self._about = bell, about
        bell.add_listener(self)

    def heeds(self, named: frozenset[str] | None) -> bool:
        return named is None or not self._about or self._about in named

    def close(self) -> None:
        self._bell.remove_listener(self)


class LocalBell(Bell):
    """For a store that lives in this process only."""

    def wait(self, timeout: float) -> bool:
        return self._heard_something(None, timeout)

    def alive(self, processes: Iterable[str]) -> set[str]:
        return {process for process in processes if process == self.process}


class SocketBell(Bell):
    """A datagram socket in a folder that all processes of one store know, plus a look at the file itself."""

    def __init__(self, folder: Path, look: Look) -> None:
        super().__init__()
        self._folder, self._look = folder, look
        try:
            self._socket = self._hang()
        except BaseException:
            super().close()
            raise
        self._seen, self._looked = look(), time.monotonic()

    @property
    def _address(self) -> Path:
        return self._folder / f"{self.process}.sock"

    def _hang(self) -> socket.socket:
        bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            bell.setblocking(False)
            self._bind(bell)
            self._address.chmod(0o600)
        except BaseException:
            bell.close()
            raise
        return bell

    def _bind(self, bell: socket.socket) -> None:
        for _ in range(_TRIES):
            # Whoever leaves last takes the folder down; it may just have done so.
            with suppress(FileNotFoundError, FileExistsError):
                _make_ours(self._folder)
                return bell.bind(str(self._address))
        raise StoreUnavailable(f"{self._folder} cannot be made, or does not stay. See what stands there or removes it.")

    def wait(self, timeout: float) -> bool:
        if not self._heard_something(self._socket, timeout):
            self._hang_again_if_swept()
            self.named = None
            return self._changed()
        self.named = self._who()
        # Where nobody heeds it, all that is to be done is to have taken it in.
        if not self._listeners or any(listener.heeds(self.named) for listener in self._listeners):
            self._changed()
        return True

    def _who(self) -> frozenset[str] | None:
        """Whom the rings that came in name. A ring may have been lost among them: now and then everybody looks."""
        rings = list(_taken(self._socket))
        if not rings or _TO_ALL in rings or len(rings) >= _MANY_RINGS or time.monotonic() > self._looked + LOOK_EVERY:
            return None
        return frozenset(name for ring in rings for name in ring.decode().split())

    def _changed(self) -> bool:
        self._looked = time.monotonic()
        before, self._seen = self._seen, self._look()
        return self._seen != before

    def _hang_again_if_swept(self) -> None:
        """Something that tidies folders may have removed the socket's file; without it nobody can ring."""
        with suppress(OSError, StoreUnavailable):  # where it cannot hang now, looking goes on
            if not self._address.exists():
                silent, self._socket = self._socket, self._hang()
                silent.close()
                self.hung_again += 1

    def alive(self, processes: Iterable[str]) -> set[str]:
        return {process for process in processes if process == self.process or _hangs(self._folder, process)}

    def close(self) -> None:
        super().close()
        self._look.close()
        self._socket.close()
        with suppress(OSError):
            self._address.unlink()
            self._folder.rmdir()


class LookingBell(Bell):
    """Where there are no unix sockets: looks at the store several times a second."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._seen = look()

    def wait(self, timeout: float) -> bool:
        for _ in range(max(1, int(timeout / 0.2))):
            nudged = self._heard_something(None, 0.2)
            before, self._seen = self._seen, self._look()
            if nudged or self._seen != before:
                return True
        return False

    def alive(self, processes: Iterable[str]) -> set[str]:
        return set(processes)

    def close(self) -> None:
        super().close()
        self._look.close()


def _drain(source: socket.socket) -> None:
    """Many rings are one: take in all that is there."""
    for _ in _taken(source):
        pass


def _taken(source: socket.socket) -> Iterator[bytes]:
    with suppress(BlockingIOError):
        while ring := source.recv(_LONGEST_RING):
            yield ring


def ring_all(folder: Path, named: frozenset[str] | None = None) -> None:
    """Wake every process whose bell hangs in the folder, and take down those that nobody owns any more. Where only the
    waits of some are concerned, the ring names them."""
    if not hasattr(socket, "AF_UNIX"):
        return
    ring = _TO_ALL if named is None else b" ".join([b"", *(name.encode() for name in named), b""])
    if len(ring) > _LONGEST_RING:
        ring = _TO_ALL
    with suppress(FileNotFoundError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ringer:
        ringer.setblocking(False)
        # Those who are meant first: the others would take the processor from them.
        for entry in sorted(os.listdir(folder), key=lambda entry: entry.removesuffix(".sock") not in (named or ())):
            if entry.endswith(".sock"):
                _ring(ringer, folder / entry, ring)


def _ring(ringer: socket.socket, address: Path, ring: bytes) -> None:
    try:
        ringer.sendto(ring, str(address))
    except ConnectionRefusedError:
        address.unlink(missing_ok=True)
    except OSError:
        # A full queue means that it will wake anyway; a vanished one needs no waking.
        return


def _hangs(folder: Path, process: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as caller:
        try:
            caller.connect(str(folder / f"{process}.sock"))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
        return True


def bell_folder(wanted: Path) -> Path:
    """The folder for the sockets: the wanted one, or a short private one when its path is too long for a socket."""
    # One folder under two names must be one bell: who is not found there counts as dead.
    wanted = Path(os.path.realpath(wanted))
    if len(os.fsencode(wanted)) > _LONGEST_ADDRESS - len("/1234567-123456789abc.sock"):
        name = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]
        # Everyone must find the same short folder, so TMPDIR does not count; it is checked to be ours when it is made.
        wanted = Path(f"/tmp/sayso-{os.getuid()}-{name}")  # noqa: S108
    return wanted


def _make_ours(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    # Root may look after somebody else's store; in a folder for everyone only what is our own is safe.
    if found.st_uid not in (os.getuid(), folder.parent.stat().st_uid) or not stat.S_ISDIR(found.st_mode):
        raise StoreUnavailable(
            f"{folder} belongs to somebody else. Remove it, or set SAYSO_STATE_DIR to a shorter path."
        )
