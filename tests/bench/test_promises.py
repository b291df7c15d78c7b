"""A broken promise about speed fails the run that measures it, and a kept one does not."""

from __future__ import annotations

import sys

import pytest
from bench.promises import PROMISES, Promise, judged

from bench import commands, lines, promises


def made_of(measured: float, baseline: float, at_most: float) -> Promise:
    return Promise(says="", at_most=at_most, measure=lambda: ([measured] * 5, [baseline] * 5))


def test_a_promise_is_about_the_ratio_to_its_own_baseline() -> None:
    assert judged(made_of(0.4, 0.1, at_most=5)).kept
    assert judged(made_of(40.0, 10.0, at_most=5)).kept
    assert not judged(made_of(0.6, 0.1, at_most=5)).kept


def test_a_few_slow_turns_on_a_busy_machine_break_nothing_and_slowness_throughout_does() -> None:
    baseline = [1.0] * 20
    busy = Promise(says="", at_most=2, measure=lambda: ([1.5] * 10 + [90.0] * 10, baseline))
    slow = Promise(says="", at_most=2, measure=lambda: ([2.5] * 20, baseline))
    assert (judged(busy).kept, judged(slow).kept) == (True, False)


def test_a_broken_promise_is_named_and_ends_the_run_with_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(promises, "PROMISES", {"kept": made_of(1, 1, at_most=2), "lost": made_of(9, 1, at_most=2)})
    monkeypatch.setattr(sys, "argv", ["promises"])
    with pytest.raises(SystemExit) as ended:
        promises.main()
    assert str(ended.value.code).startswith("Broken: lost.")
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("|")[-2].strip() for line in printed if line.startswith(("| kept", "| lost"))] == [
        "kept",
        "BROKEN",
    ]


def test_promises_that_hold_end_the_run_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "PROMISES", {"kept": made_of(1, 1, at_most=2)})
    monkeypatch.setattr(sys, "argv", ["promises"])
    promises.main()


@pytest.mark.requirement("P-58")
def test_fifty_milliseconds_more_for_every_line_break_the_promise_about_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    """With made-up figures; `python -m bench.promises` measures the real ones."""
    for more, kept in ((0.0, True), (0.05, False)):
        monkeypatch.setattr(lines, "to_the_stream", lambda _, more=more: ([0.012 + more] * 5, [0.002] * 5))
        assert judged(PROMISES["talk-line"]).kept is kept


@pytest.mark.requirement("H-07", "H-08")
@pytest.mark.parametrize("name", ["command-start", "command-pool", "command-call"])
def test_thirty_milliseconds_more_for_every_start_break_each_promise_about_starting(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the figures of a quiet machine; `python -m bench.promises` measures the real ones."""
    quiet = {"spawner": [0.0055] * 5, "Popen": [0.0015] * 5, "bash -lc": [0.11] * 5}
    call = {commands.CALL: [0.006] * 5, commands.AIM: [0.004] * 5}
    monkeypatch.setattr(promises, "_starts", lambda: quiet)
    monkeypatch.setattr(commands, "end_to_end", lambda _: call)
    assert judged(PROMISES[name]).kept
    quiet["spawner"] = [taken + 0.03 for taken in quiet["spawner"]]
    call[commands.CALL] = [taken + 0.03 for taken in call[commands.CALL]]
    assert not judged(PROMISES[name]).kept
