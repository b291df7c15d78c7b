"""What every process of Sayso depends on: its versions, its store, its bell, who may read its files."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from sayso import __version__
from sayso.clients import RUN_VARIABLE
from sayso.clock import MOST_APART
from sayso.config import SETTINGS, Config
from sayso.doctor.finding import Finding, fault, note, ok, warning
from sayso.errors import SaysoError, StoreCorrupt, StoreFull, StoreReadOnly, StoreTooNew
from sayso.store import Store, open_store
from sayso.store.bell import LookingBell
from sayso.store.socket_bell import bell_folder
from sayso.text import did_you_mean

LITTLE_SPACE = 100 * 1024 * 1024
RING_SECONDS = 2.0
_NO_SETTINGS = {"SAYSO_CONFIG", RUN_VARIABLE, "SAYSO_ASK_ID", "SAYSO_COUNT"}
_PRIVATE = stat.S_IRWXG | stat.S_IRWXO


def versions() -> Iterator[Finding]:
    parts = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    parts += [f"{name} {metadata.version(name)}" for name in ("textual", "starlette")]
    yield ok("versions", f"Sayso {__version__}; {', '.join(parts)}; {platform.system()} {platform.machine()}")


def settings(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """How many there are, and what in the environment was meant for one and is none."""
    yield ok("settings", f"{len(config.sources)} set by you; `sayso config` shows all")
    known = {f"SAYSO_{key.upper()}" for key in SETTINGS} | _NO_SETTINGS
    for name in environ:
        if name.startswith("SAYSO_") and name not in known:
            fix = did_you_mean(name, known, "`sayso config` shows all settings.")
            yield warning("settings", f"{name} is set in the environment, and is no setting.", fix)


def state_folder(config: Config) -> Iterator[Finding]:
    """Whether the folder is ours alone, and has room."""
    folder = config.state_dir
    if folder.exists() and not folder.is_dir():
        yield fault(
            "state", f"{folder} is not a folder.", "Move that file away, or set SAYSO_STATE_DIR to another folder."
        )
        return
    if not folder.exists():
        yield note("state", f"{folder} does not exist yet; it is made on first use.")
        return
    if os.name == "posix":
        yield from _private(folder)
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        yield warning("state", f"{folder}: only {free // 2**20} MB are free.", "Make room on that disk.")


def _private(folder: Path) -> Iterator[Finding]:
    found = folder.stat()
    if found.st_uid != os.getuid():
        yield warning("state", f"{folder} belongs to another user.", f"chown -R {os.getuid()} {folder}")
    elif found.st_mode & _PRIVATE:
        mode = stat.filemode(found.st_mode)
        yield warning("state", f"{folder} is open to others ({mode}): they could read answers.", f"chmod 700 {folder}")
    elif _is_read_only(folder):
        yield fault("state", f"{folder} is on a disk that is read-only.", "Make that disk writable again.")
    elif not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        mode = stat.filemode(found.st_mode)
        yield fault("state", f"{folder} cannot be read and written ({mode}), not by you either.", f"chmod 700 {folder}")
    else:
        yield ok("state", f"{folder}, for you alone")


def store(config: Config) -> Iterator[Finding]:
    """Whether the store opens, can be written, and wakes those who wait."""
    subject = "postgresql" if config.store else "store"
    if config.state_dir.exists() and not config.state_dir.is_dir():
        return
    try:
        opened = open_store(config)
    except SaysoError as error:
        yield fault(subject, str(error), _fix(error, config))
        return
    try:
        opened.secret("doctor")
        where = "PostgreSQL" if config.store else str(config.database)
        yield ok(subject, f"{where} opens, and can be written" + _size(config))
        yield from clock(opened)
        yield from bell(opened, config)
    except SaysoError as error:
        yield fault(subject, str(error), _fix(error, config))
    finally:
        opened.close()


def clock(opened: Store) -> Iterator[Finding]:
    """Whether this machine and the store's agree about the time: what others wrote down is compared with our clock."""
    ahead = opened.clock_ahead()
    seconds = abs(ahead) // 1000
    fix = "Have all machines set their clocks by the network (NTP)."
    if ahead > MOST_APART:
        yield warning("clock", f"This machine's clock is {seconds} s ahead of that of the store.", fix)
    elif ahead < -MOST_APART:
        yield warning("clock", f"This machine's clock is {seconds} s behind that of the store.", fix)


def bell(opened: Store, config: Config) -> Iterator[Finding]:
    """Ring once and see how long it takes to be heard."""
    hung = opened.bell()
    with opened.aside() as other:
        begun = time.perf_counter()
        other.claim(f"doctor {time.time_ns()}", 0)
    heard = hung.wait(RING_SECONDS)
    took = (time.perf_counter() - begun) * 1000
    if not heard:
        folder = bell_folder(config.bell_dir)
        yield warning(
            "bell", f"A ring was not heard within {RING_SECONDS:g} s.", f"Find out what removes files in {folder}."
        )
    elif isinstance(hung, LookingBell):
        yield note("bell", "This system has no unix sockets: processes look at the store several times a second.")
    else:
        yield ok("bell", f"A change is heard after {took:.1f} ms")
        if why := hung.why_untold():
            yield note("bell", f"Processes that wait look at the store every second, because {why}.")


def _fix(error: SaysoError, config: Config) -> str:
    match error:
        case StoreCorrupt():
            return f"Move {config.database} away; the next start makes a new one. Your old data stays in that file."
        case StoreTooNew():
            return "Update Sayso: git pull in the folder it came from, and install it again; in a checkout, make start."
        case StoreReadOnly() if _is_read_only(config.state_dir):
            return "Make that disk writable again, or set SAYSO_STATE_DIR to a folder on another."
        case StoreFull():
            return f"Make room on the disk of {config.state_dir}."
    if config.store:
        return "Check the address in `store` (sayso config shows where it is set), and that the server runs."
    return f"Check {config.state_dir}, or set SAYSO_STATE_DIR to another folder."


def _is_read_only(folder: Path) -> bool:
    """Whether the disk is, whatever the permissions say."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def _size(config: Config) -> str:
    if config.store or not config.database.exists():
        return ""
    return f" ({config.database.stat().st_size / 2**20:.1f} MB)"
