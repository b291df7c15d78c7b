"""What a sandbox may have kept a command from, guessed from what the command printed: the kernel tells nobody else.

A path counts only where the person may touch it and the sandbox does not let the command; and all of it is told as a
guess.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from sayso.running.confined import APART, SHARED
from sayso.running.sandbox import Sandbox

LOOKED_AT = 16 * 1024
"""Bytes at the end of what it printed."""
_MOST_TOLD = 3
_DENIED = re.compile(r"permission denied|operation not permitted|\bEACCES\b|\bEPERM\b", re.IGNORECASE)
_PATH = re.compile(r"""['"‘`](?P<quoted>[^'"’`\n]+)['"’`]|(?P<bare>[~/][^\s:'",;()]+)""")
_NO_NETWORK = re.compile(
    r"could not resolve|name or service not known|name resolution|network is unreachable|getaddrinfo|ENOTFOUND"
    r"|failed to connect|could not connect|ECONNREFUSED|EAI_AGAIN|ENETUNREACH"
    r"|(?s:socket.{0,300}?(?:permission denied|EACCES))",
    re.IGNORECASE,
)


def guess(printed: str, sandbox: Sandbox, cwd: str) -> str:
    """A sentence about it; empty where nothing points to the sandbox."""
    told = list(dict.fromkeys(_kept_from(printed, sandbox, cwd)))
    if not told:
        return ""
    more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return (
        f"Its sandbox ({sandbox.profile}, network {sandbox.network}) may be why, which is a guess from what it "
        f"printed: it does not allow {', '.join(told[:_MOST_TOLD])}{more}."
    )


def _kept_from(printed: str, sandbox: Sandbox, cwd: str) -> Iterator[str]:
    for line in printed.splitlines():
        if _DENIED.search(line):
            for found in _PATH.finditer(line):
                named = found["quoted"] or found["bare"]
                if what := _denied(os.path.realpath(os.path.join(cwd, os.path.expanduser(named))), sandbox):
                    yield f"{what} {named}"
    if sandbox.network != "all" and _NO_NETWORK.search(printed):
        yield "that use of the network"


def _denied(path: str, sandbox: Sandbox) -> str:
    """What the sandbox keeps it from, of that which the person may do; empty where that is nothing."""
    if _is_below(path, sandbox.write) and not _is_below(path, sandbox.hidden):
        return ""
    if _is_hidden(path, sandbox) and os.access(path, os.R_OK):
        return "reading"
    there = path if os.path.lexists(path) else os.path.dirname(path)
    return "changing" if os.access(there, os.W_OK) else ""


def _is_hidden(path: str, sandbox: Sandbox) -> bool:
    own = (sandbox.home, *sandbox.read, *SHARED)
    return _is_below(path, sandbox.hidden) or (_is_below(path, tuple(APART)) and not _is_below(path, own))


def _is_below(path: str, tops: Sequence[str]) -> bool:
    return any(path == top or path.startswith(f"{top.rstrip('/')}/") for top in tops)
