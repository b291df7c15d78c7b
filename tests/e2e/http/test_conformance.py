"""The official conformance suite against /mcp: every check that applies passes; those that do not are listed here.

The suite is written for a reference server with tools, prompts and resources made for it. What it says of a check
that needs one of those is about what Sayso does not have, not about what it does; the checks of the protocol itself
need none of them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.clients.install import conformance_suite
from tests.e2e.http.harness import Place, Replica, new_token
from tests.e2e.http.proxy import with_token

SUITE_SECONDS = 100
VERSIONS = {"2025-11-25": 41, "2026-07-28": 84}
"""The protocol versions that the suite knows, and how many checks pass at least."""

NO_SUCH_TOOL = "needs a tool of the reference server: `test_...`"
NO_PROMPTS = "Sayso has no prompts and declares none"
NO_RESOURCES = "Sayso has no resources and declares none"
NO_COMPLETIONS = "Sayso completes nothing and declares no completions"
NO_LOGGING = "Sayso sends no log messages to clients and declares no logging"
NO_RESUMING = "recommended for resuming a stream; here the same call takes up the ask again, at any replica"
NO_HEADER_TOOL = "needs a tool whose parameters are marked with `x-mcp-header`; Sayso has none"

INAPPLICABLE: Mapping[str, str] = {
    # Tools, by what they return or ask for
    "tools-call-simple-text": NO_SUCH_TOOL,
    "tools-call-image": NO_SUCH_TOOL,
    "tools-call-audio": NO_SUCH_TOOL,
    "tools-call-embedded-resource": NO_SUCH_TOOL,
    "tools-call-mixed-content": NO_SUCH_TOOL,
    "tools-call-error": NO_SUCH_TOOL,
    "tools-call-with-progress": NO_SUCH_TOOL,
    "tools-call-sampling": NO_SUCH_TOOL,
    "tools-call-elicitation": NO_SUCH_TOOL,
    "elicitation-sep1034-general": NO_SUCH_TOOL,
    "elicitation-sep1330-general": NO_SUCH_TOOL,
    "json-schema-2020-12-tool-found": NO_SUCH_TOOL,
    "sep-2322-elicitation-incomplete": NO_SUCH_TOOL,
    "sep-2322-list-roots-incomplete": NO_SUCH_TOOL,
    "sep-2322-sampling-incomplete": NO_SUCH_TOOL,
    "sep-2322-respect-client-capabilities": NO_SUCH_TOOL,
    "sep-2322-ignore-unexpected-params": NO_SUCH_TOOL,
    "sep-2322-missing-response-rerequests": NO_SUCH_TOOL,
    "sep-2322-multi-round-r1": NO_SUCH_TOOL,
    "sep-2322-multiple-inputs-incomplete": NO_SUCH_TOOL,
    "sep-2322-request-state-incomplete": NO_SUCH_TOOL,
    "sep-2322-result-type-included": NO_SUCH_TOOL,
    "sep-2322-reject-tampered-state": NO_SUCH_TOOL,
    "sep-2575-server-rejects-undeclared-capability": NO_SUCH_TOOL,
    "sep-2575-missing-capability-http-400": NO_SUCH_TOOL,
    "sep-2575-http-server-no-independent-requests-on-stream": NO_SUCH_TOOL,
    "sep-2575-server-no-log-without-loglevel": NO_SUCH_TOOL,
    "sep-2243-server-no-xmcp-tool": NO_HEADER_TOOL,
    "sep-2243-server-decode-base64": NO_HEADER_TOOL,
    "sep-2243-server-validate-param-match": NO_HEADER_TOOL,
    "sep-2243-server-reject-invalid-param-chars": NO_HEADER_TOOL,
    "sep-2243-server-reject-param-mismatch": NO_HEADER_TOOL,
    # What Sayso does not offer
    "prompts-list": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
    "sep-2322-non-tool-incomplete": NO_PROMPTS,
    "sep-2549-prompts-list-caching-hints": NO_PROMPTS,
    "resources-list": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "sep-2164-error-code": NO_RESOURCES,
    "sep-2164-data-uri": NO_RESOURCES,
    "sep-2549-resources-list-caching-hints": NO_RESOURCES,
    "sep-2549-resources-templates-list-caching-hints": NO_RESOURCES,
    "completion-complete": NO_COMPLETIONS,
    "logging-set-level": NO_LOGGING,
    "tools-call-with-logging": NO_LOGGING,
    "server-sse-priming-event": NO_RESUMING,
    "server-sse-retry-field": NO_RESUMING,
}
"""Checks that cannot pass here, each with the reason."""

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


@pytest.mark.timeout(400)  # the suite and a Node.js for it may have to be fetched first
def test_every_check_of_the_official_suite_that_applies_passes(
    server: Replica, shared_place: Place, tmp_path: Path
) -> None:
    failed: set[str] = set()
    with with_token(server.port, new_token(shared_place, "conformance")) as address:
        for version, least in VERSIONS.items():
            checks = run_suite(address, version, tmp_path / version)
            assert [check for check in checks if check.failed and check.id not in INAPPLICABLE] == []
            assert len([check for check in checks if check.status == "SUCCESS"]) >= least
            failed |= {check.id for check in checks if check.failed}
    assert set(INAPPLICABLE) - failed == set(), "these pass, and must not be listed"
