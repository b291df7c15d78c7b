"""The thin things around a screen: the line at the top, the banner when the store is away, steps, what is told for
a moment, and the keys at the bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from sayso.text import one_line
from sayso.tui.keys import shown_key
from sayso.tui.notices import NoticeKind, Notices
from sayso.tui.shared import InboxBoard, Shared

_MOST_LINES = 2
"""Lines of keys at most, where the styles allow so many."""
_ALWAYS = ("back", "help")
"""The keys that stand at the end, and for which others give way where there is no room for all. On a line too short for
the first key of all beside them, only the help does."""


_STYLES = {**dict.fromkeys(NoticeKind, "$success"), NoticeKind.KEY: "$warning", NoticeKind.ALERT: "bold $warning"}
_SIGNS = {kind: "-" if style == "$success" else "!" for kind, style in _STYLES.items()}


class TextLine(Widget):
    """One or more lines of text of ours, wrapped."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._content = Content("")
        self.auto_links = False

    def show(self, content: Content | str) -> None:
        """Text is shown as it is, never as markup."""
        shown = Content(content) if isinstance(content, str) else content
        if not shown.is_same(self._content):
            self._content = shown
            self.refresh(layout=True)

    def render(self) -> Content:
        return self._content


class NoticeBar(TextLine):
    """What is told for a moment, above the keys. It has room of its own: what it would cover was not seen. A click
    takes it away."""

    def __init__(self, notices: Notices) -> None:
        super().__init__(id="notices")
        self._notices = notices
        self.show_notices()

    def show_notices(self) -> None:
        told = self._notices.told
        self.display = bool(told)
        lines = [Content.styled(f"{_SIGNS[each.kind]} {each.text}", _STYLES[each.kind]) for each in told]
        self.show(Content("\n").join(lines))

    def on_click(self) -> None:
        self._notices.forget(*NoticeKind)


class Foot(Vertical):
    """The lines below a dialog."""

    class Resized(Message):
        """The dialog has more room or less."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class TopBar(Widget):
    """The name, how many wait, and at the right what is new or special here."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(id="top")
        self._shared = shared
        self._left, self._right = Content(""), ""

    def tell(self, board: InboxBoard, right: str) -> None:
        """Agents that have many open are told apart, so that the question of another shows in the counts."""
        texts, asks, crowds = self._shared.texts, board.lone, board.crowds
        waiting = sum(ask.attended for ask in asks)
        others = len(asks) - waiting
        count = texts.one_waiting if waiting == 1 else texts.waiting.format(n=waiting)
        none = texts.none_waiting if board.looked else texts.loading
        parts = [count] if waiting else [] if crowds else [none]
        if others:
            parts.append(texts.left_open.format(n=others))
        if crowds:
            parts.append(self._shared.wording.crowds(crowds))
        if board.absence:
            parts.append(self._shared.wording.absence(board.absence))
        style = "$primary" if waiting or any(crowd.attended for crowd in crowds) else "$muted"
        left = Content.assemble((" Sayso ", "bold"), " ", (" · ".join(parts), style))
        if right != self._right or not left.is_same(self._left):
            self._left, self._right = left, right
            self.refresh()

    def render(self) -> Content:
        room = self.size.width - self._left.cell_length - 3
        right = Content(one_line(self._right, 200)).truncate(room, ellipsis=True) if room > 8 else Content("")
        gap = " " * max(self.size.width - self._left.cell_length - right.cell_length - 1, 1)
        return Content.assemble(self._left, gap, right.stylize("$mark"))


class Steps(Widget):
    """The questions of an ask as tabs, and the review after them."""

    def __init__(self) -> None:
        super().__init__(id="steps")
        self.auto_links = False
        self._names: Sequence[str] = ()
        self._done: Sequence[bool] = ()
        self._step = 0

    def show(self, names: Sequence[str], done: Sequence[bool], step: int) -> None:
        self._names, self._done, self._step = names, done, step
        self.refresh()

    def render(self) -> Content:
        tabs = [self._tab(place) for place in range(len(self._names))]
        room = max(self.size.width, 1)
        first, widths = 0, [tab.cell_length for tab in tabs]
        # With no room for all, the tab in use and those around it are shown.
        while first < self._step and sum(widths[first : self._step + 2]) > room:
            first += 1
        return Content("").join(tabs[first:]).truncate(room, ellipsis=True)

    def _tab(self, place: int) -> Content:
        sign = "x" if self._done[place] else " "
        label = f" {self._names[place]} " if place == len(self._names) - 1 else f" [{sign}] {self._names[place]} "
        style = "bold reverse" if place == self._step else "$muted"
        return Content.styled(label, style).stylize(Style.from_meta({"@click": f"screen.go_to({place})"}))


class KeyBar(Widget):
    """What the keys do here and now: as many as there is room for, the ways back and to the help always. They can be
    clicked."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(id="keys")
        self._shared = shared
        self._needed = 1
        self._withheld: Set[str] = frozenset()
        self._renamed: Mapping[str, str] = {}
        self._leading: Sequence[tuple[str, str]] = ()
        self._about_to_be_drawn: tuple[list[Content], list[Content]] | None = None
        self._is_outdated = False
        self.auto_links = False

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._changed())

    def withhold(self, names: Set[str]) -> None:
        """Leave these keys out for now: they would lead nowhere, or only to why not yet."""
        if names != self._withheld:
            self._withheld = names
            self._changed()

    def rename(self, names: Mapping[str, str]) -> None:
        """Tell these keys for now as what they do here, each in these words."""
        if names != self._renamed:
            self._renamed = names
            self._changed()

    def lead(self, items: Sequence[tuple[str, str]]) -> None:
        """Begin with these: keys that are no bindings, or nothing, and what is to be said of them."""
        if items != self._leading:
            self._leading = items
            self._changed()

    @property
    def room_to_lead(self) -> int:
        """Cells for what it begins with, beside the keys that are always there."""
        return self.size.width - _joined(self._items()[1]).cell_length - 2

    def _changed(self) -> None:
        """One key changes several things, and which keys work takes a while to find out: that is done once for all."""
        self._about_to_be_drawn = None
        if not self._is_outdated:
            self._is_outdated = True
            self.call_next(self._draw_anew)

    def _draw_anew(self) -> None:
        self._is_outdated = False
        self.refresh(layout=len(self._lines(self.size.width, _MOST_LINES)) != self._needed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._needed = len(self._lines(width, _MOST_LINES))
        return self._needed

    def render(self) -> Content:
        lines = self._lines(self.size.width, self.size.height)
        self._about_to_be_drawn = None
        return Content("\n").join(lines)

    def _lines(self, width: int, most: int) -> list[Content]:
        # Which keys work takes a while to find out, and how high this is to be is asked right before it is drawn.
        items, ends = self._about_to_be_drawn = self._about_to_be_drawn or self._items()
        if most == 1 and items and items[0].cell_length + _joined(ends).cell_length > width:
            ends = ends[-1:]
        last, lines = _joined(ends), [Content("")]
        for item in items:
            if lines[-1].cell_length + item.cell_length > width and len(lines) < most:
                lines.append(Content(""))
            kept_free = last.cell_length if len(lines) >= most else 0
            if lines[-1].cell_length + item.cell_length + kept_free <= width:
                lines[-1] += item
        if lines[-1].cell_length + last.cell_length > width and len(lines) < most:
            lines.append(Content(""))
        lines[-1] += last
        return lines

    def _items(self) -> tuple[list[Content], list[Content]]:
        """The keys that work now, in the order of the table; and those that stand at the end."""
        seen: dict[str, Content] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if (
                binding.id
                and binding.show
                and active.enabled
                and binding.id not in self._withheld
                and binding.id not in seen
                and not self._typed(binding.key)
            ):
                seen[binding.id] = self._item(binding.id, binding.key, binding.action)
        last = [seen.pop(name) for name in _ALWAYS if name in seen]
        leading = [Content.assemble((f" {keys}", "bold $primary"), f" {text} ") for keys, text in self._leading]
        return [*leading, *seen.values()], last

    def _typed(self, key: str) -> bool:
        """Whether a field that has the focus takes this key as a character. Textual leaves out most of these itself."""
        focused, character = self.screen.focused, shown_key(key)
        return len(character) == 1 and focused is not None and focused.check_consume_key(key, character)

    def _item(self, name: str, key: str, action: str) -> Content:
        text = self._renamed.get(name) or getattr(self._shared.texts, f"do_{name}")
        target = action if "." in action else f"screen.{action}"
        item = Content.assemble((f" {shown_key(key)}", "bold $primary"), f" {text} ")
        return item.stylize(Style.from_meta({"@click": target}))


def _joined(items: Sequence[Content]) -> Content:
    return Content("").join(items).rstrip()
