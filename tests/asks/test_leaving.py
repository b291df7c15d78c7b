"""Calls of one process that end in every way but the usual one, on a store that fails at any moment: whoever calls
again gets what is owed, nobody is asked twice, and no wait stays behind."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests import memory
from tests.asks.samples import ANNA, RED, ask

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Ask
from sayso.asks.waiting import Waiting
from sayso.errors import StoreUnavailable
from sayso.store.sqlite import SqliteStore

TEXTS = ("Which colour?", "Which size?")

texts = st.sampled_from(TEXTS)
picks = st.integers(0, 5)
faults = st.sampled_from(["", "", "", "away", "reply lost"])
"""What is wrong with the store meanwhile."""


class LeavingCalls(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="sayso-leaving-", dir=memory.SHORT))
        self.store = SqliteStore(self.folder / "sayso.db")
        self.write = self.store.write
        self.desk = AskDesk(self.store)
        self.loop = asyncio.Runner()
        self.waiting = self.loop.run(self.begin())
        self.calls: list[Held] = []
        self.read: set[str] = set()
        """The asks whose outcome an agent has read."""

    async def begin(self) -> Waiting:
        return await Waiting(self.store, self.desk).__aenter__()

    def teardown(self) -> None:
        try:
            self.loop.run(self.waiting.__aexit__(None, None, None))
            assert not [one for one in self.asks() if one.wait]
        finally:
            self.loop.close()
            self.store.close()
            shutil.rmtree(self.folder)

    @contextmanager
    def failing(self, fault: str) -> Iterator[None]:
        def broken(work: Callable[..., Any]) -> None:
            if fault == "reply lost":
                self.write(work)
            raise StoreUnavailable("The connection is broken.")

        with pytest.MonkeyPatch.context() as patched:
            if fault:
                patched.setattr(self.store, "write", broken)
            yield

    # Agents

    @rule(text=texts, fault=faults)
    def call(self, text: str, fault: str) -> None:
        owed, told = self.owed(text), self.told_but_not_noted(text)
        before = {one.id for one in self.asks()}
        with self.failing(fault):
            if fault:
                with pytest.raises(StoreUnavailable):
                    self.loop.run(self.waiting.hold(ask(text)))
                return
            held = self.loop.run(self.waiting.hold(ask(text)))
        self.calls.append(held)
        assert held.reattached == (held.ask.id in before)
        if owed:
            assert held.ask.id in owed | told, "a person is asked twice, or an answer is lost"
        else:
            assert held.ask.id in told or not held.reattached

    @precondition(lambda self: self.calls)
    @rule(count=st.integers(1, 3), fault=faults)
    def several_are_let_go_of_at_once(self, count: int, fault: str) -> None:
        leaving, self.calls = self.calls[:count], self.calls[count:]

        async def let_go() -> None:
            for held in leaving:
                self.waiting.leaving.let_go(held, "the client let go of the call")
            await self.waiting.leaving.over()

        with self.failing(fault):
            self.loop.run(let_go())

    @precondition(lambda self: self.ended())
    @rule(pick=picks, fault=faults)
    def an_outcome_is_handed_over(self, pick: int, fault: str) -> None:
        held = self.take_ended(pick)
        with self.failing(fault):
            self.loop.run(self.tell(held, True))
        self.read.add(held.ask.id)

    @precondition(lambda self: self.ended())
    @rule(pick=picks, fault=faults, later=faults)
    def a_cancel_crosses_the_response(self, pick: int, fault: str, later: str) -> None:
        held = self.take_ended(pick)
        tell = self.waiting.leaving.hand_over(held)

        async def cross(written: bool) -> None:
            tell(written)
            await self.waiting.leaving.finish()

        for written, wrong in ((True, fault), (False, later)):
            with self.failing(wrong):
                self.loop.run(cross(written))
        self.read.discard(held.ask.id)

    @precondition(lambda self: self.ended())
    @rule(pick=picks, fault=faults)
    def a_response_is_never_written(self, pick: int, fault: str) -> None:
        held = self.take_ended(pick)
        with self.failing(fault):
            self.loop.run(self.tell(held, False))

    async def tell(self, held: Held, written: bool) -> None:
        self.waiting.leaving.hand_over(held)(written)
        await self.waiting.leaving.finish()

    # Others

    @precondition(lambda self: self.answerable())
    @rule(pick=picks)
    def a_person_answers(self, pick: int) -> None:
        shown = self.answerable()
        self.desk.answer(shown[pick % len(shown)].id, RED, ANNA)

    @rule()
    def strays_are_looked_for_until_there_are_none(self) -> None:
        for _ in range(2):
            held = {held.wait.id for held in self.calls}
            self.loop.run(self.waiting.leaving.end_strays(self.desk.wait_ids() - held))
        assert self.desk.wait_ids() <= {held.wait.id for held in self.calls}

    @invariant()
    def a_call_that_waits_holds_its_ask(self) -> None:
        for held in self.calls:
            now = self.desk.get(held.ask.id)
            assert now.wait == held.wait
            assert not now.delivered

    # Looking

    def asks(self) -> list[Ask]:
        return [*self.desk.inbox(most=1000), *self.desk.history(most=1000)]

    def answerable(self) -> list[Ask]:
        return self.desk.inbox(most=1000)

    def ended(self) -> list[Held]:
        return [held for held in self.calls if not self.desk.get(held.ask.id).state.answerable]

    def take_ended(self, pick: int) -> Held:
        ended = self.ended()
        held = ended[pick % len(ended)]
        self.calls.remove(held)
        return held

    def free(self, text: str) -> list[Ask]:
        held = {held.ask.id for held in self.calls}
        return [one for one in self.asks() if one.questions[0].text == text and one.id not in held]

    def owed(self, text: str) -> set[str]:
        """What the next such call must take up: nobody waits for it, and no agent has read its outcome."""
        return {one.id for one in self.free(text) if one.id not in self.read}

    def told_but_not_noted(self, text: str) -> set[str]:
        """What it may take up once more, because the store does not know that it was read."""
        return {one.id for one in self.free(text) if one.id in self.read and not one.delivered}


TestLeavingCalls = LeavingCalls.TestCase
TestLeavingCalls.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_an_outcome_that_nobody_read_is_owed_although_the_store_could_not_be_told_that_it_was_handed_over() -> None:
    calls = LeavingCalls()
    try:
        calls.call(text="Which colour?", fault="")
        calls.a_person_answers(pick=0)
        (held,) = calls.calls
        calls.loop.run(asyncio.wait_for(calls.waiting.outcome(held), 30))
        calls.a_cancel_crosses_the_response(pick=0, fault="away", later="")
        calls.call(text="Which colour?", fault="")
        assert calls.calls[0].ask.id == held.ask.id
    finally:
        calls.teardown()
