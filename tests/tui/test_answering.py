"""Answering in the terminal inbox: every kind of question, with keys and with the mouse."""

from __future__ import annotations

import pytest
from tests.tui.harness import DATABASE, DROP, FOUR, NAME, REGIONS, Place, option, select

from sayso.asks.model import Answer, Kind, Question, Settler, State
from sayso.records import replace

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("A-31", "N-28")
async def test_all_questions_of_an_ask_are_answered_one_by_one_and_sent_together(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Which database", "[ ] Database", "[ ] Regions", "[ ] Clean up", "[ ] Name", "Review")
        await anna.press("2")
        await anna.sees("Where should it run?")
        await anna.press("space", "down", "space", "enter")
        await anna.sees("May I drop")
        await anna.press("n")
        await anna.sees("What should the service be called?")
        await anna.type("billing")
        assert place.now(held).state is State.PENDING
        await anna.press("enter")
        await anna.sees("Check your answers", "SQLite", "Frankfurt", "Dublin", "billing")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.answers == (
        Answer(question="db", chosen=("lite",)),
        Answer(question="regions", chosen=("fra", "dub")),
        Answer(question="drop", chosen=("no",)),
        Answer(question="name", text="billing"),
    )
    assert (ended.outcome.person, ended.outcome.surface) == ("anna", "terminal")


@pytest.mark.requirement("N-29")
async def test_the_title_stands_above_the_questions(place: Place) -> None:
    place.ask(DROP, title="Before the release")
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("May I drop")
        lines = anna.screen().split("\n")
        assert "Before the release" in lines[1]


@pytest.mark.requirement("N-30")
async def test_the_placeholder_is_shown_until_something_is_typed(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("orders-api")
        await anna.type("x")
        await anna.sees_not("orders-api")


@pytest.mark.requirement("N-31")
async def test_markdown_is_rendered(place: Place) -> None:
    place.ask(Question(id="q", text="Use **bold** and `code`:\n\n- one\n- two\n\n```python\nx = 1\n```"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Use bold and code:", "- one", "x = 1")
        assert "**" not in anna.screen()
        assert "```" not in anna.screen()


@pytest.mark.requirement("N-32")
async def test_an_optional_question_can_be_skipped(place: Place) -> None:
    held = place.ask(REGIONS, DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("optional", "s skip")
        await anna.press("s")
        await anna.sees("May I drop")
        await anna.press("y")
        await anna.sees("(skipped)")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.answer("regions") == Answer(question="regions")


async def test_skipping_drops_no_words_that_were_written(place: Place) -> None:
    held = place.ask(replace(select(), required=False), DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("o")
        await anna.type("only on Sundays")
        await anna.press("up", "s")
        await anna.sees('You also wrote "only on Sundays".')
        await anna.press("tab", "y")
        await anna.sees("only on Sundays")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.answer("q") == Answer(question="q", text="only on Sundays")


@pytest.mark.requirement("N-33")
async def test_a_required_question_cannot_be_skipped(place: Place) -> None:
    held = place.ask(DROP, REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("May I drop")
        assert "skip" not in anna.screen()
        await anna.press("s", "tab", "tab")
        await anna.sees("(needs an answer)")
        await anna.press("enter")
        await anna.sees("Question 1 needs an answer", "May I drop")
        assert place.now(held).state is State.PENDING


@pytest.mark.requirement("N-34")
async def test_only_one_option_of_a_select_can_be_chosen(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("( ) 1. Red")
        await anna.press("1")
        await anna.sees("Check your answers")
        await anna.press("shift+tab")
        await anna.sees("(*) 1. Red")
        await anna.press("2", "shift+tab")
        await anna.sees("( ) 1. Red", "(*) 2. Blue")
        await anna.press("tab", "enter")
        assert (await place.outcome(held)).answer("q") == Answer(question="q", chosen=("b",))


@pytest.mark.requirement("N-35")
async def test_several_options_of_a_multi_select_can_be_chosen_and_taken_back(place: Place) -> None:
    held = place.ask(REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("[ ] 1. Frankfurt")
        await anna.press("1", "2", "3", "1")
        await anna.sees("[ ] 1. Frankfurt", "[x] 2. Dublin", "[x] 3. Virginia")
        await anna.press("enter", "enter")
        assert (await place.outcome(held)).answer("regions") == Answer(question="regions", chosen=("dub", "iad"))


@pytest.mark.requirement("N-36")
@pytest.mark.parametrize(("key", "chosen"), [("y", "yes"), ("n", "no"), ("1", "yes"), ("2", "no")])
async def test_a_confirm_is_answered_yes_or_no(place: Place, key: str, chosen: str) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("1. Yes", "2. No")
        assert "Other" not in anna.screen()
        await anna.press(key)
        await anna.sees("Check your answers")
        await anna.press("enter")
        assert (await place.outcome(held)).answer("drop") == Answer(question="drop", chosen=(chosen,))


@pytest.mark.requirement("N-37")
async def test_own_words_can_be_given_instead_of_an_option(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Other: my own words")
        await anna.press("1", "shift+tab", "o")
        await anna.type("green")
        await anna.sees("( ) 1. Red", "(*) Other")
        await anna.press("enter", "enter")
        assert (await place.outcome(held)).answer("q") == Answer(question="q", text="green")


@pytest.mark.requirement("N-37")
async def test_own_words_can_be_given_beside_the_options_of_a_multi_select(place: Place) -> None:
    held = place.ask(REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Where should it run?")
        await anna.press("2", "o")
        await anna.type("Tokyo")
        await anna.press("enter", "enter")
        ended = await place.outcome(held)
    assert ended.answer("regions") == Answer(question="regions", chosen=("dub",), text="Tokyo")


async def test_going_down_from_the_last_option_leads_into_own_words_and_up_leads_back(place: Place) -> None:
    place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Which colour?")
        await anna.press("down", "down", "enter")
        await anna.type("teal")
        await anna.press("up")
        await anna.sees("> (*) Other")
        await anna.press("up", "up", "space")
        await anna.sees("(*) 1. Red", "teal")


async def test_one_key_accepts_all_that_is_recommended_and_keeps_what_was_chosen(place: Place) -> None:
    held = place.ask(replace(DATABASE, required=False), REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("(recommended)", "r accept recommended")
        await anna.press("2", "shift+tab", "r")
        await anna.sees("Check your answers", "SQLite", "Frankfurt")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.answer("db") == Answer(question="db", chosen=("lite",))
    assert ended.answer("regions") == Answer(question="regions", chosen=("fra",))


async def test_accepting_leads_to_the_first_question_that_still_needs_an_answer(place: Place) -> None:
    place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Which database")
        await anna.press("r")
        await anna.sees("May I drop", "[x] Database", "[x] Regions", "[ ] Clean up")


async def test_a_note_goes_with_any_answer(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("May I drop")
        await anna.press("a")
        await anna.type("after the backup")
        await anna.press("escape", "y")
        await anna.sees("Note: after the backup")
        await anna.press("enter")
        assert (await place.outcome(held)).answer("drop") == Answer(
            question="drop", chosen=("yes",), note="after the backup"
        )


async def test_a_free_answer_can_have_several_lines_and_wide_characters(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("orders-api")
        await anna.type("請求書")
        await anna.press("ctrl+j")
        await anna.type("zweite")
        await anna.sees("請求書", "zweite")
        await anna.press("enter", "enter")
        assert (await place.outcome(held)).answer("name") == Answer(question="name", text="請求書\nzweite")


async def test_everything_can_be_done_with_the_mouse(place: Place) -> None:
    held = place.ask(select(), REGIONS)
    async with place.inbox() as anna:
        await anna.click("Which colour?")
        await anna.sees("2. Blue")
        await anna.click("2. Blue")
        await anna.click("3. Virginia")
        await anna.sees("[x] 3. Virginia")
        await anna.click("Review")
        await anna.sees("Blue", "Virginia")
        await anna.click("send  x reject")
        ended = await place.outcome(held)
    assert ended.answer("q") == Answer(question="q", chosen=("b",))
    assert ended.answer("regions") == Answer(question="regions", chosen=("iad",))


async def test_from_the_review_a_question_can_be_gone_back_to_by_its_number(place: Place) -> None:
    place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Which database")
        await anna.press("ctrl+s")
        await anna.sees("Check your answers")
        await anna.press("3")
        await anna.sees("1. Yes")


async def test_a_question_with_many_options_stays_quick(place: Place) -> None:
    many = tuple(option(str(number), f"Option {number}", "with a description " * 9) for number in range(10_000))
    held = place.ask(select("Which one?", *many))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("1. Option 0")
        await anna.press("end", "up", "enter")
        await anna.sees("Option 9999")
        await anna.press("enter")
        assert (await place.outcome(held)).answer("q") == Answer(question="q", chosen=("9999",))


async def test_a_kind_of_question_decides_which_keys_are_offered(place: Place) -> None:
    place.ask(Question(id="q", text="Say something", kind=Kind.TEXT, required=False))
    async with place.inbox() as anna:
        await anna.open()
        screen = anna.app.screen
        offered = {name for name in ("mark", "accept", "other", "submit") if screen.check_action(name, ())}
        assert not offered
        assert screen.check_action("skip", ())


async def test_a_label_that_says_itself_that_it_is_recommended_is_marked_once(place: Place) -> None:
    options = (option("a", "SQLite (Recommended)", recommended=True), option("b", "Files"))
    held = place.ask(Question(id="q", text="Where?", kind=Kind.SELECT, options=options))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("1. SQLite  (recommended)")
        await anna.press("1", "ctrl+s", "enter")
        ended = await place.outcome(held)
    assert ended.answer("q") == Answer(question="q", chosen=("a",))


@pytest.mark.finding("F-07")
async def test_enter_chooses_nothing_of_a_multi_select_in_which_nothing_is_marked(place: Place) -> None:
    held = place.ask(replace(REGIONS, required=True))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("down", "enter")
        await anna.sees("Nothing is marked yet. space marks", "[ ] 2. Dublin")
        await anna.press("space", "enter", "enter")
        assert (await place.outcome(held)).answer("regions") == Answer(question="regions", chosen=("dub",))


@pytest.mark.finding("F-07")
async def test_an_optional_multi_select_in_which_nothing_is_marked_is_skipped_by_enter(place: Place) -> None:
    held = place.ask(REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("enter")
        await anna.sees("Check your answers", "(skipped)")
        await anna.press("enter")
        assert (await place.outcome(held)).answer("regions") == Answer(question="regions")


@pytest.mark.finding("F-65")
async def test_enter_in_the_review_acts_on_the_row_at_the_cursor(place: Place) -> None:
    held = place.ask(select("First?"), select("Second?", question_id="q2"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1", "1")
        await anna.sees("> Send", "enter send")
        await anna.press("up")
        await anna.sees("> 2. Second?", "enter change")
        await anna.press("enter")
        await anna.sees("Second?", "(*) 1. Red")
        assert place.now(held).state is State.PENDING
        await anna.press("2")
        await anna.sees("> Send")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert [answer.chosen for answer in ended.outcome.answers] == [("r",), ("b",)]  # type: ignore[union-attr]


@pytest.mark.finding("F-65")
async def test_the_review_of_an_ask_that_was_settled_elsewhere_offers_nothing_to_send(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1")
        await anna.sees("> Send")
        place.desk.reject(held.ask.id, "no", Settler(person="ben", surface="browser"))
        await anna.sees("This has ended. What you entered is not sent any more.", "Already rejected by ben")
        assert "Send" not in anna.screen()
        assert "sends them" not in anna.screen()
        assert not anna.app.screen.check_action("send", ())


@pytest.mark.finding("F-65")
async def test_a_note_alone_leads_back_to_the_question_it_is_for(place: Place) -> None:
    held = place.ask(DROP, NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("a")
        await anna.type("after the backup")
        await anna.press("enter")
        await anna.sees("> ( ) 1. Yes")
        await anna.press("y")
        await anna.sees("What should the service be called?")
        await anna.press("ctrl+s")
        await anna.sees("Note: after the backup")
    assert place.now(held).state is State.PENDING


@pytest.mark.finding("F-65")
async def test_asks_are_gone_through_from_within_a_field_too(place: Place) -> None:
    place.ask(select("Which colour?"))
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("What should the service be called?")
        await anna.press("ctrl+n")
        await anna.sees("Which colour?")
        await anna.press("ctrl+o")
        await anna.sees("What should the service be called?")
        await anna.type("[]")
        await anna.sees("[]")


async def test_the_key_to_the_shell_takes_back_nothing_that_was_typed(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("billing")
        await anna.press("ctrl+z")
        await anna.sees("billing")
