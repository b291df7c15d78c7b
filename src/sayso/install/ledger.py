"""What Sayso has put into other programs' files, so that exactly that can be taken back: a JSON file in the state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sayso.config import Config
from sayso.errors import CannotEdit
from sayso.install import files


@dataclass(frozen=True, kw_only=True)
class Record:
    """One file that was changed."""

    after: str
    """The fingerprint of the file as we left it."""
    restores: bool
    """Whether the file was free of Sayso before, so that it may be put back as it was."""
    backup: str = ""
    """A copy of the file as it was; empty where there was none."""
    made: int = 0
    """How many tables above the entry are ours as well."""
    folders: tuple[str, ...] = ()
    """The folders that were made for it and for others of our files, the innermost first."""
    added: tuple[str, ...] = ()
    """Which kinds of parts were put there by us, and not found there."""


class Ledger:
    """The records, by the path of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, file: Path) -> Record | None:
        found = self._read().get(str(file))
        if not found:
            return None
        return Record(**{**found, "folders": tuple(found["folders"]), "added": tuple(found.get("added", ()))})

    def folders(self) -> set[str]:
        """All that were made, for whichever file."""
        return {folder for record in self._read().values() for folder in record["folders"]}

    def put(self, file: Path, record: Record) -> None:
        self._write({**self._read(), str(file): asdict(record)})

    def drop(self, file: Path) -> None:
        records = self._read()
        if records.pop(str(file), None):
            self._write(records)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            # Without it nothing is put back to the byte, but everything can still be taken out.
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, records: Mapping[str, Any]) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise CannotEdit(
                f"{self._path.parent}: cannot be made ({error.strerror}). `sayso doctor` says more."
            ) from error
        files.write(self._path, json.dumps(records, indent=1).encode(), files.content(self._path))


def ledger_of(config: Config) -> Ledger:
    return Ledger(config.installed_file)
