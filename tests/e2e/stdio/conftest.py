"""Places and agents of the stdio tests. Servers are shared where a test asks only questions of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.stdio.harness import MODES, Agent, Person, Place, new_place


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
    """The machine of the shared servers: its store holds the asks of many tests."""
    with new_place() as place:
        yield place


@pytest.fixture(scope="session", params=MODES)
def agent(request: pytest.FixtureRequest, shared_place: Place) -> Iterator[Agent]:
    """A client connected to `auq server`, in both modes."""
    with shared_place.agent(request.param) as agent:
        yield agent


@pytest.fixture
def person(shared_place: Place) -> Iterator[Person]:
    """The person on the machine of the shared servers."""
    with shared_place.person() as person:
        yield person
