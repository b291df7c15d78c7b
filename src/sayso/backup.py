"""All that a store keeps in one file, and back from it into this store or another, of either kind.

A backup is a store of its own, in SQLite, whatever kind it was made of. It shows one moment, and nobody who works with
the store waits for it. What lies in files beside the store is not in it: settings, rules, tool files, and what commands
and agents printed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from sayso import chain
from sayso.asks.desk import AskDesk
from sayso.chain import LogEvent, LogKind
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import BackupRefused, StoreError, StoreNotEmpty, StoreTooNew
from sayso.files import put_under_new_name
from sayso.records import record
from sayso.store import Row, Store, Transaction, has_our_tables, open_file, open_store, tables
from sayso.text import iso_time, spelt_out

Count = Mapping[str, int]
"""How many rows of each table."""
Progress = Callable[[str, int], None]
"""Told of a table, and how many of its rows are copied by now."""

_TELL_EVERY = 1_000
_WORKPLACE, _STORE = ".sayso-copy-", "sayso.db"
_DAMAGED = "{file} is no backup of Sayso, or is damaged. Nothing was changed."
_MADE_AT = "backed_up_at"
"""In `meta` of a backup, and nowhere else: when it was made."""
COUNTED = ("asks", "operations", "projects", "runs", "users", "tokens", "permission_log")
"""The tables that a store which somebody has used has rows in."""
_NOBODY = "ended"
"""Stands for a process that is gone."""
PUT_BACK = "a backup was put back that does not say what became of it"
"""Why what nobody waits for any more is let go of."""
_AS_IT_IS = (
    *("surfaces", "presence", "roster", "links", "sessions", "pushes", "delegations"),
    *("chats", "chat_links", "chat_codes", "chat_messages"),
    *("connections", "connection_codes", "connection_tokens", "connection_requests"),
)
"""Tables that tell of now. They stay as they are, whatever the backup has."""
_MADE_ANEW = ("history_blocks", "history_grams", "history_members")
"""Tables that are made of others: no backup has them."""
_UNDER_WAY = (
    "It was at work when the backup was made that has been put back, and what became of it is not in there. Send "
    "another message to go on."
)


@record
class Restored:
    rows: Count
    made_at: int | None
    """When the backup was made; None for a store that was no backup."""
    before: Path | None
    """Where a backup is of what was there; None if nothing was."""


def back_up(config: Config, file: Path, progress: Progress) -> Count:
    """Copy the store into a file, which must not be there yet."""
    with closing(open_store(config)) as store:
        return store.read(lambda tx: _into_file(tx, file, progress))


def restore(config: Config, file: Path, before: Path | None, person: str, progress: Progress) -> Restored:
    """Have the store keep what a backup has, and nothing else. What it keeps now is copied to the file `before`;
    without one it must be empty. An agent goes on waiting for what it waits for, if the backup has that too."""
    with _opened(file) as backup, closing(open_store(config)) as store:
        made_at = backup.read(_made_at)

        def work(tx: Transaction) -> Restored:
            tx.keep_others_out()
            there = {table: count for table in COUNTED if (count := sum(1 for _ in tx.rows(table)))}
            if there and before is None:
                raise StoreNotEmpty(there)
            if there and before is not None:
                _into_file(tx, before, progress)
            rows = backup.read(lambda made: _take_its_place(made, tx, progress))
            chain.append(tx, [_noted(file, made_at, before if there else None, person)])
            return Restored(rows=rows, made_at=made_at, before=before if there else None)

        restored = store.write(work)
        AskDesk(store).release_all_of(_NOBODY, PUT_BACK)
        return restored


def _into_file(tx: Transaction, file: Path, progress: Progress) -> Count:
    """Whole or not at all: a backup that was cut short must not look like one."""
    try:
        with _workplace(file.parent) as folder:
            beside = folder / _STORE
            with closing(open_file(beside)) as backup:
                rows = backup.write(lambda made: _as_backup(tx, made, progress))
            put_under_new_name(beside, file)
            return rows
    except FileExistsError as error:
        raise BackupRefused(f"{spelt_out(str(file))} is there already. Name another file.") from error
    except OSError as error:
        raise BackupRefused(f"{spelt_out(str(file))} cannot be made: {error.strerror}. Name another file.") from error


@contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """A folder for a copy that is not whole yet. What copies have left beside it that were killed is taken away."""
    for left in parent.glob(f"{_WORKPLACE}*"):
        with suppress(OSError), ExitStack() as held:
            held.callback(os.close, _hold(left))
            for suffix in ("", "-wal", "-shm", "-journal"):
                (left / f"{_STORE}{suffix}").unlink(missing_ok=True)
            left.rmdir()
    with tempfile.TemporaryDirectory(prefix=_WORKPLACE, dir=parent) as folder, ExitStack() as held:
        with suppress(OSError):  # not every disk has such locks
            held.callback(os.close, _hold(Path(folder)))
        yield Path(folder)


def _hold(folder: Path) -> int:
    """A hold on the folder for as long as this process lives. An OSError where another has one."""
    import fcntl

    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(opened)
        raise
    return opened


def _as_backup(tx: Transaction, made: Transaction, progress: Progress) -> Count:
    for table in tables():
        made.clear(table)
    rows = {table: made.put_rows(table, _told(table, tx.rows(table), progress)) for table in _copied()}
    made.put_rows("meta", [{"key": _MADE_AT, "value": str(now_ms())}])
    return rows


def _copied() -> list[str]:
    return [table for table in tables() if table not in _MADE_ANEW]


def _take_its_place(made: Transaction, tx: Transaction, progress: Progress) -> Count:
    present = _Present(made, tx)
    for table in reversed(tables()):
        tx.clear(table)
    return {
        table: tx.put_rows(table, present.fitted(table, _told(table, made.rows(table), progress)))
        for table in _copied()
    }


class _Present:
    """What holds now and must not be what it was when the backup was made. Nothing that was under way then is begun
    again, nobody who was shut out comes back, and what was given to somebody is not given to them once more."""

    def __init__(self, made: Transaction, tx: Transaction) -> None:
        self._now = now_ms()
        undelivered = {row["id"] for row in made.rows("asks") if row["delivered_at"] is None}
        self._waits, self._delivered = set(), {}
        for row in tx.rows("asks"):
            self._waits.add(row["wait_id"])
            if row["id"] in undelivered and row["delivered_at"] is not None:
                self._delivered[row["id"]] = row["delivered_at"]
        self._runs = {row["id"] for row in tx.rows("runs") if row["ended_at"] is None}
        self._queued = {row["id"]: row["after_run"] for row in tx.rows("queued_messages")}
        self._rules = {row["id"] for row in tx.rows("session_rules") if row["ended_at"] is None}
        self._revoked = {
            (table, row["name"]): row["revoked_at"]
            for table in ("users", "tokens")
            for row in tx.rows(table)
            if row["revoked_at"] is not None
        }
        self._kept = {table: list(tx.rows(table)) for table in (*_AS_IT_IS, "claims")}
        self._people = {row["name"] for row in made.rows("users")}
        self._signed_in = {row["hash"] for row in self._kept["sessions"] if row["user_name"] in self._people}
        self._linked = {row["id"] for row in self._kept["chat_links"] if row["user_name"] in self._people}
        self._connected = {row["id"] for row in self._kept["connections"] if row["user_name"] in self._people}

    def fitted(self, table: str, rows: Iterable[Row]) -> Iterable[Row]:
        """The rows of a table of the backup as they are to be put back."""
        if table in _AS_IT_IS:
            return filter(self._belongs, self._kept[table])
        match table:
            case "claims":
                # What may be done once only was done, whenever that was.
                return {row["key"]: row for row in (*rows, *self._kept[table])}.values()
            case "meta":
                return (row for row in rows if row["key"] != _MADE_AT)
            case "asks":
                return map(self._ask, rows)
            case "runs":
                return map(self._run, rows)
            case "queued_messages":
                return ({**row, "after_run": self._queued.get(row["id"], "")} for row in rows)
            case "session_rules":
                return map(self._rule, rows)
            case "users" | "tokens":
                return (
                    {**row, "revoked_at": row["revoked_at"] or self._revoked.get((table, row["name"]))} for row in rows
                )
        return rows

    def _belongs(self, row: Row) -> bool:
        """Whether a person whom a row is about is in the backup."""
        known = {
            "user_name": self._people,
            "session": self._signed_in,
            "link": self._linked,
            "connection": self._connected,
        }
        return all(row.get(name) in {None, "", *there} for name, there in known.items())

    def _ask(self, row: Row) -> Row:
        fitted = {**row, "delivered_at": row["delivered_at"] or self._delivered.get(row["id"])}
        if row["wait_id"] is not None and row["wait_id"] not in self._waits:
            fitted["wait_process"] = _NOBODY
        return fitted

    def _run(self, row: Row) -> Row:
        if row["ended_at"] is not None or row["id"] in self._runs:
            return row
        ended = {"state": "lost", "token": None, "ended_at": self._now, "ending": json.dumps({"message": _UNDER_WAY})}
        return {**row, **ended, "version": row["version"] + 1, "changed_at": self._now}

    def _rule(self, row: Row) -> Row:
        return row if row["ended_at"] is not None or row["id"] in self._rules else {**row, "ended_at": self._now}


def _told(table: str, rows: Iterable[Row], progress: Progress) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % _TELL_EVERY == 0:
            progress(table, number)
        yield row


def _made_at(tx: Transaction) -> int | None:
    row = tx.one("meta", key=_MADE_AT)
    said = str(row["value"]) if row else ""
    return int(said) if re.fullmatch(r"[0-9]{1,14}", said) else None


def _noted(file: Path, made_at: int | None, before: Path | None, person: str) -> LogEvent:
    of = f"the backup {file.name}" + (f" of {iso_time(made_at)}" if made_at is not None else "")
    why = f"{of}; what was there before is in {before.name}" if before else of
    about = {"file": str(file), "made_at": made_at, "before": str(before) if before else None}
    return LogEvent(
        kind=LogKind.RESTORED,
        at=now_ms(),
        ask=os.urandom(16).hex(),
        person=person,
        title="All that Sayso keeps",
        why=why,
        about=about,
    )


@contextmanager
def _opened(file: Path) -> Iterator[Store]:
    """A copy of the backup, which may be of an older version and is brought up to date. The file stays as it is."""
    shown = spelt_out(str(file))
    if not file.is_file():
        raise BackupRefused(f"{shown} is not a file. Name one that `sayso backup` made.")
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise BackupRefused(f"{shown} is a store that is in use. Make a backup of it with `sayso backup` first.")
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        copied = Path(folder) / "sayso.db"
        try:
            shutil.copyfile(file, copied)
        except OSError as error:
            raise BackupRefused(f"{shown} cannot be copied to {folder}: {error.strerror}.") from error
        if not copied.stat().st_size:
            raise BackupRefused(f"{shown} is empty. Name a file that `sayso backup` made.")
        copied.chmod(0o600)
        try:
            store = open_file(copied)
        except StoreTooNew as error:
            raise BackupRefused(f"{shown} was made by a newer Sayso. Upgrade Sayso here first.") from error
        except StoreError as error:
            raise BackupRefused(_DAMAGED.format(file=shown)) from error
        with closing(store):
            if not has_our_tables(copied):
                raise BackupRefused(_DAMAGED.format(file=shown))
            yield store
