"""Talk in a project that nobody has trusted: the agent starts without what it brings, and the person is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.talk.stage import Stage
from tests.trusting import trust

from sayso.agents.model import EventKind, Run

HOOK = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}


def started(stage: Stage, project: int, note: Path) -> tuple[Run, list[str]]:
    """A turn that has ended, and the words that its agent was started with."""
    run = stage.ended(stage.visitor().start(project, f"environment {note}", "say Done"))
    return run, json.loads(note.read_text())["argv"]


def told(stage: Stage, run: Run) -> str:
    return "\n".join(event.body["text"] for event in stage.events(run, EventKind.NOTICE))


@pytest.mark.finding("F-22")
def test_an_agent_loads_nothing_of_a_project_until_it_is_trusted_and_again_when_that_changes(
    stage: Stage, tmp_path: Path
) -> None:
    project, folder = stage.project("clone"), stage.folder / "clone"
    (folder / ".mcp.json").write_text('{"mcpServers": {"evil": {"command": "./evil"}}}')
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text(json.dumps(HOOK))
    run, argv = started(stage, project, tmp_path / "first")
    assert argv[argv.index("--setting-sources") + 1] == "user"
    assert "Started without what this project brings (.mcp.json, .claude/settings.json)" in told(stage, run)
    assert f"sayso trust {folder}" in told(stage, run)
    assert f"<code>sayso trust {folder}</code>" in stage.visitor().get("/talk").text
    trust(stage.house.place.state, folder)
    run, argv = started(stage, project, tmp_path / "second")
    assert "--setting-sources" not in argv
    assert told(stage, run) == ""
    assert "sayso trust" not in stage.visitor().get("/talk").text
    (folder / ".claude" / "settings.json").write_text(json.dumps({**HOOK, "env": {"A": "b"}}))
    run, argv = started(stage, project, tmp_path / "third")
    assert argv[argv.index("--setting-sources") + 1] == "user"
    assert "(.claude/settings.json)" in told(stage, run)


@pytest.mark.finding("F-22")
def test_what_lies_above_the_project_is_kept_out_too_and_what_we_write_there_ourselves_is_not_counted(
    stage: Stage, tmp_path: Path
) -> None:
    project, folder = stage.project("tree/inner"), stage.folder / "tree" / "inner"
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.local.json").write_text('{"mcpServers": {"ask-user": {"command": "sayso"}}}')
    run, argv = started(stage, project, tmp_path / "first")
    assert "--setting-sources" not in argv
    (folder.parent / ".mcp.json").write_text('{"mcpServers": {}}')
    run, argv = started(stage, project, tmp_path / "second")
    assert "--setting-sources" in argv
    assert "../.mcp.json" in told(stage, run)


def test_a_file_whose_name_would_drive_a_terminal_is_spelt_out(stage: Stage, tmp_path: Path) -> None:
    project, folder = stage.project("named"), stage.folder / "named"
    (folder / ".claude" / "skills").mkdir(parents=True)
    (folder / ".claude" / "skills" / "a\n\x1b[2J\u202e.md").write_text("x")
    run, _ = started(stage, project, tmp_path / "note")
    assert r'".claude/skills/a\n\u001b[2J\u202e.md"' in told(stage, run)
