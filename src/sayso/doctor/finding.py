"""What an examination finds: on which subject, how bad it is, what it is, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad it is. `note` is nothing to fix, only good to know."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True)
class Finding:
    subject: str
    level: Level
    text: str
    fix: str = ""

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "level": str(self.level)}


def ok(subject: str, text: str) -> Finding:
    return Finding(subject=subject, level=Level.OK, text=text)


def note(subject: str, text: str, fix: str = "") -> Finding:
    return Finding(subject=subject, level=Level.NOTE, text=text, fix=fix)


def warning(subject: str, text: str, fix: str) -> Finding:
    return Finding(subject=subject, level=Level.WARNING, text=text, fix=fix)


def fault(subject: str, text: str, fix: str) -> Finding:
    return Finding(subject=subject, level=Level.FAULT, text=text, fix=fix)


def exit_code(findings: Iterable[Finding]) -> int:
    """0: everything is fine; 1: there are warnings; 2: something does not work."""
    return max(({Level.WARNING: 1, Level.FAULT: 2}.get(finding.level, 0) for finding in findings), default=0)
