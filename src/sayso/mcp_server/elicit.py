"""Asking in the client's own form, on every version of the protocol.

Handshake clients are sent `elicitation/create`; from 2026-07-28 on the call returns "input required" and comes
again with the reply. What a form may hold depends on the version: 2025-06-18 knows no multi-select.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from sayso.asks.model import Answer, Ask, Kind, Option, Question
from sayso.errors import FormUnavailable
from sayso.mcp_server.caller import Context

MODERN = "2026-07-28"
RICH_FORMS = "2025-11-25"
"""The first version whose forms know titled choices and several choices."""

KEY = "form"
OTHER = "other"
_OTHER = Option(id=OTHER, label="Other: in my own words")


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the client is to show."""

    message: str
    schema: Mapping[str, Any]

    def request(self) -> types.ElicitRequest:
        params = types.ElicitRequestFormParams(message=self.message, requested_schema=dict(self.schema))
        return types.ElicitRequest(params=params)


@dataclass(frozen=True, kw_only=True)
class Round:
    """What we hand the client to bring back with its next call, on 2026-07-28. Sealed on the wire."""

    ask: str
    at: int
    count: int = 1
    until: int | None = None
    """When the call's own time limit ends: a new round does not start it anew."""

    def sealed_later(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, params: types.CallToolRequestParams) -> Round | None:
        """What the call brings back; None where it brings nothing, or what another version of Sayso wrote."""
        try:
            return cls(**json.loads(params.request_state)) if params.request_state else None
        except (TypeError, ValueError):
            return None


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version >= MODERN


def can_show_forms(ctx: Context) -> bool:
    """Whether the client declared forms; an empty declaration means forms only."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def show(ctx: Context, form: Form) -> types.ElicitResult:
    """Put a form before a handshake client's user and wait without limit. Cancelling withdraws it."""
    try:
        return await ctx.session.send_request(
            form.request(),
            types.ElicitResult,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except ValidationError as error:
        raise FormUnavailable("The client's reply to the form was malformed. Nothing was taken from it.") from error
    except MCPError as error:
        raise FormUnavailable(f"The client could not show the form: {error.error.message}.") from error


def brought_back(params: types.CallToolRequestParams) -> types.ElicitResult | None:
    """The form's reply that a modern client brings with its next call."""
    reply = (params.input_responses or {}).get(KEY)
    return reply if isinstance(reply, types.ElicitResult) else None


def input_required(state: str, form: Form | None = None) -> types.InputRequiredResult:
    """Have a modern client call again: with the form's reply, or only with a fresh clock."""
    requests: Any = {KEY: form.request()} if form else None
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def too_fast(reply: types.ElicitResult, after_ms: int) -> str:
    """Why a refusal does not count as a person's."""
    done = "declined" if reply.action == "decline" else "cancelled"
    return f"The client {done} the form by itself after {after_ms} ms, before a person could have read it."


def form_for(ask: Ask, version: str) -> Form | None:
    """The ask as a form, or None where a form could be accepted without anything filled in."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for question in ask.questions:
        fields = _fields(question, version)
        if properties.keys() & fields.keys():
            return None  # an agent's ids that look like our names for further fields
        properties |= fields
        if question.required:
            required.append(question.id)
    if not required:
        return None
    return Form(message=message_of(ask), schema={"type": "object", "properties": properties, "required": required})


def message_of(ask: Ask) -> str:
    if len(ask.questions) == 1:
        return "\n\n".join(part for part in (ask.title, _with_options(ask.questions[0])) if part)
    return ask.title or f"{len(ask.questions)} questions from {ask.asker.client or 'the agent'}"


def _with_options(question: Question) -> str:
    """The question with what its options mean, which a form has no other place for."""
    about = [f"- {option.label}: {option.description}" for option in question.options if option.description]
    return "\n".join([question.text, *about])


def _fields(question: Question, version: str) -> dict[str, Any]:
    about: dict[str, Any] = {"title": question.title or question.text[:80], "description": _with_options(question)}
    own = {"type": "string", "title": _OTHER.label, "description": "Only if none of the choices fits."}
    match question.kind:
        case Kind.TEXT:
            return {question.id: {"type": "string", **about}}
        case Kind.CONFIRM:
            return {question.id: {"type": "string", **_choices(question.choices, version), **about}}
        case Kind.SELECT:
            choices = _choices(_offered(question), version)
            return {question.id: {"type": "string", **choices, **about}, f"{question.id}.{OTHER}": own}
        case Kind.MULTI_SELECT if version >= RICH_FORMS:
            items = {"anyOf": _titled(question.options)}
            return {question.id: {"type": "array", "items": items, **about}, f"{question.id}.{OTHER}": own}
        case Kind.MULTI_SELECT:
            ticks = {
                f"{question.id}.{option.id}": {"type": "boolean", "title": _shown(value, option), "default": False}
                for value, option in _by_value(question.options).items()
            }
            return {
                **ticks,
                question.id: {"type": "string", **about, **_choices(_TICKED, version)},
                f"{question.id}.{OTHER}": own,
            }
    raise AssertionError(question.kind)


_TICKED = (Option(id="ticked", label="Take what I ticked"),)
"""Boxes can be left alone by mistake, so several choices on old forms end with one that must be made."""


def _choices(options: Sequence[Option], version: str) -> dict[str, Any]:
    if version >= RICH_FORMS:
        return {"oneOf": _titled(options)}
    named = _by_value(options)
    return {"enum": list(named), "enumNames": [_shown(value, option) for value, option in named.items()]}


def _titled(options: Sequence[Option]) -> list[dict[str, str]]:
    return [{"const": value, "title": _shown(value, option)} for value, option in _by_value(options).items()]


def _by_value(options: Sequence[Option]) -> dict[str, Option]:
    """The options by what a form sends back for each: its label, because some clients show just that.
    Equal labels are numbered."""
    named: dict[str, Option] = {}
    for option in options:
        value, number = option.label, 1
        while value in named:
            number += 1
            value = f"{option.label} ({number})"
        named[value] = option
    return named


def _shown(value: str, option: Option) -> str:
    marked = option.recommended and "recommended" not in option.label.lower()
    return f"{value} (recommended)" if marked else value


def answers_from(ask: Ask, content: Mapping[str, Any]) -> list[Answer]:
    """What a person filled in. Whether it fits is for the desk to say."""
    return [_answer(question, content) for question in ask.questions]


def _answer(question: Question, content: Mapping[str, Any]) -> Answer:
    value = content.get(question.id)
    own = content.get(f"{question.id}.{OTHER}")
    text = own if isinstance(own, str) and own.strip() else None
    match question.kind:
        case Kind.TEXT:
            return Answer(question=question.id, text=value if isinstance(value, str) and value else None)
        case Kind.MULTI_SELECT:
            ticked = tuple(o.id for o in question.options if content.get(f"{question.id}.{o.id}") is True)
            chosen = tuple(_option_id(question, item) for item in value) if isinstance(value, list) else ticked
            return Answer(question=question.id, chosen=chosen, text=text)
    chosen_id = OTHER if value in (None, "") else _option_id(question, value)
    if chosen_id == OTHER:
        return Answer(question=question.id, text=text)
    # A choice and own words together: the words are about the choice.
    return Answer(question=question.id, chosen=(chosen_id,), note=text or "")


def _offered(question: Question) -> tuple[Option, ...]:
    """What a form offers; where one is to be chosen, own words are one of the choices."""
    return (*question.options, _OTHER) if question.kind is Kind.SELECT else question.choices


def _option_id(question: Question, value: object) -> str:
    """The id of the option that a form sent back; what is none stays as it is, for the desk to refuse."""
    option = _by_value(_offered(question)).get(str(value))
    return option.id if option else str(value)
