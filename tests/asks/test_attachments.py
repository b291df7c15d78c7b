"""Pictures and files of answers: what is taken, where it is kept, and when it goes."""

from __future__ import annotations

import stat
import struct
import threading
from pathlib import Path

import pytest
from tests.asks.samples import ANNA, BEN, DAY, KEEP, RED, FakeClock, ask
from tests.conftest import OpenStore
from tests.test_pictures import PNG, SECRET, exif, photo

from sayso.asks import handed_files
from sayso.asks.attachments import PART, AttachmentLimits
from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, Said, to_json
from sayso.asks.model import Answer, Ask, Attachment, Kind, NewAsk, Question
from sayso.asks.new_attachments import prepared, safe_name
from sayso.errors import AlreadySettled, InvalidInput, NotFound
from sayso.records import replace

CONFIRM = Question(id="1", text="Go?", kind=Kind.CONFIRM)
WORDS = Question(id="1", text="What do you see?")


def answered_with(*attachments: Attachment) -> list[Answer]:
    return [replace(RED[0], attachments=attachments)]


def opened(desk: AskDesk, *questions: Question, **more: object) -> Ask:
    return desk.leave(replace(ask(), questions=questions or ask().questions, **more))


def test_a_photo_goes_with_an_answer_without_where_it_was_taken(desk: AskDesk) -> None:
    held = desk.hold(ask())
    added = desk.add_attachment(held.ask.id, "anna", "IMG_1.JPEG", photo())
    assert (added.name, added.media, added.width, added.height) == ("IMG_1.jpg", "image/jpeg", 40, 30)
    settled = desk.answer(held.ask.id, answered_with(Attachment(id=added.id)), ANNA)
    assert list(settled.attachments()) == [added]
    found, data = desk.attachment(held.ask.id, added.id)
    assert found == added
    assert SECRET not in data
    assert data.startswith(b"\xff\xd8")
    assert len(data) == added.size


def test_a_large_file_comes_back_as_it_went_in(desk: AskDesk) -> None:
    whole = bytes(range(256)) * (PART // 128) + b"the end"
    held = desk.hold(ask())
    added = desk.add_attachment(held.ask.id, "anna", "log.bin", whole)
    assert added.media == "application/octet-stream"
    assert desk.attachment(held.ask.id, added.id, "anna")[1] == whole


def test_what_was_added_and_not_sent_is_gone_once_the_answer_is_sent(desk: AskDesk) -> None:
    left = opened(desk)
    one = desk.add_attachment(left.id, "anna", "one.txt", b"one")
    two = desk.add_attachment(left.id, "anna", "two.txt", b"two")
    bens = desk.add_attachment(left.id, "ben", "ben.txt", b"three")
    desk.answer(left.id, answered_with(two), ANNA)
    assert desk.added(left.id, "anna") == (two,)
    with pytest.raises(NotFound):
        desk.attachment(left.id, one.id, "anna")
    with pytest.raises(AlreadySettled):
        desk.answer(left.id, answered_with(bens), BEN)
    assert desk.attachment(left.id, bens.id, "ben")[1] == b"three"
    with pytest.raises(NotFound):
        desk.attachment(left.id, bens.id, "anna")


def test_what_a_draft_names_that_was_not_sent_goes_with_the_draft(desk: AskDesk) -> None:
    left = opened(desk)
    one, two = (desk.add_attachment(left.id, "anna", f"{name}.txt", name.encode()) for name in ("one", "two"))
    elsewhere = Draft().put(left.questions[0], Said(attachments=(one,)))
    desk.keep_draft(left.id, "anna", to_json(left, elsewhere))
    desk.answer(left.id, answered_with(two), ANNA)
    assert {*desk.added(left.id, "anna")} == {one, two}
    desk.keep_draft(left.id, "anna", "")
    assert desk.added(left.id, "anna") == (two,)


def test_nobody_sends_what_another_has_added_or_nobody_has(desk: AskDesk) -> None:
    left = opened(desk)
    bens = desk.add_attachment(left.id, "ben", "ben.txt", b"three")
    with pytest.raises(InvalidInput, match=f'there is no file "{bens.id}" of yours at this ask'):
        desk.answer(left.id, answered_with(bens), ANNA)
    assert desk.get(left.id).state.answerable


def test_only_so_many_go_with_one_answer_also_when_two_come_at_once(open_shared: OpenStore) -> None:
    desks = [AskDesk(open_shared(), most_attached=AttachmentLimits(count=3, size=1000)) for _ in range(4)]
    left, refused = opened(desks[0]), []

    def add(desk: AskDesk, number: int) -> None:
        try:
            desk.add_attachment(left.id, "anna", f"{number}.txt", str(number).encode())
        except InvalidInput as error:
            refused.append(str(error))

    threads = [threading.Thread(target=add, args=(desks[number % 4], number)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(desks[0].added(left.id, "anna")) == 3
    assert refused == ["file: at most 3 can go with one answer. Remove one first."] * 9
    first = desks[0].added(left.id, "anna")[0]
    desks[0].drop_attachment(left.id, "anna", first.id)
    with pytest.raises(InvalidInput, match=r"all of an answer may have 0\.001 MB"):
        desks[0].add_attachment(left.id, "anna", "large.txt", b"x" * 1000)


def test_the_same_file_twice_is_one(desk: AskDesk) -> None:
    left = opened(desk)
    assert desk.add_attachment(left.id, "anna", "a.txt", b"x") == desk.add_attachment(left.id, "anna", "b.txt", b"x")
    assert len(desk.added(left.id, "anna")) == 1


def test_a_permission_takes_no_picture_and_a_yes_or_no_stays_one(desk: AskDesk) -> None:
    bound = opened(desk, CONFIRM, bound=True)
    with pytest.raises(InvalidInput, match="a permission takes no pictures or files"):
        desk.add_attachment(bound.id, "anna", "yes.png", PNG)
    asked = opened(desk, replace(CONFIRM, text="Really?"))
    picture = desk.add_attachment(asked.id, "anna", "yes.png", PNG)
    with pytest.raises(InvalidInput, match="an answer is required"):
        desk.answer(asked.id, [Answer(question="1", attachments=(picture,))], ANNA)


def test_a_picture_alone_answers_a_question_that_takes_own_words(desk: AskDesk) -> None:
    asked = opened(desk, WORDS)
    picture = desk.add_attachment(asked.id, "anna", "seen.png", PNG)
    settled = desk.answer(asked.id, [Answer(question="1", attachments=(picture,))], ANNA)
    answer = settled.answer("1")
    assert answer is not None
    assert not answer.skipped


def test_files_go_with_their_ask(desk: AskDesk, clock: FakeClock, tmp_path: Path) -> None:
    held = desk.hold(ask())
    added = desk.add_attachment(held.ask.id, "anna", "../../etc/pass wd\u202e.png", PNG)
    settled = desk.answer(held.ask.id, answered_with(added), ANNA)
    (file,) = handed_files.on_disk(desk, tmp_path / "files", settled)
    assert file.path == tmp_path / "files" / held.ask.id / f"1-{added.name}"
    assert (added.name, file.path.read_bytes()) == ("pass wd.png", file.data)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    (answer,) = handed_files.with_places(settled, [file]).outcome.answers  # type: ignore[union-attr]
    assert answer.note == f"[Attached: pass wd.png (image/png), saved as {file.path}]"
    handed_files.sweep(desk, tmp_path / "files")
    assert file.path.exists()
    desk.delivered(held)
    clock.forward(8 * DAY)
    desk.clean_up(KEEP)
    with pytest.raises(NotFound):
        desk.attachment(held.ask.id, added.id, "anna")
    handed_files.sweep(desk, tmp_path / "files")
    assert not file.path.parent.exists()


def test_where_no_history_is_kept_files_are_wiped_on_delivery(open_shared: OpenStore) -> None:
    desk = AskDesk(open_shared(), keeps_history=lambda _: False)
    held = desk.hold(ask())
    added = desk.add_attachment(held.ask.id, "anna", "a.txt", b"secret")
    desk.answer(held.ask.id, answered_with(added), ANNA)
    desk.delivered(held)
    with pytest.raises(NotFound):
        desk.attachment(held.ask.id, added.id, "anna")


def test_an_answer_that_is_taken_up_again_has_its_files(desk: AskDesk) -> None:
    new: NewAsk = ask()
    left = desk.leave(new)
    added = desk.add_attachment(left.id, "anna", "a.txt", b"kept")
    desk.answer(left.id, answered_with(added), ANNA)
    held = desk.hold(new)
    assert held.ask.id == left.id
    assert [file.data for file in handed_files.fetched(desk, held.ask)] == [b"kept"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("photo.jpeg", "photo.jpeg"),
        ("../../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\Bild 1.PNG", "Bild 1.PNG"),
        ("\x1b]0;pwned\x07.sh", "0_pwned.sh"),
        ("invoice\u202egnp.exe", "invoice_gnp.exe"),
        ("", "file"),
        ("..", "file"),
        (".bashrc", "bashrc"),
        ("größe – 東京.txt", "größe _ 東京.txt"),
        ("-rf", "-rf"),
        ("x" * 300 + ".txt", "x" * 97 + ".txt"),
        ("é" * 300, "é" * 50),
    ],
)
def test_a_name_is_fit_for_any_folder_line_or_header(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "is a HEIC, AVIF or TIFF photo"),
        (PNG[:16] + struct.pack(">II", 30_000, 30_000) + PNG[24:], "too large to be drawn"),
        (b"GIF89a", "is no whole picture"),
    ],
)
def test_what_is_not_taken_is_said_with_what_to_do(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        prepared("a photo.jpg", data)


def test_what_a_file_is_its_content_says() -> None:
    for data, media in [
        (b"<svg onload=alert(1)>", "text/plain"),
        (b"<html>", "text/plain"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"MZ\x90\0\3", "application/octet-stream"),
        (b"esc \x1b[2J", "application/octet-stream"),
        (PNG, "image/png"),
    ]:
        assert prepared("picture.png", data).kept.media == media
    assert prepared("page.html", PNG).kept.name == "page.png"


def test_a_photo_stays_the_right_way_up() -> None:
    kept = prepared("a.jpg", photo(exif("<", 6))).data
    assert b"Exif\0\0MM\0*" in kept
    assert SECRET not in kept
