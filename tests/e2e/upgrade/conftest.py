"""What the tests of an upgrade share: a machine that 0.1.0 has left, with a store of either kind."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from tests.e2e.stdio.harness import WAIT, Place, new_place
from tests.e2e.upgrade.old_store import TOKENS, lay
from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old(kind: str, postgres: Server) -> Iterator[Place]:
    """Nobody has opened its store since."""
    if kind == "sqlite":
        with new_place(person="ada") as place:
            lay(place, kind)
            yield place
    else:
        with postgres.new_database() as database, new_place(person="ada", store=database) as place:
            lay(place, kind)
            yield place


@pytest.fixture
def token(kind: str) -> str:
    return TOKENS[kind]


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=WAIT) as client:
        yield client
