"""How people settle asks, what is recorded of it, and what happens when two do at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.asks.samples import ANNA, BEN, BLUE, DAY, KEEP, RED, FakeClock, ask, own_text
from tests.conftest import OpenStore

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Event, Outcome, Settler, State
from sayso.errors import MAX_TEXT, AlreadySettled, CalledOff, InvalidInput, NotFound
from sayso.records import replace
from sayso.sent_once import call_off

Settle = Callable[[AskDesk, str, Settler], Ask]

SETTLES: dict[State, Settle] = {
    State.ANSWERED: lambda desk, ask_id, by: desk.answer(ask_id, RED, by),
    State.REJECTED: lambda desk, ask_id, by: desk.reject(ask_id, "not now", by),
    State.DECLINED: AskDesk.decline,
    State.CANCELLED: AskDesk.cancel,
}
every_settle = pytest.mark.parametrize(("state", "settle"), SETTLES.items())


@every_settle
def test_settling_records_who_from_where_and_when(
    desk: AskDesk, clock: FakeClock, state: State, settle: Settle
) -> None:
    held = desk.hold(ask())
    clock.forward(1500)
    settled = settle(desk, held.ask.id, ANNA)
    assert settled == desk.get(held.ask.id)
    assert settled.state is state
    assert settled.ended_at == clock.now
    assert not settled.delivered
    assert settled.outcome == Outcome(
        answers=RED if state is State.ANSWERED else (),
        reason="not now" if state is State.REJECTED else "",
        person="anna",
        surface="terminal",
    )
    assert desk.events(held.ask.id)[1:] == [
        Event(
            ask=held.ask.id,
            version=2,
            at=clock.now,
            kind=state.value,
            before=State.PENDING,
            after=state,
            person="anna",
            surface="terminal",
        )
    ]


@every_settle
def test_whoever_comes_second_is_told_who_was_first(desk: AskDesk, state: State, settle: Settle) -> None:
    held = desk.hold(ask())
    settled = settle(desk, held.ask.id, ANNA)
    for second in SETTLES.values():
        with pytest.raises(AlreadySettled, match=f"Already {state} in terminal by anna, just now"):
            second(desk, held.ask.id, BEN)
    assert desk.get(held.ask.id) == settled


@every_settle
def test_a_late_settle_of_a_timed_out_ask_counts_and_is_marked_late(
    desk: AskDesk, state: State, settle: Settle
) -> None:
    held = desk.hold(ask(timeout_ms=10))
    desk.time_out(held)
    desk.delivered(held)
    late = settle(desk, held.ask.id, BEN)
    assert late.state is state
    assert late.outcome is not None
    assert late.outcome.late
    assert not late.delivered


def test_an_expired_ask_says_that_it_can_no_longer_be_answered(desk: AskDesk, clock: FakeClock) -> None:
    left = desk.leave(ask())
    clock.forward(8 * DAY)
    desk.clean_up(KEEP)
    with pytest.raises(AlreadySettled, match="can no longer be answered: it is expired, "):
        desk.answer(left.id, RED, ANNA)


def test_a_permission_whose_call_is_over_says_that_nobody_had_decided(desk: AskDesk, clock: FakeClock) -> None:
    let_go = desk.hold(replace(ask(), bound=True))
    desk.release(let_go, "the client let go")
    with pytest.raises(AlreadySettled, match="Nobody had decided: the call ended, just now"):
        desk.answer(let_go.ask.id, RED, ANNA)
    ran_out = desk.hold(replace(ask(timeout_ms=1000), bound=True))
    clock.forward(1001)
    desk.time_out(ran_out)
    with pytest.raises(AlreadySettled, match="Nobody had decided: its time was over, just now"):
        desk.answer(ran_out.ask.id, RED, ANNA)


def test_an_answer_that_does_not_fit_changes_nothing(desk: AskDesk) -> None:
    held = desk.hold(ask())
    with pytest.raises(InvalidInput):
        desk.answer(held.ask.id, (Answer(question="1", chosen=("7",)),), ANNA)
    assert desk.get(held.ask.id) == held.ask
    assert [event.kind for event in desk.events(held.ask.id)] == ["opened"]


def test_an_unknown_ask_cannot_be_settled(desk: AskDesk) -> None:
    with pytest.raises(NotFound, match="No ask has the id 'f00d'"):
        desk.answer("f00d", RED, ANNA)


def test_a_refused_attempt_is_recorded_and_changes_nothing_else(desk: AskDesk) -> None:
    held = desk.hold(ask())
    desk.note_refusal(held.ask.id, BEN, "it descends from process 7")
    event = desk.events(held.ask.id)[-1]
    assert (event.kind, event.before, event.after) == ("refused", State.PENDING, State.PENDING)
    assert (event.person, event.surface, event.detail) == ("ben", "browser", "it descends from process 7")
    assert desk.get(held.ask.id).wait == held.wait
    assert desk.answer(held.ask.id, RED, ANNA).state is State.ANSWERED


def test_an_attempt_that_was_called_off_at_one_server_never_counts_at_another(
    open_shared: OpenStore, clock: FakeClock
) -> None:
    here, there = open_shared(), open_shared()
    desk = AskDesk(here, clock=clock)
    lost, sent = (replace(ANNA, attempt=f"anna {name}") for name in ("1", "2"))
    held = desk.hold(ask())
    assert call_off(there, lost.attempt, clock()) is None
    with pytest.raises(CalledOff, match="called it off"):
        desk.answer(held.ask.id, RED, lost)
    assert call_off(here, lost.attempt, clock()) is None, "nor is it told as taken when it is asked again"
    assert desk.answer(held.ask.id, BLUE, sent).state is State.ANSWERED
    assert call_off(there, sent.attempt, clock()) == ""


def test_an_attempt_that_was_refused_is_not_taken(open_shared: OpenStore, clock: FakeClock) -> None:
    store = open_shared()
    desk, by = AskDesk(store, clock=clock), replace(ANNA, attempt="anna 1")
    held = desk.hold(ask())
    with pytest.raises(InvalidInput):
        desk.answer(held.ask.id, [], by)
    assert call_off(store, by.attempt, clock()) is None


def test_every_change_leaves_exactly_one_event_that_joins_on_to_the_last(desk: AskDesk) -> None:
    held = desk.hold(ask(timeout_ms=10))
    desk.release(held, "the client left")
    again = desk.hold(ask(timeout_ms=10))
    desk.time_out(again)
    desk.delivered(again)
    desk.answer(held.ask.id, RED, BEN)
    last = desk.attach(held.ask.id)
    assert last is not None
    done = desk.delivered(last)
    events = desk.events(held.ask.id)
    assert [(event.kind, event.before, event.after, event.person) for event in events] == [
        ("opened", None, State.PENDING, ""),
        ("unattended", State.PENDING, State.PENDING, ""),
        ("attended", State.PENDING, State.PENDING, ""),
        ("timed_out", State.PENDING, State.TIMED_OUT, ""),
        ("delivered", State.TIMED_OUT, State.TIMED_OUT, ""),
        ("answered", State.TIMED_OUT, State.ANSWERED, "ben"),
        ("attended", State.ANSWERED, State.ANSWERED, ""),
        ("delivered", State.ANSWERED, State.ANSWERED, ""),
    ]
    assert [event.version for event in events] == list(range(1, done.version + 1))
    assert events[1].detail == "the client left"


def test_of_two_people_who_settle_at_once_one_wins_and_the_other_is_told(open_shared: OpenStore) -> None:
    desks = [AskDesk(open_shared()), AskDesk(open_shared())]
    people = [ANNA, BEN]
    for number in range(25):
        held = desks[0].hold(ask(f"Round {number}?"))
        told = _settle_at_once(desks, people, held.ask.id)
        settled = desks[0].get(held.ask.id)
        assert settled.outcome is not None
        winner = settled.outcome.person
        assert settled.outcome.answers == own_text(f"{winner} says so")
        assert told == {person.person: "" if person.person == winner else winner for person in people}
        assert [event.kind for event in desks[0].events(held.ask.id)] == ["opened", "answered"]


def _settle_at_once(desks: list[AskDesk], people: list[Settler], ask_id: str) -> dict[str, str]:
    """Everybody answers in the same moment; for each, who was first if it was not they."""
    start = threading.Barrier(len(desks))
    told: dict[str, str] = {}

    def answer(desk: AskDesk, by: Settler) -> None:
        start.wait(10)
        try:
            desk.answer(ask_id, own_text(f"{by.person} says so"), by)
            told[by.person] = ""
        except AlreadySettled as error:
            told[by.person] = next(person.person for person in people if f"by {person.person}, " in str(error))

    threads = [threading.Thread(target=answer, args=pair) for pair in zip(desks, people, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return told


def test_many_threads_of_one_desk_settle_many_asks_without_a_mix_up(desk: AskDesk) -> None:
    asks = [desk.hold(ask(f"Question {number}?")).ask for number in range(40)]

    def settle(part: list[Ask]) -> None:
        for one in part:
            desk.answer(one.id, own_text(f"to {one.questions[0].text}"), ANNA)

    threads = [threading.Thread(target=settle, args=(asks[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert all(desk.get(one.id).answer("1") == own_text(f"to {one.questions[0].text}")[0] for one in asks)


def test_a_settle_wakes_whoever_listens_to_the_bell(open_shared: OpenStore) -> None:
    waiting, settling = open_shared(), AskDesk(open_shared())
    held = AskDesk(waiting).hold(ask())
    assert waiting.bell().wait(25)
    while waiting.bell().wait(0.1):
        """Take in all rings of the opening."""
    settling.answer(held.ask.id, BLUE, BEN)
    assert waiting.bell().wait(10)
    assert [ended.id for ended in AskDesk(waiting).ended_waits()] == [held.ask.id]


def test_of_several_rejected_together_each_stands_alone(desk: AskDesk) -> None:
    first, taken, last = (desk.hold(ask(f"Question {number}?")).ask for number in range(3))
    answered = desk.answer(taken.id, RED, BEN)
    ended = desk.reject_each([first.id, "none", taken.id, last.id], "not now", ANNA)
    assert [type(each) for each in ended.values()] == [Ask, NotFound, AlreadySettled, Ask]
    assert desk.get(taken.id) == answered
    for each in (first, last):
        assert ended[each.id] == desk.get(each.id) == replace(desk.get(each.id), state=State.REJECTED)
        assert desk.get(each.id).outcome == Outcome(reason="not now", person="anna", surface="terminal")
        assert [event.kind for event in desk.events(each.id)] == ["opened", "rejected"]


def test_a_reason_that_no_ask_takes_rejects_none_of_several(desk: AskDesk) -> None:
    held = [desk.hold(ask(f"Question {number}?")).ask.id for number in range(2)]
    with pytest.raises(InvalidInput, match="reason"):
        desk.reject_each(held, "x" * (MAX_TEXT + 1), ANNA)
    assert {desk.get(each).state for each in held} == {State.PENDING}
