"""`make start` on a machine that has never seen Sayso: what it fetches, and what it does when that is not right."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import set_up
from tests.test_locks import SAYSO, pinned_here

ROOT = Path(__file__).parents[1]
SECONDS = 280


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that git knows, as they are now; in a folder whose name has a space, as people's have."""
    folder = tmp_path / "a checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def make_start(checkout: Path) -> subprocess.CompletedProcess[str]:
    # Without uv, which not everybody has: the way with pip is the one that must always work.
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "uv").exists())
    return subprocess.run(
        ["make", "start", f"PYTHON={Path(sys.base_prefix) / 'bin' / 'python3'}"],
        cwd=checkout,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.finding("F-37")
def test_make_start_fetches_what_the_lock_names_and_nothing_else(checkout: Path) -> None:
    ran = make_start(checkout)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "fetching the packages of locks/sayso.txt" in ran.stdout
    assert "What the agent received" in ran.stdout
    installed = {folder.name for folder in (checkout / ".venv").glob("lib/python*/site-packages/*.dist-info")}
    assert len(installed) == len(pinned_here(SAYSO))
    version = subprocess.run(
        [checkout / ".venv" / "bin" / "sayso", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert version.stdout.startswith("sayso ")


@pytest.mark.finding("F-37")
def test_make_start_refuses_a_package_whose_hash_is_another(checkout: Path) -> None:
    lock = checkout / SAYSO
    before, _, after = lock.read_text("utf-8").partition("\nclick==")
    wrong = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", after, count=2)
    lock.write_text(f"{before}\nclick=={wrong}", "utf-8")
    ran = make_start(checkout)
    assert ran.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in ran.stderr
    assert "The packages could not be fetched" in ran.stderr


def test_an_old_python_is_refused_with_what_starts_sayso_by_another(checkout: Path, tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    program = "import sys; sys.version_info = (3, 10); exec(sys.argv[1])"
    old.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{program}' \"$2\"\n")
    old.chmod(0o755)
    ran = subprocess.run(
        ["make", f"PYTHON={old}"], cwd=checkout, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ran.returncode != 0
    assert "make start PYTHON=python3.11" in ran.stderr
    planned = subprocess.run(
        ["make", "--dry-run"], cwd=checkout, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    assert "sayso demo --web" in planned.stdout, "make alone sets up, and starts"


def test_setting_up_can_be_interrupted_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("venv.create", interrupt)
    monkeypatch.setattr("sys.argv", ["set_up.py", "locks/sayso.txt"])
    with pytest.raises(SystemExit, match="Run it again"):
        set_up.main()
