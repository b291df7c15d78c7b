"""The client's own form beside the inbox: what it shows in each version, who wins, and when it is not shown."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing

import pytest
from tests.e2e.ask.house import AUTO, LEGACY, SAYSO, UNSEEN, answered, asks_named, connected, form_about
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import Json, accept, refuse
from tests.e2e.clients.kinds import OLDER_PROTOCOL, ClientKind
from tests.e2e.stdio.harness import Person, Place
from tests.e2e.stdio.pipe import MODERN

from sayso.asks.model import Ask, State
from sayso.mcp_server.forms import KEYS
from sayso.protocol.seal import Seal
from sayso.store import open_store

OTHER = "Other: in my own words"
SETUP: Json = {
    "title": "Setup",
    "questions": [
        {"id": "name", "question": "What name?", "header": "Name"},
        {"id": "db", "question": "Which store?", "options": [{"label": "SQLite", "description": "One file."}, "Other"]},
        {
            "id": "parts",
            "question": "Which parts?",
            "type": "multi-select",
            "options": ["A", {"label": "B", "recommended": True}],
        },
        {"id": "sure", "question": "Sure?", "type": "confirm"},
        {"id": "more", "question": "More?", "required": False},
    ],
}


def setup(text: str) -> Json:
    first, *rest = SETUP["questions"]
    return {**SETUP, "title": text, "questions": [{**first, "question": text}, *rest]}


def test_a_form_of_today_has_titled_choices_and_several_of_them(either_client: ClientProgram) -> None:
    either_client.answer_with(
        accept({"q1": "Ada", "q2": "SQLite", "q2_other": "for now", "q3": ["B"], "q4": "Yes", "q5": ""})
    )
    key = either_client.call_start("ask_user", setup("A form of today?"))
    form = form_about(either_client, "A form of today?")
    assert form.schema is not None
    fields = form.schema["properties"]
    assert form.schema["required"] == ["q1", "q2", "q3", "q4"]
    assert fields["q2"]["oneOf"] == [{"const": name, "title": name} for name in ("SQLite", "Other", OTHER)]
    assert "- SQLite: One file." in fields["q2"]["description"]
    assert fields["q3"]["items"]["anyOf"] == [
        {"const": "A", "title": "A"},
        {"const": "B", "title": "B (recommended)"},
    ]
    assert fields["q4"]["oneOf"] == [{"const": "Yes", "title": "Yes"}, {"const": "No", "title": "No"}]
    assert fields["q1"]["title"] == "Name"
    assert fields.keys() == {"q1", "q2", "q2_other", "q3", "q3_other", "q4", "q5"}
    assert json.loads(either_client.wait_result(key).text)["answers"] == [
        {"questionId": "name", "values": ["Ada"]},
        {"questionId": "db", "values": ["SQLite"], "customText": "for now"},
        {"questionId": "parts", "values": ["B"]},
        {"questionId": "sure", "values": ["yes"]},
        {"questionId": "more", "values": []},
    ]


def test_a_form_of_2025_06_18_is_cut_down_to_what_that_version_knows(place: Place) -> None:
    with connected(OLDER_PROTOCOL, place) as program:
        assert program.connected.protocol_version == "2025-06-18"
        filled = {"q1": "Ada", "q2": OTHER, "q2_other": "DuckDB", "q3_box1": True, "q3_ticked": "Take what I ticked"}
        program.answer_with(accept({**filled, "q4": "No"}))
        key = program.call_start("ask_user", setup("An older form?"))
        form = form_about(program, "An older form?")
        assert form.schema is not None
        fields = form.schema["properties"]
        plain = {"string", "boolean", "number", "integer"}
        assert {field["type"] for field in fields.values()} <= plain
        assert not [field for field in fields.values() if field.keys() & {"oneOf", "anyOf", "items"}]
        assert fields["q2"]["enum"] == fields["q2"]["enumNames"] == ["SQLite", "Other", OTHER]
        assert (fields["q3_box1"]["title"], fields["q3_box2"]["title"]) == ("A", "B (recommended)")
        assert [one["values"] for one in json.loads(program.wait_result(key).text)["answers"]] == [
            ["Ada"],
            ["DuckDB"],
            ["A"],
            ["no"],
            [],
        ]


def test_equal_labels_stay_apart_in_a_form(either_client: ClientProgram) -> None:
    arguments = {"questions": [{"id": "q", "question": "Which Same?", "options": ["Same", "Same", OTHER]}]}
    either_client.answer_with(
        accept({"q1": "Same (2)"}), accept({"q1": OTHER}), accept({"q1": f"{OTHER} (2)", "q1_other": "x"})
    )
    ids = [either_client.call("ask_user", arguments).structured["answers"][0] for _ in range(3)]
    assert [(one["selected_ids"], one["text"]) for one in ids] == [(["2"], None), (["3"], None), ([], "x")]


def test_a_form_filled_in_wrongly_is_shown_again_with_what_was_wrong(either_client: ClientProgram) -> None:
    arguments = {"questions": [{"id": "q", "question": "Fill me in?", "options": ["A", "B"]}]}
    either_client.answer_with(accept({}), accept({"q1": "C"}), accept({"q1": "B"}))
    result = either_client.call("ask_user", arguments)
    assert result.structured["answers"][0]["selected"] == ["B"]
    shown = [form_about(either_client, "Fill me in?").message for _ in range(3)]
    assert shown[0] == "Fill me in?"
    assert "an answer is required" in shown[1]
    assert '"C" is not one of its options. They are "A", "B".' in shown[2]


def held_for_good(person: Person, text: str, program: ClientProgram) -> Ask | None:
    """The ask once its call has come back from as many rounds as forms were shown."""
    (ask,) = asks_named(person, text)
    rounds = [event for event in person.desk.events(ask.id) if event.kind == "attended"]
    return ask if ask.wait and len(rounds) == (3 if program.kind.modern else 0) else None


def test_a_form_that_stays_wrong_is_given_up_and_the_inbox_goes_on(
    either_client: ClientProgram, person: Person
) -> None:
    either_client.answer_with(default=accept({}))
    text = f"Can {either_client.kind.id} fill in anything?"
    key = either_client.call_start("ask_user", {"question": text, "options": ["A", "B"]})
    for _ in range(3):
        form_about(either_client, text)
    # A modern client lets go of the ask between its rounds: the last one holds it for good.
    ask = person.wait_until(lambda: held_for_good(person, text, either_client))
    person.answer(ask, "A")
    result = either_client.wait_result(key)
    assert (result.content[0]["text"], result.structured["surface"]) == ("User selected: A", "test")
    shown = [event for event in either_client.events("elicitation") if text in str(event.fields)]
    assert len(shown) == 3


def test_a_form_that_could_be_accepted_empty_is_not_shown(either_client: ClientProgram, person: Person) -> None:
    arguments = {"questions": [{"question": "Nothing needed?", "required": False}]}
    result = answered(either_client, person, "ask_user", arguments, "yes")
    assert result.structured["surface"] == "test"
    assert not [event for event in either_client.events("elicitation") if "Nothing needed?" in str(event.fields)]


def test_a_form_the_client_cannot_show_leaves_the_inbox(place: Place) -> None:
    with connected(LEGACY, place) as program, place.person() as person:
        program.answer_with(refuse("no dialogs here"))
        result = answered(program, person, "ask_user", {"question": "Any dialog?"}, "no")
        assert result.text == "User answered: no"


@pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])
def test_forms_can_be_switched_off(kind: ClientKind, place: Place) -> None:
    with connected(kind, place, forms="never") as program, place.person() as person:
        assert answered(program, person, "ask_user", {"question": "No form?"}, "none").text == "User answered: none"
        assert program.events("elicitation") == []


def test_a_modern_client_is_asked_to_show_a_form_only_where_nobody_could_answer_elsewhere(place: Place) -> None:
    with connected(AUTO, place) as program, place.person() as person:
        program.answer_with(accept({"q1": "in the form"}))
        assert program.call("ask_user", {"question": "Nobody there?"}).structured["surface"] == "client form"
        person.desk.show_up("terminal", "ada")
        result = answered(program, person, "ask_user", {"question": "Somebody there?"}, "me")
        assert result.structured["surface"] == "test"
        assert len(program.events("elicitation")) == 1


def test_a_modern_client_is_not_asked_to_show_a_form_where_the_person_is_notified(place: Place) -> None:
    with connected(AUTO, place, notify_command="true") as program, place.person() as person:
        assert answered(program, person, "ask_user", {"question": "Notified?"}, "yes").text == "User answered: yes"
        assert program.events("elicitation") == []


def test_with_always_a_modern_client_shows_a_form_beside_an_open_inbox(place: Place) -> None:
    with connected(AUTO, place, forms="always") as program, place.person() as person:
        person.desk.show_up("terminal", "ada")
        program.answer_with(accept({"q1": "in the form"}))
        assert program.call("ask_user", {"question": "Always?"}).structured["surface"] == "client form"


def test_a_run_that_says_it_is_headless_is_not_asked_to_show_forms(
    either_client: ClientProgram, person: Person
) -> None:
    meta = {"x-codex-turn-metadata": {"turn_trigger": "exec"}}
    key = either_client.call_start("ask_user", {"question": "Anyone in front of it?"}, meta=meta)
    person.answer(person.wait_for_ask("Anyone in front of it?"), "no")
    assert either_client.wait_result(key).text == "User answered: no"
    shown = [event for event in either_client.events("elicitation") if "in front of it" in str(event.fields)]
    assert shown == []


@pytest.mark.parametrize(("entry", "shown"), [("cli", True), ("sdk-cli", False)])
def test_claude_code_without_a_terminal_is_not_asked_to_show_forms_which_it_would_cancel(
    place: Place, entry: str, shown: bool
) -> None:
    environment = {"CLAUDE_CODE_ENTRYPOINT": entry, "SAYSO_CALL_LIMITS": "claude-code=1s"}
    with place.pipe(program="sayso", environment=environment) as pipe, place.person() as person:
        pipe.client = {"name": "claude-code", "version": "2.1.325"}
        pipe.connect(MODERN, {"elicitation": {}})
        told = pipe.request("tools/call", name="ask_user", arguments={"question": f"Seen by {entry}?"})
        assert bool(told.get("inputRequests")) is shown
        (ask,) = asks_named(person, f"Seen by {entry}?")
        assert ask.state is State.PENDING


def test_strict_profiles_never_use_a_form(codenomad: ClientProgram, person: Person) -> None:
    answered(codenomad, person, "ask_user", {"questions": [{"question": "A strict form?"}]}, "none")
    assert codenomad.events("elicitation") == []


def test_an_automatic_no_is_never_a_persons(either_client: ClientProgram, person: Person) -> None:
    either_client.answer_with(default=UNSEEN)
    key = either_client.call_start("ask_user", {"question": "Did you cancel?"})
    ask = person.wait_for_ask("Did you cancel?")
    assert ask.state is State.PENDING
    person.answer(ask, "not I")
    assert either_client.wait_result(key).text == "User answered: not I"
    assert [event.kind for event in person.desk.events(ask.id) if event.person] == ["answered"]


def test_a_form_that_is_accepted_faster_than_it_can_be_read_is_shown_again_and_then_given_up(
    either_client: ClientProgram, person: Person
) -> None:
    either_client.answer_with(default=accept({"q1": "Yes"}, after_ms=0))
    text = f"Does {either_client.kind.id} allow itself?"
    key = either_client.call_start("ask_user", {"question": text, "type": "confirm"})
    first, *again = (form_about(either_client, text).message for _ in range(3))
    assert first == text
    assert again == [f"That was faster than anyone can read. Was it you? Send it again.\n\n{text}"] * 2
    ask = person.wait_until(lambda: held_for_good(person, text, either_client))
    assert ask.state is State.PENDING
    person.answer(ask, "No")
    told = either_client.wait_result(key).structured
    assert (told["answers"][0]["selected"], told["surface"]) == (["No"], "test")


def test_a_quick_hand_sends_a_form_again_and_is_heard(either_client: ClientProgram) -> None:
    either_client.answer_with(accept({"q1": "mine"}, after_ms=0), accept({"q1": "mine"}))
    told = either_client.call("ask_user", {"question": "Quick?"}).structured
    assert (told["answers"][0]["text"], told["surface"]) == ("mine", "client form")


def test_a_reply_to_a_form_that_was_never_sent_settles_nothing(place: Place) -> None:
    with place.pipe(program="sayso", environment={"SAYSO_CALL_LIMITS": "tester=1s"}) as pipe, place.person() as person:
        person.desk.show_up("terminal", "ada")
        pipe.connect(MODERN, {"elicitation": {}})
        asked: Json = {"name": "ask_user", "arguments": {"question": "Was I shown?", "type": "confirm"}}
        first = pipe.request("tools/call", **asked)
        assert not first.get("inputRequests")
        for action in ("accept", "decline", "cancel"):
            reply = {"inputResponses": {"form": {"action": action, "content": {"q1": "Yes"}}}}
            first = pipe.request("tools/call", **asked, requestState=first["requestState"], **reply)
            assert not first.get("inputRequests")
        (ask,) = asks_named(person, "Was I shown?")
        assert ask.state is State.PENDING


def test_what_a_form_answered_is_told_as_that_and_names_nobody(either_client: ClientProgram, machine: Place) -> None:
    either_client.answer_with(accept({"q1": "I"}))
    told = either_client.call("ask_user", {"question": "Who answers?"}).structured
    assert told["message"].startswith("The person answered this in your client's own form")
    name = f"all {either_client.kind.id}"
    assert (told["answered_by"], told["surface"]) == (f"someone at {name}", "client form")
    shown = subprocess.run(
        [SAYSO, "show", "--events", told["ask_id"]], env=machine.environment, capture_output=True, text=True
    )
    assert f"Answered through {name}'s own form" in shown.stdout
    assert f"by someone at {name} through the client's own form" in shown.stdout


def test_a_round_counts_once_and_for_its_own_call_alone(place: Place) -> None:
    with place.pipe(program="sayso") as pipe, place.person() as person:
        pipe.connect(MODERN, {"elicitation": {}})
        asked: Json = {"name": "ask_user", "arguments": {"question": "Only once?"}}
        first = pipe.request("tools/call", **asked)
        ((key, _),) = first["inputRequests"].items()
        reply = {"inputResponses": {key: {"action": "accept", "content": {"q1": "once"}}}}
        again = {**asked, "requestState": first["requestState"], **reply}
        for _ in range(2):
            assert pipe.request("tools/call", **again)["structuredContent"]["answers"][0]["text"] == "once"
        assert len(asks_named(person, "Only once?")) == 1

        state = pipe.request("tools/call", name="ask_user", arguments={"question": "Mine?"})["requestState"]
        for name, question, given in [
            ("ask_user", "Mine?", state[:-4] + "AAAA"),
            ("ask_user", "Yours?", state),
            ("question_ask", "Mine?", state),
        ]:
            call = pipe.begin("tools/call", name=name, arguments={"question": question}, requestState=given)
            assert pipe.response(call)["error"]["message"] == "Invalid or expired requestState"


def test_without_history_a_delivered_round_does_not_pass_for_an_empty_answer(place: Place) -> None:
    with place.pipe(program="sayso", environment={"SAYSO_HISTORY": "false"}) as pipe, place.person() as person:
        pipe.connect(MODERN, {"elicitation": {}})
        asked: Json = {"name": "ask_user", "arguments": {"question": "Wiped?"}}
        first = pipe.request("tools/call", **asked)
        ((key, _),) = first["inputRequests"].items()
        reply = {"inputResponses": {key: {"action": "accept", "content": {"q1": "secret"}}}}
        again = {**asked, "requestState": first["requestState"], **reply}
        answered_ask = pipe.request("tools/call", **again)["structuredContent"]["ask_id"]
        person.wait_until_delivered(person.desk.get(answered_ask))
        call = pipe.begin("tools/call", **{**again, "inputResponses": {}})
        ask = person.wait_for_ask("Wiped?")
        assert ask.id != answered_ask
        person.answer(ask, "anew")
        assert pipe.response(call)["result"]["structuredContent"]["answers"][0]["text"] == "anew"


CLAUDE_LINE, CLAUDE_WIDTH = 45, 72
CHOICE: Json = {"question": "", "options": [{"label": "A", "description": "The first."}, "B"], "type": "multi-select"}


def read_by(shown: Json, order: list[str]) -> list[str]:
    """Everything that a form says, field by field."""
    fields = [shown["properties"][key] for key in order]
    return [field[part] for field in fields for part in ("title", "description") if part in field]


def as_javascript_orders(keys: list[str]) -> list[str]:
    return sorted((key for key in keys if key.isdecimal()), key=int) + [key for key in keys if not key.isdecimal()]


@pytest.mark.finding("F-90")
@pytest.mark.parametrize("kind", [AUTO, LEGACY, OLDER_PROTOCOL], ids=lambda kind: kind.id)
def test_a_form_is_read_in_the_same_order_whether_or_not_a_client_sorts_its_fields(
    kind: ClientKind, place: Place
) -> None:
    several = [{**CHOICE, "id": str(11 - number), "question": f"Which of {number}?"} for number in range(1, 11)]
    with connected(kind, place) as program:
        program.call_start("ask_user", {"title": "In order?", "questions": several})
        shown = form_about(program, "In order?").schema
        assert shown is not None
        keys = list(shown["properties"])
        assert keys == sorted(keys) == as_javascript_orders(keys)
        titles = [text for text in read_by(shown, keys) if text.startswith("Which of")]
        told = list(dict.fromkeys(title.splitlines()[0] for title in titles))
        assert told == [f"Which of {number}?" for number in range(1, 11)]
        if kind is OLDER_PROTOCOL:
            assert read_by(shown, keys)[:8] == [
                "A",
                "Which of 1?\nThe first.",
                "B",
                "Which of 1?",
                OTHER,
                'Only if none of the choices for "Which of 1?" fits.',
                "Which of 1?",
                "A",
            ]


@pytest.mark.finding("F-90")
@pytest.mark.parametrize("kind", [AUTO, LEGACY, OLDER_PROTOCOL], ids=lambda kind: kind.id)
@pytest.mark.parametrize(
    ("more", "title"),
    [
        ({"type": "text"}, "Your answer"),
        ({"type": "confirm"}, "Your answer"),
        ({"type": "select", "options": ["A", "B"]}, "Your choice"),
        ({"type": "multi-select", "options": [{"label": "A", "description": "The first."}, "B"]}, "Your choices"),
    ],
    ids=["text", "confirm", "select", "multi-select"],
)
def test_a_form_with_one_question_says_it_once(kind: ClientKind, place: Place, more: Json, title: str) -> None:
    with connected(kind, place) as program:
        program.call_start("ask_user", {"questions": [{"question": "Said once?", **more}]})
        form = form_about(program, "Said once?")
        assert form.schema is not None
        said = [form.message, *read_by(form.schema, list(form.schema["properties"]))]
        assert "\n".join(said).count("Said once?") == 1
        assert "\n".join(said).count("The first.") == ("description" in str(more))
        assert title in said


@pytest.mark.finding("F-90")
@pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=lambda kind: kind.id)
def test_at_the_fields_of_claudes_form_stands_nothing_that_it_would_cut_or_show_as_an_unknown_character(
    kind: ClientKind, place: Place
) -> None:
    lines, label = "The plan:\n- drop the tables\n- make new ones\n\nGo on?", f"B, which is {'very ' * 10}long"
    asked = [
        {"question": lines, "type": "confirm"},
        {**CHOICE, "question": "Which parts?"},
        {"question": "Which one?", "options": ["A", label]},
    ]
    with connected(kind, place, name="claude-code") as program:
        program.answer_with(accept({"q1": "Yes", "q2": ["A"], "q3": label}))
        key = program.call_start("ask_user", {"title": "For Claude?", "questions": asked})
        form = form_about(program, "For Claude?")
        assert form.schema is not None
        said = read_by(form.schema, list(form.schema["properties"]))
        fields = [text for text in said if not text.startswith("Only if none")]
        assert [text for text in fields if "\n" in text or len(text) > CLAUDE_LINE] == []
        pointer, *message = form.message.splitlines()
        assert re.fullmatch("Shortened here. To read it whole: sayso show [0-9a-f]{8}", pointer)
        whole = ["For Claude?", f"Question 1: {lines}", f"Which one?\n1. A\n2. {label}"]
        assert " ".join(message) == " ".join("\n".join(whole).split())
        assert max(map(len, message)) <= CLAUDE_WIDTH
        assert fields == ["Question 1", "Which parts?", "- A: The first.", OTHER, "Which one?", OTHER]
        values = [one["values"] for one in json.loads(program.wait_result(key).text)["answers"]]
        assert values == [["yes"], ["A"], [label]]
        program.call_start("ask_user", {"question": "Fits into three lines, " * 9})
        message = form_about(program, "Fits into three lines").message.splitlines()
        assert " ".join(message) == ("Fits into three lines, " * 9).strip()
        assert len(message) == 3


@pytest.mark.finding("F-90")
def test_a_form_filled_in_under_the_names_of_an_older_version_is_shown_again(place: Place) -> None:
    """Its fields may have had the names that others have now: nothing is taken from it."""
    with place.pipe(program="sayso") as pipe, closing(open_store(place.config())) as store:
        pipe.connect(MODERN, {"elicitation": {}})
        questions = [{"id": "q2", "question": "First?"}, {"id": "q1", "question": "Second?"}]
        asked: Json = {"name": "ask_user", "arguments": {"questions": questions}}
        first = pipe.request("tools/call", **asked)
        seal = Seal(lambda: store.secret("request_state_key"), "sayso")
        older = seal.seal(seal.open(first["requestState"], asked, "").replace(KEYS, "older"), asked, "")
        content = {"q1": "to the second", "q2": "to the first"}
        reply = {"inputResponses": {"form": {"action": "accept", "content": content}}}
        again = pipe.request("tools/call", **asked, requestState=older, **reply)
        assert again["inputRequests"] == first["inputRequests"]
        told = pipe.request("tools/call", **asked, requestState=again["requestState"], **reply)
        assert [one["text"] for one in told["structuredContent"]["answers"]] == ["to the second", "to the first"]


@pytest.mark.finding("F-90")
def test_a_client_that_insists_on_every_text_is_asked_for_own_words_in_a_second_form(place: Place) -> None:
    """Codex does not go on from a field for text that is empty: nobody could choose and write nothing."""
    with connected(OLDER_PROTOCOL, place, name="codex-mcp-client") as program:
        program.answer_with(
            accept({"q1": "Ada", "q2": "SQLite", "q3_box1": True, "q3_ticked": "Take what I ticked", "q4": "Yes"})
        )
        key = program.call_start("ask_user", setup("For Codex?"))
        form = form_about(program, "For Codex?")
        assert form.schema is not None
        fields = form.schema["properties"]
        assert [name for name, field in fields.items() if field["type"] == "string" and "enum" not in field] == ["q1"]
        assert fields["q5_whether"]["enum"] == ["Leave this out", "Answer in my own words"]
        values = [one["values"] for one in json.loads(program.wait_result(key).text)["answers"]]
        assert values == [["Ada"], ["SQLite"], ["A"], ["yes"], []]

        more = {"q3_ticked": "Take what I ticked, and add my own words", "q5_whether": "Answer in my own words"}
        program.answer_with(
            accept({"q1": "Ada", "q2": OTHER, "q3_box1": True, "q4": "Yes", **more}),
            accept({"q2_other": "DuckDB", "q3_other": "C", "q5": "No more."}),
        )
        key = program.call_start("ask_user", setup("In own words?"))
        form_about(program, "In own words?")
        second = form_about(program, "In own words?").schema
        assert second is not None
        assert second["required"] == list(second["properties"]) == ["q2_other", "q3_other", "q5"]
        assert [field["title"] for field in second["properties"].values()] == ["Which store?", "Which parts?", "More?"]
        values = [one["values"] for one in json.loads(program.wait_result(key).text)["answers"]]
        assert values == [["Ada"], ["DuckDB"], ["A", "C"], ["yes"], ["No more."]]
