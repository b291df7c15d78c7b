"""What `docs/clients.md` says that the model of each client sees, and what it saw without what differs each time."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "clients.md").read_text("utf-8")
_VARYING = (
    (re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"settled [\w. ]+ ago \(at [\d-]+ [\d:]+ UTC\)"), "settled N s ago (at TIME)"),
    (re.compile(r"asked at [\d-]+ [\d:]+ UTC"), "asked at TIME"),
    (re.compile(r"Wall time: [\d.]+ seconds"), "Wall time: N seconds"),
)


def in_general(text: str) -> str:
    """Without ids, times and durations."""
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


def as_documented(what: str) -> str:
    """The words for a client, by its name in `sayso install`, or for what any client is told."""
    found = re.search(rf"<!-- seen (?:by|of) {what} -->\n```\n(.*?)\n```\n", PAGE, re.S)
    assert found, f"docs/clients.md does not say what the model sees by or of {what}"
    return found[1]
