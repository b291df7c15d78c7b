"""The list of asks, in the inbox and in the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content

from sayso.asks.model import Ask
from sayso.tui.entries import Entries
from sayso.tui.shared import Shared

Marks = Callable[[Ask], Sequence[str]]


class AskList(Entries[Ask]):
    """Asks by newest or by whatever order they are given in."""

    def __init__(self, shared: Shared, *, since: Callable[[Ask], int], marks: Marks) -> None:
        super().__init__(shared, id="asks")
        self._since, self._marks = since, marks

    @property
    def ask(self) -> Ask | None:
        """The ask at the cursor."""
        return self.item

    @property
    def asks(self) -> Sequence[Ask]:
        return self.items

    def since(self, item: Ask) -> int:
        return self._since(item)

    def marks(self, item: Ask) -> Sequence[str]:
        return self._marks(item)

    def standing_lasts(self, item: Ask) -> int | None:
        return self._shared.wording.standing_lasts(item)

    def headline(self, item: Ask) -> Content:
        fresh = self._shared.texts.stands_new in self._marks(item)
        return Content.styled(self._shared.wording.headline(item), "bold" if fresh else "")

    def origin(self, item: Ask) -> Sequence[str]:
        wording = self._shared.wording
        who = [wording.project(item), wording.client(item), wording.session(item)]
        return [*who, wording.questions(item), wording.host(item)]
