"""`sayso tools run` at work: a tool of a tool file run to its end by this process, as a server would."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from sayso import __version__
from sayso.asks.askers import asker_here
from sayso.asks.model import Ask, Asker
from sayso.bridge import BackgroundTasks
from sayso.cli.terminal import put_json, put_part, say
from sayso.cli.texts import tr, translated
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.dialects.ahma import catalog_here
from sayso.dialects.operation_replies import data, direct_headline, headline
from sayso.errors import ToolUnavailable
from sayso.notify import Notifier
from sayso.operations.approval import Approvals
from sayso.operations.job import Job
from sayso.operations.operation import Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.reader import LOOK_SECONDS, OperationReader, Places
from sayso.processes import name_of
from sayso.running.capture import STREAMS
from sayso.text import printable
from sayso.toolfiles.catalog import CommandTool

STOPPED_HERE = "`sayso tools run`, which was stopped"
SHOWN_BYTES = 1 << 16


def run_tool(config: Config, tool: CommandTool, given: Mapping[str, Any], *, as_json: bool) -> int:
    """Run it and print how it ended. The exit code: 0 when it went well, 130 when it was interrupted, else 1; a
    ToolUnavailable where it could not be started."""
    with open_desks(config) as desks:
        output = CommandOutput(desks.reader)
        try:
            ended = asyncio.run(_run(desks, tool, given, None if as_json else output))
        except asyncio.CancelledError:
            if not as_json:
                output.print_new()
            say(tr("Interrupted; nothing of the command runs any more."))
            return 130
        never_began = ended.status is not None and ended.status.reason == "spawn_failed"
        if as_json:
            put_json(data(desks.reader.report(ended, SHOWN_BYTES)))
        else:
            output.print_new()
            output.end_line()
            if never_began:
                raise ToolUnavailable(direct_headline(ended))
            say(printable(translated(headline(ended))))
    if never_began:
        return ToolUnavailable.exit_code
    return 0 if ended.state is OperationState.COMPLETED else 1


class CommandOutput:
    """What a command writes goes where it writes it; what we say of it goes to stderr, out of a pipe's way."""

    def __init__(self, reader: OperationReader) -> None:
        self._reader = reader
        self._places: Places = {}
        self._operation: Operation | None = None
        self._at_start = dict.fromkeys(STREAMS, True)

    async def follow(self, job: Job) -> None:
        """Print it as it comes, until the command has ended."""
        self._operation = job.operation
        while not job.end.done():
            await asyncio.to_thread(self.print_new)
            await asyncio.wait([job.end], timeout=LOOK_SECONDS)

    def print_new(self) -> None:
        """What came since the last time."""
        for part in self._reader.parts(self._operation) if self._operation else ():
            for seen in self._reader.new_output(part, STREAMS, self._places):
                stream, to = seen.stream, sys.stdout if seen.stream == STREAMS[0] else sys.stderr
                if seen.skipped:
                    say(tr("[{n} bytes of its {stream} were not kept]", n=f"{seen.skipped:,}", stream=stream))
                put_part(printable(seen.text) if to.isatty() else seen.text, to)
                self._at_start[stream] = seen.text.endswith("\n")

    def end_line(self) -> None:
        """To the beginning of a line, for what we say: on stderr, and on a terminal that shows both."""
        if not self._at_start[STREAMS[1]] or (sys.stdout.isatty() and not self._at_start[STREAMS[0]]):
            say()


async def _run(desks: Desks, tool: CommandTool, given: Mapping[str, Any], output: CommandOutput | None) -> Operation:
    catalog = catalog_here(desks.config)
    catalog.load()
    notifier, telling = Notifier(desks.config), BackgroundTasks()
    async with desks.waiting(desks.asks) as waiting:

        def tell(ask: Ask) -> None:
            say(tr("It needs a person's say-so first: sayso allow {id}", id=ask.id[:8]))
            telling.start(notifier.tell_in_time(ask, waiting, desks.presence, desks.bell))

        supervisor = desks.operation_supervisor(catalog, Approvals(waiting, desks.permissions, tell))
        await supervisor.open()
        _cancel_on_signal()
        try:
            job = await supervisor.start(Order(tool=tool, arguments=given, asker=_asker(desks.config)))
            if output:
                await output.follow(job)
            return await asyncio.shield(job.end)
        finally:
            await telling.cancel()
            await asyncio.shield(supervisor.stop(STOPPED_HERE))


def _cancel_on_signal() -> None:
    task = asyncio.current_task()
    assert task is not None
    outlives_terminal = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # as under nohup
    for number in (signal.SIGINT, signal.SIGTERM, *(() if outlives_terminal else (signal.SIGHUP,))):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _asker(config: Config) -> Asker:
    return asker_here(name_of(os.getpid()), config.project_name, client="sayso tools run", version=__version__)
