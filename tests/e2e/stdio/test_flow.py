"""A question's way from the agent to the person and back, through two processes that share only the store."""

from __future__ import annotations

import uuid
from concurrent.futures import wait

import pytest
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, question, text_of

from sayso.asks.model import Answer, State


@pytest.mark.requirement("A-24")
def test_each_call_has_a_uuid_of_its_own(agent: Agent, person: Person) -> None:
    calls = [agent.ask(question(text)) for text in ("First with an id?", "Second with an id?")]
    for text in ("First with an id?", "Second with an id?"):
        person.answer(person.wait_for_ask(text), "Yes")
    call_ids = [data_of(call.result(WAIT))["call_id"] for call in calls]
    assert [str(uuid.UUID(call_id)) for call_id in call_ids] == call_ids
    assert len(set(call_ids)) == 2


@pytest.mark.requirement("A-25")
def test_the_call_id_can_be_read_back_from_the_stored_ask(agent: Agent, person: Person, shared_place: Place) -> None:
    call = agent.ask(question("With which id?"))
    ask = person.wait_for_ask("With which id?")
    stored_while_open = shared_place.show(ask.id)["call_id"]
    person.answer(ask, "Yes")
    returned = data_of(call.result(WAIT))["call_id"]
    assert returned == stored_while_open == shared_place.show(ask.id)["call_id"]


@pytest.mark.requirement("A-26")
def test_another_process_sees_the_ask_while_the_call_waits(agent: Agent, person: Person, shared_place: Place) -> None:
    call = agent.ask(question("Can you see me?", {"label": "Yes", "description": "clearly"}, "No", title="Sight"))
    ask = person.wait_for_ask("Can you see me?")
    seen = shared_place.show(ask.id)
    person.answer(ask, "Yes")
    call.result(WAIT)
    assert (seen["status"], seen["attended"], seen["tool"]) == ("pending", True, "ask_user_questions")
    assert seen["asker"]["client"] == "tester"
    assert seen["asker"]["project"] == str(shared_place.project)
    (asked,) = seen["questions"]
    assert (asked["question"], asked["title"], asked["type"]) == ("Can you see me?", "Sight", "select")
    assert [(option["label"], option["description"]) for option in asked["options"]] == [("Yes", "clearly"), ("No", "")]


@pytest.mark.requirement("A-27")
def test_the_call_waits_until_the_person_submits(agent: Agent, person: Person, shared_place: Place) -> None:
    """Waiting is seen by order: a whole other question is asked and answered while this one stays open."""
    waiting = agent.ask(question("The slow one?"))
    slow = person.wait_for_ask("The slow one?")
    quick = agent.ask(question("The quick one?"))
    person.answer(person.wait_for_ask("The quick one?"), "No")
    quick.result(WAIT)
    assert not waiting.done()
    assert shared_place.run("answer", slow.id, "Yes").returncode == 0
    assert data_of(waiting.result(WAIT))["outcome"] == "answered"


@pytest.mark.requirement("A-28")
def test_the_call_returns_the_answers_in_words_and_as_data(agent: Agent, person: Person) -> None:
    call = agent.ask(
        question("One of these?", "red", "green"),
        question("Several of these?", "sweet", "sour", "salty", multiSelect=True),
        question("Something else?", "a", "b"),
    )
    ask = person.wait_for_ask("One of these?")
    several = Answer(question=ask.questions[1].id, chosen=("3", "1"), text="and umami")
    person.answer(ask, "green", several, "neither of them")
    result = call.result(WAIT)
    assert text_of(result) == (
        "Here are the user's answers:\n\n"
        "1. One of these?\n   → green\n"
        "2. Several of these?\n   → sweet\n   → salty\n   → Other: and umami\n"
        "3. Something else?\n   → Other: neither of them"
    )
    said = [(answer["selected"], answer["text"]) for answer in data_of(result)["answers"]]
    assert said == [(["green"], None), (["sweet", "salty"], "and umami"), ([], "neither of them")]


@pytest.mark.requirement("A-29")
def test_the_result_is_one_text(agent: Agent, person: Person) -> None:
    call = agent.ask(question("In which shape?"))
    person.answer(person.wait_for_ask("In which shape?"), "Yes")
    content = [part.model_dump(exclude_none=True) for part in call.result(WAIT).content]
    assert content == [{"type": "text", "text": "Here are the user's answers:\n\n1. In which shape?\n   → Yes"}]


@pytest.mark.requirement("A-30")
def test_two_equal_calls_at_the_same_time_are_two_asks_and_their_answers_never_cross(
    agent: Agent, person: Person
) -> None:
    both = [agent.ask(question("The same twice?")) for _ in range(2)]

    def two() -> list[str] | None:
        open_ = [ask.id for ask in person.inbox() if ask.questions[0].text == "The same twice?"]
        return open_ if len(open_) == 2 else None

    answers = dict(zip(person.wait_until(two), ("Yes", "No"), strict=True))
    for ask_id, said in answers.items():
        person.answer(person.desk.get(ask_id), said)
    done, _ = wait(both, WAIT)
    returned = {data_of(call.result())["ask_id"]: data_of(call.result())["answers"][0]["selected"] for call in done}
    assert returned == {ask_id: [said] for ask_id, said in answers.items()}


@pytest.mark.requirement("A-35", "A-36")
def test_a_rejection_comes_back_with_its_reason(agent: Agent, person: Person, shared_place: Place) -> None:
    call = agent.ask(question("May I delete it?"))
    ask = person.wait_for_ask("May I delete it?")
    assert shared_place.run("reject", ask.id, "--reason", "Read the README first").returncode == 0
    result = call.result(WAIT)
    assert not result.is_error
    assert "rejected" in text_of(result)
    assert "Read the README first" in text_of(result)
    assert (data_of(result)["outcome"], data_of(result)["reason"]) == ("rejected", "Read the README first")


@pytest.mark.requirement("A-35", "A-37")
def test_a_rejection_needs_no_reason(agent: Agent, person: Person, shared_place: Place) -> None:
    call = agent.ask(question("May I delete all?"))
    ask = person.wait_for_ask("May I delete all?")
    assert shared_place.run("reject", ask.id).returncode == 0
    result = call.result(WAIT)
    assert not result.is_error
    assert "rejected" in text_of(result)
    assert data_of(result)["reason"] is None


@pytest.mark.parametrize("settle", ["decline", "cancel"])
def test_every_other_no_is_told_as_what_it_was(agent: Agent, person: Person, settle: str) -> None:
    call = agent.ask(question(f"Will you {settle}?"))
    ask = person.wait_for_ask(f"Will you {settle}?")
    getattr(person.desk, settle)(ask.id, person.settler)
    result = call.result(WAIT)
    told = State.DECLINED if settle == "decline" else State.CANCELLED
    assert data_of(result)["outcome"] == told
    assert "Do not assume an answer" in text_of(result)


@pytest.mark.requirement("A-44")
def test_a_finished_session_is_logged_with_both_ids_and_without_the_answer(agent: Agent, person: Person) -> None:
    call = agent.ask(question("What is logged?"))
    ask = person.wait_for_ask("What is logged?")
    person.answer(ask, "my dark secret")
    call.result(WAIT)
    line = agent.log.wait_for(f"sessionId={ask.id}")
    assert "Session completed successfully" in line
    assert f"callId={ask.call_id}" in line
    assert "my dark secret" not in agent.log.text


def test_an_answer_counts_as_delivered_once_its_result_was_written(agent: Agent, person: Person) -> None:
    call = agent.ask(question("Has it arrived?"))
    ask = person.wait_for_ask("Has it arrived?")
    person.answer(ask, "Yes")
    call.result(WAIT)
    person.wait_until_delivered(ask)
    kinds = [event.kind for event in person.desk.events(ask.id)]
    assert kinds == ["opened", "answered", "delivered"]


def test_the_same_question_is_asked_again_once_its_answer_was_delivered(agent: Agent, person: Person) -> None:
    ids = set()
    for said in ("Yes", "No"):
        call = agent.ask(question("Once more?"))
        ask = person.wait_for_ask("Once more?")
        person.answer(ask, said)
        assert data_of(call.result(WAIT))["answers"][0]["selected"] == [said]
        person.wait_until_delivered(ask)
        ids.add(ask.id)
    assert len(ids) == 2
