"""How long asks are kept: open ones as long as anybody waits, ended ones for a while, undelivered answers longer."""

from __future__ import annotations

from tests.asks.samples import ANNA, DAY, HOUR, KEEP, RED, FakeClock, ask
from tests.conftest import OpenStore

from sayso.asks.desk import AskDesk, CleanedUp
from sayso.asks.model import State
from sayso.store import Store

NOTHING = CleanedUp(expired=0, deleted=0)


def test_an_ask_that_is_waited_for_is_kept_for_ever(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask())
    clock.forward(10_000 * DAY)
    assert desk.clean_up(KEEP) == NOTHING
    assert desk.get(held.ask.id).state is State.PENDING


def test_an_unattended_ask_expires_after_its_time_and_not_before(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask())
    clock.forward(100 * DAY)
    desk.release(held, "gone")
    clock.forward(7 * DAY)
    assert desk.clean_up(KEEP) == NOTHING
    clock.forward(1)
    assert desk.clean_up(KEEP) == CleanedUp(expired=1, deleted=0)
    expired = desk.get(held.ask.id)
    assert (expired.state, expired.ended_at) == (State.EXPIRED, clock.now)
    assert desk.events(held.ask.id)[-1].kind == "expired"


def test_whoever_comes_back_for_an_ask_starts_its_time_anew(desk: AskDesk, clock: FakeClock) -> None:
    desk.leave(ask())
    clock.forward(6 * DAY)
    held = desk.hold(ask())
    assert held.reattached
    desk.release(held, "gone")
    clock.forward(6 * DAY)
    assert desk.clean_up(KEEP) == NOTHING


def test_a_refused_attempt_does_not_start_its_time_anew(desk: AskDesk, clock: FakeClock) -> None:
    left = desk.leave(ask())
    clock.forward(6 * DAY)
    desk.note_refusal(left.id, ANNA, "an agent tried")
    clock.forward(2 * DAY)
    assert desk.clean_up(KEEP).expired == 1


def test_an_ask_whose_process_died_begins_to_be_unattended_when_that_is_noticed(
    open_shared: OpenStore, clock: FakeClock
) -> None:
    dying, desk = open_shared(), AskDesk(open_shared(), clock=clock)
    held = AskDesk(dying, clock=clock).hold(ask())
    dying.close()
    clock.forward(100 * DAY)
    assert desk.clean_up(KEEP) == NOTHING
    assert desk.get(held.ask.id).wait is None
    clock.forward(8 * DAY)
    assert desk.clean_up(KEEP).expired == 1


def test_an_ended_ask_is_deleted_with_its_events_and_drafts(desk: AskDesk, store: Store, clock: FakeClock) -> None:
    held = desk.hold(ask())
    desk.keep_draft(held.ask.id, "anna", "half a sentence")
    desk.answer(held.ask.id, RED, ANNA)
    desk.delivered(held)
    clock.forward(7 * DAY)
    assert desk.clean_up(KEEP) == NOTHING
    clock.forward(1)
    assert desk.clean_up(KEEP) == CleanedUp(expired=0, deleted=1)
    assert desk.history() == []
    assert desk.events(held.ask.id) == []
    assert store.read(lambda tx: tx.one("draft", ask_id=held.ask.id, person="anna")) is None


def test_an_answer_that_was_not_fetched_is_kept_longer(desk: AskDesk, clock: FakeClock) -> None:
    left = desk.leave(ask())
    desk.answer(left.id, RED, ANNA)
    clock.forward(30 * DAY)
    assert desk.clean_up(KEEP) == NOTHING
    held = desk.hold(ask())
    assert held.ask.answer("1") == RED[0]
    clock.forward(HOUR)
    assert desk.clean_up(KEEP) == NOTHING, "a call is about to hand it over"
    desk.release(held, "gone")
    assert desk.clean_up(KEEP).deleted == 1


def test_a_timed_out_ask_is_deleted_as_an_ended_one(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask(timeout_ms=10))
    desk.time_out(held)
    desk.delivered(held)
    clock.forward(8 * DAY)
    assert desk.clean_up(KEEP).deleted == 1


def test_more_than_one_batch_is_cleaned_up_and_the_rest_is_untouched(desk: AskDesk, clock: FakeClock) -> None:
    ended = [desk.leave(ask(f"Ended {number}?")) for number in range(130)]
    for one in ended:
        desk.answer(one.id, RED, ANNA)
    for number in range(110):
        desk.leave(ask(f"Left {number}?"))
    clock.forward(31 * DAY)
    young = desk.leave(ask("Young?"))
    assert desk.clean_up(KEEP) == CleanedUp(expired=110, deleted=130)
    assert [one.id for one in desk.inbox()] == [young.id]
    assert desk.clean_up(KEEP) == NOTHING


def test_cleaning_up_where_there_is_nothing_to_do_rings_no_bell(open_shared: OpenStore) -> None:
    listening, cleaning = open_shared(), AskDesk(open_shared())
    held = AskDesk(listening).hold(ask())
    assert listening.bell().wait(25)
    while listening.bell().wait(0.1):
        """Take in all rings of the opening."""
    assert cleaning.clean_up(KEEP) == NOTHING
    assert not listening.bell().wait(0.1)
    cleaning.answer(held.ask.id, RED, ANNA)
    assert listening.bell().wait(10)


def test_an_answer_given_while_the_clock_was_set_back_is_as_old_as_its_question(
    open_shared: OpenStore, clock: FakeClock
) -> None:
    desk, behind = AskDesk(open_shared(), clock=clock), AskDesk(open_shared(), clock=lambda: clock.now - 365 * DAY)
    left, unanswered = desk.leave(ask()), desk.hold(ask("Other?"))
    behind.answer(left.id, RED, ANNA)
    behind.release(unanswered, "gone")
    assert desk.clean_up(KEEP) == NOTHING
    clock.forward(31 * DAY)
    assert desk.clean_up(KEEP) == CleanedUp(expired=1, deleted=1)
