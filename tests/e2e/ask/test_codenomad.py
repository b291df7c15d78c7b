"""CodeNomad's `ask_user`, in its strict profile: its schema, its limits, its texts, its four fields."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from tests.cli.program import Home
from tests.cli.pseudo_terminal import Terminal
from tests.e2e.ask.house import answered, chosen, skipped
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import CallResult, Json
from tests.e2e.stdio.harness import Person, Place

from sayso.asks.model import Answer, State

TOOL = "ask_user"
DEFINITION = json.loads("""
{
  "name": "ask_user",
  "description": "Ask the user questions through CodeNomad's interface. Use this tool when you need user input, \
clarification, or confirmation before proceeding. The tool blocks until the user responds.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "questions": {
        "type": "array",
        "description": "Array of questions to ask the user",
        "items": {"$ref": "#/definitions/QuestionInfo"},
        "minItems": 1,
        "maxItems": 10
      },
      "title": {
        "type": "string",
        "description": "Optional title for the question dialog",
        "maxLength": 100
      },
      "timeout": {
        "type": "integer",
        "description": "Timeout in milliseconds (default: 300000 = 5 minutes)",
        "minimum": 10000,
        "maximum": 1800000,
        "default": 300000
      }
    },
    "required": ["questions"],
    "definitions": {
      "QuestionInfo": {
        "type": "object",
        "properties": {
          "id": {"type": "string", "description": "Optional unique ID for this question"},
          "question": {"type": "string", "description": "The question text to display"},
          "type": {
            "type": "string",
            "enum": ["text", "select", "multi-select", "confirm"],
            "default": "text",
            "description": "Type of input to collect"
          },
          "options": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Options for select/multi-select types"
          },
          "required": {"type": "boolean", "default": true, "description": "Whether an answer is required"},
          "placeholder": {"type": "string", "description": "Placeholder text for text inputs"}
        },
        "required": ["question"]
      }
    }
  }
}
""")


@pytest.mark.requirement("N-01", "N-02", "N-03", "N-04", "N-05", "N-06", "N-07", "N-08", "N-09", "N-10", "N-11")
def test_the_tool_is_listed_to_the_letter(codenomad: ClientProgram) -> None:
    (tool,) = codenomad.list_tools()
    assert {key: tool[key] for key in DEFINITION} == DEFINITION
    assert codenomad.connected.server_info is not None
    assert codenomad.connected.server_info["name"] == "CodeNomad"


# What is refused


def refused(program: ClientProgram, person: Person, arguments: Json) -> str:
    """The words of the refusal, after which nobody has been asked anything."""
    before = {ask.id for ask in person.asks()}
    result = program.call(TOOL, arguments)
    assert result.is_error
    assert result.content == [{"type": "text", "text": result.text}]
    assert result.text.startswith("Validation error: ")
    assert {ask.id for ask in person.asks()} == before
    return result.text


@pytest.mark.requirement("N-12", "N-24", "N-25")
def test_no_questions_are_refused_in_exactly_these_words(codenomad: ClientProgram, person: Person) -> None:
    told = refused(codenomad, person, {"questions": []})
    assert told == "Validation error: questions array must have at least 1 item"


@pytest.mark.requirement("N-13", "N-25")
def test_eleven_questions_are_too_many_and_ten_are_not(codenomad: ClientProgram, person: Person) -> None:
    eleven = [{"question": f"Number {number}?"} for number in range(11)]
    assert "questions array exceeds maximum of 10" in refused(codenomad, person, {"questions": eleven})
    ten = {"questions": [{"question": f"Ten of ten, {number}?"} for number in range(10)]}
    result = answered(codenomad, person, TOOL, ten, *(f"answer {number}" for number in range(10)))
    assert [one["values"] for one in told_by(result)["answers"]] == [[f"answer {number}"] for number in range(10)]


NO_OPTIONS: list[Json] = [
    {"question": "Which?", "type": "select"},
    {"question": "Which?", "type": "multi-select"},
    {"question": "Which?", "type": "select", "options": []},
    {"question": "Which?", "type": "multi-select", "options": None},
]


@pytest.mark.requirement("N-14", "N-15", "N-16", "N-25")
@pytest.mark.parametrize("question", NO_OPTIONS)
def test_a_choice_without_options_is_refused(codenomad: ClientProgram, person: Person, question: Json) -> None:
    assert "Options required for select/multi-select" in refused(codenomad, person, {"questions": [question]})


@pytest.mark.requirement("N-17", "N-25")
@pytest.mark.parametrize(
    "question", [{"question": ""}, {"question": "  "}, {"type": "text"}, {"prompt": "Other word?"}]
)
def test_a_question_without_text_is_refused(codenomad: ClientProgram, person: Person, question: Json) -> None:
    assert "question text is required" in refused(codenomad, person, {"questions": [question]})


@pytest.mark.requirement("N-18", "N-25")
def test_a_question_has_a_thousand_characters_at_most(codenomad: ClientProgram, person: Person) -> None:
    told = refused(codenomad, person, {"questions": [{"question": "x" * 1001}]})
    assert "is 1,001 characters long; at most 1,000 are allowed" in told
    result = answered(codenomad, person, TOOL, {"questions": [{"question": "y" * 1000}]}, "fine")
    assert told_by(result)["answered"] is True


@pytest.mark.requirement("N-19", "N-25")
def test_a_title_has_a_hundred_characters_at_most(codenomad: ClientProgram, person: Person) -> None:
    told = refused(codenomad, person, {"title": "t" * 101, "questions": [{"question": "Long title?"}]})
    assert "is 101 characters long; at most 100 are allowed (title)" in told
    asked = {"title": "t" * 100, "questions": [{"question": "Is the title fine?"}]}
    assert told_by(answered(codenomad, person, TOOL, asked, "yes"))["answered"] is True


@pytest.mark.requirement("N-20", "N-21", "N-25")
@pytest.mark.parametrize("timeout", [9999, 1_800_001, 10_000.5, "10000", True, [10_000], -1, 1e400])
def test_a_timeout_outside_its_limits_is_refused(codenomad: ClientProgram, person: Person, timeout: object) -> None:
    if timeout == 1e400:
        timeout = 10**400
    told = refused(codenomad, person, {"questions": [{"question": "How long?"}], "timeout": timeout})
    assert "expected a whole number of milliseconds from 10000 to 1800000, got " in told
    assert "(timeout)" in told


@pytest.mark.requirement("N-20")
@pytest.mark.parametrize("timeout", [10_000, 1_800_000])
def test_a_timeout_at_its_limits_is_accepted(codenomad: ClientProgram, person: Person, timeout: int) -> None:
    arguments = {"questions": [{"question": f"Within {timeout}?"}], "timeout": timeout}
    key = codenomad.call_start(TOOL, arguments)
    ask = person.wait_for_ask(f"Within {timeout}?")
    assert (ask.timeout_ms, ask.wait and ask.wait.until) == (timeout, ask.wait and ask.wait.since + timeout)
    person.answer(ask, "yes")
    assert told_by(codenomad.wait_result(key))["answered"] is True


@pytest.mark.requirement("N-22", "N-25")
@pytest.mark.parametrize("kind", ["radio", "", 3, ["text"], {"type": "text"}])
def test_an_unknown_type_is_refused(codenomad: ClientProgram, person: Person, kind: object) -> None:
    told = refused(codenomad, person, {"questions": [{"question": "What kind?", "type": kind}]})
    assert "expected one of text, select, multi-select, confirm, got " in told


@pytest.mark.requirement("N-10", "N-25")
@pytest.mark.parametrize("option", [3, None, {"label": "Red"}, ["Red"]])
def test_an_option_that_is_no_text_is_refused(codenomad: ClientProgram, person: Person, option: object) -> None:
    question = {"question": "Which?", "type": "select", "options": ["Blue", option]}
    assert "(questions[0].options[1])" in refused(codenomad, person, {"questions": [question]})


@pytest.mark.requirement("N-24", "N-25")
def test_everything_that_is_wrong_is_told_at_once(codenomad: ClientProgram, person: Person) -> None:
    same = {"id": "a", "question": "Same?"}
    wrong = {"questions": [same, {**same, "required": "yes"}, {"question": 1, "placeholder": 2}, 7], "title": 8}
    told = refused(codenomad, person, wrong)
    for path in ("[1].required", "[1].id", "[2].question", "[2].placeholder", "[3]"):
        assert f"(questions{path})" in told
    assert "(title)" in told


# How it goes


def told_by(result: CallResult) -> dict[str, Any]:
    """The four fields, which are the text of the result and nothing else is."""
    assert result.content == [{"type": "text", "text": result.text}]
    told: dict[str, Any] = json.loads(result.text)
    assert list(told) == ["answered", "cancelled", "timedOut", "answers"]
    assert [told["answered"], told["cancelled"], told["timedOut"]].count(True) == 1
    assert result.structured["result"] == told
    assert not result.is_error
    return told


@pytest.mark.requirement("N-26", "N-27")
def test_the_call_blocks_until_the_user_responds_and_returns_the_answer(
    codenomad: ClientProgram, person: Person
) -> None:
    key = codenomad.call_start(TOOL, {"questions": [{"question": "Blocking?"}]})
    ask = person.wait_for_ask("Blocking?")
    assert codenomad.call(TOOL, {"questions": []}).is_error  # the server serves others meanwhile
    assert not [event for event in codenomad.events("done") if event.about(key)]
    person.answer(ask, "so it was")
    assert told_by(codenomad.wait_result(key))["answers"][0]["values"] == ["so it was"]


@pytest.mark.requirement("N-23", "N-28", "N-29", "N-30", "N-32", "N-33", "N-34", "N-35", "N-36", "N-37")
def test_all_questions_are_put_together_and_each_kind_is_answered_in_its_way(
    codenomad: ClientProgram, person: Person, machine: Place
) -> None:
    arguments = {
        "title": "Component Configuration",
        "questions": [
            {"id": "name", "question": "What name?", "placeholder": "e.g., processUserData"},
            {"id": "style", "question": "Which style?", "type": "select", "options": ["CSS", "Tailwind"]},
            {"id": "own", "question": "Which host?", "type": "select", "options": ["east", "west"]},
            {"id": "parts", "question": "Which parts?", "type": "multi-select", "options": ["A", "B", "C"]},
            {"id": "sure", "question": "Sure?", "type": "confirm"},
            {"id": "more", "question": "Anything else?", "required": False},
        ],
    }
    key = codenomad.call_start(TOOL, arguments)
    ask = person.wait_for_ask("What name?")
    with Terminal(Home(folder=machine.folder), "answer", ask.id) as terminal:
        shown = terminal.expect("an empty line ends it: ")
        assert shown.index("has 6 questions") < shown.index("Component Configuration") < shown.index("1. What name?")
        assert "for example: e.g., processUserData" in shown
        terminal.type("")
        terminal.reply("an answer is required", "processOrders")
        terminal.type("")
        terminal.reply("own words: ", "2")
        terminal.reply("own words: ", "the old one")
        terminal.reply("own words: ", "1, 3")
        terminal.reply("y or n: ", "n")
        terminal.reply("(empty skips): ", "")
        terminal.reply("Send them?", "y")
        assert terminal.end() == 0
    assert told_by(codenomad.wait_result(key))["answers"] == [
        {"questionId": "name", "values": ["processOrders"]},
        {"questionId": "style", "values": ["Tailwind"]},
        {"questionId": "own", "values": ["the old one"], "customText": "the old one"},
        {"questionId": "parts", "values": ["A", "C"]},
        {"questionId": "sure", "values": ["no"]},
        {"questionId": "more", "values": []},
    ]


@pytest.mark.requirement("N-33")
def test_a_required_question_cannot_be_skipped_from_the_command_line(
    codenomad: ClientProgram, person: Person, machine: Place
) -> None:
    key = codenomad.call_start(TOOL, {"questions": [{"question": "Skip me?"}]})
    ask = person.wait_for_ask("Skip me?")
    done = machine.run("answer", ask.id, "")
    assert done.returncode == 2, done.stderr
    assert person.desk.get(ask.id).state is State.PENDING
    person.answer(ask, "no")
    assert told_by(codenomad.wait_result(key))["answered"] is True


@pytest.mark.requirement("N-38", "N-39", "N-40", "N-41", "N-43", "N-44", "N-45", "N-46", "N-47", "N-53")
def test_the_result_has_four_fields_and_an_entry_per_question_in_order(
    codenomad: ClientProgram, person: Person
) -> None:
    questions = [
        {"id": "z", "question": "Text, select, several, yes, no?"},
        {"id": "y", "question": "Which?", "type": "select", "options": ["Same", "Same", "Other"]},
        {"id": "x", "question": "Which ones?", "type": "multi-select", "options": ["A", "B", "C"]},
        {"id": "w", "question": "Yes?", "type": "confirm"},
        {"id": "v", "question": "No?", "type": "confirm"},
    ]
    key = codenomad.call_start(TOOL, {"questions": questions})
    ask = person.wait_for_ask("Text, select, several, yes, no?")
    several = chosen(ask.questions[2], "A", "C")
    person.answer(ask, "two\nlines", Answer(question="y", chosen=("2",)), several, "Yes", "No")
    assert told_by(codenomad.wait_result(key)) == {
        "answered": True,
        "cancelled": False,
        "timedOut": False,
        "answers": [
            {"questionId": "z", "values": ["two\nlines"]},
            {"questionId": "y", "values": ["Same"]},
            {"questionId": "x", "values": ["A", "C"]},
            {"questionId": "w", "values": ["yes"]},
            {"questionId": "v", "values": ["no"]},
        ],
    }


@pytest.mark.requirement("N-42")
def test_questions_without_an_id_get_different_ones(codenomad: ClientProgram, person: Person) -> None:
    questions = [{"question": "Nameless?"}, {"id": "given", "question": "Named?"}, {"question": "Nameless?"}]
    result = answered(codenomad, person, TOOL, {"questions": questions}, "a", "b", "c")
    ids = [one["questionId"] for one in told_by(result)["answers"]]
    assert ids[1] == "given"
    assert ids[0] != ids[2]
    assert all(re.fullmatch(r"q_[0-9a-f]{6}", made) for made in (ids[0], ids[2]))


@pytest.mark.requirement("N-48")
def test_custom_text_is_there_only_when_something_of_their_own_was_typed(
    codenomad: ClientProgram, person: Person
) -> None:
    options = {"options": ["A", "B"]}
    questions = [
        {"id": "text", "question": "Custom words?"},
        {"id": "plain", "question": "Which?", "type": "select", **options},
        {"id": "noted", "question": "Which, and why?", "type": "select", **options},
        {"id": "mixed", "question": "Which ones?", "type": "multi-select", **options},
        {"id": "sure", "question": "Sure?", "type": "confirm"},
        {"id": "skipped", "question": "More?", "required": False},
    ]
    key = codenomad.call_start(TOOL, {"questions": questions})
    ask = person.wait_for_ask("Custom words?")
    of = {question.id: question for question in ask.questions}
    noted, sure = chosen(of["noted"], "B", note="cheaper"), chosen(of["sure"], "Yes", note="after lunch")
    mixed = Answer(question="mixed", chosen=("1",), text="and Z")
    person.answer(ask, "words", "A", noted, mixed, sure, skipped(of["skipped"]))
    assert told_by(codenomad.wait_result(key))["answers"] == [
        {"questionId": "text", "values": ["words"]},
        {"questionId": "plain", "values": ["A"]},
        {"questionId": "noted", "values": ["B"], "customText": "cheaper"},
        {"questionId": "mixed", "values": ["A", "and Z"], "customText": "and Z"},
        {"questionId": "sure", "values": ["yes"], "customText": "after lunch"},
        {"questionId": "skipped", "values": []},
    ]


CANCELLED = {"answered": False, "cancelled": True, "timedOut": False, "answers": []}
TIMED_OUT = {"answered": False, "cancelled": False, "timedOut": True, "answers": []}


@pytest.mark.requirement("N-49", "N-53", "N-54")
@pytest.mark.finding("F-43")
@pytest.mark.requirement("N-10", "N-24", "N-25")
@pytest.mark.parametrize("kind", [None, "text", "confirm"])
@pytest.mark.parametrize("options", ["Red", 0, "", {}, {"0": "Red"}, [3], [{"label": "Red"}], ["Red", None]])
def test_options_that_are_no_array_of_texts_are_refused_for_questions_that_need_none(
    codenomad: ClientProgram, person: Person, kind: str | None, options: object
) -> None:
    question = {"question": "Which?", "options": options, **({"type": kind} if kind else {})}
    assert "(questions[0].options" in refused(codenomad, person, {"questions": [question]})


@pytest.mark.parametrize("way", ["cancel", "decline", "reject"])
def test_a_persons_no_of_any_kind_is_cancelled_and_the_data_tells_which(
    codenomad: ClientProgram, person: Person, way: str
) -> None:
    key = codenomad.call_start(TOOL, {"questions": [{"question": f"May I {way}?"}]})
    ask = person.wait_for_ask(f"May I {way}?")
    match way:
        case "cancel":
            person.desk.cancel(ask.id, person.settler)
        case "decline":
            person.desk.decline(ask.id, person.settler)
        case "reject":
            person.reject(ask, "not now")
    result = codenomad.wait_result(key)
    assert told_by(result) == CANCELLED
    assert result.structured["outcome"] == {"cancel": "cancelled", "decline": "declined", "reject": "rejected"}[way]
    assert result.structured["reason"] == ("not now" if way == "reject" else None)


@pytest.mark.requirement("N-52")
def test_without_a_timeout_the_call_waits_five_minutes(
    codenomad: ClientProgram, person: Person, machine: Place
) -> None:
    key = codenomad.call_start(TOOL, {"questions": [{"question": "How long by itself?"}]})
    ask = person.wait_for_ask("How long by itself?")
    assert machine.show(ask.id)["timeout_ms"] == 300_000
    assert ask.wait is not None
    assert ask.wait.until == ask.wait.since + 300_000
    person.answer(ask, "so long")
    assert told_by(codenomad.wait_result(key))["answered"] is True


# The seed's own examples


EXAMPLES: dict[str, tuple[Json, list[str | tuple[str, ...]], list[list[str]]]] = {
    "1 text": (
        {
            "questions": [
                {
                    "question": "What would you like to name this function?",
                    "type": "text",
                    "placeholder": "e.g., processUserData",
                }
            ]
        },
        ["handleUserSubmission"],
        [["handleUserSubmission"]],
    ),
    "2 selection": (
        {
            "questions": [
                {
                    "question": "Which framework would you prefer?",
                    "type": "select",
                    "options": ["React", "Vue", "Svelte", "Solid"],
                }
            ],
            "title": "Framework Selection",
        },
        ["Solid"],
        [["Solid"]],
    ),
    "3 confirmed": (
        {
            "questions": [{"question": "This will delete 15 files. Are you sure?", "type": "confirm"}],
            "title": "Confirm Deletion",
        },
        ["Yes"],
        [["yes"]],
    ),
    "3 declined": (
        {
            "questions": [{"question": "This will delete 15 files. Are you sure?", "type": "confirm"}],
            "title": "Confirm Deletion",
        },
        ["No"],
        [["no"]],
    ),
    "4 several": (
        {
            "questions": [
                {"id": "name", "question": "What should the component be called?", "type": "text"},
                {
                    "id": "style",
                    "question": "Which styling approach?",
                    "type": "select",
                    "options": ["CSS Modules", "Styled Components", "Tailwind", "Plain CSS"],
                },
                {
                    "id": "features",
                    "question": "Which features should be included?",
                    "type": "multi-select",
                    "options": ["Loading state", "Error handling", "Animation", "Accessibility"],
                },
            ],
            "title": "Component Configuration",
        },
        ["UserProfileCard", "Tailwind", ("Loading state", "Error handling", "Accessibility")],
        [["UserProfileCard"], ["Tailwind"], ["Loading state", "Error handling", "Accessibility"]],
    ),
}


@pytest.mark.requirement("N-56")
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_seeds_examples_of_answers_work_as_printed(codenomad: ClientProgram, person: Person, example: str) -> None:
    arguments, said, values = EXAMPLES[example]
    key = codenomad.call_start(TOOL, arguments)
    ask = person.wait_for_ask(arguments["questions"][0]["question"])
    given = [
        chosen(asked, *one) if isinstance(one, tuple) else one for asked, one in zip(ask.questions, said, strict=True)
    ]
    person.answer(ask, *given)
    ids = [question.id for question in ask.questions]
    assert told_by(codenomad.wait_result(key)) == {
        "answered": True,
        "cancelled": False,
        "timedOut": False,
        "answers": [{"questionId": one, "values": two} for one, two in zip(ids, values, strict=True)],
    }


@pytest.mark.requirement("N-49", "N-56")
def test_the_seeds_example_of_a_cancel_works_as_printed(codenomad: ClientProgram, person: Person) -> None:
    key = codenomad.call_start(TOOL, {"questions": [{"question": "Any additional requirements?"}]})
    person.desk.cancel(person.wait_for_ask("Any additional requirements?").id, person.settler)
    assert told_by(codenomad.wait_result(key)) == CANCELLED


@pytest.mark.requirement("N-50", "N-51", "N-53", "N-54", "N-55", "N-56")
def test_a_timeout_fires_at_its_time_and_a_later_answer_does_not_change_what_was_told(
    codenomad: ClientProgram, person: Person
) -> None:
    """The seed's sixth example as printed, with its 30 seconds, beside the shortest time there is."""
    example = {"questions": [{"question": "Please confirm within 30 seconds", "type": "confirm"}], "timeout": 30_000}
    long = codenomad.call_start(TOOL, example, timeout_ms=60_000)
    short = codenomad.call_start(TOOL, {"questions": [{"question": "Within ten?"}], "timeout": 10_000})
    ten, thirty = person.wait_for_ask("Within ten?"), person.wait_for_ask("Please confirm within 30 seconds")
    first = codenomad.wait_result(short)
    assert told_by(first) == TIMED_OUT
    ended = person.desk.get(ten.id)
    assert ended.state is State.TIMED_OUT
    assert 10_000 <= (ended.ended_at or 0) - ten.created_at < 20_000
    person.answer(ten, "too late")
    late = person.desk.get(ten.id)
    assert late.outcome is not None
    assert (late.state, late.outcome.late) == (State.ANSWERED, True)
    assert told_by(first) == TIMED_OUT
    assert told_by(codenomad.wait_result(long)) == TIMED_OUT
    ended = person.desk.get(thirty.id)
    assert 30_000 <= (ended.ended_at or 0) - thirty.created_at < 40_000
    assert time.time() * 1000 >= (ended.ended_at or 0)


@pytest.mark.requirement("N-57")
def test_best_practices_are_in_the_description_of_the_united_tool(either_client: ClientProgram) -> None:
    about = next(tool["description"] for tool in either_client.list_tools() if tool["name"] == TOOL)
    for advice in ("Short and specific; one to three in a call", "A choice rather than free text", "a `title`"):
        assert advice in about
    for outcome in ("what was answered.", "Cancelled or rejected:", "Timed out or pending:"):
        assert outcome in about


@pytest.mark.requirement("N-57")
def test_best_practices_are_in_the_skill_that_is_installed_for_an_agent(place: Place) -> None:
    done = place.run("install", "claude-code", "--skill")
    assert done.returncode == 0, done.stderr
    (skill,) = (place.home / ".claude" / "skills").rglob("SKILL.md")
    told = skill.read_text(encoding="utf-8").lower().replace("_", " ")
    for practice in (
        "short and specific",
        "one to three",
        "choice rather than free text",
        "`title`",
        "cancelled",
        "timed out",
    ):
        assert practice in told
