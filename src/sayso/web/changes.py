"""The page of what has changed in a conversation's working tree since it began: files with their counts, and diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sayso.agents.model import EventKind, Run
from sayso.agents.supervisor import RunSupervisor
from sayso.errors import SaysoError, TreeUnavailable
from sayso.processes import this_host
from sayso.records import replace
from sayso.text import exact_diff, spelt_out
from sayso.trees.binaries import described
from sayso.trees.changes import ChangedFile, ChangeKind, TreeChanges, changes, diffs
from sayso.trees.committing import committed
from sayso.trees.reverting import Revert, reverts
from sayso.trees.shadow import Shadow
from sayso.trees.worktrees import Unmerged, Worktree
from sayso.web.diff_block import folded_diff
from sayso.web.pages import fragment, page
from sayso.web.refusal import status_of
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import site_of
from sayso.web.talk import SCRIPT, supervisor_of, turns_of

MOST_FILES = 200
"""Files whose diffs are shown on one page."""
_WORDS = {
    ChangeKind.NEW: ("new", "done"),
    ChangeKind.GONE: ("deleted", "refused"),
    ChangeKind.CHANGED: ("changed", "quiet"),
    ChangeKind.RETYPED: ("changed into something else", "late"),
    ChangeKind.SUBMODULE: ("submodule", "quiet"),
}


@dataclass(frozen=True, kw_only=True)
class Room:
    """How much of a file's diff is shown, and how many files are unfolded that change few lines."""

    lines: int
    characters: int
    unfolded_lines: int
    unfolded_files: int


AMONG_OTHERS = Room(lines=2_000, characters=100_000, unfolded_lines=60, unfolded_files=10)
ALONE = Room(lines=50_000, characters=2_000_000, unfolded_lines=50_000, unfolded_files=1)


@dataclass(frozen=True, kw_only=True)
class ShownFile:
    """One changed file on the page. `whole_at`: there is more of its diff, on a page of its own."""

    file: ChangedFile
    name: str
    word: str
    tone: str
    notes: tuple[str, ...] = ()
    block: Markup | None = None
    unfolded: bool = False
    whole_at: str = ""
    committed: bool = False
    """Whether the last commit has it as it is now."""

    @property
    def chosen(self) -> str:
        """What a form says of a file that is chosen: which one, and what was shown of it."""
        return f"{self.file.mark}.{self.file.state}"


@dataclass(frozen=True, kw_only=True)
class ShownChanges:
    """What the page shows; `why_not` where that cannot be told."""

    files: tuple[ShownFile, ...] = ()
    changes: TreeChanges | None = None
    root: str = ""
    left_out: tuple[str, ...] = ()
    undoable: Revert | None = None
    worktree: Worktree | None = None
    unmerged: Unmerged | None = None
    why_not: str = ""


def routes() -> list[Route]:
    return [Route("/talk/{conversation}/changes", show, methods=["GET"])]


async def show(request: Request) -> Response:
    return await draw(request, await required_browser(request))


async def draw(request: Request, visitor: Visitor, *, refused: SaysoError | None = None, message: str = "") -> Response:
    """The page, or for our script what changes of it."""
    turns = await turns_of(request, visitor)
    wanted = request.query_params.get("file", "")
    shown = await site_of(request).read(shown_changes, supervisor_of(request), turns[-1], wanted)
    context: dict[str, Any] = {"turns": turns, "latest": turns[-1], "shown": shown, "wanted": wanted}
    if SCRIPT in request.headers:
        return HTMLResponse(fragment("changed.html", visitor=visitor, **context))
    last = await site_of(request).do(supervisor_of(request).runs.last_event, turns[-1].id)
    marks = await site_of(request).do(supervisor_of(request).runs.marks.of, turns[-1].conversation)
    done = await site_of(request).do(_done, supervisor_of(request), turns[-1], request.query_params.get("done", ""))
    context |= {"done": done}
    context |= {"place": f"{turns[-1].turn}.{last}", "refused": str(refused or ""), "message": message, "marks": marks}
    return page(request, "changes.html", visitor, status=status_of(refused), **context)


def _done(supervisor: RunSupervisor, run: Run, number: str) -> str:
    """What was done, as the conversation tells it."""
    if not re.fullmatch(r"[0-9]{1,9}", number):
        return ""
    told = supervisor.runs.events(run.id, after=int(number) - 1, most=1)
    return str(told[0].body.get("text", "")) if told and told[0].kind is EventKind.NOTICE else ""


def shadow_of(supervisor: RunSupervisor, run: Run) -> Shadow:
    """TreeUnavailable where nothing was kept, or not here."""
    if run.host != this_host():
        raise TreeUnavailable(f"The files are on {spelt_out(run.host)}. Look there what has changed.")
    return supervisor.trees.of(run.conversation)


def shown_changes(supervisor: RunSupervisor, run: Run, wanted: str) -> ShownChanges:
    try:
        shadow = shadow_of(supervisor, run)
        found = changes(shadow)
        files = [file for file in found.files if not wanted or file.mark == wanted]
        at = f"talk/{run.conversation}/changes"
        is_in = committed(shadow, found)
        shown = tuple(
            replace(each, committed=each.file.path in is_in)
            for each in shown_files(shadow, found, files, ALONE if wanted else AMONG_OTHERS, at)
        )
        left_out = tuple(spelt_out(path) for path in found.now.left_out)
        undoable = next(reversed(reverts(shadow)), None)
        told = ShownChanges(
            files=shown, changes=found, root=spelt_out(str(shadow.root)), left_out=left_out, undoable=undoable
        )
        return _with_worktree(told, supervisor, run, shadow) if run.has_worktree else told
    except TreeUnavailable as error:
        return ShownChanges(why_not=str(error))


def _with_worktree(told: ShownChanges, supervisor: RunSupervisor, run: Run, shadow: Shadow) -> ShownChanges:
    worktree = supervisor.worktrees.of(run.directory)
    return replace(told, worktree=worktree, unmerged=supervisor.worktrees.standing(shadow, worktree))


def shown_files(
    shadow: Shadow, found: TreeChanges, files: Sequence[ChangedFile], room: Room, at: str
) -> Iterator[ShownFile]:
    """These files with their diffs, as far as there is room; `at` is the page where each can be shown alone."""
    told = _diffs(shadow, found, [file for file in files if file.lines <= room.lines][:MOST_FILES])
    binaries = described(shadow, files[:MOST_FILES])
    for number, file in enumerate(files):
        diff = told.get(file.path)
        word, tone = _WORDS[file.kind]
        yield ShownFile(
            file=file,
            name=spelt_out(file.path),
            word=word,
            tone=tone,
            notes=tuple(_notes(file, diff, binaries.get(file.path, ""), room)),
            block=folded_diff(exact_diff(diff[: room.characters]), file.path) if diff else None,
            unfolded=file.lines <= room.unfolded_lines and number < room.unfolded_files,
            whole_at="" if room is ALONE or _is_whole(file, diff, room) else f"{at}?file={file.mark}",
        )


def _diffs(shadow: Shadow, found: TreeChanges, files: Sequence[ChangedFile]) -> dict[str, str]:
    try:
        return diffs(shadow, found, files)
    except TreeUnavailable:
        # All of them together are too much; each has a page of its own.
        return {}


def _is_whole(file: ChangedFile, diff: str | None, room: Room) -> bool:
    return file.is_binary or bool(file.filter) or (diff is not None and len(diff) <= room.characters)


def _notes(file: ChangedFile, diff: str | None, described_as: str, room: Room) -> Iterator[str]:
    if file.filter:
        program = spelt_out(file.filter)
        yield f"git keeps its content by a program ({program}), which is not run here. Look at it in a terminal."
    elif file.is_binary:
        yield f"It is not text: {described_as}." if described_as else "It is not text."
    elif file.kind is ChangeKind.NEW and not file.lines:
        yield "It is empty."
    elif diff is None:
        yield f"{file.lines:,} lines changed."
    elif len(diff) > room.characters:
        yield f"Of {len(diff):,} characters the first {room.characters:,} are shown."
    if file.before and file.now and not file.is_retyped and file.before.mode != file.now.mode:
        yield "It can be executed now." if file.now.mode == "100755" else "It cannot be executed any more."
