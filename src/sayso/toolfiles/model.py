"""What a tool file says, as plain frozen data. Each field of the format is declared here, and nowhere else.

`format.py` makes the table of it that the validator, the published JSON Schema and the reference read, and `leaves.py`
the MCP tools. Nothing here reads files or runs anything. Annotations are evaluated here, unlike elsewhere: the table is
made of them whenever a process needs it, and to evaluate them one by one takes twice the time.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, dataclass_transform

from sayso.records import REQUIRED, field, record

SCHEMA_VERSION = 2
"""1 is Ahma's format, which has no such field; 2 adds ours. Version 2 only adds, so one reader serves both."""

NAME = "^[A-Za-z0-9][A-Za-z0-9_-]*$"
OPTION_NAME = "^-{0,2}[A-Za-z0-9][A-Za-z0-9_.-]*$"
FLAG = "^-{0,2}[A-Za-z0-9?@#][A-Za-z0-9_.:+-]*$"
VARIABLE = "^[A-Za-z_][A-Za-z0-9_]*$"
_WEEK = 7 * 24 * 3600
_WORD = {"min_size": 0}
_CODE = {"minimum": 0, "maximum": 255}

ItemType = Literal["string", "boolean", "integer", "number", "object"]
OptionType = Literal["string", "boolean", "integer", "number", "array", "object"]
Style = Literal["flag", "separate", "equals", "repeat", "csv", "stdin"]
Approve = Literal["always", "once", "never"]
SandboxName = Literal["none", "workspace", "read-only"]
NetworkName = Literal["all", "loopback", "none"]
FaultKind = Literal[
    "missing",
    "unknown",
    "type",
    "enum",
    "pattern",
    "range",
    "size",
    "duplicate",
    "json",
    "encoding",
    "unreadable",
    "writable",
]


@record
class Fault:
    """One thing wrong with a tool file: where, what was expected, what is there, and what to do."""

    file: Path
    line: int
    path: str
    kind: FaultKind
    expected: str
    actual: str
    suggestion: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " + (f"{self.path}: " if self.path else "")
        hint = f" {self.suggestion}" if self.suggestion else ""
        if self.kind == "json":
            return f"{where}[json] this is not {self.expected}: {self.actual}.{hint}"
        return f"{where}[{self.kind}] expected {self.expected}; found {self.actual.removesuffix('.')}.{hint}"


T = TypeVar("T")


def told(
    meaning: str,
    *,
    default: Any = REQUIRED,
    default_factory: Any = None,
    name: str = "",
    since: int = 1,
    **limits: Any,
) -> Any:
    """A field of the format: what it means, its name where that differs, the version it came with, and its limits as
    `FieldSpec` has them. What it may hold follows from its annotation; without a default it is required."""
    metadata = {"meaning": meaning, "name": name, "since": since, "limits": limits}
    return field(default=default, default_factory=default_factory, metadata=metadata)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(told,))
def shape(meaning: str) -> Callable[[type[T]], type[T]]:
    """A kind of object in a tool file, and what it means."""

    def declare(kind: type[T]) -> type[T]:
        kind.MEANING = meaning  # type: ignore[attr-defined]
        return record(kind)

    return declare


@shape("The elements of an array.")
class ItemsSpec:
    type: ItemType = told("What each element is.")
    format: Literal["path"] | None = told("`path`: each must stay inside the project.", default=None)
    description: str = told("What an element is, as the model reads it.", default="", min_size=0)


@shape("One option or positional argument.")
class OptionSpec:
    name: str = told(
        "Its name in a call; the flag is `--name`. A name with a dash is the flag itself.",
        pattern=OPTION_NAME,
        max_size=64,
    )
    type: OptionType = told("What it takes.")
    description: str = told("What it does, as the model reads it.", default="", min_size=0)
    required: bool = told("A call must give it.", default=False)
    format: Literal["path"] | None = told("`path`: must stay inside the project.", default=None)
    items: ItemsSpec | None = told("What an array holds. Default: strings.", default=None)
    file_arg: bool = told("Write the value to a file and pass the file's path.", default=False)
    file_flag: str | None = told(
        "The flag that takes that path, such as `-F`.", default=None, pattern=FLAG, max_size=64
    )
    alias: str | None = told(
        "The flag of a switch (`b` is `-b`); with its dash (`-t`), the flag of any option.",
        default=None,
        pattern=FLAG,
        max_size=64,
    )
    enum: tuple[object, ...] = told(
        "The values allowed.",
        default=(),
        since=2,
        min_size=1,
        max_size=200,
        items={"types": ("string", "number", "boolean")},
    )
    default: object = told("Used when a call leaves it out.", default=None, since=2)
    pattern: str | None = told(
        "A regular expression that the text, or each element, must match.", default=None, since=2
    )
    minimum: float | None = told("The least number allowed.", default=None, since=2)
    maximum: float | None = told("The greatest number allowed.", default=None, since=2)
    min_items: int | None = told(
        "The fewest elements.", default=None, name="minItems", since=2, minimum=0, maximum=10_000
    )
    max_items: int | None = told(
        "The most elements.", default=None, name="maxItems", since=2, minimum=0, maximum=10_000
    )
    style: Style | None = told("How it is written on the command line.", default=None, since=2)
    end_of_options: bool = told("Of a positional argument: put `--` before it.", default=False, since=2)

    @property
    def item_type(self) -> OptionType:
        return self.items.type if self.items else "string"

    @property
    def is_path(self) -> bool:
        return self.format == "path" or (self.items is not None and self.items.format == "path")

    @property
    def flag(self) -> str:
        """How the program spells it. A bare alias is the short form of a switch; only the long form can carry
        every value safely, so options with a value keep it unless the alias is written with its own dash."""
        if self.alias and self.alias.startswith("-"):
            return self.alias
        if self.alias and self.type == "boolean":
            return f"-{self.alias}" if len(self.alias) == 1 else f"--{self.alias}"
        return self.name if self.name.startswith("-") else f"--{self.name}"


@shape("What the model may do while a command of this kind runs.")
class Hints:
    build: str | None = told("While it builds.", default=None)
    test: str | None = told("While tests run.", default=None)
    dependencies: str | None = told("While dependencies are fetched or changed.", default=None)
    clean: str | None = told("While it cleans up.", default=None)
    run: str | None = told("While a program runs.", default=None)
    custom: Mapping[str, str] = told(
        "By subcommand (`nextest_run`), by `guidance_key`, or `default`.", default_factory=dict
    )


@shape("A command that succeeds when the program is there.")
class AvailabilityCheck:
    command: str | None = told("The program to run. Default: the tool's own command.", default=None)
    args: tuple[str, ...] = told("Its arguments.", default=(), items=_WORD)
    working_directory: str | None = told("Where to run it. Default: the project.", default=None)
    success_exit_codes: tuple[int, ...] = told(
        "Exit codes that mean it is there. Default `[0]`.", default=(0,), min_size=1, items=_CODE
    )
    skip_subcommand_args: bool = told("Leave the subcommand's words out when `command` is not given.", default=False)


@shape("One step of a sequence. It starts when the one before has succeeded.")
class SequenceStep:
    tool: str = told("The name of a tool file.", pattern=NAME, max_size=52)
    subcommand: str = told("A subcommand of it, nested ones joined by `_`.", max_size=200)
    args: Mapping[str, object] = told("The arguments of that call.", default_factory=dict)
    description: str = told("What the step does.", default="", min_size=0)
    skip_if_file_exists: str | None = told("Skip the step when this file is there.", default=None)
    skip_if_file_missing: str | None = told("Skip the step when this file is not there.", default=None)


@shape("What is kept of a command's output.")
class OutputSpec:
    max_bytes: int | None = told(
        "The most bytes of each stream: its beginning and its end.",
        default=None,
        since=2,
        minimum=1024,
        maximum=2**30,
    )


@shape("MCP tool annotations. They are hints, not promises.")
class Annotations:
    """None: not said."""

    title: str | None = told("A name for people.", default=None, since=2, max_size=200)
    read_only: bool | None = told("It changes nothing.", default=None, name="readOnlyHint", since=2)
    destructive: bool | None = told("It may destroy something.", default=None, name="destructiveHint", since=2)
    idempotent: bool | None = told("Twice is the same as once.", default=None, name="idempotentHint", since=2)
    open_world: bool | None = told("It reaches beyond this machine.", default=None, name="openWorldHint", since=2)


@shape("An OpenAI-compatible service.")
class LlmProvider:
    base_url: str = told("Its address; `/chat/completions` is added.")
    model: str = told("The model's name.")
    api_key: str | None = told(
        "`${VARIABLE}` of the command's or the server's environment, never the key itself.", default=None
    )


@shape("Something a call may fill in.")
class LivelogParameter:
    name: str = told("Its name in a call and in `${name}`.", pattern=VARIABLE, max_size=64)
    description: str = told("What it is, as the model reads it.")
    required: bool = told("A call must give it.", default=False)


@shape("A log that is followed in the background.")
class Livelog:
    source_command: str = told("The program whose output is the log.")
    source_args: tuple[str, ...] = told(
        "Its arguments. `${name}` is a parameter; an argument whose parameter is not given is left out.",
        default=(),
        items=_WORD,
    )
    detection_prompt: str = told("In plain words, what the model is to look for.")
    llm_provider: LlmProvider = told("The model that looks.")
    parameters: tuple[LivelogParameter, ...] = told("What a call may fill in.", default=(), max_size=50)
    env: Mapping[str, str] = told(
        "Environment variables. `${name}` as in `source_args`.", default_factory=dict, keys=VARIABLE, items=_WORD
    )
    clear_command: tuple[str, ...] = told(
        "Arguments of `source_command` for a run before the start, to empty the log.", default=(), items=_WORD
    )
    prefilter_regex: str | None = told("Only lines that match are looked at.", default=None)
    chunk_max_lines: int = told("Lines that are looked at together. Default 50.", default=50, minimum=1, maximum=10_000)
    chunk_max_seconds: int = told("How long to collect them. Default 30.", default=30, minimum=1, maximum=3600)
    cooldown_seconds: int = told("Least time between two alerts. Default 60.", default=60, minimum=0, maximum=86_400)
    llm_timeout_seconds: int = told("How long one look may take. Default 30.", default=30, minimum=1, maximum=3600)
    structured_output: bool = told("Ask the model for fields instead of prose.", default=False)


@shape("What a tool may say for all its subcommands, and each of them for itself: the nearest word holds.")
class Settings:
    timeout_seconds: int | None = told(
        "Stop the command after this many seconds.", default=None, minimum=1, maximum=_WEEK
    )
    synchronous: bool | None = told(
        "`true`: the call waits and returns the result itself. Default: in the background.",
        default=None,
        older="force_synchronous",
    )
    guidance_key: str | None = told(
        "Which hint the start reply gives: a key of `hints.custom`, or a built-in kind of work.", default=None
    )
    install_instructions: str | None = told("What to tell the caller when the program is not there.", default=None)
    env: Mapping[str, str] = told(
        "Environment variables for the command, on top of the person's own.",
        default_factory=dict,
        since=2,
        keys=VARIABLE,
        items=_WORD,
    )
    cwd: str | None = told(
        "Where the command runs when the call does not say, relative to the project.", default=None, since=2
    )
    success_exit_codes: tuple[int, ...] | None = told(
        "Exit codes that count as success. Default `[0]`.", default=None, since=2, min_size=1, items=_CODE
    )
    output: OutputSpec | None = told("How much output is kept.", default=None, since=2)
    lock: str | None = told(
        "Commands with the same lock run one at a time in a project.", default=None, since=2, pattern=NAME, max_size=64
    )
    annotations: Annotations | None = told("What MCP clients are told about the tool.", default=None, since=2)
    inline_ms: int | None = told(
        "How long a background call may hold on, so that a quick one returns its result at once.",
        default=None,
        since=2,
        minimum=0,
        maximum=60_000,
    )
    approve: Approve | None = told(
        "Whether a person must agree first: `always`, `once` per session, or `never` (default).", default=None, since=2
    )
    sandbox: SandboxName | None = told(
        "What it may change: `workspace`, the project alone; `read-only`, nothing; or `none`, what you may. "
        "Default: the setting `sandbox`.",
        default=None,
        since=2,
    )
    sandbox_network: NetworkName | None = told(
        "What of the network it may use in its sandbox. Default: the setting `sandbox_network`.", default=None, since=2
    )


@shape("What a tool or a subcommand runs, and whether.")
class Runnable:
    enabled: bool = told("`false` hides it. Default `true`.", default=True)
    sequence: tuple[SequenceStep, ...] = told(
        "Other tools to run one after the other instead of a command.", default=(), max_size=100
    )
    step_delay_ms: int | None = told(
        "Pause between the steps of a sequence. A `lock` is the better way.", default=None, minimum=0, maximum=600_000
    )
    availability_check: AvailabilityCheck | None = told("How to find out whether the program is there.", default=None)


@shape("A word of the command line. One without subcommands of its own is one MCP tool, `{tool}_{path}`.")
class Subcommand(Runnable, Settings):
    name: str = told(
        "The word. `default` adds none, neither to the command nor to the tool's name.", pattern=NAME, max_size=52
    )
    description: str = told("What it does, as the model reads it.")
    subcommand: tuple["Subcommand", ...] = told("Subcommands below it.", default=(), max_size=200)
    options: tuple[OptionSpec, ...] = told("Its options, in the order of the command line.", default=(), max_size=100)
    positional_args: tuple[OptionSpec, ...] = told("Arguments without a flag, in order.", default=(), max_size=20)
    positional_args_first: bool = told("Put them before the options.", default=False)
    end_of_options: bool = told(
        "The program takes `--`: put it before the positional arguments, so that they may begin with a dash.",
        default=False,
        since=2,
    )
    stdin: str | None = told(
        "Text for the command's standard input. Default: none.", default=None, since=2, min_size=0, max_size=1_000_000
    )


@shape("One tool file.")
class ToolFile(Runnable, Settings):
    """Valid. `file` is where it came from."""

    schema: str | None = told(
        "For editors: where the JSON Schema of this format lies.", default=None, name="$schema", since=2
    )
    schema_version: Literal[1, 2] = told(
        "Version of the format: `2`. A file without it is of version 1.", default=1, since=2
    )
    name: str = told("First word of the names of its MCP tools.", pattern=NAME, max_size=52)
    description: str = told("What the program is for.")
    command: str = told("The program, with any words that always come first. Words with spaces go in quotes.")
    subcommand: tuple["Subcommand", ...] = told(
        "Its subcommands. Without any, the command itself is the one tool.", default=(), max_size=200
    )
    input_schema: Mapping[str, object] | None = told(
        "Accepted and kept; schemas are always generated from the options.", default=None, items=None
    )
    hints: Hints = told("What to do meanwhile, for the start reply of a background command.", default_factory=Hints)
    monitor_level: Literal["error", "warn", "info", "debug", "trace"] | None = told(
        "Report lines of this severity and above while the command runs.", default=None
    )
    monitor_stream: Literal["stderr", "stdout", "both"] = told(
        "Where to look for them. Default `stderr`.", default="stderr"
    )
    tool_type: Literal["command", "livelog"] = told(
        "`command` (default), or `livelog` for a log that is followed.", default="command"
    )
    livelog: Livelog | None = told("The log to follow, when `tool_type` is `livelog`.", default=None)
    file: Path | None = None
    content: bytes = field(default=b"", compare=False)
    """What was read there, byte for byte."""
