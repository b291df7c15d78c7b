"""What the calls of one server process share: who of them tidies up, and when."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from tests.asks.samples import AGENT

from sayso.asks.desk import CleanedUp
from sayso.config import load
from sayso.desks import Desks
from sayso.mcp_server import backend as backend_module
from sayso.mcp_server.backend import Backend
from sayso.store import Store

pytestmark = pytest.mark.anyio
EVERY = 0.5


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_calls_in_a_row_tidy_up_at_once_and_once_more_after_a_while(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)
    desks, done = Desks(config, store), asyncio.Semaphore(0)
    loop, called, begun = asyncio.get_running_loop(), time.monotonic(), list[float]()

    def clean_up(_: threading.Event) -> CleanedUp:
        begun.append(time.monotonic())
        loop.call_soon_threadsafe(done.release)
        return CleanedUp(expired=0, deleted=0)

    monkeypatch.setattr(backend_module, "CLEAN_EVERY", EVERY)
    monkeypatch.setattr(desks, "clean_up", clean_up)
    async with asyncio.timeout(60), Backend(config, asker_of=lambda _: AGENT, desks=desks) as backend:
        backend.clean_up()
        await done.acquire()
        await asyncio.wait([backend._cleaning] if backend._cleaning else [])
        for _ in range(3):
            backend.clean_up()
        await done.acquire()
    assert len(begun) == 2
    assert begun[1] - called >= EVERY
