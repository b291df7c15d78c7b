"""Which process is which: names that survive the reuse of pids, and the line of ancestors of this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

ENDED = (b"Z", b"X")
"""The states in which a process is only still listed."""


@dataclass(frozen=True, kw_only=True)
class ProcessName:
    """A pid with the moment it began, as its own system writes it: together they name one process for ever."""

    pid: int
    started: str


def name_of(pid: int) -> ProcessName | None:
    """The full name of a running process, or None when there is none. One that has ended runs no more, though its
    parent may never ask how: in containers that is common."""
    found = _look_up(pid)
    return found[0] if found else None


def ancestry() -> tuple[ProcessName, ...]:
    """This process, its parent, and so on up to the first."""
    line: list[ProcessName] = []
    pid = os.getpid()
    while pid > 0 and len(line) < 256:
        found = _look_up(pid)
        if found is None:
            break
        name, pid = found
        line.append(name)
    return tuple(line)


def servers_beside(line: Iterable[ProcessName]) -> dict[int, ProcessName]:
    """The processes of this line that started a `sayso server`, so are agents' clients, by the server's pid. Who began
    with the machine is nobody's client; what lost its parent ends up there."""
    parents = {name.pid: name for name in line if name.pid != 1}
    return {pid: parents[parent] for pid, parent, words in _all() if parent in parents and _is_server(words)}


def _is_server(words: Sequence[str]) -> bool:
    programs = [place for place, word in enumerate(words[:-1]) if os.path.basename(word) in ("sayso", "auq")]
    return any(words[place + 1] == "server" for place in programs)


def _all() -> Iterator[tuple[int, int, list[str]]]:
    """Every process that can be seen: its pid, its parent's, and its command line."""
    if sys.platform != "linux":
        yield from _all_from_ps()
        return
    for entry in filter(str.isdigit, os.listdir("/proc")):
        found = _from_proc(int(entry))
        with suppress(OSError):
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")[:-1]
            if found:
                yield int(entry), found[1], words


def _all_from_ps() -> Iterator[tuple[int, int, list[str]]]:
    if os.name != "posix":
        return
    command = ["ps", "-axo", "pid=,ppid=,args="]
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout
        for pid, parent, *words in (line.split() for line in told.splitlines()):
            yield int(pid), int(parent), words


def _look_up(pid: int) -> tuple[ProcessName, int] | None:
    """A process's name and its parent's pid."""
    if sys.platform == "linux":
        return _from_proc(pid)
    if os.name == "posix":
        return _from_ps(pid)
    return None


def _from_proc(pid: int) -> tuple[ProcessName, int] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            after_command = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if after_command[0] in ENDED:
        return None
    return ProcessName(pid=pid, started=after_command[19].decode()), int(after_command[1])


def _from_ps(pid: int) -> tuple[ProcessName, int] | None:
    command = ["ps", "-o", "ppid=,stat=,lstart=", "-p", str(pid)]
    # The moment is told in the reader's language and time; everyone must read the same.
    env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False, env=env).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = told.split(maxsplit=2)
    if len(found) < 3 or found[1].startswith("Z"):
        return None
    return ProcessName(pid=pid, started=found[2].strip()), int(found[0])
