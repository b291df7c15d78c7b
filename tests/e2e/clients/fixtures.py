"""Fixtures for tests that run against every client program. A `conftest.py` takes them in by importing them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.kinds import CLIENTS, ClientKind


@pytest.fixture(params=[pytest.param(kind, id=kind.id) for kind in CLIENTS])
def client_program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClientProgram]:
    """One client program of each kind in turn, started but not connected."""
    kind: ClientKind = request.param
    with ClientProgram(kind, tmp_path / "client") as program:
        yield program
