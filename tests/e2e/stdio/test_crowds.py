"""Many asks at once: each gets its own answer, and waiting for them costs next to nothing."""

from __future__ import annotations

from concurrent.futures import wait

from tests.e2e.stdio.harness import WAIT, Person, Place, data_of, new_place, question

from sayso.asks.model import Ask

CROWD = 1000
IDLERS = 50
WATCHED_SECONDS = 6.0


def open_asks(person: Person, count: int) -> list[Ask]:
    """All of them, once that many are open."""
    person.wait_until(lambda: person.desk.inbox_size() == count or None, 2 * WAIT)
    return person.inbox()


def test_a_thousand_asks_of_one_client_all_get_their_own_answers() -> None:
    with (
        new_place(max_open_asks=str(CROWD)) as place,
        place.agent() as agent,
        place.person() as person,
    ):
        calls = [agent.ask(question(f"Number {number}?", f"yes {number}", "no")) for number in range(CROWD)]
        asks = open_asks(person, CROWD)
        for ask in asks:
            number = int(ask.questions[0].text.removeprefix("Number ").removesuffix("?"))
            person.answer(ask, f"yes {number}" if number % 3 else f"in my words {number}")
        done, open_ = wait(calls, 2 * WAIT)
        assert (len(done), len(open_)) == (CROWD, 0)
        for position, call in enumerate(calls):
            (answer,) = data_of(call.result())["answers"]
            assert answer["question"] == f"Number {position}?"
            said = ([f"yes {position}"], None) if position % 3 else ([], f"in my words {position}")
            assert (answer["selected"], answer["text"]) == said
        assert {data_of(call.result())["ask_id"] for call in calls} == {ask.id for ask in asks}
        person.wait_until(lambda: None if person.desk.undelivered(asks[0].asker, most=1) else True)


def test_a_server_with_fifty_open_asks_is_idle(place: Place) -> None:
    with place.agent() as agent, place.person() as person:
        calls = [agent.ask(question(f"Idle {number}?")) for number in range(IDLERS)]
        open_asks(person, IDLERS)
        before = agent.server.cpu_times()
        assert not wait(calls, WATCHED_SECONDS).done
        after = agent.server.cpu_times()
        spent = after.user + after.system - before.user - before.system
        assert spent / WATCHED_SECONDS < 0.005
