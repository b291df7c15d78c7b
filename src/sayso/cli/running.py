"""`sayso tools run` at work: a tool of a tool file run to its end by this process, as a server would."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any, TextIO

import click

from sayso import __version__
from sayso.asks.model import Ask, Asker
from sayso.branches import branch_of
from sayso.cli.terminal import put_json, say
from sayso.cli.texts import tr, translated
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.dialects.operation_replies import data, headline
from sayso.operations.approval import Approvals
from sayso.operations.operation import Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.report import Report, report_on
from sayso.processes import name_of
from sayso.running.capture import STREAMS
from sayso.running.excerpt import Excerpts
from sayso.text import printable
from sayso.toolfiles.catalog import Catalog, CommandTool

SHOWN_BYTES = 1 << 16


def run_tool(config: Config, tool: CommandTool, given: Mapping[str, Any], *, as_json: bool) -> int:
    """Run it and print how it ended. The exit code: 0 when it went well, 130 when it was interrupted, else 1."""
    try:
        with open_desks(config) as desks:
            report = asyncio.run(_run(desks, tool, given))
    except asyncio.CancelledError:
        say(tr("Interrupted; the command and all its processes have ended."))
        return 130
    if as_json:
        put_json(data(report))
    else:
        _print(config, report)
    return 0 if report.operation.state is OperationState.COMPLETED else 1


def _print(config: Config, report: Report) -> None:
    """What the command wrote goes where it wrote it; what we say of it goes to stderr, out of a pipe's way."""
    excerpts = Excerpts.of(config)
    for part in [step.operation for step in report.steps] or [report.operation]:
        for stream, to in zip(STREAMS, (sys.stdout, sys.stderr), strict=True):
            _copy(excerpts, part, stream, to)
    say(printable(translated(headline(report.operation))))


def _copy(excerpts: Excerpts, part: Operation, stream: str, to: TextIO) -> None:
    place, more = 0, True
    while more:
        piece = excerpts.read(part.folder, stream, offset=place, limit=SHOWN_BYTES)
        if piece.skipped:
            say(tr("[{n} bytes of its {stream} were not kept]", n=f"{piece.skipped:,}", stream=stream))
        click.echo(printable(piece.text) if to.isatty() else piece.text, nl=False, file=to)
        more = place < piece.next_offset < piece.seen
        place = piece.next_offset


async def _run(desks: Desks, tool: CommandTool, given: Mapping[str, Any]) -> Report:
    catalog = Catalog(desks.config)
    catalog.load()
    async with desks.waiting(desks.asks) as waiting:
        supervisor = desks.operation_supervisor(catalog, Approvals(waiting, _tell))
        await supervisor.open()
        _cancel_on_signal()
        try:
            job = await supervisor.start(Order(tool=tool, arguments=given, asker=_asker(desks.config)))
            ended = await asyncio.shield(job.end)
            return await supervisor.do(report_on, ended, supervisor.desk, supervisor.excerpts, SHOWN_BYTES)
        finally:
            await asyncio.shield(supervisor.stop())


def _cancel_on_signal() -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _tell(ask: Ask) -> None:
    say(tr("It needs a person's say-so first: sayso answer {id}", id=ask.id[:8]))


def _asker(config: Config) -> Asker:
    process = name_of(os.getpid())
    return Asker(
        client="sayso tools run",
        version=__version__,
        project=config.project_name,
        host=socket.gethostname(),
        pid=process.pid if process else 0,
        started=process.started if process else "",
        branch=branch_of(config.project_name),
    )
