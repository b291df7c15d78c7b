"""The log goes where it was told to, and a log that cannot be written is nobody's trouble."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOGGING = """
import logging, pathlib, sys
from sayso import log
log.set_up("info", pathlib.Path(sys.argv[1]) if sys.argv[1] else None)
logging.getLogger("sayso.desk").info("An ask was put.")
logging.getLogger("sayso.desk").debug("Too much to tell.")
print("done")
"""


def logged(file: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", LOGGING, file]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60, check=True)


def test_a_log_file_is_the_owners_alone_and_has_what_else_is_on_stderr(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "sayso.log"
    done = logged(str(file))
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert file.read_text().endswith(" INFO sayso.desk: An ask was put.\n")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert logged("").stderr.endswith(" INFO sayso.desk: An ask was put.\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a file that is always full")
def test_where_the_disk_is_full_nothing_is_logged_and_nothing_said_about_it() -> None:
    done = logged("/dev/full")
    assert (done.stdout, done.stderr) == ("done\n", "")
    with Path("/dev/full").open("w") as full:
        assert logged("", full.fileno()).stdout == "done\n"
