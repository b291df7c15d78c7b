"""The tools that tool files give: found by name, loaded again when a file changes, and what was left out and why."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sayso.config import Config
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import Fault, ToolFile
from sayso.toolfiles.toolfile import load_dir

logger = logging.getLogger(__name__)

_Signature = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, kw_only=True)
class CommandTool:
    """One MCP tool of a tool file."""

    file: ToolFile
    leaf: Leaf

    @property
    def name(self) -> str:
        return self.leaf.name


@dataclass(frozen=True, kw_only=True)
class LoadedTools:
    """What the directories gave when they were last loaded."""

    tools: Mapping[str, CommandTool] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    files: int = 0
    """How many tool files there are, valid or not."""

    @property
    def left_out(self) -> tuple[Path, ...]:
        """The files that are not served because of a fault."""
        return tuple(dict.fromkeys(fault.file for fault in self.faults))


class Catalog:
    """The tool files of one server. Plain code: `look` is cheap and meant to be called about once a second."""

    def __init__(self, config: Config, *, reserved: Collection[str] = ()) -> None:
        self._config, self._reserved = config, reserved
        self._seen: _Signature = ()
        self.loaded = LoadedTools()

    def load(self) -> LoadedTools:
        """Read and check all files."""
        self._seen = self._signature()
        found = load_dir(self._directories(), reserved=self._reserved)
        tools = [CommandTool(file=file, leaf=leaf) for file in found.tools for leaf in leaves(file)]
        self.loaded = LoadedTools(tools={tool.name: tool for tool in tools}, faults=found.faults, files=len(self._seen))
        for fault in found.faults:
            logger.warning("A tool file was left out: %s", fault)
        if found.tools:
            logger.info("Serving %d command tools from %d tool files", len(tools), len(found.tools))
        return self.loaded

    def look(self) -> LoadedTools | None:
        """Load again if a file has changed, come or gone. What there was before, if that changed anything."""
        if self._signature() == self._seen:
            return None
        before = self.loaded
        return before if self.load() != before else None

    def _directories(self) -> list[Path]:
        named = self._config.tools_dir
        return [folder for folder in self._config.tools_dirs if folder == named or folder.is_dir()]

    def _signature(self) -> _Signature:
        found: list[tuple[str, int, int, int]] = []
        for folder in self._config.tools_dirs:
            try:
                entries = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
                found += [_described(entry) for entry in entries if not entry.name.startswith(".")]
            except OSError:
                continue
        return tuple(sorted(found))


def _described(entry: os.DirEntry[str]) -> tuple[str, int, int, int]:
    try:
        stat = entry.stat()
    except OSError:
        return entry.path, 0, 0, 0
    return entry.path, stat.st_mtime_ns, stat.st_size, stat.st_ino
