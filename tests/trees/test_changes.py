"""What has changed in a working tree since its beginning, in real repositories, friendly and hostile ones."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.trees.repositories import CONVERSATION, begun, git, new_repository, own_files

from sayso.errors import TreeUnavailable
from sayso.trees import shadow as shadows
from sayso.trees.binaries import described
from sayso.trees.changes import ChangedFile, ChangeKind, changes, diffs
from sayso.trees.keeping import Trees
from sayso.trees.shadow import Shadow


def changed(shadow: Shadow) -> dict[str, ChangedFile]:
    return {file.path: file for file in changes(shadow).files}


def kinds(shadow: Shadow) -> dict[str, ChangeKind]:
    return {path: file.kind for path, file in changed(shadow).items()}


def diff_of(shadow: Shadow, path: str) -> str:
    found = changes(shadow)
    return diffs(shadow, found, found.files)[path]


def test_what_is_new_changed_and_gone_since_the_beginning_is_told_with_counts(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("one\nthree\nfour\n")
    (project / "old.txt").unlink()
    (project / "new.txt").write_text("new\n")
    (project / "picture.png").write_bytes(b"\0\1\2" * 100)
    (project / "notes.txt").chmod(0o755)
    found = changed(shadow)
    assert kinds(shadow) == {
        "new.txt": ChangeKind.NEW,
        "notes.txt": ChangeKind.CHANGED,
        "old.txt": ChangeKind.GONE,
        "picture.png": ChangeKind.NEW,
        "shop.py": ChangeKind.CHANGED,
    }
    assert (found["shop.py"].added, found["shop.py"].removed) == (2, 1)
    assert found["picture.png"].is_binary
    assert diff_of(shadow, "shop.py") == "@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four"
    assert diff_of(shadow, "notes.txt") == ""


def test_what_was_there_before_the_beginning_is_no_change(tmp_path: Path, project: Path) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "shop.py").write_text("begun\n")
    (project / "mine.txt").write_text("mine\n")
    git(project, "add", "mine.txt")
    shadow = begun(tmp_path, project)
    (project / "made.log").write_text("ignored")
    assert not changed(shadow)
    git(project, "commit", "--quiet", "--all", "--message=Second")
    assert not changed(shadow), "a commit changes no file"
    (project / "mine.txt").write_text("yours\n")
    assert diff_of(shadow, "mine.txt") == "@@ -1 +1 @@\n-mine\n+yours"


def test_nothing_is_written_into_the_persons_repository(tmp_path: Path, project: Path) -> None:
    (project / "new.txt").write_text("new\n")
    before = own_files(project)
    shadow = begun(tmp_path, project)
    (project / "shop.py").write_text("other\n")
    assert changed(shadow)
    assert own_files(project) == before
    assert shadow.folder.stat().st_mode & 0o777 == 0o700


def test_a_hostile_repository_has_nothing_executed(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "shop", a_txt="a\n")
    executed = tmp_path / "executed"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {executed}\ncat\n")
    program.chmod(0o755)
    inner = new_repository(project / "sub", x_txt="x\n")
    git(project, "-c", "protocol.file.allow=always", "add", "sub")
    shadow = begun(tmp_path, project)
    for folder in (project, inner):
        (folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        for name in ("core.fsmonitor", "diff.external", "core.pager", "core.editor", "core.sshCommand"):
            git(folder, "config", name, str(program))
        for name in (
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "diff.evil.textconv",
            "diff.evil.command",
        ):
            git(folder, "config", name, str(program))
        git(folder, "config", "include.path", str(tmp_path / "more"))
        git(folder, "config", "core.hooksPath", str(tmp_path))
    for hook in ("reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (project / ".git" / "hooks").mkdir(exist_ok=True)
        (project / ".git" / "hooks" / hook).symlink_to(program)
    (project / "a.txt").write_text("b\n")
    (project / "c.txt").write_text("c\n")
    (inner / "x.txt").write_text("y\n")
    for _ in range(2):
        found = changes(shadow)
        assert {file.path for file in found.files} == {".gitattributes", "a.txt", "c.txt"}
        diffs(shadow, found, found.files)
    begun(tmp_path / "again", project)
    assert not executed.exists()
    git(project, "status", "--porcelain")
    assert executed.exists(), "the trap must be one"


def test_attributes_do_not_hide_text(shadow: Shadow, project: Path) -> None:
    (project / ".gitattributes").write_text("*.sh -diff\nshop.py binary\n")
    git(project, "add", ".gitattributes")
    (project / "deploy.sh").write_text("rm -rf /\n")
    (project / "shop.py").write_text("one\n")
    assert not any(file.is_binary for file in changed(shadow).values())
    assert diff_of(shadow, "deploy.sh") == "@@ -0,0 +1 @@\n+rm -rf /"
    assert diff_of(shadow, "shop.py") == "@@ -1,2 +1 @@\n one\n-two"


def test_what_is_no_text_is_told_by_size_type_and_hash(shadow: Shadow, project: Path) -> None:
    (project / "run").write_bytes(b"#!/bin/sh\n\0")
    (project / "shop.py").write_bytes(b"\x7fELF\0\n\0")
    (project / "odd").write_bytes(b"\0")
    (project / "notes.txt").write_text("text\n")
    told = described(shadow, changes(shadow).files)
    hashed = {name: git(project, "hash-object", name).strip() for name in told}
    assert told == {
        "odd": f"1 byte, of no known type, hash {hashed['odd']}",
        "run": f"11 bytes, a script, with characters in it that are no text, hash {hashed['run']}",
        "shop.py": f"7 bytes, a program (ELF), hash {hashed['shop.py']}",
    }


@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_files_that_are_marked_as_not_to_be_looked_at_are_looked_at(tmp_path: Path, project: Path, mark: str) -> None:
    git(project, "update-index", mark, "shop.py")
    shadow = begun(tmp_path, project)
    assert not changed(shadow)
    (project / "shop.py").write_text("other\n")
    assert kinds(shadow) == {"shop.py": ChangeKind.CHANGED}


def test_a_file_that_becomes_executable_is_told_whatever_the_settings_say(tmp_path: Path, project: Path) -> None:
    git(project, "config", "core.filemode", "false")
    shadow = begun(tmp_path, project)
    assert not changed(shadow)
    (project / "shop.py").chmod(0o755)
    assert kinds(shadow) == {"shop.py": ChangeKind.CHANGED}


def test_where_every_file_is_executable_modes_are_no_change(tmp_path: Path, project: Path) -> None:
    git(project, "config", "core.filemode", "false")
    for name in ("shop.py", "notes.txt", "old.txt"):
        (project / name).chmod(0o777)
    shadow = begun(tmp_path, project)
    (project / "shop.py").write_text("other\n")
    now = changed(shadow)["shop.py"].now
    assert now
    assert now.mode == "100644"


def test_files_that_git_keeps_by_a_filter_are_named_and_not_compared(shadow: Shadow, project: Path) -> None:
    (project / ".gitattributes").write_text("*.psd filter=lfs diff=lfs merge=lfs -text\n")
    (project / "art.psd").write_text("art\n")
    found = changes(shadow)
    art = changed(shadow)["art.psd"]
    assert (art.filter, art.can_be_put_back) == ("lfs", False)
    assert "art.psd" not in diffs(shadow, found, found.files)


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path, project: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "a.py").write_text("a\n")
    git(project, "add", "--all")
    shadow = begun(tmp_path, project)
    (project / "lib" / "a.py").unlink()
    (project / "lib").rmdir()
    (project / "lib").symlink_to("/etc")
    assert kinds(shadow) == {"lib": ChangeKind.NEW, "lib/a.py": ChangeKind.GONE}
    assert diff_of(shadow, "lib").startswith("@@ -0,0 +1 @@\n+/etc")


def test_a_file_that_became_a_link_is_told_as_both(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").unlink()
    (project / "shop.py").symlink_to("notes.txt")
    (project / "zoo.txt").write_text("zoo\n")
    assert kinds(shadow)["shop.py"] is ChangeKind.RETYPED
    assert diff_of(shadow, "shop.py").startswith("@@ -1,2 +0,0 @@\n-one\n-two\n@@ -0,0 +1 @@\n+notes.txt")
    assert diff_of(shadow, "zoo.txt") == "@@ -0,0 +1 @@\n+zoo"


def test_a_submodule_is_told_by_its_commit_and_not_looked_into(tmp_path: Path, project: Path) -> None:
    inner = new_repository(project / "sub", x_txt="x\n")
    git(project, "add", "sub")
    shadow = begun(tmp_path, project)
    (inner / "x.txt").write_text("y\n")
    assert not changed(shadow)
    git(inner, "commit", "--quiet", "--all", "--message=Second")
    assert kinds(shadow) == {"sub": ChangeKind.SUBMODULE}
    assert "Subproject commit" in diff_of(shadow, "sub")


def test_what_is_too_large_is_left_out_and_named(
    shadow: Shadow, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadows, "LARGEST_FILE", 100)
    (project / "huge.bin").write_text("x" * 101)
    os.mkfifo(project / "notes.fifo")
    new_repository(project / "other")
    found = changes(shadow)
    assert not found.files
    assert found.now.left_out == ("huge.bin", "other/")


def test_a_tree_with_too_much_that_is_not_kept_says_so(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadows, "MOST_NEW_FILES", 1)
    for name in ("a", "b"):
        (project / name).write_text(name)
    with pytest.raises(TreeUnavailable, match=r"2 files .* \.gitignore"):
        begun(tmp_path, project)


def test_without_a_repository_it_is_said_that_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(TreeUnavailable, match="is not in a git repository"):
        begun(tmp_path, tmp_path / "plain")


def test_a_conversation_that_began_before_anything_was_kept_says_so(tmp_path: Path) -> None:
    with pytest.raises(TreeUnavailable, match="was not kept"):
        Trees(tmp_path).of(CONVERSATION)


def test_in_a_folder_of_a_repository_all_of_the_repository_is_looked_at(tmp_path: Path, project: Path) -> None:
    (project / "web").mkdir()
    shadow = begun(tmp_path, project / "web")
    (project / "shop.py").write_text("other\n")
    (project / "web" / "page.html").write_text("page\n")
    assert set(changed(shadow)) == {"shop.py", "web/page.html"}


def test_a_worktree_of_a_repository_is_looked_at_by_itself(tmp_path: Path, project: Path) -> None:
    git(project, "worktree", "add", "--quiet", str(tmp_path / "beside"), "-b", "beside")
    shadow = begun(tmp_path, tmp_path / "beside")
    (project / "shop.py").write_text("elsewhere\n")
    (tmp_path / "beside" / "shop.py").write_text("here\n")
    assert diff_of(shadow, "shop.py") == "@@ -1,2 +1 @@\n-one\n-two\n+here"


def test_a_file_that_git_was_told_not_to_look_at_is_looked_at(tmp_path: Path, project: Path) -> None:
    git(project, "update-index", "--assume-unchanged", "shop.py")
    (project / "shop.py").write_text("hidden\n")
    shadow = begun(tmp_path, project)
    (project / "shop.py").write_text("seen\n")
    assert diff_of(shadow, "shop.py") == "@@ -1 +1 @@\n-hidden\n+seen"


@pytest.mark.parametrize("index", [b"", b"junk" * 100], ids=["empty", "junk"])
def test_an_index_that_cannot_be_read_is_done_without(tmp_path: Path, project: Path, index: bytes) -> None:
    (project / ".git" / "index").write_bytes(index)
    shadow = begun(tmp_path, project)
    (project / "shop.py").write_text("other\n")
    assert set(changed(shadow)) == {"shop.py"}


def test_many_can_look_at_once(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("other\n")
    with ThreadPoolExecutor(4) as pool:
        looks = list(pool.map(lambda _: changed(shadow), range(8)))
    assert [set(look) for look in looks] == [{"shop.py"}] * 8
    assert not list(shadow.folder.glob("index.*"))


def test_a_change_of_the_same_length_in_the_second_of_the_last_look_is_seen(shadow: Shadow, project: Path) -> None:
    (project / "shop.py").write_text("1111\n")
    changes(shadow)
    looked = shadow.folder / "index"
    status = (project / "shop.py").stat()
    (project / "shop.py").write_text("2222\n")
    os.utime(project / "shop.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.utime(looked, ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert diff_of(shadow, "shop.py").endswith("+2222")


def test_names_that_are_no_text_are_kept_apart(shadow: Shadow, project: Path) -> None:
    names = [os.fsdecode(name) for name in (b"\xff.txt", b"\xfe.txt", b'new\nline"\t.txt')]
    for name in names:
        (project / name).write_text("x\n")
    found = changes(shadow)
    assert {file.path for file in found.files} == set(names)
    assert len({file.mark for file in found.files}) == len(names)
    assert set(diffs(shadow, found, found.files)) == set(names)


def test_the_shadow_goes_with_its_conversation(tmp_path: Path, project: Path) -> None:
    trees = Trees(tmp_path / "trees")
    for conversation in ("a" * 24, "b" * 24):
        trees.begin(conversation, project)
    trees.sweep(lambda conversation: conversation == "b" * 24)
    assert [folder.name for folder in (tmp_path / "trees").iterdir()] == ["b" * 24]
