"""Plain JSON, for clients that drop a file whole which has a comment or a comma too many."""

from __future__ import annotations

from typing import Any

from sayso.install.in_jsonc import drop, put
from sayso.jsontext import Plain

__all__ = ["drop", "put", "read"]


def read(text: str) -> Any:
    return Plain(text).root().value
