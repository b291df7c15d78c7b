"""`sayso backup`: all that Sayso keeps in one file."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from sayso.agent_guard import refuse_agents
from sayso.backup import back_up
from sayso.cli.copying import count_data, counted, shown_while_copying
from sayso.cli.program import settings
from sayso.cli.terminal import put, put_json, say
from sayso.cli.texts import tr
from sayso.desks import open_desks
from sayso.errors import BackupRefused
from sayso.text import spelt_out


@click.command()
@click.argument("file", required=False, metavar="[FILE]", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the file and how much is in it as JSON.")
def command(file: Path | None, as_json: bool) -> None:
    """Copy all that Sayso keeps into one file.

    Agents may wait and commands may run meanwhile: it shows the store, SQLite or PostgreSQL, as it is at one moment.
    FILE is new and private to you; one that is there is not overwritten. Without FILE it is called after the time, in
    this folder.

    Questions, answers, drafts, the log of permissions, conversations, people and tokens are in it. Settings, rules and
    tool files are not, which are files already, and neither is what commands printed.

    \b
    Example:
      sayso backup
      sayso backup ~/backups/monday.db
    """
    config = settings()
    with open_desks(config) as desks:
        refuse_agents(desks, "copy what the inbox keeps")
    if file is not None and not file.name:
        raise BackupRefused(tr("A file has to be named, such as monday.db."))
    target = (file or Path(time.strftime("sayso-%Y-%m-%d-%H%M%S.db"))).absolute()
    with shown_while_copying() as progress:
        rows = back_up(config, target, progress)
    if as_json:
        put_json({"file": str(target), "rows": count_data(rows)})
        return
    put(spelt_out(str(target)))
    back = f"sayso restore {shlex.quote(str(target))}"
    say(tr("It has {what}. It can be put back with: {command}", what=counted(rows), command=spelt_out(back)))
