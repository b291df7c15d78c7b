"""`sayso install`: registers Sayso with the agents on this machine, each in its own configuration."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from sayso.cli.connecting import this_command
from sayso.cli.installing import (
    complete_client,
    found,
    hook_parts,
    machine_here,
    named,
    registration,
    short_path,
    skill_parts,
)
from sayso.cli.session import settings
from sayso.cli.terminal import bold, is_interactive, put, say
from sayso.errors import CannotEdit
from sayso.install.ledger import ledger_of
from sayso.install.machine import Machine
from sayso.install.part import Done, Part, add, look
from sayso.install.registration import Registration
from sayso.install.targets import BY_KEY, Scope, Target
from sayso.text import printable

Piece = TypeVar("Piece")


@click.command()
@click.argument("clients", metavar="[CLIENT]...", nargs=-1, shell_complete=complete_client)
@click.option("--project", "for_project", is_flag=True, help="In this project's files instead of your own.")
@click.option("--hook/--no-hook", default=None, help="Claude Code: hand late answers over at the agent's next step.")
@click.option("--skill", is_flag=True, help="Also a skill and a paragraph that tell the agent when and how to ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--print", "only_print", is_flag=True, help="Print what to run or to paste, and change nothing.")
def command(
    clients: tuple[str, ...], for_project: bool, hook: bool | None, skill: bool, dry_run: bool, only_print: bool
) -> None:
    """Register Sayso with the agents on this machine.

    Without CLIENT: all that are found. It uses the client's own command where there is one, and else edits its file:
    everything else in it stays as it is, a copy is kept beside it, and a file that cannot be read is left alone.
    Running it again changes nothing. `sayso uninstall` takes it back.

    CLIENT is claude-code, codex, cursor, vscode, gemini, opencode, claude-desktop, goose, zed, cline or windsurf.

    \b
    Example:
      sayso install                        all that are found
      sayso install claude-code --hook     one of them, and late answers by a hook
      sayso install --project --dry-run    what would change in this project
      sayso install cursor --print         what to paste
    """
    machine, scope = machine_here(), Scope.PROJECT if for_project else Scope.USER
    targets = _wanted(clients, machine, scope)
    pieces = [registration(target, scope, machine) for target in targets]
    hooks = [part for target in targets for part in hook_parts(target, scope, machine)]
    skills = [part for target in targets for part in skill_parts(target, scope, machine)] if skill else []
    _check_extras(hook and not hooks, skill and not skills)
    if only_print:
        put("\n\n".join([*map(_to_paste, pieces), *(_text_of(part) for part in (*(hooks if hook else ()), *skills))]))
        return
    if not (clients or dry_run) and is_interactive() and not _agreed(targets):
        raise click.exceptions.Exit(1)
    went_well = [_try(_show if dry_run else _connect, piece) for piece in pieces]
    wants_hook = bool(hook) if dry_run else _wants_hook(hooks, hook)
    # Several clients may read the same file.
    parts = {part.path: part for part in [*(hooks if wants_hook else []), *skills]}.values()
    went_well += [_try(_show_part if dry_run else _add, part) for part in parts]
    _say_next(dry_run)
    if not all(went_well):
        raise click.exceptions.Exit(CannotEdit.exit_code)


def _wanted(clients: Sequence[str], machine: Machine, scope: Scope) -> list[Target]:
    """Those that were named, or all that are found."""
    targets = named(clients) or found(machine, scope)
    if not targets:
        raise CannotEdit(
            f"No agent's client was found on this machine. Name one: {this_command()} install claude-code. "
            f"The clients are {', '.join(BY_KEY)}."
        )
    return targets


def _check_extras(hook_in_vain: bool | None, skill_in_vain: bool) -> None:
    if hook_in_vain:
        raise click.UsageError("--hook is for Claude Code. Name claude-code too, or leave --hook out.")
    if skill_in_vain:
        raise click.UsageError("None of these clients reads skills or instructions from a file. Leave --skill out.")


def _agreed(targets: Sequence[Target]) -> bool:
    put("Found: " + ", ".join(target.title for target in targets) + ".")
    return click.confirm("Connect Sayso to each of them?", default=True)


def _try(do: Callable[[Piece], None], piece: Piece) -> bool:
    """Whether it went well. One client's broken file keeps no other from being connected."""
    try:
        do(piece)
    except CannotEdit as error:
        say(f"Not done: {printable(str(error))}")
        return False
    return True


def _connect(piece: Registration) -> None:
    own = piece.own
    done = piece.add(ledger_of(settings()))
    by = f", by `{own.program} mcp add`" if own and done is not Done.ALREADY else ""
    put(f"{bold(piece.target.title)}: {done} in {short_path(piece.part.path, piece.machine)}{by}")


def _show(piece: Registration) -> None:
    seen, title = piece.look(), bold(piece.target.title)
    if not seen.is_needed:
        put(f"{title}: already there, nothing would change.")
        return
    by = f" by running\n  {shlex.join(piece.own_words())}\nso that the file says" if piece.own else ""
    put(f"{title}: would be connected{by}\n{printable(seen.difference())}\n")


def _to_paste(piece: Registration) -> str:
    """The entry alone, as a file with nothing else in it would have it; and the command that puts it there."""
    own = f"\n  {shlex.join(piece.own_words())}\nor" if piece.own else ""
    file = short_path(piece.part.path, piece.machine)
    return f"{bold(piece.target.title)}{own} in {file}:\n\n{piece.part.added('').rstrip()}"


def _text_of(part: Part) -> str:
    return f"{part.path}:\n\n{part.added('').rstrip()}"


# The hook and the skill


def _wants_hook(hooks: Sequence[Part], hook: bool | None) -> bool:
    """Offered where there is somebody to ask, unless it is there."""
    if hook is not None or not hooks or look(hooks[0]).was_in:
        return bool(hook)
    if is_interactive():
        put("\nAn answer that comes after its call has ended can reach Claude Code at its next step, by a hook.")
        return click.confirm("Add the hook?", default=True)
    say(f"Late answers can come by a hook: {this_command()} install claude-code --hook")
    return False


def _add(part: Part) -> None:
    put(f"  {add(part, ledger_of(settings()))} in {part.path}")


def _show_part(part: Part) -> None:
    seen = look(part)
    put(printable(seen.difference()) if seen.is_needed else f"{part.path}: nothing would change.")


def _say_next(dry_run: bool) -> None:
    if dry_run:
        say("Nothing was changed.")
        return
    say("\nStart the agent anew and tell it: ask me with sayso when a decision is mine.")
    say(f"Whether all is well: {this_command()} doctor    Your inbox: {this_command()}")
