"""A list of things with a cursor, drawn line by line: only what is visible costs anything, however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from sayso.tui.keys import Keys

_CURSOR = "> "


class Rows(ScrollView, can_focus=True, inherit_bindings=False):
    """The base of every list. What stands in a row is said by `row`, how many there are by `count`."""

    COMPONENT_CLASSES = {"rows--cursor"}  # noqa: RUF012 - Textual has it so
    CONTEXTS: tuple[str, ...] = ("lists", "pages")

    class Moved(Message):
        """The cursor is somewhere else now."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> Rows:
            return self.rows

    class Clicked(Message):
        """A row was clicked; the cursor is on it."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> Rows:
            return self.rows

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:
        super().__init__(id=id)
        keys.bind(self, *self.CONTEXTS)
        self.cursor = 0
        self._tops: list[int] = [0]
        self._measured_for = -1
        self._counted: dict[int, list[int]] = {}
        self._strips: dict[tuple[int, int, bool, bool], Strip] = {}
        """Lines as they were drawn: scrolling draws the same ones again and again."""
        self.auto_links = False

    # What a kind of list says

    def count(self) -> int:
        raise NotImplementedError

    def row(self, index: int, width: int) -> Sequence[Content]:
        """The lines of a row, none wider than `width`."""
        raise NotImplementedError

    def height(self, index: int, width: int) -> int:
        """How many lines `row` has."""
        return len(self.row(index, width))

    # What changes it

    def changed(self) -> None:
        """The rows are others now; the cursor stays where it is, as far as there is such a row."""
        self._measured_for = -1
        self._counted = {}
        self._strips = {}
        self.cursor = min(self.cursor, max(self.count() - 1, 0))
        self._measure()
        self.refresh()

    def redraw(self, index: int) -> None:
        """One row looks different now, at the same height."""
        if index < len(self._tops) - 1:
            self._strips = {key: strip for key, strip in self._strips.items() if key[0] != index}
            self.refresh_lines(self._tops[index], self._tops[index + 1] - self._tops[index])

    def move_to(self, index: int) -> None:
        index = max(0, min(index, self.count() - 1))
        if index == self.cursor or not self.count():
            return
        before, self.cursor = self.cursor, index
        self.redraw(before)
        self.redraw(index)
        self.show_cursor()
        self.post_message(self.Moved(self))

    def show_cursor(self) -> None:
        """Scroll so that the row of the cursor is seen."""
        if self.count() and self.size.height:
            self._measure()
            top, below = self._tops[self.cursor], self._tops[self.cursor + 1]
            self.scroll_to_region(Region(0, top, self._width, below - top), animate=False, immediate=True)

    # Drawing

    @property
    def _width(self) -> int:
        """What a row can use; the cursor's sign stands before it."""
        return max(self.scrollable_content_region.width - len(_CURSOR), 1)

    def _measure(self) -> None:
        """Know where each row begins; measured anew when the width or the rows have changed."""
        if self._measured_for == self._width:
            return
        self._measured_for = self._width
        self._tops = self._tops_at(self._width)
        self.virtual_size = Size(self._width + len(_CURSOR), self._tops[-1])

    def _tops_at(self, width: int) -> list[int]:
        """Layout asks for the height at several widths, often; each is counted once."""
        if width not in self._counted:
            self._counted[width] = self._count_tops(width)
        return self._counted[width]

    def _count_tops(self, width: int) -> list[int]:
        tops = [0]
        for index in range(self.count()):
            tops.append(tops[-1] + self.height(index, width))
        return tops

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._tops_at(max(width - len(_CURSOR), 1))[-1]

    def render_line(self, y: int) -> Strip:
        self._measure()
        line = y + self.scroll_offset.y
        index = bisect_right(self._tops, line) - 1
        if not 0 <= index < self.count():
            return Strip.blank(self._width + len(_CURSOR), self.visual_style.rich_style)
        key = (index, line - self._tops[index], index == self.cursor, self.has_focus)
        if key not in self._strips:
            self._strips[key] = self._draw(*key)
        return self._strips[key]

    def _draw(self, index: int, within: int, at_cursor: bool, focused: bool) -> Strip:
        width, content, style = self._width + len(_CURSOR), self._line(index, within), self.visual_style
        if at_cursor and focused:
            chosen = Style.from_styles(self.get_component_styles("rows--cursor"))
            content, style = content.stylize(chosen), style + chosen
        strip = Visual.to_strips(self, content.truncate(width), width, 1, style)[0]
        return strip.extend_cell_length(width, style.rich_style)

    def _line(self, index: int, within: int) -> Content:
        lines = self.row(index, self._width)
        sign = _CURSOR if within == 0 and index == self.cursor else " " * len(_CURSOR)
        return Content(sign) + (lines[within] if within < len(lines) else Content(""))

    def on_resize(self) -> None:
        self._measured_for = -1
        self._strips = {}
        self._measure()
        self.show_cursor()

    def notify_style_update(self) -> None:
        self._strips = {}
        super().notify_style_update()

    def watch_has_focus(self, focused: bool) -> None:
        super().watch_has_focus(focused)
        self.redraw(self.cursor)

    # Keys and mouse

    def action_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self.count() - 1)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def _page(self, direction: int) -> None:
        if self.count():
            line = self._tops[self.cursor] + direction * max(self.size.height - 1, 1)
            self.move_to(bisect_right(self._tops, max(line, 0)) - 1)

    def on_click(self, event: events.Click) -> None:
        index = bisect_right(self._tops, event.y + self.scroll_offset.y) - 1
        if 0 <= index < self.count():
            self.move_to(index)
            self.post_message(self.Clicked(self))
