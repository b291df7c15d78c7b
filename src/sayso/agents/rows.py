"""Projects, runs and their events as rows of the store, and back. Texts are JSON: PostgreSQL takes no NUL in a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sayso.agents.model import Ending, EventKind, Options, Project, Run, RunChoices, RunEvent, RunState
from sayso.records import asdict
from sayso.store import Row

_OPTION_NAMES = {
    "agent": "agent",
    "ask_user": "askUserEnabled",
    "ask_user_timeout": "askUserTimeout",
    "model": "model",
    "permission_mode": "permissionMode",
    "command": "command",
    "worktree": "worktree",
    "added_below": "addedBelow",
}
"""The fields of Options as they are spelt in the store and to the outside."""


def options_data(options: Options) -> dict[str, Any]:
    data = asdict(options) | {"command": list(options.command)}
    return {_OPTION_NAMES[name]: value for name, value in data.items()}


def read_project(row: Row) -> Project:
    kept = json.loads(row["options"])
    kept["command"] = tuple(kept.get("command", ()))
    return Project(
        id=row["id"],
        owner=row["owner"],
        host=row["host"],
        directory=Path(row["directory"]),
        name=row["name"],
        options=Options(**{name: kept[key] for name, key in _OPTION_NAMES.items() if key in kept}),
        created_at=row["created_at"],
    )


def changes(run: Run) -> dict[str, Any]:
    """The columns of a run that change with its state."""
    return {
        "state": run.state,
        "token": run.token or None,
        "session": run.session,
        "process": run.process,
        "ending": json.dumps(asdict(run.ending)) if run.ending else None,
        "stopped_by": run.stopped_by or None,
        "ended_at": run.ended_at,
    }


def read_run(row: Row, project: Project, folder: Path) -> Run:
    return Run(
        id=row["id"],
        version=row["version"],
        state=RunState(row["state"]),
        project=project,
        user=row["user_name"],
        conversation=row["conversation"],
        turn=row["turn"],
        token=row["token"] or "",
        agent=row["agent"],
        session=row["session"],
        host=row["host"],
        process=row["process"],
        folder=folder,
        prompt=json.loads(row["prompt"]),
        ending=Ending(**json.loads(row["ending"])) if row["ending"] else None,
        stopped_by=row["stopped_by"] or "",
        seen=row["seen"],
        line=row["line"] or row["id"],
        said=row["said"],
        untaken=row["untaken"],
        choices=read_choices(row["choices"]),
        started_at=row["started_at"],
        changed_at=row["changed_at"],
        ended_at=row["ended_at"],
    )


def choices_text(choices: RunChoices) -> str:
    return json.dumps({name: value for name, value in asdict(choices).items() if value})


def read_choices(text: str) -> RunChoices:
    return RunChoices(**json.loads(text))


def read_event(row: Row) -> RunEvent:
    return RunEvent(
        run=row["run_id"],
        seq=row["seq"],
        at=row["at"],
        kind=EventKind(row["kind"]),
        body=json.loads(row["body"]),
    )
