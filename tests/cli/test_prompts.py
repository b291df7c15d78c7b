"""Answering at prompts, in a real terminal."""

from __future__ import annotations

import pytest
from tests.cli.program import Home, choice, confirm, several, text
from tests.cli.pseudo_terminal import Terminal

from sayso.asks.model import Answer, Option, Question, State
from sayso.permissions.action import Action, ActionKind
from sayso.records import replace

CLEAN = Action(kind=ActionKind.SHELL, tool="Bash", folder="/srv/shop", data={"input": {"command": "make clean"}})
SEND = "Send them?"


def test_every_kind_of_question_is_answered_reviewed_and_sent(home: Home) -> None:
    ask = home.leave(choice(), several("Lint", "Types", "Tests", id="2"), text(id="3"), confirm(id="4"), title="Setup")
    with Terminal(home, "answer", ask.id[:8]) as terminal:
        assert "claude-code in ~/project has 4 questions for you." in terminal.expect("Setup")
        terminal.reply("Number, label or own words: ", "2")
        terminal.reply("own words: ", "1, tests")
        terminal.reply("an empty line ends it: ", "Because of")
        terminal.type("two lines")
        terminal.type("")
        terminal.reply("y or n: ", "y")
        review = terminal.expect(SEND)
        for words in ("PostgreSQL", "Lint\n   Tests", "Because of\n   two lines", "Yes"):
            assert words in review
        terminal.type("y")
        assert terminal.end() == 0
        assert "Answered. The agent is not waiting now" in terminal.screen
    assert home.answers(ask) == (
        Answer(question="1", chosen=("2",)),
        Answer(question="2", chosen=("1", "3")),
        Answer(question="3", text="Because of\ntwo lines"),
        Answer(question="4", chosen=("yes",)),
    )


def test_options_are_numbered_described_and_the_recommended_one_is_marked_once(home: Home) -> None:
    options = (
        Option(id="1", label="SQLite", description="One file.", recommended=True),
        Option(id="2", label="Files (recommended)", recommended=True),
    )
    ask = home.leave(Question(id="1", text="Where?", kind=choice().kind, options=options, title="Storage"))
    with Terminal(home, "answer", ask.id) as terminal:
        shown = terminal.expect("Number, label or own words: ")
    assert "1. Where?" in shown
    assert "Storage: choose one, or use your own words" in shown
    assert "1) SQLite (recommended)\n      One file.\n" in shown
    assert "2) Files (recommended)\n" in shown


def test_own_words_are_taken_where_no_option_fits(home: Home) -> None:
    ask = home.leave(choice(), several("Lint", "Types", id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "DuckDB")
        terminal.reply("own words: ", "none of these, really")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert [answer.text for answer in home.answers(ask)] == ["DuckDB", "none of these, really"]


def test_what_cannot_be_meant_is_asked_again(home: Home) -> None:
    ask = home.leave(choice("Port?", "2", "1", "Same", "Same"), confirm(id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "9")
        terminal.expect("there is no option #9; its options are #1 to #4")
        terminal.reply("own words: ", "1")
        terminal.expect("1 is a number and also the label of another option. Type #1 or #2.")
        terminal.reply("own words: ", "same")
        terminal.expect("is the label of more than one option. Say which by its number: #3 or #4.")
        terminal.reply("own words: ", "")
        terminal.expect("an answer is required")
        terminal.reply("own words: ", '"9"')
        terminal.reply("y or n: ", "perhaps")
        terminal.expect("it takes yes or no")
        terminal.reply("y or n: ", "2")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask) == (Answer(question="1", text="9"), Answer(question="2", chosen=("no",)))


def test_an_optional_question_is_skipped_by_an_empty_line(home: Home) -> None:
    ask = home.leave(text(required=False))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("(empty skips): ", "")
        assert "(skipped)" in terminal.expect(SEND)
        terminal.type("yes")
        assert terminal.end() == 0
    assert home.answers(ask)[0].skipped


def test_an_answer_can_be_changed_on_the_way_and_in_the_review(home: Home) -> None:
    ask = home.leave(choice(), confirm(id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "1")
        terminal.reply("y or n: ", "/b")
        terminal.reply("own words (empty keeps it): ", "2")
        terminal.reply("y or n: ", "y")
        terminal.reply(SEND, "2")
        terminal.reply("y or n (empty keeps it): ", "n")
        terminal.reply(SEND, "what?")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask) == (Answer(question="1", chosen=("2",)), Answer(question="2", chosen=("no",)))


def test_an_answer_that_one_goes_back_to_stands_until_there_is_another(home: Home) -> None:
    ask = home.leave(text(id="1"), replace(several("Lint", "Types", id="2"), required=False), confirm(id="3"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("an empty line ends it: ", "Because of\ntwo lines\n")
        terminal.reply("(empty skips): ", "1, 2")
        terminal.reply("y or n: ", "/b")
        shown = terminal.expect("(empty keeps it, /s skips): ")
        assert "Your answer so far:\n   Lint\n   Types" in shown.replace("\r", "")
        terminal.type("/b")
        assert "Because of\n   two lines" in terminal.expect("(empty keeps it): ").replace("\r", "")
        terminal.type("")
        terminal.reply("(empty keeps it, /s skips): ", "/s")
        terminal.reply("y or n: ", "y")
        terminal.reply(SEND, "3")
        assert "Your answer so far:\n   Yes" in terminal.expect("y or n (empty keeps it): ").replace("\r", "")
        terminal.type("")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask) == (
        Answer(question="1", text="Because of\ntwo lines"),
        Answer(question="2"),
        Answer(question="3", chosen=("yes",)),
    )


def test_the_whole_ask_can_be_rejected_with_a_reason(home: Home) -> None:
    ask = home.leave(choice(), confirm(id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "/r")
        terminal.reply("Why?", "Not now")
        assert terminal.end() == 0
        assert "Rejected." in terminal.screen
    outcome = home.ask_of(ask).outcome
    assert outcome is not None
    assert outcome.reason == "Not now"


def test_leaving_the_end_of_input_and_ctrl_c_send_nothing(home: Home) -> None:
    ask = home.leave(choice())
    for keys in (b"/q\n", b"\x04"):
        with Terminal(home, "answer", ask.id) as terminal:
            terminal.expect("own words: ")
            terminal.press(keys)
            assert terminal.end() == 1
            assert "Nothing was sent. The ask stays open." in terminal.screen
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.expect("own words: ")
        assert terminal.interrupt() == 130
        assert "Nothing was sent. The ask stays open." in terminal.screen
        assert "Traceback" not in terminal.screen
    assert home.ask_of(ask).state is State.PENDING


def test_what_was_answered_at_prompts_is_there_again_after_they_were_left(home: Home) -> None:
    ask = home.leave(choice(id="1"), text(id="2"), confirm(id="3"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "1")
        terminal.reply("an empty line ends it: ", "only on weekdays\n")
        terminal.expect("y or n: ")
        assert terminal.interrupt() == 130
        assert "what you have answered is kept." in terminal.screen
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.expect("What you have answered before is kept")
        terminal.reply("y or n: ", "n")
        assert "only on weekdays" in terminal.expect(SEND)
        terminal.type("y")
        assert terminal.end() == 0
    assert home.answers(ask) == (
        Answer(question="1", chosen=("1",)),
        Answer(question="2", text="only on weekdays"),
        Answer(question="3", chosen=("no",)),
    )


def test_without_an_id_the_only_open_ask_is_taken(home: Home) -> None:
    ask = home.leave(choice())
    with Terminal(home, "answer") as terminal:
        terminal.reply("own words: ", "1")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.ask_of(ask).state is State.ANSWERED


def test_without_an_id_one_of_several_is_picked_by_number(home: Home) -> None:
    first, second = home.leave(choice("First?")), home.leave(choice("Second?"))
    with Terminal(home, "answer") as terminal:
        listed = terminal.expect("Which one, 1 to 2? ")
        assert "1) First?" in listed
        terminal.type("7")
        terminal.expect("7 is none of these: it takes a number from 1 to 2.")
        terminal.reply("Which one", "2")
        terminal.expect("1. Second?")
        terminal.reply("own words: ", "1")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.ask_of(first).state is State.PENDING
    assert home.ask_of(second).state is State.ANSWERED


def test_without_an_id_it_is_said_how_many_are_open_beside_those_that_are_offered(home: Home) -> None:
    for number in range(52):
        home.leave(confirm(f"Number {number}?"))
    home.flood(12)
    with Terminal(home, "answer") as terminal:
        shown = terminal.expect("Which one, 1 to 50? ")
        assert "\n50) " in shown
        assert "… and 14 more are open: `sayso list --all` shows them." in shown
        terminal.type("q")
        assert terminal.end() == 1


def test_with_nothing_open_there_is_nothing_to_answer(home: Home) -> None:
    with Terminal(home, "answer") as terminal:
        assert terminal.end() == 0
        assert "No questions are waiting." in terminal.screen


def test_a_line_longer_than_a_terminals_own_limit_arrives_whole(home: Home) -> None:
    ask = home.leave(text())
    with Terminal(home, "answer", ask.id, TERM="xterm") as terminal:
        terminal.expect("an empty line ends it: ")
        for _ in range(60):
            terminal.press(b"x" * 100)
            terminal.expect("x" * 20)
        terminal.type("")
        terminal.type("")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask) == (Answer(question="1", text="x" * 6000),)


def test_colours_are_shown_in_a_terminal_unless_they_are_not_wanted(home: Home) -> None:
    ask = home.leave(choice())
    with Terminal(home, "show", ask.id, TERM="xterm") as terminal:
        terminal.end()
        assert "\x1b[1m" in terminal.screen
    with Terminal(home, "show", ask.id, TERM="xterm", NO_COLOR="1") as terminal:
        terminal.end()
        assert "\x1b" not in terminal.screen


def test_a_row_of_the_list_fits_the_terminal(home: Home) -> None:
    home.leave(choice("漢字 " * 40))
    with Terminal(home, "list", columns=90) as terminal:
        terminal.end()
        row = next(line for line in terminal.screen.splitlines() if "claude-code" in line)
    assert row.endswith("…")
    assert sum(2 if ord(character) > 0x2E80 else 1 for character in row) <= 90


@pytest.mark.finding("F-66")
def test_a_slip_of_the_pen_is_refused_at_prompts_as_it_is_on_the_command_line(home: Home) -> None:
    ask = home.leave(choice("Which database?", "SQLite", "PostgreSQL"), several("Lint", "Types", id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.reply("own words: ", "Postgre")
        assert 'close to "PostgreSQL". Give #2' in terminal.expect('put them in double quotes: "..."')
        terminal.reply("own words: ", '"Postgre"')
        terminal.reply("own words: ", "Lint, Type")
        terminal.expect('close to "Types"')
        terminal.reply("own words: ", "Lint, Types")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask) == (Answer(question="1", text="Postgre"), Answer(question="2", chosen=("1", "2")))


@pytest.mark.finding("F-04")
def test_lines_pasted_at_one_question_do_not_answer_the_next(home: Home) -> None:
    ask = home.leave(text(id="1"), confirm(id="2"))
    with Terminal(home, "answer", ask.id) as terminal:
        terminal.expect("an empty line ends it: ")
        terminal.press(b"some words\n\ny\ny\n")
        terminal.expect("More lines came after that answer was complete; they were dropped.")
        terminal.expect("y or n: ")
        assert home.ask_of(ask).state is State.PENDING
        terminal.type("n")
        terminal.reply(SEND, "y")
        assert terminal.end() == 0
    assert home.answers(ask)[1] == Answer(question="2", chosen=("no",))


@pytest.mark.finding("F-64")
@pytest.mark.parametrize("kind", ["dumb", ""])
def test_a_terminal_that_cannot_draw_answers_line_by_line(home: Home, kind: str) -> None:
    home.leave(choice("Which database?"))
    with Terminal(home, TERM=kind) as terminal:
        assert "1) Which database?" in terminal.expect("Which one, 1 to 1?")
        terminal.type("q")
        assert terminal.end() == 0
    assert "\x1b[?1049h" not in terminal.screen


def test_the_plain_inbox_leads_from_one_to_the_next_until_nothing_is_open(home: Home) -> None:
    first, second = home.leave(confirm("Drop the table?")), home.leave(choice("Which database?"))
    with Terminal(home, "--plain", TERM="xterm-256color") as terminal:
        shown = terminal.expect("Which one, 1 to 2?")
        number = shown.index("Drop the table?") < shown.index("Which database?")
        terminal.type("7")
        terminal.reply("Which one, 1 to 2?", "1" if number else "2")
        terminal.reply("y or n: ", "/q")
        terminal.reply("Which one, 1 to 2?", "2" if number else "1")
        terminal.reply("own words: ", "DuckDB")
        terminal.reply(SEND, "y")
        terminal.reply("Which one, 1 to 1?", "1")
        terminal.reply("y or n: ", "n")
        terminal.reply(SEND, "y")
        terminal.expect("No questions are waiting.")
        assert terminal.end() == 0
    assert "\x1b[?1049h" not in terminal.screen
    assert [home.answers(ask)[0].text or home.answers(ask)[0].chosen for ask in (first, second)] == [("no",), "DuckDB"]


def test_the_plain_inbox_says_how_many_are_open_and_what_it_does_not_take(home: Home) -> None:
    for number in range(60):
        home.leave(confirm(f"Number {number}?"))
    with Terminal(home, "--plain", TERM="dumb") as terminal:
        assert "60 are open. 1 to 50 of them:" in terminal.expect("Which one, 1 to 50?")
        for wrong in ("51", "yes", "y 1"):
            terminal.type(wrong)
            terminal.expect(f"{wrong} is none of these: it takes a number from 1 to 50.")
            assert "Number" not in terminal.expect("Which one, 1 to 50?")
        terminal.reply("m shows more", "m")
        rest = terminal.expect("Which one, 1 to 10?")
        assert "60 are open. 51 to 60 of them:" in rest
        assert "10) Number 59?" in rest
        terminal.reply("m shows more", "m")
        assert "60 are open. 1 to 50 of them:" in terminal.expect("Which one, 1 to 50?")
        terminal.type("q")
        assert terminal.end() == 0


def test_the_plain_inbox_says_no_and_snoozes_too(home: Home) -> None:
    asks = [home.leave(confirm("One?")), home.leave(confirm("Two?"))]
    with home.permission(CLEAN) as permission:
        with Terminal(home, "--plain", TERM="xterm-256color") as terminal:
            terminal.reply("Which one, 1 to 3?", "n 1")
            terminal.reply("empty for no reason: ", "-")
            terminal.reply("Which one, 1 to 2?", "z2")
            terminal.expect("Snoozed until")
            terminal.reply("Which one, 1 to 1?", "n9")
            terminal.reply("Which one, 1 to 1?", "q")
            assert terminal.end() == 0
        denied = home.ask_of(permission)
    assert [home.ask_of(ask).state for ask in asks] == [State.PENDING] * 2
    assert (denied.state.answerable, denied.outcome and denied.outcome.why) == (False, "-")


def test_the_plain_inbox_says_that_something_is_settled_before_it_asks_why_not(home: Home) -> None:
    ask, _ = home.leave(confirm("One?")), home.leave(confirm("Two?"))
    with home.permission(CLEAN) as permission, Terminal(home, "--plain", TERM="xterm-256color") as terminal:
        # What is waited for comes first.
        terminal.expect("Which one, 1 to 3?")
        assert home.run("answer", ask.id, "yes").code == 0
        terminal.type("n 2")
        told = terminal.expect("Which one, 1 to 2?")
        assert "Already answered" in told
        assert "Why?" not in told
        assert home.run("deny", permission.id).code == 0
        terminal.type("n 1")
        told = terminal.expect("Which one, 1 to 1?")
        assert "lready denied" in told
        assert "Why?" not in told
        terminal.type("q")
        assert terminal.end() == 0
