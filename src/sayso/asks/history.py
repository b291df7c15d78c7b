"""Questions and answers kept for ever as YAML files in the project. Files are only ever added.

Every text is double-quoted by a YAML library: plain scalars mean different things to different readers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from sayso.errors import HistoryError

logger = logging.getLogger(__name__)

FOLDER = Path(".swissarmyhammer") / "questions"
_LARGEST_FILE = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One question with its answer. The timestamp is RFC 3339."""

    timestamp: str
    question: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Summary:
    text: str
    count: int
    total: int


def save(project: Path, question: str, answer: str) -> Path:
    """Write a new file and give its path, once it is durable. Nothing that is there is touched."""
    now = datetime.now(UTC)
    stamp = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    text = f"# Saved at {now:%Y-%m-%d %H:%M:%S} UTC\n" + _dump(
        _texts(Entry(timestamp=stamp, question=question, answer=answer))
    )
    folder = project / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _add(folder, now, text.encode())
    except OSError as error:
        raise HistoryError(
            f"The answer could not be saved in {folder}: {error.strerror}. The user's answer was: {answer}"
        ) from error


def summarize(project: Path, limit: int | None = None) -> Summary:
    """All pairs of the project, oldest first; with a limit the newest so many."""
    entries = sorted(_entries(project / FOLDER), key=lambda entry: (_moment(entry), entry.timestamp))
    kept = entries if limit is None else entries[len(entries) - min(limit, len(entries)) :]
    head = (
        f"# Question/Answer History\n# Generated: {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z\n"
        f"# Total Q&A Pairs: {len(entries)}\n\n"
    )
    text = head + _dump({"entries": [_texts(entry) for entry in kept]})
    return Summary(text=text, count=len(kept), total=len(entries))


def _add(folder: Path, now: datetime, data: bytes) -> Path:
    """Under a name that nobody has: written beside, then linked, which fails where the name is taken."""
    written = folder / f".{now:%Y%m%d_%H%M%S_%f}_{os.getpid()}_{id(data):x}.tmp"
    try:
        _write(written, data)
        for name in _names(now):
            try:
                os.link(written, folder / name)
            except FileExistsError:
                continue
            return folder / name
        raise FileExistsError(17, "every name for this moment is taken", str(folder))
    finally:
        written.unlink(missing_ok=True)


def _names(now: datetime) -> Iterator[str]:
    yield f"{now:%Y%m%d_%H%M%S}_question.yaml"
    for microsecond in range(now.microsecond, 1_000_000):
        yield f"{now:%Y%m%d_%H%M%S}_{microsecond:06d}_question.yaml"


def _write(file: Path, data: bytes) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _entries(folder: Path) -> Iterator[Entry]:
    for file in sorted(folder.glob("*.y*ml")):
        try:
            yield _entry(file)
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            logger.warning("Left out %s: %s", file.name, str(error).splitlines()[0] if str(error) else type(error))


def _entry(file: Path) -> Entry:
    if file.stat().st_size > _LARGEST_FILE:
        raise ValueError(f"it is larger than {_LARGEST_FILE:,} bytes")
    data = yaml.load(file.read_bytes().decode(), Loader=_Loader)  # noqa: S506
    if not isinstance(data, dict):
        raise ValueError("it holds no keys and values")
    return Entry(**{key: _as_text(data, key) for key in ("timestamp", "question", "answer")})


def _as_text(data: dict[object, object], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is missing or no text")
    return value


def _moment(entry: Entry) -> datetime:
    try:
        moment = datetime.fromisoformat(entry.timestamp)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Quoted(str):
    """A text that is written in double quotes."""


def _texts(entry: Entry) -> dict[str, _Quoted]:
    return {
        "timestamp": _Quoted(entry.timestamp),
        "question": _Quoted(entry.question),
        "answer": _Quoted(entry.answer),
    }


_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Loader(_BaseLoader):  # type: ignore[misc]
    """Reads every scalar as the text it is written as: `answer: no` is the answer "no"."""


_Loader.yaml_implicit_resolvers = {}


class _Dumper(_BaseDumper):  # type: ignore[misc]
    """Writes quoted texts as such."""


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def _dump(data: object) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**30, default_flow_style=False
    )
    return text
