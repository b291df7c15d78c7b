"""What a runner is told: the command, where it runs, what it sees, and how far it may go. Checked before it is sent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.errors import InvalidInput, Problem
from sayso.running.record import RUNNER_FILE, STATUS_FILE, STDIN_FILE

LEAST_BYTES = 1024


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One command to run. The folder is the operation's own; `env` is the whole environment; no `stdin` is /dev/null.
    With `spoken_to` its input stays open instead, and gets what is left in the folder (`speaking.py`); the timeout then
    stands still while it rests.

    `max_bytes` is the limit of each stream on disk. `grace_seconds` lie between SIGTERM and SIGKILL for what a command
    leaves behind, and `stop_grace_seconds`, if given, for one that is stopped: where they are 0 all of it is halted and
    then killed, and does nothing more from the first moment on.
    """

    folder: Path
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None = None
    spoken_to: bool = False
    timeout_seconds: float | None = None
    grace_seconds: float = 2.0
    stop_grace_seconds: float | None = None
    max_bytes: int = 10 << 20
    allowed: Mapping[str, Any] | None = None
    """What a person allowed, if somebody had to: the `action` as data, its `digest`, and which of its `first` commands
    this is; None for the command itself. The runner compares it with what it is about to execute."""
    leads_to: Mapping[str, str] | None = None
    """Paths among its words, as seen from `cwd`, and where each led when it was looked at. Where one leads elsewhere by
    now, the runner does not run it."""
    sandbox: Mapping[str, Any] | None = None
    """What the kernel is to keep it to, as `confined.py` reads it; None for nothing."""

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            raise InvalidInput(problems)

    def _problems(self) -> Iterator[Problem]:
        if not self.argv or not self.argv[0]:
            yield Problem(path="argv", text="is empty; it must begin with the command to run.")
        for name, path in (("folder", str(self.folder)), ("cwd", str(self.cwd))):
            if not os.path.isabs(path):
                yield Problem(path=name, text=f"is {path!r}; it must be an absolute path.")
        if self.timeout_seconds is not None and not self.timeout_seconds > 0:
            yield Problem(path="timeout_seconds", text=f"is {self.timeout_seconds}; it must be more than 0.")
        for name, seconds in (("grace_seconds", self.grace_seconds), ("stop_grace_seconds", self.stop_grace_seconds)):
            if seconds is not None and not seconds >= 0:
                yield Problem(path=name, text=f"is {seconds}; it must be 0 or more.")
        if self.max_bytes < LEAST_BYTES:
            yield Problem(path="max_bytes", text=f"is {self.max_bytes}; it must be {LEAST_BYTES} or more.")

    @property
    def stop_grace(self) -> float:
        return self.grace_seconds if self.stop_grace_seconds is None else self.stop_grace_seconds

    def prepare_folder(self) -> None:
        """Make the folder, for nobody else to read, and leave the input in it."""
        try:
            os.mkdir(self.folder, 0o700)
        except FileNotFoundError:
            os.makedirs(self.folder, 0o700)
        except FileExistsError:
            self._take_over_folder()
        if self.stdin is not None:
            fd = os.open(self.folder / STDIN_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(fd, "wb") as file:
                file.write(self.stdin)

    def _take_over_folder(self) -> None:
        if any(os.path.lexists(self.folder / name) for name in (RUNNER_FILE, STATUS_FILE)):
            text = f"{str(self.folder)!r} already holds an operation; each operation needs a folder of its own."
            raise InvalidInput([Problem(path="folder", text=text)])
        os.chmod(self.folder, 0o700)

    def message(self) -> bytes:
        """The line that is sent to the runner."""
        fields: dict[str, object] = {
            "folder": str(self.folder),
            "argv": list(self.argv),
            "cwd": str(self.cwd),
            "env": dict(self.env),
            "stdin": self.stdin is not None,
            "timeout_seconds": self.timeout_seconds,
            "grace_seconds": self.grace_seconds,
            "stop_grace_seconds": self.stop_grace,
            "max_bytes": self.max_bytes,
        }
        if self.spoken_to:
            fields["spoken_to"] = True
        if self.allowed:
            fields["allowed"] = dict(self.allowed)
        if self.leads_to:
            fields["leads_to"] = dict(self.leads_to)
        if self.sandbox:
            fields["sandbox"] = dict(self.sandbox)
        return json.dumps(fields).encode() + b"\n"
