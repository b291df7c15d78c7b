"""From the arguments of a call to what is executed: the words of the command, its standard input, its files.

A list of words, never a shell string; a value can fill its own word and nothing else. Nothing is run or written here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sayso.errors import InvalidInput, Problem
from sayso.records import field, record
from sayso.text import quoted
from sayso.toolfiles.arguments import check_values, completed
from sayso.toolfiles.leaves import EXECUTION_MODE, SYNCHRONOUS, TIMEOUT_SECONDS, WORKING_DIRECTORY, Leaf
from sayso.toolfiles.line import ArgumentFile, command_line


@record
class Invocation:
    """All that is needed to run one call. `before` is a command to run first, whose failure does not matter."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None
    files: tuple[ArgumentFile, ...]
    synchronous: bool
    timeout_seconds: int | None
    before: tuple[str, ...] = ()
    leads_to: Mapping[str, str] = field(default_factory=dict)
    """Where each path of the call led when it was looked at, as seen from `cwd`, and `cwd` itself where the call says
    it."""


@record
class _Paths:
    """What is wrong with the paths of a call, and where the others lead."""

    problems: tuple[Problem, ...] = ()
    leads_to: Mapping[str, str] = field(default_factory=dict)


def check_arguments(leaf: Leaf, arguments: Mapping[str, object]) -> tuple[Problem, ...]:
    """Everything wrong with the arguments that can be told without looking at the file system."""
    given = completed(leaf, arguments)
    wrong = list(check_values(leaf, given))
    spoilt = {problem.path.partition("[")[0] for problem in wrong}
    line = command_line(leaf, {name: value for name, value in given.items() if name not in spoilt}, Path())
    return (*wrong, *line.problems)


def build_argv(
    leaf: Leaf, arguments: Mapping[str, object], *, project: Path, roots: Sequence[Path], folder: Path
) -> Invocation:
    """The command of a call; an InvalidInput names every argument that does not fit.

    `roots` are the directories that paths may lie in, `folder` is the operation's own, for values passed by file.
    """
    problems = check_arguments(leaf, arguments)
    given = completed(leaf, arguments)
    cwd = _cwd(leaf, given, project)
    paths = _Paths(problems=problems) if problems else _paths(leaf, given, project=project, cwd=cwd, roots=roots)
    if paths.problems:
        raise InvalidInput(paths.problems)
    line = command_line(leaf, given, folder)
    timeout = given.get(TIMEOUT_SECONDS.name, leaf.settings.timeout_seconds)
    stdin = leaf.stdin if line.stdin is None else line.stdin
    return Invocation(
        argv=tuple(line.words),
        cwd=cwd,
        env=line.env,
        stdin=None if stdin is None else stdin.encode(),
        files=tuple(line.files),
        synchronous=leaf.synchronous or given.get(EXECUTION_MODE.name) == SYNCHRONOUS,
        timeout_seconds=int(timeout) if isinstance(timeout, int | float) else None,
        before=tuple(line.before),
        leads_to=paths.leads_to,
    )


def _cwd(leaf: Leaf, given: Mapping[str, object], project: Path) -> Path:
    asked = given.get(WORKING_DIRECTORY.name)
    return project / (asked if isinstance(asked, str) else leaf.settings.cwd or "")


def _paths(leaf: Leaf, given: Mapping[str, object], *, project: Path, cwd: Path, roots: Sequence[Path]) -> _Paths:
    """Paths that lead out of the roots, and a working directory that is none, are wrong. Each is looked at once: a link
    may lead elsewhere a moment later."""
    problems, leads_to = list[Problem](), dict[str, str]()
    asked = given.get(WORKING_DIRECTORY.name)
    reason = ""
    if isinstance(asked, str):
        reason, leads_to["."] = _looked_at(asked, base=project, roots=roots)
    if not reason and not cwd.is_dir():
        reason = f"is {quoted(str(cwd))}, which is not a directory."
    if reason:
        problems.append(Problem(path=WORKING_DIRECTORY.name, text=reason))
    for name, path in _path_arguments(leaf, given):
        reason, leads_to[path] = _looked_at(path, base=cwd, roots=roots)
        if reason:
            problems.append(Problem(path=name, text=reason))
    return _Paths(problems=tuple(problems), leads_to=leads_to)


def _path_arguments(leaf: Leaf, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Every path that a call gives, by the name of its argument."""
    for spec in (*leaf.options, *leaf.positional_args):
        value = given.get(spec.name)
        if spec.is_path and isinstance(value, str):
            yield spec.name, value
        elif spec.is_path and isinstance(value, list):
            yield from ((f"{spec.name}[{index}]", str(item)) for index, item in enumerate(value))


_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\|.*(^|[\\/])\.\.\\")


def _looked_at(value: str, *, base: Path, roots: Sequence[Path]) -> tuple[str, str]:
    """Why `value`, read from `base`, may not be used, empty when it may; and where it leads. Links are followed, `..`
    is resolved."""
    if not value:
        return "is empty. Give a path, or leave it out.", ""
    if os.name != "nt" and _WINDOWS.match(value):
        return f"is {quoted(value)}, a Windows path, and this is not Windows. Give a path relative to {base}.", ""
    if value.startswith("~"):
        return f"is {quoted(value)}; `~` is not expanded. Give a path relative to {base}.", ""
    try:
        real = (base / value).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        return f"is {quoted(value)}, which cannot be resolved ({error}).", ""
    if any(real.is_relative_to(root.resolve()) for root in roots):
        return "", str(real)
    allowed = " or ".join(str(root) for root in roots)
    return f"is {quoted(value)}, which leads to {real}. It must stay inside {allowed}.", ""
