"""When Gemini can load a session without losing it.

Its file has the minute in its name, and the beginning of the session's. Before Gemini (0.61) loads a session, it begins
an empty one under the same name: in the minute in which the session began, in the same file, where that takes the
place of all that was said.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_MINUTE = 60
_NAMED = 8
"""How much of the session's name is in that of its file."""


def seconds_until_safe(session: str, now: float) -> float:
    """How long to wait at this time of the clock before the session is loaded: less than a minute, mostly nothing."""
    minute = time.strftime("%Y-%m-%dT%H-%M", time.gmtime(now))
    home = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())
    began_now = any(home.glob(f".gemini/tmp/*/chats/session-{minute}-{session[:_NAMED]}.jsonl"))
    return _MINUTE - now % _MINUTE if began_now else 0.0
