"""`sayso ops`: the commands that agents run, for the person: list, show, output, cancel, watch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from sayso.cli.asks_in_words import short_place
from sayso.cli.program import settings
from sayso.cli.shared import SURFACE, project_name
from sayso.cli.terminal import dim, put, put_json, say, table
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import LOOK_EVERY, Bell, open_desks
from sayso.dialects.operation_replies import data, headline, result
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import Operation, OperationState
from sayso.operations.report import report_on
from sayso.running.capture import STREAMS
from sayso.running.excerpt import Excerpts
from sayso.running.output import Piece
from sayso.text import age, one_line, printable

HEADER = ("ID", "AGE", "STATE", "TOOL", "CLIENT", "PROJECT", "COMMAND")
SHOWN_BYTES = 8192
CHUNK = 65536


def _of_either_stream(function: Callable[..., None]) -> Callable[..., None]:
    """The options that choose one of the two streams of a command; without them both are shown."""
    for name in reversed(STREAMS):
        function = click.option(f"--{name}", "stream", flag_value=name, help=f"Only its {name}.")(function)
    return function


@dataclass(frozen=True, kw_only=True)
class Ops:
    """One command at work on the operations of one store."""

    desk: OperationDesk
    excerpts: Excerpts
    config: Config
    bell: Bell

    def parts(self, operation: Operation) -> Sequence[Operation]:
        """What prints: its steps, or itself."""
        return self.desk.steps(operation.id) if operation.is_sequence else [operation]


@contextmanager
def open_ops() -> Iterator[Ops]:
    config = settings()
    with open_desks(config) as desks:
        desk = desks.operations
        # What dead servers left is told as it is, not as they last knew it.
        desk.end_the_dead()
        yield Ops(desk=desk, excerpts=Excerpts.of(config), config=config, bell=desks.bell())


@click.group()
def command() -> None:
    """See and stop the commands that agents run.

    \b
    Example:
      sayso ops list
      sayso ops watch 3f2a91
      sayso ops cancel 3f2a91
    """


@command.command(name="list")
@click.option("--project", type=click.Path(path_type=Path), metavar="DIR", help="Only those of this project.")
@click.option("--running", is_flag=True, help="Only those that have not ended.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", default=30, show_default=True, help="At most this many."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of everything about each operation.")
def list_(project: Path | None, running: bool, limit: int, as_json: bool) -> None:
    """Show the operations, newest first.

    \b
    Example:
      sayso ops list --running
    """
    with open_ops() as ops:
        found = ops.desk.recent(project=project_name(project), most=limit)
        shown = [operation for operation in found if not (running and operation.state.ended)]
        if as_json:
            put_json([data(report_on(operation, ops.desk, ops.excerpts, SHOWN_BYTES)) for operation in shown])
        elif shown:
            put(table(HEADER, [_row(operation) for operation in shown]))
            if waiting := [operation for operation in shown if operation.awaits_say_so]:
                say(f"\n{_needs_say_so(waiting[0])}")
            say("\n" + tr("See one: sayso ops show {id}    Stop one: sayso ops cancel {id}", id=shown[0].id[:8]))
        elif running:
            say(tr("No command is running."))
        else:
            say(tr("No command has been run. Agents get them from tool files: sayso tools init git"))


@command.command()
@click.argument("operation_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def show(operation_id: str, as_json: bool) -> None:
    """Show how one operation stands or ended, and what it printed last.

    \b
    Example:
      sayso ops show 3f2a
    """
    with open_ops() as ops:
        operation = ops.desk.find(operation_id)
        report = report_on(operation, ops.desk, ops.excerpts, SHOWN_BYTES)
        if as_json:
            put_json(data(report))
            return
        put(tr("Operation {id}", id=operation.id))
        put("\n".join(f"  {name:<9}{value}" for name, value in _facts(operation).items()))
        put()
        put(printable(_said(result(report).text)))


@command.command()
@click.argument("operation_id", metavar="ID")
@_of_either_stream
@click.option("--tail", type=click.IntRange(min=1), metavar="LINES", help="Only the last lines.")
@click.option("--grep", metavar="REGEX", help="Only the lines that match.")
def output(operation_id: str, stream: str | None, tail: int | None, grep: str | None) -> None:
    """Print what a command wrote, secrets masked, as far as it was kept.

    Its stdout and its stderr are kept apart; where it wrote to both, each stands under its name.

    \b
    Example:
      sayso ops output 3f2a --tail 50
      sayso ops output 3f2a --stderr --grep warning
    """
    with open_ops() as ops:
        operation = ops.desk.find(operation_id)
        page = StreamPrinter()
        for part in ops.parts(operation):
            for name in (stream,) if stream else STREAMS:
                for text in _wanted(ops, part, name, tail, grep):
                    page.write(name, text)
        page.end()


@command.command()
@click.argument("operation_id", metavar="ID")
def cancel(operation_id: str) -> None:
    """End a command and every process it has started.

    \b
    Example:
      sayso ops cancel 3f2a
    """
    with open_ops() as ops:
        operation = ops.desk.find(operation_id)
        if operation.state.ended:
            say(tr("It had ended already: {state}.", state=translated(operation.state)))
            return
        ops.desk.want_cancelled(operation.id, f"{ops.config.person} on the {SURFACE}")
        ended = _await_end(ops, operation.id)
        say(printable(_said(headline(ended))))


@command.command()
@click.argument("operation_id", metavar="ID")
@_of_either_stream
def watch(operation_id: str, stream: str | None) -> None:
    """Follow what a command writes, until it ends.

    Both stdout and stderr are shown. Ctrl-C stops the watching, not the command.

    \b
    Example:
      sayso ops watch 3f2a
    """
    with open_ops() as ops:
        operation = ops.desk.find(operation_id)
        page, places = StreamPrinter(), dict[tuple[str, str], int]()
        while True:
            operation = ops.desk.get(operation.id)
            for part in ops.parts(operation):
                for name in (stream,) if stream else STREAMS:
                    for text in _new_output(ops, part, name, places):
                        page.write(name, text)
            if operation.state.ended:
                break
            ops.bell.wait(LOOK_EVERY / 4)
            ops.desk.end_the_dead()
        page.end()
        say(printable(_said(headline(operation))))
    if operation.state is not OperationState.COMPLETED:
        sys.exit(1)


def _await_end(ops: Ops, operation_id: str) -> Operation:
    """Endless until it has ended: its runner ends it within its grace, and a dead one's end is noted here."""
    while not (operation := ops.desk.get(operation_id)).state.ended:
        ops.bell.wait(LOOK_EVERY / 4)
        ops.desk.end_the_dead()
    return operation


class StreamPrinter:
    """Prints what comes from two streams: the name of a stream stands above what is from another than before."""

    def __init__(self) -> None:
        self._stream, self._at_start = "stdout", True

    def write(self, stream: str, text: str) -> None:
        if not text:
            return
        if stream != self._stream:
            self.end()
            put(dim(f"--- {stream} ---"))
            self._stream = stream
        click.echo(printable(text), nl=False)
        self._at_start = text.endswith("\n")

    def end(self) -> None:
        """To the beginning of a line."""
        if not self._at_start:
            put()
            self._at_start = True


def _wanted(ops: Ops, part: Operation, stream: str, tail: int | None, grep: str | None) -> Iterator[str]:
    """What of a stream was asked for."""
    if grep is not None:
        for match in ops.excerpts.grep(part.folder, stream, grep, limit=1000).matches:
            yield match.text.rstrip("\n") + "\n"
    elif tail is not None:
        yield from _texts(ops.excerpts.last_lines(part.folder, stream, tail))
    else:
        yield from _new_output(ops, part, stream, {})


def _new_output(ops: Ops, part: Operation, stream: str, places: dict[tuple[str, str], int]) -> Iterator[str]:
    """What a stream has from the place on that was read to; `places` then says where that is."""
    while True:
        place = places.get((part.id, stream), 0)
        piece = ops.excerpts.read(part.folder, stream, offset=place, limit=CHUNK)
        yield from _texts(piece)
        places[part.id, stream] = piece.next_offset
        if piece.next_offset <= place or piece.next_offset >= piece.seen:
            return


def _texts(piece: Piece) -> Iterator[str]:
    if piece.skipped:
        yield tr("\n[{n} bytes were not kept]\n", n=f"{piece.skipped:,}")
    yield piece.text


def _needs_say_so(operation: Operation) -> str:
    said = tr("needs say-so: it runs when a person allows it.")
    asked = operation.permission[:8]
    return f"{said} {tr('Decide it: sayso answer {id}', id=asked)}" if asked else said


def _facts(operation: Operation) -> dict[str, str]:
    client, project = one_line(operation.asker.client) or "-", short_place(operation.asker.project) or "-"
    return {
        tr("Tool"): one_line(operation.tool),
        **({tr("State"): _needs_say_so(operation)} if operation.awaits_say_so else {}),
        tr("From"): tr("{client}, in {project}", client=client, project=project),
        tr("Command"): one_line(" ".join(operation.argv), 400) or tr("a sequence"),
        tr("In"): short_place(operation.cwd),
    }


def _said(told: str) -> str:
    """What an agent is told of an operation, with its first line in the person's language."""
    first, line_break, rest = told.partition("\n")
    return translated(first) + line_break + rest


def _row(operation: Operation) -> tuple[str, ...]:
    return (
        operation.id[:8],
        translated(age(now_ms() - operation.created_at)),
        tr("needs say-so") if operation.awaits_say_so else translated(operation.state.replace("_", " ")),
        one_line(operation.tool, 30),
        one_line(operation.asker.client, 20) or "-",
        short_place(operation.asker.project) or "-",
        one_line(" ".join(operation.argv), 200) or tr("(sequence)"),
    )
