"""What a row says of an ask beside its words."""

from __future__ import annotations

import pytest
from tests.asks.samples import permission_ask
from tests.web.house import confirm, multi_select, new_ask, select, text

from sayso.asks.model import Ask, Asker, Kind, NewAsk, Option, Question
from sayso.dialects import approve
from sayso.web.icons import icon
from sayso.web.push_messages import options as options_in_notification
from sayso.web.row_wording import kind_of, options_in_row, size_of
from sayso.web.wording import answering_side, reading_side


def opened(new: NewAsk) -> Ask:
    return Ask(
        id="1",
        tool=new.tool,
        questions=new.questions,
        asker=new.asker,
        title=new.title,
        wanted=new.wanted,
        digest=new.digest,
        bound=new.bound,
        call_id="",
        created_at=0,
        changed_at=0,
    )


def wanting(tool: str, **given: str) -> Ask:
    wanted = approve.Permission(tool=tool, given=given)
    return opened(permission_ask(wanted, Asker(client="claude-code", project="/home/ada/shop")))


@pytest.mark.parametrize(
    ("questions", "word"),
    [
        ((text(),), "Question"),
        ((select(),), "Choice"),
        ((multi_select(),), "Choice of several"),
        ((confirm(),), "Yes or no"),
        ((confirm(), text()), "Form"),
        ((), "Form"),
    ],
)
def test_each_kind_of_question_has_a_word_and_a_drawing(questions: tuple[Question, ...], word: str) -> None:
    kind = kind_of(opened(new_ask(*questions)))
    assert kind.word == word
    assert "<path" in icon(kind.icon)


@pytest.mark.parametrize(
    ("tool", "given", "word"),
    [
        ("Bash", {"command": "ls"}, "Permission to run a command"),
        ("Write", {"file_path": "/home/ada/shop/x", "content": "x"}, "Permission to change a file"),
        ("Read", {"file_path": "/etc/passwd"}, "Permission to read"),
        ("WebFetch", {"url": "https://example.org"}, "Permission to fetch"),
        ("ExitPlanMode", {"plan": "One\nTwo"}, "Permission to carry out a plan"),
        ("mcp__db__query", {"sql": "select 1"}, "Permission to use a tool"),
        ("Unheard", {"of": "it"}, "Permission"),
    ],
)
def test_each_kind_of_permission_has_a_word_and_a_drawing(tool: str, given: dict[str, str], word: str) -> None:
    kind = kind_of(wanting(tool, **given))
    assert kind.word == word
    assert "<path" in icon(kind.icon)


def test_a_row_says_how_much_there_is_to_read() -> None:
    new_file = wanting("Write", file_path="/home/ada/shop/x", content="-- a\n++ b\nc\n")
    changed = wanting("Edit", file_path="/home/ada/shop/x", old_string="-- a\nb", new_string="b\nc\nd")
    assert size_of(new_file) == "+3 \N{MINUS SIGN}0 lines"
    assert size_of(changed) == "+3 \N{MINUS SIGN}2 lines"
    assert size_of(wanting("Bash", command="ls")) == ""
    assert size_of(wanting("Bash", command="set -e\nmake\nmake install\n")) == "3 lines"
    assert size_of(opened(new_ask(confirm(), text()))) == "2 questions"
    assert size_of(opened(new_ask(confirm()))) == ""


@pytest.mark.parametrize(
    ("words", "offered", "side"),
    [
        ("Which language?", ("العربية", "English"), "ltr"),
        ("אֵיזֶה?", ("PostgreSQL", "SQLite"), "rtl"),
        ("1. **هل** نبدأ؟", ("Now", "نعم"), "rtl"),
        ("Which language?", ("العربية", "עברית"), "rtl"),
        ("42?", ("1", "2"), "ltr"),
    ],
)
def test_options_begin_where_their_question_does_or_where_all_of_them_do(
    words: str, offered: tuple[str, ...], side: str
) -> None:
    assert reading_side(select(words, *offered)) == side
    assert answering_side(select(words, *offered)) == side
    assert answering_side(confirm(words)) == "ltr"


def labels(*questions: Question) -> list[str]:
    return [option.name for option in options_in_row(opened(new_ask(*questions)))]


def test_a_row_offers_answers_where_it_shows_the_whole_question() -> None:
    assert labels(confirm("Shall I?")) == ["Yes", "No"]
    assert labels(select("Which?", "Red", "Green")) == ["Red", "Green"]
    described = Question(id="1", text="Which?", kind=Kind.SELECT, options=(Option(id="1", label="A", description="b"),))
    for shown_in_part in (
        confirm("Shall I?\n\nIt cannot be undone."),
        confirm("Shall I [go on](https://example.org)?"),
        confirm("x" * 161),
        confirm("Shall I?", title="t" * 41),
        select("Which?", *"abcde"),
        select("Which?", "x" * 31, "y"),
        described,
        multi_select(),
        text(),
    ):
        assert labels(shown_in_part) == []
    assert labels(confirm(), confirm("And?")) == []
    assert options_in_row(wanting("Bash", command="ls")) == ()


@pytest.mark.parametrize(
    "asked",
    [
        "~~Do not~~ Drop the tables?",
        "Drop *all* tables?",
        "Drop `a` and not `b`?",
        "Drop ![not](x.png) it?",
        "Drop <https://example.org>?",
        "Drop &#110;ot it?",
        "Drop \\*it\\*?",
        "Drop  two blanks?",
        "# Drop it?",
        "> Drop it?",
        "- Drop it?",
        "Drop\u200bit?",
    ],
)
def test_a_question_with_marks_that_a_line_does_not_show_is_answered_on_its_page_alone(asked: str) -> None:
    marked = opened(new_ask(confirm(asked)))
    assert options_in_row(marked) == ()
    assert options_in_notification(marked) == []
    assert options_in_notification(opened(new_ask(confirm("Drop it?")))) == ["Yes", "No"]
