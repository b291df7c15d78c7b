"""What a person has entered so far: kept and taken up again, whichever surface wrote it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.asks.samples import AGENT

from sayso.asks.draft import Draft, Said, from_json, to_json
from sayso.asks.model import Ask, Kind, Option, Question

OPTIONS = tuple(Option(id=f"o{number}", label=f"Option {number}") for number in range(3))
ASK = Ask(
    id="0" * 32,
    call_id="",
    tool="ask_user",
    asker=AGENT,
    questions=(
        Question(id="db", text="Which?", kind=Kind.MULTI_SELECT, options=OPTIONS),
        Question(id="name", text="What?"),
        Question(id="drop", text="May I?", kind=Kind.CONFIRM),
    ),
    created_at=0,
    changed_at=0,
)
ENTRIES = st.builds(
    Said,
    chosen=st.sampled_from([(), ("o0",), ("o1", "o2")]),
    text=st.text(),
    own=st.booleans(),
    note=st.text(),
    skipped=st.booleans(),
).filter(lambda said: not said.empty)


@given(
    said=st.fixed_dictionaries({}, optional={"db": ENTRIES}),
    name=st.text(min_size=1),
    step=st.integers(min_value=0, max_value=3),
    reason=st.text(),
)
def test_a_draft_comes_back_as_it_was_kept(said: dict[str, Said], name: str, step: int, reason: str) -> None:
    draft = Draft(said={**said, "name": Said(text=name, own=True)}, step=step, reason=reason)
    assert from_json(ASK, to_json(ASK, draft)) == draft


def test_an_empty_draft_is_not_kept() -> None:
    assert to_json(ASK, Draft(said={"db": Said()}, step=2)) == ""


def test_answers_that_another_program_kept_are_taken_up() -> None:
    told = [{"question": "db", "chosen": ["o2"]}, {"question": "name", "text": "so"}]
    draft = from_json(ASK, json.dumps({"answers": told, "step": 1}))
    assert draft == Draft(said={"db": Said(chosen=("o2",)), "name": Said(text="so", own=True)}, step=1)


def test_options_that_are_not_offered_are_left_out() -> None:
    body = json.dumps({"entered": {"db": {"chosen": ["mysql", "o1"], "text": 7}}, "step": 1, "reason": "why"})
    assert from_json(ASK, body) == Draft(said={"db": Said(chosen=("o1",))}, step=1, reason="why")


@pytest.mark.parametrize(
    "body",
    ["", "no json", "[]", '{"answers": 7}', '{"answers": [{"question": []}], "entered": [], "step": 99}', "null"],
)
def test_a_draft_that_cannot_be_read_is_an_empty_one(body: str) -> None:
    assert from_json(ASK, body) == Draft()


@given(
    st.text()
    | st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["answers", "entered", "reason", "chosen", "text", "question"]), inner)
        ),
    ).map(json.dumps)
)
def test_whatever_was_kept_a_draft_can_be_made_of_it(body: str) -> None:
    assert set(from_json(ASK, body).said) <= {"db", "name", "drop"}
