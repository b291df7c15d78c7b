"""Clients that leave while their call waits: the ask stays open, counts as unattended, and no answer is lost."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.e2e.http.harness import (
    TOOL,
    WAIT,
    HandshakeSession,
    Person,
    Replica,
    agent,
    bearer,
    message,
    modern_call,
)
from tests.e2e.stdio.harness import data_of, question

from sayso.asks.model import Ask
from sayso.web.serve import listen

LONG = "\N{SLIGHTLY SMILING FACE}" * 900_000
"""An answer that does not fit into the buffers of the system."""


class Line:
    """A connection of one's own, on which a call is made and then nothing is read unless one does it."""

    def __init__(self, address: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        where = urlsplit(address)
        data = json.dumps(body).encode()
        self._socket = socket.socket()
        self._socket.settimeout(WAIT)
        # Before it connects, because then it tells how much may be sent to it.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.connect((where.hostname, where.port))
        lines = {"Host": where.netloc, "Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._socket.sendall(f"POST {where.path} HTTP/1.1\r\n{head}\r\n".encode() + data)

    def say_more(self) -> None:
        """Send another request before the call is answered, as HTTP allows."""
        self._socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def read_until(self, wanted: bytes) -> None:
        """Take in no more than is needed to see this."""
        heard = b""
        while wanted not in heard:
            more = self._socket.recv(16)
            assert more, heard
            heard += more

    def vanish(self) -> None:
        """Without a goodbye: the other side is told that there is no such connection."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.close()


@pytest.fixture
def subject(name: str) -> str:
    return f"Is {name} still there?"


@contextmanager
def calling(
    server: Replica, token: str, mode: str, http: httpx2.Client, subject: str, padding: str = ""
) -> Iterator[Line]:
    """A call on a line of its own, in either era."""
    arguments = {"questions": [question(subject)]}
    if mode == "auto":
        headers, body = modern_call(TOOL, arguments)
        body["params"]["_meta"] |= {"io.modelcontextprotocol/clientCapabilities": {}, "padding": padding}
        line = Line(server.mcp, {**bearer(token), **headers}, body)
    else:
        session = HandshakeSession(http, server.mcp, token)
        params = {"name": TOOL, "arguments": arguments, "_meta": {"padding": padding}}
        line = Line(server.mcp, session.headers, message("tools/call", params))
    try:
        yield line
    finally:
        line.close()


def the_next_session_gets(answer: str, server: Replica, token: str, mode: str, ask: Ask) -> None:
    """By the same call; a modern client, which nothing tells from others with its token, by the ask's id."""
    with agent(server.mcp, token, mode) as asking:
        if mode == "auto":
            (outcome,) = data_of(asking.call("get_answers", {"ask_id": ask.id}).result(WAIT))["answers"]
        else:
            outcome = data_of(asking.ask(question(ask.questions[0].text)).result(WAIT))
    assert outcome["ask_id"] == ask.id
    given = outcome["answers"][0]
    assert given["selected"] == [answer] or given["text"] == answer


def test_a_client_that_cancels_leaves_the_ask_open(
    server: Replica, token: str, mode: str, person: Person, subject: str
) -> None:
    with agent(server.mcp, token, mode) as asking:
        call = asking.ask(question(subject))
        ask = person.wait_for_ask(subject)
        call.cancel()
        assert person.wait_until_unattended(ask).state == "pending"
        person.answer(ask, "Yes")
        if mode == "auto":
            asked = {"ask_id": ask.id}
            assert data_of(asking.call("get_answers", asked).result(WAIT))["answers"][0]["ask_id"] == ask.id
        else:
            assert data_of(asking.ask(question(subject)).result(WAIT))["ask_id"] == ask.id


def test_a_client_that_vanishes_leaves_the_ask_open_and_gets_the_answer_when_it_is_back(
    server: Replica, token: str, mode: str, person: Person, http: httpx2.Client, subject: str
) -> None:
    with calling(server, token, mode, http, subject) as line:
        ask = person.wait_for_ask(subject)
        line.vanish()
        assert person.wait_until_unattended(ask).state == "pending"
    person.answer(ask, "Yes")
    the_next_session_gets("Yes", server, token, mode, ask)
    person.wait_until_delivered(ask)


def test_a_client_that_hangs_up_after_it_has_sent_another_request_leaves_the_ask_open(
    server: Replica, token: str, mode: str, person: Person, http: httpx2.Client, subject: str
) -> None:
    with calling(server, token, mode, http, subject) as line:
        ask = person.wait_for_ask(subject)
        line.say_more()
        line.close()
        # Sooner than what is sent now and then comes back undeliverable.
        assert person.wait_until_unattended(ask, timeout=20).state == "pending"


def test_a_client_that_hangs_up_after_a_long_call_leaves_the_ask_open(
    server: Replica, token: str, mode: str, person: Person, http: httpx2.Client, subject: str
) -> None:
    """While much of it is not taken in yet, the server stops reading for a while."""
    with calling(server, token, mode, http, subject, padding="x" * 1_000_000) as line:
        ask = person.wait_for_ask(subject)
        line.close()
        assert person.wait_until_unattended(ask, timeout=10).state == "pending"


def test_an_answer_that_was_not_taken_in_is_not_delivered(
    server: Replica, token: str, mode: str, person: Person, http: httpx2.Client, subject: str
) -> None:
    """The client stopped reading and is gone before it got all: the answer waits for the next call."""
    with calling(server, token, mode, http, subject) as line:
        ask = person.wait_for_ask(subject)
        person.answer(ask, LONG)
        line.read_until(b'"result"')
        assert person.desk.get(ask.id).wait is not None
        line.vanish()
        person.wait_until_unattended(ask)
    assert not person.desk.get(ask.id).delivered
    the_next_session_gets(LONG, server, token, mode, ask)
    person.wait_until_delivered(ask)


def test_a_session_that_is_ended_lets_go_of_its_asks(
    server: Replica, token: str, person: Person, http: httpx2.Client, subject: str
) -> None:
    session = HandshakeSession(http, server.mcp, token)
    call = message("tools/call", {"name": TOOL, "arguments": {"questions": [question(subject)]}})
    line = Line(server.mcp, session.headers, call)
    ask = person.wait_for_ask(subject)
    assert http.delete(server.mcp, headers=session.headers).status_code == 200
    assert person.wait_until_unattended(ask).state == "pending"
    line.close()


def test_a_machine_that_is_cut_off_is_noticed_by_the_system() -> None:
    """What no test can do is pull the cable; that connections are told to be watched can be seen."""
    with listen("127.0.0.1", 0) as listening:
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname(), WAIT), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000
