"""Where the web inboxes of this machine are served: each notes it while it runs, so that other commands lead there."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from sayso.config import Config
from sayso.files import replace_file
from sayso.records import record

_LISTENS_WITHIN = 1.0


@record
class ServedAt:
    """One web inbox that runs."""

    address: str
    """Where people find it."""
    inside: str
    """Where programs of this machine do."""
    port: int


@contextmanager
def noted(config: Config, served: ServedAt) -> Iterator[None]:
    """Note an inbox while it is served, and forget those that ended without a word."""
    folder = config.web_addresses_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, other in _notes(folder):
        if not _listens(other):
            file.unlink(missing_ok=True)
    note = folder / f"{served.port}-{os.getpid()}.json"
    told = {"address": served.address, "inside": served.inside, "port": served.port}
    replace_file(note, json.dumps(told).encode())
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def running(config: Config) -> list[ServedAt]:
    """The inboxes that are served, the one that was started last first."""
    return [served for _, served in _notes(config.web_addresses_dir) if _listens(served)]


def _notes(folder: Path) -> list[tuple[Path, ServedAt]]:
    found = []
    for file in folder.glob("*.json"):
        # One can end while we look.
        with suppress(OSError, ValueError, TypeError):
            found.append((file.stat().st_mtime_ns, file, ServedAt(**json.loads(file.read_bytes()))))
    return [(file, served) for _, file, served in sorted(found, key=lambda each: each[0], reverse=True)]


def _listens(served: ServedAt) -> bool:
    inside = urlsplit(served.inside)
    try:
        socket.create_connection((inside.hostname, inside.port), _LISTENS_WITHIN).close()
    except OSError as error:
        # Who is too busy to take us in is there.
        return isinstance(error, TimeoutError)
    return True
