"""A project in a repository, and a conversation that has just begun in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trees.repositories import begun, new_repository

from sayso.trees.shadow import Shadow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "shop", shop_py="one\ntwo\n", notes_txt="notes\n", old_txt="old\n")


@pytest.fixture
def shadow(tmp_path: Path, project: Path) -> Shadow:
    return begun(tmp_path, project)
