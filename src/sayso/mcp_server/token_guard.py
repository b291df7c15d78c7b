"""The door for agents that come over HTTP: which token a request shows, and what is said to those without one."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from sayso.accounts import AgentToken
from sayso.bridge import Threads
from sayso.desks import Desks
from sayso.mcp_server.exchange import refusal

_CHALLENGE = 'Bearer realm="sayso"'
_HOW = "Send `Authorization: Bearer TOKEN` with a token that `sayso token add NAME` made."


class TokenGuard:
    """Looks at tokens. Each request is looked up anew, so that a revoked token is out at once."""

    def __init__(self, desks: Desks) -> None:
        self._accounts = desks.accounts
        self.do = Threads(desks.threads).do
        """Runs plain code of the accounts or the desk."""
        self._looks = Threads(desks.threads, "sayso-look")
        self.close = self._looks.close

    async def token(self, scope: Scope) -> AgentToken | None:
        """Whose request this is."""
        secret = _secret(scope)
        return await self._looks.look(self._accounts.token, secret) if secret else None

    async def valid(self) -> set[str]:
        """The names of the tokens that let agents in."""
        return {token.name for token in await self.do(self._accounts.tokens) if token.revoked_at is None}

    def refuse(self, scope: Scope) -> Response:
        """What somebody hears who has no token, or shows one that is not known or was revoked."""
        if _secret(scope):
            return self.revoked()
        # Without `error`: nothing was wrong with a token that was not shown (RFC 6750, 3.1).
        return refusal(401, f"A token is needed. {_HOW}", {"WWW-Authenticate": _CHALLENGE})

    def revoked(self) -> Response:
        challenge = f'{_CHALLENGE}, error="invalid_token"'
        return refusal(401, f"This token is not known or was revoked. {_HOW}", {"WWW-Authenticate": challenge})


def _secret(scope: Scope) -> str:
    scheme, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
