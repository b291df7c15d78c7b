"""Which process is which: names that survive the reuse of pids, and the line of ancestors of this one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sayso.process_table import Process, command_line, everyone, find


@dataclass(frozen=True, kw_only=True)
class ProcessName:
    """A pid with the moment it began, as its own system writes it: together they name one process for ever."""

    pid: int
    started: str


def name_of(pid: int) -> ProcessName | None:
    """The full name of a running process, or None when there is none."""
    found = _look_up(pid)
    return ProcessName(pid=pid, started=found.started) if found else None


def leader_of(pid: int) -> str:
    """Names the leader of a process's session; empty where the system knows no such thing."""
    try:
        leader = os.getsid(pid)
    except (AttributeError, OSError):
        return ""
    found = name_of(leader)
    return f"{leader} {found.started if found else ''}"


def ancestry() -> tuple[ProcessName, ...]:
    """This process, its parent, and so on up to the first."""
    line: list[ProcessName] = []
    pid = os.getpid()
    while pid > 0 and len(line) < 256 and (found := _look_up(pid)):
        line.append(ProcessName(pid=pid, started=found.started))
        pid = found.parent
    return tuple(line)


def servers_beside(line: Iterable[ProcessName]) -> dict[int, ProcessName]:
    """The processes of this line that started a `sayso server`, so are agents' clients, by the server's pid. Who began
    with the machine is nobody's client; what lost its parent ends up there."""
    parents = {name.pid: name for name in line if name.pid != 1}
    with suppress(OSError):
        children = [process for process in everyone() if process.parent in parents]
        return {child.pid: parents[child.parent] for child in children if _is_server(command_line(child.pid))}
    return {}


def _is_server(words: Sequence[str]) -> bool:
    programs = [place for place, word in enumerate(words[:-1]) if os.path.basename(word) in ("sayso", "auq")]
    return any(words[place + 1] == "server" for place in programs)


def _look_up(pid: int) -> Process | None:
    """The process, unless it has ended or nothing can be known of any."""
    with suppress(OSError):
        if (found := find(pid)) and not found.zombie:
            return found
    return None
