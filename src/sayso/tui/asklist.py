"""The list of asks, in the inbox and in the history. An agent that has many open is one row, which can be opened."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from textual.content import Content

from sayso.asks.crowds import Crowd, Entry
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Ask
from sayso.tui.entries import Entries
from sayso.tui.one_key import row_choices
from sayso.tui.shared import Shared

Marks = Callable[[Entry], Sequence[str]]
_INDENT = "  "
_JOIN = " · "
_LINES = 2
"""Lines that a row has."""


class AskList(Entries[Entry]):
    """Asks by newest or by whatever order they are given in."""

    def __init__(self, shared: Shared, *, since: Callable[[Ask], int], marks: Marks) -> None:
        super().__init__(shared, id="asks")
        self._since, self._marks = since, marks
        self._unfolded: dict[str, Crowd] = {}
        self._lookalikes = Lookalikes()

    @property
    def ask(self) -> Ask | None:
        """The ask at the cursor, unless many are told there as one."""
        return self.item if isinstance(self.item, Ask) else None

    @property
    def crowd(self) -> Crowd | None:
        """The crowd at the cursor, or the open one that the ask at the cursor is part of."""
        return self.item if isinstance(self.item, Crowd) else self._unfolded.get(self.item.id if self.item else "")

    def is_unfolded(self, crowd: Crowd) -> bool:
        return crowd.newest.id in self._unfolded

    def show_unfolded(self, entries: Sequence[Entry], unfolded: dict[str, Crowd]) -> None:
        """Show these; the asks with these ids are part of a crowd that is open."""
        if unfolded != self._unfolded:
            self._unfolded = unfolded
            self._versions = []
        self.show(entries)

    def show(self, items: Sequence[Entry]) -> None:
        asks = [item.newest if isinstance(item, Crowd) else item for item in items]
        self._lookalikes = Lookalikes(ask.asker for ask in asks)
        super().show(items)

    def since(self, item: Entry) -> int:
        return item.newest.created_at if isinstance(item, Crowd) else self._since(item)

    def marks(self, item: Entry) -> Sequence[str]:
        return self._marks(item)

    def standing_lasts(self, item: Entry) -> int | None:
        return None if isinstance(item, Crowd) else self._shared.wording.standing_lasts(item)

    def headline(self, item: Entry) -> Content:
        if isinstance(item, Crowd):
            sign = "[-] " if self.is_unfolded(item) else "[+] "
            return Content.assemble(sign, (self._shared.wording.how_many(item), "bold"), *self._newest(item))
        texts, marks = self._shared.texts, self._marks(item)
        sign = "[x] " if texts.stands_marked in marks else ""
        return Content.styled(
            f"{sign}{self._shared.wording.headline(item)}", "bold" if texts.stands_new in marks else ""
        )

    def _newest(self, crowd: Crowd) -> Sequence[tuple[str, str]]:
        return ((f" · {self._shared.wording.headline(crowd.newest)}", "$muted"),)

    def origin(self, item: Entry) -> Sequence[str]:
        wording, ask = self._shared.wording, item.newest if isinstance(item, Crowd) else item
        who = [wording.project(ask), wording.client(ask), *wording.apart(ask, self._lookalikes)]
        return [*who, "" if isinstance(item, Crowd) else wording.questions(ask), wording.host(ask)]

    def leave_one_out(self, item: Entry, parts: list[str]) -> None:
        """What tells an agent from others of its name goes after that name."""
        ask = item.newest if isinstance(item, Crowd) else item
        telling = [part for part in self._shared.wording.apart(ask, self._lookalikes) if part]
        if len(parts) == 3 and parts[-1:] == telling[:1]:
            parts.pop(1)
        else:
            parts.pop()

    def look(self, index: int) -> Hashable:
        item = self.items[index]
        open_one = self.is_unfolded(item) if isinstance(item, Crowd) else item.id in self._unfolded
        return super().look(index), open_one, tuple(self.origin(item))

    @property
    def tells_choices(self) -> bool:
        """Whether the row at the cursor tells all of its question, and is in view."""
        item = self.item
        if item is None:
            return False
        width = self._width - (len(_INDENT) if item.id in self._unfolded else 0)
        top = self._tops[self.cursor] - self.scroll_offset.y
        return 0 <= top <= self.size.height - _LINES and bool(self._choices(item, width))

    def _choices(self, item: Entry, width: int) -> str:
        """What one key answers, where the row has room for all of the question and for who asks."""
        told = row_choices(self._shared, item) if isinstance(item, Ask) else ""
        if not told:
            return ""
        assert isinstance(item, Ask)
        wording = self._shared.wording
        above = self.headline(item).cell_length + _cells(wording.age(self.since(item))) + 1
        apart = [part for part in wording.apart(item, self._lookalikes) if part]
        who = _cells(_JOIN.join(["", wording.project(item), *apart[:1], *self.marks(item)])) + 2
        return told if max(above, _cells(told) + who) <= width else ""

    def _below(self, item: Entry, width: int) -> Content:
        told = self._choices(item, width)
        if not told:
            return super()._below(item, width)
        return Content(told) + _JOIN + super()._below(item, width - _cells(told + _JOIN))

    def row(self, index: int, width: int) -> Sequence[Content]:
        """The asks of an open crowd stand a little further in."""
        if self.items[index].id not in self._unfolded:
            return super().row(index, width)
        return [Content(_INDENT) + line for line in super().row(index, max(width - len(_INDENT), 1))]


def _cells(text: str) -> int:
    """How many columns the text takes."""
    return Content(text).cell_length
