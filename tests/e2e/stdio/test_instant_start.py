"""The first answers of a server: given before the event loop is there, the same as the SDK's own, and never old."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.shared.message import SessionMessage
from tests.e2e.run.kit import write_tool
from tests.e2e.stdio.harness import ANEW, WAIT, Place, data_of, new_place, question
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, VERSIONS, Json, Pipe

from sayso.config import PROFILES, load
from sayso.dialects.profiles import profile
from sayso.mcp_server.offer import TASKS, Offer
from sayso.protocol.request import ClientInfo

SAYSO = Path(sys.executable).with_name("sayso")
CLIENT = {"name": "tester", "version": "7"}
FORMS: Json = {"elicitation": {"form": {}}}
BLOCKED = ("mcp", "mcp_types", "anyio", "asyncio", "pydantic", "click", "sqlite3", "starlette", "jsonschema")
"""What the first answers must do without."""


@pytest.fixture(scope="module")
def home() -> Iterator[Place]:
    """A machine whose project has a tool file, and another folder with modules that cannot be imported."""
    with new_place() as place:
        place.launcher = ANEW
        write_tool(place, "greet", description="Say hello.", command="echo")
        for name in BLOCKED:
            (place.folder / "blocked" / name).mkdir(parents=True)
            (place.folder / "blocked" / name / "__init__.py").write_text(f"raise SystemExit('imported {name}')")
        yield place


@pytest.fixture
def place() -> Iterator[Place]:
    """A fresh machine."""
    with new_place() as place:
        place.launcher = ANEW
        yield place


def opening(version: str, capabilities: Json) -> list[Json]:
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
    return [{"jsonrpc": "2.0", **message} for message in messages]


def answers_of_the_sdk(place: Place, name: str, said: list[Json], capabilities: Json) -> list[Json]:
    """What the SDK's server answers with the same name, instructions and tools."""
    offer = Offer(load(flags={"profile": name}, environ=place.environment, cwd=place.project), _shown(place, name))
    listed = offer.listed(ClientInfo(CLIENT, capabilities))["tools"]

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed])

    async def nothing(ctx: Any, params: Any) -> types.EmptyResult:
        return types.EmptyResult()

    about, runs = offer.served, bool(offer.shown.commands)
    server = Server(
        about.info["name"],
        version=about.info["version"],
        instructions=about.instructions,
        on_list_tools=list_tools,
    )
    if runs:
        server.extensions[TASKS] = {}
        for method in ("resources/list", "resources/subscribe", "logging/setLevel", "subscriptions/listen"):
            server.add_request_handler(method, types.RequestParams, nothing)

    async def exchange() -> list[Json]:
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](9)
        options = server.create_initialization_options(NotificationOptions(tools_changed=runs, resources_changed=runs))
        heard: list[Json] = []
        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as tasks, from_server, to_server:
                tasks.start_soon(server.run, incoming, outgoing, options)
                for message in said:
                    await to_server.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))
                while len(heard) < 2:
                    answer = (await from_server.receive()).message
                    heard.append(json.loads(answer.model_dump_json(by_alias=True, exclude_unset=True)))
                tasks.cancel_scope.cancel()
        return heard

    return anyio.run(exchange)


def _shown(place: Place, name: str) -> Any:
    return profile(load(flags={"profile": name}, environ=place.environment, cwd=place.project))


def early_answers(
    place: Place, flags: list[str], said: list[Json], launcher: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    """What a server answers that can import nothing large."""
    return subprocess.run(
        [*launcher, SAYSO, "server", *flags],
        input=b"".join(json.dumps(message).encode() + b"\n" for message in said),
        capture_output=True,
        cwd=place.project,
        env={**place.environment, "PYTHONPATH": str(place.folder / "blocked")},
        timeout=WAIT,
        check=False,
    )


@pytest.mark.parametrize("name", PROFILES)
def test_the_first_answers_need_nothing_large_and_equal_those_of_the_sdk(name: str, home: Place) -> None:
    for version in VERSIONS:
        for capabilities in ({}, FORMS):
            said = opening(version, capabilities)
            early = early_answers(home, ["--profile", name], said)
            assert (b"imported" in early.stderr, early.returncode) == (False, 0)
            answered = [json.loads(line) for line in early.stdout.splitlines()]
            assert answered == answers_of_the_sdk(home, name, said, capabilities)


@pytest.mark.parametrize("version", [HANDSHAKES[0], MODERN])
def test_a_client_that_only_looks_leaves_nothing_behind(version: str, home: Place, place: Place) -> None:
    (place.folder / "blocked").symlink_to(home.folder / "blocked")
    done = early_answers(place, [], opening(version, {}))
    assert (done.stderr, done.returncode, len(done.stdout.splitlines())) == (b"", 0, 2)
    assert place.files() == set()
    assert not place.cache.exists()
    # What a call needs is imported with the call, and not before.
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ask_user", "arguments": {}}}
    assert b"imported" in early_answers(place, [], [*opening(HANDSHAKES[0], {}), call]).stderr


def test_a_question_is_asked_and_answered_without_what_only_other_servers_need(place: Place) -> None:
    for name in ("anyio", "ssl", "starlette", "uvicorn"):
        (place.folder / f"{name}.py").write_text(f"raise SystemExit('imported {name}')")
    with place.agent(environment={"PYTHONPATH": str(place.folder)}) as agent, place.person() as person:
        call = agent.ask(question("Is this enough?"))
        person.answer(person.wait_for_ask("Is this enough?"), "Yes")
        assert data_of(call.result(WAIT))["outcome"] == "answered"


@contextmanager
def busy_machine() -> Iterator[Sequence[str]]:
    """More programs than the machine has processors for, none of which ever rests; by which launcher one joins them.
    Where a program can be kept to one processor, that one is busy and those of other tests are not."""
    crowd, kept = 2 * (os.cpu_count() or 1), list[str]()
    if sys.platform == "linux":
        crowd, kept = 2, ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
    busy = [subprocess.Popen([*kept, sys.executable, "-c", "while True: pass"]) for _ in range(crowd)]
    try:
        yield [*kept, "nice", "-n", "10"]
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
        for message in said:
            pipe.send(message)
        expected = [pipe.next(), pipe.next()]
    (place.folder / "blocked").symlink_to(home.folder / "blocked")
    with busy_machine() as launcher:
        early = early_answers(place, [], said, launcher)
    assert [json.loads(line) for line in early.stdout.splitlines()] == expected
    assert "ask_user" in str(expected[1]["result"]["tools"])


@contextmanager
def listed(place: Place, version: str) -> Iterator[tuple[Pipe, set[str]]]:
    """A server, and the tools that it told of at its start."""
    with place.pipe(program="sayso") as pipe:
        pipe.connect(version)
        yield pipe, {tool["name"] for tool in pipe.request("tools/list")["tools"]}


@pytest.mark.parametrize("version", [HANDSHAKES[-1], MODERN])
def test_behind_the_first_answers_all_is_as_ever_and_no_old_list_is_told(version: str, place: Place) -> None:
    write_tool(place, "greet", description="Say hello.", command="echo", synchronous=True)
    with listed(place, version) as (pipe, first), place.person() as person:
        call = pipe.begin("tools/call", name="ask_user", arguments={"question": "At once?"})
        pipe.send_line(b"{no json")
        person.answer(person.wait_for_ask("At once?"), "yes")
        assert pipe.response(call)["result"]["structuredContent"]["outcome"] == "answered"
        assert pipe.request("tools/call", name="greet", arguments={})["structuredContent"]["exit_code"] == 0
        assert [json.loads(line).get("id") for line in pipe.received] == [1, 2, None, 3, 4]

    write_tool(place, "second", description="Two.", command="echo")
    with listed(place, version) as (pipe, tools):
        assert tools == first | {"second"}
        # While the event loop is on its way: the client has the list from before, and hears that it changed.
        write_tool(place, "third", description="Three.", command="echo")
        if version in HANDSHAKES:
            while pipe.next().get("method") != "notifications/tools/list_changed":
                pass
        else:
            pipe.log.wait_for("Serving 3 command tools")
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


@pytest.mark.finding("F-40")
def test_malformed_first_lines_are_answered_and_the_session_goes_on(home: Place) -> None:
    with home.pipe(program="sayso", environment={"SAYSO_LOG_LEVEL": "error"}) as pipe:
        for about, line in MALFORMED.items():
            pipe.send_line(line)
            assert pipe.next()["error"]["code"] in (-32700, -32600), about
        assert pipe.connect(HANDSHAKES[-1])["protocolVersion"] == HANDSHAKES[-1]
    assert pipe.log.whole() == ""
    assert pipe.process.wait(0) == 0


@pytest.mark.parametrize("line", [MALFORMED["no JSON"], b'{"jsonrpc":"2.0","id":1,"method":"ping"}'])
def test_a_client_that_leaves_after_one_line_without_an_end_is_answered(line: bytes, home: Place) -> None:
    done = subprocess.run(
        [SAYSO, "server"],
        input=line,
        capture_output=True,
        cwd=home.project,
        env={**home.environment, "SAYSO_LOG_LEVEL": "error"},
        timeout=WAIT,
        check=False,
    )
    assert (len(done.stdout.splitlines()), done.stderr, done.returncode) == (1, b"", 0)
    assert os.linesep.encode() in done.stdout
