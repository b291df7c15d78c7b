"""Whether somebody can be looking at the page: a tab counts while it is visible and was used a short while ago.

Tabs tell it themselves. One that is hidden counts for nothing, however long it has been open.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from starlette.exceptions import HTTPException

from sayso.text import quoted
from sayso.web.fields import Fields
from sayso.web.sessions import Visitor

GRACE = 5.0
"""Seconds for which a page that reloads still counts as open."""
MOST_TABS = 500
"""The most tabs that are remembered, of all people together."""
_LONGEST = 10**12
_LONGEST_NAME = 64


class TabReport(StrEnum):
    """What a tab tells of itself."""

    USED = "used"
    HIDDEN = "hidden"
    LEFT = "left"
    """It is closed, or goes on to another page, which tells of itself in a moment."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """One message of a tab. Those of one tab are numbered, because they may overtake each other."""

    tab: str
    number: int
    sight: TabReport
    ago: float
    """Seconds since the tab was last used."""


def told(fields: Fields) -> Told:
    """What a tab has sent."""
    tab, sight = fields.one("tab"), fields.one("sight")
    if not 0 < len(tab) <= _LONGEST_NAME:
        raise HTTPException(400, f"`tab` is a name of 1 to {_LONGEST_NAME} characters.")
    if sight not in list(TabReport):
        raise HTTPException(400, f"`sight` is {quoted(sight)}. It can be {', '.join(TabReport)}.")
    return Told(tab=tab, number=_whole(fields, "number"), sight=TabReport(sight), ago=_whole(fields, "ago") / 1000)


def _whole(fields: Fields, name: str) -> int:
    given = fields.one(name)
    if not given.isascii() or not given.isdigit() or len(given) > len(str(_LONGEST)):
        raise HTTPException(400, f"`{name}` is {quoted(given)}. It must be a whole number, 0 or more.")
    return int(given)


@dataclass(frozen=True, kw_only=True)
class _Tab:
    user: str
    number: int
    until: float
    """When it stops counting unless it is used again."""


class Tabs:
    """The open tabs of all browsers, as far as they have told of themselves."""

    def __init__(self, away_after: float) -> None:
        self._away_after = away_after
        self._tabs: dict[tuple[str, str], _Tab] = {}

    def note(self, visitor: Visitor, told: Told, now: float) -> None:
        key = visitor.secret, told.tab
        before = self._tabs.get(key)
        if before and before.number >= told.number:
            return
        until = {
            TabReport.USED: now - told.ago + self._away_after,
            TabReport.HIDDEN: now,
            TabReport.LEFT: min(before.until if before else now, now + GRACE),
        }[told.sight]
        self._tabs.pop(key, None)
        self._tabs[key] = _Tab(user=visitor.user, number=told.number, until=until)
        if len(self._tabs) > MOST_TABS:
            del self._tabs[next(iter(self._tabs))]

    def end_session(self, secret: str) -> None:
        self._tabs = {key: tab for key, tab in self._tabs.items() if key[0] != secret}

    def onlookers(self, users: Collection[str], now: float) -> set[str]:
        """Those of these people who can be looking right now."""
        return {tab.user for tab in self._tabs.values() if tab.until > now and tab.user in users}
