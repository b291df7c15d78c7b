"""The door for agents that come over HTTP: which token a request shows, and what is said to those without one."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from sayso.accounts import AgentToken
from sayso.bridge import Threads
from sayso.connections import is_of_connection
from sayso.desks import Desks
from sayso.mcp_server.exchange import refusal
from sayso.oauth.addresses import address_of

REVOKED = "This token was revoked."
_CHALLENGE = 'Bearer realm="sayso"'
_HOW = "Send `Authorization: Bearer TOKEN` with a token that `sayso token add NAME` made."


class TokenGuard:
    """Looks at tokens. Each request is looked up anew, so that a revoked token is out at once."""

    def __init__(self, desks: Desks) -> None:
        self._desks, self._web_url = desks, desks.config.web_url
        self._accounts, self._connections = desks.accounts, desks.connections
        self.do = Threads(desks.threads).do
        """Runs plain code of the accounts or the desk."""
        self._looks = Threads(desks.threads, "sayso-look")
        self._opened = ExitStack()

    def close(self) -> None:
        self._looks.close()
        self._opened.close()

    async def token(self, scope: Scope) -> AgentToken | None:
        """Whose request this is: by a token that was made for an agent, or by one that it got when somebody let it in,
        which counts at /mcp alone and under the name that it was made for."""
        secret = _secret(scope)
        if is_of_connection(secret):
            address = address_of(scope, self._web_url)
            return await self._looks.look(self._connections.agent, secret, address.resource) if address else None
        return await self.made_token(scope)

    async def made_token(self, scope: Scope) -> AgentToken | None:
        """The same for tokens of `sayso token add` alone."""
        secret = _secret(scope)
        if not secret:
            return None
        if self._desks.near:
            return self._aside.accounts.token(secret)
        return await self._looks.look(self._accounts.token, secret)

    @cached_property
    def _aside(self) -> Desks:
        """Of the event loop alone, which waits for nobody in it."""
        return self._opened.enter_context(self._desks.aside())

    async def valid(self) -> set[str]:
        """The names of the agents that are let in."""
        made, connected = await self.do(self._accounts.valid_tokens), await self.do(self._connections.all)
        return made | {one.agent for one in connected}

    def refuse(self, scope: Scope) -> Response:
        """What somebody hears at /mcp who has no token, or shows one that is not known or was revoked."""
        address = address_of(scope, self._web_url)
        if address is None:
            return self.refuse_made(scope)
        where = f'{_CHALLENGE}, resource_metadata="{address.resource_metadata}"'
        return _refused(scope, where, f"Sign in with your client, or s{_HOW[1:]}")

    def refuse_made(self, scope: Scope) -> Response:
        """The same where nobody can sign in."""
        return _refused(scope, _CHALLENGE, _HOW)

    def revoked(self) -> Response:
        """What is said to somebody in the middle of a call."""
        challenge = f'{_CHALLENGE}, error="invalid_token"'
        return refusal(401, f"{REVOKED} {_HOW}", {"WWW-Authenticate": challenge})


def _refused(scope: Scope, challenge: str, how: str) -> Response:
    if _secret(scope):
        told = f"This token is not known, has run out or was revoked. {how}"
        return refusal(401, told, {"WWW-Authenticate": f'{challenge}, error="invalid_token"'})
    # Without `error`: nothing was wrong with a token that was not shown (RFC 6750, 3.1).
    return refusal(401, f"A token is needed. {how}", {"WWW-Authenticate": challenge})


def _secret(scope: Scope) -> str:
    scheme, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
