"""The terminal inbox on a PostgreSQL that is pulled out from under it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.stdio.harness import new_place
from tests.e2e.terminal.harness import agents, terminal, words
from tests.postgres import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own: the shared one must not be stopped."""
    server = Server(Path(tempfile.mkdtemp(prefix="sayso-test-", dir="/tmp")))
    server.create()
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


def test_a_server_that_stops_and_starts_again_is_shown_and_taken_up_again(server: Server) -> None:
    with (
        new_place(person="anna", store=server.address("postgres")) as place,
        terminal(place) as anna,
        agents(place) as others,
    ):
        others.ask(words("What is it called?"))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        anna.type("typed ")
        server.stop()
        anna.sees("The store has been unreachable since")
        anna.type("all along")
        server.start()
        anna.sees_not("The store has been unreachable")
        anna.sees("typed all along")
        anna.keys("Enter")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.sees("No questions.")
