"""The tools that tool files give: found by name, loaded again when a file changes, and what was left out and why."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from sayso import log
from sayso.config import NETWORKS, SANDBOXES, Config
from sayso.ownership import written_by_others
from sayso.records import field, record, replace
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import Approve, Fault, ToolFile
from sayso.toolfiles.toolfile import load_dir
from sayso.trust import TrustedProject

_Signature = tuple[tuple[str, int, int, int, int], ...]


@record
class CommandTool:
    """One MCP tool of a tool file."""

    file: ToolFile
    leaf: Leaf

    @property
    def name(self) -> str:
        return self.leaf.name


@record
class LoadedTools:
    """What the directories gave when they were last loaded."""

    tools: Mapping[str, CommandTool] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    files: int = 0
    """How many tool files there are that may be used, valid or not."""
    untrusted: tuple[Path, ...] = ()
    """The project's files that nobody has trusted as they are. Nothing in them is used."""

    @property
    def left_out(self) -> tuple[Path, ...]:
        """The files that are not served because of a fault."""
        return tuple(dict.fromkeys(fault.file for fault in self.faults))


class Catalog:
    """The tool files of one server. Plain code: `look` is cheap and meant to be called about once a second."""

    def __init__(self, config: Config, *, reserved: Collection[str] = ()) -> None:
        self._config, self._reserved = config, reserved
        self._seen: _Signature = ()
        self._trusted = TrustedProject(folder=config.project)
        self.loaded = LoadedTools()

    def load(self) -> LoadedTools:
        """Read and check all files."""
        self._seen = self._signature()
        self._trusted = self._config.trust.of(self._config.project)
        found = load_dir(self.directories(), reserved=self._reserved, may_use=self._may_use, open_at=self.open_at)
        others = _by_name(found.in_their_place)
        tools = [
            CommandTool(file=file, leaf=_tightened(leaf, others.get(leaf.name, ()), self._config))
            for file in found.tools
            for leaf in leaves(file)
        ]
        self.loaded = LoadedTools(
            tools={tool.name: tool for tool in tools},
            faults=found.faults,
            files=sum(map(len, map(_tool_files, self._config.tools_dirs))) - len(found.not_used),
            untrusted=found.not_used,
        )
        if log.is_kept():
            _note(self.loaded, len(found.tools))
        return self.loaded

    def look(self) -> LoadedTools | None:
        """Load again if a file has changed, come or gone. What there was before, if that changed anything."""
        if self._signature() == self._seen:
            return None
        before = self.loaded
        return before if self.load() != before else None

    def directories(self) -> list[Path]:
        """Those that are there, and one that was named in any case."""
        named = self._config.tools_dir
        return [folder for folder in self._config.tools_dirs if folder == named or folder.is_dir()]

    def _may_use(self, file: Path, content: bytes) -> bool:
        """The person's own files always; the project's if they were trusted as they are."""
        return not self._config.is_of_project(file.parent) or self._trusted.trusts(file, content)

    def open_at(self, file: Path) -> Path | None:
        """Where somebody else could have changed a file of the person's own."""
        return None if self._config.is_of_project(file.parent) else written_by_others(file)

    def _signature(self) -> _Signature:
        found = [described for folder in self._config.tools_dirs for described in _tool_files(folder)]
        if found:
            record = self._config.trust.record(self._config.project)
            found.append(_described(record, record.stat))
        return tuple(sorted(found))


def _tool_files(folder: Path) -> list[tuple[str, int, int, int, int]]:
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
    except OSError:
        return []
    return [_described(entry, entry.stat) for entry in entries if not entry.name.startswith(".")]


def _described(file: os.PathLike[str], stat: Callable[[], os.stat_result]) -> tuple[str, int, int, int, int]:
    try:
        seen = stat()
    except OSError:
        return os.fspath(file), 0, 0, 0, 0
    return os.fspath(file), seen.st_mtime_ns, seen.st_size, seen.st_ino, seen.st_mode


_BY_STRICTNESS: tuple[Approve, ...] = ("never", "once", "always")


def _by_name(files: Sequence[ToolFile]) -> Mapping[str, list[Leaf]]:
    """The tools that files would have given which are not used for their names."""
    found: dict[str, list[Leaf]] = {}
    for leaf in (leaf for file in files for leaf in leaves(file)):
        found.setdefault(leaf.name, []).append(leaf)
    return found


def _tightened(leaf: Leaf, others: Sequence[Leaf], config: Config) -> Leaf:
    """A tool is run with the strictest say-so, and in the strictest sandbox, that any valid file of its name asks for,
    whichever file is used."""
    if not others:
        return leaf
    own = leaf.settings
    kept = [other.settings for other in others if other.settings.sandbox not in (None, SANDBOXES[0])]
    profiles = [own.sandbox or config.sandbox, *(other.sandbox for other in kept)]
    networks = [own.sandbox_network or config.sandbox_network, *(other.sandbox_network for other in kept)]
    stricter = replace(
        own,
        approve=max((leaf.approve, *(other.approve for other in others)), key=_BY_STRICTNESS.index),
        sandbox=max(filter(None, profiles), key=SANDBOXES.index) if kept else own.sandbox,
        sandbox_network=max(filter(None, networks), key=NETWORKS.index) if kept else own.sandbox_network,
    )
    return replace(leaf, settings=stricter)


def _note(loaded: LoadedTools, files: int) -> None:
    """In the log: what was left out, and what is served."""
    import logging  # not everybody who loads them keeps one

    logger = logging.getLogger(__name__)
    for fault in loaded.faults:
        logger.warning("A tool file was left out: %s", fault)
    for file in loaded.untrusted:
        logger.warning("A tool file of the project is not used until you trust it (`sayso trust`): %r", str(file))
    if files:
        logger.info("Serving %d command tools from %d tool files", len(loaded.tools), files)
