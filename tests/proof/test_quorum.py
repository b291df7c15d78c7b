"""A short play of people who agree in processes that are killed; `python -m tests.proof.quorum` plays a long one."""

from __future__ import annotations

import random

import pytest
from tests.proof.quorum import play


@pytest.mark.timeout(300)
def test_nothing_is_allowed_below_what_is_needed_however_many_processes_agree_and_die(postgres_address: str) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    found = play(postgres_address, seed, asks=12, kills=4)
    assert not found.problems, f"seed {seed}"
    assert found.ended == 12
