"""The files that go with an answer: those that are attached, and a field for the path of another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.style import Style
from textual.widgets import Input

from sayso.asks.model import Ask, Attachment
from sayso.asks.new_attachments import from_disk
from sayso.errors import AlreadySettled, InvalidInput, NotFound, NotYours, Problem, StoreError
from sayso.text import file_size, one_line
from sayso.tui.bars import Foot, NoticeBar, TextLine
from sayso.tui.rows import Rows
from sayso.tui.screen import Dialog, Trouble
from sayso.tui.shared import Shared

_MOST_LOOKED_AT = 20_000
"""Names of a folder that are looked at for the one that is typed."""
_MOST_NAMED = 30

Changed = Callable[[tuple[Attachment, ...]], None]


class AttachDialog(Dialog[None]):
    """Attaches what is named as soon as it is named; `changed` hears of every change."""

    AUTO_FOCUS = ""

    def __init__(self, shared: Shared, ask: Ask, attached: Sequence[Attachment], changed: Changed) -> None:
        super().__init__()
        self._shared, self._ask, self._changed = shared, ask, changed
        self._kept = tuple(attached)
        self._reading = False
        shared.keys.bind(self, "dialog", "attaching")

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield TextLine(id="title")
            yield AttachedFiles(self._shared)
            yield Input(placeholder=self._shared.texts.attach_hint, id="path", compact=True)
            yield TextLine(id="about")
            yield TextLine(id="confirm")
        with Foot():
            yield NoticeBar(self._shared.notices)

    def on_mount(self) -> None:
        self.query_one("#title", TextLine).show(Content.styled(self._shared.texts.attach_title, "bold"))
        self._show()
        self._field.focus()

    @property
    def _field(self) -> Input:
        return self.query_one("#path", Input)

    def _show(self) -> None:
        files = self.query_one(AttachedFiles)
        files.show(self._kept)
        files.display = bool(self._kept)
        self._tell("")
        self._tell_ways()

    def _tell(self, text: str) -> None:
        about = self.query_one("#about", TextLine)
        about.show(text)
        about.display = bool(text)

    def _tell_ways(self) -> None:
        """What the keys do here, to be pressed or clicked."""
        texts, keys = self._shared.texts, self._shared.keys
        ways = [
            (texts.attach_this, ""),
            (f"{keys.shown('complete')} {texts.do_complete}", "screen.complete"),
            (texts.go_back.format(key=keys.shown("back")), "screen.back"),
        ]
        if self._kept:
            ways.insert(2, (texts.attach_remove.format(up=keys.shown("up"), key=keys.shown("remove")), ""))
        shown = [Content(text).stylize(Style.from_meta({"@click": click} if click else {})) for text, click in ways]
        self.query_one("#confirm", TextLine).show(Content(" · ").join(shown))

    # Attaching

    @on(Input.Submitted, "#path")
    def _named(self) -> None:
        """Attach what is named; with nothing there, be done."""
        if not self._field.value.strip():
            self.action_back()
        elif not self._reading:
            self._reading = True
            self.run_worker(self._take(self._field.value), group="attach")

    async def _take(self, typed: str) -> None:
        try:
            with self._shared.typing.held():  # what is typed next is the path of another
                added = await self._added(typed)
        except InvalidInput as error:
            self._fail(InvalidInput([Problem(path="", text=each.text) for each in error.problems]))
        except (AlreadySettled, NotFound, NotYours, StoreError) as error:
            self._fail(error)
        else:
            if self.is_attached:
                self._field.value = ""
            self._keep(tuple({each.id: each for each in (*self._kept, added)}.values()))
        finally:
            self._reading = False

    async def _added(self, typed: str) -> Attachment:
        ask_id, person, most = self._ask.id, self._shared.config.person, self._shared.config.attachments_bytes
        name, data = await asyncio.to_thread(from_disk, typed, most)
        return await self._shared.link.enter(lambda desk: desk.add_attachment(ask_id, person, name, data))

    def _fail(self, error: Exception) -> None:
        if isinstance(error, StoreError):
            self.app.post_message(Trouble(error))
        if self.is_attached:
            self._tell(one_line(self._shared.explained(error), 400))

    def _keep(self, files: tuple[Attachment, ...]) -> None:
        self._kept = files
        self._changed(files)
        if self.is_attached:
            self._show()

    @on(Input.Changed, "#path")
    def _typing(self) -> None:
        self._tell("")

    def action_complete(self) -> None:
        self.run_worker(self._complete(self._field.value), group="complete", exclusive=True)

    async def _complete(self, typed: str) -> None:
        """Type as much as is certain, and where there are several ways to go on, name them."""
        found = await asyncio.to_thread(completions, typed)
        if not self.is_attached or self._field.value != typed:
            return
        with self._field.prevent(Input.Changed):
            self._field.value = _common(found) or typed
        self._field.action_end()
        names = [one_line(path.rstrip("/").rpartition("/")[2], 60) for path in found[:_MOST_NAMED]]
        more = ["…"] if len(found) > _MOST_NAMED else []
        told = "" if len(found) == 1 else "  ".join([*names, *more]) or self._shared.texts.attach_nothing
        self._tell(told)

    # What is attached

    def on_key(self, event: Key) -> None:
        files = self.query_one(AttachedFiles)
        if event.key == "up" and self._field.has_focus and self._kept:
            event.stop()
            files.focus()

    def on_attached_files_left_down(self) -> None:
        self._field.focus()

    def action_remove(self) -> None:
        """Take back the file at the cursor."""
        files = self.query_one(AttachedFiles)
        if files.has_focus and self._kept:
            self._keep(tuple(each for place, each in enumerate(self._kept) if place != files.cursor))
            if not self._kept:
                self._field.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "remove" or bool(self._kept and self.query_one(AttachedFiles).has_focus)

    def action_back(self) -> None:
        self.dismiss(None)


class AttachedFiles(Rows):
    """A row for each file, with its size."""

    class LeftDown(Message):
        """The person wants to move on to what is below."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared.keys, id="files")
        self._files: Sequence[Attachment] = ()

    def show(self, files: Sequence[Attachment]) -> None:
        self._files = files
        self.changed()

    def count(self) -> int:
        return len(self._files)

    def row(self, index: int, width: int) -> Sequence[Content]:
        return [Content(described(self._files[index])).truncate(width, ellipsis=True)]

    def action_down(self) -> None:
        if self.cursor == self.count() - 1:
            self.post_message(self.LeftDown())
        super().action_down()


def _common(paths: Sequence[str]) -> str:
    """What all of them begin with: the first and the last in order differ the soonest."""
    if not paths:
        return ""
    first, last = min(paths), max(paths)
    same = next((place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[:same]


def described(file: Attachment) -> str:
    """Its name and, where that is known, its size."""
    return f"{file.name} ({file_size(file.size)})" if file.size else file.name


def completions(typed: str) -> list[str]:
    """The paths that begin like this, spelt as far as it is; folders end in a slash. Hidden ones only by their dot."""
    folder, slash, begun = typed.rpartition("/")
    with suppress(OSError, RuntimeError):
        with os.scandir(Path(folder + slash or ".").expanduser()) as found:
            names = [
                f"{folder}{slash}{each.name}{'/' if each.is_dir() else ''}"
                for each in islice(found, _MOST_LOOKED_AT)
                if each.name.startswith(begun) and each.name.isprintable() and (begun or not each.name.startswith("."))
            ]
        return sorted(names)
    return []
