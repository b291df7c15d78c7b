"""How the log of permissions is told: the words for what happened, which a surface translates, and the log as data."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sayso.chain import LogEntry, LogKind
from sayso.permissions.log import LoggedOutcome, LoggedPermission
from sayso.permissions.log_check import LogCheck, LogFault
from sayso.permissions.verdict import ALLOWED_AS_EDITED
from sayso.setting_values import duration
from sayso.text import iso_time

WHAT = {
    LogKind.ASKED: "asked",
    LogKind.ALLOWED: "allowed",
    LogKind.DENIED: "denied",
    LogKind.UNDECIDED: "undecided",
    LogKind.ELSEWHERE: "decided elsewhere",
    LogKind.NOTED: "noted",
    LogKind.AGREED: "agreed",
    LogKind.TAKEN_BACK: "taken back",
    LogKind.ESCALATED: "escalated",
    LogKind.DELEGATED: "delegated",
    LogKind.TOO_LATE: "too late",
    LogKind.REFUSED: "refused",
    LogKind.HANDED_OVER: "handed over",
    LogKind.NOT_HANDED_OVER: "not handed over",
    LogKind.RUN: "run",
    LogKind.NOT_RUN: "not run",
    LogKind.RUN_IN_PART: "run in part",
    LogKind.RULE_ADDED: "rule added",
    LogKind.RULE_ENDED: "rule ended",
    LogKind.RULES_CHANGED: "rules changed",
    LogKind.RESTORED: "restored",
    LogKind.SHORTENED: "shortened",
}
"""What happened, in a word or two."""

RUN, IN_PART, HANDED_OVER, NOT_RUN = "yes", "in part", "handed over", "no"
_DONE = {LogKind.RUN: RUN, LogKind.RUN_IN_PART: IN_PART, LogKind.HANDED_OVER: HANDED_OVER}

FAULTS = {
    LogFault.CHANGED: "Entry {first} is not as it was written.",
    LogFault.MISSING: "Entries are missing: {first} to {last}.",
    LogFault.DOES_NOT_FOLLOW: "Entry {first} was not written after the one that stands before it.",
    LogFault.NO_BEGINNING: "Entries are missing: {first} to {last}. Nothing says that they were to go.",
    LogFault.NO_END: "The newest entries are missing, or others stand in their place: those from {first} on.",
    LogFault.OUT_OF_PLACE: "Entries have no place in the log: {rows}.",
    LogFault.OTHER_ACTION: "What is kept as the action {digest} is another one.",
    LogFault.NO_ACTION: "The action {digest} is no longer kept.",
    LogFault.NOT_LOGGED: "The store has the permission {ask}; the log does not say that it was {missing}.",
    LogFault.NOT_AS_NOTED: "No entry has the hash {digest}: it was taken out, or is older than the log is kept.",
    LogFault.RUN_NOT_LOGGED: "The command {operation} ran under a permission; the log does not say so.",
}


WITHOUT_ACTION = (LogKind.DELEGATED, LogKind.RULES_CHANGED, LogKind.RESTORED)
"""What is about no action of an agent's."""


def what(entry: LogEntry) -> str:
    """What happened: also whether it is as the agent wanted it that something was allowed."""
    return ALLOWED_AS_EDITED if edited(entry) else WHAT[entry.event.kind]


def subject(entry: LogEntry) -> str:
    """What it is about: an action in one line, or a rule."""
    event = entry.event
    return event.rule if event.kind in (LogKind.RULE_ADDED, LogKind.RULE_ENDED) else event.title or event.tool


def rule_place(entry: LogEntry) -> str:
    """Where the rule stands that was added; empty where it is in no file."""
    about = entry.event.about or {}
    return f"{about['file']}:{about['line']}" if entry.event.kind is LogKind.RULE_ADDED and about else ""


def edited(entry: LogEntry) -> list[str]:
    """Which parts a person had changed when they allowed it, in words."""
    about = entry.event.about or {}
    return list(about.get("edited", ()))


SINCE = 'it takes a time back such as "12h" or "7d", or a date such as 2026-03-31; not {given}.'


def since_when(text: str, now: int) -> int | None:
    """The moment that a time back, or a date by this machine's clock, means; None if it is neither."""
    if not text:
        return 0
    with suppress(ValueError):
        return now - duration(text)
    with suppress(ValueError, OverflowError, OSError):
        from datetime import datetime

        return int(datetime.fromisoformat(text).timestamp() * 1000)
    return None


def ran(outcome: LoggedOutcome) -> str:
    """Whether exactly that ran, in a word: empty where it was not allowed anyway."""
    if outcome.entry.event.kind is not LogKind.ALLOWED:
        return ""
    return _DONE[outcome.done] if outcome.done else NOT_RUN


def why(outcome: LoggedOutcome) -> str:
    """Why it was decided so, or why what was allowed did not run."""
    stopped = outcome.stopped
    return outcome.entry.event.why or (stopped.why if stopped else "")


def outcome_data(outcome: LoggedOutcome) -> dict[str, Any]:
    return {
        **entry_data(outcome.entry),
        "ran": outcome.ran,
        "others": outcome.others,
        "executions": [
            {**entry_data(one.entry), "undone": entry_data(one.undone) if one.undone else None}
            for one in outcome.executions
        ],
    }


def permission_data(logged: LoggedPermission) -> dict[str, Any]:
    return {
        "entries": [entry_data(entry) for entry in logged.entries],
        "actions": [{"digest": one.digest, **one.action.plain} for one in logged.actions],
        "lost": list(logged.lost),
    }


def entry_data(entry: LogEntry) -> dict[str, Any]:
    event = entry.event
    return {
        "entry": entry.seq,
        "at": iso_time(event.at),
        "what": event.kind.value,
        "ask": event.ask,
        "digest": event.digest,
        "part_of": event.part_of,
        "tool": event.tool,
        "title": event.title,
        "project": event.project,
        "client": event.client,
        "session": event.session,
        "agent": event.agent,
        "person": event.person,
        "rule": event.rule,
        "rules_file": event.rules_file,
        "rule_place": rule_place(entry),
        "surface": event.surface,
        "scope": event.scope,
        "operation": event.operation,
        "why": event.why,
        "edited": edited(entry),
        "previous": entry.previous,
        "hash": entry.hash,
    }


def check_data(check: LogCheck) -> dict[str, Any]:
    return {
        "whole": check.whole,
        "entries": check.rows,
        "first": check.first,
        "since": iso_time(check.since),
        "hash": check.hash,
        "faults": [
            {
                "fault": one.fault.value,
                "first": one.first,
                "last": one.last,
                "rows": one.rows,
                "digest": one.digest,
                "ask": one.ask,
                "operation": one.operation,
                "missing": one.missing and one.missing.value,
            }
            for one in check.faults
        ],
    }
