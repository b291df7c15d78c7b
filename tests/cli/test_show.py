"""`sayso show`, `history` and `reject`."""

from __future__ import annotations

import base64
import re

from tests.asks.samples import never_twice
from tests.cli.program import SOMEONE, Home, choice, confirm, several, text
from tests.cli.pseudo_terminal import Terminal
from tests.test_pictures import PNG

from sayso.asks.desk import Retention
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.asks.new_attachments import prepared
from sayso.clock import now_ms
from sayso.pictures import without_metadata


def test_everything_about_an_open_ask_is_shown(home: Home) -> None:
    ask = home.leave(choice(), text(id="2", required=False), confirm(id="3"), title="Storage")
    ran = home.run("show", ask.id[:8])
    for words in (
        f"Ask {ask.id}",
        "Status  not waiting: no call of the agent waits now; it gets the answer when it asks the same again",
        "From    claude-code 2.1, in ~/project",
        f"Call    {ask.call_id} of ask_user_questions",
        "Title   Storage",
        "1. Which database?\n   choose one, or use your own words\n   1) SQLite\n   2) PostgreSQL\n",
        "2. Why?\n   in your own words; optional\n",
        "3. Deploy?\n   yes or no\n",
    ):
        assert words in ran.out
    assert f"sayso reject {ask.id[:8]}" in ran.err


def test_an_answered_ask_shows_who_said_what_and_whether_the_agent_has_it(home: Home) -> None:
    ask = home.leave(choice(), several("Lint", "Types", id="2"), text(id="3", required=False))
    with home.desk() as desk:
        answers = [Answer(question="1", text="DuckDB"), Answer(question="2", chosen=("1", "2"))]
        desk.answer(ask.id, answers, SOMEONE)
    out = home.run("show", ask.id).out
    assert "Answered by mira in the terminal" in out
    assert "The agent has not fetched it yet." in out
    assert "  1. own words: DuckDB\n  2. Lint\n     Types\n  3. (skipped)\n" in out


def test_events_tell_when_what_who_and_from_where(home: Home) -> None:
    ask = home.leave(choice())
    with home.desk() as desk:
        desk.reject(ask.id, "no", SOMEONE)
    out = home.run("show", ask.id, "--events").out
    assert "opened: new → pending" in out
    assert "rejected: pending → rejected by mira in the terminal" in out
    events = home.run("show", ask.id, "--events", "--json").data["events"]
    assert [(event["kind"], event["from"], event["to"]) for event in events] == [
        ("opened", None, "pending"),
        ("rejected", "pending", "rejected"),
        ("unattended", "rejected", "rejected"),
    ]
    assert events[2]["detail"] == "its process ended"
    assert events[1]["person"] == "mira"
    assert events[1]["surface"] == "terminal"
    assert events[1]["at"].endswith("Z")


def test_long_texts_are_cut_with_a_note_and_whole_in_json(home: Home) -> None:
    ask = home.leave(text("x" * 1_000_000), text("y\n" * 500, id="2"))
    ran = home.run("show", ask.id)
    assert "… (996,000 more characters; --json shows all)" in ran.out
    assert "… (441 more lines; --json shows all)" in ran.out
    assert len(ran.out) < 10_000
    assert home.run("show", ask.id, "--json").data["questions"][0]["question"] == "x" * 1_000_000


def test_a_rejection_keeps_its_reason(home: Home) -> None:
    ask = home.leave(choice())
    ran = home.run("reject", ask.id[:8], "--reason", "Look it up")
    assert ran.code == 0
    assert ran.err == "Rejected. The agent is not waiting now; it will be told when it asks again.\n"
    assert "Reason: Look it up" in home.run("show", ask.id).out


def test_a_rejection_needs_no_reason_and_can_take_it_from_standard_input(home: Home) -> None:
    first, second = home.leave(choice()), home.leave(text())
    assert home.run("reject", first.id, "--json").data["outcome"]["reason"] is None
    home.run("reject", second.id, "--reason", "-", stdin="a secret\n")
    outcome = home.ask_of(second).outcome
    assert outcome is not None
    assert outcome.reason == "a secret"


def test_what_was_rejected_cannot_be_rejected_again(home: Home) -> None:
    ask = home.leave(choice())
    home.run("reject", ask.id)
    ran = home.run("reject", ask.id)
    assert ran.code == 4
    assert "Already rejected at the command line by ada" in ran.error


def test_history_shows_ended_asks_newest_first_with_what_came_of_them(home: Home) -> None:
    first, second = home.leave(choice()), home.leave(text("Who?"))
    home.leave(text("Still open?"))
    with home.desk() as desk:
        desk.answer(first.id, [Answer(question="1", chosen=("2",))], SOMEONE)
        desk.reject(second.id, "private", SOMEONE)
    rows = home.run("history").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [second.id[:8], first.id[:8]]
    assert rows[0].endswith("Who? → private")
    assert rows[1].endswith("Which database? → PostgreSQL")


def test_history_is_searched_limited_and_told_by_project(home: Home) -> None:
    asks = [home.leave(text(f"About {topic}?")) for topic in ("apples", "pears")]
    asks.append(home.leave(text("About plums?"), asker=Asker(client="codex", project="/elsewhere")))
    with home.desk(clock=never_twice(now_ms)) as desk:
        for ask in asks:
            desk.answer(ask.id, [Answer(question="1", text="100% sure")], SOMEONE)
    assert [found["id"] for found in home.run("history", "--search", "PEAR", "--json").data] == [asks[1].id]
    assert len(home.run("history", "--search", "100%", "--json").data) == 3
    assert [found["id"] for found in home.run("history", "--limit", "1", "--json").data] == [asks[2].id]
    assert {found["id"] for found in home.run("history", "--project", ".", "--json").data} == {asks[0].id, asks[1].id}
    nothing = home.run("history", "--search", "nothing like it")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No finished ask matches." in nothing.err


def test_without_history_the_texts_are_gone_and_it_says_so(home: Home) -> None:
    ask = home.leave(choice())
    with home.desk(keeps_history=lambda _: False) as desk:
        held = desk.attach(ask.id)
        assert held is not None
        desk.answer(ask.id, [Answer(question="1", chosen=("1",))], SOMEONE)
        desk.delivered(held)
    assert "(its texts were not kept)" in home.run("history").out
    assert home.run("show", ask.id).code == 0


def test_an_ask_that_expired_is_shown_as_such(home: Home) -> None:
    ask = home.leave(choice())
    with home.desk(clock=lambda: now_ms() + 10_000) as desk:
        desk.clean_up(Retention(ended=10**9, undelivered=10**9, unattended=1))
    assert home.ask_of(ask).state is State.EXPIRED
    assert "Expired" in home.run("show", ask.id).out
    ran = home.run("answer", ask.id, "SQLite")
    assert ran.code == 4
    assert "can no longer be answered: it is expired" in ran.error


def test_descriptions_placeholders_and_time_limits_are_shown(home: Home) -> None:
    options = (Option(id="1", label="A", description="First\nof two"), Option(id="2", label="B", recommended=True))
    question = Question(id="1", text="Which?", kind=choice().kind, options=options)
    with home.desk() as desk:
        asked = (question, Question(id="2", text="Name?", placeholder="Ada"))
        desk.hold(
            NewAsk(tool="t", questions=asked, asker=Asker(pid=7, host="box", session="named-f00bar"), timeout_ms=60_000)
        )
        [found] = desk.inbox()
        out = home.run("show", found.id).out
    for words in (
        "      First\n      of two\n",
        "2) B (recommended)",
        "for example: Ada",
        "Limit   waits until ",
        "session f00bar, process 7",
    ):
        assert words in out


def pictured(home: Home) -> Ask:
    wide = prepared("wide.png", PNG)
    options = (Option(id="1", label="Wide", picture=wide.kept), Option(id="2", label="Narrow", preview="[a] [b]"))
    question = Question(id="1", text="Which?", kind=Kind.SELECT, options=options)
    with home.desk() as desk:
        return desk.leave(NewAsk(tool="t", questions=(question,), asker=Asker(client="an-agent"), files=(wide,)))


def test_a_picture_is_shown_in_a_terminal_that_says_it_can(home: Home) -> None:
    ask = pictured(home)
    with Terminal(home, "show", ask.id, TERM="xterm-kitty") as terminal:
        # What such a terminal answers to the two questions that it is asked.
        terminal.press(b"\x1b_Gi=31;OK\x1b\\\x1b[?62;22c")
        terminal.expect("wide.png (image/png")
        shown = terminal.expect("Which?")
    sent = re.findall("\x1b_G(a=T,f=100,q=2,c=20,)?m=([01]);([A-Za-z0-9+/=]+)\x1b\\\\", shown)
    assert [head for head, _, _ in sent] == ["a=T,f=100,q=2,c=20,", *[""] * (len(sent) - 1)]
    assert base64.b64decode("".join(data for _, _, data in sent)) == without_metadata(PNG)


def test_a_terminal_that_shows_no_pictures_is_sent_none_and_told_how_to_save_them(home: Home) -> None:
    ask = pictured(home)
    with Terminal(home, "show", ask.id, TERM="xterm") as terminal:
        terminal.press(b"\x1b[?62;22c")
        terminal.expect("This terminal shows no pictures. Save them:")
        terminal.expect(f"sayso show {ask.id[:8]} --save FOLDER")
        shown = terminal.expect("[a] [b]")
    assert "picture: wide.png (image/png, 2." in shown
    assert "a=T" not in terminal.screen
    with Terminal(home, "show", ask.id, TERM="dumb", SAYSO_WEB_URL="https://inbox.example.org/") as terminal:
        terminal.expect("This terminal shows no pictures. Look at them:")
        terminal.expect(f"https://inbox.example.org/asks/{ask.id}")
