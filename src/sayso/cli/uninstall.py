"""`sayso uninstall`: takes back what `sayso install` put into the files of agents' clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from sayso.agent_guard import refuse_agents_anywhere
from sayso.cli.guarding_clients import change_guards
from sayso.cli.installing import (
    complete_client,
    foreground_parts,
    gate_parts,
    hook_parts,
    machine_here,
    named,
    registration,
    short_path,
    skill_parts,
)
from sayso.cli.program import settings
from sayso.cli.terminal import put, say
from sayso.cli.texts import explained, tr, translated
from sayso.errors import CannotEdit
from sayso.install.guarding import GuardedEntry, guarded_in
from sayso.install.ledger import Ledger, ledger_of
from sayso.install.machine import Machine
from sayso.install.part import Done, Part, take_back, take_back_ours
from sayso.install.targets import TARGETS, Scope, Target
from sayso.text import printable, spelt_out

Removal = tuple[str, str, Callable[[Ledger], Done]]
"""What is taken out, as a line with a place for what became of it; out of which file; and how."""


@click.command()
@click.argument("clients", metavar="[CLIENT]...", nargs=-1, shell_complete=complete_client)
@click.option("--project", "for_project", is_flag=True, help="From this project's files instead of your own.")
@click.option("--guard", "guards", metavar="NAME", multiple=True, help="Take the gate off this server, and no more.")
def command(clients: tuple[str, ...], for_project: bool, guards: tuple[str, ...]) -> None:
    """Remove Sayso from agents' configurations.

    Without CLIENT, from every client that has it. Entry, permission to ask, hooks, skill and paragraph go. A file that
    nobody changed since is as it was before, to the byte; from any other only what is ours is cut out.
    No agent can do this.

    \b
    Example:
      sayso uninstall
      sayso uninstall cursor --project
      sayso uninstall codex --guard files
    """
    machine, scope = machine_here(in_project=for_project), Scope.PROJECT if for_project else Scope.USER
    refuse_agents_anywhere(settings(), "take off what asks a person")
    if guards:
        change_guards(named(clients), guards, scope, machine, GuardedEntry.take_off)
        return
    targets = named(clients) or [target for target in TARGETS if target.takes(scope)]
    removals = [removal for target in targets for removal in _removals(target, scope, machine)]
    each = {(line, file): take for line, file, take in removals}
    results = [_remove(line, file, take) for (line, file), take in each.items()]
    if not any(result is Done.REMOVED or result is Done.RESTORED for result in results):
        say(_nothing(clients))
    elif not clients and not for_project:
        _say_what_stays()
    if None in results:
        raise click.exceptions.Exit(CannotEdit.exit_code)


def _nothing(clients: tuple[str, ...]) -> str:
    if not clients:
        return tr("There was nothing to take back.")
    return tr("There was nothing to take back from {clients}.", clients=", ".join(clients))


def _removals(target: Target, scope: Scope, machine: Machine) -> Iterator[Removal]:
    for entry in guarded_in(target, scope, machine):
        # First, while the others still know the file as they left it.
        gate = tr("gate of {server}: ", server=printable(entry.steps[-1])).replace("{", "{{").replace("}", "}}")
        yield f"{target.title}: {gate}{{}}", short_path(entry.path, machine), _taking_off(entry)
    piece = registration(target, scope, machine)
    yield f"{target.title}: {{}}", short_path(piece.part.path, machine), piece.remove
    for part in foreground_parts(target, scope, machine):
        # First of those in its file, because the others forget who put what there.
        yield f"  {tr('calls in the foreground: ')}{{}}", short_path(part.path, machine), _taking_ours(part)
    if grant := target.leave_to_ask(machine, scope, piece.server):
        yield f"  {tr('permission to ask you: ')}{{}}", short_path(grant.path, machine), _taking(grant)
    for part in hook_parts(target, scope, machine):
        yield f"  {tr('hook: ')}{{}}", short_path(part.path, machine), _taking(part)
    for part in gate_parts(target, scope, machine):
        yield f"  {tr('prompts in your inbox: ')}{{}}", short_path(part.path, machine), _taking(part)
    for part in skill_parts(target, scope, machine):
        yield "  {}", short_path(part.path, machine), _taking(part)


def _taking(part: Part) -> Callable[[Ledger], Done]:
    return lambda ledger: take_back(part, ledger)


def _taking_off(entry: GuardedEntry) -> Callable[[Ledger], Done]:
    return lambda _: entry.take_off()


def _taking_ours(part: Part) -> Callable[[Ledger], Done]:
    return lambda ledger: take_back_ours(part, ledger)


def _remove(line: str, file: str, take: Callable[[Ledger], Done]) -> Done | None:
    """What became of it; None when its file had to be left alone."""
    try:
        done = take(ledger_of(settings()))
    except CannotEdit as error:
        say(tr("Not done: {why}", why=printable(explained(error))))
        return None
    if done is not Done.ABSENT:
        put(line.format(_said(done, file)))
    return done


def _said(done: Done, file: str) -> str:
    if done is Done.RESTORED:
        return tr("removed, and {file} is as it was before", file=file)
    return tr("{done} in {file}", done=translated(done), file=file)


def _say_what_stays() -> None:
    """For who wants to be rid of all of it."""
    config = settings()
    folders = [folder for folder in (config.state_dir, config.user_rules.parent) if folder.is_dir()]
    say(
        "\n".join(["", tr("What you were asked and have set is kept:"), *(f"  {spelt_out(str(it))}" for it in folders)])
    )
