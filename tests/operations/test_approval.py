"""A person's say-so at the moment when nobody wants it any more: nothing is done, and everyone is told so."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.asks.samples import AGENT, ANNA
from tests.permissions.test_log import BUILD

from sayso.asks.desk import AskDesk
from sayso.asks.waiting import Waiting
from sayso.chain import LogKind
from sayso.operations.approval import CANCELLED, Approvals, WantedApproval
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.verdict import Decision, verdict_of
from sayso.store import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_yes_that_comes_together_with_the_cancel_runs_nothing_and_the_log_says_why(store: Store) -> None:
    desk, dropped, asks = AskDesk(store), asyncio.Event(), asyncio.Queue[str]()
    tool: Any = SimpleNamespace(name="build", leaf=SimpleNamespace(name="build", approve="always"))

    async def asked(ask_id: str) -> None:
        await asks.put(ask_id)

    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            approvals = Approvals(waiting, PermissionDesk(desk), lambda _: None)
            wanted = WantedApproval(tool=tool, action=BUILD, asker=AGENT)
            saying = asyncio.create_task(approvals.say_so(wanted, dropped, asked))
            ask_id = await asks.get()
            PermissionDesk(desk).allow(ask_id, BUILD.digest, ANNA)
            dropped.set()
            assert (await saying).refused == CANCELLED
    verdict = verdict_of(desk.get(ask_id))
    assert verdict
    assert verdict.decision is Decision.NOT_DONE
    (outcome,) = PermissionLog(store).outcomes()
    assert (outcome.entry.event.kind, outcome.ran) == (LogKind.ALLOWED, 0)
    assert outcome.stopped
    assert (outcome.stopped.kind, outcome.stopped.why) == (LogKind.NOT_RUN, "was cancelled before it began")
