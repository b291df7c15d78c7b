"""The client programs Sayso is held against, and what is known to differ between them.

Each difference is a fact about the library, shown to hold by `test_drivers.py`; a test may lean on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

Library = Literal["mcp-1", "mcp-2", "ts-1", "ts-2"]
MODERN = "2026-07-28"
LEGACY = "2025-11-25"


@dataclass(frozen=True, kw_only=True)
class ClientKind:
    """One client library in one mode."""

    id: str
    library: Library
    mode: str
    protocol_version: str
    server_starts: int = 1
    """How often connecting starts the server: `ts-2` in `auto` mode tries a throw-away process first."""
    cancels_on_timeout: bool = True
    """Whether a call that ran into the client's own limit is cancelled at the server, or just forgotten."""
    sees_withdrawal: bool = True
    """Whether the library reads on while a form is open: if not, it notices neither withdrawal nor loss."""
    loses_late_progress: bool = False
    """Whether progress that arrives in one read with the call's result is dropped."""
    reports_own_rounds: bool = False
    """Whether the progress callback also hears from the library itself, once per form of the modern era."""
    declares_freely: bool = False
    """Whether the program can choose how it declares elicitation, or only if it does."""
    extends_on_progress: bool = False
    """Whether progress can be made to restart a call's time limit."""

    @property
    def modern(self) -> bool:
        return self.protocol_version >= MODERN


_MCP_2 = "mcp-" + ".".join(version("mcp").split(".")[:2])

CLIENTS = [
    ClientKind(id=f"{_MCP_2}-auto", library="mcp-2", mode="auto", protocol_version=MODERN),
    ClientKind(id=f"{_MCP_2}-legacy", library="mcp-2", mode="legacy", protocol_version=LEGACY),
    ClientKind(
        id="mcp-1.30",
        library="mcp-1",
        mode="legacy",
        protocol_version=LEGACY,
        cancels_on_timeout=False,
        sees_withdrawal=False,
    ),
    ClientKind(
        id="ts-1.32",
        library="ts-1",
        mode="legacy",
        protocol_version=LEGACY,
        loses_late_progress=True,
        declares_freely=True,
        extends_on_progress=True,
    ),
    ClientKind(
        id="ts-2.4-auto",
        library="ts-2",
        mode="auto",
        protocol_version=MODERN,
        server_starts=2,
        reports_own_rounds=True,
        loses_late_progress=True,
        declares_freely=True,
        extends_on_progress=True,
    ),
    ClientKind(
        id="ts-2.4-legacy",
        library="ts-2",
        mode="legacy",
        protocol_version=LEGACY,
        loses_late_progress=True,
        declares_freely=True,
        extends_on_progress=True,
    ),
]

OLDER_PROTOCOL = ClientKind(
    id="ts-2.4-2025-06-18",
    library="ts-2",
    mode="2025-06-18",
    protocol_version="2025-06-18",
    loses_late_progress=True,
    declares_freely=True,
    extends_on_progress=True,
)
"""Not in `CLIENTS`: the protocol that Codex and Gemini CLI open with, for what depends on the version alone."""
