"""What a person was shown is committed to the branch that is checked out: the files that were chosen, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trees.repositories import begun, git, hostile_settings, new_repository, own_files
from tests.trees.test_reverting import shown

from sayso.errors import TreeChanged, TreeUnavailable
from sayso.trees.changes import changes
from sayso.trees.committing import check_quiet, commit, committed
from sayso.trees.repository import repository_of
from sayso.trees.shadow import Shadow


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git knows who commits."""
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def test_the_chosen_files_are_committed_and_what_else_was_staged_stays_so(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    (project / "new.txt").write_text("new\n")
    (project / "old.txt").unlink()
    (project / "notes.txt").write_text("staged\n")
    git(project, "add", "notes.txt")
    made = commit(shadow, shown(shadow, "shop.py", "new.txt", "old.txt"), "Sell more\n\nBecause we can.")
    assert (made.branch, made.files) == ("main", 3)
    assert git(project, "log", "-1", "--format=%H %an <%ae>%n%B").strip() == (
        f"{made.id} Ada <ada@example.org>\nSell more\n\nBecause we can."
    )
    assert git(project, "show", "--name-status", "--format=").split() == [
        "A",
        "new.txt",
        "D",
        "old.txt",
        "M",
        "shop.py",
    ]
    assert git(project, "status", "--porcelain") == "M  notes.txt\n"
    assert git(project, "reflog", "-1", "--format=%gs").strip() == "commit: Sell more"
    git(project, "fsck", "--strict")
    with pytest.raises(TreeUnavailable, match="already as they are"):
        commit(shadow, shown(shadow, "shop.py"), "Again")


def test_a_commit_that_is_asked_for_twice_is_made_once(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    (project / "notes.txt").write_text("not chosen\n")
    wanted = shown(shadow, "shop.py")
    assert commit(shadow, wanted, "Sell more") == commit(shadow, wanted, "Sell more ")
    assert git(project, "log", "--format=%s").splitlines() == ["Sell more", "First"]
    assert committed(shadow, changes(shadow)) == {"shop.py"}
    (project / "shop.py").write_text("another\n")
    assert committed(shadow, changes(shadow)) == set()


def test_no_hook_and_no_filter_runs(shadow: Shadow, project: Path, tmp_path: Path) -> None:
    executed, hooks = tmp_path / "executed", project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {executed}\n")
        (hooks / name).chmod(0o755)
    for name in ("core.fsmonitor", "filter.evil.clean", "gpg.program"):
        git(project, "config", name, str(hooks / "pre-commit"))
    git(project, "config", "commit.gpgSign", "true")
    (project / "shop.py").write_text("other\n")
    commit(shadow, shown(shadow), "Change it")
    assert not executed.exists()
    assert git(project, "-c", "core.fsmonitor=false", "log", "-1", "--format=%s").strip() == "Change it"


def test_no_setting_of_the_repository_is_gone_by_so_that_none_can_name_a_hook(
    shadow: Shadow, project: Path, tmp_path: Path
) -> None:
    with hostile_settings(project, tmp_path / "executed"):
        (project / "shop.py").write_text("other\n")
        made = commit(shadow, shown(shadow), "Change it")
        assert committed(shadow, changes(shadow)) == {"shop.py"}
    assert git(project, "rev-parse", "HEAD").strip() == made.id
    assert "commit: Change it" in git(project, "reflog", "-1")


@pytest.mark.parametrize("name", ["logs/HEAD", "logs/refs/heads/main", "logs", "index", "refs/heads"])
def test_nothing_is_written_through_a_link_among_gits_own_files(
    shadow: Shadow, project: Path, tmp_path: Path, name: str
) -> None:
    (project / "shop.py").write_text("other\n")
    wanted = shown(shadow)
    place, elsewhere = project / ".git" / name, tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    before = own_files(project), elsewhere.is_file() and elsewhere.read_bytes()
    with pytest.raises(TreeUnavailable, match="is a link, so git would write elsewhere"):
        commit(shadow, wanted, "Change it")
    assert (own_files(project), elsewhere.is_file() and elsewhere.read_bytes()) == before


def test_nothing_is_committed_to_another_repository_that_git_is_led_to(
    shadow: Shadow, project: Path, tmp_path: Path
) -> None:
    other = new_repository(tmp_path / "other", shop_py="theirs\n")
    (project / "shop.py").write_text("other\n")
    wanted, head = shown(shadow), git(other, "rev-parse", "HEAD")
    (project / ".git" / "commondir").write_text(f"{other}/.git\n")
    with pytest.raises(TreeUnavailable, match="does not name this working tree"):
        commit(shadow, wanted, "Change it")
    (project / ".git").rename(tmp_path / "aside")
    (project / ".git").write_text(f"gitdir: {other}/.git\n")
    with pytest.raises(TreeUnavailable, match="does not name this working tree"):
        check_quiet(repository_of(project))
    assert git(other, "rev-parse", "HEAD") == head


def test_what_changed_since_it_was_shown_is_not_committed(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    seen, head = shown(shadow), git(project, "rev-parse", "HEAD")
    (project / "shop.py").write_text("newer\n")
    with pytest.raises(TreeChanged):
        commit(shadow, seen, "Change it")
    assert git(project, "rev-parse", "HEAD") == head


def test_without_a_branch_a_name_or_in_the_middle_of_a_merge_it_says_why_not(
    shadow: Shadow, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "shop.py").write_text("other\n")
    seen = shown(shadow)
    (project / ".git" / "MERGE_HEAD").write_text("")
    with pytest.raises(TreeUnavailable, match="in the middle of something"):
        commit(shadow, seen, "Change it")
    (project / ".git" / "MERGE_HEAD").unlink()
    git(project, "checkout", "--quiet", "--detach")
    with pytest.raises(TreeUnavailable, match="No branch is checked out"):
        commit(shadow, seen, "Change it")
    git(project, "checkout", "--quiet", "main")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    with pytest.raises(TreeUnavailable, match="does not know who commits"):
        commit(shadow, seen, "Change it")


def test_the_first_commit_of_a_repository_can_be_made(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "empty")
    git(project, "checkout", "--quiet", "--orphan", "fresh")
    shadow = begun(tmp_path, project)
    (project / "a.txt").write_text("a\n")
    assert commit(shadow, shown(shadow), "Begin").branch == "fresh"
    assert git(project, "log", "--format=%s").split() == ["Begin"]
    assert git(project, "status", "--porcelain") == ""
