"""`ask_user` and `ask_user_questions` side by side: one tool takes every dialect, and says what it cannot take."""

from __future__ import annotations

import json

import pytest
from tests.e2e.ask.house import answered, chosen
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import Person

from sayso.asks.model import Answer, Kind

LETTERS = [{"label": "A", "description": "first"}, "B", {"label": "C (recommended)"}]


@pytest.mark.requirement("N-06", "P-02")
def test_the_schema_is_one_flat_object_that_requires_nothing(either_client: ClientProgram) -> None:
    tool = next(tool for tool in either_client.list_tools() if tool["name"] == "ask_user")
    schema = tool["inputSchema"]
    fields = {"questions", "title", "timeout", "question", "options", "multiSelect", "nonBlocking"}
    assert schema["properties"].keys() == fields
    assert "required" not in schema


SINGLE: list[tuple[Json, Kind]] = [
    ({"question": "one, text"}, Kind.TEXT),
    ({"prompt": "one, another word"}, Kind.TEXT),
    ({"question": "one, no options", "options": [], "multiSelect": True}, Kind.TEXT),
    ({"question": "one, choice", "options": LETTERS}, Kind.SELECT),
    ({"question": "one, several", "options": LETTERS, "multiSelect": True}, Kind.MULTI_SELECT),
    ({"question": "one, typed", "type": "multi-select", "options": LETTERS, "header": "Pick"}, Kind.MULTI_SELECT),
    ({"question": "one, yes or no", "type": "confirm"}, Kind.CONFIRM),
    ({"question": "one, with nulls", "options": None, "multiSelect": None, "timeout": None, "title": None}, Kind.TEXT),
]


@pytest.mark.parametrize(("arguments", "kind"), SINGLE, ids=[str(kind) + str(n) for n, (_, kind) in enumerate(SINGLE)])
def test_one_question_in_any_dialect_is_answered_in_a_sentence(
    either_client: ClientProgram, inbox: Person, arguments: Json, kind: Kind
) -> None:
    text = arguments.get("question") or arguments["prompt"]
    key = either_client.call_start("ask_user", arguments)
    ask = inbox.wait_for_ask(text)
    (question,) = ask.questions
    assert question.kind is kind
    assert question.title == arguments.get("header", "")
    assert [option.recommended for option in question.options] == ([False, False, True] if question.options else [])
    labels = {Kind.TEXT: [], Kind.SELECT: ["B"], Kind.MULTI_SELECT: ["A", "B"], Kind.CONFIRM: ["No"]}[kind]
    inbox.answer(ask, chosen(question, *labels) if labels else "my words")
    told = "User selected: " + ", ".join(labels) if labels else "User answered: my words"
    assert either_client.wait_result(key).text == told


SEVERAL: list[tuple[Json, Kind]] = [
    ({"question": "many, text"}, Kind.TEXT),
    ({"prompt": "many, another word", "header": "Word"}, Kind.TEXT),
    ({"question": "many, choice", "options": ["A", "B", "C"]}, Kind.SELECT),
    ({"question": "many, Claude's", "header": "Own", "options": LETTERS, "multiSelect": False}, Kind.SELECT),
    (
        {"question": "many, Claude's several", "header": "Own", "options": LETTERS, "multiSelect": True},
        Kind.MULTI_SELECT,
    ),
    ({"question": "many, both", "type": "select", "options": LETTERS, "multiSelect": True}, Kind.MULTI_SELECT),
    ({"question": "many, confirm", "type": "confirm", "title": "Sure"}, Kind.CONFIRM),
]


@pytest.mark.parametrize(("question", "kind"), SEVERAL, ids=[str(kind) + str(n) for n, (_, kind) in enumerate(SEVERAL)])
def test_several_questions_in_any_dialect_are_answered_in_four_fields(
    either_client: ClientProgram, inbox: Person, question: Json, kind: Kind
) -> None:
    key = either_client.call_start("ask_user", {"questions": [question]})
    ask = inbox.wait_for_ask(question.get("question") or question["prompt"])
    assert ask.questions[0].kind is kind
    assert ask.questions[0].title == question.get("title", question.get("header", ""))
    labels = {Kind.TEXT: [], Kind.SELECT: ["B"], Kind.MULTI_SELECT: ["A", "B"], Kind.CONFIRM: ["No"]}[kind]
    inbox.answer(ask, chosen(ask.questions[0], *labels) if labels else "my words")
    told = json.loads(either_client.wait_result(key).text)
    values = {Kind.TEXT: ["my words"], Kind.CONFIRM: ["no"]}.get(kind, labels)
    assert told["answers"] == [{"questionId": ask.questions[0].id, "values": values}]


def test_title_and_timeout_hold_for_one_question_too(either_client: ClientProgram, inbox: Person) -> None:
    arguments = {"question": "Titled and timed?", "title": "The title", "timeout": 10_000}
    key = either_client.call_start("ask_user", arguments)
    ask = inbox.wait_for_ask("Titled and timed?")
    assert (ask.title, ask.timeout_ms) == ("The title", 10_000)
    inbox.answer(ask, "yes")
    either_client.wait_result(key)


WRONG: list[tuple[str, Json]] = [
    ("give either `question` (one question) or `questions` (an array), got neither", {}),
    ("give either `question` (one question) or `questions` (an array), got both", {"question": "a", "questions": [{}]}),
    ("questions array must have at least 1 item", {"questions": []}),
    ("Options required for select/multi-select (options)", {"question": "a", "type": "select"}),
    ("expected one of text, select, multi-select, confirm, got the number 4 (type)", {"question": "a", "type": 4}),
    ("expected a text, got the number 7 (question)", {"question": 7}),
    ('expected an array of questions, got the text "a" (questions)', {"questions": "a"}),
    ('expected true or false, got the text "no" (nonBlocking)', {"question": "a", "nonBlocking": "no"}),
]


@pytest.mark.parametrize(("told", "arguments"), WRONG)
def test_what_cannot_be_taken_is_told_with_its_place(
    either_client: ClientProgram, person: Person, told: str, arguments: Json
) -> None:
    before = {ask.id for ask in person.asks()}
    result = either_client.call("ask_user", arguments)
    assert result.is_error
    assert result.text == f"Validation error: {told}"
    assert result.structured["message"] == result.text
    assert result.structured["outcome"] == "invalid"
    assert {ask.id for ask in person.asks()} == before


@pytest.mark.parametrize("word", ["question", "prompt"])
def test_ask_user_questions_takes_either_word(either_client: ClientProgram, inbox: Person, word: str) -> None:
    question = {word: f"By the word {word}?", "header": "Word", "options": ["A", {"label": "A", "recommended": True}]}
    key = either_client.call_start("ask_user_questions", {"questions": [question]})
    ask = inbox.wait_for_ask(f"By the word {word}?")
    assert ask.questions[0].title == "Word"
    second = ask.questions[0].options[1]
    inbox.answer(ask, Answer(question="1", chosen=(second.id,)))
    told = either_client.wait_result(key).structured["answers"][0]
    assert (told["selected"], told["selected_ids"]) == (["A"], [second.id])


def test_an_answer_tells_who_gave_it_where_and_when(either_client: ClientProgram, inbox: Person) -> None:
    arguments = {"questions": [{"question": "Who, where, when?", "options": ["A", "B"]}]}
    result = answered(either_client, inbox, "ask_user_questions", arguments, "A")
    told = result.structured
    ask = inbox.desk.get(told["ask_id"])
    assert (told["outcome"], told["call_id"], ask.questions[0].text) == ("answered", ask.call_id, "Who, where, when?")
    assert (told["answered_by"], told["surface"], told["late"]) == ("ada", "test", False)
    assert told["answered_at"].endswith("Z")
    assert told["answers"][0]["question"] == "Who, where, when?"
