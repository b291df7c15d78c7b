"""Fuzzes Sayso by hand for as long as one likes: `python -m tests.fuzz --seconds 600 --seed 7 [PART ...]`.

It goes in rounds, each with a seed of its own that is printed when something is found; what is found is made as small
as it can be. Servers are restarted now and then, so that their beginnings are under fire too.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy
from tests.e2e.stdio.harness import Place, new_place
from tests.fuzz import early, inside, junk, stdio, web
from tests.rules.test_real_shells import programs_in

ROUND = 200
ROUNDS_OF_A_SERVER = 10
MEMORY = stdio.MEMORY
T = TypeVar("T", stdio.Target, web.Target)
PARTS = ("stdio", "early", "start", "web", "rules", "tools", "hooks", "streams")


def main() -> None:
    given_ = _arguments()
    for name in [name for name in os.environ if name.startswith(("SAYSO_", "XDG_", "PG", "CLAUDE"))]:
        del os.environ[name]
    print(f"seed {given_.seed}, {given_.seconds:g} s, {', '.join(given_.parts)}", flush=True)
    for part in given_.parts:
        with new_place(ask_timeout="1s", log_level="error") as place:
            until = time.monotonic() + given_.seconds / len(given_.parts)
            print(f"{part}: {_WORK[part](place, given_.seed, until)}", flush=True)


def _fuzz_stdio(place: Place, first: int, until: float) -> str:
    rounds, grown = 0, 0.0
    while time.monotonic() < until:
        with _ending(stdio.Target(place)) as target:
            fire, before = target.fire, 0
            for number in range(ROUNDS_OF_A_SERVER):
                if time.monotonic() < until:
                    _round(junk.pieces(), fire, first + rounds)
                    rounds += 1
                if number == 0:
                    before = target.memory()
            grown = max(grown, target.memory() - before)
            assert grown < MEMORY, f"a server grew by {grown / 1e6:.0f} MB"
    return f"{rounds * ROUND} examples, a server grew by {grown / 1e6:.1f} MB at most"


def _fuzz_start(place: Place, first: int, until: float) -> str:
    """A server of its own for each piece of junk: what is sent before anything else is there."""
    rounds = 0

    def fire(sent: list[bytes]) -> None:
        with _ending(stdio.Target(place)) as target:
            target.fire(sent)

    while time.monotonic() < until:
        _round(junk.pieces(), fire, first + rounds, examples=10)
        rounds += 1
    return f"{rounds * 10} servers"


def _fuzz_early(_: Place, first: int, until: float) -> str:
    return _rounds(junk.pieces(), early.fire, first, until)


def _fuzz_web(place: Place, first: int, until: float) -> str:
    held: list[int] = []
    with _ending(web.Target(place)) as target:
        while not held or time.monotonic() < until:
            _round(web.shots(), target.fire, first + len(held))
            held.append(target.memory())
            grown = held[-1] - held[0]
            assert grown < MEMORY, f"the server grew by {grown / 1e6:.0f} MB"
    # What has a level is reached in the first half; what leaks goes on.
    late = (held[-1] - held[len(held) // 2]) / ROUND / max(1, len(held) - len(held) // 2 - 1)
    told = f"the server grew by {grown / 1e6:.1f} MB, in the second half by {late:.0f} bytes a request"
    return f"{len(held) * ROUND} requests, {told}"


def _fuzz_rules(_: Place, first: int, until: float) -> str:
    with _scratch() as folder:
        programs_in(folder)
        return _rounds(inside.rules_and_lines(), inside.judge_in(folder), first, until)


def _fuzz_tools(_: Place, first: int, until: float) -> str:
    return _rounds(inside.tool_files(), inside.read_tool_file, first, until)


def _fuzz_hooks(_: Place, first: int, until: float) -> str:
    with _scratch() as folder, inside.hooks(folder) as fire:
        return _rounds(inside.events(), fire, first, until)


def _fuzz_streams(_: Place, first: int, until: float) -> str:
    return _rounds(inside.streams(), inside.hear, first, until)


def _rounds(strategy: SearchStrategy, fire: Callable, first: int, until: float) -> str:  # type: ignore[type-arg]
    rounds = 0
    while time.monotonic() < until:
        _round(strategy, fire, first + rounds)
        rounds += 1
    return f"{rounds * ROUND} examples"


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sayso-fuzz-") as folder:
        yield Path(folder)


_WORK: dict[str, Callable[[Place, int, float], str]] = {
    "stdio": _fuzz_stdio,
    "early": _fuzz_early,
    "start": _fuzz_start,
    "web": _fuzz_web,
    "rules": _fuzz_rules,
    "tools": _fuzz_tools,
    "hooks": _fuzz_hooks,
    "streams": _fuzz_streams,
}


def _round(strategy: SearchStrategy, fire: Callable, number: int, examples: int = ROUND) -> None:  # type: ignore[type-arg]
    """Some examples, drawn from this seed."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @seed(number)
    @given(strategy)
    def check(example: object) -> None:
        fire(example)

    try:
        check()
    except BaseException:
        print(f"found with seed {number}")
        raise


@contextmanager
def _ending(target: T) -> Iterator[T]:
    try:
        yield target
    except BaseException:
        target.kill()
        raise
    target.end()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz Sayso, and see that it goes on.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    given_ = parser.parse_args()
    given_.parts = given_.parts or PARTS
    return given_


if __name__ == "__main__":
    main()
