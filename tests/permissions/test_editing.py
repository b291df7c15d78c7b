"""Edit, then allow: what a person makes of an action is shown, digested and recorded as it is, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import InvalidInput
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.editing import changed, difference, edited, to_edit
from sayso.permissions.parts import PartName, parts_of
from sayso.permissions.seen_file import seen

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def action(kind: ActionKind, tool: str, **given: Any) -> Action:
    return Action(kind=kind, tool=tool, folder="/srv/shop", data={"input": given})


PUSH = action(ActionKind.SHELL, "Bash", command="git push --force", timeout=5)


def refusal(wanted: Action, text: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        edited(wanted, text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (PUSH, "command"),
        (action(ActionKind.EDIT, "Write", file_path="/x", content="a\n"), "content"),
        (action(ActionKind.EDIT, "Edit", file_path="/x", old_string="a", new_string=""), "new_string"),
        (action(ActionKind.PLAN, "ExitPlanMode", plan="# First"), "plan"),
        (action(ActionKind.EDIT, "MultiEdit", file_path="/x", edits=[]), ""),
        (action(ActionKind.FETCH, "WebFetch", url="https://example.org"), ""),
        (action(ActionKind.SHELL, "Bash", command="ls \u202e\r"), ""),
    ],
)
def test_the_text_of_simple_kinds_is_edited_as_it_is_and_all_else_as_json(wanted: Action, field: str) -> None:
    form = to_edit(wanted)
    assert form.field == field
    assert form.text.isprintable() or "\n" in form.text
    assert edited(wanted, form.text).data["input"] == wanted.data["input"]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([ActionKind.SHELL, ActionKind.OTHER]))
def test_what_nobody_changed_is_the_same_action_whatever_is_in_it(given_: dict[str, Any], kind: ActionKind) -> None:
    given_ = {**given_, "command": f"x{given_.get('command', '')}"}
    wanted = Action(kind=kind, tool="Any", folder="/", data={"input": given_})
    assert edited(wanted, to_edit(wanted).text).digest == wanted.digest
    assert difference(wanted, wanted) == ()


def test_an_edited_action_is_shown_whole_with_what_was_changed() -> None:
    dry = edited(PUSH, "git push --dry-run\n# \u200b")
    assert dry.digest != PUSH.digest
    assert dry.data["input"] == {"command": "git push --dry-run\n# \u200b", "timeout": 5}
    assert any("git push --dry-run\n# <U+200B>" in part.text for part in parts_of(dry))
    (part,) = difference(PUSH, dry)
    assert (part.name, part.about, part.language) == (PartName.EDITED, "command", "diff")
    assert "-git push --force" in part.text
    assert "+# <U+200B>" in part.text


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": "x"}, {"a": "y"}, "-x\n+y"),
        ({"a": "x\ny"}, {"a": "x\nz"}, "@@ -1,2 +1,2 @@\n x\n-y\n+z"),
        ({"a": "x"}, {"a": "x\n"}, "-x\n\\ No newline at end of file\n+x"),
        ({}, {"a": 5}, "+5"),
        ({"a": ""}, {}, '-""\n+(not there)'),
        ({"a": "5"}, {"a": 5}, '-"5"\n+5'),
    ],
)
def test_whatever_was_changed_is_seen(before: dict[str, Any], after: dict[str, Any], told: str) -> None:
    one, other = (action(ActionKind.OTHER, "Any", **given) for given in (before, after))
    assert [part.text for part in difference(one, other)] == [told]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "expected an object with the fields of the tool, got []"),
        ('{"url": 7}', "url: expected a text, as the agent gave it, got 7"),
        ("{}", "url: is missing"),
        ('{"url": "x", "deep": NaN}', "a number that JSON does not know"),
        ('{"url": "x", "deep": 1e999}', "a number that JSON does not know"),
        ('{"url": "\\ud800"}', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_edit_is_refused_with_its_place(text: str, why: str) -> None:
    assert why in refusal(action(ActionKind.FETCH, "WebFetch", url="https://example.org"), text)


def test_a_number_that_json_does_not_know_is_refused_wherever_it_comes_from() -> None:
    with pytest.raises(InvalidInput, match=r"\binput\.timeout: is Infinity\. Give a number\."):
        changed(PUSH, {"command": "git push", "timeout": float("inf")})


def test_a_command_that_says_nothing_is_refused() -> None:
    assert "command: is empty" in refusal(PUSH, " \n")


def test_an_edited_file_is_compared_with_the_file_as_it_was_shown(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text("one\ntwo\nthree\n")
    given = {"file_path": str(file), "content": "one\n2\nthree\n"}
    data = {"input": given, "diff": "", "file": seen(file).plain}
    wanted = Action(kind=ActionKind.EDIT, tool="Write", folder=str(tmp_path), data=data)
    assert "-two\n+TWO" in edited(wanted, "one\nTWO\nthree\n").data["diff"]
    elsewhere = changed(wanted, {**given, "file_path": "/etc/passwd"})
    assert "file" not in elsewhere.data, "nothing is said of a file that was not compared"
    file.write_text("something else\n")
    assert "its present text is not known" in edited(wanted, "one\nTWO\n").data["diff"]
    assert json.dumps(edited(wanted, "x").plain)
