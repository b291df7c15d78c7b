"""Two processes' worth of desks, agents and people in any order, with crashes at any moment:
no answer is lost, none is delivered twice, none reaches the wrong question, and the events tell the truth."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests import memory
from tests.asks.samples import ANNA, BEN, DAY, HOUR, KEEP, FakeClock, ask, own_text

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Ask, Event, State
from sayso.errors import AlreadySettled
from sayso.store.sqlite import SqliteStore

TEXTS = ("Which colour?", "Which size?", "Which shape?")
TIMEOUT = 60_000
MOVES = (
    *("call", "call", "call", "call goes on", "call goes on", "call goes on", "call goes on", "client lets go"),
    *("settle", "settle", "settle", "settle", "leave", "crash", "stop", "let go of the dead", "be taken for dead"),
    *("clean up", "time passes"),
)
"""What can happen next, and how often beside the others."""
SETTLED = (State.ANSWERED, State.REJECTED, State.DECLINED, State.CANCELLED)

either = st.integers(0, 1)
any_one = st.integers(0, 5)


@dataclass
class Call:
    """An agent's call that is still open, in one process."""

    text: str
    held: Held
    shown: Ask | None = None
    """The outcome its result tells, once it has one."""
    written: bool = False


@dataclass
class Process:
    file: Path
    clock: FakeClock
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.store = SqliteStore(self.file)
        self.desk = AskDesk(self.store, clock=self.clock)
        self.calls.clear()

    def crash(self) -> None:
        """Its bell falls silent and its calls are gone; nothing is let go of."""
        self.store.close()
        self.start()


class TwoProcesses(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="sayso-machine-", dir=memory.SHORT))
        self.clock = FakeClock()
        self.processes = [Process(self.folder / "sayso.db", self.clock) for _ in range(2)]
        self.opened: dict[str, str] = {}
        """The question of every ask that was ever opened."""
        self.settled: dict[str, Ask] = {}
        """Every ask as a person settled it."""
        self.received: dict[str, list[Ask]] = {}
        """What agents read, by ask."""
        self.gone: set[str] = set()
        self.alone: dict[str, int] = {}
        """Since when nobody has waited for an ask."""
        self.words = 0

    def teardown(self) -> None:
        try:
            self.hand_over_all_that_is_owed()
        finally:
            for process in self.processes:
                process.store.close()
            shutil.rmtree(self.folder)

    @rule(move=st.sampled_from(MOVES), which=either, pick=any_one, data=st.data())
    def next_move(self, move: str, which: int, pick: int, data: st.DataObject) -> None:
        process = self.processes[which]
        match move:
            case "call goes on" if self.calls():
                self.call_goes_on(pick, runs_out=data.draw(st.booleans()), steps=data.draw(st.integers(1, 3)))
            case "client lets go" if self.calls():
                self.client_lets_go(pick)
            case "settle" if self.asks():
                rather = data.draw(st.sampled_from([State.TIMED_OUT, State.PENDING, State.ANSWERED]))
                self.settle(which, pick, data.draw(st.sampled_from(SETTLED)), rather)
            case "leave":
                self.leave(process)
            case "crash":
                process.crash()
            case "stop":
                process.desk.release_all()
                process.crash()
            case "let go of the dead":
                process.desk.release_the_dead()
            case "be taken for dead":
                self.be_taken_for_dead(which)
            case "clean up":
                self.clean_up(which)
            case "time passes":
                self.clock.forward(data.draw(st.sampled_from([1, HOUR, 2 * DAY, 8 * DAY, 31 * DAY])))
            case _:
                self.call(process, TEXTS[pick % 3], data.draw(st.sampled_from([TIMEOUT, None])))

    # Agents

    def call(self, process: Process, text: str, timeout_ms: int | None) -> None:
        owed = self.owed(text)
        held = process.desk.hold(ask(text, timeout_ms=timeout_ms))
        self.check_taken_up(held.ask, owed, reattached=held.reattached)
        settled = held.ask.state is not State.PENDING
        process.calls.append(Call(text, held, shown=held.ask if settled else None))

    def leave(self, process: Process) -> None:
        owed = self.owed(TEXTS[0])
        left = process.desk.leave(ask(TEXTS[0]))
        self.check_taken_up(left, owed, reattached=left.id in self.opened)

    def call_goes_on(self, pick: int, *, steps: int, runs_out: bool) -> None:
        """Some more steps on the way of a call: it ends, its result is written, the delivery is noted."""
        process, call = self.pick_call(pick)
        for _ in range(steps):
            if call in process.calls:
                self.step(process, call, runs_out=runs_out)

    def step(self, process: Process, call: Call, *, runs_out: bool) -> None:
        if call.shown is None:
            self.time_out(process, call) if runs_out and call.held.wait.until else self.notice_the_end(process)
        elif not call.written:
            self.write_the_result(call)
        else:
            process.desk.delivered(call.held)
            process.calls.remove(call)

    def notice_the_end(self, process: Process) -> None:
        """The bell rang: the process looks which of its waits have ended."""
        waiting = {call.held.wait.id: call for call in process.calls}
        for ended in process.desk.ended_waits():
            assert ended.wait is not None
            call = waiting[ended.wait.id]
            assert call.shown is None or call.shown.state is ended.state
            call.shown = ended

    def time_out(self, process: Process, call: Call) -> None:
        assert call.held.wait.until is not None
        self.clock.now = max(self.clock.now, call.held.wait.until)
        call.shown = process.desk.time_out(call.held)
        assert call.shown.state is not State.PENDING

    def write_the_result(self, call: Call) -> None:
        assert call.shown is not None
        assert call.shown.questions[0].text == call.text
        call.written = True
        self.received.setdefault(call.shown.id, []).append(call.shown)

    def client_lets_go(self, pick: int) -> None:
        process, call = self.pick_call(pick)
        if not call.written:
            process.desk.release(call.held, "the client let go of the call")
            process.calls.remove(call)

    # People

    def settle(self, which: int, pick: int, how: State, rather: State) -> None:
        desk, by = self.processes[which].desk, (ANNA, BEN)[which]
        shown = [one for one in self.asks() if one.state is rather] or self.asks()
        before = shown[-1 - pick % len(shown)]
        self.words += 1
        said = f"{self.words} about {before.questions[0].text} in {before.id}"
        try:
            match how:
                case State.ANSWERED:
                    after = desk.answer(before.id, own_text(said), by)
                case State.REJECTED:
                    after = desk.reject(before.id, said, by)
                case State.DECLINED:
                    after = desk.decline(before.id, by)
                case _:
                    after = desk.cancel(before.id, by)
        except AlreadySettled as told:
            self.check_told_who_was_first(before, str(told))
            return
        assert before.state.answerable
        assert after.outcome is not None
        assert after.outcome.late == (before.state is State.TIMED_OUT)
        self.settled[before.id] = after

    # What befalls processes

    def be_taken_for_dead(self, which: int) -> None:
        """Something sweeps the bell away, the other process lets go in our place, and then we find out."""
        process, other = self.processes[which], self.processes[1 - which]
        bell = process.store.bell()
        (self.folder / "bell" / f"{bell.process}.sock").unlink()
        other.desk.release_the_dead()
        while bell.wait(0):
            """Take in what rang before."""
        known = process.desk.held_here()
        for call in process.calls:
            if call.held.wait.id not in known:
                now = process.desk.hold_again(call.held)
                # A call that is about to tell how it ended may have been missed a moment before.
                call.shown = call.shown or (None if now.state is State.PENDING else now)

    def clean_up(self, which: int) -> None:
        before = {one.id: one for one in self.asks()}
        self.processes[which].desk.clean_up(KEEP)
        after = {one.id: one for one in self.asks()}
        for deleted in before.keys() - after.keys():
            ended = before[deleted].ended_at
            assert ended is not None
            assert ended < self.clock.now - KEEP.ended
            owed = before[deleted].state is State.ANSWERED and not before[deleted].delivered
            assert not owed or ended < self.clock.now - KEEP.undelivered
            assert not any(call.held.wait == before[deleted].wait for call in self.calls())
        for ask_id, one in after.items():
            if one.state is State.EXPIRED and before[ask_id].state is not State.EXPIRED:
                assert before[ask_id].state is State.PENDING
                assert self.alone.get(ask_id, self.clock.now) < self.clock.now - KEEP.unattended
                assert not any(call.held.wait == before[ask_id].wait for call in self.calls())
        self.gone |= before.keys() - after.keys()
        self.forget_calls_whose_ask_is_gone()

    def forget_calls_whose_ask_is_gone(self) -> None:
        """A call that was taken for dead can lose its ask; it ends with an error of its own."""
        for process in self.processes:
            process.calls = [call for call in process.calls if call.held.ask.id not in self.gone]

    # What must always hold

    @invariant()
    def nothing_is_lost_doubled_or_crossed(self) -> None:
        every = self.asks()
        assert {one.id for one in every} == self.opened.keys() - self.gone
        for one in every:
            self.note_whether_alone(one)
            self.check_as_settled(one)
            self.check_delivered_only_if_read(one)
            self.check_events(one)

    def note_whether_alone(self, one: Ask) -> None:
        if one.wait is None:
            self.alone.setdefault(one.id, self.clock.now)
        else:
            self.alone.pop(one.id, None)

    def check_as_settled(self, one: Ask) -> None:
        assert one.questions[0].text == self.opened[one.id]
        if one.id in self.settled:
            assert (one.state, one.outcome) == (self.settled[one.id].state, self.settled[one.id].outcome)
        else:
            assert one.state not in SETTLED

    def check_delivered_only_if_read(self, one: Ask) -> None:
        if one.delivered:
            assert (one.state, one.outcome) in [(read.state, read.outcome) for read in self.received.get(one.id, [])]

    def check_events(self, one: Ask) -> None:
        events = self.processes[0].desk.events(one.id)
        assert [event.version for event in events] == list(range(1, one.version + 1))
        assert [event.before for event in events] == [None, *(event.after for event in events[:-1])]
        assert events[-1].after is one.state
        self.check_settled_and_delivered_once(one, events)

    # Looking

    def check_told_who_was_first(self, before: Ask, told: str) -> None:
        assert not before.state.answerable
        if before.state is not State.EXPIRED:
            first = self.settled[before.id].outcome
            assert first is not None
            assert f"in {first.surface} by {first.person}, " in told

    def check_settled_and_delivered_once(self, one: Ask, events: list[Event]) -> None:
        settles = [place for place, event in enumerate(events) if event.kind in SETTLED]
        if not settles:
            return
        assert len(settles) == 1
        settle = events[settles[0]]
        outcome = self.settled[one.id].outcome
        assert outcome is not None
        assert (settle.person, settle.surface) == (outcome.person, outcome.surface)
        assert [event.kind for event in events[settles[0] :]].count("delivered") == one.delivered

    def asks(self) -> list[Ask]:
        desk = self.processes[0].desk
        found = [*desk.inbox(most=1000), *(one for one in desk.history(most=1000) if not one.state.answerable)]
        order = {ask_id: place for place, ask_id in enumerate(self.opened)}
        return sorted(found, key=lambda one: order.get(one.id, -1))

    def calls(self) -> list[Call]:
        return [call for process in self.processes for call in process.calls]

    def pick_call(self, pick: int) -> tuple[Process, Call]:
        every = [(process, call) for process in self.processes for call in process.calls]
        return every[pick % len(every)]

    def owed(self, text: str) -> dict[str, Ask]:
        """The asks an identical call must take up: their wait is over and their answer was not delivered."""
        live = {call.held.wait.id for call in self.calls()}
        return {
            one.id: one
            for one in self.asks()
            if one.questions[0].text == text
            and (one.state is State.TIMED_OUT or (not one.delivered and one.state is not State.EXPIRED))
            and (one.state is State.TIMED_OUT or one.wait is None or one.wait.id not in live)
        }

    def check_taken_up(self, taken: Ask, owed: dict[str, Ask], *, reattached: bool) -> None:
        assert reattached == bool(owed)
        if reattached:
            assert taken.id in owed
            someone_settled = any(not one.state.answerable for one in owed.values())
            assert someone_settled == (not taken.state.answerable), "an answer that is there comes first"
        else:
            assert taken.id not in self.opened
            self.opened[taken.id] = taken.questions[0].text

    def hand_over_all_that_is_owed(self) -> None:
        """After all processes have died, identical calls get every answer that no agent has read."""
        for process in self.processes:
            process.crash()
        for text in TEXTS:
            for wanted in [one for one in self.owed(text).values() if not one.state.answerable]:
                held = self.processes[0].desk.hold(ask(text))
                assert held.reattached
                assert held.ask.outcome == self.settled[held.ask.id].outcome
                assert self.processes[0].desk.delivered(held).delivered
                assert wanted.id in self.settled
            assert all(one.state.answerable for one in self.owed(text).values())


TestTwoProcesses = TwoProcesses.TestCase
TestTwoProcesses.settings = settings(
    max_examples=25,
    stateful_step_count=40,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
