"""What an examination finds: on which subject, how bad it is, what it is, and what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad it is. `note` is nothing to mend, only good to know."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True)
class Finding:
    subject: str
    level: Level
    text: str
    mend: str = ""

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "level": str(self.level)}


def ok(subject: str, text: str) -> Finding:
    return Finding(subject=subject, level=Level.OK, text=text)


def note(subject: str, text: str, mend: str = "") -> Finding:
    return Finding(subject=subject, level=Level.NOTE, text=text, mend=mend)


def warning(subject: str, text: str, mend: str) -> Finding:
    return Finding(subject=subject, level=Level.WARNING, text=text, mend=mend)


def fault(subject: str, text: str, mend: str) -> Finding:
    return Finding(subject=subject, level=Level.FAULT, text=text, mend=mend)


def exit_code(findings: Iterable[Finding]) -> int:
    """0: all is well; 1: something is not as it should be; 2: something does not work."""
    return max(({Level.WARNING: 1, Level.FAULT: 2}.get(finding.level, 0) for finding in findings), default=0)
