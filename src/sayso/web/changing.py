"""What a person does about the changes of a conversation: put files back, undo that, commit. Each acts on exactly what
was shown, and on nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.agents.model import EventKind, NewEvent, Run
from sayso.agents.supervisor import RunSupervisor
from sayso.branches import top_of_repository
from sayso.errors import RunGoesOn, SaysoError, TreeChanged, TreeUnavailable
from sayso.text import counted, one_line, spelt_out
from sayso.trees.committing import commit
from sayso.trees.reverting import Revert, revert, undo
from sayso.web.changes import draw, shadow_of, shown_changes
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.refusal import status_of
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import site_of
from sayso.web.talk import form_of, supervisor_of, turns_of

_WANTED = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")
_MOST_NAMES = 5
_LONGEST_MESSAGE = 20_000


def routes() -> list[Route]:
    return [
        Route("/talk/{conversation}/changes/revert", show_revert, methods=["GET"]),
        Route("/talk/{conversation}/changes/revert", put_back, methods=["POST"]),
        Route("/talk/{conversation}/changes/undo", take_back, methods=["POST"]),
        Route("/talk/{conversation}/changes/commit", commit_chosen, methods=["POST"]),
        Route("/talk/{conversation}/changes/merge", merge, methods=["POST"]),
        Route("/talk/{conversation}/changes/discard", show_discard, methods=["GET"]),
        Route("/talk/{conversation}/changes/discard", discard, methods=["POST"]),
    ]


async def show_revert(request: Request) -> Response:
    """What would be lost: nothing is done yet."""
    visitor = await required_browser(request)
    return await _look_at_revert(request, visitor, request.query_params.get("file", ""))


async def put_back(request: Request) -> Response:
    visitor, fields = await form_of(request)
    run = (await turns_of(request, visitor))[-1]
    supervisor = supervisor_of(request)
    try:
        await site_of(request).read(_put_back, supervisor, run, _wanted(fields))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await _look_at_revert(request, visitor, fields.one("file"), error)
    return _to_changes(run)


async def take_back(request: Request) -> Response:
    """Undo the latest revert."""
    visitor, fields = await form_of(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        await site_of(request).read(_take_back, supervisor_of(request), run, fields.one("revert"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await draw(request, visitor, refused=error)
    return _to_changes(run)


async def commit_chosen(request: Request) -> Response:
    visitor, fields = await form_of(request)
    run = (await turns_of(request, visitor))[-1]
    message = fields.one("message")
    try:
        await site_of(request).read(_commit, supervisor_of(request), run, _wanted(fields), message)
    except (TreeChanged, TreeUnavailable) as error:
        return await draw(request, visitor, refused=error, message=message)
    return _to_changes(run)


async def merge(request: Request) -> Response:
    """Merge the conversation's worktree into the branch that it came from."""
    visitor, fields = await form_of(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        await site_of(request).read(_merge, supervisor_of(request), run, fields.one("digest"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await draw(request, visitor, refused=error)
    return _to_changes(run)


async def show_discard(request: Request) -> Response:
    """What would be lost with the worktree: nothing is done yet."""
    return await _look_at_discard(request, await required_browser(request))


async def discard(request: Request) -> Response:
    visitor, fields = await form_of(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        await site_of(request).read(_discard, supervisor_of(request), run, fields.one("digest"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await _look_at_discard(request, visitor, error)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


async def _look_at_discard(request: Request, visitor: Visitor, refused: SaysoError | None = None) -> Response:
    turns = await turns_of(request, visitor)
    shown = await site_of(request).read(shown_changes, supervisor_of(request), turns[-1], "")
    context: dict[str, Any] = {"latest": turns[-1], "shown": shown, "refused": str(refused or "")}
    return page(request, "discard.html", visitor, status=status_of(refused) if refused else 200, **context)


async def _look_at_revert(
    request: Request, visitor: Visitor, wanted: str, refused: SaysoError | None = None
) -> Response:
    turns = await turns_of(request, visitor)
    shown = await site_of(request).read(shown_changes, supervisor_of(request), turns[-1], wanted)
    context: dict[str, Any] = {"turns": turns, "latest": turns[-1], "shown": shown, "wanted": wanted}
    status = status_of(refused) if refused else 200
    return page(request, "revert.html", visitor, status=status, refused=str(refused or ""), **context)


# Doing it


def _put_back(supervisor: RunSupervisor, run: Run, wanted: Mapping[str, str]) -> None:
    shadow = shadow_of(supervisor, run)
    _check_quiet(supervisor, str(shadow.root))
    _note(supervisor, run, f"You put {_named(revert(shadow, wanted))} back to the beginning of the conversation.")


def _take_back(supervisor: RunSupervisor, run: Run, revert_id: str) -> None:
    shadow = shadow_of(supervisor, run)
    _check_quiet(supervisor, str(shadow.root))
    _note(supervisor, run, f"You undid the revert of {_named(undo(shadow, revert_id))}.")


def _commit(supervisor: RunSupervisor, run: Run, wanted: Mapping[str, str], message: str) -> None:
    if not message.strip() or len(message) > _LONGEST_MESSAGE:
        raise TreeUnavailable(f"A commit needs a message of at most {_LONGEST_MESSAGE:,} characters.")
    made = commit(shadow_of(supervisor, run), wanted, message)
    files, branch = counted(made.files, "file"), spelt_out(made.branch)
    _note(supervisor, run, f"You committed {files} to {branch} as {made.id[:10]}: {one_line(message, 200)}")


def _merge(supervisor: RunSupervisor, run: Run, digest: str) -> None:
    shadow, worktree = shadow_of(supervisor, run), supervisor.worktrees.of(run.directory)
    for root in (str(shadow.root), worktree.root):
        _check_quiet(supervisor, root)
    merged = supervisor.worktrees.merge(shadow, worktree, digest)
    _note(supervisor, run, f"You merged the worktree into {spelt_out(worktree.base)}, which is at {merged[:10]} now.")


def _discard(supervisor: RunSupervisor, run: Run, digest: str) -> None:
    shadow, worktree = shadow_of(supervisor, run), supervisor.worktrees.of(run.directory)
    _check_quiet(supervisor, str(shadow.root))
    # An agent that waits for the next message would hold on to a folder that is gone.
    supervisor.runs.dismiss(run)
    supervisor.worktrees.discard(shadow, worktree, digest)
    _note(supervisor, run, f"You discarded the worktree, with its branch {spelt_out(worktree.branch)}.")


def _check_quiet(supervisor: RunSupervisor, root: str) -> None:
    """Whoever is at work there would go on with files that are not what it has read."""
    for other in supervisor.runs.open_here():
        if top_of_repository(str(other.directory)) == root:
            raise RunGoesOn("An agent is at work in this repository. Wait for its turn to end, or stop it.")


def _named(done: Revert) -> str:
    names = ", ".join(spelt_out(path) for path in done.paths[:_MOST_NAMES])
    more = len(done.paths) - _MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names


def _note(supervisor: RunSupervisor, run: Run, text: str) -> None:
    """Have it told in the conversation, where whoever reads it later finds it."""
    supervisor.runs.append(run.id, NewEvent(kind=EventKind.NOTICE, body={"text": text}))


# What a request is about


def _wanted(fields: Fields) -> dict[str, str]:
    """The chosen files: the mark of each, and the state in which it was shown."""
    found = (_WANTED.fullmatch(each) for each in fields.all("chosen"))
    return {each[1]: each[2] for each in found if each}


def _to_changes(run: Run) -> Response:
    return RedirectResponse(f"/talk/{run.conversation}/changes", 303)
