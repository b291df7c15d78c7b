"""No answer is lost: calls that end before the person answers, and the ways an agent comes by the answer later."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest
from tests.e2e.ask.house import AUTO, LEGACY, asks_named, connected
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import CallFailed, CallResult, Json
from tests.e2e.clients.kinds import CLIENTS, ClientKind
from tests.e2e.stdio.harness import WAIT, Person, Place, data_of, new_place, text_of
from tests.e2e.stdio.pipe import MODERN
from tests.permissions.test_desk import PUSH, QUESTION

from sayso.asks.model import Ask, Away, NewAsk, State
from sayso.permissions.action import asking
from sayso.permissions.desk import PermissionDesk
from sayso.records import replace

BOTH = pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])
AB = ["A", "B"]


@pytest.fixture(scope="module", params=[AUTO, LEGACY], ids=["auto", "legacy"])
def hasty(request: pytest.FixtureRequest) -> Iterator[tuple[ClientProgram, Place]]:
    """A client whose calls may last 0.3 s, on a machine where somebody has an inbox open."""
    settings = {"call_limits": "hasty=300ms", "heartbeat": "50ms", "ask_timeout": "1h"}
    with new_place(**settings) as place, connected(request.param, place, name="hasty") as program:
        yield program, place


@pytest.fixture
def program(hasty: tuple[ClientProgram, Place]) -> ClientProgram:
    return hasty[0]


@pytest.fixture
def ada(hasty: tuple[ClientProgram, Place]) -> Iterator[Person]:
    """The person there. What earlier tests left open is closed, and the client knows it."""
    program, place = hasty
    with place.person() as ada:
        for ask in ada.inbox():
            ada.reject(ask)
        program.call("get_answers")
        ada.desk.show_up("test", "ada")
        yield ada
        ada.desk.go_away()


def left_open(program: ClientProgram, person: Person, tool: str, arguments: Json) -> tuple[CallResult, Ask]:
    """A call that came back before its answer, and its ask."""
    result = program.call(tool, arguments)
    assert (result.structured["outcome"], result.is_error) == ("pending", False)
    ask = person.wait_until_unattended(person.desk.get(result.structured["ask_id"]))
    assert ask.away is Away.AT_WORK
    return result, ask


# Before the client gives up


def test_a_call_returns_pending_before_its_clients_limit_and_says_what_to_do(
    program: ClientProgram, ada: Person
) -> None:
    result, ask = left_open(program, ada, "ask_user", {"question": "Pending by the limit?"})
    assert ask.state is State.PENDING
    assert result.text == result.structured["message"]
    for words in ("No answer yet", "Do not assume an answer", "get_answers", ask.id):
        assert words in result.text
    ada.answer(ask, "now")
    again = program.call("ask_user", {"question": "Pending by the limit?"})
    assert (again.content[0]["text"], again.structured["ask_id"]) == ("User answered: now", ask.id)
    assert len(asks_named(ada, "Pending by the limit?")) == 1


def test_a_modern_client_is_held_over_several_rounds_before_it_hears_pending(
    program: ClientProgram, ada: Person
) -> None:
    _, ask = left_open(program, ada, "ask_user", {"question": "How many rounds?"})
    rounds = [event.kind for event in ada.desk.events(ask.id)].count("attended")
    assert rounds == (8 if program.kind.modern else 0)


def test_a_client_whose_clock_runs_on_through_rounds_hears_pending_before_its_limit(place: Place) -> None:
    limit = {"SAYSO_CALL_LIMITS": "claude-code=300ms", "SAYSO_FORMS": "never"}
    with place.agent(program="sayso", name="claude-code", environment=limit) as agent, place.person() as person:
        told = data_of(agent.call("ask_user", {"question": "In time?"}).result(WAIT))
        assert told["outcome"] == "pending"
        assert [event.kind for event in person.desk.events(told["ask_id"])] == ["opened", "unattended"]


DROPS_CALLS = "gemini-cli-mcp-client"
"""A client that says nothing when its person interrupts a call: that one stays open, and nobody reads its result."""
ANYWHERE: Json = {"question": "Where to?"}


@pytest.mark.parametrize("tool", ["ask_person", "get_answers"])
def test_what_a_dropped_call_waits_for_is_taken_up_by_the_next_and_the_person_is_asked_once(
    place: Place, tool: str
) -> None:
    with place.agent("legacy", program="sayso", name=DROPS_CALLS) as agent, place.person() as person:
        dropped = agent.call("ask_person", ANYWHERE)
        ask = person.wait_for_ask("Where to?")
        again = agent.call(tool, ANYWHERE if tool == "ask_person" else {"wait": True})
        assert data_of(dropped.result(WAIT))["outcome"] == "pending"
        person.answer(ask, "north")
        assert "north" in text_of(again.result(WAIT))
        assert len(asks_named(person, "Where to?")) == 1


def test_a_call_that_was_dropped_while_it_held_on_gives_way_too(place: Place) -> None:
    with place.agent("legacy", program="sayso", name=DROPS_CALLS) as agent, place.person() as person:
        agent.call("ask_person", {**ANYWHERE, "nonBlocking": True}).result(WAIT)
        dropped = agent.call("get_answers", {"wait": True})
        ask = person.wait_for_ask("Where to?")
        told = text_of(agent.call("get_answers", {}).result(WAIT))
        assert told.startswith("Not answered yet, still open.")
        assert "Where to?" in text_of(dropped.result(WAIT))
        person.answer(ask, "north")
        assert "north" in text_of(agent.call("get_answers", {}).result(WAIT))


def test_an_answer_that_a_dropped_call_has_returned_is_named_and_can_be_fetched(place: Place) -> None:
    with place.agent("legacy", program="sayso", name=DROPS_CALLS) as agent, place.person() as person:
        dropped = agent.call("ask_person", ANYWHERE)
        ask = person.wait_for_ask("Where to?")
        person.answer(ask, "north")
        dropped.result(WAIT)
        told = text_of(agent.call("get_answers", {}).result(WAIT))
        assert "If you have not seen one, because its call was interrupted" in told
        assert f"[{ask.id}] Where to?" in told
        assert "north" not in told
        assert "north" in text_of(agent.call("get_answers", {"ask_id": ask.id}).result(WAIT))


def test_a_round_does_not_start_the_calls_own_time_limit_anew(place: Place) -> None:
    settings = {"SAYSO_CALL_LIMITS": "tester=400ms", "SAYSO_ASK_USER_TIMEOUT": "1s", "SAYSO_FORMS": "never"}
    with place.pipe(program="sayso", environment=settings) as pipe, place.person() as person:
        pipe.connect(MODERN)
        asked: Json = {"name": "ask_user", "arguments": {"question": "One second in all?"}}
        result = pipe.request("tools/call", **asked)
        rounds = 0
        while result["resultType"] == "input_required":
            assert not result.get("inputRequests")
            result = pipe.request("tools/call", **asked, requestState=result["requestState"])
            rounds += 1
        assert not result.get("isError")
        assert result["structuredContent"]["outcome"] == "timed_out"
        # With a limit that begins anew it would go on for ever; a slow machine may leave no time for a second one.
        assert rounds in (1, 2)
        (ask,) = person.asks()
        assert (ask.ended_at or 0) - ask.created_at >= 1000


@pytest.mark.usefixtures("ada")
def test_progress_goes_on_rising_over_the_rounds_of_a_call(program: ClientProgram) -> None:
    key = program.call_start("ask_user", {"question": "Rising?"}, progress=True)
    result = program.wait_result(key)
    heard = program.progress_of(key)
    assert len(heard) > (8 if program.kind.modern else 2)
    assert all(later.progress > earlier.progress for earlier, later in pairwise(heard))
    assert result.structured["outcome"] == "pending"


LIMIT = 5_000
AFTER = 12.0
PATIENCE = 90.0


def test_a_client_with_a_limit_of_five_seconds_that_calls_again_gets_its_answer_and_the_person_is_asked_once(
    place: Place,
) -> None:
    """All six programs at once, because each takes twelve seconds: none takes progress, each calls again and again."""
    with ExitStack() as open_, place.person() as person:
        person.desk.show_up("test", "ada")
        programs = []
        for kind in CLIENTS:
            name = f"five seconds {kind.id}"
            # One that forgets a call without a word cannot be noticed: its limit must be known.
            limit = "none" if kind.cancels_on_timeout else "4s"
            client = connected(kind, place, name=name, elicitation=None, call_limits=f"{name}={limit}")
            program = open_.enter_context(client)
            programs.append(program)
        results: dict[str, CallResult] = {}
        callers = [threading.Thread(target=call_until_answered, args=(program, results)) for program in programs]
        for caller in callers:
            caller.start()
        asks = [person.wait_for_ask(f"Twelve seconds of {program.kind.id}?") for program in programs]
        answer_at = max(ask.created_at for ask in asks) / 1000 + AFTER
        person.wait_until(lambda: True if time.time() >= answer_at else None)
        for ask in asks:
            person.answer(ask, "at last")
        for caller in callers:
            caller.join(PATIENCE)
        # One that happened to be between two calls is also told that the answer is an earlier one.
        assert {kind.id: results[kind.id].text.splitlines()[0] for kind in CLIENTS} == {
            kind.id: "User answered: at last" for kind in CLIENTS
        }
        assert {ask.id for ask in person.asks()} == {ask.id for ask in asks}


def call_until_answered(program: ClientProgram, results: dict[str, CallResult]) -> None:
    """As an agent does whose calls time out after five seconds. A busy machine may take its time in between."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        key = program.call_start("ask_user", {"question": f"Twelve seconds of {program.kind.id}?"}, timeout_ms=LIMIT)
        try:
            result = program.wait_result(key)
        except CallFailed:
            continue
        if result.structured["outcome"] == "answered":
            results[program.kind.id] = result
            return


# The next identical call


def held_anew(person: Person, ask: Ask) -> Ask:
    """The ask once another call holds it."""
    return person.wait_for_change(ask, lambda now: now.wait is not None and now.wait != ask.wait)


@pytest.mark.parametrize(
    ("version", "capabilities"), [("2025-06-18", {}), ("2025-11-25", {"elicitation": {}}), (MODERN, {})]
)
def test_a_call_in_the_same_breath_as_the_cancel_of_the_one_before_takes_up_its_ask(
    place: Place, version: str, capabilities: Json
) -> None:
    with place.pipe(program="sayso") as pipe, place.person() as person:
        pipe.connect(version, capabilities)
        for number in range(20):
            asked: Json = {"name": "ask_user", "arguments": {"question": f"Breathless {number}?"}}
            first = pipe.begin("tools/call", **asked)
            ask = person.wait_for_ask(f"Breathless {number}?")
            params = {"requestId": first, "reason": "timed out"}
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            meta = {"_meta": pipe.meta} if pipe.meta else {}
            again = {"jsonrpc": "2.0", "id": f"again {number}", "method": "tools/call", "params": {**asked, **meta}}
            pipe.send_line(f"{json.dumps(cancel)}\n{json.dumps(again)}".encode())
            person.answer(held_anew(person, ask), "in time")
            while (message := pipe.next()).get("id") != f"again {number}":
                pass
            assert message["result"]["structuredContent"]["ask_id"] == ask.id
            assert len(asks_named(person, f"Breathless {number}?")) == 1


def test_an_identical_call_under_other_ids_gets_the_answer_under_its_own(program: ClientProgram, ada: Person) -> None:
    def asked(question_id: str) -> Json:
        return {"questions": [{"id": question_id, "question": "Under which id?", "options": AB}]}

    _, ask = left_open(program, ada, "ask_user", asked("mine"))
    ada.answer(ask, "B")
    told = json.loads(program.call("ask_user", asked("yours")).content[0]["text"])
    assert told["answers"] == [{"questionId": "yours", "values": ["B"]}]


def test_a_call_that_need_not_wait_gets_an_answer_that_is_there(program: ClientProgram, ada: Person) -> None:
    asked = {"question": "There already?", "nonBlocking": True}
    _, ask = left_open(program, ada, "ask_user", asked)
    _, same = left_open(program, ada, "ask_user", asked)
    assert same.id == ask.id
    ada.answer(ask, "yes")
    assert program.call("ask_user", asked).content[0]["text"] == "User answered: yes"
    ada.wait_until_delivered(ask)


def test_ask_user_questions_need_not_wait_either(program: ClientProgram, ada: Person) -> None:
    arguments = {"questions": [{"question": "AUQ without waiting?", "options": AB}], "nonBlocking": True}
    _, ask = left_open(program, ada, "ask_user_questions", arguments)
    ada.answer(ask, "A")
    assert "→ A" in program.call("get_answers", {"ask_id": ask.id}).text


@BOTH
@pytest.mark.requirement("N-55", "P-10")
def test_a_late_answer_reaches_the_agent_by_each_way(kind: ClientKind, place: Place) -> None:
    with connected(kind, place, ask_user_timeout="300ms", forms="never") as program, place.person() as person:
        asked = {"question": "Late?", "options": AB}
        first = program.call("ask_user", asked)
        assert not first.is_error
        assert "still open: do not guess. Call get_answers" in first.text
        assert first.structured["message"] == first.text
        ask = person.wait_until_delivered(person.desk.get(first.structured["ask_id"]))
        assert (ask.state, ask.wait) == (State.TIMED_OUT, None)
        assert first.structured["ask_id"] in program.call("get_answers").text, "it is told to be open"
        person.answer(ask, "A")
        mention = program.call("question_summary")
        assert ask.id in mention.structured["late_answers"]
        assert mention.content[-1]["text"] == "\n" + mention.structured["late_answers"]
        again = program.call("ask_user", asked)
        assert (again.content[0]["text"], again.structured["late"]) == ("User selected: A", True)
        person.wait_until_delivered(ask)
        assert "late_answers" not in program.call("question_summary").structured
        assert len(person.asks()) == 1

        ask_id = program.call("ask_user", {"question": "And waited for?"}).structured["ask_id"]
        ask = person.wait_until_delivered(person.desk.get(ask_id))
        key = program.call_start("get_answers", {"ask_id": ask_id, "wait": True})
        person.wait_for_change(ask, lambda now: now.wait is not None)
        person.answer(ask, "still here")
        assert "→ still here" in program.wait_result(key).text


@BOTH
@pytest.mark.parametrize("profile", ["all", "promptmanager"])
@pytest.mark.finding("F-06")
def test_a_late_answer_says_when_and_to_what_it_was_given(kind: ClientKind, place: Place, profile: str) -> None:
    place.settings |= {"ask_user_timeout": "300ms", "forms": "never"}
    with connected(kind, place, profile) as program, place.person() as person:
        asked = {"question": "Delete the old tables?", "options": [{"label": "Yes"}, {"label": "No"}]}
        ask = person.wait_until_delivered(person.desk.get(program.call("ask_user", asked).structured["ask_id"]))
        person.answer(ask, "Yes")
        again = program.call("ask_user", asked)
        assert again.structured["ask_id"] == ask.id
        told = again.structured["given_earlier"]
        # Copilot puts the texts of a result together with nothing between them: "User selected: YesThis was settled".
        assert again.content[-1]["text"] == f"\n{told}"
        assert re.search(r"settled .* ago \(at \d{4}-\d\d-\d\d \d\d:\d\d UTC\), before this call", told)
        assert "as it was asked at" in told


# get_answers


@pytest.mark.finding("F-89")
def test_get_answers_gives_all_that_is_owed_and_names_what_is_still_open(program: ClientProgram, ada: Person) -> None:
    asks = [left_open(program, ada, "ask_user", {"question": f"Owed {n}?", "nonBlocking": True})[1] for n in range(3)]
    ada.answer(asks[0], "zero")
    ada.reject(asks[1], "not that one")
    result = program.call("get_answers")
    refused, open_ = "The user rejected these questions. Reason: not that one", "Not answered yet, still open. Do not"
    for words in ("→ zero", refused, open_, asks[2].id):
        assert words in result.text
    # Claude Code and Codex show their models nothing else.
    for words in ("Owed 0?\nThe person you work for answered this", "Owed 1?\nAsked at", refused, open_, "Owed 2?"):
        assert words in result.structured["message"]
    assert "zero" not in result.structured["message"], "each answer is there once"
    assert [one["ask_id"] for one in result.structured["answers"]] == [asks[0].id, asks[1].id]
    assert [one["ask_id"] for one in result.structured["pending"]] == [asks[2].id]
    for ask in asks[:2]:
        ada.wait_until_delivered(ask)
    assert program.call("get_answers").structured["answers"] == []
    ada.answer(asks[2], "two")
    assert "→ two" in program.call("get_answers").text
    ada.wait_until_delivered(asks[2])
    assert program.call("get_answers").text == "You have no open questions and no answers waiting."


def test_an_answer_is_told_by_one_of_many_calls_for_it(program: ClientProgram, ada: Person) -> None:
    asks = [left_open(program, ada, "ask_user", {"question": f"Once {n}?", "nonBlocking": True})[1] for n in range(3)]
    for ask in asks:
        ada.answer(ask, "yes")
    keys = [program.call_start("get_answers") for _ in range(8)]
    told = [one["ask_id"] for key in keys for one in program.wait_result(key).structured["answers"]]
    assert sorted(told) == sorted(ask.id for ask in asks)


def test_get_answers_holds_on_until_one_is_answered(either_client: ClientProgram, inbox: Person) -> None:
    asked = [{"question": f"Held {n}?", "nonBlocking": True} for n in range(2)]
    asks = [left_open(either_client, inbox, "ask_user", one)[1] for one in asked]
    key = either_client.call_start("get_answers", {"wait": True})
    inbox.wait_for_change(asks[1], lambda now: now.wait is not None)
    inbox.answer(asks[1], "second")
    result = either_client.wait_result(key)
    assert [one["ask_id"] for one in result.structured["answers"]] == [asks[1].id]
    inbox.wait_until_unattended(asks[0])
    inbox.answer(asks[0], "first")
    assert "→ first" in either_client.call("get_answers", {"wait": True}).text


def test_get_answers_ends_before_the_clients_limit_and_is_heard_of_until_then(
    program: ClientProgram, ada: Person
) -> None:
    _, ask = left_open(program, ada, "ask_user", {"question": "Held in vain?", "nonBlocking": True})
    key = program.call_start("get_answers", {"ask_id": ask.id, "wait": True}, progress=True)
    result = program.wait_result(key)
    assert [one["ask_id"] for one in result.structured["pending"]] == [ask.id]
    assert len(program.progress_of(key)) >= 2
    assert ada.wait_until_unattended(ask).state is State.PENDING
    ada.reject(ask)


def test_a_cancelled_get_answers_lets_go_of_the_ask(either_client: ClientProgram, inbox: Person) -> None:
    _, ask = left_open(either_client, inbox, "ask_user", {"question": "Let go?", "nonBlocking": True})
    key = either_client.call_start("get_answers", {"ask_id": ask.id, "wait": True})
    held = inbox.wait_for_change(ask, lambda now: now.wait is not None)
    either_client.cancel(key)
    assert inbox.wait_until_unattended(held).state is State.PENDING
    inbox.answer(ask, "in vain?")
    assert "→ in vain?" in either_client.call("get_answers", {"ask_id": ask.id}).text


def test_get_answers_says_that_another_call_waits_for_it_and_leaves_the_answer_to_that_call(
    either_client: ClientProgram, inbox: Person
) -> None:
    # Such as a call that Claude Code has moved to the background. An agent that is told it has no open question asks
    # again, and the person has the same question twice.
    key = either_client.call_start("ask_user", {"question": "Whose?"})
    ask = inbox.wait_for_ask("Whose?")
    for arguments in ({}, {"wait": True}, {"ask_id": ask.id}, {"ask_id": ask.id, "wait": True}):
        told = either_client.call("get_answers", arguments)
        assert told.text == told.structured["message"]
        assert told.text.startswith(
            "Not answered yet, and another call waits for it. The answer comes as the result of"
        )
        assert told.text.endswith(f"do not ask again:\n[{ask.id}] Whose?")
        assert [one["ask_id"] for one in told.structured["pending"]] == [ask.id]
    inbox.answer(ask, "mine")
    assert either_client.wait_result(key).text == "User answered: mine"


def test_get_answers_by_id_gives_a_delivered_answer_again_but_not_what_was_wiped(place: Place) -> None:
    for history, told in (("true", "→ kept"), ("false", "Its texts were wiped then")):
        with connected(LEGACY, place, name=history, history=history) as program, place.person() as person:
            left = program.call("ask_user", {"question": f"History {history}?", "nonBlocking": True})
            ask = person.desk.get(left.structured["ask_id"])
            person.answer(ask, "kept")
            assert "→ kept" in program.call("get_answers", {"ask_id": ask.id}).text
            person.wait_until_delivered(ask)
            assert told in program.call("get_answers", {"ask_id": ask.id}).text


@BOTH
def test_get_answers_never_tells_of_a_permission(kind: ClientKind, place: Place) -> None:
    with connected(kind, place) as program, place.person() as person:
        left = program.call("ask_user", {"question": "Mine?", "nonBlocking": True})
        asker = person.desk.get(left.structured["ask_id"]).asker
        new = NewAsk(tool="approve", questions=(QUESTION,), asker=replace(asker, session="gone"))
        held, waits = person.desk.hold(asking(new, PUSH)), person.desk.hold(asking(new, PUSH))
        PermissionDesk(person.desk).allow(held.ask.id, PUSH.digest, person.settler)
        person.desk.release(held, "its call is over")
        for ask in (held.ask, waits.ask):
            told = program.call("get_answers", {"ask_id": ask.id, "wait": True})
            assert told.is_error
            assert "told only to the call that asked for it" in told.text
        assert [one.event.kind for one in person.log.find(held.ask.id).entries] == [
            "asked",
            "allowed",
            "not_handed_over",
        ]


WRONG = [
    ({"ask_id": "3f2a"}, 'ask_id: expected the whole id from a pending result, got the text "3f2a".'),
    ({"ask_id": 7}, "ask_id: expected a text, got the number 7."),
    ({"wait": "yes"}, 'wait: expected true or false, got the text "yes".'),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_get_answers_says_what_is_wrong_with_a_call(program: ClientProgram, arguments: Json, told: str) -> None:
    result = program.call("get_answers", arguments)
    assert (result.is_error, result.text, result.structured["message"]) == (True, told, told)


def test_get_answers_knows_nothing_of_another_projects_asks(place: Place) -> None:
    with place.pipe(program="sayso") as pipe:
        pipe.connect(MODERN)
        asked = pipe.request("tools/call", name="ask_user", arguments={"question": "Mine?", "nonBlocking": True})
    ask_id = asked["structuredContent"]["ask_id"]
    place.project = place.folder / "elsewhere"
    place.project.mkdir()
    with place.pipe(program="sayso") as pipe:
        pipe.connect(MODERN)
        for unknown, told in ((ask_id, "No ask of this project has the id"), ("0" * 32, "No ask has the id")):
            result = pipe.request("tools/call", name="get_answers", arguments={"ask_id": unknown})
            assert result["isError"] is True
            assert told in result["content"][0]["text"]
        mine = pipe.request("tools/call", name="get_answers", arguments={})
        assert mine["structuredContent"]["pending"] == []


# A client that is not there any more


@pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])
def test_a_silent_client_is_let_go_of_at_its_limit(kind: ClientKind, place: Place) -> None:
    place.settings |= {"call_limits": "silent=1s", "forms": "never"}
    with connected(kind, place, name="silent") as program, place.person() as person:
        program.call_start("ask_user", {"question": "Silence?"})
        ask = person.wait_for_ask("Silence?")
        program.go_silent()
        assert person.wait_until_unattended(ask).state is State.PENDING
        program.wake()
