"""Every command has its place here: one that could widen what agents may do, or speak for a person, is refused to an
agent that runs it; of every other it is said why it is not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.cli.program import SECONDS, Home, choice
from tests.cli.pseudo_terminal import Terminal
from tests.cli.test_allow import PUSH
from tests.cli.test_guard import AS_AGENT
from tests.cli.test_tools import SLEEPER, write_tool

from sayso.asks.model import Asker, State
from sayso.cli.command_table import COMMANDS
from sayso.cli.lazy_group import load

PERMISSIONS_MD = Path(__file__).parents[2] / "docs" / "permissions.md"
READS = "it only reads"
SERVES = "agents' clients start it themselves"
REFUSED: dict[str, list[list[str]]] = {
    "answer": [["ID", "SQLite"]],
    "reject": [["ID"]],
    "snooze": [["ID"]],
    "allow": [["PERMISSION", "--digest", PUSH.digest]],
    "deny": [["PERMISSION"]],
    "away": [[], ["--until", "2h", "--delegate", "bo"]],
    "back": [[]],
    "rules end": [["3f2a"]],
    "tools init": [["make", "--user"]],
    "tools run": [["sleeper", "script=true", "--sandbox", "none"], ["sleeper", "script=true", "--network", "all"]],
    "trust": [["--digest", "0" * 64], ["--revoke"]],
    "install": [
        ["claude-code", "--approvals"],
        ["claude-code", "--hook"],
        ["claude-code", "--foreground"],
        ["claude-code", "--guard", "files"],
    ],
    "uninstall": [[], ["claude-code"], ["--project"], ["claude-code", "--guard", "files"]],
    "web": [[], ["--link"], ["--api-token"]],
    "project add": [["."]],
    "project remove": [["shop"]],
    "project sync": [[]],
    "project stop": [[], ["shop"]],
    "sync-workspaces": [[]],
    "user add": [["x"]],
    "user revoke": [["x"]],
    "chat add": [["telegram"]],
    "chat link": [["telegram"]],
    "chat unlink": [["5f1c"]],
    "chat remove": [["telegram"]],
    "chat test": [[]],
    "token add": [["x"]],
    "token revoke": [["x"]],
    "config set": [["sandbox", "none"], ["--project", "max_options", "6"]],
    "config unset": [["sandbox"]],
    "backup": [["there.sayso-backup"]],
    "restore": [["there.sayso-backup"]],
}
"""Each with the words that an agent is refused."""
OPEN = {
    **dict.fromkeys(("list", "show", "history", "agents", "completion", "config"), READS),
    **dict.fromkeys(("log", "log show", "log stats", "log verify"), READS),
    **dict.fromkeys(("rules", "rules check", "rules test", "rules suggest", "rules import"), READS),
    **dict.fromkeys(("tools list", "tools validate", "tools schema"), READS),
    **dict.fromkeys(("ops list", "ops show", "ops output", "ops watch"), READS),
    **dict.fromkeys(("project list", "user list", "chat list", "token list"), READS),
    "ask": "agents ask",
    "ops cancel": "it ends what an agent has begun, and says that an agent did",
    "doctor": "it changes nothing, and starts the servers that clients start",
    **dict.fromkeys(("server", "guard", "hook", "gate"), SERVES),
    "demo": "all of it is in a folder and a store of its own",
}
"""Each with why not."""


def leaves() -> Iterator[str]:
    """The words of every command that does something."""
    for name in COMMANDS:
        command = load(name)
        if isinstance(command, click.Group):
            yield from ([name] if command.invoke_without_command else [])
            yield from (f"{name} {below}" for below in command.commands)
        else:
            yield name


def test_every_command_is_refused_to_agents_or_said_to_be_harmless() -> None:
    assert sorted(leaves()) == sorted([*REFUSED, *OPEN])


def test_the_documents_name_those_that_are_refused() -> None:
    told = re.search(r"no agent can run either:(.*?) Each ends", " ".join(PERMISSIONS_MD.read_text().split()))
    assert told
    assert sorted(each.split(" --")[0] for each in re.findall(r"`([a-z][^`]*)`", told[1])) == sorted(REFUSED)


@pytest.mark.parametrize("words", REFUSED)
def test_an_agent_is_refused_and_nothing_has_changed(home: Home, words: str) -> None:
    ask = home.leave(choice(), asker=Asker(client="codex", session="another-session"))
    write_tool(home, SLEEPER)
    before = {file: file.read_bytes() for file in files(home)}
    with home.permission(PUSH, asker=ask.asker) as permission:
        ids = {"ID": ask.id, "PERMISSION": permission.id}
        for more in REFUSED[words]:
            ran = home.run(*words.split(), *(ids.get(word, word) for word in more), CLAUDECODE="1")
            assert ran.code == 5, (more, ran.err)
            assert "This command was started by an agent" in ran.error
            assert "This attempt was recorded." in ran.error
        assert home.ask_of(ask).state is home.ask_of(permission).state is State.PENDING
    assert {file: file.read_bytes() for file in files(home)} == before


def files(home: Home) -> list[Path]:
    return [file for file in home.folder.rglob("*") if file.is_file() and home.state not in file.parents]


# Gates


@pytest.fixture
def gated(home: Home) -> Path:
    """Claude Code with all that stands between it and a person."""
    settings = home.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    (home.folder / ".claude.json").write_text('{"mcpServers": {"files": {"command": "files", "args": []}}}')
    assert home.run("install", "claude-code", "--approvals", "--hook", "--guard", "files").code == 0
    assert home.run("install", "claude-code", "--approvals", "--hook").code == 0
    assert "sayso" in settings.read_text()
    return settings


def test_an_agent_takes_no_gate_off_and_its_try_is_known(home: Home, gated: Path) -> None:
    entries = home.folder / ".claude.json"
    before = gated.read_text(), entries.read_text()
    for words in ([], ["claude-code"], ["claude-code", "--guard", "files"]):
        assert home.run("uninstall", *words, CLAUDECODE="1").code == 5
    assert (gated.read_text(), entries.read_text()) == before
    assert "an agent tried to take off what asks a person (CLAUDECODE is set)" in home.run("user", "list").err
    assert home.run("uninstall").code == 0, "a person does"


@pytest.mark.parametrize(
    "words", ["uninstall", "install codex --approvals", "tools init make --user", "config set sandbox none"]
)
def test_a_store_of_its_own_is_no_way_around_it(home: Home, words: str) -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            AS_AGENT.replace("sayso web --api-token --user ada", f"sayso {words}"),
            f"SAYSO_STATE_DIR={home.project}/own",
        ],
        capture_output=True,
        text=True,
        env=home.env,
        cwd=home.project,
        timeout=2 * SECONDS,
        check=True,
    )
    assert ran.stdout.startswith("5 "), ran.stdout
    assert "it descends from process" in ran.stdout


@pytest.mark.parametrize("makes", ["nothing", "a folder in its place"])
def test_a_person_gets_rid_of_all_of_it_without_a_store(home: Home, gated: Path, makes: str) -> None:
    (home.state / "sayso.db").unlink(missing_ok=True)
    if makes != "nothing":
        (home.state / "sayso.db").mkdir()
    assert home.run("uninstall").code == 0
    assert not gated.exists()
    assert home.run("uninstall", CLAUDECODE="1").code == 5


# What an agent may install


def test_an_agent_adds_the_plain_server_where_there_is_none(home: Home) -> None:
    own = {"SAYSO_STATE_DIR": "", "XDG_STATE_HOME": str(home.folder / "elsewhere"), "CLAUDECODE": "1"}
    ran = home.run("install", "cursor", **own)
    assert ran.code == 0, ran.err
    entry = json.loads((home.folder / ".cursor" / "mcp.json").read_text())["mcpServers"]["sayso"]
    assert entry["args"] == ["server"]
    assert "already there" in home.run("install", "cursor", **own).out
    assert home.run("install", "cursor", "--lean", **own).code == 5, "another entry than there is"


def test_an_agent_registers_no_server_with_settings_of_its_choice(home: Home) -> None:
    (home.project / "mine.toml").write_text("")
    ran = home.run("install", "cursor", CLAUDECODE="1", SAYSO_CONFIG=str(home.project / "mine.toml"))
    assert ran.code == 5
    assert not (home.folder / ".cursor").exists()


def test_an_agent_may_look_at_what_would_be_installed(home: Home) -> None:
    for words in (["--list"], ["claude-code", "--approvals", "--dry-run"], ["claude-code", "--approvals", "--print"]):
        assert home.run("install", *words, CLAUDECODE="1").code == 0


def test_an_agent_takes_up_no_offer_of_more(home: Home) -> None:
    with Terminal(home, "install", "claude-code", CLAUDECODE="1", SAYSO_STATE_DIR="") as terminal:
        assert terminal.end() == 0
    assert "Bring these prompts" not in terminal.screen
    assert "Add the hook?" not in terminal.screen


# Tools, and what is said in whose name


def test_an_agent_gives_itself_no_tools_that_need_no_trust(home: Home) -> None:
    ran = home.run("tools", "init", "make", "--user", CLAUDECODE="1")
    assert ran.code == 5
    assert home.run("tools", "list", "--json").data == []
    assert home.run("tools", "init", CLAUDECODE="1").code == 0, "it may look which there are"
    assert home.run("tools", "init", "make", "--user").code == 0


def test_an_agent_cancels_in_its_own_name(home: Home) -> None:
    write_tool(home, SLEEPER)
    with home.start("tools", "run", "sleeper", "script=sleep 60") as running:
        while not (found := home.run("ops", "list", "--running", "--json").data):
            assert running.poll() is None
        ran = home.run("ops", "cancel", found[0]["id"], CLAUDECODE="1")
        running.communicate(timeout=SECONDS)
    assert "cancelled by an agent on the command line" in ran.err
    assert os.environ.get("USER", "ada") not in ran.err
