"""Web inboxes for the tests that speak HTTP by hand and for those in a browser. A `conftest.py` imports them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.web.house import House, new_house


@pytest.fixture(scope="session")
def shared_house() -> Iterator[House]:
    with new_house() as house:
        yield house


@pytest.fixture
def house(shared_house: House) -> Iterator[House]:
    """A web inbox with nothing in it."""
    yield shared_house
    shared_house.tidy()
