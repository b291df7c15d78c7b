"""`sayso answer` with values."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cli.program import BIN, SECONDS, SOMEONE, Home, choice, confirm, several, text
from tests.test_pictures import SECRET, photo

from sayso.asks.model import Answer, Asker, Away, NewAsk, State
from sayso.records import replace
from sayso.web import wording


def chosen(*ids: str, question: str = "1") -> Answer:
    return Answer(question=question, chosen=ids)


def said(words: str, question: str = "1") -> Answer:
    return Answer(question=question, text=words)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PostgreSQL", chosen("2")),
        ("postgresql", chosen("2")),
        ("#1", chosen("1")),
        ("MySQL, please", said("MySQL, please")),
        ("7", said("7")),
        ('"2"', said("2")),
        ('"#"', said("#")),
        ('"#7"', said("#7")),
        ('"Postgre"', said("Postgre")),
        ('"no" is my answer, not "yes"', said('"no" is my answer, not "yes"')),
        ('"Neither of them"', said('"Neither of them"')),
    ],
)
def test_a_value_is_an_option_by_label_or_number_or_else_own_text(home: Home, value: str, expected: Answer) -> None:
    ask = home.leave(choice())
    ran = home.run("answer", ask.id[:8], value)
    assert ran.code == 0, ran.err
    assert home.answers(ask) == (expected,)
    assert ("is none of the options: it was sent as your own words." in ran.err) == bool(expected.text)


@pytest.mark.parametrize("slip", ["Postgre", "postgresq", "PostgresSQL", "Postgress QL", "SQLit", "p", "PO"])
def test_what_is_all_but_a_label_is_refused_rather_than_sent_as_own_words(home: Home, slip: str) -> None:
    ask = home.leave(choice())
    ran = home.run("answer", ask.id[:8], slip)
    number, label = (1, "SQLite") if slip == "SQLit" else (2, "PostgreSQL")
    assert ran.code == 2
    assert f'"{slip}" is no option, but close to "{label}". Give #{number} for that one' in ran.error
    assert home.ask_of(ask).state.answerable


@pytest.mark.parametrize(("slip", "told"), [("2", "here #2"), ("#", "#1 to #2")])
def test_half_the_number_of_an_option_is_refused_rather_than_sent_as_own_words(
    home: Home, slip: str, told: str
) -> None:
    ask = home.leave(choice())
    ran = home.run("answer", ask.id[:8], slip)
    assert (ran.code, told in ran.error) == (2, True)
    assert home.ask_of(ask).state.answerable


def test_a_label_fits_without_the_mark_that_it_is_recommended(home: Home) -> None:
    ask = home.leave(choice("Where?", "SQLite (Recommended)", "PostgreSQL"))
    home.run("answer", ask.id, "sqlite")
    assert home.answers(ask) == (chosen("1"),)


def test_an_answer_names_the_person_and_the_command_line(home: Home) -> None:
    ask = home.leave(choice())
    home.run("answer", ask.id, "SQLite")
    outcome = home.ask_of(ask).outcome
    assert outcome is not None
    assert (outcome.person, outcome.surface) == ("ada", "command line")


def test_several_values_choose_several_options_of_a_multi_select(home: Home) -> None:
    ask = home.leave(several("Lint", "Types", "Tests"))
    home.run("answer", ask.id, "#3", "lint", "and the docs")
    assert home.answers(ask) == (Answer(question="1", chosen=("3", "1"), text="and the docs"),)


@pytest.mark.parametrize("word", ["yes", "Y", "true"])
def test_a_confirm_takes_words_for_yes(home: Home, word: str) -> None:
    ask = home.leave(confirm())
    home.run("answer", ask.id, word)
    assert home.answers(ask) == (chosen("yes"),)


def test_a_confirm_takes_nothing_else(home: Home) -> None:
    ask = home.leave(confirm())
    ran = home.run("answer", ask.id, "maybe")
    assert ran.code == 2
    assert ran.error == 'Error: question 1: it takes yes or no (or y, n, true, false), not "maybe".'
    assert home.ask_of(ask).state is State.PENDING


def test_several_questions_are_answered_by_number_and_by_id(home: Home) -> None:
    ask = home.leave(choice(id="db"), several("Lint", "Types", id="checks"), text(id="why"), confirm(id="go"))
    ran = home.run("answer", ask.id, "-q", "1=#2", "-q", "checks=Lint", "-q", "2=Types", "-q", "why=a=b", "-q", "#4=no")
    assert ran.code == 0, ran.err
    assert home.answers(ask) == (
        chosen("2", question="db"),
        chosen("1", "2", question="checks"),
        said("a=b", "why"),
        chosen("no", question="go"),
    )


def test_an_optional_question_that_is_left_out_is_skipped(home: Home) -> None:
    ask = home.leave(choice(), text(id="2", required=False))
    home.run("answer", ask.id, "-q", "1=SQLite")
    assert home.answers(ask)[1].skipped


def test_a_required_question_that_is_left_out_is_named(home: Home) -> None:
    ask = home.leave(choice(), text(id="2"))
    ran = home.run("answer", ask.id, "-q", "1=SQLite")
    assert ran.code == 2
    assert 'question 2 ("2"): an answer is required' in ran.error


def test_every_wrong_value_is_told_at_once(home: Home) -> None:
    ask = home.leave(choice(), confirm(id="2"), text(id="3"))
    ran = home.run("answer", ask.id, "-q", "1=#9", "-q", "2=perhaps", "-q", "3=a", "-q", "3=b")
    assert ran.code == 2
    for words in ("question 1: there is no option #9", "question 2: it takes yes or no", "question 3: takes one value"):
        assert words in ran.error


def test_equal_labels_need_a_number(home: Home) -> None:
    ask = home.leave(choice("Which?", "Again", "Again", "AGAIN"))
    ran = home.run("answer", ask.id, "Again")
    assert ran.code == 2
    assert '"Again" is the label of more than one option. Say which by its number: #1 or #2.' in ran.error
    assert "#1 or #2 or #3" in home.run("answer", ask.id, "again").error
    home.run("answer", ask.id, "#2")
    assert home.answers(ask) == (chosen("2"),)


def test_a_key_that_is_one_questions_id_and_anothers_number_is_refused(home: Home) -> None:
    ask = home.leave(text(id="2"), text(id="1"))
    ran = home.run("answer", ask.id, "-q", "1=x", "-q", "2=y")
    assert ran.code == 2
    assert "fits more than one question" in ran.error
    home.run("answer", ask.id, "-q", "#1=x", "-q", "#2=y")
    assert home.answers(ask) == (said("x", "2"), said("y", "1"))


def test_an_unknown_key_is_told_the_keys(home: Home) -> None:
    ask = home.leave(text(id="why"), text(id="how"))
    ran = home.run("answer", ask.id, "-q", "when=now")
    assert ran.error == (
        'Error: -q: "when=now" names no question. Write KEY=VALUE; the keys are #1 ("why"), #2 ("how").'
    )


def test_values_for_an_ask_of_several_questions_are_refused(home: Home) -> None:
    ask = home.leave(choice(), text(id="2"))
    ran = home.run("answer", ask.id, "SQLite")
    assert ran.code == 2
    assert "2 questions, so say which one is answered: -q 1=VALUE -q 2=VALUE." in ran.error


def test_a_dash_reads_the_text_from_standard_input(home: Home) -> None:
    ask = home.leave(text())
    home.run("answer", ask.id, "-", stdin="two\nlines \U0001f600\n")
    assert home.answers(ask) == (said("two\nlines \U0001f600"),)


def test_one_of_several_values_can_be_read_from_standard_input(home: Home) -> None:
    ask = home.leave(text(), choice(id="2"))
    home.run("answer", ask.id, "-q", "1=x", "-q", "2=-", stdin="sqlite\n")
    assert home.answers(ask) == (said("x"), chosen("1", question="2"))


def test_standard_input_is_read_only_once_and_must_be_text(home: Home) -> None:
    ask = home.leave(text(), text(id="2"))
    assert "Only one value" in home.run("answer", ask.id, "-q", "1=-", "-q", "2=-").error
    assert "not UTF-8 text (byte 2)" in home.run("answer", ask.id, "-q", "1=-", "-q", "2=x", stdin=b"a\xff").error


def test_a_million_characters_arrive_whole_and_one_more_is_refused(home: Home) -> None:
    ask = home.leave(text())
    ran = home.run("answer", ask.id, "-", stdin="x" * 1_000_001)
    assert ran.code == 2
    assert "is 1,000,001 characters long; at most 1,000,000" in ran.error
    assert home.run("answer", ask.id, "-", stdin="é" * 1_000_000).code == 0
    assert home.answers(ask) == (said("é" * 1_000_000),)


def test_without_values_and_without_a_terminal_it_is_a_usage_error(home: Home) -> None:
    ask = home.leave(choice())
    ran = home.run("answer", ask.id)
    assert ran.code == 2
    assert "sayso answer ID VALUE, or -q KEY=VALUE" in ran.error


def test_an_agent_that_is_not_waiting_gets_the_answer_when_it_asks_again(home: Home) -> None:
    ask = home.leave(choice())
    ran = home.run("answer", ask.id, "SQLite")
    assert ran.err == "Answered. The agent is not waiting now; it will be told when it asks again.\n"
    assert ran.out == ""


def test_of_an_agent_over_http_it_is_said_that_its_own_session_has_to_ask_again(home: Home) -> None:
    ask = home.leave(
        choice(), asker=Asker(client="claude-code", agent="claude-code#1a2b3c", session="mcp-0123456789abcdef")
    )
    alone = replace(ask, away=Away.UNKNOWN)
    assert "when the session that asked does so again, or another once" in wording.standing(alone).meaning
    ran = home.run("answer", ask.id, "SQLite")
    assert ran.err == (
        "Answered. The agent is not waiting now; it will be told when the session that asked does so again.\n"
    )
    assert "when the session that asked does so again" in wording.handover(home.ask_of(ask))


def test_json_prints_the_answered_ask(home: Home) -> None:
    ask = home.leave(choice())
    found = home.run("answer", ask.id, "SQLite", "--json").data
    assert found["status"] == "answered"
    assert found["outcome"]["answers"][0]["selected"] == ["SQLite"]


def test_a_settled_ask_says_who_was_first(home: Home) -> None:
    ask = home.leave(choice())
    with home.desk() as desk:
        desk.answer(ask.id, [chosen("1")], SOMEONE)
    ran = home.run("answer", ask.id, "PostgreSQL")
    assert ran.code == 4
    assert ran.error.startswith("Error: Already answered in terminal by mira, ")
    assert home.answers(ask) == (chosen("1"),)


def test_a_late_answer_to_a_timed_out_ask_counts(home: Home) -> None:
    with home.desk() as desk:
        held = desk.hold(NewAsk(tool="t", questions=(choice(),), asker=Asker(client="codex"), timeout_ms=5))
        desk.time_out(held)
    assert home.run("answer", held.ask.id, "SQLite").code == 0
    outcome = home.ask_of(held.ask).outcome
    assert outcome is not None
    assert outcome.late


def test_of_two_answers_at_once_exactly_one_wins(home: Home) -> None:
    ask = home.leave(choice())
    answering = [
        subprocess.Popen(
            [BIN / "sayso", "answer", ask.id, label], stderr=subprocess.PIPE, env=home.env, cwd=home.project, text=True
        )
        for label in ("SQLite", "PostgreSQL")
    ]
    errors = [process.communicate(timeout=SECONDS)[1] for process in answering]
    codes = [process.returncode for process in answering]
    assert sorted(codes) == [0, 4]
    assert home.answers(ask) == (chosen(str(codes.index(0) + 1)),)
    assert "Already answered at the command line by ada" in errors[codes.index(4)]


def test_an_unknown_an_impossible_and_an_ambiguous_id_are_told_apart(home: Home) -> None:
    asks = [home.leave(choice(f"Question {number}?")) for number in range(17)]
    first = {ask.id[0] for ask in asks}
    twice = next(digit for digit in first if sum(ask.id.startswith(digit) for ask in asks) > 1)
    unknown = home.run("answer", "0" * 31, "x")
    assert unknown.code == 3
    assert "`sayso list` shows the open ones" in unknown.error
    assert "is not an id" in home.run("answer", "yes", "x").error
    ambiguous = home.run("answer", twice, "SQLite")
    assert ambiguous.code == 3
    assert "fits more than one" in ambiguous.err
    assert all(ask.id in ambiguous.err for ask in asks if ask.id.startswith(twice))
    assert all(home.ask_of(ask).state is State.PENDING for ask in asks)
    alike = [ask for ask in asks if ask.id.startswith(twice)]
    home.run("reject", alike[0].id)
    still, over = home.run("answer", twice, "SQLite").err.split("Ended already:\n")
    assert alike[0].id in over
    assert all(ask.id in still and ask.id not in over for ask in alike[1:])
    for ask in alike[1:]:
        home.run("reject", ask.id)
    assert "fits more than one; all have ended." in home.run("answer", twice, "SQLite").err


def test_of_an_id_that_fits_many_the_first_ten_are_named_and_those_that_are_open_first(home: Home) -> None:
    left = home.leave(choice())
    home.flood(500)
    begin = left.id[0]
    with home.desk() as desk:
        alike = sorted(ask.id for ask in desk.inbox(most=501) if ask.id.startswith(begin))
        for ask_id in alike[:-2]:
            desk.cancel(ask_id, SOMEONE)
    told = home.run("show", begin).err
    assert f"The id '{begin}' fits {len(alike)}, of which the first 10 are shown. Give more of it:" in told
    assert told.split()[-12:] == [*alike[-2:], "Ended", "already:", *alike[:8]]
    german = home.run("show", begin, SAYSO_LANGUAGE="de").err
    assert f"passt auf {len(alike)}, von denen hier die ersten 10 stehen. Mehr davon:" in german


def test_files_go_with_an_answer_and_can_be_saved_again(home: Home, tmp_path: Path) -> None:
    photo_file, notes = tmp_path / "IMG 1.jpeg", tmp_path / "notes.txt"
    photo_file.write_bytes(photo())
    notes.write_text("as discussed")
    ask = home.leave(text())
    ran = home.run("answer", ask.id[:8], "like this", "--attach", str(photo_file), "--attach", str(notes))
    assert ran.code == 0, ran.err
    (answer,) = home.answers(ask)
    assert (answer.text, [each.name for each in answer.attachments]) == ("like this", ["IMG 1.jpg", "notes.txt"])
    assert "attached: IMG 1.jpg (image/jpeg, " in home.run("show", ask.id[:8]).out
    saved = home.run("show", ask.id[:8], "--save", str(tmp_path / "saved")).out.splitlines()
    assert saved == [str(tmp_path / "saved" / name) for name in ("1-IMG 1.jpg", "2-notes.txt")]
    assert SECRET not in Path(saved[0]).read_bytes()
    assert Path(saved[1]).read_text() == "as discussed"


def test_a_file_that_cannot_be_sent_leaves_the_ask_open(home: Home, tmp_path: Path) -> None:
    ask, photo_file = home.leave(choice(), choice("And this?", id="b")), tmp_path / "photo.heic"
    photo_file.write_bytes(b"\0\0\0\x18ftypheic")
    for attached, why in [
        (f"#1={tmp_path / 'gone'}", "cannot be read: No such file or directory"),
        (str(photo_file), "names no question. Write KEY=FILE"),
        (f"#1={photo_file}", "is a HEIC, AVIF or TIFF photo"),
    ]:
        ran = home.run("answer", ask.id, "-q", "#1=#1", "-q", "#2=#1", "--attach", attached)
        assert ran.code == 2
        assert why in ran.error
    assert home.ask_of(ask).state.answerable
