"""Processes are named so that a pid used again is not taken for the process that had it before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sayso.process_table import carrying
from sayso.processes import ProcessName, ancestry, is_server, name_of, servers_beside

NAMES = "from sayso.processes import ancestry; print(*((one.pid, one.started) for one in ancestry()), sep=';')"


def test_a_process_is_named_the_same_by_itself_and_by_its_child() -> None:
    told = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, timeout=60, check=True).stdout
    line = told.strip().split(";")
    me = name_of(os.getpid())
    assert me is not None
    assert line[1] == str((me.pid, me.started))
    assert line[1:] == [str((one.pid, one.started)) for one in ancestry()]


def test_the_line_of_ancestors_begins_here_and_ends_at_the_first() -> None:
    line = ancestry()
    assert [one.pid for one in line[:2]] == [os.getpid(), os.getppid()]
    assert len({one.pid for one in line}) == len(line)


def test_a_process_that_is_gone_has_no_name() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert name_of(child.pid) is not None
    child.communicate(b"\n", timeout=60)
    assert name_of(child.pid) is None


@pytest.mark.parametrize("platform", [sys.platform, "darwin"])
def test_a_process_that_has_ended_has_no_name_though_its_parent_has_not_asked(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr("sayso.process_table.sys", SimpleNamespace(platform=platform))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert name_of(child.pid) is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert name_of(child.pid) is None


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")
def test_a_process_that_runs_one_program_after_the_other_is_known_by_its_mark_at_every_moment(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nexec "$0"\n')
    program.chmod(0o755)
    with subprocess.Popen([program], env={**os.environ, "SAYSO_TEST_MARK": "here"}) as child:
        try:
            looks = [carrying("SAYSO_TEST_MARK=here") for _ in range(80)]
        finally:
            child.kill()
    assert [[process.pid for process in found] for found in looks] == [[child.pid]] * 80


def test_where_there_is_no_proc_the_name_does_not_depend_on_language_and_time_zone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stand-in for `ps` that tells, in place of the moment, in which language and zone it was asked."""
    (tmp_path / "ps").write_text('#!/bin/sh\necho " 7 1 1 S $LC_ALL $TZ"\n')
    (tmp_path / "ps").chmod(0o755)
    monkeypatch.setattr("sayso.process_table.PS", str(tmp_path / "ps"))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setattr("sayso.process_table.sys", SimpleNamespace(platform="darwin"))
    assert name_of(7) == ProcessName(pid=7, started="C UTC")
    (tmp_path / "ps").unlink()
    assert name_of(7) is None


@pytest.mark.parametrize(
    ("line", "serves"),
    [
        ("/usr/bin/sayso server", True),
        ("/usr/bin/python3.12 -P /home/ada/.venv/bin/auq server --lean", True),
        ("python3 -m sayso.cli server", True),
        ("python3 /usr/bin/sayso list", False),
        ("grep -rn sayso server", False),
        ("vim sayso server", False),
        ("python3 notes.py sayso server", False),
        ("sayso", False),
        ("", False),
    ],
)
def test_only_who_is_a_server_itself_counts_as_one(line: str, serves: bool) -> None:
    assert is_server(line.split()) is serves


@pytest.mark.parametrize("launcher", [[], ["sh", "-c", '"$0" "$@"; exit $?']], ids=["started", "through a shell"])
def test_who_started_a_server_is_known_also_behind_a_shell(launcher: list[str], tmp_path: Path) -> None:
    script = tmp_path / "sayso"
    script.write_text("print(flush=True); input()")
    with subprocess.Popen(
        [*launcher, sys.executable, str(script), "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert name_of(os.getpid()) in servers_beside(ancestry()).values()
        server.communicate(b"\n", timeout=60)


ORPHAN = """
from sayso.gates.asker import client_process
from sayso.mcp_server.caller import _parent
print(client_process(0) is None, _parent() is None)
"""


@pytest.mark.parametrize(("parent", "is_nobody"), [("/usr/lib/systemd/systemd", True), ("claude", False)])
def test_who_only_takes_in_what_lost_its_parent_is_nobodys_client(parent: str, is_nobody: bool) -> None:
    words = [parent, "-c", '"$0" -c "$1"; true', sys.executable, ORPHAN]
    done = subprocess.run(words, executable="/bin/sh", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{is_nobody} {is_nobody}\n", done.stderr
