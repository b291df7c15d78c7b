"""JSON Schemas: of the tool-file format, for editors and checks, and of each MCP tool's input. Both are generated."""

from __future__ import annotations

from typing import Any

from sayso.toolfiles.format import SHAPES, TOOL, FieldSpec, ObjectSpec
from sayso.toolfiles.leaves import Leaf
from sayso.toolfiles.model import SCHEMA_VERSION, OptionSpec

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Json = dict[str, Any]


def published_schema() -> Json:
    """The JSON Schema of tool files. Optional fields may be null, which is the same as leaving them out."""
    definitions = {name: _shape(shape) for name, shape in SHAPES.items() if shape is not TOOL}
    return {
        "$schema": DIALECT,
        "$id": f"urn:sayso:tool-file:{SCHEMA_VERSION}",
        "title": "Sayso tool file",
        **_shape(TOOL),
        "$defs": definitions,
    }


def input_schema(leaf: Leaf) -> Json:
    """The schema of a tool's arguments: one flat object, no alternatives at its top, nothing else allowed."""
    specs = leaf.arguments
    schema: Json = {
        "type": "object",
        "properties": {name: _property(spec) for name, spec in specs.items()},
        "additionalProperties": False,
    }
    required = [name for name, spec in specs.items() if spec.required]
    return {**schema, "required": required} if required else schema


def _shape(shape: ObjectSpec) -> Json:
    schema: Json = {
        "description": shape.meaning,
        "type": "object",
        "properties": {field.name: _field(field) for field in shape.fields},
        "additionalProperties": False,
    }
    required = [field.name for field in shape.fields if field.required]
    return {**schema, "required": required} if required else schema


def _field(field: FieldSpec) -> Json:
    content = _content(field)
    if not field.required:
        content = _or_null(content)
    return {"description": field.meaning, **content} if field.meaning else content


def _content(field: FieldSpec) -> Json:
    if field.shape is not None:
        return {"$ref": f"#/$defs/{field.shape}"}
    if field.enum:
        return {"enum": list(field.enum)}
    types = list(field.types)
    schema: Json = {"type": types[0] if len(types) == 1 else types}
    schema |= _known(pattern=field.pattern, minimum=field.minimum, maximum=field.maximum)
    sizes = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
    for name, (low, high) in sizes.items():
        if name in types:
            schema |= _known(**{low: field.min_size or None, high: field.max_size})
    if field.items is not None:
        schema["items" if "array" in types else "additionalProperties"] = _content(field.items)
    return schema | _known(propertyNames=field.keys and {"pattern": field.keys})


def _or_null(schema: Json) -> Json:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    if "enum" in schema:
        return {"enum": [*schema["enum"], None]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


def _property(spec: OptionSpec) -> Json:
    schema: Json = {"type": spec.type} | _known(description=_words(spec), default=spec.default)
    if spec.type != "array":
        return schema | _limits(spec)
    about = spec.items.description if spec.items else None
    schema["items"] = {"type": spec.item_type} | _known(description=about or None) | _limits(spec)
    least = spec.min_items or (1 if spec.required else None)
    return schema | _known(minItems=least, maxItems=spec.max_items)


def _words(spec: OptionSpec) -> str | None:
    """The description, with what a schema cannot say: that a path must stay in the project."""
    bound = "A path inside the project." if spec.is_path and "inside the project" not in spec.description else ""
    return " ".join(text for text in (spec.description, bound) if text) or None


def _limits(spec: OptionSpec) -> Json:
    return _known(enum=list(spec.enum) or None, pattern=spec.pattern, minimum=spec.minimum, maximum=spec.maximum)


def _known(**keywords: Any) -> Json:
    return {name: value for name, value in keywords.items() if value is not None}
