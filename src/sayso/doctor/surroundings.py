"""What else a person relies on: tool files, notifications, the browser; and what is enforced and what is not."""

from __future__ import annotations

import os
import shutil
import socket
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from urllib.parse import urlsplit

from sayso import desktop
from sayso.brought import brought
from sayso.config import NETWORKS, Config
from sayso.dialects.ahma import catalog_here
from sayso.doctor.finding import Finding, fault, note, ok, warning
from sayso.rules.levels import are_there_rules
from sayso.running.sandbox import NO_SANDBOX, why_not
from sayso.text import counted, one_line, spelt_out
from sayso.web_addresses import ServedAt

CONNECT_SECONDS = 3.0
MOST_NAMED = 10
"""Files of a project that are named one by one."""


def tool_files(config: Config) -> Iterator[Finding]:
    loaded = catalog_here(config).load()
    for wrong in loaded.faults:
        yield fault("tools", str(wrong), "Fix that line; `sayso tools validate` checks it again.")
    if not loaded.faults:
        yield (
            ok("tools", f"agents get {counted(len(loaded.tools), 'tool')} from {counted(loaded.files, 'tool file')}")
            if loaded.tools or loaded.untrusted
            else note("tools", "There are no tool files here, so agents get no commands.", "sayso tools init git")
        )


def trust(config: Config) -> Iterator[Finding]:
    """What the project at hand brings and nobody has trusted. None of it is run or used here."""
    found = brought(config, config.project)
    for file in found.untrusted[:MOST_NAMED]:
        why = file.trouble or file.standing
        text = f"{spelt_out(file.name)} ({file.used}) is not used: {why}."
        yield note("trust", text, "" if file.trouble else "sayso trust")
    if more := found.untrusted[MOST_NAMED:]:
        yield note("trust", f"{len(more)} more of its files are not used.", "sayso trust --show")
    if found.files and not found.untrusted:
        yield ok("trust", f"you trust what this project brings: {counted(len(found.files), 'file')}")


def rules(config: Config) -> Iterator[Finding]:
    """Whether the rules that hold here can be used."""
    if not are_there_rules(config, config.project):
        return
    from sayso.rules.files import RuleFiles

    book = RuleFiles(config).book(config.project)
    for wrong in book.faults:
        until = "Everything is asked until it is fixed; check it: sayso rules test"
        yield fault("rules", one_line(str(wrong), 1000), until)
    for rule in book.rules:
        for sentence in rule.perhaps_not_meant:
            yield note("rules", one_line(sentence, 1000))
    if not book.faults:
        yield ok(
            "rules", f"{counted(len(book.rules), 'rule')} from {counted(len(book.files), 'file')} decide what is asked"
        )


def sandbox(config: Config) -> Iterator[Finding]:
    """Which sandboxes for commands this machine can enforce, by trying each."""
    trouble = {network: why_not(network) for network in NETWORKS}
    able = [network for network, why in trouble.items() if not why]
    if able:
        yield ok("sandbox", f"commands can be kept in a sandbox here, with network {', '.join(able)}")
    for network, why in trouble.items():
        if not why:
            continue
        needed = config.sandbox != NO_SANDBOX and network == config.sandbox_network
        said = f"No sandbox with network {network} can be enforced here: {why}"
        if not needed:
            yield note("sandbox", said)
        elif config.sandbox_missing == "run":
            text = f"Commands run without the sandbox that you want for them, with network {network}: {why}"
            yield warning("sandbox", text, "To have them refused: sayso config set sandbox_missing refuse")
        else:
            yield fault(
                "sandbox", said, "Such commands are refused. To run them without: sayso config set sandbox_missing run"
            )


def notifications(config: Config) -> Iterator[Finding]:
    """Whether each way of telling could work. Nothing is sent."""
    ways = [*_desktop(config), *_command(config), *_address(config), *_apprise(config)]
    yield from ways or [
        note(
            "notifications",
            "None are set up: you hear of a question only while an inbox is open, or from the agent's own form.",
            "For example: sayso config set notify_url https://ntfy.sh/SOME-NAME-THAT-NOBODY-GUESSES",
        )
    ]


def _desktop(config: Config) -> Iterator[Finding]:
    if config.notify_desktop and desktop.is_there():
        yield ok("notifications", "this machine's desktop shows them")


def _command(config: Config) -> Iterator[Finding]:
    if config.notify_command:
        program = config.notify_command[0]
        yield (
            ok("notifications", f"notify_command runs {program}")
            if shutil.which(program)
            else fault(
                "notifications",
                f"notify_command is {program!r}, which is not there.",
                "Correct it, or install it.",
            )
        )


def _address(config: Config) -> Iterator[Finding]:
    if not config.notify_url:
        return
    parts = urlsplit(config.notify_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS).close()
    except OSError as error:
        text = f"notify_url: {parts.hostname} cannot be reached ({error})."
        yield fault("notifications", text, "Check the address and the network.")
    else:
        yield ok("notifications", f"notify_url: {parts.hostname} can be reached")


def _apprise(config: Config) -> Iterator[Finding]:
    if config.notify_apprise:
        yield (
            ok("notifications", "apprise is there")
            if find_spec("apprise")
            else fault(
                "notifications",
                "notify_apprise needs one more package.",
                "Install Sayso again, with '.[apprise]' in place of the dot.",
            )
        )


def browser(config: Config, served: Callable[[Config], Sequence[ServedAt]]) -> Iterator[Finding]:
    """Whether the web inbox can be served, and shown here."""
    if serving := served(config):
        yield ok("browser", f"the web inbox is served at {' and '.join(served.address for served in serving)}")
    elif config.web_port and _is_taken(config.web_host, config.web_port):
        yield warning(
            "browser",
            f"Another program listens on port {config.web_port}, where the web inbox should.",
            "Set web_port to another number, or to 0 for any that is free.",
        )
    else:
        yield ok("browser", f"port {config.web_port} is free for `sayso web`")
    if os.environ.get("SSH_CONNECTION") or not _has_browser():
        yield note("browser", "No browser can be opened here: `sayso web` prints a link for one elsewhere.")


def _is_taken(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


def _has_browser() -> bool:
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def enforcement(config: Config) -> Iterator[Finding]:
    """What holds whatever an agent does, and what only guards against accidents."""
    yield note("enforced", "A question is settled once, by the first valid answer. Silence is never an answer.")
    yield note("enforced", "A project's own settings cannot choose your store, your notifications or your inbox.")
    secrets = "hidden" if config.mask_output else "shown (mask_output is off)"
    yield note("enforced", f"Commands stay in the project and command_roots; secrets in their output are {secrets}.")
    yield note("enforced", "What a project brings is not used until you trust it as it is (`sayso trust`).")
    if config.sandbox == NO_SANDBOX:
        text = "Commands have all of your rights, those of a project that you trust too, unless they have a sandbox."
        yield note("not enforced", text)
    yield note(
        "not enforced",
        "An agent with a shell of yours can do what you can. That it cannot answer itself from a command line guards "
        "against accidents; the wall is the web inbox on an account that it does not have.",
    )
