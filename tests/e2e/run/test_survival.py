"""Operations outlive their server: found again by the next one, under the same id, and their result is not lost."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator

import pytest
from tests.e2e.run.kit import (
    Place,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    text_of,
    waited_for,
    with_argument,
    worker,
    write_tool,
)
from tests.e2e.stdio.harness import ANEW, new_place

from sayso.text import iso_time


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine whose store is of each kind, and whose servers are started as agents start them."""
    settings = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgresql" else {}
    with new_place(**settings) as place:
        place.launcher = ANEW
        background(place)
        yield place


def test_an_operation_goes_on_after_its_server_was_killed_and_is_found_again(lasting_place: Place) -> None:
    place, gate, token = lasting_place, lasting_place.project / "gate", fresh_token()
    script = f"echo before; until test -e {gate}; do sleep 0.05; done; echo after; exit 4"
    with worker(place) as one:
        running, hanging = one.start("bg", script=script), one.start("bg", script=f"sleep {token}")
        finished = one.start("bg", script="echo quick")
        one.printed(running, "before")
        eventually(lambda: one.status(hanging)["status"] == "running")
        one.server.kill()
        one.server.wait(30)
    assert one.exit_code == 128 + signal.SIGKILL
    assert with_argument(token)
    with worker(place) as again:
        assert again.status(running)["status"] == "running"
        gate.touch()
        data = again.ended(running)
        assert (data["status"], data["exit_code"], data["stdout"]) == ("failed", 4, "before\nafter\n")
        assert again.status(finished)["stdout"] == "quick\n"
        assert "was cancelled" in text_of(again.do("cancel", id=hanging))
        assert gone(token)


def test_an_end_that_a_full_disk_did_not_take_is_noted_once_there_is_room(place: Place) -> None:
    background(place)
    gate = place.project / "gate"
    with worker(place) as one:
        running = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done; exit 4")
        one.wait_until(running, "running")
        awaited = one.call("await", {"id": running})
        one.do("status")  # the call that awaits it came before
        resource.prlimit(one.server.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        gate.touch()
        eventually(lambda: "could not be noted yet" in one.log.text)
        told = awaited.result(30)
        assert told.is_error
        assert "the disk is full" in text_of(told)
        resource.prlimit(one.server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        data = one.wait_until(running, "failed")
        assert "Traceback" not in one.log.text
    assert data["exit_code"] == 4


def test_a_result_is_not_given_to_another_client_or_another_living_session(place: Place) -> None:
    background(place)
    with worker(place) as mine, worker(place) as living, worker(place, name="somebody else") as other:
        done = mine.start("bg", script="echo mine")
        eventually(lambda: data_of(mine.do("output", id=done))["status"] == "completed")
        assert "finished" not in data_of(living.do("bg", script="true"))
        assert other.do("status", id=done).is_error
        assert other.do("cancel", id=done).is_error
        assert "finished" in data_of(mine.do("bg", script="true"))


def test_an_operation_goes_on_after_its_client_has_left_and_its_result_is_not_lost(place: Place, mode: str) -> None:
    background(place)
    gate = place.project / "gate"
    with worker(place, mode) as one:
        running = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done; echo late")
    assert one.exit_code == 0
    with worker(place, mode) as again:
        gate.touch()
        assert again.ended(running)["stdout"] == "late\n"
        unseen = again.start("bg", script="sleep 0.5; echo result")
        again.server.kill()
        again.server.wait(30)
    # The result comes while no server runs, and is delivered at the next contact.
    eventually((place.state / "operations" / unseen / "status.json").exists)
    with worker(place, mode) as last:
        result = last.do("bg", script="true")
        assert [each["id"] for each in data_of(result)["finished"]] == [unseen]
        assert data_of(result)["finished"][0]["stdout"] == "result\n"
        after = data_of(last.do("bg", script="true"))
        assert unseen not in [each["id"] for each in after.get("finished", [])]


def test_a_command_that_goes_on_without_its_server_is_not_ended_with_another_one(place: Place) -> None:
    background(place)
    token = fresh_token()
    with worker(place) as one:
        running = one.start("bg", script=f"sleep {token}")
    assert one.exit_code == 0
    with worker(place) as other:
        own = fresh_token()
        begun = other.start("bg", script=f"sleep {own}")
        eventually(lambda: other.status(begun)["status"] == "running")
        assert other.status(running)["status"] == "running"
        other.server.terminate()
        other.server.wait(30)
    assert gone(own)
    assert with_argument(token)
    with worker(place) as last:
        assert "was cancelled" in text_of(last.do("cancel", id=running))
        assert gone(token)


@pytest.mark.finding("F-44")
def test_a_command_that_ended_while_no_server_ran_ended_when_it_did_and_not_when_it_was_found(place: Place) -> None:
    background(place)
    gate = place.project / "gate"
    with worker(place) as one:
        left = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done")
    gate.touch()
    noted = place.state / "operations" / left / "status.json"
    eventually(noted.exists)
    ended = iso_time(round(json.loads(noted.read_bytes())["ended_at"] * 1000))
    shown = json.loads(place.run("ops", "show", left, "--json").stdout)
    assert shown["ended_at"] == ended
    with worker(place) as again:
        assert again.status(left)["ended_at"] == ended


def test_what_was_queued_and_what_comes_next_in_a_sequence_is_not_run_by_nobody(place: Place) -> None:
    background(place, lock="one")
    step = {"tool": "free", "subcommand": "default"}
    gate = place.project / "gate"
    background(place, "free")
    waiting = {**step, "args": {"script": f"echo begun; until test -e {gate}; do sleep 0.05; done"}}
    write_tool(place, "both", command="true", sequence=[waiting, {**step, "args": {"script": "touch never"}}])
    with worker(place) as one:
        first = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done")
        queued = one.start("bg", script="touch never")
        both = one.start("both")
        one.printed(f"{both}.1", "begun")
    gate.touch()
    with worker(place) as again:
        assert again.ended(first)["status"] == "completed"
        assert again.ended(f"{both}.1")["status"] == "completed"
        assert again.status(queued)["status"] == "cancelled"
        told = again.status(both)
        assert told["status"] == "lost"
        assert "Its server ended during step 1. That step goes on by itself" in told["reason"]
    assert not (place.project / "never").exists()


def test_a_person_can_see_and_cancel_what_an_agent_runs(place: Place) -> None:
    from sayso.operations.operation import OperationState
    from sayso.operations.reader import OperationReader
    from sayso.store import open_store

    background(place)
    waited_for(place)
    tokens = [fresh_token(), fresh_token()]
    with worker(place) as one:
        running = one.start("bg", script=f"echo hello; sleep {tokens[0]}")
        waiting = one.call("fg", {"script": f"echo there; sleep {tokens[1]}"})
        one.printed(running, "hello")
        eventually(lambda: with_argument(tokens[1]))
        store = open_store(place.config())
        try:
            window = OperationReader(store, place.config())
            seen = {each.tool: each for each in window.recent(project=str(place.project))}
            assert {each.state for each in seen.values()} == {OperationState.RUNNING}
            assert window.report(seen["bg"]).stdout.head == "hello\n"
            watching = window.watch(seen["fg"])
            assert next(watching).text == "there\n"
            for operation in seen.values():
                window.cancel(operation, "ada, on the command line")
            assert [each.operation.state for each in watching][-1] is OperationState.CANCELLED
            assert "was cancelled by ada, on the command line" in text_of(waiting.result(30))
            assert one.ended(running)["cancelled_by"] == "ada, on the command line"
        finally:
            store.close()
        assert [gone(token) for token in tokens] == [True, True]


def test_old_operations_are_deleted_when_a_server_opens_its_workshop(place: Place) -> None:
    background(place)
    with worker(place) as one:
        old = one.start("bg", script="echo old")
        one.ended(old)
    with worker(place, environment={"SAYSO_KEEP_OPERATIONS": "1ms"}) as again:
        again.do("status")
        eventually(lambda: again.do("status", id=old).is_error)
    eventually(lambda: not (place.state / "operations" / old).exists())


@pytest.mark.parametrize("end", ["killed", "left"])
def test_a_step_that_goes_on_without_its_sequence_keeps_the_lock_of_that(place: Place, end: str) -> None:
    background(place, "free")
    background(place, lock="db")
    gate = place.project / "gate"
    step = {"tool": "free", "subcommand": "default"}
    waiting = {**step, "args": {"script": f"echo before; until test -e {gate}; do sleep 0.05; done; date +%s%N"}}
    write_tool(place, "both", command="true", lock="db", sequence=[waiting, {**step, "args": {"script": "true"}}])
    with worker(place) as living:
        with worker(place) as one:
            both = one.start("both")
            one.printed(f"{both}.1", "before")
            if end == "killed":
                one.server.kill()
        living.wait_until(both, "lost")
        started = data_of(living.do("bg", script="date +%s%N"))
        assert (started["status"], living.status(f"{both}.1")["status"]) == ("queued", "running")
        # Whoever waits for the lock can see who holds it.
        listed = {each["id"]: each["status"] for each in json.loads(place.run("ops", "list", "--json").stdout)}
        assert (listed[f"{both}.1"], listed[both]) == ("running", "lost")
        gate.touch()
        ended = int(living.ended(f"{both}.1")["stdout"].split()[1])
        assert int(living.ended(started["id"])["stdout"]) > ended
