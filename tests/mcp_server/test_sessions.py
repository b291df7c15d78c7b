"""Sessions of handshake clients over HTTP: whose they are, and which are kept."""

from __future__ import annotations

import asyncio

from sayso.accounts import AgentToken
from sayso.mcp_server.sessions import MOST_OF_ONE, HttpSession, HttpSessions
from sayso.protocol.connection import Connection, Served

ADA = AgentToken(name="ada", user="", project="", created_at=1)
BOB = AgentToken(name="bob", user="", project="", created_at=1)


def connect() -> Connection:
    return Connection(Served(name="test", version="1"))


def new_sessions(key: bytes = b"shared") -> HttpSessions:
    return HttpSessions(lambda: key, connect, {})


def opened(sessions: HttpSessions, token: AgentToken) -> HttpSession:
    session = HttpSession(token, connect(), {})
    session.connection.take(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"elicitation": {}, "experimental": {"long": {"text": "x" * 5000}}},
                "clientInfo": {"name": "tester", "version": "7"},
            },
        }
    )
    sessions.open(session)
    return session


def test_a_session_goes_on_in_another_process_as_it_was_agreed_on() -> None:
    async def work() -> None:
        session = opened(new_sessions(), ADA)
        found = new_sessions().find(session.id, ADA)
        assert found is not None
        assert (found.connection.version, found.name) == ("2025-06-18", session.name)
        client = found.connection.client
        assert (client.name, client.version, client.shows_forms) == ("tester", "7", True)
        assert len(session.id) < 500

    asyncio.run(work())


def test_a_session_is_of_no_use_to_others_nor_with_another_key_nor_to_a_token_of_the_same_name() -> None:
    async def work() -> None:
        sessions = new_sessions()
        session = opened(sessions, ADA)
        again = AgentToken(name="ada", user="", project="", created_at=2)
        assert sessions.find(session.id, BOB) is None
        for other in (new_sessions(), new_sessions(b"another")):
            assert other.find(session.id, BOB) is None
            assert other.find(session.id, again) is None
        assert new_sessions(b"another").find(session.id, ADA) is None
        assert new_sessions().find(session.id[:-2] + "xx", ADA) is None

    asyncio.run(work())


def test_an_agent_that_opens_sessions_without_end_only_loses_what_it_has_not_used_for_longest() -> None:
    async def work() -> None:
        sessions = new_sessions()
        others = opened(sessions, BOB)
        first, second = opened(sessions, ADA), opened(sessions, ADA)
        assert sessions.find(first.id, ADA) is first
        for _ in range(MOST_OF_ONE - 1):
            opened(sessions, ADA)
        assert sessions.count() == MOST_OF_ONE + 1
        assert sessions.find(others.id, BOB) is others
        assert sessions.find(first.id, ADA) is first
        # Forgotten, but not lost.
        found = sessions.find(second.id, ADA)
        assert found is not None
        assert found is not second

    asyncio.run(work())
