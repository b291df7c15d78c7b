"""The bell of processes that share a machine: each hangs a datagram socket in a folder that all of them know.

Beside a socket, an empty `.own` file says that its process wakes for nothing but news of its own waits, so that
a question does not wake a hundred servers that it does not concern.

Rings can be lost: who has changed the store is killed before it rings, something sweeps the socket away. So there is a
witness, the system, which tells whoever listens that the files have been written to. It tells of a change before that
can be seen. Whoever is told looks soon after, and goes on looking until all that was begun can be seen; then it sleeps.
"""

from __future__ import annotations

import _socket as socket  # `socket` itself names every constant, which takes its time to import
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.errors import StoreUnavailable
from sayso.file_events import ATTRIBUTES, GONE, IN_A_FILE, MANY_EVENTS, tells_all, watch, way_to
from sayso.store.bell import LONGEST_RING, LOOK_EVERY, Bell, Look

if TYPE_CHECKING:
    from sayso.folder_events import FolderEvents

_LONGEST_ADDRESS = 100
"""Bytes in a socket's path that every system allows (104 on macOS, 108 on Linux)."""

_SHORT = Path("/tmp")  # noqa: S108
"""Where sockets lie when the path to the store is too long. Everyone must find the same, so TMPDIR does not count."""
_SHORT_NAME = "sayso-"

_TRIES = 20

_SOCKET, _OWN = ".sock", ".own"
_TO_ALL = b"!"
_TRY_AGAIN = 60.0
"""Seconds after which it is tried again whether the system has become able to tell, or to tell of all."""
_MANY_RINGS = 8
"""So many at once may be all that the queue held, and others were lost."""


class SocketBell(Bell):
    """A datagram socket in a folder that all processes of one store know, plus a look at the file itself, and the
    system's word that it is time for one."""

    def __init__(self, folder: Path, look: Look, file: Path) -> None:
        super().__init__()
        self._folder, self._look, self._file = folder, look, file
        self._watch: FileIO | FolderEvents | None = None
        self._why_untold, self._told_again_at = "", 0.0
        self._quiet = True
        """Whether the last look has found nothing new."""
        # All are told at the same moment, and need not all look at the same moment.
        self._soon = (0.05 + 0.45 * os.urandom(1)[0] / 255) * LOOK_EVERY  # `random` takes its time to import
        try:
            self._socket = self._hang()
        except BaseException:
            super().close()
            raise
        self._seen, self._looked = look(), time.monotonic()
        _take_down_the_dead(folder)
        _sweep(folder)

    @property
    def _address(self) -> Path:
        return self._folder / f"{self.process}{_SOCKET}"

    @property
    def _mark(self) -> Path:
        return self._folder / f"{self.process}{_OWN}"

    def _listeners_changed(self) -> None:
        # Without the mark it wakes more often than it needs to, no more than that.
        with suppress(OSError):
            if self._listeners and all(listener.about for listener in self._listeners):
                self._mark.touch(mode=0o600)
            else:
                self._mark.unlink(missing_ok=True)

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
        raise StoreUnavailable(
            f"{self._folder} cannot be created, or does not stay. Check what is there or removes it."
        )

    def wait(self, timeout: float | None) -> bool:
        if timeout is not None:
            return self._wait_or_look(timeout)
        if not (self._quiet and self._is_told()):
            return self._wait_or_look(LOOK_EVERY)
        if self._look.is_being_written():
            return self._wait_or_look(self._soon)
        if self._changed():
            self.named, self._quiet = None, False
            return True
        assert self._watch is not None
        told_all = isinstance(self._watch, FileIO)
        heard = self._heard_something(self._socket, self._watch, timeout=None if told_all else _TRY_AGAIN)
        if heard <= {self._watch.fileno()}:
            return self._wait_or_look(self._soon)
        return self._take_in()

    def _wait_or_look(self, timeout: float) -> bool:
        if self._heard_something(self._socket, timeout=timeout):
            return self._take_in()
        self.named = None
        falls = self.hung_again
        self._hang_again_if_swept()
        # Whoever rang while it did not hang was not heard.
        rung = self._changed() or self.hung_again > falls
        self._quiet = not rung
        return rung

    def _take_in(self) -> bool:
        self._quiet = False
        self.named = self._who()
        # Where nobody heeds it, all that is to be done is to have taken it in.
        if not self._listeners or any(listener.heeds(self.named) for listener in self._listeners):
            self._changed()
        return True

    def why_untold(self) -> str:
        self._begin_to_watch()
        return self._why_untold

    def _is_told(self) -> bool:
        """Whether the system tells of the next change, from now on."""
        if time.monotonic() >= self._told_again_at:
            self._begin_to_watch()
        return self._watch is not None

    def _begin_to_watch(self) -> None:
        """What was told before is forgotten."""
        self._stop_watching()
        try:
            signs = list(self._signs())
            try:
                self._watch = FileIO(watch(signs), "r")
            except OSError:  # there is a limit to how many of them a user may have
                from sayso.folder_events import FolderEvents

                self._watch = FolderEvents(signs)
            else:
                os.utime(self._address)
                if not self._watch.read(MANY_EVENTS):
                    raise OSError(f"the system tells nothing of changes in {self._folder}")
            self._why_untold = ""
        except OSError as error:
            self._stop_watching()
            first = error.__context__ or error  # why the better way does not go
            self._why_untold, self._told_again_at = str(first), time.monotonic() + _TRY_AGAIN

    def _signs(self) -> Iterator[tuple[Path, int]]:
        """Where a change shows: in the store's files, in our socket, and on the way to them. None of them is opened:
        closing it would drop locks of the store's."""
        log = self._file.with_name(f"{self._file.name}-wal")
        if sys.platform != "linux" or not tells_all(self._file):
            raise OSError(f"the system does not tell of every change of {self._file}")
        if not log.exists():
            raise OSError(f"{log} is not there")
        yield self._file, IN_A_FILE
        yield log, IN_A_FILE
        yield self._address, ATTRIBUTES | GONE
        yield from way_to(self._file)
        yield from way_to(self._address)

    def _stop_watching(self) -> None:
        if self._watch:
            self._watch.close()
        self._watch = None

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
                with self._changing:
                    self._listeners_changed()

    def alive(self, processes: Iterable[str]) -> set[str]:
        return {process for process in processes if process == self.process or _hangs(self._folder, process)}

    def close(self) -> None:
        super().close()
        self._look.close()
        self._socket.close()
        self._stop_watching()
        with suppress(OSError):
            self._mark.unlink(missing_ok=True)
            self._address.unlink()
            if self._folder.parent == _SHORT:
                _take_down_all_the_dead(self._folder)
            self._folder.rmdir()


def _taken(source: socket.socket) -> Iterator[bytes]:
    """The rings that are there."""
    with suppress(BlockingIOError):
        while ring := source.recv(LONGEST_RING):
            yield ring


def ring_all(folder: Path, named: frozenset[str] | None = None, but: str = "") -> None:
    """Wake the processes whose bell hangs in the folder, all `but` one. Where only the waits of some are concerned, the
    ring names them, and who listens for nothing else sleeps on."""
    if not hasattr(socket, "AF_UNIX"):
        return
    ring = _TO_ALL if named is None else b" ".join([b"", *(name.encode() for name in named), b""])
    if len(ring) > LONGEST_RING:
        ring, named = _TO_ALL, None
    with suppress(FileNotFoundError):
        meant = [process for process in _meant(os.listdir(folder), named) if process != but]
        if not meant:
            return
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as ringer:
            ringer.setblocking(False)
            for process in meant:
                _ring(ringer, folder, process, ring)


def _meant(entries: list[str], named: frozenset[str] | None) -> Iterator[str]:
    """The processes to wake; those who are named first: the others would take the processor from them."""
    hanging = {entry.removesuffix(_SOCKET) for entry in entries if entry.endswith(_SOCKET)}
    if named is None:
        yield from hanging
    else:
        yield from hanging & named
        yield from hanging - named - {entry.removesuffix(_OWN) for entry in entries if entry.endswith(_OWN)}


def _ring(ringer: socket.socket, folder: Path, process: str, ring: bytes) -> None:
    try:
        ringer.sendto(ring, f"{folder}/{process}{_SOCKET}")
    except ConnectionRefusedError:
        _take_down(folder, process)
    except OSError:
        # A full queue means that it will wake anyway; a vanished one needs no waking.
        return


def _take_down_the_dead(folder: Path) -> None:
    """Remove what nobody owns any more of the bells that few rings come by."""
    with suppress(OSError):
        for entry in os.listdir(folder):
            if entry.endswith(_OWN):
                _hangs(folder, entry.removesuffix(_OWN))


def _hangs(folder: Path, process: str) -> bool:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as caller:
        try:
            caller.connect(str(folder / f"{process}{_SOCKET}"))
        except ConnectionRefusedError:
            _take_down(folder, process)
            return False
        except FileNotFoundError:
            # Where it was only swept away, it may hang again by now.
            _take_mark_down(folder, process)
            return False
        except OSError:
            return True
        return True


def _take_down(folder: Path, process: str) -> None:
    with suppress(OSError):
        (folder / f"{process}{_SOCKET}").unlink(missing_ok=True)
    _take_mark_down(folder, process)


def _take_mark_down(folder: Path, process: str) -> None:
    with suppress(OSError):
        (folder / f"{process}{_OWN}").unlink(missing_ok=True)


def bell_folder(wanted: Path) -> Path:
    """The folder for the sockets: the wanted one, or a short private one when its path is too long for a socket."""
    # One folder under two names must be one bell: who is not found there counts as dead.
    wanted = Path(os.path.realpath(wanted))
    if len(os.fsencode(wanted)) <= _LONGEST_ADDRESS - len("/1234567-123456789abc.sock"):
        return wanted
    return _agreed(wanted.with_name(f"{wanted.name}.at"))


def _agreed(note: Path) -> Path:
    """The short folder that all processes of a store have agreed on, in a file beside the store. Its name cannot be
    guessed, and where somebody else has put something there all the same, the next one to look chooses another."""
    import fcntl

    note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = note.parent.stat().st_uid
    with os.fdopen(os.open(note, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        agreed = Path(file.read().strip() or "/")
        if agreed.parent != _SHORT or not (not os.path.lexists(agreed) or _is_private(agreed, owner)):
            agreed = _SHORT / f"{_SHORT_NAME}{owner}-{os.urandom(8).hex()}"
            file.seek(0)
            file.truncate()
            file.write(f"{agreed}\n")
    return agreed


def _make_ours(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Root may look after somebody else's store; in a folder for everyone only what is our own is safe.
    owner = os.getuid() if folder.parent == _SHORT and os.getuid() else folder.parent.stat().st_uid
    if not _is_private(folder, owner):
        raise StoreUnavailable(
            f"{folder} belongs to somebody else. Remove it, or set SAYSO_STATE_DIR to a shorter path."
        )


def _is_private(folder: Path, owner: int) -> bool:
    """Whether it is a folder of ours, or of this owner, and in the short place one that nobody else can look into."""
    found = folder.lstat()
    closed = folder.parent != _SHORT or not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (os.getuid(), owner) and closed


def _sweep(folder: Path) -> None:
    """Remove the short folders of ours in which nobody who lives has a bell. Who hangs one just now makes it again."""
    if folder.parent != _SHORT:
        return
    for short in _SHORT.glob(f"{_SHORT_NAME}{os.getuid()}-*"):
        with suppress(OSError):
            if short != folder and _is_private(short, os.getuid()):
                _take_down_all_the_dead(short)
                short.rmdir()


def _take_down_all_the_dead(folder: Path) -> None:
    for entry in os.listdir(folder):
        _hangs(folder, entry.removesuffix(_SOCKET).removesuffix(_OWN))
