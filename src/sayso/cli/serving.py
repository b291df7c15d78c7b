"""What `sayso server` does, whoever read its options. Imports little: an agent waits for its server to start."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.cli.program import settings
from sayso.config import RELAYED_PROFILE, Config
from sayso.dialects.profiles import profile
from sayso.errors import ConfigError
from sayso.log import set_up
from sayso.mcp_server.claim import claim_stdio
from sayso.mcp_server.early import EarlyServer
from sayso.mcp_server.offer import Offer
from sayso.records import replace

if TYPE_CHECKING:
    from sayso.agents.relay_file import RelayFile

OPTIONS = (
    ("--profile", "PROFILE", "Which tools are shown, and in whose exact form."),
    ("--ask-timeout", "TIME", "How long a call waits for an answer: 90s, 10m, none."),
    ("--max-questions", "N", "The most questions in one call."),
    ("--max-options", "N", "The most options of one question."),
    ("--tools-dir", "DIR", "The directory of tool files, each of which makes tools of a command."),
    ("--approve", "", "List the tool for permission prompts."),
    ("--lean", "", "List ask_user and get_answers alone."),
    ("--log-level", "LEVEL", "How much is logged: debug, info, warning or error."),
    ("--log-file", "FILE", "Log to this file instead of stderr."),
)
"""Each option, what its value is called (nothing: it has none), and what it is for."""

_RELAY = "ASK_USER_CONFIG"
_SAID = ("--profile", "the command auq")
"""Where a profile comes from that was meant for this very start."""


def plain_flags(arguments: Sequence[str]) -> dict[str, object] | None:
    """The options of a command line that needs no more than a glance; None for any other."""
    known = {name: metavar for name, metavar, _ in OPTIONS}
    flags: dict[str, object] = {}
    rest = iter(arguments)
    for argument in rest:
        name, is_set, value = argument.partition("=")
        if name not in known or not argument.isprintable():
            return None
        flag = name.removeprefix("--").replace("-", "_")
        if not known[name]:
            if is_set:
                return None
            flags[flag] = True
            continue
        given = value if is_set else next(rest, None)
        if given is None or given.startswith("-") or not given.isprintable():
            return None
        flags[flag] = given
    return flags


def serve(**flags: object) -> None:
    """Serve the client on standard input and output until it leaves."""
    config, relay = _for_relay(settings(in_project=True, **flags))
    set_up(config.log_level, config.log_file)
    if sys.stdin and sys.stdin.isatty():
        _tell_whoever_typed_this()
    # Before anything large is imported: what that might print must not reach the client.
    fds = claim_stdio()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    offer = Offer(config, profile(config))
    early = EarlyServer(fds, offer.connect(), offer)
    if os.name == "posix" and not early.serve():
        return
    if relay is None:
        load_asyncio_without_tls()
    import asyncio

    from sayso.mcp_server.server import serve_stdio

    asyncio.run(serve_stdio(config, offer, fds, early, relay))


def load_asyncio_without_tls() -> None:
    """As where Python has no TLS: on the event loop of a server on stdio only a relay needs it, and it would cost each
    of them a megabyte. What else needs it, such as a notification, imports it later as ever."""
    if "asyncio" not in sys.modules and "ssl" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
        try:
            import asyncio  # noqa: F401
        finally:
            del sys.modules["ssl"]


def _tell_whoever_typed_this() -> None:
    from sayso.cli.terminal import say
    from sayso.cli.texts import tr

    say(tr("Waiting for an MCP client on standard input. Clients start this by themselves; `sayso demo` shows one."))
    say(tr("Ctrl-C ends it."))


def _leave(*_: object) -> None:
    """Until calls are served, nothing has been begun that would have to be ended."""
    sys.exit(0)


def _for_relay(config: Config) -> tuple[Config, RelayFile | None]:
    """The settings under a relay, and what its file says. Where another profile was asked for by the command itself,
    the file only tells which run the agent works in, and need not be there."""
    named = os.environ.get(_RELAY)
    if not named:
        return config, None
    if config.sources.get("profile") not in _SAID:
        config = replace(config, profile=RELAYED_PROFILE, sources={**config.sources, "profile": _RELAY})
    from sayso.agents import relay_file

    try:
        return config, relay_file.read(Path(named))
    except ConfigError:
        if config.profile == RELAYED_PROFILE:
            raise
        return config, None
