"""Rules that a person has given to one session of an agent. They are in the store and in no file, hold for that session
of that very process of its client and for nobody else, and end with it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sayso import chain
from sayso.asks.model import Asker, Settler
from sayso.chain import LogEvent, LogKind
from sayso.process_table import is_running
from sayso.processes import this_host
from sayso.records import fields, record
from sayso.store import Row, Transaction

LONGEST = 30 * 24 * 3_600_000
"""Milliseconds after which a rule of a session that is still on is asked for again."""


@record
class SessionRule:
    """It allows what its patterns mean. `process` is the client's, by its number and when it began."""

    id: str
    patterns: tuple[str, ...]
    ask: str
    person: str
    client: str
    host: str
    project: str
    session: str
    process: str
    owner: str
    created_at: int


def session_key(asker: Asker) -> dict[str, str] | None:
    """What tells a session from all others; None where nothing does."""
    if not asker.session or not asker.pid or asker.agent:
        return None
    return {
        "client": asker.client,
        "host": asker.host,
        "project": asker.project,
        "session": asker.session,
        "process": f"{asker.pid} {asker.started}",
    }


def add(tx: Transaction, rule: SessionRule) -> None:
    tx.run("insert_session_rule", **{**vars(rule), "patterns": json.dumps(rule.patterns)})


def of_session(tx: Transaction, key: Mapping[str, str], now: int) -> tuple[SessionRule, ...]:
    """What the session with this key was given."""
    return tuple(map(_read, tx.all("rules_of_session", since=now - LONGEST, **key)))


def everyone(tx: Transaction, now: int) -> list[SessionRule]:
    """What was given to any session that may still be on."""
    return list(filter(_may_be_on, map(_read, tx.all("session_rules", since=now - LONGEST))))


def _may_be_on(rule: SessionRule) -> bool:
    """Of another machine's processes nothing is known."""
    pid, _, started = rule.process.partition(" ")
    return rule.host != this_host() or is_running(int(pid), started)


def end(tx: Transaction, rule: SessionRule, by: Settler, now: int) -> bool:
    """Take it back, and log that. Whether it held until now."""
    tx.wake_only()  # no process waits for an ask because of it
    if not tx.run("end_session_rule", id=rule.id, now=now):
        return False
    event = LogEvent(
        kind=LogKind.RULE_ENDED,
        at=now,
        ask=rule.ask,
        project=rule.project,
        owner=rule.owner,
        client=rule.client,
        session=rule.session,
        person=by.person,
        surface=by.surface,
        rule=", ".join(rule.patterns),
        scope="session",
    )
    chain.append(tx, [event])
    return True


def _read(row: Row) -> SessionRule:
    said = {name: row[name] for name in fields(SessionRule)}
    return SessionRule(**{**said, "patterns": tuple(json.loads(row["patterns"]))})
