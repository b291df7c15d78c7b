"""Keeps agents from acting as a person: an agent makes no sign-in links, tokens or users for itself, says nowhere what
agents may do, decides on no permission and answers no question, whosever it is.

A guard against accidents, not a wall: a program that means to get around it can. The wall is a surface with its own
sign-in. An agent is whoever descends from one that Sayso knows of: a client that started a `sayso server`, one that
asks or runs a command now, a run of Talk. Or who runs in a shell that an agent's client marks as its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from sayso import config as settings
from sayso.asks.model import Ask, Asker, Settler
from sayso.clients import IN_A_SHELL, SESSION_VARIABLE
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import ConfigError, NotYours, StoreError
from sayso.process_table import environment
from sayso.processes import ProcessName, ancestry, servers_beside, this_host


def refuse_agents_settling(desks: Desks, ask: Ask, settler: Settler) -> None:
    """Raise NotYours, and record it, when an agent is behind this process: the one that asked, or any other. What is
    asked is for a person, and what one agent tells another must not pass for their word."""
    line = ancestry()
    if why := kinship(ask.asker, os.environ, line):
        desks.asks.note_refusal(ask.id, settler, why)
        raise NotYours(
            f"Ask {ask.id[:8]} is the question of the agent that runs this command ({why}), and an agent may not "
            "settle its own. Only a person can, from a terminal that the agent did not start. This attempt was "
            "recorded."
        )
    if why := _agent_in(line, desks):
        desks.asks.note_refusal(ask.id, settler, why)
        _refuse(desks, "decide what another may do" if ask.is_permission else "answer what a person is asked", why)


def kinship(asker: Asker, environ: Mapping[str, str], line: tuple[ProcessName, ...]) -> str:
    """How a process with this environment and this line of ancestors belongs to the asker, in words; empty when it does
    not."""
    if asker.session and environ.get(SESSION_VARIABLE) == asker.session:
        return f"it runs in the session {asker.session}"
    if asker.pid and asker.host == this_host():
        return _descent(line, [ProcessName(pid=asker.pid, started=asker.started)])
    return ""


def refuse_agents(desks: Desks, wanted: str) -> None:
    """Raise NotYours, and record it, when an agent started this command. `wanted` says what it is for."""
    if why := agent_behind(desks):
        _refuse(desks, wanted, why)


def _refuse(desks: Desks, wanted: str, why: str) -> NoReturn:
    desks.accounts.note_refusal(wanted, why)
    raise NotYours(_refusal(wanted, why) + " This attempt was recorded.")


def refuse_agents_anywhere(config: Config | None, wanted: str) -> None:
    """The same for what lies in no store, such as the files of clients and of the person: to name another store is no
    way around it, and a store that is missing or broken keeps no person from it, nor do settings that cannot be read,
    for which there is None."""
    if why := agent_anywhere(config):
        if config:
            with suppress(StoreError, ConfigError), open_desks(config) as desks:
                _refuse(desks, wanted, why)
        raise NotYours(_refusal(wanted, why))


def agent_anywhere(config: Config | None) -> str:
    """How an agent is behind this process, whatever store that works on; empty when none is."""
    line = ancestry()
    if why := _marked() or _descent(line, servers_beside(line).values()):
        return why
    if config and _has_store(config):
        with suppress(StoreError, ConfigError), open_desks(config) as desks:
            return _agent_in(line, desks)
    return ""


def _has_store(config: Config) -> bool:
    """Whether there is one to be asked, so that none is made for a person."""
    return bool(config.store) or config.database.exists()


def agent_behind(desks: Desks) -> str:
    """How an agent is behind this process, in words; empty when none is."""
    return _agent_in(ancestry(), desks)


def _agent_in(line: tuple[ProcessName, ...], desks: Desks) -> str:
    return _marked() or _descent(line, _agents(desks, line))


def _marked() -> str:
    """How the shell that this process runs in is marked as an agent's; empty when it is not."""
    return next((f"{name} is set" for name in IN_A_SHELL if os.environ.get(name)), "")


def _descent(line: tuple[ProcessName, ...], agents: Iterable[ProcessName]) -> str:
    agent = next((name for name in agents if name in line), None)
    return f"it descends from process {agent.pid}" if agent else ""


def _refusal(wanted: str, why: str) -> str:
    return (
        f"This command was started by an agent ({why}), and an agent may not {wanted}: with that it could speak for a "
        "person. Run it yourself, in a terminal that no agent started."
    )


def _agents(desks: Desks, line: tuple[ProcessName, ...]) -> Iterator[ProcessName]:
    from sayso.running.folder import read_runner

    yield from (client for pid, client in servers_beside(line).items() if _serves_our_store(pid, desks.config))
    for asker in desks.asks.open_askers(this_host()):
        yield ProcessName(pid=asker.pid, started=asker.started)
    runs = [*desks.runs.open_here(), *desks.runs.resting_here()]
    operations = desks.operations.open_here()
    for folder in [*(run.folder for run in runs), *(operation.folder for operation in operations)]:
        if runner := read_runner(folder):
            yield ProcessName(pid=runner.pid, started=str(runner.started))


def _serves_our_store(pid: int, config: Config) -> bool:
    """Whether a server works on the store that this process does, as far as its environment tells. By its settings and
    not by its variables: whoever runs this command can tell the same place in another way."""
    theirs = dict(part.split("=", 1) for part in os.fsdecode(environment(pid)).split("\0") if "=" in part)
    home = theirs.get("HOME") or os.path.expanduser("~")
    # As they are by default there, and not by the home of this process.
    places = {"XDG_CONFIG_HOME": os.path.join(home, ".config"), "XDG_STATE_HOME": os.path.join(home, ".local", "state")}
    told = {**places, **{name: value for name, value in theirs.items() if value}}
    if (named := told.get("SAYSO_STATE_DIR", "")).startswith("~"):
        told["SAYSO_STATE_DIR"] = named.replace("~", home, 1)
    try:
        return not theirs or _store_of(settings.load(environ=told, cwd=Path("/"))) == _store_of(config)
    except ConfigError:
        return True


def _store_of(config: Config) -> str:
    """What every way to tell of a store has in common: its file, or the name of its database."""
    if not config.store:
        return os.path.realpath(config.database)
    from urllib.parse import parse_qs, urlsplit

    parts = urlsplit(config.store)
    return parse_qs(parts.query).get("dbname", [parts.path.strip("/")])[-1]
