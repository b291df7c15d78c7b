"""Where the web inboxes of this machine are served: each notes it while it runs, so that other commands lead there.

What listens at such an address may be somebody else by now, who would be handed a way in. So whoever leads there has it
prove first that it works on the same store.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from sayso.config import Config
from sayso.files import replace_file
from sayso.records import record

PROOF = "/proof"
"""The address at which an inbox answers a challenge."""
Proves = Callable[[str, str, int], str]
"""What an inbox of this store says to a challenge that came to it at this address and port."""
_LISTENS_WITHIN = 1.0
_PROVES_WITHIN = 5.0
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


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
        if not is_anybody_there(other.inside):
            file.unlink(missing_ok=True)
    note = folder / f"{served.port}-{os.getpid()}.json"
    told = {"address": served.address, "inside": served.inside, "port": served.port}
    replace_file(note, json.dumps(told).encode())
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def running(config: Config, proves: Proves) -> list[ServedAt]:
    """The inboxes of this store that are served, the one that was started last first."""
    return [served for _, served in _notes(config.web_addresses_dir) if is_ours(served.inside, proves)]


def is_ours(address: str, proves: Proves) -> bool:
    """Whether an inbox of this store listens at this address of a machine. One elsewhere to which somebody passes on
    what we ask gives another answer, because it came to it elsewhere."""
    from http.client import HTTPConnection, HTTPException

    parts, challenge = urlsplit(address), os.urandom(32).hex()
    host = parts.hostname or ""
    asked = HTTPConnection(_ANYWHERE.get(host, host), parts.port or 80, timeout=_PROVES_WITHIN)
    try:
        asked.connect()
        reached = asked.sock.getpeername()
        asked.request("GET", f"{PROOF}?challenge={challenge}")
        said = asked.getresponse().read(200)
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        asked.close()
    return hmac.compare_digest(said.strip(), proves(challenge, plain_address(reached[0]), reached[1]).encode())


def is_anybody_there(address: str) -> bool:
    """Whether anything listens at this address."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 80), _LISTENS_WITHIN).close()
    except OSError as error:
        # Who is too busy to take us in is there.
        return isinstance(error, TimeoutError)
    return True


def plain_address(host: str) -> str:
    """An address as both ends of a connection write it."""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return str(getattr(found, "ipv4_mapped", None) or found)


def _notes(folder: Path) -> list[tuple[Path, ServedAt]]:
    found = []
    for file in folder.glob("*.json"):
        # One can end while we look.
        with suppress(OSError, ValueError, TypeError):
            found.append((file.stat().st_mtime_ns, file, ServedAt(**json.loads(file.read_bytes()))))
    return [(file, served) for _, file, served in sorted(found, key=lambda each: each[0], reverse=True)]
