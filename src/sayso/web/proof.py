"""The answer to whoever wants to know whether this is an inbox of their own store. It tells nothing to anybody else."""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sayso.web.site import site_of
from sayso.web_addresses import plain_address

_CHALLENGE = re.compile("[0-9a-f]{64}")


async def show(request: Request) -> Response:
    """By the address at which this came in, so that nobody elsewhere can pass it off as their own."""
    challenge, came_to = request.query_params.get("challenge", ""), request.scope.get("server")
    if not _CHALLENGE.fullmatch(challenge) or not came_to or came_to[1] is None:
        raise HTTPException(400, "This takes a challenge of 64 hexadecimal digits.")
    site = site_of(request)
    return PlainTextResponse(await site.do(site.accounts.proof, challenge, plain_address(came_to[0]), came_to[1]))
