"""A list of things with a cursor, drawn line by line: only what is visible costs anything, however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence

from textual import events
from textual.content import Content, Span
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from sayso.tui.keys import Keys

_CURSOR = "> "
_MOST_STRIPS = 1_000
"""Lines that are kept as they were drawn, for when they are scrolled back to."""


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
        self._tops: Sequence[int] = [0]
        self._measured_for = -1
        self._counted: dict[int, Sequence[int]] = {}
        self._strips: dict[tuple[Hashable, ...], Strip] = {}
        """Lines as they were drawn: scrolling draws the same ones again and again."""
        self._drawn_in: tuple[Style, Style, str] | None = None
        """The colours of all lines that were drawn."""
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

    def look(self, index: int) -> Hashable:
        """What the look of a row depends on, beside the cursor and the width: the same look is not drawn twice."""
        return index

    # What changes it

    def changed(self) -> None:
        """The rows are others now; the cursor stays where it is, as far as there is such a row."""
        self._strips = {}
        self.rearranged()

    def rearranged(self) -> None:
        """The same for rows whose `look` tells whether they are others."""
        self._measured_for = -1
        self._counted = {}
        self.cursor = min(self.cursor, max(self.count() - 1, 0))
        self._measure()
        self.refresh()

    def redraw(self, index: int) -> None:
        """One row looks different now, at the same height: its cursor or its `look`."""
        if index < len(self._tops) - 1:
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
        """Know where each row begins; measured again when the width or the rows have changed."""
        if self._measured_for == self._width:
            return
        self._measured_for = self._width
        self._tops = self._tops_at(self._width)
        self._take_size(Size(self._measured_for + len(_CURSOR), self._tops[-1]))

    def _take_size(self, size: Size) -> None:
        """A list that does not grow with its rows moves nothing else when they become more: only its scrollbar."""
        if self.styles.is_auto_height:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Rows.virtual_size, size)
            self._scroll_update(size)

    def _tops_at(self, width: int) -> Sequence[int]:
        """Layout asks for the height at several widths, often; each is counted once."""
        if width not in self._counted:
            self._counted[width] = self._count_tops(width)
        return self._counted[width]

    def _count_tops(self, width: int) -> Sequence[int]:
        tops = [0]
        for index in range(self.count()):
            tops.append(tops[-1] + self.height(index, width))
        return tops

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._tops_at(max(width - len(_CURSOR), 1))[-1]

    def render_lines(self, crop: Region) -> list[Strip]:
        self._measure()
        self._take_colours()
        return super().render_lines(crop)

    def _take_colours(self) -> None:
        """Forget what was drawn in other colours. Styles are made anew far more often than they change: each time
        something else gets the focus, to begin with."""
        cursor = Style.from_styles(self.get_component_styles("rows--cursor"))
        colours = self.visual_style, cursor, self.app.theme
        if colours != self._drawn_in:
            self._drawn_in, self._strips = colours, {}

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        index = bisect_right(self._tops, line) - 1
        if not 0 <= index < self.count():
            return Strip.blank(self._measured_for + len(_CURSOR), self.visual_style.rich_style)
        within = line - self._tops[index]
        at_cursor = index == self.cursor
        key = (self.look(index), self._measured_for, at_cursor, at_cursor and self.has_focus)
        if (*key, within) not in self._strips:
            self._draw(index, key)
        return self._strips[*key, within]

    def _draw(self, index: int, key: tuple[Hashable, int, bool, bool]) -> None:
        """Draw all lines of a row."""
        _, width, at_cursor, chosen = key
        lines, height = self.row(index, width), self._tops[index + 1] - self._tops[index]
        while len(self._strips) + height > max(_MOST_STRIPS, height):
            del self._strips[next(iter(self._strips))]
        for within in range(height):
            sign = _CURSOR if at_cursor and within == 0 else " " * len(_CURSOR)
            line = Content(sign) + (lines[within] if within < len(lines) else Content(""))
            self._strips[*key, within] = self._strip(line, chosen)

    def _strip(self, content: Content, chosen: bool) -> Strip:
        width, style = self._measured_for + len(_CURSOR), self.visual_style
        if chosen:
            cursor = Style.from_styles(self.get_component_styles("rows--cursor"))
            content, style = content.stylize(cursor), style + cursor
        # What Textual has for this looks for places to wrap at and for what is selected, which a row has not.
        line = content.truncate(width)
        spans = [Span(span.start, span.end, self._get_style(span.style)) for span in line.spans]
        strip = Strip(Content(line.plain, spans).render_segments(style))
        return strip.extend_cell_length(width, style.rich_style)

    def on_resize(self) -> None:
        self._measured_for = -1
        self._measure()
        self.show_cursor()

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
