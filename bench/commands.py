"""What it costs to start `true` and see it end: through the spawner, bare, and through shells; two sizes of server. And
through a whole server, which notes it durably before and after.

All ways take turns in one run, so that whatever else the machine does hits them alike.
Usage: python -m bench.commands [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.durable import COMMIT, durable_rows
from bench.tables import ratio, setting, table
from bench.wire import server

from sayso.running.environment import Environments
from sayso.running.launch import Launch
from sayso.running.spawner import Spawner

SIZES_MB = (30, 300)
PROFILE = "sleep 0.1\n"
"""An ordinary profile asks a few version managers; they take longer than this."""

CALL, LIST = "tools/call of `true`", "tools/list"
SPAWNER, POPEN, LOGIN = "spawner", "Popen", "bash -lc"
AIM = "the aim: 3 Popen + 2 commits"
REST = 0.02
"""Seconds between two calls: agents take their time, and what a call leaves to be done is done by then."""

Measured = dict[str, list[float]]


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def grow_to(megabytes: int) -> bytes:
    missing = int((megabytes - resident_mb()) * 1e6)
    return os.urandom(max(0, missing))


def ways(folder: Path, spawner: Spawner, rounds: int) -> dict[str, Callable[[int], object]]:
    home = folder / "home"
    home.mkdir()
    (home / ".bash_profile").write_text(PROFILE)
    environ = {"HOME": str(home), "SHELL": "/bin/bash", "PATH": os.environ["PATH"]}
    snapshot = Environments(folder=folder / "environments", environ=environ).for_project(folder)

    launches = [
        Launch(folder=folder / str(number), argv=["true"], cwd=folder, env=snapshot) for number in range(rounds)
    ]

    def through_spawner(number: int) -> None:
        assert spawner.start_operation(launches[number]).result(30).exit_code == 0

    def plain(*argv: str) -> Callable[[int], object]:
        return lambda _: subprocess.Popen(argv, env=environ).wait()

    return {
        SPAWNER: through_spawner,
        POPEN: plain("true"),
        "bash -c": plain("bash", "-c", "true"),
        LOGIN: plain("bash", "-lc", "true"),
    }


def measure(megabytes: int, rounds: int) -> Measured:
    """Seconds of every run of every way, in a process of this size."""
    ballast = grow_to(megabytes)
    shuffled = random.Random(megabytes)
    with tempfile.TemporaryDirectory() as name:
        spawner = Spawner()
        compared = ways(Path(name), spawner, rounds + 1)
        times: Measured = {way: [] for way in compared}
        order = list(compared.items())
        for number in range(rounds + 1):
            # The way that follows the login shell finds the caches cold, and that must not always be the same one.
            shuffled.shuffle(order)
            for way, run in order:
                begun = time.perf_counter()
                run(number)
                times[way].append(time.perf_counter() - begun)
        spawner.stop()
    assert len(ballast) >= 0
    # The first round starts the spawner and warms the caches.
    return {way: runs[1:] for way, runs in times.items()}


def in_a_process_of(megabytes: int, rounds: int) -> Measured:
    command = [sys.executable, "-m", "bench.commands", "--rounds", str(rounds), "--measure", str(megabytes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measured: Measured = json.loads(done.stdout)
    return measured


def side_by_side(results: dict[int, Measured]) -> str:
    """One row per way: how long it took in processes of each size, beside bare Popen in the same process."""
    head = ["start and end of `true`, ms p50 / p95", *(f"from {size} MB" for size in results)]
    ways_ = next(iter(results.values()))
    rows = [[way, *(_beside_popen(way, measured) for measured in results.values())] for way in ways_]
    gains = [
        f"From {size} MB the spawner is {_p50(measured, LOGIN) / _p50(measured, SPAWNER):.0f} times as fast as "
        "the login shell."
        for size, measured in results.items()
    ]
    return f"{table(head, rows)}\n\n{' '.join(gains)}"


def _beside_popen(way: str, measured: Measured) -> str:
    p50, p95 = percentiles(measured[way])
    return f"{p50:.2f} / {p95:.2f} ({ratio(p50, _p50(measured, POPEN))})"


def _p50(measured: Measured, way: str) -> float:
    return percentiles(measured[way])[0]


def end_to_end(rounds: int) -> Measured:
    """Seconds of a `tools/call` of a synchronous `true` over stdio, in turns with an empty call, and with what it is
    measured by: a bare `Popen`, and a commit on the same disk."""
    with tempfile.TemporaryDirectory() as name, durable_rows(Path(name)) as rows:
        command, env, project = server_in(Path(name))
        with server(command, env=env, cwd=project) as client:
            client.shake_hands()

            def call() -> None:
                assert not client.request("tools/call", name="yes", arguments={})["isError"]

            compared: dict[str, Callable[[], object]] = {
                CALL: call,
                LIST: lambda: client.request("tools/list"),
                POPEN: lambda: subprocess.Popen(["true"]).wait(),
                COMMIT: rows.commit,
            }
            measured = _in_turns(compared, rounds)
    parts = zip(measured[POPEN], measured[COMMIT], strict=True)
    return {**measured, AIM: [3 * popen + 2 * commit for popen, commit in parts]}


def _in_turns(compared: Mapping[str, Callable[[], object]], rounds: int) -> Measured:
    times: Measured = {way: [] for way in compared}
    for _ in range(rounds + 1):
        for way, run in compared.items():
            time.sleep(REST)
            begun = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - begun)
    # The first round opens the store, starts the spawner and asks the login shell.
    return {way: runs[1:] for way, runs in times.items()}


def server_in(folder: Path) -> tuple[list[str], dict[str, str], Path]:
    """How to start a server that knows one tool: the command, its environment, and the folder that it is started in."""
    tool = {"name": "yes", "description": "Succeed.", "command": "true", "synchronous": True}
    tools, project = folder / "tools", folder / "project"
    for made in (tools, project):
        made.mkdir()
    (tools / "yes.json").write_text(json.dumps(tool))
    flags = ["--profile", "ahma", "--tools-dir", str(tools), "--log-level", "error"]
    private = {"HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state"), "SHELL": "/bin/sh"}
    command = [sys.executable, "-m", "sayso.cli", "server", *flags]
    return command, {**private, "PATH": os.environ["PATH"]}, project


def over_stdio(measured: Measured) -> str:
    """One row per way, compared with bare Popen, and the call with the aim."""
    rows = [[way, _beside_popen(way, measured)] for way in measured]
    beside_aim = _p50(measured, CALL) / _p50(measured, AIM)
    return (
        f"{table(['through the whole server', 'ms p50 / p95'], rows)}\n\n"
        f"The call is noted durably before the command starts and after it has ended. It takes {beside_aim:.2f} times "
        "the aim."
    )


def percentiles(runs: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(runs, n=20, method="inclusive")
    return cuts[9] * 1000, cuts[18] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--measure", type=int, metavar="MB", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        json.dump(measure(given.measure, given.rounds), sys.stdout)
    else:
        print(f"{setting()}\n")
        print(side_by_side({size: in_a_process_of(size, given.rounds) for size in SIZES_MB}), end="\n\n")
        print(over_stdio(end_to_end(given.rounds)))


if __name__ == "__main__":
    main()
