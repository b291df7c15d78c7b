"""`sayso ask`: a script puts an ask and waits for its end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.cli.program import BIN, SECONDS, Home
from tests.cli.pseudo_terminal import Shell, Terminal
from tests.running.processes import eventually

from sayso import __version__
from sayso.asks.model import Answer, Ask, Settler, State
from sayso.processes import name_of
from sayso.records import replace

PERSON = Settler(person="mira", surface="terminal")


@contextmanager
def asking(home: Home, *arguments: str, given: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """`sayso ask` at work until it says that it waits."""
    process = home.start("ask", *arguments, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE)
    try:
        if process.stdin:
            process.stdin.write(given or "")
            process.stdin.close()
            process.stdin = None
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "Waiting for a person" in said, said + process.stderr.read()
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=SECONDS)


def only_ask(home: Home) -> Ask:
    with home.desk() as desk:
        [ask] = desk.inbox()
        return ask


def settle(home: Home, *answers: Answer) -> None:
    ask = only_ask(home)
    with home.desk() as desk:
        desk.answer(ask.id, answers, PERSON)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def test_the_chosen_label_is_printed_and_the_exit_code_is_0(home: Home) -> None:
    with asking(home, "Which?", "-o", "SQLite (recommended)", "-o", "PostgreSQL", "--title", "Storage") as process:
        ask = only_ask(home)
        assert ask.title == "Storage"
        assert [option.recommended for option in ask.questions[0].options] == [True, False]
        settle(home, Answer(question="1", chosen=("2",)))
        assert ended(process) == (0, "PostgreSQL\n", "")
    assert home.ask_of(ask).delivered


def test_chosen_labels_and_own_text_are_printed_one_per_line(home: Home) -> None:
    with asking(home, "Which?", "-o", "A", "-o", "B", "-o", "C", "--multi") as process:
        settle(home, Answer(question="1", chosen=("3", "1"), text="and D"))
        assert ended(process)[:2] == (0, "A\nC\nand D\n")


def test_a_confirm_prints_yes_or_no_and_both_are_answers(home: Home) -> None:
    with asking(home, "Deploy?", "--confirm") as process:
        settle(home, Answer(question="1", chosen=("no",)))
        assert ended(process)[:2] == (0, "No\n")


def test_a_program_gets_every_character_of_the_answer(home: Home) -> None:
    words = "\x1b[31mred\x1b[0m \u202e and\ttabs"
    with asking(home, "Say it") as process:
        settle(home, Answer(question="1", text=words))
        assert ended(process)[1] == words + "\n"


def test_a_terminal_gets_none_that_could_drive_it(home: Home) -> None:
    with Terminal(home, "ask", "Say it") as terminal:
        terminal.expect("Waiting for a person")
        settle(home, Answer(question="1", text="\x1b[31mred"))
        assert terminal.end() == 0
        assert "<U+001B>[31mred" in terminal.screen
        assert "\x1b" not in terminal.screen


QUESTIONS: dict[str, Any] = {
    "title": "Setup",
    "questions": [
        {"id": "db", "question": "Which?", "options": ["A", {"label": "B", "description": "better"}], "title": "DB"},
        {"question": "Why?", "required": False, "placeholder": "because"},
        {"question": "Sure?", "type": "confirm"},
    ],
}


@pytest.mark.parametrize("flags", [["--json"], ["--stdin", "--json"]])
def test_questions_are_read_as_json_from_standard_input_and_the_outcome_is_json(home: Home, flags: list[str]) -> None:
    with asking(home, *flags, given=json.dumps(QUESTIONS)) as process:
        ask = only_ask(home)
        assert [question.kind for question in ask.questions] == ["select", "text", "confirm"]
        assert ask.questions[1].placeholder == "because"
        settle(home, Answer(question="db", chosen=("2",)), Answer(question="3", chosen=("yes",)))
        code, out, _ = ended(process)
    data = json.loads(out)
    assert code == 0
    assert data["outcome"] == "answered"
    assert data["answered_by"] == "mira"
    assert [answer["selected"] for answer in data["answers"]] == [["B"], [], ["Yes"]]
    assert [answer["skipped"] for answer in data["answers"]] == [False, True, False]


def test_the_questions_of_the_list_can_be_asked_again_as_they_are(home: Home) -> None:
    with asking(home, "Which?", "-o", "A", "-o", "B") as process:
        [listed] = home.run("list", "--json").data
        for question in listed["questions"]:
            for option in question["options"]:
                del option["id"]
        settle(home, Answer(question="1", chosen=("1",)))
        ended(process)
    with asking(home, given=json.dumps({"questions": listed["questions"]})) as process:
        settle(home, Answer(question="1", chosen=("2",)))
        assert ended(process)[1] == "B\n"


@pytest.mark.parametrize(("verb", "code"), [("reject", 10), ("decline", 11), ("cancel", 12)])
def test_each_kind_of_no_has_its_own_exit_code_and_no_output(home: Home, verb: str, code: int) -> None:
    with asking(home, "Deploy?", "--confirm") as process:
        ask = only_ask(home)
        with home.desk() as desk:
            if verb == "reject":
                desk.reject(ask.id, "Too late", PERSON)
            else:
                getattr(desk, verb)(ask.id, PERSON)
        found, out, err = ended(process)
    assert (found, out) == (code, "")
    assert "Do not assume an answer." in err
    assert ("Too late" in err) == (verb == "reject")


def test_when_the_time_runs_out_the_ask_stays_open_and_the_same_command_takes_it_up(home: Home) -> None:
    ran = home.run("ask", "Where to?", "--timeout", "50ms")
    assert (ran.code, ran.out) == (6, "")
    assert "The ask stays open" in ran.err
    ask = only_ask(home)
    assert ask.state is State.TIMED_OUT
    settle(home, Answer(question="1", text="Staging"))
    again = home.run("ask", "Where to?", "--timeout", "50ms")
    assert (again.code, again.out) == (0, "Staging\n")
    assert "This was asked before, and settled" in again.err
    assert "Waiting" not in again.err
    assert home.run("ask", "Where to?", "--timeout", "50ms", "--json").data["outcome"] == "timed_out"


@pytest.mark.finding("F-06")
def test_a_yes_to_an_earlier_command_is_told_and_asked_again(home: Home) -> None:
    deploy = ("ask", "Deploy to production?", "--confirm")
    assert home.run(*deploy, "--timeout", "50ms").code == 6
    settle(home, Answer(question="1", chosen=("yes",)))
    again = home.run(*deploy, "--timeout", "50ms")
    assert (again.code, again.out) == (6, "")
    assert "before this command: Yes. It is asked again." in again.err
    assert "A yes or no that comes now does not count" in again.err
    with asking(home, *deploy[1:]) as process:
        settle(home, Answer(question="1", chosen=("no",)))
        assert ended(process)[:2] == (0, "No\n")


def test_ctrl_c_leaves_the_ask_open_and_says_how_to_come_back(home: Home) -> None:
    with Terminal(home, "ask", "Why?") as terminal:
        terminal.expect("Waiting for a person")
        assert terminal.interrupt() == 130
        assert "The ask stays open. Run the same command again" in terminal.screen
        assert "Traceback" not in terminal.screen
    ask = only_ask(home)
    assert ask.state is State.PENDING
    assert ask.wait is None
    with asking(home, "Why?") as process:
        settle(home, Answer(question="1", text="So"))
        assert ended(process)[:2] == (0, "So\n")


def test_a_killed_script_loses_nothing(home: Home) -> None:
    with asking(home, "Why?") as process:
        process.send_signal(signal.SIGKILL)
        process.wait(SECONDS)
    settle(home, Answer(question="1", text="Because"))
    again = home.run("ask", "Why?")
    assert (again.code, again.out) == (0, "Because\n")


def test_an_answer_that_could_not_be_printed_is_not_delivered(home: Home) -> None:
    with asking(home, "Why?") as process:
        ask = only_ask(home)
        assert process.stdout is not None
        process.stdout.close()
        settle(home, Answer(question="1", text="Because"))
        assert process.wait(SECONDS) == 141
        process.stdout = None
    assert not home.ask_of(ask).delivered
    assert home.run("ask", "Why?").out == "Because\n"


def test_the_asker_is_the_command_itself(home: Home) -> None:
    with asking(home, "Why?") as process:
        asker = only_ask(home).asker
        ours = name_of(process.pid)
        assert ours is not None
        assert (asker.client, asker.version, asker.project) == ("sayso ask", __version__, str(home.project))
        assert (asker.pid, asker.started) == (ours.pid, ours.started)
        settle(home, Answer(question="1", text="Because"))


def test_a_script_may_ask_one_person_and_tell_what_another_said(home: Home) -> None:
    with asking(home, "Why?") as process:
        assert home.run("answer", only_ask(home).id, "Because").code == 0
        assert process.wait(SECONDS) == 0


def test_answering_tells_that_the_agent_has_it_when_it_waits(home: Home) -> None:
    with Terminal(home, "ask", "Who?") as terminal:
        terminal.expect("Waiting for a person")
        assert home.run("answer", only_ask(home).id, "Ada").err == "Answered. The agent has your answer.\n"
        assert terminal.end() == 0


def test_old_asks_are_tidied_away_while_one_waits(home: Home) -> None:
    home.run("ask", "Old?", "--timeout", "10ms")
    ask = only_ask(home)
    keeps_nothing = replace(home, extra={"SAYSO_KEEP_ENDED": "1ms", "SAYSO_KEEP_UNDELIVERED": "1ms"})
    with asking(keeps_nothing, "New?"):
        eventually(lambda: home.run("show", ask.id).code == 3)


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        ([], "", 'Say what to ask: sayso ask "QUESTION?", or JSON on standard input.'),
        ([], "Deploy?", "standard input: is not JSON"),
        ([], "[]", "standard input: expected an object with questions, got an array of 0."),
        ([], "{}", "questions: expected an array of questions, got nothing."),
        ([], '{"questions": []}', "questions: expected 1 to 100 questions, got 0."),
        ([], '{"questions": [{"question": "a", "type": "date"}]}', "questions[0].type: expected one of text, select"),
        ([], '{"questions": [{"question": "a", "options": []}]}', "questions[0].options: expected 1 to 100 options"),
        ([], '{"questions": [{"question": "a", "type": "confirm", "options": ["x"]}]}', "confirm takes no options"),
        ([], '{"questions": [{"question": "a", "requierd": false}]}', "questions[0].requierd: there is no such field"),
        (
            [],
            '{"questions": [{"question": "a", "id": "x"}, {"question": "b", "id": "x"}]}',
            "questions[1].id: 'x' is taken",
        ),
        ([], '{"questions": [{"question": ""}], "title": 3}', "questions[0].question: is empty"),
        ([], '{"questions": [{"question": ""}], "title": 3}', "title: expected a text, got the number 3"),
        (["Why?", "--timeout", "soon"], "", "'soon' is not a time such as"),
        (["Why?", "--stdin"], "", "either QUESTION or --stdin"),
        (["Why?", "--multi"], "", "--multi needs the options"),
        (["Why?", "--confirm", "-o", "x"], "", "--confirm takes yes or no"),
        (["--confirm"], "{}", "go with a QUESTION"),
        ([""], "", "questions[0].question: is empty"),
    ],
)
def test_each_wrong_field_is_told_and_nothing_is_asked(
    home: Home, arguments: list[str], given: str, words: str
) -> None:
    ran = home.run("ask", *arguments, stdin=given)
    assert ran.code == 2
    assert words in ran.error
    assert ran.out == ""
    assert not home.state.exists()


def test_in_a_terminal_without_a_question_it_says_what_to_give(home: Home) -> None:
    with Terminal(home, "ask") as terminal:
        assert terminal.end() == 2
        assert "Say what to ask" in terminal.screen


def test_two_options_of_the_same_name_are_refused(home: Home) -> None:
    ran = home.run("ask", "Which?", "-o", "A", "-o", "B", "-o", "A")
    assert ran.code == 2
    assert ran.error == "Error: The option 'A' is given twice. Nobody could tell which one was chosen."


def asked_here(home: Home, *arguments: str) -> Terminal:
    return Terminal(home, "ask", *arguments, TERM="xterm", NO_COLOR="1")


def test_a_terminal_that_is_made_smaller_still_shows_the_question(home: Home) -> None:
    with asked_here(home, "Which of these?", "-o", "A", "-o", "B") as terminal:
        terminal.expect("Enter sends")
        terminal.resize(40, 8)
        assert "\x1b[J" in terminal.expect("Which of these?"), "it stands there once"
        terminal.expect("Ctrl-C leaves")
        terminal.press(b"1")
        terminal.expect("› 1) A")
        terminal.press(b"\r")
        assert terminal.end() == 0
        assert terminal.screen.rstrip().endswith("A")


def test_no_word_is_broken_where_the_terminal_is_narrow(home: Home) -> None:
    question = "Should everything that is written here be told in lines that end between words?"
    with Terminal(home, "ask", question, "--confirm", columns=40, TERM="xterm", NO_COLOR="1") as terminal:
        told = terminal.expect("Enter sends").replace("\r", "").splitlines()
        assert max(map(len, told)) <= 40
        assert "Asked: " in told[0]
        assert told[0].endswith("Waiting for a person:")


def test_in_a_terminal_the_answer_is_given_right_there(home: Home) -> None:
    with asked_here(home, "Which?", "-o", "SQLite", "-o", "PostgreSQL") as terminal:
        terminal.expect("Enter sends")
        terminal.press(b"2")
        terminal.expect("› 2) PostgreSQL")
        ask = only_ask(home)
        terminal.press(b"\r")
        assert terminal.end() == 0
        assert terminal.screen.rstrip().endswith("PostgreSQL")
    settled = home.ask_of(ask)
    assert settled.delivered
    assert settled.outcome is not None
    assert (settled.outcome.person, settled.outcome.surface) == ("ada", "command line")
    assert settled.outcome.answers == (Answer(question="1", chosen=("2",)),)


def test_an_answer_from_elsewhere_ends_the_prompt_and_says_whose_it_is(home: Home) -> None:
    with asked_here(home, "Deploy?", "--confirm") as terminal:
        terminal.expect("Enter sends")
        terminal.press(b"y")
        terminal.expect("› y) Yes")
        settle(home, Answer(question="1", chosen=("no",)))
        terminal.expect("Answered by mira in the terminal.")
        assert terminal.end() == 0
        assert terminal.screen.rstrip().endswith("No")


def test_ctrl_c_at_the_prompt_leaves_the_ask_open_and_the_terminal_as_it_was(home: Home) -> None:
    with asked_here(home, "Why?") as terminal:
        terminal.expect("Enter sends")
        terminal.press(b"half a sen")
        terminal.expect("half a sen")
        assert terminal.interrupt() == 130
        assert "What you had typed: half a sen" in terminal.screen
        assert "The ask stays open." in terminal.screen
    assert only_ask(home).state is State.PENDING


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_SANDBOX"])
def test_an_agent_that_has_a_terminal_is_offered_no_prompt(home: Home, mark: str) -> None:
    marked = replace(home, extra={mark: "1"})
    with asked_here(marked, "Deploy?", "--confirm") as terminal:
        terminal.expect("Waiting for a person")
        terminal.press(b"y\r")
        settle(home, Answer(question="1", chosen=("no",)))
        assert terminal.end() == 0
        assert "Enter sends" not in terminal.screen
        assert terminal.screen.rstrip().endswith("No")


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_nobody_is_asked_for_an_answer_that_could_not_be_printed(home: Home, more: list[str]) -> None:
    line = ["sh", "-c", 'exec "$0" "$@" >&-', str(BIN / "sayso"), "ask", "Which?", *more]
    ran = subprocess.run(line, stderr=subprocess.PIPE, env=home.env, cwd=home.project, text=True, timeout=SECONDS)
    assert ran.returncode == 2
    assert "Standard output is closed" in ran.stderr
    with home.desk() as desk:
        assert desk.inbox() == []


def test_the_prompt_is_there_again_when_a_job_that_ran_on_in_the_background_comes_to_the_front(home: Home) -> None:
    with Shell(home, TERM="xterm", NO_COLOR="1", PS1="$ ") as shell:
        shell.type(f"{BIN / 'sayso'} ask 'Which of these?' -o A -o B")
        shell.expect("Enter sends")
        shell.press(b"\x1a")
        shell.expect("Stopped")
        shell.type("bg")
        shell.expect("&")
        shell.type(f"{BIN / 'sayso'} list")
        shell.expect("Answer one:")
        shell.type("fg")
        shell.expect("Which of these?")
        shell.expect("Enter sends")
        shell.press(b"1")
        shell.expect("› 1) A")
        shell.press(b"\r")
        shell.expect("\x1b[?2004lA\n")
        shell.type("exit")
        assert shell.end() == 0
