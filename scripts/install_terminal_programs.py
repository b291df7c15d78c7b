"""Installs programs of the system that the tests drive, where we may: tmux, the shells that complete commands beside
bash, and some whose words the rules have to know as well as they do.

Without tmux there are no terminal tests, and that is an error. Without one of the others, its own tests are skipped,
but not where CI is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PROGRAMS = {"tmux": "tmux", "zsh": "zsh", "fish": "fish", "cmake": "cmake", "curl": "curl", "ssh": "openssh-client"}
"""Each with its package where that has another name, as Debian calls it."""
MANAGERS = {
    "apt-get": (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]),
    "dnf": (["dnf", "install", "-y", "-q"],),
    "apk": (["apk", "add", "--quiet"],),
    "pacman": (["pacman", "-S", "--noconfirm"],),
    "brew": (["brew", "install", "--quiet"],),
}


def main() -> int:
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    manager = next((each for each in MANAGERS if shutil.which(each) and (each == "brew" or os.geteuid() == 0)), None)
    if missing and manager:
        print(f"Installing {', '.join(missing)} with {manager}...", flush=True)
        *before, install = MANAGERS[manager]
        for command in (*before, [*install, *missing]):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(command, check=False, stdin=subprocess.DEVNULL, env=environment)
    if shutil.which("tmux"):
        return 0
    print("The terminal tests need tmux. Install it and run make test again.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
