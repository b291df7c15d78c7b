"""The official conformance suite against both transports in both eras: every check that applies passes, and the
documents name the others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests import warm
from tests.e2e.clients.install import conformance_suite
from tests.e2e.http.conformance import VERSIONS, Run, documented_exceptions, documented_score, run_suite
from tests.e2e.http.harness import Place, Replica, new_token
from tests.e2e.http.proxy import with_token
from tests.e2e.http.reference_site import serving
from tests.e2e.http.signing_in import Clicker, Program
from tests.e2e.stdio.bridge import Start, bridge
from tests.ports import lasting_port

_PROGRAMS = Path(sys.executable).parent
_REFERENCE = "tests.e2e.http.reference"
Judge = Callable[[str, str, str], None]


@pytest.fixture
def judge(tmp_path: Path, record_property: Callable[[str, object], None]) -> Judge:
    """Runs the suite against an address, and compares what it says with the documents."""

    def judged(server: str, transport: str, address: str) -> None:
        with ThreadPoolExecutor(len(VERSIONS)) as both:
            told = both.map(lambda version: run_suite(address, version, tmp_path / version), VERSIONS)
        run = Run(server=server, transport=transport, checks=dict(zip(VERSIONS, told, strict=True)))
        record_property("conformance", f"{server} on {transport}: {', '.join(run.score)} checks pass")
        known = documented_exceptions(server, transport)
        assert {check: said for check, said in run.failed.items() if check not in known} == {}
        assert known - run.failed.keys() == set(), "these pass, and must not be listed as exceptions"
        assert run.score == documented_score(server, transport)

    return judged


pytestmark = pytest.mark.timeout(500)  # the suite and a Node.js for it may have to be fetched first


def test_sayso_over_http(judge: Judge, server: Replica, shared_place: Place) -> None:
    with with_token(server.port, new_token(shared_place, "conformance")) as address:
        judge("Sayso", "HTTP", address)


def test_signing_in(server: Replica, shared_place: Place, http: httpx2.Client) -> None:
    """What the suite has for authorization servers, with a person who agrees where it asks somebody to open a page."""
    port = lasting_port()
    clicker = Clicker(shared_place, server)
    program = Program(server, http, redirect_uris=[f"http://127.0.0.1:{port}/callback"])
    flags = ["--url", server.address, "--client-id", program.id, "--resource", server.mcp, "--port", str(port)]
    said = ""
    with subprocess.Popen(
        [*conformance_suite(), "authorization", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as suite:
        assert suite.stdout is not None
        for line in suite.stdout:
            said += line
            if line.startswith(f"{server.address}/oauth/authorize?"):
                agreed = clicker.say(clicker.look_at_waiting(line.strip()), "connect")
                assert http.get(agreed.headers["location"]).status_code == 200
    clicker.close()
    assert (suite.returncode, "Total: 2 passed, 0 failed" in said) == (0, True), said


def test_sayso_on_stdio(judge: Judge, shared_place: Place) -> None:
    env = shared_place.environment
    start: Start = warm.fork_server if warm.can_fork(env) else subprocess.Popen
    with bridge(partial(start, [str(_PROGRAMS / "sayso"), "server"], env=env, cwd=shared_place.project)) as address:
        judge("Sayso", "stdio", address)


def test_the_protocol_core_over_http(judge: Judge) -> None:
    with serving() as address:
        judge("reference", "HTTP", address)


def test_the_protocol_core_on_stdio(judge: Judge, shared_place: Place) -> None:
    env, cwd = shared_place.environment, Path(__file__).parents[3]

    def start(**streams: Any) -> subprocess.Popen[bytes]:
        if warm.can_fork(env):
            return warm.fork_module(_REFERENCE, env=env, cwd=cwd, **streams)
        return subprocess.Popen([sys.executable, "-m", _REFERENCE], env=env, cwd=cwd, **streams)

    with bridge(start) as address:
        judge("reference", "stdio", address)
