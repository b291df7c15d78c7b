"""A working tree of a conversation's own: made beside the person's, merged into their branch, or discarded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trees.repositories import CONVERSATION, git, hostile_settings, new_repository
from tests.trees.test_committing import known
from tests.trees.test_reverting import shown

from sayso.errors import TreeChanged, TreeUnavailable
from sayso.trees.committing import commit
from sayso.trees.keeping import Trees
from sayso.trees.shadow import Shadow
from sayso.trees.worktrees import Worktree, Worktrees

__all__ = ["known"]


class Own:
    """A worktree as the supervisor makes one."""

    def __init__(self, tmp_path: Path, project: Path) -> None:
        self.worktrees = Worktrees(tmp_path / "state" / "worktrees")
        trees = Trees(tmp_path / "state" / "trees")
        self.directory = Path(self.worktrees.plan(project))
        self.worktrees.add(
            Shadow(tmp_path / "state" / "trees" / CONVERSATION), self.directory, project, "Fix: The Login!"
        )
        trees.begin(CONVERSATION, self.directory)
        self.shadow = trees.of(CONVERSATION)

    @property
    def worktree(self) -> Worktree:
        return self.worktrees.of(self.directory)

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            (self.directory / name.replace("_", ".")).write_text(text)
        commit(self.shadow, shown(self.shadow, *(name.replace("_", ".") for name in files)), "Work")

    def merge(self) -> str:
        return self.worktrees.merge(self.shadow, self.worktree, self.lost())

    def lost(self) -> str:
        return self.worktrees.standing(self.shadow, self.worktree).digest


@pytest.fixture
def own(tmp_path: Path, project: Path) -> Own:
    return Own(tmp_path, project)


def test_it_has_the_last_commit_on_a_branch_of_its_own_and_leaves_the_person_alone(
    tmp_path: Path, project: Path
) -> None:
    (project / "shop.py").write_text("not committed\n")
    own = Own(tmp_path, project)
    assert own.directory.parent.stat().st_mode & 0o777 == 0o700
    assert (own.directory / "shop.py").read_text() == "one\ntwo\n"
    assert own.worktree.branch.startswith("sayso/fix-the-login-")
    assert git(own.directory, "branch", "--show-current").strip() == own.worktree.branch
    assert git(own.directory, "status", "--porcelain") == ""
    assert git(project, "status", "--porcelain") == " M shop.py\n"
    assert own.worktrees.standing(own.shadow, own.worktree).is_merged


def test_making_one_runs_no_hook_and_no_filter(tmp_path: Path, project: Path) -> None:
    executed, hook = tmp_path / "executed", project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {executed}\ncat\n")
    hook.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=evil\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=Second")
    for name in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean"):
        git(project, "config", name, str(hook))
    own = Own(tmp_path, project)
    assert (own.directory / "shop.py").read_text() == "one\ntwo\n"
    assert not executed.exists()


def test_no_setting_of_the_repository_is_gone_by_while_one_is_made_merged_and_discarded(
    tmp_path: Path, project: Path
) -> None:
    with hostile_settings(project, tmp_path / "executed"):
        own = Own(tmp_path, project)
        own.commit(shop_py="sold\n")
        merged = own.merge()
        own.worktrees.discard(own.shadow, own.worktree, own.lost())
    assert git(project, "rev-parse", "HEAD").strip() == merged
    assert (project / "shop.py").read_text() == "sold\n"
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert git(project, "branch", "--list", "sayso/*") == ""


def test_a_project_in_a_folder_of_its_repository_is_in_that_folder_of_the_worktree(
    tmp_path: Path, project: Path
) -> None:
    (project / "web").mkdir()
    (project / "web" / "page.html").write_text("page\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=Second")
    own = Own(tmp_path, project / "web")
    assert (own.directory.name, (own.directory / "page.html").exists()) == ("web", True)


def test_its_commits_are_merged_by_moving_the_branch_on(own: Own, project: Path) -> None:
    (project / "notes.txt").write_text("mine, not committed\n")
    own.commit(shop_py="better\n", new_txt="new\n")
    merged = own.merge()
    assert git(project, "rev-parse", "main", own.worktree.branch).split() == [merged, merged]
    assert (project / "shop.py").read_text() == "better\n"
    assert git(project, "status", "--porcelain") == " M notes.txt\n"
    with pytest.raises(TreeUnavailable, match="has all of its commits"):
        own.merge()


def test_where_both_went_on_a_merge_brings_them_together(own: Own, project: Path) -> None:
    own.commit(shop_py="better\n")
    (project / "old.txt").write_text("older\n")
    git(project, "commit", "--quiet", "--all", "--message=Mine")
    merged = own.merge()
    assert len(git(project, "log", "-1", "--format=%P", merged).split()) == 2
    assert [(project / name).read_text() for name in ("shop.py", "old.txt")] == ["better\n", "older\n"]
    assert git(project, "status", "--porcelain") == ""
    git(project, "fsck", "--strict")


def test_a_conflict_is_told_and_nothing_is_changed(own: Own, project: Path) -> None:
    own.commit(shop_py="theirs\n")
    (project / "shop.py").write_text("mine\n")
    with pytest.raises(TreeUnavailable, match=r"not committed and would be overwritten: shop\.py\. Nothing"):
        own.merge()
    git(project, "commit", "--quiet", "--all", "--message=Mine")
    head = git(project, "rev-parse", "HEAD")
    with pytest.raises(TreeUnavailable, match=r"main has changed in the same places: 1 file, shop\.py"):
        own.merge()
    assert git(project, "rev-parse", "HEAD") == head
    assert git(project, "status", "--porcelain") == ""
    assert (project / "shop.py").read_text() == "mine\n"


def test_a_new_file_that_lies_where_another_would_be_merged_is_named(own: Own, project: Path) -> None:
    own.commit(new_txt="theirs\n", shop_py="better\n")
    (project / "new.txt").write_text("mine\n")
    (project / "else.txt").write_text("mine\n")
    with pytest.raises(TreeUnavailable, match=r"would be overwritten: new\.txt\. Nothing"):
        own.merge()
    assert [(project / name).read_text() for name in ("new.txt", "shop.py")] == ["mine\n", "one\ntwo\n"]


def test_what_is_not_committed_or_not_checked_out_is_not_merged(own: Own, project: Path) -> None:
    (own.directory / "shop.py").write_text("better\n")
    with pytest.raises(TreeUnavailable, match="Commit it first"):
        own.merge()
    own.commit(shop_py="better\n")
    git(project, "checkout", "--quiet", "-b", "other")
    with pytest.raises(TreeUnavailable, match="main is not checked out"):
        own.merge()


def test_a_merge_that_was_cut_off_before_the_branch_moved_is_done_by_merging_again(own: Own, project: Path) -> None:
    own.commit(shop_py="better\n", new_txt="new\n")
    git(project, "read-tree", "-m", "-u", "main", own.worktree.branch)
    own.merge()
    assert git(project, "status", "--porcelain") == ""
    assert (project / "new.txt").read_text() == "new\n"


def test_only_the_commits_that_were_shown_are_merged(own: Own, project: Path) -> None:
    own.commit(shop_py="better\n")
    (named,) = own.worktrees.standing(own.shadow, own.worktree).commits
    assert (named.told.partition(" ")[2], named.files) == ("Work", ("shop.py",))
    seen = own.lost()
    (own.directory / "evil.sh").write_text("evil\n")
    git(own.directory, "add", "--all")
    git(own.directory, "commit", "--quiet", "--message=Evil")
    with pytest.raises(TreeChanged, match="has changed since you were shown what would be merged"):
        own.worktrees.merge(own.shadow, own.worktree, seen)
    assert git(project, "log", "--format=%s", "main").split() == ["First"]
    assert not (project / "evil.sh").exists()
    standing = own.worktrees.standing(own.shadow, own.worktree)
    assert [each.files for each in standing.commits] == [("evil.sh",), ("shop.py",)]


def test_nothing_is_merged_into_another_commit_than_was_shown(own: Own, project: Path) -> None:
    own.commit(shop_py="better\n")
    seen = own.lost()
    git(project, "commit", "--quiet", "--allow-empty", "--message=Mine")
    with pytest.raises(TreeChanged, match="or main has changed"):
        own.worktrees.merge(own.shadow, own.worktree, seen)
    assert git(project, "log", "-1", "--format=%s", "main") == "Mine\n"


def test_the_names_of_files_cannot_pass_for_commits(own: Own) -> None:
    own.commit(**{"a\n\x01b": "odd\n", "shop_py": "better\n"})
    (named,) = own.worktrees.standing(own.shadow, own.worktree).commits
    assert len(named.files) == 2


def test_ending_it_leaves_other_worktrees_whose_drive_is_not_there(tmp_path: Path, own: Own, project: Path) -> None:
    drive, away = tmp_path / "drive", tmp_path / "away"
    git(project, "worktree", "add", "--quiet", "--detach", str(drive))
    git(drive, "commit", "--quiet", "--allow-empty", "--message=Only here")
    drive.rename(away)
    # Also where git itself does not take the folder for its own.
    (own.directory / ".git").write_text(f"gitdir: {project}\n")
    own.worktrees._note(Worktree(**{**vars(own.worktree), "discarding": True}))
    own.worktrees.sweep()
    away.rename(drive)
    assert git(drive, "log", "-1", "--format=%s") == "Only here\n"
    assert len(git(project, "worktree", "list").splitlines()) == 2


def test_it_is_discarded_only_as_it_was_shown(own: Own, project: Path) -> None:
    own.commit(shop_py="better\n")
    seen = own.lost()
    (own.directory / "shop.py").write_text("even better\n")
    with pytest.raises(TreeChanged, match="has changed since you were shown"):
        own.worktrees.discard(own.shadow, own.worktree, seen)
    worktree = own.worktree
    own.worktrees.discard(own.shadow, worktree, own.lost())
    assert not own.directory.exists()
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main"]
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert own.worktrees.all() == []
    with pytest.raises(TreeUnavailable, match="is gone"):
        own.worktrees.of(own.directory)


def test_a_discard_that_was_cut_off_is_ended_by_the_next_sweep(
    own: Own, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own.directory / ".git").write_text(f"gitdir: {project}\n")
    worktree = own.worktree
    own.worktrees._note(Worktree(**{**vars(worktree), "discarding": True}))
    with pytest.raises(TreeUnavailable, match="is gone"):
        own.worktrees.of(own.directory)
    own.worktrees.sweep()
    assert not own.directory.exists()
    assert (project / "shop.py").exists()
    assert own.worktrees.all() == []
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main"]


def test_without_a_commit_or_a_repository_there_is_none(tmp_path: Path) -> None:
    worktrees = Worktrees(tmp_path / "worktrees")
    (tmp_path / "plain").mkdir()
    with pytest.raises(TreeUnavailable, match="no worktree of it"):
        worktrees.plan(tmp_path / "plain")
    empty = new_repository(tmp_path / "empty")
    git(empty, "checkout", "--quiet", "--orphan", "fresh")
    with pytest.raises(TreeUnavailable, match="no commit yet"):
        worktrees.plan(empty)
