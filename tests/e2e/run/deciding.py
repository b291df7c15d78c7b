"""A person who decides about permissions at random, as a process of its own that can be killed at any moment.

`python -m tests.e2e.run.deciding SEED`, in the environment and the folder of a place.
"""

from __future__ import annotations

import random
import sys
from contextlib import suppress

from sayso.asks.model import Ask, Settler
from sayso.config import load
from sayso.desks import Desks, open_desks
from sayso.errors import AlreadySettled, InvalidInput


def main(seed: str) -> None:
    """Endless on purpose: whoever started it ends it."""
    rolls, by = random.Random(seed), Settler(person=f"person {seed}", surface="race")
    with open_desks(load()) as desks:
        bell = desks.bell()
        while True:
            for ask in rolls.sample(asks := desks.asks.inbox(most=100), len(asks)):
                with suppress(AlreadySettled, InvalidInput):
                    _decide(desks, ask, by, rolls)
            bell.wait(rolls.random() / 20)


def _decide(desks: Desks, ask: Ask, by: Settler, rolls: random.Random) -> None:
    match rolls.randrange(10):
        case 0 | 1 | 2 | 3:
            desks.permissions.allow(ask.id, ask.digest, by)
        case 4:
            desks.permissions.allow(ask.id, ask.digest[::-1], by)
        case 5 | 6:
            desks.permissions.deny(ask.id, by, "not this one")
        case 7:
            desks.asks.reject(ask.id, "", by)
        case _:
            pass  # later, or the other


if __name__ == "__main__":
    main(sys.argv[1])
