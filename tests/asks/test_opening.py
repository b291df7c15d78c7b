"""How asks are opened, and when a call takes up an ask that is already there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.asks.samples import AGENT, ANNA, BEN, BLUE, COLOUR, DAY, KEEP, RED, FakeClock, ask
from tests.conftest import OpenStore, die

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, NewAsk, Question, Settler, State
from sayso.errors import NotFound
from sayso.records import replace
from sayso.store import Store


def test_a_held_ask_is_pending_and_knows_who_asks_and_who_waits(desk: AskDesk, store: Store, clock: FakeClock) -> None:
    held = desk.hold(ask(title="Paint", timeout_ms=5000))
    found = desk.get(held.ask.id)
    assert found == held.ask
    assert not held.reattached
    assert (found.state, found.title, found.questions, found.asker) == (State.PENDING, "Paint", (COLOUR,), AGENT)
    assert found.created_at == found.changed_at == clock.now
    assert found.wait == held.wait
    assert (held.wait.process, held.wait.since, held.wait.until) == (
        store.bell().process,
        clock.now,
        clock.now + 5000,
    )


def test_an_ask_that_is_left_has_no_wait(desk: AskDesk) -> None:
    left = desk.leave(ask())
    assert left.wait is None
    assert desk.inbox() == [left]


def test_two_identical_live_calls_are_two_asks(desk: AskDesk) -> None:
    first, second = desk.hold(ask()), desk.hold(ask())
    assert first.ask.id != second.ask.id
    assert first.ask.call_id != second.ask.call_id
    desk.answer(first.ask.id, RED, ANNA)
    desk.answer(second.ask.id, BLUE, ANNA)
    assert [desk.get(held.ask.id).answer("1") for held in (first, second)] == [RED[0], BLUE[0]]


def test_an_identical_call_of_another_living_process_is_another_ask(open_shared: OpenStore) -> None:
    first = AskDesk(open_shared()).hold(ask())
    second = AskDesk(open_shared()).hold(ask())
    assert first.ask.id != second.ask.id


def test_an_identical_call_takes_up_an_ask_whose_wait_was_let_go(desk: AskDesk) -> None:
    held = desk.hold(ask())
    desk.release(held, "the client left")
    again = desk.hold(ask())
    assert again.reattached
    assert again.ask.id == held.ask.id
    assert again.wait.id != held.wait.id


def test_an_identical_call_takes_up_an_ask_whose_process_died(open_shared: OpenStore) -> None:
    dying, living = open_shared(), open_shared()
    held = AskDesk(dying).hold(ask())
    die(dying, living)
    again = AskDesk(living).hold(ask())
    assert again.reattached
    assert again.ask.id == held.ask.id


def test_an_answer_that_was_not_delivered_is_there_at_once_for_an_identical_call(desk: AskDesk) -> None:
    held = desk.hold(ask())
    desk.release(held, "the client left")
    desk.answer(held.ask.id, RED, ANNA)
    again = desk.hold(ask())
    assert again.reattached
    assert again.ask.state is State.ANSWERED
    assert again.ask.answer("1") == RED[0]
    desk.delivered(again)
    assert desk.get(held.ask.id).delivered


@pytest.mark.parametrize(
    "settle", [AskDesk.decline, AskDesk.cancel, lambda desk, ask_id, by: desk.reject(ask_id, "no", by)]
)
def test_a_refusal_that_was_not_delivered_is_there_at_once_too(
    desk: AskDesk, settle: Callable[[AskDesk, str, Settler], Ask]
) -> None:
    held = desk.hold(ask())
    desk.release(held, "the client left")
    settle(desk, held.ask.id, ANNA)
    again = desk.hold(ask())
    assert again.reattached
    assert not again.ask.state.answerable


def test_a_delivered_answer_is_not_handed_out_again(desk: AskDesk) -> None:
    held = desk.hold(ask())
    desk.answer(held.ask.id, RED, ANNA)
    desk.delivered(held)
    again = desk.hold(ask())
    assert not again.reattached
    assert again.ask.state is State.PENDING


def test_an_expired_ask_is_not_taken_up_again(desk: AskDesk, clock: FakeClock) -> None:
    desk.leave(ask())
    clock.forward(8 * DAY)
    assert desk.clean_up(KEEP).expired == 1
    assert not desk.hold(ask()).reattached


def test_a_timed_out_ask_is_taken_up_and_pending_again(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=10))
    desk.time_out(held)
    desk.delivered(held)
    again = desk.hold(ask(timeout_ms=10))
    assert again.reattached
    assert again.ask.id == held.ask.id
    assert (again.ask.state, again.ask.ended_at, again.ask.delivered_at) == (State.PENDING, None, None)


def test_a_timed_out_ask_is_taken_up_even_before_its_delivery_was_noted(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=10))
    desk.time_out(held)
    again = desk.hold(ask(timeout_ms=10))
    assert again.reattached
    assert again.ask.id == held.ask.id
    desk.delivered(held)
    assert desk.get(held.ask.id).wait == again.wait


def test_of_two_left_behind_the_settled_one_is_handed_over_first(desk: AskDesk, clock: FakeClock) -> None:
    first = desk.hold(ask())
    clock.forward(1000)
    second = desk.hold(ask())
    desk.release(first, "gone")
    desk.release(second, "gone")
    desk.answer(first.ask.id, RED, ANNA)
    assert desk.hold(ask()).ask.id == first.ask.id
    assert desk.hold(ask()).ask.id == second.ask.id


@pytest.mark.parametrize(
    "other",
    [
        ask("Which size?"),
        ask(title="Other title"),
        ask(asker=replace(AGENT, client="another-agent")),
        ask(asker=replace(AGENT, project="/home/anna/other")),
        ask(asker=replace(AGENT, host="elsewhere")),
        ask(asker=replace(AGENT, agent="a-token")),
        replace(ask(), tool="ask_user"),
        replace(ask(), questions=(replace(COLOUR, options=COLOUR.options[::-1]),)),
        replace(ask(), questions=(COLOUR, Question(id="2", text="And why?"))),
    ],
)
def test_a_call_that_differs_is_a_new_ask(desk: AskDesk, other: NewAsk) -> None:
    desk.release(desk.hold(ask()), "gone")
    assert not desk.hold(other).reattached


def test_a_call_of_a_resumed_session_or_with_other_made_up_ids_is_the_same_call(desk: AskDesk) -> None:
    desk.release(desk.hold(ask()), "gone")
    later = replace(AGENT, version="2.0", pid=99, started="18")
    same = replace(ask(asker=later, timeout_ms=1000), questions=(replace(COLOUR, id="made-up"),))
    assert desk.hold(same).reattached


def test_leaving_the_same_ask_twice_opens_it_once(desk: AskDesk) -> None:
    assert desk.leave(ask()).id == desk.leave(ask()).id


def test_leaving_beside_a_live_identical_call_opens_another(desk: AskDesk) -> None:
    held = desk.hold(ask())
    assert desk.leave(ask()).id != held.ask.id


def test_attach_waits_on_an_ask_that_nobody_waits_for(desk: AskDesk, clock: FakeClock) -> None:
    left = desk.leave(ask())
    held = desk.attach(left.id, timeout_ms=2000)
    assert held is not None
    assert held.wait.until == clock.now + 2000
    assert desk.attach(left.id) is None
    desk.release(held, "gone")
    assert desk.attach(left.id) is not None


def test_attach_takes_over_from_a_dead_process_only(open_shared: OpenStore) -> None:
    dying, living = open_shared(), open_shared()
    held, other = AskDesk(dying).hold(ask()), AskDesk(living)
    assert other.attach(held.ask.id) is None
    die(dying, living)
    assert other.attach(held.ask.id) is not None


def test_attach_to_an_answer_that_was_delivered_leaves_no_wait_behind(desk: AskDesk) -> None:
    held = desk.hold(ask())
    desk.answer(held.ask.id, RED, ANNA)
    delivered_at = desk.delivered(held).delivered_at
    again = desk.attach(held.ask.id)
    assert again is not None
    desk.delivered(again)
    assert desk.get(held.ask.id).wait is None
    assert desk.get(held.ask.id).delivered_at == delivered_at
    assert desk.held_here() == {}


def test_an_unknown_ask_cannot_be_attached_to(desk: AskDesk) -> None:
    with pytest.raises(NotFound, match="f00d"):
        desk.attach("f00d")


def test_the_dead_are_let_go_and_the_living_are_not(open_shared: OpenStore) -> None:
    dying, living, looking = open_shared(), open_shared(), AskDesk(open_shared())
    orphan = AskDesk(dying).hold(ask("Which size?"))
    kept = AskDesk(living).hold(ask())
    assert looking.release_the_dead() == 0
    die(dying, living)
    assert looking.release_the_dead() == 1
    assert looking.get(orphan.ask.id).wait is None
    assert looking.get(kept.ask.id).wait == kept.wait
    assert [event.kind for event in looking.events(orphan.ask.id)] == ["opened", "unattended"]


def test_a_process_lets_go_of_all_it_holds_and_of_nothing_else(open_shared: OpenStore) -> None:
    leaving, staying = AskDesk(open_shared()), AskDesk(open_shared())
    held = [leaving.hold(ask(f"Question {number}?")) for number in range(120)]
    other = staying.hold(ask())
    leaving.answer(held[0].ask.id, RED, BEN)
    assert leaving.release_all() == 120
    assert all(staying.get(one.ask.id).wait is None for one in held)
    assert staying.get(other.ask.id).wait == other.wait
    assert staying.hold(ask("Question 0?")).ask.state is State.ANSWERED
