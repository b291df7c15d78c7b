"""What Sayso knows of an agent's program: how it is started, spoken to, and how what it prints is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sayso.agents.model import Ending, EventKind, NewEvent, Run, Spoken
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.records import record

MOST_TEXT = 100_000
"""Characters of one text that are kept."""
MOST_OUTPUT = 20_000
"""Characters that are kept of what a tool was given or gave."""
MOST_COMMANDS = 300
MOST_ABOUT = 300
"""Characters that are kept of what a command is for."""
MOST_OFFERED = 200
"""Modes or models of one agent."""
MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.:/\[\]-]{0,99}", re.ASCII)
_COMMAND = re.compile(r"[\w:.-]{1,60}", re.ASCII)
_NUMBER = re.compile(r"[0-9a-f]{12}$")


@record
class PersonLine:
    """The agent's line to the person: the MCP server it is to start, and its tools by their full names. The file is of
    a server that has the tool for permissions too; the command starts one that only asks."""

    relay_file: Path
    config_file: Path
    server: str
    command: tuple[str, ...]
    ask_tool: str = ""
    approve_tool: str = ""


@record
class ParsedLine:
    """What one line of an agent's output amounts to."""

    events: tuple[NewEvent, ...] = ()
    session: str = ""
    ending: Ending | None = None
    """Set by the agent's own account of its turn. An ending with a message says that it failed."""
    taken: tuple[str, ...] = ()
    """The names of messages that it has taken up, though it may have said so before."""
    done: str = ""
    """The name of something else that it was told and has done, or will not do: then `refused` says why."""
    refused: str = ""
    mode: str = ""
    """The permission mode that it is in from now on."""


class Agent(Protocol):
    """One kind of agent. Its process stays for the whole conversation, and is spoken to while it works."""

    label: str
    install: str
    """What makes it available, as a sentence."""
    reads: Used
    """Which files of a project it would load by itself."""
    keeps_out: bool
    """Whether it can be started without loading them."""
    steers: bool
    """Whether it takes up a message within the turn at which it works. For others, messages wait until that is done."""

    def argv(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile] = ()
    ) -> list[str]:
        """The command that starts it. What it is told comes on standard input. Where anything is to be kept out, the
        agent loads nothing of the project by itself."""

    def greeting(self) -> bytes:
        """What its process is told first of all; empty for nothing."""

    def spoken(self, name: str, said: Spoken) -> bytes:
        """What is written to its input for something that is said to it; `name` is how it tells of that later."""

    def hear(self, said: Mapping[str, Any]) -> ParsedLine:
        """Understand one JSON object of its output; what it does not know is nothing."""


def saying_name(line: str, number: int) -> str:
    """The name by which an agent's process is told something, in the form of a UUID."""
    return f"{line[:8]}-{line[8:12]}-4{line[12:15]}-8{line[15:18]}-{number:012x}"


def number_of(line: str, name: str) -> int | None:
    """The number in such a name; None for what was not said by us to this very process."""
    number = _NUMBER.search(name)
    return int(number[0], 16) if number and name == saying_name(line, int(number[0], 16)) else None


def commands_event(told: object) -> tuple[NewEvent, ...]:
    """The commands that an agent tells of, as far as each is one word that can be written after a slash."""
    named = [(words(each.get("name")), words(each.get("description"))) for each in items(told)]
    found = [{"name": name, "about": about[:MOST_ABOUT]} for name, about in named if _COMMAND.fullmatch(name)]
    return (NewEvent(kind=EventKind.COMMANDS, body={"commands": found[:MOST_COMMANDS]}),) if found else ()


def offers_event(
    *, models: Iterable[object], modes: Iterable[object] = (), pictures: object = None
) -> tuple[NewEvent, ...]:
    """What can be chosen of an agent, as far as each is a name that it could be told."""
    told = {"models": models, "modes": modes}
    found = {what: [each for each in map(words, names) if MODEL_NAME.fullmatch(each)] for what, names in told.items()}
    body: dict[str, object] = {what: names[:MOST_OFFERED] for what, names in found.items()}
    body["takes_pictures"] = pictures is True
    return (NewEvent(kind=EventKind.OFFERS, body=body),) if any(body.values()) else ()


def text_event(kind: EventKind, text: object, **more: object) -> tuple[NewEvent, ...]:
    """An event with a text, unless that is blank."""
    if not isinstance(text, str) or not text.strip():
        return ()
    return (NewEvent(kind=kind, body={"text": shortened(text, MOST_TEXT), **more}),)


def shortened(text: str, most: int = MOST_OUTPUT) -> str:
    """The beginning and the end of a text that is too long, and how much lies between."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def trimmed(value: object, most: int = MOST_OUTPUT) -> object:
    """JSON data with every long text in it shortened, and long lists cut."""
    match value:
        case str():
            return shortened(value, most)
        case Mapping():
            return {str(key)[:200]: trimmed(inner, most // 4) for key, inner in list(value.items())[:100]}
        case list() | tuple():
            return [trimmed(inner, most // 4) for inner in value[:100]]
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one: agents are not to be trusted with types either."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def words(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """A number that can be meant; agents are free to print others."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if fits and isinstance(value, int | float) else None
