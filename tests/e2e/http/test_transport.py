"""The protocol over HTTP, request by request, against a server with tools made for such tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from tests.e2e.http.harness import ACCEPT, WAIT, message
from tests.e2e.http.reference_site import serving

OPENING = {"capabilities": {}, "clientInfo": {"name": "tester", "version": "7"}}
PING = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
LONG_CALL = message("tools/call", {"name": "test_reconnection", "arguments": {}})


class Client:
    """A handshake client at one of several processes."""

    def __init__(self, http: httpx2.Client, address: str, version: str = "2025-11-25") -> None:
        self._http, self.address = http, f"{address}/mcp"
        self._headers = {"Accept": ACCEPT}
        opened = self.post(message("initialize", {**OPENING, "protocolVersion": version}))
        self._headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": version}

    def post(self, body: Any, **named: str) -> httpx2.Response:
        return self._http.post(self.address, json=body, headers={**self._headers, **_named(named)})

    def get(self, **named: str) -> httpx2.Response:
        return self._http.get(self.address, headers={**self._headers, **_named(named)})

    def end(self) -> httpx2.Response:
        return self._http.delete(self.address, headers=self._headers)


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def events_of(response: httpx2.Response) -> list[dict[str, str]]:
    """The fields of each event of a stream."""
    blocks = [block for block in response.text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=WAIT) as http:
        yield http


@pytest.fixture
def address() -> Iterator[str]:
    with serving() as address:
        yield address


def test_what_is_no_request_of_the_protocol_is_refused_with_the_reason(http: httpx2.Client, address: str) -> None:
    client = Client(http, address)
    refused = {
        406: client.post(PING, Accept="application/json"),
        415: client.post(PING, Content_Type="text/plain"),
        404: client.post(PING, Mcp_Session_Id="made-up"),
        400: http.post(client.address, json=PING, headers={"Accept": ACCEPT}),
        405: http.put(client.address, json=PING),
    }
    assert {status: told.status_code for status, told in refused.items()} == {status: status for status in refused}
    for body, code in ((b"{", -32700), (b"[]", -32600), (b"7", -32600), (b'{"a": 1}', -32600)):
        told = http.post(client.address, content=body, headers={**client._headers, "Content-Type": "application/json"})
        assert (told.status_code, told.json()["error"]["code"]) == (400, code)
    assert client.post(PING).json()["result"] == {}


def test_several_requests_in_one_are_answered_in_the_one_version_that_has_them(
    http: httpx2.Client, address: str
) -> None:
    batch = [{**PING, "id": 1}, {**PING, "id": 2}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    told = events_of(Client(http, address, "2025-03-26").post(batch))
    answers = [json.loads(each["data"]) for each in told if each.get("data")]
    assert sorted(answer["id"] for answer in answers) == [1, 2]
    assert Client(http, address, "2025-06-18").post(batch).status_code == 400


@pytest.mark.finding("F-86")
@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_session_and_a_call_go_on_in_another_process(http: httpx2.Client, version: str) -> None:
    with serving() as one, serving() as other:
        client = Client(http, one, version)
        begun = events_of(client.post(LONG_CALL))
        client.address = f"{other}/mcp"
        resumed = events_of(client.get(Last_Event_ID=begun[-1]["id"]))
        assert json.loads(resumed[-1]["data"])["result"]["content"][0]["text"] == "You are back."
        assert all(int(each["retry"]) > 0 for each in begun)
        # Whoever reads the data of every event is not given one without.
        assert all(each.get("event") == "bookmark" for each in begun) == (version < "2025-11-25")
        ids = [each["id"] for each in (*begun, *resumed)]
        assert len(set(ids)) == len(ids)
        # Some clients come back after an answer.
        assert client.get(Last_Event_ID=ids[-1]).status_code == 405
        assert client.get(Last_Event_ID="made-up").status_code == 400


def test_an_event_of_another_session_is_not_resumed(http: httpx2.Client, address: str) -> None:
    one, other = Client(http, address), Client(http, address)
    begun = events_of(one.post(LONG_CALL))
    assert other.get(Last_Event_ID=begun[-1]["id"]).status_code == 400


def test_a_session_that_was_ended_is_gone(http: httpx2.Client, address: str) -> None:
    ended = Client(http, address)
    assert ended.end().status_code == 200
    assert (ended.post(PING).status_code, ended.get().status_code, ended.end().status_code) == (404, 404, 404)
