"""Plain JSON: a client that takes nothing else drops a file with a comment or a comma too many, whatever we put into it."""

from __future__ import annotations

from typing import Any

from sayso.install.in_jsonc import drop, put
from sayso.jsontext import Plain

__all__ = ["drop", "put", "read"]


def read(text: str) -> Any:
    return Plain(text).root().value
