"""A command that is started on the same trip to a thread on which its operation is opened: whatever becomes of it,
whoever waits for it hears of it, and the store does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from concurrent.futures import Future
from pathlib import Path

import anyio
import pytest
from tests.asks.samples import AGENT

from sayso.asks.desk import AskDesk
from sayso.asks.waiting import Waiting
from sayso.config import load
from sayso.errors import SaysoError, StoreFull
from sayso.operations.approval import Approvals
from sayso.operations.operation import Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.supervisor import OperationSupervisor
from sayso.permissions.desk import PermissionDesk
from sayso.records import replace
from sayso.running.folder import Status
from sayso.store import Store
from sayso.toolfiles.catalog import Catalog

pytestmark = pytest.mark.anyio

HINT = "Get it from the shop."


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def supervisor(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OperationSupervisor]:
    """One that takes every command for ready to be started."""
    tool = {"name": "yes", "description": "Succeed.", "command": "true", "synchronous": True}
    tools, project = tmp_path / "tools", tmp_path / "project"
    for folder in (tools, project):
        folder.mkdir()
    (tools / "yes.json").write_text(json.dumps({**tool, "install_instructions": HINT}))
    environ = {"SAYSO_STATE_DIR": str(tmp_path / "state"), "SAYSO_TOOLS_DIR": str(tools)}
    config = load(environ=environ, cwd=project)
    catalog = Catalog(config)
    catalog.load()
    with anyio.fail_after(60):
        async with Waiting(store, AskDesk(store)) as waiting:
            approvals = Approvals(waiting, PermissionDesk(waiting.desk), lambda _: None)
            supervisor = OperationSupervisor(config, store, catalog, approvals)
            monkeypatch.setattr(supervisor._starter, "is_ready", lambda *_: True)
            await supervisor.open()
            yield supervisor
            await supervisor.stop()


def order(supervisor: OperationSupervisor, tmp_path: Path) -> Order:
    asker = replace(AGENT, project=str(tmp_path / "project"))
    return Order(tool=supervisor.tools["yes"], arguments={}, asker=asker)


def comes_to(supervisor: OperationSupervisor, monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    """Have every command end so before it was seen to start."""
    ended: Future[Status] = Future()
    ended.set_result(status)
    monkeypatch.setattr(supervisor._starter.spawner, "start_operation", lambda _: ended)


async def test_a_command_that_ends_as_it_is_started_has_ended_for_whoever_waits_and_in_the_store(
    supervisor: OperationSupervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comes_to(supervisor, monkeypatch, Status(reason="exit", exit_code=0))
    job = await supervisor.start(order(supervisor, tmp_path))
    assert job.end.result() == supervisor.desk.get(job.id)
    assert job.end.result().state is OperationState.COMPLETED
    assert not supervisor.jobs


async def test_an_end_that_the_store_does_not_take_at_first_is_noted_all_the_same(
    supervisor: OperationSupervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, refused = supervisor.desk.end, list[str]()

    def refuse_once(operation_id: str, status: Status, *, known_here: bool = False) -> Operation:
        if not refused:
            refused.append(operation_id)
            raise StoreFull("no space is left")
        return end(operation_id, status, known_here=known_here)

    monkeypatch.setattr(supervisor.desk, "end", refuse_once)
    comes_to(supervisor, monkeypatch, Status(reason="exit", exit_code=0))
    job = await supervisor.start(order(supervisor, tmp_path))
    assert (await job.end).state is OperationState.COMPLETED
    assert refused == [job.id]


async def test_a_fault_while_a_command_is_started_is_told_to_whoever_waits_for_it(
    supervisor: OperationSupervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> Future[Status]:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(supervisor._starter.spawner, "start_operation", fail)
    job = await supervisor.start(order(supervisor, tmp_path))
    with pytest.raises(SaysoError, match="its log says why"):
        await job.end


async def test_how_to_install_a_program_is_told_where_it_was_not_found_and_not_where_nobody_could_look_for_it(
    supervisor: OperationSupervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comes_to(supervisor, monkeypatch, Status(reason="spawn_failed", text="not found", started_at=1.0))
    missing = (await supervisor.start(order(supervisor, tmp_path))).end.result()
    assert missing.status
    assert missing.status.text.endswith(HINT)

    def fail(_: object) -> Future[Status]:
        raise OSError("the disk is full")

    monkeypatch.setattr(supervisor._starter.spawner, "start_operation", fail)
    unlucky = (await supervisor.start(order(supervisor, tmp_path))).end.result()
    assert unlucky.status
    assert (unlucky.state, unlucky.status.text) == (OperationState.FAILED, "the disk is full")
