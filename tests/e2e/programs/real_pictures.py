"""A picture from a phone reaches the model of the real Claude Code, Codex and Gemini, without where it was taken.

On a scripted model, after `sayso install` and nothing else. `make test-clients` runs this file.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.cli.program import SOMEONE
from tests.e2e.browser.conftest import NewContext
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json
from tests.e2e.programs.real_clients import PATIENCE, SEAT, Talk, await_asks, connected, looking
from tests.e2e.programs.real_gate import on_the_phone
from tests.e2e.programs.seats import at_work, until
from tests.test_pictures import PNG, SECRET

from sayso.asks.model import Answer
from sayso.pictures import without_metadata

WORDS = "It looks like this."


def with_a_place(picture: bytes) -> bytes:
    """The picture with what a camera writes into it."""
    about = b"Location\0" + SECRET
    text = struct.pack(">I", len(about)) + b"tEXt" + about + struct.pack(">I", zlib.crc32(b"tEXt" + about))
    return picture[:33] + text + picture[33:]


def test_a_picture_taken_on_a_phone_is_in_the_request_of_claude_codes_model(
    machine: Machine, new_context: NewContext, tmp_path: Path
) -> None:
    photo = tmp_path / "from the camera.png"
    photo.write_bytes(with_a_place(PNG))
    home, talk = connected(machine, SEAT["claude-code"]), Talk(SEAT["claude-code"])
    with (
        on_the_phone(home, new_context) as page,
        talk.model.serving(),
        at_work(SEAT["claude-code"], "headless", home, talk.model.url) as client,
        home.desk() as desk,
    ):
        (ask,) = await_asks(desk, 1, talk, client)
        page.locator(f'.row[data-ask="{ask.id}"] > a').tap()
        page.get_by_label("Take a photo").set_input_files(photo)
        expect(page.locator("[data-attached] img")).to_be_visible()
        page.locator("textarea.answer").fill(WORDS)
        page.get_by_role("button", name="Send answer").tap()
        until(PATIENCE, lambda: talk.results, lambda: f"the answer; the client shows\n{client.shows()}")
        request = talk.model.requests[-1]
    seen = [part for part in parts_of(request) if part.get("type") == "image"]
    assert [base64.b64decode(part["source"]["data"]) for part in seen] == [without_metadata(PNG)]
    assert WORDS in talk.results[0]
    assert SECRET not in base64.b64decode(seen[0]["source"]["data"])
    assert f"saved as {home.state}/attachments/{ask.id}/1-from the camera.png" in talk.results[0]


def parts_of(request: Json) -> list[Json]:
    """All that is in the results of tools."""
    found: list[Json] = []
    for message in request["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else []:
            found += part["content"] if part["type"] == "tool_result" and isinstance(part["content"], list) else []
    return found


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_picture_is_in_the_request_of_the_models_of_other_clients(machine: Machine, name: str) -> None:
    home, talk = connected(machine, SEAT[name]), Talk(SEAT[name])
    with looking(home) as desk, talk.model.serving(), at_work(SEAT[name], "headless", home, talk.model.url) as client:
        (ask,) = await_asks(desk, 1, talk, client)
        added = desk.add_attachment(ask.id, SOMEONE.person, "here.png", with_a_place(PNG))
        answer = Answer(question=ask.questions[0].id, text=WORDS, attachments=(added,))
        desk.answer(ask.id, [answer], SOMEONE)
        until(PATIENCE, lambda: talk.results, lambda: f"the answer; the client shows\n{client.shows()}")
        whole = json.dumps(talk.model.requests[-1])
    assert WORDS in talk.results[0]
    assert base64.b64encode(without_metadata(PNG)).decode() in whole
