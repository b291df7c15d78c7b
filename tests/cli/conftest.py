"""A home for each test, with a path short enough for sockets."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import memory
from tests.cli.program import Home


@contextmanager
def new_home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir=memory.SHORT) as folder:
        home = Home(folder=Path(folder).resolve())
        home.project.mkdir()
        yield home


@pytest.fixture
def home() -> Iterator[Home]:
    with new_home() as home:
        yield home
