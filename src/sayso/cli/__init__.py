"""The command line, `sayso` and `auq`: one file per command, loaded when it is called so that quick ones stay quick.

Answers and data go to stdout, talk goes to stderr, and every end has its exit code (docs/commands.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    import click

INTERRUPTED = 130
HAD_ENOUGH = 141
"""As shells tell of a program that SIGPIPE has ended."""
READERS = (
    "list",
    "show",
    "history",
    "log",
    "rules",
    "agents",
    "tools",
    "ops",
    "trust",
    "project",
    "user",
    "chat",
    "token",
    "config",
    "completion",
)
"""Commands that only read, or have such below them; each is declared without click in the file that is called so."""


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    try:
        code = _quick()()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _quick() -> Callable[[], int]:
    """What does the command that is named: for those that an agent waits for, without what reads all others."""
    match sys.argv[1:]:
        case ["server", *_]:
            return _serve
        case ["guard", *_]:
            return _guard
        case ["hook"]:
            return _hand_over
        case ["gate", word] if word[:1] != "-":
            return _gate
        case ["gate" | "hook", *words] if not {"-h", "--help"}.intersection(words):
            return _run_for_a_hook
        case [name, *_] if name in READERS:
            return _read
        case ["--version"]:
            return _tell_version
        case ["-h" | "--help"]:
            return _help
    return _run


def _serve() -> int:
    """An agent waits for its server to start, so plain options are read without what reads all others."""
    import gc

    # All that is imported from here on stays; looking through it for what does not costs more than it is worth.
    gc.disable()
    from sayso.cli.serving import plain_flags, serve

    flags = plain_flags(sys.argv[2:])
    if flags is None:
        return _run()
    return _explaining(lambda: serve(**flags))


def _guard() -> int:
    """The same for a server behind a gate."""
    import gc

    gc.disable()
    from sayso.cli.guarding import guard, plain_words

    found = plain_words(sys.argv[2:])
    if found is None:
        return _run()
    return _explaining(lambda: guard(*found))


def _hand_over() -> int:
    """An agent waits for its hook at every step, so nothing is imported that it does not need."""
    from sayso.cli.late_answers import run

    run()
    return 0


def _gate() -> int:
    """An agent waits for each of its prompts."""
    import gc

    gc.disable()
    from sayso.cli.gating import CLIENTS, run

    if sys.argv[2] not in CLIENTS:
        return _run_for_a_hook()
    run(sys.argv[2])
    sys.stderr.flush()
    # All is said and closed: taking apart what was imported would take longer than most verdicts.
    os._exit(0)


def _run_for_a_hook() -> int:
    """Some agents take an exit code of 2 from a hook for a no: words that mean nothing here are said, and are none."""
    _run()
    return 0


def _read() -> int:
    """People and status bars look often, so plain options are read without what reads all others."""
    import gc
    from importlib import import_module

    gc.disable()
    work = import_module(f"sayso.cli.{sys.argv[1]}").command.plain(sys.argv[2:])
    if work is not None:
        _end_with(work)
    gc.enable()
    return _run()


def _tell_version() -> NoReturn:
    from sayso import __version__
    from sayso.cli.program import program_name
    from sayso.cli.terminal import put

    _end_with(lambda: put(f"{program_name()} {__version__}"))


def _help() -> NoReturn:
    from sayso.cli.plain_help import plain_help
    from sayso.cli.program import program_name
    from sayso.cli.terminal import put

    _end_with(lambda: put(plain_help(program_name())))


def _end_with(work: Callable[[], object]) -> NoReturn:
    """Do it and end at once: taking apart what was imported would take a fifth of all the time."""
    _never_fail_on_a_character()
    try:
        code = _for_a_person(work)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    # All that was said has been written already, and what was open is closed.
    os._exit(code)


def _explaining(work: Callable[[], object]) -> int:
    """The exit code of some work; what goes wrong is told in a line."""
    from sayso.errors import SaysoError

    try:
        code = work()
    except SaysoError as error:
        from sayso.cli.texts import explained

        return _tell(f"{explained(error)}{_help_for(error)}", error.exit_code)
    return code if isinstance(code, int) else 0


def _for_a_person(work: Callable[[], object]) -> int:
    """The same where somebody reads along: also of what the system refuses."""
    from sayso.cli.program import is_folder_gone, misses_output, open_closed_streams

    open_closed_streams()
    try:
        code = _explaining(work)
        if code == 0 and misses_output():
            from sayso.cli.terminal import output_is_closed

            raise output_is_closed()
        return code
    except BrokenPipeError:
        # Whoever reads has enough.
        _forget_output()
        return HAD_ENOUGH
    except OSError as error:
        _forget_output()
        if isinstance(error, FileNotFoundError) and not error.filename and is_folder_gone():
            # Whoever named no folder meant the one that we are in.
            from sayso.cli.texts import translated
            from sayso.config import FOLDER_GONE
            from sayso.errors import ConfigError

            return _tell(translated(FOLDER_GONE), ConfigError.exit_code)
        return _tell(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)


def _run() -> int:
    return _for_a_person(_run_any)


def _run_any() -> object:
    import click

    from sayso.cli.lazy_group import root
    from sayso.cli.program import COMPLETES, program_name
    from sayso.cli.texts import tr, translated

    _never_fail_on_a_character()
    streams = sys.stdout, sys.stderr
    try:
        _check_encoding(sys.argv[1:])
        return root().main(prog_name=program_name(), complete_var=COMPLETES, standalone_mode=False)
    except SystemExit:
        if sys.stdout is streams[0]:
            raise
        # Click makes an end with 1 of a reader who has enough, and puts something in the place of both streams.
        sys.stdout, sys.stderr = streams
        raise BrokenPipeError from None
    except click.Abort:
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        # Click has what can be chosen below each other, and calls a number that has bounds a range.
        said = error.format_message().replace("a valid integer range.", "a valid integer.")
        code = _tell(translated(said).replace("\n\t", " "), error.exit_code)
        if isinstance(error, click.UsageError):
            command = error.ctx.command_path if error.ctx else _named(root(), program_name())
            click.echo(tr("Try '{command} -h' for help.", command=command), err=True)
        return code


def _named(group: click.Command, name: str) -> str:
    """The command that the line names: click has not noted it where an option lacks its value."""
    import click

    command: click.Command | None = group
    for word in sys.argv[1:]:
        command = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        if command is None:
            break
        name += f" {word}"
    return name


def _help_for(error: Exception) -> str:
    """The command that finds out more, where one does."""
    from sayso.cli.texts import tr
    from sayso.errors import StoreError

    return tr("\nSee what else may be wrong: sayso doctor") if isinstance(error, StoreError) else ""


def _tell(text: str, code: int) -> int:
    from sayso.cli.terminal import say
    from sayso.cli.texts import tr
    from sayso.text import printable

    say(tr("Error: {text}", text=printable(text)))
    return code


def _forget_output() -> None:
    """What could not be written would be tried again, and fail again, when the process ends."""
    if sys.stdout:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _never_fail_on_a_character() -> None:
    """An old terminal's encoding may lack a character of a question; it is spelt out then."""
    import io

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _check_encoding(arguments: list[str]) -> None:
    import click

    for place, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"Argument {place} is not valid UTF-8 text.") from None
