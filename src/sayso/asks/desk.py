"""The desk: the only place where an ask changes state. Every change is one compare-and-set and leaves an event.

Plain synchronous code, safe from any thread; `waiting.py` is where coroutines wait. The wait is not the ask:
a wait can end while the ask lives on and keeps its answer for the next call.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from sayso.asks.model import (
    Answer,
    Ask,
    Asker,
    Event,
    NewAsk,
    Outcome,
    Problems,
    Settler,
    State,
    Wait,
    check_text,
    check_texts,
    fit,
    outcome_from_json,
    question_from_json,
)
from sayso.errors import AlreadySettled, AmbiguousId, NotFound
from sayso.store import Conflict, Row, Store, Transaction
from sayso.text import iso_time

logger = logging.getLogger(__name__)

Clock = Callable[[], int]
BATCH = 100
STEP = 50
"""Asks in one step of tidying: few, because whoever wants to write waits for the step."""

PAUSE = 0.1
"""Seconds between two steps. Whoever found SQLite busy tries again within that time, so that none is starved."""

_FAR_FUTURE = 2**62


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, kw_only=True)
class Held:
    """An ask and the wait that now holds it."""

    ask: Ask
    wait: Wait
    reattached: bool = False


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long things are kept, in milliseconds."""

    ended: int
    undelivered: int
    unattended: int

    def bounds(self, now: int) -> dict[str, int]:
        """Before which moment something of each kind is overdue."""
        return {
            "ended_before": now - self.ended,
            "undelivered_before": now - max(self.undelivered, self.ended),
            "unattended_before": now - self.unattended,
            "claimed_before": now - max(self.ended, self.unattended),
        }


@dataclass(frozen=True, kw_only=True)
class Owed:
    """What an asker has yet to receive: outcomes that no call of its waits for, oldest first; and whether there is
    anything at all."""

    late: tuple[Ask, ...]
    anything: bool


@dataclass(frozen=True, kw_only=True)
class CleanedUp:
    expired: int
    deleted: int


class Desk:
    """Opens, holds, settles and delivers asks in one store."""

    def __init__(self, store: Store, *, clock: Clock = now_ms, keeps_history: Callable[[Ask], bool] = lambda _: True):
        self._store = store
        self._clock = clock
        self._keeps_history = keeps_history
        self.opened = 0
        """How many asks it has opened."""

    # Asking

    def hold(self, new: NewAsk) -> Held:
        """Open the ask with a wait on it; or, if the same was asked before and its answer never arrived, take up
        that one again, so that a person is not asked twice."""
        check_texts(new)
        bell = self._store.bell()

        def work(tx: Transaction) -> Held:
            now = self._clock()
            wait = _new_wait(bell.process, now, new.timeout_ms)
            earlier = None if new.bound else self._left_behind(tx, new)
            if earlier:
                return Held(ask=self._take(tx, earlier, wait, now), wait=wait, reattached=True)
            return Held(ask=self._insert(tx, new, wait, now), wait=wait)

        return self._store.write(work)

    def leave(self, new: NewAsk) -> Ask:
        """Open the ask without a wait: the agent will come for the answer. The same ask is not opened twice."""
        check_texts(new)

        def work(tx: Transaction) -> Ask:
            return self._left_behind(tx, new) or self._insert(tx, new, None, self._clock())

        return self._store.write(work)

    def succeed(self, new: NewAsk) -> Held:
        """Open or take up the ask as `hold` does, in the place of all others of its run and tool that are open: the
        newest question of a stream is the only one that can be answered."""
        check_texts(new)
        bell = self._store.bell()

        def work(tx: Transaction) -> Held:
            now = self._clock()
            wait = _new_wait(bell.process, now, new.timeout_ms)
            earlier = self._left_behind(tx, new)
            for older in self._of_run(tx, new.asker.run, new.tool):
                if older.state.answerable and (earlier is None or older.id != earlier.id):
                    self._change(tx, replace(older, state=State.SUPERSEDED, ended_at=now), older, kind="superseded")
            if earlier:
                mine = replace(earlier, asker=new.asker)
                return Held(ask=self._take(tx, mine, wait, now), wait=wait, reattached=True)
            return Held(ask=self._insert(tx, new, wait, now), wait=wait)

        return self._store.write(work)

    def attach(self, ask_id: str, timeout_ms: int | None = None) -> Held | None:
        """A wait on an ask that is there; None while another living wait holds it."""
        bell = self._store.bell()

        def work(tx: Transaction) -> Held | None:
            now, ask = self._clock(), _get(tx, ask_id)
            if ask.wait and bell.alive([ask.wait.process]):
                return None
            wait = _new_wait(bell.process, now, timeout_ms)
            return Held(ask=self._take(tx, ask, wait, now), wait=wait, reattached=True)

        return self._store.write(work)

    # How a wait ends

    def release(self, held: Held, why: str) -> Ask:
        """The wait is over without an outcome: the ask stays open and unattended."""
        return self._end_wait(held, why)

    def release_each(self, waits: Sequence[tuple[Held, str]]) -> None:
        """The same for several at once, each with its reason. Asks that are gone by now are passed over."""

        def work(tx: Transaction) -> None:
            for held, why in waits:
                with suppress(NotFound):
                    ask = _get(tx, held.ask.id)
                    if _holds(ask, held):
                        self._let_go(tx, ask, why)

        self._store.write(work)

    def time_out(self, held: Held) -> Ask:
        """The wait ran out by its own limit. Answered in the same moment, the answer wins."""

        def work(tx: Transaction) -> Ask:
            ask, now = _get(tx, held.ask.id), self._clock()
            if ask.state is not State.PENDING:
                return ask
            timed_out = replace(ask, state=_without_its_call(ask), ended_at=now)
            if ask.wait and not _holds(ask, held):
                # Another call waits for it now: it ran out for this one alone.
                return timed_out
            return self._change(tx, timed_out, ask, kind="timed_out")

        return self._store.write(work)

    def delivered(self, held: Held) -> Ask:
        """The result has been written to the agent: only now is it known to have arrived."""

        def work(tx: Transaction) -> Ask:
            ask = _get(tx, held.ask.id)
            if ask.state is State.PENDING or not _holds(ask, held):
                return ask
            sent = replace(ask, wait=None, delivered_at=ask.delivered_at or self._clock())
            if not ask.state.answerable and not self._keeps_history(ask):
                sent = _wiped(sent)
                tx.run("drop_drafts", ask_id=ask.id)
            return self._change(tx, sent, ask, kind="delivered")

        return self._store.write(work)

    def take_back(self, held: Held) -> Ask:
        """The agent let go of the call before it could read the result: it is owed the outcome as before. One whose
        texts were wiped stays delivered, because there is nothing left to hand over."""

        def work(tx: Transaction) -> Ask:
            ask = _get(tx, held.ask.id)
            if not ask.delivered or ask.wait or not ask.questions:
                return ask
            return self._change(tx, replace(ask, delivered_at=None), ask, kind="unattended", detail="it was not read")

        return self._store.write(work)

    def lapse(self, ask_id: str) -> Ask:
        """Its time is over: what is still open expires, and its texts are forgotten."""

        def work(tx: Transaction) -> Ask:
            ask = _get(tx, ask_id)
            tx.run("drop_drafts", ask_id=ask.id)
            over = replace(ask, wait=None)
            if ask.state.answerable:
                over = replace(over, state=State.EXPIRED, ended_at=self._clock())
            return self._change(tx, _wiped(over), ask, kind="expired")

        return self._store.write(work)

    def ended_waits(self) -> list[Ask]:
        """The asks this process holds that are no longer pending."""
        process = self._store.bell().process
        return [_ask(row) for row in self._store.read(lambda tx: tx.all("waits_ended", process=process))]

    def wait_ids(self) -> set[str]:
        """The ids of the waits that the store knows of this process."""
        process = self._store.bell().process
        return {row["wait_id"] for row in self._store.read(lambda tx: tx.all("wait_ids", process=process))}

    def held_here(self) -> dict[str, Held]:
        """The waits that the store knows of this process, by their ids."""
        process = self._store.bell().process
        rows = self._store.read(lambda tx: tx.all("held_by", process=process, most=_FAR_FUTURE))
        asks = [_ask(row) for row in rows]
        return {ask.wait.id: Held(ask=ask, wait=ask.wait) for ask in asks if ask.wait}

    def hold_again(self, held: Held) -> Ask:
        """Put a wait back that others took for dead while this process was cut off. The ask as it is now."""

        def work(tx: Transaction) -> Ask:
            ask = _get(tx, held.ask.id)
            if ask.wait or ask.delivered:
                return ask
            return self._take(tx, ask, held.wait, self._clock())

        return self._store.write(work)

    def release_all(self) -> int:
        """This process is about to end: let go of everything it holds."""
        return self._release_all_of(self._store.bell().process, "its server stopped")

    def release_the_dead(self) -> int:
        """Let go of asks whose waiting process is gone. How many there were."""
        waiting = {row["wait_process"] for row in self._store.read(lambda tx: tx.all("waiting_processes"))}
        dead = waiting - self._store.bell().alive(waiting) if waiting else set()
        return sum(self._release_all_of(process, "its process ended") for process in dead)

    # Settling

    def answer(self, ask_id: str, answers: Sequence[Answer], by: Settler) -> Ask:
        """Settle with answers; an InvalidInput names every one that does not fit, AlreadySettled says who was first."""
        return self._settle(ask_id, State.ANSWERED, by, lambda ask: Outcome(answers=fit(ask, answers)))

    def reject(self, ask_id: str, reason: str, by: Settler) -> Ask:
        problems = Problems()
        check_text(problems, "reason", reason)
        problems.check()
        return self._settle(ask_id, State.REJECTED, by, lambda _: Outcome(reason=reason))

    def decline(self, ask_id: str, by: Settler) -> Ask:
        return self._settle(ask_id, State.DECLINED, by, lambda _: Outcome())

    def cancel(self, ask_id: str, by: Settler) -> Ask:
        return self._settle(ask_id, State.CANCELLED, by, lambda _: Outcome())

    def note_refusal(self, ask_id: str, by: Settler, why: str) -> None:
        """Record that somebody was not allowed to settle this ask."""

        def work(tx: Transaction) -> None:
            ask = _get(tx, ask_id)
            self._change(tx, ask, ask, kind="refused", by=by, detail=why)

        self._store.write(work)

    # Looking

    def get(self, ask_id: str) -> Ask:
        return self._store.read(lambda tx: _get(tx, ask_id))

    def find(self, short_id: str) -> Ask:
        """The ask whose id begins so."""
        prefix = short_id.lower().replace("-", "")
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise NotFound(f"{short_id!r} is not an id. Ids are made of 0-9 and a-f; `sayso list` shows them.")
        matches = self._store.read(lambda tx: tx.all("asks_by_prefix", prefix=prefix, beyond=prefix + "g"))
        if len(matches) > 1:
            raise AmbiguousId(short_id, [row["id"] for row in matches])
        if not matches:
            raise NotFound(
                f"No ask has the id {short_id!r}. `sayso list` shows the open ones, `sayso history` the others."
            )
        return self.get(matches[0]["id"])

    def inbox(
        self, *, project: str | None = None, person: str | None = None, after: Ask | None = None, most: int = 100
    ) -> list[Ask]:
        """A page of the asks that can be answered, oldest first. With a person: those that person may see."""
        place = {"after_time": after.created_at if after else -1, "after_id": after.id if after else ""}
        return self._page("inbox", project=project, person=person, most=most, **place)

    def sizes(self) -> dict[State, int]:
        """How many asks there are in each state."""
        counted = {row["state"]: row["size"] for row in self._store.read(lambda tx: tx.all("asks_by_state"))}
        return {state: counted.get(state, 0) for state in State}

    def inbox_size(self) -> int:
        row = self._store.read(lambda tx: tx.one("inbox_size"))
        return int(row["size"]) if row else 0

    def history(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        search: str = "",
        before: Ask | None = None,
        most: int = 100,
    ) -> list[Ask]:
        """A page of the asks that ended, newest first. With a person: those that person may see."""
        time_, id_ = (before.ended_at or 0, before.id) if before else (_FAR_FUTURE, "")
        pattern = f"%{_literal(_searchable(search))}%" if search else None
        place = {"before_time": time_, "before_id": id_}
        return self._page("history", project=project, person=person, pattern=pattern, most=most, **place)

    def undelivered(self, asker: Asker, most: int = 100) -> list[Ask]:
        """What this asker has asked and not yet received, oldest first. What was bound to a call is of no use now."""
        return [ask for ask in self._page("undelivered", most=most, **asker.identity) if not ask.bound]

    def owed(self, asker: Asker, most: int = 100) -> Owed:
        """The same at a glance, which costs little however many asks are open."""

        def work(tx: Transaction) -> Owed:
            late = [_ask(row) for row in tx.all("late_answers", most=most, **asker.identity)]
            anything = bool(late) or tx.one("anything_owed", **asker.identity) is not None
            return Owed(late=tuple(ask for ask in late if not ask.bound), anything=anything)

        return self._store.read(work)

    def undelivered_by(self, tool: str, most: int = 1000) -> list[Ask]:
        """What runs have asked by this tool and not received, oldest first."""
        return self._page("undelivered_of_runs", tool=tool, most=most)

    def newest_of_run(self, run: str, tool: str) -> Ask | None:
        """The last ask that this run put by this tool."""
        return next(iter(self._store.read(lambda tx: self._of_run(tx, run, tool))), None)

    def events(self, ask_id: str) -> list[Event]:
        rows = self._store.read(lambda tx: tx.all("events_of", ask_id=ask_id))
        return [_event(row) for row in rows]

    # Surfaces

    def show_up(self, surface: str, person: str) -> None:
        """This process now shows asks to a person."""
        process = self._store.bell().process
        self._store.write(
            lambda tx: tx.run("put_surface", process=process, surface=surface, person=person, now=self._clock())
        )

    def go_away(self) -> None:
        process = self._store.bell().process
        self._store.write(lambda tx: tx.run("drop_surface", process=process))

    def open_surfaces(self) -> list[Settler]:
        """Where people can see asks right now. Surfaces that died are forgotten."""
        rows = self._store.read(lambda tx: tx.all("surfaces"))
        living = self._store.bell().alive(row["process"] for row in rows) if rows else set()
        for row in rows:
            if row["process"] not in living:
                self._store.write(partial(_forget_surface, row["process"]))
        return [Settler(person=row["person"], surface=row["surface"]) for row in rows if row["process"] in living]

    def keep_draft(self, ask_id: str, person: str, body: str) -> None:
        """Remember what a person has typed so far; the surface chooses the form. Empty: forget it."""

        def work(tx: Transaction) -> None:
            if not body:
                tx.run("drop_draft", ask_id=ask_id, person=person)
            elif tx.one("ask_by_id", id=ask_id):
                # As JSON, because PostgreSQL takes no NUL in a text.
                tx.run("put_draft", ask_id=ask_id, person=person, body=json.dumps(body), now=self._clock())

        self._store.write(work)

    def draft(self, ask_id: str, person: str) -> str:
        row = self._store.read(lambda tx: tx.one("draft", ask_id=ask_id, person=person))
        return str(json.loads(row["body"])) if row else ""

    # Tidying

    def clean_up(self, keep: Retention, ending: threading.Event | None = None) -> CleanedUp:
        """Expire what nobody waits for, delete what ended long ago. In small steps, on a connection of its own;
        the rest is left for another time once `ending` is set."""
        ending = ending or threading.Event()
        self.release_the_dead()
        bounds = keep.bounds(self._clock())
        if not self._store.read(lambda tx: tx.one("overdue", **bounds)):
            return CleanedUp(expired=0, deleted=0)
        with self._store.aside() as store:
            apart = Desk(store, clock=self._clock, keeps_history=self._keeps_history)
            apart._forget_claims(keep)
            return CleanedUp(expired=apart._expire(keep, ending), deleted=apart._delete(keep, ending))

    def _forget_claims(self, keep: Retention) -> None:
        before = keep.bounds(self._clock())["claimed_before"]
        self._store.write(lambda tx: tx.run("forget_claims", before=before))

    def _expire(self, keep: Retention, ending: threading.Event) -> int:
        def work(tx: Transaction) -> int:
            now = self._clock()
            rows = tx.all("expirable", unattended_before=keep.bounds(now)["unattended_before"], most=STEP)
            for ask in map(_ask, rows):
                self._change(tx, replace(ask, state=State.EXPIRED, ended_at=now), ask, kind="expired")
            return len(rows)

        return self._in_steps(work, ending)

    def _delete(self, keep: Retention, ending: threading.Event) -> int:
        def work(tx: Transaction) -> int:
            bounds = keep.bounds(self._clock())
            return tx.run(
                "delete_ended",
                ended_before=bounds["ended_before"],
                undelivered_before=bounds["undelivered_before"],
                most=STEP,
            )

        return self._in_steps(work, ending)

    def _in_steps(self, work: Callable[[Transaction], int], ending: threading.Event) -> int:
        total = 0
        while not ending.is_set() and (done := self._store.write(work)):
            total += done
            if done < STEP or ending.wait(PAUSE):
                break
        return total

    def _in_batches(self, work: Callable[[Transaction], int]) -> int:
        total = 0
        while done := self._store.write(work):
            total += done
            if done < BATCH:
                break
        return total

    # Within a transaction

    def _insert(self, tx: Transaction, new: NewAsk, wait: Wait | None, now: int) -> Ask:
        self.opened += 1
        ask = Ask(
            id=uuid.uuid4().hex,
            call_id=str(uuid.uuid4()),
            tool=new.tool,
            title=new.title,
            questions=new.questions,
            asker=new.asker,
            timeout_ms=new.timeout_ms,
            created_at=now,
            changed_at=now,
            wait=wait,
            bound=new.bound,
        )
        columns = {**_columns(ask), "unattended_at": None if wait else now}
        for settled in ("version", "state", "outcome", "ended_at", "delivered_at"):
            del columns[settled]
        tx.run(
            "insert_ask",
            call_id=ask.call_id,
            tool=ask.tool,
            fingerprint=new.fingerprint,
            owner=ask.asker.owner,
            timeout_ms=ask.timeout_ms,
            now=now,
            **ask.asker.identity,
            **columns,
        )
        tx.names()
        self._note(tx, ask, None, kind="opened")
        return ask

    def _left_behind(self, tx: Transaction, new: NewAsk) -> Ask | None:
        """The ask of an identical call whose wait has ended and whose answer its agent never received: one that
        is settled before one that is not, then the newest."""
        alike = [_ask(row) for row in tx.all("alike", fingerprint=new.fingerprint)]
        holders = {ask.wait.process for ask in alike if ask.wait}
        living = self._store.bell().alive(holders) if holders else set()
        free = [ask for ask in alike if _wait_is_over(ask, living)]
        return max(free, key=lambda ask: (not ask.state.answerable, ask.created_at), default=None)

    def _of_run(self, tx: Transaction, run: str, tool: str) -> list[Ask]:
        """The asks of a run by one tool, the newest first."""
        return [_ask(row) for row in tx.all("asks_of_run", run_id=run, tool=tool)]

    def _take(self, tx: Transaction, ask: Ask, wait: Wait, now: int) -> Ask:
        """Put a new wait on an ask. One that had timed out is pending again."""
        waiting = replace(ask, wait=wait)
        if ask.state is State.TIMED_OUT:
            waiting = replace(waiting, state=State.PENDING, ended_at=None, delivered_at=None)
        return self._change(tx, waiting, ask, kind="attended")

    def _settle(self, ask_id: str, state: State, by: Settler, outcome: Callable[[Ask], Outcome]) -> Ask:
        def work(tx: Transaction) -> Ask:
            ask = _get(tx, ask_id)
            if not ask.state.answerable:
                raise AlreadySettled(_who_was_first(ask))
            late = ask.state is State.TIMED_OUT
            given = replace(outcome(ask), person=by.person, surface=by.surface, late=late)
            settled = replace(ask, state=state, outcome=given, ended_at=self._clock(), delivered_at=None)
            if late:
                # The call that waited tells its agent of the timeout: it must not pass for the bearer of the answer.
                settled = replace(settled, wait=None)
            return self._change(tx, settled, ask, kind=state.value, by=by)

        return self._store.write(work)

    def _end_wait(self, held: Held, why: str) -> Ask:
        def work(tx: Transaction) -> Ask:
            ask = _get(tx, held.ask.id)
            if not _holds(ask, held):
                return ask
            return self._let_go(tx, ask, why)

        return self._store.write(work)

    def _let_go(self, tx: Transaction, ask: Ask, why: str) -> Ask:
        """Take the wait off an ask. One that was bound to it has nobody left to answer to."""
        if ask.bound and ask.state is State.PENDING:
            over = replace(ask, wait=None, state=State.EXPIRED, ended_at=self._clock())
            return self._change(tx, over, ask, kind="expired", detail=why)
        return self._change(tx, replace(ask, wait=None), ask, kind="unattended", detail=why)

    def _release_all_of(self, process: str, why: str) -> int:
        def work(tx: Transaction) -> int:
            rows = tx.all("held_by", process=process, most=BATCH)
            for ask in map(_ask, rows):
                self._let_go(tx, ask, why)
            return len(rows)

        return self._in_batches(work)

    def _change(
        self, tx: Transaction, after: Ask, before: Ask, *, kind: str, by: Settler | None = None, detail: str = ""
    ) -> Ask:
        now = self._clock()
        columns = {**_columns(after), "version": before.version, "now": now}
        columns["unattended_at"] = now if after.state is State.PENDING and after.wait is None else None
        tx.names(*(wait.process for wait in (before.wait, after.wait) if wait))
        if not tx.run("change_ask", **columns):
            raise Conflict
        changed = replace(after, version=before.version + 1, changed_at=now)
        self._note(tx, changed, before.state, kind=kind, by=by, detail=detail)
        return changed

    def _note(
        self,
        tx: Transaction,
        ask: Ask,
        before: State | None,
        *,
        kind: str,
        by: Settler | None = None,
        detail: str = "",
    ) -> None:
        tx.run(
            "insert_event",
            ask_id=ask.id,
            version=ask.version,
            at=ask.changed_at,
            kind=kind,
            state_before=before,
            state_after=ask.state,
            person=by.person if by else "",
            surface=by.surface if by else "",
            detail=detail,
        )

    def _page(self, query: str, **parameters: object) -> list[Ask]:
        return [_ask(row) for row in self._store.read(lambda tx: tx.all(query, **parameters))]


def _forget_surface(process: str, tx: Transaction) -> None:
    tx.run("drop_surface", process=process)


def _new_wait(process: str, now: int, timeout_ms: int | None) -> Wait:
    return Wait(id=uuid.uuid4().hex, process=process, since=now, until=now + timeout_ms if timeout_ms else None)


def _holds(ask: Ask, held: Held) -> bool:
    return ask.wait is not None and ask.wait.id == held.wait.id


def _without_its_call(ask: Ask) -> State:
    """What becomes of an open ask when its wait runs out."""
    return State.EXPIRED if ask.bound else State.TIMED_OUT


def _wait_is_over(ask: Ask, living: Set[str]) -> bool:
    return ask.wait is None or ask.state is State.TIMED_OUT or ask.wait.process not in living


def _wiped(ask: Ask) -> Ask:
    """The ask without its texts, for those who want no history."""
    outcome = replace(ask.outcome, answers=(), reason="") if ask.outcome else None
    return replace(ask, title="", questions=(), outcome=outcome)


def _who_was_first(ask: Ask) -> str:
    if ask.outcome is None:
        return f"This ask can no longer be answered: it is {ask.state} since {iso_time(ask.ended_at)}."
    by, where = ask.outcome.person or "someone", ask.outcome.surface
    return f"Already {ask.state} in {where} by {by} at {iso_time(ask.ended_at)}. Your answer was not used."


def _searchable(text: str) -> str:
    """Text as it is found: whatever its case, spaces and line breaks."""
    return " ".join(text.casefold().replace("\x00", " ").split())


def _literal(search: str) -> str:
    return search.replace("!", "!!").replace("%", "!%").replace("_", "!_")


# Rows


def _get(tx: Transaction, ask_id: str) -> Ask:
    row = tx.one("ask_by_id", id=ask_id)
    if row is None:
        raise NotFound(f"No ask has the id {ask_id!r}. It may have been deleted: ended asks are kept for a while only.")
    return _ask(row)


def _columns(ask: Ask) -> dict[str, Any]:
    body = {
        "title": ask.title,
        "questions": [asdict(question) for question in ask.questions],
        "asker": asdict(ask.asker),
        "bound": ask.bound,
    }
    return {
        "id": ask.id,
        "version": ask.version,
        "state": ask.state,
        "body": json.dumps(body, ensure_ascii=False),
        "outcome": json.dumps(asdict(ask.outcome), ensure_ascii=False) if ask.outcome else None,
        "words": _searchable(" ".join(ask.words())),
        "run_id": ask.asker.run or None,
        "wait_id": ask.wait.id if ask.wait else None,
        "wait_process": ask.wait.process if ask.wait else None,
        "wait_since": ask.wait.since if ask.wait else None,
        "wait_until": ask.wait.until if ask.wait else None,
        "ended_at": ask.ended_at,
        "delivered_at": ask.delivered_at,
    }


def _ask(row: Row) -> Ask:
    body = json.loads(row["body"])
    wait = None
    if row["wait_id"] is not None:
        wait = Wait(id=row["wait_id"], process=row["wait_process"], since=row["wait_since"], until=row["wait_until"])
    return Ask(
        id=row["id"],
        call_id=row["call_id"],
        tool=row["tool"],
        title=body["title"],
        questions=tuple(question_from_json(question) for question in body["questions"]),
        asker=Asker(**body["asker"]),
        timeout_ms=row["timeout_ms"],
        state=State(row["state"]),
        version=row["version"],
        wait=wait,
        outcome=outcome_from_json(json.loads(row["outcome"])) if row["outcome"] else None,
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        ended_at=row["ended_at"],
        delivered_at=row["delivered_at"],
        bound=body["bound"],
    )


def _event(row: Row) -> Event:
    return Event(
        ask=row["ask_id"],
        version=row["version"],
        at=row["at"],
        kind=row["kind"],
        before=State(row["state_before"]) if row["state_before"] else None,
        after=State(row["state_after"]),
        person=row["person"],
        surface=row["surface"],
        detail=row["detail"],
    )
