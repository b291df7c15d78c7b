"""How commands are declared: with the words of click, and without importing it, which takes longer than most commands
that only read take to do their work.

What is declared is noted here. A plain line for a command that only reads is read by these notes alone; a click command
is made of them for everything else: commands that change something, help, errors, completion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

Does = Callable[..., object]
Work = Callable[[], object]
Reads = Callable[[Sequence[str]], bool]
"""Whether a command does nothing but read, given these words."""
MOST = 10**9
"""A number from here on is worth a closer look."""


class ValueKind:
    """What a value has to be: what makes one of a plain word, and what click has for it. A ValueError leaves the word
    to click, which says what is wrong with it."""

    def __init__(self, make: Callable[[str], Any], in_click: Callable[[], Any]) -> None:
        self.make, self.in_click = make, in_click


class DeclaredParameter:
    """An option or an argument, with what was said of it."""

    def __init__(self, names: Sequence[str], said: Mapping[str, Any]) -> None:
        self.names, self.said = names, said
        self.options = [name for name in names if name.startswith("-")]
        own = [name for name in names if not name.startswith("-")] or [self.options[0].lstrip("-")]
        self.name = own[0].replace("-", "_")

    @property
    def takes_the_rest(self) -> bool:
        """Whether it is an argument that takes all words that are left."""
        return self.said.get("nargs") == -1

    @property
    def is_repeated(self) -> bool:
        return self.takes_the_rest or bool(self.said.get("multiple"))

    @property
    def is_required(self) -> bool:
        by_default = not self.options and not self.takes_the_rest and "default" not in self.said
        return bool(self.said.get("required", by_default))

    @property
    def default(self) -> Any:
        if self.is_repeated:
            return ()
        return self.said.get("default", False if self.said.get("is_flag") else None)

    @property
    def sets(self) -> Any:
        """What a flag sets it to; None where a value follows."""
        return self.said.get("flag_value", True if self.said.get("is_flag") else None)

    def made_of(self, word: str) -> Any:
        """The value that a plain word stands for."""
        kind = self.said.get("type", _ANY)
        if not isinstance(kind, ValueKind) or not word or not word.isprintable() or word.startswith("-"):
            raise ValueError(word)
        return kind.make(word)

    def in_click(self) -> click.Parameter:
        import click

        said = {**self.said}
        if isinstance(kind := said.get("type"), ValueKind):
            said["type"] = kind.in_click()
        return click.Option([*self.names], **said) if self.options else click.Argument([*self.names], **said)


def _never(words: Sequence[str]) -> bool:
    return False


def _always(words: Sequence[str]) -> bool:
    return True


class Declared:
    """A command, and those below it if it is a group."""

    def __init__(self, does: Does, *, name: str = "", reads: Reads = _never, below: bool = False) -> None:
        self.name, self.does, self.reads = name or does.__name__, does, reads
        self.parameters: list[DeclaredParameter] = does.__dict__.get("parameters", [])
        self.below: dict[str, Declared] | None = {} if below else None

    def command(self, name: str = "") -> Callable[[Does], Declared]:
        """A command below this one."""
        return lambda does: self._with(Declared(does, name=name))

    def reader(self, name: str = "") -> Callable[[Does], Declared]:
        """One that only reads."""
        return lambda does: self._with(Declared(does, name=name, reads=_always))

    def _with(self, declared: Declared) -> Declared:
        assert self.below is not None, f"{self.name} is no group"
        self.below[declared.name] = declared
        return declared

    def plain(self, words: Sequence[str]) -> Work | None:
        """What does what a plain line says; None where it takes a closer look, or does more than read."""
        if words and self.below and words[0] in self.below:
            return self.below[words[0]].plain(words[1:])
        if not self.reads(words):
            return None
        try:
            given = _given(words, self.parameters)
        except (ValueError, LookupError):
            return None
        return lambda: self.does(**given)

    def in_click(self) -> click.Command:
        import click

        said: dict[str, Any] = {"params": [each.in_click() for each in self.parameters], "help": self.does.__doc__}
        if self.below is None:
            return click.Command(self.name, callback=self.does, **said)
        from sayso.cli.command_group import CommandGroup

        below = {name: each.in_click() for name, each in self.below.items()}
        return CommandGroup(self.name, below, callback=self._alone, invoke_without_command=self.reads(()), **said)

    def _alone(self, **given: Any) -> object:
        """What a group does where none of the commands below it is named."""
        import click

        return None if click.get_current_context().invoked_subcommand else self.does(**given)


def command() -> Callable[[Does], Declared]:
    """A command of `sayso`, which is called like the file that it is in."""
    return Declared


def reader(*only_with: str) -> Callable[[Does], Declared]:
    """One that only reads; where options are named, with one of these alone."""
    reads = (lambda words: not set(only_with).isdisjoint(words)) if only_with else _always
    return lambda does: Declared(does, reads=reads)


def group() -> Callable[[Does], Declared]:
    """A command that takes another word to do something."""
    return lambda does: Declared(does, below=True)


def reading_group() -> Callable[[Does], Declared]:
    """One that reads something itself where no other word follows."""
    return lambda does: Declared(does, reads=_always, below=True)


def option(*names: str, **said: Any) -> Callable[[Does], Does]:
    """An option of the command below it, said as click wants it."""
    return _noting(DeclaredParameter(names, said))


def argument(name: str, **said: Any) -> Callable[[Does], Does]:
    return _noting(DeclaredParameter([name], said))


def _noting(parameter: DeclaredParameter) -> Callable[[Does], Does]:
    def note(does: Does) -> Does:
        # Decorators are called from the last to the first.
        does.__dict__.setdefault("parameters", []).insert(0, parameter)
        return does

    return note


def _given(words: Sequence[str], parameters: Sequence[DeclaredParameter]) -> dict[str, Any]:
    """The value of each parameter. A ValueError or LookupError says that the line is not plain."""
    options = {name: each for each in parameters for name in each.options}
    arguments = [each for each in parameters if not each.options]
    given: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            name, is_set, value = word.partition("=")
            parameter = options[name]
            found = _value(parameter, value if is_set else None, rest)
        else:
            parameter = arguments[0]
            found = parameter.made_of(word)
            arguments = arguments if parameter.takes_the_rest else arguments[1:]
        if parameter.is_repeated:
            found = (*given.get(parameter.name, ()), found)
        elif parameter.name in given:
            raise ValueError(word)
        given[parameter.name] = found
    if any(each.is_required and each.name not in given for each in parameters):
        raise ValueError(words)
    return {each.name: each.default for each in parameters} | given


def _value(parameter: DeclaredParameter, value: str | None, rest: Iterator[str]) -> Any:
    """What a flag sets, what was given with it, or the word after it."""
    if parameter.sets is None:
        return parameter.made_of(next(rest, "") if value is None else value)
    if value is not None:
        raise ValueError(value)
    return parameter.sets


def _positive(word: str) -> int:
    number = int(word) if word.isascii() and word.isdecimal() else 0
    if not 0 < number < MOST:
        raise ValueError(word)
    return number


def _file(word: str) -> Path:
    if not (path := Path(word)).is_file():
        raise ValueError(word)
    return path


def _positive_in_click() -> Any:
    import click

    class Positive(click.IntRange):
        def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
            """More than anybody has is as much as there is."""
            return min(super().convert(value, param, ctx), MOST)

    return Positive(min=1)


def _in_click(name: str, **said: Any) -> Callable[[], Any]:
    def make() -> Any:
        import click

        return getattr(click, name)(**said)

    return make


def one_of(words: Sequence[str]) -> ValueKind:
    """One of these words."""

    def find(word: str) -> str:
        return words[words.index(word)]

    return ValueKind(find, _in_click("Choice", choices=words))


_ANY = ValueKind(str, str)
PATH = ValueKind(Path, _in_click("Path", path_type=Path))
FILE = ValueKind(_file, _in_click("Path", path_type=Path, exists=True, dir_okay=False))
POSITIVE = ValueKind(_positive, _positive_in_click)
