"""One table row per operation of the API, and what is made of the table: the routes' checks and the document."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator
from starlette.exceptions import HTTPException
from starlette.requests import Request

from sayso import __version__, untrusted_json
from sayso.errors import Problems
from sayso.text import quoted
from sayso.web.fields import read_body
from sayso.web.sessions import Visitor

Schema = Mapping[str, Any]
JSON = "application/json"
_MOST_SHOWN_PROBLEMS = 20
_SCHEMAS = "#/components/schemas/"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class ApiCall:
    """One call of an operation, its input checked."""

    request: Request
    visitor: Visitor
    query: Mapping[str, Any]
    body: Any


@dataclass(frozen=True, kw_only=True)
class ApiOperation:
    """One row of the table. The query's and the body's schemas are both published and enforced."""

    method: str
    path: str
    summary: str
    work: Callable[[ApiCall], Awaitable[Any]]
    answer: str
    """The name of the schema of what it returns; empty: a file as it is."""
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: str = ""
    """The name of the schema of what it takes."""
    errors: Sequence[int] = ()
    takes_file: bool = False
    """Whether its body is a file as it is."""

    @cached_property
    def name(self) -> str:
        words = re.findall(r"[a-z]+", self.path.removeprefix("/api"))
        return "_".join([self.method.lower(), *words])


ERRORS = {
    400: "The body is not JSON.",
    401: "No session, or one that is not known any more.",
    403: "The page of another site called, or a browser's call lacks its CSRF token.",
    404: "There is no such ask or command, or it is somebody else's.",
    409: "Somebody else was first; the text says who, where and when.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    421: "The server does not answer to this host name.",
    422: "The input does not fit; every problem is named.",
    503: "The store cannot be reached.",
}
_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_ALWAYS = (401, 403, 421, 503)
_IDS = {"ask": "Id", "operation": "OperationId", "attachment": "Id"}
"""The schema of each name that stands in a path."""


class InputChecks:
    """What holds the input of one operation against its schemas. Made once: to follow a reference in them takes longer
    than all the rest of a call."""

    def __init__(self, operation: ApiOperation, schemas: Mapping[str, Schema]) -> None:
        self.operation = operation
        self._query = {name: Draft202012Validator(schema) for name, schema in operation.query.items()}
        taken = schemas[operation.body] if operation.body else {}
        self._body = Draft202012Validator(_without_references(taken, schemas))

    async def read_call(self, request: Request, visitor: Visitor) -> ApiCall:
        """The input of a call; a refusal that names everything that is wrong with it."""
        problems = Problems()
        query = self._read_query(request, problems)
        body = None
        if self.operation.body:
            body = await _read_json(request)
            _validate(problems, "body", body, self._body)
        problems.check()
        if self.operation.takes_file:
            body = await read_body(request)
        return ApiCall(request=request, visitor=visitor, query=query, body=body)

    def _read_query(self, request: Request, problems: Problems) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, schema in self.operation.query.items():
            given = request.query_params.getlist(name)
            if len(given) > 1:
                problems.add(name, "is given more than once.")
            elif given:
                values[name] = _typed(given[0], schema)
                _validate(problems, name, values[name], self._query[name])
        return values


def _without_references(schema: Any, schemas: Mapping[str, Schema]) -> Any:
    """The same with what it refers to in its place."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            return _without_references(schemas[schema["$ref"].removeprefix(_SCHEMAS)], schemas)
        return {name: _without_references(part, schemas) for name, part in schema.items()}
    return [_without_references(part, schemas) for part in schema] if isinstance(schema, list | tuple) else schema


def _typed(value: str, schema: Schema) -> object:
    return int(value) if schema["type"] == "integer" and _INTEGER.fullmatch(value) else value


async def _read_json(request: Request) -> object:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(415, f"Send the body as {JSON}.")
    try:
        return untrusted_json.loads(await read_body(request), parse_constant=_no_constant)
    except ValueError:
        raise HTTPException(400, "The body is not valid JSON.") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _validate(problems: Problems, where: str, value: object, check: Draft202012Validator) -> None:
    for error in list(check.iter_errors(value))[:_MOST_SHOWN_PROBLEMS]:
        path = where + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        problems.add(path, _in_words(error.validator, error.validator_value, error.instance, error.message))


def _in_words(rule: object, wanted: Any, given: object, otherwise: str) -> str:
    match rule:
        case "type":
            return f"must be of the type {wanted}, not {quoted(given)}."
        case "pattern":
            return f"must fit the pattern {wanted}, unlike {quoted(given)}."
        case "minimum" | "maximum":
            return f"must be at {'least' if rule == 'minimum' else 'most'} {wanted}, not {quoted(given)}."
        case "additionalProperties":
            return f"has fields that are not known here: {quoted(given)}."
    return f"{otherwise[:200]}."


# The document


def document(operations: Sequence[ApiOperation], schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """The OpenAPI description of the table."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sayso",
            "version": __version__,
            "description": "What agents ask and run, for scripts. `sayso web --api-token` prints a bearer token.",
        },
        "paths": paths,
        "security": [{"bearer": []}],
        **_components(schemas, securitySchemes={"bearer": {"type": "http", "scheme": "bearer"}}),
    }


def _described(operation: ApiOperation) -> dict[str, Any]:
    errors = [*_ALWAYS, *operation.errors, *([400, 413, 415, 422] if operation.body else [])]
    errors += [413, 422] if operation.takes_file else []
    errors += [422] if operation.query else []
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation), *_query_parameters(operation)],
        "responses": {
            "200": {"description": "Done.", "content": _content(operation.answer) if operation.answer else _FILE},
            **{str(code): {"description": ERRORS[code], "content": _content("Error")} for code in sorted(set(errors))},
        },
    }
    if operation.takes_file:
        described["requestBody"] = {"required": True, "content": _FILE}
    if operation.body:
        described["requestBody"] = {"required": True, "content": _content(operation.body)}
    return described


def _path_parameters(operation: ApiOperation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"$ref": f"{_SCHEMAS}{_IDS[name]}"}}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]


def _query_parameters(operation: ApiOperation) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "schema": schema} for name, schema in operation.query.items()]


def _content(schema: str) -> dict[str, Any]:
    return {JSON: {"schema": {"$ref": f"{_SCHEMAS}{schema}"}}}


def _components(schemas: Mapping[str, Schema], **more: Any) -> dict[str, Any]:
    return {"components": {"schemas": dict(schemas), **more}}
