"""Many at once: each on its own, none in another's way, and the pool that they share looks after itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.e2e.run.kit import (
    WAIT,
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    waited_for,
    with_argument,
    worker,
)


@pytest.mark.requirement("H-35", "H-42")
def test_a_hundred_commands_at_once_do_not_get_into_each_others_way(modern: Worker) -> None:
    calls = [modern.call("bg", {"script": f"export N={n}; echo $N; sleep 0.2; echo $N-$(pwd)"}) for n in range(100)]
    ids = [data_of(call.result(WAIT))["id"] for call in calls]
    finished = {each["id"]: each for each in data_of(modern.do("await", ids=ids))["finished"]}
    assert len(finished) == 100
    for number, operation in enumerate(ids):
        first, second = finished[operation]["stdout"].splitlines()
        assert (first, second.partition("-")[0]) == (str(number), str(number))


@pytest.mark.requirement("H-42")
def test_twenty_that_wait_for_each_other_all_run_at_the_same_time(modern: Worker, tmp_path: Path) -> None:
    # One after the other, none of them would end.
    all_there = f'[ "$(ls {tmp_path} | wc -l)" = 20 ]'
    scripts = [f"touch {tmp_path}/{number}; until {all_there}; do sleep 0.05; done" for number in range(20)]
    calls = [modern.call("fg", {"script": script}) for script in scripts]
    assert not any(call.result(WAIT).is_error for call in calls)


def test_cancelling_one_of_twenty_ends_that_one_alone(shared: Worker) -> None:
    tokens = [fresh_token() for _ in range(20)]
    ids = [shared.start("bg", script=f"sleep {token}") for token in tokens]
    shared.do("cancel", id=ids[7])
    assert [gone(token) for token in tokens] == [number == 7 for number in range(20)]
    told = {each["id"]: each["status"] for each in data_of(shared.do("status"))["operations"]}
    assert [told[operation] for operation in ids] == ["cancelled" if n == 7 else "running" for n in range(20)]
    for operation in ids:
        shared.do("cancel", id=operation)
    assert all(gone(token) for token in tokens)


@pytest.mark.requirement("H-35")
def test_a_clients_cancel_of_one_call_ends_that_commands_processes_alone(shared: Worker) -> None:
    tokens = [fresh_token() for _ in range(3)]
    background = shared.start("bg", script=f"sleep {tokens[2]}")
    calls = [shared.call("fg", {"script": f"sleep {token}"}) for token in tokens[:2]]
    eventually(lambda: all(with_argument(token) for token in tokens))
    calls[0].cancel()
    eventually(lambda: gone(tokens[0]))
    assert with_argument(tokens[1])
    assert with_argument(tokens[2])
    calls[1].cancel()
    shared.do("cancel", id=background)


def test_nothing_is_started_before_the_first_command(place: Place, mode: str) -> None:
    background(place)
    with worker(place, mode) as one:
        assert one.tools()
        assert one.server.children(recursive=True) == []
        assert not place.state.exists() or not (place.state / "operations").exists()
        one.ended(one.start("bg", script="true"))
        assert one.server.children(recursive=True)


def runners(one: Worker) -> list[psutil.Process]:
    """The processes that wait for the next command."""
    (spawner,) = one.server.children()
    found = []
    for process in spawner.children():
        with suppress(psutil.NoSuchProcess):  # it has just ended with its command
            if not process.children():
                found.append(process)
    return found


@pytest.mark.requirement("H-09", "H-43")
def test_a_runner_that_was_killed_is_replaced_and_serves_both_kinds_of_call(place: Place) -> None:
    background(place)
    waited_for(place)
    with worker(place) as one:
        assert not one.do("fg", script="true").is_error
        eventually(lambda: len(runners(one)) == 4)
        before = {process.pid for process in runners(one)}
        for process in runners(one)[:2]:
            process.kill()
        eventually(lambda: len(runners(one)) == 4 and {each.pid for each in runners(one)} != before)
        ready = {process.pid for process in runners(one)}
        used = [int(data_of(one.do("fg", script="echo $PPID"))["stdout"])]
        used.append(int(one.ended(one.start("bg", script="echo $PPID"))["stdout"]))
        assert set(used) <= ready
        one.log.wait_for("died and is replaced")


@pytest.mark.requirement("H-44")
def test_runners_that_nobody_needs_are_let_go_and_come_back(place: Place) -> None:
    waited_for(place)
    with worker(place, environment={"SAYSO_COMMAND_IDLE": "500ms"}) as one:
        assert not one.do("fg", script="true").is_error
        eventually(lambda: one.server.children(recursive=True) == [])
        assert not one.do("fg", script="true").is_error


@pytest.mark.requirement("H-07", "H-08")
def test_a_warm_start_forks_nothing_and_runs_no_login_shell(place: Place) -> None:
    """What makes it quick; how quick is measured by `python -m bench.promises`."""
    (place.home / ".bash_profile").write_text("echo login >>~/logins\n")
    waited_for(place)
    with worker(place, environment={"SHELL": "/bin/bash"}) as one:
        assert not one.do("fg", script="true").is_error
        for _ in range(5):
            eventually(lambda: len(runners(one)) == 4)
            ready = {process.pid for process in runners(one)}
            assert int(data_of(one.do("fg", script="echo $PPID"))["stdout"]) in ready
    assert (place.home / "logins").read_text() == "login\n"
