"""The terminal inbox in a real terminal: several agents, answers, refusals, switching, resizing, crashes."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest
from tests.asks.samples import permission_ask
from tests.e2e.ask.house import LEGACY, connected
from tests.e2e.ask.test_notifications import noted, noting
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import Place, data_of, question, text_of
from tests.e2e.stdio.pipe import MODERN
from tests.e2e.terminal.harness import WAIT, Terminal, agents, colour, terminal, until, words

from sayso.asks.model import Answer, Asker, Kind, Question, State
from sayso.dialects import approve

FOCUS_HAD, FOCUS_LOST = "\x1b[I", "\x1b[O"
"""What a terminal sends when its window comes to the front, and when it goes behind another."""
_SLOW_TO_SEND = """
import sys, sayso.cli, sayso.tui.inbox
sayso.tui.inbox.SECONDS_TO_UNDO = 600
sys.exit(sayso.cli.main())
"""
"""Sayso, with more time to take an answer back than a test takes."""
_NEVER_CUT_SHORT = """
import sys, sayso.cli, sayso.tui.app
sayso.tui.app._GRACE = 3600
sayso.tui.app._ROUNDS_EVERY = 1.0
sys.exit(sayso.cli.main())
"""
"""Sayso, with all the time to leave in order that it wants."""


def test_all_is_drawn_again_when_the_person_comes_back_from_the_shell(place: Place) -> None:
    """What was on the screen is gone then; no key may act on what is not there."""
    with terminal(place, (120, 40)) as anna, agents(place) as others:
        others.ask(colour())
        anna.start()
        anna.sees("1 waiting", "1 Red")
        for _ in range(2):
            anna.process.send_signal(signal.SIGSTOP)
            anna.tmux("send-keys", "-R")
            assert "1 Red" not in anna.screen()
            anna.process.send_signal(signal.SIGCONT)
            anna.sees("1 waiting", "1 Red")


@pytest.mark.requirement("A-31")
def test_three_agents_asking_at_once_are_answered_in_the_terminal_and_answers_do_not_cross(place: Place) -> None:
    with ExitStack() as stack:
        anna = stack.enter_context(terminal(place))
        anna.start("auq")
        anna.sees("No questions.")
        clients = [stack.enter_context(place.agent(name=f"agent-{number}")) for number in (1, 2, 3)]
        calls = [
            client.ask(question(f"Question of agent {number}?", "One", "Two", "Three"))
            for number, client in enumerate(clients, start=1)
        ]
        anna.sees("3 waiting", "Question of agent 1?", "Question of agent 2?", "Question of agent 3?")
        for number in (1, 2, 3):
            anna.keys("/")
            anna.type(f"agent-{number}")
            anna.sees_not(f"Question of agent {number % 3 + 1}?")
            anna.keys("Enter")
            anna.sees("1. One")
            anna.keys(str(number))
            anna.sees("Check your answers")
            anna.keys("Enter")
            anna.sees("Nothing here matches the filter." if number < 3 else "No questions.")
            anna.keys("Escape")
            anna.sees_not(f"agent-{number}")
        results = [data_of(call.result(WAIT)) for call in calls]
    assert [result["answers"][0]["selected"] for result in results] == [["One"], ["Two"], ["Three"]]
    assert {(result["answered_by"], result["surface"]) for result in results} == {("anna", "terminal")}


@pytest.mark.finding("F-34")
def test_an_agent_with_thousands_open_hides_no_question_of_another(place: Place) -> None:
    noisy = Asker(client="noisy", project="/home/anna/loop", host="workbench", pid=7, started="1")
    with terminal(place, (60, 20)) as anna, agents(place) as others:
        others.ask(colour("An honest question?"))
        others.flood(noisy, 3000)
        anna.start()
        anna.sees("1 waiting · 3000 from noisy", "> An honest question?", "[+] 3000 questions · Noise 2999?")
        until(lambda: anna.told("pane_title") == "(2) Sayso", lambda: anna.told("pane_title"))
        anna.keys("Down", "Enter")
        anna.sees("> [-] 3000 questions", "Noise 2998?")
        anna.keys("Down", "Enter")
        anna.sees("Noise 2999?", "1. Red")
        anna.keys("Escape")
        anna.sees(">   Noise 2999?")
        anna.resize(100, 30)
        anna.keys("Left")
        anna.sees("> [+] 3000 questions", "This agent has many questions open", "- Noise 2998?")


def test_a_rejection_in_the_terminal_reaches_the_agent_with_its_reason(place: Place) -> None:
    with terminal(place) as anna, place.agent() as client:
        anna.start()
        call = client.ask(question("May I delete everything?"))
        anna.sees("May I delete everything?", "1 waiting")
        anna.keys("Enter")
        anna.sees("1. Yes")
        anna.keys("x")
        anna.sees("Reject this question?")
        anna.type("Certainly not.")
        anna.keys("Enter")
        anna.sees("No questions.")
        told = text_of(call.result(WAIT))
    assert "rejected" in told
    assert "Certainly not." in told


def test_switching_and_resizing_keep_what_was_typed(place: Place) -> None:
    with terminal(place, (120, 40)) as anna, agents(place) as others:
        others.ask(words("What is it called?"))
        others.ask(colour())
        anna.start()
        anna.sees("2 waiting", "1 Red")
        anna.keys("Down", "Enter")
        anna.sees("Write your answer.")
        anna.type("half an answer, 東京")
        anna.sees("half an answer, 東京")
        for size in ((40, 20), (80, 24), (200, 50), (30, 12)):
            anna.resize(*size)
            anna.sees("half an answer, 東京")
        anna.resize(80, 24)
        anna.keys("C-n")
        anna.sees("1. Red")
        anna.keys("1")
        anna.sees("Check your answers")
        anna.keys("BTab")
        anna.sees("(*) 1. Red")
        anna.keys("]")
        anna.sees("half an answer, 東京")
        anna.keys("Enter")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.sees("1 waiting", "draft")


def test_a_paste_with_escapes_and_new_lines_is_words_and_neither_decides_nor_leaves(place: Place) -> None:
    with agents(place) as asking, terminal(place) as anna:
        asked = asking.ask(words("Why?"))
        permission = asking.permission("Allow Bash: rm -rf build?")
        anna.start()
        anna.sees("Allow Bash")
        anna.keys("Enter")
        anna.sees("y allows it")
        anna.paste("\x1b\x1bq\ny\n" + "y\n" * 20)
        anna.keys("?")
        anna.sees("take the edit back")
        anna.keys("?")
        anna.sees("y allows it")
        anna.keys("]")
        anna.sees("Why?")
        anna.paste("\x1b\n\x1bq\n" + "y\n" * 20 + "first\x1bsecond")
        anna.sees("firstsecond", "Why?")
        assert {asking.desk.get(held.ask.id).state for held in (asked, permission)} == {State.PENDING}


def test_a_draft_survives_the_death_of_the_terminal_inbox(place: Place) -> None:
    with terminal(place) as anna, agents(place) as others:
        held = others.ask(words("What is it called?"), colour())
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        anna.type("typed before the crash")
        until(lambda: "before the crash" in others.desk.draft(held.ask.id, "anna"), anna.screen)
        anna.kill()
        until(lambda: not others.desk.open_surfaces(), lambda: "the dead surface to be forgotten")
        anna.start()
        anna.sees("draft", "1 waiting")
        anna.keys("Enter")
        anna.sees("typed before the crash")
        anna.keys("Enter")
        anna.sees("2. Blue")
        anna.keys("r")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.brings(lambda: others.desk.get(held.ask.id).state is State.ANSWERED)
        ended = others.desk.get(held.ask.id)
    assert ended.answer("w") == Answer(question="w", text="typed before the crash")
    assert ended.answer("q") == Answer(question="q", chosen=("b",))


def test_a_store_that_goes_away_and_comes_back_is_shown_and_nothing_is_lost(place: Place) -> None:
    with terminal(place) as anna, agents(place) as others:
        others.ask(words("What is it called?"))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        files = sorted(place.state.glob("sayso.db*"))
        for file in files:
            file.rename(place.folder / file.name)
        anna.sees("The store has been unreachable since")
        anna.type("still here")
        anna.sees("still here")
        for file in files:
            (place.folder / file.name).rename(file)
        anna.sees_not("The store has been unreachable")
        anna.keys("Enter")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.sees("No questions.")


def test_what_is_lost_by_quitting_without_a_store_is_named_before_and_after(place: Place) -> None:
    with terminal(place) as anna, agents(place) as others:
        others.ask(words("What is it called?"))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        files = sorted(place.state.glob("sayso.db*"))
        for file in files:
            file.rename(place.folder / file.name)
        anna.sees("The store has been unreachable since")
        anna.type("orders-api")
        anna.sees("orders-api")
        anna.keys("C-q")
        anna.sees("Not quit yet, because something is not saved.")
        anna.keys("C-q")
        assert anna.ended() == 7
        told = anna.tmux("capture-pane", "-p", "-S", "-10")
        assert "Lost, because it could not be saved: What is it called?: orders-api" in told
        for file in files:
            (place.folder / file.name).rename(file)


def test_an_agent_that_is_killed_shows_as_gone_and_can_still_be_answered(place: Place) -> None:
    with terminal(place) as anna, place.agent() as client:
        anna.start()
        call = client.ask(question("Are you there?"))
        anna.sees("Are you there?", "waiting")
        anna.keys("Enter")
        anna.sees("1. Yes")
        client.server.send_signal(signal.SIGKILL)
        anna.sees("The agent is not waiting now. You can still answer")
        anna.keys("1")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.sees("it gets this when it asks the same again")
        with suppress(Exception):
            call.result(WAIT)


def test_long_answers_are_written_in_the_persons_editor_and_long_questions_read_in_their_pager(place: Place) -> None:
    script = place.folder / "editor"
    script.write_text('#!/bin/sh\n{ echo "first line"; echo "second line"; cat "$1"; } >"$1.new" && mv "$1.new" "$1"\n')
    script.chmod(0o755)
    environment = {"EDITOR": str(script), "PAGER": "less"}
    with terminal(place, environment=environment) as anna, agents(place) as others:
        held = others.ask(words("word " * 5_000 + "the very end"))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        anna.keys("C-g")
        anna.sees("first line", "second line")
        anna.keys("Escape")
        anna.sees("a note")
        anna.keys("v")
        anna.sees("claude-code in /home/anna/api on workbench")
        anna.keys("G")
        anna.sees("the very end")
        anna.keys("C-c")

        def is_at_the_top_again() -> bool:
            """A pager that was interrupted may throw away the keys that came right after."""
            anna.keys("g")
            return "claude-code in /home/anna/api on workbench" in anna.screen()

        until(is_at_the_top_again, anna.screen)
        anna.keys("q")
        anna.sees("second line", "1 waiting")
        anna.keys("C-s")
        anna.sees("Check your answers")
        anna.keys("Enter")
        anna.brings(lambda: others.desk.get(held.ask.id).state is State.ANSWERED)
        ended = others.desk.get(held.ask.id)
    assert ended.answer("w") == Answer(question="w", text="first line\nsecond line")


def test_what_an_agent_wants_to_do_is_edited_in_the_persons_editor_and_then_allowed(place: Place) -> None:
    script = place.folder / "editor"
    script.write_text('#!/bin/sh\nsed -i s/--force/--dry-run/ "$1"\n')
    script.chmod(0o755)
    with terminal(place, (100, 40), {"EDITOR": str(script)}) as anna, agents(place) as others:
        wanted = approve.Permission(tool="Bash", given={"command": "git push --force"})
        held = others.desk.hold(permission_ask(wanted, Asker(client="claude-code")))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("i edit")
        anna.keys("i")
        anna.sees("As edited", "+git push --dry-run")

        def allowed() -> bool:
            """A key that comes before it could be read counts for nothing."""
            anna.keys("y")
            return others.desk.get(held.ask.id).state is State.ANSWERED

        until(allowed, anna.screen)
        outcome = others.desk.get(held.ask.id).outcome
    assert outcome
    assert outcome.changed
    assert outcome.changed["data"]["input"] == {"command": "git push --dry-run"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_asked_to_end_it_keeps_the_draft_and_gives_the_terminal_back(place: Place, number: signal.Signals) -> None:
    with terminal(place) as anna, agents(place) as others:
        held = others.ask(words("What is it called?"))
        anna.start()
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        assert anna.told("alternate_on") == "1"
        anna.type("last words")
        anna.sees("last words")
        anna.process.send_signal(number)
        assert anna.ended() == 0
        assert anna.told("alternate_on") == "0"
        assert "last words" in others.desk.draft(held.ask.id, "anna")
        assert others.desk.open_surfaces() == []


@pytest.mark.parametrize("end", ["hangup", "SIGHUP", "SIGTERM"])
def test_a_closed_terminal_sends_no_answer_that_could_still_be_taken_back(place: Place, end: str) -> None:
    patient = place.folder / "patient.py"
    patient.write_text(_SLOW_TO_SEND)
    with terminal(place) as anna, agents(place) as others:
        held = others.ask(colour())
        anna.start(f"{sys.executable} {patient}")
        anna.sees("1-2 answer")
        anna.keys("1")
        anna.sees("Red: sent in")
        inbox = anna.process
        until(lambda: others.desk.draft(held.ask.id, "anna"), anna.screen)
        if end == "hangup":
            anna.tmux("respawn-pane", "-k", "exec sleep 600")
        else:
            inbox.send_signal(signal.Signals[end])
        inbox.wait(WAIT)
        assert others.desk.get(held.ask.id).state is State.PENDING
        anna.start()
        anna.sees("draft", "1 waiting")


@pytest.mark.parametrize("end", ["takes no more output", "is gone without a word"])
def test_it_ends_by_itself_and_keeps_the_draft_where_its_terminal(place: Place, end: str) -> None:
    patient = place.folder / "patient.py"
    patient.write_text(_NEVER_CUT_SHORT)
    with terminal(place) as anna, agents(place) as others:
        held = others.ask(words("What is it called?"))
        anna.start(f"setsid {sys.executable} {patient}")
        anna.sees("1 waiting")
        anna.keys("Enter")
        anna.sees("Write your answer.")
        anna.type("last words")
        anna.sees("last words")
        inbox = anna.process
        if end == "takes no more output":
            its = os.open(anna.told("pane_tty"), os.O_RDWR | os.O_NOCTTY)
            termios.tcflow(its, termios.TCOOFF)
            os.close(its)
            inbox.send_signal(signal.SIGHUP)
        else:
            anna.tmux("respawn-pane", "-k", "exec sleep 600")
        inbox.wait(WAIT)
        assert "last words" in others.desk.draft(held.ask.id, "anna")
        assert others.desk.open_surfaces() == []


def test_new_asks_ring_the_bell_set_the_title_and_notify_through_tmux(place: Place) -> None:
    with terminal(place, environment={"SAYSO_TERMINAL_NOTIFY": "osc777"}) as anna, agents(place) as others:
        before = anna.told("pane_title")
        with Watcher(anna) as watcher:
            anna.start()
            anna.sees("No questions.")
            assert anna.told("pane_title") == "Sayso"
            others.ask(colour("Which; colour?"))
            watcher.sees(b"\x1b]777;notify;Sayso: claude-code in api asks;Which, colour?\x1b\\")
            watcher.sees(b"\a")
            until(lambda: anna.told("pane_title") == "(1) Sayso", lambda: anna.told("pane_title"))
        anna.keys("q")
        assert anna.ended() == 0
        assert anna.told("pane_title") == before


def test_the_mouse_answers(place: Place) -> None:
    with terminal(place) as anna, agents(place) as others:
        held = others.ask(colour())
        anna.tmux("set-option", "-g", "mouse", "on")
        with Watcher(anna) as watcher:
            anna.start()
            anna.sees("Which colour?")
            watcher.click(anna, "Which colour?")
            anna.sees("2. Blue")
            watcher.click(anna, "2. Blue")
            anna.sees("Check your answers")
            watcher.click(anna, "send  x reject")
            anna.brings(lambda: others.desk.get(held.ask.id).state is State.ANSWERED)


class Watcher:
    """A person's terminal program attached to tmux: what tmux writes to it is kept, and it can click."""

    def __init__(self, shown: Terminal) -> None:
        self._shown = shown
        self._seen = bytearray()
        self._ends, ours = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        command = ["tmux", "-L", shown.name, "attach-session"]
        self._client = subprocess.Popen(command, stdin=ours, stdout=ours, stderr=ours, env=environment)
        os.close(ours)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        until(lambda: self._shown.tmux("list-clients"), lambda: "the client to attach")
        return self

    def __exit__(self, *_: object) -> None:
        self._client.terminate()
        self._client.wait(WAIT)
        self._thread.join(WAIT)
        os.close(self._ends)

    def _watch(self) -> None:
        """Until the client has ended."""
        while self._client.poll() is None:
            if select.select([self._ends], [], [], 0.1)[0]:
                with suppress(OSError):
                    self._seen += os.read(self._ends, 65536)

    def sees(self, data: bytes) -> None:
        until(lambda: data in self._seen, lambda: f"{data!r} in {bytes(self._seen[-2000:])!r}")

    def click(self, shown: Terminal, text: str) -> None:
        """Press and release the left button where this text stands."""
        shown.read()
        lines = shown.screen().split("\n")
        y = next(number for number, line in enumerate(lines) if text in line)
        x = lines[y].index(text)
        for end in "Mm":
            os.write(self._ends, f"\x1b[<0;{x + 1};{y + 1}{end}".encode())
        shown.did(partial(self.click, shown, text))


def test_the_harness_leaves_no_terminal_behind(place: Place) -> None:
    with terminal(place) as anna:
        name = anna.name
    socket = Path(f"/tmp/tmux-{os.getuid()}") / name
    until(
        lambda: (
            not socket.exists()
            or subprocess.run(
                ["tmux", "-L", name, "has-session"], capture_output=True, check=False, timeout=WAIT
            ).returncode
        ),
        lambda: "the server to end",
    )


@pytest.mark.finding("F-04")
def test_a_held_key_answers_none_of_five_asks_in_a_real_terminal(place: Place) -> None:
    with terminal(place, (100, 30)) as anna, agents(place) as others:
        confirm = Question(id="drop", text="Delete the old tables now?", kind=Kind.CONFIRM)
        asks = [others.ask(confirm), others.ask(colour()), others.ask(words("What is it called?"))]
        asks += [others.permission("Allow Bash: rm -rf build?"), others.permission("Allow Bash: git push?")]
        anna.start()
        anna.sees("5 waiting", "> Allow Bash: git push?")
        _hold_enter_until_open(anna)
        anna.keys("Escape")
        anna.sees("> Allow Bash: git push?")
        _hold_enter_until_open(anna)
        assert {others.desk.get(held.ask.id).state for held in asks} == {State.PENDING}
        anna.keys("y")
        anna.sees("4 waiting")
        anna.hold("y", 2.0)
        anna.hold("Enter", 2.0)
        states = [others.desk.get(held.ask.id).state for held in asks]
    assert states == [State.PENDING] * 4 + [State.ANSWERED]


def _hold_enter_until_open(anna: Terminal) -> None:
    """Where the machine stalls as the key goes down, all its presses are one burst, and open nothing."""

    def hold() -> bool:
        anna.hold("Enter", 2.0)
        return "y allows it" in anna.screen()

    until(hold, anna.screen)
    anna.sees("y allows it")


@pytest.mark.finding("F-04")
@pytest.mark.parametrize("elsewhere", ["2>/dev/null", "2>&-", "2>inbox.log"])
def test_no_key_acts_on_a_screen_that_is_drawn_elsewhere(place: Place, elsewhere: str) -> None:
    with terminal(place) as anna, agents(place) as others:
        held = others.permission("Allow Bash: rm -rf /srv?")
        anna.start(f"sayso {elsewhere}")
        assert anna.ended() == 0
        anna.sees("Allow Bash: rm -rf /srv?")
        assert others.desk.get(held.ask.id).state is State.PENDING


def _turn_the_page(anna: Terminal) -> None:
    """The page is drawn before what is left is counted: once there is less, it is there. Once nothing is left, it may
    be a moment until the keys are named."""
    before = _left_to_read(anna)
    anna.keys("NPage")
    until(lambda: _left_to_read(anna) != before or "y allow" in anna.screen(), anna.screen)


def _left_to_read(anna: Terminal) -> str:
    return "".join(line for line in anna.screen().splitlines() if " more line" in line)


LONG_SCRIPT = "\n".join(f"echo step {number} of the build" for number in range(12)) + "\nrm -rf ~/important"


@pytest.mark.finding("F-11")
@pytest.mark.parametrize("size", [(60, 20), (40, 20), (24, 8)], ids=str)
def test_a_permission_is_allowed_only_when_all_of_it_has_been_on_the_screen(
    place: Place, size: tuple[int, int]
) -> None:
    with terminal(place, size) as anna, agents(place) as others:
        held = others.bash(LONG_SCRIPT)
        anna.start()
        anna.sees("Allow")
        anna.keys("Enter")
        anna.sees("pgdn read on", "more lines")
        anna.sees_not("y allow")
        anna.keys("y")
        assert others.desk.get(held.ask.id).state is State.PENDING
        read = anna.screen()
        while "y allow" not in anna.screen():
            _turn_the_page(anna)
            read += anna.screen()
        anna.sees("y allow", "n deny")
        assert "rm -rf ~/important" in _joined(read)
        anna.keys("y")
        anna.brings(lambda: others.desk.get(held.ask.id).state is State.ANSWERED)


@pytest.mark.finding("F-11")
def test_a_permission_too_long_for_the_screen_is_opened_before_it_is_allowed(place: Place) -> None:
    with terminal(place, (100, 100), {"PAGER": "cat"}) as anna, agents(place) as others:
        held = others.bash("true " + "x" * 7_000)
        anna.start()
        anna.sees("Allow")
        anna.keys("Enter")
        anna.sees("v: the whole text", "more characters")
        anna.keys("y")
        anna.sees("Nothing was allowed")
        anna.keys("v")
        anna.sees("y allow")
        anna.keys("y")
        anna.brings(lambda: others.desk.get(held.ask.id).state is State.ANSWERED)


@pytest.mark.finding("F-11")
def test_no_character_pushes_the_end_of_a_command_off_the_screen(place: Place) -> None:
    with terminal(place, (100, 30)) as anna, agents(place) as others:
        anna.start()
        for blank in ("\u3164", "\uffa0", "\u1160", "\u2800", "\u0903", "\U0001f3fb"):
            anna.sees("No questions.")
            others.bash("git status " + blank * 60 + "; rm -rf ~/it")
            anna.sees("Allow")
            anna.keys("Enter")
            anna.sees("Shell command")
            until(lambda: "; rm -rf ~/it" in _joined(anna.screen().split("Shell command", 1)[-1]), anna.screen)
            anna.keys("n")


@pytest.mark.finding("F-56")
def test_no_time_is_promised_that_the_clients_own_limit_cuts_short(place: Place) -> None:
    with terminal(place, (100, 30)) as anna, place.agent("legacy", program="sayso", name="codex-mcp-client") as client:
        anna.start()
        anna.sees("No questions.")
        asked = {"id": "q", "type": "text", "question": "Which database?"}
        call = client.call("ask_user", {"questions": [asked], "timeout": 1_800_000})
        anna.sees("Which database?", "waiting")
        assert "left" not in anna.screen()
        (ask,) = json.loads(place.run("list", "--json").stdout)
        assert "Limit" not in place.run("show", ask["id"]).stdout
        anna.keys("Enter")
        anna.sees("Write your answer.")
        assert "left" not in anna.screen()
        anna.type("SQLite")
        anna.keys("Enter", "Enter")
        anna.sees("Sent. codex-mcp-client received it.")
        assert "SQLite" in text_of(call.result(WAIT))


@pytest.mark.finding("F-56")
@pytest.mark.finding("F-88")
def test_an_agent_that_lives_but_does_not_wait_is_not_said_to_be_gone_or_to_hear_of_a_no(place: Place) -> None:
    with terminal(place, (100, 30)) as anna, place.agent(program="sayso", name="claude-code") as client:
        client.call("ask_user", {"question": "Which database?", "nonBlocking": True}).result(WAIT)
        told = place.run("list")
        assert "at work" in told.stdout
        assert "the agent went on without waiting; it gets the answer when it comes back for it." in told.stderr
        anna.start()
        anna.sees("Which database?", "agent at work")
        anna.keys("X")
        anna.sees("Reject this question?")
        anna.keys("Enter")
        anna.sees("Rejected. claude-code went on without waiting; it gets this when it comes back for it.")
    with place.agent(program="sayso", name="claude-code") as client:
        client.call("ask_user", {"question": "Which port?", "nonBlocking": True}).result(WAIT)
    assert "not waiting" in place.run("list").stdout


@pytest.mark.finding("F-88")
def test_a_form_that_stands_open_at_an_agent_is_told_of_everywhere_until_it_is_closed_or_the_agent_gone(
    place: Place,
) -> None:
    asked: Json = {"name": "ask_user", "arguments": {"question": "Which database?"}}
    with (
        terminal(place, (100, 30)) as anna,
        place.pipe(program="sayso", environment={"SAYSO_FORMS": "always"}) as pipe,
    ):
        pipe.connect(MODERN, {"elicitation": {}})
        shown = pipe.request("tools/call", **asked)
        assert shown["inputRequests"]
        told = place.run("list")
        assert "in its form" in told.stdout
        assert "an answer from here arrives once that is closed" in told.stderr
        anna.start()
        anna.sees("Which database?", "in the agent's form")
        anna.keys("Enter")
        anna.sees("The agent shows this in a form of its own. You can answer here too")
        anna.type("SQLite")
        anna.keys("Enter", "Enter")
        anna.sees("tester still shows its own form; it gets this when that is closed.")
        closed = {"inputResponses": {"form": {"action": "cancel"}}}
        result = pipe.request("tools/call", **asked, requestState=shown["requestState"], **closed)
        assert result["structuredContent"]["answers"][0]["text"] == "SQLite"

        pipe.request("tools/call", name="ask_user", arguments={"question": "Which port?"})
        anna.sees("Which port?", "in the agent's form")
        (ask_id,) = (one["id"] for one in json.loads(place.run("list", "--json").stdout))
        answered = place.run("answer", ask_id, "8080")
        assert "The agent's client still shows its own form; the agent is told once that is closed." in answered.stderr
        pipe.request("tools/call", name="ask_user", arguments={"question": "Which host?"})
        anna.sees("Which host?", "in the agent's form")
    assert "not waiting" in place.run("list").stdout


@pytest.mark.finding("F-57")
def test_a_terminal_in_the_background_silences_no_notification(place: Place) -> None:
    command, notes = noting(place)
    with terminal(place) as anna, agents(place) as others:
        anna.start()
        anna.sees("No questions.")
        until(others.desk.open_surfaces, anna.screen)
        anna.type(FOCUS_LOST)
        until(lambda: not others.desk.open_surfaces(), anna.screen)
        with connected(LEGACY, place, notify_command=command, forms="never") as program:
            program.call("ask_user", {"question": "Is anybody there?", "nonBlocking": True})
            (note,) = noted(notes)
        assert "Is anybody there?" in note
        anna.type(FOCUS_HAD)
        until(others.desk.open_surfaces, anna.screen)


@pytest.mark.finding("F-57")
def test_a_terminal_that_nobody_touches_counts_only_until_the_next_key(place: Place) -> None:
    place.settings |= {"away_after": "2s"}
    with terminal(place) as anna, agents(place) as others:
        anna.start()
        anna.sees("No questions.")
        until(lambda: not others.desk.open_surfaces(), anna.screen)
        anna.keys("Down")
        until(others.desk.open_surfaces, anna.screen)


def _joined(screen: str) -> str:
    """What stands in the blocks of a card, its lines joined again."""
    return "".join(line.strip().removeprefix("│ ") for line in screen.splitlines())
