"""The reference of commands and settings says what the program does, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from tests.cli.settings_table import PAGE, documented, table

from sayso import errors
from sayso.cli import HAD_ENOUGH, INTERRUPTED
from sayso.cli.ask import EXIT_CODES, OTHER_END
from sayso.cli.command_table import COMMANDS
from sayso.cli.lazy_group import load

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS_MD = (DOCS / "commands.md").read_text()


def section(command: str) -> str:
    found = re.search(rf"^## `sayso {command}`$(.*?)(?=^## |\Z)", COMMANDS_MD, re.M | re.S)
    assert found, f"docs/commands.md has no section for sayso {command}"
    return found[1]


def with_subcommands(name: str, command: click.Command) -> dict[str, click.Command]:
    """The command by its words, and those below it. A group is one if it does something by itself."""
    below = command.commands if isinstance(command, click.Group) else {}
    itself = {name: command} if not below or command.params else {}
    return itself | {f"{name} {word}": each for word, each in below.items()}


def rows(text: str) -> list[list[str]]:
    """The cells of every row of the text's tables, without headers and lines."""
    tables = re.findall(r"^\|.*\n\|[- |]+\n((?:\|.*\n)+)", text, re.M)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_reference_names_exactly_the_commands_there_are() -> None:
    assert re.findall(r"^## `sayso ([\w-]+)`$", COMMANDS_MD, re.M) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_names_exactly_the_options_and_arguments_of_each_command(name: str) -> None:
    commands = with_subcommands(name, load(name))
    params = [param for command in commands.values() for param in command.params]
    options = {opt for param in params if isinstance(param, click.Option) for opt in param.opts}
    documented = {word for row in rows(section(name)) for word in re.findall(r"`(-{1,2}[a-z-]+)", row[0])}
    assert documented == options
    for words, command in commands.items():
        usage = re.search(rf"^    sayso {words}\b.*", section(name), re.M)
        assert usage
        for param in command.params:
            if isinstance(param, click.Argument):
                assert param.make_metavar(click.Context(command)).strip("[].") in usage[0]


def test_the_reference_names_exactly_the_exit_codes_there_are() -> None:
    raised = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SaysoError)
    }
    codes = raised | set(EXIT_CODES.values()) | {0, OTHER_END, INTERRUPTED, HAD_ENOUGH, 143, 129}
    documented = {int(row[0]) for row in rows(COMMANDS_MD) if row[0].isdigit()}
    assert documented == codes


def test_the_settings_are_documented_as_they_are() -> None:
    assert documented() == table(), "run: python -m tests.cli.settings_table"


def test_the_files_and_variables_that_settings_come_from_are_documented() -> None:
    page = PAGE.read_text()
    for name in (
        "SAYSO_CONFIG",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_PROJECT_DIR",
        "~/.config/sayso/config.toml",
    ):
        assert f"`{name}`" in page
