"""Reads questions from the arguments of a call. The dialects differ in names and limits, not in kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from sayso.asks.model import Attachment, Kind, Option, Question, unmarked
from sayso.dialects.fields import at, boolean, given, text
from sayso.errors import Problems

ReadOption = Callable[[Problems, object, str, str], Option]
"""Reads one option, given its path and the id it gets."""


def options(
    problems: Problems, raw: Mapping[str, Any], path: str, limits: tuple[int, int], *, required: bool
) -> tuple[Option, ...]:
    """The options of a question: texts, or objects with a label."""
    if raw.get("options") is None and not required:
        return ()
    return options_as(any_option, problems, raw, path, limits)


def options_as(
    read: ReadOption, problems: Problems, raw: Mapping[str, Any], path: str, limits: tuple[int, int]
) -> tuple[Option, ...]:
    """The options of a question, each of the one form that a dialect knows."""
    value = raw.get("options")
    where = at(path, "options")
    least, most = limits
    if not isinstance(value, list):
        problems.add(where, f"expected an array of {least} to {most} options, got {given(value)}.")
        return ()
    items = cast("list[object]", value)
    if not least <= len(items) <= most:
        problems.add(where, f"expected {least} to {most} options, got {len(items)}.")
    return tuple(read(problems, item, f"{where}[{place}]", str(place + 1)) for place, item in enumerate(items))


def any_option(problems: Problems, raw: object, path: str, option_id: str) -> Option:
    """A text, or an object with a label."""
    if isinstance(raw, str):
        return object_option(problems, {"label": raw}, path, option_id)
    if not isinstance(raw, dict):
        problems.add(path, f"expected a text or an object with a label, got {given(raw)}.")
        return Option(id=option_id, label="")
    return object_option(problems, raw, path, option_id)


def text_option(problems: Problems, raw: object, path: str, option_id: str) -> Option:
    if not isinstance(raw, str):
        problems.add(path, f"expected a text, got {given(raw)}.")
        return Option(id=option_id, label="")
    return object_option(problems, {"label": raw}, path, option_id)


def object_option(problems: Problems, raw: object, path: str, option_id: str) -> Option:
    if not isinstance(raw, dict):
        problems.add(path, f"expected an object with a label, got {given(raw)}.")
        return Option(id=option_id, label="")
    fields = cast("dict[str, Any]", raw)
    label = text(problems, fields, ["label"], path, required=True)
    recommended = boolean(problems, fields, "recommended", path, default=unmarked(label) != label.rstrip())
    about = text(problems, fields, ["description"], path, required=False)
    preview = text(problems, fields, ["preview"], path, required=False)
    return Option(
        id=option_id,
        label=label,
        description=about,
        recommended=recommended,
        preview=preview,
        picture=_picture(problems, fields.get("image"), at(path, "image")),
    )


def _picture(problems: Problems, image: object, where: str) -> Attachment | None:
    """The picture as the agent names it: a path, or all of it as base64, which is longer than texts may be."""
    if image is None or image == "":
        return None
    if not isinstance(image, str):
        problems.add(where, f"expected a path in the project or a picture as base64, got {given(image)}.")
        return None
    return Attachment(id="", name=image)


def choice_question(
    problems: Problems, raw: Mapping[str, Any], path: str, question_id: str, limits: tuple[int, int]
) -> Question:
    """A question that always has options, one or several of which are chosen."""
    return Question(
        id=question_id,
        text=text(problems, raw, ["question", "prompt"], path, required=True),
        title=text(problems, raw, ["title", "header"], path, required=False),
        kind=Kind.MULTI_SELECT if boolean(problems, raw, "multiSelect", path, default=False) else Kind.SELECT,
        options=options(problems, raw, path, limits, required=True),
    )


def array_of_objects(problems: Problems, raw: Mapping[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects of an array field, each with its path. What is no object is a problem and left out."""
    value = raw.get(name)
    if not isinstance(value, list):
        problems.add(name, f"expected an array of questions, got {given(value)}.")
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    for place, item in enumerate(cast("list[object]", value)):
        if isinstance(item, dict):
            found.append((f"{name}[{place}]", cast("dict[str, Any]", item)))
        else:
            problems.add(f"{name}[{place}]", f"expected an object with a question, got {given(item)}.")
    return found
