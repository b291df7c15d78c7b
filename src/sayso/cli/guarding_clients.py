"""`sayso install --guard` and `sayso uninstall --guard`: a server that a client has, behind a gate and off it again."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence

import click

from sayso.cli.connecting import CARRIED, our_program, this_command, words_for
from sayso.cli.guarding import checked
from sayso.cli.installing import short_path
from sayso.cli.terminal import bold, put, say
from sayso.cli.texts import explained, mark, tr
from sayso.errors import CannotEdit
from sayso.install.guarding import GuardedEntry, entries_in
from sayso.install.machine import Machine
from sayso.install.part import Done
from sayso.install.targets import Scope, Target
from sayso.text import printable

Change = Callable[[GuardedEntry], Done]

_SAID = {
    Done.CHANGED: mark("{client}: {server} is behind a gate, in {file}"),
    Done.ALREADY: mark("{client}: {server} is behind a gate already, in {file}"),
    Done.REMOVED: mark("{client}: {server} is off its gate, in {file}"),
    Done.ABSENT: mark("{client}: {server} has no gate, in {file}"),
}


def change_guards(
    targets: Sequence[Target], names: Sequence[str], scope: Scope, machine: Machine, change: Change
) -> None:
    """Change the entries of these servers in each client. Exits where one could not be changed."""
    if not targets:
        raise click.UsageError("Name the client whose server is meant, such as claude-code.")
    went_well = [_try(target, name, scope, machine, change) for target in targets for name in names]
    if not all(went_well):
        raise click.exceptions.Exit(CannotEdit.exit_code)


def show(entry: GuardedEntry) -> Done:
    """Show what would change."""
    before, after = entry.preview()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(entry.path), str(entry.path), lineterm="")
    put(printable("\n".join(lines)))
    return Done.ALREADY if before == after else Done.CHANGED


def guard_words_for(name: str, scope: Scope) -> list[str]:
    """What starts a guard for a server of this name, up to where its own command begins."""
    words = words_for(our_program()) if scope is Scope.USER else [this_command()]
    carried = [f"{key}={os.environ[key]}" for key in CARRIED if os.environ.get(key)] if scope is Scope.USER else []
    return [*(["env", *carried] if carried else []), *words, "guard", "--name", checked(name), "--"]


def _try(target: Target, name: str, scope: Scope, machine: Machine, change: Change) -> bool:
    """Whether it went well in the first of the places where the client may have such a server."""
    entries = entries_in(target, scope, machine, guard_words_for(name, scope), name)
    done, trouble = Done.ABSENT, None
    for entry in entries:
        try:
            done, trouble = change(entry), None
        except CannotEdit as error:
            trouble = error
        if not trouble and done is not Done.ABSENT:
            break
    if trouble:
        say(tr("Not done: {why}", why=printable(explained(trouble))))
        return False
    file = short_path(entries[0].path, machine)
    put(tr(_SAID[done], client=bold(target.title), server=printable(name), file=file))
    return True
