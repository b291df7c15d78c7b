"""Asks of a run: the newest takes the place of the others, and those bound to a call end with it."""

from __future__ import annotations

import pytest
from tests.asks.samples import AGENT, ANNA, BLUE, RED, FakeClock, ask
from tests.conftest import OpenStore

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, NewAsk, State
from sayso.errors import AlreadySettled
from sayso.records import replace
from sayso.store import Store

RUN = replace(AGENT, run="run-1", owner="anna")


def of_run(text: str, asker: Asker = RUN, timeout_ms: int | None = None) -> NewAsk:
    return ask(text, asker=asker, timeout_ms=timeout_ms)


def bound(text: str = "May I?", timeout_ms: int | None = None) -> NewAsk:
    return replace(ask(text, timeout_ms=timeout_ms), bound=True)


def test_the_newest_question_of_a_run_supersedes_all_that_are_open(desk: AskDesk) -> None:
    timed_out = desk.succeed(of_run("First?", timeout_ms=1000))
    desk.time_out(timed_out)
    pending = desk.succeed(of_run("Second?"))
    assert desk.get(timed_out.ask.id).state is State.SUPERSEDED
    other_run = desk.succeed(of_run("Second?", replace(RUN, run="run-2", host="elsewhere")))
    other_tool = desk.hold(replace(of_run("By another tool?"), tool="approve"))
    newest = desk.succeed(of_run("Third?"))
    assert desk.get(pending.ask.id).state is State.SUPERSEDED
    assert {gone.id for gone in desk.ended_waits()} == {timed_out.ask.id, pending.ask.id}
    assert {open_ask.id for open_ask in desk.inbox()} == {newest.ask.id, other_run.ask.id, other_tool.ask.id}
    with pytest.raises(AlreadySettled, match="it is superseded"):
        desk.answer(pending.ask.id, RED, ANNA)
    found = desk.newest_of_run("run-1", newest.ask.tool)
    assert found is not None
    assert found.id == newest.ask.id
    assert desk.newest_of_run("run-3", newest.ask.tool) is None


def test_what_a_run_asks_again_is_taken_up_again_also_by_the_next_run(desk: AskDesk) -> None:
    first = desk.succeed(of_run("Which?", timeout_ms=1000))
    desk.time_out(first)
    desk.delivered(first)
    desk.answer(first.ask.id, BLUE, ANNA)
    again = desk.succeed(of_run("Which?", replace(RUN, run="run-2")))
    assert (again.ask.id, again.reattached, again.ask.state) == (first.ask.id, True, State.ANSWERED)
    assert again.ask.asker.run == "run-2"
    found = desk.newest_of_run("run-2", again.ask.tool)
    assert found is not None
    # Somebody else's agent, in the same folder on the same machine, asks somebody else.
    theirs = desk.hold(of_run("Which?", replace(RUN, owner="ben")))
    assert theirs.ask.id != first.ask.id


def test_a_question_that_has_lived_its_time_expires_and_an_answer_that_nobody_fetched_goes_to_nobody(
    desk: AskDesk, clock: FakeClock
) -> None:
    opened = desk.succeed(of_run("Which?"))
    over = desk.lapse(opened.ask.id)
    assert (over.state, over.questions, over.wait) == (State.EXPIRED, opened.ask.questions, None)
    clock.forward(1)
    answered = desk.succeed(of_run("And?"))
    desk.answer(answered.ask.id, RED, ANNA)
    assert [left.id for left in desk.undelivered_by(answered.ask.tool)] == [opened.ask.id, answered.ask.id]
    kept = desk.lapse(answered.ask.id)
    assert (kept.state, kept.questions, kept.lapsed) == (State.ANSWERED, answered.ask.questions, True)
    assert kept.outcome is not None
    assert kept.outcome.answers == tuple(RED)
    assert desk.undelivered_by(answered.ask.tool) == [over]
    again = desk.succeed(of_run("And?"))
    assert (again.reattached, again.ask.state) == (False, State.PENDING)


def test_where_no_history_is_kept_an_answer_that_nobody_fetched_is_wiped(store: Store, clock: FakeClock) -> None:
    desk = AskDesk(store, clock=clock, keeps_history=lambda _: False)
    asked = desk.succeed(of_run("And?"))
    desk.answer(asked.ask.id, RED, ANNA)
    over = desk.lapse(asked.ask.id)
    assert (over.questions, over.lapsed, over.outcome and over.outcome.answers) == ((), True, ())


def test_an_ask_that_is_bound_to_its_call_ends_with_it(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(bound())
    assert desk.hold(bound()).ask.id != held.ask.id
    let_go = desk.release(held, "the client let go")
    assert (let_go.state, let_go.wait) == (State.EXPIRED, None)
    with pytest.raises(AlreadySettled):
        desk.answer(held.ask.id, RED, ANNA)
    ran_out = desk.hold(bound(timeout_ms=1000))
    clock.forward(1001)
    assert desk.time_out(ran_out).state is State.EXPIRED
    answered = desk.hold(bound())
    desk.answer(answered.ask.id, RED, ANNA)
    desk.release(answered, "the result could not be written")
    assert desk.get(answered.ask.id).state is State.ANSWERED
    # A yes that did not arrive is of no use to any other call.
    assert desk.undelivered(AGENT) == []
    assert not desk.hold(bound()).reattached


def test_an_ask_that_is_bound_ends_with_the_process_of_its_call(open_sqlite: OpenStore) -> None:
    dying, looking = open_sqlite(), AskDesk(open_sqlite())
    held = AskDesk(dying).hold(bound())
    dying.close()
    assert looking.release_the_dead() == 1
    assert looking.get(held.ask.id).state is State.EXPIRED


def test_what_a_run_puts_twice_because_it_heard_nothing_is_asked_once(open_shared: OpenStore) -> None:
    here, there = AskDesk(open_shared()), AskDesk(open_shared())
    first = here.succeed(of_run("Which?"))
    again = here.succeed(of_run("Which?"))
    assert (again.ask.id, again.reattached) == (first.ask.id, True), "though its first wait still holds it"
    there.answer(first.ask.id, BLUE, ANNA)
    late = there.succeed(of_run("Which?", replace(RUN, session="noted meanwhile")))
    assert (late.ask.id, late.ask.state) == (first.ask.id, State.ANSWERED)
    assert late.wait.process != first.wait.process
    # What was told already is another question when it is asked anew, also before the store knows that it was told.
    anew = there.succeed(of_run("Which?"), {first.ask.id})
    assert (anew.ask.id != first.ask.id, anew.ask.state) == (True, State.PENDING)
    # Another run may not have it while somebody waits for it.
    theirs = here.succeed(of_run("Which?", replace(RUN, run="run-2")))
    assert theirs.ask.id not in (first.ask.id, anew.ask.id)
    assert there.get(anew.ask.id).state is State.PENDING
