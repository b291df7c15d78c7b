"""Real guards around real servers: a small one of plain lines, and the SDK's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.stdio.harness import ANEW, Command, Person, Pipe, Place, new_place

from sayso.asks.model import Ask
from sayso.permissions.action import Action, action_of
from sayso.permissions.desk import PermissionDesk

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).parent / "sayso"
REFERENCE = HERE.parent / "clients" / "reference_server.py"
Json = dict[str, Any]


def tool(name: str, description: str = "") -> Json:
    return {"name": name, "description": description or f"The tool {name}.", "inputSchema": {"type": "object"}}


class GuardedPlace(Place):
    """A machine whose agents have one server, behind a guard."""

    def __init__(self, place: Place) -> None:
        self.__dict__ |= place.__dict__
        self.stage = self.folder / "stage"
        self.stage.mkdir()
        self.launcher = ANEW
        self.server: list[str] = [sys.executable, str(HERE / "plain_server.py"), str(self.stage)]
        self.offer(tool("write"), tool("end"), tool("environment"))

    def offer(self, *tools: Json) -> None:
        """What the plain server lists from now on."""
        (self.stage / "tools.json").write_text(json.dumps(tools))

    def command(self, program: str, *flags: str) -> Command:
        self._agents += 1
        words = [*self.launcher, str(PROGRAM), "guard", "--name", "plain", *flags, "--", *self.server]
        return Command(self.folder / f"agent{self._agents}", words)

    @property
    def heard(self) -> bytes:
        """Every byte that the plain server got."""
        return (self.stage / "heard").read_bytes()

    def processes(self) -> list[psutil.Process]:
        """The plain server and the process that it started."""
        return [psutil.Process(int(pid)) for pid in (self.stage / "pids").read_text().split()]

    @contextmanager
    def guarded(self, person: Person) -> Iterator[Pipe]:
        """A client whose server's tools a person has accepted."""
        with self.pipe() as pipe:
            pipe.connect("2025-06-18")
            pipe.request("tools/list")
            if not any((self.state / "guarded").glob("*.json")):
                accept(person)
                assert pipe.next()["method"] == "notifications/tools/list_changed"
            yield pipe


def wanted(person: Person, name: str) -> tuple[Ask, Action]:
    """The permission that is asked for a tool, or `tools of plain`."""

    def names_it(ask: Ask) -> bool:
        action = action_of(ask)
        return action is not None and action.tool in (name, f"mcp__plain__{name}")

    ask = person.wait_for_ask(names_it)
    action = action_of(ask)
    assert action
    return ask, action


def allow(person: Person, name: str) -> Ask:
    ask, action = wanted(person, name)
    return PermissionDesk(person.desk).allow(ask.id, action.digest, person.settler)


def accept(person: Person) -> Ask:
    return allow(person, "tools of plain")


@pytest.fixture
def site() -> Iterator[GuardedPlace]:
    with new_place(heartbeat="100ms") as place:
        yield GuardedPlace(place)


@pytest.fixture
def person(site: GuardedPlace) -> Iterator[Person]:
    with site.person() as person:
        yield person
