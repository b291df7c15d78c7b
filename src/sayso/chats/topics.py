"""The topics of ntfy: one for each person, and one where what is pressed comes in. Their names are all that keeps
others out, so nobody can guess them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

SERVER = "https://ntfy.sh"
REPLIES = "replies"
"""In the access: the topic where what is pressed comes in."""


def new_topic(what: str) -> str:
    return f"sayso-{what}-{secrets.token_hex(16)}"


def server_of(access: Mapping[str, str]) -> str:
    return access.get("server") or SERVER
