"""The files that no rule lets an agent change: programs run what lies there, or agents do what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from sayso.rules.shell import UNKNOWN
from sayso.rules.use import UsedPath

_OF_VERSIONS = (
    ".git .gitconfig .config/git .githooks .husky .pre-commit-config.yaml lefthook.yml "
    "lefthook.yaml lefthook.toml lefthook.json lefthook-local.yml .lefthook.yml .lefthook.yaml "
    ".gitlab-ci.yml .hg .hgrc .jj"
)
"""What git, and others that keep versions, run."""
_OF_AGENTS = (
    ".sayso .claude .claude.json claude_desktop_config.json .mcp.json .codex .gemini .qwen .opencode "
    ".config/opencode opencode.json opencode.jsonc .copilot .github/workflows .github/agents .github/copilot "
    ".github/extensions .github/hooks .github/skills .github/instructions .github/prompts .github/mcp.json "
    ".github/copilot-instructions.md .agents .cursor .cursorrules .windsurf .windsurfrules .codeium .cline "
    ".clinerules .kiro .amazonq .roo .kilocode .continue .config/goose .goose .goosehints .aider.conf.yml "
    ".claude-plugin .rules .junie .trae .augment .openhands .config/crush crush.json .crush.json CRUSH.md WARP.md "
    "AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md"
)
"""Agents: what they may do, what they start, what they are told."""
_OF_EDITORS = (
    ".vscode .config/Code .config/VSCodium .config/Cursor .idea .zed .config/zed .devcontainer .devcontainer.json "
    ".vimrc"
)
"""Editors that run tasks, and hold settings of agents."""
_OF_SHELLS = (
    ".profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin "
    ".zlogout .config/fish .config/powershell .envrc .direnvrc .config/direnv mise.toml mise.local.toml "
    ".mise.toml .mise.local.toml .mise .config/mise .xprofile .config/autostart .config/environment.d "
    ".config/systemd .local/share/systemd .xinitrc .xsession .xsessionrc .pam_environment .tmux.conf .gdbinit "
    ".npmrc .pnpmfile.cjs .yarnrc .yarnrc.yml .cargo/config .cargo/config.toml LaunchAgents .ssh"
)
"""Shells, what begins with a session, and what a program runs whenever it is started there."""
PROTECTED_NAMES = tuple(" ".join((_OF_VERSIONS, _OF_AGENTS, _OF_EDITORS, _OF_SHELLS)).split())
"""What lies there, in whichever folder."""
PROTECTED_END = ".code-workspace"
"""Whatever such a file is called, an editor does what it says."""
_PROTECTED = frozenset(name.casefold() for name in PROTECTED_NAMES)
_LONGEST = max(name.count("/") for name in PROTECTED_NAMES) + 1
_PARTS = frozenset(
    part.lower()
    for name in PROTECTED_NAMES
    for part in name.split("/")[: 1 if name.startswith((".config/", ".local/", ".cargo/")) else None]
) | {f"any{PROTECTED_END}"}
PROTECTED = "what lies there is run by other programs, or says what agents may do"
MAY_BE_PROTECTED = "it may change what is run by other programs, or what says what agents may do, without naming it"
OPENED = re.compile(r"(?:^|[=:@])/proc/|/dev/fd\b")
"""Ways to files by what a process has open, which is another one for each."""
_LONG_GLUED = re.compile(r"-\w{12,}.*[./]", re.DOTALL)


def is_protected(path: UsedPath, guarded: Sequence[str]) -> bool:
    """Whether it is one of those files, or in one of the guarded folders."""
    ways = [way for way in (path.named, path.real) if way]
    return any(_has_protected_name(way) or _is_below(way, guarded) for way in ways)


def _has_protected_name(way: str) -> bool:
    parts = way.casefold().split("/")
    if any(part.endswith(PROTECTED_END) for part in parts):
        return True
    ends = ((begin, begin + length) for begin in range(len(parts)) for length in range(1, _LONGEST + 1))
    # No expression: to compile one of so many names takes longer than all else that a gate looks at.
    return any("/".join(parts[begin:end]) in _PROTECTED for begin, end in ends)


def may_come_to_protected(word: str) -> bool:
    """Whether the shell, or a program, may make a protected name of it."""
    starred = [part.lower() for part in re.split("[/=:@()!^,;<>\"']", word) if set(part) & set("*?[")]
    if UNKNOWN in word or OPENED.search(word) or _LONG_GLUED.match(word):
        return True
    return any(fnmatchcase(name, part) for part in starred for name in _PARTS)


def _is_below(way: str, folders: Sequence[str]) -> bool:
    """In letters of whatever case: there are disks that do not tell them apart."""
    way = way.casefold()
    return any(
        way == folder or way.startswith(f"{folder}/") for folder in (each.casefold().rstrip("/") for each in folders)
    )
