"""Which process is which: names that survive the reuse of pids, and the line of ancestors of this one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from sayso.process_table import Process, command_line, everyone, find
from sayso.records import record

_PROGRAMS = ("sayso", "auq", "sayso.cli")
_SERVERS = ("server", "guard")
"""What clients start of ours, and nobody else does."""
_ADOPTING = ("systemd", "init", "launchd", "openrc-init", "runit", "s6-svscan", "tini", "dumb-init", "docker-init")
"""Those that begin with a machine, a container or a person's session, and take in whoever loses its parent."""
_STARTERS = (
    *("ash", "ksh", "mksh", "csh", "tcsh", "fish", "nu", "elvish", "xonsh", "pwsh", "busybox", "login", "su"),
    *("sudo", "doas", "nohup", "nice", "ionice", "setsid", "timeout", "stdbuf", "time", "xargs", "parallel"),
)
"""Who starts what a person or a script says, besides those that stand before a server."""
_LONGEST_LINE = 256
_LAUNCHERS = ("sh", "bash", "dash", "zsh", "env", "uv", "uvx", "pipx")


@record
class ProcessName:
    """A pid with the moment it began, as its own system writes it: together they name one process for ever."""

    pid: int
    started: str


def this_host() -> str:
    """What this machine calls itself: pids mean something only beside it."""
    return os.uname().nodename


def name_of(pid: int) -> ProcessName | None:
    """The full name of a running process, or None when there is none."""
    found = _look_up(pid)
    return ProcessName(pid=pid, started=found.started) if found else None


def starter(pid: int) -> ProcessName | None:
    """The name of a process that is the parent of one of ours, if it can have started it: who only takes in what has
    lost its parent is nobody's client, and everybody would descend from it."""
    words = command_line(pid)
    return None if words and os.path.basename(words[0]) in _ADOPTING else name_of(pid)


def leader_of(pid: int) -> str:
    """Names whose work a process does in its session of processes: what the shells there have started of which it
    descends, or is itself; with all that this starts there it is one. The leader of the session where that cannot be
    told, or where no other than this very process was started by shells. Empty where the system knows no sessions."""
    try:
        leader = os.getsid(pid)
    except (AttributeError, OSError):
        return ""
    line: list[Process] = []
    while pid > 0 and len(line) < _LONGEST_LINE and (found := _look_up(pid)):
        line.append(found)
        if pid == leader:
            break
        pid = found.parent
    else:
        # Who stood between has ended.
        line = [found] if (found := _look_up(leader)) else []
    begun = (each for each in reversed(line) if each.pid != os.getpid() and not _only_starts(each.pid))
    if one := next(begun, line[-1] if line else None):
        return f"{one.pid} {one.started}"
    return f"{leader} "


def _only_starts(pid: int) -> bool:
    """Whether it is a shell, or another program that does no more than start what it is told to."""
    words = command_line(pid)
    return not words or os.path.basename(words[0].removeprefix("-")) in (*_LAUNCHERS, *_STARTERS)


def ancestry() -> tuple[ProcessName, ...]:
    """This process, its parent, and so on up to the first."""
    line: list[ProcessName] = []
    pid = os.getpid()
    while pid > 0 and len(line) < _LONGEST_LINE and (found := _look_up(pid)):
        line.append(ProcessName(pid=pid, started=found.started))
        pid = found.parent
    return tuple(line)


def servers_beside(line: Iterable[ProcessName]) -> dict[int, ProcessName]:
    """The processes of this line that started a `sayso server` or a `sayso guard`, so are agents' clients, by the
    server's pid. Who began with the machine is nobody's client; what lost its parent ends up there."""
    parents = {name.pid: name for name in line if name.pid != 1}
    with suppress(OSError):
        processes = {process.pid: process for process in everyone()}
        servers = [process for process in processes.values() if is_server(command_line(process.pid))]
        started = {server.pid: _behind_launchers(server.parent, processes) for server in servers}
        return {pid: parents[client] for pid, client in started.items() if client in parents}
    return {}


def is_server(words: Sequence[str]) -> bool:
    """Whether who was started with these words is a `sayso server` or a `sayso guard` itself, and not one that only
    speaks of it."""
    program = list(words)
    if program and os.path.basename(program[0]).startswith("python"):
        module = program.index("-m") + 1 if "-m" in program else 0
        script = next((place for place, word in enumerate(program) if place and not word.startswith("-")), 0)
        program = program[module or script :]
    return len(program) > 1 and os.path.basename(program[0]) in _PROGRAMS and program[1] in _SERVERS


def _behind_launchers(pid: int, processes: Mapping[int, Process]) -> int:
    """Who started a server, where a shell or a package runner stands between."""
    while pid in processes and _launches_a_server(command_line(pid)):
        pid = processes[pid].parent
    return pid


def _launches_a_server(words: Sequence[str]) -> bool:
    if not words or os.path.basename(words[0]) not in _LAUNCHERS:
        return False
    return any(f" {name}" in " ".join(words[1:]) for name in _SERVERS)


def _look_up(pid: int) -> Process | None:
    """The process, unless it has ended or nothing can be known of any."""
    with suppress(OSError):
        if (found := find(pid)) and not found.zombie:
            return found
    return None
