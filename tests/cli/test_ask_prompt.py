"""What keys do at the question of `sayso ask` in its own terminal: choosing and sending are two acts."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO

import pytest
from tests.cli.program import SECONDS, choice, confirm, several, text

from sayso.asks.model import Answer, Ask, Asker, Question
from sayso.cli import answering_here
from sayso.cli.answering_here import AnswerHere
from sayso.cli.ask_prompt import AskPrompt, KeyReader
from sayso.cli.terminal import cells, colourless, first_lines
from sayso.cli.values import answer_typed
from sayso.errors import InvalidInput

UP, DOWN, ENTER = b"\x1b[A", b"\x1b[B", b"\r"


def answered(question: Question, *keys: bytes) -> Answer | None:
    """The answer that these bytes send, each as it came from the terminal."""
    reader, prompt = KeyReader(), prompt_for(question)
    for data in keys:
        for name, typed in reader.feed(data):
            if answer := prompt.press(name, typed):
                return answer
    return None


def prompt_for(question: Question) -> AskPrompt:
    return AskPrompt(ask_of(question))


def ask_of(question: Question) -> Ask:
    return Ask(id="a" * 24, call_id="1", tool="t", questions=(question,), asker=Asker(), created_at=0, changed_at=0)


@pytest.mark.parametrize("question", [choice(), several("A", "B"), confirm(), text()], ids=lambda each: each.kind)
def test_enter_alone_sends_nothing(question: Question) -> None:
    assert answered(question, ENTER, ENTER, ENTER) is None


@pytest.mark.parametrize(
    ("question", "key"), [(choice(), b"2"), (choice(), DOWN), (confirm(), b"y"), (several("A", "B"), b" ")]
)
def test_no_single_key_decides(question: Question, key: bytes) -> None:
    assert answered(question, key) is None


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ([b"2", ENTER], "2"),
        ([DOWN, ENTER], "1"),
        ([DOWN, DOWN, ENTER], "2"),
        ([UP, UP, ENTER], "2"),
        ([b"\x1bOB", b"\n"], "1"),
        ([b"2", b"1", ENTER], "1"),
        ([b"\x1b", b"[", b"B", ENTER], "1"),
    ],
)
def test_arrows_and_numbers_choose_and_enter_sends(keys: list[bytes], chosen: str) -> None:
    assert answered(choice(), *keys) == Answer(question="1", chosen=(chosen,))


def test_a_number_of_two_digits_is_one_number() -> None:
    many = choice("Which?", *(f"Option {number}" for number in range(1, 13)))
    assert answered(many, b"1", b"2", ENTER) == Answer(question="1", chosen=("12",))


@pytest.mark.parametrize(("key", "chosen"), [(b"y", "yes"), (b"N", "no"), (b"1", "yes"), (b"2", "no")])
def test_a_confirmation_takes_y_and_n(key: bytes, chosen: str) -> None:
    assert answered(confirm(), b"x", ENTER, key, ENTER) == Answer(question="1", chosen=(chosen,))


@pytest.mark.parametrize("words", ["make deploy", "yarn install", "say y", "v2", "nope, not now", "y please"])
def test_words_that_were_meant_for_something_else_are_no_yes_and_no_no(words: str) -> None:
    prompt = prompt_for(confirm())
    for letter in words:
        assert prompt.press("text", letter) is None
    assert f"not {words}" in " ".join(colourless(line) for line in prompt.lines(columns=100, rows=20))
    assert prompt.press("enter") is None
    prompt.press("text", "y")
    assert prompt.press("enter") == Answer(question="1", chosen=("yes",))


@pytest.mark.parametrize(("typed", "chosen"), [("yes", "yes"), ("No", "no"), ("yn", "no"), ("ny", "yes")])
def test_a_yes_or_no_may_be_spelt_out_and_changed(typed: str, chosen: str) -> None:
    assert answered(confirm(), typed.encode(), ENTER) == Answer(question="1", chosen=(chosen,))


@pytest.mark.parametrize("words", ["2 weeks", "1.5", "2nd of May", "1 or 2, you choose"])
def test_words_that_begin_with_a_number_are_kept_whole(words: str) -> None:
    assert answered(choice(), words.encode(), ENTER) == Answer(question="1", text=words)


@pytest.mark.parametrize("number", [b"20", b"0", b"220"])
def test_a_number_that_names_no_option_chooses_none(number: bytes) -> None:
    assert answered(choice(), number, ENTER, ENTER) is None


def test_several_are_marked_by_space_and_the_cursor_marks_none() -> None:
    question = several("Lint", "Types", "Tests")
    assert answered(question, DOWN, ENTER) is None
    assert answered(question, b"3", b" ", b"1", b" ", b"2", ENTER) == Answer(question="1", chosen=("1", "3"))
    assert answered(question, b"1", b" ", b" ", ENTER) is None


def test_own_words_are_typed_as_they_are() -> None:
    assert answered(choice(), b"neither, yet", ENTER) == Answer(question="1", text="neither, yet")
    assert answered(text(), "wegen Grüße 42".encode(), b"\x7f", ENTER) == Answer(question="1", text="wegen Grüße 4")
    assert answered(text(), b"no", b"\x15", b"yes", ENTER) == Answer(question="1", text="yes")
    both = answered(several("Lint", "Types"), b"1", b" ", b"and format", ENTER)
    assert both == Answer(question="1", chosen=("1",), text="and format")


def test_words_that_name_an_option_go_to_it_first_and_near_ones_are_refused() -> None:
    assert answered(choice(), b"sqlite", ENTER) is None
    assert answered(choice(), b"sqlite", ENTER, ENTER) == Answer(question="1", chosen=("1",))
    assert answered(choice(), b"Postgre", ENTER, ENTER, ENTER) is None


def test_a_paste_sends_nothing_whatever_it_holds() -> None:
    pasted = b"\x1b[200~first\r\nsecond\ry\r\x1b[201~"
    assert answered(text(), pasted) is None
    assert answered(text(), pasted, ENTER) == Answer(question="1", text="first\nsecond\ny")
    assert answered(text(), b"\x1b[200~harmless\x1b[201~\r") is None, "an end of a paste that the paste itself holds"
    assert answered(confirm(), b"\x1b[200~y\r\x1b[201~") is None


def test_keys_that_mean_nothing_here_do_nothing() -> None:
    assert answered(choice(), b"\x1b[5~", b"\x1b[C", b"\t", b"\x1by", b"\x00", b"\x1b[1;5B", ENTER) is None


def test_what_is_drawn_drives_no_terminal_and_fits_into_it() -> None:
    hostile = choice("Which?", "\x1b[2Jgone \u202e", "x" * 300, *(f"Option {number}" for number in range(60)))
    prompt = prompt_for(hostile)
    for name, typed in KeyReader().feed(b"4" + b"\x1b[200~" + b"\x1b]0;title\x07" * 30 + b"\x1b[201~"):
        prompt.press(name, typed)
    lines = [colourless(line) for line in prompt.lines(columns=60, rows=20)]
    assert len(lines) <= 20
    assert max(map(cells, lines)) < 60
    assert not any(sign in line for line in lines for sign in "\x1b\x07\u202e")


def test_more_options_than_the_screen_has_lines_for_are_counted_above_and_below() -> None:
    many = choice("Which?", *(f"option {number}" for number in range(1, 31)))
    prompt = AskPrompt(ask_of(many))
    shown = [colourless(line).strip() for line in prompt.lines(80, 20)]
    assert (shown[0], shown[14], len(shown) <= 20) == ("1) option 1", "↓ 16 more", True)
    for _ in range(20):
        prompt.press("down")
    shown = [colourless(line).strip() for line in prompt.lines(80, 20)]
    assert (shown[0], "› 20) option 20" in shown, len(shown) <= 20) == ("↑ 12 more", True, True)
    assert any(line.startswith("↓") for line in shown)


def test_of_a_list_that_is_longer_than_the_screen_the_beginning_is_shown() -> None:
    assert first_lines("a\nb\nc", 80, 3) == "a\nb\nc"
    assert first_lines("a\nb\nc\nd", 80, 3) == "a\nb\n… and 2 more lines"
    assert first_lines("a" * 100 + "\nb\nc", 80, 3) == "a" * 100 + "\n… and 2 more lines"
    assert first_lines("a" * 1000, 80, 3) == "a" * 1000


def test_the_bottom_line_names_the_keys_of_this_kind_of_question() -> None:
    assert "Space marks" in prompt_for(several("A", "B")).lines(120, 30)[-1]
    assert "Space" not in prompt_for(choice()).lines(120, 30)[-1]
    assert "y or n" in prompt_for(confirm()).lines(120, 30)[-1]
    *_, keys, leaving = prompt_for(choice()).lines(70, 30)
    assert "…" not in keys + leaving
    assert "Ctrl-C leaves" in leaving


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_no_part_of_what_to_do_is_cut_off_where_the_terminal_is_narrow(columns: int) -> None:
    prompt = prompt_for(choice("Which?", "Postgres", "MySQL"))
    prompt.press("text", "my")
    prompt.press("enter")
    lines = [colourless(line) for line in prompt.lines(columns, 20)]
    told = " ".join(lines)
    assert "…" not in told
    assert 'is no option, but close to "MySQL". Give #2 for that one; to send' in told
    assert "Enter sends; or type your own words. Ctrl-C leaves the question open." in told
    assert max(map(cells, lines)) < columns


def test_a_question_of_a_few_lines_stays_in_view_above_many_options() -> None:
    many = choice("word " * 30, *(f"option {number}" for number in range(1, 31)))
    assert len(prompt_for(many).lines(columns=60, rows=20)) <= 20 - 3


@pytest.mark.parametrize("typed", ["1,3", "1 3", " 1  3 ", "#1 #3", "A, C"])
def test_a_line_at_a_prompt_names_several_by_their_numbers(typed: str) -> None:
    assert answer_typed(several("A", "B", "C"), typed) == Answer(question="1", chosen=("1", "3"))


def test_numbers_at_a_prompt_that_name_no_option_are_refused_and_words_stay_words() -> None:
    with pytest.raises(InvalidInput, match="there is no option #9"):
        answer_typed(several("A", "B"), "1 9")
    assert answer_typed(several("A", "B"), "both of them") == Answer(question="1", text="both of them")


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileIO]:
    """What somebody types at the terminal of this process, and what they see of it. No fixture: between the setup of a
    test and the test itself, pytest puts streams of its own in place of ours."""
    ours, theirs = pty.openpty()
    with open(ours, "rb+", buffering=0) as person, open(theirs) as keys, open(os.dup(theirs), "w") as screen:
        monkeypatch.setattr(sys, "stdin", keys)
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(answering_here, "is_in_front", lambda: True)
        yield person


async def seen(person: FileIO, wanted: bytes) -> None:
    shown = b""
    while wanted not in shown:
        ready, _, _ = await asyncio.to_thread(select.select, [person], [], [], SECONDS)
        assert ready, f"{wanted!r} did not come after {shown!r}"
        shown += person.read(4096) or b""


def test_keys_typed_before_the_question_could_be_read_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    async def typed_ahead_and_then(person: FileIO) -> Answer | None:
        person.write(b"y\ry\r")
        answer = asyncio.create_task(AnswerHere(ask_of(confirm())).taken())
        await seen(person, b"Enter sends")
        assert not answer.done()
        person.write(b"n")
        await seen(person, "› n) No".encode())
        person.write(b"\r")
        return await asyncio.wait_for(answer, SECONDS)

    with terminal(monkeypatch) as person:
        answer = asyncio.run(typed_ahead_and_then(person))
    assert answer is not None
    assert answer.chosen == ("no",)


def test_enter_within_a_burst_of_keys_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pasted_unmarked(person: FileIO) -> Answer | None:
        answer = asyncio.create_task(AnswerHere(ask_of(text())).taken())
        await seen(person, b"Enter sends")
        person.write(b"first\rsecond\r")
        await seen(person, b"Press it again")
        assert not answer.done()
        person.write(b"\r")
        return await asyncio.wait_for(answer, SECONDS)

    with terminal(monkeypatch) as person:
        assert asyncio.run(pasted_unmarked(person)) == Answer(question="1", text="first\nsecond")


def test_words_that_are_being_typed_when_it_is_over_do_not_reach_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    async def typed_while_it_ends(person: FileIO) -> Answer | None:
        prompt = AnswerHere(ask_of(text()))
        taken = asyncio.create_task(prompt.taken())
        await seen(person, b"Enter sends")
        person.write(b"the El")
        await seen(person, b"the El")
        prompt.is_over()
        person.write(b"be >pwned\r")
        answer = await asyncio.wait_for(taken, SECONDS)
        await seen(person, b"What you had typed: the Elbe >pwned")
        return answer

    with terminal(monkeypatch) as person:
        assert asyncio.run(typed_while_it_ends(person)) is None
        assert select.select([sys.stdin], [], [], 0)[0] == []
