"""OAuth 2.1 for agents that come over HTTP: a person signs in and agrees, instead of pasting a token.

The protocol is Authlib's; here is what it means for Sayso. Authlib is imported by the first request that needs it.
"""

from functools import cache
from importlib.util import find_spec


@cache
def can_sign_in() -> bool:
    """Whether the package is there that this needs."""
    return find_spec("authlib") is not None
