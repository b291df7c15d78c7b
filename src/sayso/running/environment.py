"""The environment commands run in: what the person's login shell gives, made quiet, and nothing that is Sayso's own.

Programs are also found where the server itself finds them: see `merged_path`.
The login shell runs once per shell, project, state of its profile files and environment it starts from; what it
changes is remembered in memory and on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sayso.files import replace_file

if sys.platform != "win32":
    import pwd

logger = logging.getLogger(__name__)

QUIET = {
    "NO_COLOR": "1",
    "CLICOLOR": "0",
    "TERM": "dumb",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""No colours, no pagers, no questions: nobody sits at this terminal."""

LOUD = {"FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM"}
OF_THE_SHELL = {"_", "SHLVL", "PWD", "OLDPWD"}
PRIVATE_PREFIX = "SAYSO_"
PRIVATE = {"ASK_USER_CONFIG"}

PROFILES = {
    "bash": ("/etc/profile", "/etc/profile.d", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.bashrc"),
    "zsh": ("/etc/zshenv", "/etc/zprofile", "/etc/zlogin", "~/.zshenv", "~/.zprofile", "~/.zlogin"),
    "fish": ("/etc/fish/config.fish", "~/.config/fish/config.fish", "~/.config/fish/conf.d"),
}
OTHER_PROFILES = ("/etc/profile", "/etc/profile.d", "~/.profile")

PATH = "PATH"
FALLBACK_SHELL = "/bin/sh"
MOST_REMEMBERED = 32

# /proc has the environment as the shell handed it over, before Python adjusts its locale in it. It goes to a file and
# not to stdout, which belongs to whatever the profile prints, and which a daemon of the profile may hold open.
TAKE = """
import os, sys
try:
    taken = open("/proc/self/environ", "rb").read()
except OSError:
    taken = b"\\0".join(name + b"=" + value for name, value in os.environb.items())
open(sys.argv[1], "wb").write(taken)
"""


_State = tuple[str, str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, kw_only=True)
class EnvironmentChange:
    """What the login shell makes of the environment it starts from."""

    set: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()

    def apply(self, base: Mapping[str, str]) -> dict[str, str]:
        changed = {name: value for name, value in {**base, **self.set}.items() if name not in self.unset}
        if PATH in base and PATH in changed:
            changed[PATH] = merged_path(base[PATH], changed[PATH])
        return changed


def merged_path(own: str, login: str) -> str:
    """The folders of both. Profiles often set PATH afresh; what the server's own has beyond that is an activated
    virtual environment, nvm or direnv, and comes first. One with all of the login's is a terminal's, and stays."""
    ours, theirs = own.split(os.pathsep), login.split(os.pathsep)
    if set(theirs) <= set(ours):
        return own
    return os.pathsep.join([*(folder for folder in ours if folder not in theirs), *theirs])


class Environments:
    """The environment for the commands of each project."""

    def __init__(self, *, folder: Path, environ: Mapping[str, str] = os.environ, timeout_seconds: float = 10.0) -> None:
        self._folder = folder
        self._base = {name: value for name, value in environ.items() if not _is_private(name)}
        self._shell = _shell(self._base)
        self._timeout_seconds = timeout_seconds
        self._known: dict[_State, dict[str, str]] = {}
        self._lock = threading.Lock()

    def for_project(self, project: Path) -> dict[str, str]:
        """The whole environment of a command in this project. The first call waits for the login shell."""
        state = self._state(project)
        with self._lock:
            if state not in self._known:
                key = hashlib.sha256(json.dumps([json.dumps(state), sorted(self._base.items())]).encode()).hexdigest()
                change = self._remembered(key) or self._ask(project, key)
                self._known[state] = quiet(change.apply(self._base))
                self._known = dict(list(self._known.items())[-MOST_REMEMBERED:])
            return self._known[state].copy()

    def knows(self, project: Path) -> bool:
        """Whether the next call for this project waits for no login shell."""
        return self._state(project) in self._known

    def _state(self, project: Path) -> _State:
        return _state(self._shell, project, self._base.get("HOME", ""))

    def _ask(self, project: Path, key: str) -> EnvironmentChange:
        """Run the login shell. When that fails the environment stays as it is, until something about it changes."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            taken = _login(self._shell, project, self._base, self._folder, self._timeout_seconds)
            change = _difference(self._base, taken)
            self._remember(key, change)
        except (OSError, ValueError) as error:
            logger.warning("commands run in the server's own environment: login shell %s: %s", self._shell, error)
            return EnvironmentChange()
        return change

    def _remembered(self, key: str) -> EnvironmentChange | None:
        try:
            fields = json.loads((self._folder / f"{key}.json").read_bytes())
            return EnvironmentChange(set=fields["set"], unset=tuple(fields["unset"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _remember(self, key: str, change: EnvironmentChange) -> None:
        data = json.dumps({"set": dict(change.set), "unset": change.unset}).encode()
        replace_file(self._folder / f"{key}.json", data)
        files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        for old in files[:-MOST_REMEMBERED]:
            old.unlink(missing_ok=True)


def quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """The same for a command that nobody watches: no colours, no pagers, no prompts, nothing that is Sayso's own."""
    kept = {name: value for name, value in environment.items() if not _is_private(name) and name not in LOUD}
    return {**kept, **QUIET}


def _is_private(name: str) -> bool:
    return name.startswith(PRIVATE_PREFIX) or name in PRIVATE


def _shell(base: Mapping[str, str]) -> str:
    named = base.get("SHELL")
    if named and os.access(named, os.X_OK):
        return named
    if sys.platform != "win32":
        with contextlib.suppress(KeyError):
            return pwd.getpwuid(os.getuid()).pw_shell or FALLBACK_SHELL
    return FALLBACK_SHELL


def _state(shell: str, project: Path, home: str) -> _State:
    """What decides, besides the environment it starts from, what a login shell makes of it."""
    names = PROFILES.get(os.path.basename(shell), OTHER_PROFILES)
    files = [home + name[1:] if name.startswith("~") else name for name in names]
    return shell, str(project), tuple([(file, _modified(file)) for file in files])


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _login(shell: str, project: Path, base: Mapping[str, str], folder: Path, timeout: float) -> dict[str, str]:
    """The environment the login shell exports in the project's directory."""
    descriptor, path = tempfile.mkstemp(dir=folder)
    os.close(descriptor)
    try:
        words = [sys.executable, "-I", "-S", "-c", TAKE, path]
        _run([shell, "-l", "-c", "exec " + shlex.join(words)], project, base, timeout)
        return _parse(Path(path).read_bytes())
    finally:
        os.unlink(path)


def _run(argv: list[str], project: Path, base: Mapping[str, str], timeout: float) -> None:
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        argv, stdin=nothing, stdout=nothing, stderr=nothing, cwd=project, env=base, start_new_session=True
    )
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise ValueError(f"its profile took more than {timeout:g} s") from error
    if process.returncode:
        raise ValueError(f"its profile made it end with {process.returncode}")


def _parse(taken: bytes) -> dict[str, str]:
    pairs = [os.fsdecode(item).partition("=") for item in taken.split(b"\0") if item]
    if not pairs:
        raise ValueError("its profile ended it before it could show its environment")
    return {name: value for name, _, value in pairs if name not in OF_THE_SHELL}


def _difference(base: Mapping[str, str], taken: Mapping[str, str]) -> EnvironmentChange:
    changed = {name: value for name, value in taken.items() if base.get(name) != value}
    return EnvironmentChange(set=changed, unset=tuple(sorted(base.keys() - taken.keys())))
