"""What an edit tool of Claude's would change in a file, as a unified diff. Text in, text out: nothing here reads files.

Where the file's present text is not known, or an edit does not fit it, the diff shows the edit's own texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayso import untrusted_json
from sayso.records import record
from sayso.text import one_line

CONTEXT = 3
MOST_COMPARED = 20_000
"""Lines beyond which the changed part is not compared line by line, which would take too long."""

MOST_WHOLE = 60
"""Lines up to which the text of an edit is shown in one piece, with what it leaves as it is: that reads better than a
diff with gaps and then all of it again. In a longer one, what changes would be hard to find."""

_THOROUGH = 2_000
"""Lines up to which every one of them counts in a comparison."""

_PATHS = {
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "apply_patch"), "file_path"),
    "NotebookEdit": "notebook_path",
}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline at end of file"


@record
class EditDiff:
    """A diff, and the fields of the tool's input that it tells in full."""

    diff: str
    told: frozenset[str]


def path_of(tool: str, given: Mapping[str, Any]) -> str:
    """The file that the tool would change; empty where it is no edit."""
    path = given.get(_PATHS[tool]) if tool in _PATHS else ""
    return path if isinstance(path, str) else ""


def change(tool: str, given: Mapping[str, Any], before: str | None) -> EditDiff | None:
    """What the tool would change, `before` being the file as it is; None where that cannot be told."""
    path, theirs = path_of(tool, given), given.get("diff")
    if tool in _PATHS and isinstance(theirs, str) and theirs:
        # Its client has compared the files itself.
        return EditDiff(diff=theirs, told=frozenset({"file_path", "diff"}))
    if not path:
        return None
    match tool, given:
        case "Edit", {"old_string": str(), "new_string": str()}:
            text = _edited(path, [given], before)
            told = {"file_path", "old_string", "new_string", *_if_boolean(given, "replace_all")}
        case "MultiEdit", {"edits": [*edits]} if edits and all(_is_edit(edit) for edit in edits):
            text, told = _edited(path, edits, before), {"file_path", "edits"}
        case "Write", {"content": str(content)}:
            text, told = unified(path, before, content), {"file_path", "content"}
        case "NotebookEdit", {"new_source": str(source)}:
            mode = given.get("edit_mode")
            old = "" if mode == "insert" else _cell(given, before)
            text = unified(path, old, "" if mode == "delete" else source)
            told = {"new_source"}
        case _:
            return None
    return EditDiff(diff=text, told=frozenset(told))


def _is_edit(edit: object) -> bool:
    """Whether all of an edit is in the diff; one with fields that we do not know is better shown as it is."""
    known = {"old_string", "new_string", "replace_all"}
    texts = isinstance(edit, dict) and all(isinstance(edit.get(name), str) for name in ("old_string", "new_string"))
    return texts and isinstance(edit, dict) and edit.keys() <= known


def _if_boolean(given: Mapping[str, Any], name: str) -> set[str]:
    return {name} if isinstance(given.get(name), bool) else set()


def _edited(path: str, edits: Sequence[Mapping[str, Any]], before: str | None) -> str:
    after = _after(edits, before)
    if after is not None:
        return unified(path, before, after, _place(edits, before or ""))
    return "\n".join([*_header(path, before), *(line for edit in edits for line in _placeless(edit))])


def _place(edits: Sequence[Mapping[str, Any]], before: str) -> range | None:
    """The lines of the one place that an edit changes, if these are to be shown in one piece."""
    old = edits[0]["old_string"]
    if len(edits) > 1 or not old or (edits[0].get("replace_all") and before.count(old) > 1):
        return None
    start = before.index(old)
    place = range(before.count("\n", 0, start), len(_lines(before[: start + len(old)])))
    return place if _is_short(edits[0]) else None


def _is_short(edit: Mapping[str, Any]) -> bool:
    return all(edit[name].count("\n") < MOST_WHOLE for name in ("old_string", "new_string"))


def _placeless(edit: Mapping[str, Any]) -> Iterator[str]:
    """The hunks of an edit whose place in the file is not known: the numbers of its own lines would mislead."""
    old = _lines(edit["old_string"])
    hunks = list(_hunks(old, _lines(edit["new_string"]), range(len(old)) if _is_short(edit) else None))
    for line in hunks or ["@@"]:
        yield f"@@ {_where(edit)} @@" if line.startswith("@@") else line


def _where(edit: Mapping[str, Any]) -> str:
    every = edit.get("replace_all", False)
    if not isinstance(every, bool):
        return "somewhere (in one place or in every place: not known)"
    return "somewhere (every place)" if every else "somewhere"


def _after(edits: Sequence[Mapping[str, Any]], before: str | None) -> str | None:
    """The file after the edits; None where one does not fit, or in how many places is not known."""
    text = before
    for edit in edits:
        old, new, every = edit["old_string"], edit["new_string"], edit.get("replace_all", False)
        if not isinstance(every, bool):
            return None
        if not old and not text:
            text = new
        elif text is None or not old or old not in text:
            return None
        else:
            text = text.replace(old, new) if every else text.replace(old, new, 1)
    return text


def _cell(given: Mapping[str, Any], before: str | None) -> str | None:
    """The source of the notebook's cell that is meant; None where it is not certain which one that is."""
    try:
        cells = untrusted_json.loads(before or "")["cells"]
        (source,) = [cell["source"] for place, cell in enumerate(cells) if _is_meant(given, place, cell)]
        return source if isinstance(source, str) else "".join(source)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _is_meant(given: Mapping[str, Any], place: int, cell: Mapping[str, Any]) -> bool:
    """By all that the input says about the cell: its id, its number, or both if they agree."""
    meant = {"cell_id": cell.get("id", f"cell-{place}"), "cell_number": place}
    named = {key: given[key] for key in meant if given.get(key) is not None}
    return bool(named) and all(type(value) is type(meant[key]) and value == meant[key] for key, value in named.items())


def unified(path: str, before: str | None, after: str, whole: range | None = None) -> str:
    """The change from one text to the other: empty for a file that is not there, None for one that is not known. The
    lines `whole`, in which all of it takes place, are shown in one piece."""
    lines = list(_hunks(_lines(before or ""), _lines(after), whole))
    nothing = "(no change)" if before is not None else "(all that is there now goes, and nothing comes in its place)"
    return "\n".join([*_header(path, before), *(lines or [nothing])])


def _header(path: str, before: str | None) -> list[str]:
    name = one_line(path, 500)
    return [f"--- {name}{' (its present text is not known)' if before is None else ''}", f"+++ {name}"]


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _hunks(old: Sequence[str], new: Sequence[str], whole: range | None) -> Iterator[str]:
    for group in _groups(old, new, whole):
        (_, from_old, _, from_new, _), (_, _, to_old, _, to_new) = group[0], group[-1]
        yield f"@@ -{_span(from_old, to_old)} +{_span(from_new, to_new)} @@"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from _marked(" ", old[i1:i2])
            else:
                yield from _marked("-", old[i1:i2])
                yield from _marked("+", new[j1:j2])


Opcode = tuple[str, int, int, int, int]


def _groups(old: Sequence[str], new: Sequence[str], whole: range | None) -> Iterator[Sequence[Opcode]]:
    """What changed, in groups with a little of what is around them. What is the same at both ends is not compared. With
    `whole` it is one group, which has all of these lines."""
    same = _same(old, new)
    shorter = min(len(old), len(new)) - same
    tail = min(_same(old[::-1], new[::-1]), shorter)
    lead, trail = min(CONTEXT, same), min(CONTEXT, tail)
    if whole is not None:
        lead, trail = max(lead, same - whole.start), max(trail, tail - (len(old) - whole.stop))
    i1, i2, j2 = same - lead, len(old) - tail + trail, len(new) - tail + trail
    size = i2 - i1 + j2 - i1
    if size <= MOST_COMPARED:
        from difflib import SequenceMatcher  # only now: most permissions are for no edit, and an agent waits

        # Taking the most frequent lines for noise makes longer diffs, but without that large files take for ever.
        matcher = SequenceMatcher(None, old[i1:i2], new[i1:j2], autojunk=size > _THOROUGH)
        is_one = whole is not None and old != new
        for group in [matcher.get_opcodes()] if is_one else matcher.get_grouped_opcodes(CONTEXT):
            yield [(kind, a + i1, b + i1, c + i1, d + i1) for kind, a, b, c, d in group]
    else:
        yield [
            ("equal", i1, same, i1, same),
            ("replace", same, len(old) - tail, same, len(new) - tail),
            ("equal", len(old) - tail, i2, len(new) - tail, j2),
        ]


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    return next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _span(start: int, stop: int) -> str:
    """Lines as a diff names them."""
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE
