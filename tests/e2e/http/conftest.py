"""What the tests of MCP over HTTP share: a place with a server that most of them use, and tokens for it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import httpx2
import pytest
from tests.e2e.clients.fixtures import client_program as client_program
from tests.e2e.http.harness import WAIT, Person, Place, Replica, new_token, replica
from tests.e2e.stdio.harness import new_place


@pytest.fixture(scope="session")
def shared_place() -> Iterator[Place]:
    """A machine that several tests use; each brings its own token and asks its own questions."""
    with new_place() as place:
        yield place


@pytest.fixture(scope="session")
def server(shared_place: Place) -> Iterator[Replica]:
    with replica(shared_place) as running:
        yield running


@pytest.fixture
def name() -> str:
    """A token's name that no other test has."""
    return f"agent-{secrets.token_hex(4)}"


@pytest.fixture
def token(shared_place: Place, name: str) -> str:
    return new_token(shared_place, name)


@pytest.fixture
def person(shared_place: Place) -> Iterator[Person]:
    with shared_place.person() as person:
        yield person


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=WAIT) as client:
        yield client
