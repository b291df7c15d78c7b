"""`sayso uninstall`: takes back what `sayso install` put into the files of agents' clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from sayso.cli.installing import (
    complete_client,
    foreground_parts,
    hook_parts,
    machine_here,
    named,
    registration,
    short_path,
    skill_parts,
)
from sayso.cli.session import settings
from sayso.cli.terminal import put, say
from sayso.errors import CannotEdit
from sayso.install.ledger import Ledger, ledger_of
from sayso.install.machine import Machine
from sayso.install.part import Done, Part, take_back, take_back_ours
from sayso.install.targets import TARGETS, Scope, Target
from sayso.text import printable

Removal = tuple[str, Callable[[Ledger], Done]]


@click.command()
@click.argument("clients", metavar="[CLIENT]...", nargs=-1, shell_complete=complete_client)
@click.option("--project", "for_project", is_flag=True, help="From this project's files instead of your own.")
def command(clients: tuple[str, ...], for_project: bool) -> None:
    """Remove Sayso from agents' configurations.

    Without CLIENT, from every client that has it. Entry, leave to ask, hook, skill and paragraph go. A file that nobody
    changed since is as it was before, to the byte; from any other only what is ours is cut out.

    \b
    Example:
      sayso uninstall
      sayso uninstall cursor --project
    """
    machine, scope = machine_here(), Scope.PROJECT if for_project else Scope.USER
    targets = named(clients) or [target for target in TARGETS if target.takes(scope)]
    removals = [removal for target in targets for removal in _removals(target, scope, machine)]
    results = [_remove(where, take) for where, take in dict(removals).items()]
    if not any(result is Done.REMOVED or result is Done.RESTORED for result in results):
        say("There was nothing to take back" + (f" from {', '.join(clients)}." if clients else "."))
    if None in results:
        raise click.exceptions.Exit(CannotEdit.exit_code)


def _removals(target: Target, scope: Scope, machine: Machine) -> Iterator[Removal]:
    piece = registration(target, scope, machine)
    yield f"{target.title}: {{}} in {short_path(piece.part.path, machine)}", piece.remove
    for part in foreground_parts(target, scope, machine):
        # First of those in its file, because the others forget who put what there.
        yield f"  calls in the foreground: {{}} in {short_path(part.path, machine)}", _taking_ours(part)
    if grant := target.leave_to_ask(machine, scope, piece.server):
        yield f"  leave to ask you: {{}} in {short_path(grant.path, machine)}", _taking(grant)
    for part in hook_parts(target, scope, machine):
        yield f"  hook: {{}} in {short_path(part.path, machine)}", _taking(part)
    for part in skill_parts(target, scope, machine):
        yield f"  {{}} in {short_path(part.path, machine)}", _taking(part)


def _taking(part: Part) -> Callable[[Ledger], Done]:
    return lambda ledger: take_back(part, ledger)


def _taking_ours(part: Part) -> Callable[[Ledger], Done]:
    return lambda ledger: take_back_ours(part, ledger)


def _remove(where: str, take: Callable[[Ledger], Done]) -> Done | None:
    """What became of it; None when its file had to be left alone."""
    try:
        done = take(ledger_of(settings()))
    except CannotEdit as error:
        say(f"Not done: {printable(str(error))}")
        return None
    if done is not Done.ABSENT:
        put(where.format(done))
    return done
