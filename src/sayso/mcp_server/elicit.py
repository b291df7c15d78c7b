"""Asking in the client's own form, on every version of the protocol.

Handshake clients are sent `elicitation/create`; from 2026-07-28 on the call returns "input required" and comes
again with the reply. What a form holds is for `forms.py` to say.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from sayso.errors import FormUnavailable
from sayso.mcp_server.caller import Context
from sayso.mcp_server.forms import MODERN, Form

KEY = "form"


@dataclass(frozen=True, kw_only=True)
class Round:
    """What we hand the client to bring back with its next call, on 2026-07-28. Sealed on the wire."""

    ask: str
    at: int
    count: int = 1
    until: int | None = None
    """When the call's own time limit ends: a new round does not start it anew."""
    keys: str = ""
    """How the fields of its form are named."""

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
            _request(form),
            types.ElicitResult,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except ValidationError as error:
        raise FormUnavailable("The client's reply to the form was malformed. Nothing was taken from it.") from error
    except MCPError as error:
        raise FormUnavailable(f"The client could not show the form: {error.error.message}.") from error


def _request(form: Form) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=form.message, requested_schema=dict(form.schema))
    return types.ElicitRequest(params=params)


def brought_back(params: types.CallToolRequestParams) -> types.ElicitResult | None:
    """The form's reply that a modern client brings with its next call."""
    reply = (params.input_responses or {}).get(KEY)
    return reply if isinstance(reply, types.ElicitResult) else None


def input_required(state: str, form: Form | None = None) -> types.InputRequiredResult:
    """Have a modern client call again: with the form's reply, or only with a fresh clock."""
    requests: Any = {KEY: _request(form)} if form else None
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def too_fast(reply: types.ElicitResult, after_ms: int) -> str:
    """Why a refusal does not count as a person's."""
    done = "declined" if reply.action == "decline" else "cancelled"
    return f"The client {done} the form by itself after {after_ms} ms, before a person could have read it."
