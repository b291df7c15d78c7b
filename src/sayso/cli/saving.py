"""Saves the pictures and files of an ask into a folder: those of its options, and those of its answer."""

from __future__ import annotations

from pathlib import Path

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask
from sayso.cli.terminal import put, say
from sayso.cli.texts import tr
from sayso.errors import InvalidInput, Problem
from sayso.files import whole_or_none
from sayso.text import printable, quoted


def save_files(desk: AskDesk, ask: Ask, folder: str) -> None:
    """Each under its name, with a number before it. A file that is there is not overwritten."""
    found = {each.id: each for each in (*ask.pictures(), *ask.attachments())}
    if not found:
        return say(tr("This ask has no pictures or files."))
    place = Path(folder).expanduser()
    for number, each in enumerate(found.values(), start=1):
        path = place / f"{number}-{each.name}"
        data = desk.attachment(ask.id, each.id)[1]
        try:
            place.mkdir(parents=True, exist_ok=True)
            with whole_or_none(path), path.open("xb") as file:
                path.chmod(0o600)
                file.write(data)
        except OSError as error:
            text = f"{quoted(str(path))} cannot be written: {error.strerror}. Name another folder."
            raise InvalidInput([Problem(path="--save", text=text)]) from error
        put(printable(str(path)))
    return None
