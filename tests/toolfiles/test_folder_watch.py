"""Waiting for changes in folders: every kind of change wakes, and nothing else does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from sayso.toolfiles import folder_watch
from sayso.toolfiles.folder_watch import FolderWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells nothing: one looks")


def _wakes(folder: Path, change: Callable[[], object], monkeypatch: pytest.MonkeyPatch, within: float = 10.0) -> bool:
    """Whether a change wakes who waits, long before it would look by itself."""
    monkeypatch.setattr(folder_watch, "LOOK_SELDOM", 60.0)

    async def wait() -> bool:
        with FolderWatch([folder]) as armed, anyio.move_on_after(within) as patience:
            armed.arm()
            change()
            await armed.wait()
        return not patience.cancelled_caught

    return anyio.run(wait)


def test_every_change_of_a_file_in_the_folder_wakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    for change in (
        lambda: file.write_text("{}"),
        lambda: file.write_text("{ }"),
        lambda: file.rename(other),
        lambda: os.utime(other, (1, 1)),
        lambda: other.unlink(),
    ):
        assert _wakes(tmp_path, change, monkeypatch)


def test_a_folder_that_comes_step_by_step_wakes_at_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".sayso" / "tools"
    for step in (folder.parent.mkdir, folder.mkdir, (folder / "a.json").touch):
        assert _wakes(folder, step, monkeypatch)


def test_a_folder_that_goes_wakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    assert _wakes(folder, lambda: folder.rename(tmp_path / "gone"), monkeypatch)


def test_a_change_where_a_link_leads_wakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, elsewhere = tmp_path / "tools", tmp_path / "dotfiles.json"
    folder.mkdir()
    elsewhere.write_text("{}")
    (folder / "a.json").symlink_to(elsewhere)
    (folder / "broken.json").symlink_to(tmp_path / "nowhere")
    assert _wakes(folder, lambda: elsewhere.write_text("{ }"), monkeypatch)
    (new := tmp_path / "new").write_text("{}")
    assert _wakes(folder, lambda: new.replace(elsewhere), monkeypatch), "as editors do"


def test_where_another_machine_may_write_it_is_looked_anyway_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "LOOK_SELDOM", 0.01)
    monkeypatch.setattr(folder_watch, "tells_all", lambda path: path != tmp_path)

    async def wait() -> None:
        with FolderWatch([tmp_path]) as armed, anyio.fail_after(10):
            armed.arm()
            await armed.wait()

    anyio.run(wait)


def test_a_folder_that_is_moved_away_with_the_one_above_it_wakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config" / "tools"
    folder.mkdir(parents=True)
    assert _wakes(folder, lambda: (tmp_path / "config").rename(tmp_path / "elsewhere"), monkeypatch)


def test_nothing_stays_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with FolderWatch([tmp_path]) as armed:
        for _ in range(5):
            armed.arm()
        assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_where_there_are_no_more_of_its_watches_the_system_tells_by_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> int:
        raise OSError("no more of them")

    monkeypatch.setattr(folder_watch, "watch", refuse)
    folder = tmp_path / "tools"
    for change in (
        lambda: folder.mkdir(),
        lambda: (folder / "a.json").write_text("{}"),
        lambda: (folder / "a.json").chmod(0o600),
        lambda: (folder / "a.json").unlink(),
    ):
        assert _wakes(folder, change, monkeypatch)
    assert not _wakes(folder, lambda: (folder.parent / "other").touch(), monkeypatch, within=0.5)
