"""Trust in what a person has Sayso write into a project: they asked for it, so no second question is put."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from sayso.agent_guard import agent_behind
from sayso.brought import Brought, brought
from sayso.cli.terminal import say
from sayso.cli.texts import explained, mark, tr
from sayso.config import Config
from sayso.desks import open_desks
from sayso.errors import StoreError
from sayso.text import spelt_out
from sayso.trust import relative_name

_MORE = mark(
    "{file} held something before that you have not trusted, so agents that the web page starts do not use it yet: "
    "sayso trust {file}"
)


def trust_written(config: Config, files: Mapping[Path, bytes]) -> None:
    """A person who has files written trusts them as they are. An agent cannot; and where it cannot be told who it is,
    or noted, the files are there all the same."""
    try:
        with open_desks(config) as desks:
            if not agent_behind(desks):
                config.trust.add(config.project, files)
                return
    except StoreError as error:
        say(explained(error))
        say(tr("They are not used until you trust them: sayso trust"))
        return
    say(tr("An agent runs this, so they are not used until a person trusts them: sayso trust"))


def trust_changes(config: Config, before: Brought, paths: Collection[Path]) -> None:
    """Trust what was written into these files since, where all that they held before was trusted; else say why not."""
    ours = {relative_name(path, before.folder) for path in paths}
    unknown = {file.name for file in before.untrusted}
    now = brought(config, config.project)
    written = [file for file in now.untrusted if file.name in ours and not file.trouble]
    if fine := {now.folder / file.name: file.data for file in written if file.name not in unknown}:
        trust_written(config, fine)
    for file in written:
        if file.name in unknown:
            say(tr(_MORE, file=spelt_out(file.name)))
