"""A client's cancel and the result of its call meet on the way: the client throws away what it has not read, so the
answer is still owed to it."""

from __future__ import annotations

import pytest
from tests.e2e.stdio.harness import TOOL, Place, question
from tests.e2e.stdio.pipe import MODERN


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_an_answer_that_crossed_the_cancel_of_its_call_is_handed_to_the_next_one(place: Place, version: str) -> None:
    asked = {"name": TOOL, "arguments": {"questions": [question("Did it cross?")]}}
    with place.pipe() as pipe, place.person() as person:
        pipe.connect(version)
        first = pipe.begin("tools/call", **asked)
        ask = person.wait_for_ask("Did it cross?")
        person.answer(ask, "Yes")
        assert pipe.response(first)["result"]["structuredContent"]["outcome"] == "answered"
        # The client has decided to cancel before it read this line.
        pipe.cancel(first)
        told = pipe.request("tools/call", **asked)["structuredContent"]
        assert (told["ask_id"], told["answers"][0]["selected"]) == (ask.id, ["Yes"])
        person.wait_until_delivered(ask)
        kinds = [event.kind for event in person.desk.events(ask.id)]
        assert kinds == ["opened", "answered", "delivered", "unattended", "attended", "delivered"]
        # What was read and not cancelled is not handed over again.
        third = pipe.begin("tools/call", **asked)
        again = person.wait_for_ask("Did it cross?")
        assert again.id != ask.id
        person.answer(again, "No")
        pipe.response(third)


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_a_call_that_is_cancelled_and_made_again_at_once_is_one_ask(place: Place, version: str) -> None:
    """All three lines are there before the server is: the cancel is read before the call it is for has begun."""
    asked = {"name": TOOL, "arguments": {"questions": [question("Once or twice?")]}}
    with place.pipe() as pipe, place.person() as person:
        pipe.connect(version)
        for _ in range(10):
            pipe.cancel(pipe.begin("tools/call", **asked))
        last = pipe.begin("tools/call", **asked)
        person.answer(person.wait_for_ask("Once or twice?"), "Yes")
        assert pipe.response(last)["result"]["structuredContent"]["outcome"] == "answered"
        assert len(person.asks()) == 1
