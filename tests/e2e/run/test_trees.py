"""Nothing is left running: after the end, a cancel, a timeout and the server's end, looked up in /proc."""

from __future__ import annotations

import signal

import pytest
from tests.e2e.run.kit import (
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    planting,
    text_of,
    waited_for,
    with_argument,
    worker,
)
from tests.running.plant import KINDS

EVERY_KIND = [*KINDS, "all_of_them"]


@pytest.mark.requirement("H-36")
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_process_is_left_when_a_command_has_ended_by_itself(modern: Worker, kind: str) -> None:
    token = fresh_token()
    data = modern.ended(modern.start("plant", kind=kind, token=token, then="end"))
    assert (data["status"], data["exit_code"], data["stdout"]) == ("failed", 3, "planted\n")
    assert gone(token)


@pytest.mark.requirement("H-36")
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_process_is_left_when_an_operation_was_cancelled(modern: Worker, kind: str) -> None:
    token = fresh_token()
    running = modern.start("plant", kind=kind, token=token, then="stay")
    modern.printed(running, "planted")
    assert with_argument(token)
    assert "was cancelled" in text_of(modern.do("cancel", id=running))
    assert gone(token)


@pytest.mark.requirement("H-36", "H-37")
def test_no_process_is_left_when_a_command_ran_over_its_time(shared: Worker) -> None:
    token = fresh_token()
    running = shared.start("plant", kind="all_of_them", token=token, then="stay", timeout_seconds=3)
    assert shared.ended(running)["status"] == "timed_out"
    assert gone(token)


@pytest.mark.requirement("H-36")
def test_no_process_is_left_when_a_client_lets_go_of_a_call_that_waits(shared: Worker) -> None:
    token = fresh_token()
    call = shared.call("plant", _arguments(token, execution_mode="synchronous"))
    eventually(lambda: len(with_argument(token)) > 6)
    call.cancel()
    eventually(lambda: gone(token))


@pytest.mark.requirement("H-36")
@pytest.mark.parametrize(("mode", "number"), [("auto", signal.SIGTERM), ("legacy", signal.SIGINT)])
def test_no_process_is_left_when_the_server_is_told_to_end(place: Place, mode: str, number: int) -> None:
    place.settings["command_grace"] = "200ms"
    planting(place)
    tokens = [fresh_token(), fresh_token()]
    with worker(place, mode) as one:
        running = one.start("plant", **_arguments(tokens[0]))
        waiting = one.call("plant", _arguments(tokens[1], execution_mode="synchronous"))
        one.printed(running, "planted")
        eventually(lambda: len(with_argument(tokens[1])) > 6)
        one.server.send_signal(number)
        one.server.wait(30)
        assert [gone(token) for token in tokens] == [True, True]
        assert waiting.exception(30)
    assert one.exit_code in (0, 128 + number, 130)
    with worker(place, mode) as again:
        data = again.status(running)
        assert (data["status"], data["cancelled_by"]) == ("cancelled", "the server, which was stopped")


def _arguments(token: str, **more: str) -> dict[str, str]:
    return {"kind": "all_of_them", "token": token, "then": "stay", **more}


@pytest.mark.requirement("H-36")
def test_a_client_that_leaves_ends_what_it_waited_for_and_nothing_else(place: Place, mode: str) -> None:
    place.settings["command_grace"] = "200ms"
    background(place)
    waited_for(place)
    tokens = [fresh_token(), fresh_token()]
    with worker(place, mode) as one:
        running = one.start("bg", script=f"sleep {tokens[0]}; echo after")
        one.call("fg", {"script": f"sleep {tokens[1]}"})
        eventually(lambda: with_argument(tokens[1]))
    eventually(lambda: gone(tokens[1]))
    assert with_argument(tokens[0])
    with worker(place, mode) as again:
        assert again.status(running)["status"] == "running"
        assert "was cancelled" in text_of(again.do("cancel", id=running))
    assert gone(tokens[0])


def test_the_server_leaves_no_process_of_its_own_behind(place: Place) -> None:
    background(place)
    with worker(place) as one:
        one.ended(one.start("bg", script="true"))
        family = one.server.children(recursive=True)
        assert family
        assert data_of(one.do("status"))["operations"]
    eventually(lambda: not any(process.is_running() and process.status() != "zombie" for process in family))
