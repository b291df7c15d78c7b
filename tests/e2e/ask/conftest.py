"""The machine, the clients and the person that many of these tests share; each asks only questions of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from tests.e2e.ask.house import AUTO, LEGACY, connected, unattended_forms
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.kinds import CLIENTS, ClientKind
from tests.e2e.kept import Kept
from tests.e2e.stdio.harness import Person, Place, new_place

EACH = [pytest.param(kind, id=kind.id) for kind in CLIENTS]
BOTH = [pytest.param(AUTO, id="auto"), pytest.param(LEGACY, id="legacy")]
Programs = Kept[tuple[ClientKind, str], ClientProgram]


@pytest.fixture(scope="session")
def machine() -> Iterator[Place]:
    """The shared machine: people react to a form within 0.3 s, and held calls are heard of every 0.2 s."""
    with new_place(form_reaction="300ms", heartbeat="200ms") as place:
        yield place


@pytest.fixture
def person(machine: Place) -> Iterator[Person]:
    """The person on the shared machine, who has no inbox open."""
    with machine.person() as person:
        yield person


@pytest.fixture
def inbox(person: Person) -> Iterator[Person]:
    """The person with an inbox open, so that modern clients are not asked to show a form."""
    person.desk.show_up("test", "ada")
    yield person
    person.desk.go_away()


@pytest.fixture(scope="session")
def programs(machine: Place) -> Iterator[Programs]:
    """Client programs by their kind and the profile of the server that each is connected to."""

    def connect(key: tuple[ClientKind, str]) -> AbstractContextManager[ClientProgram]:
        kind, profile = key
        return connected(kind, machine, profile, name=f"{profile} {kind.id}")

    with Kept(connect) as programs:
        yield programs


@pytest.fixture(scope="module", params=EACH)
def each_client(request: pytest.FixtureRequest, machine: Place) -> Iterator[ClientProgram]:
    """One client program of each kind, connected to a server with every tool. Starting one takes seconds."""
    kind: ClientKind = request.param
    with connected(kind, machine, name=f"matrix {kind.id}") as program:
        yield program


@pytest.fixture(params=BOTH)
def either_client(request: pytest.FixtureRequest, programs: Programs) -> ClientProgram:
    """The SDK's own client in both modes, with every tool."""
    return programs[request.param, "all"]


@pytest.fixture
def codenomad(programs: Programs) -> ClientProgram:
    """A client of the strict profile."""
    return programs[LEGACY, "codenomad"]


@pytest.fixture
def promptmanager(programs: Programs) -> ClientProgram:
    """A client of the strict profile."""
    return programs[AUTO, "promptmanager"]


@pytest.fixture(params=BOTH)
def swissarmyhammer(request: pytest.FixtureRequest, programs: Programs) -> ClientProgram:
    """A client of the strict profile, in both modes: its tool is the one that lives by forms."""
    return programs[request.param, "swissarmyhammer"]


@pytest.fixture(autouse=True)
def _forms_are_unattended(request: pytest.FixtureRequest) -> None:
    """What a test told a shared client to do with forms is forgotten."""
    for name in ("each_client", "either_client", "swissarmyhammer"):
        if name in request.fixturenames:
            program: ClientProgram = request.getfixturevalue(name)
            program.answer_with(default=unattended_forms(program))
