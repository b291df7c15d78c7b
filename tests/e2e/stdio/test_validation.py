"""Which calls are refused, in which words, and that nothing is left of them."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from tests.e2e.stdio.harness import TOOL, WAIT, Agent, Person, data_of, question, text_of

Json = dict[str, Any]


def accepted(agent: Agent, person: Person, *questions: Json) -> Json:
    """Ask, answer with the first option of each question, and the outcome."""
    call = agent.ask(*questions)
    ask = person.wait_for_ask(questions[0]["prompt"])
    person.answer(ask, *(asked.options[0].label for asked in ask.questions))
    result = call.result(WAIT)
    assert not result.is_error
    return data_of(result)


def refused(agent: Agent, person: Person, arguments: Json | None) -> types.CallToolResult:
    """The refusal of a call, which leaves the store as it was."""
    before = [ask.id for ask in person.asks()]
    result = agent.call(TOOL, arguments).result(WAIT)
    assert result.is_error
    assert data_of(result)["outcome"] == "invalid"
    assert [ask.id for ask in person.asks()] == before
    return result


def paths(result: types.CallToolResult) -> list[str]:
    return [problem["path"] for problem in data_of(result)["problems"]]


@pytest.mark.requirement("A-13")
def test_one_question_with_two_options_is_put_to_the_person(agent: Agent, person: Person) -> None:
    assert len(accepted(agent, person, question("One with two?", "a", "b"))["answers"]) == 1


@pytest.mark.requirement("A-14")
def test_four_questions_are_accepted(agent: Agent, person: Person) -> None:
    questions = [question(f"Number {number} of four?") for number in range(4)]
    assert len(accepted(agent, person, *questions)["answers"]) == 4


@pytest.mark.requirement("A-15", "A-23")
def test_five_questions_are_refused(agent: Agent, person: Person) -> None:
    result = refused(agent, person, {"questions": [question(f"Number {number} of five?") for number in range(5)]})
    assert text_of(result) == "questions: expected 1 to 4 questions, got 5. Ask in two calls."


@pytest.mark.requirement("A-16")
def test_four_options_are_accepted(agent: Agent, person: Person) -> None:
    (answer,) = accepted(agent, person, question("Four ways?", "a", "b", "c", "d"))["answers"]
    assert answer["selected"] == ["a"]


@pytest.mark.requirement("A-17", "A-23")
def test_five_options_are_refused(agent: Agent, person: Person) -> None:
    result = refused(agent, person, {"questions": [question("Five ways?", *"abcde")]})
    assert text_of(result) == "questions[0].options: expected 2 to 4 options, got 5."


@pytest.mark.requirement("A-18", "A-23")
def test_one_option_is_refused(agent: Agent, person: Person) -> None:
    result = refused(agent, person, {"questions": [question("One way?", "only")]})
    assert text_of(result) == "questions[0].options: expected 2 to 4 options, got 1."


@pytest.mark.requirement("A-19", "A-23")
def test_no_question_is_refused_in_the_exact_words(agent: Agent, person: Person) -> None:
    assert "At least one question is required" in text_of(refused(agent, person, {"questions": []}))


@pytest.mark.requirement("A-20", "A-23")
@pytest.mark.parametrize("arguments", [None, {}, {"question": "Where?"}, {"questions": None}])
def test_missing_questions_are_named(agent: Agent, person: Person, arguments: Json | None) -> None:
    result = refused(agent, person, arguments)
    assert paths(result) == ["questions"]
    assert text_of(result) == "questions: expected an array of questions, got nothing."


def one(**wrong: Any) -> Json:
    """A call whose only question has these fields instead of good ones."""
    return {"questions": [{**question("Which one?", "a", "b"), **wrong}]}


def option(**wrong: Any) -> Json:
    """A call whose second option has these fields instead of good ones."""
    return one(options=["a", {"label": "b", **wrong}])


WRONG_FIELDS: dict[str, Json] = {
    "questions": {"questions": "Which one?"},
    "questions[0]": {"questions": ["Which one?"]},
    "questions[1]": {"questions": [question("Which one?"), None]},
    "questions[0].prompt": one(prompt=7),
    "questions[0].title": one(title=["a"]),
    "questions[0].multiSelect": one(multiSelect="true"),
    "questions[0].options": one(options="x"),
    "questions[0].options[0]": one(options=[1, "b"]),
    "questions[0].options[1]": one(options=["a", ["b"]]),
    "questions[0].options[1].label": option(label={"text": "b"}),
    "questions[0].options[1].description": option(description=3.5),
    "questions[0].options[1].recommended": option(recommended="yes"),
    "nonBlocking": {**one(), "nonBlocking": 1},
}


@pytest.mark.requirement("A-21", "A-23")
@pytest.mark.parametrize("path", WRONG_FIELDS)
def test_a_field_of_the_wrong_type_is_named_by_its_path(agent: Agent, person: Person, path: str) -> None:
    result = refused(agent, person, WRONG_FIELDS[path])
    assert paths(result) == [path]
    assert text_of(result).startswith(f"{path}: expected ")
    assert "\n" not in text_of(result)


EMPTY_OR_MISSING: list[tuple[str, Json]] = [
    ("questions[0].question", {"questions": [{"options": ["a", "b"]}]}),
    ("questions[0].prompt", one(prompt="")),
    ("questions[0].prompt", one(prompt=" \n\t")),
    ("questions[0].options", {"questions": [{"prompt": "Which one?"}]}),
    ("questions[0].options", one(options=[])),
    ("questions[0].options", one(options=None)),
    ("questions[0].options[1].label", one(options=["a", ""])),
    ("questions[0].options[1].label", one(options=["a", {"description": "b"}])),
    ("questions[0].options[1]", one(options=["a", None])),
]


@pytest.mark.parametrize(("path", "arguments"), EMPTY_OR_MISSING)
def test_an_empty_or_missing_field_is_named_by_its_path(
    agent: Agent, person: Person, path: str, arguments: Json
) -> None:
    assert paths(refused(agent, person, arguments)) == [path]


@pytest.mark.requirement("A-22", "A-23")
def test_every_wrong_field_of_a_call_is_told_at_once(agent: Agent, person: Person) -> None:
    good = question("Is this one fine?")
    bad = {"prompt": 1, "options": ["only", {"label": 2}], "multiSelect": "no"}
    result = refused(agent, person, {"questions": [good, bad, question("Too few?", "one")]})
    wrong = [
        "questions[1].prompt",
        "questions[1].multiSelect",
        "questions[1].options[1].label",
        "questions[2].options",
    ]
    assert paths(result) == wrong
    assert all(path in text_of(result) for path in wrong)


def test_a_tool_that_does_not_exist_is_an_error_that_names_those_that_do(agent: Agent) -> None:
    error = agent.call("ask_the_oracle", {}).exception(WAIT)
    assert str(error) == "There is no tool 'ask_the_oracle'. The tools are ask_user_questions."
