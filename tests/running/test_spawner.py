from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.running.processes import PATH, PATIENCE, Server, eventually, fresh_token, planting, shell, with_argument

from sayso import process_table
from sayso.errors import SpawnerUnavailable
from sayso.running import tree
from sayso.running.folder import await_end, cancel, is_running, read_runner, read_status, wait
from sayso.running.launch import Launch
from sayso.running.output import read
from sayso.running.spawner import Spawner


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    spawner = Spawner(pool_size=2)
    yield spawner
    spawner.stop()


def text(folder: Path) -> str:
    return read(folder, "stdout").text


def our_descendants() -> set[int]:
    return {process.pid for process in tree.descendants(os.getpid())}


def test_nothing_runs_before_the_first_command() -> None:
    before = our_descendants()
    spawner = Spawner()

    assert our_descendants() == before
    spawner.stop()


def test_a_runner_that_has_just_said_the_end_is_gone_when_its_spawner_has_stopped(tmp_path: Path) -> None:
    spawner = Spawner(pool_size=2)
    for number in range(10):
        folder = tmp_path / str(number)
        assert spawner.start_operation(shell(folder, "true")).result(PATIENCE).exit_code == 0
    spawner.stop()
    runners = [read_runner(tmp_path / str(number)) for number in range(10)]
    assert all(runners)
    assert not any(runner and process_table.is_running(runner.pid, runner.started) for runner in runners)


@pytest.mark.requirement("H-35")
def test_a_hundred_operations_at_once_do_not_mix(spawner: Spawner, tmp_path: Path) -> None:
    def start(number: int) -> Launch:
        cwd = tmp_path / f"cwd-{number}"
        cwd.mkdir()
        script = "pwd; echo $WHO; echo $WHO >&2; umask 0; export WHO=nobody; cd /; exit $CODE"
        env = {**PATH, "WHO": f"number {number}", "CODE": str(number)}
        return Launch(folder=tmp_path / f"op-{number}", argv=["bash", "-c", script], cwd=cwd, env=env)

    launches = [start(number) for number in range(100)]
    with ThreadPoolExecutor(20) as threads:
        ends = list(threads.map(spawner.start_operation, launches))
    for number, ended in enumerate(ends):
        folder = tmp_path / f"op-{number}"
        assert ended.result(PATIENCE).exit_code == number
        assert text(folder) == f"{tmp_path}/cwd-{number}\nnumber {number}\n"
        assert read(folder, "stderr").text == f"number {number}\n"


@pytest.mark.requirement("H-42")
def test_operations_run_side_by_side(spawner: Spawner, tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    script = "touch $$; until [ $(ls | wc -l) -ge 20 ]; do sleep 0.02; done"
    ends = [spawner.start_operation(shell(tmp_path / str(number), script, cwd=meeting)) for number in range(20)]

    assert [ended.result(PATIENCE).exit_code for ended in ends] == [0] * 20


def test_the_end_of_a_command_reaches_an_event_loop(spawner: Spawner, tmp_path: Path) -> None:
    async def main() -> int | None:
        launch = shell(tmp_path / "op", "sleep 0.05; exit 9")
        ended = await asyncio.to_thread(spawner.start_operation, launch)
        return (await asyncio.wait_for(asyncio.wrap_future(ended), PATIENCE)).exit_code

    assert asyncio.run(main()) == 9


def test_a_waiter_who_gives_up_does_not_disturb_the_operation(spawner: Spawner, tmp_path: Path) -> None:
    ended = spawner.start_operation(shell(tmp_path / "op", "sleep 0.1; exit 9"))

    assert not ended.cancel()
    assert ended.result(PATIENCE).exit_code == 9


@pytest.mark.requirement("H-43")
def test_an_idle_runner_that_is_killed_is_replaced(spawner: Spawner, tmp_path: Path) -> None:
    spawner.start_operation(shell(tmp_path / "first", "true")).result(PATIENCE)
    eventually(lambda: len(spawner.idle_runners()) == 2)
    killed, spared = spawner.idle_runners()
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: len(spawner.idle_runners()) == 2 and killed not in spawner.idle_runners())

    assert spared in spawner.idle_runners()
    assert spawner.start_operation(shell(tmp_path / "second", "true")).result(PATIENCE).exit_code == 0


def test_a_runner_is_used_once_and_replaced(spawner: Spawner, tmp_path: Path) -> None:
    used = []
    for number in range(6):
        spawner.start_operation(shell(tmp_path / str(number), "true")).result(PATIENCE)
        runner = read_runner(tmp_path / str(number))
        assert runner
        used.append(runner.pid)
    eventually(lambda: len(spawner.idle_runners()) == 2)

    assert len(set(used)) == 6
    assert not set(used) & set(spawner.idle_runners())


def test_operations_leave_no_open_files_in_the_server(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    spawner = Spawner(pool_size=2)
    for number in range(20):
        spawner.start_operation(shell(tmp_path / str(number), f"sleep 0.00{number % 10}")).result(PATIENCE)
    spawner.stop()

    assert os.listdir("/proc/self/fd") == before


@pytest.mark.requirement("H-44")
def test_a_pool_that_is_idle_goes_and_comes_back_with_the_next_command(tmp_path: Path) -> None:
    before = our_descendants()
    spawner = Spawner(pool_size=2, idle_seconds=0.1)
    spawner.start_operation(shell(tmp_path / "first", "true")).result(PATIENCE)
    eventually(lambda: not spawner.idle_runners() and our_descendants() == before)

    assert spawner.start_operation(shell(tmp_path / "second", "true")).result(PATIENCE).exit_code == 0
    spawner.stop()


def test_an_idle_pool_leaves_its_operations_alone(tmp_path: Path) -> None:
    spawner = Spawner(pool_size=1, idle_seconds=0.01)
    go = tmp_path / "go"
    ended = spawner.start_operation(shell(tmp_path / "op", f"until [ -e {go} ]; do sleep 0.01; done; exit 5"))
    eventually(lambda: not spawner.idle_runners())
    assert is_running(tmp_path / "op")
    go.touch()

    assert ended.result(PATIENCE).exit_code == 5
    spawner.stop()


def test_a_killed_spawner_process_is_started_again_and_its_operations_go_on(spawner: Spawner, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"until [ -e {go} ]; do sleep 0.01; done; exit 5"
    first = spawner.start_operation(shell(tmp_path / "first", script))
    runner = read_runner(tmp_path / "first")
    assert runner
    process = process_table.find(runner.pid)
    assert process
    os.kill(process.parent, signal.SIGKILL)
    eventually(lambda: not spawner.idle_runners())

    assert spawner.start_operation(shell(tmp_path / "second", "exit 6")).result(PATIENCE).exit_code == 6
    go.touch()
    assert first.result(PATIENCE).exit_code == 5


@pytest.mark.requirement("H-36")
def test_stopping_ends_every_operation_and_leaves_no_process(tmp_path: Path) -> None:
    before = our_descendants()
    spawner = Spawner(pool_size=2)
    tokens = [fresh_token() for _ in range(4)]
    ends = [spawner.start_operation(planting(tmp_path / token, "all_of_them", token, "stay")) for token in tokens]
    for token in tokens:
        eventually(lambda token=token: text(tmp_path / token) == "planted\n")  # type: ignore[misc]
    spawner.stop()

    assert [pid for token in tokens for pid in with_argument(token)] == []
    assert our_descendants() == before
    assert {ended.result(0).reason for ended in ends} == {"cancelled"}


def test_a_stopped_spawner_starts_nothing(tmp_path: Path) -> None:
    spawner = Spawner()
    spawner.stop()
    with pytest.raises(SpawnerUnavailable, match="shutting down"):
        spawner.start_operation(shell(tmp_path / "op", "true"))


def test_a_command_that_began_while_the_disk_was_full_is_found_again_and_cancelled(tmp_path: Path) -> None:
    spawner, token = Spawner(pool_size=1), fresh_token()
    try:
        spawner.start_operation(shell(tmp_path / "first", "true")).result(PATIENCE)
        eventually(spawner.idle_runners)
        for runner in spawner.idle_runners():
            resource.prlimit(runner, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        spawner.start_operation(shell(tmp_path / "op", f"exec env -i sleep {token}"))
        spawner.leave()
        assert is_running(tmp_path / "op")
        assert cancel(tmp_path / "op")
        eventually(lambda: not is_running(tmp_path / "op"))
        assert with_argument(token) == []
    finally:
        spawner.stop()


def test_leaving_lets_operations_go_on_to_their_end(tmp_path: Path) -> None:
    spawner = Spawner(pool_size=2)
    go = tmp_path / "go"
    ended = spawner.start_operation(shell(tmp_path / "op", f"until [ -e {go} ]; do sleep 0.01; done; echo on; exit 5"))
    spawner.leave()

    with pytest.raises(SpawnerUnavailable, match="the command goes on"):
        ended.result(0)
    assert is_running(tmp_path / "op")
    go.touch()
    assert await_end(tmp_path / "op").exit_code == 5
    assert text(tmp_path / "op") == "on\n"


def test_operations_outlive_a_killed_server_and_idle_runners_do_not(tmp_path: Path) -> None:
    go = tmp_path / "go"
    server = Server(tmp_path, f"until [ -e {go} ]; do sleep 0.01; done; echo on; exit 5")
    runner = read_runner(tmp_path / "0")
    assert runner
    spawning = process_table.find(runner.pid)
    assert spawning
    names = [(pid, process_table.started(pid)) for pid in (*server.idle, spawning.parent)]
    server.kill()

    assert all(tree.wait_gone(pid, started, PATIENCE) for pid, started in names)
    assert read_status(tmp_path / "0") is None
    assert wait(tmp_path / "0", 0) is None
    go.touch()
    status = wait(tmp_path / "0", PATIENCE)
    assert status
    assert (status.reason, status.exit_code, text(tmp_path / "0")) == ("exit", 5, "on\n")


def test_a_new_server_takes_over_what_a_killed_one_left(spawner: Spawner, tmp_path: Path) -> None:
    tokens = [fresh_token(), fresh_token()]
    Server(tmp_path, *(f"echo begun; sleep {token}" for token in tokens)).kill()
    ends = [spawner.adopt(tmp_path / "0"), spawner.adopt(tmp_path / "1")]
    assert cancel(tmp_path / "0")

    assert ends[0].result(PATIENCE).reason == "cancelled"
    assert with_argument(tokens[0]) == []
    assert is_running(tmp_path / "1")
    spawner.stop()
    with pytest.raises(SpawnerUnavailable, match="goes on"):
        ends[1].result(0)
    assert with_argument(tokens[1]), "only what it has started itself ends with it"
    assert cancel(tmp_path / "1")
    assert wait(tmp_path / "1", PATIENCE)
    assert with_argument(tokens[1]) == []


def test_a_new_server_reads_the_end_of_what_ended_without_it(spawner: Spawner, tmp_path: Path) -> None:
    Server(tmp_path, "exit 5").kill()

    assert spawner.adopt(tmp_path / "0").result(PATIENCE).exit_code == 5


def test_an_operation_that_nobody_knows_the_end_of_is_lost(spawner: Spawner, tmp_path: Path) -> None:
    (tmp_path / "op").mkdir()
    gone = {"pid": 2**22 - 1, "started": "1", "group": 2**22 - 1, "mark": "0" * 32}
    (tmp_path / "op" / "runner.json").write_text(json.dumps(gone))

    assert spawner.adopt(tmp_path / "op").result(PATIENCE).reason == "lost"


def test_operations_may_be_started_while_the_spawner_stops(tmp_path: Path) -> None:
    spawner = Spawner(pool_size=1)
    token = fresh_token()

    def start(number: int) -> str:
        try:
            return spawner.start_operation(shell(tmp_path / str(number), f"sleep {token}")).result(PATIENCE).reason
        except SpawnerUnavailable:
            return "refused"

    with ThreadPoolExecutor(8) as threads:
        reasons = [threads.submit(start, number) for number in range(8)]
        eventually(lambda: with_argument(token))
        spawner.stop()
    assert {reason.result(0) for reason in reasons} <= {"cancelled", "refused"}
    assert with_argument(token) == []
