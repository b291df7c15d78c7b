"""What a project brings that Sayso, or an agent that Sayso starts, would use: each file whole, with every command that
it names, and how it stands with the person. Only reads, and runs nothing.

Rules of a project are shown here too: those that deny or ask count whatever their file's standing, those that allow
only where it is trusted (`rules/files.py`).
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.clock import now_ms
from sayso.config import Config, settings_of
from sayso.files import read_regular
from sayso.records import record
from sayso.setting_values import toml
from sayso.trust import TrustedProject, TrustStanding, content_hash, real, relative_name

if TYPE_CHECKING:
    from sayso.toolfiles.leaves import Leaf
    from sayso.toolfiles.model import Fault

MOST_BYTES = 1024 * 1024
"""Bytes of one file. A larger one cannot be looked at, so it is not used."""
MOST_FILES = 500
"""Files of one folder, those below it included."""
_NOTHING_THERE = (FileNotFoundError, NotADirectoryError)


class Used(StrEnum):
    """By what a file is used."""

    TOOLS = "tool file"
    SETTINGS = "settings of Sayso"
    RULES = "rules of Sayso"
    CLAUDE = "Claude Code"
    CODEX = "Codex"
    GEMINI = "Gemini"
    OPENCODE = "opencode"
    COPILOT = "Copilot"
    QWEN = "Qwen"
    ANY_AGENT = "any agent"
    """One of which it is not known what it would use."""


OF_AGENTS = (
    (Used.CODEX, ".codex"),
    (Used.GEMINI, ".gemini"),
    (Used.OPENCODE, ".opencode"),
    (Used.QWEN, ".qwen"),
    *((Used.COPILOT, f".github/{name}") for name in ("agents", "copilot", "extensions", "hooks", "skills")),
    (Used.COPILOT, ".copilot"),
)
"""The folders all of which an agent reads. No rule lets an agent change what lies there (`rules/protected.py`)."""
FILES_OF_AGENTS = (
    (Used.OPENCODE, "opencode.json"),
    (Used.OPENCODE, "opencode.jsonc"),
    (Used.COPILOT, ".github/mcp.json"),
    (Used.COPILOT, ".vscode/mcp.json"),
)
_ALSO_CLAUDE = (Used.OPENCODE, Used.COPILOT, Used.QWEN)
"""Those that take servers, hooks or skills also from where Claude Code does."""
_OF_SAYSO = (Used.TOOLS, Used.SETTINGS, Used.RULES)
_TOO_DEEP = "it is nested too deeply for its commands to be named here: read all of it"


@record
class BroughtFile:
    """One file of a project."""

    name: str
    """The way from the project to where it really lies."""
    used: Used
    standing: TrustStanding
    data: bytes = b""
    trouble: str = ""
    """Why it can be neither shown nor trusted. Empty: it can."""

    @property
    def is_trusted(self) -> bool:
        return self.standing is TrustStanding.TRUSTED and not self.trouble

    @property
    def text(self) -> str | None:
        """None for what is no text."""
        with suppress(UnicodeDecodeError):
            return self.data.decode("utf-8-sig")
        return None

    @property
    def commands(self) -> tuple[str, ...]:
        """Every command that it names, each with what it is for."""
        if self.text is None:
            return ()
        try:
            return tuple(_commands_of_tools(self) if self.used is Used.TOOLS else _commands_in(_parsed(self)))
        except RecursionError:
            return (_TOO_DEEP,)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Why a tool file gives no tool."""
        if self.used is not Used.TOOLS or self.text is None:
            return ()
        from sayso.toolfiles.model import ToolFile  # whoever runs agents, or lists where they may run, reads no tools
        from sayso.toolfiles.toolfile import parse

        tool = parse(self.text, Path(self.name))
        return () if isinstance(tool, ToolFile) else tool


@record
class Brought:
    """All that one project brings."""

    folder: Path
    """The real one."""
    files: tuple[BroughtFile, ...] = ()

    @property
    def digest(self) -> str:
        """Stands for all of it, as it is."""
        told = [
            str(self.folder),
            *(f"{file.name}\0{content_hash(file.data)}" for file in self.files if not file.trouble),
        ]
        return content_hash("\0\0".join(told).encode(errors="surrogateescape"))

    @property
    def untrusted(self) -> tuple[BroughtFile, ...]:
        return tuple(file for file in self.files if not file.is_trusted)

    def kept_from(self, used: Used) -> tuple[BroughtFile, ...]:
        """What one user of files does not get."""
        return tuple(file for file in self.untrusted if _uses(used, file))

    def as_trusted(self) -> TrustedProject:
        """Trust in exactly this."""
        files = {file.name: content_hash(file.data) for file in self.files if not file.trouble}
        return TrustedProject(folder=self.folder, files=files, since=now_ms())


def _uses(used: Used, file: BroughtFile) -> bool:
    if used is Used.ANY_AGENT:
        return file.used not in _OF_SAYSO
    return file.used is used or (used in _ALSO_CLAUDE and file.used is Used.CLAUDE)


def brought(config: Config, project: Path, trusted_as: Path | None = None) -> Brought:
    """What lies in the project now, as it stands. In another working tree of a project, what was trusted in that."""
    folder = real(project)
    trusted = config.trust.of(trusted_as or project)
    trusted = TrustedProject(folder=folder, files=trusted.files, since=trusted.since)
    found: dict[str, BroughtFile] = {}
    for used, path, trouble in _places(config, project):
        file = _in_the_way(path, used, trusted, trouble) if trouble else _file(path, used, trusted)
        if file and file.name not in found:
            found[file.name] = file
    return Brought(folder=folder, files=tuple(found.values()))


def _places(config: Config, project: Path) -> Iterator[tuple[Used, Path, str]]:
    """Where something may lie and for whom, and what is known to be in the way of it."""
    yield from ((Used.TOOLS, file, "") for folder in _tool_folders(config, project) for file in _tool_files(folder))
    yield Used.SETTINGS, settings_of(project), ""
    yield Used.RULES, config.rules_of(project), ""
    for folder in _read_by_agents(real(project)):
        yield Used.CLAUDE, folder / ".mcp.json", ""
        # Claude Code keeps whole checkouts in `.claude/worktrees`, and takes nothing from them.
        worktrees = folder / ".claude" / "worktrees"
        yield from ((Used.CLAUDE, *each) for each in _below(folder / ".claude", left_out=worktrees))
        yield from ((used, *each) for used, place in OF_AGENTS for each in _below(folder / place))
        yield from ((used, folder / name, "") for used, name in FILES_OF_AGENTS)


def _tool_folders(config: Config, project: Path) -> Iterator[Path]:
    yield project / ".sayso" / "tools"
    named = config.tools_dir
    if named and real(project) == real(config.project) and config.is_of_project(named):
        yield named


def _tool_files(folder: Path) -> list[Path]:
    from sayso.toolfiles.toolfile import tool_files_in

    with suppress(OSError):
        return tool_files_in(folder)
    return []


def _read_by_agents(folder: Path) -> Iterator[Path]:
    """The folder and those above it: agents read what lies there too. The home's own is the person's, as all above."""
    home = real(Path.home())
    yield folder
    for above in folder.parents:
        if above == home or above in home.parents:
            return
        yield above


def _below(folder: Path, left_out: Path | None = None) -> Iterator[tuple[Path, str]]:
    """All files below a folder, links followed, each folder once, and the folders that cannot be listed or have too
    many, each with that. Nothing of the person's own configuration."""
    if real(folder.parent) == real(Path.home()):
        return
    seen: set[str] = set()
    unlisted: list[OSError] = []
    count = 0
    for place, folders, names in os.walk(folder, followlinks=True, onerror=unlisted.append):
        if os.path.realpath(place) in seen:
            folders.clear()
            continue
        seen.add(os.path.realpath(place))
        folders[:] = sorted(name for name in folders if Path(place) / name != left_out)
        for name in sorted(names):
            if count == MOST_FILES:
                yield folder, f"has more than {MOST_FILES} files"
                return
            yield Path(place) / name, ""
            count += 1
    yield from ((Path(each.filename), _unread(each)) for each in unlisted if not isinstance(each, _NOTHING_THERE))


def _unread(error: OSError) -> str:
    return f"cannot be read: {error.strerror or error}"


def _file(path: Path, used: Used, trusted: TrustedProject) -> BroughtFile | None:
    """None where there is nothing, or nothing that anybody reads."""
    name = relative_name(path, trusted.folder)
    try:
        data = read_regular(path, MOST_BYTES)
    except _NOTHING_THERE:
        if not path.is_symlink():
            return None
        return _in_the_way(path, used, trusted, "is a link that leads nowhere")
    except OSError as error:
        is_folder = not error.errno and path.is_dir()
        return _in_the_way(path, used, trusted, "is a folder, not a file" if is_folder else _unread(error))
    if len(data) > MOST_BYTES:
        return _in_the_way(path, used, trusted, f"has more than {MOST_BYTES:,} bytes")
    file = BroughtFile(name=name, used=used, standing=trusted.standing(name, data), data=data)
    return None if _says_nothing(file, path) else file


def _in_the_way(path: Path, used: Used, trusted: TrustedProject, trouble: str) -> BroughtFile:
    """What can be neither shown nor trusted."""
    name = relative_name(path, trusted.folder)
    return BroughtFile(name=name, used=used, standing=TrustStanding.NEW, trouble=trouble)


def _says_nothing(file: BroughtFile, path: Path) -> bool:
    """What `sayso project add` writes: Claude Code takes no servers from there, and there is nothing else in it."""
    with suppress(RecursionError):
        return path.name == "settings.local.json" and set(_parsed(file)) == {"mcpServers"}
    return False


# What runs

_SAY_SO = {"never": "without asking you", "once": "asking you once", "always": "asking you each time"}


def _commands_of_tools(file: BroughtFile) -> Iterator[str]:
    from sayso.toolfiles.leaves import leaves
    from sayso.toolfiles.model import ToolFile
    from sayso.toolfiles.toolfile import parse

    tool = parse(file.text or "", Path(file.name))
    if isinstance(tool, ToolFile):
        for leaf in leaves(tool):
            yield from _commands_of(leaf)


def _commands_of(leaf: Leaf) -> Iterator[str]:
    for probe in leaf.probes:
        yield f"{leaf.name}, to see whether it is there: {shlex.join(probe.argv)}"
    if leaf.livelog and leaf.livelog.clear_command:
        words = [*leaf.segments[0].words, *leaf.livelog.clear_command]
        yield f"{leaf.name}, before it starts: {shlex.join(words)}"
    env = [f"{name}={shlex.quote(value)}" for name, value in {**leaf.settings.env, **_log_env(leaf)}.items()]
    named = f"{leaf.name}, {_SAY_SO[leaf.approve]}"
    if leaf.sequence:
        yield from (f"{named}: {step.tool} {step.subcommand} {json.dumps(step.args)}" for step in leaf.sequence)
    else:
        yield f"{named}: {' '.join([*env, shlex.join(_words(leaf))])}"
    if leaf.livelog:
        yield f"{leaf.name} sends what it prints to {leaf.livelog.llm_provider.base_url}"


def _words(leaf: Leaf) -> Sequence[str]:
    words = [word for segment in leaf.segments for word in segment.words]
    return [*words, *leaf.livelog.source_args] if leaf.livelog else words


def _log_env(leaf: Leaf) -> Mapping[str, str]:
    return leaf.livelog.env if leaf.livelog else {}


def _parsed(file: BroughtFile) -> dict[str, Any]:
    read = toml if file.name.endswith(".toml") else json.loads
    with suppress(ValueError):
        found = read(file.text or "")
        return found if isinstance(found, dict) else {}
    return {}


def _commands_in(value: object, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command that settings of an agent name, wherever in them: servers, hooks, and what tells keys or lines."""
    if isinstance(value, Mapping):
        if "command" in value or "url" in value:
            yield f"{'.'.join(path)}: {_line(value)}"
        for key, inner in value.items():
            yield from _commands_in(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _commands_in(inner, path)
    elif isinstance(value, str) and path and path[-1].endswith(("Helper", "Refresh", "Export", "notify")):
        yield f"{'.'.join(path)}: {value}"


def _line(entry: Mapping[str, Any]) -> str:
    command, args, env = entry.get("command", entry.get("url")), entry.get("args", []), entry.get("env", {})
    words: Iterable[object] = [*_listed(command), *_listed(args)]
    before = [f"{name}={shlex.quote(str(value))}" for name, value in env.items()] if isinstance(env, Mapping) else []
    if isinstance(command, str) and not args:
        return " ".join([*before, command])
    return " ".join([*before, shlex.join(map(str, words))])


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
