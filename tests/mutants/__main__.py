"""Whether the tests would notice: one small thing in the code is made wrong at a time, and a test has to fail.

Usage: python -m tests.mutants [--sample 400] [--seed 7] [--packages asks permissions store operations]
`make mutants` does the same. A change is put into functions that are already loaded, in a process of its own and in
those that its tests fork, and only tests that call this function are run, the quickest first, for some minutes of them.
What fails with it has to pass without it. A program that a test starts anew cannot see it, so the share that is noticed
is at least what is printed. Words for people are left alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import CDLL
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from select import select

import psutil
import pytest
from _pytest.runner import runtestprotocol
from tests import warm
from tests.mutants.calls import TestNumber, calls_in, write_down_calls
from tests.mutants.copies import with_calls, with_mutant
from tests.mutants.making import SOURCE, Function, Mutant, make_wrong, mutants_of

_OF_PEOPLE = ["allow", "away", "codex_gate", "gate", "list", "log", "other_gates", "rules", "show"]
TESTS = {
    "asks": [
        *("tests/asks", "tests/permissions", "tests/e2e/ask", "tests/e2e/stdio", "tests/test_roster.py"),
        *("tests/cli/test_answer.py", "tests/cli/test_list.py", "tests/cli/test_show.py", "tests/tui/test_drafts.py"),
        *("tests/cli/test_gate.py", "tests/guard"),
    ],
    "permissions": [
        *("tests/permissions", "tests/rules", "tests/tui/test_permissions.py"),
        *(f"tests/cli/test_{name}.py" for name in _OF_PEOPLE),
    ],
    "store": ["tests/store", "tests/asks", "tests/test_backup.py", "tests/cli/test_backup.py"],
    "operations": [
        "tests/operations",
        "tests/e2e/run",
        "tests/tui/test_commands.py",
        "tests/web/test_commands_pages.py",
    ],
}
"""Those that know most about each package."""
AT_ONCE = 2
BUDGET = 240.0
"""Seconds that the tests may take in which a change has to be noticed."""
SLOWER, PATIENCE = 5, 60.0
"""How much longer they may take than before, and seconds on top. Then a change counts as noticed: something waits for
what never comes."""

_NOTICED, _BROKEN = 1, 70
_SUBREAPER = 36


@dataclass
class Test:
    __test__ = False

    place: int
    seconds: float
    calls: set[Function]


def _is_green(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))


def _watched(items: Sequence[pytest.Item], places: Sequence[int], folder: Path) -> int:
    """Run these tests, and write down what they called, and how long they took if they passed."""
    number, took = TestNumber(folder), {}
    warm.TOLD[warm.MUTANTS] = with_calls(folder)
    write_down_calls(folder)
    for place, following in pairwise([*places, None]):
        assert place is not None
        number.set(place)
        begun = time.monotonic()
        if _is_green(items[place], None if following is None else items[following]):
            took[place] = time.monotonic() - begun
    (folder / "took").write_text(json.dumps(took))
    return 0


class Mutants:
    """In place of running the tests once, runs some of them for each mutant."""

    def __init__(self, chosen: Sequence[Mutant], folder: Path) -> None:
        self._chosen, self._folder = list(chosen), folder
        self.noticed: Counter[str] = Counter()
        self.all: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items
        tests = self._tests(items)
        print(f"{len(tests):,} of {len(items):,} tests can be used; {len(self._chosen):,} changes", flush=True)
        by_function: dict[Function, list[Test]] = defaultdict(list)
        for test in sorted(tests, key=lambda test: test.seconds):
            for function in test.calls:
                by_function[function].append(test)
        running: dict[int, Mutant] = {}
        waiting = list(reversed(self._chosen))
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                mutant = waiting.pop()
                tried = list(_within(BUDGET, by_function[mutant.function]))
                patience = PATIENCE + SLOWER * sum(test.seconds for test in tried)
                running[_forked(_trying(items, mutant, tried), patience)] = mutant
            self._reap(running)
        return True

    def _tests(self, items: Sequence[pytest.Item]) -> list[Test]:
        """What each test calls. Those of a file stay together: they share servers."""
        files: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            files[item.nodeid.partition("::")[0]].append(place)
        parts: list[list[int]] = [[] for _ in range(AT_ONCE)]
        for places in sorted(files.values(), key=len, reverse=True):
            min(parts, key=len).extend(places)
        found = []
        for number, part in enumerate(parts):
            folder = self._folder / f"watched-{number}"
            folder.mkdir()
            found.append((folder, _forked(lambda p=part, f=folder: _watched(items, p, f), 3600)))  # type: ignore[misc]
        tests = []
        for folder, child in found:
            os.waitpid(child, 0)
            calls = calls_in(folder)
            took = json.loads((folder / "took").read_text())
            tests += [Test(int(place), seconds, calls.get(int(place), set())) for place, seconds in took.items()]
        return tests

    def _reap(self, running: dict[int, Mutant]) -> None:
        child, status = os.wait()
        if mutant := running.pop(child, None):
            code = os.waitstatus_to_exitcode(status)
            if code in (0, _NOTICED):
                self._note(mutant, noticed=code == _NOTICED)
            else:
                print(f"could not be tried: {mutant}", flush=True)

    def _note(self, mutant: Mutant, *, noticed: bool) -> None:
        self.all[mutant.package] += 1
        self.noticed[mutant.package] += noticed
        if not noticed:
            print(f"not noticed: {mutant}", flush=True)
        if self.all.total() % 50 == 0:
            print(f"{self.noticed.total()} of {self.all.total()} were noticed so far", flush=True)


def _within(seconds: float, tests: Sequence[Test]) -> Iterator[Test]:
    for test in tests:
        seconds -= test.seconds
        if seconds < 0:
            return
        yield test


def _forked(work: Callable[[], int], patience: float) -> int:
    """A process that has this done, and leaves nothing of it behind. What takes too long counts as noticed."""
    child = os.fork()
    if child:
        return child
    code = _BROKEN
    try:
        CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        code = _waited_for(_at_work(work), patience)
        for left in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                left.send_signal(signal.SIGKILL)
    finally:
        os._exit(code)


def _at_work(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    code = _BROKEN
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        code = work()
    finally:
        os._exit(code)


def _waited_for(child: int, patience: float) -> int:
    process = os.pidfd_open(child)
    if not select([process], [], [], patience)[0]:
        return _NOTICED
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _trying(items: Sequence[pytest.Item], mutant: Mutant, tests: Sequence[Test]) -> Callable[[], int]:
    def in_turn() -> int:
        undo = _make_wrong_everywhere(mutant)
        for test, following in pairwise([*tests, None]):
            assert test is not None
            item = items[test.place]
            if not _is_green(item, None if following is None else items[following.place]):
                undo()
                item.session._setupstate.teardown_exact(None)
                if _is_green(item, None):
                    return _NOTICED
                undo = _make_wrong_everywhere(mutant)
        return 0

    return in_turn


def _make_wrong_everywhere(mutant: Mutant) -> Callable[[], None]:
    """Here, and in what is forked by tests from now on."""
    put_right = make_wrong(mutant)
    warm.TOLD[warm.MUTANTS] = with_mutant(mutant)
    warm.forget_parents()

    def undo() -> None:
        put_right()
        warm.TOLD.clear()
        warm.forget_parents()

    return undo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=400, help="how many changes, chosen at random")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--packages", nargs="+", choices=list(TESTS), default=list(TESTS))
    parser.add_argument("--only", default="", help="those whose line in the output has this text, such as desk.py:77")
    given = parser.parse_args()
    files = [file for package in given.packages for file in sorted((SOURCE / package).glob("*.py"))]
    everything = [mutant for file in files for mutant in mutants_of(file) if given.only in str(mutant)]
    chosen = random.Random(given.seed).sample(everything, min(given.sample, len(everything)))
    tests = sorted({folder for package in given.packages for folder in TESTS[package]})
    with tempfile.TemporaryDirectory(prefix="sayso-mutants-") as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        found = Mutants(chosen, Path(folder))
        options = ["-p", "no:xdist", "-p", "no:cacheprovider"]
        begun = time.monotonic()
        ended = pytest.main([*options, f"--basetemp={folder}/tests", *tests], plugins=[found])
    assert found.all, f"pytest ended with {ended}"
    print(f"\n{len(everything):,} changes can be made; {len(chosen):,} were, seed {given.seed}.\n")
    print("| package | changes | noticed |\n|---------|--------:|--------:|")
    rows = [(package, found.all[package], found.noticed[package]) for package in given.packages]
    for name, count, noticed in [*rows, ("all", found.all.total(), found.noticed.total())]:
        print(f"| {name} | {count:,} | {noticed / max(count, 1):.0%} |")
    print(f"\n{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
