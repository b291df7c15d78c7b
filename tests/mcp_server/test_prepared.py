"""Answers that are kept for the next start: found again while all that they depend on is the same, and only then."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.mcp_server import prepared
from sayso.mcp_server.prepared import MOST_FILES, find, for_any_project, for_this_project

ASKED = "tools/list of somebody"
LATER = 3600.0


class Start:
    """One way of starting a server: a home, a project, arguments."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        for made in (self.home, self.project / ".sayso" / "tools"):
            made.mkdir(parents=True)
        self.environ = {
            "HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "SAYSO_PROFILE": "all",
            "SAYSO_STATE_DIR": str(folder / "state"),
        }
        self.cache = folder / "cache" / "sayso" / "prepared"
        self.settings = self.home / "config.toml"
        self.tool = self.project / ".sayso" / "tools" / "tool.json"
        self.settings.write_text("max_options = 5")
        self.tool.write_text("{}")

    @property
    def places(self) -> list[str]:
        return [str(self.settings), str(self.project / ".sayso" / "config.toml"), str(self.tool.parent)]

    def keep(self, result: bytes = b"{}", since: float | None = None) -> None:
        kept = for_any_project(self.places, self.environ)
        assert kept
        kept.keep(ASKED, result, time.time() + LATER if since is None else since)

    def found(self, asked: str = ASKED) -> bytes | None:
        answers = [one.answer(asked) for one in find(self.environ)]
        return next((answer for answer in answers if answer is not None), None)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    monkeypatch.setattr(sys, "argv", ["/bin/sayso", "server"])
    return Start(tmp_path)


def test_a_kept_answer_is_found_by_the_same_question_alone(start: Start) -> None:
    assert start.found() is None
    start.keep(b'{"tools":[]}')
    assert start.found() == b'{"tools":[]}'
    assert start.found("tools/list of somebody else") is None
    start.keep(b'{"tools":[1]}')
    assert start.found() == b'{"tools":[1]}'


CHANGES: dict[str, Callable[[Start, pytest.MonkeyPatch], object]] = {
    "a tool file": lambda start, _: start.tool.write_text("[]"),
    "a new tool file": lambda start, _: start.tool.with_name("new.json").write_text("{}"),
    "a tool file less": lambda start, _: start.tool.unlink(),
    "the user's settings": lambda start, _: start.settings.write_text("max_options = 6"),
    "settings that come": lambda start, _: (start.project / ".sayso" / "config.toml").write_text(""),
    "a variable": lambda start, _: start.environ.update(SAYSO_PROFILE="auq"),
    "a relay": lambda start, _: start.environ.update(ASK_USER_CONFIG="/tmp/relay.json"),
    "another home": lambda start, _: start.environ.update(HOME="/nowhere"),
    "a flag": lambda _, patch: patch.setattr(sys, "argv", ["/bin/sayso", "server", "--profile", "auq"]),
    "the program": lambda _, patch: patch.setattr(sys, "argv", ["/bin/auq", "server"]),
    "another Python": lambda _, patch: patch.setattr(sys, "version", "4.0"),
    "our own sources": lambda _, patch: patch.setattr(prepared, "_PACKAGE", str(Path(__file__).parent)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_changes_an_old_answer_is_not_found(
    change: Callable[[Start, pytest.MonkeyPatch], object], start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start.keep()
    change(start, monkeypatch)
    assert start.found() is None


def test_an_installation_of_any_package_makes_all_answers_old(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.setattr(sys, "path", [str(packages)])
    start.keep()
    assert start.found() is not None
    (packages / "new.dist-info").mkdir()
    assert start.found() is None


def test_what_does_not_matter_changes_nothing(start: Start) -> None:
    start.keep()
    start.environ.update(SAYSO_STATE_DIR="/elsewhere", EDITOR="vi")
    (start.tool.parent / ".hidden.json").write_text("{}")
    (start.tool.parent / "notes.md").write_text("")
    assert start.found() == b"{}"


def test_an_answer_holds_in_every_project_with_the_same_files(start: Start, tmp_path: Path) -> None:
    start.keep()
    other = tmp_path / "worktree"
    (other / ".sayso" / "tools").mkdir(parents=True)
    start.environ["CLAUDE_PROJECT_DIR"] = str(other)
    assert start.found() is None
    (other / ".sayso" / "tools" / "tool.json").write_text("{}")
    assert start.found() == b"{}"


def test_an_answer_can_be_kept_for_one_project_alone(start: Start, tmp_path: Path) -> None:
    kept = for_this_project(start.places, start.environ)
    assert kept
    kept.keep(ASKED, b"{}", time.time() + LATER)
    assert start.found() == b"{}"
    start.environ["CLAUDE_PROJECT_DIR"] = str(tmp_path)
    assert start.found() is None


def test_nothing_is_kept_when_files_changed_after_the_start(start: Start) -> None:
    start.keep(since=os.stat(start.tool).st_ctime)
    assert start.found() is None
    assert not start.cache.exists()


def test_what_is_kept_is_for_its_owner_alone_and_nothing_else_is_believed(start: Start) -> None:
    start.keep()
    assert stat.S_IMODE(start.cache.stat().st_mode) == 0o700
    for file in start.cache.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o666)
    assert start.found() is None


def test_a_named_pipe_among_the_files_holds_nothing_up(start: Start) -> None:
    os.mkfifo(start.tool.with_name("pipe.json"))
    start.keep()
    assert start.found() == b"{}"


def test_the_oldest_answers_go_when_there_are_too_many(start: Start) -> None:
    start.cache.mkdir(parents=True)
    for number in range(MOST_FILES + 20):
        (start.cache / f"old{number}").touch()
    start.keep()
    assert len(list(start.cache.iterdir())) == MOST_FILES
    assert start.found() == b"{}"


def test_a_home_that_cannot_be_written_costs_nothing_but_time(start: Start) -> None:
    Path(start.environ["XDG_CACHE_HOME"]).write_text("a file in the way")
    start.keep()
    assert start.found() is None
    start.environ["XDG_CACHE_HOME"] = "relative"
    assert for_any_project(start.places, start.environ) is None
