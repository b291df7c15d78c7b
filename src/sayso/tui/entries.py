"""A list of things that come, change and go, two lines each: asks, commands. The cursor stays on its thing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from textual.content import Content

from sayso.tui.rows import Rows
from sayso.tui.shared import Shared
from sayso.tui.ticker import Ticker

_AGES_EVERY = 10_000
"""Milliseconds between two drawings of ages at least: rows that are due one after the other are drawn together."""


class VersionedEntry(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int | str: ...


T = TypeVar("T", bound=VersionedEntry)


class Entries(Rows, Generic[T]):
    """Things in whatever order they are given in. What is said of each is up to the kind of list."""

    def __init__(self, shared: Shared, *, id: str) -> None:
        super().__init__(shared.keys, id=id)
        self._shared = shared
        self._items: Sequence[T] = ()
        self._versions: list[tuple[str, int | str]] = []
        self._drawn: dict[str, str] = {}
        self._ticker = Ticker(self, shared.wording.clock, self.tick)

    # What a kind of list says

    def since(self, item: T) -> int:
        """The moment its age counts from."""
        raise NotImplementedError

    def headline(self, item: T) -> Content:
        raise NotImplementedError

    def origin(self, item: T) -> Sequence[str]:
        """Where it comes from, what matters most first."""
        raise NotImplementedError

    def leave_one_out(self, item: T, parts: list[str]) -> None:
        """Take from its origin what matters least, where there is no room for all."""
        parts.pop()

    def marks(self, item: T) -> Sequence[str]:
        """How it stands."""
        raise NotImplementedError

    def standing_lasts(self, item: T) -> int | None:
        """Milliseconds until it stands differently without being another version; None when it does not."""
        raise NotImplementedError

    # What is shown

    @property
    def item(self) -> T | None:
        """The one at the cursor."""
        return self._items[self.cursor] if self._items else None

    @property
    def items(self) -> Sequence[T]:
        return self._items

    def show(self, items: Sequence[T]) -> None:
        """Show these, with the cursor on the same one as before, at the same height of the screen if possible."""
        versions = [(item.id, item.version) for item in items]
        if versions == self._versions:
            self.tick()
            return
        found, at, offset = self._place_among(items), self.cursor, self.scroll_offset.y
        self._items, self._versions = items, versions
        self.cursor = found
        self._drawn = {}
        self.rearranged()
        if offset:
            self.scroll_to(y=offset + 2 * (found - at), animate=False)
        else:
            self.show_cursor()
        self._keep_pace()

    def _place_among(self, items: Sequence[T]) -> int:
        """Where the one at the cursor is among these; where it is gone, the next that is left, or else what comes after
        the last before it."""
        places = {item.id: place for place, item in enumerate(items)}
        left = [places[item.id] for item in self._items[self.cursor :] if item.id in places]
        before = [places[item.id] for item in self._items[: self.cursor] if item.id in places]
        return left[0] if left else before[-1] + 1 if before else self.cursor

    def tick(self) -> None:
        """Time has passed: draw those rows again whose age or standing reads differently now, and no others."""
        for place in self._visible():
            item = self._items[place]
            if self._drawn.get(item.id, "") not in ("", self._passing(item)):
                self.redraw(place)
        self._keep_pace()

    def _keep_pace(self) -> None:
        wording, seen = self._shared.wording, [self._items[place] for place in self._visible()]
        self._ticker.keep(max(wording.age_lasts(self.since(item)), _AGES_EVERY) for item in seen)
        self._ticker.keep(self.standing_lasts(item) for item in seen)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._keep_pace()

    def on_resize(self) -> None:
        self._keep_pace()

    def _visible(self) -> range:
        first = self.scroll_offset.y // 2
        return range(first, min(first + self.size.height // 2 + 1, len(self._items)))

    def _passing(self, item: T) -> str:
        """What of a row changes with time."""
        return " ".join((self._shared.wording.age(self.since(item)), *self.marks(item)))

    # Drawing

    def count(self) -> int:
        return len(self._items)

    def _count_tops(self, width: int) -> Sequence[int]:
        return range(0, 2 * len(self._items) + 1, 2)

    def look(self, index: int) -> Hashable:
        item = self._items[index]
        self._drawn[item.id] = passing = self._passing(item)
        return item.id, item.version, passing

    def row(self, index: int, width: int) -> Sequence[Content]:
        item = self._items[index]
        age = Content.styled(self._shared.wording.age(self.since(item)), "$muted")
        return [_both_ends(self.headline(item), age, width), self._below(item, width)]

    def _below(self, item: T, width: int) -> Content:
        """Where it comes from, as much of it as fits beside how it stands."""
        marks = " · ".join(self.marks(item))
        wanted = [part for part in self.origin(item) if part]
        while len(wanted) > 1 and len(" · ".join(wanted)) + len(marks) + 2 > width:
            self.leave_one_out(item, wanted)
        return _both_ends(Content.styled(" · ".join(wanted), "$muted"), Content.styled(marks, "$mark"), width)


def _both_ends(left: Content, right: Content, width: int) -> Content:
    """One text at the left, one at the right, the left one shortened where they would meet."""
    right = right.truncate(max(width * 2 // 3, 1), ellipsis=True)
    room = max(width - right.cell_length - 1, 1)
    return left.truncate(room, ellipsis=True, pad=True) + " " + right
