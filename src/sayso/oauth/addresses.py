"""Where agents find this server, in the words of one request: by that name tokens are made, and count.

Signing in is offered over TLS and on this machine alone: anywhere else a token could be read on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from sayso.oauth import can_sign_in

MCP = "/mcp"
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
SERVER_METADATA = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True)
class OAuthAddress:
    """One name of this server, such as `http://127.0.0.1:7297`."""

    issuer: str

    @property
    def resource(self) -> str:
        return self.issuer + MCP

    @property
    def resource_metadata(self) -> str:
        return self.issuer + RESOURCE_METADATA + MCP

    def is_resource(self, named: str) -> bool:
        """Whether a client means this server. Case matters in no name of a host."""
        parts = urlsplit(named)
        spelt = parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl()
        return spelt.removesuffix("/") == self.resource


def address_of(scope: Scope, web_url: str) -> OAuthAddress | None:
    """The name that a request uses, whose Host header was looked at; None where nobody can sign in by it."""
    called = Headers(scope=scope).get("host", "").lower()
    host, public = urlsplit(f"//{called}").hostname or "", urlsplit(web_url)
    if not can_sign_in() or not host:
        return None
    if public.scheme == "https" and host == public.hostname:
        return OAuthAddress(f"https://{public.netloc.lower()}")
    if is_of_this_machine(host):
        return OAuthAddress(f"http://{called}")
    return OAuthAddress(f"https://{called}") if scope.get("scheme") == "https" else None


def is_of_this_machine(host: str) -> bool:
    """Whether a name leads back to the machine where it is used."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
