"""Finds the browsers for the tests and prints their paths; installs what is not there.

In this order: a Chromium or Chrome on PATH, Debian's package (as root), the one that Playwright brings. Most pages are
tested in the shell that has no windows, where there is one: a page of its own takes it a quarter of the processor time.
But it cannot notify.

`--of-the-system` installs Debian's packages and nothing else. That needs no package of Python's, so it can be done
while those are fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
SECONDS = 900


def find() -> str | None:
    """The quickest browser that is there."""
    return shutil.which(SHELL) or find_whole()


def find_whole() -> str | None:
    """One with all that browsers have: the system's, or the one Playwright installed."""
    return _of_the_system() or _of_playwright()


def _of_the_system() -> str | None:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    return next((place for place in PLACES if Path(place).exists()), None)


def install_packages() -> None:
    """Install what the system has packages for and we may install, unless it is there."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return
    missing = [SHELL] * (not shutil.which(SHELL)) + ["chromium"] * (not _of_the_system())
    if not missing:
        return
    _apt("update")
    # Together that is done sooner, but where one of them is unknown none is installed.
    if not _installed(*missing):
        for package in missing:
            _installed(package)


def _installed(*packages: str) -> bool:
    return _apt("install", "-y", "--no-install-recommends", *packages)


def _apt(*arguments: str) -> bool:
    command, environment = ["apt-get", *arguments], {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, check=False, timeout=SECONDS, env=environment, stdout=sys.stderr.fileno())
    return done.returncode == 0


def _by_playwright() -> None:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(command, check=False, timeout=SECONDS, stdout=sys.stderr.fileno())


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def main() -> None:
    install_packages()
    if "--of-the-system" in sys.argv:
        return
    if not find_whole():
        _by_playwright()
    if not find_whole():
        sys.exit("No Chromium could be found or installed. Install one, for example: apt-get install chromium")
    print(find(), find_whole(), sep="\n")


if __name__ == "__main__":
    main()
