"""Where the tests of the embedded store keep it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import memory


@pytest.fixture
def file() -> Iterator[Path]:
    """A store that is not there yet, where the path is short enough for its bells however the tests are run."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir=memory.SHORT, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "state" / "sayso.db"
