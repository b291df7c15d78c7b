"""JSON with comments, for clients that take these and no comma after the last element."""

from __future__ import annotations

from typing import Any

from sayso.install.in_jsonc import drop, put
from sayso.jsontext import Commented

__all__ = ["drop", "put", "read"]


def read(text: str) -> Any:
    return Commented(text).root().value
