"""The table of agents that the page can run, by the names that projects call them by."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.agents.acp import PROGRAMS, AcpAgent
from sayso.agents.agent import Agent
from sayso.agents.claude import Claude
from sayso.agents.codex import Codex

TAKE_PICTURES = frozenset({"claude", "codex"})
"""Those that are sent pictures with a message."""
AGENTS: Mapping[str, Agent] = {
    "claude": Claude(),
    "codex": Codex(),
    **{name: AcpAgent(name) for name in PROGRAMS},
}
