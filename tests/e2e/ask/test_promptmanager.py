"""PromptManager's `ask_user`, in its strict profile: one question, one sentence for an answer."""

from __future__ import annotations

import json

import pytest
from tests.e2e.ask.house import AUTO, LEGACY, answered, chosen, connected
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import Json
from tests.e2e.clients.kinds import ClientKind
from tests.e2e.stdio.harness import Person, Place

from sayso.asks.model import State

TOOL = "ask_user"
TIMED_OUT = "User did not respond within the timeout period. Proceeding with your best judgment."
DEFINITION = json.loads("""
{
  "name": "ask_user",
  "description": "Ask the user a question and wait for their response. Use this when you need clarification, a choice \
between options, or confirmation before proceeding.",
  "inputSchema": {
    "type": "object",
    "required": ["question"],
    "properties": {
      "question": {"type": "string", "description": "The question to ask the user"},
      "options": {
        "type": "array",
        "description": "Optional list of choices for the user",
        "items": {
          "type": "object",
          "required": ["label"],
          "properties": {
            "label": {"type": "string", "description": "Short label for the option"},
            "description": {"type": "string", "description": "Longer explanation of what this option means"}
          }
        }
      },
      "multiSelect": {
        "type": "boolean",
        "default": false,
        "description": "Whether the user can select multiple options"
      }
    }
  }
}
""")
OPTIONS = [{"label": "Option A", "description": "the first"}, {"label": "Option B"}, {"label": "Option C"}]


@pytest.mark.requirement("P-01", "P-02", "P-03", "P-04", "P-05")
def test_the_server_and_its_tool_are_as_the_seed_has_them(promptmanager: ClientProgram) -> None:
    assert promptmanager.connected.server_info is not None
    assert promptmanager.connected.server_info["name"] == "ask-user"
    assert promptmanager.connected.server_info["version"] == "1.0.0"
    assert "tools" in promptmanager.connected.capabilities
    (tool,) = promptmanager.list_tools()
    assert {key: tool[key] for key in DEFINITION} == DEFINITION


WRONG: list[tuple[str, Json]] = [
    ("question", {}),
    ("question", {"question": 5}),
    ("question", {"question": " "}),
    ("question", {"questions": [{"question": "Batched?"}]}),
    ("options", {"question": "Which?", "options": "Option A"}),
    ("options[0]", {"question": "Which?", "options": ["Option A"]}),
    ("options[0].label", {"question": "Which?", "options": [{"description": "no label"}]}),
    ("options[0].description", {"question": "Which?", "options": [{"label": "A", "description": 1}]}),
    ("multiSelect", {"question": "Which?", "options": OPTIONS, "multiSelect": "yes"}),
]


@pytest.mark.requirement("P-02", "P-03", "P-06", "P-11")
@pytest.mark.parametrize(("path", "arguments"), WRONG)
def test_what_the_tool_does_not_know_is_refused_with_its_place(
    promptmanager: ClientProgram, person: Person, path: str, arguments: Json
) -> None:
    before = {ask.id for ask in person.asks()}
    result = promptmanager.call(TOOL, arguments)
    assert result.is_error
    assert result.text.startswith(f"{path}: ")
    assert {ask.id for ask in person.asks()} == before


@pytest.mark.requirement("P-07", "P-12")
def test_a_choice_is_told_in_these_words_and_the_session_goes_on(promptmanager: ClientProgram, person: Person) -> None:
    before = promptmanager.server.pid
    result = answered(promptmanager, person, TOOL, {"question": "Choose?", "options": OPTIONS}, "Option A")
    assert result.content == [{"type": "text", "text": "User selected: Option A"}]
    assert not result.is_error
    assert answered(promptmanager, person, TOOL, {"question": "And then?"}, "on").text == "User answered: on"
    assert promptmanager.server.pid == before


@pytest.mark.requirement("P-08")
@pytest.mark.parametrize("options", [None, [], OPTIONS])
def test_free_text_is_delivered_with_options_and_without(
    promptmanager: ClientProgram, person: Person, options: list[Json] | None
) -> None:
    arguments = {"question": f"In your words, {options and len(options)}?", "options": options}
    said = "neither:\nsomething “else” 😀"
    assert answered(promptmanager, person, TOOL, arguments, said).text == f"User answered: {said}"


@pytest.mark.requirement("P-04", "P-09")
def test_several_selections_are_all_delivered(promptmanager: ClientProgram, person: Person) -> None:
    key = promptmanager.call_start(TOOL, {"question": "Which all?", "options": OPTIONS, "multiSelect": True})
    ask = person.wait_for_ask("Which all?")
    person.answer(ask, chosen(ask.questions[0], "Option A", "Option C"))
    result = promptmanager.wait_result(key)
    assert result.text == "User selected: Option A, Option C"
    assert result.structured["answers"][0]["selected"] == ["Option A", "Option C"]


@pytest.mark.requirement("P-11")
@pytest.mark.parametrize("way", ["reject", "decline", "cancel"])
def test_a_persons_no_is_told_and_never_passes_for_an_answer(
    promptmanager: ClientProgram, person: Person, way: str
) -> None:
    key = promptmanager.call_start(TOOL, {"question": f"Would you {way}?"})
    ask = person.wait_for_ask(f"Would you {way}?")
    match way:
        case "cancel":
            person.desk.cancel(ask.id, person.settler)
        case "decline":
            person.desk.decline(ask.id, person.settler)
        case "reject":
            person.reject(ask, "ask me tomorrow")
    result = promptmanager.wait_result(key)
    assert "Do not assume an answer." in result.text
    assert ("ask me tomorrow" in result.text) == (way == "reject")


@pytest.mark.requirement("P-13")
def test_questions_one_after_another_are_independent(promptmanager: ClientProgram, person: Person) -> None:
    for number in range(3):
        arguments = {"question": "The same again?", "options": OPTIONS}
        label = OPTIONS[number]["label"]
        assert answered(promptmanager, person, TOOL, arguments, label).text == f"User selected: {label}"
    asked = [ask for ask in person.asks() if ask.questions[0].text == "The same again?"]
    assert len({ask.id for ask in asked}) == 3


@pytest.mark.requirement("P-10", "P-11")
@pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])
def test_a_timeout_is_an_error_in_these_words(kind: ClientKind, place: Place) -> None:
    with connected(kind, place, "promptmanager", ask_user_timeout="1s") as program, place.person() as person:
        result = program.call(TOOL, {"question": "Too slow?"})
        assert result.content == [{"type": "text", "text": TIMED_OUT}]
        assert result.is_error
        (ask,) = person.asks()
        assert ask.state is State.TIMED_OUT
        assert ask.timeout_ms == 1000
        assert (ask.ended_at or 0) - ask.created_at >= 1000
