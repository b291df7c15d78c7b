"""The one table of the tool-file format: every field, what it may hold and what it means.

The validator, the published JSON Schema, the reference in the documentation and the building of the model all read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.toolfiles import model
from sayso.toolfiles.fields import FieldSpec, ObjectSpec, array, mapping, record, records, switch, text, whole

NAME = "^[A-Za-z0-9][A-Za-z0-9_-]*$"
OPTION_NAME = "^-{0,2}[A-Za-z0-9][A-Za-z0-9_.-]*$"
FLAG = "^-{0,2}[A-Za-z0-9?@#][A-Za-z0-9_.:+-]*$"
VARIABLE = "^[A-Za-z_][A-Za-z0-9_]*$"
_WEEK = 7 * 24 * 3600

_WORD = text("", "", min_size=0)
_CODE = whole("", "", 0, 255)
_SCALAR = FieldSpec(name="", types=("string", "number", "boolean"), meaning="")
_ANY = FieldSpec(name="", types=("string", "number", "boolean", "array", "object"), meaning="")

_SETTINGS = (
    whole("timeout_seconds", "Stop the command after this many seconds.", 1, _WEEK),
    switch("synchronous", "`true`: the call waits and returns the result itself. Default: in the background."),
    switch("force_synchronous", "Older name of `synchronous`.", attribute="synchronous"),
    text("guidance_key", "Which hint the start reply gives: a key of `hints.custom`, or a built-in kind of work."),
    text("install_instructions", "What to tell the caller when the program is not there."),
    mapping(
        "env",
        "Environment variables for the command, on top of the person's own.",
        since=2,
        keys=VARIABLE,
        items=_WORD,
    ),
    text("cwd", "Where the command runs when the call does not say, relative to the project.", since=2),
    array("success_exit_codes", "Exit codes that count as success. Default `[0]`.", _CODE, since=2, min_size=1),
    record("output", "How much output is kept.", "Output", since=2),
    text("lock", "Commands with the same lock run one at a time in a project.", since=2, pattern=NAME, max_size=64),
    record("annotations", "What MCP clients are told about the tool.", "Annotations", since=2),
    whole(
        "inline_ms",
        "How long a background call may hold on, so that a quick one returns its result at once.",
        0,
        60_000,
        since=2,
    ),
    text(
        "approve",
        "Whether a person must agree first: `always`, `once` per session, or `never` (default).",
        since=2,
        enum=("always", "once", "never"),
    ),
)

_RUNNING = (
    switch("enabled", "`false` hides it. Default `true`."),
    records("sequence", "Other tools to run one after the other instead of a command.", "SequenceStep", max_size=100),
    whole("step_delay_ms", "Pause between the steps of a sequence. A `lock` is the better way.", 0, 600_000),
    record("availability_check", "How to find out whether the program is there.", "AvailabilityCheck"),
)

TOOL = ObjectSpec(
    name="Tool",
    meaning="One tool file.",
    model=model.ToolFile,
    fields=(
        text("$schema", "For editors: where the JSON Schema of this format lies.", attribute="", since=2),
        FieldSpec(
            name="schema_version",
            types=("integer",),
            meaning="Version of the format: `2`. A file without it is of version 1.",
            since=2,
            enum=tuple(range(1, model.SCHEMA_VERSION + 1)),
        ),
        text("name", "First word of the names of its MCP tools.", required=True, pattern=NAME, max_size=52),
        text("description", "What the program is for.", required=True),
        text(
            "command",
            "The program, with any words that always come first. Words with spaces go in quotes.",
            required=True,
        ),
        records(
            "subcommand",
            "Its subcommands. Without any, the command itself is the one tool.",
            "Subcommand",
            max_size=200,
        ),
        mapping("input_schema", "Accepted and kept; schemas are always generated from the options."),
        record("hints", "What to do meanwhile, for the start reply of a background command.", "Hints"),
        *_RUNNING,
        *_SETTINGS,
        text(
            "monitor_level",
            "Report lines of this severity and above while the command runs.",
            enum=("error", "warn", "info", "debug", "trace"),
        ),
        text("monitor_stream", "Where to look for them. Default `stderr`.", enum=("stderr", "stdout", "both")),
        text("tool_type", "`command` (default), or `livelog` for a log that is followed.", enum=("command", "livelog")),
        record("livelog", "The log to follow, when `tool_type` is `livelog`.", "Livelog"),
    ),
)

SUBCOMMAND = ObjectSpec(
    name="Subcommand",
    meaning="A word of the command line. One without subcommands of its own is one MCP tool, `{tool}_{path}`.",
    model=model.Subcommand,
    fields=(
        text(
            "name",
            "The word. `default` adds none, neither to the command nor to the tool's name.",
            required=True,
            pattern=NAME,
            max_size=52,
        ),
        text("description", "What it does, as the model reads it.", required=True),
        records("subcommand", "Subcommands below it.", "Subcommand", max_size=200),
        records("options", "Its options, in the order of the command line.", "Option", max_size=100),
        records("positional_args", "Arguments without a flag, in order.", "Option", max_size=20),
        switch("positional_args_first", "Put them before the options."),
        switch(
            "end_of_options",
            "The program takes `--`: put it before the positional arguments, so that they may begin with a dash.",
            since=2,
        ),
        FieldSpec(
            name="stdin",
            types=("string",),
            meaning="Text for the command's standard input. Default: none.",
            since=2,
            max_size=1_000_000,
        ),
        *_RUNNING,
        *_SETTINGS,
    ),
)

_TYPES = ("string", "boolean", "integer", "number", "array", "object")

OPTION = ObjectSpec(
    name="Option",
    meaning="One option or positional argument.",
    model=model.OptionSpec,
    fields=(
        text(
            "name",
            "Its name in a call; the flag is `--name`. A name with a dash is the flag itself.",
            required=True,
            pattern=OPTION_NAME,
            max_size=64,
        ),
        text("type", "What it takes.", required=True, enum=_TYPES),
        text("description", "What it does, as the model reads it.", min_size=0),
        switch("required", "A call must give it."),
        text("format", "`path`: must stay inside the project.", enum=("path",)),
        record("items", "What an array holds. Default: strings.", "Items"),
        switch("file_arg", "Write the value to a file and pass the file's path."),
        text("file_flag", "The flag that takes that path, such as `-F`.", pattern=FLAG, max_size=64),
        text(
            "alias",
            "The flag of a switch (`b` is `-b`); with its dash (`-t`), the flag of any option.",
            pattern=FLAG,
            max_size=64,
        ),
        array("enum", "The values allowed.", _SCALAR, since=2, min_size=1, max_size=200),
        FieldSpec(name="default", types=_ANY.types, meaning="Used when a call leaves it out.", since=2),
        text("pattern", "A regular expression that the text, or each element, must match.", since=2),
        FieldSpec(name="minimum", types=("number",), meaning="The least number allowed.", since=2),
        FieldSpec(name="maximum", types=("number",), meaning="The greatest number allowed.", since=2),
        whole("minItems", "The fewest elements.", 0, 10_000, since=2, attribute="min_items"),
        whole("maxItems", "The most elements.", 0, 10_000, since=2, attribute="max_items"),
        text(
            "style",
            "How it is written on the command line.",
            since=2,
            enum=("flag", "separate", "equals", "repeat", "csv", "stdin"),
        ),
        switch("end_of_options", "Of a positional argument: put `--` before it.", since=2),
    ),
)

ITEMS = ObjectSpec(
    name="Items",
    meaning="The elements of an array.",
    model=model.ItemsSpec,
    fields=(
        text("type", "What each element is.", required=True, enum=tuple(t for t in _TYPES if t != "array")),
        text("format", "`path`: each must stay inside the project.", enum=("path",)),
        text("description", "What an element is, as the model reads it.", min_size=0),
    ),
)

HINTS = ObjectSpec(
    name="Hints",
    meaning="What the model may do while a command of this kind runs.",
    model=model.Hints,
    fields=(
        text("build", "While it builds."),
        text("test", "While tests run."),
        text("dependencies", "While dependencies are fetched or changed."),
        text("clean", "While it cleans up."),
        text("run", "While a program runs."),
        mapping("custom", "By subcommand (`nextest_run`), by `guidance_key`, or `default`.", items=text("", "")),
    ),
)

AVAILABILITY_CHECK = ObjectSpec(
    name="AvailabilityCheck",
    meaning="A command that succeeds when the program is there.",
    model=model.AvailabilityCheck,
    fields=(
        text("command", "The program to run. Default: the tool's own command."),
        array("args", "Its arguments.", _WORD),
        text("working_directory", "Where to run it. Default: the project."),
        array("success_exit_codes", "Exit codes that mean it is there. Default `[0]`.", _CODE, min_size=1),
        switch("skip_subcommand_args", "Leave the subcommand's words out when `command` is not given."),
    ),
)

SEQUENCE_STEP = ObjectSpec(
    name="SequenceStep",
    meaning="One step of a sequence. It starts when the one before has succeeded.",
    model=model.SequenceStep,
    fields=(
        text("tool", "The name of a tool file.", required=True, pattern=NAME, max_size=52),
        text("subcommand", "A subcommand of it, nested ones joined by `_`.", required=True, max_size=200),
        mapping("args", "The arguments of that call.", items=_ANY),
        text("description", "What the step does.", min_size=0),
        text("skip_if_file_exists", "Skip the step when this file is there."),
        text("skip_if_file_missing", "Skip the step when this file is not there."),
    ),
)

OUTPUT = ObjectSpec(
    name="Output",
    meaning="What is kept of a command's output.",
    model=model.OutputSpec,
    fields=(whole("max_bytes", "The most bytes of each stream: its beginning and its end.", 1024, 2**30, since=2),),
)

ANNOTATIONS = ObjectSpec(
    name="Annotations",
    meaning="MCP tool annotations. They are hints, not promises.",
    model=model.Annotations,
    fields=(
        text("title", "A name for people.", since=2, max_size=200),
        switch("readOnlyHint", "It changes nothing.", since=2, attribute="read_only"),
        switch("destructiveHint", "It may destroy something.", since=2, attribute="destructive"),
        switch("idempotentHint", "Twice is the same as once.", since=2, attribute="idempotent"),
        switch("openWorldHint", "It reaches beyond this machine.", since=2, attribute="open_world"),
    ),
)

LIVELOG = ObjectSpec(
    name="Livelog",
    meaning="A log that is followed in the background.",
    model=model.Livelog,
    fields=(
        text("source_command", "The program whose output is the log.", required=True),
        array(
            "source_args",
            "Its arguments. `${name}` is a parameter; an argument whose parameter is not given is left out.",
            _WORD,
        ),
        text("detection_prompt", "In plain words, what the model is to look for.", required=True),
        record("llm_provider", "The model that looks.", "LlmProvider", required=True),
        records("parameters", "What a call may fill in.", "LivelogParameter", max_size=50),
        mapping("env", "Environment variables. `${name}` as in `source_args`.", keys=VARIABLE, items=_WORD),
        array("clear_command", "Arguments of `source_command` for a run before the start, to empty the log.", _WORD),
        text("prefilter_regex", "Only lines that match are looked at."),
        whole("chunk_max_lines", "Lines that are looked at together. Default 50.", 1, 10_000),
        whole("chunk_max_seconds", "How long to collect them. Default 30.", 1, 3600),
        whole("cooldown_seconds", "Least time between two alerts. Default 60.", 0, 86_400),
        whole("llm_timeout_seconds", "How long one look may take. Default 30.", 1, 3600),
        switch("structured_output", "Ask the model for fields instead of prose."),
    ),
)

LLM_PROVIDER = ObjectSpec(
    name="LlmProvider",
    meaning="An OpenAI-compatible service.",
    model=model.LlmProvider,
    fields=(
        text("base_url", "Its address; `/chat/completions` is added.", required=True),
        text("model", "The model's name.", required=True),
        text("api_key", "`${VARIABLE}` of the command's or the server's environment, never the key itself."),
    ),
)

LIVELOG_PARAMETER = ObjectSpec(
    name="LivelogParameter",
    meaning="Something a call may fill in.",
    model=model.LivelogParameter,
    fields=(
        text("name", "Its name in a call and in `${name}`.", required=True, pattern=VARIABLE, max_size=64),
        text("description", "What it is, as the model reads it.", required=True),
        switch("required", "A call must give it."),
    ),
)

SHAPES = {
    shape.name: shape
    for shape in (
        TOOL,
        SUBCOMMAND,
        OPTION,
        ITEMS,
        HINTS,
        AVAILABILITY_CHECK,
        SEQUENCE_STEP,
        OUTPUT,
        ANNOTATIONS,
        LIVELOG,
        LLM_PROVIDER,
        LIVELOG_PARAMETER,
    )
}


def build(shape: ObjectSpec, value: Mapping[str, Any], **more: Any) -> Any:
    """The part of the model that a structurally sound object stands for. null is the same as not given."""
    parts: dict[str, Any] = {}
    for field in shape.fields:
        if field.target and value.get(field.name) is not None:
            parts.setdefault(field.target, _built(field, value[field.name]))
    return shape.model(**parts, **more)


def _built(field: FieldSpec, value: Any) -> Any:
    if field.shape is not None:
        return build(SHAPES[field.shape], value)
    if field.items is not None and isinstance(value, list):
        return tuple(_built(field.items, item) for item in value)
    return int(value) if field.types == ("integer",) else value
