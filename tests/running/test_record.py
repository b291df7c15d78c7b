"""The files of an operation on a disk that has no room: whole, or not there."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.running import record

WRITE = "import sys; from sayso.running import record; record.write(sys.argv[1], 'status.json', {'reason': 'exit'})"


@pytest.mark.parametrize("room", [0, 7])
def test_a_file_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, room: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    subprocess.run([sys.executable, "-B", "-c", WRITE, str(tmp_path)], check=True, timeout=30, preexec_fn=limit)
    assert os.listdir(tmp_path) == []


def test_a_file_is_written_whole_and_for_nobody_else(tmp_path: Path) -> None:
    text = record.write(str(tmp_path), "status.json", {"reason": "exit"})
    assert os.listdir(tmp_path) == ["status.json"]
    assert json.loads(text) == json.loads((tmp_path / "status.json").read_bytes()) == {"reason": "exit"}
    assert (tmp_path / "status.json").stat().st_mode & 0o777 == 0o600
