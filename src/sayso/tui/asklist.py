"""The list of asks, in the inbox and in the history: two lines each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content

from sayso.asks.model import Ask
from sayso.tui.rows import Rows
from sayso.tui.shared import Shared

Marks = Callable[[Ask], Sequence[str]]


class AskList(Rows):
    """Asks by newest or by whatever order they are given in. The cursor stays on its ask when others come and go."""

    def __init__(self, shared: Shared, *, since: Callable[[Ask], int], marks: Marks) -> None:
        super().__init__(shared.keys, id="asks")
        self._shared = shared
        self._since, self._marks = since, marks
        self._asks: Sequence[Ask] = ()
        self._ages: list[str] = []

    @property
    def ask(self) -> Ask | None:
        """The ask at the cursor."""
        return self._asks[self.cursor] if self._asks else None

    @property
    def asks(self) -> Sequence[Ask]:
        return self._asks

    def show(self, asks: Sequence[Ask]) -> None:
        """Show these, with the cursor on the same ask as before, at the same height of the screen if possible."""
        before, at = self.ask, self.cursor
        self._asks = asks
        found = next((place for place, ask in enumerate(asks) if before and ask.id == before.id), None)
        self.cursor = at if found is None else found
        offset = self.scroll_offset.y
        self.changed()
        if offset and found is not None:
            self.scroll_to(y=offset + 2 * (found - at), animate=False)
        else:
            self.show_cursor()
        self._ages = [self._age(ask) for ask in asks]

    def tick(self) -> None:
        """Time has passed: draw those rows again whose age or standing reads differently now, and no others."""
        for place in self._visible():
            if (told := self._age(self._asks[place])) != self._ages[place]:
                self._ages[place] = told
                self.redraw(place)

    def _visible(self) -> range:
        first = self.scroll_offset.y // 2
        return range(first, min(first + self.size.height // 2 + 1, len(self._asks)))

    def _age(self, ask: Ask) -> str:
        return " ".join((self._shared.wording.age(self._since(ask)), *self._marks(ask)))

    def count(self) -> int:
        return len(self._asks)

    def height(self, index: int, width: int) -> int:
        return 2

    def row(self, index: int, width: int) -> Sequence[Content]:
        ask, wording = self._asks[index], self._shared.wording
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
