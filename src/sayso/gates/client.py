"""What a gate has to know of a client: how its hook's words are read, and how a verdict is told in them.

One small module per client. It knows no store, and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from sayso.dialects.approve import Permission
from sayso.records import record


class DecidedThere(StrEnum):
    """How a client's own prompt was decided."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ANSWERED = "answered"
    UNKNOWN = "decided"
    """Somebody has decided there, and the client does not say how."""


class OwnPrompt(StrEnum):
    """When a client shows a prompt of its own for what a gate asks."""

    BESIDE = "beside"
    """At the same time: whichever is decided first wins."""
    AFTERWARDS = "afterwards"
    """Once the gate has ended without a decision. Until then nothing shows at the client."""
    NEVER = "never"
    """No person sits at it: what nobody decides here does not happen."""


@record
class Prompt:
    """What a client asks of whoever sits in front of it: a permission, or questions of its agent."""

    permission: Permission
    session: str
    version: str
    """Of the client; empty where it does not say."""
    process: int
    """Of the client; 0 where it does not say."""
    folder: Path
    """Where the agent is at work at the moment."""
    own_prompt: OwnPrompt
    takes_changes: bool = False
    """Whether the client runs the tool with an input that a person has edited."""
    subagent: str = ""
    """What the one who asks is called, where the session's agent has started it."""


@record
class GateVerdict:
    """What the client is told. `given` is the input that the tool gets; `message` is for the agent."""

    allowed: bool
    given: Mapping[str, Any]
    message: str = ""


class Aftermath(StrEnum):
    """What became of a verdict that a client was told while its own prompt stood beside."""

    TAKEN = "taken"
    """It decided, or makes no difference."""
    ALLOWED = "allowed"
    """The client's own prompt had allowed it by then, and so it was done as the agent wanted it."""
    DENIED = "denied"
    ANSWERED = "answered"
    UNKNOWN = "decided"


class Trail(Protocol):
    """A file in which a client leaves what became of its prompts."""

    path: Path

    def look(self) -> DecidedThere | None:
        """How this prompt was decided there, if the file says so by now."""
        ...

    def after(self, told: GateVerdict) -> Aftermath | None:
        """What became of this verdict, if the file says so by now."""
        ...


class GateClient(Protocol):
    """One client with such hooks."""

    @property
    def name(self) -> str:
        """As it calls itself to MCP servers."""
        ...

    @property
    def title(self) -> str: ...

    @property
    def patience(self) -> float:
        """Seconds after which it ends a hook that has not decided."""
        ...

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        """Whether this prompt is none for the inbox, or comes there by another way."""
        ...

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        """What the hook's event asks. InvalidInput names what is wrong with it."""
        ...

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> Trail | None: ...

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        """The verdict in the words that its hook prints."""
        ...
