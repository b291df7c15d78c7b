"""Pictures in conversations: known by their content alone, and without what a camera writes into them besides.

Plain bytes in, plain bytes out. Nothing is decoded: only the parts of a file are told apart.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator

from sayso.agents.model import Picture

MOST_BYTES = 3_500_000
"""Of one picture: what Claude takes, once it is written as text."""
MOST_IN_ALL = 5_000_000
"""Of one message: the agent prints it again, on one line."""
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 16_000
"""A few bytes can say that they are a picture which fills all memory of whoever draws it."""
_PNG, _JPEG, _WEBP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"WEBP"
_JPEG_KEPT = (b"JFIF\0", b"ICC_PROFILE\0", b"Adobe")
_PNG_DROPPED = (b"eXIf", b"tEXt", b"zTXt", b"iTXt", b"tIME")
_WEBP_DROPPED = (b"EXIF", b"XMP ")
_JPEG_FRAMES = (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0))
_ORIENTATION = 0x0112


def media_type(data: bytes) -> str:
    """What a picture is, by its first bytes; empty for anything else."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == _WEBP else ""


def is_drawable(data: bytes) -> bool:
    """Whether a picture says how large it is, and that is not too large to be drawn."""
    try:
        width, height = _dimensions(data)
    except (struct.error, ValueError):
        return False
    return min(width, height) > 0 and max(width, height) <= LONGEST_SIDE and width * height <= MOST_PIXELS


def _dimensions(data: bytes) -> tuple[int, int]:
    match media_type(data):
        case "image/png":
            width, height = struct.unpack_from(">II", data, 16)
        case "image/gif":
            width, height = struct.unpack_from("<HH", data, 6)
        case "image/jpeg":
            return _jpeg_dimensions(data)
        case _:
            return _webp_dimensions(data)
    return width, height


def _jpeg_dimensions(data: bytes) -> tuple[int, int]:
    found = (0, 0)
    for segment in _jpeg_segments(data):
        if segment[1] in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", segment, 5)
            found = max(found, (width, height), key=lambda each: each[0] * each[1])
    return found


def _webp_dimensions(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    raise ValueError("It does not say how large it is.")


def picture_of(text: object) -> Picture | None:
    """The picture that an agent has written as base64; None for what is none, or too large."""
    if not isinstance(text, str) or len(text) > MOST_BYTES * 4 // 3 + 4:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    media = media_type(data)
    return Picture(media=media, data=data) if media and is_drawable(data) else None


def without_metadata(data: bytes) -> bytes:
    """The same picture without where, when and by what it was taken. A photo stays the right way up. What cannot be
    read to its end is cut there."""
    match media_type(data):
        case "image/jpeg":
            return b"".join(_jpeg_parts(data))
        case "image/png":
            return _PNG + b"".join(chunk for name, chunk in _png_chunks(data) if name not in _PNG_DROPPED)
        case "image/webp":
            return _webp(data)
    return data


def _jpeg_segments(data: bytes) -> Iterator[bytes]:
    """Those before the picture itself."""
    place = 2
    while place + 4 <= len(data) and data[place] == 0xFF and data[place + 1] != 0xDA:
        size = struct.unpack_from(">H", data, place + 2)[0]
        yield data[place : place + 2 + size]
        place += 2 + size


def _jpeg_parts(data: bytes) -> Iterator[bytes]:
    yield data[:2]
    place = 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        kind, size = data[place + 1], struct.unpack_from(">H", data, place + 2)[0]
        segment = data[place : place + 2 + size]
        if kind == 0xDA:
            # From here on it is the picture itself.
            yield data[place:]
            return
        is_application = 0xE0 <= kind <= 0xEF or kind == 0xFE
        if not is_application or segment[4:].startswith(_JPEG_KEPT):
            yield segment
        elif segment[4:].startswith(b"Exif\0\0"):
            yield from _only_orientation(segment[10:])
        place += 2 + size


def _only_orientation(tiff: bytes) -> Iterator[bytes]:
    """The one thing of a photo's data without which it is shown the wrong way up."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    try:
        if order is None:
            return
        (place,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, place)
        for entry in range(place + 2, place + 2 + min(count, 200) * 12, 12):
            tag, _, _, value = struct.unpack_from(f"{order}HHIH", tiff, entry)
            if tag == _ORIENTATION and 1 <= value <= 8:
                kept = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, _ORIENTATION, 3, 1, value, 0, 0)
                yield b"\xff\xe1" + struct.pack(">H", len(kept) + 8) + b"Exif\0\0" + kept
                return
    except struct.error:
        return


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(_PNG)
    while place + 12 <= len(data):
        size = struct.unpack_from(">I", data, place)[0]
        yield data[place + 4 : place + 8], data[place : place + 12 + size]
        place += 12 + size


def _webp(data: bytes) -> bytes:
    place, kept = 12, b""
    while place + 8 <= len(data):
        name, size = data[place : place + 4], struct.unpack_from("<I", data, place + 4)[0]
        chunk = data[place : place + 8 + size + size % 2]
        if name == b"VP8X" and len(chunk) > 8:
            # It says which of these follow.
            chunk = chunk[:8] + bytes([chunk[8] & ~0x0C]) + chunk[9:]
        kept += b"" if name in _WEBP_DROPPED else chunk
        place += 8 + size + size % 2
    return b"RIFF" + struct.pack("<I", 4 + len(kept)) + _WEBP + kept
