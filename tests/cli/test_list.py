"""`sayso list`, and `sayso` alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.program import SOMEONE, Home, choice, confirm, several, text
from tests.cli.pseudo_terminal import Terminal
from tests.cli.test_log import decide

from sayso.asks.model import SAY_SO, Answer, Asker, Kind, NewAsk, Question
from sayso.process_table import started
from sayso.processes import this_host

LONG = "npm run a-script-with-a-long-name -- --with many --options"


def test_an_open_ask_is_a_row_with_short_id_status_client_project_and_question(home: Home) -> None:
    ask = home.leave(choice("Which database?"))
    ran = home.run("list")
    header, row = ran.out.splitlines()
    assert header.split() == ["ID", "AGE", "STATUS", "CLIENT", "PROJECT", "QUESTION"]
    assert row.split(maxsplit=6) == [
        ask.id[:8],
        row.split()[1],
        "not",
        "waiting",
        "claude-code",
        "~/project",
        "Which database?",
    ]
    assert "not waiting: no call of the agent waits now; it gets the answer when it asks the same again." in ran.err
    assert ran.code == 0


def test_the_title_stands_for_the_questions_and_further_ones_are_counted(home: Home) -> None:
    home.leave(choice(), text(id="2"), title="Storage")
    home.leave(choice("First?"), text(id="2"), text("Third?", id="3"))
    out = home.run("list").out
    assert "Storage (2 questions)" in out
    assert "First? (+2 more)" in out


def test_an_ask_whose_process_lives_is_waiting_and_one_whose_process_died_is_not(home: Home) -> None:
    with home.desk() as desk:
        new = NewAsk(tool="t", questions=(choice(),), asker=Asker(client="codex", project=str(home.project)))
        held = desk.hold(new)
        assert home.run("list").out.splitlines()[1].split()[2] == "waiting"
        assert home.run("list", "--json").data[0]["attended"] is True
    ran = home.run("list", "--json")
    assert ran.data[0]["attended"] is False
    assert ran.data[0]["id"] == held.ask.id
    assert home.ask_of(held.ask).wait is None


def test_a_timed_out_ask_is_still_listed_as_answerable(home: Home) -> None:
    with home.desk() as desk:
        held = desk.hold(NewAsk(tool="t", questions=(choice(),), asker=Asker(client="codex"), timeout_ms=5))
        desk.time_out(held)
    ran = home.run("list")
    assert "timed out" in ran.out
    assert "timed out: can still be answered." in ran.err


@pytest.mark.requirement("A-25")
def test_json_holds_everything_about_each_open_ask(home: Home) -> None:
    ask = home.leave(several("Lint", "Tests"), title="Checks")
    [found] = home.run("list", "--json").data
    assert found["id"] == ask.id
    assert found["call_id"] == ask.call_id
    assert found["status"] == "pending"
    assert found["attended"] is False
    assert found["delivered"] is False
    assert found["title"] == "Checks"
    assert found["tool"] == "ask_user_questions"
    assert found["timeout_ms"] is None
    assert found["created_at"].endswith("Z")
    assert found["asker"]["client"] == "claude-code"
    assert found["questions"] == [
        {
            "id": "1",
            "question": "Which checks?",
            "type": "multi-select",
            "title": "",
            "required": True,
            "placeholder": "",
            "options": [
                {"id": "1", "label": "Lint", "description": "", "recommended": False, "preview": "", "picture": None},
                {"id": "2", "label": "Tests", "description": "", "recommended": False, "preview": "", "picture": None},
            ],
        }
    ]


def test_settled_asks_are_not_listed(home: Home) -> None:
    ask = home.leave(choice())
    with home.desk() as desk:
        desk.reject(ask.id, "", SOMEONE)
    assert home.run("list", "--json").data == []


def test_only_the_asks_of_one_project_are_shown_when_it_is_named(home: Home) -> None:
    here = home.leave(choice())
    home.leave(choice("Elsewhere?"), asker=Asker(client="codex", project="/elsewhere"))
    assert [found["id"] for found in home.run("list", "--project", ".", "--json").data] == [here.id]


OF_A_PROJECT = [["list"], ["list", "--count"], ["list", "--snoozed"], ["history"], ["log"], ["ops", "list"]]


@pytest.mark.parametrize("command", OF_A_PROJECT, ids=" ".join)
def test_a_folder_that_never_was_a_project_does_not_pass_for_an_empty_one(home: Home, command: list[str]) -> None:
    home.leave(choice())
    (home.folder / "notes.txt").touch()
    for nowhere in (home.project / "shpo", home.folder / "notes.txt"):
        ran = home.run(*command, "--project", str(nowhere))
        assert (ran.code, ran.out) == (2, "")
        assert ran.error == (
            f"Error: --project: there is no folder {nowhere} here, and nothing is kept of one. "
            "Correct it, or leave it out."
        )
    (home.project / "shpo").mkdir()
    assert home.run(*command, "--project", "shpo").code == 0


@pytest.mark.parametrize("command", OF_A_PROJECT, ids=" ".join)
def test_a_project_whose_folder_was_deleted_can_be_named_as_long_as_anything_is_kept_of_it(
    home: Home, command: list[str]
) -> None:
    shop = home.folder / "shop"
    ask = home.leave(choice(), asker=Asker(client="codex", project=str(shop)))
    assert home.run(*command, "--project", str(shop)).code == 0
    assert home.run("reject", ask.id).code == 0
    assert home.run(*command, "--project", str(shop)).code == 0
    assert [found["id"] for found in home.run("history", "--project", str(shop), "--json").data] == [ask.id]


def test_a_command_or_a_token_is_something_of_a_project_too(home: Home) -> None:
    assert home.run("token", "add", "builder", "--project", "/srv/shop").code == 0
    tools = home.folder / ".config" / "sayso" / "tools"
    tools.mkdir(parents=True)
    tool = {"name": "yes", "description": "Says yes.", "command": "true", "synchronous": True}
    (tools / "yes.json").write_text(json.dumps({"schema_version": 2, **tool}))
    (gone := home.folder / "gone").mkdir()
    assert home.run("tools", "run", "yes", CLAUDE_PROJECT_DIR=str(gone)).code == 0
    gone.rmdir()
    for project in ("/srv/shop", str(gone)):
        assert home.run("log", "--project", project).code == 0
    assert len(home.run("ops", "list", "--project", str(gone), "--json").data) == 1


def test_a_project_may_be_named_with_a_tilde_that_no_shell_has_expanded(home: Home) -> None:
    named = Path(home.env["HOME"]).resolve() / "shop"
    here = home.leave(choice(), asker=Asker(client="codex", project=str(named)))
    assert [found["id"] for found in home.run("list", "--project=~/shop", "--json").data] == [here.id]


@pytest.mark.parametrize("command", [("list",), ("history",), ("log",), ("ops", "list")])
def test_a_limit_beyond_what_a_store_can_count_to_is_none(home: Home, command: tuple[str, ...]) -> None:
    ran = home.run(*command, "--limit", "99999999999999999999")
    assert (ran.code, "Traceback" in ran.err) == (0, False)


def test_a_limit_cuts_the_list_and_says_so(home: Home) -> None:
    for number in range(3):
        home.leave(choice(f"Question {number}?"))
    ran = home.run("list", "--limit", "2")
    assert len(ran.out.splitlines()) == 3
    assert "--limit shows more than 2" in ran.err


def test_an_empty_inbox_says_so_and_prints_no_data(home: Home) -> None:
    ran = home.run("list")
    assert (ran.code, ran.out) == (0, "")
    assert "No questions are waiting" in ran.err


def test_without_a_command_an_empty_machine_is_told_what_to_do_next(home: Home) -> None:
    ran = home.run()
    assert ran.code == 0
    for hint in ("No questions are waiting", "sayso demo", "sayso install", "sayso doctor"):
        assert hint in ran.out


def test_without_a_command_the_open_asks_are_shown(home: Home) -> None:
    ask = home.leave(choice())
    ran = home.run()
    assert ask.id[:8] in ran.out
    assert f"sayso answer {ask.id[:8]}" in ran.err


def test_a_reader_that_stops_early_is_no_error(home: Home) -> None:
    for number in range(50):
        home.leave(text(f"{number} " + "long " * 2000))
    listing = home.start("list", "--json")
    assert listing.stdout is not None
    listing.stdout.close()
    _, err = listing.communicate(timeout=60)
    assert err == ""
    assert listing.returncode == 141


@pytest.mark.finding("F-34")
def test_a_noisy_agent_does_not_hide_the_question_of_another(home: Home) -> None:
    noisy = Asker(client="noisy", project="/srv/shop", host="h", pid=7, started="1")
    for number in range(120):
        home.leave(text(f"Noise {number}?"), asker=noisy)
    home.leave(Question(id=SAY_SO, text="May I?", kind=Kind.CONFIRM), asker=noisy)
    honest = home.leave(confirm("An honest question?"), asker=Asker(client="calm", host="h", pid=8, started="1"))
    ran = home.run("list")
    assert honest.id[:8] in ran.out
    assert ran.out.count("Noise") == 5
    assert "… and 115 more of noisy in /srv/shop: --all shows each." in ran.err
    every_one = home.run("list", "--all", "--limit", "200").out
    assert every_one.count("Noise") == 120
    assert len(home.run("list", "--json", "--limit", "200").data) == 122


def test_a_program_gets_every_ask_unless_it_wants_fewer_and_a_person_is_told_of_more(home: Home) -> None:
    for number in range(130):
        asker = Asker(client=f"agent-{number}", project="/srv/shop", host="h", pid=number + 7, started="1")
        home.leave(text(f"Question {number}?"), asker=asker)
    assert len(home.run("list", "--json").data) == 130
    assert home.run("list", "--format", "{id}").out.count("\n") == 130
    assert len(home.run("list", "--json", "--limit", "3").data) == 3
    listing = home.run("list")
    assert listing.out.count("Question") == 100
    assert "… and more: --limit shows more than 100." in listing.err
    every_one = home.run("list", "--all")
    assert every_one.out.count("Question") == 130
    assert "and more" not in every_one.err
    assert home.run("list", "--all", "--limit", "7").out.count("Question") == 7


def test_many_noisy_agents_are_counted_in_one_line(home: Home) -> None:
    for number in range(6 * 7):
        agent = number % 6
        noisy = Asker(client=f"noisy-{agent}", project="/srv/shop", host="h", pid=7 + agent, started="1")
        home.leave(text(f"Noise {number}?"), asker=noisy)
    told = home.run("list").err
    assert "… and 12 more of 6 agents: --all shows each." in told
    assert "noisy-" not in told


@pytest.mark.finding("F-70")
def test_agents_of_the_same_name_in_one_project_are_told_apart_by_their_sessions(home: Home) -> None:
    with home.desk() as desk:
        for session, pid in (("0199-aaaaaa", 0), ("0199-bbbbbb", 0), ("", 4242)):
            branch = f"fix-{session[-1:] or 'a'}"
            asker = Asker(client="codex", project=str(home.project), session=session, pid=pid, branch=branch)
            desk.leave(NewAsk(tool="t", questions=(choice(),), asker=asker))
        lone = Asker(client="zed", project=str(home.project), session="0199-cccccc")
        desk.leave(NewAsk(tool="t", questions=(choice(),), asker=lone))
    out = home.run("list").out
    assert all(f"codex {session} " in out for session in ("aaaaaa", "bbbbbb", "4242"))
    assert "zed cccccc" not in out
    assert all(f"~/project ({branch})" in out for branch in ("fix-a", "fix-b"))


def test_status_bars_are_told_how_many_there_are(home: Home) -> None:
    assert home.run("list", "--count").out == "0\n"
    for number in range(7):
        home.leave(text(f"Question {number}?"))
    (home.folder / "elsewhere").mkdir()
    elsewhere = home.run("list", "--count", "--project", "../elsewhere")
    assert (home.run("list", "--count").out, elsewhere.out, elsewhere.err) == ("7\n", "0\n", "")
    assert home.run("list", "--json", "--count").out == home.run("list", "--count", "--json").out == "7\n"


def test_a_line_for_each_ask_is_made_as_it_is_wanted_and_stays_a_line(home: Home) -> None:
    home.leave(text("Ship\nit \x1b[31m#(reboot)\x1b[0m?"))
    ask = home.leave(choice())
    ran = home.run("list", "--format", "{id}|{client}|{project}|{question}")
    first, second = ran.out.splitlines()
    assert first.endswith("|claude-code|~/project|Ship it <U+001B>[31m#(reboot)<U+001B>[0m?")
    assert second == f"{ask.id[:8]}|claude-code|~/project|Which database?"
    assert ran.err == ""
    assert home.run("list", "--format", "{id}", "--limit", "1").out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--format", "{who}"], 'Error: --format: "who" is no field. The fields are id, age, status, '),
        (["--format", "{id"], 'Error: --format: "{id" has a brace that is not closed. Close it.'),
        (["--format", "{id} {que"], 'Error: --format: "{que" has a brace that is not closed. Close it.'),
        (["--format", "{id!r}"], 'Error: --format: "{id!r}" is more than a field. Write {id}.'),
        (["--format", "{age:>5}"], 'Error: --format: "{age:>5}" is more than a field. Write {age}.'),
        (["--format", "{id}", "--count"], "Error: --format: give either this or --count, not both."),
    ],
)
def test_a_line_that_cannot_be_made_is_refused_before_anything_is_told(
    home: Home, arguments: list[str], error: str
) -> None:
    home.run("snooze", home.leave(choice()).id[:8], "1h")
    ran = home.run("list", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(error)


def test_a_watched_list_says_when_it_has_changed(home: Home) -> None:
    watching = home.start("list", "--watch", "--count")
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "0\n"
        ask = home.leave(choice())
        assert watching.stdout.readline() == "1\n"
        with home.desk() as desk:
            desk.reject(ask.id, "", SOMEONE)
        assert watching.stdout.readline() == "0\n"
    finally:
        watching.terminate()
        watching.communicate(timeout=60)


def test_a_watched_list_has_its_terminal_tell_of_what_is_new(home: Home) -> None:
    home.leave(choice("Was it there before?"))
    with Terminal(home, "list", "--watch", "--count", TERM="xterm-kitty", SAYSO_TERMINAL_NOTIFY="osc9") as terminal:
        before = terminal.expect("1")
        home.leave(choice("Which \x1b]52;c;x\x07 one?"))
        told = terminal.expect("\x1b]9;")
        told += terminal.expect("\x1b\\")
        terminal.interrupt()
    assert "]9;" not in before
    assert "Which <U+001B>]52;c;x<U+0007> one?" in told
    assert "Was it there" not in terminal.screen


@pytest.mark.parametrize(
    ("words", "header"),
    [("history", "ID ENDED OUTCOME QUESTION AND ANSWER"), ("log", "ID WHEN VERDICT ACTION"), ("agents", "AGENT DOING")],
)
@pytest.mark.parametrize("columns", [40, 60])
def test_every_table_keeps_to_a_narrow_terminal_and_is_whole_for_a_program(
    home: Home, words: str, header: str, columns: int
) -> None:
    about = "Which database shall the shop use from now on, and which one shall the accounts use?"
    (home.folder / "a-folder-with-a-long-name").mkdir()
    us = {"host": this_host(), "pid": os.getpid(), "started": started(os.getpid())}
    here = Asker(
        client="a-client-with-a-long-name",
        project=str(home.folder / "a-folder-with-a-long-name"),
        session="a-session",
        branch="a-branch",
        **us,  # type: ignore[arg-type]
    )
    ended = home.leave(choice(about), asker=here)
    with home.desk() as desk:
        desk.answer(ended.id, [Answer(question="1", chosen=("1",))], SOMEONE)
        desk.hold(NewAsk(tool="t", questions=(choice(about),), asker=here))
        decide(home, LONG, because="no")
        with Terminal(home, words, columns=columns) as terminal:
            assert terminal.end() == 0
            lines = terminal.screen.splitlines()
        piped = home.run(words).out
    assert max(map(len, lines)) <= columns
    if columns == 60:
        assert " ".join(lines[0].split()) == header
    assert len(piped.splitlines()[1]) > 60
    assert "accounts use?" in piped or LONG in piped


def test_no_word_and_no_command_is_broken_where_the_terminal_is_narrow(home: Home) -> None:
    about = "Shall the ledger of the accounts be kept in one file, or in one for each month of the year?"
    ask = home.leave(choice(about, "In one file for all of the months and years that are to come"))
    for words in (["list"], ["show", ask.id], ["history"], ["answer", "abc", "x"]):
        with Terminal(home, *words, columns=40) as terminal:
            terminal.end()
            lines = terminal.screen.splitlines()
        assert max(len(line) for line in lines if not line.startswith("  Call")) <= 40, lines
        if words[0] == "show":
            shown = [line.strip() for line in lines]
            assert " ".join(shown[shown.index("1. Shall the ledger of the accounts be") :][:3]) == f"1. {about}"
            assert f"Answer it: sayso answer {ask.id[:8]}" in shown
            assert f"Turn it down: sayso reject {ask.id[:8]}" in shown


def test_a_narrow_terminal_keeps_the_question_and_leaves_columns_out(home: Home) -> None:
    ask = home.leave(choice("Which database shall the shop use from now on?"))
    with Terminal(home, "list", columns=60) as terminal:
        assert terminal.end() == 0
        header, row = terminal.screen.splitlines()[:2]
    assert header.split() == ["ID", "AGE", "STATUS", "QUESTION"]
    assert row.startswith(ask.id[:8])
    assert "Which database shall the" in row
    assert len(row) <= 60
