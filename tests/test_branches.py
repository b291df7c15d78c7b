"""Which branch is checked out: found in real repositories and worktrees, and nothing that one says can do harm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sayso.branches import LONGEST, branch_of


def git(folder: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    command = ["git", "-C", str(folder), *who, *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    git(folder, "commit", "--allow-empty", "-m", "First")
    return folder


def test_the_branch_of_a_repository_is_found_from_any_folder_in_it(repository: Path) -> None:
    inner = repository / "src" / "deep"
    inner.mkdir(parents=True)
    assert branch_of(str(repository)) == branch_of(str(inner)) == "main"
    git(repository, "switch", "-c", "fix/über-1")
    assert branch_of(str(repository)) == "fix/über-1"
    git(repository, "switch", "--detach")
    assert branch_of(str(repository)) == git(repository, "rev-parse", "HEAD")[:8]


@pytest.mark.finding("F-70")
def test_a_worktree_has_the_branch_that_is_checked_out_there(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-b", "feature", str(tmp_path / "other"))
    assert branch_of(str(tmp_path / "other")) == "feature"
    (tmp_path / "other" / ".git").write_text("gitdir: ../shop/.git/worktrees/other\n")
    assert branch_of(str(tmp_path / "other")) == "feature"
    assert branch_of(str(repository)) == "main"


def test_without_a_repository_there_is_none(tmp_path: Path) -> None:
    assert branch_of(str(tmp_path)) == ""
    assert branch_of(str(tmp_path / "nowhere")) == ""
    assert branch_of("a name") == ""
    assert branch_of("/a\x00b") == ""


@pytest.mark.parametrize(
    "head", [b"", b"root:x:0:0", b"ref: refs/heads/", b"\xff\xfe", b"ref: refs/heads/a\nb", b"x" * 9999]
)
def test_what_is_no_head_is_not_told(tmp_path: Path, head: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    assert branch_of(str(tmp_path)) == ""


def test_a_hostile_name_is_cleaned_and_short(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/\x1b[2J\u202e" + "y" * 3000)
    found = branch_of(str(tmp_path))
    assert len(found) <= LONGEST
    assert not {"\x1b", "\u202e"} & set(found)


def test_nothing_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert branch_of(str(tmp_path)) == ""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / ".git").write_text("gitdir: ../.git\n")
    assert branch_of(str(tmp_path / "inner")) == ""
