"""What a tool file says, as plain frozen data. Names are the fields of the format; `fields.py` describes each of them.

Nothing here reads files or runs anything. `leaves.py` turns a tool file into its MCP tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SCHEMA_VERSION = 2
"""1 is Ahma's format, which has no such field; 2 adds ours. Version 2 only adds, so one reader serves both."""

OptionType = Literal["string", "boolean", "integer", "number", "array", "object"]
Style = Literal["flag", "separate", "equals", "repeat", "csv", "stdin"]
Approve = Literal["always", "once", "never"]
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
]


@dataclass(frozen=True, kw_only=True)
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
        return f"{where}[{self.kind}] expected {self.expected}; found {self.actual}.{hint}"


@dataclass(frozen=True, kw_only=True)
class ItemsSpec:
    type: OptionType
    format: Literal["path"] | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class OptionSpec:
    """One option or positional argument of a subcommand."""

    name: str
    type: OptionType
    description: str = ""
    required: bool = False
    format: Literal["path"] | None = None
    items: ItemsSpec | None = None
    file_arg: bool = False
    file_flag: str | None = None
    alias: str | None = None
    enum: tuple[object, ...] = ()
    default: object = None
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    style: Style | None = None
    end_of_options: bool = False

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


@dataclass(frozen=True, kw_only=True)
class Hints:
    build: str | None = None
    test: str | None = None
    dependencies: str | None = None
    clean: str | None = None
    run: str | None = None
    custom: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AvailabilityCheck:
    command: str | None = None
    args: tuple[str, ...] = ()
    working_directory: str | None = None
    success_exit_codes: tuple[int, ...] = (0,)
    skip_subcommand_args: bool = False


@dataclass(frozen=True, kw_only=True)
class SequenceStep:
    tool: str
    subcommand: str
    args: Mapping[str, object] = field(default_factory=dict)
    description: str = ""
    skip_if_file_exists: str | None = None
    skip_if_file_missing: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutputSpec:
    max_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """What an MCP client may be told about a tool. None: not said."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, kw_only=True)
class LlmProvider:
    base_url: str
    model: str
    api_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class LivelogParameter:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Livelog:
    """A log that is followed: where it comes from, what may be filled in, what to look for in it."""

    source_command: str
    detection_prompt: str
    llm_provider: LlmProvider
    source_args: tuple[str, ...] = ()
    parameters: tuple[LivelogParameter, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    clear_command: tuple[str, ...] = ()
    prefilter_regex: str | None = None
    chunk_max_lines: int = 50
    chunk_max_seconds: int = 30
    cooldown_seconds: int = 60
    llm_timeout_seconds: int = 30
    structured_output: bool = False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a tool may say for all its subcommands, and each of them for itself: the nearest word holds."""

    timeout_seconds: int | None = None
    synchronous: bool | None = None
    guidance_key: str | None = None
    install_instructions: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    success_exit_codes: tuple[int, ...] | None = None
    output: OutputSpec | None = None
    lock: str | None = None
    annotations: Annotations | None = None
    inline_ms: int | None = None
    approve: Approve | None = None


@dataclass(frozen=True, kw_only=True)
class Subcommand(Settings):
    name: str
    description: str
    subcommand: tuple[Subcommand, ...] = ()
    options: tuple[OptionSpec, ...] = ()
    positional_args: tuple[OptionSpec, ...] = ()
    positional_args_first: bool = False
    end_of_options: bool = False
    stdin: str | None = None
    enabled: bool = True
    sequence: tuple[SequenceStep, ...] = ()
    step_delay_ms: int | None = None
    availability_check: AvailabilityCheck | None = None


@dataclass(frozen=True, kw_only=True)
class ToolFile(Settings):
    """One tool file, valid. `file` is where it came from."""

    name: str
    description: str
    command: str
    schema_version: int = 1
    subcommand: tuple[Subcommand, ...] = ()
    input_schema: Mapping[str, object] | None = None
    hints: Hints = field(default_factory=Hints)
    enabled: bool = True
    sequence: tuple[SequenceStep, ...] = ()
    step_delay_ms: int | None = None
    availability_check: AvailabilityCheck | None = None
    monitor_level: Literal["error", "warn", "info", "debug", "trace"] | None = None
    monitor_stream: Literal["stderr", "stdout", "both"] = "stderr"
    tool_type: Literal["command", "livelog"] = "command"
    livelog: Livelog | None = None
    file: Path | None = None
