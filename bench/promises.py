"""What Sayso promises about speed, each promise measured in turns with its own baseline in one run.

A promise is a ratio: milliseconds depend on the machine, and on what else it does, while a baseline that takes turns
with what is measured meets the same machine. To add one, name it in PROMISES. The exit code is 1 when one is broken.
Usage: python -m bench.promises [NAME ...]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bench.tables import setting, table

from bench import chats, commands, gates, guards, lines, rules, sandboxes, starts

Samples = Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Promise:
    """`measure` gives the durations of what is measured and of its baseline, taken in turns. The first are at most
    `at_most` times the second, by their quartiles."""

    says: str
    at_most: float
    measure: Callable[[], tuple[Samples, Samples]]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was measured for one promise."""

    promise: Promise
    ratio: float

    @property
    def kept(self) -> bool:
        return self.ratio <= self.promise.at_most


ROUNDS = 100


@cache
def _starts() -> commands.Measured:
    return commands.in_a_process_of(commands.SIZES_MB[0], ROUNDS)


def _a_call_beside_the_aim() -> tuple[Samples, Samples]:
    measured = commands.end_to_end(ROUNDS)
    return measured[commands.CALL], measured[commands.AIM]


def _reading(name: str) -> Promise:
    def measure() -> tuple[Samples, Samples]:
        found = starts.in_turns(starts.ROUNDS, *starts.READING)
        return found[name], found[starts.EMPTY]

    return Promise(
        says=f"`sayso {name}` takes at most 5 empty Python processes from start to end.", at_most=5, measure=measure
    )


PROMISES = {
    "command-start": Promise(
        says="Through the warm pool `true` starts and ends in at most 10 times a bare `Popen` (H-07).",
        at_most=10,
        measure=lambda: (_starts()[commands.SPAWNER], _starts()[commands.POPEN]),
    ),
    "command-pool": Promise(
        says="That is at most a tenth of a login shell with an ordinary profile, which it saves (H-08).",
        at_most=0.1,
        measure=lambda: (_starts()[commands.SPAWNER], _starts()[commands.LOGIN]),
    ),
    "command-call": Promise(
        says="A call that runs `true` takes at most twice three bare `Popen` and two durable commits together (H-07).",
        at_most=2,
        measure=_a_call_beside_the_aim,
    ),
    "command-sandbox": Promise(
        says="In a sandbox an empty Python program takes at most 1.3 times what it takes through the pool without.",
        at_most=1.3,
        measure=lambda: sandboxes.in_turns(ROUNDS),
    ),
    "gate-verdict": Promise(
        says="A prompt that was allowed for the rest of its session is answered in at most 6 empty Python processes.",
        at_most=6,
        measure=lambda: gates.answered_at_once(ROUNDS),
    ),
    "guard-request": Promise(
        says="Behind `sayso guard`, what calls no tool takes at most 4 times what the same small server takes alone.",
        at_most=4,
        measure=lambda: guards.requests(ROUNDS),
    ),
    **{f"read {name}": _reading(name) for name in starts.READING},
    "rules": Promise(
        says="With a thousand rules a shell line and an edit are decided in at most 5 times what ten rules take.",
        at_most=5,
        measure=lambda: rules.decided(ROUNDS),
    ),
    "chat-answer": Promise(
        says="A button pressed in Telegram reaches the agent in at most 5 times what an answer at the desk takes.",
        at_most=5,
        measure=lambda: asyncio.run(chats.measured(ROUNDS)),
    ),
    "talk-line": Promise(
        says="A line that an agent prints is on the page's stream in at most 10 times what a bare stream takes (P-58).",
        at_most=10,
        measure=lambda: lines.to_the_stream(ROUNDS),
    ),
}


def judged(promise: Promise) -> Verdict:
    measured, baseline = promise.measure()
    return Verdict(promise=promise, ratio=_quick(measured) / _quick(baseline))


def _quick(samples: Samples) -> float:
    """The first quartile: what else the machine does only ever adds to some of them."""
    return statistics.quantiles(samples, n=4, method="inclusive")[0]


def shown(verdicts: Mapping[str, Verdict]) -> str:
    """One row per promise, and in words what each of them says."""
    rows = [
        [name, f"{verdict.ratio:.3g}x", f"{verdict.promise.at_most:g}x", "kept" if verdict.kept else "BROKEN"]
        for name, verdict in verdicts.items()
    ]
    words = [f"- {name}: {verdict.promise.says}" for name, verdict in verdicts.items()]
    return "\n".join([table(["promise", "measured", "at most", ""], rows), "", *words])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PROMISES, []], metavar="NAME", help=", ".join(PROMISES))
    verdicts = {name: judged(PROMISES[name]) for name in parser.parse_args().names or PROMISES}
    print(f"{setting()}\n\n{shown(verdicts)}")
    if broken := [name for name, verdict in verdicts.items() if not verdict.kept]:
        sys.exit(f"Broken: {', '.join(broken)}. Run it again on a quiet machine before you look for the cause.")


if __name__ == "__main__":
    main()
