"""The shapes of what the API takes and gives, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.asks.model import Kind, State
from sayso.chain import LogKind
from sayso.operations.operation import OperationState
from sayso.permissions.action import ActionKind, AllowScope
from sayso.permissions.verdict import Decision
from sayso.running.capture import STREAMS

ID = "^[0-9a-f]{32}$"
OPERATION_ID = r"^[0-9a-f]{24}(\.[1-9][0-9]{0,3})?$"
MOST_ITEMS = 1_000
_NO_NUL = "^[^\\u0000]*$"

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXT_OR_NULL: Mapping[str, Any] = {"type": ["string", "null"]}
_FLAG = {"type": "boolean"}
_WHOLE = {"type": "integer"}
_WHOLE_OR_NULL = {"type": ["integer", "null"]}
_MOMENT = {"type": ["string", "null"], "description": "RFC 3339 in UTC."}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _record(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """An object with all of these fields and no others."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _open_record(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """An object with all of these fields, to which later versions may add."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(name: str) -> dict[str, Any]:
    return {"anyOf": [ref(name), {"type": "null"}]}


QUERY_PROJECT = {
    "type": "string",
    "maxLength": 4096,
    "pattern": _NO_NUL,
    "description": "Only asks of this project directory.",
}
QUERY_SEARCH = {
    "type": "string",
    "maxLength": 200,
    "description": "Only asks with this text in their questions or answers.",
}
QUERY_SINCE = {
    "type": "string",
    "maxLength": 40,
    "description": "Only what happened since then: a time back such as 7d, or a date.",
}
QUERY_DENIED = {"type": "string", "enum": ["0", "1"], "description": "1: only what was not allowed."}
QUERY_BEFORE = {
    "type": "integer",
    "minimum": 0,
    "maximum": 10**15,
    "description": "Go on before this entry: the `next` of the page before.",
}
QUERY_NAME = {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What the file is called."}
QUERY_LIMIT = {"type": "integer", "minimum": 1, "maximum": 100, "description": "At most this many; 100 by default."}


def query_id(description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": ID, "description": description}


def query_operation(description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": OPERATION_ID, "description": description}


_OPTION = _record(
    id=_TEXT, label=_TEXT, description=_TEXT, recommended=_FLAG, preview=_TEXT, picture=_or_null("Attachment")
)
_QUESTION = _record(
    id=_TEXT,
    question=_TEXT,
    type={"enum": [kind.value for kind in Kind]},
    title=_TEXT,
    required=_FLAG,
    placeholder=_TEXT,
    options=_list(ref("Option")),
)
_ASKER = _record(
    client=_TEXT,
    version=_TEXT,
    session=_TEXT,
    project=_TEXT,
    host=_TEXT,
    pid=_WHOLE,
    started=_TEXT,
    agent=_TEXT,
    owner=_TEXT,
    run=_TEXT,
    leader={
        "type": "string",
        "description": "What was started in its terminal, which it is or works for: the pid, and when that started.",
    },
    branch={"type": "string", "description": "What was checked out in its project when it asked."},
)
_GIVEN = {
    **_record(
        question_id=_TEXT,
        question=_TEXT,
        selected=_list(_TEXT),
        text=_TEXT_OR_NULL,
        skipped=_FLAG,
        note=_TEXT,
        attachments=_list(ref("Attachment")),
    ),
    "required": ["question_id", "question", "selected", "text", "skipped"],
}
_OUTCOME = _record(
    outcome=_TEXT,
    ask_id=_TEXT,
    call_id=_TEXT,
    asked_at=_MOMENT,
    answers=_list(ref("Given")),
    reason=_TEXT_OR_NULL,
    answered_by=_TEXT,
    surface=_TEXT,
    answered_at=_MOMENT,
    late=_FLAG,
)
_SCOPE = {"enum": [scope.value for scope in AllowScope]}
_ASK = _record(
    id=ref("Id"),
    call_id=_TEXT,
    status={"enum": [state.value for state in State]},
    attended=_FLAG,
    delivered=_FLAG,
    title=_TEXT,
    questions=_list(ref("Question")),
    asker=ref("Asker"),
    tool=_TEXT,
    timeout_ms={"type": ["integer", "null"]},
    created_at=_MOMENT,
    ended_at=_MOMENT,
    delivered_at=_MOMENT,
    outcome=_or_null("Outcome"),
    digest={"type": ["string", "null"], "description": "Names the action of a permission: an allow must bring it."},
    action=_or_null("Action"),
    verdict=_or_null("Verdict"),
    approval=_or_null("Approval"),
)
_APPROVAL = _record(
    demands=_list(
        _record(
            rule=_TEXT,
            place={"type": "string", "description": "The file and the line that say so."},
            people={**_list(_TEXT), "description": "Who may agree; empty: anyone."},
            need=_WHOLE,
            not_asker=_FLAG,
            timeout_ms=_WHOLE_OR_NULL,
            escalate_after_ms=_WHOLE_OR_NULL,
            escalate_to=_list(_TEXT),
            agreed=_list(_record(**{"person": _TEXT, "for": _TEXT})),
            missing=_WHOLE,
            can_be_met={"type": "boolean", "description": "Whether there are enough people, as far as that is known."},
        )
    ),
    asker={"type": ["string", "null"], "description": "The person whose agent asks."},
    deciders={**_list(_TEXT), "description": "Who is asked by name; empty: everyone who sees it."},
    until=_MOMENT,
    changed_by=_TEXT_OR_NULL,
)
_ACTION = _record(
    kind={"enum": [kind.value for kind in ActionKind]},
    tool=_TEXT,
    folder=_TEXT,
    data={"type": "object", "description": "All that would be done."},
    title=_TEXT,
    parts={**_list(ref("ActionPart")), "description": "The same, as people are shown it."},
    scopes={**_list(_SCOPE), "description": "How far an allow may go; the first is what a plain one means."},
    takes_changes={"type": "boolean", "description": "Whether it can be allowed with another input."},
)
_LOG_ENTRY: dict[str, Mapping[str, Any]] = {
    "entry": _WHOLE,
    "at": _MOMENT,
    "what": {"enum": [kind.value for kind in LogKind]},
    **dict.fromkeys(("ask", "digest", "part_of", "tool", "title", "project", "client", "session", "agent"), _TEXT),
    **dict.fromkeys(("person", "rule", "rules_file", "surface", "scope", "operation", "why"), _TEXT),
    "edited": _list(_TEXT),
    **dict.fromkeys(("previous", "hash"), _TEXT),
}
_VERDICT = _record(
    decision={"enum": [decision.value for decision in Decision]},
    digest=_TEXT_OR_NULL,
    scope={"anyOf": [_SCOPE, {"type": "null"}]},
    by=_TEXT,
    surface=_TEXT,
    at=_MOMENT,
    because=_TEXT_OR_NULL,
    edited={"type": ["object", "null"], "description": "The action that a person has made of it, and allowed."},
)
_ALLOW = {
    "type": "object",
    "properties": {
        "digest": {"type": "string", "description": "The `digest` of the ask whose action was looked at."},
        "scope": _SCOPE,
        "changed_input": {"type": "object", "description": "Allow the action with this input instead."},
        "edited_digest": {"type": "string", "description": "The digest of the action with that input, to be checked."},
    },
    "required": ["digest"],
    "additionalProperties": False,
}
_ANSWER = {
    "type": "object",
    "description": "Chosen options by their ids, own words, both, or neither (skipped).",
    "properties": {
        "question": {"type": "string", "description": "The question's id."},
        "chosen": {"type": "array", "items": _TEXT, "maxItems": MOST_ITEMS},
        "text": _TEXT_OR_NULL,
        "note": _TEXT,
        "attachments": {
            "type": "array",
            "items": ref("Id"),
            "maxItems": MOST_ITEMS,
            "description": "The ids of pictures and files that you have added to the ask before.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}

_OPERATION_STATE = {"enum": [state.value for state in OperationState]}
_STREAM = {"enum": list(STREAMS)}
_OPERATION: Mapping[str, Mapping[str, Any]] = {
    "id": ref("OperationId"),
    "status": _OPERATION_STATE,
    "awaits_say_so": {"type": "boolean", "description": "Whether it waits for a person to allow it, not for its turn."},
    "permission": {**_or_null("Id"), "description": "The ask by which a person can allow it."},
    "tool": _TEXT,
    "command": {"type": "string", "description": "As one would type it, secrets hidden; empty for a sequence."},
    "folder": _TEXT,
    "parent": _or_null("OperationId"),
    "asker": ref("Asker"),
    "host": {"type": "string", "description": "The machine it runs on, where its output lies."},
    "created_at": _MOMENT,
    "started_at": _MOMENT,
    "ended_at": _MOMENT,
    "duration_ms": _WHOLE,
    "exit_code": {"type": ["integer", "null"]},
    "signal": {"type": ["integer", "null"]},
    "reason": _TEXT_OR_NULL,
    "cancelled_by": _TEXT_OR_NULL,
    "timeout_seconds": {"type": ["number", "null"]},
}
_OUTPUT = _record(
    id=ref("OperationId"),
    status=_OPERATION_STATE,
    stream=_STREAM,
    offset=_WHOLE,
    next_offset={"type": "integer", "description": "Where to read on."},
    total={"type": "integer", "description": "Bytes that it has written so far."},
    skipped={"type": "integer", "description": "Bytes before `offset` that were asked for and not kept."},
    text=_TEXT,
    unfinished={"type": "string", "description": "The beginning of the line after `text`, as far as it is written."},
)
_RUNS = {
    **_list(_record(text=_TEXT, look=_TEXT)),
    "description": "The text once more in runs, each with its colours as words, such as `bold red`; empty without any.",
}
_PARTS = _list(_record(stream=_STREAM, text=_TEXT, skipped=_WHOLE, runs=_RUNS))
_PLACES = _record(**dict.fromkeys(STREAMS, _WHOLE))
_BOTH = _record(
    id=ref("OperationId"),
    status=_OPERATION_STATE,
    parts={**_PARTS, "description": "In the order in which it was written; `skipped` bytes before one were not kept."},
    unfinished={**_PARTS, "description": "The lines begun after them, as far as they are written."},
    next={**_PLACES, "description": "Where to read on in each stream."},
    total={**_PLACES, "description": "Bytes that it has written to each so far."},
)
_MATCHES = _record(
    id=ref("OperationId"),
    status=_OPERATION_STATE,
    stream=_STREAM,
    matches=_list(_record(offset=_WHOLE, text=_TEXT)),
    more=_FLAG,
    not_searched={"type": "integer", "description": "Bytes that were not kept."},
)

SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "Id": {"type": "string", "pattern": ID},
    "OperationId": {"type": "string", "pattern": OPERATION_ID},
    "Option": _OPTION,
    "Question": _QUESTION,
    "Asker": _ASKER,
    "Given": _GIVEN,
    "Attachment": _record(
        id=ref("Id"), name=_TEXT, media_type=_TEXT, size=_WHOLE, width=_WHOLE_OR_NULL, height=_WHOLE_OR_NULL
    ),
    "Attachments": _record(attachments=_list(ref("Attachment"))),
    "Outcome": _OUTCOME,
    "Ask": _ASK,
    "Action": _ACTION,
    "ActionPart": _record(name=_TEXT, text=_TEXT, language=_TEXT),
    "Verdict": _VERDICT,
    "Approval": _APPROVAL,
    "Allow": _ALLOW,
    "Deny": {"type": "object", "properties": {"because": _TEXT}, "additionalProperties": False},
    "Asks": _record(asks=_list(ref("Ask")), next={"anyOf": [ref("Id"), {"type": "null"}]}),
    "Event": _record(
        **{"at": _MOMENT, "kind": _TEXT, "from": _TEXT_OR_NULL, "to": _TEXT},
        person=_TEXT,
        surface=_TEXT,
        detail=_TEXT,
    ),
    "Events": _record(events=_list(ref("Event"))),
    "LogEntry": _open_record(**_LOG_ENTRY),
    "LogOutcomes": _record(outcomes=_list(ref("LogOutcome")), next={"type": ["integer", "null"]}),
    "LogOutcome": _open_record(
        **_LOG_ENTRY,
        ran={"type": "integer", "description": "How often exactly this was executed, or handed to the agent's client."},
        others={"type": "integer", "description": "How often something else was that the same verdict allows."},
        executions=_list(_open_record(**_LOG_ENTRY, undone=_or_null("LogEntry"))),
    ),
    "LoggedPermission": _record(
        entries=_list(ref("LogEntry")),
        actions=_list(_open_record(digest=_TEXT, kind=_TEXT, tool=_TEXT, folder=_TEXT, data={"type": "object"})),
        lost={**_list(_TEXT), "description": "The digests of actions that were kept and are gone."},
    ),
    "Operation": _record(**_OPERATION),
    "OperationWithSteps": _record(**_OPERATION, steps=_list(ref("Operation"))),
    "Operations": _record(operations=_list(ref("Operation")), next=_or_null("OperationId")),
    "Output": _OUTPUT,
    "BothStreams": _BOTH,
    "Matches": _MATCHES,
    "Me": _record(user=_TEXT, surface=_TEXT),
    "Answers": {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": _ANSWER, "maxItems": MOST_ITEMS}},
        "required": ["answers"],
        "additionalProperties": False,
    },
    "Rejection": {
        "type": "object",
        "properties": {"reason": _TEXT},
        "additionalProperties": False,
    },
    "Problem": _record(path=_TEXT, text=_TEXT),
    "Error": _record(error=_TEXT, problems=_list(ref("Problem"))),
}
