"""The web server keeps up with what has ended: the index of the history, and the list of agents at work."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from tests.asks.samples import ANNA, ask, own_text
from tests.test_roster import Clients, asker_for
from tests.test_roster import clients as clients

from sayso.asks import history_index, history_indexer
from sayso.bridge import listening
from sayso.config import Config
from sayso.desks import Desks
from sayso.records import replace
from sayso.store import Store
from sayso.web.app import _keeping_up

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_what_has_ended_is_indexed_while_the_server_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (history_index, history_indexer):
        monkeypatch.setattr(module, "BLOCK", 8)
    monkeypatch.setattr(history_indexer, "LAG_MS", -60_000)
    desks = Desks(Config(), store)
    for number in range(8):
        left = desks.asks.leave(ask(f"Question {number}?"))
        desks.asks.answer(left.id, own_text("yes"), ANNA)
    async with _keeping_up(desks), listening(store.bell(), (changed := asyncio.Event()).set):
        with anyio.fail_after(60):
            while not store.read(lambda tx: tx.all("history_blocks", finished=1)):
                await changed.wait()
                changed.clear()
    assert len(desks.asks.history(search="question")) == 8


async def test_a_session_that_has_ended_is_taken_off_though_its_person_never_looks(
    store: Store, clients: Clients
) -> None:
    desks, client = Desks(Config(), store), clients()
    desks.roster.note_gate(replace(asker_for(client, "ended"), owner="ada"), "")
    client.kill()
    client.wait(60)
    assert desks.agents_at_work("grace") == []
    async with _keeping_up(desks), listening(store.bell(), (changed := asyncio.Event()).set):
        with anyio.fail_after(60):
            while store.all("roster"):
                await changed.wait()
                changed.clear()
