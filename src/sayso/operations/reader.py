"""What people do with operations: list them, look into one, read or follow its output, cancel it. Plain code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from sayso.config import Config
from sayso.operations.desk import MOST_UNDER_WAY, OperationDesk
from sayso.operations.operation import Operation
from sayso.processes import this_host
from sayso.records import record
from sayso.running.capture import STREAMS
from sayso.running.masking import masks_of
from sayso.store import Store

if TYPE_CHECKING:
    from sayso.operations.report import Report
    from sayso.running.excerpt import BothStreams, Excerpts, FoundInBoth
    from sayso.running.output import Found, OutputLines, Piece

LOOK_SECONDS = 0.2
"""How often to look for new output of a command that is followed; nothing rings when it prints."""

_AT_ONCE = 1 << 16
_BEGINNING = dict.fromkeys(STREAMS, 0)
Places = dict[str, Mapping[str, int]]
"""Where in the streams of each operation one has read to."""


@record
class Seen:
    """Something new of an operation that is followed: more output, or how it stands now."""

    operation: Operation
    stream: str = ""
    text: str = ""
    skipped: int = 0
    """Bytes before it that were not kept."""


@record
class Overview:
    """What is under way, and what ended last; both newest first. `more` has ended before those."""

    under_way: tuple[Operation, ...]
    ended: tuple[Operation, ...]
    more: bool = False
    running: int = 0
    """How many are under way: more than are listed, where they are very many."""


@record
class View:
    """An operation with its steps, as one looks at it."""

    operation: Operation
    steps: tuple[Operation, ...] = ()

    @property
    def part(self) -> Operation:
        """What prints now, or printed last: the newest step, else the operation itself."""
        return self.steps[-1] if self.steps else self.operation

    @property
    def mark(self) -> str:
        """Different whenever anything but the output has changed."""
        return ".".join(str(each.version) for each in (self.operation, *self.steps))


class OperationReader:
    """Operations as the people of one store see them. Output is made harmless for a terminal, secrets are hidden."""

    def __init__(self, store: Store, config: Config) -> None:
        self._store = store
        self.desk = OperationDesk(store, config.operations_dir)
        self._masks = masks_of(config)

    @cached_property
    def _excerpts(self) -> Excerpts:
        from sayso.running.excerpt import Excerpts  # those who only list commands read none of what they print

        return Excerpts(self._masks)

    def recent(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        before: Operation | None = None,
        most: int = 100,
    ) -> list[Operation]:
        """A page of operations, newest first. With a person: those that person may see."""
        self.desk.end_the_dead()
        return self.desk.recent(project=project, person=person, before=before, most=most)

    def overview(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        before: Operation | None = None,
        most: int = 50,
    ) -> Overview:
        """All that is under way, and a page of what has ended. With a person: what that person may see."""
        ended = self.desk.ended(project=project, person=person, before=before, most=most + 1)
        limit = max(most, MOST_UNDER_WAY)
        under_way = self.desk.under_way(project=project, person=person, most=limit)
        is_cut = len(under_way) == limit
        running = self.desk.how_many_under_way(project=project, person=person) if is_cut else len(under_way)
        more = len(ended) > most
        return Overview(under_way=tuple(under_way), ended=tuple(ended[:most]), more=more, running=running)

    def find(self, short_id: str) -> Operation:
        """The operation whose id begins so."""
        self.desk.end_the_dead()
        return self.desk.find(short_id)

    def view(self, operation_id: str) -> View:
        """The operation with this id as it is now, and its steps."""
        operation = self.desk.get(operation_id)
        return View(operation=operation, steps=tuple(self.desk.steps(operation.id)) if operation.is_sequence else ())

    def report(self, operation: Operation, limit: int = 16384) -> Report:
        """All there is to tell of it, with the ends of what it printed."""
        from sayso.operations.report import report_on

        return report_on(operation, self.desk, self._excerpts, limit)

    def parts(self, operation: Operation) -> list[Operation]:
        """What prints: its steps, or itself."""
        return self.desk.steps(operation.id) if operation.is_sequence else [operation]

    def words(self, operation: Operation) -> str:
        """Its command as one would type it. A sequence has none."""
        return self._masks.hide(shlex.join(operation.argv))

    def lines(self, operation: Operation, stream: str, *, offset: int = 0, limit: int = _AT_ONCE) -> OutputLines:
        """Whole lines from a place on, and the one begun after them."""
        return self._excerpts.lines(operation.folder, stream, offset=offset, limit=limit)

    def newest_lines(self, operation: Operation, stream: str, *, limit: int = _AT_ONCE) -> OutputLines:
        return self._excerpts.newest_lines(operation.folder, stream, limit=limit)

    def last_lines(self, operation: Operation, stream: str, count: int) -> Piece:
        return self._excerpts.last_lines(operation.folder, stream, count)

    def printed(self, operation: Operation) -> tuple[int, ...]:
        """How many bytes it has written so far to each of STREAMS."""
        from sayso.running.output import size

        return tuple(size(operation.folder, stream) for stream in STREAMS)

    def lines_before(self, operation: Operation, stream: str, place: int) -> int | None:
        """How many lines end before this place of a stream, if all of them were kept."""
        from sayso.running.output import lines_before

        return lines_before(operation.folder, stream, place)

    def grep(self, operation: Operation, stream: str, pattern: str, *, limit: int = 100) -> Found:
        return self._excerpts.grep(operation.folder, stream, pattern, limit=limit)

    def grep_both(self, operation: Operation, streams: Sequence[str], pattern: str, *, limit: int = 100) -> FoundInBoth:
        """The lines of these streams that match, in the order in which they came."""
        return self._excerpts.grep_both(operation.folder, streams, pattern, limit=limit)

    def cancel(self, operation: Operation, by: str) -> Operation:
        """Have it ended. Where it runs on another machine, the server there is told."""
        return self.desk.want_cancelled(operation.id, by)

    def is_here(self, operation: Operation) -> bool:
        """Whether its output lies on this machine."""
        return operation.host == this_host()

    def both(self, operation: Operation, places: Mapping[str, int], *, limit: int = _AT_ONCE) -> BothStreams:
        """What it wrote after these places of its streams, in the order in which it came."""
        return self._excerpts.both(operation.folder, places, limit=limit)

    def lines_of_both(self, operation: Operation, places: Mapping[str, int], *, limit: int = _AT_ONCE) -> BothStreams:
        """Whole lines of what it wrote after these places, as they came, and those begun after them."""
        return self._excerpts.lines_of_both(operation.folder, places, limit=limit)

    def newest_of_both(self, operation: Operation, *, limit: int = _AT_ONCE) -> BothStreams:
        return self._excerpts.newest_of_both(operation.folder, limit=limit)

    def last_lines_of_both(self, operation: Operation, count: int) -> list[tuple[str, str]]:
        """The last lines, each with its stream, as many as are wanted and not too long to show."""
        from sayso.running.excerpt import LINE_BYTES
        from sayso.running.output import MOST_BYTES

        newest = self.newest_of_both(operation, limit=min(MOST_BYTES, max(4096, count * LINE_BYTES)))
        parts = (*newest.parts, *newest.unfinished)
        lines = [(part.stream, line) for part in parts for line in part.text.splitlines(keepends=True)]
        return lines[-count:]

    def watch(self, operation: Operation, streams: tuple[str, ...] = STREAMS) -> Iterator[Seen]:
        """All its output, or its steps', and every change of its state as they come. Ends when the operation does."""
        places: Places = {}
        while True:
            now = self.find(operation.id)
            if now.version != operation.version:
                yield Seen(operation=now)
            for part in self.parts(now):
                yield from self.new_output(part, streams, places)
            if now.state.ended:
                return
            operation = now
            self._store.bell().wait(LOOK_SECONDS)

    def new_output(self, part: Operation, streams: tuple[str, ...], places: Places) -> Iterator[Seen]:
        """What these streams have, in the order in which it came, from the places on that were read to; `places` then
        says where those are."""
        more = True
        while more:
            found = self.both(part, places.get(part.id, _BEGINNING))
            for each in found.parts:
                if each.stream in streams:
                    yield Seen(operation=part, stream=each.stream, text=each.text, skipped=each.skipped)
            places[part.id] = found.places
            more = found.more
