"""The table of agents that the page can run, by the names that projects call them by."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from sayso.agents.acp import PROGRAMS, AcpAgent
from sayso.agents.agent import Agent
from sayso.agents.claude import Claude
from sayso.agents.codex import Codex
from sayso.agents.model import Options
from sayso.config import Config

AGENTS: Mapping[str, Agent] = {
    "claude": Claude(),
    "codex": Codex(),
    **{name: AcpAgent(name) for name in PROGRAMS},
}


def program_of(options: Options, config: Config) -> str:
    """The program that is started for an agent with these options; empty where nobody has named one."""
    set_here = {"claude": config.claude_command, "codex": config.codex_command}
    command = set_here.get(options.agent) or options.command or PROGRAMS[options.agent].command
    return command[0] if command else ""


def installed(config: Config) -> dict[str, Agent]:
    """The agents that are there on this machine, without further words of how to start them."""
    return {name: agent for name, agent in AGENTS.items() if shutil.which(program_of(Options(agent=name), config))}
