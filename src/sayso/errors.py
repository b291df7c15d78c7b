"""Every exception Sayso raises on purpose. Each text is fit to be shown to a person or a model as it is.

SaysoError                      exit code 1
├── InvalidInput                2   a call or a command with wrong fields: every Problem, each with its path
├── ConfigError                 2   a setting that cannot be read or has a wrong value
├── NotFound                    3   no ask (or operation) has this id
├── AmbiguousId                 3   several do
├── AlreadySettled              4   somebody else was first
├── ImpossibleStep              1   an ask would become what it cannot: a fault of Sayso's own, and nothing was changed
├── CalledOff                   4   the page that sent this has called it off
├── NotYours                    5   an agent tried to answer itself
├── BackupRefused               1   a backup that cannot be made or read; nothing was changed
├── StoreNotEmpty               1   a backup would take the place of what is there
├── WaitEnded                   6   the ask is still open, but this wait is over
├── SpawnerUnavailable          8   no command can be started now, or the server lets go of those that run
├── ToolUnavailable             8   the program of a tool, or an agent, is not there; the text says how to install it
├── SandboxUnavailable          8   this machine cannot enforce the sandbox of a command, so it was not run
├── NoClient                    1   standard input or output is closed, so no MCP client can be there
├── ProtocolError               1   a message that the protocol does not allow, or that an MCP client refused
├── FormUnavailable             1   the client's own form cannot be had; other surfaces go on
├── NotificationFailed          1   a person could not be told of a question
├── NotPublic                   1   a host that a stranger has named is on a network of ours, so it was not called
├── ChatFailed                  1   a chat is not there, or refuses something; the text says why
│   └── ChatGone                    nobody is there any more whom it could tell
├── SignInRefused               5   a link, a session or a token that does not let anyone in
├── HistoryError                1   a question and its answer could not be written to the project's files
├── NotTrusted                  4   what a project brings is not what was looked at, or nobody has looked at it yet
├── CannotListen                1   the web inbox cannot listen where it should
├── CannotEdit                  1   another program's file cannot be changed without harm, so it was left alone
├── TooManyRuns                 4   as many agents of this user run as may
├── TooManyOpen                 4   an agent has as many asks or commands open as it may
├── RunGoesOn                   4   the agent is still at work on the last turn
├── RunHasEnded                 4   the agent is at work no more, so nothing can be said to it in that turn
├── TreeUnavailable             1   what a working tree is or was like cannot be told; the text says why
├── TreeChanged                 4   files are not what was shown, so nothing was done to them
├── RelayFileError              1   a run's MCP server cannot be told of the relay
├── RelayRefused                1   the relay wants none of a question, or brings back what is no answer
└── StoreError                  7   the store cannot do its work
    ├── StoreUnavailable            it is not there, or not for us
    ├── StoreReadOnly               it cannot be written
    ├── StoreFull                   no space is left
    ├── StoreCorrupt                what is there is not a store
    └── StoreTooNew                 a newer Sayso wrote it

Conflict                        never leaves a store: another transaction was first, so the work is done again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class SaysoError(Exception):
    """Something went wrong that Sayso can explain."""

    exit_code = 1


class Problem(NamedTuple):
    """One wrong field: where it is and what is wrong with it, in a sentence that says what would be right."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class InvalidInput(SaysoError):
    """Input with one or more wrong fields. Nothing was done."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


def told(error: Exception, say: Callable[[str], str]) -> str:
    """What an error says, each part of it as `say` has it."""
    if not isinstance(error, InvalidInput):
        return say(str(error))
    return "; ".join(str(Problem(path=say(path), text=say(text))) for path, text in error.problems)


MAX_TEXT = 1_000_000
"""The longest text in any field: enough for a file, small enough to show and to store."""


class Problems:
    """Collects every wrong field of an input, so that all of them are told at once."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, path: str, text: str) -> None:
        self.found.append(Problem(path=path, text=text))

    def check(self) -> None:
        if self.found:
            raise InvalidInput(self.found)


def check_text(problems: Problems, path: str, value: str) -> None:
    """Refuse what cannot be kept as it is: too long, or with half a surrogate pair."""
    if len(value) > MAX_TEXT:
        problems.add(path, f"is {len(value):,} characters long; at most {MAX_TEXT:,} are allowed. Shorten it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        problems.add(path, "holds half of a surrogate pair, which is no character. Remove or replace it.")


class ConfigError(SaysoError):
    """A setting cannot be read or has a wrong value."""

    exit_code = 2


class NotFound(SaysoError):
    """Nothing has this id."""

    exit_code = 3


class AmbiguousId(SaysoError):
    """A shortened id that fits more than one. The first few are named, those that are still open before the others."""

    exit_code = 3
    _NAMED = 10

    def __init__(self, given: str, matches: Sequence[str], ended: Sequence[str] = ()) -> None:
        count, shown = len(matches) + len(ended), self._NAMED
        many = "more than one" if count <= shown else f"{count}, of which the first {shown} are shown"
        named = matches[:shown], ended[: max(shown - len(matches), 0)]
        still, over = ("".join(f"\n  {match}" for match in part) for part in named)
        if not matches:
            super().__init__(f"The id {given!r} fits {many}; all have ended. Give more of it:{over}")
        else:
            told = f"The id {given!r} fits {many}. Give more of it:{still}"
            super().__init__(f"{told}\nEnded already:{over}" if over else told)


class AlreadySettled(SaysoError):
    """Somebody else was first; the text says who, where and when."""

    exit_code = 4


class ImpossibleStep(SaysoError):
    """An ask would become what it cannot."""


class CalledOff(SaysoError):
    """What a page sent comes too late: it has called that off."""

    exit_code = 4


class NotYours(SaysoError):
    """A process of the asking agent tried to settle its own ask."""

    exit_code = 5


class BackupRefused(SaysoError):
    """A backup that cannot be made or taken back as it was wanted; nothing was changed."""


class StoreNotEmpty(SaysoError):
    """A backup would take the place of what is in a store; `rows` says how much that is."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        super().__init__("The store is not empty.")
        self.rows = rows


class WaitEnded(SaysoError):
    """This wait is over while the ask is still open."""

    exit_code = 6


class NoClient(SaysoError):
    """Standard input or output is closed, so no MCP client can be there."""


class ProtocolError(SaysoError):
    """A message that the protocol does not allow, or an error that the other side answered, with its code."""

    def __init__(self, code: int, text: str, data: object = None) -> None:
        self.code, self.data = code, data
        super().__init__(text)


class FormUnavailable(SaysoError):
    """The client's own form cannot be had."""


class NotificationFailed(SaysoError):
    """A person could not be told of a question."""


class NotPublic(SaysoError):
    """A host that a stranger has named is on a network of ours, so it was not called."""


class ChatFailed(SaysoError):
    """A chat is not there, or refuses something. `retry_after` has the seconds after which it may be tried again; None
    where that is of no use."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(text)


class ChatGone(ChatFailed):
    """Nobody is there any more whom a chat could tell."""


class SignInRefused(SaysoError):
    """A link, a session or a token that does not let anyone in."""

    exit_code = 5


class NotTrusted(SaysoError):
    """What a project brings is not what was looked at, and was not trusted; or it is not trusted, and would be used."""

    exit_code = 4


class HistoryError(SaysoError):
    """A question and its answer could not be written to the project's files."""


class StoreError(SaysoError):
    """The store cannot do its work."""

    exit_code = 7


class StoreUnavailable(StoreError):
    """The store is not there, or not for us."""


class StoreReadOnly(StoreError):
    """The store cannot be written."""


class StoreFull(StoreError):
    """No space is left for the store."""


class StoreCorrupt(StoreError):
    """What is there is not a store."""


class StoreTooNew(StoreError):
    """A newer Sayso wrote this store."""


class SpawnerUnavailable(SaysoError):
    """No command can be started now, or the server lets go of those that run."""

    exit_code = 8


# The web inbox


class CannotListen(SaysoError):
    """The web inbox cannot listen where it should."""


class ToolUnavailable(SaysoError):
    """The program of a tool, or an agent, is not there."""

    exit_code = 8


class SandboxUnavailable(SaysoError):
    """This machine cannot enforce the sandbox of a command."""

    exit_code = 8


# Talk


class TooManyRuns(SaysoError):
    """As many agents of this user run as may."""

    exit_code = 4


class TooManyOpen(SaysoError):
    """An agent has as many asks or commands open as it may. Nothing was opened."""

    exit_code = 4


class RunGoesOn(SaysoError):
    """What is wanted must wait until the agent has ended its turn."""

    exit_code = 4


class RunHasEnded(SaysoError):
    """An agent can be spoken to in a turn only until that has ended."""

    exit_code = 4


class TreeUnavailable(SaysoError):
    """What a working tree is or was like cannot be told."""


class TreeChanged(SaysoError):
    """Files are not what a person was shown. Nothing was done to them."""

    exit_code = 4


class RelayFileError(SaysoError):
    """A run's MCP server cannot be told of the relay."""


class RelayRefused(SaysoError):
    """The relay wants none of a question, or brings back what is no answer."""


# Connecting agents


class CannotEdit(SaysoError):
    """Another program's file cannot be changed without harm, so it was left alone."""


class Conflict(Exception):
    """Another transaction changed the row first: the work is done again on what is there now."""
