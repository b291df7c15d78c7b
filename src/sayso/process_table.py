"""The process table: each process with its parent, its group, when it started and how it stands.

Stdlib only and small, because every runner carries it. Where there is no /proc (macOS), `ps` tells it. It looks, and
decides nothing.
"""

from __future__ import annotations

import os
import sys
import time

PS = "/bin/ps"
PS_SECONDS = 10.0
EXEC_SECONDS = 0.5
"""How long to wait for a process that is about to run another program, which takes a moment of processor time."""
EXEC_LOOKS = 4


class Process:
    """One row of the process table."""

    __slots__ = ("group", "parent", "pid", "started", "state")

    def __init__(self, pid: int, parent: int, group: int, started: str, state: str) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.started = started
        """As the system writes it: with the pid it names one process for ever."""
        self.state = state

    @property
    def zombie(self) -> bool:
        """Whether it has ended, though its parent has not asked how; in containers some parents never do."""
        return self.state in "ZX"

    @property
    def stopped(self) -> bool:
        return self.state in "Tt"

    @property
    def held_by_the_system(self) -> bool:
        """Within a call of the system that no signal interrupts: one that was sent takes effect before it leaves."""
        return self.state in "DU"


def find(pid: int) -> Process | None:
    """The process with this pid, if there is one."""
    if sys.platform != "linux":
        return next(iter(rows_of_ps("-p", str(pid))), None)
    text = _read(pid, "stat")
    if not text:
        return None
    # The name in brackets may hold anything, so the fields are counted from its end.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[2]), fields[19].decode(), fields[0].decode())


def everyone() -> list[Process]:
    """Every process that can be seen."""
    if sys.platform != "linux":
        return rows_of_ps("-A")
    found = (find(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in found if process]


def started(pid: int) -> str:
    """When it started; empty when there is none."""
    process = find(pid)
    return process.started if process else ""


def is_running(pid: int, started: str) -> bool:
    """Whether this very process, and not a later one with its pid, still runs."""
    process = find(pid)
    return process is not None and not process.zombie and process.started == started


def command_line(pid: int) -> list[str]:
    """The words it was started with, as far as they can be told apart."""
    if sys.platform != "linux":
        return " ".join(_ps("-p", str(pid), "-ww", "-o", "args=")).split()
    return _read(pid, "cmdline").decode(errors="replace").split("\0")[:-1]


def terminal_device(pid: int) -> str:
    """The terminal that it belongs to, as the system writes it: a number on Linux, else a name. Empty when there is no
    such process."""
    if sys.platform != "linux":
        return "".join(_ps("-p", str(pid), "-o", "tty=")).strip()
    text = _read(pid, "stat")
    return text[text.rindex(b")") + 2 :].split()[4].decode() if text else ""


def environment(pid: int) -> bytes:
    """Its environment as it was started with it, if it can be seen."""
    found = _read(pid, "environ")
    if found or sys.platform != "linux" or not os.access(f"/proc/{pid}/environ", os.R_OK):
        return found
    # In the middle of an `exec` it shows neither words nor environment; one that has words and none is looked at anew.
    give_up, looks = time.monotonic() + EXEC_SECONDS, 0
    while not found and looks < EXEC_LOOKS and _has_memory(pid) and time.monotonic() < give_up:
        if _read(pid, "cmdline"):
            looks += 1
        else:
            time.sleep(0.001)
        found = _read(pid, "environ")
    return found


def _has_memory(pid: int) -> bool:
    """Those of the system have none of their own, nor have those that have ended."""
    text = _read(pid, "stat")
    return bool(text) and text[text.rindex(b")") + 2 :].split()[20] != b"0"


def carrying(variable: str) -> list[Process]:
    """All that have this `NAME=value` in their environment and still run, as far as the system shows it."""
    alive = [process for process in everyone() if not process.zombie]
    if sys.platform != "linux":
        lines = _ps("-A", "-E", "-ww", "-o", "pid=,command=")
        pids = {int(line.split(None, 1)[0]) for line in lines if variable in line}
        return [process for process in alive if process.pid in pids]
    return [process for process in alive if variable.encode() in environment(process.pid)]


def rows_of_ps(*which: str) -> list[Process]:
    """The processes that these options of `ps` choose."""
    found = (line.split(None, 4) for line in _ps(*which, "-o", "pid=,ppid=,pgid=,stat=,lstart="))
    return [
        Process(int(pid), int(parent), int(group), started.strip(), state[0])
        for pid, parent, group, state, started in found
    ]


def _ps(*arguments: str) -> list[str]:
    import subprocess  # only here: a runner that has /proc need not carry it

    try:
        done = subprocess.run(
            [PS, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            # The moment is told in the reader's language and time; everyone must read the same.
            env={"LC_ALL": "C", "TZ": "UTC"},
            timeout=PS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(str(error)) from error
    return [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
