"""Which sessions a server has met."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sayso.asks.model import Asker
from sayso.mcp_server import collect
from sayso.mcp_server.collect import CollectCalls

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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
