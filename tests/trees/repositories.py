"""Real repositories for tests, and shadows of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def hostile_settings(project: Path, executed: Path) -> Iterator[None]:
    """Settings that name a program to be run when a ref is changed, as newer versions of git do, and with which none
    of any version goes on. Nothing was executed in the meantime."""
    config = project / ".git" / "config"
    own = config.read_text()
    hook = f'[hook "x"]\n\tevent = reference-transaction\n\tevent = post-checkout\n\tcommand = touch {executed}\n'
    config.write_text(f"{own}{hook}[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tunheardOf = true\n")
    try:
        yield
    finally:
        config.write_text(own)
    assert not executed.exists()
