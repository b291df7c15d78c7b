"""The log of permissions: everything that happens is in it, in one chain, and what is changed behind its back shows."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import AGENT, ANNA, BEN, DAY, FakeClock
from tests.conftest import OpenStore, die
from tests.permissions.test_desk import PUSH, QUESTION, wanted

from sayso import chain
from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import NewAsk, State
from sayso.chain import LogEvent, LogKind
from sayso.errors import AlreadySettled, InvalidInput
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import NewOperation, new_id
from sayso.permissions.action import Action, ActionKind, AllowScope, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.execution import note_run
from sayso.permissions.log import PermissionLog
from sayso.permissions.log_check import LogFault
from sayso.permissions.log_words import edited, ran, what
from sayso.permissions.verdict import AllowedAction
from sayso.records import replace
from sayso.running.masking import default_masks
from sayso.store import Row, Store, Transaction
from sayso.store.steps import STEP


def kinds(store: Store, ask_id: str) -> list[LogKind]:
    return [entry.event.kind for entry in PermissionLog(store).find(ask_id).entries]


def test_what_becomes_of_a_permission_is_logged_with_who_where_and_the_whole_action(store: Store) -> None:
    desk = AskDesk(store)
    permissions = PermissionDesk(desk)
    ask = wanted(desk)
    held = next(iter(desk.held_here().values()))
    with pytest.raises(InvalidInput):
        permissions.allow(ask.id, "0" * 64, BEN)
    permissions.allow(ask.id, ask.digest, ANNA, AllowScope.SESSION)
    with pytest.raises(AlreadySettled):
        permissions.deny(ask.id, BEN)
    desk.delivered(held)
    logged = PermissionLog(store).find(ask.id[:8])
    asked, refused, allowed, late, handed = (entry.event for entry in logged.entries)
    assert (asked.kind, asked.title, asked.tool) == (LogKind.ASKED, "Bash: git push", "Bash")
    assert (asked.project, asked.client, asked.session) == (AGENT.project, AGENT.client, AGENT.session)
    assert (refused.kind, refused.person) == (LogKind.REFUSED, "ben")
    assert refused.why.startswith("a yes: digest: ")
    assert "is not the digest" in refused.why
    assert (allowed.kind, allowed.person, allowed.surface) == (LogKind.ALLOWED, "anna", "terminal")
    assert (allowed.digest, allowed.scope) == (PUSH.digest, "session")
    assert (late.kind, late.person) == (LogKind.TOO_LATE, "ben")
    assert late.why.startswith("too late, a no: Already allowed")
    assert (handed.kind, handed.digest, handed.scope) == (LogKind.HANDED_OVER, PUSH.digest, "")
    assert all(entry.event.about is None for entry in logged.entries)
    assert [one.action for one in logged.actions] == [PUSH]
    (newest, shown, _) = PermissionLog(store).outcomes()
    assert newest.entry.event == late
    assert (shown.entry.event, shown.ran) == (allowed, 1)
    assert PermissionLog(store).check().whole


def test_an_action_that_a_person_has_changed_is_kept_beside_the_one_that_was_asked_for(store: Store) -> None:
    desk = AskDesk(store)
    ask = wanted(desk, takes_changes=True)
    PermissionDesk(desk).allow(ask.id, ask.digest, ANNA, changed_input={"command": "git push --dry-run"})
    (shown,) = PermissionLog(store).outcomes()
    assert (what(shown.entry), edited(shown.entry)) == ("allowed as edited", ["its input command"])
    assert shown.entry.event.title == "Bash: git push --dry-run"
    asked, instead = PermissionLog(store).find(ask.id).actions
    assert asked.action == PUSH
    assert instead.action.digest == instead.digest
    assert instead.action.data["input"] == {"command": "git push --dry-run"}


def test_a_permission_that_nobody_decides_is_told_apart_from_a_no(store: Store) -> None:
    desk = AskDesk(store)
    left = wanted(desk)
    desk.release(next(iter(desk.held_here().values())), "its call is over")
    denied = wanted(desk)
    PermissionDesk(desk).deny(denied.id, ANNA, "not on a Friday")
    log = PermissionLog(store)
    assert kinds(store, left.id) == [LogKind.ASKED, LogKind.UNDECIDED]
    assert log.find(left.id).entries[-1].event.why == "its call is over"
    last = log.find(denied.id).entries[-1].event
    assert (last.kind, last.person, last.why) == (LogKind.DENIED, "anna", "not on a Friday")
    assert [one.entry.event.ask for one in log.outcomes(only_refused=1)] == [denied.id, left.id]


def test_an_allow_that_never_reached_its_call_counts_as_not_run(store: Store) -> None:
    desk = AskDesk(store)
    ask = wanted(desk)
    held = next(iter(desk.held_here().values()))
    PermissionDesk(desk).allow(ask.id, ask.digest, ANNA)
    desk.release(held, "its process ended")
    (outcome,) = PermissionLog(store).outcomes()
    assert outcome.ran == 0
    assert outcome.stopped
    assert outcome.stopped.why == "its process ended"


BUILD = Action(
    kind=ActionKind.COMMAND,
    tool="build",
    folder="/srv/shop",
    data={"argv": ["make"], "stdin": None, "files": {}, "environment": {}, "before": [], "tool_file": {}},
)


def allowed(desk: AskDesk, action: Action) -> tuple[Held, AllowedAction]:
    """A permission that somebody has just allowed, and whose call still waits."""
    ask = wanted(desk, action)
    PermissionDesk(desk).allow(ask.id, action.digest, ANNA, AllowScope.SESSION)
    held = next(held for held in desk.held_here().values() if held.ask.id == ask.id)
    return held, AllowedAction(action=action, ask=ask.id)


def run(store: Store, one: AllowedAction, operation: str) -> None:
    store.write(lambda tx: note_run(tx, one, operation, AGENT, 1))


@pytest.mark.parametrize("why", ["its process ended", "nobody waits for it any more", "it was not read"])
def test_a_command_that_ran_stays_run_however_its_wait_ends(store: Store, why: str) -> None:
    desk = AskDesk(store)
    held, build = allowed(desk, BUILD)
    run(store, build, "op")
    desk.release(held, why)
    (outcome,) = PermissionLog(store).outcomes()
    assert (outcome.ran, outcome.stopped) == (1, None)
    assert kinds(store, build.ask)[2:] == [LogKind.RUN]


def test_a_command_that_was_allowed_and_never_began_is_logged_as_not_run_and_why(store: Store) -> None:
    desk = AskDesk(store)
    held, _ = allowed(desk, BUILD)
    desk.release(held, "its process ended")
    (outcome,) = PermissionLog(store).outcomes()
    assert outcome.ran == 0
    assert outcome.stopped
    assert (outcome.stopped.kind, outcome.stopped.why) == (LogKind.NOT_RUN, "its process ended")


@pytest.mark.parametrize("why", ["its process ended", "nobody waits for it any more", "its server stopped"])
def test_what_was_about_to_be_handed_over_counts_as_handed_over_while_nobody_knows_better(
    store: Store, why: str
) -> None:
    desk = AskDesk(store)
    held, push = allowed(desk, PUSH)
    PermissionDesk(desk).note_handed_over(push, AGENT)
    desk.release(held, why)
    assert kinds(store, push.ask)[2:] == [LogKind.HANDED_OVER]
    assert [outcome.ran for outcome in PermissionLog(store).outcomes()] == [1]


def test_what_was_handed_over_is_logged_once(store: Store) -> None:
    desk = AskDesk(store)
    held, push = allowed(desk, PUSH)
    PermissionDesk(desk).note_handed_over(push, AGENT)
    desk.delivered(held)
    assert kinds(store, push.ask)[2:] == [LogKind.HANDED_OVER]


def test_what_a_client_did_not_read_is_taken_back_and_not_what_it_was_told_later(store: Store) -> None:
    desk = AskDesk(store)
    held, push = allowed(desk, PUSH)
    for _ in range(2):
        PermissionDesk(desk).note_handed_over(push, AGENT)
    desk.delivered(held)
    desk.take_back(held)
    (outcome,) = PermissionLog(store).outcomes()
    first, second = outcome.executions
    assert first.undone
    assert (first.undone.event.why, second.undone, outcome.ran) == ("it was not read", None, 1)


def test_only_exactly_what_was_allowed_counts_as_run(store: Store) -> None:
    desk = AskDesk(store)
    _, build = allowed(desk, BUILD)
    for number, word in enumerate(("clean", "install")):
        other = replace(BUILD, data={**BUILD.data, "argv": ["make", word]})
        run(store, replace(build, action=other), f"other{number}")
    (outcome,) = PermissionLog(store).outcomes()
    assert (ran(outcome), outcome.ran, outcome.others) == ("no", 0, 2)
    run(store, build, "op")
    (outcome,) = PermissionLog(store).outcomes()
    assert (ran(outcome), outcome.ran, outcome.others) == ("yes", 1, 2)


def test_the_steps_of_a_sequence_that_was_allowed_are_one_run_of_it(store: Store) -> None:
    steps = [BUILD, replace(BUILD, tool="ship")]
    data = {"steps": [step.plain for step in steps], "tool_file": {}}
    desk, whole = AskDesk(store), Action(kind=ActionKind.SEQUENCE, tool="both", folder="/srv/shop", data=data)
    _, both = allowed(desk, whole)
    said = []
    for number, step in enumerate(steps, start=1):
        run(store, replace(both, action=step, part_of=whole.digest), f"op.{number}")
        (outcome,) = PermissionLog(store).outcomes()
        said.append((ran(outcome), outcome.ran, outcome.others))
    assert said == [("in part", 1, 0), ("yes", 1, 0)]


def test_a_verdict_on_a_permission_whose_texts_are_gone_still_names_its_tool(store: Store) -> None:
    desk = AskDesk(store, keeps_history=lambda _: False)
    held, push = allowed(desk, PUSH)
    desk.delivered(held)
    with pytest.raises(AlreadySettled):
        PermissionDesk(desk).deny(push.ask, BEN)
    last = PermissionLog(store).find(push.ask).entries[-1].event
    assert (last.kind, last.tool) == (LogKind.TOO_LATE, "Bash")


def test_only_the_call_that_asked_for_a_permission_ever_holds_it(open_shared: OpenStore) -> None:
    gone, store = open_shared(), open_shared()
    here = AskDesk(store)
    pending, allowed = wanted(AskDesk(gone)), wanted(AskDesk(gone), replace(PUSH, folder="/"))
    PermissionDesk(here).allow(allowed.id, allowed.digest, ANNA)
    die(gone, store)
    for ask in (pending, allowed):
        assert here.attach(ask.id, asker=AGENT) is None
        assert here.attach(ask.id) is None
    assert here.get(pending.id).state is State.EXPIRED
    with pytest.raises(AlreadySettled):
        PermissionDesk(here).allow(pending.id, pending.digest, ANNA)
    assert kinds(store, pending.id) == [LogKind.ASKED, LogKind.UNDECIDED, LogKind.TOO_LATE]
    assert kinds(store, allowed.id) == [LogKind.ASKED, LogKind.ALLOWED, LogKind.NOT_HANDED_OVER]


def test_texts_are_not_logged_for_those_who_keep_no_history(store: Store) -> None:
    desk = AskDesk(store, keeps_history=lambda _: False)
    ask = wanted(desk)
    held = next(iter(desk.held_here().values()))
    PermissionDesk(desk).deny(ask.id, ANNA, "a secret reason")
    desk.delivered(held)
    logged = PermissionLog(store).find(ask.id)
    assert "git push" not in str(logged)
    assert "secret" not in str(logged)
    assert logged.entries[0].event.digest == PUSH.digest
    assert PermissionLog(store).check().whole


def test_questions_that_are_no_permissions_are_not_logged(store: Store) -> None:
    desk = AskDesk(store)
    held = desk.hold(NewAsk(tool="ask", questions=(QUESTION,), asker=AGENT))
    desk.reject(held.ask.id, "no", ANNA)
    assert PermissionLog(store).check().rows == 0


def test_a_log_without_rows_is_whole(store: Store) -> None:
    found = PermissionLog(store).check()
    assert found.whole
    assert found.since is None


def test_many_writers_add_to_one_chain(open_shared: OpenStore) -> None:
    start = threading.Barrier(6)

    def write(_: int) -> None:
        desk = AskDesk(open_shared())
        start.wait(60)
        for number in range(8):
            action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": str(number)}})
            ask = desk.hold(asking(NewAsk(tool="approve", questions=(QUESTION,), asker=AGENT), action)).ask
            PermissionDesk(desk).allow(ask.id, action.digest, ANNA)

    with ThreadPoolExecutor(6) as writers:
        list(writers.map(write, range(6)))
    found = PermissionLog(open_shared()).check()
    assert found.whole, found.faults
    assert found.rows == 6 * 8 * 2


def test_secrets_are_hidden_from_whoever_reads_the_log(store: Store) -> None:
    desk = AskDesk(store)
    secret = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "login token=hunter22"}})
    ask = wanted(desk, secret)
    logged = PermissionLog(store, hide=default_masks().hide).find(ask.id)
    assert "hunter22" not in str(logged)
    assert logged.entries[0].event.title == "Bash: login token=********"
    assert logged.actions[0].digest == secret.digest


# What was done behind its back


def spoil(store: Store, *statements: str) -> None:
    """Change the tables as somebody would who has the file or the database."""

    def work(tx: Any) -> None:
        for statement in statements:
            tx._connection.execute(statement)

    store.write(work)


def fill(store: Store, count: int = 6, clock: FakeClock | None = None) -> None:
    for number in range(count):
        event = LogEvent(kind=LogKind.ALLOWED, at=clock() if clock else number, why=str(number))
        store.write(partial(chain.append, events=[event]))


@pytest.mark.parametrize(
    ("statements", "faults"),
    [
        (["UPDATE permission_log SET kind = 'denied' WHERE seq = 3"], [(LogFault.CHANGED, 3, 3)]),
        (["UPDATE permission_log SET body = '{}' WHERE seq = 3"], [(LogFault.CHANGED, 3, 3)]),
        (["DELETE FROM permission_log WHERE seq IN (3, 4)"], [(LogFault.MISSING, 3, 4)]),
        (["DELETE FROM permission_log WHERE seq < 3"], [(LogFault.NO_BEGINNING, 1, 2)]),
        (["DELETE FROM permission_log WHERE seq > 4"], [(LogFault.NO_END, 5, 6)]),
        (["DELETE FROM permission_log"], [(LogFault.NO_END, 1, 6)]),
        (["DELETE FROM permission_log_end"], [(LogFault.NO_END, 7, 6)]),
        (
            [f"UPDATE permission_log SET seq = {new} WHERE seq = {old}" for old, new in ((3, 30), (4, 3), (30, 4))],
            [
                (LogFault.DOES_NOT_FOLLOW, 3, 3),
                (LogFault.CHANGED, 3, 3),
                (LogFault.DOES_NOT_FOLLOW, 4, 4),
                (LogFault.CHANGED, 4, 4),
                (LogFault.DOES_NOT_FOLLOW, 5, 5),
            ],
        ),
        (
            ["INSERT INTO permission_actions (digest, body) VALUES ('abc', '{}')"],
            [(LogFault.OTHER_ACTION, 0, 0)],
        ),
    ],
)
def test_what_was_changed_behind_its_back_shows_where_it_was(
    store: Store, statements: list[str], faults: list[tuple[LogFault, int, int]]
) -> None:
    fill(store)
    assert PermissionLog(store).check().whole
    spoil(store, *statements)
    found = PermissionLog(store).check()
    assert not found.whole
    assert [(fault.fault, fault.first, fault.last) for fault in found.faults] == faults


COLUMNS = "at, kind, ask_id, digest, project, owner, operation_id, body, previous, hash"


@pytest.mark.parametrize("number", ["0", "-1", "NULL", "'7th'", "x'00'"])
def test_a_row_that_has_no_place_in_the_log_shows(open_sqlite: OpenStore, number: str) -> None:
    store = open_sqlite()
    fill(store)
    spoil(store, f"INSERT INTO permission_log (seq, {COLUMNS}) SELECT {number}, {COLUMNS} FROM permission_log LIMIT 1")
    assert [(one.fault, one.rows) for one in PermissionLog(store).check().faults] == [(LogFault.OUT_OF_PLACE, 1)]


def test_a_row_before_the_first_shows(open_postgres: OpenStore) -> None:
    store = open_postgres()
    fill(store)
    spoil(store, f"INSERT INTO permission_log (seq, {COLUMNS}) SELECT -1, {COLUMNS} FROM permission_log LIMIT 1")
    assert [(one.fault, one.rows) for one in PermissionLog(store).check().faults] == [(LogFault.OUT_OF_PLACE, 1)]


@pytest.mark.parametrize("body", ["nothing", "[]", '{"about": 1}', '{"about": {"seq": "x", "hash": 1}}'])
def test_a_row_that_was_made_up_with_its_hash_is_no_trouble(open_sqlite: OpenStore, body: str) -> None:
    store = open_sqlite()
    fill(store)
    last = store.read(lambda tx: tx.all("log_after", after=5, most=1))[0]
    row = {**last, "seq": 7, "kind": "shortened", "body": body, "previous": last["hash"]}
    row["hash"] = chain.row_hash(row)
    spoil(store, f"INSERT INTO permission_log ({', '.join(row)}) VALUES {tuple(row.values())}")
    assert [one.fault for one in PermissionLog(store).check().faults] == [LogFault.NO_END]


def cut_at(store: Store, last: int) -> None:
    """Take away the newest rows as somebody would who knows where it is noted which is the last."""
    spoil(
        store,
        f"DELETE FROM permission_log WHERE seq > {last}",
        f"UPDATE permission_log_end SET seq = {last}, hash = (SELECT hash FROM permission_log WHERE seq = {last})",
    )


def test_newest_entries_that_were_cut_off_are_missed_by_what_they_told_of(store: Store, tmp_path: Path) -> None:
    desk, operations = AskDesk(store), OperationDesk(store, tmp_path)
    held, push = allowed(desk, PUSH)
    desk.delivered(held)
    _, build = allowed(desk, BUILD)
    new = NewOperation(id=new_id(), tool="build", argv=("make",), cwd="/srv/shop", asker=AGENT)
    operations.note_run(operations.open_running(new), build)
    assert PermissionLog(store).check().whole
    cut_at(store, 1)
    found = PermissionLog(store).check().faults
    of_asks = {(one.ask, one.missing) for one in found if one.fault is LogFault.NOT_LOGGED}
    assert of_asks == {
        (push.ask, LogKind.ALLOWED),
        (push.ask, LogKind.HANDED_OVER),
        (build.ask, LogKind.ASKED),
        (build.ask, LogKind.ALLOWED),
    }
    assert [one.operation for one in found if one.fault is LogFault.RUN_NOT_LOGGED] == [new.id]


def test_a_log_that_is_gone_altogether_is_missed(store: Store) -> None:
    desk = AskDesk(store)
    left = wanted(desk)
    desk.release(next(iter(desk.held_here().values())), "its call is over")
    spoil(store, "DELETE FROM permission_log", "DELETE FROM permission_log_end", "DELETE FROM permission_actions")
    missing = [(one.ask, one.missing) for one in PermissionLog(store).check().faults]
    assert missing == [(left.id, LogKind.ASKED), (left.id, LogKind.UNDECIDED)]


def test_an_action_that_was_taken_away_is_missed_and_not_told_as_never_kept(store: Store) -> None:
    ask = wanted(AskDesk(store))
    spoil(store, "DELETE FROM permission_actions")
    log = PermissionLog(store)
    assert [(one.fault, one.digest) for one in log.check().faults] == [(LogFault.NO_ACTION, PUSH.digest)]
    assert log.find(ask.id).lost == (PUSH.digest,)


def test_a_row_that_was_changed_with_its_hash_does_not_fit_the_next(store: Store) -> None:
    fill(store)
    row = dict(store.read(lambda tx: tx.all("log_after", after=2, most=1))[0])
    row["kind"] = "denied"
    spoil(store, f"UPDATE permission_log SET kind = 'denied', hash = '{chain.row_hash(row)}' WHERE seq = 3")
    assert [(one.fault, one.first) for one in PermissionLog(store).check().faults] == [(LogFault.DOES_NOT_FOLLOW, 4)]


def test_what_is_too_old_goes_from_the_front_and_the_rest_is_still_whole(store: Store, clock: FakeClock) -> None:
    log, desk = PermissionLog(store), AskDesk(store, clock=clock)
    old = wanted(desk)
    PermissionDesk(desk).deny(old.id, ANNA)
    clock.forward(10 * DAY)
    new = wanted(desk, Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "ls"}}))
    assert chain.shorten(store, 9 * DAY + 1, clock, threading.Event()) == 0
    assert chain.shorten(store, 7 * DAY, clock, threading.Event()) == 2
    assert chain.shorten(store, 7 * DAY, clock, threading.Event()) == 0
    found = log.check()
    assert found.whole, found.faults
    assert (found.first, found.since, found.rows) == (3, clock(), 2)
    assert store.read(lambda tx: tx.one("kept_action", digest=old.digest)) is None
    assert log.find(new.id).actions
    spoil(store, "DELETE FROM permission_log WHERE seq = 3")
    assert [one.fault for one in log.check().faults] == [LogFault.NO_BEGINNING, LogFault.NOT_LOGGED]


class Stalling:
    """A transaction that stops before one of its queries until another process has done something, or cannot yet."""

    def __init__(self, tx: Transaction, before: str, meanwhile: threading.Thread) -> None:
        self._tx, self._before, self._meanwhile = tx, before, meanwhile
        self.all, self.look_up = tx.all, tx.look_up
        self.wake_only, self.wake_others = tx.wake_only, tx.wake_others
        self.rows, self.put_rows, self.clear, self.keep_others_out = tx.rows, tx.put_rows, tx.clear, tx.keep_others_out

    def one(self, query: str, /, **parameters: object) -> Row | None:
        self._stall(query)
        return self._tx.one(query, **parameters)

    def run(self, query: str, /, **parameters: object) -> int:
        self._stall(query)
        return self._tx.run(query, **parameters)

    def _stall(self, query: str) -> None:
        if query == self._before:
            self._meanwhile.start()
            self._meanwhile.join(0.5)


def shortening(store: Store) -> threading.Thread:
    """Another process that takes away all that was written before the tenth day."""

    def shorten() -> None:
        while store.write(lambda tx: chain._take_front(tx, 10 * DAY, 20 * DAY)):
            pass

    return threading.Thread(target=shorten)


def test_two_that_shorten_the_log_at_once_leave_it_whole(open_postgres: OpenStore) -> None:
    one, other = open_postgres(), shortening(open_postgres())
    for _ in range(3):
        one.write(partial(chain.append, events=[LogEvent(kind=LogKind.ASKED, at=1)] * STEP))
    one.write(partial(chain.append, events=[LogEvent(kind=LogKind.ASKED, at=20 * DAY)]))

    def slowly(tx: Transaction) -> int:
        return chain._take_front(Stalling(tx, "drop_log_front", other), 10 * DAY, 20 * DAY)

    assert one.write(slowly) == STEP
    other.join()
    found = PermissionLog(one).check()
    assert found.whole, found.faults
    assert found.first == 3 * STEP + 1


def test_an_action_that_is_kept_again_stays_though_the_log_is_shortened_meanwhile(open_postgres: OpenStore) -> None:
    one, other = open_postgres(), shortening(open_postgres())
    old = LogEvent(kind=LogKind.ALLOWED, at=1, ask="aa", digest=PUSH.digest, title=PUSH.title)
    one.write(partial(chain.append, events=[old], actions=[PUSH.plain]))

    def slowly(tx: Transaction) -> None:
        stalling = Stalling(tx, "lengthen_log", other)
        chain.append(stalling, [replace(old, at=20 * DAY, ask="bb")], [PUSH.plain])

    one.write(slowly)
    other.join()
    assert [kept.action for kept in PermissionLog(one).find("bb").actions] == [PUSH]


def test_a_log_of_which_all_is_too_old_goes_on_where_it_was(store: Store, clock: FakeClock) -> None:
    fill(store, 120, clock)
    clock.forward(10 * DAY)
    log = PermissionLog(store)
    assert chain.shorten(store, DAY, clock, threading.Event()) == 120
    found = log.check()
    assert found.whole, found.faults
    assert found.first == 121
