"""`sayso web --tunnel`: a person's own program that leads to the inbox from elsewhere. It is started with the inbox,
watched, and ends with it, however that ends."""

from __future__ import annotations

import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sayso.cli.terminal import say
from sayso.cli.texts import mark, tr
from sayso.config import Config
from sayso.errors import CannotListen, InvalidInput, Problem, ToolUnavailable
from sayso.process_table import everyone
from sayso.running import tree
from sayso.text import one_line

PATIENCE = 60.0
"""Seconds until the program must have said its address."""
_KEPT_LINES = 6
_LEAVE_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class TunnelProgram:
    """What is run, and how it tells the address."""

    name: str
    words: Callable[[str], list[str]]
    """The command, from the address on this machine."""
    address: re.Pattern[str]
    after: str = ""
    """What it says before the address counts."""
    never: str = ""
    """What it says where the inbox would be open to more people than it should."""
    get_it: str = ""
    reach: str = ""
    """Who can reach the inbox by it."""


PROGRAMS = {
    program.name: program
    for program in (
        TunnelProgram(
            name="tailscale",
            # `serve` and never `funnel`: it is for the devices of one's own tailnet.
            words=lambda address: ["tailscale", "serve", address],
            address=re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)*\.ts\.net(?::\d+)?(?=[/\s]|$)"),
            after="Available within your tailnet",
            never="Available on the internet",
            get_it="https://tailscale.com/download",
            reach=mark(
                "The devices of your tailnet reach it; Tailscale sees that they connect, and nothing of what is said."
            ),
        ),
        TunnelProgram(
            name="cloudflared",
            words=lambda address: ["cloudflared", "tunnel", "--no-autoupdate", "--url", address],
            address=re.compile(r"https://[a-z0-9]+(?:-[a-z0-9]+)*\.trycloudflare\.com(?=[/\s|]|$)"),
            get_it="https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
            reach=mark(
                "Anybody who knows this address reaches the sign-in page, and Cloudflare, where TLS ends, can read all "
                "that you see and say there."
            ),
        ),
    )
}


def check(config: Config) -> None:
    """Refuse what a tunnel does not go together with."""
    if config.web_url:
        text = f"leave it out, and web_url too (now {config.web_url!r}): the address comes from the tunnel"
        raise InvalidInput([Problem(path="--url", text=text)])
    if config.web_host not in ("127.0.0.1", "::1", "localhost"):
        text = f"is {config.web_host!r}; with --tunnel it must be loopback, so that there is no way around the tunnel"
        raise InvalidInput([Problem(path="--host", text=text)])


@contextmanager
def tunnel(name: str, inside: str) -> Iterator[str]:
    """Lead to `inside` from elsewhere, for as long as this lasts. The address that others use."""
    program = PROGRAMS[name]
    if shutil.which(name) is None:
        raise ToolUnavailable(
            f"--tunnel {name} runs your own `{name}`, and none is on PATH. Get it from {program.get_it}, or leave "
            "--tunnel out: `sayso web --host 0.0.0.0` serves your own network."
        )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        running = subprocess.Popen(
            [sys.executable, "-P", "-m", "sayso.guard.kept", str(theirs.fileno()), *program.words(inside)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        watched = _Watched(program, running)
        try:
            yield watched.address()
        finally:
            watched.ending = True
            ours.close()
            running.wait()
            watched.join(_LEAVE_SECONDS)


class _Watched:
    """What a program says, from its beginning to its end."""

    def __init__(self, program: TunnelProgram, running: subprocess.Popen[bytes]) -> None:
        self._program, self._running, self.ending = program, running, False
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        self._found: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._counts = not program.after
        self._told = False
        reading, keeping = (threading.Thread(target=does, daemon=True) for does in (self._read, self._see_off))
        reading.start()
        keeping.start()
        self.join = reading.join

    def address(self) -> str:
        """Where others find us, once the program has said it."""
        try:
            found = self._found.get(timeout=PATIENCE)
        except queue.Empty:
            raise self._failed(f"has not said its address within {PATIENCE:.0f} seconds") from None
        if not found:
            raise self._failed(f"has ended (exit code {self._running.wait()})")
        if found == self._program.never:
            raise self._failed("would open the inbox to the whole internet, and was stopped")
        return found

    def _failed(self, what: str) -> CannotListen:
        said = "\n".join(f"  {line}" for line in self._last) or "  nothing"
        return CannotListen(f"The tunnel did not come up: {self._program.name} {what}. It said:\n{said}")

    def _read(self) -> None:
        assert self._running.stdout is not None
        with self._running.stdout as output:
            for raw in output:
                self._take(raw.decode(errors="replace").strip())
        self._found.put("")
        code = self._running.wait()
        if self._told and not self.ending:
            text = mark("{program} has ended (exit code {n}), so nobody reaches this from elsewhere any more: {line}")
            say(tr(text, program=self._program.name, n=code, line=self._last[-1] if self._last else ""))

    def _see_off(self) -> None:
        """The program ends with its keeper; where that is killed, here: it leads a session, of which the program is."""
        if self._running.wait() < 0:
            tree.kill(process for process in everyone() if _session(process.pid) == self._running.pid)

    def _take(self, line: str) -> None:
        if line:
            self._last.append(one_line(line, 300))
        if self._told:
            return
        if self._program.never and self._program.never in line:
            self._found.put(self._program.never)
        self._counts = self._counts or self._program.after in line
        if self._counts and (found := self._program.address.search(line)):
            self._told = True
            self._found.put(found[0])


def _session(pid: int) -> int:
    """That of a process; 0 of one that is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0
