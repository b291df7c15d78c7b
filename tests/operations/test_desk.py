"""The desk of operations: ids, states, locks, deliveries, what the dead leave, and what is kept, on every store."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from tests.asks.samples import AGENT, DAY, HOUR, FakeClock
from tests.conftest import OpenStore, die
from tests.running.processes import Server, eventually, fresh_token, shell, with_argument

from sayso.asks.model import Asker
from sayso.chain import LogKind
from sayso.config import Config
from sayso.errors import AmbiguousId, NotFound
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import NewOperation, Operation, OperationState, new_id, step_id
from sayso.operations.reader import OperationReader
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.log import LoggedOutcome, PermissionLog, executions
from sayso.permissions.log_words import ran
from sayso.permissions.verdict import AllowedAction
from sayso.processes import name_of
from sayso.records import replace
from sayso.running import record
from sayso.running.folder import Captured, Status, is_running, read_runner
from sayso.running.spawner import Spawner
from sayso.store import Store

NAMELESS = replace(AGENT, session="")
DONE = Status(reason="exit", exit_code=0)


@pytest.fixture
def operations(store: Store, clock: FakeClock, tmp_path: Path) -> OperationDesk:
    return OperationDesk(store, tmp_path / "operations", clock=clock)


def new(tool: str = "cargo_build", *, asker: Asker = AGENT, **more: object) -> NewOperation:
    wanted = NewOperation(id=new_id(), tool=tool, argv=("cargo", "build"), cwd="/home/anna/shop", asker=asker)
    return replace(wanted, **more)


def printed(size: int) -> Status:
    return replace(DONE, stdout=Captured(seen=size, kept=size))


def test_an_operation_is_queued_then_runs_then_has_ended(operations: OperationDesk, clock: FakeClock) -> None:
    queued = operations.open(new(argv=("cargo", "build", "--features", "a b\n'\"é")))
    assert (queued.state, queued.started_at) == (OperationState.QUEUED, None)
    clock.forward(5)
    running = operations.begin(queued.id)
    assert running
    assert (running.state, running.started_at) == (OperationState.RUNNING, clock.now)
    clock.forward(1000)
    ended = operations.end(queued.id, replace(printed(17), exit_code=0))
    assert (ended.state, ended.ended_at, ended.lasted_ms(0)) == (OperationState.COMPLETED, clock.now, 1000)
    assert operations.get(queued.id) == ended
    assert (ended.argv, ended.asker, ended.status) == (queued.argv, AGENT, printed(17))


@pytest.mark.parametrize(
    ("began", "kinds", "told"),
    [
        ("nothing", [LogKind.RUN, LogKind.NOT_RUN], ("no", LogKind.NOT_RUN)),
        ("before", [LogKind.RUN, LogKind.RUN_IN_PART], ("in part", LogKind.RUN_IN_PART)),
        (".", [LogKind.RUN], ("yes", None)),
    ],
)
def test_what_began_under_a_permission_is_never_logged_as_not_run(
    operations: OperationDesk, store: Store, began: str, kinds: list[LogKind], told: tuple[str, LogKind | None]
) -> None:
    running = operations.open_running(new())
    action = Action(kind=ActionKind.COMMAND, tool="cargo_build", folder="/", data={"argv": ["cargo", "build"]})
    operations.note_run(running, AllowedAction(action=action, ask="aa"))
    folder = running.folder / began
    folder.mkdir(parents=True)
    if began != "nothing":
        record.write(str(folder), record.RUNNER_FILE, {"pid": 1, "started": "", "group": 1, "mark": ""})
    operations.end(running.id, Status(reason="cancelled", text="the tool file changed"))
    entries = PermissionLog(store).find("aa").entries
    assert [entry.event.kind for entry in entries] == kinds
    allowed = replace(entries[0], event=replace(entries[0].event, kind=LogKind.ALLOWED))
    outcome = LoggedOutcome(entry=allowed, executions=tuple(executions(entries)))
    assert (ran(outcome), outcome.stopped and outcome.stopped.kind) == told


def test_an_operation_that_need_not_wait_is_opened_running(operations: OperationDesk, clock: FakeClock) -> None:
    running = operations.open_running(new())
    assert (running.state, running.started_at) == (OperationState.RUNNING, clock.now)
    assert operations.get(running.id) == running


@pytest.mark.parametrize(
    ("status", "codes", "state"),
    [
        (Status(reason="exit", exit_code=0), (0,), OperationState.COMPLETED),
        (Status(reason="exit", exit_code=3), (0, 3), OperationState.COMPLETED),
        (Status(reason="exit", exit_code=0), (1,), OperationState.FAILED),
        (Status(reason="exit", exit_code=1), (0,), OperationState.FAILED),
        (Status(reason="exit", signal=11), (0,), OperationState.FAILED),
        (Status(reason="spawn_failed", text="no such program"), (0,), OperationState.FAILED),
        (Status(reason="cancelled"), (0,), OperationState.CANCELLED),
        (Status(reason="timed_out"), (0,), OperationState.TIMED_OUT),
        (Status(reason="lost"), (0,), OperationState.LOST),
    ],
)
def test_how_a_command_ended_is_told_by_its_status_and_the_codes_that_count_as_success(
    operations: OperationDesk, status: Status, codes: tuple[int, ...], state: OperationState
) -> None:
    running = operations.open_running(new(success_exit_codes=codes))
    assert operations.end(running.id, status).state is state


@pytest.mark.parametrize(("noted", "ended"), [(600, 600), (-500, 0), (5000, 1000), (None, 1000)])
def test_when_a_command_ended_is_what_its_runner_noted_within_what_can_be(
    operations: OperationDesk, clock: FakeClock, noted: int | None, ended: int
) -> None:
    running = operations.open_running(new())
    begun = clock.now
    clock.forward(1000)
    status = replace(DONE, ended_at=(begun + noted) / 1000 if noted is not None else 0.0)
    assert operations.end(running.id, status).lasted_ms(0) == ended


def test_what_has_ended_stays_as_it_is(operations: OperationDesk) -> None:
    running = operations.open_running(new())
    ended = operations.end(running.id, DONE)
    assert operations.end(running.id, Status(reason="lost")) == ended
    assert operations.want_cancelled(running.id, "ada") == ended
    assert operations.begin(running.id) == ended


def test_a_queued_operation_ends_as_soon_as_it_is_cancelled(operations: OperationDesk) -> None:
    queued = operations.open(new())
    cancelled = operations.want_cancelled(queued.id, "ada")
    assert (cancelled.state, cancelled.cancelled_by) == (OperationState.CANCELLED, "ada")
    assert cancelled.status
    assert "before it began" in cancelled.status.text
    assert operations.begin(queued.id) == cancelled


def test_a_running_operation_is_only_noted_as_cancelled_until_its_runner_has_ended_it(
    operations: OperationDesk,
) -> None:
    running = operations.open_running(new())
    noted = operations.want_cancelled(running.id, "ada")
    assert (noted.state, noted.cancelled_by) == (OperationState.RUNNING, "ada")
    assert [each.id for each in operations.wanted_cancelled()] == [running.id]
    assert operations.want_cancelled(running.id, "ben").cancelled_by == "ada"
    operations.end(running.id, Status(reason="cancelled"))
    assert operations.wanted_cancelled() == []


def test_cancelling_ends_the_processes_of_that_operation_alone(operations: OperationDesk) -> None:
    tokens = [fresh_token(), fresh_token()]
    spawner = Spawner(pool_size=2)
    try:
        running = [operations.open_running(new()) for _ in tokens]
        for operation, token in zip(running, tokens, strict=True):
            spawner.start_operation(shell(operation.folder, f"sleep {token}"))
        operations.want_cancelled(running[0].id, "ada")
        eventually(lambda: not with_argument(tokens[0]))
        assert with_argument(tokens[1])
        assert is_running(running[1].folder)
    finally:
        spawner.stop()


def test_ids_are_never_given_twice(operations: OperationDesk) -> None:
    assert len({operations.open(new()).id for _ in range(100)}) == 100


def test_operations_with_the_same_lock_run_one_at_a_time_in_the_order_they_were_opened(
    operations: OperationDesk, clock: FakeClock
) -> None:
    waiting = []
    for _ in range(3):
        waiting.append(operations.open(new(lock="cargo")).id)
        clock.forward(1)
    assert operations.begin(waiting[1]) is None
    assert operations.begin(waiting[0])
    assert operations.begin(waiting[1]) is None
    operations.end(waiting[0], DONE)
    assert operations.begin(waiting[2]) is None
    assert operations.begin(waiting[1])


def test_other_locks_and_other_projects_do_not_wait(operations: OperationDesk) -> None:
    operations.begin(operations.open(new(lock="cargo")).id)
    elsewhere = replace(AGENT, project="/home/anna/other")
    for other in (new(lock="npm"), new(lock=None), new(lock="cargo", asker=elsewhere)):
        begun = operations.begin(operations.open(other).id)
        assert begun
        assert begun.state is OperationState.RUNNING


def test_whoever_died_in_the_queue_holds_up_nobody(open_shared: OpenStore, tmp_path: Path, clock: FakeClock) -> None:
    dying, living = open_shared(), open_shared()
    dead, desk = OperationDesk(dying, tmp_path, clock=clock), OperationDesk(living, tmp_path, clock=clock)
    first = dead.open(new(lock="cargo"))
    holding = dead.open_running(new(lock="cargo"))
    clock.forward(1)
    mine = desk.open(new(lock="cargo"))
    assert desk.begin(mine.id) is None
    die(dying, living)
    assert desk.begin(mine.id)
    for orphan in (first, holding):
        assert desk.get(orphan.id).state is OperationState.LOST


def test_an_orphan_that_runs_is_taken_over_and_one_that_has_ended_gets_its_status(
    open_shared: OpenStore, tmp_path: Path
) -> None:
    dying, living = open_shared(), open_shared()
    dead, desk = OperationDesk(dying, tmp_path), OperationDesk(living, tmp_path)
    token = fresh_token()
    spawner = Spawner(pool_size=2)
    running, ended, queued = dead.open_running(new()), dead.open_running(new()), dead.open(new())
    spawner.start_operation(shell(running.folder, f"sleep {token}"))
    spawner.start_operation(shell(ended.folder, "echo hello; exit 4")).result(30)
    try:
        assert desk.adopt_orphans() == []
        die(dying, living)
        (taken,) = desk.adopt_orphans()
        assert (taken.id, taken.server) == (running.id, running.server)
        assert taken.process != running.process
        assert desk.adopt_orphans() == []
        found = desk.get(ended.id)
        assert found.status
        assert (found.state, found.status.exit_code) == (OperationState.FAILED, 4)
        assert desk.get(queued.id).state is OperationState.LOST
    finally:
        spawner.stop()


@pytest.mark.parametrize("left", ["named", "not named yet", "named in an empty file", "what comes before"])
def test_what_a_dead_server_and_its_dead_runner_leave_is_ended_before_it_counts_as_lost(
    open_shared: OpenStore, tmp_path: Path, left: str
) -> None:
    dying, living = open_shared(), open_shared()
    token, below = fresh_token(), "0" if left == "what comes before" else ""
    operation = OperationDesk(dying, tmp_path).open_running(new(id=below or "0"))
    folder = operation.folder / below
    server = Server(folder.parent, f"(setsid sleep {token}) & sleep {token}")
    eventually(lambda: len(with_argument(token)) == 2)
    server.kill()
    runner = read_runner(folder)
    assert runner
    # Somebody had begun to end them, as a server does that is killed then.
    for pid in with_argument(token):
        os.kill(pid, signal.SIGSTOP)
    os.kill(runner.pid, signal.SIGKILL)
    if left == "not named yet":
        (folder / record.RUNNER_FILE).unlink()
    if left == "named in an empty file":  # as a power cut leaves it
        (folder / record.RUNNER_FILE).write_bytes(b"")
        (folder / record.STATUS_FILE).write_bytes(b"")
    die(dying, living)
    eventually(lambda: not is_running(folder))
    desk = OperationDesk(living, tmp_path)
    assert desk.adopt_orphans() == []
    assert desk.get(operation.id).state is OperationState.LOST
    assert with_argument(token) == []


def test_what_comes_before_a_command_is_ended_with_the_server_of_that_though_it_wears_no_mark(
    open_shared: OpenStore, tmp_path: Path
) -> None:
    dying, living = open_shared(), open_shared()
    token = fresh_token()
    operation = OperationDesk(dying, tmp_path).open_running(new(id="0"))
    server = Server(operation.folder, f"exec env -i sleep {token}")
    eventually(lambda: with_argument(token))
    server.kill()
    die(dying, living)
    assert OperationDesk(living, tmp_path).adopt_orphans() == []
    assert with_argument(token) == []


def test_a_list_of_commands_shows_none_of_a_server_that_died_as_running(open_shared: OpenStore, tmp_path: Path) -> None:
    dying, living = open_shared(), open_shared()
    config = Config(state_dir=tmp_path)
    OperationDesk(dying, config.operations_dir).open_running(new())
    reader = OperationReader(living, config)
    assert [each.state for each in reader.recent()] == [OperationState.RUNNING]
    die(dying, living)
    assert [each.state for each in reader.recent()] == [OperationState.LOST]


def test_only_one_process_takes_an_orphan_over(open_shared: OpenStore, tmp_path: Path) -> None:
    dying, one, two = open_shared(), open_shared(), open_shared()
    running = OperationDesk(dying, tmp_path).open_running(new())
    spawner = Spawner(pool_size=1)
    spawner.start_operation(shell(running.folder, f"sleep {fresh_token()}"))
    die(dying, one)
    try:
        assert len(OperationDesk(one, tmp_path).adopt_orphans()) == 1
        assert OperationDesk(two, tmp_path).adopt_orphans() == []
    finally:
        spawner.stop()


def test_what_has_ended_is_undelivered_until_the_agent_was_told(operations: OperationDesk) -> None:
    running = operations.open_running(new())
    assert operations.undelivered(AGENT) == []
    operations.end(running.id, DONE)
    assert [each.id for each in operations.undelivered(AGENT)] == [running.id]
    assert operations.undelivered(replace(AGENT, project="/elsewhere")) == []
    assert operations.undelivered(replace(AGENT, client="another")) == []
    assert operations.delivered(running.id).delivered
    assert operations.undelivered(AGENT) == []


def test_what_a_call_waited_for_needs_no_delivery(operations: OperationDesk) -> None:
    running = operations.open_running(new(background=False))
    assert operations.end(running.id, DONE).delivered
    assert operations.undelivered(AGENT) == []
    assert operations.of_agent(AGENT, 10) == []
    assert [each.id for each in operations.recent()] == [running.id]
    queued = operations.open(new(background=False))
    assert operations.want_cancelled(queued.id, "the client, which let go of the call").delivered
    assert operations.undelivered(AGENT) == []


def test_the_result_of_a_living_server_is_not_given_to_another_one_of_the_same_agent(
    open_shared: OpenStore, tmp_path: Path
) -> None:
    theirs, ours = open_shared(), open_shared()
    other, mine = OperationDesk(theirs, tmp_path), OperationDesk(ours, tmp_path)
    ended = other.end(other.open_running(new(asker=NAMELESS)).id, DONE)
    assert mine.undelivered(NAMELESS) == []
    die(theirs, ours)
    assert [each.id for each in mine.undelivered(NAMELESS)] == [ended.id]


@pytest.mark.finding("F-85")
def test_the_result_of_a_living_client_is_not_given_to_another_though_its_server_died(
    open_shared: OpenStore, tmp_path: Path
) -> None:
    dying, living = open_shared(), open_shared()
    theirs, ours = OperationDesk(dying, tmp_path), OperationDesk(living, tmp_path)
    other = replace(AGENT, session="another", pid=0)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as client:
        process = name_of(client.pid)
        assert process is not None
        at_work = replace(AGENT, session="one", host=os.uname().nodename, pid=process.pid, started=process.started)
        ended = theirs.end(theirs.open_running(new(asker=at_work)).id, DONE)
        die(dying, living)
        assert ours.undelivered(other) == []
        assert [each.id for each in ours.undelivered(replace(other, session="one"))] == [ended.id]
    assert [each.id for each in ours.undelivered(other)] == [ended.id]


@pytest.mark.finding("F-85")
def test_many_results_of_a_living_session_do_not_hide_those_of_another(open_shared: OpenStore, tmp_path: Path) -> None:
    theirs, ours = OperationDesk(open_shared(), tmp_path), OperationDesk(open_shared(), tmp_path)
    for _ in range(25):
        theirs.end(theirs.open_running(new(asker=NAMELESS)).id, DONE)
    mine = ours.end(ours.open_running(new(asker=NAMELESS)).id, DONE)
    assert [each.id for each in ours.undelivered(NAMELESS)] == [mine.id]


def test_the_steps_of_a_sequence_carry_its_id_and_are_found_by_it(operations: OperationDesk) -> None:
    sequence = operations.open_running(new("qa", argv=()))
    steps = [new(f"step_{n}", id=step_id(sequence.id, n), parent=sequence.id, background=False) for n in range(1, 12)]
    for step in steps[:-1]:
        operations.end(operations.open_running(step).id, DONE)
    skipped = operations.open_skipped(steps[-1], "Skipped: it is there.")
    assert (skipped.state, skipped.delivered) == (OperationState.COMPLETED, True)
    assert [step.id for step in operations.steps(sequence.id)] == [f"{sequence.id}.{n}" for n in range(1, 12)]
    assert [each.id for each in operations.recent()] == [sequence.id]
    assert operations.find(sequence.id[:8]).id == sequence.id
    assert operations.find(f"{sequence.id}.2").tool == "step_2"
    assert operations.find(f"{sequence.id}.1").tool == "step_1"


def test_operations_are_found_by_the_beginning_of_their_id(operations: OperationDesk) -> None:
    one = operations.open(new(id="abc1" + "0" * 20))
    operations.open(new(id="abc2" + "0" * 20))
    assert operations.find("ABC1").id == one.id
    with pytest.raises(AmbiguousId, match="abc2"):
        operations.find("abc")
    for wrong in ("", "xyz", "abd", "../.."):
        with pytest.raises(NotFound):
            operations.find(wrong)


def test_operations_are_listed_newest_first_in_pages(operations: OperationDesk, clock: FakeClock) -> None:
    opened = []
    for _ in range(5):
        opened.append(operations.open(new()).id)
        clock.forward(1)
    first = operations.recent(most=3)
    assert [each.id for each in first] == opened[:1:-1]
    assert [each.id for each in operations.recent(before=first[-1])] == opened[1::-1]


def test_an_agent_finds_what_it_still_runs_however_much_it_has_run_since(
    operations: OperationDesk, clock: FakeClock
) -> None:
    running = operations.open_running(new())
    ended = []
    for _ in range(5):
        clock.forward(1)
        ended.append(operations.end(operations.open_running(new()).id, DONE).id)
    assert [each.id for each in operations.of_agent(AGENT, 2)] == [running.id, ended[4], ended[3]]
    assert operations.of_agent(replace(AGENT, project="/elsewhere"), 2) == []
    assert operations.of_agent(replace(AGENT, client="another"), 2) == []


def test_people_see_what_is_theirs_or_anybodys(operations: OperationDesk) -> None:
    operations.open(new("annas", asker=replace(AGENT, owner="anna")))
    operations.open(new("bens", asker=replace(AGENT, owner="ben")))
    operations.open(new("anybodys"))
    assert {each.tool for each in operations.recent(person="anna")} == {"annas", "anybodys"}


def test_what_an_agent_ran_that_has_ended_since_is_found(operations: OperationDesk, clock: FakeClock) -> None:
    early, late, running = (operations.open_running(new(name)) for name in ("early", "late", "running"))
    other = operations.open_running(new("other", asker=replace(AGENT, agent="another")))
    operations.end(early.id, DONE)
    clock.forward(HOUR)
    since = clock.now
    for ended in (late, other):
        operations.end(ended.id, DONE)
    assert [each.tool for each in operations.ended_of(running.asker, since)] == ["late"]


def fill(operations: OperationDesk, clock: FakeClock, sizes: list[int]) -> list[Operation]:
    """Ended operations an hour apart, with so much output each, the oldest first."""
    ended = []
    for size in sizes:
        operation = operations.open_running(new())
        operation.folder.mkdir(parents=True)
        (operation.folder / "stdout").write_bytes(b"x" * size)
        ended.append(operations.end(operation.id, printed(size)))
        clock.forward(HOUR)
    return ended


def test_operations_that_ended_long_ago_are_deleted_with_their_folders(
    operations: OperationDesk, clock: FakeClock
) -> None:
    old, young = fill(operations, clock, [10, 10])
    running = operations.open_running(new())
    clock.forward(7 * DAY - 2 * HOUR)
    assert operations.collect(age_ms=7 * DAY, total_bytes=10**9, ending=threading.Event()) == 0
    clock.forward(HOUR)
    assert operations.collect(age_ms=7 * DAY, total_bytes=10**9, ending=threading.Event()) == 1
    assert not old.folder.exists()
    assert young.folder.exists()
    with pytest.raises(NotFound, match="Old ones are deleted"):
        operations.get(old.id)
    assert operations.get(running.id).state is OperationState.RUNNING


def test_the_oldest_go_when_all_together_take_too_much(operations: OperationDesk, clock: FakeClock) -> None:
    ended = fill(operations, clock, [40_000] * 5)
    assert operations.collect(age_ms=7 * DAY, total_bytes=100_000, ending=threading.Event()) == 3
    assert [each.folder.exists() for each in ended] == [False, False, False, True, True]
    assert operations.collect(age_ms=7 * DAY, total_bytes=100_000, ending=threading.Event()) == 0


def test_many_old_operations_go_in_several_steps(operations: OperationDesk, clock: FakeClock) -> None:
    fill(operations, clock, [1] * 120)
    clock.forward(30 * DAY)
    assert operations.collect(age_ms=7 * DAY, total_bytes=10**9, ending=threading.Event()) == 120
    assert operations.recent() == []


def test_all_that_is_under_way_is_counted_however_little_of_it_is_listed(
    store: Store, operations: OperationDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.operations.reader.MOST_UNDER_WAY", 2)
    reader = OperationReader(store, Config())
    for number in range(5):
        operations.open(new(asker=replace(AGENT, owner="bob" if number == 0 else "")))
        shown = reader.overview(person="ada", most=1)
        assert (len(shown.under_way), shown.running) == (min(number, 2), number)
