"""A short question is answered by one key where it is listed, and for a while that can be taken back."""

from __future__ import annotations

import pytest
from tests.tui.harness import DROP, NAME, REGIONS, Person, Place, option, select, until
from tests.tui.test_reflexes import COMMAND, permission

from sayso.asks.desk import Held
from sayso.asks.model import Answer, Question, Settler, State
from sayso.tui.inbox import InboxScreen

pytestmark = pytest.mark.anyio

COLOUR = select("Which colour?", option("r", "Red"), option("b", "Blue", recommended=True))
BEN = Settler(person="ben", surface="browser")
TODAY = "Roll it all back today"
TEN = select("Which one?", *(option(f"o{n}", f"N{n}") for n in range(10)))
DESCRIBED = select("Which base?", option("a", "A", "One server."), option("b", "B"))
LIKE_TWO = select("Which of the two?", option("a", "Keep it  2 Leave it"), option("b", "Drop it"))
ALIKE = select("Which of these?", option("a", "Same"), option("b", "Same"))


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is about to be sent waits for as long as the test takes."""
    monkeypatch.setattr("sayso.tui.inbox.SECONDS_TO_UNDO", 600)


def chosen(place: Place, held: Held) -> tuple[str, ...]:
    ask = place.now(held)
    assert ask.outcome is not None
    return ask.outcome.answers[0].chosen


async def at_hand(anna: Person, held: Held) -> None:
    """Wait until it is offered to be answered: the cursor must have rested on it."""
    inbox = anna.app.screen
    assert isinstance(inbox, InboxScreen)
    await until(lambda: inbox._readable is not None and inbox._readable.id == held.ask.id, anna.screen)


def outgoing(anna: Person) -> dict[str, str]:
    return {ask_id: going.chosen for ask_id, going in anna.app.shared.board.outgoing.items()}


def counts_down(anna: Person, answer: str) -> bool:
    (going,) = anna.app.shared.board.outgoing.values()
    return anna.app.shared.texts.sent_in.format(answer=answer, n=going.seconds) in anna.screen()


@pytest.mark.parametrize("size", [(60, 20), (120, 30)], ids=["on the row", "beside the list"])
async def test_one_key_answers_a_short_question_where_it_is_listed(
    place: Place, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.tui.inbox.SECONDS_TO_UNDO", 1)
    held = place.ask(COLOUR)
    async with place.inbox(size) as anna:
        await anna.sees("2 Blue (recommended)", "1-2 answer")
        await anna.press("1")
        assert (await place.outcome(held)).state is State.ANSWERED
        await anna.sees("Sent.")
    assert chosen(place, held) == ("r",)
    assert place.desk.draft(held.ask.id, "anna") == ""


@pytest.mark.usefixtures("patience")
async def test_what_one_key_answered_can_be_taken_back(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.sees("y Yes  n No", "y n answer")
        await anna.press("y")
        await anna.sees("Yes: sent in", "u take it back", "Yes, about to be sent")
        await until(lambda: "yes" in place.desk.draft(held.ask.id, "anna"), lambda: "the draft to be kept")
        await anna.press("u")
        await anna.sees("Taken back, not sent: Yes", "y n answer")
        assert "u take it back" not in anna.screen()
    assert place.now(held).state is State.PENDING
    assert place.desk.draft(held.ask.id, "anna") == ""


@pytest.mark.usefixtures("patience")
async def test_the_answer_at_the_cursor_is_the_one_that_is_taken_back(place: Place) -> None:
    first, second = place.ask(DROP), place.ask(COLOUR)
    async with place.inbox() as anna:
        await at_hand(anna, second)
        await anna.press("2")
        await anna.sees("Blue: sent in")
        await anna.press("down")
        await at_hand(anna, first)
        await anna.sees("Blue (Which colour?): sent in")
        await anna.press("n")
        await anna.sees("No: sent in")
        await anna.press("up")
        await anna.sees("Blue: sent in")
        await anna.press("u")
        await anna.sees("Taken back, not sent: Blue (Which colour?)", "No (May I drop the old table?): sent in")
        assert outgoing(anna) == {first.ask.id: "no"}
        await anna.press("u")
        assert not outgoing(anna)


@pytest.mark.usefixtures("patience")
async def test_a_key_that_is_held_down_on_a_row_answers_nothing(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await at_hand(anna, held)
        await anna.hold("y")
        assert not outgoing(anna)
        await anna.press("y")
        await anna.sees("Yes: sent in")
        assert outgoing(anna) == {held.ask.id: "yes"}


@pytest.mark.usefixtures("patience")
async def test_that_somebody_else_was_first_is_said_before_it_would_be_sent(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await at_hand(anna, held)
        await anna.press("y")
        await anna.sees("Yes: sent in")
        place.desk.answer(held.ask.id, [Answer(question="drop", chosen=("no",))], BEN)
        await anna.sees("Not sent:")
        assert not outgoing(anna)
        await anna.sees_not("sent in")
    assert chosen(place, held) == ("no",)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("keys", [["q"], ["ctrl+q"], ["ctrl+c", "ctrl+c"]], ids=" ".join)
async def test_whoever_quits_has_answered(place: Place, keys: list[str]) -> None:
    first, second = place.ask(DROP), place.ask(COLOUR)
    async with place.inbox() as anna:
        await anna.sees("1-2 answer")
        await anna.press("2")
        await anna.sees("Blue: sent in")
        await anna.press("down")
        await at_hand(anna, first)
        await anna.press("n")
        await anna.sees("No: sent in")
        assert {place.now(held).state for held in (first, second)} == {State.PENDING}
        await anna.press(*keys)
    assert (chosen(place, first), chosen(place, second)) == (("no",), ("b",))


@pytest.mark.usefixtures("patience")
async def test_an_end_that_nobody_chose_leaves_the_answer_a_draft(place: Place) -> None:
    held = place.ask(COLOUR)
    async with place.inbox() as anna:
        await anna.sees("1-2 answer")
        await anna.press("1")
        await anna.sees("Red: sent in")
        anna.app.exit()
    assert place.now(held).state is State.PENDING
    assert "r" in place.desk.draft(held.ask.id, "anna")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_countdown_is_seen_whole_beside_a_notice(place: Place, size: tuple[int, int], language: str) -> None:
    place.environ["SAYSO_LANGUAGE"] = language
    held = place.ask(select("Go?", option("r", TODAY), option("b", "No")))
    async with place.inbox(size) as anna:
        await at_hand(anna, held)
        await anna.press("1")
        await until(lambda: outgoing(anna), anna.screen)
        anna.app.notify("Something else has happened. " * 6, markup=False, timeout=600)
        await until(lambda: "Something else" in anna.screen() and counts_down(anna, TODAY), anna.screen)
        await anna.pilot.resize_terminal(40, 20)
        await until(lambda: "Something else" in anna.screen() and counts_down(anna, "…"), anna.screen)


@pytest.mark.usefixtures("patience")
async def test_a_key_is_not_for_the_ask_that_came_in_the_place_of_another(place: Place) -> None:
    held, gone = place.ask(DROP), place.ask(COLOUR)
    async with place.inbox() as anna:
        await at_hand(anna, gone)
        place.desk.cancel(gone.ask.id, anna.app.shared.settler)
        await at_hand(anna, held)
        await anna.press("y")
        await anna.sees("another question has come to the cursor")
        assert not outgoing(anna)
        await anna.press("n")
        await anna.sees("No: sent in")
        assert outgoing(anna) == {held.ask.id: "no"}


@pytest.mark.usefixtures("patience")
async def test_who_opens_what_is_about_to_be_sent_goes_on_with_it(place: Place) -> None:
    held = place.ask(COLOUR)
    async with place.inbox() as anna:
        await anna.sees("1-2 answer")
        await anna.press("1")
        await anna.sees("Red: sent in")
        await anna.open()
        await anna.sees("(*) 1. Red")
        assert not outgoing(anna)
    assert place.now(held).state is State.PENDING


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("key", ["1", "y", "n"])
async def test_a_held_key_and_a_burst_answer_nothing_in_the_list(place: Place, key: str) -> None:
    colour = place.ask(COLOUR)
    place.ask(DROP)
    async with place.inbox() as anna:
        await anna.sees("y n answer")
        await anna.type(f"{key}es")
        assert not outgoing(anna)
        await anna.press("down")
        await at_hand(anna, colour)
        await anna.press_after(0.3, "1")
        await anna.sees("Not taken:")
        assert anna.screen().count("Not taken:") == 1
        assert not outgoing(anna)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "question",
    [
        NAME,
        REGIONS,
        TEN,
        DESCRIBED,
        LIKE_TWO,
        ALIKE,
        select("Which *colour*?"),
        select("Which colour?\n\nOf the old ones."),
    ],
    ids=["words", "several", "ten options", "described", "like two", "alike", "marked up", "two paragraphs"],
)
async def test_what_is_not_all_in_view_takes_no_key_in_the_list(place: Place, question: Question) -> None:
    held = place.ask(question)
    async with place.inbox() as anna:
        await anna.sees("enter open")
        await anna.press("1", "y")
        assert "answer" not in anna.screen().split("\n")[-1]
        assert not outgoing(anna)
    assert place.now(held).state is State.PENDING


@pytest.mark.usefixtures("patience")
async def test_a_key_that_does_not_answer_a_row_says_what_to_press(place: Place) -> None:
    held = place.ask(DROP, title="The old table")
    async with place.inbox() as anna:
        inbox = anna.app.screen
        assert isinstance(inbox, InboxScreen)
        await until(lambda: inbox._looked_at == held.ask.id, anna.screen)
        await anna.press("y")
        await anna.sees("not all of it is in view here. Press enter to open it.")
        assert not outgoing(anna)
    assert place.now(held).state is State.PENDING


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("question", [None, COMMAND], ids=["permission", "command"])
async def test_no_permission_is_decided_on_its_row(place: Place, question: Question | None) -> None:
    held = permission(place, question) if question else permission(place)
    async with place.inbox() as anna:
        await anna.sees("enter open")
        await anna.press("1", "y", "n")
        assert not outgoing(anna)
    assert place.now(held).state is State.PENDING


@pytest.mark.usefixtures("patience")
async def test_words_that_were_begun_are_not_lost_to_one_key(place: Place) -> None:
    held = place.ask(COLOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("o")
        await anna.type("violet")
        await anna.press("escape", "escape")
        await anna.sees("draft")
        await anna.sees_not("1-2 answer")
        await anna.press("1")
        await anna.sees("You began to write something")
        assert not outgoing(anna)
    assert "violet" in place.desk.draft(held.ask.id, "anna")
