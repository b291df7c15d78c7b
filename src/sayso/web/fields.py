"""What a form sent, and reading bodies at all: never more of them than is allowed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sayso.records import record

MOST_BYTES = 16 * 1024 * 1024
FROM_STRANGERS = 64 * 1024
"""Of whom nothing is known yet; a sign-in link and its form are far shorter."""
MOST_FIELDS = 20_000
_FORM = "application/x-www-form-urlencoded"
_WITH_FILES = "multipart/form-data"
_BOUNDARY = re.compile(r'boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?')
_NAME = re.compile(r'[;\s]name="([^"\r\n]{1,100})"')
_FILE_NAME = re.compile(r'[;\s]filename="([^"\r\n]{0,1000})"')


@record
class SentFile:
    """A file of a form: what its sender calls it, and what is in it."""

    name: str
    data: bytes


class Fields:
    """The named values of a form. Line breaks are those that the person typed, not those of the wire."""

    def __init__(
        self, values: Mapping[str, Sequence[str]], files: Mapping[str, Sequence[SentFile]] | None = None
    ) -> None:
        self._values, self._files = values, files or {}

    def files(self, name: str) -> Sequence[SentFile]:
        """The files that were chosen. A field in which none was is sent as one without a name."""
        return [file for file in self._files.get(name, ()) if file.data or file.name]

    def one(self, name: str) -> str:
        return next(iter(self._values.get(name, ())), "").replace("\r\n", "\n")

    def all(self, name: str) -> Sequence[str]:
        return self._values.get(name, ())


class Intake:
    """What is being read at this moment, over all connections. Short bodies always fit."""

    def __init__(self, most: int, short: int = 4096) -> None:
        self._most, self._short, self._held = most, short, 0

    async def read(self, request: Request, most: int) -> bytes:
        """The whole body; one that is too long, or finds no room, is refused before it is taken in."""
        if int(request.headers.get("content-length", 0)) > most:
            raise _too_long(most)
        parts: list[bytes] = []
        size = 0
        try:
            async for part in request.stream():
                size += len(part)
                self._held += len(part)
                if size > most:
                    raise _too_long(most)
                if self._held > self._most and size > self._short:
                    raise HTTPException(503, "Too much is being sent at once. Try again.", {"Retry-After": "5"})
                parts.append(part)
            return b"".join(parts)
        finally:
            self._held -= size


_KNOWN, _STRANGERS = Intake(128 * 1024 * 1024), Intake(8 * 1024 * 1024)


def _too_long(most: int) -> HTTPException:
    return HTTPException(413, f"At most {most // 1024:,} KiB can be sent at once.")


async def read_form(request: Request) -> Fields:
    return await _form(request, read_body)


async def read_form_with_files(request: Request) -> Fields:
    """The same, also where files are sent along."""
    sent, _, parameters = request.headers.get("content-type", "").partition(";")
    boundary = _BOUNDARY.fullmatch(parameters.strip())
    if sent.strip().lower() != _WITH_FILES or not boundary:
        return await read_form(request)
    values: dict[str, list[str]] = {}
    files: dict[str, list[SentFile]] = {}
    for head, content in _parts(await read_body(request), boundary[1].encode()):
        name = _NAME.search(head)
        if name and (called := _FILE_NAME.search(head)):
            # As browsers spell a quotation mark in a name.
            files.setdefault(name[1], []).append(SentFile(name=called[1].replace("%22", '"'), data=content))
        elif name:
            values.setdefault(name[1], []).append(content.decode(errors="replace"))
    return Fields(values, files)


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, bytes]]:
    """The head and the content of each part; what is not ended is none."""
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if len(parts) > MOST_FIELDS:
        raise HTTPException(413, f"A form has at most {MOST_FIELDS:,} fields.")
    for part in parts[1:-1]:
        head, found, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if found:
            yield head.decode(errors="replace"), content


async def read_strangers_form(request: Request) -> Fields:
    return await _form(request, read_strangers_body)


async def _form(request: Request, read: Callable[[Request], Awaitable[bytes]]) -> Fields:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != _FORM:
        raise HTTPException(415, f"A form is sent as {_FORM}.")
    text = (await read(request)).decode("ascii", "replace")
    values: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(413, f"A form has at most {MOST_FIELDS:,} fields.") from None
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return Fields(values)


async def read_body(request: Request) -> bytes:
    """The body of somebody whose session or token is known."""
    return await _KNOWN.read(request, MOST_BYTES)


async def read_strangers_body(request: Request) -> bytes:
    """A body that has to be read before anything is known of its sender."""
    return await _STRANGERS.read(request, FROM_STRANGERS)
