"""The process table where there is no /proc (macOS), as the `ps` command tells it. Used by tree.py alone."""

from __future__ import annotations

import subprocess

PS = "/bin/ps"
PS_SECONDS = 10.0


def rows(*which: str) -> list[tuple[int, int, int, str, str]]:
    """Pid, parent, group, start and the letter of its state, of the processes that these options of `ps` choose."""
    found = (line.split(None, 4) for line in _lines(*which, "-o", "pid=,ppid=,pgid=,stat=,lstart="))
    return [
        (int(pid), int(parent), int(group), started.strip(), state[0]) for pid, parent, group, state, started in found
    ]


def pids_with(variable: str) -> set[int]:
    """The processes whose environment holds this `NAME=value`, as far as the system shows it."""
    lines = _lines("-A", "-E", "-ww", "-o", "pid=,command=")
    return {int(line.split(None, 1)[0]) for line in lines if variable in line}


def _lines(*arguments: str) -> list[str]:
    done = subprocess.run(
        [PS, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"LC_ALL": "C"},
        timeout=PS_SECONDS,
        check=False,
    )
    return [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
