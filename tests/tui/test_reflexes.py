"""Only a deliberate act on what is shown answers anything: no held key, no burst, no key that came too soon."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.tui.harness import DROP, NAME, REGIONS, WAIT, Person, Place, option, select, until
from tests.tui.test_permissions import shell, verdict, wanted, wanted_with_changes

from sayso.asks.desk import Held
from sayso.asks.model import SAY_SO, Asker, Kind, NewAsk, Question, State
from sayso.errors import ConfigError
from sayso.tui import reflexes
from sayso.tui.answer import AnswerScreen
from sayso.tui.inbox import InboxScreen
from sayso.tui.keys import Keys
from sayso.tui.step import Step

pytestmark = pytest.mark.anyio

DECISION = select(
    "The agent wants to use `Bash`.",
    option("allow", "Allow"),
    option("deny", "Deny"),
    option("always", "Allow this exact thing for the rest of the run"),
    question_id="decision",
)
COMMAND = Question(id=SAY_SO, text="May the agent run this?\n\n    git push --force", kind=Kind.CONFIRM)


def permission(place: Place, question: Question = DECISION, title: str = "Allow Bash: rm -rf build?") -> Held:
    """A permission as Claude Code asks for one, or a command that waits for a say-so."""
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    bound = question is DECISION
    return place.desk.hold(
        NewAsk(tool="approve" if bound else "git", questions=(question,), asker=asker, title=title, bound=bound)
    )


@pytest.mark.finding("F-04")
@pytest.mark.parametrize("key", ["enter", "space", "1", "y", "n", "ctrl+s"])
async def test_a_held_key_answers_none_of_five_open_asks(place: Place, key: str) -> None:
    asks = [
        place.ask(DROP, title="Delete the old tables now?"),
        place.ask(select("First?")),
        place.ask(NAME),
        permission(place, COMMAND, "Run git?"),
        permission(place),
    ]
    async with place.inbox() as anna:
        await anna.hold("enter")
        await anna.hold(key)
        await anna.hold("enter")
    allowed = [held for held in asks if place.now(held).state is not State.PENDING]
    if key in "yn":
        assert [place.now(held).answer("decision") for held in allowed] != []
        assert len(allowed) == 1, "the permission that was on the screen was decided, and nothing else"
    else:
        assert not allowed


@pytest.mark.finding("F-04")
@pytest.mark.parametrize("question", [DROP, select("First?")], ids=["confirm", "select"])
async def test_a_held_enter_answers_no_question_that_is_on_top(place: Place, question: Question) -> None:
    asks = [place.ask(question, title=f"Question {number}") for number in range(3)]
    async with place.inbox() as anna:
        await anna.hold("enter", 4.0)
    assert {place.now(held).state for held in asks} == {State.PENDING}


@pytest.mark.finding("F-04")
@pytest.mark.parametrize("question", [DECISION, COMMAND], ids=["approve", "command"])
@pytest.mark.parametrize(("key", "place_of_choice"), [("y", 0), ("n", 1)])
async def test_a_permission_takes_y_or_n_and_nothing_else(
    place: Place, question: Question, key: str, place_of_choice: int
) -> None:
    held = permission(place, question)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("y allows it · n denies it", "y allow", "n deny")
        await anna.press("enter", "enter", "tab", "ctrl+s", "ctrl+s", "enter", "s", "r", "ctrl+j", "shift+enter")
        await anna.press("down", "enter", "up", "enter")
        assert place.now(held).state is State.PENDING
        await anna.press(key)
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.answers[0].chosen == (question.choices[place_of_choice].id,)


@pytest.mark.finding("F-11")
async def test_what_was_jumped_over_has_not_been_read(place: Place) -> None:
    script = select("\n\n".join(f"step {n}" for n in range(60)), *DECISION.options, question_id="decision")
    held = place.desk.hold(NewAsk(tool="approve", questions=(script,), asker=Asker(client="claude"), bound=True))
    async with place.inbox() as anna:
        await anna.press("enter")
        await anna.sees("pgdn read on", "more lines")
        anna.app.screen.query_one("#reading").scroll_end(animate=False, immediate=True)
        await anna.sees("step 59", "pgdn read on")
        await anna.press("y")
        await anna.sees("Nothing was allowed")
        assert place.now(held).state is State.PENDING
        await anna.press(*["pageup"] * 12, *["pagedown"] * 12)
        await anna.sees("y allow")
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED


@pytest.mark.finding("F-11")
@pytest.mark.parametrize("size", [(60, 24), (132, 24), (80, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_what_was_read_before_the_terminal_changed_its_size_stays_read(
    place: Place, size: tuple[int, int]
) -> None:
    script = " ".join(f"word-{n}" for n in range(650))
    held = wanted(place, shell(script))
    async with place.inbox() as anna:
        await anna.press("enter")
        await anna.sees("more lines")
        await anna.press("pagedown", "pagedown")
        step = anna.app.screen.query_one(Step)
        assert step.unseen
        await anna.pilot.resize_terminal(*size)
        await anna.settled()
        assert step.unseen, "nothing was read by making the terminal larger"
        await anna.press("y")
        await anna.sees("Nothing was allowed")
        for _ in range(40):
            if not step.unseen:
                break
            await anna.press("pagedown")
        await anna.sees("y allow")
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED


@pytest.mark.finding("F-04")
async def test_a_yes_pressed_before_the_permission_could_be_read_is_no_yes(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press_after(0.3, "y")
        await anna.sees("Not taken:")
        assert place.now(held).state is State.PENDING
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED


async def test_a_mark_that_comes_before_the_options_could_be_read_is_not_dropped_without_a_word(place: Place) -> None:
    place.ask(REGIONS)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press_after(0.3, "space")
        await anna.sees("Not taken:", "[ ] 1. Frankfurt")
        await anna.press("space")
        await anna.sees("[x] 1. Frankfurt")


@pytest.mark.finding("F-04")
async def test_a_word_that_begins_with_y_allows_nothing_when_it_comes_as_a_burst(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("yes")
        await anna.press_after(0.01, "y")
        assert place.now(held).state is State.PENDING


@pytest.mark.finding("F-04")
async def test_a_word_that_comes_letter_by_letter_over_a_slow_line_allows_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()

        async def rest_of_the_word(seconds: float) -> None:
            assert seconds > 0
            anna.ticks.wait(0.005)
            anna.burst(*"es")
            for _ in range(100):
                await asyncio.sleep(0)

        monkeypatch.setattr(reflexes, "asyncio", SimpleNamespace(sleep=rest_of_the_word))
        await anna.press("y")
        await anna.sees("Not taken:")
        assert place.now(held).state is State.PENDING


@pytest.mark.finding("F-04")
async def test_a_yes_pressed_before_the_terminal_had_drawn_the_permission_is_no_yes(place: Place) -> None:
    """Over a slow line: it says that it has drawn something long after it was sent."""
    held, sent = permission(place), asyncio.Event()

    def ask_for_a_sign() -> bool:
        sent.set()
        return True

    async with place.inbox() as anna:
        line = anna.app.shared.reflexes
        line.heard(anna.ticks())
        line.ask_terminal(ask_for_a_sign)
        anna.ticks.wait(1.0)
        anna.post("enter")
        await anna.sees("y allows it")
        await asyncio.wait_for(sent.wait(), WAIT)
        await until(lambda: anna.app.shared.typing.idle, anna.screen)
        anna.ticks.wait(1.0)
        anna.post("y")
        await anna.sees("Not taken:")
        assert place.now(held).state is State.PENDING
        line.heard(anna.ticks())
        anna.ticks.wait(1.0)
        anna.post("y")
        assert (await place.outcome(held)).state is State.ANSWERED


@pytest.mark.finding("F-04")
async def test_the_key_that_sent_one_permission_does_not_decide_the_next(place: Place) -> None:
    second, first = permission(place, title="Second?"), permission(place, title="First?")
    async with place.inbox() as anna:
        await anna.open()
        await anna.hold("y")
        await place.outcome(first)
        await anna.press("enter")
        await anna.sees("Second?", "y allows it")
        await anna.press_after(0.2, "y")
        assert place.now(second).state is State.PENDING


@pytest.mark.finding("F-04")
async def test_a_permission_is_allowed_for_longer_only_where_that_was_marked(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("3")
        await anna.sees("(*) 3. Allow this exact thing")
        await anna.press("y")
        ended = await place.outcome(held)
    assert ended.answer("decision").chosen == ("always",)  # type: ignore[union-attr]


@pytest.mark.finding("F-04")
async def test_words_of_a_no_make_a_yes_impossible_and_go_with_the_no(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("o")
        await anna.type("Never delete that.")
        await anna.press("enter", "y")
        await anna.sees("You wrote words for a no")
        assert place.now(held).state is State.PENDING
        await anna.press("n")
        ended = await place.outcome(held)
    answer = ended.answer("decision")
    assert answer is not None
    assert (answer.chosen, answer.text) == ((), "Never delete that.")


@pytest.mark.finding("F-93")
@pytest.mark.parametrize("question", [DECISION, COMMAND], ids=["approve", "command"])
async def test_a_note_beside_a_yes_is_refused_and_goes_with_the_no(place: Place, question: Question) -> None:
    held = permission(place, question)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("a")
        await anna.type("Not on Fridays.")
        await anna.press("enter", "y")
        await anna.sees("You wrote words for a no")
        assert place.now(held).state is State.PENDING
        await anna.press("n")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.answers[0].note == "Not on Fridays."


@pytest.mark.finding("F-04")
async def test_a_marked_no_makes_a_yes_impossible(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("2", "y")
        await anna.sees("You marked a no")
    assert place.now(held).state is State.PENDING


@pytest.mark.finding("F-04")
async def test_a_permission_can_be_decided_with_the_mouse_but_not_by_a_second_click_at_the_same_place(
    place: Place,
) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.click("1. Allow")
        assert place.now(held).state is State.PENDING
        await anna.click("y allow  n deny")
        assert (await place.outcome(held)).state is State.ANSWERED


async def test_a_screen_that_is_gone_before_it_was_shown_holds_up_no_key(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        gone = anna.app.screen
        await anna.press("escape", "escape")
        assert isinstance(anna.app.screen, InboxScreen)
        # As when it is mounted only now.
        anna.app.shared.reflexes.present(gone, reflexes.REST)
        await anna.open()


@pytest.mark.finding("F-04")
async def test_a_key_meant_for_one_row_does_not_reach_another_that_took_its_place(place: Place) -> None:
    place.ask(select("Other?"))
    first = place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.sees("> First?")
        anna.ticks.wait(60)
        place.desk.cancel(first.ask.id, anna.app.shared.settler)
        await anna.sees("> Other?")
        await anna.press_after(0.2, "X")
        await anna.press_after(0.2, "enter")
        await anna.sees("enter open")
        assert not isinstance(anna.app.screen, AnswerScreen)


@pytest.mark.finding("F-04")
@pytest.mark.parametrize("name", ["allow", "deny"])
@pytest.mark.parametrize("key", ["enter", "space", "1", "ctrl+s"])
def test_no_key_of_reflex_can_be_set_to_decide_a_permission(name: str, key: str) -> None:
    with pytest.raises(ConfigError, match="letters only"):
        Keys({name: key})


@pytest.mark.finding("F-04")
async def test_quick_and_deliberate_answers_are_taken(place: Place) -> None:
    """Once an ask could be read, different keys follow each other as fast as a hand presses them."""
    held = place.ask(select(), DROP)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("2")
        await anna.press_after(0.12, "y")
        await anna.press_after(0.12, "enter")
        ended = await place.outcome(held)
    assert [answer.chosen for answer in ended.outcome.answers] == [("b",), ("yes",)]  # type: ignore[union-attr]


# Whatever is pressed


@dataclass(frozen=True)
class Press:
    """Some keys at once, so long after the ones before."""

    after: float
    keys: tuple[str, ...]


KEYS = (*("enter", "space", "y", "n", "1", "2", "3", "ctrl+s", "ctrl+j", "ctrl+enter", "tab", "down"), *"or]xiu")
presses = st.builds(
    Press,
    after=st.sampled_from([0.01, 0.033, 0.1, 0.5, 0.75, 1.5]),
    keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=4).map(tuple)
    | st.sampled_from(KEYS).map(lambda key: (key,)),
)
held_keys = st.builds(
    lambda key, times: [Press(1.0, (key,)), Press(0.5, (key,)), *[Press(0.033, (key,))] * times],
    st.sampled_from(["enter", "space", "y", "1", "ctrl+s", "ctrl+enter"]),
    st.integers(1, 8),
)
sequences = st.lists(presses.map(lambda press: [press]) | held_keys, min_size=3, max_size=10).map(
    lambda parts: [press for part in parts for press in part]
)
HOLD_ENTER = [Press(1.0, ("enter",)), Press(0.5, ("enter",)), *[Press(0.033, ("enter",))] * 15]
PASTED = [Press(1.0, ("enter",)), Press(1.0, ("y", "enter", "enter", "y")), Press(0.1, ("y", "enter", "1", "enter"))]
EDITS = [Press(1.0, ("i",)), Press(0.3, ("y",)), Press(1.0, ("i", "y")), Press(0.1, ("u", "y"))]
EDITED = [Press(1.0, ("enter",)), *EDITS * 2]


@pytest.mark.finding("F-04")
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(sequence=sequences)
@example(sequence=HOLD_ENTER)
@example(sequence=PASTED)
@example(sequence=EDITED)
async def test_whatever_is_pressed_nothing_is_settled_without_an_act_on_what_was_shown(
    sequence: Sequence[Press],
) -> None:
    edit = patch("sayso.tui.answer.edit_exactly", lambda app, command, text, suffix: f"{text} --dry-run")
    never = patch("sayso.tui.inbox.SECONDS_TO_UNDO", 600)
    with tempfile.TemporaryDirectory() as folder, edit, never:
        place = Place(Path(folder))
        try:
            asks = [
                place.ask(DROP, title="Delete the old tables now?"),
                place.ask(REGIONS),
                permission(place, COMMAND, "Run git?"),
                place.ask(select("First?")),
                permission(place),
                wanted_with_changes(place),
            ]
            async with place.inbox((100, 30)) as anna:
                await Watcher(place, anna, asks).follow(sequence)
        finally:
            place.close()


class Watcher:
    """Presses keys and holds every ask that ends against what was on the screen when the key was pressed."""

    def __init__(self, place: Place, anna: Person, asks: Sequence[Held]) -> None:
        self._place, self._anna, self._open = place, anna, list(asks)
        self._card: tuple[str, str | None] = ("", None)
        self._since = 0.0
        self._last: tuple[str, float] = ("", 0.0)

    async def follow(self, sequence: Sequence[Press]) -> None:
        await self._anna.settled()
        for press in sequence:
            shown, since = self._look()
            self._anna.ticks.wait(press.after)
            now = self._anna.ticks()
            self._anna.burst(*press.keys)
            await self._anna.settled()
            repeated = press.keys[0] == self._last[0] and now - self._last[1] < 0.7
            self._last = (press.keys[-1], now)
            for held in [held for held in self._open if self._is_decided(held)]:
                self._open.remove(held)
                self._check(held, press, meant=shown == held.ask.id and now - since >= 0.7 and not repeated)

    def _is_decided(self, held: Held) -> bool:
        """Whether it is settled, or about to be."""
        outgoing = self._anna.app.shared.board.outgoing
        return held.ask.id in outgoing or self._place.now(held).state is not State.PENDING

    def _look(self) -> tuple[str, float]:
        screen = self._anna.app.screen
        shown = screen.ask.id if isinstance(screen, AnswerScreen) else f"{type(screen).__name__}"
        if isinstance(screen, InboxScreen) and screen._readable:
            shown = screen._readable.id  # all of it is in view beside the list
        # What is edited is another card.
        card = (shown, screen.draft.edit if isinstance(screen, AnswerScreen) else None)
        if card != self._card:
            self._card, self._since = card, self._anna.ticks()
        return shown, self._since

    def _check(self, held: Held, press: Press, *, meant: bool) -> None:
        ended = self._place.now(held)
        if ended.state is State.REJECTED:  # by a dialog of its own, which says what it is about
            assert len(press.keys) == 1
            return
        assert meant, f"{ended.title or ended.questions[0].text!r} was settled by {press}"
        assert len(press.keys) == 1, f"{ended.title!r} was settled by a burst: {press}"
        if ended.is_permission:
            assert press.keys in (("y",), ("n",)), f"{ended.title!r} was settled by {press}"


async def test_words_that_were_meant_for_another_window_send_nothing(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        for key in (*"yarn install", "enter"):
            await anna.press_after(0.9, key)
        await anna.sees("Check your answers.", "amid other letters")
        assert place.now(held).state is State.PENDING
        await anna.press("enter")
        assert (await place.outcome(held)).state is State.ANSWERED


@pytest.mark.parametrize("words", ["yarn install", "npm test", "yes please"])
async def test_words_typed_into_the_list_answer_no_row(place: Place, words: str) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.sees("y n answer")
        await anna.press(words[0])
        await anna.sees("about to be sent")
        for key in words[1:4]:
            await anna.press_after(0.2, key)
        await anna.sees("Not sent, because other letters came right after it")
        assert anna.app.shared.board.outgoing == {}
        assert place.now(held).state is State.PENDING


async def test_an_answer_on_a_row_stays_when_a_letter_comes_later(place: Place) -> None:
    place.ask(DROP)
    async with place.inbox() as anna:
        await anna.sees("y n answer")
        await anna.press("y", "b")
        await anna.sees("about to be sent")


async def test_a_y_within_a_word_allows_nothing(place: Place) -> None:
    held = permission(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("m")
        await anna.press_after(0.3, "y")
        await anna.sees("amid other letters")
        assert place.now(held).state is State.PENDING
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED


@pytest.mark.finding("F-32")
@pytest.mark.parametrize("key", ["y", "n"])
async def test_an_agent_that_opens_the_inbox_decides_on_no_permission_of_another(
    place: Place, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    held = permission(place)
    monkeypatch.setenv("CLAUDECODE", "1")
    async with place.inbox() as agent:
        await agent.open()
        await agent.press(key)
        await agent.sees("an agent may not decide what another may do")
    assert place.now(held).state is State.PENDING


@pytest.mark.finding("F-32")
async def test_an_agent_that_opens_the_inbox_leaves_nothing_there_that_a_person_would_take_for_their_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = place.ask(NAME)
    monkeypatch.setenv("CLAUDECODE", "1")
    async with place.inbox() as agent:
        await agent.open()
        await agent.type("drop the tables")
        await agent.sees("an agent may not answer what a person is asked")
        assert place.desk.open_surfaces() == [], "nobody counts as there, who would not be notified then"
    assert place.desk.draft(held.ask.id, place.config.person) == ""


async def test_what_changes_behind_a_dialog_does_not_hold_up_what_is_confirmed_in_it(place: Place) -> None:
    held = wanted(place, shell("\n".join(f"echo {n}" for n in range(40))))
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.press("x")
        await anna.sees("Deny this permission?")
        behind = anna.app.screen_stack[1].query_one(Step)
        anna.ticks.wait(1.0)
        behind.unseen = 0
        behind.post_message(Step.Looked())
        await anna.pilot.pause()
        await anna.press_after(0.3, "enter")
        assert (await place.outcome(held)).state is not State.PENDING


async def test_what_has_changed_behind_a_dialog_is_new_when_the_dialog_is_gone(place: Place) -> None:
    held = wanted(place, shell("\n".join(f"echo {n}" for n in range(40))))
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.press("x")
        await anna.sees("Deny this permission?")
        await anna.pilot.resize_terminal(130, 70)
        await anna.sees("echo 39")
        await anna.press("escape")
        await anna.press_after(0.3, "y")
        assert place.now(held).state is State.PENDING
        await anna.press("y")
        await place.outcome(held)
        assert verdict(place, held).allowed


async def type_at_a_pace(anna: Person, keys: Sequence[str], seconds: float = 0.2) -> None:
    """Words, letter by letter, each drawn before the next comes."""
    await anna.press_after(2.0, keys[0])
    for key in keys[1:]:
        await anna.press_after(seconds, key)


LONG = "\n".join(f"echo {number}" for number in range(40))
MEANT_FOR_ELSEWHERE = ["yes", "yes, explain it", "no way", "explain", "xerox", "you like notes", "also do it", "really"]


@pytest.mark.parametrize("seconds", [0.2, 0.6])
@pytest.mark.parametrize("words", MEANT_FOR_ELSEWHERE)
async def test_words_meant_for_elsewhere_end_no_permission_and_leave_nothing_behind(
    place: Place, words: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", lambda *given: given[2])
    held = wanted(place, shell(LONG))
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        if words.startswith("n"):
            await anna.press("y")  # a `n` that comes by itself is meant, and denies it
            await anna.press_after(0.2, words[0])
            await type_on(anna, words[1:], seconds)
        else:
            await type_at_a_pace(anna, words, seconds)
        await anna.press_after(seconds, "enter")
        assert place.now(held).state is State.PENDING
        for _ in range(5):
            if len(anna.app.screen_stack) == 1:
                break
            await anna.press("escape")
    assert place.now(held).state is State.PENDING
    assert "explain" not in place.desk.draft(held.ask.id, "anna").replace("unclear", "")


async def type_on(anna: Person, keys: Sequence[str], seconds: float) -> None:
    for key in keys:
        await anna.press_after(seconds, key)


async def test_the_dialog_that_asks_to_explain_a_permission_says_that_it_denies_it(place: Place) -> None:
    held = wanted(place, shell("make"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("e")
        await anna.sees("Deny this, and ask the agent to explain?", "This denies the permission.")
        await anna.type("which one?")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert "which one?" in ended.outcome.reason


async def test_enter_confirms_no_dialog_in_one_go_with_the_key_that_opened_it(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await type_at_a_pace(anna, ["x", *"erox", "enter"])
        await anna.sees("Not taken:", "Reject this question?")
        assert place.now(held).state is State.PENDING
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.reason == "erox"


async def test_what_was_typed_into_a_dialog_in_one_go_with_the_key_that_opened_it_is_no_draft(place: Place) -> None:
    held = place.ask(DROP)
    async with place.inbox() as anna:
        await anna.open()
        await type_at_a_pace(anna, ["e", *"xplain", "escape"])
        await anna.sees_not("Ask the agent to explain")
        await anna.press("e")
        await anna.type("Which table?")
        await anna.press("escape", "escape")
    draft = place.desk.draft(held.ask.id, "anna")
    assert "Which table?" in draft
    assert "xplain" not in draft


async def test_a_key_that_was_not_taken_counts_when_it_is_pressed_again(place: Place) -> None:
    held = wanted(place, shell("make"))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press_after(0.3, "y")
        await anna.sees("Not taken:")
        await anna.press_after(0.8, "y")
        assert (await place.outcome(held)).state is State.ANSWERED
