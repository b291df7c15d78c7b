"""The log of permissions and what really ran: nothing is executed under a permission that the log does not name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.run.kit import WAIT, Place, background, waited_for, worker, write_tool
from tests.e2e.run.test_approval import about, any_ask
from tests.e2e.stdio.harness import new_place
from tests.e2e.stdio.person import Person

from sayso.asks.model import Ask
from sayso.chain import LogEntry, LogKind
from sayso.permissions.action import action_of


def logged(person: Person, ask: Ask) -> list[LogEntry]:
    return list(person.log.find(ask.id).entries)


def kinds(person: Person, ask: Ask) -> list[LogKind]:
    return [entry.event.kind for entry in logged(person, ask)]


def test_an_execution_is_logged_with_its_operation_and_the_digest_it_was_allowed_under(place: Place) -> None:
    background(place, approve="always")
    with worker(place) as one, place.person() as person:
        operation = one.start("bg", script="echo ran")
        ask = person.wait_for_ask(any_ask)
        person.answer(ask, "Yes")
        assert one.ended(operation)["stdout"] == "ran\n"
        asked, allowed, run = (entry.event for entry in logged(person, ask))
        assert (asked.kind, allowed.kind, run.kind) == (LogKind.ASKED, LogKind.ALLOWED, LogKind.RUN)
        assert asked.digest == allowed.digest == run.digest
        assert (allowed.person, allowed.surface, run.operation) == ("ada", "test", operation)
        (kept,) = person.log.find(ask.id).actions
        assert kept.action == action_of(ask)
        (outcome,) = person.log.outcomes()
        assert outcome.ran == 1


def test_what_changed_after_it_was_allowed_is_logged_as_not_run_with_the_part(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(any_ask)
        file = next(Path(place.home, ".config/sayso/tools").glob("fg.json"))
        file.write_text(file.read_text() + "\n")
        person.answer(ask, "Yes")
        assert call.result(WAIT).is_error
        last = logged(person, ask)[-1].event
        assert last.kind is LogKind.NOT_RUN
        assert "the tool file changed after it was allowed" in last.why
        (outcome,) = person.log.outcomes()
        assert outcome.ran == 0
    assert not (place.project / "never").exists()


def test_a_yes_for_a_session_names_every_execution_under_it_and_a_sequence_every_step(place: Place) -> None:
    waited_for(place, approve="once")
    steps = [{"tool": "fg", "subcommand": "default", "args": {"script": f"echo {n}"}} for n in range(2)]
    whole = {"name": "default", "description": "All.", "sequence": steps, "synchronous": True, "approve": "always"}
    write_tool(place, "both", command="true", subcommand=[whole])
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "echo one"})
        first = person.wait_for_ask(any_ask)
        person.answer(first, "Yes")
        assert not call.result(WAIT).is_error
        assert not one.do("fg", script="echo two").is_error
        found = logged(person, first)
        assert [entry.event.kind for entry in found][1:] == [LogKind.ALLOWED, LogKind.RUN, LogKind.RUN]
        assert [entry.event.title for entry in found][2:] == ["fg: bash -c 'echo one'", "fg: bash -c 'echo two'"]
        assert len({entry.event.digest for entry in found[2:]}) == 2
        call = one.call("both", {})
        sequence = person.wait_for_ask(about("echo 1"))
        person.answer(sequence, "Yes")
        assert not call.result(WAIT).is_error
        runs = [entry.event for entry in logged(person, sequence) if entry.event.kind is LogKind.RUN]
        assert [run.operation.rpartition(".")[2] for run in runs] == ["1", "2"]
        assert person.log.check().whole


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine whose store is of each kind."""
    settings = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgresql" else {}
    with new_place(**settings) as place:
        background(place, approve="always")
        yield place


@pytest.mark.parametrize("moment", [LogKind.ALLOWED, LogKind.RUN])
def test_whenever_a_server_is_killed_nothing_ran_that_is_not_logged(lasting_place: Place, moment: LogKind) -> None:
    """The commands say themselves that they ran."""
    place, ran = lasting_place, lasting_place.project / "ran"
    with place.person() as person:
        with worker(place) as one:
            operation = one.start("bg", script=f"echo ran >> {ran}")
            ask = person.wait_for_ask(any_ask)
            person.answer(ask, "Yes")
            person.wait_until(_seen(person, ask, moment))
            one.server.kill()
            one.server.wait(WAIT)
        with worker(place) as again:
            person.wait_until(lambda: person.desk.release_the_dead() or person.desk.get(ask.id).wait is None or None)
            again.wait_until(operation, "completed", "lost", "cancelled", "failed")
        found = kinds(person, ask)
        assert found.count(LogKind.ALLOWED) == 1
        assert ran.exists() <= (LogKind.RUN in found), found
        assert person.log.check().whole


def _seen(person: Person, ask: Ask, kind: LogKind) -> Callable[[], bool | None]:
    return lambda: kind in kinds(person, ask) or None
