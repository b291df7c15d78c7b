"""A moment to come as people name it: `18:00`, `monday`, `tomorrow`, `2h`, a date; and how a moment is told."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from sayso.setting_values import duration

ALLOWED = 'a time such as "18:00", "2h", "tomorrow", "monday", or a date such as "2030-01-31" or "2030-01-31 18:00"'
_DAYS = {
    "en": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "de": ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
}
_TOMORROW = ("tomorrow", "morgen")
MORNING = time(8)
"""When a day begins for people."""
_SHORTEST = 3
"""Letters of a day's name that are enough."""


def moment(text: str, now: datetime) -> datetime:
    """The moment that a person means, after now. A day means its morning. ValueError says what can be given."""
    given = " ".join(text.lower().split())
    day = _day(given, now.date()) or _date(given)
    if day and ":" not in given:
        day = datetime.combine(day, MORNING)
    found = _time_of_day(given, now) or day or _after_a_while(given, now)
    if found is None or found <= now:
        raise ValueError(ALLOWED)
    return found


def told(moment: datetime, now: datetime) -> str:
    """In as few figures as tell it from others: `18:00`, or with its date."""
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M}"


def local(milliseconds: int) -> datetime:
    """A moment of the store on the clock at hand."""
    return datetime.fromtimestamp(milliseconds / 1000)


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _time_of_day(given: str, now: datetime) -> datetime | None:
    """The next time that the clock shows this."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d)", given)
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    then = datetime.combine(now.date(), time(int(match[1]), int(match[2])))
    return then if then > now else then + timedelta(days=1)


def _day(given: str, today: date) -> datetime | None:
    if given in _TOMORROW:
        return _begin(today + timedelta(days=1))
    for names in _DAYS.values():
        for number, name in enumerate(names):
            if len(given) >= _SHORTEST and name.startswith(given):
                return _begin(today + timedelta(days=(number - today.weekday() - 1) % 7 + 1))
    return None


def _date(given: str) -> datetime | None:
    try:
        return datetime.fromisoformat(given) if re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", given) else None
    except ValueError:
        return None


def _after_a_while(given: str, now: datetime) -> datetime | None:
    if not re.search(r"[a-z]$", given):
        return None
    try:
        return now + timedelta(milliseconds=duration(given))
    except (ValueError, OverflowError):
        return None


def _begin(day: date) -> datetime:
    return datetime.combine(day, time())
