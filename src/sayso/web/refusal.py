"""How a refused request is told: JSON for programs, a page for people, plain text where there is no page to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope

from sayso.errors import (
    AlreadySettled,
    CalledOff,
    InvalidInput,
    NotFound,
    Problem,
    RunGoesOn,
    SaysoError,
    SignInRefused,
    StoreError,
    ToolUnavailable,
    TooManyOpen,
    TooManyRuns,
    TreeChanged,
    TreeUnavailable,
)
from sayso.web.private_path import own_path

FOR_PROGRAMS = ("/api/", "/claude/", "/.well-known/", "/oauth/register", "/oauth/token", "/oauth/revoke")
_STATUS: Sequence[tuple[type[SaysoError], int]] = (
    (NotFound, 404),
    (AlreadySettled, 409),
    (CalledOff, 409),
    (RunGoesOn, 409),
    (TreeChanged, 409),
    (ToolUnavailable, 422),
    (TreeUnavailable, 422),
    (TooManyRuns, 429),
    (TooManyOpen, 429),
    (InvalidInput, 422),
    (SignInRefused, 403),
    (StoreError, 503),
)


def status_of(error: SaysoError | None) -> int:
    """Of a reply in which this is refused, or nothing."""
    if error is None:
        return 200
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def as_data(error: SaysoError) -> Response:
    """A refusal for a script of ours, which says it on the page."""
    return JSONResponse(error_data(str(error)), status_of(error))


def wants_json(scope: Scope) -> bool:
    return own_path(scope).startswith(FOR_PROGRAMS)


def refusal(scope: Scope, status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """A refusal where no page can be shown."""
    if wants_json(scope):
        return JSONResponse(error_data(text), status, headers)
    return PlainTextResponse(text + "\n", status, headers)


def in_words(error: InvalidInput) -> str:
    """What is wrong, for who sees a page and knows no field by its inner name."""
    return " ".join(problem.text for problem in error.problems)


def error_data(text: str, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    return {"error": text, "problems": [{"path": problem.path, "text": problem.text} for problem in problems]}
