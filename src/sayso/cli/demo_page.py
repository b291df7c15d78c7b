"""The page of `sayso demo --web`: a real `sayso web` that ends with whoever started it, however that ends.

Run as a module it is that process, with the arguments of `sayso web`; it leaves when its stdin is closed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sayso.cli.demo_stage import START_SECONDS, end, said, start
from sayso.config import Config
from sayso.errors import SaysoError


@dataclass(frozen=True, kw_only=True)
class DemoPage:
    """Where it is, and the link that signs a person in."""

    address: str
    """For programs."""
    page: str
    """For people."""
    link: str
    user: str


@contextmanager
def page(config: Config, port: int) -> Iterator[DemoPage]:
    """The page, served on the stage's store until the end of the block."""
    log = config.state_dir / "page.log"
    process = start(config, log, "sayso.cli.demo_page", "web", "--port", str(port), "--json")
    assert process.stdout is not None
    try:
        told = _told(process)
        if told is None:
            raise SaysoError(f"The page could not be served. {said(log)}")
        yield DemoPage(address=told["address"], page=told["page"], link=told["link"], user=told["user"])
    finally:
        # Meanwhile a second Ctrl-C would only keep it from cleaning up.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        end(process)
        process.stdout.close()
        signal.signal(signal.SIGINT, before)


def _told(process: subprocess.Popen[bytes]) -> dict[str, str] | None:
    """What it says once it serves; None when it ends before, or takes too long."""
    assert process.stdout is not None
    patience = threading.Timer(START_SECONDS, process.kill)
    patience.start()
    text = b""
    try:
        while line := process.stdout.readline():
            text += line
            if line.rstrip() == b"}":
                told: dict[str, str] = json.loads(text)
                return told
    finally:
        patience.cancel()
    return None


def _leave_when_alone() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    from sayso.cli import main

    threading.Thread(target=_leave_when_alone, daemon=True).start()
    main()
