"""The protocol without I/O: what a connection makes of each message, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso.protocol.connection import Cancelled, ClientReply, Connection, Event, Send, Served
from sayso.protocol.messages import Json
from sayso.protocol.request import ClientInfo, Request
from sayso.protocol.versions import HANDSHAKES, MODERN

METHODS = ("tools/list", "tools/call", "resources/subscribe", "subscriptions/listen", "logging/setLevel")
CLIENT = {"name": "tester", "version": "7"}


def said(connection: Connection, method: str, id: int | str | None = None, **params: Any) -> list[Event]:
    message: Json = {"jsonrpc": "2.0", "method": method, "params": params}
    return connection.take(message if id is None else {**message, "id": id})


def meta(**more: Any) -> Json:
    named = {"protocolVersion": MODERN, "clientInfo": CLIENT, "clientCapabilities": {}}
    return {**{f"io.modelcontextprotocol/{name}": value for name, value in named.items()}, **more}


def served() -> Served:
    return Served(name="test", version="1", methods=METHODS)


def greeted(version: str = "2025-06-18") -> Connection:
    connection = Connection(served())
    hello = said(connection, "initialize", 1, protocolVersion=version, capabilities={}, clientInfo=CLIENT)
    assert sent(hello)["result"]["protocolVersion"] == version
    return connection


def sent(events: list[Event]) -> Json:
    (event,) = events
    assert isinstance(event, Send)
    return event.message


def called(connection: Connection, id: int | str, **params: Any) -> Request:
    (event,) = said(connection, "tools/call", id, name="ask", **params)
    assert isinstance(event, Request)
    return event


def code(events: list[Event]) -> int:
    number: int = sent(events)["error"]["code"]
    return number


def test_a_version_that_nobody_knows_is_answered_with_the_newest_that_begins_so() -> None:
    connection = Connection(served())
    hello = said(connection, "initialize", 1, protocolVersion="1999-01-01", capabilities={}, clientInfo=CLIENT)
    assert sent(hello)["result"]["protocolVersion"] == HANDSHAKES[-1]


def test_wrong_parameters_are_all_named() -> None:
    error = sent(said(Connection(served()), "initialize", 1, protocolVersion=5, capabilities={"elicitation": 1}))[
        "error"
    ]
    assert error["code"] == -32602
    for wrong in (
        "protocolVersion must be a string",
        "capabilities.elicitation must be an object",
        "clientInfo is missing",
    ):
        assert wrong in error["message"]


def test_before_the_handshake_only_that_and_a_ping_are_served() -> None:
    connection = Connection(served())
    assert code(said(connection, "tools/list", 1)) == -32602
    assert sent(said(connection, "ping", 2))["result"] == {}
    assert code(said(connection, "nobody/knows", 3)) == -32601


@pytest.mark.parametrize("version", HANDSHAKES)
def test_batches_are_taken_by_the_one_version_that_has_them(version: str) -> None:
    connection = greeted(version)
    ping = {"jsonrpc": "2.0", "method": "ping"}
    events = connection.receive(json.dumps([{**ping, "id": 1}, {**ping, "id": 2}, 17]).encode())
    answers = [event.message for event in events if isinstance(event, Send)]
    if version == "2025-03-26":
        assert [answer.get("id") for answer in answers] == [1, 2, None]
        assert answers[-1]["error"]["code"] == -32600
    else:
        assert "Batches are not supported" in answers[0]["error"]["message"]


def test_whoever_only_probed_may_still_shake_hands_and_nobody_else() -> None:
    connection = Connection(served())
    assert "supportedVersions" in sent(said(connection, "server/discover", 1, _meta=meta()))["result"]
    hello: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    assert "result" in sent(said(connection, "initialize", 2, **hello))
    assert code(said(connection, "tools/list", 3, _meta=meta())) == -32600

    modern = Connection(served())
    (request,) = said(modern, "tools/list", 1, _meta=meta())
    assert isinstance(request, Request)
    assert code(said(modern, "initialize", 2, **hello)) == -32022


def test_a_modern_result_says_what_it_is_and_whose() -> None:
    (request,) = said(Connection(served()), "tools/list", 1, _meta=meta())
    assert isinstance(request, Request)
    assert request.result({"tools": []})["result"] == {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "tools": [],
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "1"}},
    }


def test_a_cancel_reaches_its_request_also_when_the_answer_is_on_its_way() -> None:
    connection, heard = greeted(), list[bool]()
    request = called(connection, 5)
    request.when_written(heard.append)
    (event,) = said(connection, "notifications/cancelled", requestId="5")
    assert isinstance(event, Cancelled)
    assert (event.request, heard, connection.open) == (request, [False], {})

    answered = called(connection, 6)
    answered.when_written(heard.append)
    connection.answered(answered)
    answered.written()
    assert said(connection, "notifications/cancelled", requestId=6) == []
    assert heard == [False, True, False]


def test_an_id_that_is_used_again_takes_nothing_over() -> None:
    connection, heard = greeted(), list[bool]()
    called(connection, 5).when_written(heard.append)
    second = called(connection, 5)
    assert (heard, list(connection.open.values())) == ([False], [second])


def test_a_reply_finds_its_question_and_a_malformed_one_fails_it() -> None:
    connection = greeted()
    for reply, failed in (({"result": {"action": "accept"}}, False), ({"result": 5}, True), ({"error": {}}, True)):
        asked, message = connection.ask("elicitation/create", {})
        assert message["id"] == asked
        events = connection.take({"jsonrpc": "2.0", "id": str(asked), **reply})
        (answer,) = [event for event in events if isinstance(event, ClientReply)]
        assert (answer.id, answer.error is not None) == (asked, failed)
        assert connection.withdraw(asked) is None
    assert connection.take({"jsonrpc": "2.0", "id": 99, "result": {}}) == []


def test_a_stream_hears_what_it_asked_for_and_nothing_after_its_cancel() -> None:
    connection = Connection(served())
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]}
    acknowledged = sent(said(connection, "subscriptions/listen", "s", notifications=wanted, _meta=meta()))
    assert acknowledged["params"]["notifications"] == wanted
    heard = [
        *connection.tools_changed(),
        *connection.resources_changed(),
        *connection.updated("a:1"),
        *connection.updated("b:2"),
    ]
    assert [event.message["method"] for event in heard] == [
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    ]
    assert all(event.message["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "s"} for event in heard)
    said(connection, "notifications/cancelled", requestId="s")
    assert connection.tools_changed() == []


def test_log_messages_go_to_whoever_wants_that_level() -> None:
    old = greeted()
    said(old, "logging/setLevel", 2, level="warning")
    assert [len(old.log(level, "x", "y")) for level in ("info", "warning", "error")] == [0, 1, 1]

    modern = Connection(served())
    assert modern.log("error", "x", "y") == []
    request = called(modern, 1, _meta=meta(**{"io.modelcontextprotocol/logLevel": "error"}))
    assert [event.about for event in modern.log("error", "x", "y")] == [request]
    assert modern.log("info", "x", "y") == []


def test_progress_is_for_those_who_gave_a_token_and_ends_with_the_answer() -> None:
    connection = greeted()
    assert called(connection, 1).progress(1, None, "x") is None
    request = called(connection, 2, _meta={"progressToken": "t"})
    told = request.progress(1.5, None, "working")
    assert told is not None
    assert told["params"] == {"progressToken": "t", "progress": 1.5, "message": "working"}
    request.result({})
    assert request.progress(2, None, "late") is None


def test_what_is_open_at_the_end_is_answered_and_counts_as_lost() -> None:
    connection, heard = greeted(), list[bool]()
    called(connection, 9).when_written(heard.append)
    (told,) = connection.close()
    assert (told.message["id"], told.message["error"]["code"], heard) == (9, -32000, [False])


def test_what_a_request_said_is_the_same_after_it_was_kept_small() -> None:
    given = {"name": "ask_user", "arguments": {"a": [1, 2.5, None, "\ud83d"]}, "_meta": {"progressToken": "p"}}
    request = Request(1, "tools/call", given, "2025-06-18", ClientInfo(None, None), {})
    request.keep_small()
    assert request.progress(1, None, None)
    assert (request.params, request.meta) == (given, given["_meta"])
    request.keep_small()
    assert request.params == given
