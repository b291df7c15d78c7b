"""Sequences: one step after another under one id, stopped by the first failure; and locks, which queue commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.run.kit import (
    Place,
    Worker,
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
from tests.e2e.stdio.harness import new_place


def step(script: str, **more: Any) -> dict[str, Any]:
    return {"tool": "bg", "subcommand": "default", "args": {"script": script}, **more}


def sequence(place: Place, name: str, *steps: dict[str, Any], **more: Any) -> None:
    sub = {"name": "default", "description": "Run all.", "sequence": list(steps), **more}
    write_tool(place, name, command="true", subcommand=[sub])


TOKEN, OTHER = fresh_token(), fresh_token()


@pytest.fixture(scope="module")
def one() -> Iterator[Worker]:
    """A client of a server with sequences of every kind."""
    with new_place(command_grace="200ms") as place:
        background(place)
        background(place, "locked", lock="cargo")
        mark = "date +%s%N"
        sequence(place, "three", *[step(f"{mark}; sleep 0.3; {mark}") for _ in range(3)], step_delay_ms=100)
        sequence(place, "stops", step("echo one"), step("echo two; exit 3"), step("touch never"))
        sequence(
            place,
            "skips",
            step("echo no", skip_if_file_exists="present"),
            step("echo no", skip_if_file_missing="absent"),
            step("echo yes", skip_if_file_exists="absent"),
        )
        sequence(place, "long", step("echo one"), step(f"sleep {TOKEN}"), step("touch never"))
        sequence(place, "limited", step("echo one"), step(f"sleep {OTHER}"), step("touch never"), timeout_seconds=4)
        sequence(place, "direct", step("echo one"), step("echo two >&2"), synchronous=True)
        held = {"tool": "locked", "subcommand": "default", "args": {"script": "echo inside"}}
        sequence(place, "holding", held, held, lock="cargo")
        (place.project / "present").touch()
        with worker(place) as one:
            yield one


def test_each_step_begins_when_the_one_before_has_ended(one: Worker) -> None:
    started = data_of(one.do("three"))
    assert (started["status"], started["tool"]) == ("started", "three")
    data = one.ended(started["id"])
    assert data["status"] == "completed"
    assert [each["id"] for each in data["steps"]] == [f"{started['id']}.{n}" for n in (1, 2, 3)]
    times = [int(line) for each in data["steps"] for line in each["stdout"].split()]
    assert times == sorted(times)
    assert all(later - earlier >= 100_000_000 for earlier, later in zip(times[1::2], times[2::2], strict=False))


def test_the_first_failure_ends_a_sequence(one: Worker) -> None:
    result = one.do("await", id=one.start("stops"))
    assert result.is_error
    assert "Step 2 of 3, bg, failed. The 1 after it were not run." in text_of(result)
    (data,) = data_of(result)["finished"]
    assert (data["status"], data["exit_code"]) == ("failed", 3)
    assert [each["status"] for each in data["steps"]] == ["completed", "failed"]
    assert [each["stdout"] for each in data["steps"]] == ["one\n", "two\n"]


def test_steps_are_skipped_for_files_that_are_there_or_are_not(one: Worker) -> None:
    data = one.ended(one.start("skips"))
    assert data["status"] == "completed"
    reasons = [each.get("reason") for each in data["steps"]]
    assert reasons == ["Skipped: present is there.", "Skipped: absent is not there.", None]
    assert data["steps"][2]["stdout"] == "yes\n"


def test_cancelling_a_sequence_ends_its_step_and_begins_no_other(one: Worker) -> None:
    running = one.start("long")
    eventually(lambda: with_argument(TOKEN))
    assert [each["status"] for each in one.status(running)["steps"]] == ["completed", "running"]
    assert data_of(one.do("output", id=f"{running}.1"))["text"] == "one\n"
    assert "was cancelled by tester" in text_of(one.do("cancel", id=running))
    assert gone(TOKEN)
    assert [each["status"] for each in one.status(running)["steps"]] == ["completed", "cancelled"]


def test_a_sequence_has_a_time_limit_of_its_own(one: Worker) -> None:
    data = one.ended(one.start("limited"))
    assert (data["status"], data["steps"][1]["status"]) == ("timed_out", "timed_out")
    assert gone(OTHER)
    assert len(data["steps"]) == 2


def test_a_sequence_can_be_waited_for_and_then_says_nothing_of_operations(one: Worker) -> None:
    result = one.do("direct")
    assert "one" in text_of(result)
    assert "two" in text_of(result)
    assert "id" not in data_of(result)
    assert "operation" not in text_of(result)


def test_a_step_may_need_the_lock_that_its_sequence_holds(one: Worker) -> None:
    assert one.ended(one.start("holding"))["status"] == "completed"


@pytest.mark.requirement("H-67")
def test_commands_with_the_same_lock_run_one_after_another_in_order(one: Worker) -> None:
    script = "date +%s%N; sleep 0.1; date +%s%N"
    results = [one.do("locked", script=script) for _ in range(4)]
    ids = [data_of(result)["id"] for result in results]
    assert data_of(results[-1])["status"] == "queued"
    assert "begins after the lock 'cargo'" in text_of(results[-1])
    finished = {each["id"]: each["stdout"] for each in data_of(one.do("await", ids=ids))["finished"]}
    times = [int(line) for operation in ids for line in finished[operation].split()]
    assert times == sorted(times)


def test_a_queued_command_can_be_cancelled_and_never_begins(one: Worker) -> None:
    token = fresh_token()
    first = one.start("locked", script=f"sleep {token}")
    second = one.start("locked", script="touch never")
    third = one.start("locked", script="echo third")
    told = one.do("cancel", id=second)
    assert "was cancelled" in text_of(told)
    one.do("cancel", id=first)
    assert one.ended(third)["stdout"] == "third\n"
    assert one.status(second)["reason"].startswith("Cancelled before it began")


def test_a_lock_holds_between_the_servers_of_a_project(place: Place) -> None:
    background(place, lock="db")
    waited_for(place, "fg", lock="db")
    gate = place.project / "gate"
    with worker(place) as here, worker(place, name="another") as there:
        first = here.start("bg", script=f"until test -e {gate}; do sleep 0.05; done; date +%s%N")
        waiting = there.call("fg", {"script": "date +%s%N"})
        eventually(lambda: here.status(first)["status"] == "running")
        assert not waiting.done()
        gate.touch()
        second = int(data_of(waiting.result(30))["stdout"])
        assert int(here.ended(first)["stdout"]) < second
