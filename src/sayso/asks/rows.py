"""Asks and their events as rows of the store, and back. What queries look at has a column, the rest is JSON."""

from __future__ import annotations

import json
from typing import Any

from sayso.asks.model import (
    Ask,
    Asker,
    Away,
    Event,
    NewAsk,
    State,
    Wait,
    asker_from_json,
    outcome_from_json,
    plain_question,
    question_from_json,
)
from sayso.asks.quorum import deciders
from sayso.records import asdict
from sayso.store import Row

_AS_JSON = json.JSONEncoder(ensure_ascii=False).encode


def columns(ask: Ask, new: NewAsk) -> dict[str, Any]:
    """All columns of a new row."""
    return {
        **_body(ask),
        "call_id": ask.call_id,
        "tool": ask.tool,
        "fingerprint": new.fingerprint,
        "owner": ask.asker.owner,
        "timeout_ms": ask.timeout_ms,
        "permission": int(ask.is_permission),
        "now": ask.created_at,
        **ask.asker.identity,
    }


def changes(ask: Ask) -> dict[str, Any]:
    """The columns that change."""
    return {
        **_body(ask),
        "state": ask.state,
        "outcome": _AS_JSON(asdict(ask.outcome)) if ask.outcome else None,
        "ended_at": ask.ended_at,
        "delivered_at": ask.delivered_at,
        "now": ask.changed_at,
    }


def _body(ask: Ask) -> dict[str, Any]:
    """What an ask has from the beginning and may have otherwise later."""
    body = {
        "title": ask.title,
        "questions": [plain_question(question) for question in ask.questions],
        "asker": asdict(ask.asker),
        "bound": ask.bound,
        "server": ask.server,
        "away": ask.away,
    }
    if ask.wanted is not None:
        body |= {"wanted": ask.wanted, "digest": ask.digest}
    return {
        "id": ask.id,
        "body": _AS_JSON(body),
        "words": searchable(" ".join(ask.words())),
        "run_id": ask.asker.run or None,
        "put_by": ask.asker.source,
        "deciders": "".join(f",{name}," for name in deciders(ask)),
        "wait_id": ask.wait.id if ask.wait else None,
        "wait_process": ask.wait.process if ask.wait else ask.expected_at or None,
        "wait_since": ask.wait.since if ask.wait else None,
        "wait_until": ask.wait.until if ask.wait else None,
        "unattended_at": ask.changed_at if ask.state is State.PENDING and ask.wait is None else None,
    }


def read(row: Row) -> Ask:
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
        asker=asker_from_json(body["asker"]),
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
        server=body.get("server", ""),
        away=Away(body.get("away", "")),
        wanted=body.get("wanted"),
        digest=body.get("digest", ""),
    )


def read_asker(row: Row) -> Asker:
    return asker_from_json(json.loads(row["body"])["asker"])


def read_event(row: Row) -> Event:
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


def searchable(text: str) -> str:
    """Text as it is found: whatever its case, spaces and line breaks."""
    return " ".join(text.casefold().replace("\x00", " ").split())


def pattern(search: str) -> str:
    """What the words of an ask are compared with (LIKE, with `!` before what is meant literally)."""
    return _literally(searchable(search))


def naming(session: str) -> str:
    """The same for a body in which a session is named."""
    return _literally(_AS_JSON({"session": session}).strip("{}"))


def _literally(text: str) -> str:
    literal = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{literal}%"
