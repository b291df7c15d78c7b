"""How often people are asked, and how they decide, by the log of permissions: who is asked too often stops reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sayso.asks.happening import UNOPENED
from sayso.chain import LogEvent, LogKind
from sayso.records import field, record
from sayso.text import iso_time, lasting

HOUR = 3_600_000
DAY = 24 * HOUR
_MOST_HOURS = 48
"""How many hours are told one by one; beyond, it is days."""
_MOST_BARS = 60


@record
class Bar:
    """What happened from a moment on, for an hour or a day: `asked` of people, and decided by `rules`."""

    at: int
    asked: int
    rules: int


@record
class LogStats:
    """What the log says of a span. Times are milliseconds."""

    since: int
    until: int
    asked: int = 0
    """How often people were asked."""
    rules: int = 0
    """How often rules decided, so that nobody was."""
    allowed: int = 0
    """By people; so are those that follow."""
    denied: int = 0
    undecided: int = 0
    unopened: int = 0
    """Of those allowed: by one press in a list, where nobody had opened it."""
    median_ms: int | None = None
    """How long people took; None where nobody decided anything."""
    slow_ms: int | None = None
    """Nine of ten were decided in this time."""
    busiest_hour: int = 0
    """How many were asked in the hour with the most."""
    bars: tuple[Bar, ...] = ()
    bar_ms: int = field(default=HOUR)

    @property
    def an_hour(self) -> float:
        """How many were asked in an hour, by the clock: nights count."""
        return self.asked / max(1.0, (self.until - self.since) / HOUR)


def stats_of(events: Iterable[LogEvent], since: int, until: int) -> LogStats:
    """What the events between two moments come to, oldest first. Without a beginning it is that of the first event."""
    told = list(events)
    begun = since or (told[0].at if told else until)
    asked = {event.ask: event.at for event in told if event.kind is LogKind.ASKED}
    by_rules = [event for event in told if event.rule and event.kind in (LogKind.ALLOWED, LogKind.DENIED)]
    decided = [event for event in told if event.person and event.kind in (LogKind.ALLOWED, LogKind.DENIED)]
    allowed = [event for event in decided if event.kind is LogKind.ALLOWED]
    took = sorted(event.at - asked[event.ask] for event in decided if event.ask in asked)
    hours = Counter(at // HOUR for at in asked.values())
    width = HOUR if until - begun <= _MOST_HOURS * HOUR else DAY
    return LogStats(
        since=begun,
        until=until,
        asked=len(asked),
        rules=len(by_rules),
        allowed=len(allowed),
        denied=len(decided) - len(allowed),
        undecided=sum(event.kind is LogKind.UNDECIDED for event in told),
        unopened=sum(bool((event.about or {}).get(UNOPENED)) for event in allowed),
        median_ms=_share(took, 0.5),
        slow_ms=_share(took, 0.9),
        busiest_hour=max(hours.values(), default=0),
        bars=_bars(list(asked.values()), [event.at for event in by_rules], begun, until, width),
        bar_ms=width,
    )


def stats_data(stats: LogStats) -> dict[str, Any]:
    """The same for programs."""
    return {
        "since": iso_time(stats.since),
        "until": iso_time(stats.until),
        "asked": stats.asked,
        "asked_an_hour": round(stats.an_hour, 2),
        "busiest_hour": stats.busiest_hour,
        "decided_by_rules": stats.rules,
        "allowed": stats.allowed,
        "allowed_unopened": stats.unopened,
        "denied": stats.denied,
        "undecided": stats.undecided,
        "median_seconds": None if stats.median_ms is None else stats.median_ms / 1000,
        "slow_seconds": None if stats.slow_ms is None else stats.slow_ms / 1000,
        "bars": [{"at": iso_time(bar.at), "asked": bar.asked, "rules": bar.rules} for bar in stats.bars],
    }


def took_words(milliseconds: int | None) -> str:
    return "-" if milliseconds is None else lasting(milliseconds)


def _share(times: Sequence[int], share: float) -> int | None:
    """The time within which this share of them lies."""
    return times[min(len(times) - 1, int(len(times) * share))] if times else None


def _bars(asked: Sequence[int], rules: Sequence[int], begun: int, until: int, width: int) -> tuple[Bar, ...]:
    """One for each hour or day, those without anything too; the newest where there are too many."""
    counts = [Counter(at // width for at in times) for times in (asked, rules)]
    last = until // width
    first = max(begun // width, last - _MOST_BARS + 1)
    return tuple(Bar(at=n * width, asked=counts[0][n], rules=counts[1][n]) for n in range(first, last + 1))
