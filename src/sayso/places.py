"""Where the system keeps a user's files, for the few who may import nothing more; all else about places is in `config`.

Imports next to nothing: a server needs it before anything large is there.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def cache_dir(environ: Mapping[str, str] = os.environ) -> str | None:
    """Where Sayso keeps what can be made again at any time; None where the user has no home."""
    home = environ.get("XDG_CACHE_HOME") or (environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    if not home:
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "sayso") if os.path.isabs(home) else None
