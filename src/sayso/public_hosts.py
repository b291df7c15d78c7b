"""Calls to hosts that a stranger has named, a browser's push service or a client's document: only where they are
public, so never to this machine or to a network behind it.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sayso.errors import NotPublic

if TYPE_CHECKING:
    import ssl

LONGEST_ADDRESS = 2048
_NAME = re.compile(r"(?:[a-z0-9_-]+\.)+(?P<last>[a-z][a-z0-9-]*)")
"""Not `127.1` either, nor `10.0.0x8`: a system takes them for addresses, and no domain begins with a digit."""
_NO_DOMAIN = re.compile(
    "alt|arpa|corp|example|home|internal|intranet|invalid|lan|local|localdomain|localhost|mail|onion|private|test"
)
"""What the special-use names of IANA end in (RFC 6761 and after), and names that networks use for themselves: nothing
of the whole internet is called so, a resolver of a network may well know it."""
_UNICAST_6 = ip_network("2000::/3")
_NOT_GLOBAL = tuple(
    ip_network(block)
    for block in (
        "168.63.129.16/32",  # what Azure tells its machines
        "192.0.0.0/24",  # of protocols, and what Oracle tells its machines
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # of protocols, Teredo among them
        "2002::/16",  # 6to4, which leads to an IPv4 address that it holds
        "3fff::/20",  # for documents
    )
)
"""Ranges that `is_global` wrongly accepts, because of their form or because Python's list is older than the registry.
No service is behind one."""
_NAT64 = ip_network("64:ff9b::/96")
"""What a network without IPv4 makes of an IPv4 address, which is the last four bytes of it."""
_ANY_PORT = 9


def may_be_called(url: str) -> bool:
    """Whether this can be called, by its form. Where its name leads is seen before each call."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= LONGEST_ADDRESS
    if not plain or parts.scheme != "https" or not host or port == 0 or "@" in parts.netloc:
        return False
    try:
        return is_public(host)
    except ValueError:
        name = _NAME.fullmatch(host)
        return name is not None and not _NO_DOMAIN.fullmatch(name["last"])


def is_public(address: str) -> bool:
    """Whether an address is one of the whole internet, and no machine or network of ours."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found in _NAT64:
            return is_public(str(IPv4Address(found.packed[-4:])))
        if found not in _UNICAST_6:
            return False
    if any(found in block for block in _NOT_GLOBAL):
        return False
    return found.is_global and not found.is_multicast and not is_of_this_machine(str(found))


def is_of_this_machine(address: str) -> bool:
    """Whether a network interface here has it: then it is also where calls to it come from. Nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.connect((address, _ANY_PORT))
            return ip_address(line.getsockname()[0]) == ip_address(address)
    except OSError:  # no way leads there
        return False


@cache
def _public_certificates() -> ssl.SSLContext:
    import ssl  # whoever only looks at an address has no use for it

    return ssl.create_default_context()


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Where calls may go, and whose certificates are believed."""

    may_reach: Callable[[str], bool] = is_public
    may_call: Callable[[str], bool] = may_be_called
    context: Callable[[], ssl.SSLContext] = _public_certificates


def connected(host: str, port: int, reach: Reach, ends: float) -> socket.socket:
    """A connection to an address that was looked at: a name that leads elsewhere a moment later changes nothing."""
    found = [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    public = [str(address) for address in found if reach.may_reach(str(address))]
    if not public or len(public) < len(found):
        raise NotPublic(f"{host} has an address that is not public")
    return socket.create_connection((public[0], port), timeout=time_left(ends))


def time_left(ends: float) -> float:
    """The seconds until then. A TimeoutError once there are none."""
    if (left := ends - time.monotonic()) <= 0:
        raise TimeoutError("it took too long")
    return left
