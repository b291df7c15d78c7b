"""Which sandbox a call runs in, what its action says of it, and what becomes of one that cannot be enforced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.trusting import trust

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.errors import SandboxUnavailable
from sayso.operations import order as orders
from sayso.operations.order import Order
from sayso.operations.wanted_action import WantedActions
from sayso.permissions.parts import PartName, parts_of
from sayso.records import replace
from sayso.running.sandbox import Sandbox
from sayso.toolfiles.catalog import Catalog, CommandTool
from sayso.toolfiles.leaves import Probe, leaves
from sayso.toolfiles.model import ToolFile
from sayso.toolfiles.toolfile import load_file


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(project=tmp_path / "project", user_dir=tmp_path / "mine", state_dir=tmp_path / "state")


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "why_not", lambda network: "")


def tool(folder: Path, name: str = "make", **fields: object) -> CommandTool:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    told = {"schema_version": 2, "name": name, "description": "Builds.", "command": "true", **fields}
    file.write_text(json.dumps(told))
    read = load_file(file)
    assert isinstance(read, ToolFile), read
    return CommandTool(file=read, leaf=leaves(read)[0])


def order(config: Config, tool: CommandTool) -> Order:
    return Order(tool=tool, arguments={}, asker=Asker(client="codex", project=str(config.project)))


def profile(config: Config, tool: CommandTool) -> str | None:
    found = order(config, tool).sandbox(config)
    return found.profile if found else None


class Prepared:
    """Nothing runs before a command."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def environment(self, project: Path) -> Mapping[str, str]:
        return {"PATH": "/usr/bin:/bin"}

    def checks(self, order: Order) -> Sequence[Probe]:
        return ()

    def sandbox(self, order: Order) -> Sandbox | None:
        return order.sandbox(self._config)


def test_a_project_s_tool_file_cannot_loosen_what_the_person_demands(config: Config) -> None:
    theirs, own = tool(config.project_tools_dir, sandbox="none"), tool(config.user_tools_dir, sandbox="none")
    assert (profile(config, theirs), profile(config, own)) == (None, None)
    strict = replace(config, sandbox="workspace")
    assert (profile(strict, theirs), profile(strict, own)) == ("workspace", None)
    assert profile(strict, tool(config.project_tools_dir, sandbox="read-only")) == "read-only"


def test_a_stricter_sandbox_of_a_trusted_project_holds_for_the_persons_own_tool_of_that_name(config: Config) -> None:
    tool(config.user_tools_dir, "loose", sandbox="none")
    tool(config.project_tools_dir, "loose", sandbox="workspace", sandbox_network="none")
    tool(config.user_tools_dir, "strict", sandbox="read-only", sandbox_network="none")
    tool(config.project_tools_dir, "strict", sandbox="workspace", sandbox_network="all")
    tool(config.user_tools_dir, "online", sandbox="workspace", sandbox_network="all")
    tool(config.project_tools_dir, "online", sandbox="workspace", sandbox_network="loopback")
    tool(config.user_tools_dir, "free")
    tool(config.project_tools_dir, "free", command="false")
    before = Catalog(config).load().tools
    assert [profile(config, before[name]) for name in ("loose", "strict", "free")] == [None, "read-only", None]
    trust(config.state_dir, config.project)
    loaded = Catalog(config).load().tools
    sandboxes = [order(config, loaded[name]).sandbox(config) for name in ("loose", "strict", "online", "free")]
    found = [(each.profile, each.network) if each else None for each in sandboxes]
    assert found == [("workspace", "none"), ("read-only", "none"), ("workspace", "loopback"), None]


def test_the_sandbox_of_a_sequence_holds_for_its_steps(config: Config) -> None:
    step = tool(config.user_tools_dir, "step")
    steps = [{"tool": "step", "subcommand": "default"}]
    whole = order(config, tool(config.user_tools_dir, "all", sandbox="workspace", sequence=steps))
    found = whole.step(1, {"step": step}).sandbox(config)
    assert found
    assert (found.profile, found.write) == ("workspace", (str(config.project),))


def test_what_cannot_be_enforced_is_refused_unless_the_person_says_otherwise(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "why_not", lambda network: "the kernel has no Landlock")
    theirs = tool(config.project_tools_dir, sandbox="workspace")
    with pytest.raises(SandboxUnavailable, match=r"make was not run: .*the kernel has no Landlock"):
        profile(config, theirs)
    assert profile(replace(config, sandbox_missing="run"), theirs) is None
    assert profile(config, tool(config.project_tools_dir, "free")) is None


def test_the_card_says_in_which_sandbox_it_will_run(config: Config) -> None:
    def card(tool: CommandTool) -> dict[PartName, str]:
        wanted = order(config, tool)
        command = wanted.command(config, config.operations_dir / "op")
        action = WantedActions(config, {}, Prepared(config)).of(wanted, command, config.operations_dir / "op")
        return {part.name: part.text for part in parts_of(action)}

    config.project.mkdir()
    said = card(tool(config.user_tools_dir, sandbox="workspace", sandbox_network="loopback"))
    assert said[PartName.SANDBOX] == f"workspace\nnetwork: loopback\nwrites: {config.project}"
    assert PartName.SANDBOX not in card(tool(config.user_tools_dir, "free"))
