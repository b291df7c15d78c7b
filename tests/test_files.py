"""A file is replaced in one step: nobody sees half of it, and nothing is left beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sayso.files import replace_file


def mode(file: Path) -> int:
    return file.stat().st_mode & 0o777


def test_a_new_file_is_for_its_owner_alone_and_one_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    replace_file(file, b"one")
    assert (file.read_bytes(), mode(file)) == (b"one", 0o600)
    file.chmod(0o640)
    replace_file(file, b"two")
    assert (file.read_bytes(), mode(file)) == (b"two", 0o640)
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_is_replaced_and_neither_what_it_leads_to_nor_its_mode_matters(tmp_path: Path) -> None:
    loot, file = tmp_path / "loot", tmp_path / "settings.json"
    loot.write_text("theirs")
    loot.chmod(0o644)
    file.symlink_to(loot)
    replace_file(file, b"ours")
    assert (file.is_symlink(), mode(file), loot.read_text()) == (False, 0o600, "theirs")


def test_where_it_cannot_be_replaced_the_old_one_stays_and_nothing_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(file, b"new")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])
