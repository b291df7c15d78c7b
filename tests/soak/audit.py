"""What a soak has left, looked through: the event log against what people said and agents heard, processes, files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.e2e.stdio.harness import Place
from tests.soak.agent import MOST_LOG, Agent, Told
from tests.soak.faults import processes_of
from tests.soak.people import Person, Said
from tests.soak.plan import Fault

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Event, State
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import Operation, OperationState
from sayso.store import open_store

MANY = 1_000_000
SETTLED = (State.ANSWERED, State.REJECTED)
GONE_SECONDS = 30.0
KEPT = {"sayso.db", "sayso.db-wal", "sayso.db-shm", "operations", "environments", "bell"}
"""What may lie in the state directory."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What is wrong, in words, and what there was to look at."""

    problems: tuple[str, ...]
    asks: int
    answers: int
    operations: int
    servers: int
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        kinds = Counter(str(fault.kind) for fault in self.faults)
        done = ", ".join(f"{kind}: {count}" for kind, count in kinds.most_common())
        counted = f"{self.asks} asks, {self.answers} answers, {self.operations} commands, {self.servers} servers"
        found = "\n".join(f"- {problem}" for problem in self.problems) or "Nothing is wrong."
        return f"{counted}; {len(self.faults)} faults ({done}).\n{found}"


@dataclass(frozen=True, kw_only=True)
class _Left:
    """What the store holds in the end."""

    asks: dict[str, Ask]
    events: dict[str, list[Event]]
    operations: dict[str, Operation]


def audit(place: Place, agents: Sequence[Agent], people: Sequence[Person], faults: Sequence[Fault]) -> Audit:
    left = _read(place)
    said = [each for person in people for each in person.said]
    told = [each for agent in agents for each in agent.notes.told]
    problems = [
        *_events(left),
        *_answers(left, said),
        *_deliveries(left, told),
        *_questions(left, place, agents),
        *_commands(left, place, agents),
        *_leftovers(place, left),
        *_logs(agents),
    ]
    return Audit(
        problems=tuple(problems),
        asks=len(left.asks),
        answers=len(said),
        operations=len(left.operations),
        servers=sum(agent.notes.servers for agent in agents),
        faults=tuple(faults),
    )


def _read(place: Place) -> _Left:
    config = place.config()
    store = open_store(config)
    try:
        desk, operations = AskDesk(store), OperationDesk(store, config.operations_dir)
        operations.adopt_orphans()
        # What a process held that had to leave without its store is let go of by whoever looks next.
        desk.release_the_dead()
        asks = [*desk.inbox(most=MANY), *(ask for ask in desk.history(most=MANY) if not ask.state.answerable)]
        return _Left(
            asks={ask.id: ask for ask in asks},
            events={ask.id: desk.events(ask.id) for ask in asks},
            operations={each.id: each for each in operations.recent(most=MANY)},
        )
    finally:
        store.close()


def _events(left: _Left) -> Iterator[str]:
    """Every ask is settled, once, and its log is without a gap from its opening to what it is now."""
    for ask in left.asks.values():
        events = left.events[ask.id]
        kinds = [event.kind for event in events]
        if ask.state not in SETTLED:
            yield f"{_name(ask)} is {ask.state} and not settled: {kinds}"
        if sum(kind in SETTLED for kind in kinds) != 1:
            yield f"{_name(ask)} was settled {sum(kind in SETTLED for kind in kinds)} times: {kinds}"
        if [event.version for event in events] != list(range(1, ask.version + 1)):
            yield f"{_name(ask)} has version {ask.version} and events {[event.version for event in events]}"
        if [event.before for event in events] != [None, *(event.after for event in events[:-1])]:
            yield f"{_name(ask)} has a log with a gap: {kinds}"
        if ask.wait is not None:
            yield f"{_name(ask)} is still held by {ask.wait.process}"


def _answers(left: _Left, said: Sequence[Said]) -> Iterator[str]:
    """What was taken is what is kept, and nothing else is."""
    marks = {each.mark: each for each in said}
    for ask in left.asks.values():
        mark = _mark(ask)
        if mark and (mark not in marks or marks[mark].ask != ask.id):
            yield f"{_name(ask)} holds an answer that nobody gave to it: {mark!r}"
        elif mark and marks[mark].heard is False:
            yield f"{_name(ask)} holds the answer {mark!r}, whose giver was told that it came too late"
    for each in said:
        if each.ask not in left.asks:
            yield f"The ask {each.ask}, to which {each.mark!r}, is gone"
        elif each.heard and _mark(left.asks[each.ask]) != each.mark:
            kept = _mark(left.asks[each.ask])
            yield f"{_name(left.asks[each.ask])} lost the answer {each.mark!r}, which was taken; it holds {kept!r}"


def _deliveries(left: _Left, told: Sequence[Told]) -> Iterator[str]:
    """Each answer reached the agent that asked, as it was given, and no other agent."""
    reached = set()
    for each in told:
        ask = left.asks.get(str(each.data["ask_id"]))
        if ask is None:
            yield f"{each.agent} was told of an ask that is not there: {each.data}"
            continue
        reached.add(ask.id)
        if ask.asker.client != each.agent:
            yield f"{_name(ask)} was delivered to {each.agent}"
        if not each.collected and ask.questions[0].text != each.question:
            yield f"{_name(ask)} was delivered as the answer to {each.question!r}"
        if _mark_in(each) != _mark(ask):
            yield f"{_name(ask)} was delivered as {_mark_in(each)!r}; the answer is {_mark(ask)!r}"
    for ask in left.asks.values():
        if ask.id not in reached:
            yield f"{_name(ask)}: its answer never reached its agent: {_log(left, ask)}"


def _questions(left: _Left, place: Place, agents: Sequence[Agent]) -> Iterator[str]:
    """Each question was answered to its agent, and people were asked once."""
    asked = Counter(map(_of, left.asks.values()))
    for agent in agents:
        for job in agent.notes.asked:
            times = asked.pop((agent.name, job.text), 0)
            # A call that fails while a server of the store goes away may have come through all the same. Then, and
            # only then, people are asked twice.
            most = 1 + (job.outcomes["failed"] if place.settings.get("store") else 0)
            if not job.done:
                yield f"{agent.name} never heard of {job.text!r}"
            if not 1 <= times <= most:
                logs = [_log(left, ask) for ask in left.asks.values() if _of(ask) == (agent.name, job.text)]
                yield f"{agent.name} asked {job.text!r} once, people {times} times: {dict(job.outcomes)} {logs}"
    for (agent_name, text), times in asked.items():
        yield f"Nobody asked {text!r}, but {agent_name} did {times} times"


def _commands(left: _Left, place: Place, agents: Sequence[Agent]) -> Iterator[str]:
    """Each command ran at most once, and has ended; what ended well did run."""
    log = place.folder / "ran"
    ran = Counter(log.read_text().split() if log.exists() else [])
    states = {_command_name(each): each.state for each in left.operations.values()}
    for operation in left.operations.values():
        if not operation.state.ended:
            yield f"{_command_name(operation)} is still {operation.state}"
    for agent in agents:
        for job in agent.notes.ran:
            name = job.command.name
            if ran[name] > 1:
                yield f"{name} ran {ran[name]} times"
            if states.get(name) is OperationState.COMPLETED and ran[name] != 1:
                yield f"{name} is completed and ran {ran[name]} times"
            if job.operation and job.status not in (states.get(name), "unknown"):
                yield f"{name} is {states.get(name)}, and {agent.name} was told that it is {job.status}"


def _leftovers(place: Place, left: _Left) -> Iterator[str]:
    deadline = time.monotonic() + GONE_SECONDS
    while (running := processes_of(place)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in running:
        yield f"A process is left over: {process}"
    folders = {path.name for path in (place.state / "operations").glob("*")}
    for name in folders - left.operations.keys():
        yield f"The folder operations/{name} belongs to no operation"
    for socket in (place.state / "bell").glob("*"):
        yield f"A socket is left over: {socket.name}"
    for path in place.state.iterdir():
        if path.name not in KEPT:
            yield f"A file is left over: {path.name}"
    for path in place.state.rglob("*"):
        if path.suffix in (".tmp", ".half", ".new"):
            yield f"A half-written file is left over: {path.relative_to(place.state)}"


def _logs(agents: Sequence[Agent]) -> Iterator[str]:
    for agent in agents:
        for log in agent.notes.logs:
            if "Traceback" in log:
                begin = max(0, log.index("Traceback") - MOST_LOG // 2)
                yield f"A server of {agent.name} failed on its own account:\n{log[begin : begin + MOST_LOG]}"


def _mark(ask: Ask) -> str | None:
    if ask.outcome is None:
        return None
    return ask.outcome.reason if ask.state is State.REJECTED else ask.outcome.answers[0].text


def _mark_in(told: Told) -> str | None:
    data = told.data
    mark: str | None = data["reason"] if data["outcome"] == State.REJECTED else data["answers"][0]["text"]
    return mark


def _of(ask: Ask) -> tuple[str, str]:
    """Who asked what."""
    return ask.asker.client, ask.questions[0].text


def _log(left: _Left, ask: Ask) -> str:
    """What happened to an ask, in a line."""
    return " ".join(f"{event.kind}({event.detail})" if event.detail else event.kind for event in left.events[ask.id])


def _command_name(operation: Operation) -> str:
    return operation.argv[-1].rpartition("# ")[2]


def _name(ask: Ask) -> str:
    return f"{ask.questions[0].text!r} of {ask.asker.client} ({ask.id[:8]})"
