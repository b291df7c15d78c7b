"""Places and workers of the tests of commands. Servers are shared where a test looks only at its own operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from tests.e2e.kept import Kept
from tests.e2e.run.kit import Place, Worker, background, planting, waited_for, worker
from tests.e2e.stdio.harness import new_place


@pytest.fixture(scope="session")
def shared_place() -> Iterator[Place]:
    """The machine of the shared servers, with the tools `bg`, `fg` and `plant`."""
    with new_place(command_grace="200ms") as place:
        background(place)
        waited_for(place)
        planting(place)
        yield place


@pytest.fixture(scope="session")
def workers(shared_place: Place) -> Iterator[Kept[str, Worker]]:
    with Kept(partial(worker, shared_place)) as workers:
        yield workers


@pytest.fixture
def shared(mode: str, workers: Kept[str, Worker]) -> Worker:
    """A client connected to `sayso server`, in both modes."""
    return workers[mode]


@pytest.fixture
def modern(workers: Kept[str, Worker]) -> Worker:
    """The same, for what does not depend on the protocol."""
    return workers["auto"]
