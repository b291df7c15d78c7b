"""The programs that want to connect: what they say of themselves, and where they may be answered.

A client that registers carries its registration as its id, signed by us, so that nothing has to be kept of programs
that nobody has let in. None has a secret: each proves by PKCE that it is the one that asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sayso.errors import Problems
from sayso.oauth.places import is_of_this_machine
from sayso.protocol.seal import Signed
from sayso.text import quoted

SCOPE = "agent"
"""All there is to agree to: to ask, as an agent."""
MOST_REDIRECTS = 10
LONGEST_URI = 500
LONGEST_NAME = 100
UNNAMED = "A program without a name"
_NEVER = {
    *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "javascript", "jar", "mailto", "resource"),
    *("vbscript", "view-source", "ws", "wss"),
}
"""Schemes that lead to no program of the person's, or run what they hold."""


@dataclass(frozen=True, kw_only=True)
class OAuthClient:
    """A program, as it describes itself."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    vouched_by: str = ""
    """The host whose document describes it; empty for one that anybody may have written."""

    def may_return_to(self, uri: str) -> bool:
        """Whether this is one of its addresses, letter by letter; on a machine of the person's own, at any port."""
        return uri in self.redirect_uris or any(_without_port(uri) == _without_port(own) for own in self.redirect_uris)


def described(client_id: str, given: Mapping[str, Any], vouched_by: str = "") -> OAuthClient:
    """A client by its metadata (RFC 7591). InvalidInput names each field that does not fit."""
    problems = Problems()
    uris, name = given.get("redirect_uris"), given.get("client_name") or UNNAMED
    if not isinstance(uris, list) or not 1 <= len(uris) <= MOST_REDIRECTS:
        problems.add("redirect_uris", f"must be a list of 1 to {MOST_REDIRECTS} addresses")
    elif bad := [uri for uri in uris if not can_be_returned_to(uri)]:
        allowed = "https:, http: on this machine (127.0.0.1, [::1] or localhost), or the scheme of a program"
        problems.add("redirect_uris", f"{quoted(bad[0])} is none that is allowed. Use {allowed}, without a fragment")
    if not isinstance(name, str):
        problems.add("client_name", "must be a text")
    for named, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        listed = given.get(named, [needed])
        if not isinstance(listed, list) or needed not in listed:
            problems.add(named, f"must be a list that has {needed}")
    problems.check()
    # Half a surrogate pair is no character, and could not be kept.
    name = str(name).encode(errors="replace").decode()[:LONGEST_NAME]
    return OAuthClient(id=client_id, name=name, redirect_uris=tuple(uris or ()), vouched_by=vouched_by)


def can_be_returned_to(uri: object) -> bool:
    """Whether a browser may be sent there with a code."""
    if not isinstance(uri, str) or not 1 <= len(uri) <= LONGEST_URI:
        return False
    parts = _split(uri)
    # A backslash or a blank is not the same to all who read an address.
    plain = uri.isascii() and uri.isprintable() and not set(uri) & set(' \\"<>`{}|^')
    if not plain or parts is None or parts.fragment or "#" in uri or "@" in parts.netloc:
        return False
    match parts.scheme:
        case "https":
            return bool(parts.hostname)
        case "http":
            return _is_loopback(parts)
        case scheme:
            return bool(scheme) and scheme not in _NEVER and bool(parts.netloc or parts.path)


def returns_to(uri: str) -> str:
    """Who is answered, in words for the person who decides."""
    parts = urlsplit(uri)
    if parts.scheme == "https":
        return parts.netloc
    if parts.scheme == "http":
        return f"a program on the computer of your browser ({parts.netloc})"
    return f"the program on your device that opens {parts.scheme}: links"


def source_of(uri: str) -> str:
    """The address as a content policy names it."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


class Registrations:
    """Clients that have registered here."""

    def __init__(self, signed: Signed) -> None:
        self._signed = signed

    def register(self, given: Mapping[str, Any]) -> OAuthClient:
        client = described("", given)
        known = self._signed.write([client.name, client.redirect_uris])
        return OAuthClient(id=known, name=client.name, redirect_uris=client.redirect_uris)

    def client(self, client_id: str) -> OAuthClient | None:
        match self._signed.read(client_id):
            case [str(name), list(uris)]:
                return OAuthClient(id=client_id, name=name, redirect_uris=tuple(uris))
        return None


def _without_port(uri: str) -> object:
    """What two addresses of a program on one's own machine must have in common; each other is like itself alone."""
    parts = _split(uri)
    if parts is None or parts.scheme != "http" or not _is_loopback(parts):
        return uri
    return (parts.hostname, parts.path, parts.query)


def _is_loopback(parts: SplitResult) -> bool:
    return parts.hostname in ("localhost", "127.0.0.1", "::1") and is_of_this_machine(parts.hostname)


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        return parts if parts.port != 0 else None
    except ValueError:
        return None
