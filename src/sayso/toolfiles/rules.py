"""What must hold across the fields of a tool file: names that do not collide, and nothing that would be ignored.

It works on the raw document and looks only at parts that are sound in themselves, so that these faults and those of
the structure are told together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from sayso.jsontext import Path
from sayso.text import quoted
from sayso.toolfiles.format import LIVELOG, OPTION, build
from sayso.toolfiles.leaves import CALL_OPTIONS, CLEAR, leaf_name, split_command
from sayso.toolfiles.model import Livelog, OptionSpec
from sayso.toolfiles.option_rules import check_option, check_positional
from sayso.toolfiles.structure import Flaw
from sayso.toolfiles.values import compiled

MAX_NAME = 52
"""Model services allow 64 characters, of which clients take twelve for `mcp__sayso__`."""

Raw = Mapping[str, object]
Specs = list[tuple[OptionSpec, Path]]
_CALL_NAMES = {option.name for option in CALL_OPTIONS}
_ONLY_ON_LEAVES = ("positional_args", "positional_args_first", "end_of_options", "stdin", "sequence")


def check_rules(document: object, structure: Sequence[Flaw]) -> list[Flaw]:
    """Everything wrong with the document that its structure alone does not show. `structure` is what that shows."""
    unknown_version = any(finding.where == ("schema_version",) for finding in structure)
    if unknown_version or not isinstance(document, dict):
        return []
    walk = _Walk(unsound=[finding.where for finding in structure])
    walk.tool(document)
    return [*_texts(document, ()), *walk.found]


class _Walk:
    """One pass over a tool file. `names` are the MCP tools met so far."""

    def __init__(self, *, unsound: Sequence[Path]) -> None:
        self.unsound = {place[:length] for place in unsound for length in range(len(place) + 1)}
        """Every place with a flaw in it, and those around it."""
        self.found: list[Flaw] = []
        self.names: set[str] = set()

    def add(self, *findings: Flaw) -> None:
        self.found += findings

    def sound(self, where: Path) -> bool:
        return where not in self.unsound

    def tool(self, raw: Raw) -> None:
        self.add(*_command(raw, "command", ()), *_modes(raw, ()), *_livelog(raw), *_check_commands(raw, ()))
        livelog = raw.get("livelog")
        if isinstance(livelog, dict) and self.sound(("livelog",)):
            self.add(*_command(livelog, "source_command", ("livelog",)), *_log_source(build(LIVELOG, livelog)))
        subcommands = _records(raw, "subcommand")
        if subcommands and raw.get("sequence"):
            self.add(_misplaced(("sequence",), "in a tool without subcommands, or in one of them"))
        for index, child in subcommands:
            self.subcommand(child, ("subcommand", index), str(raw.get("name")), frozenset())

    def subcommand(self, raw: Raw, where: Path, parent: str, outer: AbstractSet[str]) -> None:
        name = leaf_name(parent, str(raw.get("name")))
        self.add(*_modes(raw, where), *_check_commands(raw, where))
        specs = {key: self.specs(raw, key, where) for key in ("options", "positional_args")}
        taken = self.options(specs, outer)
        children = _records(raw, "subcommand")
        for index, child in children:
            self.subcommand(child, (*where, "subcommand", index), name, taken)
        if children:
            allowed = "in a subcommand that has none below it"
            self.add(*(_misplaced((*where, key), allowed) for key in _ONLY_ON_LEAVES if raw.get(key)))
            fed = [place for spec, place in specs["options"] if spec.style == "stdin"]
            self.add(*(_misplaced((*place, "style"), f"as another one, or {allowed}") for place in fed))
        elif raw.get("enabled") is not False:
            self.add(*_leaf(raw, specs, where))
            self.name(name, where)

    def specs(self, raw: Raw, key: str, where: Path) -> Specs:
        """The options that are sound in themselves, each with its place."""
        placed = (((*where, key, index), item) for index, item in _records(raw, key))
        return [(build(OPTION, item), place) for place, item in placed if self.sound(place)]

    def options(self, specs: Mapping[str, Specs], outer: AbstractSet[str]) -> set[str]:
        """Check each option and that no two share a name or a flag. Returns the names taken so far."""
        taken, flags = set(outer), set[str]()
        for spec, place in specs["options"]:
            self.add(*check_option(spec, place))
            if spec.name not in _CALL_NAMES and self.once(spec.name, taken, (*place, "name")):
                self.once(spec.flag, flags, (*place, "alias" if spec.alias else "name"))
        for spec, place in specs["positional_args"]:
            self.add(*check_positional(spec, place))
            self.once(spec.name, taken, (*place, "name"))
        return taken

    def name(self, name: str, where: Path) -> None:
        place = (*where, "name")
        self.once(name, self.names, place)
        if len(name) > MAX_NAME:
            expected = f"at most {MAX_NAME} characters in the name of the tool, {quoted(name)}"
            self.add(Flaw(where=place, kind="size", expected=expected, actual=str(len(name))))

    def once(self, name: str, taken: set[str], where: Path) -> bool:
        """Whether the name is free, and from now on it is not."""
        free = name not in _CALL_NAMES and name not in taken
        taken.add(name)
        if not free:
            self.add(
                Flaw(
                    where=where,
                    kind="duplicate",
                    expected="a name of its own",
                    actual=f"{quoted(name)}, which is taken",
                    suggestion="Rename one of them, or remove it.",
                )
            )
        return free


def _records(raw: Raw, key: str) -> list[tuple[int, Raw]]:
    value = raw.get(key)
    items = value if isinstance(value, list) else []
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]


def _leaf(raw: Raw, specs: Mapping[str, Specs], where: Path) -> Iterator[Flaw]:
    for key, found in specs.items():
        if raw.get("sequence") and any(spec.name not in _CALL_NAMES for spec, _ in found):
            yield _misplaced((*where, key), "in a subcommand without a `sequence`, whose steps have their own")
    guarded = raw.get("end_of_options") or any(spec.end_of_options for spec, _ in specs["positional_args"])
    if raw.get("positional_args_first") and guarded:
        yield _misplaced((*where, "positional_args_first"), "without `end_of_options`: options must come before `--`")
    fed = [place for found in specs.values() for spec, place in found if spec.style == "stdin"]
    if len(fed) + (raw.get("stdin") is not None) > 1:
        yield Flaw(
            where=(*fed[-1], "style"),
            kind="duplicate",
            expected="one source of standard input",
            actual="another one",
            suggestion="Keep one of them.",
        )


def _modes(raw: Raw, where: Path) -> Iterator[Flaw]:
    both = (raw.get("synchronous"), raw.get("force_synchronous"))
    if None not in both and both[0] != both[1]:
        yield Flaw(
            where=(*where, "force_synchronous"),
            kind="duplicate",
            expected=f"the same as `synchronous`, {quoted(both[0])}",
            actual=quoted(both[1]),
            suggestion="Keep `synchronous` only.",
        )


def _command(raw: Raw, key: str, where: Path) -> Iterator[Flaw]:
    command = raw.get(key)
    if not isinstance(command, str) or not command:
        return
    try:
        words = split_command(command)
    except ValueError:
        words = ()
    if not words or not words[0]:
        expected = "a program and its words, with every quote closed"
        yield Flaw(where=(*where, key), kind="pattern", expected=expected, actual=quoted(command))


def _check_commands(raw: Raw, where: Path) -> Iterator[Flaw]:
    check = raw.get("availability_check")
    if isinstance(check, dict):
        yield from _command(check, "command", (*where, "availability_check"))


def _livelog(raw: Raw) -> Iterator[Flaw]:
    given, wanted = raw.get("livelog"), raw.get("tool_type") == "livelog"
    if wanted and given is None:
        yield Flaw(where=("livelog",), kind="missing", expected="`livelog`, an object", actual="nothing",
                      suggestion='Describe the log to follow, or remove "tool_type".')  # fmt: skip
    if given is not None and not wanted:
        yield _misplaced(("livelog",), 'beside "tool_type": "livelog"')
    if given is not None and (raw.get("subcommand") or raw.get("sequence")):
        yield _misplaced(("livelog",), "in a tool without subcommands and without a sequence")


def _log_source(livelog: Livelog) -> Iterator[Flaw]:
    names: set[str] = set()
    where: Path
    for index, parameter in enumerate(livelog.parameters):
        if parameter.name in names | _CALL_NAMES | {CLEAR.name}:
            where = ("livelog", "parameters", index, "name")
            yield Flaw(where=where, kind="duplicate", expected="a name of its own", actual=quoted(parameter.name))
        names.add(parameter.name)
    templates: dict[Path, str] = {("livelog", "source_args", i): arg for i, arg in enumerate(livelog.source_args)}
    templates |= {("livelog", "env", name): value for name, value in livelog.env.items()}
    for place, template in templates.items():
        for name in re.findall(r"\$\{(\w+)\}", template):
            if name not in names:
                expected = "the name of one of `parameters`: " + (", ".join(sorted(names)) or "there are none")
                yield Flaw(where=place, kind="unknown", expected=expected, actual=quoted(name))
    try:
        compiled(livelog.prefilter_regex or "")
    except re.error as error:
        where = ("livelog", "prefilter_regex")
        yield Flaw(where=where, kind="pattern", expected="a regular expression", actual=str(error))


def _texts(value: object, where: Path) -> Iterator[Flaw]:
    """Texts that no command line can carry, anywhere in the file."""
    if isinstance(value, dict):
        for key, content in value.items():
            yield from _texts(content, (*where, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*where, index))
    elif isinstance(value, str) and re.search("[\0\ud800-\udfff]", value):
        expected = "text without NUL characters and without halves of surrogate pairs"
        yield Flaw(where=where, kind="pattern", expected=expected, actual=quoted(value))


def _misplaced(where: Path, allowed: str) -> Flaw:
    return Flaw(
        where=where, kind="unknown", expected=f"`{where[-1]}` only {allowed}", actual="it here", suggestion="Remove it."
    )
