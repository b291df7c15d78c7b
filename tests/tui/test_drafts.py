"""Drafts: what was entered is never lost, by leaving, by switching, by quitting, or by a store that is away."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from tests.tui.harness import DATABASE, FOUR, NAME, Place, select, until

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, Said, answer, merged, to_json
from sayso.asks.model import Answer, Ask, Asker, Kind, Option, Question
from sayso.records import replace
from sayso.tui import draft as drafts
from sayso.tui import settling
from sayso.tui.answer import AnswerScreen
from sayso.tui.settling import SettlingScreen

pytestmark = pytest.mark.anyio

ASK = Ask(id="1", call_id="1", tool="ask_user", questions=FOUR, asker=Asker(), created_at=0, changed_at=0)


async def test_leaving_an_ask_keeps_what_was_entered_and_where(place: Place) -> None:
    place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("2", "1", "tab", "tab")
        await anna.type("billing")
        await anna.press("escape", "escape")
        await anna.sees("draft · waiting")
        await anna.open()
        await anna.sees("billing", "[x] Database", "[x] Regions", "[ ] Clean up", "[x] Name")


async def test_going_to_the_next_ask_and_back_keeps_both_drafts(place: Place) -> None:
    place.ask(NAME)
    place.ask(select("What else?"))
    async with place.inbox() as anna:
        await anna.press("down")
        await anna.open()
        await anna.type("billing")
        await anna.press("ctrl+n")
        await anna.sees("What else?", "1. Red")
        await anna.press("space", "]")
        await anna.sees("billing")
        await anna.press("escape", "[")
        await anna.sees("(*) 1. Red")


async def test_without_another_ask_there_is_nowhere_to_go(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("ctrl+n")
        await anna.sees("There is no other question.")


async def test_what_comes_after_a_pause_is_kept_without_another(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "_SAVE_EVERY", 3600.0)
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("b")
        await until(lambda: place.desk.draft(held.ask.id, "anna"), anna.screen)


async def test_quitting_at_once_keeps_the_draft(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("typed in a hurry")
    assert "typed in a hurry" in place.desk.draft(held.ask.id, "anna")
    async with place.inbox() as anna:
        await anna.sees("draft · waiting")
        await anna.open()
        await anna.sees("typed in a hurry")


async def test_a_draft_is_kept_while_it_is_typed(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("work in progress")
        await until(lambda: "work in progress" in place.desk.draft(held.ask.id, "anna"), anna.screen)


async def test_sending_leaves_no_draft_behind(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("billing")
        await until(lambda: place.desk.draft(held.ask.id, "anna"), anna.screen)
        await anna.press("enter", "enter")
        await place.outcome(held)
        await anna.sees("Sent. Waiting for claude-code to")
    assert place.desk.draft(held.ask.id, "anna") == ""


async def test_a_draft_that_falls_due_while_the_answer_is_sent_is_not_left_behind(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, due = place.ask(NAME), threading.Event()
    save_now, send = SettlingScreen._save_now, AskDesk.answer

    def saved_now(screen: SettlingScreen) -> None:
        save_now(screen)
        screen.call_later(due.set)

    async with place.inbox() as anna:
        await anna.open()
        await anna.type("billing")
        await until(lambda: "billing" in place.desk.draft(held.ask.id, "anna"), anna.screen)

        def sent_slowly(desk: AskDesk, *args: Any, **more: Any) -> Ask:
            screen = anna.app.screen
            assert isinstance(screen, SettlingScreen)
            due.clear()
            anna.app.call_from_thread(screen.enter, replace(screen.draft, reason="one key more"))
            assert due.wait(30)
            return send(desk, *args, **more)

        monkeypatch.setattr(SettlingScreen, "_save_now", saved_now)
        monkeypatch.setattr(AskDesk, "answer", sent_slowly)
        await anna.press("enter", "enter")
        await place.outcome(held)
        await anna.sees("Sent. Waiting for claude-code to")
    assert place.desk.draft(held.ask.id, "anna") == ""


async def test_a_reason_that_was_begun_is_kept(place: Place) -> None:
    place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("x")
        await anna.type("because")
        await anna.press("escape", "escape")
        await anna.sees("draft")
        await anna.open()
        await anna.press("x")
        await anna.sees("because")


async def test_a_draft_of_another_surface_is_taken_up(place: Place) -> None:
    held = place.ask(DATABASE, NAME)
    body = {"answers": [{"question": "db", "chosen": ["duck"]}, {"question": "name", "chosen": [], "text": "billing"}]}
    place.desk.keep_draft(held.ask.id, "anna", json.dumps(body))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("(*) 3. DuckDB", "[x] Database", "[x] Name")


async def test_words_that_were_entered_elsewhere_meanwhile_are_kept_beside_those_from_here(place: Place) -> None:
    held = place.ask(NAME)

    def elsewhere(text: str) -> None:
        draft = Draft().put(NAME, drafts.write(NAME, Said(), text))
        place.desk.keep_draft(held.ask.id, "anna", to_json(held.ask, draft))

    elsewhere("Own town")
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Own town")
        elsewhere("Own town and three long sentences")
        await anna.type("!")
        await anna.sees("Own town and three long sentences!", "You had entered more for this elsewhere")
        await until(lambda: "sentences!" in place.desk.draft(held.ask.id, "anna"), anna.screen)


async def test_a_row_is_not_answered_by_a_key_when_something_was_entered_for_it_elsewhere(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.sees("1 Red", "answer")
        draft = Draft().put(held.ask.questions[0], drafts.write(held.ask.questions[0], Said(), "mauve"))
        place.desk.keep_draft(held.ask.id, "anna", to_json(held.ask, draft))
        await anna.press("1")
        await anna.sees("You began to write something about this", "draft")
        assert not anna.app.shared.board.outgoing
        await anna.sees_not("answer  ")
        place.desk.keep_draft(held.ask.id, "anna", "")
        await anna.press("1")
        await until(lambda: held.ask.id in anna.app.shared.board.outgoing, anna.screen)


async def test_a_row_is_no_draft_any_more_when_what_was_entered_is_taken_out_elsewhere(place: Place) -> None:
    held = place.ask(select())
    draft = Draft().put(held.ask.questions[0], drafts.write(held.ask.questions[0], Said(), "mauve"))
    place.desk.keep_draft(held.ask.id, "anna", to_json(held.ask, draft))
    async with place.inbox() as anna:
        await anna.sees("draft")
        place.desk.keep_draft(held.ask.id, "anna", "")
        place.ask(select("Another one?"))
        await anna.sees("Another one?")
        await anna.sees_not("draft")


def _drafts_of(*texts: str) -> list[Draft]:
    return [Draft().put(NAME, drafts.write(NAME, Said(), text)) for text in texts]


@pytest.mark.parametrize(
    ("before", "here", "elsewhere", "both"),
    [
        ("a", "a b", "a", "a b"),
        ("a", "a", "a c", "a c"),
        ("a", "a b", "a c", "a c b"),
        ("a", "b", "a c", "a c\nb"),
        ("", "same", "same", "same"),
        ("", "b", "c", "c\nb"),
        ("a b", "", "a b c", "a b c"),
    ],
)
def test_what_was_entered_in_two_places_loses_nothing(before: str, here: str, elsewhere: str, both: str) -> None:
    assert merged(*_drafts_of(before, here, elsewhere)).of(NAME).text == both


def test_own_words_whose_place_an_option_took_go_along_as_a_note() -> None:
    said = drafts.choose(DATABASE, drafts.write(DATABASE, Said(), "MySQL"), "pg")
    assert said.text == "MySQL"
    assert answer(DATABASE, said) == Answer(question="db", chosen=("pg",), note="MySQL")
    assert answer(DATABASE, drafts.toggle_own(DATABASE, said)) == Answer(question="db", text="MySQL")


def test_blank_words_are_no_answer() -> None:
    assert answer(NAME, drafts.write(NAME, Said(), " \n ")).skipped


def test_only_the_first_recommended_option_counts_where_one_may_be_chosen() -> None:
    options = (Option(id="a", label="A", recommended=True), Option(id="b", label="B", recommended=True))
    single = Question(id="q", text="?", kind=Kind.SELECT, options=options)
    several = Question(id="q", text="?", kind=Kind.MULTI_SELECT, options=options)
    assert drafts.recommended(single) == ("a",)
    assert drafts.recommended(several) == ("a", "b")


async def test_the_ask_on_the_screen_is_the_one_that_was_opened(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        assert isinstance(anna.app.screen, AnswerScreen)
        assert anna.app.screen.ask.id == held.ask.id
