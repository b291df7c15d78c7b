"""`sayso ops`: the commands that agents run, for the person: list, show, output, cancel, watch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.cli import declared
from sayso.cli.asks_in_words import short_place
from sayso.cli.program import settings
from sayso.cli.shared import SURFACE, project_asked_for
from sayso.cli.terminal import has_colour, put, put_json, put_part, say, table, yellow
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.errors import SaysoError
from sayso.operations.operation import Operation, OperationState
from sayso.operations.reader import OperationReader
from sayso.operations.words import standing
from sayso.running.capture import STREAMS
from sayso.text import age, one_line, printable

if TYPE_CHECKING:
    import click

HEADER = ("ID", "AGE", "STATE", "TOOL", "CLIENT", "PROJECT", "COMMAND")
_MAY_MISS = (5, 4, 3, 1)
"""The columns that a narrow terminal does without, in this order: project, client, tool, age."""
SHOWN_BYTES = 8192
_MOST_FOUND = 1_000
"""Lines that match, of each stream of a command."""


def _of_either_stream(function: declared.Does) -> declared.Does:
    """The options that choose one of the two streams of a command; without them both are shown."""
    for name in reversed(STREAMS):
        function = declared.option(f"--{name}", "stream", flag_value=name, help=f"Only its {name}.")(function)
    return function


@contextmanager
def open_reader() -> Iterator[OperationReader]:
    with open_desks(settings(), only_looks=True) as desks:
        yield desks.reader


def _complete(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The newest operations whose id begins so, for the shell's completion."""
    from click.shell_completion import CompletionItem

    try:
        with open_reader() as reader:
            overview = reader.overview()
            found = [each for each in (*overview.under_way, *overview.ended) if each.id.startswith(incomplete)]
            return [CompletionItem(each.id[:8], help=one_line(reader.words(each) or each.tool, 60)) for each in found]
    except SaysoError:
        return []


@declared.group()
def command() -> None:
    """See and stop the commands that agents run.

    \b
    Example:
      sayso ops list
      sayso ops watch 3f2a91
      sayso ops cancel 3f2a91
    """


@command.reader(name="list")
@declared.option("--project", type=declared.PATH, metavar="DIR", help="Only those of this project.")
@declared.option("--running", is_flag=True, help="Only those that have not ended.")
@declared.option(
    "--limit", type=declared.POSITIVE, metavar="N", default=30, show_default=True, help="At most this many."
)
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array of everything about each operation.")
def list_(project: Path | None, running: bool, limit: int, as_json: bool) -> None:
    """Show the operations: under way, then ended, newest first.

    \b
    Example:
      sayso ops list --running
    """
    here = project_asked_for(settings(), project)
    with open_reader() as reader:
        reader.desk.end_the_dead()
        overview = reader.overview(project=here, most=limit)
        shown = [*overview.under_way, *(() if running else overview.ended)][:limit]
        if as_json:
            from sayso.dialects.operation_replies import data

            put_json([data(reader.report(operation, SHOWN_BYTES)) for operation in shown])
        elif shown:
            rows = [_row(operation, reader.words(operation)) for operation in shown]
            put(table(HEADER, rows, may_miss=_MAY_MISS))
            if waiting := [operation for operation in shown if operation.awaits_say_so]:
                say(f"\n{_how_to_allow(waiting[0])}")
            see = tr("See one: sayso ops show {id}", id=shown[0].id[:8])
            stop = "" if shown[0].state.ended else tr("Stop one: sayso ops cancel {id}", id=shown[0].id[:8])
            say(f"\n{see}    {stop}".rstrip())
        elif running:
            say(tr("No command is running."))
        elif here:
            say(tr("No command has been run in {project}.", project=short_place(here)))
        else:
            say(tr("No command has been run. Agents get them from tool files: sayso tools init git"))


@command.reader()
@declared.argument("operation_id", metavar="ID", shell_complete=_complete)
@declared.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def show(operation_id: str, as_json: bool) -> None:
    """Show how one operation stands or ended, and what it printed last.

    \b
    Example:
      sayso ops show 3f2a
    """
    from sayso.dialects.operation_replies import data, result

    with open_reader() as reader:
        operation = reader.find(operation_id)
        report = reader.report(operation, SHOWN_BYTES)
        if as_json:
            put_json(data(report))
            return
        put(tr("Operation {id}", id=operation.id))
        put("\n".join(f"  {name:<9}{value}" for name, value in _facts(operation, reader.words(operation)).items()))
        put()
        put(printable(_said(result(report).text)))


@command.reader()
@declared.argument("operation_id", metavar="ID", shell_complete=_complete)
@_of_either_stream
@declared.option("--tail", type=declared.POSITIVE, metavar="LINES", help="Only the last lines.")
@declared.option("--grep", metavar="REGEX", help="Only the lines that match.")
def output(operation_id: str, stream: str | None, tail: int | None, grep: str | None) -> None:
    """Print what a command wrote, secrets masked, as far as it was kept.

    Its stdout and its stderr come as it wrote them, its stderr in another colour; without colours the name of a stream
    stands above what is from it.

    \b
    Example:
      sayso ops output 3f2a --tail 50
      sayso ops output 3f2a --stderr --grep warning
    """
    with open_reader() as reader:
        page, streams = StreamPrinter(), (stream,) if stream else STREAMS
        for part in reader.parts(reader.find(operation_id)):
            for name, text in _wanted(reader, part, streams, tail, grep):
                page.write(name, text)
        page.end()


@command.command()
@declared.argument("operation_id", metavar="ID", shell_complete=_complete)
def cancel(operation_id: str) -> None:
    """End a command and every process it has started.

    \b
    Example:
      sayso ops cancel 3f2a
    """
    from sayso.agent_guard import agent_behind

    with open_desks(settings()) as desks:
        reader = desks.reader
        operation = reader.find(operation_id)
        if operation.state.ended:
            say(tr("It had ended already: {state}.", state=translated(standing(operation))))
            return
        who = "an agent" if agent_behind(desks) else desks.config.person
        operation = reader.cancel(operation, f"{who} on the {SURFACE}")
        for seen in reader.watch(operation, streams=()):
            operation = seen.operation
        say(_ending(operation))


@command.command()
@declared.argument("operation_id", metavar="ID", shell_complete=_complete)
@_of_either_stream
def watch(operation_id: str, stream: str | None) -> None:
    """Follow what a command writes, until it ends.

    Both stdout and stderr are shown, in the order in which it writes them. Ctrl-C stops the watching, not the command.

    \b
    Example:
      sayso ops watch 3f2a
    """
    with open_reader() as reader:
        operation, page = reader.find(operation_id), StreamPrinter()
        for seen in reader.watch(operation, (stream,) if stream else STREAMS):
            if seen.stream:
                page.write(seen.stream, _gap(seen.skipped) + seen.text)
            else:
                operation = seen.operation
        page.end()
        say(_ending(operation))
    if operation.state is not OperationState.COMPLETED:
        sys.exit(1)


class StreamPrinter:
    """Prints what comes from two streams, in colours that tell them apart; without colours the name of a stream stands
    above what is from another than before."""

    def __init__(self) -> None:
        self._stream, self._at_start = STREAMS[0], True
        self._coloured = has_colour(sys.stdout)

    def write(self, stream: str, text: str) -> None:
        if not text:
            return
        if stream != self._stream:
            self.end()
            self._stream = stream
            if not self._coloured:
                put(f"--- {stream} ---")
        shown = printable(text)
        tinted = self._coloured and stream != STREAMS[0]
        put_part(yellow(shown) if tinted else shown)
        self._at_start = text.endswith("\n")

    def end(self) -> None:
        """To the beginning of a line."""
        if not self._at_start:
            put()
            self._at_start = True


def _wanted(
    reader: OperationReader, part: Operation, streams: tuple[str, ...], tail: int | None, grep: str | None
) -> Iterator[tuple[str, str]]:
    """What of these streams was asked for, each part of it with its stream."""
    if grep is not None:
        both = reader.grep_both(part, streams, grep, limit=_MOST_FOUND)
        for found in both.matches:
            yield found.stream, found.match.text.rstrip("\n") + "\n"
        if both.more:
            say(tr("… and more: these are the first {n} lines of a stream that match.", n=f"{_MOST_FOUND:,}"))
    elif tail is None:
        for seen in reader.new_output(part, streams, {}):
            yield seen.stream, _gap(seen.skipped) + seen.text
    elif len(streams) == 1:
        yield streams[0], reader.last_lines(part, streams[0], tail).text
    else:
        yield from reader.last_lines_of_both(part, tail)


def _gap(skipped: int) -> str:
    return tr("\n[{n} bytes were not kept]\n", n=f"{skipped:,}") if skipped else ""


def _how_to_allow(operation: Operation) -> str:
    said = tr("waits for your say-so: it runs when a person allows it.")
    asked = operation.permission[:8]
    return f"{said} {tr('Decide it: sayso allow {id}', id=asked)}" if asked else said


def _facts(operation: Operation, words: str) -> dict[str, str]:
    client, project = one_line(operation.asker.client) or "-", short_place(operation.asker.project) or "-"
    return {
        tr("Tool"): one_line(operation.tool),
        **({tr("State"): _how_to_allow(operation)} if operation.awaits_say_so else {}),
        tr("From"): tr("{client}, in {project}", client=client, project=project),
        tr("Command"): one_line(words, 400) or tr("a sequence"),
        tr("In"): short_place(operation.cwd),
    }


def _ending(operation: Operation) -> str:
    """How it stands, in a line."""
    from sayso.dialects.operation_replies import headline

    return printable(_said(headline(operation)))


def _said(told: str) -> str:
    """What an agent is told of an operation, with its first line in the person's language."""
    first, line_break, rest = told.partition("\n")
    return translated(first) + line_break + rest


def _row(operation: Operation, words: str) -> tuple[str, ...]:
    return (
        operation.id[:8],
        translated(age(now_ms() - operation.created_at)),
        translated(standing(operation)),
        one_line(operation.tool, 30),
        one_line(operation.asker.client, 20) or "-",
        short_place(operation.asker.project) or "-",
        one_line(words, 200) or tr("(sequence)"),
    )
