"""`sayso install`: registers Sayso with the agents on this machine, each in its own configuration."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

import click

from sayso.agent_guard import agent_anywhere, refuse_agents_anywhere
from sayso.brought import brought
from sayso.cli.clients_here import put_clients, put_clients_as_json
from sayso.cli.connecting import this_command
from sayso.cli.guarding_clients import change_guards, show
from sayso.cli.installing import (
    complete_client,
    foreground_parts,
    found,
    gate_parts,
    hook_parts,
    machine_here,
    named,
    registration,
    short_path,
    skill_parts,
)
from sayso.cli.program import settings
from sayso.cli.terminal import bold, confirmed, flowing, is_interactive, put, say
from sayso.cli.texts import explained, mark, tr, translated
from sayso.cli.trusting import trust_changes
from sayso.errors import CannotEdit
from sayso.install.foreground import ForegroundPart
from sayso.install.gates import CopilotGate, GateSetUp, OpencodeGate
from sayso.install.grants import tools_of
from sayso.install.guarding import GuardedEntry
from sayso.install.hooks import GatePart, HookPart
from sayso.install.ledger import ledger_of
from sayso.install.machine import Machine
from sayso.install.part import Done, Part, add, look
from sayso.install.registration import Registration
from sayso.install.skill import ParagraphPart, SkillPart
from sayso.install.targets import BY_KEY, TARGETS, PromptGate, Scope, Target
from sayso.text import printable

Piece = TypeVar("Piece")

_WANTED = mark("change what stands between agents and a person")


@click.command()
@click.argument("clients", metavar="[CLIENT]...", nargs=-1, shell_complete=complete_client)
@click.option("--project", "for_project", is_flag=True, help="In this project's files instead of your own.")
@click.option("--hook/--no-hook", default=None, help="Claude Code: hand late answers over at the agent's next step.")
@click.option("--approvals/--no-approvals", default=None, help="Their permission prompts in your inbox too.")
@click.option("--allow/--no-allow", default=True, help="Let agents call the tools that ask you unprompted (default).")
@click.option(
    "--foreground/--no-foreground", default=None, help="Claude Code: keep long calls, of all servers, waiting."
)
@click.option("--lean", is_flag=True, help="Only the tools ask_user and get_answers.")
@click.option("--skill", is_flag=True, help="Also a skill and a paragraph that tell the agent when and how to ask.")
@click.option("--guard", "guards", metavar="NAME", multiple=True, help="Put this server of the client's behind a gate.")
@click.option("--list", "only_list", is_flag=True, help="Show every client, and what each has here. No change.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print JSON.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--print", "only_print", is_flag=True, help="Print what to run or to paste, and change nothing.")
def command(
    clients: tuple[str, ...],
    for_project: bool,
    hook: bool | None,
    approvals: bool | None,
    allow: bool,
    foreground: bool | None,
    lean: bool,
    skill: bool,
    guards: tuple[str, ...],
    only_list: bool,
    as_json: bool,
    dry_run: bool,
    only_print: bool,
) -> None:
    """Register Sayso with the agents on this machine.

    Without CLIENT: all that are found. It uses the client's own command where there is one, and else edits its file:
    everything else in it stays as it is, a copy is kept beside it, and a file that cannot be read is left alone.
    Running it again changes nothing. `sayso uninstall` takes it back.

    It also lets these agents call the tools that ask you, each by its name, without a prompt of their client: without
    that, an agent that runs without a terminal cannot ask at all. No tool that runs a command is allowed by it.

    An agent can add a server where a client has none. Hooks, prompts, gates and what is there already are a person's.

    CLIENT is claude-code, codex, cursor, vscode, gemini, opencode, qwen, copilot, claude-desktop, goose, zed, cline or
    windsurf.

    \b
    Example:
      sayso install                        all that are found
      sayso install claude-code --hook     one of them, and late answers by a hook
      sayso install claude-code --approvals    its permission prompts in your inbox too
      sayso install --list                 every client, and what it has
      sayso install --project --dry-run    what would change in this project
      sayso install cursor --print         what to paste
      sayso install codex --guard files    a server that it has, behind a gate
    """
    machine, scope = machine_here(in_project=for_project), Scope.PROJECT if for_project else Scope.USER
    if only_list:
        (put_clients_as_json if as_json else put_clients)(machine, named(clients) or TARGETS)
        return
    if guards:
        if not dry_run:
            refuse_agents_anywhere(settings(), _WANTED)
        change_guards(named(clients), guards, scope, machine, show if dry_run else GuardedEntry.put)
        next_step = tr("Restart the agent. Its server's tools then come to your inbox.")
        say(tr("Nothing was changed.") if dry_run else next_step)
        return
    targets = _wanted(clients, machine, scope)
    pieces = [registration(target, scope, machine, *(["--lean"] if lean else [])) for target in targets]
    extras = _Extras(foreground=foreground, hook=hook, approvals=approvals)
    beside = _beside(pieces, allow, skill)
    _check_extras(extras, beside, skill)
    if only_print:
        texts = [*map(_to_paste, pieces), *map(_text_of, [*beside.grants, *beside.chosen(extras)])]
        put("\n\n".join(texts))
        return
    config = settings()
    by_agent = "" if dry_run else agent_anywhere(config)
    if by_agent and (extras.is_more or _changes(pieces)):
        refuse_agents_anywhere(config, _WANTED)
    if not (clients or dry_run) and is_interactive() and not _agreed(targets):
        raise click.exceptions.Exit(1)
    before = brought(config, config.project) if for_project and not dry_run else None
    went_well = [_try(_show if dry_run else _connect, piece) for piece in pieces]
    ours = [*(piece.part for piece in pieces), *beside.parts]
    # What goes with an entry is of no use where there is none; whoever mends the file runs this again.
    pieces = [piece for piece, well in zip(pieces, went_well, strict=True) if well]
    beside = _beside(pieces, allow, skill)
    place = _show_part if dry_run else _adding(ours, machine)
    went_well += [_try(place, part) for part in beside.grants]
    _say_what_is_allowed(pieces, beside.grants)
    # An agent would take up the offers itself.
    extras = extras if dry_run or by_agent else _asked(extras, beside)
    went_well += [_try(place, part) for part in beside.chosen(extras)]
    if extras.approvals:
        _say_when_prompts_come([BY_KEY[key] for key in beside.gates])
    if before is not None:
        trust_changes(config, before, [part.path for part in ours])
    if pieces:
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


def _check_extras(extras: _Extras, beside: _Beside, skill: bool) -> None:
    if (extras.hook or extras.foreground) and not beside.hooks:
        raise click.UsageError("--hook and --foreground are for Claude Code. Name claude-code too, or leave them out.")
    if extras.approvals and not beside.gates:
        able = ", ".join(target.key for target in TARGETS if target.gate)
        raise click.UsageError(f"--approvals is for your own clients, not for a project's, and only for {able}.")
    if skill and not beside.skills:
        raise click.UsageError("None of these clients reads skills or instructions from a file. Leave --skill out.")


def _changes(pieces: Sequence[Registration]) -> bool:
    """Whether more would be done than to add a server with the settings and the store that every program has."""
    return any(map(_is_more, pieces))


def _is_more(piece: Registration) -> bool:
    """The same of one client. Of a file that cannot be read it is told where that is to be changed."""
    with suppress(CannotEdit):
        seen = piece.look()
        return seen.is_needed and (seen.was_in or bool(piece.server.env))
    return False


def _agreed(targets: Sequence[Target]) -> bool:
    put(tr("Found: {clients}.", clients=", ".join(target.title for target in targets)))
    return confirmed(tr("Connect Sayso to each of them?"))


def _try(do: Callable[[Piece], None], piece: Piece) -> bool:
    """Whether it went well. One client's broken file keeps no other from being connected."""
    try:
        do(piece)
    except CannotEdit as error:
        say(tr("Not done: {why}", why=printable(explained(error))))
        return False
    return True


def _connect(piece: Registration) -> None:
    own = piece.own
    done = piece.add(ledger_of(settings()))
    by = tr(", by `{program} mcp add`", program=own.program) if own and done is not Done.ALREADY else ""
    put(f"{bold(piece.target.title)}: {_done_in(done, short_path(piece.part.path, piece.machine))}{by}")
    if piece.target.lacks_program(piece.machine):
        text = mark("{client} itself was not found on PATH ({program}): the entry is there for when it is installed.")
        say(tr(text, client=piece.target.title, program=" / ".join(piece.target.programs)))


def _show(piece: Registration) -> None:
    seen, title = piece.look(), bold(piece.target.title)
    if not seen.is_needed:
        put(tr("{title}: already there, nothing would change.", title=title))
        return
    would = tr("{title}: would be connected", title=title)
    if piece.own:
        command = shlex.join(piece.own_words())
        would = tr(
            "{title}: would be connected by running\n  {command}\nso that the file says", title=title, command=command
        )
    put(f"{would}\n{printable(seen.difference())}\n")


def _to_paste(piece: Registration) -> str:
    """The entry alone, as a file with nothing else in it would have it; and the command that puts it there."""
    own = f"\n  {shlex.join(piece.own_words())}\n{tr('or')}" if piece.own else ""
    file = tr("in {place}", place=short_path(piece.part.path, piece.machine))
    return f"{bold(piece.target.title)}{own} {file}:\n\n{piece.part.added('').rstrip()}"


def _text_of(part: Part) -> str:
    return f"{part.path}:\n\n{part.added('').rstrip()}"


# What goes with an entry


class _Extras(NamedTuple):
    """What a person wants with an entry; None where they have not said."""

    foreground: bool | None
    hook: bool | None
    approvals: bool | None

    @property
    def is_more(self) -> bool:
        """Whether any was asked for."""
        return any(self)


class _Beside(NamedTuple):
    """What there is to go with the entries."""

    grants: list[Part]
    waits: list[Part]
    hooks: list[Part]
    gates: dict[str, GateSetUp]
    skills: list[Part]

    @property
    def parts(self) -> list[Part]:
        return [*self.grants, *self.waits, *self.hooks, *self.gates.values(), *self.skills]

    def chosen(self, extras: _Extras) -> list[Part]:
        """All but the grants that are wanted, each once: several clients may read the same file."""
        wanted = [
            *(self.waits if extras.foreground else ()),
            *(self.hooks if extras.hook else ()),
            *(self.gates.values() if extras.approvals else ()),
            *self.skills,
        ]
        return list({(type(part), part.path): part for part in wanted}.values())


def _beside(pieces: Sequence[Registration], allow: bool, skill: bool) -> _Beside:
    places = [(piece.target, piece.scope, piece.machine) for piece in pieces]
    return _Beside(
        grants=[grant for piece in pieces if (grant := _leave_to_ask(piece))] if allow else [],
        waits=[part for place in places for part in foreground_parts(*place)],
        hooks=[part for place in places for part in hook_parts(*place)],
        gates={place[0].key: part for place in places for part in gate_parts(*place)},
        skills=[part for place in places for part in skill_parts(*place)] if skill else [],
    )


def _leave_to_ask(piece: Registration) -> Part | None:
    return piece.target.leave_to_ask(piece.machine, piece.scope, piece.server)


def _say_what_is_allowed(pieces: Sequence[Registration], grants: Sequence[Part]) -> None:
    if grants:
        tools = ", ".join(tools_of(pieces[0].server))
        text = tr("Allowed without a prompt of the client: {tools}. They ask you, and run no command.", tools=tools)
        say(flowing(text))
    for piece in pieces:
        if piece.target.grant and not _leave_to_ask(piece):
            own = f"{this_command()} install {piece.target.key}"
            say(
                tr(
                    "{client} takes no such permission from a project. Everybody runs for themselves: {command}",
                    client=piece.target.title,
                    command=own,
                )
            )


def _asked(extras: _Extras, beside: _Beside) -> _Extras:
    """What was left open is offered, one after the other."""
    return _Extras(
        foreground=_wants_wait(beside.waits, extras.foreground),
        hook=_wants_hook(beside.hooks, extras.hook),
        approvals=_wants_gate(beside.gates, extras.approvals),
    )


def _wants_wait(waits: Sequence[Part], foreground: bool | None) -> bool:
    """Offered where there is somebody to ask, unless it is set in whatever way."""
    if foreground is not None or not waits or not look(waits[0]).is_needed:
        return bool(foreground)
    return _offered(
        flowing(
            tr(
                "Claude Code in a terminal moves a call to the background after two minutes. A later answer of yours "
                "is then presented to the agent as no user input. A setting of Claude Code prevents it, for all MCP "
                "servers, not only for Sayso: their long calls keep the agent waiting too."
            )
        ),
        tr("Add the setting?"),
        tr("Answers after two minutes need a setting of Claude Code: {command}", command=_by("--foreground")),
    )


def _wants_hook(hooks: Sequence[Part], hook: bool | None) -> bool:
    """Offered where there is somebody to ask, unless it is there."""
    if hook is not None or not hooks or look(hooks[0]).was_in:
        return bool(hook)
    return _offered(
        flowing(tr("An answer that comes after its call has ended can reach Claude Code at its next step, by a hook.")),
        tr("Add the hook?"),
        tr("Late answers can come by a hook: {command}", command=_by("--hook")),
    )


def _wants_gate(gates: Mapping[str, GateSetUp], approvals: bool | None) -> bool:
    """Offered where there is somebody to ask, unless it is there."""
    missing = [BY_KEY[key] for key, part in gates.items() if not look(part).was_in]
    if approvals is not None or not missing:
        return bool(approvals)
    beside = ", ".join(target.title for target in missing if target.gate and target.gate.stays_open)
    held = ", ".join(target.title for target in missing if target.gate and not target.gate.stays_open)
    texts = [
        tr(
            "Whenever {clients} asks for a permission, or asks you something, in whatever project, the same prompt "
            "can stand in your inbox too. Its own stays open in the terminal; the first that you answer counts.",
            clients=beside,
        ),
        tr(
            "What {clients} asks while you are away from its terminal can wait in your inbox. While you are there, its "
            "own prompts come as ever.",
            clients=held,
        ),
    ]
    names = " ".join(target.key for target in missing)
    return _offered(
        "\n\n".join(flowing(text) for text, named in zip(texts, (beside, held), strict=True) if named),
        tr("Bring these prompts into your inbox?"),
        tr("Permission prompts can come to your inbox too: {command}", command=_by("--approvals", names)),
    )


def _say_when_prompts_come(targets: Sequence[Target]) -> None:
    """Before somebody wonders where they are, or believes that all is asked."""
    for target in targets:
        for text in _when_prompts_come(target.title, target.gate) if target.gate else ():
            say(flowing(text))


def _when_prompts_come(client: str, gate: PromptGate) -> Iterator[str]:
    if gate.told_to_ask:
        yield tr(
            "What {client} does not ask does not come to your inbox. In its auto mode, in which newer versions "
            "begin, it asks hardly anything. So that it asks, start it like this: {command}",
            client=client,
            command=gate.told_to_ask,
        )
    if gate.setting_to_ask:
        yield tr(
            "What {client} does not ask does not come to your inbox, and no rule of yours holds for it. It edits "
            "files and runs commands without asking, unless its settings say: {setting}",
            client=client,
            setting=gate.setting_to_ask,
        )
    if gate.asks_for_trust:
        yield tr(
            '{client} runs no hook before you have agreed. When it next starts it says "Hooks need review": choose '
            '"Trust all and continue". Until then its prompts stay in its terminal alone.',
            client=client,
        )


def _offered(text: str, question: str, otherwise: str) -> bool:
    """Explained and asked where there is somebody to ask; else only told how to have it."""
    if is_interactive():
        put(f"\n{text}")
        return confirmed(question)
    say(otherwise)
    return False


def _by(option: str, clients: str = "claude-code") -> str:
    return f"{this_command()} install {clients} {option}"


def _adding(ours: Sequence[Part], machine: Machine) -> Callable[[Part], None]:
    def one(part: Part) -> None:
        done = add(part, ledger_of(settings()), ours)
        put(f"  {_named(part)}{_done_in(done, short_path(part.path, machine))}")

    return one


def _done_in(done: Done, file: str) -> str:
    return tr("{done} in {file}", done=translated(done), file=file)


def _named(part: Part) -> str:
    """What it is, where its file does not say so."""
    match part:
        case SkillPart() | ParagraphPart():
            return ""
        case GatePart() | CopilotGate() | OpencodeGate():
            return tr("prompts in your inbox: ")
        case HookPart():
            return tr("hook: ")
        case ForegroundPart():
            return tr("calls in the foreground: ")
    return tr("permission to ask you: ")


def _show_part(part: Part) -> None:
    seen = look(part)
    put(printable(seen.difference()) if seen.is_needed else tr("{file}: nothing would change.", file=part.path))


def _say_next(dry_run: bool) -> None:
    if dry_run:
        say(tr("Nothing was changed."))
        return
    say("\n" + tr("Restart the agent and tell it: ask me with sayso when a decision is mine."))
    say(tr("Whether all is well: {command} doctor    Your inbox: {command}", command=this_command()))
