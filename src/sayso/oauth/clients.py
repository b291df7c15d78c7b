"""The programs that want to connect: what they say of themselves, and where they may be answered.

A client that registers carries its registration as its id, signed by us, so that nothing has to be kept of programs
that nobody has let in. None has a secret: each proves by PKCE that it is the one that asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.errors import Problems
from sayso.oauth.addresses import is_of_this_machine
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
    *("vbscript", "view-source", "ws", "wss", "intent", "android-app", "content", "shell", "search-ms"),
    *("chrome-extension", "moz-extension", "edge", "tel", "sms", "ssh", "sftp", "smb", "ldap", "telnet"),
}
"""Schemes that lead to no program of the person's, to one that the address itself chooses, or run what they hold."""
_NEVER_BEGIN = "ms-"
"""So do those of Windows' own programs."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*):(?P<rest>[\w.~!$&'()*+,;=:@%/?\[\]-]*)", re.ASCII)
"""What addresses are made of (RFC 3986), without a fragment. What else browsers put up with, a blank, a backslash, the
end of a line, is not the same to all who read it."""
_WEB = re.compile(
    r"(?P<scheme>https?)://(?P<place>(?P<host>[\w-]+(?:\.[\w-]+)*|\[[0-9a-f:]+\])(?::(?P<port>[0-9]{1,5}))?)(?P<rest>[/?].*)?",
    re.ASCII | re.IGNORECASE,
)
"""No user stands before the host, and nothing in a host ends what it is written into, such as a content policy."""


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
        if not can_be_returned_to(uri):
            return False
        return any(uri == own or _without_port(uri) == _without_port(own) for own in self.redirect_uris)


def described(client_id: str, given: Mapping[str, Any], vouched_by: str = "") -> OAuthClient:
    """A client by its metadata (RFC 7591). InvalidInput names each field that does not fit."""
    problems = Problems()
    uris, name = given.get("redirect_uris"), given.get("client_name") or UNNAMED
    if not isinstance(uris, list) or not 1 <= len(uris) <= MOST_REDIRECTS:
        problems.add("redirect_uris", f"must be a list of 1 to {MOST_REDIRECTS} addresses")
    elif bad := [uri for uri in uris if not can_be_returned_to(uri)]:
        own = "the scheme of a program of its own (such as com.example.app:/callback)"
        allowed = f"https:, http: on this machine (127.0.0.1, [::1] or localhost), or {own}"
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
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        return False
    match found["scheme"]:
        case "https":
            return bool(_place(uri))
        case "http":
            return bool(_place(uri)) and _on_this_machine(uri) is not None
        case scheme:
            rest = found["rest"]
            place = rest[2:].partition("/")[0].partition("?")[0] if rest.startswith("//") else ""
            is_known = scheme in _NEVER or scheme.startswith(_NEVER_BEGIN)
            return not is_known and "@" not in place and bool(rest.strip("/"))


def returns_to(uri: str) -> str:
    """Who is answered, in words for the person who decides."""
    scheme = uri.partition(":")[0]
    if scheme == "https":
        return _place(uri)
    if scheme == "http":
        return f"a program on the computer of your browser ({_place(uri)})"
    return f"the program on your device that opens {scheme}: links"


def source_of(uri: str) -> str:
    """The address as a content policy names it."""
    scheme = uri.partition(":")[0]
    return f"{scheme}://{_place(uri)}" if scheme in ("http", "https") else f"{scheme}:"


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


def _place(uri: str) -> str:
    """The host and port of an address of the web; empty where it names none, or more than one could read in it."""
    found = _WEB.fullmatch(uri)
    return found["place"] if found and 0 < int(found["port"] or 1) < 65536 else ""


def _without_port(uri: str) -> object:
    """What two addresses of a program on one's own machine must have in common; each other is like itself alone."""
    return _on_this_machine(uri) or uri


def _on_this_machine(uri: str) -> tuple[str, str] | None:
    """The host, and what comes after the port, of an address of the person's own machine."""
    found = _WEB.fullmatch(uri)
    host = found["host"].lower().strip("[]") if found else ""
    if not found or found["scheme"] != "http" or host not in _LOOPBACK or not is_of_this_machine(host):
        return None
    return host, found["rest"] or ""
