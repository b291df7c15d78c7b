"""The official conformance suite: how it is run, and what the documents say about its checks."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.clients.install import conformance_suite

DOCUMENT = Path(__file__).parents[3] / "docs" / "conformance.md"
VERSIONS = ("2025-11-25", "2026-07-28")
SUITE_SECONDS = 200
PASSED = ("SUCCESS", "INFO", "SKIPPED")


@dataclass(frozen=True, kw_only=True)
class Check:
    """What the suite says of one of its checks."""

    id: str
    status: str
    said: str

    @property
    def failed(self) -> bool:
        """A recommendation that is not followed counts too."""
        return self.status not in PASSED


@dataclass(frozen=True, kw_only=True)
class Run:
    """One server by one transport, in both eras."""

    server: str
    transport: str
    checks: dict[str, list[Check]]

    @property
    def score(self) -> list[str]:
        return [str(len([check for check in told if check.status == "SUCCESS"])) for told in self.checks.values()]

    @property
    def failed(self) -> dict[str, str]:
        return {check.id: check.said for told in self.checks.values() for check in told if check.failed}


def run_suite(address: str, version: str, folder: Path) -> list[Check]:
    flags = ["--suite", "all", "--spec-version", version, "--output-dir", str(folder)]
    subprocess.run(
        [*conformance_suite(), "server", "--url", f"{address}/mcp", *flags],
        capture_output=True,
        timeout=SUITE_SECONDS,
        check=False,  # it fails when any check does, also one that does not apply
    )
    told = [check for file in folder.glob("*/checks.json") for check in json.loads(file.read_text())]
    return [Check(id=each["id"], status=each["status"], said=each.get("errorMessage") or "") for each in told]


def documented_score(server: str, transport: str) -> list[str]:
    (scores,) = (scores for name, by, *scores in _rows("score") if (name, by) == (server, transport))
    return scores


def documented_exceptions(server: str, transport: str) -> set[str]:
    """The checks that do not apply to a server on this transport."""
    rows = [
        checks for name, by, checks, _ in _rows("reasons") if name in (server, "both") and by in (transport, "both")
    ]
    return {check for checks in rows for check in re.findall(r"`([^`]+)`", checks)}


def _rows(part: str) -> list[list[str]]:
    text = DOCUMENT.read_text("utf-8").partition(f"<!-- {part} -->")[2].partition("<!-- end -->")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return lines[1:]
