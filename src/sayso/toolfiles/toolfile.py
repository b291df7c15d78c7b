"""Reading tool files: one, or directories of them. Every fault with its line, all at once; valid files always load."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from sayso.files import read_regular
from sayso.jsontext import Document, path_text, read_json
from sayso.jsontext import Path as Where
from sayso.records import field, record, replace
from sayso.toolfiles.argv import check_arguments
from sayso.toolfiles.format import TOOL, build
from sayso.toolfiles.leaves import Leaf, leaf_name, leaves
from sayso.toolfiles.model import Fault, FaultKind, SequenceStep, ToolFile
from sayso.toolfiles.rules import check_rules
from sayso.toolfiles.structure import Flaw, check_structure
from sayso.toolfiles.values import nearest

MAX_BYTES = 1024 * 1024
READY = Path(__file__).with_name("ready")
"""Where the ready-made files lie."""

_OURSELVES = "Sayso itself"

Faults = tuple[Fault, ...]
MayUse = Callable[[Path, bytes], bool]
"""Whether a file may be used with this content."""
OpenAt = Callable[[Path], Path | None]
"""Where somebody else could have changed a file that is used without having been looked at; None where nobody could."""


@record
class Loaded:
    """What directories of tool files gave. `hidden` are the valid ones that say `"enabled": false`."""

    tools: tuple[ToolFile, ...] = ()
    hidden: tuple[ToolFile, ...] = ()
    faults: Faults = ()
    not_used: tuple[Path, ...] = ()
    """Those that may not be used. Nothing in them was looked at."""
    in_their_place: tuple[ToolFile, ...] = ()
    """Valid ones whose name another has: that one is used instead."""


def load_file(file: Path, *, reserved: Collection[str] = ()) -> ToolFile | Faults:
    """One tool file, or all that is wrong with it. `reserved` are names of MCP tools that no file may take."""
    content = _content(file)
    tool = (content,) if isinstance(content, Fault) else _parsed(content, file)
    if isinstance(tool, ToolFile) and (clash := [leaf.name for leaf in leaves(tool) if leaf.name in reserved]):
        return (_taken(tool, clash[0], _OURSELVES),)
    return tool


def _parsed(content: bytes, file: Path) -> ToolFile | Faults:
    text = _text(content, file)
    tool = (text,) if isinstance(text, Fault) else parse(text, file)
    return replace(tool, content=content) if isinstance(tool, ToolFile) else tool


def parse(text: str, file: Path) -> ToolFile | Faults:
    """The text of a tool file; `file` is only its name."""
    try:
        document = read_json(text)
    except json.JSONDecodeError as error:
        why = f"{error.msg.rstrip('.')} (column {error.colno})"
        return (_fault(file, error.lineno, "json", "valid JSON", why),)
    structure = check_structure(document.value)
    found = check_rules(document.value, structure)
    faults = [*_duplicates(document, file), *(_placed(finding, document, file) for finding in (*structure, *found))]
    if faults:
        return tuple(sorted(faults, key=lambda fault: fault.line))
    assert isinstance(document.value, dict)
    tool: ToolFile = build(TOOL, document.value, file=file)
    return tool


def anything(file: Path, content: bytes) -> bool:
    return True


def unasked(file: Path) -> Path | None:
    return None


def load_dir(
    directories: Iterable[Path],
    *,
    reserved: Collection[str] = (),
    may_use: MayUse = anything,
    open_at: OpenAt = unasked,
) -> Loaded:
    """All tool files of the directories, in their order. The first of a name wins and the others are reported.

    `reserved` are names of MCP tools that no file may take. A directory that is not there is a fault: leave out
    those that need not be.
    """
    files: dict[str, str] = {}
    taken = dict.fromkeys(reserved, _OURSELVES)
    kept: list[_Kept] = []
    second: list[ToolFile] = []
    found = _Found()
    for tool in (tool for directory in directories for tool in _load_each(directory, may_use, open_at, found)):
        one = _Kept(tool=tool, leaves=leaves(tool))
        names = [leaf.name for leaf in one.leaves]
        if tool.name in files:
            found.faults.append(_taken(tool, tool.name, files[tool.name]))
            second.append(tool)
        elif clash := [name for name in names if name in taken]:
            found.faults.append(_taken(tool, clash[0], taken[clash[0]]))
            second.append(tool)
        else:
            kept.append(one)
            files[tool.name] = str(tool.file)
            taken.update(dict.fromkeys(names, str(tool.file)))
    tools = _without_broken_sequences([one for one in kept if one.tool.enabled], found.faults)
    return Loaded(
        tools=tuple(one.tool for one in tools),
        hidden=tuple(one.tool for one in kept if not one.tool.enabled),
        faults=tuple(found.faults),
        not_used=tuple(found.not_used),
        in_their_place=tuple(second),
    )


@record
class _Found:
    """What is not to be used of what was found, and why."""

    faults: list[Fault] = field(default_factory=list)
    not_used: list[Path] = field(default_factory=list)


@record
class _Kept:
    """A tool file that is used, with its MCP tools."""

    tool: ToolFile
    leaves: tuple[Leaf, ...]


def _taken(tool: ToolFile, name: str, owner: str) -> Fault:
    hint = "Rename it, or remove one of the files. The first one is used."
    return _fault_in(tool, ("name",), "duplicate", "a name of its own", f"`{name}`, which {owner} already has", hint)


def ready_files() -> dict[str, Path]:
    """The ready-made tool files by name, to copy from."""
    return {file.stem: file for file in sorted(READY.glob("*.json"))}


def _content(file: Path) -> bytes | Fault:
    try:
        content = read_regular(file, MAX_BYTES)
    except OSError as error:
        return _fault(file, 1, "unreadable", "a file that can be read", error.strerror or str(error))
    return content if len(content) <= MAX_BYTES else _fault(file, 1, "size", f"at most {MAX_BYTES:,} bytes", "more")


def _as_ours(file: Path, content: bytes | Fault, open_at: OpenAt) -> bytes | Fault:
    try:
        place = open_at(file)
    except OSError as error:
        return _fault(file, 1, "unreadable", "a file that can be read", error.strerror or str(error))
    if place is None:
        return content
    hint = "Make it your own: chown and chmod go-w."
    return _fault(file, 1, "writable", "a file that only you can write", f"that somebody else can write {place}", hint)


def _text(content: bytes, file: Path) -> str | Fault:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        actual = f"the byte 0x{content[error.start]:02x}"
        return _fault(file, line, "encoding", "UTF-8 text", actual, "Save the file as UTF-8.")


def tool_files_in(directory: Path) -> list[Path]:
    """The tool files of a directory, in order. OSError where it is none."""
    return sorted(item for item in directory.iterdir() if item.suffix == ".json" and item.name[0] != ".")


def _load_each(directory: Path, may_use: MayUse, open_at: OpenAt, found: _Found) -> Iterator[ToolFile]:
    try:
        files = tool_files_in(directory)
    except OSError as error:
        reason = error.strerror or str(error)
        found.faults.append(_fault(directory, 1, "unreadable", "a directory of tool files", reason))
        return
    for file in files:
        content = _content(file)
        if not may_use(file, b"" if isinstance(content, Fault) else content):
            found.not_used.append(file)
            continue
        content = _as_ours(file, content, open_at)
        tool = (content,) if isinstance(content, Fault) else _parsed(content, file)
        if isinstance(tool, ToolFile):
            yield tool
        else:
            found.faults.extend(tool)


def _without_broken_sequences(kept: list[_Kept], faults: list[Fault]) -> list[_Kept]:
    """Drop files with a step that nothing can run; what leant on them falls with them."""
    while True:
        known = {leaf.name: leaf for one in kept for leaf in one.leaves}
        broken = {one.tool.name: found for one in kept if (found := list(_broken_steps(one, known)))}
        if not broken:
            return kept
        faults.extend(fault for found in broken.values() for fault in found)
        kept = [one for one in kept if one.tool.name not in broken]


def _broken_steps(one: _Kept, known: dict[str, Leaf]) -> Iterator[Fault]:
    for leaf in one.leaves:
        for index, step in enumerate(leaf.sequence):
            for expected, actual, hint in _step_faults(step, known):
                yield _fault_in(one.tool, (*leaf.where, "sequence", index), "unknown", expected, actual, hint)


def _step_faults(step: SequenceStep, known: dict[str, Leaf]) -> Iterator[tuple[str, str, str]]:
    name = leaf_name(step.tool, step.subcommand)
    target = known.get(name)
    if target is None:
        yield "a step that names a loaded tool", f"`{name}`", nearest(name, known) or "Add its tool file."
    elif target.sequence:
        yield "a step that is a command", f"`{name}`, a sequence itself", "List its steps here instead."
    else:
        for problem in check_arguments(target, step.args):
            yield f"arguments that {name} takes", str(problem), ""


def _duplicates(document: Document, file: Path) -> Iterator[Fault]:
    for where, line in document.duplicates:
        hint = "Only the last one would count: remove one of them."
        yield _fault(file, line, "duplicate", "each field once", "it again", hint, path=path_text(where))


def _placed(finding: Flaw, document: Document, file: Path) -> Fault:
    return Fault(
        file=file,
        line=document.line(finding.where),
        path=path_text(finding.where),
        kind=finding.kind,
        expected=finding.expected,
        actual=finding.actual,
        suggestion=finding.suggestion,
    )


def _fault(
    file: Path, line: int, kind: FaultKind, expected: str, actual: str, suggestion: str = "", *, path: str = ""
) -> Fault:
    return Fault(file=file, line=line, path=path, kind=kind, expected=expected, actual=actual, suggestion=suggestion)


def _fault_in(tool: ToolFile, where: Where, kind: FaultKind, expected: str, actual: str, suggestion: str) -> Fault:
    """A fault in a file that is valid by itself. It is read once more, for the line."""
    file = tool.file or Path()
    return _fault(file, _line(file, where), kind, expected, actual, suggestion, path=path_text(where))


def _line(file: Path, where: Where) -> int:
    content = _content(file)
    text = content if isinstance(content, Fault) else _text(content, file)
    try:
        return 1 if isinstance(text, Fault) else read_json(text).line(where)
    except json.JSONDecodeError:
        return 1
