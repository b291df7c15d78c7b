"""From a tool file to its MCP tools: one leaf for each subcommand that has none below it, with all that it inherits."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from sayso.records import fields, record, replace
from sayso.toolfiles.model import (
    Approve,
    AvailabilityCheck,
    Livelog,
    OptionSpec,
    SequenceStep,
    Settings,
    Subcommand,
    ToolFile,
)

ASYNCHRONOUS, SYNCHRONOUS = "asynchronous", "synchronous"

WORKING_DIRECTORY = OptionSpec(
    name="working_directory",
    type="string",
    format="path",
    description="The directory to run in, inside the project. Default: the project's own.",
)
TIMEOUT_SECONDS = OptionSpec(
    name="timeout_seconds",
    type="integer",
    minimum=1,
    maximum=86_400,
    description="Stop the command after this many seconds.",
)
EXECUTION_MODE = OptionSpec(
    name="execution_mode",
    type="string",
    enum=(ASYNCHRONOUS, SYNCHRONOUS),
    description="`synchronous` waits for the result instead of running in the background. Rarely needed.",
)
CLEAR = OptionSpec(
    name="clear",
    type="boolean",
    default=True,
    description="`false` keeps what the log already holds instead of emptying it first.",
)
CALL_OPTIONS = (WORKING_DIRECTORY, TIMEOUT_SECONDS, EXECUTION_MODE)


@record
class Segment:
    """Words of the command line that are always there, and the options that stand right after them."""

    words: tuple[str, ...]
    options: tuple[OptionSpec, ...] = ()


@record
class Probe:
    """A command that tells by its exit code whether a program is there. `cwd` is relative to the project."""

    argv: tuple[str, ...]
    cwd: str | None = None
    success_exit_codes: tuple[int, ...] = (0,)


@record
class Leaf:
    """One MCP tool. `path` are its words after the command, `where` is its place in the file, `settings` are those
    that hold for it."""

    name: str
    tool: str
    path: tuple[str, ...]
    where: tuple[str | int, ...]
    description: str
    settings: Settings
    segments: tuple[Segment, ...]
    positional_args: tuple[OptionSpec, ...] = ()
    call_options: tuple[OptionSpec, ...] = CALL_OPTIONS
    positional_args_first: bool = False
    end_of_options: bool = False
    stdin: str | None = None
    sequence: tuple[SequenceStep, ...] = ()
    step_delay_ms: int = 0
    probes: tuple[Probe, ...] = ()
    livelog: Livelog | None = None

    @property
    def synchronous(self) -> bool:
        return self.settings.synchronous is True

    @property
    def approve(self) -> Approve:
        return self.settings.approve or "never"

    @property
    def options(self) -> tuple[OptionSpec, ...]:
        return tuple(option for segment in self.segments for option in segment.options)

    @property
    def arguments(self) -> dict[str, OptionSpec]:
        """Everything that a call may give, by name."""
        return {spec.name: spec for spec in (*self.options, *self.positional_args, *self.call_options)}


def leaves(tool: ToolFile) -> tuple[Leaf, ...]:
    """The MCP tools of a tool file, in its order. Disabled subcommands have none."""
    root = _root(tool)
    if tool.livelog is not None:
        return (_livelog(tool.livelog, root),)
    if not tool.subcommand:
        return (replace(root, sequence=tool.sequence, step_delay_ms=tool.step_delay_ms or 0),)
    return tuple(_below(root, tool.subcommand))


def leaf_name(tool: str, *path: str) -> str:
    """The name of the MCP tool: the tool and the words of the subcommand; `default` adds none."""
    return "_".join((tool, *(word for word in path if word != "default")))


def split_command(command: str) -> tuple[str, ...]:
    """The words of a command. Quotes hold a word together; a backslash is a backslash. Raises ValueError."""
    words = shlex.shlex(command, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters, words.escape = True, "", ""
    return tuple(words)


def inherited(parent: Settings, child: Settings) -> Settings:
    """What holds for the child: its own word where it has one, else the parent's. Variables add up."""
    said = [{name: getattr(settings, name) for name in fields(Settings)} for settings in (parent, child)]
    own = {name: value for name, value in said[1].items() if value is not None}
    return Settings(**{**said[0], **own, "env": {**parent.env, **child.env}})


def _root(tool: ToolFile) -> Leaf:
    settings = inherited(Settings(), tool)
    words = split_command(tool.command)
    check = tool.availability_check
    return Leaf(
        name=tool.name,
        tool=tool.name,
        path=(),
        where=(),
        description=tool.description,
        settings=settings,
        segments=(Segment(words=words),),
        call_options=_call_options((), settings),
        probes=(_probe(check, words),) if check else (),
    )


def _below(parent: Leaf, subcommands: tuple[Subcommand, ...]) -> Iterator[Leaf]:
    for index, sub in enumerate(subcommands):
        if sub.enabled:
            leaf = _child(parent, sub, index)
            yield from _below(leaf, sub.subcommand) if sub.subcommand else (leaf,)


def _child(parent: Leaf, sub: Subcommand, index: int) -> Leaf:
    words = () if sub.name == "default" else (sub.name,)
    settings = inherited(parent.settings, sub)
    trailing = () if sub.subcommand else tuple(option for option in sub.options if _is_trailing(option))
    options = tuple(option for option in sub.options if option not in trailing and not _is_call_option(option))
    leaf = replace(
        parent,
        name=leaf_name(parent.name, sub.name),
        path=(*parent.path, *words),
        where=(*parent.where, "subcommand", index),
        description=sub.description,
        settings=settings,
        segments=(*parent.segments, Segment(words=words, options=options)),
        positional_args=(*sub.positional_args, *trailing),
        call_options=_call_options(sub.options, settings),
        positional_args_first=sub.positional_args_first,
        end_of_options=sub.end_of_options,
        stdin=sub.stdin,
        sequence=sub.sequence,
        step_delay_ms=sub.step_delay_ms or 0,
    )
    if sub.availability_check:
        leaf = replace(leaf, probes=(*parent.probes, _sub_probe(sub.availability_check, leaf)))
    return leaf


def _is_call_option(option: OptionSpec) -> bool:
    """Ahma's files list `working_directory` among the options; it is the call's own, and never a flag."""
    return option.name in {spec.name for spec in CALL_OPTIONS}


def _is_trailing(option: OptionSpec) -> bool:
    """An array named `args` is Ahma's way to say: the words that come last."""
    return option.name == "args" and option.type == "array" and not option.style and not option.alias


def _call_options(declared: tuple[OptionSpec, ...], settings: Settings) -> tuple[OptionSpec, ...]:
    """What every call may say, in the file's own words where it has some. A synchronous tool has but one mode."""
    own = {option.name: option for option in declared}
    return tuple(
        replace(spec, description=own[spec.name].description or spec.description, required=own[spec.name].required)
        if spec.name in own
        else spec
        for spec in CALL_OPTIONS
        if spec is not EXECUTION_MODE or not settings.synchronous
    )


def _probe(check: AvailabilityCheck, words: tuple[str, ...]) -> Probe:
    start = split_command(check.command) if check.command else words
    return Probe(argv=(*start, *check.args), cwd=check.working_directory, success_exit_codes=check.success_exit_codes)


def _sub_probe(check: AvailabilityCheck, leaf: Leaf) -> Probe:
    path = () if check.skip_subcommand_args else leaf.path
    return _probe(check, (*leaf.segments[0].words, *path))


def _livelog(livelog: Livelog, root: Leaf) -> Leaf:
    parameters = tuple(
        OptionSpec(name=item.name, type="string", description=item.description, required=item.required)
        for item in livelog.parameters
    )
    words = split_command(livelog.source_command)
    options = (*parameters, CLEAR) if livelog.clear_command else parameters
    return replace(root, segments=(Segment(words=words, options=options),), livelog=livelog)
