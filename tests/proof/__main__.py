"""Proves Sayso by hand: `python -m tests.proof --asks 200000 --kills 2000 --seed 7 --store postgres`. `make proof` does
the same.

It goes on in epochs. Each is audited by a program of its own before its asks are deleted, so that neither the store nor
the audit slows down. A proof that was stopped goes on with `--resume FOLDER`. The same seed makes the same choices; the
machine decides how they meet.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
from tests.proof import report
from tests.proof.agent import Tally
from tests.proof.epoch import ROOT, clean, note_end, play
from tests.proof.faults import KILLS, processes_of
from tests.proof.ground import Ground, Told

SCORE_SECONDS = 10.0


class Proof:
    """One run of it: as long as it is told, in as many epochs as that takes."""

    def __init__(self, ground: Ground, seconds: float | None, asks: int | None) -> None:
        self._ground, self._asks = ground, asks
        self._begun = time.monotonic()
        self._until = self._begun + seconds if seconds else None
        self.is_wrong = False
        """Then it stops, and all of it stays as it is, to be looked at."""

    def run(self) -> None:
        server = self._ground.server
        for process in processes_of(self._ground):
            # Of an epoch that was broken off.
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if server:
            server.start()
        try:
            while not self._is_over() and not self.is_wrong:
                self._epoch()
        finally:
            if server:
                server.stop()

    def _is_over(self) -> bool:
        out_of_time = self._until is not None and time.monotonic() >= self._until
        return out_of_time or (self._asks is not None and report.score(self._ground.folder).asks >= self._asks)

    def _epoch(self) -> None:
        epoch, tally, begun = self._ground.new_epoch(), Tally(), time.monotonic()
        before, told = report.score(self._ground.folder), self._ground.told
        most = (
            told.epoch_asks
            if self._asks is None
            else min(told.epoch_asks, round(1.05 * (self._asks - before.asks)) + 20)
        )
        next_score = begun + SCORE_SECONDS

        def enough() -> bool:
            nonlocal next_score
            if time.monotonic() >= next_score:
                next_score += SCORE_SECONDS
                print(_line(before, tally, time.monotonic() - begun), flush=True)
            return tally.asks >= most or (self._until is not None and time.monotonic() >= self._until)

        asyncio.run(play(self._ground, epoch, tally, enough))
        note_end(epoch, tally, time.monotonic() - begun)
        words = [sys.executable, "-m", "tests.proof.audit", str(self._ground.folder)]
        self.is_wrong = subprocess.run(words, cwd=ROOT, check=False).returncode != 0
        if not self.is_wrong:
            clean(self._ground)


def _line(before: report.Score, tally: Tally, seconds: float) -> str:
    counts, faults = tally.counts, before.faults + tally.faults
    kills = {kind.value: faults[kind.value] for kind in KILLS}
    others = ", ".join(f"{kind} {times}" for kind, times in sorted((faults - Counter(kills)).items()))
    parts = [
        f"{before.asks + tally.asks:,} asks ({tally.asks / seconds:.0f}/s)",
        f"{before.answers + counts['answers']:,} answers",
        f"{before.permissions + counts['permissions']:,} permissions",
        f"{before.commands + counts['commands']:,} commands",
        f"{sum(kills.values()):,} kills",
        f"{before.problems} problems",
    ]
    return f"{', '.join(parts)}; {others or 'no other fault yet'}"


def main() -> int:
    given = _arguments()
    if given.resume:
        ground = Ground(given.resume)
    else:
        folder = given.folder or Path(tempfile.mkdtemp(prefix="sayso-proof-", dir="/tmp"))
        per_kill = given.asks // given.kills if given.asks and given.kills else 100
        told = Told(seed=given.seed, store=given.store, epoch_asks=given.epoch, asks_per_kill=max(1, per_kill))
        ground = Ground.new(folder, told)
    print(f"seed {ground.told.seed}, {ground.told.store}, in {ground.folder}", flush=True)
    # Whichever way it is stopped, it takes its processes along. In the background of a shell an interrupt is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    seconds = given.seconds if given.seconds or given.asks else 300.0
    Proof(ground, seconds, given.asks).run()
    found = report.score(ground.folder)
    print(found)
    if given.publish:
        report.publish(ground)
    return 1 if found.problems else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proof", description="Torture Sayso, and look for what was lost."
    )
    parser.add_argument("--seconds", type=float, help="how long; 300 if neither this nor --asks is given")
    parser.add_argument("--asks", type=int, help="how many asks there are to be in the end")
    parser.add_argument("--kills", type=int, help="how many kills there are to be among so many asks, about")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--epoch", type=int, default=10_000, help="asks from one audit to the next")
    parser.add_argument("--folder", type=Path, help="where it is kept; an empty folder with a short path")
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="go on with the proof in this folder")
    parser.add_argument("--publish", action="store_true", help="put its score into docs/reliability.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
