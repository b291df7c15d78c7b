"""What a person makes of an action's input before they allow it: a text to edit, the action that it comes to, and what
differs. The edited action is the one that is shown again, digested and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.action_data import canonical, numbers_beyond_json
from sayso.asks.model import texts_in
from sayso.errors import InvalidInput, Problem, Problems, check_text
from sayso.permissions import edits, words
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.parts import ActionPart, PartName
from sayso.permissions.seen_file import seen
from sayso.records import record, replace
from sayso.text import exact, exact_diff, json_block, quoted

_TEXTS = {
    ActionKind.SHELL: ("command",),
    ActionKind.PLAN: ("plan",),
    ActionKind.EDIT: ("content", "new_string", "new_source"),
}
"""The fields that are edited as plain text, alone."""
_SUFFIXES = {"command": ".sh", "plan": ".md", "": ".json"}
_MUST_SAY_SOMETHING = "command"
_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "an object"),
)


@record
class EditText:
    """The input of an action as a text to edit: one `field` of it, or all of it as JSON where that is empty."""

    field: str
    text: str

    @property
    def suffix(self) -> str:
        """How the name of a file ends that holds it, for editors."""
        return _SUFFIXES.get(self.field, ".txt")


def to_edit(action: Action) -> EditText:
    """A text in which something would not be seen for what it is, or not be kept as it is, is edited as JSON."""
    given = action.data["input"]
    fields = (name for name in _TEXTS.get(action.kind, ()) if isinstance(given.get(name), str))
    field = next((name for name in fields if exact(given[name]) == given[name]), "")
    return EditText(field=field, text=given[field] if field else json_block(given))


def edited(action: Action, text: str) -> Action:
    """The action with what a person has made of the text; an InvalidInput says what is wrong with it."""
    field = to_edit(action).field
    return changed(action, {**action.data["input"], field: text} if field else input_from(text))


def input_from(text: str) -> dict[str, Any]:
    """The input of a tool, written as JSON."""
    try:
        given = untrusted_json.loads(text)
        json.dumps(given, allow_nan=False)
    except json.JSONDecodeError as error:
        raise _invalid("input", f"is no JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except (ValueError, RecursionError):  # it may be written less deeply than it can be read
        raise _invalid("input", "holds a number that JSON does not know, or is nested too deeply.") from None
    if not isinstance(given, dict):
        raise _invalid("input", f"expected an object with the fields of the tool, got {quoted(given)}.")
    return given


def changed(action: Action, given: Mapping[str, Any]) -> Action:
    """The action with another input; an InvalidInput names every field that does not fit."""
    before = action.data["input"]
    _check(before, given)
    data = {**action.data, "input": dict(given)}
    if links := data.pop("leads_to", None):
        named = {text for _, text in texts_in("", dict(given))}
        data |= {"leads_to": still} if (still := {path: links[path] for path in links if path in named}) else {}
    if action.kind is ActionKind.EDIT:
        if edits.path_of(action.tool, given) != edits.path_of(action.tool, before):
            # Another file than the one that was compared.
            data.pop("file", None)
        change = edits.change(action.tool, given, _present_text(data.get("file")))
        data["diff"] = change.diff if change else ""
    return replace(action, data=data)


def difference(before: Action, after: Action) -> tuple[ActionPart, ...]:
    """What a person has changed in the input, field by field."""
    one, other = before.data.get("input", {}), after.data.get("input", {})
    names = [name for name in {**one, **other} if _differs(name, one, other)]
    return tuple(
        ActionPart(
            name=PartName.EDITED,
            about=exact(name),
            text=exact_diff(_compared(*_texts(name, one, other))),
            language="diff",
        )
        for name in names
    )


def _present_text(file: object) -> str | None:
    """The text of the file that was compared, while it is still the same."""
    if not isinstance(file, Mapping):
        return None
    now = seen(Path(file["path"]))
    return now.text if now.was == file["was"] else None


def _check(before: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    problems = Problems()
    for path, text in texts_in("", dict(given)):
        check_text(problems, path, text)
    for path, text in _misfits(before, given):
        problems.add(path, text)
    for path, number in numbers_beyond_json(given, "input"):
        problems.add(path, f"is {quoted(number)}. Give a number.")
    problems.check()


def _misfits(before: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, was in before.items():
        if name not in given:
            if name in words.SUBJECTS:
                yield name, "is missing: it says what would be done. Put it back, or deny this."
        elif was is not None and _type(given[name]) != _type(was):
            yield name, f"expected {_type(was)}, as the agent gave it, got {quoted(given[name])}."
    if isinstance(said := given.get(_MUST_SAY_SOMETHING, "."), str) and not said.strip():
        yield _MUST_SAY_SOMETHING, "is empty. Deny this instead."


def _type(value: object) -> str:
    return next((name for types, name in _TYPES if isinstance(value, types)), "null")


def _differs(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (name in one) != (name in other) or canonical(one.get(name)) != canonical(other.get(name))


def _texts(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, str]:
    """Both values of a field, as texts that differ."""
    plain = [_text(given, name) for given in (one, other)]
    if plain[0] != plain[1]:
        return plain[0], plain[1]
    spelt = [json_block(given[name]) if name in given else "(not there)" for given in (one, other)]
    return spelt[0], spelt[1]


def _text(given: Mapping[str, Any], name: str) -> str:
    if name not in given:
        return ""
    return given[name] if isinstance(given[name], str) else json_block(given[name])


def _compared(one: str, other: str) -> str:
    """The change, without the names that a diff begins with. Where neither ends its last line, that is no difference
    and not worth a word; nor is the place, where there is but one line."""
    if not one.endswith("\n") and not other.endswith("\n"):
        one, other = (text and f"{text}\n" for text in (one, other))
    lines = edits.unified("", one, other).split("\n")[2:]
    return "\n".join(lines if max(one.count("\n"), other.count("\n")) > 1 else lines[1:])


def _invalid(path: str, text: str) -> InvalidInput:
    return InvalidInput([Problem(path=path, text=text)])
