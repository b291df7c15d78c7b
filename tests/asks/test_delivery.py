"""How waits end and answers reach the agent that asked: once, whole, and only when they were really written."""

from __future__ import annotations

import pytest
from tests.asks.samples import AGENT, ANNA, BEN, RED, FakeClock, ask, own_text
from tests.conftest import OpenStore

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, State
from sayso.records import replace
from sayso.store import Store


def test_a_released_ask_stays_open_and_unattended(desk: AskDesk) -> None:
    held = desk.hold(ask())
    released = desk.release(held, "the client let go")
    assert (released.state, released.wait) == (State.PENDING, None)
    assert desk.inbox() == [released]


def test_only_its_own_holder_can_release_a_wait(desk: AskDesk) -> None:
    old = desk.hold(ask())
    desk.release(old, "gone")
    new = desk.hold(ask())
    desk.release(old, "gone again")
    assert desk.get(new.ask.id).wait == new.wait
    assert len(desk.events(new.ask.id)) == 3


def test_a_timeout_ends_the_wait_and_leaves_the_ask_answerable(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask(timeout_ms=1000))
    clock.forward(1000)
    timed_out = desk.time_out(held)
    assert (timed_out.state, timed_out.ended_at, timed_out.delivered) == (State.TIMED_OUT, clock.now, False)
    assert [one.id for one in desk.inbox()] == [held.ask.id]
    assert desk.delivered(held).delivered_at == clock.now


def test_an_answer_in_the_moment_of_the_timeout_wins(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=1000))
    desk.answer(held.ask.id, RED, ANNA)
    assert desk.time_out(held).state is State.ANSWERED
    assert desk.delivered(held).outcome == desk.get(held.ask.id).outcome


def test_an_answer_between_the_timeout_and_its_delivery_is_not_taken_for_delivered(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=1000))
    desk.time_out(held)
    desk.answer(held.ask.id, RED, ANNA)
    assert not desk.delivered(held).delivered
    again = desk.hold(ask(timeout_ms=1000))
    assert again.reattached
    assert again.ask.answer("1") == RED[0]
    assert again.ask.outcome is not None
    assert again.ask.outcome.late


def test_nor_is_it_where_the_wait_was_put_back_meanwhile(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=1000))
    desk.release(held, "its process ended")
    told = replace(held, ask=desk.time_out(held))
    desk.answer(held.ask.id, RED, ANNA)
    assert desk.hold_again(held).wait == held.wait
    ended = desk.delivered(told)
    assert (ended.wait, ended.delivered) == (None, False)
    assert desk.hold(ask(timeout_ms=1000)).ask.answer("1") == RED[0]


def test_a_wait_that_was_taken_over_times_out_for_its_own_call_alone(desk: AskDesk) -> None:
    old = desk.hold(ask(timeout_ms=1000))
    desk.release(old, "its process ended")
    new = desk.hold(ask(timeout_ms=1000))
    assert desk.time_out(old).state is State.TIMED_OUT
    assert desk.get(new.ask.id).state is State.PENDING
    assert desk.get(new.ask.id).wait == new.wait


def test_a_wait_that_others_ended_still_times_out(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=1000))
    desk.release(held, "its process ended")
    assert desk.time_out(held).state is State.TIMED_OUT
    assert desk.get(held.ask.id).state is State.TIMED_OUT


def test_a_pending_ask_cannot_be_delivered(desk: AskDesk) -> None:
    held = desk.hold(ask())
    assert not desk.delivered(held).delivered
    assert desk.get(held.ask.id) == held.ask


def test_only_the_holder_can_deliver(desk: AskDesk) -> None:
    old = desk.hold(ask())
    desk.release(old, "gone")
    new = desk.hold(ask())
    desk.answer(new.ask.id, RED, ANNA)
    assert not desk.delivered(old).delivered
    assert desk.delivered(new).delivered


def test_delivering_twice_is_delivering_once(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask())
    desk.answer(held.ask.id, RED, ANNA)
    first = desk.delivered(held)
    clock.forward(1000)
    assert desk.delivered(held) == first
    assert [event.kind for event in desk.events(held.ask.id)] == ["opened", "answered", "delivered"]


def test_that_an_outcome_was_handed_over_is_no_news_to_any_wait(
    open_sqlite: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[frozenset[str] | None] = []
    store = open_sqlite()
    monkeypatch.setattr(store, "_ring", lambda transaction: rung.append(transaction.named))
    desk = AskDesk(store)
    held = desk.hold(ask())
    desk.answer(held.ask.id, RED, ANNA)
    desk.delivered(held)
    assert rung == [frozenset(), {held.wait.process}, frozenset()]


def test_the_waits_of_a_process_that_have_ended_are_found_until_they_are_delivered(desk: AskDesk) -> None:
    first, second = desk.hold(ask("One?")), desk.hold(ask("Two?"))
    assert desk.ended_waits() == []
    desk.answer(second.ask.id, RED, ANNA)
    assert [ended.id for ended in desk.ended_waits()] == [second.ask.id]
    assert desk.ended_waits(known={second.wait.id}) == []
    assert set(desk.held_here()) == {first.wait.id, second.wait.id}
    desk.delivered(second)
    assert desk.ended_waits() == []
    assert set(desk.held_here()) == {first.wait.id}


def test_a_wait_that_others_ended_can_be_put_back(open_shared: OpenStore) -> None:
    desk, other = AskDesk(open_shared()), AskDesk(open_shared())
    held = desk.hold(ask())
    other.release(held, "its process ended")
    assert desk.hold_again(held).wait == held.wait
    other.answer(held.ask.id, RED, BEN)
    assert desk.delivered(held).delivered


def test_a_wait_is_not_put_back_where_another_call_waits_or_has_the_answer(desk: AskDesk) -> None:
    old = desk.hold(ask())
    desk.release(old, "its process ended")
    new = desk.hold(ask())
    assert desk.hold_again(old).wait == new.wait
    desk.answer(new.ask.id, RED, ANNA)
    desk.delivered(new)
    assert desk.hold_again(old).wait is None


def test_a_wait_that_ran_out_of_time_is_not_put_back_and_its_ask_is_taken_up_again(
    open_shared: OpenStore, clock: FakeClock
) -> None:
    desk, other = AskDesk(open_shared(), clock=clock), AskDesk(open_shared(), clock=clock)
    held = desk.hold(ask(timeout_ms=1000))
    other.release(held, "its process ended")
    clock.forward(1000)
    desk.time_out(held)
    assert (desk.hold_again(held).state, desk.get(held.ask.id).wait) == (State.TIMED_OUT, None)
    again = desk.hold(ask(timeout_ms=1000))
    assert (again.ask.id, again.reattached) == (held.ask.id, True)


def test_an_agent_is_owed_what_it_asked_and_has_not_received(desk: AskDesk, clock: FakeClock) -> None:
    def later(text: str) -> Ask:
        clock.forward(1)
        return desk.leave(ask(text))

    answered, pending, rejected = later("Answered?"), later("Pending?"), later("Rejected?")
    desk.answer(answered.id, RED, ANNA)
    desk.reject(rejected.id, "no", ANNA)
    held = desk.hold(ask("Delivered?"))
    desk.answer(held.ask.id, RED, ANNA)
    desk.delivered(held)
    assert [owed.id for owed in desk.undelivered(AGENT)] == [answered.id, pending.id, rejected.id]
    assert [owed.id for owed in desk.undelivered(AGENT, most=1)] == [answered.id]
    assert [owed.id for owed in desk.owed(AGENT).late] == [answered.id, rejected.id]


def test_what_is_late_is_found_among_any_number_of_open_asks(desk: AskDesk, clock: FakeClock) -> None:
    assert not desk.owed(AGENT).anything
    for number in range(3):
        desk.leave(ask(f"Open {number}?"))
    assert desk.owed(AGENT).late == ()
    assert desk.owed(AGENT).anything
    clock.forward(1)
    last = desk.leave(ask("Last?"))
    desk.answer(last.id, RED, ANNA)
    assert [owed.id for owed in desk.owed(AGENT, most=1).late] == [last.id]


@pytest.mark.parametrize(
    "other",
    [
        replace(AGENT, client="another"),
        replace(AGENT, project="/elsewhere"),
        replace(AGENT, host="another"),
        replace(AGENT, agent="another"),
    ],
)
def test_an_agent_is_not_owed_what_another_asked(desk: AskDesk, other: Asker) -> None:
    desk.leave(ask())
    assert desk.undelivered(other) == []


def test_without_history_the_texts_are_wiped_with_the_delivery(store: Store, clock: FakeClock) -> None:
    desk = AskDesk(store, clock=clock, keeps_history=lambda _: False)
    held = desk.hold(ask("A secret question?", title="A secret title"))
    desk.keep_draft(held.ask.id, "anna", "a secret draft")
    desk.answer(held.ask.id, own_text("a secret answer"), ANNA)
    assert desk.get(held.ask.id).answer("1") == own_text("a secret answer")[0]
    desk.delivered(held)
    wiped = desk.get(held.ask.id)
    assert (wiped.state, wiped.title, wiped.questions) == (State.ANSWERED, "", ())
    assert wiped.outcome is not None
    assert (wiped.outcome.answers, wiped.outcome.person) == ((), "anna")
    assert desk.draft(held.ask.id, "anna") == ""
    assert desk.history(search="secret") == []
    rows = store.read(lambda tx: tx.all("ask_by_id", id=held.ask.id) + tx.all("events_of", ask_id=held.ask.id))
    assert "secret" not in repr(rows)


def test_without_history_a_rejected_asks_reason_is_wiped_too(store: Store) -> None:
    desk = AskDesk(store, keeps_history=lambda _: False)
    held = desk.hold(ask())
    desk.reject(held.ask.id, "a secret reason", ANNA)
    desk.delivered(held)
    assert "secret" not in repr(store.read(lambda tx: tx.one("ask_by_id", id=held.ask.id)))


def test_without_history_a_timed_out_ask_keeps_its_texts_for_a_late_answer(store: Store) -> None:
    desk = AskDesk(store, keeps_history=lambda _: False)
    held = desk.hold(ask(timeout_ms=10))
    desk.time_out(held)
    desk.delivered(held)
    assert desk.get(held.ask.id).questions == held.ask.questions
