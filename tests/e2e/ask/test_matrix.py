"""Every client program, from listing to losing the line: the same tools, the same answers, nothing lost."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from tests.e2e.ask.house import UNSEEN, answered, asks_named, chosen, connected, form_about, unattended_forms
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import HOLD, CallCancelled, CallResult, Json, Reply, accept
from tests.e2e.clients.kinds import CLIENTS, ClientKind
from tests.e2e.stdio.harness import Person, Place

from sayso.asks.model import State
from sayso.asks.waiting import CONFIRM_AFTER

ALL_TOOLS = ["ask_user", "ask_user_questions", "get_answers", "question_ask", "question_summary"]
EACH = pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.id) for kind in CLIENTS])
PAST_REACTION = 500
"""Milliseconds after which a refused form counts as a person's."""

WITHIN = CONFIRM_AFTER
"""Seconds in which every surface must know that nobody waits for an ask any more: sooner than whoever was not told
looks by itself."""


@pytest.fixture
def text(each_client: ClientProgram, request: pytest.FixtureRequest) -> str:
    """A question that no other test asks."""
    return f"{request.node.originalname}, {each_client.kind.id}?"


def one(text: str) -> Json:
    return {"question": text, "options": [{"label": "Red"}, {"label": "Blue", "description": "calm"}]}


def many(text: str) -> Json:
    return {
        "title": "Colours",
        "questions": [
            {"id": "first", "question": text, "type": "select", "options": ["Red", "Blue"]},
            {"id": "all", "question": "Which others?", "type": "multi-select", "options": ["Green", "Grey", "Pink"]},
            {"id": "sure", "question": "Sure?", "type": "confirm"},
            {"id": "why", "question": "Why?"},
        ],
    }


def told_by(result: CallResult) -> Json:
    """The text of a result for several questions."""
    told: Json = json.loads(result.content[0]["text"])
    return told


def choice(text: str) -> Json:
    return {"questions": [{"question": text, "options": [{"label": "Red"}, {"label": "Blue"}]}]}


def test_listing_shows_every_tool(each_client: ClientProgram) -> None:
    tools = {tool["name"]: tool for tool in each_client.list_tools()}
    assert list(tools)[: len(ALL_TOOLS)] == ALL_TOOLS
    assert each_client.connected.server_info is not None
    assert each_client.connected.server_info["name"] == "sayso"
    for tool in map(tools.__getitem__, ALL_TOOLS):
        assert tool["_meta"]["anthropic/alwaysLoad"] is True
        assert "anthropic/requiresUserInteraction" not in tool["_meta"]


def test_one_question_is_answered_from_the_inbox(each_client: ClientProgram, inbox: Person, text: str) -> None:
    result = answered(each_client, inbox, "ask_user", one(text), "Blue")
    assert result.text == "User selected: Blue"
    assert result.structured["outcome"] == "answered"
    assert (result.structured["answered_by"], result.structured["surface"]) == ("ada", "test")
    assert not result.is_error


def test_several_questions_are_answered_from_the_inbox(each_client: ClientProgram, inbox: Person, text: str) -> None:
    key = each_client.call_start("ask_user", many(text))
    ask = inbox.wait_for_ask(text)
    inbox.answer(ask, "Red", chosen(ask.questions[1], "Green", "Pink"), "No", "It suits")
    result = each_client.wait_result(key)
    assert told_by(result) == {
        "message": result.structured["message"],
        "answered": True,
        "cancelled": False,
        "timedOut": False,
        "answers": [
            {"questionId": "first", "values": ["Red"]},
            {"questionId": "all", "values": ["Green", "Pink"]},
            {"questionId": "sure", "values": ["no"]},
            {"questionId": "why", "values": ["It suits"]},
        ],
    }


def test_multiple_choice_is_answered_from_the_inbox(each_client: ClientProgram, inbox: Person, text: str) -> None:
    result = answered(each_client, inbox, "ask_user_questions", choice(text), "Red")
    assert "→ Red" in result.text
    assert result.structured["answers"][0]["selected"] == ["Red"]


def test_a_call_that_need_not_wait_gets_its_answer_later(each_client: ClientProgram, inbox: Person, text: str) -> None:
    left = each_client.call("ask_user", {**one(text), "nonBlocking": True})
    assert left.structured["outcome"] == "pending"
    ask = inbox.desk.get(left.structured["ask_id"])
    assert ask.wait is None
    key = each_client.call_start("get_answers", {"ask_id": ask.id, "wait": True})
    inbox.wait_for_change(ask, lambda now: now.wait is not None)
    inbox.answer(ask, "Red")
    result = each_client.wait_result(key)
    assert "→ Red" in result.text
    assert [one["ask_id"] for one in result.structured["answers"]] == [ask.id]
    inbox.wait_until_delivered(ask)


def colour(text: str) -> Json:
    return {"questions": [{"id": "colour", "question": text, "type": "select", "options": ["Red", "Blue"]}]}


def test_an_accepted_form_is_the_answer(each_client: ClientProgram, person: Person, text: str) -> None:
    each_client.answer_with(HOLD)
    key = each_client.call_start("ask_user", colour(text))
    form = form_about(each_client, text)
    assert form.message == text
    each_client.reply(form.form, accept({"q1": "Blue"}))
    result = each_client.wait_result(key)
    assert told_by(result)["answers"] == [{"questionId": "colour", "values": ["Blue"]}]
    assert result.structured["surface"] == "client form"
    (ask,) = asks_named(person, text)
    assert person.wait_until_delivered(ask).state is State.ANSWERED


REFUSALS = [
    (Reply(action="decline", after_ms=PAST_REACTION), State.DECLINED),
    (Reply(action="cancel", after_ms=PAST_REACTION), State.CANCELLED),
]


@pytest.mark.parametrize(("refusal", "state"), REFUSALS, ids=["decline", "cancel"])
def test_a_refused_form_is_a_persons_no(
    each_client: ClientProgram, person: Person, text: str, refusal: Reply, state: State
) -> None:
    text = f"{refusal.action}: {text}"
    each_client.answer_with(refusal)
    result = each_client.call("ask_user", colour(text))
    assert result.structured["outcome"] == state
    assert told_by(result)["cancelled"] is True
    assert told_by(result)["answers"] == []
    assert not result.is_error
    (ask,) = asks_named(person, text)
    assert ask.state is state


def test_several_options_are_chosen_in_a_form(each_client: ClientProgram, text: str) -> None:
    arguments = {"question": text, "options": ["A", "B", "C"], "multiSelect": True}
    each_client.answer_with(accept({"q1": ["A", "C"], "q1_other": "and D"}))
    result = each_client.call("ask_user", arguments)
    assert result.text == "User selected: A, C\nUser answered: and D"


def test_an_answer_in_the_inbox_takes_the_form_back(each_client: ClientProgram, person: Person, text: str) -> None:
    each_client.answer_with(HOLD)
    key = each_client.call_start("ask_user", colour(text))
    form = form_about(each_client, text)
    ask = person.wait_until(lambda: next(iter(asks_named(person, text)), None))
    person.answer(ask, "Red")
    if each_client.kind.sees_withdrawal and not each_client.kind.modern:
        each_client.wait_withdrawn(form.form)
    else:
        each_client.reply(form.form, accept({"q1": "Blue"}))
    result = each_client.wait_result(key)
    assert told_by(result)["answers"] == [{"questionId": "colour", "values": ["Red"]}]
    assert result.structured["surface"] == "test"
    if each_client.kind.modern:
        late = "was filled in too late, and nothing of it was used: ada had settled this before"
        assert late in result.structured["form"]
        assert result.content[-1]["text"] == "\n" + result.structured["form"]


def test_a_form_that_the_client_cancels_by_itself_leaves_the_question_in_the_inbox(
    each_client: ClientProgram, person: Person, text: str
) -> None:
    each_client.answer_with(default=UNSEEN)
    result = answered(each_client, person, "ask_user", colour(text), "Red")
    assert told_by(result)["answers"] == [{"questionId": "colour", "values": ["Red"]}]
    assert result.structured["surface"] == "test"
    assert len(asks_named(person, text)) == 1


def test_a_held_call_is_heard_of_by_the_clients_own_callback(
    each_client: ClientProgram, inbox: Person, text: str
) -> None:
    key = each_client.call_start("ask_user", one(text), progress=True)
    ask = inbox.wait_for_ask(text)
    for _ in range(3):
        each_client.wait_progress(key)
    inbox.answer(ask, "Red")
    assert each_client.wait_result(key).text == "User selected: Red"
    heard = each_client.progress_of(key)
    assert all(one.message and one.message.startswith("Waiting for the user, ") for one in heard)
    assert all(later.progress > earlier.progress for earlier, later in pairwise(heard))


def test_a_cancelled_call_leaves_the_question_open_and_the_next_call_takes_it_up(
    each_client: ClientProgram, inbox: Person, text: str
) -> None:
    key = each_client.call_start("ask_user", one(text))
    ask = inbox.wait_for_ask(text)
    let_go = time.monotonic()
    each_client.cancel(key)
    with pytest.raises(CallCancelled):
        each_client.wait_result(key)
    unattended = inbox.wait_until_unattended(ask)
    assert time.monotonic() - let_go < WITHIN
    assert unattended.state is State.PENDING
    inbox.answer(ask, "Blue")
    again = each_client.call("ask_user", one(text))
    assert again.content[0]["text"] == "User selected: Blue"
    assert again.structured["ask_id"] == ask.id


@EACH
def test_a_client_that_vanishes_leaves_the_question_open_for_its_successor(kind: ClientKind, machine: Place) -> None:
    text = f"Disconnected in the middle of {kind.id}?"
    with machine.person() as person:
        person.desk.show_up("test", "ada")
        with connected(kind, machine, name=f"vanishing {kind.id}") as program:
            program.answer_with(default=unattended_forms(program))
            program.call_start("ask_user", one(text))
            ask = person.wait_for_ask(text)
            gone = time.monotonic()
            program.vanish()
            person.wait_until_unattended(ask)
            assert time.monotonic() - gone < WITHIN
            program.wait_server_exit()
            assert "Traceback" not in program.server_stderr
        person.answer(ask, "Red")
        with connected(kind, machine, name=f"vanishing {kind.id}") as program:
            result = program.call("ask_user", one(text))
        assert (result.content[0]["text"], result.structured["ask_id"]) == ("User selected: Red", ask.id)
        person.desk.go_away()
