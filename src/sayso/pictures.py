"""Pictures: known by their content alone, and without what a camera writes into them besides.

Plain bytes in, plain bytes out. Nothing is decoded: only the parts of a file are told apart, those that draw are kept,
and nothing that follows the end of a picture is a part of it.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator

MOST_BYTES = 3_500_000
"""Of one picture: what Claude takes, once it is written as text."""
MOST_IN_ALL = 5_000_000
"""Of one message: the agent prints it again, on one line."""
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 16_000
"""A few bytes can say that they are a picture which fills all memory of whoever draws it."""
NAMES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
"""What is a picture here, and how the names of such files end."""
_PNG, _JPEG, _WEBP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"WEBP"
_TIFF = (b"II*\0", b"MM\0*")
_HEIF = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis")
_JPEG_KEPT = {0xE0: b"JFIF\0", 0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
_PNG_KEPT = (
    *(b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT", b"bKGD"),
    *(b"pHYs", b"acTL", b"fcTL", b"fdAT", b"mDCV", b"cLLI"),
)
_WEBP_KEPT = (b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP")
_WEBP_EXIF, _WEBP_XMP = 0x08, 0x04
_JPEG_FRAMES = (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0))
_JPEG_MARK = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""What ends the data of a scan: neither a byte of it nor a restart."""
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


def is_other_photo(data: bytes) -> bool:
    """Whether it is a photo of a kind that nothing is taken out of here: HEIC, AVIF, TIFF and what is built on it."""
    return data.startswith(_TIFF) or (data[4:8] == b"ftyp" and data[8:12] in _HEIF)


def from_base64(text: object) -> bytes | None:
    """The picture that an agent has written as base64; None for what is none, or too large."""
    if not isinstance(text, str) or len(text) > MOST_BYTES * 4 // 3 + 4:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if media_type(data) and is_drawable(data) else None


def is_drawable(data: bytes) -> bool:
    """Whether a picture says how large it is, and that is not too large to be drawn."""
    width, height = dimensions(data)
    return min(width, height) > 0 and max(width, height) <= LONGEST_SIDE and width * height <= MOST_PIXELS


def dimensions(data: bytes) -> tuple[int, int]:
    """Width and height as a picture says them; none where it does not."""
    try:
        match media_type(data):
            case "image/png":
                width, height = struct.unpack_from(">II", data, 16)
            case "image/gif":
                width, height = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _jpeg_dimensions(data)
            case "image/webp":
                return _webp_dimensions(data)
            case _:
                return 0, 0
    except struct.error:
        return 0, 0
    return width, height


def _jpeg_dimensions(data: bytes) -> tuple[int, int]:
    found = (0, 0)
    for kind, segment in _jpeg_segments(data):
        if kind in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", segment, 5)
            found = max(found, (width, height), key=lambda each: each[0] * each[1])
    return found


def _webp_dimensions(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X" if len(data) >= 30:
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return 0, 0


def without_metadata(data: bytes) -> bytes:
    """The same picture without where, when and by what it was taken. A photo stays the right way up. What cannot be
    read to its end is cut there."""
    match media_type(data):
        case "image/jpeg":
            return data[:2] + b"".join(_jpeg_parts(data))
        case "image/png":
            return _PNG + b"".join(_png_parts(data))
        case "image/webp":
            return _webp(data)
        case "image/gif":
            return b"".join(_gif_parts(data))
    return data


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Up to the end of the picture, each with the data of its scan where it begins one."""
    place = 2
    while place + 2 <= len(data) and data[place] == 0xFF:
        kind = data[place + 1]
        if kind == 0xFF:
            # A byte that fills up.
            place += 1
            continue
        if kind == 0xD9:
            yield kind, data[place : place + 2]
            return
        if place + 4 > len(data):
            return
        end = place + 2 + max(2, struct.unpack_from(">H", data, place + 2)[0])
        if kind == 0xDA:
            found = _JPEG_MARK.search(data, end)
            end = found.start() if found else len(data)
        yield kind, data[place:end]
        place = end


def _jpeg_parts(data: bytes) -> Iterator[bytes]:
    for kind, segment in _jpeg_segments(data):
        about = 0xE0 <= kind <= 0xEF or kind == 0xFE
        if not about or (kind in _JPEG_KEPT and segment[4:].startswith(_JPEG_KEPT[kind])):
            yield segment
        elif segment[4:].startswith(b"Exif\0\0") and (kept := _only_orientation(segment[10:])):
            yield b"\xff\xe1" + struct.pack(">H", len(kept) + 8) + b"Exif\0\0" + kept


def _only_orientation(tiff: bytes) -> bytes:
    """The one thing of a photo's data without which it is shown the wrong way up; empty where it is not said."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    try:
        if order is None:
            return b""
        (place,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, place)
        for entry in range(place + 2, place + 2 + min(count, 200) * 12, 12):
            tag, _, _, value = struct.unpack_from(f"{order}HHIH", tiff, entry)
            if tag == _ORIENTATION and 1 <= value <= 8:
                return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, _ORIENTATION, 3, 1, value, 0, 0)
    except struct.error:
        pass
    return b""


def _png_parts(data: bytes) -> Iterator[bytes]:
    place = len(_PNG)
    while place + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, place)
        chunk = data[place : place + 12 + size]
        if name in _PNG_KEPT:
            yield chunk
        elif name == b"eXIf" and (kept := _only_orientation(chunk[8:-4])):
            yield struct.pack(">I", len(kept)) + name + kept + struct.pack(">I", zlib.crc32(name + kept))
        if name == b"IEND":
            return
        place += 12 + size


def _webp(data: bytes) -> bytes:
    place, kept, end = 12, b"", min(len(data), 8 + int.from_bytes(data[4:8], "little"))
    turned = False
    while place + 8 <= end:
        name, size = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        chunk = data[place : min(end, place + 8 + size + size % 2)]
        if name in (*_WEBP_KEPT, b"VP8X"):
            kept += chunk
        elif name == b"EXIF" and (tiff := _only_orientation(chunk[8:].removeprefix(b"Exif\0\0"))):
            kept, turned = kept + name + struct.pack("<I", len(tiff)) + tiff, True
        place += 8 + size + size % 2
    if kept.startswith(b"VP8X") and len(kept) > 8:
        # It says which of these follow.
        kept = kept[:8] + bytes([kept[8] & ~(_WEBP_EXIF | _WEBP_XMP) | _WEBP_EXIF * turned]) + kept[9:]
    return b"RIFF" + struct.pack("<I", 4 + len(kept)) + _WEBP + kept


def _gif_parts(data: bytes) -> Iterator[bytes]:
    """Without comments and what applications have added, except how often it is played."""
    place = 13 + _colours(data, 10)
    yield data[:place]
    while place < len(data):
        begin = place
        if data[place] == 0x21:
            place = _after_blocks(data, place + 2)
            plays = data[begin + 3 : begin + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0")
            if data[begin + 1 : begin + 2] == b"\xf9" or (data[begin + 1 : begin + 2] == b"\xff" and plays):
                yield data[begin:place]
        elif data[place] == 0x2C:
            place = _after_blocks(data, place + 11 + _colours(data, place + 9))
            yield data[begin:place]
        else:
            break
    yield b";"


def _colours(data: bytes, at: int) -> int:
    """How many bytes of colours follow, as a byte of flags says."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, place: int) -> int:
    """Where a row of blocks has ended, each of which says how long it is."""
    while place < len(data) and data[place]:
        place += data[place] + 1
    return place + 1
