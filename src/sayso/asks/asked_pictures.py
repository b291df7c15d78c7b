"""Pictures that an agent shows with the options of a question: read when it asks, so that what people see is what was
asked, whatever becomes of the file."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path

from sayso.asks.model import NewAsk, NewAttachment, Option
from sayso.asks.new_attachments import prepared
from sayso.errors import InvalidInput, Problems
from sayso.files import read_regular
from sayso.pictures import MOST_BYTES, media_type
from sayso.records import replace
from sayso.text import quoted

MOST = 12
"""Pictures of one ask."""
_DATA = "data:"
_LONGEST_PATH = 4096


def read(new: NewAsk, folder: Path | None) -> NewAsk:
    """The ask with its pictures. Those that are named by a path must lie in the folder; None: no path is taken, because
    the agent may be on another machine. An InvalidInput names each that is not taken."""
    problems, files, questions = Problems(), dict[str, NewAttachment](), []
    for place, question in enumerate(new.questions):
        options = []
        for number, option in enumerate(question.options):
            path = f"{_place(new, place)}options[{number}].image"
            try:
                file = _file(option, folder, path)
            except InvalidInput as error:
                problems.found.extend(error.problems)
                continue
            options.append(replace(option, picture=file.kept) if file else option)
            files |= {file.kept.id: file} if file else {}
        questions.append(replace(question, options=tuple(options)))
    if len(files) > MOST:
        problems.add("options", f"expected at most {MOST} pictures in one call, got {len(files)}.")
    problems.check()
    return replace(new, questions=tuple(questions), files=tuple(files.values()))


def _place(new: NewAsk, place: int) -> str:
    return f"questions[{place}]." if len(new.questions) > 1 else ""


def _file(option: Option, folder: Path | None, path: str) -> NewAttachment | None:
    if option.picture is None or option.picture.id:
        return None
    named, problems = option.picture.name, Problems()
    is_path = not named.startswith(_DATA) and len(named) <= _LONGEST_PATH and not _is_data(named)
    data = _from_folder(problems, named, folder, path) if is_path else _decoded(problems, named, path)
    if not problems.found and len(data) > MOST_BYTES:
        problems.add(path, f"is larger than {MOST_BYTES / 1_000_000:g} MB. Make the picture smaller.")
    elif not problems.found and not media_type(data):
        problems.add(path, "is no PNG, JPEG, GIF or WebP picture, by its content.")
    problems.check()
    return prepared(Path(named).name if is_path else f"{option.name[:40]}.png", data, path)


def _is_data(named: str) -> bool:
    """Whether it can be nothing but base64 of a picture: no path begins so."""
    return named.startswith(("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")) and len(named) > 100


def _decoded(problems: Problems, named: str, path: str) -> bytes:
    try:
        return base64.b64decode(named.partition(",")[2] if named.startswith(_DATA) else named, validate=True)
    except (binascii.Error, ValueError):
        problems.add(path, "expected a path in the project or a picture as base64, got neither.")
        return b""


def _from_folder(problems: Problems, named: str, folder: Path | None, path: str) -> bytes:
    if folder is None:
        problems.add(path, "a path means nothing here: you may be on another machine. Give the picture as base64.")
        return b""
    try:
        real, inside = Path(os.path.realpath(folder / named)), Path(os.path.realpath(folder))
        if not real.is_relative_to(inside):
            problems.add(path, f"{quoted(named)} is not in the project {quoted(str(inside))}. Copy the picture there.")
            return b""
        return read_regular(real, MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "") or "it is no path"
        problems.add(path, f"{quoted(named)} cannot be read: {why}. Name a picture in the project.")
        return b""
