"""Places and agents of the stdio tests. Servers are shared where a test asks only questions of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.kept import Kept
from tests.e2e.stdio.harness import Agent, Person, Place, new_place


@pytest.fixture(scope="session")
def shared_place() -> Iterator[Place]:
    """The machine of the shared servers: its store holds the asks of many tests."""
    with new_place() as place:
        yield place


@pytest.fixture(scope="session")
def agents(shared_place: Place) -> Iterator[Kept[str, Agent]]:
    with Kept(shared_place.agent) as agents:
        yield agents


@pytest.fixture
def agent(mode: str, agents: Kept[str, Agent]) -> Agent:
    """A client connected to `auq server`, in both modes."""
    return agents[mode]


@pytest.fixture
def person(shared_place: Place) -> Iterator[Person]:
    """The person on the machine of the shared servers."""
    with shared_place.person() as person:
        yield person
