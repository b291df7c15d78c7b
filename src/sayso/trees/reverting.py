"""Puts files of a working tree back to what they were at the beginning, and undoes that.

What is about to be lost is kept first. Each file is replaced in one step, so whoever is killed in between leaves each
either as it was or put back; undoing works from there as well.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from sayso.clock import now_ms
from sayso.errors import TreeChanged, TreeUnavailable
from sayso.files import prepared_file, replace_file
from sayso.text import spelt_out
from sayso.trees.changes import ChangedFile, TreeChanges, changes, changes_until
from sayso.trees.shadow import Shadow, Snapshot, is_behind_a_link

MOST_KEPT = 50
_REVERTS = "reverts.json"
_EXECUTABLE = 0o111


@dataclass(frozen=True, kw_only=True)
class Revert:
    """One that can be undone: the tree as it was before, and which paths of it were put back."""

    id: str
    at: int
    tree: str
    paths: tuple[str, ...]


def chosen(found: TreeChanges, wanted: Mapping[str, str]) -> list[ChangedFile]:
    """The files that a person chose, by their marks, if each is still what was shown: TreeChanged if one is not."""
    files = [found.file(mark) for mark in wanted]
    there = [file for file in files if file]
    other = [file for file in there if file.state != wanted[file.mark]]
    if other or len(there) < len(files):
        named = f"{spelt_out(other[0].path)} has" if other else "Files have"
        raise TreeChanged(f"{named} changed since you were shown what is below. Nothing was done. Look again.")
    if not there:
        raise TreeChanged("No file was chosen, so nothing was done.")
    return there


def revert(shadow: Shadow, wanted: Mapping[str, str]) -> Revert:
    """Put files back to the beginning: those with these marks, if each still has the state that was shown."""
    found = changes(shadow)
    if done := _done_already(shadow, found, wanted):
        return done
    files = chosen(found, wanted)
    for file in files:
        if not file.can_be_put_back:
            raise TreeUnavailable(f"{spelt_out(file.path)} cannot be put back from here. Use git in a terminal.")
    paths = tuple(file.path for file in files)
    done = Revert(id=secrets.token_hex(8), at=now_ms(), tree=found.now.tree, paths=paths)
    _keep(shadow, [*reverts(shadow), done][-MOST_KEPT:])
    _put(shadow, found.beginning, paths, gone=[file.path for file in files if file.before is None])
    return done


def _done_already(shadow: Shadow, found: TreeChanges, wanted: Mapping[str, str]) -> Revert | None:
    """The latest revert, if it was of just these files as they were shown, and they still are put back: then the
    button was pressed twice."""
    kept = reverts(shadow)
    if not kept or any(found.file(mark) for mark in wanted):
        return None
    then = changes_until(shadow, Snapshot(tree=kept[-1].tree))
    states = {file.mark: file.state for file in then.files if file.path in kept[-1].paths}
    return kept[-1] if states == wanted else None


def undo(shadow: Shadow, revert_id: str) -> Revert:
    """Take the latest revert back, if it is that one and its files were not changed since."""
    kept = reverts(shadow)
    if not kept or kept[-1].id != revert_id:
        raise TreeChanged("This is not the latest revert, or it was undone already. Nothing was done.")
    last = kept[-1]
    then, since = changes_until(shadow, Snapshot(tree=last.tree)), changes(shadow)
    before, now = ({file.path: file for file in each.files} for each in (then, since))
    for path in last.paths:
        # One that was not put back after all is as it was before.
        if path in now and now[path].now != (before[path].now if path in before else None):
            raise TreeChanged(f"{spelt_out(path)} has changed since it was reverted. Nothing was done.")
    _put(shadow, last.tree, last.paths, gone=[path for path in last.paths if path in before and not before[path].now])
    _keep(shadow, kept[:-1])
    return last


def reverts(shadow: Shadow) -> list[Revert]:
    """Those that can be undone, the latest one last."""
    try:
        kept = json.loads((shadow.folder / _REVERTS).read_bytes())
    except OSError:
        return []
    return [Revert(**{**each, "paths": tuple(map(_path, each["paths"]))}) for each in kept]


def _keep(shadow: Shadow, kept: Sequence[Revert]) -> None:
    data = [{**asdict(each), "paths": [os.fsencode(path).hex() for path in each.paths]} for each in kept]
    replace_file(shadow.folder / _REVERTS, json.dumps(data).encode())


def _path(kept: str) -> str:
    return os.fsdecode(bytes.fromhex(kept))


def _put(shadow: Shadow, tree: str, paths: Sequence[str], *, gone: Sequence[str]) -> None:
    """Make these paths what they are in a tree, where those that are `gone` are not."""
    root = Path(os.path.realpath(shadow.root))
    try:
        for path in gone:
            _remove(root, path)
        back = [path for path in paths if path not in gone]
        with _checked_out(shadow, tree, back) as folder:
            for path in back:
                _place(folder / path, root, path)
    except OSError as error:
        raise TreeUnavailable(f"Not every file could be put back: {error}. What was there before is kept.") from error


@contextmanager
def _checked_out(shadow: Shadow, tree: str, paths: Sequence[str]) -> Iterator[Path]:
    """The files of a tree in a folder beside the shadow, as git would put them into the working tree."""
    name = secrets.token_hex(8)
    folder, index = shadow.folder / f"out.{name}", shadow.folder / f"index.{name}"
    folder.mkdir(mode=0o700)
    try:
        git = shadow.git.with_index(index)
        git.run("read-tree", tree)
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git.run("checkout-index", "--force", f"--prefix={folder}/", "-z", "--stdin", given=given)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        index.unlink(missing_ok=True)


def _place(source: Path, root: Path, path: str) -> None:
    """Put what lies beside into its place, in one step."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    _check_way(target)
    if target.is_dir() and not target.is_symlink():
        target.rmdir()
    if source.is_symlink():
        beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
        beside.symlink_to(source.readlink())
        os.replace(beside, target)
        return
    with prepared_file(target, source.read_bytes(), new_mode=source.stat().st_mode & 0o777) as beside:
        beside.chmod(_mode(source, target))
        os.replace(beside, target)


def _mode(source: Path, target: Path) -> int:
    """Who may read and write it stays as it is; whether it can be executed is part of what is put back."""
    wanted = source.stat().st_mode & 0o777
    if not target.exists() or target.is_symlink():
        return wanted
    there = target.stat().st_mode & 0o777
    return there | (there & 0o444) >> 2 if wanted & _EXECUTABLE else there & ~_EXECUTABLE


def _remove(root: Path, path: str) -> None:
    target = root / path
    _check_way(target)
    target.unlink(missing_ok=True)
    for folder in target.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()


def _check_way(target: Path) -> None:
    if is_behind_a_link(os.fsencode(target)):
        raise TreeChanged(f"A folder on the way to {spelt_out(str(target))} is a link now. It was left alone.")
