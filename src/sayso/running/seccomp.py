"""A seccomp filter: system calls that would lead out of a sandbox by other ways than files.

Sockets are the main thing: the kernel's Landlock knows no UDP, and lets everybody connect to sockets that lie in the
file system, by which one can have others run commands. Stdlib only and small, because runners carry it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator
from functools import cache

_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER_MODE = 38, 22, 2
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24

_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16
FAMILIES = {"none": (), "loopback": (_AF_INET, _AF_INET6, _AF_NETLINK), "all": (_AF_INET, _AF_INET6, _AF_NETLINK)}
"""The kinds of sockets that may be made, by what of the network may be used."""

_STREAM, _PACKETS, _NONBLOCK, _CLOSE_ON_EXEC = 1, 5, 0x800, 0x80000
_PAIRS = tuple(kind | flags for kind in (_STREAM, _PACKETS) for flags in (0, _NONBLOCK, _CLOSE_ON_EXEC, 0x80800))
"""Pairs that stay pairs. Either of two datagram sockets can send to any other that lies in a file."""

_TYPING_FOR_OTHERS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which put words into a terminal as if the person had typed them."""

_OTHER_WAYS = (
    "io_uring_setup", "setns", "open_by_handle_at", "bpf", "perf_event_open", "userfaultfd", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "keyctl", "add_key", "request_key", "reboot",
    "settimeofday", "clock_settime", "swapon", "swapoff", "acct", "syslog", "mq_open", "mq_unlink",
    "msgget", "msgctl", "msgrcv", "msgsnd", "semget", "semctl", "semtimedop", "semop", "shmget", "shmctl", "shmat",
)  # fmt: skip
"""The last are memory, messages and semaphores that all processes of a person share, by numbers and not by files."""
_OF_ITSELF = (
    "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages",
    "move_pages",
)  # fmt: skip
"""What a process does to the one that it names first: limits, processors, turns, memory. It is 0 for itself."""
_OF_KINDS = {"setpriority": 0, "ioprio_set": 1}
"""The same for calls that name a kind first. This one is for a process, others for a group or all that a user runs."""
_CALLS = ("socket", "socketpair", "ioctl", *_OF_ITSELF, *_OF_KINDS, *_OTHER_WAYS)
_ARM = (
    198, 199, 29, 261, 122, 119, 118, 274, 238, 239, 140, 30,
    425, 268, 265, 280, 241, 282, 105, 273, 106, 104, 294, 219, 217, 218, 142, 170, 112, 224, 225,
    89, 116, 180, 181, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196,
)  # fmt: skip
_INTEL = (
    41, 53, 16, 302, 203, 144, 142, 314, 256, 279, 141, 251,
    425, 308, 304, 321, 298, 323, 175, 313, 176, 246, 320, 250, 248, 249, 169, 164, 227, 167, 168,
    163, 103, 240, 241, 68, 71, 70, 69, 64, 66, 220, 65, 29, 31, 30,
)  # fmt: skip
_MACHINES = {
    "aarch64": (0xC00000B7, dict(zip(_CALLS, _ARM, strict=True))),
    "x86_64": (0xC000003E, dict(zip(_CALLS, _INTEL, strict=True))),
}
_SECOND_NUMBERING = 0x40000000
"""From here on x86_64 has each call once more, under another number."""

_libc = ctypes.CDLL(None, use_errno=True)


def gain_nothing() -> None:
    """From now on no program that is started gains rights, whatever its file says (no_new_privs)."""
    _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def restrict(network: str) -> None:
    """Hold this thread, and all that it starts, to the filter for ever."""
    program = ctypes.create_string_buffer(_made(network))
    about = struct.pack("HP", (len(program) - 1) // 8, ctypes.addressof(program))
    _checked(_libc.prctl(_SET_FILTER, _FILTER_MODE, about, 0, 0))


@cache
def _made(network: str) -> bytes:
    return filter_for(network, os.uname().machine)


def get_ready() -> None:
    """Make all filters, so that they are there before they are needed."""
    for network in FAMILIES:
        _made(network)


def filter_for(network: str, machine: str) -> bytes:
    """The program that the kernel runs for each system call."""
    if network not in FAMILIES:
        raise OSError(f"there is no such network as {network!r}")
    if machine not in _MACHINES:
        raise OSError(f"Sayso does not know the system calls of this machine ({machine})")
    architecture, calls = _MACHINES[machine]
    return b"".join(_instructions(network, architecture, calls))


def _instructions(network: str, architecture: int, calls: dict[str, int]) -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, architecture, 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    yield _step(_AT_LEAST, _SECOND_NUMBERING, 0, 1)
    yield _step(_RETURN, _ERROR | errno.EPERM)
    for name in _OTHER_WAYS:
        yield _step(_EQUAL, calls[name], 0, 1)
        yield _step(_RETURN, _ERROR | errno.EPERM)
    yield from _when(calls["ioctl"], _SECOND, _TYPING_FOR_OTHERS, met=_ERROR | errno.EPERM, otherwise=_ALLOW)
    for name in _OF_ITSELF:
        # Another process could be ended by its limits, and kept from its work by the others.
        yield from _when(calls[name], _FIRST, (0,), met=_ALLOW, otherwise=_ERROR | errno.EPERM)
    for name, kind in _OF_KINDS.items():
        yield from _when_itself(calls[name], kind)
    yield from _when(calls["socketpair"], _SECOND, _PAIRS, met=_ALLOW, otherwise=_ERROR | errno.EACCES)
    yield from _when(calls["socket"], _FIRST, FAMILIES[network], met=_ALLOW, otherwise=_ERROR | errno.EACCES)
    yield _step(_RETURN, _ALLOW)


def _when(call: int, argument: int, values: Iterable[int], *, met: int, otherwise: int) -> Iterator[bytes]:
    """What becomes of a call by one of its arguments, of which the kernel too looks at the lower half alone."""
    tests = [step for value in values for step in (_step(_EQUAL, value, 0, 1), _step(_RETURN, met))]
    yield _step(_EQUAL, call, 0, len(tests) + 2)
    yield _step(_LOAD, argument)
    yield from tests
    yield _step(_RETURN, otherwise)


def _when_itself(call: int, kind: int) -> Iterator[bytes]:
    """A call is allowed whose first argument is this kind, and whose second is the process itself."""
    yield _step(_EQUAL, call, 0, 7)
    yield _step(_LOAD, _FIRST)
    yield _step(_EQUAL, kind, 1, 0)
    yield _step(_RETURN, _ERROR | errno.EPERM)
    yield _step(_LOAD, _SECOND)
    yield _step(_EQUAL, 0, 0, 1)
    yield _step(_RETURN, _ALLOW)
    yield _step(_RETURN, _ERROR | errno.EPERM)


def _step(code: int, value: int, met: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, met, otherwise, value)


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
