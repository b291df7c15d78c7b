"""How an outcome is told in each dialect: every end of an ask, as text and as data, error or not."""

from __future__ import annotations

import pytest

from sayso.asks.model import ATTACHED, CLIENT_FORM, Answer, Ask, Asker, Kind, NewAsk, Option, Outcome, Question, State
from sayso.dialects import auq, codenomad, get_answers, promptmanager, relay
from sayso.dialects.outcomes import outcome_data
from sayso.mcp_server.relay_calls import told_of
from sayso.records import replace

OPTIONS = (Option(id="1", label="Red"), Option(id="2", label="Blue"))
COLOUR = Question(id="1", text="Which colour?", kind=Kind.SELECT, options=OPTIONS)
OPEN = Ask(
    id="3f2a" * 8,
    call_id="call",
    tool="ask_user",
    questions=(COLOUR,),
    asker=Asker(),
    created_at=0,
    changed_at=0,
    timeout_ms=90_000,
)
BY_ADA = Outcome(person="ada", surface="terminal")
BLUE = replace(
    OPEN,
    state=State.ANSWERED,
    ended_at=1000,
    outcome=replace(BY_ADA, answers=(Answer(question="1", chosen=("2",)),)),
)
SKIPPED = replace(BLUE, outcome=replace(BY_ADA, answers=(Answer(question="1", note="ask Bob"),)))
NO = replace(OPEN, state=State.REJECTED, ended_at=1000, outcome=replace(BY_ADA, reason="not now"))
LATE = replace(OPEN, state=State.TIMED_OUT, ended_at=1000)

ENDS = {
    "auq answered": (auq.render(BLUE), "Here are the user's answers:\n\n1. Which colour?\n   → Blue", False),
    "auq skipped, with a note": (
        auq.render(SKIPPED),
        "Here are the user's answers:\n\n1. Which colour?\n   → (skipped)\n     Note: ask Bob",
        False,
    ),
    "auq rejected": (
        auq.render(NO),
        "The user rejected these questions. Reason: not now. Do not assume an answer.",
        False,
    ),
    "auq timed out": (
        auq.render(LATE),
        "Timeout: nobody answered within 90 seconds. Do not assume an answer. "
        "The question stays open; call again with the same questions to receive a late answer.",
        True,
    ),
    "one answered": (promptmanager.render(BLUE), "User selected: Blue", False),
    "one timed out": (promptmanager.render(LATE), promptmanager.TIMED_OUT, True),
    "one timed out, united": (
        promptmanager.render_united(LATE),
        "Nobody has answered within 90 seconds. The question is still open: do not guess. Call get_answers with ask_id "
        f'"{OPEN.id}" (and wait true to hold on) to receive the answer.',
        False,
    ),
    "many timed out": (
        codenomad.render(LATE),
        '{"answered": false, "cancelled": false, "timedOut": true, "answers": []}',
        False,
    ),
    "many rejected": (
        codenomad.render(NO),
        '{"answered": false, "cancelled": true, "timedOut": false, "answers": []}',
        False,
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_each_end_is_told_in_its_dialects_words(end: str) -> None:
    reply, text, is_error = ENDS[end]
    assert (reply.text, reply.is_error) == (text, is_error)


def test_the_data_says_who_answered_where_and_when() -> None:
    assert outcome_data(BLUE) == {
        "outcome": "answered",
        "ask_id": OPEN.id,
        "call_id": "call",
        "asked_at": "1970-01-01T00:00:00.000Z",
        "answers": [
            {
                "question_id": "1",
                "question": "Which colour?",
                "selected": ["Blue"],
                "selected_ids": ["2"],
                "text": None,
                "skipped": False,
            }
        ],
        "reason": None,
        "answered_by": "ada",
        "surface": "terminal",
        "answered_at": "1970-01-01T00:00:01.000Z",
        "late": False,
    }


@pytest.mark.finding("F-06")
def test_what_comes_by_the_relay_says_who_answered_and_when_it_really_was_asked_and_answered() -> None:
    new = NewAsk(tool="ask_user", questions=(COLOUR,), asker=Asker())
    asked = replace(BLUE, created_at=400)
    told = outcome_data(relay.ended_ask(new, relay.end_data(asked), asked_at=7_000, now=9_000))
    assert (told["asked_at"], told["answered_at"]) == ("1970-01-01T00:00:00.400Z", "1970-01-01T00:00:01.000Z")
    assert (told["answered_by"], told["answers"][0]["selected"]) == ("ada", ["Blue"])
    # Another relay says none of it, or what cannot be.
    for odd in ({}, {"askedAt": "now", "endedAt": 10_000, "by": 3, "late": "yes"}):
        plain = {"status": "answered", "answer": "Blue", "selectedOptions": [1], **odd}
        told = outcome_data(relay.ended_ask(new, plain, asked_at=7_000, now=9_000))
        assert (told["asked_at"], told["answered_at"]) == ("1970-01-01T00:00:07.000Z", "1970-01-01T00:00:09.000Z")
        assert (told["answered_by"], told["late"]) == ("", False)


@pytest.mark.finding("F-06")
def test_an_answer_that_the_relay_had_before_the_call_is_told_as_an_earlier_one() -> None:
    assert "given_earlier" not in (told_of(BLUE, began=1000).data or {})
    earlier = told_of(BLUE, began=1001).data or {}
    assert (earlier["outcome"], "This was settled" in earlier["given_earlier"]) == ("answered", True)


@pytest.mark.parametrize("state", [state for state in State if state not in (State.ANSWERED, State.PENDING)])
def test_no_end_but_an_answer_carries_answers(state: State) -> None:
    ended = replace(OPEN, state=state, ended_at=1000)
    for reply in (auq.render(ended), codenomad.render(ended), promptmanager.render(ended)):
        assert reply.data is not None
        assert (reply.data["outcome"], reply.data["answers"]) == (state, [])
        assert "Blue" not in reply.text


def test_several_own_words_and_a_note_are_all_told_in_a_sentence() -> None:
    question = replace(COLOUR, kind=Kind.MULTI_SELECT)
    answer = Answer(question="1", chosen=("1", "2"), text="and green", note="if it fits")
    told = replace(BLUE, questions=(question,), outcome=replace(BY_ADA, answers=(answer,)))
    assert (
        promptmanager.render(told).text == "User selected: Red, Blue\nUser answered: and green\nUser noted: if it fits"
    )


def test_where_a_file_lies_is_not_told_as_a_note_of_the_persons() -> None:
    place = f"{ATTACHED}boat.png (image/png), saved as /boat.png]"
    for note, told in ((place, place), (f"blue\n{place}", f"User noted: blue\n{place}")):
        answer = Answer(question="1", chosen=("1",), note=note)
        ended = replace(BLUE, outcome=replace(BY_ADA, answers=(answer,)))
        assert promptmanager.render(ended).text == f"User selected: Red\n{told}"


def test_what_was_wiped_never_passes_for_an_empty_answer() -> None:
    wiped = replace(BLUE, questions=(), outcome=BY_ADA, delivered_at=1000)
    reply = get_answers.render([wiped])
    assert "Its texts were wiped then" in reply.text
    assert reply.data is not None
    assert reply.data["answers"][0]["wiped"] is True


def test_what_was_filled_in_in_a_clients_form_is_never_told_as_the_persons_own_words() -> None:
    filled_in = replace(BLUE, outcome=replace(BY_ADA, surface=CLIENT_FORM))
    for ask, whose in ((filled_in, "in your client's own form"), (BLUE, "answered this themselves")):
        data = get_answers.render([ask]).data
        assert data is not None
        assert whose in data["message"]


def test_open_asks_are_named_and_nothing_is_assumed() -> None:
    reply = get_answers.render([OPEN, LATE])
    assert reply.text.startswith("Not answered yet, still open. Do not assume an answer. To hold on for one, call")
    assert reply.data is not None
    assert reply.data["message"] == reply.text
    assert [one["outcome"] for one in reply.data["pending"]] == ["pending", "timed_out"]
