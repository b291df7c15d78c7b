"""Files are put back to the beginning as they were shown, and that can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trees.repositories import begun, git, own_files

from sayso.errors import TreeChanged, TreeUnavailable
from sayso.trees import reverting
from sayso.trees.changes import changes
from sayso.trees.reverting import revert, reverts, undo
from sayso.trees.shadow import Shadow


def shown(shadow: Shadow, *paths: str) -> dict[str, str]:
    """What a person is shown of these files, or of all."""
    return {file.mark: file.state for file in changes(shadow).files if not paths or file.path in paths}


def files_in(project: Path) -> dict[str, tuple[int, str]]:
    found = (path for path in project.rglob("*") if ".git" not in path.parts and not path.is_dir())
    return {
        str(path.relative_to(project)): (
            path.lstat().st_mode,
            str(path.readlink()) if path.is_symlink() else path.read_text(),
        )
        for path in found
    }


def change_everything(project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    (project / "shop.py").chmod(0o755)
    (project / "old.txt").unlink()
    (project / "notes.txt").unlink()
    (project / "notes.txt").symlink_to("shop.py")
    (project / "lib" / "deep").mkdir(parents=True)
    (project / "lib" / "deep" / "new.py").write_text("new\n")


def test_a_revert_that_is_asked_for_twice_is_done_once(shadow: Shadow, project: Path) -> None:
    change_everything(project)
    wanted = shown(shadow, "shop.py", "old.txt")
    done = revert(shadow, wanted)
    assert revert(shadow, wanted) == done
    assert reverts(shadow) == [done]
    (project / "shop.py").write_text("by another\n")
    with pytest.raises(TreeChanged):
        revert(shadow, wanted)
    assert (project / "shop.py").read_text() == "by another\n"


def test_all_is_put_back_and_that_can_be_undone(shadow: Shadow, project: Path) -> None:
    before = files_in(project)
    change_everything(project)
    changed, kept = files_in(project), own_files(project)
    done = revert(shadow, shown(shadow))
    assert files_in(project) == before
    assert not (project / "lib").exists()
    assert reverts(shadow) == [done]
    undo(shadow, done.id)
    assert files_in(project) == changed
    assert reverts(shadow) == []
    assert own_files(project) == kept, "the person's repository is not touched"


def test_one_file_is_put_back_and_others_are_left_alone(shadow: Shadow, project: Path) -> None:
    change_everything(project)
    others = {path: file for path, file in files_in(project).items() if path != "shop.py"}
    revert(shadow, shown(shadow, "shop.py"))
    after = files_in(project)
    assert after.pop("shop.py")[1] == "one\ntwo\n"
    assert after == others


def test_what_was_not_committed_at_the_beginning_is_put_back_too(tmp_path: Path, project: Path) -> None:
    (project / "shop.py").write_text("begun\n")
    (project / "mine.txt").write_text("mine\n")
    shadow = begun(tmp_path, project)
    (project / "shop.py").write_text("other\n")
    (project / "mine.txt").unlink()
    revert(shadow, shown(shadow))
    assert (project / "shop.py").read_text() == "begun\n"
    assert (project / "mine.txt").read_text() == "mine\n"


def test_a_file_that_changed_since_it_was_shown_is_not_put_back(shadow: Shadow, project: Path) -> None:
    change_everything(project)
    seen = shown(shadow)
    (project / "shop.py").write_text("newer\n")
    with pytest.raises(TreeChanged, match=r"shop\.py has changed"):
        revert(shadow, seen)
    assert (project / "shop.py").read_text() == "newer\n"
    assert not (project / "old.txt").exists()
    assert not reverts(shadow)


def test_a_revert_is_undone_once_and_only_if_its_files_are_as_it_left_them(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    done = revert(shadow, shown(shadow))
    (project / "shop.py").write_text("mine\n")
    with pytest.raises(TreeChanged, match="has changed since it was reverted"):
        undo(shadow, done.id)
    (project / "shop.py").write_text("one\ntwo\n")
    undo(shadow, done.id)
    with pytest.raises(TreeChanged, match="undone already"):
        undo(shadow, done.id)
    assert (project / "shop.py").read_text() == "other\n"


def test_what_was_killed_in_the_middle_can_be_undone(
    shadow: Shadow, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_everything(project)
    changed = files_in(project)
    seen = shown(shadow)
    with monkeypatch.context() as patch:
        patch.setattr(reverting, "_place", dies)
        with pytest.raises(KeyboardInterrupt):
            revert(shadow, seen)
    (halfway,) = reverts(shadow)
    assert files_in(project) != changed
    undo(shadow, halfway.id)
    assert files_in(project) == changed


def dies(*_: object) -> None:
    raise KeyboardInterrupt


def test_submodules_and_what_git_keeps_by_a_filter_are_left_alone(shadow: Shadow, project: Path) -> None:
    (project / ".gitattributes").write_text("*.psd filter=lfs\n")
    (project / "art.psd").write_text("art\n")
    with pytest.raises(TreeUnavailable, match="Use git in a terminal"):
        revert(shadow, shown(shadow, "art.psd"))
    assert (project / "art.psd").exists()


def test_a_link_on_the_way_to_a_file_is_not_followed(tmp_path: Path, project: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "a.py").write_text("a\n")
    git(project, "add", "--all")
    shadow = begun(tmp_path, project)
    (project / "lib" / "a.py").unlink()
    (project / "lib").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "lib").symlink_to(outside)
    with pytest.raises(TreeChanged, match="is a link now"):
        revert(shadow, shown(shadow, "lib/a.py"))
    assert not list(outside.iterdir())
    revert(shadow, shown(shadow))
    assert (project / "lib" / "a.py").read_text() == "a\n"
    assert not list(outside.iterdir())
