"""Reading the log of permissions: what was decided and what came of it, whole actions, and whether the log is whole.

It is written by the desks, in the transactions of what it tells of (`chain.py`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sayso import chain
from sayso.chain import LogEntry, LogEvent, LogKind
from sayso.clock import FAR_FUTURE
from sayso.errors import AmbiguousId, NotFound
from sayso.records import record, replace
from sayso.store import Row, Store, Transaction

if TYPE_CHECKING:
    from sayso.permissions.action import Action
    from sayso.permissions.log_check import LogCheck
    from sayso.permissions.log_stats import LogStats

_ID_LENGTH = 32
_DONE = (LogKind.RUN, LogKind.RUN_IN_PART, LogKind.HANDED_OVER)
_UNDOING = {
    LogKind.NOT_RUN: LogKind.RUN,
    LogKind.RUN_IN_PART: LogKind.RUN,
    LogKind.NOT_HANDED_OVER: LogKind.HANDED_OVER,
}
"""What takes back, and what."""


@record
class Execution:
    """What came of an allow: `entry` says that it ran or was handed over, `undone` that it was not after all, or not
    all of it."""

    entry: LogEntry
    undone: LogEntry | None = None

    @property
    def done(self) -> LogKind | None:
        """How it was done: run, run in part, or handed over; None if it was not."""
        last = self.undone or self.entry
        return last.event.kind if last.event.kind in _DONE else None

    @property
    def whole(self) -> str:
        """What it counts as: the steps of one run of a sequence are one."""
        event = self.entry.event
        return event.operation.partition(".")[0] if event.part_of else f"{self.entry.seq}"


@record
class LoggedOutcome:
    """What was decided, or refused, and what ran under it."""

    entry: LogEntry
    executions: tuple[Execution, ...] = ()
    steps: int = 0
    """How many there are in the sequence that was allowed, where that is known."""

    @property
    def done(self) -> LogKind | None:
        """The most that was done of exactly this: run, run in part, or handed over; None if nothing was."""
        kinds, runs = {one.done for one in self.exact}, Counter(one.whole for one in self.exact)
        if LogKind.RUN in kinds and max(runs.values()) < self.steps:
            return LogKind.RUN_IN_PART
        return next((kind for kind in _DONE if kind in kinds), None)

    @property
    def exact(self) -> tuple[Execution, ...]:
        """What was executed, or handed to the client that does it, and is exactly what was allowed, or a step of it."""
        digest = self.entry.event.digest
        return tuple(one for one in self._done if digest in (one.entry.event.digest, one.entry.event.part_of))

    @property
    def ran(self) -> int:
        """How often exactly this was executed, or handed to the client that does it."""
        return len({one.whole for one in self.exact})

    @property
    def others(self) -> int:
        """How often something else was, which the same verdict allows: one for all calls of a tool."""
        return len({one.whole for one in self._done} - {one.whole for one in self.exact})

    @property
    def _done(self) -> list[Execution]:
        return [one for one in self.executions if one.done]

    @property
    def stopped(self) -> LogEvent | None:
        """Why it did not run, or not all of it, although it was allowed."""
        if self.done in (LogKind.RUN, LogKind.HANDED_OVER):
            return None
        return next((one.undone.event for one in reversed(self.executions) if one.undone), None)


@record
class LoggedAction:
    """A whole action with its digest, which is of the action as it was: its secrets are hidden here."""

    digest: str
    action: Action


@record
class LoggedPermission:
    """All that is known of one permission: what happened, in order, and the actions that it was about. Where no history
    is kept, there are none; those that are `lost` were kept and are gone, by their digests."""

    entries: tuple[LogEntry, ...]
    actions: tuple[LoggedAction, ...]
    lost: tuple[str, ...] = ()


class PermissionLog:
    """The log of one store. `hide` hides the secrets in a text: whoever looks at the log later has no use for them."""

    def __init__(self, store: Store, *, hide: Callable[[str], str] = str) -> None:
        self._store, self._hide = store, hide

    def outcomes(
        self,
        *,
        since: int = 0,
        project: str | None = None,
        person: str | None = None,
        only_refused: int | None = None,
        before: int | None = None,
        most: int = 100,
    ) -> list[LoggedOutcome]:
        """A page of what was decided and refused, newest first. With a person: what that person may see."""

        def work(tx: Transaction) -> list[LoggedOutcome]:
            found = tx.all(
                "log_outcomes",
                since=since,
                project=project,
                person=person,
                only_refused=only_refused,
                before=FAR_FUTURE if before is None else before,
                most=most,
            )
            return [self._outcome(tx, self._read(row)) for row in found]

        return self._store.read(work)

    def find(self, short_id: str, person: str | None = None) -> LoggedPermission:
        """The permission whose ask's id begins so."""
        prefix = short_id.lower().replace("-", "")
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise NotFound(f"{short_id!r} is not an id. Ids are made of 0-9 and a-f; `sayso log` shows them.")

        def work(tx: Transaction) -> LoggedPermission:
            ids = [row["ask_id"] for row in tx.all("log_asks_by_prefix", prefix=prefix, beyond=prefix + "g")]
            if len(ids) > 1:
                raise AmbiguousId(short_id, ids)
            entries = tuple(self._entries(tx, ids[0])) if ids else ()
            if not any(person is None or entry.event.owner in ("", person) for entry in entries):
                raise NotFound(f"The log has no permission with the id {short_id!r}. `sayso log` shows them.")
            digests = dict.fromkeys(entry.event.digest for entry in entries)
            kept = {digest: action for digest in digests if (action := self._action(tx, digest))}
            titled = dict.fromkeys(entry.event.digest for entry in entries if entry.event.title)
            lost = tuple(digest for digest in titled if digest and digest not in kept)
            return LoggedPermission(entries=entries, actions=tuple(kept.values()), lost=lost)

        return self._store.read(work)

    def whole(self, ask_id: str, person: str) -> LoggedPermission:
        """The permission with this whole id, for a person who may see it."""
        if len(ask_id) != _ID_LENGTH:
            raise NotFound("The log has no such permission.")
        return self.find(ask_id, person)

    def decided_by_rules(self, since: int, person: str | None = None) -> dict[str, int]:
        """How often each rule has decided, or wanted a person to, by its effect and what it is about. With a person:
        of what they may see."""
        counts: dict[str, int] = {}
        for row in self._store.all("log_decisions", since=since, person=person):
            for rule in (chain.read(row).event.about or {}).get("rules", ()):
                name = f"{rule['effect']} {rule['rule']}"
                counts[name] = counts.get(name, 0) + 1
        return counts

    def rules_made_of(self, ask_id: str) -> list[LogEntry]:
        """The rules that people have made of a permission."""
        found = self._store.read(lambda tx: self._entries(tx, ask_id))
        return [entry for entry in found if entry.event.kind is LogKind.RULE_ADDED]

    def decided_actions(self, since: int, person: str | None = None) -> list[tuple[LogEvent, Action]]:
        """What was allowed and denied, as far as the whole action was kept; with a person, what they may see. Actions
        are for comparing only: nothing is hidden in them."""

        def work(tx: Transaction) -> list[tuple[LogEvent, Action]]:
            read = [self._read(row).event for row in tx.all("log_verdicts", since=since)]
            events = [event for event in read if person is None or event.owner in ("", person)]
            kept = {digest: tx.one("kept_action", digest=digest) for digest in {event.digest for event in events}}
            return [(event, _action_from(json.loads(row["body"]))) for event in events if (row := kept[event.digest])]

        return self._store.read(work)

    def stats(self, since: int, until: int, person: str | None = None) -> LogStats:
        """How often people were asked since then, and how they decided. With a person: what that person may see."""
        from sayso.permissions.log_stats import stats_of

        found = self._store.all("log_decisions", since=since, person=person)
        return stats_of((chain.read(row).event for row in found), since, until)

    def projects(self, person: str | None = None, most: int = 1_000) -> list[str]:
        """Where agents asked for permissions that this person may see."""
        found = self._store.all("log_projects", person=person, most=most)
        return [row["project"] for row in found]

    def check(self, noted: str = "") -> LogCheck:
        """Look at every row and every action, and for the row that had the noted hash, which may be cut."""
        from sayso.permissions.log_check import check

        return self._store.read(lambda tx: check(tx, noted))

    def _outcome(self, tx: Transaction, entry: LogEntry) -> LoggedOutcome:
        if entry.event.kind is not LogKind.ALLOWED:
            return LoggedOutcome(entry=entry)
        later = [one for one in self._entries(tx, entry.event.ask) if one.seq > entry.seq]
        steps = self._steps(tx, entry.event.digest) if any(one.event.part_of for one in later) else 0
        return LoggedOutcome(entry=entry, executions=tuple(executions(later)), steps=steps)

    def _steps(self, tx: Transaction, digest: str) -> int:
        row = tx.one("kept_action", digest=digest)
        return len(json.loads(row["body"])["data"].get("steps", ())) if row else 0

    def _entries(self, tx: Transaction, ask_id: str) -> list[LogEntry]:
        return [self._read(row) for row in tx.all("log_of_ask", ask_id=ask_id)]

    def _read(self, row: Row) -> LogEntry:
        entry = chain.read(row)
        shown = replace(entry.event, title=self._hide(entry.event.title), why=self._hide(entry.event.why))
        return replace(entry, event=shown)

    def _action(self, tx: Transaction, digest: str) -> LoggedAction | None:
        row = tx.one("kept_action", digest=digest) if digest else None
        return LoggedAction(digest=digest, action=_action_from(self._hidden(json.loads(row["body"])))) if row else None

    def _hidden(self, value: Any) -> Any:
        match value:
            case str():
                return self._hide(value)
            case Mapping():
                return {name: self._hidden(each) for name, each in value.items()}
            case list():
                return [self._hidden(each) for each in value]
        return value


def executions(entries: Sequence[LogEntry]) -> Iterator[Execution]:
    """What of them ran or was handed over, each with what undid it; and what came to nothing before that."""
    found: list[Execution] = []
    for entry in entries:
        if entry.event.kind in (LogKind.RUN, LogKind.HANDED_OVER):
            found.append(Execution(entry=entry))
        elif entry.event.kind in _UNDOING:
            place = next((number for number, one in enumerate(found) if _undoes(entry, one)), None)
            if place is None:
                found.append(Execution(entry=entry, undone=entry))
            else:
                found[place] = replace(found[place], undone=entry)
    yield from found


def _undoes(entry: LogEntry, done: Execution) -> bool:
    """Whether it is this very one that was not done after all. Of what was handed over, only the call that asked is
    known not to have got it, and it is the first."""
    same_way = done.entry.event.kind is _UNDOING[entry.event.kind]
    return same_way and done.undone is None and done.entry.event.operation == entry.event.operation


def _action_from(data: Mapping[str, Any]) -> Action:
    from sayso.permissions.action import action_from  # only now: most who read the log look at no action

    return action_from(data)
