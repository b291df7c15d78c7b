"""Pictures and files on the page: chosen, pasted and dropped into an answer, and looked at beside the options."""

from __future__ import annotations

import base64
import os
import re
from importlib import resources
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import FilePayload, Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.test_pictures import PNG, SECRET, photo
from tests.web.house import USER, House, select, text

from sayso.asks.model import Answer, Ask, Attachment, NewAsk, NewAttachment, Option, Settler
from sayso.asks.new_attachments import prepared
from sayso.pictures import without_metadata
from sayso.records import replace

pytestmark = pytest.mark.usefixtures("read_quickly")

LARGE = (resources.files("sayso.web") / "static" / "icon-512.png").read_bytes()
HOLD = """(name, data) => {
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  const held = new DataTransfer();
  held.items.add(new File([bytes], name, { type: "image/png" }));
  return held;
}"""
PASTE = f"""(field, [name, data]) => {{
  const clipboardData = ({HOLD})(name, data);
  field.dispatchEvent(new ClipboardEvent("paste", {{ clipboardData, bubbles: true, cancelable: true }}));
}}"""
DROP = f"""(place, [name, data]) => {{
  const dataTransfer = ({HOLD})(name, data);
  place.dispatchEvent(new DragEvent("drop", {{ dataTransfer, bubbles: true, cancelable: true }}));
}}"""


def look(page: Page, name: str) -> None:
    """Keep what the page looks like, for whoever wants to see it."""
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def sent_with(house: House, ask: Ask) -> list[Attachment]:
    return list(house.desk.get(ask.id).attachments())


def test_a_photo_a_pasted_and_a_dropped_picture_go_with_an_answer(
    house: House, sign_in: SignIn, tmp_path: Path
) -> None:
    ask = house.ask(text("What does it look like?"), select("Which?"))
    file = tmp_path / "IMG_7.jpg"
    file.write_bytes(photo())
    page = sign_in(f"/asks/{ask.id}", **PHONE)
    first, second = page.locator("#q0"), page.locator("#q1")
    first.get_by_label("Take a photo").set_input_files(file)
    expect(first.locator("[data-attached] label")).to_have_text(["IMG_7.jpg"])
    given = ["pasted.png", base64.b64encode(PNG).decode()]
    first.locator("textarea.answer").evaluate(PASTE, given)
    expect(first.locator("[data-attached] label")).to_have_count(2)
    second.evaluate(DROP, ["dropped.png", base64.b64encode(LARGE).decode()])
    expect(second.locator("[data-attached] label")).to_have_text(["dropped.png"])
    first.get_by_label("Add pictures or files").set_input_files(
        {"name": "old.heic", "mimeType": "application/octet-stream", "buffer": b"\0\0\0\x18ftypheic"}
    )
    expect(first.locator("[data-attach-problem]")).to_contain_text('Not added: "old.heic" is a HEIC')
    huge = tmp_path / "film.bin"
    with huge.open("wb") as opened:
        opened.truncate(17 * 1024 * 1024)
    first.get_by_label("Add pictures or files").set_input_files(huge)
    expect(first.locator("[data-attach-problem]")).to_have_text(
        "Not added: “film.bin” has 17 MiB, and at most 16 MiB can be sent at once. Make it smaller, or say in your "
        "answer where the agent finds it."
    )
    first.get_by_label("Add pictures or files").set_input_files(
        {"name": "b.png", "mimeType": "image/png", "buffer": PNG}
    )
    expect(first.locator("[data-attached]")).to_contain_text("b.png is the same file as pasted.png, so it goes once.")
    expect(page.locator("[data-draft-note]")).to_have_text("Kept as a draft")
    page.reload()
    expect(first.locator("[data-attached] label")).to_have_text(["IMG_7.jpg", "pasted.png"])
    first.get_by_label("pasted.png").uncheck()
    second.get_by_text("Green").tap()
    look(page, "answering-on-a-phone")
    page.get_by_role("button", name="Send answers").tap()
    expect(page.locator(".answer-given .attached a")).to_have_text(["IMG_7.jpg", "dropped.png"])
    look(page, "answered-with-pictures")
    assert [each.name for each in sent_with(house, ask)] == ["IMG_7.jpg", "dropped.png"]
    taken, _ = (house.desk.attachment(ask.id, each.id)[1] for each in sent_with(house, ask))
    assert SECRET not in taken


def test_files_go_with_an_answer_without_scripts_and_are_kept_where_somebody_was_first(
    house: House, sign_in: SignIn
) -> None:
    ask = house.ask(text("What does it say?"))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=False)
    log, empty, more = (
        FilePayload(name=name, mimeType="text/plain", buffer=data)
        for name, data in (("log.txt", b"It says no."), ("empty.txt", b""), ("more.txt", b"And more."))
    )
    page.get_by_label("Add pictures or files").set_input_files([log, empty])
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("[data-problems]")).to_contain_text("is empty. Choose another file")
    expect(page.get_by_label("log.txt")).to_be_checked()
    words = Answer(question=ask.questions[0].id, text="No.")
    house.desk.answer(ask.id, [words], Settler(person="ben", surface="terminal"))
    page.get_by_label("Add pictures or files").set_input_files(more)
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator(".unsent .attached a")).to_have_text(["log.txt", "more.txt"])
    with page.expect_download() as download:
        page.get_by_role("link", name="log.txt").click()
    assert Path(download.value.path()).read_bytes() == b"It says no."


def visual(*pictures: NewAttachment) -> tuple[Option, ...]:
    code = "def main() -> None:\n    print('compact')\n" * 3
    return (
        Option(id="1", label="Wide", picture=pictures[0].kept, description="All at once"),
        Option(id="2", label="Compact", preview=code),
    )


def where(page: Page, side: Literal["x", "y"], place: int) -> float:
    found = page.locator(".option").nth(place).bounding_box()
    assert found is not None
    return found[side]


def test_options_with_pictures_and_previews_stand_side_by_side(house: House, sign_in: SignIn) -> None:
    picture = prepared("wide.png", PNG)
    question = replace(select("Which of these two layouts?"), options=visual(picture))
    asker = house.ask(text("Who?")).asker
    ask = house.desk.leave(NewAsk(tool="ask_user", questions=(question,), asker=asker, files=(picture,)))
    page = sign_in(f"/asks/{ask.id}")
    image = page.get_by_role("img", name="Wide: wide.png")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 192
    assert where(page, "y", 0) == where(page, "y", 1)
    expect(page.locator(".option-preview")).to_contain_text("print('compact')")
    look(page, "side-by-side")
    page.set_viewport_size({"width": 390, "height": 844})
    assert where(page, "x", 0) == where(page, "x", 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    look(page, "stacked")
    page.goto(page.url.partition("/asks")[0] + "/")
    expect(page.locator(f'.row[data-ask="{ask.id}"] [data-row-answers]')).to_have_count(0)
    assert house.desk.attachment(ask.id, picture.kept.id)[1] == without_metadata(PNG)


def test_who_signs_out_leaves_no_picture_behind_in_the_browser(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("What does it look like?"))
    added = house.desk.add_attachment(ask.id, USER, "a.png", PNG)
    page = sign_in("/settings")
    address = f"{page.url.rpartition('/')[0]}/asks/{ask.id}/files/{added.id}"
    shown = page.goto(address)
    assert shown
    assert shown.ok
    page.go_back()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in$"))
    again = page.goto(address)
    assert again
    assert again.status == 401


def test_a_browser_that_cannot_make_a_picture_smaller_sends_it_as_it_is(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("What does it look like?"))
    page = sign_in(f"/asks/{ask.id}")
    page.evaluate("delete window.OffscreenCanvas")
    given = FilePayload(name="a.png", mimeType="image/x-odd", buffer=PNG)
    page.get_by_label("Add pictures or files").set_input_files(given)
    expect(page.locator("[data-attached] label")).to_have_text(["a.png"])
