"""How to connect an agent: the commands and the JSON that people paste into their clients."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from sayso.cli.commands import program_name
from sayso.text import json_line


def this_command() -> str:
    """How this program is called: by name where the shell would find this very one, else by its path."""
    name = program_name()
    found, ours = shutil.which(name), Path(sys.executable).parent / name
    if not ours.exists() or (found and Path(found).samefile(ours)):
        return name
    return str(ours)


def how_to_connect() -> str:
    """What to run or to paste, for the clients most people have and for all others."""
    command = this_command()
    typed = f"{program_name()} -- {shlex.quote(command)} server"
    entry = {"mcpServers": {program_name(): {"command": command, "args": ["server"]}}}
    return "\n".join(
        [
            "Connect an agent of yours:",
            f"  Claude Code   claude mcp add {typed}",
            f"  Codex         codex mcp add {typed}",
            f"  any other     {json_line(entry)}",
        ]
    )
