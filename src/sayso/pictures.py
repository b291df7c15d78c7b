"""Pictures: known by their content alone, and without what a camera writes into them besides.

Plain bytes in, plain bytes out. Nothing is drawn: only the parts of a file are told apart, those that are known to
draw are kept, each as long as it has to be, and nothing that follows the end of a picture is a part of it. The rows of
a PNG are unpacked, piece by piece, to find where they end. How large a picture is, is read from what is kept of it:
that is what others draw.
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
MOST_UNPACKED = 500_000_000
"""Bytes of rows, with those of all frames."""
LONGEST_SIDE = 16_000
"""A few bytes can say that they are a picture which fills all memory of whoever draws it."""
NAMES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
"""What is a picture here, and how the names of such files end."""
_PNG, _JPEG, _WEBP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"WEBP"
_TIFF = (b"II*\0", b"MM\0*")
_HEIF = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis")
_JPEG_FRAMES = (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0))
_JPEG_KEPT = (*_JPEG_FRAMES, 0xC4, 0xCC, 0xD9, 0xDA, 0xDB, 0xDD)
"""Frames, their tables, scans, and the end."""
_PNG_KEPT = (
    {b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"IDAT": 1 << 31, b"IEND": 0}
    | {b"acTL": 8, b"fcTL": 26, b"fdAT": 1 << 31}
    | {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"cICP": 4, b"sBIT": 4, b"bKGD": 6, b"pHYs": 9, b"mDCV": 24, b"cLLI": 8}
)
"""And how long each may be: what is longer has words in it."""
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_INTERLACED = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""Of each of seven pictures that make an interlaced PNG: where it begins, and how far its pixels lie apart."""
_PIECE = 1 << 16
_WEBP_PICTURES = (b"VP8 ", b"VP8L", b"ALPH")
_WEBP_ICC, _WEBP_EXIF, _WEBP_XMP = 0x20, 0x08, 0x04
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
    return without_metadata(data) if is_drawable(data) else None


def is_drawable(data: bytes) -> bool:
    """Whether a picture says how large it is, each of its frames lies within that, and it is not too large to be drawn:
    all by what is kept of it."""
    try:
        (width, height), *frames = _sizes(without_metadata(data))
    except (struct.error, ValueError):
        return False
    if any(right > width or bottom > height for right, bottom in frames):
        return False
    return min(width, height) > 0 and max(width, height) <= LONGEST_SIDE and width * height <= MOST_PIXELS


def dimensions(data: bytes) -> tuple[int, int]:
    """Width and height of a picture without metadata; none where it does not say them."""
    try:
        return next(_sizes(data), (0, 0))
    except (struct.error, ValueError):
        return 0, 0


def _sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """How large a picture is, then how far each of its frames reaches. ValueError or struct.error: it cannot be told,
    or programs could take it for different sizes."""
    match media_type(data):
        case "image/png":
            return _png_sizes(data)
        case "image/gif":
            return _gif_sizes(data)
        case "image/jpeg":
            return _jpeg_sizes(data)
        case "image/webp":
            return _webp_sizes(data[12:])
    return iter(())


def _png_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    if not any(name == b"IDAT" for name, _ in _png_chunks(data)):
        raise ValueError("a PNG has rows")
    for number, (name, chunk) in enumerate(_png_chunks(data)):
        if (name == b"IHDR") != (number == 0):
            raise ValueError("a PNG begins with its header, and has no other")
        if name == b"IHDR":
            yield struct.unpack_from(">II", chunk, 8)
        elif name == b"fcTL":
            width, height, left, top = struct.unpack_from(">IIII", chunk, 12)
            yield left + width, top + height


def _gif_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    yield struct.unpack_from("<HH", data, 6)
    for part in _gif_blocks(data):
        if part.startswith(b","):
            left, top, width, height = struct.unpack_from("<HHHH", part, 1)
            yield left + width, top + height


def _jpeg_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    frames = [segment for kind, segment in _jpeg_segments(data) if kind in _JPEG_FRAMES]
    if len(frames) != 1:
        raise ValueError("a JPEG has one frame")
    height, width = struct.unpack_from(">HH", frames[0], 5)
    yield width, height


def _webp_sizes(chunks: bytes) -> Iterator[tuple[int, int]]:
    for name, data in _webp_chunks(chunks):
        match name:
            case b"VP8X":
                yield 1 + _three(data, 4), 1 + _three(data, 7)
            case b"VP8L":
                (bits,) = struct.unpack_from("<I", data, 1)
                yield 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
            case b"VP8 ":
                width, height = struct.unpack_from("<HH", data, 6)
                yield width & 0x3FFF, height & 0x3FFF
            case b"ANMF":
                left, top, width, height = (_three(data, place) for place in (0, 3, 6, 9))
                yield 2 * left + 1 + width, 2 * top + 1 + height
                yield from _webp_sizes(data[16:])


def _three(data: bytes, place: int) -> int:
    """A number of three bytes."""
    low, high = struct.unpack_from("<HB", data, place)
    return int(low | high << 16)


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
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        if size < 2:
            return
        end = place + 2 + size
        if kind == 0xDA:
            found = _JPEG_MARK.search(data, end)
            end = found.start() if found else len(data)
        yield kind, data[place:end]
        place = end


def _jpeg_parts(data: bytes) -> Iterator[bytes]:
    for kind, segment in _jpeg_segments(data):
        said = segment[4:]
        if kind in _JPEG_KEPT:
            yield segment
        elif kind == 0xE0 and said.startswith(b"JFIF\0") and len(said) >= 12:
            # How many pixels an inch has, and no small copy of the picture.
            yield b"\xff\xe0\0\x10" + said[:12] + b"\0\0"
        elif kind == 0xEE and said.startswith(b"Adobe") and len(said) >= 12:
            yield b"\xff\xee\0\x0e" + said[:12]
        elif kind == 0xE1 and said.startswith(b"Exif\0\0") and (kept := _only_orientation(said[6:])):
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


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Up to the end of the picture, each with its name."""
    place = len(_PNG)
    while place + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, place)
        yield name, data[place : place + 12 + size]
        if name == b"IEND":
            return
        place += 12 + size


def _png_parts(data: bytes) -> Iterator[bytes]:
    """Rows that cannot be unpacked, and those after them, are not among them; nor are frames that make too
    much of one picture."""
    header, rows, frame, room = b"", None, None, MOST_UNPACKED
    for name, chunk in _png_chunks(data):
        if name == b"IHDR":
            header, rows = chunk[8:21], _PngRows(chunk[8:21], chunk[8:16])
            room -= rows.room
        elif name == b"fcTL":
            frame = _PngRows(header, chunk[12:20])
            room -= frame.room
            frame = frame if room >= 0 else None
        if name == b"IDAT" and rows:
            yield from _png_chunk(name, chunk, b"", rows.kept(chunk[8:-4]))
        elif name == b"fdAT" and frame:
            yield from _png_chunk(name, chunk, chunk[8:12], frame.kept(chunk[12:-4]))
        elif name in (b"IDAT", b"fdAT"):
            continue
        elif len(chunk) - 12 <= _PNG_KEPT.get(name, -1):
            yield chunk
        elif name == b"eXIf" and (kept := _only_orientation(chunk[8:-4])):
            yield struct.pack(">I", len(kept)) + name + kept + struct.pack(">I", zlib.crc32(name + kept))


def _png_chunk(name: bytes, before: bytes, number: bytes, kept: bytes) -> Iterator[bytes]:
    """A part with as much of its rows as is kept; none where nothing is. It stays as it is where all of it is."""
    if len(number + kept) == len(before) - 12:
        yield before
    elif kept:
        held = name + number + kept
        yield struct.pack(">I", len(held) - 4) + held + struct.pack(">I", zlib.crc32(held))


class _PngRows:
    """The packed rows of a picture or of one of its frames, which go through several parts."""

    def __init__(self, header: bytes, size: bytes) -> None:
        self.room, self._unpack = _png_room(header, size), zlib.decompressobj()
        self._left = self.room

    def kept(self, data: bytes) -> bytes:
        """As much of this as are rows of the picture: nothing after their end, and nothing where there are more than
        it has, or no rows at all."""
        if self._unpack.eof:
            return b""
        pending = data
        try:
            while pending and not self._unpack.eof and self._left >= 0:
                self._left -= len(self._unpack.decompress(pending, _PIECE))
                pending = self._unpack.unconsumed_tail
        except zlib.error:
            self._left = -1
        return data[: len(data) - len(self._unpack.unused_data)] if self._left >= 0 else b""


def _png_room(header: bytes, size: bytes) -> int:
    """How many bytes the rows of a picture of this size have; -1 where it does not say that, or is too large."""
    try:
        (width, height), (depth, colour, _, _, interlaced) = struct.unpack(">II", size), struct.unpack(">8x5B", header)
    except struct.error:
        return -1
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS or colour not in _CHANNELS:
        return -1
    bits = depth * _CHANNELS[colour]
    passes = _INTERLACED if interlaced else ((0, 0, 1, 1),)
    sides = [(-((left - width) // across), -((top - height) // down)) for left, top, across, down in passes]
    return sum(tall * (1 + (wide * bits + 7) // 8) for wide, tall in sides if wide > 0 and tall > 0)


def _webp(data: bytes) -> bytes:
    kept, end = list[bytes](), 8 + int.from_bytes(data[4:8], "little")
    for name, held in _webp_chunks(data[12:end]):
        if name in _WEBP_PICTURES:
            kept.append(_webp_chunk(name, held))
        elif name == b"VP8X" and len(held) >= 10:
            kept.append(_webp_chunk(name, held[:10]))
        elif name == b"ANIM":
            kept.append(_webp_chunk(name, held[:6]))
        elif name == b"ANMF":
            frame = [_webp_chunk(*each) for each in _webp_chunks(held[16:]) if each[0] in _WEBP_PICTURES]
            kept.append(_webp_chunk(name, held[:16] + b"".join(frame)))
        elif name == b"EXIF" and (tiff := _only_orientation(held.removeprefix(b"Exif\0\0"))):
            kept.append(_webp_chunk(name, tiff))
    if kept and kept[0].startswith(b"VP8X"):
        # It says which of these follow.
        turned = any(each.startswith(b"EXIF") for each in kept)
        flags = kept[0][8] & ~(_WEBP_ICC | _WEBP_EXIF | _WEBP_XMP) | _WEBP_EXIF * turned
        kept[0] = kept[0][:8] + bytes([flags, 0, 0, 0]) + kept[0][12:]
    whole = b"".join(kept)
    return b"RIFF" + struct.pack("<I", 4 + len(whole)) + _WEBP + whole


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The name of each, and what it holds."""
    place = 0
    while place + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        yield name, data[place + 8 : place + 8 + size]
        place += 8 + size + size % 2


def _webp_chunk(name: bytes, held: bytes) -> bytes:
    return name + struct.pack("<I", len(held)) + held + b"\0" * (len(held) % 2)


def _gif_parts(data: bytes) -> Iterator[bytes]:
    """Without comments and what applications have added, except how often it is played."""
    yield data[: 13 + _colours(data, 10)]
    for block in _gif_blocks(data):
        if block.startswith(b","):
            yield block
        elif block.startswith(b"!\xf9\4") and len(block) >= 8:
            yield block[:7] + b"\0"
        elif block.startswith((b"!\xff\x0bNETSCAPE2.0\3\1", b"!\xff\x0bANIMEXTS1.0\3\1")) and len(block) >= 19:
            yield block[:18] + b"\0"
    yield b";"


def _gif_blocks(data: bytes) -> Iterator[bytes]:
    """Frames, and what is said between them."""
    place = 13 + _colours(data, 10)
    while place < len(data):
        begin = place
        if data[place] == 0x21:
            place = _after_blocks(data, place + 2)
        elif data[place] == 0x2C:
            place = _after_blocks(data, place + 11 + _colours(data, place + 9))
        else:
            return
        yield data[begin:place]


def _colours(data: bytes, at: int) -> int:
    """How many bytes of colours follow, as a byte of flags says."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, place: int) -> int:
    """Where a row of blocks has ended, each of which says how long it is."""
    try:
        while size := data[place]:
            place += size + 1
    except IndexError:
        # It was cut off.
        pass
    return place + 1
