"""`sayso restore`: what a backup has, back into the store."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

import click

from sayso.agent_guard import refuse_agents
from sayso.backup import restore
from sayso.cli.copying import count_data, counted, shown_while_copying
from sayso.cli.program import settings
from sayso.cli.terminal import put_json, say
from sayso.cli.texts import tr
from sayso.config import Config, system_user
from sayso.desks import open_desks
from sayso.errors import BackupRefused, StoreNotEmpty
from sayso.text import iso_time, spelt_out


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--replace", is_flag=True, help="Also where there is something, which is copied to a file first.")
@click.option("--json", "as_json", is_flag=True, help="Print what was put back as JSON.")
def command(file: Path, replace: bool, as_json: bool) -> None:
    """Put back what a backup has.

    It goes into the store that the settings name, SQLite or PostgreSQL, whichever FILE was made of: so a store moves
    from one to the other. Afterwards the store has what FILE has, and nothing else.

    An agent that waits for an answer goes on waiting, if its question is in FILE. What agents waited for then and do
    not any more can still be answered; they get it when they ask again. A permission among those is over.
    Nothing that was under way then is begun again, and who was shut out since then stays out.

    \b
    Example:
      sayso restore monday.db
      SAYSO_STORE=postgresql://localhost/sayso sayso restore monday.db
    """
    config = settings()
    with open_desks(config) as desks:
        refuse_agents(desks, "replace what the inbox keeps")
    before = _file_for_what_is_there(config) if replace else None
    try:
        with shown_while_copying() as progress:
            restored = restore(config, file.absolute(), before, system_user(), progress)
    except StoreNotEmpty as error:
        raise BackupRefused(
            tr(
                "There is something in the store already: {what}. With --replace the backup takes its place, and what "
                "is there is copied to a file first.",
                what=counted(error.rows),
            )
        ) from error
    if as_json:
        kept = {"made_at": iso_time(restored.made_at), "replaced": str(restored.before) if restored.before else None}
        put_json({"rows": count_data(restored.rows), **kept})
        return
    say(tr("Put back: {what}.", what=counted(restored.rows)))
    if restored.made_at is not None:
        made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(restored.made_at / 1000))
        say(tr("The backup was made at {time}.", time=made))
    if restored.before:
        say(tr("What was there before is in {file}", file=spelt_out(str(restored.before))))


def _file_for_what_is_there(config: Config) -> Path:
    config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Two may be put back in one second.
    return config.state_dir / f"before-restore-{time.strftime('%Y-%m-%d-%H%M%S')}-{secrets.token_hex(2)}.db"
