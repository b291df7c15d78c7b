"""Trying a test again: never where a race would hide, by name elsewhere, and not often."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import NEVER_TRIED_AGAIN

ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests.reruns import Reruns

def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reruns(never_in=("strict/",)))
"""
FAILS_AT_FIRST = """
from pathlib import Path

def test_{name}():
    seen = Path(__file__).with_suffix(".seen")
    tries = len(seen.read_text()) if seen.exists() else 0
    seen.write_text("x" * (tries + 1))
    assert tries >= {failures}
"""


def run(folder: Path, *flags: str, **failures: int) -> subprocess.CompletedProcess[str]:
    """Tests that fail so often before they pass, each in the file `NAME.py` or `strict/NAME.py`."""
    (folder / "strict").mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "strict" / "conftest.py").touch()  # with several such files pytest keeps plugins in sets
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    for name, number in failures.items():
        file = folder / "strict" / f"test_{name}.py" if name.startswith("strict") else folder / f"test_{name}.py"
        file.write_text(FAILS_AT_FIRST.format(name=name, failures=number))
    plugins = [word for name in ("no:cacheprovider", "xdist.plugin", "pytest_rerunfailures") for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", *plugins, "--reruns", "2", *flags]
    # No others: reading all that are installed takes longer than these tests do.
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=env)


@pytest.mark.parametrize("flags", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_where_races_would_hide_nothing_is_tried_again(tmp_path: Path, flags: tuple[str, ...]) -> None:
    done = run(tmp_path, *flags, strict=1, plain=1)
    assert done.returncode == 1
    assert "FAILED strict/test_strict.py::test_strict" in done.stdout
    assert "1 failed, 1 passed, 1 rerun" in done.stdout
    assert (tmp_path / "strict" / "test_strict.seen").read_text() == "x"


@pytest.mark.parametrize("flags", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_two_reruns_are_named_and_the_run_is_well(tmp_path: Path, flags: tuple[str, ...]) -> None:
    done = run(tmp_path, *flags, one=1, other=1, sound=0)
    assert done.returncode == 0
    *_, heading, one, other = done.stdout.splitlines()
    assert heading == "Tried again:"
    assert {one, other} == {"test_one.py::test_one", "test_other.py::test_other"}
    assert "assert 0 >= 1" in done.stdout.partition("= tried again =")[2]


@pytest.mark.parametrize("flags", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_more_than_two_reruns_fail_a_run_in_which_everything_passed_in_the_end(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    done = run(tmp_path, *flags, one=2, other=1)
    assert "2 passed, 3 rerun" in done.stdout
    assert "3 reruns; more than 2 fail the run." in done.stdout
    assert done.returncode == 1


def test_nothing_is_said_when_nothing_was_tried_again(tmp_path: Path) -> None:
    done = run(tmp_path, sound=0, strict=0)
    assert (done.returncode, "tried again" in done.stdout.lower()) == (0, False)


def test_the_folders_where_nothing_is_tried_again_are_there() -> None:
    assert all(any((ROOT / folder).glob("test_*.py")) for folder in NEVER_TRIED_AGAIN)
