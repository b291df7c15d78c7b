"""The agents' clients: whether each is connected, to this very Sayso, with limits that fit."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from sayso import __version__
from sayso.clients import known
from sayso.config import Config
from sayso.doctor.finding import Finding, fault, note, ok, warning
from sayso.errors import CannotEdit
from sayso.install import files
from sayso.install.entry import Registered, ServerProgram
from sayso.install.foreground import NEVER, VARIABLE
from sayso.install.foreground import value as foreground_value
from sayso.install.grants import ApprovalsPart, RulesPart, tools_of
from sayso.install.hooks import HookPart, registered_command
from sayso.install.machine import Machine
from sayso.install.part import about, look
from sayso.install.registration import Registration
from sayso.install.targets import TARGETS, Scope, Target, claude_settings
from sayso.setting_values import limits
from sayso.trust import real

VERSION_SECONDS = 20.0
OURS = ("sayso", "auq")
FETCHERS = ("uvx", "uv", "pipx")
NOT_CONNECTED = "is not connected."


def connections(config: Config, machine: Machine, server: ServerProgram) -> Iterator[Finding]:
    """Every client that is used on this machine, or that has an entry here."""
    used = [target for target in TARGETS if target.is_used(machine)]
    if not used:
        yield note("agents", "No agent's client was found on this machine.", "sayso install CLIENT")
    findings = [finding for target in used for finding in connection(target, config, machine, server)]
    yield from findings
    if used and all(finding.text.endswith(NOT_CONNECTED) for finding in findings):
        yield warning("agents", "No agent is connected, so nobody can ask you anything.", "sayso install")
    yield from hook(machine)
    yield from approvals(machine)
    if any(finding.subject == "claude-code" and not finding.text.endswith(NOT_CONNECTED) for finding in findings):
        yield from foreground(machine)


def foreground(machine: Machine) -> Iterator[Finding]:
    """Whether interactive Claude Code waits for an answer that takes longer than two minutes."""
    path = claude_settings(machine, Scope.USER)
    try:
        with about(path):
            value = foreground_value(files.as_text(files.content(path)).removeprefix(files.BOM))
    except CannotEdit:
        return  # told with the hook, which is in the same file
    if value == NEVER:
        yield ok("claude-code", f"{VARIABLE} is {NEVER}: long calls wait for your answer, also in a terminal")
        return
    after = f"{VARIABLE} is {value}: a long call" if value is not None else "A call of two minutes"
    text = f"{after} in a terminal moves to the background, and your answer then counts as no user input."
    yield note("claude-code", text, "sayso install claude-code --foreground    (for all of its MCP servers)")


def connection(target: Target, config: Config, machine: Machine, server: ServerProgram) -> Iterator[Finding]:
    found: list[tuple[Scope, Registered]] = []
    for scope in Scope:
        if not target.takes(scope):
            continue
        again = f"sayso install {target.key}{_flag(scope)}"
        piece = Registration(target=target, scope=scope, machine=machine, server=server)
        try:
            registered = piece.registered()
        except CannotEdit as error:
            yield fault(target.key, str(error), f"Fix that file, then: {again}")
            return
        if registered:
            found.append((scope, registered))
            yield from entry(piece, registered, config)
    if not found:
        yield note(target.key, f"{target.title} {NOT_CONNECTED}", f"sayso install {target.key}")
    elif any(registered.server != found[0][1].server for _, registered in found if not registered.is_disabled):
        yield warning(
            target.key,
            f"{target.title} has two different entries, yours and this project's; the project's holds here.",
            f"Remove one: sayso uninstall {target.key}, or sayso uninstall {target.key} --project",
        )


def entry(piece: Registration, registered: Registered, config: Config) -> Iterator[Finding]:
    """One entry: what it starts, and whether that fits what the client and this Sayso do."""
    target, scope, machine = piece.target, piece.scope, piece.machine
    again, title = f"sayso install {target.key}{_flag(scope)}", f"{target.title} ({scope})"
    if registered.is_disabled:
        yield warning(target.key, f"{title}: the entry is switched off.", "Switch it on in the client, or remove it.")
        return
    program = shutil.which(registered.server.command, path=machine.environ.get("PATH"))
    if not program:
        yield fault(target.key, f"{title} starts {registered.server.command}, which is not there.", again)
        return
    wrong = [
        *_other_version(piece, title, program, registered.server, again),
        *_other_state(target, title, scope, registered.server, config),
        *_no_settings(target, title, registered.server, again),
        *_limits(target, title, registered, config, again),
        *_unseen_tools(target, title, scope, registered, machine),
        *_leave_to_ask(target, title, scope, registered.server, machine),
    ]
    if target.lacks_program(machine):
        text = f"{title}: the entry is written, but {' / '.join(target.programs)} was not found on PATH."
        yield from wrong
        yield note(target.key, text, f"Install {target.title}.")
        return
    yield from wrong or [ok(target.key, f"{title} is connected: it starts {shlex.join(registered.server.argv)}")]


def _other_version(
    piece: Registration, title: str, program: str, server: ServerProgram, again: str
) -> Iterator[Finding]:
    """Whether it is Sayso, and this one. What fetches programs is not asked: it might fetch one."""
    name, key = Path(program).stem, piece.target.key
    if name in FETCHERS or is_this_program(piece, program):
        return
    if name not in OURS:
        yield warning(key, f"{title} starts {server.command}, which is not Sayso.", again)
        return
    if is_named_by_project(piece, program):
        text = f"{title} starts {program}. Which version that is was not tried: nothing is run that a project names."
        yield note(key, text, again)
        return
    told = _version(program)
    if told != __version__:
        what = f"version {told}" if told else "something that does not say which version it is"
        yield warning(key, f"{title} starts {what}; this is {__version__}.", again)


def is_this_program(piece: Registration, program: str) -> bool:
    """Whether a file is the very program that looks at it."""
    return os.path.realpath(program) == os.path.realpath(piece.server.command)


def is_named_by_project(piece: Registration, program: str) -> bool:
    """Whether to run a program would be to do what a project says: its entry names it, or it lies in there."""
    return piece.scope is Scope.PROJECT or real(Path(program)).is_relative_to(real(piece.machine.project))


@cache
def _version(program: str) -> str:
    try:
        ran = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.split()[-1] if ran.returncode == 0 and ran.stdout.split() else ""


def _other_state(target: Target, title: str, scope: Scope, server: ServerProgram, config: Config) -> Iterator[Finding]:
    """A server with another store asks where nobody looks. A project's entry says nothing of one person's folder."""
    again = f"sayso install {target.key}{_flag(scope)}"
    theirs = server.env.get("SAYSO_STATE_DIR")
    if theirs and Path(theirs).expanduser() != config.state_dir:
        text = f"{title} keeps its questions in {theirs}, but your inbox is {config.state_dir}."
        yield fault(target.key, text, again)
    elif not theirs and scope is Scope.USER and config.sources.get("state_dir") == "SAYSO_STATE_DIR":
        text = f"SAYSO_STATE_DIR is set in this shell, and {title} does not know of it."
        yield warning(target.key, text, again)


def _no_settings(target: Target, title: str, server: ServerProgram, again: str) -> Iterator[Finding]:
    """A server that is told of settings that are not there does not start."""
    theirs = server.env.get("SAYSO_CONFIG")
    if theirs and not Path(theirs).expanduser().exists():
        yield fault(target.key, f"{title} is told of the settings {theirs}, which are not there.", again)


def _limits(target: Target, title: str, registered: Registered, config: Config, again: str) -> Iterator[Finding]:
    """A call must come back before the client gives up."""
    ours = _budget(target, registered.server, config)
    theirs = registered.limit_seconds
    limit = target.shape.limit
    if limit is None or (theirs is None and ours == known(target.known_as).limit):
        return
    if theirs is None or ours is None or ours >= theirs:
        given = f"{limit.key} is {theirs:g} s" if theirs is not None else f"it has no {limit.key}"
        held = f"{ours:g} s" if ours is not None else "for ever"
        yield warning(target.key, f"{title}: {given}, but a call is held {held}: the client gives up first.", again)


def _unseen_tools(
    target: Target, title: str, scope: Scope, registered: Registered, machine: Machine
) -> Iterator[Finding]:
    """An entry can keep tools from the agent that it is there for."""
    if against := registered.against(tools_of(registered.server)):
        yield _kept_from_asking(target, title, against, target.file(machine, scope))


def _kept_from_asking(target: Target, title: str, against: Sequence[str], path: Path) -> Finding:
    text = f"{title} is kept from asking you by its own settings ({', '.join(against)})."
    return warning(target.key, text, f"Take that out of {path}, unless you mean it.")


def _leave_to_ask(
    target: Target, title: str, scope: Scope, server: ServerProgram, machine: Machine
) -> Iterator[Finding]:
    """A client that must be asked before it calls our tools calls none where nobody can be asked."""
    if not target.grant:
        return
    again = f"sayso install {target.key}"
    try:
        # What Gemini and others do not take from a project must be the person's own.
        own = target.leave_to_ask(machine, scope, server)
        again += _flag(scope) if own else ""
        part = own or target.leave_to_ask(machine, Scope.USER, server)
        is_missing = part is not None and look(part).is_needed
        yield from _refusals(target, title, server, machine)
    except CannotEdit as error:
        yield fault(target.key, str(error), f"Fix that file, then: {again}")
        return
    if is_missing:
        text = f"{title} must be allowed each question at its own terminal, and refuses it where there is none."
        yield warning(target.key, text, again)


def _refusals(target: Target, title: str, server: ServerProgram, machine: Machine) -> Iterator[Finding]:
    """What a person's own settings say against our tools holds, whatever else allows them."""
    for part in dict.fromkeys(target.leave_to_ask(machine, scope, server) for scope in Scope if target.takes(scope)):
        if not isinstance(part, RulesPart | ApprovalsPart):
            continue
        local = [part.path.with_suffix(".local.json")] if isinstance(part, RulesPart) else []
        for path in (part.path, *local):
            with about(path):
                against = part.against(files.as_text(files.content(path)).removeprefix(files.BOM))
            if against:
                yield _kept_from_asking(target, title, against, path)


def _budget(target: Target, server: ServerProgram, config: Config) -> float | None:
    given = dict(config.call_limits)
    if told := server.env.get("SAYSO_CALL_LIMITS"):
        given = dict(limits(told))
    if target.known_as in given:
        return given[target.known_as] / 1000 or None
    return known(target.known_as).limit


def hook(machine: Machine) -> Iterator[Finding]:
    """The hook for late answers, where one is set up."""
    for scope in Scope:
        try:
            path = claude_settings(machine, scope)
            with about(path):
                command = registered_command(files.as_text(files.content(path)).removeprefix(files.BOM))
        except CannotEdit as error:
            yield fault("hook", str(error), "Fix that file: Claude Code reads its hooks and permissions from it.")
            continue
        if not command:
            continue
        program = program_of(command)
        if shutil.which(program, path=machine.environ.get("PATH")):
            yield ok("hook", f"late answers reach Claude Code at its next step ({scope})")
        else:
            fix = f"sayso install claude-code --hook{_flag(scope)}"
            yield fault("hook", f"{path} runs {program}, which is not there.", fix)


def approvals(machine: Machine) -> Iterator[Finding]:
    """What brings clients' permission prompts here, where it is set up."""
    for target in TARGETS:
        command = gate_command(target, machine)
        if not command:
            continue
        program = program_of(command)
        if not shutil.which(program, path=machine.environ.get("PATH")):
            fix = f"sayso install {target.key} --approvals"
            yield fault("approvals", f"{target.title} runs {program}, which is not there.", fix)
        elif missing := _missing_hooks(target, machine):
            events = " and ".join(missing)
            text = f"{target.title} lacks the hooks for {events}, which an older version did not set up."
            yield warning("approvals", text, f"sayso install {target.key} --approvals")
        elif target.gate and target.gate.asks_for_trust and not _trusts_its_hooks(target, machine):
            text = f"{target.title} has not been told yet that it may run the hook for its prompts."
            yield warning("approvals", text, f'Start {target.key} and choose "Trust all and continue".')
        elif target.gate and target.gate.stays_open:
            yield ok("approvals", f"what {target.title} asks in its terminal stands in your inbox too")
        else:
            yield ok("approvals", f"what {target.title} asks while you are away waits in your inbox")


def _trusts_its_hooks(target: Target, machine: Machine) -> bool:
    """Whether a client notes with its own settings that its person has agreed to the hook for prompts."""
    if target.gate is None:
        return False
    noted = f"{target.gate.set_up(machine, ()).path}:permission_request:"
    return noted in files.as_text(files.content(target.file(machine, Scope.USER)))


def _missing_hooks(target: Target, machine: Machine) -> Sequence[str]:
    """The events of which the hooks for prompts are not told, though they are set up."""
    part = target.gate.set_up(machine, ()) if target.gate else None
    if not isinstance(part, HookPart):
        return ()
    return part.missing(files.as_text(files.content(part.path)).removeprefix(files.BOM))


def gate_command(target: Target, machine: Machine) -> str | None:
    """What a client runs for its prompts, by the person's own files."""
    if not target.gate:
        return None
    part = target.gate.set_up(machine, ())
    with suppress(CannotEdit):  # told with the entry or the hook that is in the same file
        return part.command(files.as_text(files.content(part.path)).removeprefix(files.BOM))
    return None


def program_of(command: str) -> str:
    """The program that a hook's command starts."""
    words = shlex.split(command, posix=os.name == "posix")
    return next((word for word in words if word not in ("exec", "env") and "=" not in word), "")


def _flag(scope: Scope) -> str:
    return " --project" if scope is Scope.PROJECT else ""
