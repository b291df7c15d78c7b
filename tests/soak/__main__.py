"""Soaks Sayso by hand: `python -m tests.soak --seconds 300 --seed 7 --store postgres`. `make soak` does the same.

It prints its seed first. The same seed makes the same plan: the same faults at the same moments, the same questions and
commands in the same order. The machine decides how they meet, so a rare failure may take several tries to come back.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.postgres import shared_server
from tests.soak import plan
from tests.soak.soak import Plan, soak


def main() -> int:
    given = _arguments()
    # People know that the store comes and goes.
    logging.getLogger().addHandler(logging.NullHandler())
    print(f"seed {given.seed}, {given.seconds:g} s, {given.agents} agents, {given.store}", flush=True)
    if given.plan:
        weights = plan.ON_POSTGRES if given.store == "postgres" else plan.ON_SQLITE
        print(*plan.faults(given.seed, given.seconds, given.agents, weights), sep="\n")
        return 0
    for name in [name for name in os.environ if name.startswith(("SAYSO_", "XDG_", "PG", "CLAUDE"))]:
        del os.environ[name]
    with ExitStack() as stack:
        store = None
        if given.store == "postgres":
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-soak-"))
            store = stack.enter_context(shared_server(Path(folder)))
        found = soak(Plan(seed=given.seed, seconds=given.seconds, agents=given.agents, store=store))
    print(found)
    return 1 if found.problems else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Soak Sayso, and look for what was lost.")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--plan", action="store_true", help="only print the faults that would come")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
