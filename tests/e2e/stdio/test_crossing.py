"""A client's cancel and the result of its call meet on the way: the client throws away what it has not read, so the
answer is still owed to it."""

from __future__ import annotations

import psycopg
import pytest
from tests.e2e.stdio.harness import TOOL, Person, Place, new_place, question
from tests.e2e.stdio.pipe import MODERN, Json, Pipe

ROUNDS = 10


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_a_call_that_is_cancelled_on_the_way_of_its_answer_loses_nothing(place: Place, version: str) -> None:
    with place.pipe() as pipe, place.person() as person:
        pipe.connect(version)
        is_one_ask_when_made_again_at_once(pipe, person)
        is_handed_to_the_next_call(pipe, person)


def test_the_same_call_again_waits_until_the_cancelled_one_has_let_go(postgres_address: str) -> None:
    """On PostgreSQL several transactions of one server go on at once; here a call is cancelled in its first one."""
    with new_place(store=postgres_address) as place, place.pipe() as pipe, place.person() as person:
        pipe.connect("2025-06-18")
        for number in range(ROUNDS):
            text = f"Just once, {number}?"
            with psycopg.connect(postgres_address) as other:
                other.execute("LOCK TABLE asks IN ACCESS EXCLUSIVE MODE")
                pipe.cancel(pipe.begin("tools/call", **asking(text)))
                again = pipe.begin("tools/call", **asking(text))
                pipe.request("ping")
            person.answer(person.wait_for_ask(text), "Yes")
            assert pipe.response(again)["result"]["structuredContent"]["outcome"] == "answered"
        assert len(person.asks()) == ROUNDS


def asking(text: str) -> Json:
    return {"name": TOOL, "arguments": {"questions": [question(text)]}}


def is_one_ask_when_made_again_at_once(pipe: Pipe, person: Person) -> None:
    """All these lines are there before the SDK is: a cancel is read before the call it is for has begun."""
    for _ in range(10):
        pipe.cancel(pipe.begin("tools/call", **asking("Once or twice?")))
    last = pipe.begin("tools/call", **asking("Once or twice?"))
    person.answer(person.wait_for_ask("Once or twice?"), "Yes")
    assert pipe.response(last)["result"]["structuredContent"]["outcome"] == "answered"
    assert len(person.asks()) == 1


def is_handed_to_the_next_call(pipe: Pipe, person: Person) -> None:
    first = pipe.begin("tools/call", **asking("Did it cross?"))
    ask = person.wait_for_ask("Did it cross?")
    person.answer(ask, "Yes")
    assert pipe.response(first)["result"]["structuredContent"]["outcome"] == "answered"
    # The client has decided to cancel before it read this line.
    pipe.cancel(first)
    told = pipe.request("tools/call", **asking("Did it cross?"))["structuredContent"]
    assert (told["ask_id"], told["answers"][0]["selected"]) == (ask.id, ["Yes"])
    person.wait_until_delivered(ask)
    kinds = [event.kind for event in person.desk.events(ask.id)]
    assert kinds == ["opened", "answered", "delivered", "unattended", "attended", "delivered"]
    # What was read and not cancelled is not handed over again.
    third = pipe.begin("tools/call", **asking("Did it cross?"))
    again = person.wait_for_ask("Did it cross?")
    assert again.id != ask.id
    person.answer(again, "No")
    pipe.response(third)


def test_a_number_and_the_same_number_as_text_name_two_calls(place: Place) -> None:
    with place.pipe() as pipe, place.person() as person:
        pipe.connect("2025-06-18")
        for named in (700, "700"):
            call = {"jsonrpc": "2.0", "id": named, "method": "tools/call", "params": asking(f"Is it {named!r}?")}
            pipe.send(call)
        asks = [person.wait_for_ask(f"Is it {named!r}?") for named in (700, "700")]
        for ask in reversed(asks):
            person.answer(ask, "Yes")
        told = [pipe.next() for _ in asks]
        assert {one["id"]: one["result"]["structuredContent"]["ask_id"] for one in told} == {
            700: asks[0].id,
            "700": asks[1].id,
        }
        for ask in asks:
            person.wait_until_delivered(ask)
