"""What every command starts from: the settings that hold here, and the desk of the store they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from sayso.asks.desk import AskDesk
from sayso.asks.model import Settler
from sayso.cli.program import settings
from sayso.config import Config
from sayso.errors import SaysoError
from sayso.store import Store, open_store
from sayso.text import one_line

SURFACE = "command line"
MOST_OPEN = 10_000
"""The most open asks that a command looks at."""


@dataclass(frozen=True, kw_only=True)
class CliSession:
    """One command at work on one store."""

    config: Config
    store: Store
    desk: AskDesk

    @property
    def settler(self) -> Settler:
        return Settler(person=self.config.person, surface=SURFACE)


@contextmanager
def open_session(config: Config) -> Iterator[CliSession]:
    store = open_store(config)
    try:
        desk = AskDesk(store, keeps_history=lambda _: config.history, most_open=config.max_open_asks)
        yield CliSession(config=config, store=store, desk=desk)
    finally:
        store.close()


def project_name(folder: Path | None) -> str | None:
    """A folder as asks name their project."""
    return str(folder.resolve()) if folder else None


def complete_id(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The open asks whose id begins so, for the shell's completion."""
    from click.shell_completion import CompletionItem

    from sayso.asks.crowds import without_crowds
    from sayso.cli.asks_in_words import headline

    try:
        with open_session(settings()) as session:
            asks = session.desk.inbox(most=MOST_OPEN)
    except SaysoError:
        return []
    offered = [ask for ask in asks if ask.id.startswith(incomplete)] if incomplete else without_crowds(asks)[0]
    return [CompletionItem(ask.id[:8], help=one_line(headline(ask), 60)) for ask in offered]
