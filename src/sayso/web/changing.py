"""What a person does about the changes of a conversation: put files back, undo that, commit. Each acts on exactly what
was shown, and on nothing else."""

from __future__ import annotations

import re
import threading
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
from sayso.trees.changes import changes_between
from sayso.trees.committing import commit, tree_of
from sayso.trees.reverting import Revert, revert, reverts, undo
from sayso.web.changes import AMONG_OTHERS, ShownChanges, ShownFile, draw, shadow_of, shown_changes, shown_files
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.refusal import status_of
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import site_of
from sayso.web.talk import supervisor_of, turns_of

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
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    supervisor = supervisor_of(request)
    try:
        done = await site_of(request).read(_put_back, supervisor, run, _wanted(fields))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await _look_at_revert(request, visitor, fields.one("file"), error)
    return _to_changes(run, done)


async def take_back(request: Request) -> Response:
    """Undo the latest revert."""
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        done = await site_of(request).read(_take_back, supervisor_of(request), run, fields.one("revert"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await draw(request, visitor, refused=error)
    return _to_changes(run, done)


async def commit_chosen(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    message = fields.one("message")
    try:
        done = await site_of(request).read(_commit, supervisor_of(request), run, _wanted(fields), message)
    except (TreeChanged, TreeUnavailable) as error:
        return await draw(request, visitor, refused=error, message=message)
    return _to_changes(run, done)


async def merge(request: Request) -> Response:
    """Merge the conversation's worktree into the branch that it came from."""
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        done = await site_of(request).read(_merge, supervisor_of(request), run, fields.one("digest"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await draw(request, visitor, refused=error)
    return _to_changes(run, done)


async def show_discard(request: Request) -> Response:
    """What would be lost with the worktree: nothing is done yet."""
    return await _look_at_discard(request, await required_browser(request))


async def discard(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        await site_of(request).read(_discard, supervisor_of(request), run, fields.one("digest"))
    except (TreeChanged, TreeUnavailable, RunGoesOn) as error:
        return await _look_at_discard(request, visitor, error)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


async def _look_at_discard(request: Request, visitor: Visitor, refused: SaysoError | None = None) -> Response:
    turns = await turns_of(request, visitor)
    shown = await site_of(request).read(shown_changes, supervisor_of(request), turns[-1], "")
    # After what the button is bound to: what is told here is never older than that.
    lost = await site_of(request).read(_lost, supervisor_of(request), turns[-1], shown)
    context: dict[str, Any] = {"latest": turns[-1], "shown": shown, "lost": lost, "refused": str(refused or "")}
    return page(request, "discard.html", visitor, status=status_of(refused), **context)


async def _look_at_revert(
    request: Request, visitor: Visitor, wanted: str, refused: SaysoError | None = None
) -> Response:
    turns = await turns_of(request, visitor)
    shown = await site_of(request).read(shown_changes, supervisor_of(request), turns[-1], wanted)
    context: dict[str, Any] = {"turns": turns, "latest": turns[-1], "shown": shown, "wanted": wanted}
    return page(request, "revert.html", visitor, status=status_of(refused), refused=str(refused or ""), **context)


def _lost(supervisor: RunSupervisor, run: Run, shown: ShownChanges) -> list[ShownFile]:
    """What is in no commit of the worktree."""
    if not shown.unmerged or not shown.unmerged.uncommitted:
        return []
    shadow = shadow_of(supervisor, run)
    found = changes_between(shadow, tree_of(shadow.git, shown.unmerged.tip), shadow.look())
    return list(shown_files(shadow, found, found.files, AMONG_OTHERS, f"talk/{run.conversation}/changes"))


# Doing it

_one_at_a_time = threading.Lock()
"""A button that is pressed twice finds the second time what the first has done."""


def _put_back(supervisor: RunSupervisor, run: Run, wanted: Mapping[str, str]) -> int:
    shadow = shadow_of(supervisor, run)
    with _one_at_a_time:
        _check_quiet(supervisor, str(shadow.root))
        known = reverts(shadow)
        done = revert(shadow, wanted)
        if done in known:
            return _last_notice(supervisor, run)
        return _note(supervisor, run, f"You put {_named(done)} back to the beginning of the conversation.")


def _take_back(supervisor: RunSupervisor, run: Run, revert_id: str) -> int:
    shadow = shadow_of(supervisor, run)
    with _one_at_a_time:
        _check_quiet(supervisor, str(shadow.root))
        return _note(supervisor, run, f"You undid the revert of {_named(undo(shadow, revert_id))}.")


def _commit(supervisor: RunSupervisor, run: Run, wanted: Mapping[str, str], message: str) -> int:
    if not message.strip() or len(message) > _LONGEST_MESSAGE:
        raise TreeUnavailable(f"A commit needs a message of at most {_LONGEST_MESSAGE:,} characters.")
    with _one_at_a_time:
        made = commit(shadow_of(supervisor, run), wanted, message)
        files, branch = counted(made.files, "file"), spelt_out(made.branch)
        told = f"You committed {files} to {branch} as {made.id[:10]}: {one_line(message, 200)}"
        notices = supervisor.runs.events_of(run.id, EventKind.NOTICE)
        if any(notice.body.get("text") == told for notice in notices):
            return notices[-1].seq
        return _note(supervisor, run, told)


def _merge(supervisor: RunSupervisor, run: Run, digest: str) -> int:
    with _one_at_a_time:
        for notice in supervisor.runs.events_of(run.id, EventKind.NOTICE):
            if notice.body.get("merged") == digest:
                return notice.seq
        shadow, worktree = shadow_of(supervisor, run), supervisor.worktrees.of(run.directory)
        for root in (str(shadow.root), worktree.root):
            _check_quiet(supervisor, root)
        merged, base = supervisor.worktrees.merge(shadow, worktree, digest), spelt_out(worktree.base)
        told = f"You merged the worktree into {base}, which is at {merged[:10]} now."
        return _note(supervisor, run, told, merged=digest)


def _discard(supervisor: RunSupervisor, run: Run, digest: str) -> None:
    with _one_at_a_time:
        if run.has_worktree and supervisor.worktrees.is_gone(run.directory):
            return
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


def _note(supervisor: RunSupervisor, run: Run, text: str, **more: str) -> int:
    """Have it told in the conversation, where whoever reads it later finds it; its number there."""
    supervisor.runs.append(run.id, NewEvent(kind=EventKind.NOTICE, body={"text": text, **more}))
    return _last_notice(supervisor, run)


def _last_notice(supervisor: RunSupervisor, run: Run) -> int:
    notices = supervisor.runs.events_of(run.id, EventKind.NOTICE)
    return notices[-1].seq if notices else 0


# What a request is about


def _wanted(fields: Fields) -> dict[str, str]:
    """The chosen files: the mark of each, and the state in which it was shown."""
    found = (_WANTED.fullmatch(each) for each in fields.all("chosen"))
    return {each[1]: each[2] for each in found if each}


def _to_changes(run: Run, done: int) -> Response:
    """The page of changes, which tells what was done: the notice with this number."""
    return RedirectResponse(f"/talk/{run.conversation}/changes?done={done}", 303)
