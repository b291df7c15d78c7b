"""What a form sent, and reading bodies at all: never more of them than is allowed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from sayso.records import record

MIB = 1024 * 1024
MOST_BYTES = 16 * MIB
FROM_STRANGERS = 64 * 1024
"""Of whom nothing is known yet; a sign-in link and its form are far shorter."""
MOST_FIELDS, MOST_FILES = 20_000, 1_000
CHECK_AGAIN = "check_again"
"""What of a request's state refuses its sender, where they are not signed in any more."""
_AT_ONCE = 0.5
"""Seconds within which a whole body usually comes."""
_SHORT = 4096
"""Bytes of a body for which there is always room."""
_FORM = "application/x-www-form-urlencoded"
_WITH_FILES = "multipart/form-data"


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
    """What is being read at this moment, over all connections."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    async def read(self, request: Request, most: int) -> bytes:
        return b"".join([part async for part in self.stream(request, most)])

    async def stream(self, request: Request, most: int) -> AsyncGenerator[bytes]:
        """The body, part by part; one that is too long, or finds no room, is refused before it is taken in."""
        if int(request.headers.get("content-length", 0)) > most:
            raise _too_long(most)
        size = 0
        try:
            async for part in request.stream():
                size += len(part)
                self._held += len(part)
                if size > most:
                    raise _too_long(most)
                if self._held > self._most and size > _SHORT:
                    raise HTTPException(503, "Too much is being sent at once. Try again.", {"Retry-After": "5"})
                yield part
        finally:
            self._held -= size


_KNOWN, _STRANGERS = Intake(128 * 1024 * 1024), Intake(8 * 1024 * 1024)


def _too_long(most: int) -> HTTPException:
    shown = f"{most // MIB} MiB" if most >= MIB else f"{most // 1024} KiB"
    return HTTPException(413, f"This is too much: at most {shown} can be sent at once. Send less of it.")


async def read_form(request: Request) -> Fields:
    """The form of somebody whose session is known, and the files that were sent along."""
    if _type_of(request) != _WITH_FILES:
        return await _form(request, read_body)
    body = _of_known(request)
    limits = {"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": MOST_BYTES}
    try:
        sent = await _InMemory(request.headers, body, **limits).parse()
    except MultiPartException as error:
        if error.message.startswith("Too many"):
            raise HTTPException(413, f"A form has at most {MOST_FIELDS:,} fields and {MOST_FILES:,} files.") from error
        raise HTTPException(400, f"This form cannot be read: {error.message}") from error
    values: dict[str, list[str]] = {}
    files: dict[str, list[SentFile]] = {}
    for name, given in sent.multi_items():
        if isinstance(given, str):
            values.setdefault(name, []).append(given)
        else:
            files.setdefault(name, []).append(_file(given))
    return Fields(values, files)


class _InMemory(MultiPartParser):
    """What people send along is read here, and lies in no file of the system's."""

    spool_max_size = MOST_BYTES + 1


def _file(sent: UploadFile) -> SentFile:
    with sent.file as opened:
        # As browsers spell a quotation mark in a name.
        return SentFile(name=(sent.filename or "").replace("%22", '"'), data=opened.read())


async def read_strangers_form(request: Request) -> Fields:
    return await _form(request, read_strangers_body)


async def _form(request: Request, read: Callable[[Request], Awaitable[bytes]]) -> Fields:
    if _type_of(request) != _FORM:
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


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request) -> bytes:
    """The body of somebody whose session or token is known."""
    return b"".join([part async for part in _of_known(request)])


async def _of_known(request: Request) -> AsyncGenerator[bytes]:
    """Who takes their time over it is looked at again at its end: they may have been shut out since it began."""
    begun = time.monotonic()
    async for part in _KNOWN.stream(request, MOST_BYTES):
        yield part
    if time.monotonic() - begun > _AT_ONCE and (check := getattr(request.state, CHECK_AGAIN, None)):
        await check()


async def read_strangers_body(request: Request) -> bytes:
    """A body that has to be read before anything is known of its sender."""
    return await _STRANGERS.read(request, FROM_STRANGERS)
