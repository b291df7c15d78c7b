"""An agent's process on pipes: however it behaves, it blocks nobody and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import psutil
import pytest

from sayso.adapters import agent_process
from sayso.adapters.agent_process import AgentProcess

SECONDS = 30.0


def lines(process: AgentProcess, count: int) -> list[bytes]:
    found: list[bytes] = []
    give_up = time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < give_up
        found += process.read()
        time.sleep(0.005)
    return found


def is_gone(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def test_an_agent_that_heeds_neither_the_end_of_its_input_nor_a_signal_is_ended_with_all_of_its_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_process, "LEAVES_WITHIN", 0.05)
    process = AgentProcess(["sh", "-c", "trap '' TERM; sleep 300 & echo $!; while :; do wait; done"])
    (child,) = lines(process, 1)
    status = process.end()
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    give_up = time.monotonic() + SECONDS
    while not is_gone(int(child)):
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_an_agent_that_ends_with_its_input_is_left_to_say_how() -> None:
    process = AgentProcess(["sh", "-c", "cat; exit 3"])
    assert process.send(b"one\ntw")
    assert process.send(b"o\n")
    assert lines(process, 2) == [b"one", b"two"]
    assert os.waitstatus_to_exitcode(process.end()) == 3
    assert not process.send(b"three\n")


def test_an_agent_that_does_not_read_holds_up_nobody() -> None:
    process = AgentProcess(["sh", "-c", "read go; cat"])
    much = b"x" * 1_000_000 + b"\n"
    assert process.send(b"go\n" + much)
    give_up = time.monotonic() + SECONDS
    while process.wants_room:
        assert time.monotonic() < give_up
        assert list(process.read()) in ([], [much[:-1]])
        process.flush()
    process.close_input()
    process.end()


def test_a_line_without_end_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "LONGEST_LINE", 100_000)
    process = AgentProcess(["sh", "-c", "head -c 1000000 /dev/zero; sleep 300"])
    with pytest.raises(OSError, match="a line of more than 100,000 bytes"):
        lines(process, 1)
    monkeypatch.setattr(agent_process, "LEAVES_WITHIN", 0.05)
    process.end()
