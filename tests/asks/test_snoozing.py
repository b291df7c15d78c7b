"""What a person puts off: gone from their inbox alone, and back in time."""

from __future__ import annotations

import pytest
from tests.asks.samples import AGENT, ANNA, HOUR, RED, FakeClock, ask
from tests.conftest import OpenStore

from sayso.asks.crowds import Crowd
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, State
from sayso.asks.snoozing import LAST_CALL, LONGEST
from sayso.errors import AlreadySettled, InvalidInput, NotFound
from sayso.records import replace

MINUTE = 60_000


def _shown(desk: AskDesk, person: str = "anna") -> list[str]:
    folded = [entry.id for entry in desk.folded(person=person).entries]
    assert folded == [one.id for one in desk.inbox(person=person, awake_for=person)]
    return folded


def test_what_is_put_off_is_gone_from_that_persons_inbox_alone_and_comes_back(desk: AskDesk, clock: FakeClock) -> None:
    one, other = desk.hold(ask("One?")).ask, desk.leave(ask("Other?"))
    snoozed = desk.snooze(one.id, "anna", clock.now + HOUR)
    assert snoozed.until == clock.now + HOUR
    assert _shown(desk) == [other.id]
    assert _shown(desk, "ben") == [one.id, other.id]
    assert {found.id for found in desk.inbox()} == {one.id, other.id}
    assert [(found.ask.id, found.until) for found in desk.snoozed("anna")] == [(one.id, snoozed.until)]
    assert desk.snoozed("ben") == []
    clock.forward(HOUR)
    assert _shown(desk) == [one.id, other.id]
    assert desk.snoozed("anna") == []


def test_putting_off_changes_nothing_about_the_ask_and_it_can_be_answered(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask())
    desk.snooze(held.ask.id, "anna", clock.now + HOUR)
    assert desk.get(held.ask.id) == held.ask
    assert desk.get(held.ask.id).attended
    assert desk.answer(held.ask.id, RED, ANNA).outcome is not None
    assert desk.snoozed("anna") == []


def test_it_is_put_back_by_hand_and_put_off_again(desk: AskDesk, clock: FakeClock) -> None:
    one = desk.leave(ask())
    desk.snooze(one.id, "anna", clock.now + HOUR)
    desk.snooze(one.id, "anna", clock.now + 2 * HOUR)
    assert [found.until for found in desk.snoozed("anna")] == [clock.now + 2 * HOUR]
    assert desk.wake(one.id, "anna")
    assert not desk.wake(one.id, "anna")
    assert _shown(desk) == [one.id]


def test_it_comes_back_before_its_agent_stops_waiting(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask(timeout_ms=HOUR))
    snoozed = desk.snooze(held.ask.id, "anna", clock.now + 24 * HOUR)
    assert snoozed.until == clock.now + HOUR - LAST_CALL
    clock.forward(HOUR - LAST_CALL)
    assert _shown(desk) == [held.ask.id]
    clock.forward(MINUTE)
    with pytest.raises(InvalidInput, match="waits only another 4m, too short to put it off"):
        desk.snooze(held.ask.id, "anna", clock.now + MINUTE)
    assert _shown(desk) == [held.ask.id]


def test_the_limit_holds_and_what_has_timed_out_is_back(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask(timeout_ms=HOUR))
    desk.snooze(held.ask.id, "anna", clock.now + 30 * MINUTE)
    desk.time_out(held)
    assert _shown(desk) == [held.ask.id]


def test_what_is_back_is_told_apart_from_what_was_put_back_by_hand(desk: AskDesk, clock: FakeClock) -> None:
    at_its_time, by_hand, with_news, settled = (desk.leave(ask(title=str(number))) for number in range(4))
    began = clock()
    for each in (at_its_time, by_hand, with_news, settled):
        desk.snooze(each.id, "anna", clock() + HOUR)
    clock.forward(1000)
    desk.wake(by_hand.id, "anna")
    desk.change(lambda table: table.change(replace(with_news, state=State.TIMED_OUT), with_news, kind="timed_out"))
    assert [each.ask.id for each in desk.back("anna", began)] == [with_news.id]
    assert desk.snoozed("anna")[-1].ask.id != with_news.id
    desk.reject(settled.id, "", ANNA)
    clock.forward(HOUR)
    back = desk.back("anna", began)
    assert [(each.ask.id, each.until) for each in back] == [
        (with_news.id, began + 1000),
        (at_its_time.id, began + HOUR),
    ]
    assert desk.back("bo", began) == []
    assert desk.back("anna", clock()) == []


def test_a_client_that_calls_again_for_the_same_does_not_bring_it_back(desk: AskDesk, clock: FakeClock) -> None:
    held = desk.hold(ask())
    desk.snooze(held.ask.id, "anna", clock.now + HOUR)
    desk.release(held, "the client went away")
    again = desk.hold(ask())
    assert again.ask.id == held.ask.id
    assert _shown(desk) == []
    desk.release(again, "the client went away")
    assert desk.attach(held.ask.id, timeout_ms=10 * MINUTE) is not None
    assert _shown(desk) == [held.ask.id]


def test_of_an_agent_with_many_open_only_what_is_not_put_off_counts(desk: AskDesk, clock: FakeClock) -> None:
    asks = list[Ask]()
    for number in range(7):
        clock.forward(1)
        asks.append(desk.leave(ask(f"Number {number}?")))
    (crowd,) = desk.folded(person="anna").entries
    assert isinstance(crowd, Crowd)
    desk.snooze(asks[-1].id, "anna", clock.now + HOUR)
    (fewer,) = desk.folded(person="anna").entries
    assert isinstance(fewer, Crowd)
    assert (fewer.size, fewer.newest.id) == (6, asks[-2].id)
    desk.snooze(asks[0].id, "anna", clock.now + HOUR)
    assert [entry.id for entry in desk.folded(person="anna").entries] == [one.id for one in asks[1:-1]]
    for one in asks:
        desk.snooze(one.id, "anna", clock.now + HOUR)
    assert desk.crowd(crowd.id, "anna") is None
    assert desk.crowd(crowd.id, "ben") is not None


@pytest.mark.parametrize(("until", "why"), [(0, "that moment is over"), (LONGEST + 1, "more than 90 days")])
def test_a_moment_that_makes_no_sense_is_refused(desk: AskDesk, clock: FakeClock, until: int, why: str) -> None:
    one = desk.leave(ask())
    with pytest.raises(InvalidInput, match=why):
        desk.snooze(one.id, "anna", clock.now + until)
    assert _shown(desk) == [one.id]
    desk.snooze(one.id, "anna", clock.now + LONGEST)
    assert _shown(desk) == []


def test_what_has_ended_or_never_was_cannot_be_put_off(desk: AskDesk, clock: FakeClock) -> None:
    one = desk.leave(ask())
    desk.reject(one.id, "", ANNA)
    with pytest.raises(AlreadySettled, match="it is rejected"):
        desk.snooze(one.id, "anna", clock.now + HOUR)
    with pytest.raises(NotFound):
        desk.snooze("0" * 32, "anna", clock.now + HOUR)


def test_another_process_on_the_same_store_sees_it(open_shared: OpenStore, clock: FakeClock) -> None:
    here, there = (AskDesk(open_shared(), clock=clock) for _ in range(2))
    one = here.leave(ask(asker=replace(AGENT, owner="anna")))
    here.snooze(one.id, "anna", clock.now + HOUR)
    assert [found.ask.id for found in there.snoozed("anna")] == [one.id]
    assert there.folded(person="anna").entries == []
