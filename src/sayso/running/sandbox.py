"""Which sandbox a command runs in: what the person's settings and the tool file say, the stricter word for a project's.

What a sandbox lets a command do is enforced by its runner (`confined.py`), which runs nothing that it cannot enforce.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sayso.config import NETWORKS, SANDBOXES, Config
from sayso.running import isolated

NO_SANDBOX = SANDBOXES[0]
TRIAL_SECONDS = 20.0

SECRETS = (
    # Keys and passwords
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".fly", ".config/containers/auth.json", ".config/gcloud",
    ".config/gh", ".config/glab-cli", ".config/hub", ".config/op", ".config/rclone", ".config/sops", ".password-store",
    ".vault-token", ".terraform.d", ".netrc", ".git-credentials", ".config/git/credentials", ".pypirc", ".npmrc",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg",
    ".boto", ".Xauthority", ".ICEauthority", ".bitcoin", ".config/1Password", ".config/Bitwarden",
    ".config/Bitwarden CLI", ".config/KeePassXC", ".config/keepassxc", ".local/share/keyrings",
    ".local/share/kwalletd", "Library/Keychains", ".electrum", ".config/openai",
    # Browsers, mail and chats, and all that programs from Flatpak and Snap keep
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".config/vivaldi", ".local/share/evolution", ".config/evolution",
    ".local/share/TelegramDesktop", ".var/app", "snap",
    # What was typed
    ".bash_history", ".zsh_history", ".sh_history", ".zhistory", ".histfile", ".zsh_sessions", ".local/share/zsh",
    ".local/share/fish", ".local/share/atuin", ".python_history", ".node_repl_history", ".irb_history",
    ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".local/state/bash", ".viminfo",
    ".lesshst",
    # What agents keep
    ".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".copilot", ".config/github-copilot", ".cursor",
    ".config/Cursor", ".opencode", ".config/opencode", ".local/share/opencode", ".kiro", ".continue", ".goose",
    ".config/goose", ".aider.conf.yml", ".codeium", ".config/kilocode", ".config/zed",
)  # fmt: skip
"""What no command in a sandbox reads of a home."""
SECRETS_AMONG_CACHES = (
    ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
)  # fmt: skip
"""The same, where they are there: no command can make anything directly in a folder that something hidden is in, and
these are in folders that package managers want to write to."""


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """What a command may do. Paths are whole and real: `write` and all below may be changed, `hidden` and all below
    may not even be read."""

    profile: str
    network: str
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    home: str = "/"

    @property
    def plain(self) -> dict[str, Any]:
        """As a part of the action that people see."""
        return {"profile": self.profile, "network": self.network, "write": list(self.write)}

    @property
    def message(self) -> dict[str, Any]:
        """As its runner is told."""
        return {**self.plain, "read": list(self.read), "hidden": list(self.hidden), "home": self.home}


@dataclass(frozen=True, kw_only=True)
class SandboxWord:
    """What one tool file says; None where it says nothing."""

    profile: str | None
    network: str | None
    of_project: bool
    """Whether a project brought it: then it can only be stricter than the person."""


def sandbox_for(config: Config, project: Path, words: Iterable[SandboxWord]) -> Sandbox | None:
    """The sandbox of a command by its tool file, and by those of the sequences that it is a step of; None for none."""
    demanded = config.sandbox != NO_SANDBOX
    found: list[tuple[str, str]] = []
    for word in words:
        profile, network = word.profile or config.sandbox, word.network or config.sandbox_network
        if demanded and word.of_project:
            profile = strictest(SANDBOXES, profile, config.sandbox)
            network = strictest(NETWORKS, network, config.sandbox_network)
        found.append((profile, network))
    kept = [(profile, network) for profile, network in found if profile != NO_SANDBOX]
    if not kept:
        return None
    profile = strictest(SANDBOXES, *(profile for profile, _ in kept))
    home = os.path.realpath(os.path.expanduser("~"))
    changed = (project, *config.sandbox_write) if profile == "workspace" else ()
    return Sandbox(
        profile=profile,
        network=strictest(NETWORKS, *(network for _, network in kept)),
        write=_real(changed),
        read=_real((project, *config.command_roots)),
        hidden=(*_real((config.state_dir, config.user_dir, *config.sandbox_hide)), *_secrets(home)),
        home=home,
    )


def strictest(by_strictness: tuple[str, ...], *given: str) -> str:
    return max(given, key=by_strictness.index)


@cache
def why_not(network: str) -> str:
    """Why no sandbox with this network can be enforced on this machine; empty where it can. It is tried, once."""
    if sys.platform == "darwin":
        return "" if os.access("/usr/bin/sandbox-exec", os.X_OK) else "there is no sandbox-exec"
    if sys.platform != "linux":
        return f"there is no sandbox for {sys.platform}"
    import subprocess  # only now: most servers try none

    words = isolated.command("sayso.running.confined", network)
    try:
        tried = subprocess.run(words, capture_output=True, timeout=TRIAL_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it could not be tried ({error})"
    if not tried.returncode:
        return ""
    return (tried.stderr.decode(errors="replace").strip().splitlines() or ["it failed"])[-1]


def _secrets(home: str) -> Iterator[str]:
    """Whole and real paths. Most lie in the same few folders: those are looked up once, for each command waits."""
    there = (name for name in SECRETS_AMONG_CACHES if os.path.lexists(f"{home}/{name}"))
    folders: dict[str, str] = {}
    for name in (*SECRETS, *there):
        folder, _, last = f"{home}/{name}".rpartition("/")
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        path = f"{folders[folder]}/{last}"
        yield os.path.realpath(path) if os.path.islink(path) else path


def _real(paths: Iterable[Path | str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths))
