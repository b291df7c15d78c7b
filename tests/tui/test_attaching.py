"""Pictures and files that go with an answer: attached by their path in the terminal, seen, taken back, sent."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from tests.tui.harness import DROP, NAME, Person, Place, select, until
from tests.tui.test_permissions import wanted

from sayso.asks.model import Attachment, State
from sayso.tui.attaching import completions

pytestmark = pytest.mark.anyio


def a_picture() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0\0\0")) + chunk(b"IEND", b"")


async def attach(anna: Person, path: Path) -> None:
    await anna.press("f")
    await anna.sees("path of a picture or a file")
    await anna.paste(str(path))
    await anna.press("enter")


async def test_a_picture_and_a_file_are_attached_by_their_paths_and_sent_with_the_answer(place: Place) -> None:
    (place.folder / "layout.jpg").write_bytes(a_picture())
    (place.folder / "notes.txt").write_text("As in the sketch.")
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await attach(anna, place.folder / "layout.jpg")
        await anna.sees("layout.png (69 B)", "remove one")
        await anna.paste(str(place.folder / "notes.txt"))
        await anna.press("enter")
        await anna.sees("notes.txt (17 B)")
        await anna.press("escape")
        await anna.sees("Attached: layout.png (69 B), notes.txt (17 B)")
        await anna.press("1")
        await anna.sees("Check your answers", "Attached: layout.png", "Attached: notes.txt")
        await anna.press("enter")
        ask = await place.outcome(held)
    assert [(each.name, each.media) for each in ask.attachments()] == [
        ("layout.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert place.desk.attachment(ask.id, list(ask.attachments())[1].id)[1] == b"As in the sketch."


async def test_a_file_that_was_removed_is_neither_sent_nor_kept(place: Place) -> None:
    for name in ("one.txt", "two.txt"):
        (place.folder / name).write_text(name)
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("escape")
        await attach(anna, place.folder / "one.txt")
        await anna.paste(str(place.folder / "two.txt"))
        await anna.press("enter")
        await anna.sees("two.txt (7 B)")
        await anna.press("up", "x")
        await anna.sees_not("one.txt")
        await anna.press("escape")
        await anna.sees("Attached: two.txt")
        await until(lambda: [each.name for each in added(place, held.ask.id)] == ["two.txt"], anna.screen)
        await anna.press("ctrl+s")
        await anna.sees("Attached: two.txt")
        await anna.press("enter")
        ask = await place.outcome(held)
    assert [each.name for each in ask.attachments()] == ["two.txt"]


def added(place: Place, ask_id: str) -> tuple[Attachment, ...]:
    return place.desk.added(ask_id, "anna")


async def test_what_was_attached_is_part_of_the_draft_and_what_is_gone_meanwhile_is_left_out(place: Place) -> None:
    for name in ("one.txt", "two.txt"):
        (place.folder / name).write_text(name)
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await attach(anna, place.folder / "one.txt")
        await anna.paste(str(place.folder / "two.txt"))
        await anna.press("enter", "escape", "escape")
        await anna.sees("draft")
    one = next(each for each in added(place, held.ask.id) if each.name == "one.txt")
    place.desk.drop_attachment(held.ask.id, "anna", one.id)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Attached: two.txt (7 B)")
        await anna.press("y", "enter")
        ask = await place.outcome(held)
    assert [each.name for each in ask.attachments()] == ["two.txt"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("gone.txt", None, "cannot be read: No"),
        ("empty.txt", b"", "is empty. Choose another file."),
        ("large.bin", b"x" * 2000, "is larger than 0.001"),
        ("photo.heic", b"\0\0\0\x18ftypheic" + b"\0" * 40, "Send it as a JPEG or PNG."),
    ],
)
async def test_what_cannot_be_attached_says_why_and_what_to_do(
    place: Place, name: str, content: bytes | None, told: str
) -> None:
    place.environ["SAYSO_ATTACHMENTS_BYTES"] = "1000"
    if content is not None:
        (place.folder / name).write_bytes(content)
    held = place.ask(DROP)
    async with place.inbox((110, 30)) as anna:
        await anna.open()
        await attach(anna, place.folder / name)
        await anna.sees(told)
    assert added(place, held.ask.id) == ()


async def test_a_permission_takes_no_file(place: Place) -> None:
    held = wanted(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("f")
        assert "attach" not in anna.screen()
    assert place.now(held).state is State.PENDING


async def test_where_the_settings_take_no_files_none_is_offered(place: Place) -> None:
    place.environ["SAYSO_ATTACHMENTS"] = "0"
    place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("f")
        assert "attach" not in anna.screen()


async def test_a_question_with_a_file_is_not_skipped_by_a_key(place: Place) -> None:
    (place.folder / "one.txt").write_text("one")
    place.ask(select(required=False))
    async with place.inbox() as anna:
        await anna.open()
        await attach(anna, place.folder / "one.txt")
        await anna.press("escape", "s")
        await anna.sees("You also attached one.txt.")


async def test_tab_completes_a_path_as_far_as_it_is_certain_and_names_the_ways_to_go_on(place: Place) -> None:
    folder = place.folder / "pictures"
    folder.mkdir()
    for name in ("layout-a.png", "layout-b.png", "other.png", ".hidden"):
        (folder / name).write_bytes(a_picture())
    place.ask(DROP)
    async with place.inbox((110, 30)) as anna:
        await anna.open()
        await anna.press("f")
        await anna.type(f"{place.folder}/pic")
        await anna.press("tab")
        await anna.sees("/pictures/")
        await anna.press("tab")
        await anna.sees("layout-a.png  layout-b.png  other.png")
        await anna.type("l")
        await anna.press("tab")
        await anna.sees("pictures/layout-")
        await anna.type("b")
        await anna.press("tab")
        await anna.sees("pictures/layout-b.png")
        await anna.press("enter")
        await anna.sees("layout-b.png (69 B)")


def test_only_what_a_line_can_show_is_offered_and_a_hidden_file_by_its_dot(tmp_path: Path) -> None:
    for name in ("plain.txt", ".hidden", "bad\x1b[2J.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()
    assert completions(f"{tmp_path}/") == [f"{tmp_path}/folder/", f"{tmp_path}/plain.txt"]
    assert completions(f"{tmp_path}/.h") == [f"{tmp_path}/.hidden"]
    assert completions(f"{tmp_path}/nothing/there") == []
    assert completions("~nobody-of-this-name/x") == []
