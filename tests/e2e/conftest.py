"""What end-to-end tests of every kind start from: a machine with nothing on it, and the two eras of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.stdio.harness import MODES, Place, new_place


@pytest.fixture
def place() -> Iterator[Place]:
    """A fresh machine."""
    with new_place() as place:
        yield place


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """How the SDK's client connects."""
    return str(request.param)
