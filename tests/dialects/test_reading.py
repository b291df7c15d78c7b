"""Whatever a model sends, a dialect reads it or names every wrong field; it never stumbles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.asks.model import Asker, Kind
from sayso.config import Config, load
from sayso.dialects import ask_user, auq, codenomad, fields, get_answers, promptmanager, swissarmyhammer, tools
from sayso.dialects.dialect import Arguments, AskRequest
from sayso.errors import InvalidInput, Problem

CONFIG = load(environ={})
ASKER = Asker(client="tester", project="/project")
Read = Callable[[Arguments, Asker, Config], AskRequest]
READERS: tuple[Read, ...] = (ask_user.read, codenomad.read, promptmanager.read, auq.read_united, auq.read)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner), max_leaves=8
)
words = st.text(min_size=1, max_size=10)
option = words | st.fixed_dictionaries(
    {"label": words | anything}, optional={"description": anything, "recommended": anything}
)
a_question = st.fixed_dictionaries(
    {},
    optional={
        "question": words | anything,
        "prompt": words | anything,
        "type": st.sampled_from([*Kind]) | anything,
        "options": st.lists(option, max_size=5) | anything,
        "id": words | anything,
        "required": st.booleans() | anything,
        "placeholder": words | anything,
        "title": words | anything,
        "header": words | anything,
        "multiSelect": st.booleans() | anything,
    },
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "questions": st.lists(a_question | anything, max_size=12) | anything,
        "question": words | anything,
        "options": st.lists(option, max_size=5) | anything,
        "multiSelect": st.booleans() | anything,
        "title": words | anything,
        "timeout": st.integers(0, 2_000_000) | anything,
        "nonBlocking": st.booleans() | anything,
    },
)


def problems_of(read: Callable[[], object]) -> Sequence[Problem]:
    """What a reader refuses; anything else that it raises fails the test."""
    try:
        read()
    except InvalidInput as error:
        return error.problems
    return ()


@settings(max_examples=150, deadline=None)
@given(raw=arguments)
def test_any_arguments_are_read_or_refused_in_words(raw: dict[str, Any]) -> None:
    for read in READERS:
        if problems := problems_of(lambda: read(raw, ASKER, CONFIG)):  # noqa: B023
            assert all(problem.text for problem in problems)
            continue
        asked = read(raw, ASKER, CONFIG).new.questions
        ids = [question.id for question in asked]
        assert ids
        assert len(set(ids)) == len(ids)
        for question in asked:
            assert question.text.strip()
            assert bool(question.options) == (question.kind in (Kind.SELECT, Kind.MULTI_SELECT))


@settings(max_examples=200, deadline=None)
@given(raw=st.dictionaries(st.sampled_from(["ask_id", "wait", "question", "limit"]), anything))
def test_any_arguments_of_the_other_tools_are_read_or_refused_in_words(raw: dict[str, Any]) -> None:
    others: tuple[Callable[[Arguments], object], ...] = (
        get_answers.read,
        swissarmyhammer.read_question,
        swissarmyhammer.read_limit,
    )
    for read in others:
        assert all(problem.path for problem in problems_of(lambda: read(raw)))  # noqa: B023


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "nothing"),
        (True, "true"),
        ("a\x1b[31m", 'the text "a\\u001b[31m"'),
        ("x" * 100, "the text " + '"' + "x" * 59 + "…"),
        (1.5, "the number 1.5"),
        ([1, 2], "an array of 2"),
        ({}, "an object"),
    ],
)
def test_what_was_given_is_named_safely(value: object, told: str) -> None:
    assert fields.given(value) == told


def test_the_limits_of_each_tool_can_be_set() -> None:
    config = load(environ={"SAYSO_ASK_USER_MAX_QUESTIONS": "2", "SAYSO_ASK_USER_MAX_OPTIONS": "3"})
    three = {"questions": [{"question": "x"}] * 3}
    for tool in (tools.ask_user(config), codenomad.tool(config)):
        assert tool.schema["properties"]["questions"]["maxItems"] == 2
        with pytest.raises(InvalidInput, match="questions array exceeds maximum of 2"):
            tool.read(three, ASKER, config)
        with pytest.raises(InvalidInput, match="expected 1 to 3 options, got 4"):
            tool.read(
                {"questions": [{"question": "x", "type": "select", "options": ["a", "b", "c", "d"]}]}, ASKER, config
            )


def test_ids_that_are_made_up_never_meet_one_that_was_given() -> None:
    given_ids = [f"q_{number:06x}" for number in range(5)]
    raw = {"questions": [{"question": "x", "id": one} for one in given_ids] + [{"question": "x"}] * 5}
    ids = [question.id for question in codenomad.read(raw, ASKER, CONFIG).new.questions]
    assert len(set(ids)) == 10
    assert ids[:5] == given_ids


def test_the_strict_auq_tool_always_waits() -> None:
    asked = {"questions": [{"prompt": "x", "options": ["a", "b"]}]}
    assert auq.read({**asked, "nonBlocking": False}, ASKER, CONFIG).waits
    with pytest.raises(InvalidInput, match="nonBlocking: expected to be left out"):
        auq.read({**asked, "nonBlocking": True}, ASKER, CONFIG)
    assert not auq.read_united({**asked, "nonBlocking": True}, ASKER, CONFIG).waits


def test_the_listed_tool_names_every_kind_of_question() -> None:
    assert list(tools.KINDS) == [str(kind) for kind in Kind]


def test_one_who_asks_several_where_one_can_be_asked_is_told_how() -> None:
    with pytest.raises(InvalidInput) as refused:
        promptmanager.read({"questions": [{"question": "Which?"}]}, Asker(client="claude"), Config())
    told = {problem.path: problem.text for problem in refused.value.problems}
    assert "one question in a call. Give `question`" in told["questions"]
