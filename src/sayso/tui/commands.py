"""The commands that agents run: which, how they stand, what the one at the cursor prints as it comes; stopping it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.worker import Worker

from sayso.errors import NotFound, StoreError
from sayso.operations.operation import Operation
from sayso.operations.reader import LOOK_SECONDS, OperationReader, Overview, View
from sayso.running.capture import STREAMS
from sayso.running.excerpt import StreamText
from sayso.running.looks import ColouredRun
from sayso.text import one_line
from sayso.tui.bars import TextLine
from sayso.tui.commandlist import OperationList, standing, standing_lasts
from sayso.tui.dialogs import ask_whether
from sayso.tui.link import SURFACE
from sayso.tui.markdown import Block
from sayso.tui.prose import Pane, Prose
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, Open, Read, SaysoScreen, Trouble
from sayso.tui.shared import Shared
from sayso.tui.ticker import Ticker

_PAGE = 100
_SHOWN_BYTES = 32_768
"""The most of a stream that is on the screen: its end."""
_READ_BYTES = 1_000_000
"""The most of a stream that is given to the pager."""
_LONGEST_WORDS = 300
_LOOK_AFTER = 0.05
_VIEWS = (STREAMS, *((stream,) for stream in STREAMS))
_STDERR_SIGN = "! "
T = TypeVar("T")


class CommandsScreen(SaysoScreen[None]):
    """The list, and beside it, or in its place on a small screen, the command at the cursor."""

    NEED_A_ROW = frozenset({"open", "stop", "stream", "copy", "whole"})

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, "commands")
        self._told: dict[str, str] = {}
        self._overview: Overview | None = None
        self._streams: tuple[str, ...] = STREAMS
        self._snapshot: CommandSnapshot | None = None
        self._looking: Timer | None = None
        self._follows = True
        self._stale = self._finding = self._reading = False
        self._pace = Ticker(self, shared.wording.clock, self.tick)
        self._following: Timer | None = None

    def body(self) -> ComposeResult:
        yield TextLine(id="empty")
        with Horizontal(id="inbox"):
            yield OperationList(self.shared, words=lambda operation: self._told.get(operation.id, ""))
            with Vertical(id="beside"):
                yield Prose(id="preview")
                with Pane(id="output"):
                    yield Prose(id="printed")

    def on_mount(self) -> None:
        self.query_one("#empty", TextLine).show(self.shared.texts.commands_loading)
        self.query_one(OperationList).focus()
        super().board_changed()
        self._look()
        self._following = self.set_interval(LOOK_SECONDS, self._look_at_what_runs, pause=True)
        self.watch(self.query_one("#output"), "scroll_y", self._scrolled, init=False)

    def special(self) -> str:
        return " · ".join(part for part in (super().special(), self.shared.texts.commands_title) if part)

    def tick(self) -> None:
        self.query_one(OperationList).tick()
        if self._snapshot and _runs(self._snapshot):
            self._tell_standing(self._snapshot)
        self._show_end()

    # Looking

    def board_changed(self) -> None:
        super().board_changed()
        if self._overview and not self.shared.board.trouble:
            self._look()

    def _look(self) -> None:
        """Look once more after the look that is under way: one that is given up each time something changes would never
        end where much does."""
        self._stale = True
        if self.alive and not self._finding:
            self._begin(self._find_all, "commands")

    async def _find_all(self) -> None:
        self._finding = True
        try:
            while self._stale:
                self._stale = False
                await self._find()
        finally:
            self._finding = False

    async def _find(self) -> None:
        """What runs, and as many of those that ended as were shown before."""
        least = max(_PAGE, len(self._overview.ended) if self._overview else 0)

        def look(reader: OperationReader) -> tuple[Overview, dict[str, str]]:
            reader.desk.end_the_dead()
            overview = reader.overview(most=least)
            return overview, {each.id: reader.words(each) for each in (*overview.under_way, *overview.ended)}

        try:
            overview, told = await self._ask(look)
        except StoreError:
            return
        if self._overview and len(self._overview.ended) > least:
            self._stale = True  # older ones were fetched meanwhile, which are not among these
        elif self.alive:
            self._overview, self._told = overview, told
            self._show(overview)

    def _begin(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """In place of the work of this group that is under way. Not a coroutine, which might never be awaited."""
        _: Worker[None] = self.run_worker(work, group=group, exclusive=True)

    async def _ask(self, work: Callable[[OperationReader], T]) -> T:
        try:
            return await self.shared.link.ask(work)
        except StoreError as error:
            self.app.post_message(Trouble(error))
            raise

    def _show(self, overview: Overview) -> None:
        found = (*overview.under_way, *overview.ended)
        self.query_one(OperationList).show(found)
        empty = self.query_one("#empty", TextLine)
        empty.show(self.shared.texts.commands_empty)
        empty.display = not found
        self.show_whether_empty(not found)
        self._read_soon()

    @on(Rows.Moved)
    def _moved(self) -> None:
        if self._overview and self._overview.more and self._at_the_end:
            self._begin(partial(self._find_more, self._overview), "more")
        self._read_soon()

    @property
    def _at_the_end(self) -> bool:
        listed = self.query_one(OperationList)
        return listed.cursor >= listed.count() - 10

    async def _find_more(self, known: Overview) -> None:
        def look(reader: OperationReader) -> tuple[Overview, dict[str, str]]:
            older = reader.overview(before=known.ended[-1], most=_PAGE)
            return older, {each.id: reader.words(each) for each in older.ended}

        try:
            older, told = await self._ask(look)
        except StoreError:
            return
        now = self._overview
        if not self.alive or now is None:
            return
        if now.ended[-1:] and now.ended[-1].id == known.ended[-1].id:
            self._told |= told
            self._overview = Overview(under_way=now.under_way, ended=(*now.ended, *older.ended), more=older.more)
            self._show(self._overview)
        else:
            self._moved()  # others are the last by now

    # The one at the cursor

    @property
    def _operation(self) -> Operation | None:
        return self.query_one(OperationList).item if self.alive else None

    def _read_soon(self) -> None:
        if self._looking:
            self._looking.stop()
        self._looking = self.set_timer(_LOOK_AFTER, self._read)

    def _read(self) -> None:
        if self._operation and self._is_shown:
            self._begin(partial(self._look_into, self._operation), "read")

    @property
    def _is_shown(self) -> bool:
        return self.has_class("-wide") or self.has_class("-reading")

    def _look_at_what_runs(self) -> None:
        """Nothing rings when a command prints; while one that runs is on the screen it is looked at."""
        assert self._following is not None
        if self._snapshot is None or not _runs(self._snapshot) or not self.is_current:
            self._following.pause()
        elif self._follows and not self._reading:
            self._read()

    def _scrolled(self) -> None:
        """Who has scrolled up is reading: nothing moves until they are back at the end."""
        self._follows = self.query_one("#output").is_vertical_scroll_end

    async def _look_into(self, operation: Operation) -> None:
        streams = self._streams

        def look(reader: OperationReader) -> CommandSnapshot:
            view = reader.view(operation.id)
            newest = _newest(reader, view.part, streams, _SHOWN_BYTES)
            here, sizes = reader.is_here(view.part), reader.printed(view.part)
            return CommandSnapshot(view=view, streams=streams, newest=newest, printed=sizes, here=here)

        self._reading = True
        try:
            snapshot = await self._ask(look)
        except (StoreError, NotFound):
            return
        finally:
            self._reading = False
        if self.alive and self._operation and self._operation.id == operation.id:
            self._tell(snapshot)

    def _tell(self, snapshot: CommandSnapshot) -> None:
        before, self._snapshot = self._snapshot, snapshot
        is_another = before is None or before.view.part.id != snapshot.view.part.id
        self._follows |= is_another
        self._tell_standing(snapshot)
        if before is None or is_another or before.newest != snapshot.newest:
            self.query_one("#printed", Prose).show(printed(self.shared, snapshot))
        self._show_end()

    def _show_end(self) -> None:
        """Once it is laid out; whoever has scrolled up by then stays there."""
        self.call_after_refresh(self._scroll_to_end)

    def _scroll_to_end(self) -> None:
        if self.alive and self._follows:
            self.query_one("#output").scroll_end(animate=False, immediate=True)

    def _tell_standing(self, snapshot: CommandSnapshot) -> None:
        operation = snapshot.view.operation
        words = self._told.get(operation.id, "")
        self._pace.keep([standing_lasts(self.shared, operation)])
        if self._following and _runs(snapshot):
            self._following.resume()
        self.query_one("#preview", Prose).show(facts(self.shared, snapshot.view, words))

    # Doing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is done with the output only where that is on the screen."""
        if action in ("stream", "copy") and not self._is_shown:
            return False
        return super().check_action(action, parameters)

    def on_resize(self) -> None:
        self.refresh_bindings()

    @on(Rows.Clicked)
    def action_open(self) -> None:
        """Read what it prints, on a small screen in place of the list; or decide whether it may run."""
        permission = self.shared.board.find(self._operation.permission) if self._operation else None
        if permission and self.meant():
            self.post_message(Open(permission))
        elif self._operation:
            self.add_class("-reading")
            self.refresh_bindings()
            self.query_one("#output").focus()
            self._read()

    def action_back(self) -> None:
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self.refresh_bindings()
            self.query_one(OperationList).focus()
        else:
            self.dismiss(None)

    def action_stream(self) -> None:
        """Only stdout, only stderr, both again."""
        self._streams = _VIEWS[(_VIEWS.index(self._streams) + 1) % len(_VIEWS)]
        self._snapshot = None
        self._read()

    def action_copy(self) -> None:
        if self._snapshot:
            self.post_message(Copy(self._snapshot.newest.text))

    def action_whole(self) -> None:
        if operation := self._operation:
            self._begin(partial(self._read_whole, operation), "whole")

    async def _read_whole(self, operation: Operation) -> None:
        streams = self._streams

        def look(reader: OperationReader) -> str:
            return _newest(reader, reader.view(operation.id).part, streams, _READ_BYTES).text

        try:
            self.post_message(Read(await self._ask(look)))
        except (StoreError, NotFound) as error:
            self.alert(self.shared.explained(error))

    def action_stop(self) -> None:
        if operation := self._operation:
            self._begin(partial(self._stop, operation), "stop")

    async def _stop(self, operation: Operation) -> None:
        texts = self.shared.texts
        name = one_line(operation.tool, 60)
        if operation.state.ended:
            self.say(texts.ended_already.format(tool=name))
            return
        title, about = texts.stop_title.format(tool=name), self._what_is_stopped(operation)
        if not await ask_whether(self, title=title, about=about):
            return
        by = f"{self.shared.config.person} in the {SURFACE}"
        try:
            await self._ask(lambda reader: reader.cancel(operation, by))
        except (StoreError, NotFound) as error:
            self.alert(texts.not_sent.format(error=self.shared.explained(error)))
        else:
            self.say(texts.stopping.format(tool=name))
            self._look()

    def _what_is_stopped(self, operation: Operation) -> str:
        """Which of its kind: its words, who wanted it and where; and what stopping does."""
        shared, words = self.shared, one_line(self._told.get(operation.id, ""), _LONGEST_WORDS)
        who = (shared.wording.client(operation), shared.wording.project(operation), one_line(operation.host, 80))
        where = " · ".join(part for part in who if part)
        return "\n".join(filter(None, (f"$ {words}" if words else "", where, "", shared.texts.stop_about)))


def _runs(snapshot: CommandSnapshot) -> bool:
    return not snapshot.view.operation.state.ended


@dataclass(frozen=True, kw_only=True)
class NewestOutput:
    """The end of what was printed, in the order in which it came; `left_out` bytes lie before it."""

    parts: tuple[StreamText, ...]
    left_out: int

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class CommandSnapshot:
    """What was found of one command at one look: the end of some streams, and the sizes of both."""

    view: View
    streams: tuple[str, ...]
    newest: NewestOutput
    printed: tuple[int, ...]
    here: bool


def _newest(reader: OperationReader, part: Operation, streams: tuple[str, ...], limit: int) -> NewestOutput:
    if len(streams) > 1:
        both = reader.newest_of_both(part, limit=limit)
        return NewestOutput(parts=(*both.parts, *both.unfinished), left_out=both.left_out)
    lines = reader.newest_lines(part, streams[0], limit=limit)
    printed = StreamText(stream=streams[0], runs=(ColouredRun(lines.text + lines.unfinished),))
    return NewestOutput(parts=(printed,), left_out=lines.offset)


def facts(shared: Shared, view: View, words: str) -> Sequence[Block]:
    """What is executed, its steps, where, and how it stands."""
    operation = view.operation
    blocks = [
        Block(content=Content.styled(one_line(operation.tool, 200), "bold")),
        Block(content=Content.styled(standing(shared, operation), "$mark"), tight=True),
    ]
    if operation.permission:
        told = shared.texts.allow_or_deny.format(key=shared.keys.shown("open"))
        blocks.append(Block(content=Content.styled(told, "$muted"), tight=True))
    if words:
        blocks.append(Block(content=Content(one_line(words, 2000)), first="$ ", rest="  "))
    for number, step in enumerate(view.steps, 1):
        told = f"{number}. {one_line(step.tool, 60)}: {standing(shared, step)}"
        blocks.append(Block(content=Content(told), tight=number > 1))
    place = {"folder": one_line(operation.cwd, 300), "host": one_line(operation.host, 80)}
    blocks.append(Block(content=Content.styled(shared.texts.command_in.format(**place), "$muted")))
    if reason := operation.status.text if operation.status else "":
        blocks.append(Block(content=Content(one_line(reason, 600)), tight=True))
    return blocks


def printed(shared: Shared, snapshot: CommandSnapshot) -> Sequence[Block]:
    """The end of what it printed, as it is now."""
    texts, newest = shared.texts, snapshot.newest
    if not snapshot.here:
        told = texts.output_elsewhere.format(host=one_line(snapshot.view.part.host, 80))
        return [Block(content=Content.styled(told, "$muted"))]
    sizes = " · ".join(f"{name} {size:,}" for name, size in zip(STREAMS, snapshot.printed, strict=True))
    title = texts.output_title.format(stream=" + ".join(snapshot.streams), sizes=sizes)
    blocks = [Block(content=Content.styled(title, "bold $primary"))]
    if newest.left_out:
        left_out = texts.output_before.format(n=f"{newest.left_out:,}", key=shared.keys.shown("whole"))
        blocks.append(Block(content=Content.styled(left_out, "$muted"), tight=True))
    text = told_apart(newest.parts)
    nothing = Block(content=Content.styled(texts.output_nothing, "$muted"), tight=True)
    return [*blocks, Block(content=text, solid=True, tight=True) if text else nothing]


def told_apart(parts: Sequence[StreamText]) -> Content:
    """What came from both streams as it came: a sign before each line from stderr, where there are others as well."""
    several, lines = len({part.stream for part in parts}) > 1, list[Content]()
    for part in parts:
        is_error = several and part.stream != STREAMS[0]
        sign, style = (_STDERR_SIGN, "$mark") if is_error else (" " * len(_STDERR_SIGN) if several else "", "")
        lines += [Content.styled(sign + line, style) for line in part.text.removesuffix("\n").split("\n") if part.text]
    return Content("\n").join(lines).rstrip("\n")
