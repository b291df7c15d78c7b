"""JSON that remembers where it was written: sound texts are read at once, all others by who can say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.jsontext import MAX_DEPTH, Strict, read_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES, st.sampled_from([None, 2]))
def test_what_is_sound_is_read_alike_in_both_ways(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    root = Strict(text).root()
    found = read_json(text)
    assert found.value == root.value == value
    assert [found.line((child.step,)) for child in root.children] == [
        text.count("\n", 0, child.start) + 1 for child in root.children
    ]


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + closing * depth


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "is too large"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a": 1,}', "Remove the comma"),
        ("{'a': 1}", "in double quotes"),
        ('{"a": 1} 2', "something after the end"),
        ('{"a": 1 // one\n}', "no comments"),
        (nested(MAX_DEPTH + 1), "Nested deeper"),
        (nested(MAX_DEPTH + 1, '{"a": ', "}").replace(": }", ": 1}"), "Nested deeper"),
        (nested(100_000), "Nested deeper"),
        ("", "Expecting value"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=told):
        read_json(text)


def test_as_deep_as_may_be_is_read() -> None:
    assert read_json(nested(MAX_DEPTH)).duplicates == ()


@pytest.mark.parametrize("write", [str, lambda text: text.replace("\n", "\n\n")])
def test_a_member_that_is_there_twice_is_told_with_its_line_and_the_last_one_counts(
    write: Callable[[str], str],
) -> None:
    text = write('{"a": 1,\n"b": [{"c": 1,\n"c": 2}],\n"a": 3}')
    found = read_json(text)
    assert found.value == {"a": 3, "b": [{"c": 2}]}
    line = {name: text.count("\n", 0, text.rindex(f'"{name}"')) + 1 for name in "ac"}
    assert set(found.duplicates) == {(("a",), line["a"]), (("b", 0, "c"), line["c"])}
