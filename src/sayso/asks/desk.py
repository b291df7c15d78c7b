"""The desk: the only place where an ask changes state. Every change is one compare-and-set and leaves an event.

Plain synchronous code, safe from any thread; `waiting.py` is where coroutines wait. The wait is not the ask:
a wait can end while the ask lives on and keeps its answer for the next call. Each method is one transaction. How asks
are opened, held and kept is told in `opening`, `holding` and `retention`.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from sayso.asks import attachments, crowds, holding, opening, retention, rows, settling
from sayso.asks.attachments import AttachmentLimits
from sayso.asks.holding import Held, Leaving
from sayso.asks.model import Answer, Ask, Asker, Attachment, Event, NewAsk, Outcome, Settler, State, check_texts, fit
from sayso.asks.quorum import is_shown_to
from sayso.asks.quota import UNLIMITED, OpenAsks
from sayso.asks.retention import CleanedUp, Retention
from sayso.asks.sessions import AgentSessions, IsBack, IsKin, Lives, always, is_nameless, never, nobody
from sayso.asks.table import AskTable, known_ask
from sayso.clock import Clock, now_ms
from sayso.errors import (
    AlreadySettled,
    AmbiguousId,
    InvalidInput,
    NotFound,
    Problem,
    Problems,
    StoreUnavailable,
    check_text,
)
from sayso.records import record, replace
from sayso.store import Store, Transaction

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed

__all__ = ["AskDesk", "CleanedUp", "Held", "Leaving", "Owed", "Retention"]

T = TypeVar("T")

NOBODY_LEAVES = Leaving()
BROWSER = "browser"
"""The surface on which people see what is theirs alone."""
_BETWEEN_PEOPLE = "\n"
_PAGE = 500

TAKES_A_VERDICT = (
    "this is a permission, which takes no answer: allow or deny it. To allow it, name the digest of the action that "
    "was shown: `sayso allow ID`, `sayso deny ID`, or the buttons of its card."
)


@record
class Owed:
    """What an asker has yet to receive: outcomes that no call of its waits for, oldest first, and which of them another
    session asked for, which is gone; those that may be its own or a neighbour's, which nothing tells apart; and whether
    there is anything at all."""

    late: tuple[Ask, ...]
    of_others: frozenset[str]
    perhaps: tuple[Ask, ...]
    anything: bool


class AskDesk:
    """Opens, holds, settles and delivers asks in one store."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = now_ms,
        keeps_history: Callable[[Ask], bool] = lambda _: True,
        lives: Lives = always,
        is_back: IsBack = never,
        most_open: int = UNLIMITED,
        most_attached: AttachmentLimits | None = None,
    ) -> None:
        """`lives` tells of sessions that ask through this process whether they are still there, `is_back` of those that
        asked through another whether they are there again."""
        self._store = store
        self._clock = clock
        self._keeps_history = keeps_history
        self._lives, self._is_back = lives, is_back
        self._open_asks, self._most_attached = OpenAsks(most_open), most_attached
        self.opened = 0
        """How many asks it has opened."""

    # Asking

    def hold(self, new: NewAsk, wait_id: str = "", leaving: Leaving = NOBODY_LEAVES) -> Held:
        """Open the ask with a wait on it; or, if the same session (or one that is gone) asked the same before and its
        answer never arrived, take up that one again, so that a person is not asked twice. Waits that are leaving are
        let go of first."""
        check_texts(new)
        bell, sessions = self._store.bell(), self._sessions()

        def work(table: AskTable) -> Held:
            holding.release_leaving(table, leaving, bell.process)
            self._deliver_each(table, leaving.delivered)
            for held in leaving.unread:
                with suppress(NotFound):
                    holding.take_back(table, held)
            return opening.hold(table, new, bell, sessions, wait_id)

        return self.change(work)

    def leave(self, new: NewAsk) -> Ask:
        """Open the ask without a wait: the agent will come for the answer. The same ask is not opened twice."""
        check_texts(new)
        try:
            bell, sessions = self._store.bell(), self._sessions()
        except StoreUnavailable:
            # Without a bell nobody can tell who lives. No wait depends on it, so the ask is opened all the same.
            return self.change(lambda table: table.open(new, None, ""))
        return self.change(lambda table: opening.leave(table, new, bell, sessions))

    def succeed(self, new: NewAsk, told: Set[str] = frozenset()) -> Held:
        """Open or take up the ask as `hold` does, in the place of all others of its run and tool that are open: the
        newest question of a stream is the only one that can be answered. What its run has put before, and was not
        `told` the outcome of, is taken up although somebody waits for it."""
        check_texts(new)
        bell, sessions = self._store.bell(), self._sessions()
        return self.change(lambda table: opening.succeed(table, new, bell, sessions, told))

    # Holding

    def attach(self, ask_id: str, timeout_ms: int | None = None, asker: Asker | None = None) -> Held | None:
        """A wait on an ask that is there; None while another living wait holds it, and for one that is bound to the
        call that asked. With an asker, the ask is that session's from now on."""
        bell = self._store.bell()
        return self.change(lambda table: holding.attach(table, ask_id, bell, timeout_ms, asker))

    def hold_again(self, held: Held) -> Ask:
        """Put a wait back that others took for dead while this process was cut off. The ask as it is now."""
        return self.change(lambda table: holding.take_again(table, held))

    def hold_each_again(self, waits: Sequence[Held]) -> dict[str, Ask | NotFound]:
        """The same for several, by the ids of the waits."""
        return self.change(lambda table: holding.take_each_again(table, waits))

    def release(self, held: Held, why: str) -> Ask:
        """The wait is over without an outcome: the ask stays open and unattended."""
        return self.change(lambda table: holding.release(table, held, why))

    def release_each(self, waits: Sequence[tuple[Held, str]]) -> None:
        """The same for several at once, each with its reason. Asks that are gone by now are passed over."""
        self.change(lambda table: holding.release_each(table, waits))

    def release_all(self) -> int:
        """This process is about to end: let go of everything it holds."""
        return self.release_all_of(self._store.bell().process, "its server stopped")

    def release_the_dead(self) -> int:
        """Let go of asks whose waiting process is gone. How many there were."""
        if self._store.only_shows:
            return 0
        waiting = {row["wait_process"] for row in self._store.all("waiting_processes")}
        dead = waiting - self._alive(waiting)
        return sum(self.release_all_of(process, holding.PROCESS_ENDED) for process in dead)

    def release_all_of(self, process: str, why: str) -> int:
        """Let go of all that a process waited for. How many asks there were."""
        total = 0
        while done := self.change(lambda table: holding.release_some_of(table, process, why)):
            total += done
            if done < holding.BATCH:
                break
        return total

    def time_out(self, held: Held) -> Ask:
        """The wait ran out by its own limit. Answered in the same moment, the answer wins."""
        return self.change(lambda table: holding.time_out(table, held))

    def escalate(self, held: Held) -> tuple[Ask, bool]:
        """Ask those as well whose turn it is by now, because nobody has decided. Whether there were any."""
        return self.change(lambda table: holding.escalate(table, held))

    def ended_waits(self, known: Container[str] = ()) -> list[Ask]:
        """The asks this process holds that are no longer pending, but for those whose waits are `known` to have
        ended."""
        found = self._store.all("waits_ended", process=self._store.bell().process)
        return [rows.read(row) for row in found if row["wait_id"] not in known]

    def wait_ids(self) -> set[str]:
        """The ids of the waits that the store knows of this process."""
        process = self._store.bell().process
        return {row["wait_id"] for row in self._store.all("wait_ids", process=process)}

    def held_here(self) -> dict[str, Held]:
        """The waits that the store knows of this process, by their ids."""
        asks = self._all("held_by", process=self._store.bell().process, most=sys.maxsize)
        return {ask.wait.id: Held(ask=ask, wait=ask.wait) for ask in asks if ask.wait}

    # Delivering

    def delivered(self, held: Held) -> Ask:
        """The result has been written to the agent: only now is it known to have arrived."""
        return self.change(lambda table: self._deliver(table, held))

    def delivered_each(self, waits: Sequence[Held]) -> None:
        """The same for several at once. Asks that are gone by now are passed over."""
        self.change(lambda table: self._deliver_each(table, waits))

    def take_back(self, held: Held) -> Ask:
        """The agent let go of the call before it could read the result: it is owed the outcome as before. One whose
        texts were wiped stays delivered, because there is nothing left to hand over."""
        return self.change(lambda table: holding.take_back(table, held))

    def undelivered(self, asker: Asker, most: int = 100, is_kin: IsKin = nobody) -> list[Ask]:
        """What this session, or one of the same agent that is gone, has asked and not yet received, oldest first. What
        was bound to a call is of no use now."""
        asks = [ask for ask in self._all("undelivered", most=sys.maxsize, **asker.identity) if not ask.bound]
        return self._sessions(is_kin).belonging(asks, asker)[:most]

    def resume(self, asker: Asker) -> None:
        """A session has come to this process. What it asked through servers that have ended is expected here from now
        on: it is alive again, and no other may take it."""
        sessions, process = self._sessions(), self._store.bell().process
        named = self._all("undelivered_of_session", named=rows.naming(asker.session), **asker.identity)
        left = sessions.left_elsewhere([ask for ask in named if not ask.bound], asker)

        def work(table: AskTable) -> None:
            for ask in sessions.left_elsewhere([table.get(one.id) for one in left], asker):
                table.change(replace(ask, asker=asker, server=process), ask, kind="resumed")

        if left:
            self.change(work)

    def is_for_another(self, ask: Ask, asker: Asker) -> bool:
        """Whether another session asked it, which lives, as far as sessions can be told apart."""
        return self._sessions().keep_from(ask, asker)

    def owed(self, asker: Asker, most: int = 100) -> Owed:
        """The same at a glance, which costs little however many asks are open."""
        sessions = self._sessions()
        late = [ask for ask in self._all("late_answers", most=sys.maxsize, **asker.identity) if not ask.bound]
        # Looked for after that: what is not late yet at the first look is there at the second.
        anything = bool(late) or self._store.one("anything_owed", **asker.identity) is not None
        belonging = sessions.belonging(late, asker)
        perhaps = [ask for ask in late if ask not in belonging and is_nameless(asker) and is_nameless(ask.asker)]
        others = sessions.of_others(belonging, asker)
        return Owed(late=tuple(belonging[:most]), of_others=others, perhaps=tuple(perhaps[:most]), anything=anything)

    def of_other_sessions(self, asks: Sequence[Ask], asker: Asker, is_kin: IsKin = nobody) -> frozenset[str]:
        """The ids of those that this session did not ask itself, as far as sessions can be told apart."""
        return self._sessions(is_kin).of_others(asks, asker)

    def undelivered_by(self, tool: str, most: int = 1000) -> list[Ask]:
        """What runs have asked by this tool and not received, oldest first."""
        return self._all("undelivered_of_runs", tool=tool, most=most)

    # Settling

    def answer(self, ask_id: str, answers: Sequence[Answer], by: Settler) -> Ask:
        """Settle with answers; an InvalidInput names every one that does not fit, AlreadySettled says who was first.
        A permission takes none: the permission desk alone decides about it."""

        def outcome(table: AskTable, ask: Ask) -> Outcome:
            if ask.wanted is not None:
                raise InvalidInput([Problem(path="", text=TAKES_A_VERDICT)])
            return Outcome(answers=attachments.found(table.tx, ask, by.person, fit(ask, answers)))

        return self._settle(ask_id, State.ANSWERED, by, outcome)

    def reject(self, ask_id: str, reason: str, by: Settler) -> Ask:
        _check_reason(reason)
        return self._settle(ask_id, State.REJECTED, by, lambda *_: Outcome(reason=reason))

    def reject_each(
        self, ask_ids: Iterable[str], reason: str, by: Settler
    ) -> dict[str, Ask | AlreadySettled | NotFound]:
        """Reject all of these that still can be, in one transaction; of the others, why not."""
        _check_reason(reason)

        def rejected(table: AskTable, ask_id: str) -> Ask | AlreadySettled | NotFound:
            try:
                return self._settled(table, ask_id, State.REJECTED, by, lambda *_: Outcome(reason=reason))
            except (AlreadySettled, NotFound) as error:  # raised before anything of it is written
                return error

        return self.change(lambda table: {ask_id: rejected(table, ask_id) for ask_id in ask_ids})

    def decline(self, ask_id: str, by: Settler) -> Ask:
        return self._settle(ask_id, State.DECLINED, by, lambda *_: Outcome())

    def cancel(self, ask_id: str, by: Settler) -> Ask:
        return self._settle(ask_id, State.CANCELLED, by, lambda *_: Outcome())

    def withdraw(self, ask_id: str, by: Settler, why: str) -> Ask:
        """Whoever asked does not want to know any more; `why` says what happened instead."""
        return self._settle(ask_id, State.CANCELLED, by, lambda *_: Outcome(reason=why))

    def note_of_client(self, ask_id: str, says: str) -> Ask:
        """Note beside what people said what their client's own record says became of it. It changes nothing else."""

        def work(table: AskTable) -> Ask:
            ask = table.get(ask_id)
            if ask.outcome is None or ask.state.answerable or ask.state is State.CANCELLED or ask.outcome.noted:
                return ask
            after = replace(ask, outcome=replace(ask.outcome, noted=says))
            return table.change(after, ask, kind="noted", detail=says)

        return self.change(work)

    def note_refusal(self, ask_id: str, by: Settler, why: str) -> None:
        """Record that somebody was not allowed to settle this ask."""

        def work(table: AskTable) -> None:
            ask = table.get(ask_id)
            table.change(ask, ask, kind="refused", by=by, detail=why)

        self.change(work)

    def void(self, ask_id: str, why: str) -> Ask:
        """What was allowed is no longer what it was when it was shown: the allow counts for nothing."""

        def work(table: AskTable) -> Ask:
            ask = table.get(ask_id)
            if ask.outcome is None or ask.outcome.verdict != "allowed" or ask.outcome.void:
                return ask
            return table.change(replace(ask, outcome=replace(ask.outcome, void=why)), ask, kind="voided", detail=why)

        return self.change(work)

    # Looking

    def get(self, ask_id: str) -> Ask:
        return known_ask(ask_id, self._store.one("ask_by_id", id=ask_id))

    def find(self, short_id: str) -> Ask:
        """The ask whose id begins so."""
        prefix = short_id.lower().replace("-", "")
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise NotFound(f"{short_id!r} is not an id. Ids are made of 0-9 and a-f; `sayso list` shows them.")
        matches = self._store.all("asks_by_prefix", prefix=prefix, beyond=prefix + "g")
        if len(matches) > 1:
            ended = [row["id"] for row in matches if not State(row["state"]).answerable]
            raise AmbiguousId(short_id, [row["id"] for row in matches if row["id"] not in ended], ended)
        if not matches:
            raise NotFound(
                f"No ask has the id {short_id!r}. `sayso list` shows the open ones, `sayso history` the others."
            )
        return self.get(matches[0]["id"])

    def inbox(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        awake_for: str | None = None,
        of: Asker | None = None,
        search: str = "",
        after: Ask | None = None,
        most: int = 100,
    ) -> list[Ask]:
        """A page of the asks that can be answered: first those whose agents wait, then the others, each oldest first.
        With a person: those that person may see; awake for one: without those that one has put off. With an asker: the
        questions that stand in the crowd of that one. With a search: those with these words, or of such an agent."""
        who = {"project": project, "awake_for": awake_for, **_crowd_of(of)}
        wanted = {"few": None, "pattern": rows.pattern(search) if search else None, **who}
        return self.read(lambda table: _inbox(table, after, most, person, **wanted))

    def all_open(
        self, *, person: str | None = None, awake_for: str | None = None, of: Asker | None = None
    ) -> Iterator[Ask]:
        """The whole inbox, read in pages, however much there is in it."""
        page = self.inbox(person=person, awake_for=awake_for, of=of, most=_PAGE)
        yield from page
        while len(page) == _PAGE:
            page = self.inbox(person=person, awake_for=awake_for, of=of, after=page[-1], most=_PAGE)
            yield from page

    def folded(self, *, person: str | None = None, after: Ask | None = None, most: int = 100) -> crowds.Folded:
        """The same with each agent that has many open as one entry, without what this person has put off. All of these
        are on the first page, however many asks of others there are."""
        who = {"project": None, "awake_for": person, **_crowd_of(None)}
        wanted = {"few": crowds.FEW, "pattern": None, **who}

        def work(table: AskTable) -> crowds.Folded:
            asks = _inbox(table, after, most + 1, person, **wanted)
            shown, last = asks[:most], asks[most - 1] if len(asks) > most else None
            many = [] if after else table.crowds(person, crowds.FEW)
            return crowds.Folded(entries=crowds.merge(shown, many), last=last)

        return self.read(work)

    def crowd(self, crowd_id: str, person: str | None = None) -> crowds.Crowd | None:
        """What an agent has open that has, or had, many; None when that is nothing that this person has not put off."""
        found = self.read(lambda table: table.crowds(person, 0))
        return next((crowd for crowd in found if crowd.id == crowd_id), None)

    def open_of(self, asker: Asker) -> int:
        """How many asks an agent has open, as far as it is known."""
        row = self._store.one("open_asks_of", put_by=asker.source)
        return int(row["size"]) if row else 0

    def open_by_session(self, person: str | None = None) -> list[crowds.OpenBySession]:
        """How much each session of an agent has open, however much that is. With a person: of what that person may
        see."""
        who = {} if person is None else {"person": person}
        found = self._store.all("open_by_session_of" if who else "open_by_session", **who)
        return [
            crowds.OpenBySession(
                agent=row["agent"],
                client=row["client"],
                session=row["session"] or "",
                source=row["put_by"],
                project=row["project"],
                size=row["size"],
                attended=row["attended"],
            )
            for row in found
        ]

    def open_askers(self, host: str) -> set[Asker]:
        """Who has asked what can be answered, from processes of this machine."""
        askers = map(rows.read_asker, self._store.all("open_askers", host=host))
        return {asker for asker in askers if asker.pid and asker.host == host}

    def open_for(self, person: str) -> dict[str, int]:
        """The ids of all that waits for a person, oldest first, each with when it was asked; 0 where its time is over.
        There may be very many."""
        return {row["id"]: row["asked_at"] for row in self._store.all("open_for", person=person)}

    def each(self, ask_ids: Iterable[str]) -> list[Ask]:
        """These asks, but for those that are there no more. One trip for all."""

        def work(tx: Transaction) -> list[Ask]:
            found = (tx.one("ask_by_id", id=ask_id) for ask_id in ask_ids)
            return [rows.read(row) for row in found if row]

        return self._store.read(work)

    def versions(self) -> dict[str, int]:
        """The ids of all asks that can be answered, oldest first, each with its version: which have changed since one
        looked."""
        return {row["id"]: row["version"] for row in self._store.all("inbox_versions")}

    def versions_of(self, ask_ids: Iterable[str]) -> dict[str, int]:
        """The versions of these asks, but for those that are there no more. One trip for all."""

        def work(tx: Transaction) -> dict[str, int]:
            found = ((ask_id, tx.one("version_of_ask", id=ask_id)) for ask_id in ask_ids)
            return {ask_id: row["version"] for ask_id, row in found if row}

        return self._store.read(work)

    def sizes(self) -> dict[State, int]:
        """How many asks there are in each state."""
        counted = {row["state"]: row["size"] for row in self._store.all("asks_by_state")}
        return {state: counted.get(state, 0) for state in State}

    def check_store(self) -> None:
        """A StoreError where the store does not answer, or is newer by now than this program."""
        self._store.check_version()

    def inbox_size(self) -> int:
        row = self._store.one("inbox_size")
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
        from sayso.asks import history_index  # only here: servers of agents have no use for it

        words = rows.searchable(search)
        pattern = rows.pattern(search) if words else None
        wanted = history_index.Wanted(words=words, pattern=pattern, project=project, person=person)
        place = (before.ended_at or 0, before.id) if before else history_index.NEWEST
        found = self._store.read(lambda tx: history_index.find(tx, wanted, place, most))
        return [rows.read(row) for row in found]

    def index_history(self, ending: threading.Event | None = None) -> int:
        """Index for the search what is not yet, in steps on a connection of its own, until `ending` is set; whoever
        searches meanwhile finds everything. How many blocks were indexed."""
        from sayso.asks import history_indexer

        with self._store.aside() as apart:
            return history_indexer.grow(apart, self._clock, ending or threading.Event())

    def ended_of(self, asker: Asker, since: int, *, person: str | None = None, most: int = 100) -> list[Ask]:
        """What has ended since then of what was put from the terminal, by the run or with the token of an asker."""
        return self._all("asks_of_agent", put_by=asker.source, since=since, person=person, most=most)

    def runs_that_wait(self, owner: str) -> set[str]:
        """The runs of a user that are blocked until somebody answers."""
        return {row["run_id"] for row in self._store.all("runs_that_wait", owner=owner)}

    def newest_of_run(self, run: str, tool: str) -> Ask | None:
        """The last ask that this run put by this tool."""
        return next(iter(self._all("asks_of_run", run_id=run, tool=tool)), None)

    def events(self, ask_id: str) -> list[Event]:
        return self.read(lambda table: table.events(ask_id))

    # Surfaces

    def show_up(self, surface: str, *people: str) -> None:
        """This process now shows asks to these people, and to nobody else."""
        process, person = self._store.bell().process, _BETWEEN_PEOPLE.join(people)
        self.change(
            lambda table: table.tx.run("put_surface", process=process, surface=surface, person=person, now=table.now)
        )

    def go_away(self) -> None:
        self._forget_surface(self._store.bell().process)

    def open_surfaces(self) -> list[Settler]:
        """Where people can see asks right now. Surfaces that died are forgotten."""
        surfaces = self._store.all("surfaces")
        living = self._alive({row["process"] for row in surfaces})
        for row in surfaces:
            if row["process"] not in living:
                self._forget_surface(row["process"])
        return [
            Settler(person=person, surface=row["surface"])
            for row in surfaces
            if row["process"] in living
            for person in row["person"].split(_BETWEEN_PEOPLE)
        ]

    def is_looked_at(self, ask: Ask) -> bool:
        """Whether somebody has this ask before them. Whoever opens the store itself sees all of it; a page shows each
        person their own."""
        return any(each.surface != BROWSER or is_shown_to(ask, each.person) for each in self.open_surfaces())

    def keep_draft(self, ask_id: str, person: str, body: str, *, only_over: Callable[[str], bool] | None = None) -> str:
        """Remember what a person has typed so far; the surface chooses the form. Empty: forget it.

        What is kept then: another one where `only_over` is not true of it, because they went on elsewhere meanwhile."""

        def work(table: AskTable) -> str:
            there = _draft(table.tx, ask_id, person) if only_over or not body else ""
            if only_over and there and not only_over(there):
                return there
            if not body:
                table.tx.run("drop_draft", ask_id=ask_id, person=person)
                _drop_unsent(table, ask_id, person, there)
            elif table.tx.one("ask_by_id", id=ask_id):
                # As JSON, because PostgreSQL takes no NUL in a text.
                table.tx.run("put_draft", ask_id=ask_id, person=person, body=json.dumps(body), now=table.now)
            return body

        return self.change(work)

    def draft(self, ask_id: str, person: str) -> str:
        return self._store.read(lambda tx: _draft(tx, ask_id, person))

    def drafts(self, person: str) -> set[str]:
        """The ids of the asks that this person has begun to answer."""
        return {row["ask_id"] for row in self._store.all("drafts_of", person=person)}

    def snooze(self, ask_id: str, person: str, until: int) -> Snoozed:
        """Put an ask off for a person: it is not in their inbox until then, or until there is news of it, or its agent
        is about to stop waiting. InvalidInput where there is no time for that, AlreadySettled where it has ended."""
        from sayso.asks.snoozing import Snoozed, moment_back  # only here: servers of agents have no use for it

        def work(table: AskTable) -> Snoozed:
            ask = table.get(ask_id)
            back = moment_back(ask, until, table.now)
            table.tx.run("put_snooze", ask_id=ask_id, person=person, until=back)
            table.tx.wake_only()
            return Snoozed(ask=ask, until=back)

        return self.change(work)

    def wake(self, ask_id: str, person: str) -> bool:
        """Put an ask back into a person's inbox. Whether they had put it off."""

        def work(table: AskTable) -> bool:
            table.tx.wake_only()
            return bool(table.tx.run("drop_snooze", ask_id=ask_id, person=person))

        return self.change(work)

    def snoozed(self, person: str) -> list[Snoozed]:
        """What a person has put off, in the order in which it comes back. Nothing rings when it does: whoever shows an
        inbox looks again at the moment of the first."""
        from sayso.asks.snoozing import Snoozed

        def work(table: AskTable) -> list[Snoozed]:
            found = table.tx.all("snoozes_of", person=person, now=table.now)
            return [Snoozed(ask=rows.read(row), until=row["snoozed_until"]) for row in found]

        return self.read(work)

    def back(self, person: str, since: int) -> list[Snoozed]:
        """What a person had put off and has come back since then, at its time or with news of it, and is still open.
        What they have put back themselves is not among it."""
        from sayso.asks.snoozing import Snoozed

        def work(table: AskTable) -> list[Snoozed]:
            found = table.tx.all("back_from_snooze", person=person, since=since, now=table.now)
            return [Snoozed(ask=rows.read(row), until=row["snoozed_until"]) for row in found]

        return self.read(work)

    # Pictures and files

    def add_attachment(self, ask_id: str, person: str, name: str, data: bytes) -> Attachment:
        """Keep a file for the answer that a person is about to send; InvalidInput says what is not taken,
        AlreadySettled who was first."""
        ask = self.get(ask_id)
        if not ask.state.answerable:
            raise AlreadySettled(settling.who_was_first(ask, self._clock()))
        return self.keep_attachment(ask_id, person, name, data)

    def keep_attachment(self, ask_id: str, person: str, name: str, data: bytes) -> Attachment:
        """Keep a file of a person's though their answer may come too late, as a draft is kept."""
        from sayso.asks.new_attachments import prepared  # only where there is a file

        new, limits = prepared(name, data), self._most_attached or AttachmentLimits()

        def work(table: AskTable) -> Attachment:
            return attachments.add(table.tx, table.get(ask_id), person, new, limits, table.now)

        return self.change(work)

    def drop_attachment(self, ask_id: str, person: str, attachment_id: str) -> None:
        """Forget a file that a person had added and does not want to send. One that was sent stays."""

        def work(table: AskTable) -> None:
            table.tx.wake_only()
            ask = table.get(ask_id)
            if not ask.outcome or person != ask.outcome.person:
                attachments.drop(table.tx, ask_id, person, attachment_id)

        self.change(work)

    def added(self, ask_id: str, person: str) -> tuple[Attachment, ...]:
        """What a person has added to an ask."""
        return tuple(self._store.read(lambda tx: attachments.of_person(tx, ask_id, person)).values())

    def attachment(self, ask_id: str, attachment_id: str, person: str = "") -> tuple[Attachment, bytes]:
        """One that belongs to the question or to the answer, or that this person has added, with what is in it."""

        def work(table: AskTable) -> tuple[Attachment, bytes]:
            ask = table.get(ask_id)
            for owner in (*attachments.whose(ask, attachment_id), *([person] if person else [])):
                if found := attachments.of_person(table.tx, ask_id, owner).get(attachment_id):
                    return found, attachments.content(table.tx, ask_id, owner, attachment_id)
            raise NotFound("This ask has no such file, or it is not there any more.")

        return self.read(work)

    # Tidying

    def lapse(self, ask_id: str) -> Ask:
        """Its time is over: what is still open expires. An answer that was not fetched goes to nobody any more."""
        return self.change(lambda table: retention.lapse(table, ask_id, self._keeps_history))

    def forget(self, ask_id: str, tool: str) -> None:
        """Delete what this tool has asked, whatever became of it. Never a permission."""

        def work(table: AskTable) -> None:
            for row in table.tx.all("ask_by_id", id=ask_id):
                if row["tool"] == tool:
                    table.unindex_ask(ask_id, row["ended_at"])
            table.tx.run("delete_ask", id=ask_id, tool=tool)

        self.change(work)

    def clean_up(self, keep: Retention, ending: threading.Event | None = None) -> CleanedUp:
        """Expire what nobody waits for, delete what ended long ago. In small steps, on a connection of its own;
        the rest is left for another time once `ending` is set."""
        self.release_the_dead()
        return retention.clean_up(self._store, keep, self._clock, self._keeps_history, ending or threading.Event())

    # Within the store

    def _deliver(self, table: AskTable, held: Held) -> Ask:
        ask = table.get(held.ask.id)
        if ask.state is State.PENDING or not (holding.is_held(ask, held) or holding.was_told(ask, held)):
            return ask
        if holding.told_of_a_timeout(ask, held):
            return holding.let_go(table, ask, holding.RAN_OUT)
        sent = replace(ask, wait=None, delivered_at=ask.delivered_at or table.now)
        if not ask.state.answerable and not self._keeps_history(ask):
            sent = retention.wiped(table, sent)
        return table.change(sent, ask, kind="delivered")

    def _deliver_each(self, table: AskTable, waits: Iterable[Held]) -> None:
        for held in waits:
            with suppress(NotFound):
                self._deliver(table, held)

    def read(self, work: Callable[[AskTable], T]) -> T:
        """One view of the asks, also for a desk that is built on this one."""
        return self._store.read(lambda tx: work(AskTable(tx, self._clock())))

    def change(self, work: Callable[[AskTable], T]) -> T:
        """One transaction, also for a desk that is built on this one."""

        def whole(tx: Transaction) -> tuple[T, int]:
            table = AskTable(tx, self._clock(), self._open_asks, self._keeps_history)
            done = work(table)
            table.close()
            return done, table.opened

        done, opened = self._store.write(whole)
        self.opened += opened
        return done

    def _all(self, query: str, **parameters: object) -> list[Ask]:
        return [rows.read(row) for row in self._store.all(query, **parameters)]

    def _settle(self, ask_id: str, state: State, by: Settler, outcome: Callable[[AskTable, Ask], Outcome]) -> Ask:
        return self.change(lambda table: self._settled(table, ask_id, state, by, outcome))

    def _settled(
        self, table: AskTable, ask_id: str, state: State, by: Settler, outcome: Callable[[AskTable, Ask], Outcome]
    ) -> Ask:
        settled = settling.settle(table, ask_id, state, by, lambda ask: outcome(table, ask))
        sent = settled.outcome.answers if settled.outcome else ()
        attachments.settled(table.tx, ask_id, by.person, sent, lambda: _draft(table.tx, ask_id, by.person))
        return settled

    def _sessions(self, is_kin: IsKin = nobody) -> AgentSessions:
        bell = self._store.bell()
        return AgentSessions(bell.process, bell.alive, self._lives, is_kin, self._is_back)

    def _forget_surface(self, process: str) -> None:
        self._store.write(lambda tx: tx.run("drop_surface", process=process))

    def _alive(self, processes: Set[str]) -> set[str]:
        return self._store.bell().alive(processes) if processes else set()


def _check_reason(reason: str) -> None:
    problems = Problems()
    check_text(problems, "reason", reason)
    problems.check()


def _crowd_of(asker: Asker | None) -> dict[str, str | None]:
    found = asker or Asker()
    return {"put_by": asker.source if asker else None, "of_client": found.client, "of_project": found.project}


def _inbox(table: AskTable, after: Ask | None, most: int, person: str | None, **wanted: object) -> list[Ask]:
    """Both parts of the inbox, one after the other: everybody's, or what a person may see."""
    of, who = ("", {}) if person is None else ("_of", {"person": person})

    def part(query: str, most: int) -> list[Ask]:
        goes_on = after is not None and after.attended == (query == "inbox_attended")
        time, ask_id = (after.created_at, after.id) if after and goes_on else (-1, "")
        return table.all(query + of, after_time=time, after_id=ask_id, most=most, now=table.now, **who, **wanted)

    found = part("inbox_attended", most) if after is None or after.attended else []
    return found + (part("inbox_unattended", most - len(found)) if len(found) < most else [])


def _drop_unsent(table: AskTable, ask_id: str, person: str, draft: str) -> None:
    """The files of a draft that is gone, where the person has settled the ask without them."""
    row = table.tx.one("ask_by_id", id=ask_id) if draft else None
    ask = rows.read(row) if row else None
    if ask and ask.questions and ask.outcome and ask.outcome.person == person:
        attachments.settled(table.tx, ask_id, person, ask.outcome.answers)


def _draft(tx: Transaction, ask_id: str, person: str) -> str:
    row = tx.one("draft", ask_id=ask_id, person=person)
    return str(json.loads(row["body"])) if row else ""
