"""Texts come back as they went in, whatever is in them; what cannot be kept is refused before anything is stored."""

from __future__ import annotations

import pytest
from tests.asks.samples import AGENT, ANNA, COLOUR, ask, own_text

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Kind, Option, Question
from sayso.errors import MAX_TEXT, InvalidInput
from sayso.records import replace

AWKWARD = {
    "NUL": "before\x00after",
    "quotes": "' \" ` ''; DROP TABLE asks; -- \\' \\\"",
    "newlines": "one\ntwo\r\nthree\rfour\u2028five\u0085six",
    "escapes": "\x1b[2J\x1b]0;title\x07\\x1b \\u0041 \\n %s %(x)s :name {x}",
    "right to left": "\u202eevil\u202c \u2067x\u2069 \u200f",
    "every control": "".join(map(chr, [*range(32), *range(127, 160)])),
    "emoji": "👩🏽‍🚀 🇩🇪 e\u0301 ﷽",
    "beyond the first plane": "\U0001f600\U0010ffff\ufffe\uffff",
    "spaces": "  leading, trailing and\ttabs \u00a0 ",
    "JSON": '{"title": null, "questions": []}',
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_text_comes_back_as_it_went_in(desk: AskDesk, text: str) -> None:
    option = Option(id=text or "1", label=text, description=text)
    question = Question(
        id=text, text=text, title=text, placeholder=text, kind=Kind.MULTI_SELECT, options=(option, option)
    )
    new = replace(ask(), title=text, questions=(question,), asker=replace(AGENT, session=text, version=text))
    held = desk.hold(new)
    found = desk.get(held.ask.id)
    assert (found.title, found.questions, found.asker) == (text, new.questions, new.asker)
    given = Answer(question=text, chosen=(option.id,), text=text, note=text)
    desk.keep_draft(held.ask.id, "anna", text)
    assert desk.draft(held.ask.id, "anna") == text
    desk.answer(held.ask.id, [given], ANNA)
    desk.release(held, "gone")
    again = desk.hold(new)
    assert again.reattached
    assert again.ask.answer(text) == given
    assert desk.history(search=text.strip("\x00 ")) == [again.ask]


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_reason_comes_back_as_it_went_in(desk: AskDesk, text: str) -> None:
    left = desk.leave(ask())
    outcome = desk.reject(left.id, text, ANNA).outcome
    assert outcome is not None
    assert desk.get(left.id).outcome == outcome
    assert outcome.reason == text


def test_a_million_characters_come_back_intact(desk: AskDesk) -> None:
    question, answer = ("q\u00e9\U0001f600" * MAX_TEXT)[:MAX_TEXT], ("a\n\x00" * MAX_TEXT)[:MAX_TEXT]
    left = desk.leave(ask(question))
    desk.answer(left.id, own_text(answer), ANNA)
    found = desk.get(left.id)
    assert found.questions[0].text == question
    assert found.answer("1") == own_text(answer)[0]


def test_options_with_equal_labels_stay_apart(desk: AskDesk) -> None:
    twins = (Option(id="1", label="Same"), Option(id="2", label="Same"))
    left = desk.leave(replace(ask(), questions=(replace(COLOUR, options=twins),)))
    desk.answer(left.id, [Answer(question="1", chosen=("2",))], ANNA)
    assert desk.get(left.id).answer("1") == Answer(question="1", chosen=("2",))


def test_half_a_surrogate_pair_in_an_ask_is_refused_and_nothing_is_opened(desk: AskDesk) -> None:
    broken = replace(
        ask(title="\ud800"),
        questions=(replace(COLOUR, options=(COLOUR.options[0], Option(id="2", label="x\udfff"))),),
        asker=replace(AGENT, project="/srv/\udce9t\udce9"),
    )
    for put in (desk.hold, desk.leave):
        with pytest.raises(InvalidInput) as raised:
            put(broken)
        assert [problem.path for problem in raised.value.problems] == [
            "questions[0].options[1].label",
            "asker.project",
            "title",
        ]
    assert desk.inbox() == []


def test_too_long_a_text_in_an_ask_is_refused_and_nothing_is_opened(desk: AskDesk) -> None:
    with pytest.raises(InvalidInput, match=r"questions\[0\].text: is 1,000,001 characters long; at most 1,000,000"):
        desk.hold(ask("x" * (MAX_TEXT + 1)))
    assert desk.inbox() == []


@pytest.mark.parametrize("text", ["\ud83d", "x" * (MAX_TEXT + 1)], ids=["surrogate", "too long"])
def test_an_answer_or_reason_that_cannot_be_kept_is_refused_and_the_ask_stays_open(desk: AskDesk, text: str) -> None:
    left = desk.leave(ask())
    with pytest.raises(InvalidInput, match=r'question 1 \("1"\)'):
        desk.answer(left.id, own_text(text), ANNA)
    with pytest.raises(InvalidInput, match="reason"):
        desk.reject(left.id, text, ANNA)
    assert desk.get(left.id) == left
