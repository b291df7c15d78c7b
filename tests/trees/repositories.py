"""Real repositories for tests, and shadows of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from sayso.trees.keeping import Trees
from sayso.trees.shadow import Shadow

CONVERSATION = "a" * 24
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")


def git(folder: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ran = subprocess.run(["git", *WHO, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return ran.stdout


def new_repository(folder: Path, **files: str) -> Path:
    """A repository with one commit; `shop_py` is the file `shop.py`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=First", "--allow-empty")
    return folder


def own_files(folder: Path) -> dict[str, bytes]:
    """All that git keeps about a repository."""
    return {str(file): file.read_bytes() for file in (folder / ".git").rglob("*") if file.is_file()}


def begun(tmp_path: Path, project: Path) -> Shadow:
    """The shadow of a conversation that begins now."""
    trees = Trees(tmp_path / "state" / "trees")
    trees.begin(CONVERSATION, project)
    return trees.of(CONVERSATION)
