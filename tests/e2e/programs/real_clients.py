"""The real programs from npm, in a home of the test's own: `make test-clients` fetches them and runs this file.

Not part of `make test`: they are close to a gigabyte. What is shown here is that `sayso install` speaks their language.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.program import BIN, SOMEONE, Home, Ran
from tests.e2e.clients.install import PINS
from tests.e2e.programs.fetch import node, programs
from tests.e2e.programs.model import Json, Model, say, use

from sayso.asks.model import Answer, State
from sayso.install.targets import BY_KEY

SECONDS = 90
NAMES = ("claude-code", "codex", "gemini")
THE_ANSWER = "Use the harbour at dawn."


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A home with the three programs on its PATH."""

    home: Home

    def run(self, *words: str, **env: str) -> Ran:
        ran = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.home.project,
            env={**self.home.env, **env},
            timeout=SECONDS,
            check=False,
        )
        return Ran(code=ran.returncode, out=ran.stdout, err=ran.stderr)


@pytest.fixture(scope="session")
def fetched() -> Path:
    return programs()


@pytest.fixture
def machine(fetched: Path) -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        path = f"{fetched}:{BIN}:{node().node.parent}:/usr/bin:/bin"
        home = Home(folder=folder, extra={"PATH": path, "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"})
        home.project.mkdir()
        trust(home)
        yield Machine(home=home)


def trust(home: Home) -> None:
    """Gemini starts no server in a folder that nobody trusts."""
    file = home.folder / ".gemini" / "trustedFolders.json"
    file.parent.mkdir()
    file.write_text(json.dumps({str(home.project): "TRUST_FOLDER"}))


def listing(machine: Machine, name: str) -> str:
    """What the client itself says of its servers, in words or on stderr."""
    ran = machine.run(BY_KEY[name].programs[0], "mcp", "list")
    assert ran.code == 0, ran.err
    return ran.out + ran.err


@pytest.mark.parametrize("name", NAMES)
def test_the_clients_own_listing_shows_sayso_after_install_and_no_more_after_uninstall(
    machine: Machine, name: str
) -> None:
    assert "sayso" not in listing(machine, name).replace(str(machine.home.folder), "")
    ran = machine.run("sayso", "install", name)
    assert ran.code == 0, ran.err
    assert f"by `{BY_KEY[name].programs[0]} mcp add`" in ran.out
    shown = listing(machine, name)
    assert f"{BIN / 'sayso'}" in shown
    assert {"claude-code": "✔ Connected", "codex": "enabled", "gemini": "Connected"}[name] in shown
    assert "already there" in machine.run("sayso", "install", name).out
    checked = machine.run("sayso", "doctor", "--client", name)
    assert checked.code == 0, checked.out
    assert machine.run("sayso", "uninstall", name).code == 0
    assert str(BIN / "sayso") not in listing(machine, name)


def test_codex_takes_the_time_limit_in_seconds(machine: Machine) -> None:
    machine.run("sayso", "install", "codex")
    shown = machine.run("codex", "mcp", "get", "sayso", "--json")
    assert json.loads(shown.out)["tool_timeout_sec"] == 86_400


@pytest.mark.parametrize("name", ["claude-code", "gemini"])
def test_a_project_gets_its_own_entry_by_the_clients_own_command(machine: Machine, name: str) -> None:
    ran = machine.run("sayso", "install", name, "--project")
    assert ran.code == 0, ran.err
    file = machine.home.project / BY_KEY[name].project_file
    assert json.loads(file.read_text())["mcpServers"]["sayso"]["command"] == "sayso"
    assert "sayso: sayso server" in listing(machine, name)


def test_an_ask_answered_after_its_call_ended_reaches_claude_at_its_next_step_once(machine: Machine) -> None:
    home = machine.home
    assert machine.run("sayso", "install", "claude-code", "--hook").code == 0

    def script(request: Json) -> Json:
        results = [part for message in request["messages"] for part in _parts(message) if part["type"] == "tool_result"]
        if not results:
            question = {"question": "Where do we land?", "nonBlocking": True}
            return use("mcp__sayso__ask_user", "toolu_ask", question)
        if len(results) == 1:
            _answer(home)
            return use("Bash", "toolu_bash", {"command": "true", "description": "Do nothing"})
        return say("Done.")

    with Model(script).serving() as model:
        claude = ("claude", "-p", "Go on.", "--allowedTools", "Bash", "mcp__sayso__ask_user", "--model", "sonnet")
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-none", "IS_SANDBOX": "1"}
        ran = machine.run(*claude, **env)
        assert ran.code == 0, ran.out + ran.err
        told = [json.dumps(request["messages"]).count(THE_ANSWER) for request in model.requests]
        assert told == [0, 0, 1]
        assert machine.run(*claude, **env).code == 0
        # The second conversation asks again: the same question is taken up, and nothing is told twice.
        assert json.dumps(model.requests[3]["messages"]).count(THE_ANSWER) == 0


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [] if isinstance(content, str) else content


def _answer(home: Home) -> None:
    with home.desk() as desk:
        for ask in desk.inbox():
            if ask.state is State.PENDING:
                desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=THE_ANSWER)], SOMEONE)


def test_the_plugin_and_the_catalogue_are_valid_for_claude(machine: Machine) -> None:
    root = Path(__file__).parents[3]
    for folder in (root / "packages" / "claude-code", root):
        checked = machine.run("claude", "plugin", "validate", "--strict", str(folder))
        assert checked.code == 0, checked.out + checked.err


def test_the_programs_are_the_pinned_ones(machine: Machine) -> None:
    pinned = json.loads((PINS / "programs" / "package.json").read_text())["dependencies"]
    for name, package in (("claude", "@anthropic-ai/claude-code"), ("codex", "@openai/codex")):
        found = shutil.which(name, path=machine.home.env["PATH"])
        assert found is not None
        assert os.path.dirname(found).endswith(".bin")
        assert pinned[package] in machine.run(name, "--version").out
