"""Many questions at once, and two people at once: no answer crosses, and one winner each time."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.conftest import OpenStore
from tests.e2e.ask.house import AUTO, LEGACY, connected
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import CallResult
from tests.e2e.stdio.harness import Place

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Asker, NewAsk, Question, Settler, State
from sayso.errors import AlreadySettled

EACH = 50
RACES = 1_000


def test_two_clients_with_fifty_questions_each_get_each_their_own_answers(place: Place) -> None:
    place.settings["forms"] = "never"
    with connected(AUTO, place) as one, connected(LEGACY, place) as other, place.person() as person:
        calls = [(program, number, key) for program in (one, other) for number, key in enumerate(ask_all(program))]

        def all_open() -> list[Ask] | None:
            asks = person.inbox()
            return asks if len(asks) == 2 * EACH else None

        asks = person.wait_until(all_open, timeout=90)
        expected = [f"{program.kind.id} {number}" for program, number, _ in calls]
        assert sorted(ask.questions[0].text for ask in asks) == sorted(expected)
        for ask in reversed(asks):
            person.answer(ask, f"to {ask.questions[0].text}", f"and to {ask.questions[0].text}")
        for program, number, key in calls:
            asked = f"{program.kind.id} {number}"
            assert own_answers(program.wait_result(key)) == [f"to {asked}", f"and to {asked}"]


def ask_all(program: ClientProgram) -> list[str]:
    def arguments(number: int) -> dict[str, object]:
        text = f"{program.kind.id} {number}"
        return {"questions": [{"question": text}, {"question": f"{text}, and?"}]}

    return [program.call_start("ask_user", arguments(number), timeout_ms=90_000) for number in range(EACH)]


def own_answers(result: CallResult) -> list[str]:
    return [one["values"][0] for one in json.loads(result.content[0]["text"])["answers"]]


def test_two_surfaces_settle_at_the_same_moment_a_thousand_times_and_one_wins_each_time(
    open_sqlite: OpenStore,
) -> None:
    desks = [AskDesk(open_sqlite()), AskDesk(open_sqlite())]
    people = [Settler(person="ada", surface="terminal"), Settler(person="bo", surface="browser")]
    questions = [Question(id="1", text=f"Who is first in race {number}?") for number in range(RACES)]
    asks = [desks[0].leave(NewAsk(tool="race", questions=(one,), asker=Asker(client="race"))) for one in questions]
    start = threading.Barrier(2)

    def settle(side: int) -> list[str]:
        """For each race what this side was told: nothing if it won, else who did."""
        told = []
        for ask in asks:
            answer = Answer(question="1", text=people[side].person)
            start.wait(60)
            try:
                desks[side].answer(ask.id, [answer], people[side])
            except AlreadySettled as error:
                told.append(str(error))
            else:
                told.append("")
        return told

    with ThreadPoolExecutor(2) as both:
        ada, bo = both.map(settle, (0, 1))
    for ask, told_ada, told_bo in zip(asks, ada, bo, strict=True):
        assert (told_ada == "") != (told_bo == ""), "one winner, one loser"
        winner, told = (people[0], told_bo) if told_ada == "" else (people[1], told_ada)
        assert told.startswith(f"Already answered in {winner.surface} by {winner.person}, ")
        settled = desks[0].get(ask.id)
        assert settled.outcome is not None
        assert (settled.state, settled.outcome.person) == (State.ANSWERED, winner.person)
        assert settled.outcome.answers == (Answer(question="1", text=winner.person),)
        assert [event.kind for event in desks[1].events(ask.id)] == ["opened", "answered"]
