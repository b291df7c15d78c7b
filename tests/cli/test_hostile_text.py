"""Texts that would drive or deceive a terminal: shown harmless everywhere, stored and returned as they are."""

from __future__ import annotations

import re

import pytest
from tests.cli.program import Home
from tests.cli.pseudo_terminal import Terminal

from sayso.asks.model import Answer, Asker, Kind, Option, Question, State

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x1b]52;c;AAAA\x07 \x9b31m back\b\b\b over\r\rwritten \x00nul "
    "\u202egnp.exe\u202c \u2066hidden\u2069 \u200bzero \ufeffbom \x7f 'quotes' \"double\" \\ backslash 漢字 👩\u200d💻"
)
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def hostile_ask(home: Home, tail: str = "") -> str:
    words = HOSTILE + tail
    options = (
        Option(id="1", label=words, description=words),
        Option(id="2", label=words),
        Option(id="3", label="Plain", recommended=True),
    )
    asker = Asker(client=HOSTILE, version=HOSTILE, project=HOSTILE.replace("\x00", ""), host=HOSTILE)
    choices = [
        Question(id=f"{kind.value} {HOSTILE}", text=words, title=words, kind=kind, options=options, placeholder=words)
        for kind in (Kind.SELECT, Kind.MULTI_SELECT)
    ]
    return home.leave(*choices, Question(id="last", text=words), title=words, asker=asker).id


@pytest.mark.parametrize("tail", ["", "x" * 150_000], ids=["short", "long"])
def test_list_show_and_history_show_no_raw_control_character(home: Home, tail: str) -> None:
    ask_id = hostile_ask(home, tail)
    home.run("reject", ask_id, "--reason", "-", stdin=HOSTILE)
    hostile_ask(home, tail + "!")
    for arguments in (["list"], [], ["show", ask_id, "--events"], ["history"]):
        ran = home.run(*arguments)
        assert ran.code == 0, ran.err
        assert not UNSAFE.search(ran.out + ran.err)
        assert "<U+001B>" in ran.out
        assert len(ran.out) < 100_000


def test_json_is_intact_and_holds_no_raw_control_character(home: Home) -> None:
    ask_id = hostile_ask(home)
    ran = home.run("show", ask_id, "--json")
    assert not UNSAFE.search(ran.out)
    assert ran.data["title"] == HOSTILE
    assert ran.data["questions"][0]["options"][0]["label"] == HOSTILE
    assert ran.data["asker"]["client"] == HOSTILE


def test_json_is_the_same_where_the_locale_knows_no_unicode(home: Home) -> None:
    ask_id = hostile_ask(home)
    ran = home.run("show", ask_id, "--json", LC_ALL="C", PYTHONIOENCODING="latin-1")
    assert ran.data["questions"][0]["question"] == HOSTILE
    assert home.run("show", ask_id, PYTHONIOENCODING="ascii").code == 0


def test_prompts_show_no_raw_control_character_and_take_the_answer(home: Home) -> None:
    ask_id = hostile_ask(home)
    with Terminal(home, "answer", ask_id) as terminal:
        terminal.reply("own words: ", "2")
        terminal.reply("own words: ", "plain, 1")
        terminal.reply("an empty line ends it: ", "fine")
        terminal.type("")
        terminal.reply("Send them?", "y")
        assert terminal.end() == 0
        # What the terminal itself does with line ends and typed keys is not ours.
        assert not UNSAFE.search(terminal.screen.replace("\r", ""))
    with home.desk() as desk:
        ask = desk.get(ask_id)
    assert ask.state is State.ANSWERED
    assert ask.outcome is not None
    assert [answer.chosen for answer in ask.outcome.answers] == [("2",), ("3", "1"), ()]


def test_picking_an_ask_shows_no_raw_control_character(home: Home) -> None:
    hostile_ask(home)
    hostile_ask(home, "again")
    with Terminal(home, "answer") as terminal:
        terminal.expect("Which one, 1 to 2? ")
        assert not UNSAFE.search(terminal.screen)


def test_hostile_answers_are_kept_as_they_were_given(home: Home) -> None:
    ask = home.leave(Question(id="1", text="Say it"))
    assert home.run("answer", ask.id, "-", stdin=HOSTILE).code == 0
    assert home.answers(ask) == (Answer(question="1", text=HOSTILE),)
    ran = home.run("show", ask.id)
    assert not UNSAFE.search(ran.out)
    assert "gnp.exe" in ran.out


def test_errors_show_no_raw_control_character(home: Home) -> None:
    ask_id = hostile_ask(home)
    escape = HOSTILE.replace("\x00", "")
    for arguments in (
        ["answer", ask_id, "-q", f"{escape}=x"],
        ["answer", ask_id, "x"],
        ["answer", escape, "x"],
        ["show", escape],
        [escape],
        ["list", f"--{escape}"],
        ["ask", "x", "--timeout", escape],
    ):
        ran = home.run(*arguments)
        assert ran.code in (2, 3), ran.err
        assert not UNSAFE.search(ran.out + ran.err), arguments
    for arguments in (["list", f"--{escape}"], ["ask", "x", "--timeout", escape]):
        with Terminal(home, *arguments) as terminal:
            assert terminal.end() == 2
            assert not UNSAFE.search(terminal.screen)
