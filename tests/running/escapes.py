"""Ways out of a sandbox, each tried for real. Run as a program: its argument is JSON that names the targets, and it
prints for each way whether it led out ("out"), or what stopped it."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
IO_URING_SETUP, PTRACE_ATTACH, PTRACE_DETACH, TIOCSTI, NO_NEW_PRIVILEGES = 425, 16, 17, 0x5412, 39
IOPRIO_SET, LAST_AT_THE_DISK = (251 if os.uname().machine == "x86_64" else 30, 1), 2 << 13 | 7
"""The call with the kind that is a process, and the last turn of all that are usual."""


def checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read(path: str) -> None:
    with open(path, "rb") as file:
        file.read()


def write(path: str) -> None:
    with open(path, "ab") as file:
        file.write(b"x")


def by_link(make: Callable[[str, str], None], target: str, name: str) -> None:
    make(target, name)
    read(name)


def in_a_grandchild(path: str) -> None:
    """Written by a process that nobody waits for any more."""
    hears, says = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                write(path)
                os.write(says, b"out")
            except OSError as error:
                os.write(says, str(error).encode())
        os._exit(0)
    os.close(says)
    with open(hears, "rb") as told:
        if (said := told.read()) != b"out":
            raise OSError(said.decode())


def connect(family: int, address: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as made:
        made.settimeout(10)
        made.connect(address)


def send_from_a_pair(address: str, kind: int = socket.SOCK_DGRAM) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with ours, theirs:
        ours.sendto(b"x", address)


def send(address: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)


def numbered(made: int, change: Callable[..., int]) -> None:
    """Something that others could be met at by its number. It is taken away again."""
    checked(made)
    checked(change(made, 0, None))


def go_last() -> None:
    """What a process may do to itself."""
    os.nice(5)
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    checked(libc.syscall(*IOPRIO_SET, 0, LAST_AT_THE_DISK))


def in_a_child(do: Callable[[], None]) -> None:
    if (child := os.fork()) == 0:
        try:
            do()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise OSError("it was not let")


def attach(pid: int) -> None:
    checked(libc.ptrace(PTRACE_ATTACH, pid, None, None))
    os.waitpid(pid, 0)
    libc.ptrace(PTRACE_DETACH, pid, None, None)


def type_into(terminal: str) -> None:
    opened = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(opened, TIOCSTI, b"x")


def descriptors(first: list[str]) -> None:
    if not first:
        raise OSError("none is open")


def gain_rights() -> None:
    if libc.prctl(NO_NEW_PRIVILEGES, 0, 0, 0, 0):
        raise OSError("no program gains any")


def ways(at: dict[str, Any], inherited: list[str]) -> dict[str, Callable[[], object]]:
    secret, outside, sibling = at["secret"], at["outside"], at["sibling"]
    return {
        "inherited descriptors": lambda: descriptors(inherited),
        "reading a secret": lambda: read(secret),
        "listing secrets": lambda: os.listdir(os.path.dirname(secret)),
        "reading Sayso's state": lambda: read(at["state"]),
        "reading what is in /tmp": lambda: read(f"{outside}/there"),
        "a symbolic link": lambda: by_link(os.symlink, secret, "symbolic"),
        "a hard link": lambda: by_link(os.link, secret, "hard"),
        "moving a secret in": lambda: os.rename(secret, "moved"),
        "/proc/self/root": lambda: read(f"/proc/self/root{secret}"),
        "/proc/PID/root": lambda: read(f"/proc/{sibling}/root{secret}"),
        "/proc/PID/cwd": lambda: read(f"/proc/{sibling}/cwd/{os.path.basename(secret)}"),
        "/proc/PID/fd": lambda: read(f"/proc/{sibling}/fd/0"),
        "/proc/PID/environ": lambda: read(f"/proc/{sibling}/environ"),
        "/proc/PID/mem": lambda: write(f"/proc/{sibling}/mem"),
        "writing outside": lambda: write(f"{outside}/new"),
        "emptying a file": lambda: os.truncate(f"{outside}/there", 0),
        "moving out": lambda: os.rename("own", f"{outside}/own"),
        "removing": lambda: os.unlink(f"{outside}/there"),
        "a child": lambda: subprocess.run(["sh", "-c", f"echo > {outside}/child"], check=True, capture_output=True),
        "a grandchild": lambda: in_a_grandchild(f"{outside}/grandchild"),
        "shared memory": lambda: write("/dev/shm/sayso-escape"),
        "numbered shared memory": lambda: numbered(libc.shmget(0, 64, 0o600), libc.shmctl),
        "numbered messages": lambda: numbered(libc.msgget(0, 0o600), libc.msgctl),
        "the limits of another": lambda: resource.prlimit(sibling, resource.RLIMIT_CORE, (0, 0)),
        "the turn of another": lambda: os.setpriority(os.PRIO_PROCESS, sibling, 5),
        "the turn of a group": lambda: os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PROCESS, 0)),
        "the processors of another": lambda: os.sched_setaffinity(sibling, os.sched_getaffinity(sibling)),
        "the policy of another": lambda: os.sched_setscheduler(sibling, os.SCHED_BATCH, os.sched_param(0)),
        "the parameters of another": lambda: os.sched_setparam(sibling, os.sched_param(0)),
        "the turn of another at the disk": lambda: checked(libc.syscall(*IOPRIO_SET, sibling, LAST_AT_THE_DISK)),
        "its own turn": lambda: in_a_child(go_last),
        "a device": lambda: os.mknod("device", 0o600 | 0o060000, os.makedev(254, 0)),
        "a socket in a file": lambda: connect(socket.AF_UNIX, at["socket"]),
        "a datagram to a file": lambda: send_from_a_pair(at["letters"]),
        "a raw datagram to a file": lambda: send_from_a_pair(at["letters"], socket.SOCK_RAW),
        "an abstract socket": lambda: connect(socket.AF_UNIX, f"\0{at['abstract']}"),
        "TCP": lambda: connect(socket.AF_INET, ("127.0.0.1", at["tcp"])),
        "UDP": lambda: send(("127.0.0.1", at["udp"])),
        "io_uring": lambda: checked(libc.syscall(IO_URING_SETUP, 1, ctypes.create_string_buffer(120))),
        "another's network": lambda: checked(libc.setns(os.open(f"/proc/{sibling}/ns/net", os.O_RDONLY), 0)),
        "its own network again": lambda: checked(libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0)),
        "mounting": lambda: checked(libc.mount(b"none", os.getcwdb(), b"tmpfs", 0, None)),
        "tracing": lambda: attach(sibling),
        "a signal": lambda: os.kill(sibling, 0),
        "typing into a terminal": lambda: type_into(at["terminal"]),
        "rights of other programs": gain_rights,
        "the mode of a file": lambda: os.chmod(f"{outside}/there", 0o640),
        "the times of a file": lambda: os.utime(f"{outside}/there", (1, 1)),
        "the command lines of others": lambda: read(f"/proc/{sibling}/cmdline"),
        "own files": lambda: write("own"),
        "own temporary files": lambda: write(f"{os.environ['TMPDIR']}/own"),
    }


def tried(way: Callable[[], object]) -> str:
    try:
        way()
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)
    return "out"


def main() -> None:
    inherited = [
        name for name in os.listdir("/proc/self/fd") if int(name) > 2 and os.path.lexists(f"/proc/self/fd/{name}")
    ]
    write("own")
    at = json.loads(sys.argv[1])
    print(json.dumps({name: tried(way) for name, way in ways(at, inherited).items() if name in at["ways"]}))


if __name__ == "__main__":
    main()
