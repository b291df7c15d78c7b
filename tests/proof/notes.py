"""What happened in a proof, as lines of JSON in a file that is only ever added to.

Each line is one write, so that whoever is killed leaves whole lines behind, and whatever was written stays written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Notes:
    """One file, to be added to by one process."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, **line: Any) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        os.close(self._file)


def read(file: Path) -> Iterator[Json]:
    """All lines; none where nobody has noted anything."""
    if file.exists():
        with file.open() as lines:
            for line in lines:
                yield json.loads(line)
