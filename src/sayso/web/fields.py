"""What a form sent, and reading bodies at all: never more of them than is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 16 * 1024 * 1024
MOST_FIELDS = 20_000
_FORM = "application/x-www-form-urlencoded"


class Fields:
    """The named values of a form. Line breaks are those that the person typed, not those of the wire."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    def one(self, name: str) -> str:
        return next(iter(self._values.get(name, ())), "").replace("\r\n", "\n")

    def all(self, name: str) -> Sequence[str]:
        return self._values.get(name, ())


async def read_form(request: Request) -> Fields:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != _FORM:
        raise HTTPException(415, f"A form is sent as {_FORM}.")
    text = (await read_body(request)).decode("ascii", "replace")
    values: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(413, f"A form has at most {MOST_FIELDS:,} fields.") from None
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return Fields(values)


async def read_body(request: Request) -> bytes:
    """The whole body; one that is too long is refused before it is taken in."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise HTTPException(413, f"At most {MOST_BYTES // 1024 // 1024} MB can be sent at once.")
        parts.append(part)
    return b"".join(parts)
