"""What agents come in by after a person let them in: codes and tokens that run out, are spent once, and are ended."""

from __future__ import annotations

import hashlib

import pytest
from tests.asks.samples import FakeClock

from sayso.accounts import LINK_LIFE, Accounts
from sayso.chats.desk import ChatDesk
from sayso.chats.model import ChatKind
from sayso.connections import (
    ACCESS_LIFE,
    AGAIN_WITHIN,
    CODE_LIFE,
    REFRESH_LIFE,
    Connections,
    Consent,
    TokenPair,
    new_pair,
)
from sayso.errors import NotFound, SignInRefused
from sayso.store import Store, Transaction

MCP = "http://127.0.0.1:7297/mcp"
CONSENT = Consent(
    user="ada",
    client="a client",
    client_name="Claude Code (sayso)",
    redirect_uri="http://localhost:1/callback",
    resource=MCP,
    challenge="c" * 43,
)


@pytest.fixture
def accounts(store: Store, clock: FakeClock) -> Accounts:
    accounts = Accounts(store, clock=clock)
    accounts.add_user("ada")
    return accounts


@pytest.fixture
def connections(store: Store, clock: FakeClock, accounts: Accounts) -> Connections:
    return Connections(store, clock=clock)


def connected(connections: Connections, code: str = "code") -> TokenPair:
    pair = new_pair()
    connections.agree(code, CONSENT)
    connections.connect(code, pair)
    return pair


def test_a_code_becomes_an_agent_of_the_person_at_one_address(connections: Connections) -> None:
    pair = connected(connections)
    agent = connections.agent(pair.access, MCP)
    assert agent
    (known,) = connections.of("ada")
    assert (agent.name, agent.user, agent.project) == (known.agent, "ada", "")
    assert known.agent.startswith("claude-code-sayso#")
    assert connections.agent(pair.access, "http://localhost:7297/mcp") is None
    assert connections.agent(pair.refresh, MCP) is None
    assert connections.agent("saysoa_made-up", MCP) is None
    assert connections.of("grace") == []


def test_a_code_runs_out_and_so_do_tokens(connections: Connections, clock: FakeClock) -> None:
    connections.agree("late", CONSENT)
    clock.forward(CODE_LIFE)
    assert connections.consent("late") is None
    with pytest.raises(SignInRefused):
        connections.connect("late", new_pair())
    pair = connected(connections)
    clock.forward(ACCESS_LIFE - 1)
    assert connections.agent(pair.access, MCP)
    clock.forward(1)
    assert connections.agent(pair.access, MCP) is None
    assert connections.refreshed_by(pair.refresh)
    clock.forward(REFRESH_LIFE)
    assert connections.refreshed_by(pair.refresh) is None
    connected(connections, "another")
    assert len(connections.all()) == 1, "what has run out is forgotten"


def test_a_code_is_spent_by_the_first_and_a_second_use_ends_what_came_of_it(
    connections: Connections, accounts: Accounts
) -> None:
    connections.agree("code", CONSENT)
    pair = new_pair()
    connections.connect("code", pair)
    with pytest.raises(SignInRefused):
        connections.connect("code", new_pair())
    assert connections.agent(pair.access, MCP)
    assert connections.consent("code") is None
    assert connections.all() == []
    assert [refusal.wanted for refusal in accounts.refusals()] == ["use a sign-in code for the second time"]


def test_a_refresh_token_is_replaced_and_tells_of_a_theft_when_it_comes_back(
    connections: Connections, accounts: Accounts, clock: FakeClock
) -> None:
    first, second, third = connected(connections), new_pair(), new_pair()
    connections.refresh(first.refresh, second)
    clock.forward(AGAIN_WITHIN - 1)
    assert connections.refreshed_by(first.refresh), "two processes of one client may have it"
    connections.refresh(second.refresh, third)
    assert connections.agent(second.access, MCP)
    clock.forward(1)
    with pytest.raises(SignInRefused):
        connections.refresh(first.refresh, new_pair())
    assert connections.refreshed_by(first.refresh) is None
    assert connections.all() == []
    assert connections.agent(third.access, MCP) is None
    (refusal,) = accounts.refusals()
    assert "that had been replaced" in refusal.wanted


def test_a_refresh_token_that_is_used_again_within_its_grace_gets_no_longer_grace(
    connections: Connections, clock: FakeClock
) -> None:
    first = connected(connections)
    connections.refresh(first.refresh, new_pair())
    clock.forward(AGAIN_WITHIN - 1)
    connections.refresh(first.refresh, new_pair())
    clock.forward(1)
    assert connections.refreshed_by(first.refresh) is None


def test_whoever_is_shut_out_takes_their_agents_along(connections: Connections, accounts: Accounts) -> None:
    pair = connected(connections)
    connections.agree("unused", CONSENT)
    accounts.revoke_user("ada")
    assert connections.agent(pair.access, MCP) is None
    assert connections.all() == []
    accounts.add_user("ada")
    assert connections.agent(pair.access, MCP) is None
    assert connections.consent("unused") is None


def test_whoever_is_let_in_again_gets_back_nothing_of_before(accounts: Accounts, store: Store) -> None:
    chats = ChatDesk(store)
    chats.add(ChatKind.TELEGRAM, {"token": "1:a"})
    assert chats.redeem(ChatKind.TELEGRAM, chats.make_code(ChatKind.TELEGRAM, "ada"), "1", "1", "")
    code, link = chats.make_code(ChatKind.TELEGRAM, "ada"), accounts.make_link("ada")
    session, token = accounts.redeem(accounts.make_link("ada")), accounts.add_token("builder", user="ada")
    assert (accounts.session(session), accounts.token(token), len(chats.links())) != (None, None, 0)
    accounts.revoke_user("ada")
    accounts.add_user("ada")
    assert (accounts.session(session), accounts.token(token), chats.links()) == (None, None, [])
    assert chats.redeem(ChatKind.TELEGRAM, code, "2", "2", "") is None
    with pytest.raises(SignInRefused):
        accounts.redeem(link)


def test_a_person_ends_their_own_connections_alone(connections: Connections) -> None:
    pair = connected(connections)
    (known,) = connections.all()
    with pytest.raises(NotFound):
        connections.end(known.id, "grace")
    connections.end(known.id, "ada")
    assert connections.agent(pair.access, MCP) is None
    assert connections.held_by(pair.refresh) is None


def test_no_secret_is_kept(connections: Connections, store: Store) -> None:
    pair = connected(connections, "a code of its own")

    def all_rows(tx: Transaction) -> str:
        return str([list(tx.rows(table)) for table in ("connections", "connection_codes", "connection_tokens")])

    kept = store.read(all_rows)
    assert "claude-code-sayso#" in kept
    assert not [secret for secret in (pair.access, pair.refresh, "a code of its own") if secret in kept]


def test_sign_in_links_that_are_long_over_are_not_kept(accounts: Accounts, clock: FakeClock, store: Store) -> None:
    first = hashlib.sha256(accounts.make_link("ada").encode()).hexdigest()
    assert store.one("link", hash=first)
    clock.now += 3 * LINK_LIFE
    link = accounts.make_link("ada")
    assert store.one("link", hash=first) is None
    assert accounts.redeem(link)
