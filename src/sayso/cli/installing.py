"""What `install`, `uninstall` and `doctor` share: which clients are meant, and what each can be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from sayso.cli.ask import EXIT_CODES
from sayso.cli.connecting import CARRIED, our_program, shared_server, this_command, this_server, words_for
from sayso.cli.program import settings
from sayso.install.foreground import ForegroundPart
from sayso.install.gates import GateSetUp
from sayso.install.hooks import HookPart
from sayso.install.machine import Machine, this_machine
from sayso.install.part import Part
from sayso.install.registration import Registration
from sayso.install.skill import ParagraphPart, SkillPart, paragraph, skill
from sayso.install.targets import BY_KEY, TARGETS, Place, Scope, Target, claude_settings
from sayso.text import did_you_mean


def machine_here(*, in_project: bool = False) -> Machine:
    return this_machine(settings(in_project=in_project).project)


def named(clients: Sequence[str]) -> list[Target]:
    """The clients by these names; a UsageError where there is none of one."""
    for client in clients:
        if client not in BY_KEY:
            hint = did_you_mean(client, BY_KEY, f"The clients are {', '.join(BY_KEY)}.")
            raise click.UsageError(f"There is no client {client!r}. {hint}")
    return [BY_KEY[client] for client in dict.fromkeys(clients)]


def found(machine: Machine, scope: Scope) -> list[Target]:
    """The clients on this machine that can be given something in this scope."""
    return [target for target in TARGETS if target.takes(scope) and target.is_used(machine)]


def registration(target: Target, scope: Scope, machine: Machine, *flags: str) -> Registration:
    """The client with a server that is started with these flags."""
    if not target.takes(scope):
        raise click.UsageError(f"{target.title} has no file of its own in projects. Leave --project out.")
    server = this_server(*flags) if scope is Scope.USER else shared_server(*flags)
    return Registration(target=target, scope=scope, machine=machine, server=server)


def foreground_parts(target: Target, scope: Scope, machine: Machine) -> Iterator[Part]:
    """The setting that keeps calls in the foreground, for the one client that moves them away."""
    if target.key == "claude-code":
        yield ForegroundPart(path=claude_settings(machine, scope))


def hook_parts(target: Target, scope: Scope, machine: Machine) -> Iterator[Part]:
    """The hook, for the one client that has a place for it."""
    if target.key == "claude-code":
        words = _own_words(machine) if scope is Scope.USER else [this_command()]
        yield HookPart(path=claude_settings(machine, scope), program=words)


def gate_parts(target: Target, scope: Scope, machine: Machine) -> Iterator[GateSetUp]:
    """What brings its prompts here. A person's own alone: of two that are set up, each would ask."""
    if target.gate and scope is Scope.USER:
        yield target.gate.set_up(machine, _own_words(machine))


def _own_words(machine: Machine) -> list[str]:
    """What starts this program for this person, with the store and the settings that it was installed for."""
    carried = [f"{name}={machine.environ[name]}" for name in CARRIED if machine.environ.get(name)]
    return [*(["env", *carried] if carried else []), *words_for(our_program())]


def skill_parts(target: Target, scope: Scope, machine: Machine) -> Iterator[Part]:
    """What tells the agent when and how to ask, where its client reads such things."""
    if target.skills:
        folder = _place(target.skills, scope, machine)
        yield SkillPart(path=folder / "sayso" / "SKILL.md", text=skill(EXIT_CODES))
    if target.notes:
        yield ParagraphPart(path=_place(target.notes, scope, machine), text=paragraph())


def _place(places: tuple[Place, str], scope: Scope, machine: Machine) -> Path:
    own, shared = places
    return own(machine) if scope is Scope.USER else machine.in_project(shared)


def short_path(path: Path, machine: Machine) -> str:
    """As people write it."""
    return f"~/{path.relative_to(machine.home).as_posix()}" if path.is_relative_to(machine.home) else str(path)


def complete_client(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(key, help=target.title) for key, target in BY_KEY.items() if key.startswith(incomplete)]
