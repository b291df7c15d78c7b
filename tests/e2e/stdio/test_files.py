"""Pictures and files of an answer reach the agent in every way in which an answer is collected, on both eras."""

from __future__ import annotations

import base64
import stat
from collections.abc import Iterator
from pathlib import Path

import mcp_types as types
import pytest
from tests.e2e.stdio.harness import MODES, WAIT, Person, Place, new_place, text_of
from tests.test_pictures import PNG

from sayso.asks.model import Answer, Ask
from sayso.pictures import without_metadata

NOTES = b"Line one.\nLine two.\n"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with new_place() as place:
        yield place


@pytest.fixture
def person(place: Place) -> Iterator[Person]:
    with place.person() as person:
        yield person


def answer_with_files(person: Person, ask: Ask) -> None:
    added = [
        person.desk.add_attachment(ask.id, "ada", name, data) for name, data in (("a.png", PNG), ("notes.txt", NOTES))
    ]
    answer = Answer(question=ask.questions[0].id, text="Like this.", attachments=tuple(added))
    person.desk.answer(ask.id, [answer], person.settler)


def check(told: types.CallToolResult, ask: Ask, place: Place) -> None:
    pictures = [block for block in told.content if isinstance(block, types.ImageContent)]
    assert [(base64.b64decode(block.data), block.mime_type) for block in pictures] == [
        (without_metadata(PNG), "image/png")
    ]
    said = "".join(block.text for block in told.content if isinstance(block, types.TextContent))
    folder = place.state / "attachments" / ask.id
    assert "Like this." in said
    for file, data in ((folder / "1-a.png", without_metadata(PNG)), (folder / "2-notes.txt", NOTES)):
        assert f"saved as {file}" in said
        assert file.read_bytes() == data
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not told.is_error


@pytest.mark.parametrize("name", ["claude-code", "gemini-cli-mcp-client"])
@pytest.mark.parametrize("mode", MODES)
def test_files_come_with_the_call_that_waits_and_data_only_where_it_hides_no_picture(
    place: Place, person: Person, mode: str, name: str
) -> None:
    with place.agent(mode, program="sayso", name=name) as agent:
        call = agent.call("ask_user", {"question": f"What does {name} see, {mode}?"})
        ask = person.wait_for_ask(f"What does {name} see, {mode}?")
        answer_with_files(person, ask)
        told = call.result(WAIT)
        check(told, ask, place)
        assert (told.structured_content is None) == (name == "claude-code")


@pytest.mark.parametrize("mode", MODES)
def test_files_come_again_with_the_same_call_and_with_get_answers(place: Place, person: Person, mode: str) -> None:
    asked = {"question": f"Later, {mode}?", "nonBlocking": True}
    with place.agent(mode, program="sayso", name="claude-code") as agent:
        agent.call("ask_user", asked).result(WAIT)
        (ask,) = [each for each in person.inbox() if each.questions[0].text == asked["question"]]
        answer_with_files(person, ask)
        check(agent.call("get_answers", {}).result(WAIT), ask, place)
        check(agent.call("get_answers", {"ask_id": ask.id}).result(WAIT), ask, place)
        other = {"question": f"Again, {mode}?", "nonBlocking": True}
        agent.call("ask_user", other).result(WAIT)
        (ask,) = [each for each in person.inbox() if each.questions[0].text == other["question"]]
        answer_with_files(person, ask)
        check(agent.call("ask_user", other).result(WAIT), ask, place)


def test_an_agent_shows_pictures_and_previews_with_its_options(place: Place, person: Person) -> None:
    (place.project / "wide.png").write_bytes(PNG)
    options = [{"label": "Wide", "image": "wide.png"}, {"label": "Compact", "preview": "[a] [b]"}]
    with place.agent("auto", program="sayso") as agent:
        refused = agent.call("ask_user", {"question": "Which?", "options": [{"label": "No", "image": "../x.png"}]})
        assert "not in the project" in text_of(refused.result(WAIT))
        call = agent.call("ask_user", {"question": "Which layout?", "options": options})
        ask = person.wait_for_ask("Which layout?")
        (picture,) = ask.pictures()
        assert person.desk.attachment(ask.id, picture.id)[1] == without_metadata(PNG)
        assert ask.questions[0].options[1].preview == "[a] [b]"
        person.answer(ask, "Compact")
        assert "Compact" in text_of(call.result(WAIT))
    saved = place.run("show", ask.id, "--save", str(place.folder / "saved"))
    assert Path(saved.stdout.strip()).read_bytes() == without_metadata(PNG)
