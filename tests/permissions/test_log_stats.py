"""How often people are asked, and how they decide."""

from __future__ import annotations

from sayso.asks.happening import UNOPENED
from sayso.chain import LogEvent, LogKind
from sayso.permissions.log_stats import DAY, HOUR, LogStats, stats_data, stats_of

NOON = 20_000 * DAY + 12 * HOUR


def asked(number: int, at: int, took: int = 0, kind: LogKind = LogKind.ALLOWED, **more: object) -> list[LogEvent]:
    """A permission that a person decided after a while."""
    about = {UNOPENED: True} if more.get("unopened") else None
    person = "" if kind is LogKind.UNDECIDED else "ada"
    decided = LogEvent(kind=kind, at=at + took, ask=f"{number}", person=person, surface="browser", about=about)
    return [LogEvent(kind=LogKind.ASKED, at=at, ask=f"{number}"), decided]


def ruled(at: int, kind: LogKind = LogKind.ALLOWED) -> LogEvent:
    return LogEvent(kind=kind, at=at, ask="r", rule="Bash(ls *)", surface="rule")


def told(events: list[LogEvent], since: int = NOON - HOUR, until: int = NOON + HOUR) -> LogStats:
    return stats_of(events, since, until)


def test_what_people_and_rules_decided_is_counted_apart() -> None:
    events = [*asked(1, NOON), *asked(2, NOON, kind=LogKind.DENIED), *asked(3, NOON, kind=LogKind.UNDECIDED)]
    found = told([*events, ruled(NOON), ruled(NOON, LogKind.DENIED)])
    assert (found.asked, found.allowed, found.denied, found.undecided, found.rules) == (3, 1, 1, 1, 2)
    assert (found.an_hour, found.busiest_hour) == (1.5, 3)


def test_how_long_people_took_is_told_by_the_middle_and_by_nine_of_ten() -> None:
    found = told([event for n in range(1, 11) for event in asked(n, NOON, took=n * 1000)])
    assert (found.median_ms, found.slow_ms) == (6000, 10_000)
    assert (stats_data(found)["median_seconds"], stats_data(found)["slow_seconds"]) == (6.0, 10.0)
    assert told([ruled(NOON)]).median_ms is None


def test_what_was_allowed_in_a_list_without_being_opened_is_counted() -> None:
    found = told([*asked(1, NOON, unopened=True), *asked(2, NOON)])
    assert (found.allowed, found.unopened) == (2, 1)


def test_there_is_a_bar_for_each_hour_and_for_each_day_of_a_longer_time() -> None:
    found = told([*asked(1, NOON - HOUR), *asked(2, NOON), ruled(NOON)])
    assert [(bar.asked, bar.rules) for bar in found.bars] == [(1, 0), (1, 1), (0, 0)]
    week = told([*asked(1, NOON), ruled(NOON)], since=NOON - 7 * DAY)
    assert [(bar.asked, bar.rules) for bar in week.bars] == [(0, 0)] * 7 + [(1, 1)]
    assert len(told(asked(1, NOON - 900 * DAY), since=0).bars) == 60


def test_nothing_at_all_is_nothing() -> None:
    data = stats_data(told([], since=0))
    assert (data["asked"], data["asked_an_hour"], data["median_seconds"]) == (0, 0.0, None)
