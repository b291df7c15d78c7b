"""Every client that Sayso can be installed in: how it is recognised, where it keeps its servers, in which words.

Places and units as the clients had them in autumn 2026. How long each lets a call last by itself is in `clients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from sayso.clients import known
from sayso.install.entry import EntryShape, Limit, ServerProgram
from sayso.install.gates import GateSetUp, copilot_gate, opencode_gate
from sayso.install.grants import ApprovalsPart, FilePart, RulesPart, copilot_hook, gemini_policy, tools_of
from sayso.install.hooks import PROMPT_SECONDS, SESSIONS, GatePart
from sayso.install.machine import Machine
from sayso.install.part import Part

DAY = 86_400
Place = Callable[[Machine], Path]
OwnWords = Callable[[ServerProgram, "Scope", Mapping[str, str]], list[str]]
Grant = Callable[[Machine, "Scope", str, tuple[str, ...]], Part | None]
"""From the server's name and the tools that ask to what lets the client call them; None where it has nothing."""


class Scope(StrEnum):
    """For whom an entry holds: for a person in every project, or for everybody in one."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class OwnCommand:
    """The client's own program for its servers, and how it is told to add and to remove one."""

    program: str
    add: OwnWords
    remove: OwnWords
    scopes: tuple[Scope, ...] = (Scope.USER, Scope.PROJECT)


@dataclass(frozen=True, kw_only=True)
class PromptGate:
    """How a client's own prompts come into the inbox."""

    set_up: Callable[[Machine, Sequence[str]], GateSetUp]
    """From the words that start our program to what makes the client start a gate."""
    stays_open: bool
    """Whether the client's prompt stands open meanwhile. Else the gate must hold it back, and does so only while nobody
    is at that terminal."""
    also_holds: bool = False
    """Whether there are sessions of it in which the prompt cannot stand open."""
    asks_for_trust: bool = False
    """Whether the client runs no hook before its person has said so."""
    told_to_ask: str = ""
    """How it is started so that it asks, where it begins in a mode in which a model decides for its person."""
    setting_to_ask: str = ""
    """The setting of a client's that asks about hardly anything without it."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One client."""

    key: str
    title: str
    known_as: str
    """Its name in `clients.py`, by which it introduces itself over MCP."""
    user_file: Place
    table: tuple[str, ...] = ("mcpServers",)
    notation: str = "jsonc"
    """What of it the client reads; `json` and `json_commented` only where that was tried."""
    shape: EntryShape = field(default_factory=EntryShape)
    project_file: str = ""
    """Relative to the project; empty where the client has no such file."""
    programs: tuple[str, ...] = ()
    is_an_app: bool = False
    """Whether it can be here without a program on PATH: with a window of its own, or within another client."""
    home: Place | None = None
    """A folder whose presence shows that the client is used here; by default that of its file."""
    own: OwnCommand | None = None
    grant: Grant | None = None
    gate: PromptGate | None = None
    skills: tuple[Place, str] | None = None
    """Where it reads skills: the person's folder, and the project's."""
    notes: tuple[Place, str] | None = None
    """The file of instructions that it always reads: the person's, and the project's."""

    def file(self, machine: Machine, scope: Scope) -> Path:
        return self.user_file(machine) if scope is Scope.USER else machine.in_project(self.project_file)

    def takes(self, scope: Scope) -> bool:
        return scope is Scope.USER or bool(self.project_file)

    def leave_to_ask(self, machine: Machine, scope: Scope, server: ServerProgram) -> Part | None:
        """What lets the client call this server's tools that ask, and no others, without asking first."""
        other = known(self.known_as).other_names
        tools = tuple(other.get(tool, tool) for tool in tools_of(server))
        return self.grant(machine, scope, server.name, tools) if self.grant else None

    def is_used(self, machine: Machine) -> bool:
        """Whether the client seems to be on this machine: its program is found, or its folder or file is there."""
        file = self.user_file(machine)
        folder = self.home(machine) if self.home else file.parent
        return any(machine.which(program) for program in self.programs) or folder.is_dir() or file.is_file()

    def lacks_program(self, machine: Machine) -> bool:
        """Whether nothing can start it as it is: what is there of it may be what Sayso itself has written."""
        return not self.is_an_app and bool(self.programs) and not any(map(machine.which, self.programs))


def _claude_home(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude_file(machine: Machine) -> Path:
    named = machine.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(named) if named else machine.home) / ".claude.json"


def claude_settings(machine: Machine, scope: Scope) -> Path:
    """Where Claude Code keeps permissions, hooks and variables: the person's, or the project's."""
    if scope is Scope.PROJECT:
        return machine.in_project(".claude/settings.json")
    return _claude_home(machine) / "settings.json"


def _codex_home(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def _gemini_home(machine: Machine) -> Path:
    return machine.folder("GEMINI_CLI_HOME", "") / ".gemini"


def _qwen_home(machine: Machine) -> Path:
    return machine.folder("QWEN_HOME", ".qwen")


def _copilot_home(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


def _opencode_home(machine: Machine) -> Path:
    return (
        machine.folder("OPENCODE_CONFIG_DIR", "")
        if machine.environ.get("OPENCODE_CONFIG_DIR")
        else (machine.config_home() / "opencode")
    )


def _opencode_file(machine: Machine) -> Path:
    if named := machine.environ.get("OPENCODE_CONFIG"):
        return Path(named)
    with_comments = _opencode_home(machine) / "opencode.jsonc"
    return with_comments if with_comments.exists() else with_comments.with_suffix(".json")


def _vs_code(machine: Machine) -> Path:
    return machine.app_data() / "Code" / "User"


def _cline_home(machine: Machine) -> Path:
    """That of the editor's extension, else that of its command line."""
    in_editor = _vs_code(machine) / "globalStorage" / "saoudrizwan.claude-dev"
    alone = machine.folder("CLINE_DIR", ".cline") / "data"
    return alone if alone.is_dir() and not in_editor.is_dir() else in_editor


def _goose_file(machine: Machine) -> Path:
    if machine.system == "win32":
        return machine.app_data() / "Block" / "goose" / "config" / "config.yaml"
    return machine.config_home() / "goose" / "config.yaml"


def _zed_file(machine: Machine) -> Path:
    return (
        machine.app_data() / "Zed" if machine.system == "win32" else machine.config_home() / "zed"
    ) / "settings.json"


def _flags(flag: str, env: Mapping[str, str]) -> list[str]:
    return [word for key, value in env.items() for word in (flag, f"{key}={value}")]


CLAUDE_COMMAND = OwnCommand(
    program="claude",
    add=lambda server, scope, env: [
        *("claude", "mcp", "add", "--scope", scope, server.name, *_flags("-e", env), "--", *server.argv)
    ],
    remove=lambda server, scope, env: ["claude", "mcp", "remove", "--scope", scope, server.name],
)
CODEX_COMMAND = OwnCommand(
    program="codex",
    add=lambda server, scope, env: [*("codex", "mcp", "add", server.name, *_flags("--env", env), "--", *server.argv)],
    remove=lambda server, scope, env: ["codex", "mcp", "remove", server.name],
    scopes=(Scope.USER,),
)
GEMINI_LIMIT = Limit(key="timeout", seconds=DAY, units=1000)
GEMINI_COMMAND = OwnCommand(
    program="gemini",
    # Its option for variables takes every word that follows, so it stands last.
    add=lambda server, scope, env: [
        *("gemini", "mcp", "add", server.name, *server.argv, "--scope", scope),
        *("--timeout", str(GEMINI_LIMIT.value()), *_flags("--env", env)),
    ],
    remove=lambda server, scope, env: ["gemini", "mcp", "remove", "--scope", scope, server.name],
)

QWEN_LIMIT = Limit(key="timeout", seconds=DAY, units=1000)


def _rules(target: Target, path: Path, server: str, tools: tuple[str, ...]) -> Part:
    rule = f"mcp__{server}__{{}}"
    return RulesPart(path=path, steps=("permissions", "allow"), rule=rule, tools=tools, notation=target.notation)


def _claude_grant(machine: Machine, scope: Scope, server: str, tools: tuple[str, ...]) -> Part:
    return _rules(BY_KEY["claude-code"], claude_settings(machine, scope), server, tools)


def _codex_grant(machine: Machine, scope: Scope, server: str, tools: tuple[str, ...]) -> Part:
    path = BY_KEY["codex"].file(machine, scope)
    return ApprovalsPart(path=path, server=("mcp_servers", server), tools=tools)


def _qwen_grant(machine: Machine, scope: Scope, server: str, tools: tuple[str, ...]) -> Part:
    return _rules(BY_KEY["qwen"], BY_KEY["qwen"].file(machine, scope), server, tools)


def _gemini_grant(machine: Machine, scope: Scope, server: str, tools: tuple[str, ...]) -> Part | None:
    """A project's policies are not read by this client, and trust in a server would be trust in all of its tools."""
    if scope is Scope.PROJECT:
        return None
    return FilePart(path=_gemini_home(machine) / "policies" / f"{server}.toml", text=gemini_policy(server, tools))


def _copilot_grant(machine: Machine, scope: Scope, server: str, tools: tuple[str, ...]) -> Part:
    return FilePart(path=_copilot_home(machine) / "hooks" / f"{server}.json", text=copilot_hook(server, tools))


CLAUDE_GATE = PromptGate(
    set_up=lambda machine, program: GatePart(
        path=claude_settings(machine, Scope.USER), program=program, beside=SESSIONS
    ),
    stays_open=True,
    told_to_ask="claude --permission-mode default",
)
CODEX_GATE = PromptGate(
    # Where its sessions share a server, the gate of that server has to be there when one of them begins.
    set_up=lambda machine, program: GatePart(
        path=_codex_home(machine) / "hooks.json", program=program, client="codex", at_start="SessionStart"
    ),
    stays_open=True,
    asks_for_trust=True,
    also_holds=True,
)
OPENCODE_GATE = PromptGate(
    set_up=lambda machine, program: opencode_gate(_opencode_home(machine) / "plugin" / "sayso.js", program),
    stays_open=True,
    setting_to_ask='"permission": {"*": "ask"}',
)
QWEN_GATE = PromptGate(
    # It takes such a number for milliseconds.
    set_up=lambda machine, program: GatePart(
        path=_qwen_home(machine) / "settings.json",
        program=program,
        client="qwen",
        limit=PROMPT_SECONDS * 1000,
        notation=BY_KEY["qwen"].notation,
    ),
    stays_open=False,
)
COPILOT_GATE = PromptGate(
    set_up=lambda machine, program: copilot_gate(_copilot_home(machine) / "hooks" / "sayso-approvals.json", program),
    stays_open=False,
)


TARGETS: tuple[Target, ...] = (
    Target(
        key="claude-code",
        title="Claude Code",
        known_as="claude-code",
        programs=("claude",),
        user_file=_claude_file,
        project_file=".mcp.json",
        notation="json",
        home=_claude_home,
        # It begins its first turn without the tools of a server that is still starting, unless this is said.
        shape=EntryShape(extras={"type": "stdio", "alwaysLoad": True}),
        own=CLAUDE_COMMAND,
        grant=_claude_grant,
        gate=CLAUDE_GATE,
        skills=(lambda machine: _claude_home(machine) / "skills", ".claude/skills"),
        notes=(lambda machine: _claude_home(machine) / "CLAUDE.md", "CLAUDE.md"),
    ),
    Target(
        key="codex",
        title="Codex",
        known_as="codex-mcp-client",
        programs=("codex",),
        user_file=lambda machine: _codex_home(machine) / "config.toml",
        project_file=".codex/config.toml",
        notation="toml",
        table=("mcp_servers",),
        shape=EntryShape(
            # Likewise: without it the first turn has no tools of a server that takes more than a second to start.
            extras={"required": True},
            limit=Limit(key="tool_timeout_sec", seconds=DAY),
            disabled=("enabled", False),
        ),
        own=CODEX_COMMAND,
        grant=_codex_grant,
        gate=CODEX_GATE,
        skills=(lambda machine: machine.home / ".agents" / "skills", ".agents/skills"),
        notes=(lambda machine: _codex_home(machine) / "AGENTS.md", "AGENTS.md"),
    ),
    Target(
        key="cursor",
        title="Cursor",
        known_as="cursor-vscode",
        programs=("cursor", "cursor-agent"),
        is_an_app=True,
        user_file=lambda machine: machine.home / ".cursor" / "mcp.json",
        project_file=".cursor/mcp.json",
        skills=(lambda machine: machine.home / ".cursor" / "skills", ".cursor/skills"),
    ),
    Target(
        key="vscode",
        title="VS Code",
        known_as="visual studio code",
        programs=("code",),
        is_an_app=True,
        user_file=lambda machine: _vs_code(machine) / "mcp.json",
        project_file=".vscode/mcp.json",
        table=("servers",),
        shape=EntryShape(extras={"type": "stdio"}),
    ),
    Target(
        key="gemini",
        title="Gemini CLI",
        known_as="gemini-cli-mcp-client",
        programs=("gemini",),
        user_file=lambda machine: _gemini_home(machine) / "settings.json",
        project_file=".gemini/settings.json",
        notation="json_commented",
        shape=EntryShape(limit=GEMINI_LIMIT),
        own=GEMINI_COMMAND,
        grant=_gemini_grant,
        skills=(lambda machine: _gemini_home(machine) / "skills", ".gemini/skills"),
        notes=(lambda machine: _gemini_home(machine) / "GEMINI.md", "GEMINI.md"),
    ),
    Target(
        key="opencode",
        title="opencode",
        known_as="opencode",
        programs=("opencode",),
        user_file=_opencode_file,
        project_file="opencode.json",
        table=("mcp",),
        shape=EntryShape(
            args="",
            env="environment",
            extras={"type": "local", "enabled": True},
            limit=Limit(key="timeout", seconds=DAY, units=1000),
            disabled=("enabled", False),
        ),
        gate=OPENCODE_GATE,
        skills=(lambda machine: _opencode_home(machine) / "skills", ".opencode/skills"),
        notes=(lambda machine: _opencode_home(machine) / "AGENTS.md", "AGENTS.md"),
    ),
    Target(
        key="qwen",
        title="Qwen Code",
        known_as="qwen-cli-mcp-client",
        programs=("qwen",),
        user_file=lambda machine: _qwen_home(machine) / "settings.json",
        project_file=".qwen/settings.json",
        notation="json_commented",
        # Else the tools are found by a search only.
        shape=EntryShape(extras={"alwaysLoadTools": True}, limit=QWEN_LIMIT),
        grant=_qwen_grant,
        gate=QWEN_GATE,
        skills=(lambda machine: _qwen_home(machine) / "skills", ".qwen/skills"),
        notes=(lambda machine: _qwen_home(machine) / "QWEN.md", "QWEN.md"),
    ),
    Target(
        key="copilot",
        title="Copilot CLI",
        known_as="copilot-cli",
        programs=("copilot",),
        user_file=lambda machine: _copilot_home(machine) / "mcp-config.json",
        shape=EntryShape(extras={"type": "local", "tools": ["*"]}, limit=Limit(key="timeout", seconds=DAY, units=1000)),
        grant=_copilot_grant,
        gate=COPILOT_GATE,
    ),
    Target(
        key="claude-desktop",
        title="Claude Desktop",
        known_as="claude-ai",
        user_file=lambda machine: machine.app_data() / "Claude" / "claude_desktop_config.json",
    ),
    Target(
        key="goose",
        title="Goose",
        known_as="goose",
        programs=("goose",),
        is_an_app=True,
        user_file=_goose_file,
        notation="yaml",
        table=("extensions",),
        shape=EntryShape(
            command="cmd",
            env="envs",
            extras={
                "enabled": True,
                "type": "stdio",
                "name": "sayso",
                "description": "Asks the person you work for, and runs commands in the background",
            },
            limit=Limit(key="timeout", seconds=DAY),
            disabled=("enabled", False),
        ),
    ),
    Target(
        key="zed",
        title="Zed",
        known_as="zed",
        programs=("zed", "zeditor"),
        is_an_app=True,
        user_file=_zed_file,
        project_file=".zed/settings.json",
        table=("context_servers",),
        shape=EntryShape(limit=Limit(key="timeout", seconds=600), disabled=("enabled", False)),
    ),
    Target(
        key="cline",
        title="Cline",
        known_as="cline",
        programs=("cline",),
        is_an_app=True,
        home=_cline_home,
        user_file=lambda machine: _cline_home(machine) / "settings" / "cline_mcp_settings.json",
        shape=EntryShape(limit=Limit(key="timeout", seconds=3600)),
    ),
    Target(
        key="windsurf",
        title="Windsurf",
        known_as="windsurf",
        programs=("windsurf",),
        is_an_app=True,
        user_file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
    ),
)

BY_KEY: Mapping[str, Target] = {target.key: target for target in TARGETS}
