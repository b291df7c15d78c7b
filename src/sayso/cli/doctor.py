"""`sayso doctor`: what works, what does not, and how to fix it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

import click

from sayso import __version__
from sayso.cli.connecting import this_command, this_server
from sayso.cli.installing import complete_client, named
from sayso.cli.program import is_folder_gone, settings
from sayso.cli.terminal import bold, flowing_beside, put, put_json
from sayso.cli.texts import mark, plural, tr, translated
from sayso.config import Config
from sayso.doctor import connections, ground, guards, surroundings
from sayso.doctor.finding import Finding, Level, exit_code, fault, note, ok, warning
from sayso.errors import CannotEdit, ConfigError, SaysoError
from sayso.install.machine import Machine, this_machine
from sayso.install.registration import Registration
from sayso.install.targets import Scope, Target
from sayso.text import printable, spelt_out
from sayso.web_addresses import ServedAt, running

GO_ELSEWHERE = mark("Change to a folder that is there.")
_SAID = {Level.OK: "ok", Level.NOTE: "", Level.WARNING: mark("warning"), Level.FAULT: mark("FAULT")}


@click.command()
@click.option(
    "--client", metavar="NAME", shell_complete=complete_client, help="Ask a question the way this client would."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(client: str | None, as_json: bool) -> None:
    """See what works, what does not, and how to fix it.

    It checks settings, store, bell, permissions, versions, the entries and limits of every client, the hook, tool
    files, notifications and the browser, and says what is enforced and what is not. It changes nothing and sends
    nothing.

    With --client it starts the server that is registered with that client, exactly as the client would, and takes a
    question all the way: handshake, a question in your inbox, an answer. It never runs what a project names.

    The exit code is 0 when everything is fine, 1 when there are warnings, 2 when something does not work.

    \b
    Example:
      sayso doctor
      sayso doctor --client claude-code
      sayso doctor --json
    """
    findings = list(_examine(client))
    code = exit_code(findings)
    if as_json:
        put_json({"version": __version__, "exit_code": code, "findings": [finding.data() for finding in findings]})
    else:
        _show(findings)
    raise click.exceptions.Exit(code)


def _examine(client: str | None) -> Iterator[Finding]:
    try:
        config = settings()
        _check_keys(config)
    except ConfigError as error:
        fix = "Fix that setting: Sayso does not start until then."
        yield fault("settings", str(error), GO_ELSEWHERE if is_folder_gone() else fix)
        return
    if not config.project.is_dir():
        gone = f"The working directory {spelt_out(str(config.project))} has been removed, so no project is looked at."
        yield warning("project", gone, GO_ELSEWHERE)
    machine = this_machine(config.project)
    yield from _with_client(named([client])[0], config, machine) if client else _all(config, machine)


def _check_keys(config: Config) -> None:
    """The terminal inbox knows which keys would clash; nobody else needs it for that."""
    if config.keys:
        from sayso.tui.keys import Keys

        Keys.from_config(config)


def _all(config: Config, machine: Machine) -> Iterator[Finding]:
    yield from ground.versions()
    for examination in (
        ground.settings(config, machine.environ),
        ground.state_folder(config),
        ground.store(config),
        connections.connections(config, machine, this_server()),
        guards.guards(machine),
        _talk(config),
        surroundings.tool_files(config),
        surroundings.trust(config),
        surroundings.rules(config),
        surroundings.sandbox(config),
        surroundings.notifications(config),
        _chats(config),
        surroundings.browser(config, _served),
        surroundings.enforcement(config),
    ):
        yield from _as_far_as_it_can(examination)


def _as_far_as_it_can(examination: Iterator[Finding]) -> Iterator[Finding]:
    """What may not be read is a finding like others: whoever looks for what is wrong is told all the rest, too."""
    try:
        yield from examination
    except OSError as error:
        yield fault("state", f"{error.filename} cannot be read: {error.strerror}.", "Check who may read it.")


def _talk(config: Config) -> Iterator[Finding]:
    """Whether the agents of the projects in which Talk may start some are there."""
    from sayso.agents.kinds import AGENTS, program_of
    from sayso.desks import open_desks

    try:
        with open_desks(config) as desks:
            wanted = {(project.options.agent, program_of(project.options, config)) for project in desks.projects.all()}
    except SaysoError:
        return  # of the store it is told elsewhere
    for name, program in sorted(wanted):
        agent = AGENTS[name]
        yield (
            ok("talk", f"{agent.label} is there for your projects")
            if shutil.which(program)
            else fault("talk", _missing(agent.label, program), agent.install)
        )


def _served(config: Config) -> list[ServedAt]:
    """Where inboxes of this store are served."""
    from sayso.desks import open_desks

    try:
        with open_desks(config) as desks:
            return running(config, desks.accounts.proof)
    except SaysoError:
        return []  # of the store it is told elsewhere


def _missing(label: str, program: str) -> str:
    if "/" in program:
        return f"{label} is to work in your projects, and {program} is not there."
    path = os.environ.get("PATH", os.defpath)
    return f"{label} is to work in your projects, and {program} was not found on PATH ({path})."


def _chats(config: Config) -> Iterator[Finding]:
    """Whether the chats that were added can work, and what was in the way last. Nothing is sent."""
    from sayso.chats.kinds import NEEDS_PACKAGE, can_chat
    from sayso.desks import open_desks

    try:
        with open_desks(config) as desks:
            found, links = desks.chats.all(), desks.chats.links()
            held = {chat.kind: desks.chats.is_held(chat) for chat in found}
    except SaysoError:
        return  # of the store it is told elsewhere
    for chat in found:
        label, count = chat.kind.label, sum(link.kind is chat.kind for link in links)
        if not can_chat():
            yield fault("chats", f"{label} is added, and the package for chats is not installed.", NEEDS_PACKAGE)
        elif chat.trouble:
            yield fault("chats", f"{label} does not work: {chat.trouble}", f"sayso chat add {chat.kind}")
        elif not count:
            yield warning("chats", f"{label} is added, and nobody is linked there.", f"sayso chat link {chat.kind}")
        elif not held[chat.kind]:
            yield warning("chats", f"Nobody is told by {label}: no `sayso web` runs.", "sayso web")
        else:
            yield ok("chats", f"{label} works; linked there: {count}")


def _with_client(target: Target, config: Config, machine: Machine) -> Iterator[Finding]:
    """The project's entry where there is one, as the client would take it; else the person's."""
    for scope in (Scope.PROJECT, Scope.USER):
        if not target.takes(scope):
            continue
        piece = Registration(target=target, scope=scope, machine=machine, server=this_server())
        try:
            registered = piece.registered()
        except CannotEdit as error:
            again = f"sayso install {target.key}"
            yield fault(target.key, str(error), f"Fix that file, then: {again}")
            return
        if registered:
            from sayso.doctor.probe import probe

            yield from connections.entry(piece, registered, config)
            if connections.is_named_by_project(piece, shutil.which(registered.server.command) or ""):
                text = "The server that this project names is not started here; this Sayso is, in its place."
                yield note(target.key, text)
                yield from probe(target, piece.server, config)
            else:
                yield from probe(target, registered.server, config)
            yield from _with_gate(target, config, machine)
            return
    yield fault(target.key, f"{target.title} is not connected.", f"sayso install {target.key}")


def _with_gate(target: Target, config: Config, machine: Machine) -> Iterator[Finding]:
    """The way of a prompt as well, where its hook is set up."""
    command = connections.gate_command(target, machine)
    if command:
        from sayso.doctor.gate_probe import probe_gate

        yield from probe_gate(target, command, config)


def _show(findings: list[Finding]) -> None:
    """All at once: whoever reads the beginning of it gets the same end each time."""
    width = max(len(translated(finding.subject)) for finding in findings)
    lines: list[str] = []
    for finding in findings:
        said, subject = tr(_SAID[finding.level]), translated(finding.subject)
        shown = bold(f"{said:<8}") if finding.level in (Level.WARNING, Level.FAULT) else f"{said:<8}"
        start = 8 + width + 2
        lines.append(f"{shown}{subject:<{width}}  {flowing_beside(start, printable(translated(finding.text)))}")
        if finding.fix:
            fix = printable(_as_typed(translated(finding.fix)))
            # A command is left in one piece, so that it can be copied.
            lines.append(f"{'':<{start}}→ {flowing_beside(start + 2, fix) if fix.endswith('.') else fix}")
    put("\n".join([*lines, "", _sum_up(findings)]))


def _as_typed(fix: str) -> str:
    """With this program's path where the shell would not find it by its name."""
    return re.sub(r"\bsayso (?=install|uninstall|tools|config|doctor|trust)", lambda _: f"{this_command()} ", fix)


def _sum_up(findings: list[Finding]) -> str:
    faults = sum(finding.level is Level.FAULT for finding in findings)
    warnings = sum(finding.level is Level.WARNING for finding in findings)
    if faults or warnings:
        return f"{plural(faults, '1 fault', '{n} faults')}, {plural(warnings, '1 warning', '{n} warnings')}."
    if any(finding.subject == "agents" for finding in findings):  # that none was found
        return tr("Nothing is broken. Next: connect an agent with `sayso install`.")
    return tr("Everything is fine.")
