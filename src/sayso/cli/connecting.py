"""How to connect an agent: the program that its client starts, and what a person is told to run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from sayso.cli.program import program_name
from sayso.cli.terminal import listed
from sayso.cli.texts import tr
from sayso.install.entry import ServerProgram

CARRIED = ("SAYSO_STATE_DIR", "SAYSO_CONFIG")
"""What a client must hand on, because it may be started where the person's shell settings do not hold."""

_PASSING = {
    re.compile(r"[/\\]uv[/\\](?:cache[/\\])?archive-v\d"): ("uvx",),
    re.compile(r"cache[/\\]pipx[/\\]|pipx[/\\]\.cache[/\\]"): ("pipx", "run"),
}
"""Where `uvx` and `pipx run` keep programs for a while only: a client must start them the same way."""


def this_command() -> str:
    """How this program is called: by name where the shell would find this very one, else by its path."""
    name = program_name()
    found, ours = shutil.which(name), our_program()
    if not ours.exists() or (found and Path(found).samefile(ours)):
        return name
    return str(ours)


def our_program() -> Path:
    """The file of this program, as it lies beside the Python that runs it."""
    return Path(sys.executable).parent / (program_name() + (".exe" if os.name == "nt" else ""))


def this_server(*flags: str) -> ServerProgram:
    """What a client starts: this very program by its path, since a client's PATH may be another one."""
    words = words_for(our_program())
    env = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    return ServerProgram(name=program_name(), command=words[0], args=(*words[1:], "server", *flags), env=env)


def shared_server(*flags: str) -> ServerProgram:
    """What everybody's client starts in a shared project: by name where that works, and nothing of one person's."""
    return ServerProgram(name=program_name(), command=this_command(), args=("server", *flags))


def words_for(program: Path) -> list[str]:
    """A program of ours as words that start it from anywhere, for long."""
    starter = next((words for pattern, words in _PASSING.items() if pattern.search(str(program))), None)
    if starter:
        return [shutil.which(starter[0]) or starter[0], *starter[1:], "sayso"]
    return [str(program) if program.exists() else shutil.which(program_name()) or program_name()]


def typed_here() -> str:
    """How a person calls this program in this folder: as short as it can be."""
    program = Path(this_command())
    with suppress(FileNotFoundError):  # the working directory, which may have been removed
        if program.is_absolute() and program.is_relative_to(Path.cwd()):
            program = program.relative_to(Path.cwd())
    return shlex.quote(str(program))


def how_to_connect() -> str:
    """What to run to have agents ask here, and to answer them, as lines."""
    return listed(ways_to_connect())


def ways_to_connect() -> dict[str, str]:
    """The same as commands and what each does."""
    command = typed_here()
    return {
        f"{command} install": tr("connect the agents on this machine"),
        f"{command} doctor": tr("check that it works"),
        command: tr("your inbox, here in the terminal"),
        f"{command} web": tr("your inbox, in a browser"),
    }
