"""Finds a Chromium for the browser tests and prints its path; installs one where there is none.

In this order: a Chromium or Chrome on PATH, Debian's package (as root), the one that Playwright brings. The shell that
has no windows comes first: a page of its own takes it a quarter of the processor time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("chromium-headless-shell", "chromium")
NAMES = (*PACKAGES, "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
SECONDS = 900


def find() -> str | None:
    """A browser that is there: the system's, or the one Playwright installed."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    return next((place for place in PLACES if Path(place).exists()), None) or _of_playwright()


def install() -> str | None:
    """Install one by the first way that works."""
    ways = [_by_package_manager] if shutil.which("apt-get") and os.geteuid() == 0 else []
    for way in (*ways, _by_playwright):
        way()
        if found := find():
            return found
    return None


def _by_package_manager() -> None:
    _apt("update")
    for package in PACKAGES:
        if not find():
            _apt("install", "-y", "--no-install-recommends", package)


def _apt(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", *arguments], check=False, timeout=SECONDS, env=environment, stdout=sys.stderr.fileno())


def _by_playwright() -> None:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(command, check=False, timeout=SECONDS, stdout=sys.stderr.fileno())


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def main() -> None:
    found = find() or install()
    if found is None:
        sys.exit("No Chromium could be found or installed. Install one, for example: apt-get install chromium")
    print(found)


if __name__ == "__main__":
    main()
