"""Other programs of the person: their editor for long answers, their pager for long questions, tmux's clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App

_SECONDS = 5.0
MARKER = "------------------------ >8 ------------------------"


def editor(environ: Mapping[str, str]) -> list[str]:
    """The command of the person's editor."""
    return _command(environ, ("VISUAL", "EDITOR"), ("nano", "vim", "vi"))


def pager(environ: Mapping[str, str]) -> list[str]:
    return _command(environ, ("PAGER",), ("less", "more"))


def _command(environ: Mapping[str, str], names: Sequence[str], usual: Sequence[str]) -> list[str]:
    for name in names:
        if words := shlex.split(environ.get(name, "")):
            return words
    return [next((program for program in usual if shutil.which(program)), usual[-1])]


def edit(app: App[Any], command: Sequence[str], text: str, below: str) -> str:
    """What the person makes of `text` in their editor, with `below` to read under it; `text` when the editor fails.
    An OSError when it cannot start."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / "answer.md"
        file.write_text(f"{text}\n\n{MARKER}\n{below}\n", encoding="utf-8")
        with app.suspend():
            done = subprocess.run([*command, str(file)], check=False)
        edited = file.read_text(encoding="utf-8", errors="replace") if done.returncode == 0 else text
        return edited.partition(MARKER)[0].strip()


def read(app: App[Any], command: Sequence[str], text: str) -> None:
    """Show a text in the person's pager. An OSError when it cannot start."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / "question.md"
        file.write_text(text, encoding="utf-8")
        with app.suspend():
            subprocess.run([*command, str(file)], check=False)


def give_to_tmux(text: str) -> None:
    """Put a text into tmux's buffer, and through it onto the clipboard of the terminal it runs in."""
    command = ["tmux", "load-buffer", "-w", "-"]
    subprocess.run(command, input=text.encode(), check=False, capture_output=True, timeout=_SECONDS)


def terminal_behind_tmux() -> str:
    """What tmux knows of the terminal that shows this pane: its TERM and what it calls itself."""
    command = ["tmux", "display-message", "-p", "#{client_termname} #{client_termtype}"]
    found = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, env=os.environ)
    return found.stdout.decode(errors="replace").strip()
