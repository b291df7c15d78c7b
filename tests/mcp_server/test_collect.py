"""Handing over what an agent asked earlier: what a call has taken up, it lets go of, however it ends; and
which sessions a server has met."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.asks.samples import ANNA, RED, ask

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Asker
from sayso.asks.waiting import Waiting
from sayso.mcp_server import collect
from sayso.mcp_server.collect import CollectCalls, _take
from sayso.store import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_call_cancelled_while_it_takes_up_several_answers_lets_go_of_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, second, go_on = AskDesk(store), threading.Event(), threading.Event()
    asks = [desk.leave(ask(text)) for text in ("Which colour?", "Which size?")]
    answered = [desk.answer(one.id, RED, ANNA) for one in asks]
    attach = desk.attach

    def slow_attach(ask_id: str, *more: object) -> Held | None:
        if ask_id == asks[1].id:
            second.set()
            assert go_on.wait(25)
        return attach(ask_id)

    monkeypatch.setattr(desk, "attach", slow_attach)
    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            call = asyncio.create_task(_take(waiting, asks[0].asker, answered))
            await asyncio.to_thread(second.wait, 25)
            call.cancel()
            go_on.set()
            await asyncio.wait([call])
            assert call.cancelled()
            await waiting.leaving.over()
            assert await waiting.do(desk.held_here) == {}


class Backend:
    """Notes which sessions were looked for in the store."""

    def __init__(self) -> None:
        self.looked_for: list[str] = []

    def asker_of(self, ctx: Any) -> Asker:
        return Asker(client="an-agent", agent="ci", session=ctx)

    async def waiting(self) -> Any:
        async def do(_: Any, asker: Asker) -> None:
            self.looked_for.append(asker.session)

        return SimpleNamespace(do=do, desk=SimpleNamespace(resume=None))


async def test_a_thousand_sessions_are_each_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend: Any = Backend()
    calls = CollectCalls(backend)
    sessions = [f"session-{number}" for number in range(1000)]
    for _ in range(3):
        for session in sessions:
            await calls.meet(session)  # type: ignore[arg-type]
    assert backend.looked_for == sessions
    monkeypatch.setattr(collect, "MOST_MET", 1000)
    for session in ("one more", "one more", sessions[-1], sessions[0]):
        await calls.meet(session)  # type: ignore[arg-type]
    assert backend.looked_for == [*sessions, "one more", sessions[0]], "the oldest was forgotten"
