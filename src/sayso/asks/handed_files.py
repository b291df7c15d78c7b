"""Files of answers on this machine's disk, for agents that read files: written when an answer is handed over, gone with
the ask.

An answer that is told in words alone says where they lie, in the note of the question they belong to.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.asks.model import ATTACHED, Answer, Ask, Attachment
from sayso.errors import NotFound
from sayso.files import replace_file
from sayso.records import record, replace

if TYPE_CHECKING:
    from sayso.asks.desk import AskDesk

logger = logging.getLogger(__name__)

_GONE = "which is not there any more"
_WIPED_STAY = 3600
"""Seconds in which an agent can read the files of an answer of which nothing else is kept."""


@record
class HandedFile:
    """A file of an answer: what is in it, and where an agent finds it."""

    attachment: Attachment
    data: bytes
    path: Path | None = None
    """Where it lies on this machine; None where it does not."""
    in_result: bool = False
    """Whether the agent gets it with the words."""

    @property
    def where(self) -> str:
        places = [f"saved as {self.path}"] if self.path else []
        places += ["with this result"] if self.in_result else []
        return ", ".join(places) or "which cannot be handed over here: ask the person what is in it"


def fetched(desk: AskDesk, ask: Ask) -> list[HandedFile]:
    """The files of an answer, in order. What is not there any more is left out: the words say that it was."""
    found = []
    for each in ask.attachments():
        try:
            found.append(HandedFile(attachment=each, data=desk.attachment(ask.id, each.id)[1]))
        except NotFound:
            logger.warning("A file of ask %s is not there any more", ask.id)
    return found


def on_disk(desk: AskDesk, folder: Path, ask: Ask) -> list[HandedFile]:
    """The same, each in a file of its own that only this user can read."""
    return list(_written(fetched(desk, ask), folder / ask.id)) if has_files(ask) else []


def has_files(ask: Ask) -> bool:
    return next(ask.attachments(), None) is not None


def with_files(desk: AskDesk, folder: Path, ask: Ask) -> Ask:
    """The ask as it is told in words: its answers say where their files lie."""
    return with_places(ask, on_disk(desk, folder, ask))


def with_places(ask: Ask, files: Sequence[HandedFile]) -> Ask:
    """The ask whose answers say where each of these files is."""
    if ask.outcome is None or not has_files(ask):
        return ask
    places = {each.attachment.id: each.where for each in files}
    answers = tuple(_said(answer, places) for answer in ask.outcome.answers)
    return replace(ask, outcome=replace(ask.outcome, answers=answers))


def _said(answer: Answer, places: Mapping[str, str]) -> Answer:
    lines = [f"{ATTACHED}{each.name} ({each.media}), {places.get(each.id, _GONE)}]" for each in answer.attachments]
    return replace(answer, note="\n".join(filter(None, (answer.note, *lines))))


def _written(files: list[HandedFile], folder: Path) -> Iterator[HandedFile]:
    for number, each in enumerate(files, start=1):
        path = folder / f"{number}-{each.attachment.name}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.is_file() or path.stat().st_size != each.attachment.size:
                replace_file(path, each.data)
            yield replace(each, path=path)
        except OSError as error:
            logger.warning("A file of an answer could not be written to %s: %s", folder, error)
            yield each


def sweep(desk: AskDesk, folder: Path) -> None:
    """Delete the files of asks that are gone, or of which nothing is kept."""
    if not folder.is_dir():
        return
    import shutil  # which takes its time

    for each in folder.iterdir():
        if _is_over(desk, each):
            shutil.rmtree(each, ignore_errors=True)


def _is_over(desk: AskDesk, folder: Path) -> bool:
    try:
        if has_files(desk.get(folder.name)):
            return False
        return time.time() - folder.stat().st_mtime > _WIPED_STAY
    except (NotFound, OSError):
        return True
