"""A real terminal for the tests: tmux shows the program, keys are sent to it, the screen is read from it.

Every terminal is a tmux server of its own, which ends with it and everything that runs in it.
"""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

import psutil
from tests.asks.samples import flood, permission_ask
from tests.e2e.stdio.harness import Place

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question
from sayso.clock import now_ms
from sayso.dialects import approve
from sayso.store import open_store

WAIT = 90.0
READING = 0.85
"""Seconds in which a person has read what is on the screen; keys that come much sooner are not taken as meant."""
NOTICE = 2.0
"""Seconds after which a notice is one about the last key."""
NOT_TAKEN = "Not taken:"
T = TypeVar("T")
_numbers = itertools.count()


class Terminal:
    """One terminal with one program in it."""

    def __init__(self, place: Place, environment: Mapping[str, str], size: tuple[int, int]) -> None:
        self._name = f"sayso-test-{os.getpid()}-{next(_numbers)}"
        self.place, self._environment = place, {**place.environment, **environment}
        self._again: Callable[[], None] | None = None
        self._changed = 0.0
        self._code = place.folder / f"{self._name}.code"
        self.tmux("-f", os.devnull, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "exec sleep 600")
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.tmux("set-option", "-g", "allow-passthrough", "on")

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=True, env=_TMUX_ENVIRONMENT)
        return done.stdout

    def start(self, program: str = "sayso") -> None:
        """Start the program in place of what runs there, with the person's environment and no other."""
        given = " ".join(f"{name}={_quoted(value)}" for name, value in self._environment.items())
        self._code.unlink(missing_ok=True)
        started = f'cd {self.place.project} && env -i {given} TMUX="$TMUX" TERM="$TERM" {program}'
        self.tmux("respawn-pane", "-k", f"{started}; echo $? >{self._code}")

    @property
    def name(self) -> str:
        return self._name

    @property
    def process(self) -> psutil.Process:
        shell = psutil.Process(int(self.told("pane_pid")))
        return until(shell.children, lambda: "the program to start")[0]

    def told(self, name: str) -> str:
        """What tmux tells of the pane."""
        return self.tmux("display-message", "-p", f"#{{{name}}}").rstrip("\n")

    def keys(self, *names: str) -> None:
        """Press keys, by tmux's names, each when a person could have read what the last one brought."""
        for name in names:
            self.read()
            self.tmux("send-keys", name)
            self.did(partial(self.keys, name))

    def did(self, again: Callable[[], None] | None = None) -> None:
        """Something was just pressed; `again` does the same once more, should the program say that it came too soon."""
        self._again, self._changed = again, time.monotonic()

    def read(self) -> None:
        """Let the time pass in which a person reads what has come."""
        select.select([], [], [], max(self._changed + READING - time.monotonic(), 0))

    def hold(self, name: str, seconds: float) -> None:
        """Hold a key down for so long, once what is shown could be read: it comes thirty times a second."""
        self.read()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tmux("send-keys", name)
            select.select([], [], [], 0.033)
        self.did(partial(self.hold, name, seconds))

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)
        self.did()

    def paste(self, text: str) -> None:
        """Paste this as one piece, once what is shown could be read; tmux tells the program what is pasted."""
        self.read()
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p", "-r")

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def sees(self, *texts: str) -> None:
        """Wait for these. On a slow machine a key or a click may come before the screen was ready for it; as a person
        would, who is told so, press it again."""
        for text in texts:
            until(lambda text=text: self._comes(text), lambda text=text: f"{text!r} on\n{self.screen()}")  # type: ignore[misc]
        self._changed = time.monotonic()

    def sees_not(self, text: str) -> None:
        until(lambda: not self._shows(text), lambda: f"{text!r} to go from\n{self.screen()}")
        self._changed = time.monotonic()

    def brings(self, look: Callable[[], object]) -> None:
        """The same for something that is not on the screen."""
        until(lambda: look() or self._press_again(), self.screen)

    def _comes(self, text: str) -> bool:
        return self._shows(text) or self._press_again()

    def _press_again(self) -> bool:
        if self._again and time.monotonic() - self._changed > NOTICE and self._shows(NOT_TAKEN):
            self._again()
        return False

    def _shows(self, text: str) -> bool:
        """Whether the text stands there, in one line or wrapped."""
        screen = self.screen()
        return text in screen or text in " ".join(screen.replace("▌", " ").split())

    def kill(self) -> None:
        """End the program as hard as possible."""
        self.process.send_signal(signal.SIGKILL)
        self.ended()

    def ended(self) -> int:
        """The exit code, once the program has ended."""
        until(lambda: self._code.exists() and self._code.read_text(), lambda: f"the program to end\n{self.screen()}")
        return int(self._code.read_text())

    def close(self) -> None:
        """Close the terminal; whatever ran in it has ended then, and writes no more."""
        ran: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess, ValueError):
            ran = psutil.Process(int(self.told("pane_pid"))).children(recursive=True)
        self.tmux("kill-server")
        for process in psutil.wait_procs(ran, WAIT)[1]:
            process.kill()


_TMUX_ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}


@contextmanager
def terminal(
    place: Place, size: tuple[int, int] = (80, 24), environment: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    opened = Terminal(place, environment or {}, size)
    try:
        yield opened
    finally:
        opened.close()


class Agents:
    """Agents that ask from the test's own process: enough where their protocol does not matter."""

    def __init__(self, place: Place) -> None:
        self._store = open_store(place.config())
        self._now = 0
        self.desk = AskDesk(self._store, clock=self._later)

    def _later(self) -> int:
        """A millisecond of its own for each ask: they are sorted by it."""
        self._now = max(now_ms(), self._now + 1)
        return self._now

    def permission(self, title: str) -> Held:
        """Ask for a permission as Claude Code does."""
        options = (Option(id="allow", label="Allow"), Option(id="deny", label="Deny"))
        question = Question(id="decision", text="The agent wants to use `Bash`.", kind=Kind.SELECT, options=options)
        asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
        return self.desk.hold(NewAsk(tool="approve", title=title, questions=(question,), asker=asker, bound=True))

    def bash(self, command: str) -> Held:
        """The same for this command, with all that is shown of it."""
        wanted = approve.Permission(tool="Bash", given={"command": command})
        asker = Asker(client="claude-code", project="/home/anna/api", host="workbench", agent="a")
        return self.desk.hold(permission_ask(wanted, asker))

    def ask(self, *questions: Question, client: str = "claude-code", project: str = "/home/anna/api") -> Held:
        asker = Asker(client=client, project=project, host="workbench")
        return self.desk.hold(NewAsk(tool="ask_user", questions=questions, asker=asker))

    def flood(self, asker: Asker, count: int) -> None:
        flood(self._store, asker, count)

    def close(self) -> None:
        self._store.close()


@contextmanager
def agents(place: Place) -> Iterator[Agents]:
    opened = Agents(place)
    try:
        yield opened
    finally:
        opened.close()


def until(look: Callable[[], T], what: Callable[[], str]) -> T:
    """What `look` finds as soon as it finds something; an AssertionError when that takes too long."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := look():
            return found
        # Most of them start a program, which takes longer than the moment.
        select.select([], [], [], 0.1)
    raise AssertionError(f"Waited {WAIT:.0f} seconds for {what()}")


def colour(text: str = "Which colour?") -> Question:
    options = (Option(id="r", label="Red"), Option(id="b", label="Blue", recommended=True))
    return Question(id="q", text=text, kind=Kind.SELECT, options=options)


def words(text: str) -> Question:
    return Question(id="w", text=text)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"
