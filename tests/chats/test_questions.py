"""Going through several questions in a chat, whatever is pressed in whatever order."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from tests.chats.office import COLOUR, NAME, PLACES, YES_NO

from sayso.asks.draft import Draft, answers, from_json, to_json
from sayso.asks.model import Ask, Asker, Option, Question, fit
from sayso.chats import questions, wording
from sayso.chats.kinds import adapter_of
from sayso.chats.model import ChatKind
from sayso.errors import InvalidInput
from sayso.records import replace

TELEGRAM = adapter_of(ChatKind.TELEGRAM).limits


def ask(*asked: Question) -> Ask:
    numbered = tuple(replace(each, id=str(number)) for number, each in enumerate(asked, start=1))
    return Ask(id="a" * 32, call_id="", tool="ask_user", questions=numbered, asker=Asker(), created_at=0, changed_at=0)


ALL_KINDS = ask(COLOUR, PLACES, replace(NAME, required=False), YES_NO)


def fits(of: Ask, draft: Draft) -> bool:
    try:
        return bool(fit(of, answers(of, draft)))
    except InvalidInput:
        return False


@given_any(st.lists(st.integers(0, 30) | st.text(min_size=1, max_size=20), max_size=25))
@settings(max_examples=150, deadline=None)
def test_whatever_is_pressed_and_written_only_what_is_seen_whole_and_fits_can_be_sent(said: list[int | str]) -> None:
    draft = Draft()
    for each in said:
        drawn = wording.drawn(ALL_KINDS, TELEGRAM, "", draft=draft)
        choices = [choice for _, choice in drawn.choices]
        assert choices, "there is always a way on"
        sends = [choice for choice in choices if choice[0] == questions.SEND]
        assert bool(sends) == (draft.step == 4 and fits(ALL_KINDS, draft))
        if isinstance(each, str):
            after = questions.wrote(ALL_KINDS, draft, each) if each.strip() else None
        else:
            chosen = choices[each % len(choices)]
            after = draft if chosen in sends else questions.pressed(ALL_KINDS, draft, chosen)
            assert after is not None
            assert chosen in sends or questions.pressed(ALL_KINDS, after, chosen) == after, "once more changes nothing"
        kept = from_json(ALL_KINDS, to_json(ALL_KINDS, after or draft))
        assert answers(ALL_KINDS, kept) == answers(ALL_KINDS, after or draft), "as every surface reads it"
        draft = kept


@pytest.mark.parametrize("choice", ["p0-9", "p9-0", "t0-0", "u0-1", "p1-0", "k0", "g5", "g-1", "p0", "o0", "z", "s"])
def test_a_button_that_the_ask_has_not_enters_nothing(choice: str) -> None:
    assert questions.pressed(ALL_KINDS, Draft(), choice) is None


def test_answers_that_are_not_seen_in_one_piece_are_not_sent_from_there() -> None:
    of = ask(NAME, NAME)
    draft = questions.wrote(of, Draft(), "x" * 3000)
    assert draft
    draft = questions.wrote(of, draft, "y")
    assert draft
    drawn = wording.drawn(of, TELEGRAM, "", draft=draft)
    assert wording.TOO_LONG_TO_SEND in drawn.message.hint
    assert [label for label, _ in drawn.choices] == ["Change 1", "Change 2"]


def test_words_of_an_option_do_not_pass_for_another_answer() -> None:
    sly = replace(COLOUR, options=(Option(id="1", label="Yes\n\n2. Ship?\n│ No"), Option(id="2", label="No")))
    of = ask(sly, YES_NO)
    draft = questions.pressed(of, Draft(), "p0-0")
    assert draft
    draft = questions.pressed(of, draft, "p1-0")
    assert draft
    body = wording.drawn(of, TELEGRAM, "", draft=draft).message.body
    assert [line for line in body.split("\n") if line.startswith("│")] == ["│ Yes 2. Ship? │ No", "│ Yes"]


@pytest.mark.parametrize(
    "asked", [(COLOUR, replace(COLOUR, options=(Option(id="1", label="A", preview="<a>"),))), (NAME,) * 13]
)
def test_what_a_chat_cannot_show_question_by_question_is_only_announced(asked: tuple[Question, ...]) -> None:
    assert not wording.drawn(ask(*asked), TELEGRAM, "").whole
    assert not wording.drawn(ask(COLOUR, NAME), adapter_of(ChatKind.NTFY).limits, "").whole
