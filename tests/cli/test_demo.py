"""`sayso demo`: the whole way of a question, and nothing left behind."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import psutil
import pytest
from tests.cli.program import SECONDS, Home
from tests.cli.pseudo_terminal import Terminal


@pytest.fixture(autouse=True)
def _nothing_left_behind(home: Home) -> Iterator[None]:
    """No process that has anything to do with this home, and no file in it but the project's folder."""
    yield
    left = [process for process in psutil.process_iter() if _mentions(process, str(home.folder))]
    psutil.wait_procs(left, timeout=20)
    assert [process for process in left if process.is_running()] == []
    assert [entry.name for entry in home.folder.iterdir()] == ["project"]


def _mentions(process: psutil.Process, folder: str) -> bool:
    try:
        return process.environ().get("HOME") == folder
    except psutil.Error:
        return False


def test_a_person_answers_three_questions_and_sees_what_the_agent_received(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        asked = terminal.expect("own words: ")
        assert "demo-agent" in asked
        assert "3 questions" in asked
        assert "1) SQLite (recommended)" in asked
        terminal.type("1")
        terminal.reply("own words: ", "1,3")
        terminal.reply("own words: ", "on Friday")
        terminal.reply("Send them?", "y")
        terminal.expect("Answered. The agent has your answer.")
        shown = terminal.expect("What the agent received")
        assert terminal.end() == 0
        shown = terminal.screen[terminal.screen.index("What the agent received") :]
    for words in ("→ SQLite", "→ Formatter", "→ Unit tests", "→ Other: on Friday"):
        assert words in shown
    for words in ("To keep an inbox:", "sayso install", "sayso doctor"):
        assert words in shown


def test_a_rejection_is_shown_as_the_agent_received_it(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.reply("own words: ", "/r")
        terminal.reply("Why?", "just looking")
        assert terminal.end() == 0
        assert "The user rejected these questions. Reason: just looking" in terminal.screen


def test_leaving_sends_nothing_and_still_tells_how_to_connect(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.reply("own words: ", "/q")
        assert terminal.end() == 0
        assert "the agent received nothing" in terminal.screen
        assert "sayso install" in terminal.screen


def test_ctrl_c_at_a_prompt_ends_it_cleanly(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.expect("own words: ")
        assert terminal.interrupt() == 130
        assert "Traceback" not in terminal.screen


def test_ctrl_c_while_the_agent_starts_ends_it_cleanly(home: Home) -> None:
    # Ctrl-C may come between opening a socket and keeping it; Python closes it then, and says so only if told to.
    with Terminal(home, "demo", PYTHONWARNINGS="") as terminal:
        terminal.expect("The sample agent is starting")
        assert terminal.interrupt() == 130
        assert "Traceback" not in terminal.screen


def test_without_a_terminal_and_without_input_it_answers_nothing_and_ends(home: Home) -> None:
    ran = home.run("demo")
    assert ran.code == 0, ran.err
    assert "nothing is answered for you" in ran.out
    assert "the agent received nothing" in ran.out
    assert ran.err == ""


def test_without_a_terminal_an_answer_from_elsewhere_is_shown(home: Home) -> None:
    with home.start("demo", stdin=subprocess.PIPE) as demo:
        state, ask_id = _how_to_answer(demo)
        values = ["-q", "1=PostgreSQL", "-q", "2=#1", "-q", "3=never"]
        answered = home.run("answer", ask_id, *values, SAYSO_STATE_DIR=state)
        assert answered.err.endswith("Answered. The agent has your answer.\n")
        out, err = demo.communicate(timeout=SECONDS)
    assert (demo.returncode, err) == (0, "")
    assert "→ PostgreSQL" in out
    assert "→ Other: never" in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(home: Home, number: signal.Signals) -> None:
    with home.start("demo", stdin=subprocess.PIPE) as demo:
        _how_to_answer(demo)
        demo.send_signal(number)
        _, err = demo.communicate(timeout=SECONDS)
    assert (demo.returncode, err) == (128 + number, "")


def test_with_the_page_and_a_person_the_sample_agent_is_answered_on_the_page_or_in_the_terminal(home: Home) -> None:
    with Terminal(home, "demo", "--web", TERM="xterm-256color") as terminal:
        link = terminal.expect("2. Press Enter").partition("minutes:")[2].split()[0]
        terminal.reply("q to end the demo.", "x")
        assert "is starting" not in terminal.expect("q to end the demo.")
        terminal.type("")
        assert "Where should the new service keep its data?" in terminal.expect("press Enter to answer here")
        page = Visitor(link)
        page.answer_first("Where should the new service", q0="1", q1="0", q2="0")
        terminal.expect("What the agent received")
        assert "→ PostgreSQL" in terminal.expect("q to end the demo.")
        terminal.type("")
        terminal.reply("press Enter to answer here", "")
        terminal.expect("demo-agent")
        terminal.press(b"\x11")
        terminal.reply("press Enter to answer here", "q")
        terminal.expect("the agent received nothing")
        terminal.expect("q to end the demo.")
        terminal.press(b"\x03")
        assert terminal.end() == 0
        assert "That was a demo" in terminal.screen
        assert "Traceback" not in terminal.screen
    with pytest.raises(URLError):
        page.get("/")


def test_with_the_page_and_without_a_terminal_it_plays_to_the_end(home: Home) -> None:
    ran = home.run("demo", "--web")
    assert (ran.code, ran.err) == (0, "")
    for words in (
        "/sign-in?link=",
        "this is the same link:",
        "plays the person as well",
        "→ SQLite",
        "→ After you have looked at it",
        "sayso web",
    ):
        assert words in ran.out


def test_make_start_is_the_demo_with_the_page() -> None:
    told = subprocess.run(
        ["make", "--dry-run", "start"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert told.stdout.splitlines()[-1] == ".venv/bin/sayso demo --web"


def test_a_port_that_is_taken_is_told(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = home.run("demo", "--web", "--port", str(taken.getsockname()[1]))
    assert ran.code == 1
    assert "Cannot listen on 127.0.0.1" in ran.err
    assert "Traceback" not in ran.err


class Visitor:
    """A person's browser, by hand."""

    def __init__(self, link: str) -> None:
        page = link.partition("/sign-in")[0]
        # Browsers alone take the name for this machine.
        self._host = page.partition("//")[2]
        self._base = f"http://127.0.0.1:{self._host.partition(':')[2]}"
        self._opener = build_opener(HTTPCookieProcessor())
        csrf = self._csrf(self.get(link.removeprefix(page)))
        self._post("/sign-in", csrf=csrf, link=link.partition("link=")[2])

    def get(self, path: str) -> str:
        return self._open(path, None)

    def _open(self, path: str, body: bytes | None) -> str:
        request = Request(self._base + path, body, {"Host": self._host})
        with self._opener.open(request, timeout=SECONDS) as reply:
            return str(reply.read().decode())

    def answer_first(self, question: str, **answers: str) -> None:
        found = re.search(r'href="(asks/\w+)"', self.get("/"))
        assert found
        shown = self.get(f"/{found[1]}")
        assert question in shown
        sent = {"csrf": self._csrf(shown), "shown": self._hidden(shown, "shown"), "settle": "answer", **answers}
        assert "Answered" in self._post(f"/{found[1]}", **sent)

    def _post(self, path: str, **fields: str) -> str:
        return self._open(path, urlencode(fields).encode())

    def _csrf(self, page: str) -> str:
        return self._hidden(page, "csrf")

    def _hidden(self, page: str, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]+)"', page)
        assert found
        return found[1]


def _how_to_answer(demo: subprocess.Popen[str]) -> tuple[str, str]:
    assert demo.stdout is not None
    while line := demo.stdout.readline():
        if found := re.search(r"SAYSO_STATE_DIR=(\S+) sayso answer (\w+)", line):
            return found[1], found[2]
    raise AssertionError("it never said how to answer")
