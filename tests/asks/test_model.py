"""Which answers fit which questions, and that every one that does not is named."""

from __future__ import annotations

import pytest

from sayso.asks.model import (
    Answer,
    Ask,
    Asker,
    Kind,
    NewAsk,
    Option,
    Outcome,
    Question,
    State,
    fit,
    question_from_json,
)
from sayso.errors import InvalidInput
from sayso.records import asdict, replace

OPTIONS = (Option(id="1", label="Red"), Option(id="2", label="Blue"))
TEXT = Question(id="t", text="Why?")
SELECT = Question(id="s", text="Which?", kind=Kind.SELECT, options=OPTIONS)
MULTI = Question(id="m", text="Which ones?", kind=Kind.MULTI_SELECT, options=OPTIONS)
CONFIRM = Question(id="c", text="Sure?", kind=Kind.CONFIRM)
OPTIONAL = Question(id="o", text="Anything else?", required=False)


def an_ask(*questions: Question) -> Ask:
    return Ask(id="a", call_id="c", tool="t", questions=questions, asker=Asker(), created_at=0, changed_at=0)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (TEXT, Answer(question="t", text="because")),
        (TEXT, Answer(question="t", text=" \n because ")),
        (SELECT, Answer(question="s", chosen=("2",))),
        (SELECT, Answer(question="s", text="green")),
        (SELECT, Answer(question="s", chosen=("1",), note="if it must be")),
        (MULTI, Answer(question="m", chosen=("1", "2"))),
        (MULTI, Answer(question="m", chosen=("2",), text="and green")),
        (CONFIRM, Answer(question="c", chosen=("yes",))),
        (CONFIRM, Answer(question="c", chosen=("no",))),
        (OPTIONAL, Answer(question="o")),
    ],
)
def test_an_answer_that_fits_is_taken_as_it_is(question: Question, answer: Answer) -> None:
    assert fit(an_ask(question), [answer]) == (answer,)


@pytest.mark.parametrize(
    ("question", "answer", "problem"),
    [
        (TEXT, Answer(question="t"), "an answer is required."),
        (TEXT, Answer(question="t", text=" \n\t"), "the answer's own text is empty"),
        (TEXT, Answer(question="t", chosen=("1",)), '"1" is not one of its options'),
        (SELECT, Answer(question="s"), 'an answer is required. Choose from "Red", "Blue".'),
        (SELECT, Answer(question="s", chosen=("3",)), '"3" is not one of its options. They are "Red", "Blue".'),
        (SELECT, Answer(question="s", chosen=("1", "2")), "only one choice is allowed"),
        (SELECT, Answer(question="s", chosen=("1",), text="green"), "only one choice is allowed"),
        (MULTI, Answer(question="m", chosen=("1", "1")), "the same option is chosen twice"),
        (CONFIRM, Answer(question="c", text="perhaps"), 'it takes yes or no, not "perhaps"'),
        (CONFIRM, Answer(question="c", chosen=("yes", "no")), "only one choice is allowed"),
        (CONFIRM, Answer(question="c"), 'Choose from "Yes", "No".'),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_what_would(
    question: Question, answer: Answer, problem: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        fit(an_ask(question), [answer])
    assert problem in str(raised.value)
    assert f'question 1 ("{question.id}")' in str(raised.value)


def test_every_answer_that_does_not_fit_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as raised:
        fit(
            an_ask(TEXT, SELECT, CONFIRM),
            [Answer(question="s", chosen=("9",)), Answer(question="zz"), Answer(question="aa")],
        )
    assert [problem.path for problem in raised.value.problems] == [
        'answers["aa"]',
        'answers["zz"]',
        'question 1 ("t")',
        'question 2 ("s")',
        'question 3 ("c")',
    ]


def test_answers_come_in_the_order_of_the_questions_with_a_skip_for_what_was_left_out() -> None:
    given = [Answer(question="s", chosen=("1",)), Answer(question="t", text="because")]
    assert fit(an_ask(TEXT, OPTIONAL, SELECT), given) == (given[1], Answer(question="o"), given[0])


def test_a_confirm_has_yes_and_no_whatever_options_it_was_given() -> None:
    assert [option.label for option in CONFIRM.choices] == ["Yes", "No"]
    assert CONFIRM.option("yes") is not None
    assert SELECT.option("yes") is None


def test_only_pending_and_timed_out_asks_can_be_answered() -> None:
    assert [state for state in State if state.answerable] == [State.PENDING, State.TIMED_OUT]


def test_a_question_comes_back_from_json_as_it_was() -> None:
    for question in (TEXT, SELECT, MULTI, CONFIRM, OPTIONAL):
        assert question_from_json(asdict(question)) == question


def test_the_fingerprint_does_not_depend_on_half_surrogates_being_storable() -> None:
    new = NewAsk(tool="t", questions=(Question(id="1", text="\ud800"),), asker=Asker())
    assert len(new.fingerprint) == 64


@pytest.mark.parametrize(
    ("label", "name"),
    [("SQLite (Recommended)", "SQLite"), ("SQLite [recommended] ", "SQLite"), ("(recommended)", "(recommended)")],
)
def test_a_recommended_option_has_a_name_without_its_own_word_for_that(label: str, name: str) -> None:
    assert Option(id="1", label=label, recommended=True).name == name
    assert Option(id="1", label=label).name == label


def test_what_happened_instead_is_told_only_of_what_was_withdrawn() -> None:
    cancelled = replace(an_ask(TEXT), state=State.CANCELLED)
    assert cancelled.withdrawn == ""
    assert replace(cancelled, outcome=Outcome(reason="done elsewhere")).withdrawn == "done elsewhere"
    assert replace(an_ask(TEXT), state=State.REJECTED, outcome=Outcome(reason="no")).withdrawn == ""
