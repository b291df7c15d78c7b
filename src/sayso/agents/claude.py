"""Claude Code without a terminal, by its control protocol: `claude -p --input-format stream-json`.

One process for a whole conversation. It takes messages while it works, and says which it has taken up.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayso.agents.agent import (
    ParsedLine,
    PersonLine,
    commands_event,
    items,
    mapping,
    number,
    offers_event,
    shortened,
    text_event,
    trimmed,
    words,
)
from sayso.agents.model import Ending, EventKind, NewEvent, Picture, Run, Saying, Spoken
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.pictures import from_base64, media_type

MOST_PICTURES = 8
"""Of one use of a tool."""
_REQUESTS = {
    Saying.INTERRUPT: ("interrupt", ""),
    Saying.MODE: ("set_permission_mode", "mode"),
    Saying.MODEL: ("set_model", "model"),
}
"""What its requests are called, and the field for what is asked for."""

_GREETING = "greeting"
"""What the request is called by which it is asked for its commands."""
_IN_CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_ASKS = "default"
"""The permission mode in which it asks for each edit and command."""


class Claude:
    """Knows how to start Claude Code, to speak to it, and what its lines mean."""

    label = "Claude"
    install = "Install it with `npm install -g @anthropic-ai/claude-code`, or set claude_command to where it is."
    reads = Used.CLAUDE
    keeps_out = True
    steers = True

    def argv(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile] = ()
    ) -> list[str]:
        options = run.options
        argv = [*config.claude_command, "-p", "--input-format", "stream-json", "--output-format", "stream-json"]
        argv += ["--verbose", "--include-partial-messages", "--replay-user-messages"]
        # As tried with 2.1.325: this leaves out settings, hooks, MCP servers, skills, agents, commands and CLAUDE.md
        # of the project and of the folders above it, and nothing of the person's own.
        argv += ["--setting-sources", "user"] if kept_out else []
        if line:
            # To ask the person needs no permission of theirs.
            argv += ["--mcp-config", str(line.config_file), "--allowedTools", line.ask_tool]
            argv += ["--permission-prompt-tool", line.approve_tool] if line.approve_tool else []
        if options.model:
            argv += ["--model", options.model]
        # Without it the mode of the person's terminals would hold (`defaultMode`), and those may ask for nothing.
        argv += ["--permission-mode", options.permission_mode or _ASKS]
        if run.to_copy:
            argv += ["--resume", run.to_copy, "--fork-session"]
            argv += ["--resume-session-at", run.choices.copied_to] if run.choices.copied_to else []
        elif run.session:
            argv += ["--resume", run.session]
        return argv

    def greeting(self) -> bytes:
        return _line(_request(_GREETING, {"subtype": "initialize"}))

    def spoken(self, name: str, said: Spoken) -> bytes:
        if said.what is Saying.MESSAGE:
            message = {"role": "user", "content": _content_of(said)}
            return _line(
                {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", "uuid": name}
            )
        subtype, field = _REQUESTS[said.what]
        return _line(_request(name, {"subtype": subtype, **({field: said.text} if field else {})}))

    def hear(self, said: Mapping[str, Any]) -> ParsedLine:
        match said.get("type"):
            case "system" if said.get("subtype") == "init":
                return _begun(said)
            case "system" if said.get("subtype") == "status":
                return ParsedLine(mode=words(said.get("permissionMode")))
            case "stream_event":
                return ParsedLine(events=_delta(mapping(said.get("event")), said))
            case "assistant":
                return ParsedLine(events=(*_said(said), *_used(said)))
            case "user" if said.get("isReplay") is True:
                return ParsedLine(taken=(words(said.get("uuid")),))
            case "user":
                return ParsedLine(events=tuple(_received(said)))
            case "control_response" if mapping(said.get("response")).get("request_id") == _GREETING:
                told = mapping(mapping(said.get("response")).get("response"))
                models = [model.get("value") for model in items(told.get("models"))]
                return ParsedLine(events=(*commands_event(told.get("commands")), *offers_event(models=models)))
            case "control_response":
                return _replied(mapping(said.get("response")))
            case "result":
                return _result(said)
        return ParsedLine()


def _content_of(said: Spoken) -> str | list[dict[str, Any]]:
    text = said.text.encode(errors="replace").decode()
    if not said.pictures:
        return text
    data = ((picture.media, base64.b64encode(picture.data).decode()) for picture in said.pictures)
    sources = [{"type": "base64", "media_type": media, "data": each} for media, each in data]
    return [*({"type": "image", "source": source} for source in sources), {"type": "text", "text": text}]


def _picture(part: Mapping[str, Any]) -> Picture | None:
    data = from_base64(mapping(part.get("source")).get("data")) if part.get("type") == "image" else None
    return Picture(media=media_type(data), data=data) if data else None


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _request(name: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "control_request", "request_id": name, "request": request}


def _replied(response: Mapping[str, Any]) -> ParsedLine:
    failed = response.get("subtype") == "error"
    why = words(response.get("error")) or "It does not say why."
    return ParsedLine(done=words(response.get("request_id")), refused=shortened(why, 2_000) if failed else "")


def _begun(said: Mapping[str, Any]) -> ParsedLine:
    session = words(said.get("session_id"))
    begun = NewEvent(kind=EventKind.STARTED, body={"model": words(said.get("model"))[:200], "session": session})
    broken = [
        words(server.get("name")) for server in items(said.get("mcp_servers")) if server.get("status") == "failed"
    ]
    told = text_event(
        EventKind.NOTICE, f"MCP servers that could not be started: {', '.join(broken)}." if broken else ""
    )
    return ParsedLine(events=(begun, *told), session=session)


def _delta(event: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[NewEvent, ...]:
    delta = mapping(event.get("delta"))
    # Agents that this one has started speak in between; their words come whole.
    if event.get("type") != "content_block_delta" or delta.get("type") != "text_delta" or _parent(said):
        return ()
    text = words(delta.get("text"))
    return (NewEvent(kind=EventKind.DELTA, body={"text": text}),) if text else ()


def _said(said: Mapping[str, Any]) -> Iterator[NewEvent]:
    parent = _parent(said)
    for block in items(mapping(said.get("message")).get("content")):
        match block.get("type"):
            case "text":
                yield from text_event(EventKind.TEXT, block.get("text"), **parent)
            case "thinking":
                yield from text_event(EventKind.THINKING, block.get("thinking"), **parent)
            case "tool_use":
                body = {"id": words(block.get("id")), "name": words(block.get("name")), **parent}
                yield NewEvent(kind=EventKind.TOOL, body={**body, "input": trimmed(mapping(block.get("input")))})


def _used(said: Mapping[str, Any]) -> Iterator[NewEvent]:
    """How much of its context a message takes up, with all that came before it."""
    usage = mapping(mapping(said.get("message")).get("usage"))
    used = sum(int(number(usage.get(name)) or 0) for name in _IN_CONTEXT)
    # Agents that this one has started have a context of their own.
    if used and not _parent(said):
        yield NewEvent(kind=EventKind.USAGE, body={"used": used})


def _window(said: Mapping[str, Any]) -> Iterator[NewEvent]:
    """The largest context of the models of a turn: small ones only help."""
    models = mapping(said.get("modelUsage")).values()
    window = max((int(number(mapping(model).get("contextWindow")) or 0) for model in models), default=0)
    if window:
        yield NewEvent(kind=EventKind.USAGE, body={"window": window})


def _received(said: Mapping[str, Any]) -> Iterator[NewEvent]:
    for block in items(mapping(said.get("message")).get("content")):
        if block.get("type") == "tool_result":
            body = {"id": words(block.get("tool_use_id")), "error": block.get("is_error") is True, **_parent(said)}
            text, pictures = _content(block.get("content"))
            body["text"] = shortened(text)
            yield NewEvent(kind=EventKind.TOOL_RESULT, body=body, pictures=pictures[:MOST_PICTURES])


def _content(content: object) -> tuple[str, tuple[Picture, ...]]:
    """What a tool gave: its words, and its pictures."""
    if isinstance(content, str):
        return content, ()
    parts = [(part, _picture(part)) for part in items(content)]
    told = [words(part.get("text")) or f"({words(part.get('type'))})" for part, picture in parts if not picture]
    return "\n".join(told), tuple(picture for _, picture in parts if picture)


def _result(said: Mapping[str, Any]) -> ParsedLine:
    failed = said.get("is_error") is True
    told = (
        words(said.get("result"))
        or _errors(said.get("errors"))
        or words(said.get("subtype")).replace("_", " ")
        or "The turn failed."
    )
    ending = Ending(
        message=shortened(told or "The turn failed.", 2_000) if failed else "",
        cost_usd=number(said.get("total_cost_usd")),
        turns=int(number(said.get("num_turns")) or 0) or None,
    )
    body = {"cost_usd": ending.cost_usd, "turns": ending.turns, "error": failed, "text": ending.message}
    done = NewEvent(kind=EventKind.RESULT, body={**body, "duration_ms": number(said.get("duration_ms"))})
    about = said.get("user_message_uuids")
    taken = tuple(words(name) for name in about) if isinstance(about, list) else ()
    return ParsedLine(events=(*_window(said), done), session=words(said.get("session_id")), ending=ending, taken=taken)


def _errors(errors: object) -> str:
    return " ".join(words(error) for error in errors).strip() if isinstance(errors, list) else ""


def _parent(said: Mapping[str, Any]) -> dict[str, str]:
    parent = words(said.get("parent_tool_use_id"))
    return {"parent": parent} if parent else {}
