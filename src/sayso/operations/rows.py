"""Operations as rows of the store, and back. What queries look at has a column, the rest is JSON in `body`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sayso.asks.model import asker_from_json
from sayso.operations.operation import Operation, OperationState
from sayso.running.folder import parse_status
from sayso.store import Row

_FOLDER_BYTES = 4096
"""What an operation takes on disk besides its output."""


def columns(operation: Operation) -> dict[str, Any]:
    """All columns of a new row."""
    body = {
        "argv": operation.argv,
        "cwd": operation.cwd,
        "asker": vars(operation.asker),
        "folder": str(operation.folder),
        "server": operation.server,
        "success_exit_codes": operation.success_exit_codes,
        "timeout_seconds": operation.timeout_seconds,
        "alert": operation.alert,
        "alert_streams": operation.alert_streams,
    }
    return {
        "id": operation.id,
        "state": operation.state,
        "tool": operation.tool,
        "parent": operation.parent,
        "background": int(operation.background),
        "agent": operation.asker.agent,
        "client": operation.asker.client,
        "project": operation.asker.project,
        "owner": operation.asker.owner,
        "host": operation.host,
        "process": operation.process,
        "lock_name": operation.lock,
        "body": json.dumps(body),
        "put_by": operation.asker.source,
        "now": operation.created_at,
        "started_at": operation.started_at,
        "say_so": operation.say_so,
    }


def changes(operation: Operation) -> dict[str, Any]:
    """The columns that change."""
    status = operation.status
    kept = status.stdout.kept + status.stderr.kept + _FOLDER_BYTES if status else 0
    return {
        "state": operation.state,
        "process": operation.process,
        "result": json.dumps(status, default=vars) if status else None,
        "bytes": kept,
        "say_so": operation.say_so,
        "cancelled_by": operation.cancelled_by or None,
        "started_at": operation.started_at,
        "ended_at": operation.ended_at,
        "delivered_at": operation.delivered_at,
    }


def read(row: Row) -> Operation:
    body = json.loads(row["body"])
    return Operation(
        id=row["id"],
        tool=row["tool"],
        argv=tuple(body["argv"]),
        cwd=body["cwd"],
        asker=asker_from_json(body["asker"]),
        folder=Path(body["folder"]),
        host=row["host"],
        server=body["server"],
        process=row["process"],
        state=OperationState(row["state"]),
        version=row["version"],
        lock=row["lock_name"],
        success_exit_codes=tuple(body["success_exit_codes"]),
        timeout_seconds=body["timeout_seconds"],
        parent=row["parent"],
        background=bool(row["background"]),
        alert=body["alert"],
        alert_streams=tuple(body["alert_streams"]),
        say_so=row["say_so"],
        status=parse_status(row["result"].encode()) if row["result"] else None,
        cancelled_by=row["cancelled_by"] or "",
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        delivered_at=row["delivered_at"],
    )
