"""Whose an answer is: the session's that asked while that lives; it passes to another only when that is gone."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.asks.samples import AGENT, ANNA, RED, FakeClock, ask
from tests.conftest import OpenStore, die

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Asker, State
from sayso.processes import name_of
from sayso.records import replace
from sayso.store.sqlite import SqliteStore

NAMED = replace(AGENT, session="one", pid=0)
OTHER = replace(NAMED, session="another")
NAMELESS = replace(NAMED, session="")
OVER_HTTP = replace(NAMELESS, agent="a-token")

pytestmark = pytest.mark.finding("F-84")


def answered_late(desk: AskDesk, asker: Asker) -> Held:
    """An ask whose call ended before a person answered it."""
    held = desk.hold(ask(asker=asker))
    desk.release(held, "its call ended")
    desk.answer(held.ask.id, RED, ANNA)
    return held


def is_offered(desk: AskDesk, held: Held, asker: Asker) -> bool:
    """Whether a session is told of an answer, by every way there is; each way must say the same."""
    ways = [
        [one.id for one in desk.undelivered(asker)],
        [one.id for one in desk.owed(asker).late],
        [one.ask.id for one in (desk.hold(ask(asker=asker)),) if one.reattached],
    ]
    found = [held.ask.id in way for way in ways]
    assert len(set(found)) == 1, found
    return found[0]


few = st.sampled_from(["", "a", "b"])
askers = st.builds(Asker, agent=few, client=few, project=few, host=few, session=few, run=few)


@given(first=askers, second=askers)
@settings(max_examples=200, deadline=None)
def test_queries_and_code_know_the_same_agent(first: Asker, second: Asker) -> None:
    store = SqliteStore.in_memory()
    try:
        answered_late(AskDesk(store), first)
        same = first.is_same_agent(second)
        queries = ("undelivered", "late_answers", "anything_owed")
        found = store.read(lambda tx: [tx.all(query, most=9, **second.identity) for query in queries])
        assert [bool(rows) for rows in found] == [same] * len(queries)
        assert (ask(asker=first).fingerprint == ask(asker=second).fingerprint) == same
        assert second.may_fetch_from(first) or not same
    finally:
        store.close()


@pytest.mark.parametrize(("first", "second"), [(NAMED, OTHER), (NAMED, NAMELESS), (NAMELESS, NAMELESS)])
def test_two_living_sessions_never_share_an_answer(open_shared: OpenStore, first: Asker, second: Asker) -> None:
    theirs, ours = AskDesk(open_shared()), AskDesk(open_shared())
    held = answered_late(theirs, first)
    assert not is_offered(ours, held, second)
    assert ours.hold(ask(asker=second)).ask.state is State.PENDING, "its own question is put to a person"
    assert is_offered(theirs, held, first)


def test_an_ask_that_is_only_left_is_its_sessions_too(open_shared: OpenStore) -> None:
    theirs, ours = AskDesk(open_shared()), AskDesk(open_shared())
    left = theirs.leave(ask(asker=NAMELESS))
    assert ours.leave(ask(asker=NAMELESS)).id != left.id
    assert theirs.leave(ask(asker=NAMELESS)).id == left.id


@pytest.mark.parametrize(("first", "second"), [(NAMED, OTHER), (NAMELESS, NAMELESS), (OVER_HTTP, OVER_HTTP)])
def test_an_answer_passes_to_another_session_once_its_own_is_gone(
    open_shared: OpenStore, first: Asker, second: Asker
) -> None:
    dying, living = open_shared(), open_shared()
    held = answered_late(AskDesk(dying), first)
    die(dying, living)
    assert is_offered(AskDesk(living), held, second)


def test_an_answer_stays_with_a_session_that_was_taken_up_again_and_has_yet_to_call(open_shared: OpenStore) -> None:
    dying, living = open_shared(), open_shared()
    held = answered_late(AskDesk(dying), NAMED)
    die(dying, living)
    back = {("one", "another")}
    desk = AskDesk(living, is_back=lambda theirs, ours: (theirs.session, ours.session) in back)
    assert not is_offered(desk, held, OTHER)
    assert desk.is_for_another(held.ask, OTHER)
    back.clear()
    assert is_offered(desk, held, OTHER), "it is gone by now"


@pytest.mark.parametrize(
    ("hours", "session", "takes_it"), [(23, "another", True), (25, "another", False), (999, "one", True)]
)
def test_what_was_said_to_a_session_that_is_gone_answers_another_in_the_same_words_for_a_day(
    open_shared: OpenStore, hours: int, session: str, takes_it: bool
) -> None:
    clock, dying, living = FakeClock(), open_shared(), open_shared()
    held = answered_late(AskDesk(dying, clock=clock), NAMED)
    die(dying, living)
    clock.forward(hours * 3_600_000)
    desk, asker = AskDesk(living, clock=clock), replace(NAMED, session=session)
    again = desk.hold(ask(asker=asker))
    assert (again.ask.id == held.ask.id, again.of_another) == (takes_it, takes_it and session != "one")
    if not takes_it:
        assert again.ask.state is State.PENDING
        assert [one.id for one in desk.owed(asker).late] == [held.ask.id], "told of as another's all the same"


def test_a_resumed_session_gets_its_answer_while_another_server_of_it_lives(open_shared: OpenStore) -> None:
    theirs, ours = AskDesk(open_shared()), AskDesk(open_shared())
    assert is_offered(ours, answered_late(theirs, NAMED), NAMED)


@pytest.mark.parametrize("name", ["s-1", '100%_! "quoted" \\ {braced}', "séance"])
def test_a_resumed_session_takes_its_questions_along_and_nobody_elses(open_shared: OpenStore, name: str) -> None:
    dying, living = open_shared(), open_shared()
    resumed = replace(NAMED, session=name)
    own, other = (AskDesk(dying).hold(ask(asker=asker)).ask for asker in (resumed, OTHER))
    die(dying, living)
    desk = AskDesk(living)
    desk.resume(resumed)
    assert desk.get(own.id).server == living.bell().process
    assert desk.get(other.id) == other


def test_what_a_session_took_up_is_its_own_from_then_on(open_shared: OpenStore) -> None:
    dying, living = open_shared(), open_shared()
    held = AskDesk(dying).hold(ask(asker=NAMED))
    die(dying, living)
    again = AskDesk(living).hold(ask(asker=OTHER))
    assert again.ask.id == held.ask.id
    AskDesk(living).release(again, "its call ended")
    AskDesk(living).answer(held.ask.id, RED, ANNA)
    assert not is_offered(AskDesk(open_shared()), held, replace(NAMED, session="a third"))


@pytest.mark.parametrize(
    ("first", "second", "told_apart"),
    [
        (NAMED, OTHER, True),
        (NAMED, NAMED, False),
        (replace(NAMELESS, pid=7), replace(NAMELESS, pid=8), True),
        # The server of one client was restarted.
        (replace(NAMELESS, pid=7), replace(NAMELESS, pid=7), False),
        (OVER_HTTP, OVER_HTTP, False),
    ],
)
def test_what_another_session_asked_is_told_apart_where_that_can_be_known(
    open_shared: OpenStore, first: Asker, second: Asker, told_apart: bool
) -> None:
    dying, living = open_shared(), open_shared()
    held = answered_late(AskDesk(dying), first)
    die(dying, living)
    owed = AskDesk(living).owed(second)
    assert [one.id for one in owed.late] == [held.ask.id]
    assert owed.of_others == AskDesk(living).of_other_sessions(owed.late, second)
    assert bool(owed.of_others) == told_apart


def test_a_client_that_lives_keeps_its_answer_though_its_server_died(open_shared: OpenStore) -> None:
    dying, living = open_shared(), open_shared()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as client:
        process = name_of(client.pid)
        assert process is not None
        at_work = replace(NAMED, host=os.uname().nodename, pid=process.pid, started=process.started)
        held = answered_late(AskDesk(dying), at_work)
        die(dying, living)
        assert not is_offered(AskDesk(living), held, replace(OTHER, host=at_work.host))
        client.kill()
        # Nobody asks how it ended, as in a container whose first process does not.
        os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOWAIT)
        assert is_offered(AskDesk(living), held, replace(OTHER, host=at_work.host))


def test_two_runs_never_share_an_answer(open_shared: OpenStore) -> None:
    desk = AskDesk(open_shared())
    held = answered_late(desk, replace(NAMELESS, run="one"))
    assert not is_offered(desk, held, replace(NAMELESS, run="two"))
    assert is_offered(desk, held, replace(NAMELESS, run="one"))


def test_where_one_process_serves_many_those_without_a_name_are_not_taken_for_one(open_shared: OpenStore) -> None:
    desk = AskDesk(open_shared())
    held = answered_late(desk, OVER_HTTP)
    assert not is_offered(desk, held, OVER_HTTP)
    assert desk.attach(held.ask.id) is not None, "who knows its id may fetch it"


def test_a_session_that_its_server_knows_to_be_over_is_gone(open_shared: OpenStore) -> None:
    named = replace(OVER_HTTP, session="one")
    living = {"one", "two"}
    desk = AskDesk(open_shared(), lives=lambda asker: asker.session in living)
    held = answered_late(desk, named)
    assert not is_offered(desk, held, replace(named, session="two"))
    living.remove("one")
    assert is_offered(desk, held, replace(named, session="two"))


def test_who_leaves_a_question_that_another_left_is_the_one_whose_answer_it_is(open_shared: OpenStore) -> None:
    dying, ours, others = open_shared(), open_shared(), open_shared()
    left = AskDesk(dying).leave(ask(asker=NAMED))
    die(dying, ours)
    assert AskDesk(ours).leave(ask(asker=OTHER)).id == left.id
    assert AskDesk(others).leave(ask(asker=replace(NAMED, session="a third"))).id != left.id
