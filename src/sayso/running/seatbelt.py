"""The sandbox of macOS: what a command may do as a profile for `sandbox-exec`. Written from its documentation, untried.

What cannot be said there, such as asking a service of the system to start something, is outside of the promise.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_APART = ("/Users", "/private/tmp", "/private/var/tmp")
_NETWORK = {
    "all": ["(allow network*)", "(deny network-outbound (remote unix-socket))"],
    "loopback": ['(allow network* (local ip "localhost:*"))', '(allow network-outbound (remote ip "localhost:*"))'],
    "none": [],
}


def profile(sandbox: Mapping[str, Any], temporary: str) -> str:
    """The last line that is about something decides."""
    own = [*sandbox["write"], temporary]
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        *(f"(allow file-write* (literal {_quoted(path)}))" for path in _DEVICES),
        *(f"(deny file-read* {_below(path)})" for path in _APART),
        *(f"(allow file-read* {_below(path)})" for path in (sandbox["home"], *sandbox["read"], *own)),
        *(f"(allow file-write* {_below(path)})" for path in own),
        *(f"(deny file-read* file-write* {_below(path)})" for path in sandbox["hidden"]),
        f"(allow file-read* file-write* {_below(temporary)})",
        "(deny network*)",
        *_NETWORK[sandbox["network"]],
        "(deny appleevent-send)",
        "(deny job-creation)",
        "(deny signal (target others))",
    ]
    return "\n".join(lines)


def _below(path: str) -> str:
    return f"(subpath {_quoted(path)})"


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
