"""The files of a project by their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.trees.repositories import git, new_repository

from sayso.trees import files
from sayso.trees.files import files_of, matching
from sayso.trees.shadow import Shadow


def test_git_names_what_it_knows_and_what_is_new_and_neither_what_it_ignores_nor_what_is_gone(
    project: Path, shadow: Shadow
) -> None:
    (project / ".gitignore").write_text("*.o\n")
    for name in ("new.py", "new.o"):
        (project / name).touch()
    (project / "old.txt").unlink()
    new_repository(project / "another", inner_py="")
    assert files_of(shadow, project) == [".gitignore", "new.py", "notes.txt", "shop.py"]


def test_in_a_folder_of_a_repository_only_what_lies_there_is_named(project: Path, shadow: Shadow) -> None:
    (project / "part" / "deep").mkdir(parents=True)
    for name in ("part/one", "part/deep/two", "partly"):
        (project / name).touch()
    git(project, "add", "--all")
    assert files_of(shadow, project / "part") == ["deep/two", "one"]


def test_without_git_files_are_looked_for_but_neither_behind_links_nor_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder / "src", folder / ".git", folder / "node_modules", outside):
        place.mkdir(parents=True)
        (place / "file").touch()
    (folder / "link").symlink_to(outside)
    (folder / "linked").symlink_to(outside / "file")
    (folder / "top").touch()
    assert files_of(None, folder) == ["top", "src/file"]
    monkeypatch.setattr(files, "MOST_WALKED", 1)
    assert files_of(None, folder) == ["top"]
    assert files_of(None, tmp_path / "gone") == []


def test_names_that_do_not_read_as_what_they_are_stay_out(tmp_path: Path) -> None:
    for name in ("plain", "two words", "a\u202eb", "a\u200bb", "a\nb", os.fsdecode(b"\xff")):
        (tmp_path / name).touch()
    assert files_of(None, tmp_path) == ["plain"]


def test_what_begins_as_wanted_comes_first_and_no_more_than_that_many() -> None:
    names = ["lib/unshop.py", "shop/x", "a/Shop.py", "b"]
    assert matching(names, "shop", 9) == ["a/Shop.py", "shop/x", "lib/unshop.py"]
    assert matching(names, "", 2) == ["b", "shop/x"]
