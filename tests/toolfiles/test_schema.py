"""The two generated schemas: of the format, and of each tool's input. A real JSON Schema library is the referee."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.toolfiles.arguments import check_values
from sayso.toolfiles.guidance import BACKGROUND, description, start_hint
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import ToolFile
from sayso.toolfiles.schema import input_schema, published_schema
from sayso.toolfiles.structure import check_structure
from sayso.toolfiles.toolfile import load_dir, parse, ready_files

OPTION = {
    "name": "level",
    "type": "integer",
    "description": "How much.",
    "required": True,
    "alias": "-l",
    "enum": [1, 2],
    "default": 1,
    "minimum": 0,
    "maximum": 9.5,
    "style": "equals",
}
LIST = {
    "name": "paths",
    "type": "array",
    "format": "path",
    "items": {"type": "string", "format": "path", "description": "One."},
    "pattern": "^[a-z]",
    "minItems": 1,
    "maxItems": 3,
    "end_of_options": True,
}
CHECK = {
    "command": "x",
    "args": ["--version"],
    "working_directory": ".",
    "success_exit_codes": [0, 1],
    "skip_subcommand_args": True,
}
STEP = {
    "tool": "x",
    "subcommand": "build",
    "args": {"release": True, "n": [1]},
    "description": "Build.",
    "skip_if_file_exists": "a",
    "skip_if_file_missing": "b",
}
SETTINGS = {
    "timeout_seconds": 5,
    "synchronous": True,
    "force_synchronous": True,
    "guidance_key": "test",
    "install_instructions": "Install it.",
    "env": {"A": "1"},
    "cwd": "sub",
    "success_exit_codes": [0, 3],
    "output": {"max_bytes": 4096},
    "lock": "x",
    "annotations": {
        "title": "X",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
    "inline_ms": 100,
    "sandbox": "workspace",
    "sandbox_network": "loopback",
    "approve": "once",
    "enabled": True,
    "sequence": [STEP],
    "step_delay_ms": 5,
    "availability_check": CHECK,
}
LEAF = {
    "name": "build",
    "description": "Build.",
    "options": [OPTION, {"name": "body", "type": "string", "file_arg": True, "file_flag": "-F"}],
    "positional_args": [LIST],
    "positional_args_first": False,
    "end_of_options": True,
    "stdin": "yes\n",
    **SETTINGS,
}
FULL: dict[str, Any] = {
    "$schema": "tool-file.schema.json",
    "schema_version": 2,
    "name": "x",
    "description": "Everything.",
    "command": "x",
    "subcommand": [LEAF, {"name": "group", "description": "Group.", "subcommand": [LEAF]}],
    "input_schema": {"type": "object"},
    "hints": {"build": "a", "test": "b", "dependencies": "c", "clean": "d", "run": "e", "custom": {"x": "f"}},
    "monitor_level": "warn",
    "monitor_stream": "both",
    "tool_type": "livelog",
    "livelog": {
        "source_command": "tail",
        "source_args": ["-f", "${file}"],
        "detection_prompt": "Crashes.",
        "llm_provider": {"base_url": "http://localhost", "model": "m", "api_key": "${KEY}"},
        "parameters": [{"name": "file", "description": "The log.", "required": True}],
        "env": {"A": "${file}"},
        "clear_command": ["-c"],
        "prefilter_regex": "E",
        "chunk_max_lines": 5,
        "chunk_max_seconds": 5,
        "cooldown_seconds": 5,
        "llm_timeout_seconds": 5,
        "structured_output": True,
    },
    **SETTINGS,
}
VALIDATOR = jsonschema.Draft202012Validator(published_schema())


def accepts(document: object) -> bool:
    return bool(VALIDATOR.is_valid(document))


def test_the_published_schema_is_a_json_schema_of_this_draft() -> None:
    schema = published_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(schema)) == schema


def test_a_document_with_every_field_is_sound_to_both() -> None:
    used = {key for part in _objects(FULL) for key in part}
    known = {
        name for shape in (published_schema(), *published_schema()["$defs"].values()) for name in shape["properties"]
    }
    assert known <= used
    assert accepts(FULL)
    assert check_structure(FULL) == []


def test_every_ready_made_file_is_sound_to_both() -> None:
    for file in ready_files().values():
        document = json.loads(file.read_text(encoding="utf-8"))
        assert accepts(document), file
        assert check_structure(document) == [], file


def _objects(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.sampled_from([0.5, 1.0, 2.0, -1e9, 1e12, 604_800, 604_801]),
    st.sampled_from(["", "x", "a b", "-x", "--long", "array", "path", "équipe", "A_1", "1A", "x" * 65, "x" * 4001]),
    st.just([]),
    st.just({}),
    st.just([None]),
    st.just({"x": None}),
    st.just(["x", 1]),
    st.just({"type": "string"}),
    st.just({"name": "y", "description": "Y.", "type": "string"}),
)


@st.composite
def mutated(draw: st.DrawFn) -> object:
    """A full document with one to three things changed, removed, added or renamed."""
    document = json.loads(json.dumps(FULL))
    for _ in range(draw(st.integers(1, 3))):
        holders = [part for part in _holders(document) if part]
        holder = holders[draw(st.integers(0, len(holders) - 1))]
        key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        how = draw(st.sampled_from(["change", "change", "remove", "add", "rename"]))
        if how == "change" or isinstance(holder, list):
            holder[key] = copy.deepcopy(draw(ODD))
        elif how == "add":
            holder[draw(st.sampled_from(["enum", "options", "unheard_of", "default", "items", "type"]))] = (
                copy.deepcopy(draw(ODD))
            )
        else:
            value = holder.pop(key)
            if how == "rename":
                holder[f"{key}s"] = value
    return document


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _holders(item)


@settings(max_examples=250, deadline=None)
@given(mutated())
@pytest.mark.requirement("H-49")
def test_our_verdict_is_that_of_the_published_schema(document: object) -> None:
    findings = check_structure(document)
    assert accepts(document) == (not findings), [*findings, *VALIDATOR.iter_errors(document)]


@settings(max_examples=100, deadline=None)
@given(mutated())
def test_any_document_is_either_read_or_reported_with_places_that_are_there(document: object) -> None:
    text = json.dumps(document, indent=1)
    found = parse(text, Path("x.json"))
    if isinstance(found, ToolFile):
        for leaf in leaves(found):
            jsonschema.Draft202012Validator.check_schema(input_schema(leaf))
    else:
        assert found
        assert all(1 <= fault.line <= text.count("\n") + 1 for fault in found)
        assert all(fault.expected and fault.actual for fault in found)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text("{}[]\",:0123456789eE+-.\\ntrufalsn /#'", max_size=60)))
def test_any_text_is_json_to_us_exactly_when_it_is_json(text: str) -> None:
    try:
        json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        is_json = True
    except ValueError:
        is_json = False
    found = parse(text, Path("x.json"))
    assert not isinstance(found, ToolFile)
    assert is_json == (found[0].kind != "json")


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _finite(digits: str) -> float:
    if math.isinf(float(digits)):
        raise ValueError(digits)
    return float(digits)


# the input of a tool


def leaf_of(name: str, subcommand: dict[str, Any], **more: Any) -> Leaf:
    document = {"name": "t", "description": "T.", "command": "t", "subcommand": [subcommand], **more}
    found = parse(json.dumps(document), Path("t.json"))
    assert isinstance(found, ToolFile), [str(fault) for fault in found]
    return next(leaf for leaf in leaves(found) if leaf.name == name)


KITCHEN = leaf_of(
    "t_cook",
    {
        "name": "cook",
        "description": "Cook.",
        "options": [
            {"name": "hot", "type": "boolean", "description": "Heat it."},
            {"name": "dish", "type": "string", "required": True, "enum": ["soup", "stew"]},
            {"name": "spice", "type": "string", "pattern": "^[a-z]+$", "default": "salt"},
            {"name": "minutes", "type": "integer", "minimum": 1, "maximum": 90},
            {"name": "grams", "type": "number", "minimum": 0.5},
            {"name": "notes", "type": "object"},
        ],
        "positional_args": [
            {
                "name": "parts",
                "type": "array",
                "items": {"type": "string", "description": "One."},
                "minItems": 1,
                "maxItems": 3,
            },
            {"name": "sizes", "type": "array", "items": {"type": "integer"}, "maximum": 5, "required": True},
            {"name": "recipe", "type": "string", "format": "path", "description": "The recipe."},
        ],
    },
)


def test_the_input_schema_says_names_types_bounds_and_what_is_required() -> None:
    schema = input_schema(KITCHEN)
    properties = schema["properties"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["dish", "sizes"]
    assert properties["hot"] == {"type": "boolean", "description": "Heat it."}
    assert properties["dish"] == {"type": "string", "enum": ["soup", "stew"]}
    assert properties["spice"] == {"type": "string", "pattern": "^[a-z]+$", "default": "salt"}
    assert properties["minutes"] == {"type": "integer", "minimum": 1, "maximum": 90}
    assert properties["grams"] == {"type": "number", "minimum": 0.5}
    assert properties["notes"] == {"type": "object"}
    assert properties["parts"] == {
        "type": "array",
        "items": {"type": "string", "description": "One."},
        "minItems": 1,
        "maxItems": 3,
    }
    assert properties["sizes"] == {"type": "array", "items": {"type": "integer", "maximum": 5}, "minItems": 1}
    assert properties["recipe"] == {"type": "string", "description": "The recipe. A path inside the project."}
    assert {"working_directory", "timeout_seconds", "execution_mode"} <= set(properties)


def test_no_ready_made_tool_has_alternatives_at_the_top_of_its_input() -> None:
    for tool in load_dir([next(iter(ready_files().values())).parent]).tools:
        for leaf in leaves(tool):
            schema = input_schema(leaf)
            jsonschema.Draft202012Validator.check_schema(schema)
            assert not {"oneOf", "anyOf", "allOf", "not", "if"} & set(schema), leaf.name
            assert schema["additionalProperties"] is False


VALUES = st.one_of(
    ODD,
    st.sampled_from(["soup", "stew", "salt", "Salt", "synchronous", 45, 91, 0.5, 0.4]),
    st.lists(st.sampled_from(["a", "b", 1, 5, 6, 2.0, None]), max_size=4),
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*KITCHEN.arguments, "salt", "dishes"]), VALUES, max_size=5))
def test_a_call_passes_our_check_exactly_when_it_fits_the_input_schema(arguments: dict[str, object]) -> None:
    fits = jsonschema.Draft202012Validator(input_schema(KITCHEN)).is_valid(arguments)
    assert fits == (not list(check_values(KITCHEN, arguments)))


# what models are told


def test_every_background_tool_carries_the_same_calm_paragraph() -> None:
    leaf = leaf_of("t_build", {"name": "build", "description": "Build it."})
    assert description(leaf) == f"Build it.\n\n{BACKGROUND}"
    assert "Go on with work" in BACKGROUND
    assert "Do not poll" in BACKGROUND
    assert len(BACKGROUND) < 300
    assert not any(word.isupper() and len(word) > 1 for word in BACKGROUND.split())


def test_a_synchronous_tool_says_nothing_of_the_background() -> None:
    leaf = leaf_of("t_status", {"name": "status", "description": "Show the state.", "synchronous": True})
    assert description(leaf) == "Show the state."
    told = (description(leaf) + json.dumps(input_schema(leaf))).lower()
    for word in ("async", "background", "operation", "execution_mode", "poll"):
        assert word not in told


@pytest.mark.parametrize(
    ("hints", "subcommand", "expected"),
    [
        ({"build": "B.", "custom": {"build": "Own."}}, {"name": "build"}, "Own."),
        ({"build": "B.", "custom": {"default": "Any."}}, {"name": "build"}, "B."),
        ({"test": "T.", "custom": {"default": "Any."}}, {"name": "build"}, "Any."),
        ({"test": "T."}, {"name": "odd", "guidance_key": "test"}, "T."),
        ({"custom": {"mine": "Mine."}}, {"name": "odd", "guidance_key": "mine"}, "Mine."),
        ({}, {"name": "test"}, "Meanwhile, look for cases the tests do not cover"),
        ({}, {"name": "odd"}, "Meanwhile, go on with work that does not depend on it."),
    ],
)
def test_the_start_hint_is_the_nearest_one(hints: dict[str, Any], subcommand: dict[str, Any], expected: str) -> None:
    document = {
        "name": "t",
        "description": "T.",
        "command": "t",
        "hints": hints,
        "subcommand": [{"description": "D.", **subcommand}],
    }
    tool = parse(json.dumps(document), Path("t.json"))
    assert isinstance(tool, ToolFile)
    assert start_hint(tool, leaves(tool)[0]).startswith(expected)
