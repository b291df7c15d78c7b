"""The model of an ask's life is what happens: every step that it has can be taken where it says, none anywhere else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.asks.samples import AGENT, ANNA, RED, FakeClock, ask
from tests.permissions.test_desk import PUSH, QUESTION

from sayso.asks.desk import AskDesk, Held
from sayso.asks.life_cycle import PERMISSION, STEPS, check
from sayso.asks.model import Answer, Ask, NewAsk, Outcome, Settler, State
from sayso.asks.table import AskTable
from sayso.errors import AlreadySettled, ImpossibleStep, InvalidInput
from sayso.permissions.action import asking
from sayso.permissions.desk import PermissionDesk
from sayso.records import replace

KINDS = ("question", "permission")
OF_PERMISSIONS = {State.PENDING, State.ANSWERED, State.REJECTED, State.DECLINED, State.CANCELLED, State.EXPIRED}
SETTLING = [step.name for step in STEPS if step.settles]
ELSEWHERE = Settler(person="", surface="the terminal of Codex")


class Stage:
    """One ask after the other, brought into any state by what agents and people really do."""

    def __init__(self, desk: AskDesk, clock: FakeClock) -> None:
        self.desk, self.clock, self.permissions = desk, clock, PermissionDesk(desk)
        self.number = 0

    def asked(self, kind: str) -> Held:
        self.number += 1
        asker = replace(AGENT, session=f"session-{self.number}", run=f"run-{self.number}")
        plain = ask(f"Which colour, for the time {self.number}?", asker=asker, timeout_ms=1000)
        return self.desk.hold(self.permission(plain) if kind == PERMISSION else plain)

    @staticmethod
    def permission(plain: NewAsk) -> NewAsk:
        return asking(replace(plain, questions=(QUESTION,)), PUSH)

    def brought_to(self, state: State, kind: str) -> Held:
        held = self.asked(kind)
        match state:
            case State.ANSWERED:
                self.take("allowed" if kind == PERMISSION else "answered", held)
            case State.REJECTED | State.DECLINED | State.CANCELLED | State.TIMED_OUT | State.SUPERSEDED | State.EXPIRED:
                self.take(state.value, held)
        assert self.desk.get(held.ask.id).state is state
        return held

    def take(self, step: str, held: Held) -> Ask:
        """Try a step as whoever takes it tries it. The ask as it is afterwards."""
        desk, permissions, named = self.desk, self.permissions, held.ask.id
        match step:
            case "answered":
                desk.answer(named, RED, ANNA)
            case "allowed":
                permissions.allow(named, held.ask.digest or "0" * 64, ANNA)
            case "denied":
                permissions.deny(named, ANNA)
            case "rejected":
                desk.reject(named, "not now", ANNA)
            case "declined":
                desk.decline(named, ANNA)
            case "cancelled":
                desk.cancel(named, ANNA)
            case "decided_elsewhere":
                permissions.note_decided_elsewhere(named, ELSEWHERE, "allowed there")
            case "timed_out":
                self.clock.forward(1001)
                desk.time_out(held)
            case "superseded":
                newer = ask(f"Which shape, for the time {self.number}?", asker=held.ask.asker)
                desk.succeed(newer)
            case "expired":
                desk.lapse(named)
            case "delivered":
                desk.delivered(held)
            case "unattended":
                desk.release(held, "the client let go of the call")
            case "voided":
                desk.void(named, "the file has changed")
            case "noted":
                desk.note_of_client(named, "ran")
            case "refused":
                desk.note_refusal(named, ANNA, "not for you")
        return desk.get(named)


@pytest.fixture
def stage(desk: AskDesk, clock: FakeClock) -> Stage:
    return Stage(desk, clock)


def _lives() -> Iterator[tuple[str, State]]:
    for kind in KINDS:
        yield from ((kind, state) for state in State if kind != PERMISSION or state in OF_PERMISSIONS)


def _ends(step: str, kind: str, state: State) -> set[State]:
    """Where the model lets this step lead to from there."""
    found = [each for each in STEPS if each.name == step and each.kind in ("", kind) and state in each.before]
    return {each.after or state for each in found}


@pytest.mark.parametrize("step", SETTLING)
def test_a_person_settles_an_ask_in_just_the_states_from_which_the_model_lets_them(stage: Stage, step: str) -> None:
    for kind, state in _lives():
        held = stage.brought_to(state, kind)
        before = stage.desk.get(held.ask.id)
        if not (ends := _ends(step, kind, state)):
            with pytest.raises((AlreadySettled, InvalidInput, ImpossibleStep)):
                stage.take(step, held)
            after = stage.desk.get(held.ask.id)
            assert (after.state, after.outcome) == (state, before.outcome), (kind, state)
        else:
            assert {stage.take(step, held).state} == ends, (kind, state)
            assert stage.desk.get(held.ask.id).outcome is not None


@pytest.mark.parametrize("step", sorted({each.name for each in STEPS} - {*SETTLING}))
def test_no_other_step_brings_an_outcome_or_a_state_that_the_model_does_not_have(stage: Stage, step: str) -> None:
    for kind, state in _lives():
        held = stage.brought_to(state, kind)
        before = stage.desk.get(held.ask.id)
        after = stage.take(step, held)
        assert (after.outcome is None) == (before.outcome is None), (kind, state)
        opened, *events = stage.desk.events(held.ask.id)
        assert (opened.before, opened.after) == (None, State.PENDING)
        for event in events:
            assert event.before
            assert event.after in _ends(event.kind, kind, event.before), (kind, event)


def test_an_answer_that_sayso_itself_would_make_up_is_not_kept(desk: AskDesk) -> None:
    held = desk.hold(ask())
    given = Outcome(answers=(Answer(question="1", chosen=("2",)),))
    for kind in ("answered", "delivered", "noted", "unattended", "made up"):
        with pytest.raises(ImpossibleStep):
            desk.change(partial(_make_up, held.ask, given, kind))
    now = desk.get(held.ask.id)
    assert (now.state, now.outcome, now.version) == (State.PENDING, None, 1)
    settled = desk.answer(now.id, RED, ANNA)
    for other in (given, None):
        with pytest.raises(ImpossibleStep, match="What was said of an ask cannot change by its being 'unattended'"):
            desk.change(partial(_replace_outcome, settled, other))
    assert desk.get(now.id).outcome == settled.outcome


def _make_up(asked: Ask, given: Outcome, kind: str, table: AskTable) -> Ask:
    return table.change(replace(asked, state=State.ANSWERED, outcome=given), asked, kind=kind)


def _replace_outcome(settled: Ask, other: Outcome | None, table: AskTable) -> Ask:
    return table.change(replace(settled, outcome=other), settled, kind="unattended")


def test_every_step_that_is_possible_has_a_name_and_every_other_is_refused() -> None:
    """All that one could make of an ask, whoever does it: the pure rule, beside what the desks really do."""
    made: Callable[..., Ask] = Ask
    possible = 0
    for kind, before in _lives():
        ask_before = made(
            **dict.fromkeys(("id", "call_id", "tool"), "x"), questions=(), asker=AGENT, created_at=1, changed_at=1,
            state=before, wanted={"action": {}} if kind == PERMISSION else None,
        )  # fmt: skip
        for name in {step.name for step in STEPS} | {"", "opened", "pending"}:
            for after in State:
                with suppress(ImpossibleStep):
                    check(replace(ask_before, state=after, outcome=Outcome()), ask_before, name, ANNA)
                    assert name in SETTLING
                with suppress(ImpossibleStep):
                    check(replace(ask_before, state=after), ask_before, name, None)
                    possible += 1
                    assert after in _ends(name, kind, before)
                    assert name not in SETTLING
    assert possible > 60


def test_the_page_about_the_life_of_an_ask_is_made_of_the_model() -> None:
    script = Path(__file__).parents[2] / "scripts" / "life_cycle.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
