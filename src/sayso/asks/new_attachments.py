"""What is kept of a picture or a file that somebody adds: pictures without metadata, each under a safe name.

What a file is, its content says; what its sender calls it counts for nothing but its name.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from sayso import pictures
from sayso.asks.model import Attachment, NewAttachment
from sayso.errors import InvalidInput, Problem
from sayso.files import read_regular
from sayso.hashes import sha256
from sayso.text import quoted

LONGEST_NAME = 100
_LONGEST_ENDING = 12
_KEPT = set("._-+()@ ")
_TEXT_CONTROLS = set("\t\n\r\f")


def prepared(name: str, data: bytes, path: str = "file") -> NewAttachment:
    """What is kept of a file: a picture without metadata, anything else as it is. InvalidInput: it is not taken."""
    shown = quoted(safe_name(name))
    if not data:
        raise _refused(path, f"{shown} is empty. Choose another file.")
    media = pictures.media_type(data)
    if pictures.is_other_photo(data):
        raise _refused(
            path,
            f"{shown} is a HEIC, AVIF or TIFF photo, and where it was taken cannot be taken out of it. Send it as a "
            "JPEG or PNG.",
        )
    if media and not pictures.is_drawable(data):
        raise _refused(
            path,
            f"{shown} is no whole picture, or too large to be drawn: at most {pictures.LONGEST_SIDE:,} pixels on a "
            f"side and {pictures.MOST_PIXELS // 1_000_000} million in all. Make it smaller.",
        )
    clean = pictures.without_metadata(data) if media else data
    width, height = pictures.dimensions(clean)
    kept = Attachment(
        id=sha256(clean)[:32],
        name=safe_name(name, pictures.NAMES.get(media, "")),
        media=media or _other_media(data),
        size=len(clean),
        width=width,
        height=height,
    )
    return NewAttachment(kept=kept, data=clean)


def from_disk(named: str, most: int, path: str = "file") -> tuple[str, bytes]:
    """The name of a file that a person has named, and what is in it. InvalidInput: it cannot be read, or is too
    large."""
    try:
        file = Path(named).expanduser()
        data = read_regular(file, most)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _refused(path, f"{quoted(named)} cannot be read: {why}. Name a file that is there.") from error
    if len(data) > most:
        raise _refused(path, f"{quoted(named)} is larger than {most / 1_000_000:g} MB. Send a smaller one.")
    return file.name, data


def safe_name(name: str, ending: str = "") -> str:
    """A name that is fit for a file, a line of text and a header: no folders, nothing that drives a terminal or turns
    the direction of writing. A picture's ends as its content says."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    plain = "".join(each if each.isalnum() or each in _KEPT else "_" for each in last).strip(". _")
    stem, dot, suffix = plain.rpartition(".")
    if not dot or not suffix.isalnum() or len(suffix) > _LONGEST_ENDING:
        stem, suffix = plain, ""
    suffix = ending or suffix
    stem = _cut(stem, LONGEST_NAME - len(suffix)).rstrip(". _") or "file"
    return f"{stem}.{suffix}" if suffix else stem


def _cut(text: str, most: int) -> str:
    """As many bytes of it as file systems take, of whole characters."""
    return text.encode()[:most].decode(errors="ignore")


def _other_media(data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    is_text = all(each.isprintable() or each in _TEXT_CONTROLS for each in text[:4096])
    return "text/plain" if is_text else "application/octet-stream"


def _refused(path: str, text: str) -> InvalidInput:
    return InvalidInput([Problem(path=path, text=text)])
