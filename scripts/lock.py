"""Writes the lock files: every package that Sayso, its tests or its build install, with version and hashes.

Pins stay as they are unless something makes them wrong; `--upgrade` takes the newest that fit.
`--check` also looks whether each lock has a wheel for every Python and platform that we support.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = "tests/e2e/clients/pins"
LOCKS: dict[str, tuple[str, ...]] = {
    "locks/sayso.txt": ("pyproject.toml",),
    "locks/extras.txt": ("pyproject.toml", "--all-extras"),
    "locks/dev.txt": ("pyproject.toml", "--all-extras", "--group", "dev"),
    "locks/build.txt": ("locks/build.in",),
    "locks/uv.txt": ("locks/uv.in",),
    f"{PINS}/mcp-1.txt": (f"{PINS}/mcp-1.in",),
    f"{PINS}/node.txt": (f"{PINS}/node.in",),
}
"""What each lock is made from. Those that are named later agree with those before."""

PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
)


def main() -> None:
    before: list[str] = []
    for lock, sources in LOCKS.items():
        print(lock, flush=True)
        write(lock, sources, before, upgrade="--upgrade" in sys.argv)
        if lock.startswith("locks/"):
            before = [lock]
    if "--check" in sys.argv:
        check()


def write(lock: str, sources: tuple[str, ...], agreeing: list[str], *, upgrade: bool) -> None:
    constraints = ["locks/constraints.txt", *agreeing]
    _uv(
        *("pip", "compile", "--quiet", "--universal", "--python-version", PYTHONS[0], "--generate-hashes"),
        *("--no-annotate", "--custom-compile-command", "make lock", "--output-file", lock),
        *(word for file in constraints for word in ("--constraints", file)),
        *(["--upgrade"] if upgrade else []),
        *sources,
    )


def check() -> None:
    """See that nothing needs a compiler anywhere. Fetches descriptions only, no packages."""
    for lock in LOCKS:
        for python in PYTHONS:
            for platform in PLATFORMS:
                print(f"{lock} on Python {python}, {platform}", flush=True)
                _uv(
                    *("pip", "install", "--quiet", "--dry-run", "--target", ".venv/none", "--only-binary", ":all:"),
                    *("--python-version", python, "--python-platform", platform),
                    *("--no-deps", "--require-hashes", "--requirement", lock),
                )


def _uv(*words: str) -> None:
    done = subprocess.run([Path(sys.executable).with_name("uv"), *words], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
