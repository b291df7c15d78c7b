"""Asking in the client's own form, on every version of the protocol.

Handshake clients are sent `elicitation/create`; from 2026-07-28 on the call returns "input required" and comes
again with the reply. What a form holds is for `forms.py` to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.errors import FormUnavailable, ProtocolError
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.forms import Form
from sayso.protocol.messages import INVALID_PARAMS, Json
from sayso.protocol.methods import faults_of_reply
from sayso.protocol.results import InputRequired
from sayso.records import replace

METHOD = "elicitation/create"
KEY = "form"


@dataclass(frozen=True, kw_only=True)
class FormReply:
    """What came back: what a person did with the form, and what they filled in."""

    action: str
    content: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Round:
    """What we hand the client to bring back with its next call, on 2026-07-28. Sealed on the wire."""

    ask: str
    at: int
    count: int = 1
    until: int | None = None
    """When the call's own time limit ends: a new round does not start it anew."""
    keys: str = ""
    """How the fields of its form are named; empty where it was sent without one."""

    def sealed_later(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def of(cls, ctx: CallContext) -> Round | None:
        """What the call brings back; None where it brings nothing, or what another version of Sayso wrote."""
        try:
            return cls(**json.loads(ctx.state)) if ctx.state else None
        except (TypeError, ValueError):
            return None


async def show(ctx: CallContext, form: Form) -> FormReply:
    """Put a form before a handshake client's user and wait without limit. Cancelling withdraws it."""
    try:
        reply = await ctx.ask(METHOD, _params(form))
    except ProtocolError as error:
        raise FormUnavailable(f"The client could not show the form: {error}.") from error
    if faults_of_reply(reply):
        raise FormUnavailable("The client's reply to the form was malformed. Nothing was taken from it.")
    return _read(reply)


def _params(form: Form) -> Json:
    return {"mode": "form", "message": form.message, "requestedSchema": form.schema}


def brought_back(ctx: CallContext) -> FormReply | None:
    """The form's reply that a modern client brings with its next call. ProtocolError where it is malformed."""
    replies = ctx.params.get("inputResponses") or {}
    if KEY not in replies:
        return None
    reply = replies[KEY]
    if wrong := faults_of_reply(reply) if isinstance(reply, dict) else "it must be an object":
        raise ProtocolError(INVALID_PARAMS, f"Invalid request parameters: inputResponses.{KEY}: {wrong}.")
    return _read(reply)


def _read(reply: Mapping[str, Any]) -> FormReply:
    return FormReply(action=reply["action"], content=reply.get("content") or {})


def input_required(state: str, form: Form | None = None) -> InputRequired:
    """Have a modern client call again: with the form's reply, or only with a fresh clock."""
    return InputRequired(state, {KEY: {"method": METHOD, "params": _params(form)}} if form else None)


def too_fast(reply: FormReply, after_ms: int) -> str:
    """Why a reply does not count as a person's."""
    done = {"accept": "accepted", "decline": "declined"}.get(reply.action, "cancelled")
    return f"The client {done} the form by itself after {after_ms} ms, before a person could have read it."


def once_more(form: Form) -> Form:
    """The form after it was accepted too fast: a person sends it again, a program is too fast again."""
    return replace(form, message=f"That was faster than anyone can read. Was it you? Send it again.\n\n{form.message}")
