"""Places for the tests in a real terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.stdio.harness import Place, new_place


@pytest.fixture
def place() -> Iterator[Place]:
    """A fresh machine, whose person is anna."""
    with new_place(person="anna") as place:
        yield place
