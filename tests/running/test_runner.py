from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.running.plant import KINDS
from tests.running.processes import PATH, PATIENCE, eventually, fresh_token, planting, shell, with_argument

from sayso import process_table
from sayso.errors import InvalidInput
from sayso.running.folder import cancel, end_leftovers, is_running, read_runner, read_status
from sayso.running.launch import Launch
from sayso.running.output import read, tail
from sayso.running.spawner import Spawner


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    spawner = Spawner()
    yield spawner
    spawner.stop()


def text(folder: Path, stream: str = "stdout") -> str:
    return read(folder, stream).text


def test_a_command_leaves_its_exit_code_times_and_both_streams(spawner: Spawner, tmp_path: Path) -> None:
    status = spawner.start_operation(shell(tmp_path / "op", "echo out; echo err >&2; exit 7")).result(PATIENCE)

    assert (status.reason, status.exit_code, status.signal, status.survivors) == ("exit", 7, None, ())
    assert 0 < status.started_at <= status.ended_at
    assert (status.stdout.seen, status.stderr.seen, status.stdout.cut) == (4, 4, 0)
    assert (text(tmp_path / "op"), text(tmp_path / "op", "stderr")) == ("out\n", "err\n")
    assert read_status(tmp_path / "op") == status


def test_a_command_that_kills_itself_is_reported_with_the_signal(spawner: Spawner, tmp_path: Path) -> None:
    status = spawner.start_operation(shell(tmp_path / "op", "kill -SEGV $$")).result(PATIENCE)

    assert (status.reason, status.exit_code, status.signal) == ("exit", None, signal.SIGSEGV)


def test_nobody_else_can_read_an_operation(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "op"
    spawner.start_operation(shell(folder, "echo out; echo err >&2")).result(PATIENCE)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == dict.fromkeys(("runner.json", "status.json", "stdout", "stderr", "order"), 0o600)


@pytest.mark.requirement("H-36")
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_that_ends_leaves_no_process(spawner: Spawner, tmp_path: Path, kind: str) -> None:
    token = fresh_token()
    status = spawner.start_operation(planting(tmp_path / "op", kind, token, "end")).result(PATIENCE)

    assert with_argument(token) == []
    assert (status.reason, status.exit_code, status.survivors) == ("exit", 3, ())
    assert text(tmp_path / "op") == "planted\n"


@pytest.mark.requirement("H-36")
@pytest.mark.parametrize("kind", [*KINDS, "all_of_them"])
def test_a_cancelled_command_leaves_no_process_and_keeps_its_output(
    spawner: Spawner, tmp_path: Path, kind: str
) -> None:
    token = fresh_token()
    ended = spawner.start_operation(planting(tmp_path / "op", kind, token, "stay"))
    eventually(lambda: text(tmp_path / "op") == "planted\n")
    assert with_argument(token)
    assert cancel(tmp_path / "op")
    status = ended.result(PATIENCE)

    assert with_argument(token) == []
    assert (status.reason, status.exit_code, status.signal) == ("cancelled", None, signal.SIGTERM)
    assert text(tmp_path / "op") == "planted\n"


@pytest.mark.requirement("H-36", "H-37")
def test_a_command_over_its_time_leaves_no_process_and_keeps_its_output(spawner: Spawner, tmp_path: Path) -> None:
    token = fresh_token()
    launch = planting(tmp_path / "op", "all_of_them", token, "stay", timeout_seconds=3)
    status = spawner.start_operation(launch).result(PATIENCE)

    assert with_argument(token) == []
    assert (status.reason, status.signal) == ("timed_out", signal.SIGTERM)
    assert text(tmp_path / "op") == "planted\n"


def test_a_command_is_cancelled_though_somebody_has_halted_it_and_its_runner(spawner: Spawner, tmp_path: Path) -> None:
    token = fresh_token()
    ended = spawner.start_operation(shell(tmp_path / "op", f"exec sleep {token}"))
    runner = read_runner(tmp_path / "op")
    assert runner
    for pid in (runner.pid, runner.group):
        os.kill(pid, signal.SIGSTOP)
    assert cancel(tmp_path / "op")
    assert ended.result(PATIENCE).reason == "cancelled"
    assert with_argument(token) == []


def test_a_command_has_its_grace_to_clean_up(spawner: Spawner, tmp_path: Path) -> None:
    script = "trap 'echo cleaned; exit 4' TERM; echo ready; while :; do sleep 0.01; done"
    ended = spawner.start_operation(shell(tmp_path / "op", script, grace_seconds=PATIENCE))
    eventually(lambda: text(tmp_path / "op") == "ready\n")
    cancel(tmp_path / "op")
    status = ended.result(PATIENCE)

    assert (status.reason, status.exit_code) == ("cancelled", 4)
    assert text(tmp_path / "op") == "ready\ncleaned\n"


def test_a_command_that_ignores_the_grace_is_killed(spawner: Spawner, tmp_path: Path) -> None:
    ended = spawner.start_operation(shell(tmp_path / "op", "trap '' TERM; echo ready; while :; do sleep 1; done"))
    eventually(lambda: text(tmp_path / "op") == "ready\n")
    cancel(tmp_path / "op")

    assert ended.result(PATIENCE).signal == signal.SIGKILL


def test_a_command_that_closed_its_output_is_still_awaited(spawner: Spawner, tmp_path: Path) -> None:
    go = tmp_path / "go"
    ended = spawner.start_operation(shell(tmp_path / "op", f"exec >&- 2>&-; until [ -e {go} ]; do sleep 0.01; done"))
    assert is_running(tmp_path / "op")
    go.touch()

    assert ended.result(PATIENCE).exit_code == 0


def test_a_stranger_who_holds_the_output_does_not_hold_up_the_end(spawner: Spawner, tmp_path: Path) -> None:
    # A process outside the tree opens the command's stdout by way of /proc and keeps it.
    ended = spawner.start_operation(shell(tmp_path / "op", "echo $$; read < /dev/null; exec sleep 1000"))
    eventually(lambda: text(tmp_path / "op").endswith("\n"))
    with open(f"/proc/{text(tmp_path / 'op').strip()}/fd/1", "wb"):
        cancel(tmp_path / "op")
        assert ended.result(PATIENCE).reason == "cancelled"


def test_a_gigabyte_of_output_needs_little_memory_and_little_disk(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "op"
    script = "head -c 1000000000 /dev/zero; exec sleep 1000"
    ended = spawner.start_operation(shell(folder, script, max_bytes=1 << 20))
    eventually(lambda: tail(folder, "stdout", limit=1).seen == 1_000_000_000)
    runner = read_runner(folder)
    assert runner
    peak = next(line for line in Path(f"/proc/{runner.pid}/status").read_text().splitlines() if "VmHWM" in line)
    cancel(folder)
    status = ended.result(PATIENCE)

    assert int(peak.split()[1]) < 40_000
    kept = sum(file.stat().st_size for file in folder.glob("stdout*"))
    assert kept == status.stdout.kept <= 1 << 20
    assert (status.stdout.seen, status.stdout.cut) == (1_000_000_000, 1_000_000_000 - kept)


def test_binary_output_is_kept_byte_for_byte(spawner: Spawner, tmp_path: Path) -> None:
    sample = tmp_path / "sample"
    sample.write_bytes(bytes(range(256)) * 100)
    spawner.start_operation(shell(tmp_path / "op", f"cat {sample}")).result(PATIENCE)

    assert (tmp_path / "op" / "stdout").read_bytes() == sample.read_bytes()


def test_a_full_disk_ends_the_storing_and_not_the_command(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "stdout").symlink_to("/dev/full")
    status = spawner.start_operation(shell(folder, "echo lost; echo kept >&2")).result(PATIENCE)

    assert (status.exit_code, status.stdout.seen, status.stdout.kept) == (0, 5, 0)
    assert "could be stored" in status.stdout.fault
    assert text(folder, "stderr") == "kept\n"


def test_without_input_a_command_reads_nothing(spawner: Spawner, tmp_path: Path) -> None:
    spawner.start_operation(shell(tmp_path / "op", "cat; readlink /proc/$$/fd/0")).result(PATIENCE)

    assert text(tmp_path / "op") == "/dev/null\n"


def test_input_reaches_the_command_and_does_not_stay_in_the_folder(spawner: Spawner, tmp_path: Path) -> None:
    data = b"a secret\0" * 100_000
    launch = Launch(folder=tmp_path / "op", argv=["wc", "-c"], cwd=Path("/"), env=PATH, stdin=data)
    spawner.start_operation(launch).result(PATIENCE)

    assert text(tmp_path / "op") == "900000\n"
    assert not (tmp_path / "op" / "stdin").exists()


def test_a_command_gets_three_files_and_no_terminal(spawner: Spawner, tmp_path: Path) -> None:
    script = "ls /proc/$$/fd; (: < /dev/tty) 2>/dev/null || echo no terminal"
    spawner.start_operation(shell(tmp_path / "op", script)).result(PATIENCE)

    assert text(tmp_path / "op") == "0\n1\n2\nno terminal\n"


def test_a_command_gets_its_signals_as_the_system_sets_them(spawner: Spawner, tmp_path: Path) -> None:
    argv = ["grep", "-E", "SigIgn|SigBlk", "/proc/self/status"]
    launch = Launch(folder=tmp_path / "op", argv=argv, cwd=Path("/"), env=PATH)
    spawner.start_operation(launch).result(PATIENCE)

    blocked, ignored = (int(line.split()[1], 16) for line in text(tmp_path / "op").splitlines())
    common = (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
    assert blocked == 0
    assert [number for number in common if ignored & (1 << (number - 1))] == []


def make_script(path: Path, content: str, mode: int) -> str:
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def test_a_command_that_cannot_start_says_why_as_a_status(spawner: Spawner, tmp_path: Path) -> None:
    cases = {
        "'no-such-program' was not found on PATH (/usr/bin)": ["no-such-program"],
        "'/no/such' does not exist": ["/no/such"],
        "is a directory": [str(tmp_path)],
        "is not executable": [make_script(tmp_path / "plain", "#!/bin/sh\n", 0o644)],
        "its interpreter": [make_script(tmp_path / "orphan", "#!/no/interpreter\n", 0o755)],
        "cannot run this kind of file": [make_script(tmp_path / "noise", "\x01\x02", 0o755)],
        "too long": ["/bin/true", "x" * 10_000_000],
        "embedded null byte": ["/bin/true", "a\0b"],
    }
    for number, (why, argv) in enumerate(cases.items()):
        launch = Launch(folder=tmp_path / str(number), argv=argv, cwd=Path("/"), env={"PATH": "/usr/bin"})
        status = spawner.start_operation(launch).result(PATIENCE)
        assert (status.reason, status.exit_code, status.signal) == ("spawn_failed", None, None)
        assert status.text.startswith("command: ")
        assert why in status.text


@pytest.mark.parametrize("cwd", ["missing", "file"])
def test_a_directory_that_cannot_be_entered_is_named(spawner: Spawner, tmp_path: Path, cwd: str) -> None:
    (tmp_path / "file").touch()
    status = spawner.start_operation(shell(tmp_path / "op", "true", cwd=tmp_path / cwd)).result(PATIENCE)

    assert status.reason == "spawn_failed"
    assert status.text.startswith(f"cwd: '{tmp_path / cwd}' cannot be entered")


def test_a_program_is_found_by_the_path_of_its_own_environment(spawner: Spawner, tmp_path: Path) -> None:
    make_script(tmp_path / "greet", "#!/bin/sh\necho hello\n", 0o755)
    launch = Launch(folder=tmp_path / "op", argv=["greet"], cwd=Path("/"), env={"PATH": f"/none:{tmp_path}"})
    assert spawner.start_operation(launch).result(PATIENCE).exit_code == 0

    assert text(tmp_path / "op") == "hello\n"


def test_a_program_of_the_working_directory_is_found_by_a_relative_path(spawner: Spawner, tmp_path: Path) -> None:
    make_script(tmp_path / "greet", "#!/bin/sh\necho hello\n", 0o755)
    launch = Launch(folder=tmp_path / "op", argv=["./greet"], cwd=tmp_path, env=PATH)

    assert spawner.start_operation(launch).result(PATIENCE).exit_code == 0


def test_the_folder_says_who_runs_the_command(spawner: Spawner, tmp_path: Path) -> None:
    ended = spawner.start_operation(shell(tmp_path / "op", "echo $$; exec sleep 1000"))
    runner = read_runner(tmp_path / "op")
    eventually(lambda: text(tmp_path / "op"))

    assert runner
    assert runner.group == int(text(tmp_path / "op"))
    assert os.getsid(runner.group) == os.getsid(runner.pid) == runner.pid != os.getsid(0)
    cancel(tmp_path / "op")
    assert ended.result(PATIENCE).reason == "cancelled"
    assert not cancel(tmp_path / "op")


def test_a_later_process_with_the_same_pid_is_not_taken_for_the_runner(spawner: Spawner, tmp_path: Path) -> None:
    ended = spawner.start_operation(shell(tmp_path / "real", "exec sleep 1000"))
    named = json.loads((tmp_path / "real" / "runner.json").read_text())
    (tmp_path / "stale").mkdir()
    (tmp_path / "stale" / "runner.json").write_text(json.dumps({**named, "started": "1"}))

    assert not is_running(tmp_path / "stale")
    assert not cancel(tmp_path / "stale")
    assert not ended.done()


def test_a_killed_runner_is_reported_as_lost_and_its_tree_is_ended(spawner: Spawner, tmp_path: Path) -> None:
    token = fresh_token()
    ended = spawner.start_operation(planting(tmp_path / "op", "setsid", token, "stay"))
    eventually(lambda: text(tmp_path / "op") == "planted\n")
    runner = read_runner(tmp_path / "op")
    assert runner
    os.kill(runner.pid, signal.SIGKILL)
    status = ended.result(PATIENCE)

    assert status.reason == "lost"
    assert "ended without a status" in status.text
    assert with_argument(token) == []
    assert text(tmp_path / "op") == "planted\n"


def test_a_command_that_took_off_its_mark_is_ended_with_its_killed_runner(spawner: Spawner, tmp_path: Path) -> None:
    token = fresh_token()
    ended = spawner.start_operation(shell(tmp_path / "op", f"env -i sleep {token} & exec env -i sleep {token}"))
    eventually(lambda: len(with_argument(token)) == 2)
    runner = read_runner(tmp_path / "op")
    assert runner
    os.kill(runner.pid, signal.SIGKILL)
    assert ended.result(PATIENCE).reason == "lost"
    assert with_argument(token) == []


def test_a_runner_whose_server_is_gone_before_it_begins_does_not_begin(tmp_path: Path) -> None:
    launch = shell(tmp_path / "op", f"touch {tmp_path / 'ran'}")
    launch.prepare_folder()
    serve = """
import socket, sys
from sayso.running import runner
ours, theirs = socket.socketpair()
ours.sendall(sys.stdin.buffer.read())
ours.close()
runner._serve(theirs)
"""
    subprocess.run([sys.executable, "-c", serve], input=launch.message(), check=True, timeout=PATIENCE)
    status = read_status(tmp_path / "op")
    assert status
    assert (status.reason, status.never_ran) == ("spawn_failed", True)
    assert status.text == "Its server ended before the command began. Nothing was run."
    assert not (tmp_path / "ran").exists()


def test_a_folder_serves_one_operation_only(spawner: Spawner, tmp_path: Path) -> None:
    spawner.start_operation(shell(tmp_path / "op", "true")).result(PATIENCE)
    with pytest.raises(InvalidInput, match="already holds an operation"):
        spawner.start_operation(shell(tmp_path / "op", "true"))


def test_a_launch_names_every_wrong_field() -> None:
    with pytest.raises(InvalidInput) as caught:
        Launch(
            folder=Path("here"),
            argv=[],
            cwd=Path("there"),
            env={},
            timeout_seconds=0,
            grace_seconds=-1,
            max_bytes=1,
        )

    wrong = [problem.path for problem in caught.value.problems]
    assert wrong == ["argv", "folder", "cwd", "timeout_seconds", "grace_seconds", "max_bytes"]


def test_a_runner_carries_nothing_it_does_not_need() -> None:
    heavy = {"dataclasses", "typing", "subprocess", "threading", "logging", "asyncio", "pathlib", "inspect"}
    code = "import sys; sys.path.append('src'); import sayso.running.runner; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True, timeout=PATIENCE)

    assert heavy & set(loaded.stdout.decode().split()) == set()


def test_the_process_table_is_the_same_when_ps_tells_it() -> None:
    (ours,) = [process for process in process_table.rows_of_ps("-A") if process.pid == os.getpid()]
    found = process_table.find(os.getpid())

    assert found
    assert (ours.pid, ours.parent, ours.group) == (found.pid, found.parent, found.group)
    (again,) = process_table.rows_of_ps("-p", str(os.getpid()))
    assert (again.pid, again.started, again.state) == (ours.pid, ours.started, ours.state)
    assert not ours.zombie
    assert not found.zombie


def test_helpers_that_end_before_the_command_do_not_pile_up_as_zombies(spawner: Spawner, tmp_path: Path) -> None:
    script = "for i in $(seq 50); do (true &); done; echo ready; exec sleep 1000"
    spawner.start_operation(shell(tmp_path / "op", script))
    eventually(lambda: text(tmp_path / "op") == "ready\n")
    runner = read_runner(tmp_path / "op")
    assert runner

    eventually(
        lambda: [process.pid for process in process_table.everyone() if process.parent == runner.pid] == [runner.group]
    )


def test_what_another_process_clears_away_in_that_moment_leaves_nothing_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is gone after somebody has looked whether it is there.
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    assert end_leftovers(tmp_path / "gone") == ()
