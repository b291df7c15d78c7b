"""What the event stream of a person tells: all of it at first, but no row that the page says it has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sayso.web.boards import ALL, Listing, listing_mark


@dataclass(frozen=True, kw_only=True)
class Thing:
    id: str
    version: int


class Drawn:
    """A listing, and which rows were drawn for it."""

    def __init__(self, *things: Thing) -> None:
        self.rows: list[str] = []
        self.listing = Listing("things", "things", self._draw)
        assert self.listing.update(things) is None

    def _draw(self, thing: Thing) -> str:
        self.rows.append(thing.id)
        return f"<li>{thing.id} {thing.version}</li>"


def told(event: bytes | None) -> dict[str, Any]:
    assert event is not None
    data: dict[str, Any] = json.loads(event.decode().partition("data: ")[2])
    return data


ONE, TWO = Thing(id="one", version=1), Thing(id="two", version=4)


def test_a_page_that_has_the_rows_is_told_what_there_is_without_them() -> None:
    drawn = Drawn(ONE, TWO)
    first = told(drawn.listing.whole(listing_mark([ONE, TWO])))
    assert (first["things"], first["rows"]) == ([["one", 1], ["two", 4]], {})
    assert told(drawn.listing.whole(ALL))["rows"] == {}
    assert told(drawn.listing.update([ONE], more=True))["rows"] == {}
    assert drawn.rows == [], "and none was drawn"


def test_a_page_that_has_others_or_another_version_or_order_is_told_every_row() -> None:
    drawn = Drawn(ONE, TWO)
    older = Thing(id="two", version=3)
    for has in ("", "nonsense", listing_mark([TWO, ONE]), listing_mark([ONE]), listing_mark([ONE, older])):
        assert list(told(drawn.listing.whole(has))["rows"]) == ["one", "two"]
    assert drawn.rows == ["one", "two"], "each was drawn once"


def test_a_change_tells_the_rows_that_changed_and_the_mark_that_a_page_then_has() -> None:
    drawn = Drawn(ONE, TWO)
    newer = Thing(id="one", version=2)
    change = told(drawn.listing.update([newer, TWO]))
    assert change["rows"] == {"one": "<li>one 2</li>"}
    assert told(drawn.listing.whole(change["mark"]))["rows"] == {}
    assert drawn.listing.update([newer, TWO]) is None
    assert told(drawn.listing.update([TWO]))["rows"] == {}
    assert told(drawn.listing.whole())["rows"] == {"two": "<li>two 4</li>"}
