"""The asks as a table, open for one transaction at one moment: each entry is one compare-and-set and leaves an event.

It knows how a change is kept. Which there are, `life_cycle` tells; they are made at the desk, in opening, holding and
retention.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from sayso import chain
from sayso.asks import attachments, crowds, happening, quota, rows
from sayso.asks.model import Ask, Away, Event, NewAsk, Settler, Wait
from sayso.errors import Conflict, NotFound
from sayso.records import replace
from sayso.store import Row, Transaction


def known_ask(ask_id: str, row: Row | None) -> Ask:
    """The ask that was looked for by its id."""
    if row is None:
        raise NotFound(f"No ask has the id {ask_id!r}. It may have been deleted: ended asks are kept for a while only.")
    return rows.read(row)


class AskTable:
    """The asks as one transaction sees them, and may change them."""

    def __init__(
        self,
        tx: Transaction,
        now: int,
        open_asks: quota.OpenAsks | None = None,
        keeps_history: Callable[[Ask], bool] = lambda _: True,
    ) -> None:
        self.tx, self.now, self._open_asks, self._keeps_history = tx, now, open_asks, keeps_history
        self._happened: list[chain.LogEvent] = []
        self._told: list[Mapping[str, Any]] = []
        self.opened = 0
        """How many asks this transaction has opened."""

    def get(self, ask_id: str) -> Ask:
        return known_ask(ask_id, self.tx.one("ask_by_id", id=ask_id))

    def all(self, query: str, **parameters: object) -> list[Ask]:
        return [rows.read(row) for row in self.tx.all(query, **parameters)]

    def crowds(self, person: str | None, few: int) -> list[crowds.Crowd]:
        """The agents that have more than a few asks open which this person may see and has not put off."""
        who = {} if person is None else {"person": person}
        found = self.tx.all("crowds_of" if who else "crowds", few=few, now=self.now, awake_for=person, **who)
        return [crowds.read(row, self.get(row["newest"])) for row in found]

    def events(self, ask_id: str) -> list[Event]:
        return [rows.read_event(row) for row in self.tx.all("events_of", ask_id=ask_id)]

    def open(self, new: NewAsk, wait: Wait | None, server: str) -> Ask:
        """A new ask, put through this process."""
        if self._open_asks:
            self._open_asks.check(self.tx, new.asker)
        self.opened += 1
        ask = Ask(
            id=os.urandom(16).hex(),
            call_id=_new_uuid(),
            tool=new.tool,
            title=new.title,
            questions=new.questions,
            asker=new.asker,
            timeout_ms=new.timeout_ms,
            created_at=self.now,
            changed_at=self.now,
            wait=wait,
            bound=new.bound,
            server=server,
            away=Away.UNKNOWN if wait else Away.AT_WORK,
            wanted=new.wanted,
            digest=new.digest,
        )
        self.tx.run("insert_ask", **rows.columns(ask, new))
        for file in new.files:
            attachments.put(self.tx, ask.id, attachments.ASKED, file, self.now)
        self.tx.wake_only()
        self._note(ask, None, kind="opened")
        return ask

    def change(self, after: Ask, before: Ask, *, kind: str, by: Settler | None = None, detail: str = "") -> Ask:
        """Have it be `after` if it still is `before`, else the transaction is run again on what there is then."""
        from sayso.asks import life_cycle  # who only looks at asks does without

        life_cycle.check(after, before, kind, by)
        changed = replace(after, version=before.version + 1, changed_at=self.now)
        # That it was handed over, the process that held it has found out itself.
        waits = () if kind == "delivered" else (before.wait, after.wait)
        self.tx.wake_only(*(wait.process for wait in waits if wait))
        if not self.tx.run("change_ask", **rows.changes(changed), version=before.version):
            raise Conflict
        if _is_news(changed, before):
            self.tx.run("end_snoozes", ask_id=changed.id, now=self.now)
        if _reads_otherwise(changed, before):
            for ended_at in {before.ended_at, changed.ended_at}:
                self.unindex_ask(changed.id, ended_at)
        self._note(changed, before, kind=kind, by=by, detail=detail)
        return changed

    def unindex(self, query: str, **which: object) -> None:
        """Have the blocks of the history that this query finds no longer looked up in the index: something in them is
        not what it was."""
        if self.tx.one(query, **which):
            from sayso.asks.history_index import forget  # few of them change after they were indexed

            forget(self.tx, query, **which)

    def unindex_ask(self, ask_id: str, ended_at: int | None) -> None:
        """The same for the block of an ask that ended then."""
        if ended_at is not None:
            self.unindex("history_block_with", time=ended_at, id=ask_id)

    def _note(self, ask: Ask, before: Ask | None, *, kind: str, by: Settler | None = None, detail: str = "") -> None:
        self.tx.run(
            "insert_event",
            ask_id=ask.id,
            version=ask.version,
            at=ask.changed_at,
            kind=kind,
            state_before=before.state if before else None,
            state_after=ask.state,
            person=by.person if by else "",
            surface=by.surface if by else "",
            detail=detail,
        )
        if ask.wanted is not None and (event := happening.of(ask, before, kind, by, detail)):
            self._log(ask, event)

    def _log(self, ask: Ask, event: chain.LogEvent) -> None:
        rows_before = [] if event.kind is chain.LogKind.ASKED else self.tx.all("log_of_ask", ask_id=ask.id)
        logged = [chain.read(row).event for row in rows_before]
        if not happening.is_new(event, {each.kind for each in logged}):
            return
        if not event.tool:
            # The ask has no texts any more.
            event = replace(event, tool=next((each.tool for each in logged if each.tool), ask.tool))
        keeps = self._keeps_history(ask)
        self._happened.append(event if keeps else replace(event, title="", why="", about=None))
        if keeps and (action := happening.action(ask)):
            self._told.append(action)

    def add_to_log(self, event: chain.LogEvent) -> None:
        """Log it with what this transaction has changed, after that."""
        self._happened.append(event)

    def close(self) -> None:
        """Log what became of permissions, last of all in the transaction: from there on all others wait for it."""
        chain.append(self.tx, self._happened, self._told)
        self._happened.clear()
        self._told.clear()


def _reads_otherwise(after: Ask, before: Ask) -> bool:
    """Whether the history finds it at another place, or by other words."""
    now, then = (
        (ask.ended_at, ask.title, ask.questions, ask.outcome, ask.wanted, ask.asker) for ask in (after, before)
    )
    return now != then


def _is_news(after: Ask, before: Ask) -> bool:
    """Whether people who have put it off want to look again: it has ended or timed out, somebody has agreed to it or is
    asked as well, or its agent waits anew, with a limit. That a client calls again for the same is none."""
    waits_anew = after.wait is not None and after.wait.until is not None and after.wait != before.wait
    return waits_anew or after.state is not before.state or after.wanted != before.wanted


def _new_uuid() -> str:
    """As `uuid.uuid4` makes it, which takes its time to import."""
    digits = os.urandom(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
