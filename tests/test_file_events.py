"""The system's word that something has changed, and whether it is enough."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.file_events import IN_A_FILE, tells_all, watch, way_to

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux alone tells")


def _told(wanted: list[tuple[Path, int]], change: Callable[[], object]) -> bool:
    fd = watch(wanted)
    try:
        change()
        return bool(os.read(fd, 4096))
    except BlockingIOError:
        return False
    finally:
        os.close(fd)


def test_a_change_of_a_file_is_told_and_of_another_is_not(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.touch()
    assert _told([(file, IN_A_FILE)], lambda: file.write_text("new"))
    assert not _told([(file, IN_A_FILE)], lambda: other.write_text("new"))


def test_it_is_told_when_a_folder_above_is_moved_away(tmp_path: Path) -> None:
    file = tmp_path / "above" / "folder" / "file"
    file.parent.mkdir(parents=True)
    file.touch()
    assert _told(list(way_to(file)), lambda: (tmp_path / "above").rename(tmp_path / "elsewhere"))


def test_where_there_are_no_more_of_them_it_says_which_limit_to_look_at(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(OSError, match="max_user_instances"):
            watch([(tmp_path, IN_A_FILE)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_file_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    assert not _told([(tmp_path / "nowhere", IN_A_FILE)], lambda: None)


def test_a_link_on_the_way_may_be_turned_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert tells_all(tmp_path / "real" / "file")
    assert not tells_all(tmp_path / "link" / "file")


@pytest.mark.parametrize(("kind", "told"), [("nfs4", False), ("fuse.sshfs", False), ("ext4", True)])
def test_what_another_machine_can_write_to_is_not_all_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, told: bool
) -> None:
    mounts = f"1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / {tmp_path} rw shared:1 - {kind} there:/ rw\n"
    monkeypatch.setattr(Path, "read_text", lambda *_: mounts)
    assert tells_all(tmp_path / "folder") is told


def test_what_has_no_file_system_that_is_known_is_not_all_told() -> None:
    assert not tells_all(Path("/proc/self/status"))
