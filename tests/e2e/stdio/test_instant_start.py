"""The first answers of a server: given before the SDK is there, the same byte for byte as the SDK's, and never old."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from tests.e2e.run.kit import write_tool
from tests.e2e.stdio.harness import WAIT, Place, new_place
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, VERSIONS, Json, Pipe

from sayso.config import PROFILES, load
from sayso.mcp_server.replay import Replay, keeper
from sayso.mcp_server.server import serve_stdio
from sayso.mcp_server.transport import StdioTransport

EARLY = "answered before the SDK was there"
SAYSO = Path(sys.executable).with_name("sayso")
CLIENT = {"name": "tester", "version": "7"}
FORMS: Json = {"elicitation": {"form": {}}}
BLOCKED = ("mcp", "mcp_types", "anyio", "pydantic", "click", "sqlite3", "asyncio", "dataclasses", "json", "re")
"""What the first answers must do without."""


@pytest.fixture(scope="module")
def home() -> Iterator[Place]:
    """A machine whose project has a tool file, and another folder with modules that cannot be imported."""
    with new_place() as place:
        write_tool(place, "greet", description="Say hello.", command="echo")
        for name in BLOCKED:
            (place.folder / "blocked" / name).mkdir(parents=True)
            (place.folder / "blocked" / name / "__init__.py").write_text(f"raise SystemExit('imported {name}')")
        yield place


def opening(version: str, capabilities: Json) -> bytes:
    """What a client of this version says until it has its tools."""
    if version in HANDSHAKES:
        hello = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": CLIENT}
        messages: list[Json] = [
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        ]
    else:
        named = {"protocolVersion": version, "clientInfo": CLIENT, "clientCapabilities": capabilities}
        meta = {"_meta": {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}}
        messages = [
            {"id": 1, "method": "server/discover", "params": meta},
            {"id": 2, "method": "tools/list", "params": meta},
        ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)


def answers_of_the_sdk(place: Place, flags: list[str], said: bytes) -> list[bytes]:
    """What a server of this process answers, with nothing kept ready; it keeps its answers as every server does."""
    config = load(flags={"profile": flags[-1]}, environ=place.environment, cwd=place.project)
    (read_fd, into), (out, write_fd) = os.pipe(), os.pipe()
    heard: list[bytes] = []

    def client() -> None:
        with open(into, "wb") as to_server, open(out, "rb") as from_server:
            to_server.write(said)
            to_server.flush()
            heard.extend([from_server.readline(), from_server.readline()])

    async def serve() -> None:
        replay = Replay(keep=keeper(config, time.time() + 3600))
        await serve_stdio(config, StdioTransport(read_fd=read_fd, write_fd=write_fd, replay=replay))

    talking = threading.Thread(target=client, daemon=True)
    talking.start()
    anyio.run(serve)
    talking.join(WAIT)
    return heard


def answers_of_the_front(
    place: Place, flags: list[str], said: bytes, launcher: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    """What a server answers that can import nothing large."""
    return subprocess.run(
        [*launcher, SAYSO, "server", *flags],
        input=said,
        capture_output=True,
        cwd=place.project,
        env={**place.environment, "PYTHONPATH": str(place.folder / "blocked")},
        timeout=WAIT,
        check=False,
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_the_first_answers_need_no_sdk_and_equal_those_of_the_sdk(
    profile: str, home: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ["--profile", profile]
    monkeypatch.setattr(sys, "argv", [str(SAYSO), "server", *flags])
    monkeypatch.chdir(home.project)
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    for version in VERSIONS:
        for capabilities in ({}, FORMS):
            said = opening(version, capabilities)
            assert answers_of_the_front(home, flags, said).stdout == b""
            expected = answers_of_the_sdk(home, flags, said)
            assert [b'"result":' in line for line in expected] == [True, True], expected
            front = answers_of_the_front(home, flags, said)
            assert front.stdout.splitlines(keepends=True) == expected
            assert b"imported" in front.stderr  # after all this, the SDK's turn


@pytest.mark.parametrize("version", [HANDSHAKES[0], MODERN])
def test_a_client_that_only_looks_is_served_without_the_sdk_and_leaves_nothing_behind(
    version: str, home: Place, place: Place
) -> None:
    with place.pipe(program="sayso") as pipe:
        pipe.connect(version)
    hello = opening(version, {}).splitlines(keepends=True)[0]
    (place.folder / "blocked").symlink_to(home.folder / "blocked")
    done = answers_of_the_front(place, [], hello)
    assert (done.stdout, done.stderr, done.returncode) == (pipe.received[0] + b"\n", b"", 0)
    assert place.files() == set()
    assert {path.parent for path in place.cache.rglob("*") if path.is_file()} == {place.cache / "sayso" / "prepared"}


@contextmanager
def busy_machine() -> Iterator[None]:
    """More programs than the machine has processors for, none of which ever rests."""
    words = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(words) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait(WAIT)


@pytest.mark.finding("F-87")
@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_on_a_busy_machine_the_tools_are_listed_before_anything_large_is_loaded(
    version: str, home: Place, place: Place
) -> None:
    """Clients begin their first turn about a second after they start their servers, ready or not."""
    said = opening(version, FORMS)
    with place.pipe(program="sayso") as pipe:
        pipe.send_line(said.removesuffix(b"\n"))
        expected = [pipe.next(), pipe.next()]
    (place.folder / "blocked").symlink_to(home.folder / "blocked")
    with busy_machine():
        front = answers_of_the_front(place, [], said, launcher=["nice", "-n", "19"])
    assert [json.loads(line) for line in front.stdout.splitlines()] == expected
    assert "ask_user" in str(expected[1]["result"]["tools"])


@contextmanager
def listed(place: Place, version: str) -> Iterator[tuple[Pipe, set[str]]]:
    """A server, and the tools that it told of at its start."""
    with place.pipe(program="sayso", environment={"SAYSO_LOG_LEVEL": "debug"}) as pipe:
        pipe.connect(version)
        yield pipe, {tool["name"] for tool in pipe.request("tools/list")["tools"]}


@pytest.mark.parametrize("version", [HANDSHAKES[-1], MODERN])
def test_behind_the_first_answers_all_is_as_ever_and_no_old_list_is_told(version: str, place: Place) -> None:
    write_tool(place, "greet", description="Say hello.", command="echo", synchronous=True)
    with listed(place, version) as (pipe, first):
        assert EARLY not in pipe.log.text

    with listed(place, version) as (pipe, tools), place.person() as person:
        assert tools == first
        call = pipe.begin("tools/call", name="ask_user", arguments={"question": "At once?"})
        pipe.send_line(b"{no json")
        person.answer(person.wait_for_ask("At once?"), "yes")
        assert pipe.response(call)["result"]["structuredContent"]["outcome"] == "answered"
        assert pipe.request("tools/call", name="greet", arguments={})["structuredContent"]["exit_code"] == 0
        assert [json.loads(line).get("id") for line in pipe.received] == [1, 2, None, 3, 4]
        assert pipe.log.text.count(EARLY) == 2

    write_tool(place, "second", description="Two.", command="echo")
    with listed(place, version) as (pipe, tools):
        assert tools == first | {"second"}
        assert pipe.log.text.count(EARLY) == 0

    with listed(place, version) as (pipe, tools):
        # While the SDK is on its way: the client has the list from before, and hears that it changed.
        assert tools == first | {"second"}
        write_tool(place, "third", description="Three.", command="echo")
        if version in HANDSHAKES:
            while pipe.next().get("method") != "notifications/tools/list_changed":
                pass
        else:
            pipe.log.wait_for("out of date")
        assert "third" in {tool["name"] for tool in pipe.request("tools/list")["tools"]}


HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":'
MALFORMED = {
    "a comma too many": b'{"a":1,}',
    "a comma too many in a list": b'{"a":[1,]}',
    "a list that is broken off": b'{"a":[1',
    "an object that is broken off": b'{"a":',
    "only a brace": b"{",
    "a key without quotes": b"{a:1}",
    "a string without an end": b'{"a":"b',
    "an escape that is none": b'{"a":"\\x"}',
    "half an escape": b'{"a":"\\u12"}',
    "a control character": b'{"a":"\x01"}',
    "bytes that are no text": b'{"a":"\xff"}',
    "a number with too many digits": HELLO + b"1" * 5000 + b"}",
    "two objects": b'{"a":1} {"b":2}',
    "no JSON": b"hello",
    "a list": b"[1]",
    "nested without end": HELLO + b"[" * 100_000,
    "a request without an end": HELLO + b'{"protocolVersion":"2025-06-18"',
}
QUIET = {"SAYSO_LOG_LEVEL": "error"}


@pytest.mark.finding("F-40")
@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_first_line_is_answered_as_at_the_very_first_start(line: bytes, home: Place) -> None:
    with home.pipe(program="sayso", environment=QUIET) as pipe:  # something is kept ready from here on
        pipe.connect(VERSIONS[-1])
    cold = first_words(home, line, cache=home.folder / "no cache")
    warm = first_words(home, line, cache=home.cache)
    assert warm.stdout == cold.stdout
    assert (warm.stderr, warm.returncode) == (b"", 0)
    assert json.loads(warm.stdout.splitlines()[-1])["error"]["code"] in (-32700, -32600)


def first_words(place: Place, line: bytes, cache: Path) -> subprocess.CompletedProcess[bytes]:
    """What a server says to a client that sends one line and leaves."""
    shutil.rmtree(place.folder / "no cache", ignore_errors=True)
    environment = {**place.environment, "XDG_CACHE_HOME": str(cache), **QUIET}
    return subprocess.run(
        [str(SAYSO), "server"],
        input=line + b"\n",
        capture_output=True,
        cwd=place.project,
        env=environment,
        timeout=WAIT,
        check=False,
    )
