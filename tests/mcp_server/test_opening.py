"""Which requests at the beginning of a session can be answered by what was kept, and what their answers depend on."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz import junk

from sayso.mcp_server.opening import Opening, Question, read

NAMED = "io.modelcontextprotocol/"
CLIENT = {"name": "tester", "version": "7"}
IDS = itertools.count(1)
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


def modern(**more: Any) -> dict[str, Any]:
    named = {"protocolVersion": "2026-07-28", "clientInfo": CLIENT, "clientCapabilities": {}}
    return {"_meta": {**{NAMED + name: value for name, value in named.items()}, **more}}


def request(method: str, params: Any = None, request_id: Any = None) -> dict[str, Any]:
    named = next(IDS) if request_id is None else request_id
    return {"jsonrpc": "2.0", "id": named, "method": method, "params": {} if params is None else params}


def questions(*messages: dict[str, Any]) -> list[str | None]:
    opening = Opening()
    found = [opening.question(message) for message in messages]
    return [question.depends_on if question else None for question in found]


def test_a_handshake_and_the_list_after_it_depend_on_all_that_the_client_said_of_itself() -> None:
    first = questions(request("initialize", HELLO), request("tools/list"))
    assert None not in first
    assert first == questions(request("initialize", HELLO), request("tools/list", {"_meta": {"progressToken": 3}}))
    for other in (
        {**HELLO, "protocolVersion": "2025-11-25"},
        {**HELLO, "capabilities": {"elicitation": {}}},
        {**HELLO, "clientInfo": {"name": "other", "version": "7"}},
    ):
        hello, tools = questions(request("initialize", other), request("tools/list"))
        assert hello not in (None, first[0])
        assert tools not in (None, first[1])


def test_a_modern_request_depends_on_what_it_says_of_the_client_and_on_nothing_else() -> None:
    discover, tools = questions(request("server/discover", modern()), request("tools/list", modern()))
    assert None not in (discover, tools)
    assert discover != tools
    assert questions(request("tools/list", modern(progressToken="p"), "a")) == [tools]
    able: dict[str, Any] = {NAMED + "clientCapabilities": {"elicitation": {}}}
    assert questions(request("tools/list", modern(**able))) not in ([None], [tools])


def test_a_request_under_the_id_of_another_is_left_to_the_sdk() -> None:
    hello, tools = questions(request("initialize", HELLO, 0), request("tools/list", request_id=0))
    assert (hello is None, tools) == (False, None)
    assert questions(request("ping", request_id=0), request("initialize", HELLO, 0)) == [None, None]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([request("tools/list")], id="a list without a handshake"),
        pytest.param([request("server/discover")], id="a discovery without a version"),
        pytest.param([request("initialize", HELLO), request("tools/list", {"cursor": "2"})], id="a further page"),
        pytest.param([request("initialize", HELLO), request("tools/list", modern())], id="both eras at once"),
        pytest.param([request("initialize", HELLO), request("tools/list", {"_meta": []})], id="marks that are none"),
        pytest.param([request("tools/list", modern(progressToken=[]))], id="a mark that is none"),
        pytest.param([request("initialize", [])], id="params that are no object"),
        pytest.param([request("initialize", HELLO, True)], id="an id that is none"),
        pytest.param([request("initialize", HELLO, 'a"b')], id="an id that is written in several ways"),
        pytest.param([{**request("initialize", HELLO), "jsonrpc": "1.0"}], id="another JSON-RPC"),
        pytest.param([request("tools/call", {"name": "x"})], id="a call"),
        pytest.param([{"jsonrpc": "2.0", "method": "notifications/initialized"}], id="a notification"),
    ],
)
def test_all_else_is_left_to_the_sdk(messages: list[dict[str, Any]]) -> None:
    assert questions(*messages)[-1] is None


def test_only_the_first_list_of_tools_is_kept_ready() -> None:
    assert questions(*[request("tools/list", modern(), number) for number in range(3)])[1:] == [None, None]
    twice = questions(request("initialize", HELLO), request("initialize", HELLO))
    assert [found is None for found in twice] == [False, True]


@pytest.mark.parametrize("request_id", [7, "seven"])
def test_a_question_writes_and_reads_answers_as_the_sdk_writes_them(request_id: int | str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {"tools": []}}, separators=(",", ":")) + "\n"
    question = Question(request_id, "")
    assert question.result_in(line.encode()) == b'{"tools":[]}'
    assert question.answered(b'{"tools":[]}') == line.encode()
    assert question.result_in(line.replace("result", "error").encode()) is None


def test_lines_are_read_as_the_json_package_reads_them() -> None:
    value = {"a": [1, -2.5, "ü\n", None, True, {"b": {}}], "": "x"}
    assert read(f" {json.dumps(value)}\r".encode()) == value
    assert read(json.dumps(value, ensure_ascii=False).encode()) == value
    deep = b"[" * 100_000
    for line in (b"", b"x", b"[1]", b'{"a":1} {"b":2}', b'{"a":', b'{"a":"\xff"}', b"\xef\xbb\xbf{}", b'{"a":' + deep):
        assert read(line) is None


WITHOUT_JSON = """
import sys
from sayso.mcp_server.opening import read
said = [read(bytes.fromhex(line)) for line in sys.stdin.read().splitlines()]
assert "json" not in sys.modules, "the test shows nothing"
import json
print(json.dumps(said))
"""


@pytest.mark.finding("F-40")
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(st.lists(junk.lines, min_size=150, max_size=150))
def test_a_front_that_has_not_imported_the_json_package_reads_junk_as_one_that_has(sent: list[bytes]) -> None:
    lines = [line for line in sent if line.isascii()]
    given = "\n".join(line.hex() for line in lines)
    command = [sys.executable, "-c", WITHOUT_JSON]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert repr(json.loads(done.stdout)) == repr([read(line) for line in lines])
