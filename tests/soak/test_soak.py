"""A short soak: whatever is killed, stalled, filled up or set wrong, no ask is lost, doubled or handed to another."""

from __future__ import annotations

import random

import pytest
from tests.soak.soak import Plan, soak

SECONDS = 30.0


@pytest.mark.timeout(360)
def test_nothing_is_lost_or_left_over_while_processes_die_the_disk_fills_and_clocks_jump() -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    found = soak(Plan(seed=seed, seconds=SECONDS))
    assert not found.problems, f"`make soak SECONDS={SECONDS:.0f} SEED={seed}` replays this plan.\n{found}"
    assert found.asks > 0
    assert found.faults
