"""Other programs of the person: their editor for long answers, their pager for long questions, tmux's clipboard."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from sayso.permissions.editing import EditText
from sayso.tui.texts import Texts

_SECONDS = 5.0
MARKER = "------------------------ >8 ------------------------"


@dataclass(frozen=True, kw_only=True)
class Program:
    """What the person wants started for something, and the variable that says so."""

    words: Sequence[str]
    variable: str
    is_named: bool
    """Whether the variable names it; else it is a usual one."""

    def not_started(self, texts: Texts, error: OSError) -> str:
        """What is said where it cannot start."""
        told = texts.no_program if self.is_named else texts.no_usual_program
        return told.format(variable=self.variable, program=self.words[0], error=error.strerror)


def editor(environ: Mapping[str, str]) -> Program:
    return _program(environ, ("VISUAL", "EDITOR"), ("nano", "vim", "vi"))


def pager(environ: Mapping[str, str]) -> Program:
    return _program(environ, ("PAGER",), ("less", "more"))


def _program(environ: Mapping[str, str], names: Sequence[str], usual: Sequence[str]) -> Program:
    for name in names:
        if words := _words(environ.get(name, "")):
            return Program(words=words, variable=name, is_named=True)
    found = next((program for program in usual if shutil.which(program)), usual[-1])
    return Program(words=[found], variable=names[-1], is_named=False)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote without its end
        return [command]


def edit(app: App[Any], command: Sequence[str], text: str, below: str) -> str:
    """What the person makes of `text` in their editor, with `below` to read under it; `text` when the editor fails.
    An OSError when it cannot start."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / "answer.md"
        file.write_text(f"{text}\n\n{MARKER}\n{below}\n", encoding="utf-8")
        code = _lend_terminal(app, [*command, str(file)])
        edited = file.read_text(encoding="utf-8", errors="replace") if code == 0 else text
        return edited.partition(MARKER)[0].strip()


def edit_exactly(app: App[Any], command: Sequence[str], text: str, form: EditText) -> str:
    """The same for a text of which every character counts. Editors end the last line of a file; where the agent's text
    had no such end, that is not the person's change."""
    ended = form.text.endswith("\n")
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / f"edited{form.suffix}"
        file.write_bytes((text if text.endswith("\n") else f"{text}\n").encode())
        if _lend_terminal(app, [*command, str(file)]) != 0:
            return text
        edited = file.read_bytes().decode(errors="replace").replace("\r\n", "\n")
    return edited if ended else edited.removesuffix("\n")


def read(app: App[Any], command: Sequence[str], text: str) -> int:
    """Show a text in the person's pager; its exit code. An OSError when it cannot start."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / "question.md"
        file.write_text(text, encoding="utf-8")
        return _lend_terminal(app, [*command, str(file)], {**os.environ, **told_of_utf_8(command, os.environ)})


def told_of_utf_8(command: Sequence[str], environ: Mapping[str, str]) -> Mapping[str, str]:
    """What tells `less` how a text is written: it takes it for a binary file in a locale that says nothing of it."""
    is_less = bool(command) and Path(command[0]).name == "less"
    is_told = any(environ.get(name) for name in ("LESSCHARSET", "LESSCHARDEF"))
    return {"LESSCHARSET": "utf-8"} if is_less and not is_told else {}


def _lend_terminal(app: App[Any], command: Sequence[str], environ: Mapping[str, str] | None = None) -> int:
    """Give the terminal to a program until it ends; its exit code. Without an environment, it has ours."""
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    failed: OSError | None = None
    code = 0
    # Ctrl+C is meant for the program; a handler, unlike SIG_IGN, is not inherited by it.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.suspend():
            # Nothing may be raised in here: Textual would not take the terminal back.
            try:
                code = subprocess.run([program, *command[1:]], check=False, env=environ).returncode
            except OSError as error:
                failed = error
    except SuspendNotSupported as error:
        raise OSError(errno.ENOTSUP, str(error)) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if failed:
        raise failed
    return code


def give_to_tmux(text: str) -> None:
    """Put a text into tmux's buffer, and through it onto the clipboard of the terminal it runs in."""
    command = ["tmux", "load-buffer", "-w", "-"]
    subprocess.run(command, input=text.encode(), check=False, capture_output=True, timeout=_SECONDS)
