"""What somebody else can have written is told from what only this person can."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import ownership
from sayso.ownership import written_by_others

OTHER_GROUP = 4242


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """What is known of the groups of this machine is forgotten."""
    for known in (ownership._own_group, ownership._has_others):
        known.cache_clear()
    yield
    for known in (ownership._own_group, ownership._has_others):
        known.cache_clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    (folder / "file").write_text("")
    (folder / "file").chmod(0o600)
    return folder / "file"


def users(monkeypatch: pytest.MonkeyPatch, group: int, *others: str, named: tuple[str, ...] = ()) -> None:
    """This machine has this person and others, all in one group of their own; and some are named in that."""
    mine = pwd.struct_passwd(("ada", "x", os.geteuid(), group, "", "/", "/bin/sh"))
    rest = [pwd.struct_passwd((name, "x", 7000 + n, group, "", "/", "/bin/sh")) for n, name in enumerate(others)]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: mine)
    monkeypatch.setattr(pwd, "getpwall", lambda: [mine, *rest])
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group(("ada", "x", gid, [*named])))


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400])
def test_what_nobody_else_can_write_is_this_persons(file: Path, mode: int) -> None:
    file.chmod(mode)
    file.parent.chmod(0o755)
    assert written_by_others(file) is None


def test_what_everybody_can_write_is_not(file: Path) -> None:
    file.chmod(0o602)
    assert written_by_others(file) == file


def test_a_folder_that_everybody_can_write_counts_wherever_on_the_way_it_is(file: Path) -> None:
    file.parent.chmod(0o777)
    assert written_by_others(file) == file.parent
    file.parent.chmod(0o700)
    file.parent.parent.chmod(0o777)
    assert written_by_others(file) == file.parent.parent
    file.parent.parent.chmod(0o1777)
    assert written_by_others(file) is None, "as in /tmp, only an owner replaces what is there"


def test_a_group_of_ones_own_is_nobody_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users(monkeypatch, file.stat().st_gid)
    file.chmod(0o664)
    file.parent.chmod(0o775)
    assert written_by_others(file) is None


@pytest.mark.parametrize(
    ("others", "named"), [(("bo",), ()), ((), ("ada", "bo"))], ids=["whose own group it is too", "who is named in it"]
)
def test_a_group_with_others_in_it_is_not(
    file: Path, monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...], named: tuple[str, ...]
) -> None:
    users(monkeypatch, file.stat().st_gid, *others, named=named)
    file.chmod(0o660)
    assert written_by_others(file) == file
    file.chmod(0o640)
    file.parent.chmod(0o770)
    assert written_by_others(file) == file.parent


def test_a_group_that_is_not_ones_own_is_not(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users(monkeypatch, OTHER_GROUP)
    file.chmod(0o660)
    assert written_by_others(file) == file


def test_a_list_of_who_else_may_write_counts(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users(monkeypatch, file.stat().st_gid)
    file.chmod(0o660)
    monkeypatch.setattr(os, "listxattr", lambda place: ["system.posix_acl_access"], raising=False)
    assert written_by_others(file) == file


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_theirs(file: Path, tmp_path: Path) -> None:
    os.chown(file.parent, 4242, -1)
    assert written_by_others(file) == file.parent
    os.chown(file.parent, 0, -1)
    os.chown(file, 4242, -1)
    assert written_by_others(file) == file
    os.chown(file, 0, -1)
    link = tmp_path / "link"
    link.symlink_to(file)
    assert written_by_others(link) is None
    os.lchown(link, 4242, -1)
    assert written_by_others(link) == link


def test_a_link_counts_with_the_folders_on_both_ways(file: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir(mode=0o700)
    link = beside / "link"
    link.symlink_to(file)
    assert written_by_others(link) is None
    file.parent.chmod(0o777)
    assert written_by_others(link) == file.parent
    file.parent.chmod(0o700)
    beside.chmod(0o777)
    assert written_by_others(link) == beside


def test_what_is_no_file_is_not_looked_at() -> None:
    assert written_by_others(Path("/dev/null")) is None
    with pytest.raises(FileNotFoundError):
        written_by_others(Path("/nowhere/at/all"))
