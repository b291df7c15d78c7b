"""The guard before every route: which names the server answers to, whose pages may call it, what browsers are told.

A page of another site cannot reach it under a name of its own (DNS rebinding), nor send anything to it. Nor does
another server of this machine get our cookies: browsers send them to every port of a host, so people are let in under a
host name that each has for themselves, or below a path that is theirs (`private_path.py`).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.config import Config
from sayso.private_addresses import PrivateAddresses
from sayso.text import quoted
from sayso.web.refusal import refusal

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK_NAME = "localhost"
NAMED = ("127.0.0.1", "::1")
"""Where names below `localhost` lead."""

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'self'",
        "frame-ancestors 'none'",
    ]
)

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Not `no-referrer`: with that, browsers hide the origin of our own forms as well.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""What every response says, unless it says something of its own."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """The names that this server answers to."""

    known: frozenset[str]
    any_address: bool
    private: PrivateAddresses
    """What people on this machine call it by, and no other server here is called."""
    public: SplitResult | None = None
    """The address a proxy serves it at."""

    def named(self, host_header: str) -> bool:
        """Whether a Host header names us. A rebound name is never a bare address."""
        called = _called(host_header)
        host = called.hostname if called else None
        if host is None:
            return False
        if host in self.known or is_loopback(host) or (self.any_address and _is_address(host)):
            return True
        return self.is_private(host) or self.private.was_host(host)

    def is_private(self, host: str | None) -> bool:
        return host is not None and self.private.is_host(host)

    def keeps_cookies(self, host_header: str) -> bool:
        """Whether nobody but us gets the cookies of this name: it is ours alone, or they travel by TLS only."""
        called = _called(host_header)
        if called is None:
            return False
        if self.public and self.public.scheme == "https":
            return not is_loopback(called.hostname) or called.hostname == self.public.hostname
        return self.is_private(called.hostname)

    def same_origin(self, origin: str, host_header: str) -> bool:
        """Whether a page at `origin` is one that we served, under the name it calls us by."""
        page = _split(origin)
        called = _called(host_header)
        if page is None or called is None or origin.lower() != f"{page.scheme}://{page.netloc}".lower():
            return False
        if page.scheme not in _DEFAULT_PORTS or page.username is not None:
            return False
        if self.public and page.hostname == self.public.hostname:
            return _origin(page) == _origin(self.public)
        port = _DEFAULT_PORTS[page.scheme] if called.port is None else called.port
        if (page.port or _DEFAULT_PORTS[page.scheme]) != port or page.hostname != called.hostname:
            return False
        # On this machine we serve without TLS; elsewhere a proxy with TLS may stand before us.
        return page.scheme == "http" or not (is_loopback(page.hostname) or self.is_private(page.hostname))


def names(config: Config, private: PrivateAddresses) -> Names:
    """The names that the settings allow: loopback always; where others may come in, addresses and our own name too."""
    public = urlsplit(config.web_url) if config.web_url and not is_plain_loopback(config.web_url) else None
    known = {name.lower() for name in config.web_hosts}
    if public and public.hostname:
        known.add(public.hostname)
    open_to_others = not is_loopback(config.web_host)
    if open_to_others:
        own = socket.gethostname().lower()
        known |= {own, f"{own}.local", config.web_host.lower()}
    return Names(known=frozenset(known), any_address=open_to_others, private=private, public=public)


def people_at(address: str, private: str) -> str:
    """Where people go for what programs find at `address`: without TLS, this machine has a private name for them. It
    leads to the usual addresses of the machine, and where we listen at another one somebody else may be there."""
    parts = urlsplit(address)
    if not is_plain_loopback(address) or parts.hostname not in (_LOOPBACK_NAME, *NAMED):
        return address
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{private}{port}").geturl()


def is_plain_loopback(address: str) -> bool:
    """Whether it leads to the machine that it is opened on, without TLS."""
    parts = urlsplit(address)
    return parts.scheme == "http" and is_loopback(parts.hostname)


def is_loopback(host: str | None) -> bool:
    if host is None or host.lower() == _LOOPBACK_NAME:
        return host is not None
    address = _address(host)
    return address is not None and address.is_loopback


class HostGuard:
    """Stands before the application: refuses foreign names and pages, and sets the headers of every response. What lies
    at one of the `direct` paths is called right from here: agents call often and wait long, and need none of what pages
    do."""

    def __init__(self, app: ASGIApp, *, names: Names, direct: Mapping[str, ASGIApp]) -> None:
        self._app, self._names, self._direct = app, names, direct
        self._named = lru_cache(maxsize=64)(names.named)
        headers = dict(HEADERS)
        if names.public and names.public.scheme == "https":
            headers["Strict-Transport-Security"] = "max-age=31536000"
        self._headers = {name.lower().encode(): value.encode() for name, value in headers.items()}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(message, self._headers)
            await send(message)

        answer = self._refusal(scope) or self._direct.get(scope["path"], self._app)
        return answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        called = headers.get("host", "")
        if not self._named(called):
            return refusal(
                scope,
                421,
                f"This server does not answer to the name {quoted(called)}. If that name is yours, "
                "add it to the setting web_hosts, or set web_url.",
            )
        origins = headers.getlist("origin")
        if len(origins) > 1 or not all(self._names.same_origin(origin, called) for origin in origins):
            return refusal(scope, 403, f"Pages of {quoted(', '.join(origins))} may not call this server.")
        return None


def _add(message: Message, defaults: Mapping[bytes, bytes]) -> None:
    own = list(message.get("headers", ()))
    said = {name.lower() for name, _ in own}
    message["headers"] = own + [header for header in defaults.items() if header[0] not in said]


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # Both are read here because each refuses what cannot be a host or a port.
        return parts if parts.hostname is not None and parts.port != 0 else None
    except ValueError:
        return None


def _called(host_header: str) -> SplitResult | None:
    """What a Host header says: a name and perhaps a port, and nothing else."""
    parts = _split(f"//{host_header}")
    return parts if parts and parts.netloc == host_header and parts.username is None else None


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]


def _is_address(host: str) -> bool:
    return _address(host) is not None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
