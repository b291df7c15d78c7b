"""Places and workers of the tests of commands. Servers are shared where a test looks only at its own operations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.run.kit import Place, Worker, background, planting, waited_for, worker
from tests.e2e.stdio.harness import MODES, new_place


@pytest.fixture
def place() -> Iterator[Place]:
    """A fresh machine."""
    with new_place() as place:
        yield place


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def shared_place() -> Iterator[Place]:
    """The machine of the shared servers, with the tools `bg`, `fg` and `plant`."""
    with new_place(command_grace="200ms") as place:
        background(place)
        waited_for(place)
        planting(place)
        yield place


@pytest.fixture(scope="session", params=MODES)
def shared(request: pytest.FixtureRequest, shared_place: Place) -> Iterator[Worker]:
    """A client connected to `sayso server`, in both modes."""
    with worker(shared_place, request.param) as one:
        yield one


@pytest.fixture(scope="session")
def modern(shared_place: Place) -> Iterator[Worker]:
    """The same, for what does not depend on the protocol."""
    with worker(shared_place) as one:
        yield one
