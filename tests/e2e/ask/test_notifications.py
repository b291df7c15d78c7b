"""Telling the person: by a command, a webhook, ntfy and apprise; in one message; never in the way of an ask."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from email.header import decode_header, make_header
from pathlib import Path

import pytest
from tests.e2e.ask.house import LEGACY, answered, connected
from tests.e2e.ask.loopback import Loopback
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import HOLD, accept
from tests.e2e.clients.process import wait_until
from tests.e2e.stdio.harness import WAIT, Person, Place

from sayso.asks.model import Ask, State

GENERAL = "Open your inbox to answer: sayso"


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    with server.running():
        yield server


def noting(place: Place) -> tuple[str, Path]:
    """A command that writes what it is told into a file of its own for each message, and their folder."""
    notes = place.folder / "notes"
    notes.mkdir()
    script = place.folder / "notify.py"
    script.write_text(
        "import os, pathlib, sys, uuid\n"
        f"note = pathlib.Path({str(notes)!r}) / uuid.uuid4().hex\n"
        "half = note.with_suffix('.half')\n"
        "half.write_text(sys.stdin.read() + os.environ['SAYSO_ASK_ID'] + '\\n' + os.environ['SAYSO_COUNT'])\n"
        "half.rename(note)\n"
    )
    return f"{sys.executable} {script}", notes


def noted(folder: Path, count: int = 1) -> list[str]:
    """The messages, once there are so many."""

    def found() -> list[Path]:
        return [file for file in folder.iterdir() if not file.suffix]

    assert wait_until(lambda: len(found()) >= count, WAIT), f"no {count} messages in {folder}"
    return sorted(file.read_text() for file in found())


def left(program: ClientProgram, person: Person, question: str) -> Ask:
    """An ask that nobody waits for."""
    ask_id = program.call("ask_user", {"question": question, "nonBlocking": True}).structured["ask_id"]
    return person.desk.get(ask_id)


def test_a_command_of_the_persons_hears_of_a_question_nobody_is_looking_at(place: Place) -> None:
    command, notes = noting(place)
    with connected(LEGACY, place, name="claude-code", notify_command=command) as program, place.person() as person:
        program.call_start("ask_user", {"question": "Can we\nship it?", "title": ""})
        ask = person.wait_for_ask("Can we\nship it?")
        (note,) = noted(notes)
        assert note.splitlines() == [
            "claude-code in project asks you something",
            f"{ask.id[:8]}  Can we ship it?",
            ask.id,
            "1",
        ]
        person.reject(ask)


def test_a_burst_of_questions_is_one_message(place: Place) -> None:
    command, notes = noting(place)
    with connected(LEGACY, place, notify_command=command, forms="never") as program, place.person() as person:
        for number in range(12):
            program.call_start("ask_user", {"question": f"Number {number}?", "nonBlocking": True})
        person.wait_until(lambda: True if len(person.inbox()) == 12 else None)
        (note,) = noted(notes)
        lines = note.splitlines()
        assert lines[0] == "12 questions are waiting for you"
        assert (len(lines), lines[11], lines[-1]) == (14, "and 2 more", "12")
        for ask in person.inbox():
            person.reject(ask)


def test_a_message_is_sent_once_per_ask_however_often_it_is_asked_for(place: Place) -> None:
    command, notes = noting(place)
    with connected(LEGACY, place, notify_command=command, forms="never") as program, place.person() as person:
        first = left(program, person, "Once?")
        noted(notes)
        assert left(program, person, "Once?").id == first.id
        left(program, person, "Another?")
        assert len(noted(notes, 2)) == 2


def test_nobody_is_told_while_a_surface_is_open(place: Place) -> None:
    command, notes = noting(place)
    with connected(LEGACY, place, notify_command=command, forms="never") as program, place.person() as person:
        person.desk.show_up("terminal", "ada")
        seen = left(program, person, "Seen?")
        person.desk.go_away()
        unseen = left(program, person, "Unseen?")
        (note,) = noted(notes)
        assert unseen.id in note
        assert seen.id not in note


def test_a_form_has_its_moment_before_the_person_is_told_elsewhere(place: Place) -> None:
    command, notes = noting(place)
    with connected(LEGACY, place, notify_command=command, form_reaction="300ms") as program, place.person() as person:
        program.answer_with(accept({"1": "quick"}), HOLD)
        assert program.call("ask_user", {"question": "Quick?"}).text == "User answered: quick"
        key = program.call_start("ask_user", {"question": "Is anybody in front of the form?"})
        ask = person.wait_for_ask("Is anybody in front of the form?")
        (note,) = noted(notes)
        assert ask.id in note
        person.answer(ask, "not there")
        assert program.wait_result(key).text == "User answered: not there"


def test_a_webhook_is_posted_json_without_the_questions_own_words(place: Place, loopback: Loopback) -> None:
    url = f"{loopback.url}/hook?key=1"
    with connected(LEGACY, place, name="codex", notify_url=url, forms="never") as program, place.person() as person:
        ask = left(program, person, "A secret question?")
        posted = loopback.take()
        assert posted.path == "/hook?key=1"
        assert posted.headers["Content-Type"] == "application/json"
        title = "codex in project asks you something"
        assert posted.data == {"text": f"{title}\n{GENERAL}", "title": title, "asks": [ask.id]}


def test_a_webhook_is_posted_the_questions_words_where_the_person_wants_that(place: Place, loopback: Loopback) -> None:
    place.settings |= {"notify_url": loopback.url, "notify_details": "true", "forms": "never"}
    with connected(LEGACY, place) as program, place.person() as person:
        ask = left(program, person, "Which colour?")
        assert f"{ask.id[:8]}  Which colour?" in loopback.take().data["text"]


@pytest.mark.parametrize("format", ["ntfy", "auto"])
def test_ntfy_is_posted_a_message_as_it_takes_them(place: Place, loopback: Loopback, format: str) -> None:
    """By its name in `auto`, reached through the loopback server as a proxy; or told to be ntfy."""
    url = "http://ntfy.example/questions" if format == "auto" else f"{loopback.url}/questions"
    place.settings |= {"notify_url": url, "notify_format": format, "forms": "never"}
    environment = {"http_proxy": loopback.url} if format == "auto" else {}
    with place.pipe(program="sayso", environment=environment) as pipe:
        pipe.client = {"name": "Größe", "version": "1"}
        pipe.connect("2025-11-25")
        pipe.request("tools/call", name="ask_user", arguments={"question": "Ping?", "nonBlocking": True})
        posted = loopback.take()
    assert posted.path.endswith("/questions")
    assert str(make_header(decode_header(posted.headers["Title"]))) == "Größe in project asks you something"
    assert (posted.headers["Tags"], posted.body.decode()) == ("question", GENERAL)


def test_apprise_carries_the_message_to_its_services(place: Place, loopback: Loopback) -> None:
    services = loopback.url.replace("http://", "json://") + "/apprise"
    with connected(LEGACY, place, notify_apprise=services, forms="never") as program, place.person() as person:
        left(program, person, "By apprise?")
        posted = loopback.take()
        assert posted.path == "/apprise"
        assert (posted.data["title"], posted.data["message"]) == ("tester in project asks you something", GENERAL)


FAILURES = {
    "no such command": ({"notify_command": "/nowhere/at/all"}, "notify_command '/nowhere/at/all': No such file"),
    "a command that fails": ({"notify_command": "false"}, "notify_command 'false' ended with exit code 1"),
    "an unreachable address": ({"notify_url": "http://127.0.0.1:9/hook"}, "notify_url at 127.0.0.1:9: "),
    "an unknown service": ({"notify_apprise": "nonesuch://x"}, "holds an address that apprise does not know"),
    "a service that is not there": ({"notify_apprise": "json://127.0.0.1:9"}, "could not deliver the message"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_logged_and_the_ask_goes_on(place: Place, failure: str) -> None:
    settings, told = FAILURES[failure]
    place.settings |= {**settings, "forms": "never"}
    with connected(LEGACY, place) as program, place.person() as person:
        assert answered(program, person, "ask_user", {"question": "Goes on?"}, "yes").text == "User answered: yes"
        left(program, person, "And this one?")
        program.wait_server_stderr(told)
        assert "Traceback" not in program.server_stderr
        assert "Task exception" not in program.server_stderr


def test_a_command_need_not_read_what_it_is_told(place: Place) -> None:
    with connected(LEGACY, place, notify_command="true", forms="never", log_level="debug") as program:
        program.call("ask_user", {"question": "x" * 200_000, "nonBlocking": True})
        with place.person() as person:
            assert answered(program, person, "ask_user", {"question": "Still there?"}, "yes").text
        program.close()
        program.wait_server_exit()
        assert "A notification failed" not in program.server_stderr
        assert "Traceback" not in program.server_stderr


def test_a_notification_that_hangs_delays_neither_the_call_nor_the_end_of_the_server(
    place: Place, loopback: Loopback
) -> None:
    loopback.answering.clear()
    place.settings |= {"notify_url": loopback.url, "notify_command": "sleep 60", "forms": "never"}
    with connected(LEGACY, place) as program, place.person() as person:
        left(program, person, "Does it hang?")
        loopback.take()
        asked = time.monotonic()
        result = answered(program, person, "ask_user", {"question": "Held up?"}, "no")
        assert (result.text, person.desk.inbox()[0].state) == ("User answered: no", State.PENDING)
        assert time.monotonic() - asked < 10
        program.close()
        ending = time.monotonic()
        program.wait_server_exit()
        assert time.monotonic() - ending < 10
    assert not [name for name in place.files() if name.endswith(".sock")]
