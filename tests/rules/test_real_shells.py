"""Whatever is allowed consists of allowed commands as real shells run them, with programs that note their words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rules.test_shell import book, corpus, verdict

from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.rule import Effect
from sayso.rules.use import ToolUse

PROGRAMS = (
    "git npm ls cat grep head tail wc find sort rg make python pytest terraform sed docker date testing lsof rm curl"
)
SHELLS = {"bash": ("--norc", "--noprofile", "-c"), "zsh": ("-f", "-c")}
"""Those that agents' clients run lines in, as far as they are there."""
NOTE = """#!/bin/sh
printf '%s\\0' "$#" "$0" "$@" >> "$NOTED"
"""
PIECES = [
    *("git status", "ls", "cat x", "echo hi", "rm x", "curl x", "git push", "sh", "evil", "head -5", "npm test", "pwd"),
    *(" ", "\t", "\n", "\\\n", ";", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "{ ", "; }", "! ", "#", " #"),
    *("'", '"', "\\", "`", "$", "$(", "${", "$X", "$HOME", "$((", "))", "<(", "<", ">", "2>&1", ">/dev/null"),
    *("*", "?", "[a]", "{a,b}", "~", "=", "X=1 ", "CI=1 ", "PATH=/x ", "if ", "; then ", "; fi", "; do ", "; done"),
    *("for x in a b", "case x in x)", ";;", " esac", "[[ ", " ]]", "f() ", "<<E\n", "\nE\n", "<<<", "$'", '$"', "!"),
    *("env ", "timeout 5 ", "xargs ", "bash -c '", 'sh -c "', "eval ", "exec ", "find . -exec ", " {} \\;", "time "),
    *("é", "\u00a0", "\u200b", "\r", "\x0c", "a", "1", "--", ".", "/", ",", "..", ":", "@", "%", "^", "+", "]", "rm"),
]  # fmt: skip


@cache
def rules() -> RuleBook:
    return book()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a shell finds nothing but programs that note how they were called."""
    folder = tmp_path_factory.mktemp("bash")
    programs_in(folder)
    return folder


def programs_in(folder: Path) -> None:
    for name in PROGRAMS.split():
        (folder / name).write_text(NOTE)
        (folder / name).chmod(0o755)
    for name in ("bash", "sh", "env", "timeout", "nice", "nohup", "stdbuf"):
        real = next(Path(place) / name for place in ("/bin", "/usr/bin") if (Path(place) / name).exists())
        (folder / name).symlink_to(real)
    (folder / "empty").mkdir()


def run_by(shell: str, line: str, folder: Path) -> list[tuple[str, ...]]:
    """The words of every program that this shell runs for this line."""
    noted = folder / "noted"
    noted.unlink(missing_ok=True)
    subprocess.run(
        [shell, *SHELLS[os.path.basename(shell)], line],
        cwd=folder / "empty",
        env={"PATH": str(folder), "HOME": str(folder / "empty"), "NOTED": str(noted)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    told = noted.read_bytes().decode(errors="replace") if noted.exists() else ""
    words, calls = iter(told.split("\0")[:-1]), list[tuple[str, ...]]()
    for count in words:
        calls.append(tuple(islice(words, int(count) + 1)))
    return [(name.removeprefix(f"{folder}/"), *words) for name, *words in calls]


def is_allowed(words: tuple[str, ...]) -> bool:
    names = frozenset(("Bash",))
    use = ToolUse(names=names, strict_names=names, commands=(words,), forms=(words,))
    return rules().judge(use, Circumstances(project="/project")).effect is Effect.ALLOW


def check(line: str, folder: Path) -> None:
    # Loops without an end, and empty words, which the notes cannot tell from the end of a call.
    if verdict(rules(), line) is not Effect.ALLOW or re.search(r"while|until|\"\"|''", line):
        return
    for shell in filter(None, map(shutil.which, SHELLS)):
        strange = [words for words in run_by(shell, line, folder) if not is_allowed(words)]
        assert strange == [], (shell, line)
        assert os.listdir(folder / "empty") == []


def test_a_real_shell_runs_only_allowed_commands_for_the_allowed_lines_of_the_corpus(folder: Path) -> None:
    for _, line in corpus():
        check(line, folder)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """An allowed line with a few pieces put in somewhere, or taken out."""
    line = draw(st.sampled_from([line for meant, line in corpus() if meant is Effect.ALLOW]))
    for piece in draw(st.lists(st.sampled_from(PIECES), max_size=3)):
        place = draw(st.integers(0, len(line)))
        line = line[:place] + piece + line[place + draw(st.integers(0, 2)) :]
    return line


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(line=lines())
def test_a_real_shell_runs_only_allowed_commands_for_any_line_that_is_allowed(line: str, folder: Path) -> None:
    check(line, folder)
