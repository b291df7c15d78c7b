"""Whether a path from a call stays inside the directories it may touch. It looks at the file system, changes nothing.

A guard against accidents and careless calls: the command itself can still go where its user may go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from sayso.text import quoted

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\|.*(^|[\\/])\.\.\\")


def escapes(value: str, *, base: Path, roots: Sequence[Path]) -> str:
    """Why `value`, read from `base`, may not be used; empty when it may. Links are followed, `..` is resolved."""
    if not value:
        return "is empty. Give a path, or leave it out."
    if os.name != "nt" and _WINDOWS.match(value):
        return f"is {quoted(value)}, a Windows path, and this is not Windows. Give a path relative to {base}."
    if value.startswith("~"):
        return f"is {quoted(value)}; `~` is not expanded. Give a path relative to {base}."
    try:
        real = (base / value).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        return f"is {quoted(value)}, which cannot be resolved ({error})."
    if any(real.is_relative_to(root.resolve()) for root in roots):
        return ""
    allowed = " or ".join(str(root) for root in roots)
    return f"is {quoted(value)}, which leads to {real}. It must stay inside {allowed}."
