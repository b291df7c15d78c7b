"""What is said to an agent over HTTP where something goes wrong here."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from starlette.types import Message, Scope

from sayso.accounts import AgentToken
from sayso.mcp_server.endpoint import Endpoint
from sayso.mcp_server.exchange import Exchange
from sayso.protocol.connection import Connection

ADA = AgentToken(name="ada", user="", project="", created_at=1)
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


def broken() -> Connection:
    raise RuntimeError("the words of a secret")


def posted(endpoint: Endpoint, said: Any) -> list[Message]:
    sent: list[Message] = []
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps(said).encode()}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(endpoint.serve(Exchange(scope, receive, send, ADA)))
    return sent


def test_a_fault_of_ours_is_told_as_one_without_its_words_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    endpoint = Endpoint(broken, {}, lambda: b"key")
    with caplog.at_level(logging.ERROR):
        head, *bodies = posted(endpoint, INITIALIZE)
    assert head["status"] == 500
    told = json.loads(b"".join(each.get("body", b"") for each in bodies))
    assert told["error"] == {"code": -32603, "message": "Internal server error"}
    assert "the words of a secret" in caplog.text
    assert not endpoint.exchanges
