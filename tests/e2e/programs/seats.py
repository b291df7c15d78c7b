"""The real clients at work in a home with nothing but `sayso install` in it: how each is started, with and without a
terminal, on the scripted model, and how each names the tools.

What a person has decided in a client before they ever heard of Sayso is there as well: the login, and that the
project's folder is trusted.
"""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import Home

from sayso import process_table
from sayso.running import tree

Words = Callable[[str], list[str]]
"""From the address of the model to the words of a command."""

_numbers = itertools.count()
SIZE = ("120", "50")
SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One client, as the scripted model and a person meet it."""

    key: str
    headless: Words
    interactive: Words
    env: Callable[[str], Mapping[str, str]]
    tool: str
    """How the model names a tool of ours, with `{}` for its own name."""
    ask: str = "ask_user"
    files: Callable[[Path], Mapping[str, object]] = lambda project: {}
    """What is in the home of somebody who has used this client in this project before, by the path."""

    def move_in(self, home: Home) -> None:
        for name, content in self.files(home.project).items():
            path = home.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))


def _codex(url: str) -> list[str]:
    provider = f'model_providers.scripted={{name="scripted",base_url="{url}",wire_api="responses",env_key="A_KEY"}}'
    return ["-m", "scripted", "-c", provider, "-c", 'model_provider="scripted"']


def _opencode(url: str) -> dict[str, str]:
    provider = {"anthropic": {"options": {"baseURL": f"{url}/v1", "apiKey": "none"}}}
    config = {"provider": provider, "model": "anthropic/claude-sonnet-4-5", "autoupdate": False}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


SEATS = (
    Seat(
        key="claude-code",
        headless=lambda url: ["claude", "-p", "Go on."],
        interactive=lambda url: ["claude", "Go on."],
        env=lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-none",
            "IS_SANDBOX": "1",
            # Its own 5 s are not enough where many tests start programs at once.
            "CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "60000",
        },
        tool="mcp__sayso__{}",
        files=lambda project: {
            ".claude.json": {
                "hasCompletedOnboarding": True,
                "customApiKeyResponses": {"approved": ["sk-none"]},
                "projects": {str(project): {"hasTrustDialogAccepted": True}},
            }
        },
    ),
    Seat(
        key="codex",
        headless=lambda url: ["codex", "exec", "--skip-git-repo-check", *_codex(url), "Go on."],
        interactive=lambda url: ["codex", *_codex(url), "Go on."],
        env=lambda url: {"A_KEY": "sk-none"},
        tool="mcp__sayso/{}",
    ),
    Seat(
        key="gemini",
        headless=lambda url: ["gemini", "-m", "gemini-2.5-pro", "-p", "Go on."],
        interactive=lambda url: ["gemini", "-m", "gemini-2.5-pro", "-i", "Go on."],
        env=lambda url: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url},
        tool="mcp_sayso_{}",
        ask="ask_person",
        files=lambda project: {
            ".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}},
            ".gemini/trustedFolders.json": {str(project): "TRUST_FOLDER"},
        },
    ),
    Seat(
        key="opencode",
        headless=lambda url: ["opencode", "run", "Go on."],
        interactive=lambda url: ["opencode", "--prompt", "Go on."],
        env=_opencode,
        tool="sayso_{}",
    ),
    Seat(
        key="qwen",
        headless=lambda url: ["qwen", "--auth-type", "anthropic", "-p", "Go on."],
        interactive=lambda url: ["qwen", "--auth-type", "anthropic", "-i", "Go on."],
        env=lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_MODEL": "scripted"},
        tool="mcp__sayso__{}",
    ),
    Seat(
        key="copilot",
        headless=lambda url: ["copilot", "-p", "Go on."],
        interactive=lambda url: ["copilot", "-i", "Go on."],
        env=lambda url: {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "claude-sonnet-4.5",
        },
        tool="sayso-{}",
        files=lambda project: {".copilot/config.json": {"trustedFolders": [str(project)]}},
    ),
)


class Client:
    """A client at work, with or without a terminal."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def nudge(self) -> None:
        """Say once more that it shall go on, where somebody can."""

    @property
    def has_ended(self) -> bool:
        return False

    def shows(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    @property
    def pid(self) -> int:
        raise NotImplementedError

    def die(self, spared: Sequence[int] = ()) -> None:
        """At once and without a word, with all that it has started but the spared and what those have started."""

        def family() -> list[process_table.Process]:
            kept = {*spared, *(process.pid for pid in spared for process in tree.descendants(pid))}
            own = [process_table.find(client), *tree.descendants(client)]
            return [process for process in own if process and process.pid not in kept]

        client = self.pid
        assert tree.freeze(family)
        tree.send(signal.SIGKILL, family())

    def kill(self) -> None:
        raise NotImplementedError


class Headless(Client):
    def __init__(self, words: Sequence[str], home: Home, env: Mapping[str, str], log: Path) -> None:
        super().__init__(log)
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=home.project,
                env={**home.env, **env},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=SECONDS)


class Interactive(Client):
    """In a tmux of its own, which ends with it and with all that runs in it."""

    def __init__(self, words: Sequence[str], home: Home, env: Mapping[str, str], log: Path) -> None:
        super().__init__(log)
        self._name = f"sayso-client-{os.getpid()}-{next(_numbers)}"
        given = {**home.env, **env, "TERM": "screen-256color"}
        assigned = [f"{name}={value}" for name, value in given.items()]
        command = f"cd {home.project} && exec {shlex.join(['env', '-i', *assigned, *words])}"
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", SIZE[0], "-y", SIZE[1], command)

    def _tmux(self, *arguments: str) -> str:
        words = ["tmux", "-L", self._name, *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True).stdout

    @property
    def pid(self) -> int:
        return int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def nudge(self) -> None:
        self.write("Go on.")
        self.press("Enter")

    def write(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, key: str) -> None:
        """Press a key, by tmux's name for it."""
        self._tmux("send-keys", key)

    def shows(self) -> str:
        return self._tmux("capture-pane", "-p")

    def kill(self) -> None:
        # Gemini survives the end of its terminal. (tmux lets nobody halt what it runs, as `die` does.)
        with suppress(subprocess.CalledProcessError, ValueError):
            client = self.pid
            tree.kill(process for process in (process_table.find(client), *tree.descendants(client)) if process)
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, timeout=SECONDS, check=False)


MODES: Mapping[str, tuple[type[Headless | Interactive], str]] = {
    "headless": (Headless, "headless"),
    "interactive": (Interactive, "interactive"),
}


@contextmanager
def at_work(seat: Seat, mode: str, home: Home, url: str, more: Sequence[str] = ()) -> Iterator[Headless | Interactive]:
    kind, way = MODES[mode]
    words: Words = getattr(seat, way)
    client = kind([*words(url), *more], home, seat.env(url), home.folder / f"{mode}-{next(_numbers)}.log")
    try:
        yield client
    finally:
        client.kill()


def let_pass(seconds: float) -> None:
    """The time a person takes. Nothing else can show that a client still waits after it."""
    threading.Event().wait(seconds)


def until(seconds: float, look: Callable[[], object], what: Callable[[], str]) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end, f"Waited {seconds:.0f} s for {what()}"
        threading.Event().wait(0.2)
