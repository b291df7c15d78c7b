"""A server with the tools and resources that the official conformance suite expects of one, on our own protocol core.

The suite knows nothing of Sayso's tools. What it says of this server it says of the core and of the transport under it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sayso.errors import ProtocolError
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.transport import StdioTransport
from sayso.protocol.connection import Connection, Served
from sayso.protocol.messages import INVALID_PARAMS, MISSING_CAPABILITY
from sayso.protocol.seal import Seal

Result = Mapping[str, Any]
Tool = Callable[[CallContext], Awaitable[Result]]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
SEAL = Seal(lambda: b"not a secret", "reference")

IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def resource(uri: str, kind: str, said: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}}


def content(*parts: Mapping[str, Any]) -> Tool:
    async def tool(ctx: CallContext) -> Result:
        return {"content": list(parts)}

    return tool


def form(message: str, required: str = "", **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return {"message": message, "requestedSchema": schema}


STRING = {"type": "string"}
NAME = {"method": "elicitation/create", "params": form("What is your name?", "name", name=STRING)}
COLOUR = {"method": "elicitation/create", "params": form("What is your favorite color?", "color", color=STRING)}
GREETING = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": text("Generate a greeting")}], "maxTokens": 50},
}
ROOTS = {"method": "roots/list", "params": {}}


async def fail(ctx: CallContext) -> Result:
    return {"isError": True, "content": [text("This tool intentionally returns an error for testing")]}


async def progress(ctx: CallContext) -> Result:
    for at in (0, 50, 100):
        await ctx.progress(at, 100)
        await asyncio.sleep(0)
    return {"content": [text("Done")]}


async def log(ctx: CallContext) -> Result:
    for said in ("started", "at work", "done"):
        for send in ctx.connection.log("info", "reference", said):
            await ctx._line.say(send.message, ctx.request)
    return {"content": [text("Done")]}


def ask(params: Callable[[CallContext], Mapping[str, Any]]) -> Tool:
    async def tool(ctx: CallContext) -> Result:
        reply = await ctx.ask("elicitation/create", params(ctx))
        told = f"action={reply['action']}, content={json.dumps(reply.get('content'))}"
        return {"content": [text(f"Elicitation completed: {told}")]}

    return tool


DEFAULTS = form(
    "Please review",
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
_PLAIN = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{at}", "title": f"Choice {at}"} for at in (1, 2, 3)]
ENUMS = form(
    "Please choose",
    untitledSingle={"type": "string", "enum": _PLAIN},
    titledSingle={"type": "string", "oneOf": _TITLED},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _PLAIN}},
    titledMulti={"type": "array", "items": {"anyOf": _TITLED}},
)


def asked_message(ctx: CallContext) -> Mapping[str, Any]:
    return form(ctx.arguments["message"], "username email", username=STRING, email=STRING)


def rounds(*steps: Mapping[str, Any]) -> Tool:
    """A call of several rounds, each of which needs replies to all requests of a step."""

    async def tool(ctx: CallContext) -> Result:
        at = 0
        if sealed := ctx.params.get("requestState"):
            at = int(SEAL.open(sealed, ctx.params, ""))
        replies = ctx.params.get("inputResponses") or {}
        if all(isinstance(replies.get(key), dict) for key in steps[at]):
            at += 1
        if at == len(steps):
            return {"content": [text("state-ok")]}
        return {
            "resultType": "input_required",
            "inputRequests": steps[at],
            "requestState": SEAL.seal(str(at), ctx.params, ""),
        }

    return tool


async def what_the_client_can(ctx: CallContext) -> Result:
    able = ctx.client.capabilities
    asked = {**({"name": NAME} if "elicitation" in able else {}), **({"hello": GREETING} if "sampling" in able else {})}
    return {"resultType": "input_required", "inputRequests": asked}


async def sample(ctx: CallContext) -> Result:
    said = text(ctx.arguments["prompt"])
    reply = await ctx.ask("sampling/createMessage", {"messages": [{"role": "user", "content": said}], "maxTokens": 9})
    return {"content": [text(f"LLM response: {json.dumps(reply['content'])}")]}


async def reconnect(ctx: CallContext) -> Result:
    """Over HTTP, the stream ends before the answer, and the client comes back for that."""
    if ctx.exchange is not None and not ctx.state:
        ctx.note("told to come back")
        await asyncio.sleep(0.1)
        ctx.exchange.cut(None)
    return {"content": [text("You are back.")]}


async def needs_sampling(ctx: CallContext) -> Result:
    if "sampling" not in ctx.client.capabilities:
        needed: Result = {"requiredCapabilities": {"sampling": {}}}
        raise ProtocolError(MISSING_CAPABILITY, "This tool needs sampling.", needed)
    return {"content": [text("Done")]}


TOOLS: dict[str, Tool] = {
    "test_simple_text": content(text("This is a simple text response for testing.")),
    "test_image_content": content(IMAGE),
    "test_audio_content": content(AUDIO),
    "test_embedded_resource": content(resource("test://embedded-resource", "text/plain", "This is embedded.")),
    "test_multiple_content_types": content(
        text("Multiple content types test:"), IMAGE, resource("test://mixed", "application/json", '{"value":123}')
    ),
    "test_error_handling": fail,
    "test_tool_with_progress": progress,
    "test_tool_with_logging": log,
    "test_logging_tool": log,
    "test_sampling": sample,
    "test_elicitation": ask(asked_message),
    "test_elicitation_sep1034_defaults": ask(lambda _: DEFAULTS),
    "test_elicitation_sep1330_enums": ask(lambda _: ENUMS),
    "json_schema_2020_12_tool": content(text("ok")),
    "test_input_required_result_elicitation": rounds({"user_name": NAME}),
    "test_input_required_result_sampling": rounds({"capital_question": GREETING}),
    "test_input_required_result_list_roots": rounds({"client_roots": ROOTS}),
    "test_input_required_result_request_state": rounds({"confirm": NAME}),
    "test_input_required_result_multiple_inputs": rounds(
        {"user_name": NAME, "greeting": GREETING, "client_roots": ROOTS}
    ),
    "test_input_required_result_multi_round": rounds({"step1": NAME}, {"step2": COLOUR}),
    "test_input_required_result_tampered_state": rounds({"confirm": NAME}),
    "test_input_required_result_capabilities": what_the_client_can,
    "test_reconnection": reconnect,
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": rounds({"user_name": NAME}),
}

RESOURCES: dict[str, dict[str, str]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}


async def list_tools(ctx: CallContext) -> Result:
    def schema(name: str) -> Mapping[str, Any]:
        return SCHEMA_2020 if name == "json_schema_2020_12_tool" else {"type": "object"}

    return {"tools": [{"name": name, "description": name, "inputSchema": schema(name)} for name in TOOLS]}


async def call_tool(ctx: CallContext) -> Result:
    tool = TOOLS.get(ctx.params["name"])
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"There is no tool {ctx.params['name']!r}.")
    return await tool(ctx)


async def list_resources(ctx: CallContext) -> Result:
    return {"resources": [{"uri": uri, "name": uri, "mimeType": each["mimeType"]} for uri, each in RESOURCES.items()]}


async def list_templates(ctx: CallContext) -> Result:
    return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]}


async def read_resource(ctx: CallContext) -> Result:
    uri: str = ctx.params["uri"]
    if uri.startswith("test://template/"):
        told = {"mimeType": "application/json", "text": json.dumps({"id": uri.split("/")[3]})}
    elif uri in RESOURCES:
        told = RESOURCES[uri]
    else:
        raise ProtocolError(INVALID_PARAMS, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, **told}]}


async def nothing(ctx: CallContext) -> Result:
    return {}


HANDLERS: dict[str, Handler] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "resources/subscribe": nothing,
    "resources/unsubscribe": nothing,
}


def connect() -> Connection:
    served = Served(name="reference", version="1", methods=[*HANDLERS, "logging/setLevel", "subscriptions/listen"])
    return Connection(served)


def main() -> None:
    """One on stdio."""
    asyncio.run(StdioTransport(read_fd=os.dup(0), write_fd=os.dup(1)).serve(connect(), HANDLERS))


if __name__ == "__main__":
    main()
