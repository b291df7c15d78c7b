"""The list of asks, in the inbox and in the history: two lines each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content

from sayso.asks.model import Ask
from sayso.tui.rows import Rows
from sayso.tui.shared import Shared

Marks = Callable[[Ask], Sequence[str]]
_RESTS_AFTER = 3_000
"""Milliseconds after which a cursor at the top, left alone, stays at the top and not on its ask."""


class AskList(Rows):
    """Asks by newest or by whatever order they are given in. The cursor stays on its ask when others come and go."""

    def __init__(self, shared: Shared, *, since: Callable[[Ask], int], marks: Marks) -> None:
        super().__init__(shared.keys, id="asks")
        self._shared = shared
        self._since, self._marks = since, marks
        self._asks: Sequence[Ask] = ()
        self._drawn: dict[str, str] = {}
        self._moved_at = 0

    @property
    def ask(self) -> Ask | None:
        """The ask at the cursor."""
        return self._asks[self.cursor] if self._asks else None

    @property
    def asks(self) -> Sequence[Ask]:
        return self._asks

    def show(self, asks: Sequence[Ask]) -> None:
        """Show these, with the cursor on the same ask as before, at the same height of the screen if possible.

        Where nobody has touched it for a while it rests at the top: there the newest is seen the moment it comes.
        """
        if [(ask.id, ask.version) for ask in asks] == [(ask.id, ask.version) for ask in self._asks]:
            self.tick()
            return
        before, at, offset = self.ask, self.cursor, self.scroll_offset.y
        self._asks = asks
        found = next((place for place, ask in enumerate(asks) if before and ask.id == before.id), at)
        self.cursor = 0 if self._rests else found
        self._drawn = {}
        self.changed()
        if offset and not self._rests:
            self.scroll_to(y=offset + 2 * (found - at), animate=False)
        else:
            self.show_cursor()

    @property
    def _rests(self) -> bool:
        return self.cursor == 0 and self._shared.wording.clock() - self._moved_at > _RESTS_AFTER

    def move_to(self, index: int) -> None:
        self._moved_at = self._shared.wording.clock()
        super().move_to(index)

    def tick(self) -> None:
        """Time has passed: draw those rows again whose age or standing reads differently now, and no others."""
        for place in self._visible():
            ask = self._asks[place]
            if self._drawn.get(ask.id, "") not in ("", self._passing(ask)):
                self.redraw(place)

    def _visible(self) -> range:
        first = self.scroll_offset.y // 2
        return range(first, min(first + self.size.height // 2 + 1, len(self._asks)))

    def _passing(self, ask: Ask) -> str:
        """What of a row changes with time."""
        return " ".join((self._shared.wording.age(self._since(ask)), *self._marks(ask)))

    def count(self) -> int:
        return len(self._asks)

    def height(self, index: int, width: int) -> int:
        return 2

    def row(self, index: int, width: int) -> Sequence[Content]:
        ask, wording = self._asks[index], self._shared.wording
        self._drawn[ask.id] = self._passing(ask)
        age = wording.age(self._since(ask))
        marks = " · ".join(self._marks(ask))
        fresh = self._shared.texts.stands_new in self._marks(ask)
        headline = Content.styled(wording.headline(ask), "bold" if fresh else "")
        return [_both_ends(headline, Content.styled(age, "$muted"), width), self._below(ask, marks, width)]

    def _below(self, ask: Ask, marks: str, width: int) -> Content:
        """Where it comes from, as much of it as fits beside how it stands."""
        wording = self._shared.wording
        parts = [wording.project(ask), wording.client(ask), wording.questions(ask), wording.host(ask)]
        wanted = [part for part in parts if part]
        while len(wanted) > 1 and len(" · ".join(wanted)) + len(marks) + 2 > width:
            wanted.pop()
        return _both_ends(Content.styled(" · ".join(wanted), "$muted"), Content.styled(marks, "$mark"), width)


def _both_ends(left: Content, right: Content, width: int) -> Content:
    """One text at the left, one at the right, the left one shortened where they would meet."""
    right = right.truncate(max(width * 2 // 3, 1), ellipsis=True)
    room = max(width - right.cell_length - 1, 1)
    return left.truncate(room, ellipsis=True, pad=True) + " " + right
