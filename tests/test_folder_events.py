"""The system's word about folders by signals, which nobody else in the process ever meets."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("Linux alone tells", allow_module_level=True)

from sayso.file_events import CREATED, IN_A_FILE, way_to
from sayso.folder_events import FolderEvents


def _told(events: FolderEvents, within: float = 25.0) -> bool:
    return bool(select.select([events], [], [], within)[0])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.touch()
    return file


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("new"),
        lambda file: file.unlink(),
        lambda file: file.rename(file.with_name("other")),
        lambda file: file.with_name("other").touch() or file.with_name("other").replace(file),
    ],
)
def test_a_change_of_a_file_is_told(file: Path, change: Callable[[Path], object]) -> None:
    with closing(FolderEvents([(file, IN_A_FILE)])) as events:
        change(file)
        assert _told(events)


def test_what_nobody_asked_for_is_not_told(file: Path) -> None:
    with closing(FolderEvents([(file, IN_A_FILE), *way_to(file)])) as events:
        file.read_text()
        os.utime(file)
        file.with_name("other").touch()
        (file.parent.parent / "above").write_text("new")
        assert not _told(events, 0.3)


def test_each_is_told_of_its_own(file: Path, tmp_path: Path) -> None:
    with closing(FolderEvents([(file, IN_A_FILE)])) as one, closing(FolderEvents([(tmp_path, CREATED)])) as other:
        (tmp_path / "new").touch()
        assert _told(other)
        assert not _told(one, 0.3)


def test_what_is_written_very_often_is_told_once_and_ends_nobody(file: Path) -> None:
    with closing(FolderEvents([(file, IN_A_FILE)])) as events:
        for number in range(2000):
            file.write_text(str(number))
        assert _told(events)
    file.write_text("nobody watches any more")
    with closing(FolderEvents([(file, IN_A_FILE)])) as events:
        file.write_text("again")
        assert _told(events)


def test_a_process_that_is_started_meanwhile_is_not_touched_by_it(file: Path) -> None:
    with closing(FolderEvents([(file, IN_A_FILE)])) as events:
        blocked = subprocess.check_output(["grep", "SigBlk", "/proc/self/status"], text=True)
        subprocess.check_call([sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write('new')", str(file)])
        assert _told(events)
    assert int(blocked.split()[1], 16) == 0


def test_in_a_process_only_so_many_can_watch_and_nothing_stays_open(file: Path) -> None:
    before = os.listdir("/proc/self/fd")
    watching = [FolderEvents([(file, IN_A_FILE)]) for _ in range(8)]
    with pytest.raises(OSError, match="only 8"):
        FolderEvents([(file, IN_A_FILE)])
    for each in watching:
        each.close()
    FolderEvents([(file, IN_A_FILE)]).close()
    assert len(os.listdir("/proc/self/fd")) == len(before)
