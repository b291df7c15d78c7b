"""What several commands share: who the person at the command line is, and how asks and projects are named there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.asks.model import Ask, Settler
from sayso.cli.program import COMPLETES, settings
from sayso.cli.terminal import say
from sayso.cli.texts import tr
from sayso.config import Config, system_user
from sayso.errors import InvalidInput, Problem, SaysoError
from sayso.text import one_line, spelt_out

if TYPE_CHECKING:
    import click

    from sayso.desks import Desks

SURFACE = "command line"
MOST_OPEN = 10_000
"""The most open asks that a command looks at."""


def settler(config: Config) -> Settler:
    return Settler(person=config.person, surface=SURFACE, account=system_user())


def project_name(folder: Path | None) -> str | None:
    """A folder as asks name their project. No shell expands `--project=~/shop`."""
    return str(Path(os.path.expanduser(folder)).resolve()) if folder else None


def project_asked_for(config: Config, folder: Path | None) -> str | None:
    """The project that is to be looked at alone. Its folder may have been deleted since, or be on another machine: it
    counts as long as anything of it is kept. Else its name has a slip in it, and must not pass for an empty project."""
    project = project_name(folder)
    if project is None or os.path.isdir(project) or _is_anything_kept_of(project, config):
        return project
    nowhere = f"there is no folder {spelt_out(project)} here, and nothing is kept of one. Correct it, or leave it out."
    raise InvalidInput([Problem(path="--project", text=nowhere)])


def _is_anything_kept_of(project: str, config: Config) -> bool:
    from sayso.desks import open_desks

    with open_desks(config) as desks:
        commands = desks.reader.overview(project=project, most=1)
        return bool(
            desks.asks.inbox(project=project, most=1)
            or desks.asks.history(project=project, most=1)
            or desks.log.outcomes(project=project, most=1)
            or commands.under_way
            or commands.ended
            or any(token.project == project for token in desks.accounts.tokens())
        )


def say_what_only_shows(desks: Desks) -> None:
    """That what is listed may not be how things are."""
    if desks.only_shows:
        say(tr("The store's disk is full or read-only: this is how it was last. `sayso doctor` says more."))


def complete_id(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The open asks whose id begins so, for the shell's completion."""
    return _completed(incomplete, lambda _: True)


def complete_permission(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """Those that ask for a permission."""
    return _completed(incomplete, lambda ask: ask.wanted is not None)


def complete_question(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """All others."""
    return _completed(incomplete, lambda ask: ask.wanted is None)


def complete_answer(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The options of the only question of the ask that is named; by their numbers where a label is no good word."""
    from click.shell_completion import CompletionItem

    from sayso.desks import open_desks  # what only reads rules or settings opens none

    try:
        with open_desks(settings()) as desks:
            questions = desks.asks.find(str(ctx.params.get("ask_id"))).questions
    except SaysoError:
        return []
    choices = questions[0].choices if len(questions) == 1 else ()
    words = [_as_a_word(number, option.label) for number, option in enumerate(choices, 1)]
    return [
        CompletionItem(_for_the_shell(word), help=_more_than(word, one_line(option.description or option.label, 60)))
        for word, option in zip(words, choices, strict=True)
        if word.lower().startswith(incomplete.lower())
    ]


def _more_than(word: str, about: str) -> str | None:
    """What is said of a word beside it, unless that is the word."""
    return about if about != word else None


def _as_a_word(number: int, label: str) -> str:
    """What names the option: not its label where that would be read as an option of the command, or drives the shell's
    terminal."""
    return label if label == one_line(label, 200) and label[:1] not in ("", "-") else f"#{number}"


def _for_the_shell(word: str) -> str:
    """Bash takes what it is offered as if it was typed, so that what means something to it is quoted."""
    return re.sub(r"([^\w.,+@/%-])", r"\\\1", word) if _in_bash() else word


def _in_bash() -> bool:
    return os.environ.get(COMPLETES, "").startswith("bash")


def _completed(incomplete: str, wanted: Callable[[Ask], bool]) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    from sayso.asks.crowds import without_crowds
    from sayso.cli.asks_in_words import headline
    from sayso.desks import open_desks

    try:
        with open_desks(settings()) as desks:
            asks = [ask for ask in desks.asks.inbox(most=MOST_OPEN) if wanted(ask)]
    except SaysoError:
        return []
    offered = [ask for ask in asks if ask.id.startswith(incomplete)] if incomplete else without_crowds(asks)[0]
    items = [CompletionItem(ask.id[:8], help=one_line(headline(ask), 60)) for ask in offered]
    if _in_bash() and len(items) > 1:
        # Click tells bash nothing but the words: what stands beside them is told as a kind of its own.
        items += [CompletionItem(f"{item.value}  {item.help}", type="about") for item in items]
    return items
