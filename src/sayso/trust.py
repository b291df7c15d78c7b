"""Trust in a folder: which files of a project a person has looked at and lets Sayso use, each by its content.

A repository that was cloned chooses nothing. What was not trusted, or has changed since, is not used. One small file
per project in the state, because a server lists its tools before it opens the store. Whoever uses a file asks about
the very bytes that it goes on with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from sayso.clock import now_ms
from sayso.errors import CannotEdit
from sayso.files import replace_file
from sayso.hashes import sha256
from sayso.records import field, record, replace
from sayso.text import spelt_out


class TrustStanding(StrEnum):
    """How a file of a project stands with the person."""

    TRUSTED = "trusted"
    NEW = "not trusted"
    CHANGED = "changed since you trusted it"


@record
class TrustedProject:
    """What was trusted in one project: the hash of each file, by its path from there."""

    folder: Path
    """The real one, after links."""
    files: Mapping[str, str] = field(default_factory=dict)
    since: int = 0

    def standing(self, name: str, data: bytes) -> TrustStanding:
        known = self.files.get(name)
        if known is None:
            return TrustStanding.NEW
        return TrustStanding.TRUSTED if known == content_hash(data) else TrustStanding.CHANGED

    def trusts(self, file: Path, data: bytes) -> bool:
        """Whether the file was trusted with this content."""
        return bool(self.files) and self.standing(relative_name(file, self.folder), data) is TrustStanding.TRUSTED


class Trust:
    """The projects that were trusted, in a folder of the state."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record(self, project: Path) -> Path:
        """Where it is noted what was trusted in a project, if anything was."""
        return self._folder / f"{content_hash(os.fsencode(real(project)))[:32]}.json"

    def of(self, project: Path) -> TrustedProject:
        try:
            found = _read(_data(self.record(project)))
        except OSError:
            found = None
        folder = real(project)
        return found if found and found.folder == folder else TrustedProject(folder=folder)

    def check(self, project: Path) -> None:
        """An OSError where it cannot be read what was trusted in a project. Who only uses files takes that for a no."""
        _data(self.record(project))

    def all(self) -> list[TrustedProject]:
        """An OSError where not all that is trusted can be read."""
        try:
            records = sorted(self._folder / name for name in os.listdir(self._folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        told = [(each, _read(_data(each))) for each in records]
        found = [project for each, project in told if project and self.record(project.folder) == each]
        return sorted(found, key=lambda project: project.folder)

    def give(self, trusted: TrustedProject) -> None:
        """Trust exactly this in that project from now on, and nothing else."""
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        data = {"project": str(trusted.folder), "since": trusted.since, "files": dict(trusted.files)}
        replace_file(self.record(trusted.folder), (json.dumps(data, indent=1) + "\n").encode())

    def add(self, project: Path, files: Mapping[Path, bytes]) -> None:
        """Trust these files too, each with this content: what a person has had Sayso write themselves."""
        known = self.of(project)
        more = {relative_name(file, known.folder): content_hash(data) for file, data in files.items()}
        self.give(replace(known, files={**known.files, **more}, since=now_ms()))

    def revoke(self, project: Path) -> bool:
        """Trust nothing in the project any more. Whether anything was trusted."""
        there = bool(self.of(project).files)
        self.record(project).unlink(missing_ok=True)
        return there


def real(project: Path) -> Path:
    """The folder that is meant, whatever links lead there."""
    return Path(os.path.realpath(project))


def check_inside(path: Path, project: Path) -> Path:
    """The path, unless it leads out of its project by a link: what lies there is not the project's to be written."""
    leads = real(path)
    if leads.is_relative_to(real(project)):
        return path
    raise CannotEdit(
        f"{spelt_out(str(path))} leads out of the project by a link, to {spelt_out(str(leads))}. It was left alone. "
        "Put a file of the project in the link's place, then run this again."
    )


def relative_name(file: Path, folder: Path) -> str:
    """What a file is called in the note of a real folder: the way from there to where it really lies."""
    return os.path.relpath(os.path.join(os.path.realpath(file.parent), file.name), folder)


def content_hash(data: bytes) -> str:
    return sha256(data)


def _data(record: Path) -> bytes:
    """Nothing where there is no note."""
    try:
        return record.read_bytes()
    except FileNotFoundError:
        return b""


def _read(note: bytes) -> TrustedProject | None:
    """What a note says. One that is not as it should be says nothing: doubt is a no."""
    try:
        data = json.loads(note)
        files = {str(name): str(known) for name, known in data["files"].items()}
        return TrustedProject(folder=Path(str(data["project"])), files=files, since=int(data["since"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
