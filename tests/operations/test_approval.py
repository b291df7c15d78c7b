"""A person's say-so at the moment when nobody wants it any more: nothing is done, and everyone is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.asks.samples import AGENT, ANNA
from tests.permissions.test_log import BUILD

from sayso.asks import waiting as waiting_module
from sayso.asks.desk import AskDesk
from sayso.asks.model import CALLED_OFF, OUT_OF_TIME, Ask
from sayso.asks.quorum import Demand, Quorum
from sayso.asks.waiting import Waiting
from sayso.chain import LogKind
from sayso.chats import wording as chat_wording
from sayso.cli import asks_in_words
from sayso.clock import now_ms
from sayso.config import load
from sayso.errors import AlreadySettled, SaysoError
from sayso.operations.approval import CANCELLED, Approvals, WantedApproval
from sayso.operations.job import Job
from sayso.operations.operation import NewOperation, OperationState, new_id
from sayso.operations.supervisor import OperationSupervisor
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.ruled import RuledAction
from sayso.permissions.verdict import Decision, verdict_of
from sayso.records import replace
from sayso.store import Store
from sayso.toolfiles.catalog import Catalog
from sayso.tui.texts import Texts
from sayso.tui.wording import Wording
from sayso.web import wording as web_wording

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def tool_that_asks(approve: str) -> Any:
    return SimpleNamespace(name="build", leaf=SimpleNamespace(name="build", approve=approve))


@pytest.mark.parametrize("is_heard", [False, True])
async def test_a_yes_that_comes_together_with_the_cancel_runs_nothing_and_the_log_says_why(
    store: Store, is_heard: bool
) -> None:
    desk, dropped = AskDesk(store), asyncio.Event()
    wanted = WantedApproval(tool=tool_that_asks("always"), action=BUILD, asker=AGENT)
    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:

            async def decide(ask_id: str) -> None:
                PermissionDesk(desk).allow(ask_id, BUILD.digest, ANNA)
                if is_heard:
                    (end,) = waiting._ends.values()
                    await end.wait()
                    for _ in range(5):  # until everybody who waits for it has heard
                        await asyncio.sleep(0)
                dropped.set()

            approvals = Approvals(waiting, PermissionDesk(desk), lambda _: None)
            assert (await approvals.say_so(wanted, dropped, decide)).refused == CANCELLED
    (ask_id,) = (ask.id for ask in desk.history())
    verdict = verdict_of(desk.get(ask_id))
    assert verdict
    assert verdict.decision is Decision.NOT_DONE
    (outcome,) = PermissionLog(store).outcomes()
    assert (outcome.entry.event.kind, outcome.ran) == (LogKind.ALLOWED, 0)
    assert outcome.stopped
    assert (outcome.stopped.kind, outcome.stopped.why) == (LogKind.NOT_RUN, "was cancelled before it began")


async def test_whoever_awaits_what_this_process_lets_go_of_hears_from_the_store_how_it_ended(
    store: Store, tmp_path: Path
) -> None:
    config = load(environ={"SAYSO_STATE_DIR": str(tmp_path)}, cwd=tmp_path)
    with anyio.fail_after(60):
        async with Waiting(store, AskDesk(store)) as waiting:
            approvals = Approvals(waiting, PermissionDesk(waiting.desk), lambda _: None)
            supervisor = OperationSupervisor(config, store, Catalog(config), approvals)
            new = NewOperation(id=new_id(), tool="build", argv=("make",), cwd="/", asker=AGENT, background=False)
            job = supervisor.jobs[new.id] = Job(supervisor.desk.open(new), supervisor.excerpts, None)
            awaiting = asyncio.create_task(supervisor.ended(new.id))
            await asyncio.sleep(0)
            supervisor.desk.want_cancelled(new.id, "somebody")
            job.leave()
            del supervisor.jobs[new.id]
            assert (await awaiting).state is OperationState.CANCELLED


async def test_whoever_awaits_a_command_whose_end_cannot_be_told_hears_why(store: Store, tmp_path: Path) -> None:
    config = load(environ={"SAYSO_STATE_DIR": str(tmp_path)}, cwd=tmp_path)
    async with Waiting(store, AskDesk(store)) as waiting:
        approvals = Approvals(waiting, PermissionDesk(waiting.desk), lambda _: None)
        supervisor = OperationSupervisor(config, store, Catalog(config), approvals)
        new = NewOperation(id=new_id(), tool="build", argv=("make",), cwd="/", asker=AGENT)
        job = supervisor.jobs[new.id] = Job(supervisor.desk.open(new), supervisor.excerpts, None)
        awaiting = asyncio.create_task(supervisor.ended(new.id))
        await asyncio.sleep(0)
        job.fail(SaysoError("the disk is full"))
        with anyio.fail_after(60), pytest.raises(SaysoError, match="the disk is full"):
            await awaiting


async def test_the_person_is_told_of_a_command_before_the_call_waits_for_them(store: Store) -> None:
    desk = AskDesk(store)
    told: list[Ask] = []
    wanted = WantedApproval(tool=tool_that_asks("always"), action=BUILD, asker=AGENT)

    async def decide(ask_id: str) -> None:
        assert [ask.id for ask in told] == [ask_id]
        PermissionDesk(desk).allow(ask_id, BUILD.digest, ANNA)

    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            approvals = Approvals(waiting, PermissionDesk(desk), told.append)
            assert not (await approvals.say_so(wanted, asyncio.Event(), decide)).refused


async def test_a_yes_for_every_call_of_a_tool_does_not_hold_once_each_of_them_is_to_be_asked(store: Store) -> None:
    desk, asks = AskDesk(store), asyncio.Queue[str]()
    once, always = (
        WantedApproval(tool=tool_that_asks(approve), action=BUILD, asker=AGENT) for approve in ("once", "always")
    )
    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            approvals = Approvals(waiting, PermissionDesk(desk), lambda _: None)
            saying = asyncio.create_task(approvals.say_so(once, asyncio.Event(), asks.put))
            PermissionDesk(desk).allow(await asks.get(), BUILD.digest, ANNA)
            assert not (await saying).refused
            assert not approvals.needed(once)
            assert approvals.needed(always)
            quorum = Quorum(demands=(Demand(rule="Bash", place="rules.toml:1", people=("anna",)),))
            assert approvals.needed(replace(once, ruled=RuledAction(quorum=quorum))), "a rule says who has to agree"


def denied(desk: AskDesk, ask_id: str) -> None:
    PermissionDesk(desk).deny(ask_id, ANNA, "not on a Friday")


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (denied, "anna did not allow it (no). Reason: not on a Friday"),
        (lambda desk, ask_id: PermissionDesk(desk).deny(ask_id, ANNA), "anna did not allow it (no)."),
        (
            lambda desk, ask_id: desk.lapse(ask_id),
            "Nobody decided whether it may run, so it was not run. That is not a decision of the user's.",
        ),
        (lambda desk, ask_id: PermissionDesk(desk).allow(ask_id, BUILD.digest, ANNA), ""),
    ],
)
async def test_whoever_wanted_to_run_it_is_told_who_decided_what(
    monkeypatch: pytest.MonkeyPatch, store: Store, end: Callable[[AskDesk, str], object], told: str
) -> None:
    # An ask that lapses takes its waits with it, which is noticed when they are next looked over.
    monkeypatch.setattr(waiting_module, "CONFIRM_AFTER", 0.1)
    desk = AskDesk(store)
    wanted = WantedApproval(tool=tool_that_asks("always"), action=BUILD, asker=AGENT)

    async def decide(ask_id: str) -> None:
        end(desk, ask_id)

    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            said = await Approvals(waiting, PermissionDesk(desk), lambda _: None).say_so(
                wanted, asyncio.Event(), decide
            )
    assert (said.refused, said.shown) == (told, True)


@pytest.mark.parametrize("why", [OUT_OF_TIME, CALLED_OFF])
async def test_that_nobody_decided_before_the_call_ended_is_told_alike_everywhere_and_blames_nobody(
    store: Store, why: str
) -> None:
    desk, dropped, asks = AskDesk(store), asyncio.Event(), asyncio.Queue[str]()
    wanted = WantedApproval(tool=tool_that_asks("always"), action=BUILD, asker=AGENT)

    async def drop(ask_id: str) -> None:
        await asks.put(ask_id)
        dropped.set()

    with anyio.fail_after(60):
        async with Waiting(store, desk) as waiting:
            approvals = Approvals(waiting, PermissionDesk(desk), lambda _: None)
            await approvals.say_so(wanted, dropped, drop, lambda: why)
    ask = desk.get(await asks.get())
    page = web_wording.standing(ask)
    assert (page.word, page.tone, web_wording.settled_by(ask, "anna")) == ("Nobody decided", "quiet", "")
    (event,) = [event for event in desk.events(ask.id) if event.kind == "cancelled"]
    terminal = Wording(texts=Texts(), clock=now_ms)
    with pytest.raises(AlreadySettled) as late:
        PermissionDesk(desk).allow(ask.id, BUILD.digest, ANNA)
    told = [
        page.meaning,
        web_wording.why_not(ask),
        web_wording.happened(event),
        chat_wording.became(ask, "anna", "Telegram"),
        asks_in_words.described(ask),
        asks_in_words.event_line(event),
        terminal.settled_by(ask),
        terminal.truth(ask),
        str(late.value),
    ]
    for text in told:
        assert why in text
        assert f"by {AGENT.client}" not in text
        assert "in its own call" not in text
    assert str(late.value) == f"Nobody had decided: {why}, just now. Your answer was not used."
    logged = PermissionLog(store).whole(ask.id, "anna").entries[1].event
    assert (logged.kind, logged.person, logged.surface, logged.why) == (LogKind.UNDECIDED, "", "", why)
