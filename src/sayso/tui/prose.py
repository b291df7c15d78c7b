"""A text to read: blocks laid out to the width there is, as one widget whatever their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, takewhile

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from sayso.records import replace
from sayso.text import most_cells
from sayso.tui.markdown import Block

_DEEPEST_INDENT = 0.5
"""The part of the width that indents may take; deeper ones are cut."""


class Prose(Widget):
    """Shows blocks. Put it into something that scrolls."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()
        self._laid_out: tuple[int, Content, int] = (-1, Content(""), 0)

    def show(self, blocks: Sequence[Block]) -> None:
        if _same(self._blocks, blocks):
            return
        self._blocks = tuple(blocks)
        self._laid_out = (-1, Content(""), 0)
        self.refresh(layout=True)

    def render(self) -> Content:
        return self._lay_out(self.content_size.width)[0]

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._lay_out(width)[1]

    def read_at(self, width: int, lines: int, before: int) -> int:
        """How many lines at this width hold only what the first `lines` held at the width `before`."""
        read = sum(islice(_letters(self._blocks, before), lines))
        held = accumulate(_letters(self._blocks, width))
        return sum(1 for _ in takewhile(lambda so_far: so_far <= read, held))

    def _lay_out(self, width: int) -> tuple[Content, int]:
        if self._laid_out[0] != width:
            lines = list(lay_out(self._blocks, width))
            self._laid_out = (width, Content("\n").join(lines), len(lines))
        return self._laid_out[1:]


def _same(some: Sequence[Block], others: Sequence[Block]) -> bool:
    """Whether they look the same; contents are compared with their styles, which `==` leaves out."""
    return len(some) == len(others) and all(
        one.content.is_same(other.content) and replace(one, content=other.content) == other
        for one, other in zip(some, others, strict=True)
    )


class Pages(VerticalScroll):
    """Scrolls what is in it by its own keys, as `page` does."""

    def action_page_up(self) -> None:
        page(self, -1)

    def action_page_down(self) -> None:
        page(self, 1)


class Pane(Pages):
    """Stands beside a list and tells how much more of its text is below: the list has the keys."""

    class Turned(Message):
        """More of it is below than before, or less."""

    def __init__(self, *, id: str, can_focus: bool | None = None) -> None:
        super().__init__(id=id, can_focus=can_focus)
        self._below = 0

    def on_mount(self) -> None:
        for what in ("scroll_y", "virtual_size"):
            self.watch(self, what, self._look, init=False)

    def on_resize(self) -> None:
        self._look()

    def on_show(self) -> None:
        self._look()

    def on_hide(self) -> None:
        self._look()

    @property
    def below(self) -> int:
        """Lines of it that are below what is in view."""
        return round(self.max_scroll_y - self.scroll_y) if self.size.height else 0

    def _look(self) -> None:
        if self.below != self._below:
            self._below = self.below
            self.post_message(self.Turned())


def page(around: Widget, pages: int) -> None:
    """Scroll what is around a text by pages, at once: held keys must not wait for a redraw each."""
    around.scroll_relative(y=pages * max(around.size.height - 1, 1), animate=False, immediate=True)


def lay_out(blocks: Sequence[Block], width: int) -> Iterator[Content]:
    """The lines of the blocks, none wider than `width` cells."""
    for indent, line in _lines(blocks, width):
        yield Content.styled(indent, "$muted") + line


def _letters(blocks: Sequence[Block], width: int) -> Iterator[int]:
    """How much each line holds. Blanks do not count: where a line is broken, there may be none."""
    for _, line in _lines(blocks, width):
        yield len("".join(line.plain.split()))


def _lines(blocks: Sequence[Block], width: int) -> Iterator[tuple[str, Content]]:
    """Each line with what stands before it."""
    for place, block in enumerate(blocks):
        if place and not block.tight:
            yield "", Content("")
        yield from _block_lines(block, max(width, 4))


def _block_lines(block: Block, width: int) -> Iterator[tuple[str, Content]]:
    most = int(width * _DEEPEST_INDENT)
    first, rest = block.first[-most:], block.rest[-most:]
    room = width - max(len(first), len(rest))
    wrapped = _solid(block.content, room) if block.solid else _fitting(block.content.wrap(room), room)
    for number, line in enumerate(wrapped):
        yield rest if number else first, line


def _solid(content: Content, width: int) -> Iterator[Content]:
    for line in content.split(allow_blank=True):
        for part in _fitting(line.expand_tabs(4).fold(width), width):
            yield part.extend_right(width - part.cell_length).stylize_before("$code on $code-background")


def _fitting(lines: Iterable[Content], width: int) -> Iterator[Content]:
    """The lines, broken once more where a terminal may draw them wider than is reckoned here: what it pushes over its
    edge is not seen."""
    for line in lines:
        yield from [line] if line.plain.isascii() else line.divide([*_breaks(line.plain, width)])


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where to break a line so that it fits whatever the terminal makes of its characters."""
    taken = 0
    for place, character in enumerate(text):
        taken += most_cells(character)
        if taken > width:
            yield place
            taken = most_cells(character)
