"""JSON that somebody else has written: an agent, a client, a service, whoever brought the project."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def loads(text: str | bytes, *, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """As `json.loads`, where whatever is wrong with the text is a ValueError, also that it is nested too deeply."""
    try:
        return json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
