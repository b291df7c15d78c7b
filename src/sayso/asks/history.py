"""Questions and answers kept for ever as YAML files in the project. Files are only ever added.

Every text is double-quoted by a YAML library: plain scalars mean different things to different readers.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from sayso.errors import HistoryError
from sayso.files import put_under_new_name
from sayso.records import record

logger = logging.getLogger(__name__)

FOLDER = Path(".swissarmyhammer") / "questions"
_LARGEST_FILE = 8 * 1024 * 1024
_DEEPEST = 64


@record
class HistoryEntry:
    """One question with its answer. The timestamp is RFC 3339."""

    timestamp: str
    question: str
    answer: str


@record
class Summary:
    text: str
    count: int
    total: int


def save(project: Path, question: str, answer: str) -> Path:
    """Write a new file and give its path, once it is durable. Nothing that is there is touched."""
    now = datetime.now(UTC)
    stamp = _rfc3339(now)
    text = f"# Saved at {now:%Y-%m-%d %H:%M:%S} UTC\n" + _dump(
        _texts(HistoryEntry(timestamp=stamp, question=question, answer=answer))
    )
    folder = project / FOLDER
    if not _is_inside(folder, project):
        raise HistoryError(
            f"The answer was not saved: {folder} leads out of the project by a link. The user's answer was: {answer}"
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _add(folder, now, text.encode())
    except OSError as error:
        raise HistoryError(
            f"The answer could not be saved in {folder}: {error.strerror}. The user's answer was: {answer}"
        ) from error


def summarize(project: Path, limit: int | None = None) -> Summary:
    """All pairs of the project, oldest first; with a limit the newest so many."""
    entries = sorted(_entries(project), key=lambda entry: (_moment(entry), entry.timestamp))
    kept = entries if limit is None else entries[len(entries) - min(limit, len(entries)) :]
    head = (
        f"# Question/Answer History\n# Generated: {_rfc3339(datetime.now(UTC))}\n# Total Q&A Pairs: {len(entries)}\n\n"
    )
    text = head + _dump({"entries": [_texts(entry) for entry in kept]})
    return Summary(text=text, count=len(kept), total=len(entries))


def _rfc3339(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _add(folder: Path, now: datetime, data: bytes) -> Path:
    """Under a name that nobody has: written beside, then linked, which fails where the name is taken."""
    written = folder / f".{now:%Y%m%d_%H%M%S_%f}_{os.getpid()}_{id(data):x}.tmp"
    try:
        _write(written, data)
        for file in _names(folder, now):
            with suppress(FileExistsError):
                put_under_new_name(written, file)
                _make_durable(folder)
                return file
        raise FileExistsError(errno.EEXIST, "every name for this moment is taken", str(folder))
    finally:
        written.unlink(missing_ok=True)


def _names(folder: Path, now: datetime) -> Iterator[Path]:
    yield folder / f"{now:%Y%m%d_%H%M%S}_question.yaml"
    for microsecond in range(now.microsecond, 1_000_000):
        yield folder / f"{now:%Y%m%d_%H%M%S}_{microsecond:06d}_question.yaml"


def _write(file: Path, data: bytes) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _make_durable(folder: Path) -> None:
    """A new name outlives a power cut only once its folder is on the disk, too."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _is_inside(path: Path, project: Path) -> bool:
    """Whether it is the project's own. By a link, a repository could show the answers of another project, or have them
    written there."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project))


def _entries(project: Path) -> Iterator[HistoryEntry]:
    for file in sorted((project / FOLDER).glob("*.y*ml")):
        try:
            if not _is_inside(file, project):
                raise ValueError("it leads out of the project by a link")
            yield _entry(file)
        except (OSError, ValueError, yaml.YAMLError) as error:
            logger.warning("Left out %s: %s", file.name, str(error).splitlines()[0] if str(error) else type(error))


def _entry(file: Path) -> HistoryEntry:
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it is no file")
    if found.st_size > _LARGEST_FILE:
        raise ValueError(f"it is larger than {_LARGEST_FILE:,} bytes")
    texts = _top_level_texts(file.read_bytes().decode("utf-8-sig"))
    for key in ("question", "answer"):
        if key not in texts:
            raise ValueError(f"{key} is missing or no text")
    # Somebody who writes a file by hand may leave the time to the file itself.
    timestamp = texts.get("timestamp") or _rfc3339(datetime.fromtimestamp(found.st_mtime, UTC))
    return HistoryEntry(timestamp=timestamp, question=texts["question"], answer=texts["answer"])


def _top_level_texts(document: str) -> dict[str, str]:
    """The keys whose values are scalars, every one as the text it is written as: `answer: no` is the answer "no".

    Read event by event: a deeply nested document would overflow the stack of the C library, and the process with it.
    """
    nodes = _top_level_nodes(document)
    pairs = zip(nodes, nodes, strict=True)
    return {
        key.value: value.value
        for key, value in pairs
        if isinstance(key, yaml.ScalarEvent) and isinstance(value, yaml.ScalarEvent)
    }


def _top_level_nodes(document: str) -> Iterator[yaml.NodeEvent]:
    """Key, value, key, value of the one mapping that the document must be."""
    depth, mappings = 0, 0
    for event in yaml.parse(document, Loader=_Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            if depth == 1:
                yield event
            elif depth == 0:
                mappings += 1
                if not isinstance(event, yaml.MappingStartEvent) or mappings > 1:
                    raise ValueError("it is not one list of keys and values")
            depth += isinstance(event, yaml.CollectionStartEvent)
            if depth > _DEEPEST:
                raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _moment(entry: HistoryEntry) -> datetime:
    try:
        moment = datetime.fromisoformat(entry.timestamp)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Quoted(str):
    """A text that is written in double quotes."""


def _texts(entry: HistoryEntry) -> dict[str, _Quoted]:
    return {
        "timestamp": _Quoted(entry.timestamp),
        "question": _Quoted(entry.question),
        "answer": _Quoted(entry.answer),
    }


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BaseDumper):  # type: ignore[misc]
    """Writes quoted texts as such."""


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def _dump(data: object) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**30, default_flow_style=False
    )
    return _ESCAPE.sub(_readable, text)


_ESCAPE = re.compile(r"\\(?:U([0-9A-Fa-f]{8})|.)")


def _readable(escape: re.Match[str]) -> str:
    """Emoji and rare letters as they are, which the library writes as numbers. Every text is in double quotes, where a
    backslash is always the first of an escape."""
    if escape[1] is None:
        return escape[0]
    character = chr(int(escape[1], 16))
    return character if character.isprintable() else escape[0]
