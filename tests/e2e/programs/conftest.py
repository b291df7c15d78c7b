"""The programs are fetched once, and each test has a home of its own for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.browser.conftest import browser, chromiums, new_context, playwright
from tests.e2e.programs.fetch import programs
from tests.e2e.programs.machine import Machine, new_machine

__all__ = ["browser", "chromiums", "new_context", "playwright"]


@pytest.fixture(scope="session")
def fetched() -> Path:
    return programs()


@pytest.fixture
def machine(fetched: Path) -> Iterator[Machine]:
    with new_machine(fetched) as found:
        yield found
