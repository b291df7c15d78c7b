"""Puts what a lock file names into `.venv`, and the programs of this checkout beside it: `set_up.py locks/sayso.txt`.

Runs before anything is installed, so it needs nothing but Python. Every package is checked by its hash; nothing is
resolved, built or compiled ahead. `uv` is used where it is on PATH or in `.venv`, pip everywhere else.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import venv
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST_PIP = 23
"""Older ones cannot install for another Python than their own."""

LOCKED = ("--no-deps", "--require-hashes", "--requirement")
PINNED = re.compile(r"^[\w.-]+==", re.MULTILINE)
STEP = re.compile(r"(?:Collecting|Processing|Requirement already satisfied:) (\S+)")
LAUNCHER = """{first_line}
import sys
from {module} import {function}
sys.exit({function}())
"""
BY_SHELL = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''"""
"""A program for the shell and for Python at once: a `#!` line takes no path that is long or has a space in it."""
LONGEST_FIRST_LINE = 120


def main() -> None:
    try:
        _set_up(Path(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Run it again to set up what is missing.")


def _set_up(lock: Path) -> None:
    began = time.monotonic()
    print(f"Setting up {VENV.name}, once: fetching the packages of {lock} and checking their hashes.", flush=True)
    VENV.mkdir(exist_ok=True)  # make may do the same at this moment, which `venv` does not expect
    venv.create(VENV, symlinks=True)
    if not (_by_uv(lock) or _by_pip(lock)):
        sys.exit("The packages could not be fetched. pip says why above; run this again when that is fixed.")
    _add_this_checkout()
    print(f"Ready after {time.monotonic() - began:.0f} s.\n", flush=True)


def _by_uv(lock: Path) -> bool:
    uv = shutil.which("uv") or shutil.which("uv", path=PYTHON.parent)
    if not uv:
        return False
    if subprocess.run([uv, "pip", "install", "--quiet", "--python", PYTHON, *LOCKED, lock], check=False).returncode:
        print("uv could not do it. Trying pip.", flush=True)
        return False
    return True


def _by_pip(lock: Path) -> bool:
    quiet = ("--disable-pip-version-check", "--no-input", "--no-warn-script-location", "--progress-bar", "off")
    command = [*_pip(), "install", *quiet, "--no-compile", *LOCKED, str(lock)]
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as pip:
            assert pip.stdout is not None
            _tell(pip.stdout, len(PINNED.findall(lock.read_text("utf-8"))))
        if pip.returncode:
            errors.seek(0)
            sys.stderr.write(errors.read())
    return pip.returncode == 0


def _pip() -> list[str]:
    """The pip of the Python that runs this, if it has one: giving `.venv` its own takes longer than to use it."""
    if _has_pip():
        return [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    made = subprocess.run([PYTHON, "-m", "ensurepip"], capture_output=True, check=False)
    if made.returncode:
        sys.exit("This Python has neither pip nor ensurepip. Install one (Debian: apt install python3-venv), or uv.")
    return [str(PYTHON), "-m", "pip"]


def _has_pip() -> bool:
    if not importlib.util.find_spec("pip"):
        return False
    from importlib.metadata import version

    return int(version("pip").split(".")[0]) >= OLDEST_PIP


def _tell(said: IO[str], packages: int) -> None:
    """One line that says which package is being fetched, on a terminal."""
    done = 0
    for line in said:
        if line.startswith("Ignoring "):
            packages -= 1
        elif found := STEP.match(line):
            done += 1
            _show(f"  {done} of {packages}  {_name(found[1])}")
        elif line.startswith("Installing"):
            _show("  Unpacking")
    _show("")


def _name(word: str) -> str:
    """A package's name, from `name==version` or the path of a wheel."""
    return re.split(r"==|-\d", word.rpartition("/")[2])[0]


def _show(text: str) -> None:
    if sys.stdout.isatty():
        print(f"\r{text}\x1b[K", end="", flush=True)


def _add_this_checkout() -> None:
    """What an editable installation does, without fetching and running a build backend."""
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)}))
    (packages / "sayso.pth").write_text(f"{ROOT / 'src'}\n", "utf-8")
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for name, target in about["project"]["scripts"].items():
        module, _, function = target.partition(":")
        program = PYTHON.with_name(name)
        text = LAUNCHER.format(first_line=_first_line(), module=module, function=function)
        program.write_text(text, "utf-8")
        program.chmod(0o755)


def _first_line() -> str:
    plain = f"#!{PYTHON}"
    return BY_SHELL.format(python=PYTHON) if " " in plain or len(plain) > LONGEST_FIRST_LINE else plain


if __name__ == "__main__":
    main()
