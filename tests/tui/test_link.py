"""The way to the desk: how it ends."""

from __future__ import annotations

import threading

import pytest
from tests.tui.harness import NAME, Place

from sayso.asks.desk import AskDesk
from sayso.desks import Desks
from sayso.tui.link import Link

pytestmark = pytest.mark.anyio


async def test_a_ring_while_it_says_goodbye_neither_holds_it_up_nor_brings_it_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, close, threads = place.ask(NAME).ask.wait, Desks.close, list[threading.Thread]()
    assert waiting is not None
    link = Link(place.config)
    await link.do(AskDesk.inbox)
    link.watch_over(frozenset({waiting.process}))
    assert place.desk.open_surfaces()

    def rings_as_it_goes(desks: Desks) -> None:
        threads.append(threading.current_thread())
        close(desks)
        link._rung()

    monkeypatch.setattr(Desks, "close", rings_as_it_goes)
    link.close()
    assert not threads[0].is_alive(), "it was waited for in vain"
    await link._thread.look(int)
    assert not place.desk.open_surfaces()
