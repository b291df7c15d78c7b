"""What `sayso guard` does, whoever read its options. Imports little: an agent waits for its server to start."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from sayso.cli.program import settings
from sayso.errors import ConfigError, SaysoError

_NAME = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_LAUNCHERS = ("npx", "uvx", "uv", "run", "tool", "pipx", "node", "bun", "bunx", "deno", "docker", "sh", "bash", "env")


def plain_words(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """The name and the command of a command line that needs no more than a glance; None for any other."""
    rest = list(arguments)
    name = ""
    if rest[:1] == ["--name"] and len(rest) > 1:
        name, rest = rest[1], rest[2:]
    return (name, rest[1:]) if rest[:1] == ["--"] and len(rest) > 1 else None


def guard(name: str, command: Sequence[str]) -> int:
    """Stand between the client on standard input and output and the server that this command starts; its exit code."""
    if os.name != "posix":
        raise SaysoError("`sayso guard` needs Linux or macOS: what the server starts could not be ended elsewhere.")
    # Only now: they are for such systems alone.
    from sayso.guard.calls import GuardedServer
    from sayso.guard.keeper import Keeper
    from sayso.guard.pump import Pump
    from sayso.log import set_up
    from sayso.mcp_server.claim import claim_stdio

    config = settings(in_project=True)
    set_up(config.log_level, config.log_file)
    server = GuardedServer(
        name=checked(name) if name else named_after(command),
        command=tuple(command),
        folder=os.path.realpath(config.project),
    )
    keeper = Keeper(command)
    return Pump(config, server, keeper, claim_stdio()).run()


def checked(name: str) -> str:
    """A name by which rules can speak of the server."""
    if _NAME.fullmatch(name) and len(name) <= 60:
        return name
    raise ConfigError(
        f"--name: {name!r} is not a name for a server. Use letters and digits, with single -, _ or . between them."
    )


def named_after(command: Sequence[str]) -> str:
    """What a server is called that nobody named: after its program, or what that launches."""
    words = [word for word in command if not word.startswith("-")]
    telling = [word for word in words if _program(word) not in _LAUNCHERS and not _program(word).startswith("python")]
    found = _NAME.search(_program((telling or words or ["server"])[0]))
    return found[0][:60].rstrip("._-") if found else "server"


def _program(word: str) -> str:
    name = word.rstrip("/").rpartition("/")[2].partition("@")[0]
    return re.sub(r"\.(?:[cm]?js|py|ts|exe)$", "", name)
