"""Agents that speak the Agent Client Protocol: those that are known by name, and any other by its command.
`adapters/acp.py` speaks with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayso.agents.adapted import Adapted
from sayso.agents.agent import PersonLine
from sayso.agents.model import PERMISSION_MODES, Run
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.records import field, record

_COPILOT_MODE = "https://agentclientprotocol.com/protocol/session-modes#"
_ASKS_ALL = json.dumps({"edit": "ask", "bash": "ask", "webfetch": "ask", "external_directory": "ask"})
"""opencode does all of this without asking unless it is told otherwise."""


@record
class AcpProgram:
    """What is known of an agent, as tried with the version that docs/talk.md names."""

    label: str
    install: str
    reads: Used
    command: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    """Words of its command by which it may use the tool that asks the person without asking whether it may."""
    environment: Mapping[str, str] = field(default_factory=dict)
    bare: Mapping[str, str] = field(default_factory=dict)
    """What in its environment keeps it from loading anything of its project; empty where nothing does."""
    trusting: Mapping[str, str] = field(default_factory=dict)
    """What has it load all, where that can be trusted, whatever it knows of the folder itself."""
    client: str = ""
    """What it calls itself to MCP servers; empty where it is to be asked."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """What it calls the permission modes that it has. The empty one is what it is set to where none was chosen."""
    steers: bool = False
    """Whether it takes up a message while it works."""
    takes_servers: bool = True
    """Whether it starts the MCP servers that a session is begun with."""
    ask_tool: str = ""
    """What it calls the tool that asks the person, where it asks whether it may use that."""
    folder_word: str = ""
    """The word in the input of its shell by which the model chooses where a command is run; empty: none is known."""
    adds_folder_as: str = ""
    """The word under which it adds the folder of the session to that input, where the model has chosen none."""
    tells_input_later: bool = False
    """Whether it may ask for a permission before it has told the input of the tool."""
    tells_history_late: bool = False
    """Whether it goes on to tell of earlier turns after it has said that the session is loaded."""
    loses_young_sessions: bool = False
    """Whether it loses a session that it loads in the minute in which that began."""

    def known_modes(self, offered: Sequence[str]) -> list[str]:
        """Our names for the permission modes that it offers."""
        return [mode for mode in PERMISSION_MODES if self.modes.get(mode, mode) in offered]


PROGRAMS: Mapping[str, AcpProgram] = {
    "gemini": AcpProgram(
        label="Gemini",
        install="Install it with `npm install -g @google/gemini-cli`, and run `gemini` once to sign in.",
        reads=Used.GEMINI,
        command=("gemini", "--acp"),
        asking=("--allowed-tools", "mcp_ask-user_ask_person,write_todos"),
        bare={"GEMINI_CLI_TRUST_WORKSPACE": "false"},
        # Without that it starts no MCP server in a folder that it has not seen before.
        trusting={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        client="gemini-cli-mcp-client",
        modes={
            "": "default",
            "default": "default",
            "acceptEdits": "autoEdit",
            "plan": "plan",
            "bypassPermissions": "yolo",
        },
        tells_history_late=True,
        loses_young_sessions=True,
    ),
    "opencode": AcpProgram(
        label="opencode",
        install="Install it with `npm install -g opencode-ai`, and run `opencode auth login` once to sign in.",
        reads=Used.OPENCODE,
        command=("opencode", "acp"),
        environment={"OPENCODE_PERMISSION": _ASKS_ALL},
        bare={"OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_CLAUDE_CODE": "1"},
        client="opencode",
        modes={"default": "build", "plan": "plan"},
        steers=True,
        folder_word="workdir",
        adds_folder_as="cwd",
        tells_input_later=True,
    ),
    "copilot": AcpProgram(
        label="Copilot",
        install="Install it with `npm install -g @github/copilot`, and run `copilot login` once to sign in.",
        reads=Used.COPILOT,
        command=("copilot", "--acp"),
        asking=("--allow-tool", "ask-user(ask_user)"),
        client="copilot-cli",
        modes={"default": f"{_COPILOT_MODE}agent", "plan": f"{_COPILOT_MODE}plan"},
        takes_servers=False,
    ),
    "qwen": AcpProgram(
        label="Qwen",
        install="Install it with `npm install -g @qwen-code/qwen-code`, and run `qwen` once to sign in.",
        reads=Used.QWEN,
        command=("qwen", "--acp"),
        client="qwen-cli-mcp-client",
        modes={
            "": "default",
            "default": "default",
            "acceptEdits": "auto-edit",
            "plan": "plan",
            "bypassPermissions": "yolo",
        },
        ask_tool="mcp__ask-user__ask_user",
        folder_word="directory",
    ),
    "acp": AcpProgram(
        label="The agent",
        install="Say which command starts it: sayso project add DIR --agent acp --command 'PROGRAM --acp'.",
        reads=Used.ANY_AGENT,
    ),
}


class AcpAgent(Adapted):
    """One of the programs; `name` is what projects call it by."""

    protocol = "acp"

    def __init__(self, name: str) -> None:
        self._name, self._program = name, PROGRAMS[name]
        self.label, self.install, self.reads = self._program.label, self._program.install, self._program.reads
        self.keeps_out, self.steers = bool(self._program.bare), self._program.steers

    def order(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Mapping[str, object]:
        server = list(line.command) if line else []
        return {**super().order(config, run, line, kept_out), "agent": self._name, "server": server}

    def command(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Sequence[str]:
        program = self._program
        command = [*(run.options.command or program.command)]
        if line:
            command += program.asking
            command += [] if program.takes_servers else ["--additional-mcp-config", _server(line)]
        trusted = program.trusting if not _has_environment(run.project.directory) else {}
        environment = {**program.environment, **(program.bare if kept_out else trusted)}
        assigned = [f"{name}={value}" for name, value in environment.items()]
        return ["env", *assigned, *command] if assigned else command


def _has_environment(folder: Path) -> bool:
    """Whether there is a file of variables that an agent would take over, such as where its model is; nobody is asked
    to trust those."""
    return any((place / ".env").exists() for place in (folder, *folder.parents))


def _server(line: PersonLine) -> str:
    """The MCP server as Copilot is told of it. It hands its own environment down."""
    first, *rest = line.command
    return json.dumps({"mcpServers": {line.server: {"type": "local", "command": first, "args": rest, "tools": ["*"]}}})
