"""Make sure that tmux is there: the terminal tests drive a real one. Installs it where we may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

MANAGERS = {
    "apt-get": (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "tmux"]),
    "dnf": (["dnf", "install", "-y", "-q", "tmux"],),
    "apk": (["apk", "add", "--quiet", "tmux"],),
    "pacman": (["pacman", "-S", "--noconfirm", "tmux"],),
    "brew": (["brew", "install", "--quiet", "tmux"],),
}


def main() -> int:
    if shutil.which("tmux"):
        return 0
    for manager, commands in MANAGERS.items():
        if shutil.which(manager) and (manager == "brew" or os.geteuid() == 0):
            print(f"Installing tmux with {manager}...", flush=True)
            for command in commands:
                subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
            return 0
    print("The terminal tests need tmux. Install it and run make test again.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
