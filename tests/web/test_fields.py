"""Forms with files: what is read of them, and never more than is allowed."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from sayso.web import fields
from sayso.web.fields import Fields, Intake, SentFile, read_form

EDGE = "----edge'()+_,./:=?-"


def part(about: str, content: bytes) -> bytes:
    return f"--{EDGE}\r\nContent-Disposition: form-data; {about}\r\n\r\n".encode() + content + b"\r\n"


def read(body: bytes, sent: str = f'multipart/form-data; boundary="{EDGE}"', step: int = 1000) -> Fields:
    pieces: Iterator[bytes] = (body[place : place + step] for place in range(0, len(body), step))

    async def receive() -> dict[str, object]:
        piece = next(pieces, b"")
        return {"type": "http.request", "body": piece, "more_body": bool(piece)}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", sent.encode())]}
    return asyncio.run(read_form(Request(scope, receive)))


@pytest.fixture(autouse=True)
def _nothing_lies_in_a_file_of_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("what people send is written to a file")

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)


@pytest.mark.parametrize("step", [1, 7, 1_000_000])
def test_fields_and_files_are_read_however_they_arrive(step: int) -> None:
    photo = bytes(range(256)) * 3 + b"\r\n--" + EDGE[:-1].encode() + b"\r\n\r\n"
    body = part('name="q0"', "ä\r\nb".encode()) + part('name="q0"', b"") + part('name="picture"; filename=""', b"")
    body += part('name="picture"; filename="a %22b%22 ü.png"\r\nContent-Type: image/png', photo)
    sent = read(body + f"--{EDGE}--\r\n".encode(), step=step)
    assert (sent.one("q0"), sent.all("q0")) == ("ä\nb", ["ä\r\nb", ""])
    assert sent.files("picture") == [SentFile(name='a "b" ü.png', data=photo)]
    assert sent.files("q0") == []


def test_a_file_of_the_largest_size_is_read_in_memory() -> None:
    large = b"x" * (fields.MOST_BYTES - 1000)
    body = part('name="picture"; filename="a"', large) + f"--{EDGE}--\r\n".encode()
    assert read(body, step=65536).files("picture")[0].data == large


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (
            part('name="a"', b"x" * fields.MOST_BYTES),
            413,
            "This is too much: at most 16 MiB can be sent at once. Send less of it.",
        ),
        (part('name="a"', b"") * 30_000, 413, "A form has at most 20,000 fields and 1,000 files."),
        (part('name="a"; filename="b"', b"") * 1001, 413, "A form has at most 20,000 fields and 1,000 files."),
        (b"csrf=x", 400, "This form cannot be read: Invalid multipart data."),
        (part("filename=x", b""), 400, "This form cannot be read: "),
    ],
)
def test_what_is_too_much_or_cannot_be_read_is_refused_in_words(body: bytes, status: int, text: str) -> None:
    with pytest.raises(HTTPException) as refused:
        read(body, step=65536)
    assert refused.value.status_code == status
    assert refused.value.detail.startswith(text)


def test_what_finds_no_room_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "_KNOWN", Intake(10_000))
    with pytest.raises(HTTPException, match="Too much is being sent at once"):
        read(part('name="a"', b"x" * 20_000))
    assert read(part('name="a"', b"x") + f"--{EDGE}--".encode()).one("a") == "x", "the room is free again"


def test_a_form_without_a_boundary_or_of_another_type_is_refused() -> None:
    for sent, status in (("multipart/form-data", 400), ("text/plain", 415)):
        with pytest.raises(HTTPException) as refused:
            read(b"", sent)
        assert refused.value.status_code == status
