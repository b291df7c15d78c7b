"""Pictures are known by their content, and lose what a camera writes into them besides."""

from __future__ import annotations

import base64
import random
import struct
import time
import zlib
from functools import partial
from importlib import resources

import pytest

from sayso.agents.claude import Claude
from sayso.agents.model import EventKind, Picture, Saying, Spoken
from sayso.pictures import (
    LONGEST_SIDE,
    MOST_BYTES,
    dimensions,
    from_base64,
    is_drawable,
    is_other_photo,
    media_type,
    without_metadata,
)

SECRET = b"48.8584 N, 2.2945 E"
PNG = (resources.files("sayso.web") / "static" / "icon-192.png").read_bytes()


def segment(kind: int, data: bytes) -> bytes:
    return bytes([0xFF, kind]) + struct.pack(">H", len(data) + 2) + data


def exif(order: str, orientation: int) -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entries = [
        struct.pack(f"{order}HHII", 0x010F, 2, len(SECRET), 38),
        struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0),
    ]
    tiff = mark + struct.pack(f"{order}IH", 8, len(entries)) + b"".join(entries) + b"\0\0\0\0" + SECRET
    return segment(0xE1, b"Exif\0\0" + tiff)


def chunk(name: bytes, data: bytes) -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def riff(name: bytes, data: bytes) -> bytes:
    """A part of a WebP."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def webp(*parts: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(b"".join(parts))) + b"WEBP" + b"".join(parts)


VP8X = riff(b"VP8X", b"\2\0\0\0" + b"\7\0\0" * 2)
JFIF, TABLES = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), segment(0xDB, b"\0" * 65)
SCAN = segment(0xDA, b"\1\1\0\0\x3f\0") + b"the picture" + b"\xff\xd9"


def photo(*segments: bytes, width: int = 40, height: int = 30) -> bytes:
    """A photo as a telephone takes it, which says where it was taken."""
    frame = segment(0xC0, b"\x08" + struct.pack(">HH", height, width) + b"\1\1\x11\0")
    about = segments or (exif(">", 1), segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + SECRET))
    return b"\xff\xd8" + JFIF + b"".join(about) + TABLES + frame + SCAN


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_photo_loses_where_it_was_taken_and_stays_the_right_way_up(order: str) -> None:
    taken = b"\xff\xd8" + JFIF + exif(order, 6) + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + SECRET)
    taken += segment(0xFE, SECRET) + TABLES + SCAN
    clean = without_metadata(taken)
    assert SECRET not in clean
    upright = segment(0xE1, b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0))
    assert clean == b"\xff\xd8" + JFIF + upright + TABLES + SCAN
    assert without_metadata(clean) == clean


def test_nothing_that_follows_the_end_of_a_picture_is_kept() -> None:
    later = b"\xff\xd8" + exif("<", 1) + SCAN
    taken = b"\xff\xd8" + JFIF + TABLES + segment(0xDA, b"\1") + b"one\xff\0\xff\xd3two" + TABLES + SCAN
    assert without_metadata(taken + later + b"PK\3\4<script>" + SECRET) == taken
    assert without_metadata(PNG + SECRET) == without_metadata(PNG)
    gif = b"GIF89a\1\0\1\0\x80\0\0" + b"\0" * 6
    plays = b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0"
    image = b",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
    noted = (
        b"!\xfe"
        + bytes([len(SECRET)])
        + SECRET
        + b"\0"
        + b"!\xff\x0bXMP DataXMP"
        + bytes([len(SECRET)])
        + SECRET
        + b"\0"
    )
    assert without_metadata(gif + noted + plays + noted + image + b";" + SECRET) == gif + plays + image + b";"


def drawn(*parts: bytes, width: int = 100, height: int = 3, interlaced: int = 0) -> bytes:
    """A PNG of grey pixels with these parts between its header and its end."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, interlaced))
    return PNG[:8] + header + b"".join(parts) + chunk(b"IEND", b"")


def test_nothing_is_kept_that_follows_the_rows_of_a_png_inside_its_parts() -> None:
    rows = zlib.compress(random.Random(7).randbytes(303))
    one = drawn(chunk(b"IDAT", rows))
    assert without_metadata(one) == one
    assert without_metadata(drawn(chunk(b"IDAT", rows + SECRET))) == one
    two = drawn(chunk(b"IDAT", rows[:50]), chunk(b"IDAT", rows[50:]))
    assert without_metadata(two) == two
    assert without_metadata(drawn(*(chunk(b"IDAT", part) for part in (rows[:50], rows[50:] + SECRET, SECRET)))) == two
    # What is packed with them, after the last.
    assert not is_drawable(drawn(chunk(b"IDAT", zlib.compress(b"\0" * 303 + SECRET))))
    assert not is_drawable(drawn(chunk(b"IDAT", b"no rows at all")))
    assert is_drawable(drawn(chunk(b"IDAT", rows[:-20]))), "the rest is missing, and what is there is drawn"


def test_nothing_is_kept_that_follows_the_rows_of_a_frame() -> None:
    frame = chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 100, 3, 0, 0, 1, 10, 0, 0))
    later = chunk(b"fcTL", struct.pack(">IIIIIHHBB", 1, 10, 2, 0, 0, 1, 10, 0, 0))
    rows, small = zlib.compress(b"\0" * 303), zlib.compress(b"\0" * 22)
    parts = (chunk(b"acTL", b"\0" * 8), frame, chunk(b"IDAT", rows), later)
    clean = drawn(*parts, chunk(b"fdAT", b"\0\0\0\2" + small))
    assert without_metadata(clean) == clean
    assert without_metadata(drawn(*parts, chunk(b"fdAT", b"\0\0\0\2" + small + SECRET))) == clean
    assert SECRET not in without_metadata(drawn(*parts, chunk(b"fdAT", b"\0\0\0\2" + SECRET)))


ADAM7 = ["16462646", "77777777", "56565656", "77777777", "36463646", "77777777", "56565656", "77777777"]
"""In which of its seven passes each pixel of a square comes, as the specification draws it."""


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 1), (1, 5), (5, 3), (9, 9), (100, 3), (17, 33)])
def test_the_rows_of_an_interlaced_png_are_counted_as_they_are_packed(width: int, height: int) -> None:
    pixels = [(ADAM7[y % 8][x % 8], y) for y in range(height) for x in range(width)]
    size = len(pixels) + len(set(pixels))
    made = partial(drawn, width=width, height=height, interlaced=1)
    whole = made(chunk(b"IDAT", zlib.compress(b"\0" * size)))
    assert without_metadata(whole) == whole
    assert not is_drawable(made(chunk(b"IDAT", zlib.compress(b"\0" * (size + 1)))))


def test_a_small_file_that_unpacks_to_very_much_is_not_unpacked_further_than_the_picture_goes() -> None:
    bomb = zlib.compress(b"\0" * 100_000_000, 9)
    began = time.process_time()
    assert not is_drawable(drawn(chunk(b"IDAT", bomb)))
    assert not is_drawable(drawn(chunk(b"IDAT", bomb), width=60_000, height=60_000))
    assert time.process_time() - began < 0.1


def test_nothing_is_kept_that_follows_a_webp_or_one_of_its_parts() -> None:
    picture = riff(b"VP8L", b"\x2f" + struct.pack("<I", 7 | 7 << 14))
    assert without_metadata(webp(VP8X, picture) + SECRET) == webp(VP8X, picture)
    assert without_metadata(webp(VP8X, picture, riff(b"MINE", SECRET))) == webp(VP8X, picture)


def test_a_picture_that_says_it_is_huge_or_does_not_say_how_large_it_is_is_not_taken() -> None:
    def claiming(width: int, height: int) -> list[bytes]:
        frame = segment(0xC2, b"\x08" + struct.pack(">HH", height, width) + b"\1\1\x11\0")
        sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        return [
            PNG[:16] + struct.pack(">II", width, height) + PNG[24:],
            b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0",
            b"\xff\xd8" + JFIF + TABLES + frame + SCAN,
            webp(riff(b"VP8X", b"\0\0\0\0" + sizes)),
        ]

    assert all(map(is_drawable, [PNG, *claiming(4000, 3000)]))
    assert not any(map(is_drawable, [*claiming(30_000, 30_000), *claiming(LONGEST_SIDE + 1, 1)]))
    assert not any(map(is_drawable, [b"\xff\xd8\xff", b"GIF89a", PNG[:20], b"RIFF\0\0\0\0WEBPVP8 "]))
    assert from_base64(base64.b64encode(claiming(30_000, 30_000)[0]).decode()) is None


def test_a_png_is_as_large_as_its_one_header_says_whatever_stands_before_it() -> None:
    header, end = PNG[8:33], chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    huge = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0))
    pretended = chunk(b"tEXt", struct.pack(">II", 100, 100) + b"words")
    assert not is_drawable(PNG[:8] + pretended + huge + end)
    assert not is_drawable(PNG[:8] + header + huge + end)
    assert not is_drawable(PNG[:8] + header + header + end)
    assert not is_drawable(PNG[:8] + chunk(b"gAMA", b"\0\0\0\1") + header + end)
    assert not is_drawable(PNG[:8] + end)
    shown = from_base64(base64.b64encode(PNG[:8] + pretended + header + end).decode())
    assert shown == PNG[:8] + header + end
    assert (dimensions(shown), is_drawable(shown)) == ((192, 192), True)


def test_frames_that_would_fill_memory_together_are_left_out() -> None:
    side, rows = 7_000, zlib.compress(b"\0" * 1000)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
    frames = [
        part
        for number in range(5)
        for part in (
            chunk(b"fcTL", struct.pack(">IIIIIHHBB", 2 * number, side, side, 0, 0, 1, 10, 0, 0)),
            chunk(b"fdAT", struct.pack(">I", 2 * number + 1) + rows),
        )
    ]
    whole = PNG[:8] + b"".join([header, chunk(b"acTL", b"\0" * 8), chunk(b"IDAT", rows), *frames, chunk(b"IEND", b"")])
    assert without_metadata(whole).count(b"fdAT") == 1


def test_no_frame_of_a_picture_reaches_beyond_it() -> None:
    def gif(left: int, top: int, width: int, height: int) -> bytes:
        first = b",\0\0\0\0" + struct.pack("<HH", 8, 8) + b"\0\2\2D\1\0"
        later = b"," + struct.pack("<HHHH", left, top, width, height) + b"\0\2\2D\1\0"
        return b"GIF89a" + struct.pack("<HH", 8, 8) + b"\x80\0\0" + b"\0" * 6 + first + later + b";"

    def png(left: int, top: int, width: int, height: int) -> bytes:
        shown = struct.pack(">IIIIIHHBB", 0, width, height, left, top, 1, 10, 0, 0)
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 1, 0, 0, 0, 0))
        return (
            PNG[:8]
            + header
            + chunk(b"acTL", b"\0" * 8)
            + chunk(b"fcTL", shown)
            + chunk(b"IDAT", b"")
            + chunk(b"IEND", b"")
        )

    def animated(left: int, top: int, width: int, height: int, drawn: bytes = b"") -> bytes:
        numbers = (left // 2, top // 2, width - 1, height - 1, 100)
        placed = b"".join(number.to_bytes(3, "little") for number in numbers) + b"\0"
        return webp(VP8X, riff(b"ANIM", b"\0" * 6), riff(b"ANMF", placed + drawn))

    for made in (gif, png, animated):
        assert is_drawable(made(0, 0, 8, 8))
        assert is_drawable(made(2, 4, 6, 4))
        for place in ((0, 0, 9, 1), (0, 0, 1, 9), (2, 0, 7, 8), (0, 2, 8, 7), (0, 0, 65_535, 65_535)):
            assert not is_drawable(made(*place)), (made, place)
    huge = riff(b"VP8 ", b"\0\0\0\x9d\1\x2a" + struct.pack("<HH", 16_383, 16_383))
    assert not is_drawable(animated(0, 0, 8, 8, drawn=huge))
    assert not is_drawable(webp(VP8X, huge))
    assert not is_drawable(webp(VP8X, riff(b"VP8L", b"\x2f" + struct.pack("<I", 9 | 9 << 14))))
    assert is_drawable(webp(VP8X, riff(b"VP8L", b"\x2f" + struct.pack("<I", 7 | 7 << 14))))


def test_a_jpeg_with_two_sizes_is_not_taken() -> None:
    small = photo()
    frame = segment(0xC0, b"\x08" + struct.pack(">HH", 30, 40) + b"\1\1\x11\0")
    assert is_drawable(small)
    assert not is_drawable(small.replace(frame, frame + frame))


def test_a_photo_loses_its_small_copy_and_the_words_of_its_colour_profile() -> None:
    small_copy = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\4\4" + SECRET * 3)
    adobe = b"Adobe\0\x64\0\0\0\0\1"
    taken = small_copy + segment(0xE0, b"JFXX\0\x10" + SECRET) + segment(0xE2, b"ICC_PROFILE\0\1\1" + SECRET)
    taken += segment(0xEE, adobe + SECRET) + segment(0xF0, SECRET) + segment(0xDC, SECRET) + segment(0x02, SECRET)
    assert without_metadata(b"\xff\xd8" + taken + TABLES + SCAN) == (
        b"\xff\xd8" + JFIF + segment(0xEE, adobe) + TABLES + SCAN
    )


def test_a_gif_keeps_how_often_it_is_played_and_no_words_beside_it() -> None:
    gif, words = b"GIF89a\1\0\1\0\x80\0\0" + b"\0" * 6, bytes([len(SECRET)]) + SECRET
    plays, waits = b"!\xff\x0bNETSCAPE2.0\3\1\5\0", b"!\xf9\4\0\x0a\0\0"
    image = b",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
    spoken = b"!\xff\x0bNETSCAPE2.0" + words + b"\0"
    dirty = gif + plays + words + b"\0" + spoken + waits + words + b"\0" + b"!\xf9" + words + b"\0" + image + b";"
    assert without_metadata(dirty) == gif + plays + b"\0" + waits + b"\0" + image + b";"


def test_texts_and_times_of_a_png_are_dropped() -> None:
    head, rest = PNG[:33], PNG[33:]
    dirty = head + chunk(b"tEXt", b"Where\0" + SECRET) + chunk(b"eXIf", SECRET)
    dirty += chunk(b"iCCP", b"Anna's screen\0\0" + zlib.compress(SECRET)) + chunk(b"pHYs", b"\0" * 9 + SECRET) + rest
    assert without_metadata(dirty) == without_metadata(PNG)
    assert media_type(without_metadata(PNG)) == "image/png"


def test_a_webp_says_no_more_that_it_has_what_was_dropped() -> None:
    picture = riff(b"VP8 ", b"picture")
    dirty = webp(riff(b"VP8X", b"\x1c" + b"\0" * 9), picture, riff(b"EXIF", SECRET), riff(b"XMP ", SECRET))
    assert without_metadata(dirty + SECRET) == webp(riff(b"VP8X", b"\x10" + b"\0" * 9), picture)
    turned = webp(riff(b"VP8X", b"\x1c" + b"\0" * 9), picture, riff(b"EXIF", exif("<", 6)[10:]))
    upright = riff(b"EXIF", b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0))
    assert without_metadata(turned) == webp(riff(b"VP8X", b"\x18" + b"\0" * 9), picture, upright)


def test_a_moving_webp_loses_what_its_frames_say_and_its_colour_profile() -> None:
    placed, drawn = b"\0" * 6 + b"\7\0\0" * 2 + b"\0" * 4, riff(b"ALPH", b"odd") + riff(b"VP8 ", b"picture")
    told = riff(b"EXIF", exif("<", 6)[10:]) + riff(b"XMP ", SECRET) + riff(b"ANMF", SECRET)
    start, sizes = riff(b"ANIM", b"\0" * 6), b"\7\0\0" * 2
    dirty = webp(
        riff(b"VP8X", b"\x22" + b"GPS" + sizes + SECRET),
        riff(b"ICCP", SECRET),
        riff(b"ANIM", b"\0" * 6 + SECRET),
        riff(b"ANMF", placed + told + drawn + told),
    )
    clean = webp(riff(b"VP8X", b"\2\0\0\0" + sizes), start, riff(b"ANMF", placed + drawn))
    assert without_metadata(dirty) == clean
    assert without_metadata(clean) == clean


def test_photos_of_kinds_that_nothing_can_be_taken_out_of_are_known() -> None:
    for other_photo in (b"\0\0\0\x18ftypheic\0\0\0\0", b"\0\0\0\x1cftypavif", b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08"):
        assert is_other_photo(other_photo)
    for other in (PNG, b"\0\0\0\x18ftypmp42", b"%PDF-1.7", b""):
        assert not is_other_photo(other)


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_a_file_that_is_cut_off_does_no_harm(cut: int) -> None:
    taken = b"\xff\xd8" + JFIF + exif("<", 6) + TABLES + SCAN
    for whole in (taken, PNG, b"RIFF\xff\xff\xff\xffWEBPVP8X\xff\xff\xff\xff" + b"\0" * 100):
        assert SECRET not in without_metadata(whole[:cut])


@pytest.mark.parametrize(
    "data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>", b"%PDF-1.7", b"BM" * 20]
)
def test_what_is_no_picture_is_none_whatever_it_is_called(data: bytes) -> None:
    assert media_type(data) == ""
    assert from_base64(base64.b64encode(data).decode()) is None


def test_what_an_agent_calls_a_picture_is_looked_at() -> None:
    assert from_base64(base64.b64encode(PNG).decode()) == PNG
    for nonsense in (None, 7, "", "no base64!", "A" * (MOST_BYTES * 2)):
        assert from_base64(nonsense) is None


def test_claude_is_sent_pictures_as_blocks_and_its_own_are_taken_out_of_results() -> None:
    said = Spoken(what=Saying.MESSAGE, text="What is this?", pictures=(Picture(media="image/png", data=PNG),))
    source = b'{"type": "base64", "media_type": "image/png", "data": "' + base64.b64encode(PNG)
    assert source in Claude().spoken("name", said)
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "text/html", "data": base64.b64encode(PNG).decode()},
    }
    content = [{"type": "tool_result", "tool_use_id": "t", "content": [image, {"type": "text", "text": "Seen"}]}]
    (event,) = Claude().hear({"type": "user", "message": {"content": content}}).events
    assert (event.kind, event.body["text"]) == (EventKind.TOOL_RESULT, "Seen")
    assert event.pictures == (Picture(media="image/png", data=PNG),)
