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
from tests.e2e.stdio.harness import WAIT, Person, Place, new_place

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
    """Not before the form has had its moment."""
    command, notes = noting(place)
    place.settings |= {"notify_command": command, "form_reaction": "1s"}
    with connected(LEGACY, place, name="claude-code") as program, place.person() as person:
        program.answer_with(accept({"q1": "quick"}, after_ms=1100), HOLD)
        assert program.call("ask_user", {"question": "Quick?"}).text == "User answered: quick"
        key = program.call_start("ask_user", {"question": "Can we\nship it?", "title": ""})
        ask = person.wait_for_ask("Can we\nship it?")
        (note,) = noted(notes)
        assert note.splitlines() == [
            "claude-code in project asks you something",
            f"{ask.id[:8]}  Can we ship it?",
            ask.id,
            "1",
        ]
        person.answer(ask, "not yet")
        assert program.wait_result(key).text == "User answered: not yet"


@pytest.fixture(scope="module")
def formless() -> Iterator[tuple[ClientProgram, Place, Path]]:
    """A client without forms on a machine whose person has a command told, and the folder of what it was told."""
    with new_place() as place:
        command, notes = noting(place)
        with connected(LEGACY, place, notify_command=command, forms="never") as program:
            yield program, place, notes


@pytest.fixture
def notes(formless: tuple[ClientProgram, Place, Path]) -> Path:
    """The folder, empty: what earlier tests were told of is gone."""
    for note in formless[2].iterdir():
        note.unlink()
    return formless[2]


@pytest.fixture
def person(formless: tuple[ClientProgram, Place, Path]) -> Iterator[Person]:
    """The person there, with nothing left open for the next test."""
    with formless[1].person() as person:
        yield person
        for ask in person.inbox():
            person.reject(ask)


@pytest.fixture
def program(formless: tuple[ClientProgram, Place, Path]) -> ClientProgram:
    return formless[0]


def test_a_burst_of_questions_is_one_message(program: ClientProgram, person: Person, notes: Path) -> None:
    for number in range(12):
        program.call_start("ask_user", {"question": f"Number {number}?", "nonBlocking": True})
    person.wait_until(lambda: True if len(person.inbox()) == 12 else None)
    (note,) = noted(notes)
    lines = note.splitlines()
    assert lines[0] == "12 questions are waiting for you"
    assert (len(lines), lines[11], lines[-1]) == (14, "and 2 more", "12")


def test_a_message_is_sent_once_per_ask_however_often_it_is_asked_for(
    program: ClientProgram, person: Person, notes: Path
) -> None:
    first = left(program, person, "Once?")
    noted(notes)
    assert left(program, person, "Once?").id == first.id
    left(program, person, "Another?")
    assert len(noted(notes, 2)) == 2


def test_nobody_is_told_while_a_surface_is_open(program: ClientProgram, person: Person, notes: Path) -> None:
    person.desk.show_up("terminal", "ada")
    seen = left(program, person, "Seen?")
    program.call("get_answers", {})  # the server has looked who is there by the time it answers this
    person.desk.go_away()
    unseen = left(program, person, "Unseen?")
    (note,) = noted(notes)
    assert unseen.id in note
    assert seen.id not in note


def test_a_webhook_is_posted_json_and_apprise_a_message_both_without_the_questions_own_words(
    place: Place, loopback: Loopback
) -> None:
    services = loopback.url.replace("http://", "json://") + "/apprise"
    place.settings |= {"notify_url": f"{loopback.url}/hook?key=1", "notify_apprise": services, "forms": "never"}
    with connected(LEGACY, place, name="codex") as program, place.person() as person:
        ask = left(program, person, "A secret question?")
        posted = {each.path: each for each in (loopback.take(), loopback.take())}
    title = "codex in project asks you something"
    hook, apprise = posted["/hook?key=1"], posted["/apprise"]
    assert hook.headers["Content-Type"] == "application/json"
    assert hook.data == {"text": f"{title}\n{GENERAL}", "title": title, "asks": [ask.id]}
    assert (apprise.data["title"], apprise.data["message"]) == (title, GENERAL)


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


FAILURES = {
    "wrong settings": {
        "notify_command": ("/nowhere/at/all", "notify_command '/nowhere/at/all': No such file"),
        "notify_url": ("http://127.0.0.1:9/hook", "notify_url at 127.0.0.1:9: "),
        "notify_apprise": ("nonesuch://x", "holds an address that apprise does not know"),
    },
    "right ones": {
        "notify_command": ("false", "notify_command 'false' ended with exit code 1"),
        "notify_apprise": ("json://127.0.0.1:9", "could not deliver the message"),
    },
}


@pytest.mark.parametrize("failures", FAILURES.values(), ids=FAILURES)
def test_each_failure_is_logged_and_the_ask_goes_on(place: Place, failures: dict[str, tuple[str, str]]) -> None:
    place.settings |= {name: value for name, (value, _) in failures.items()} | {"forms": "never"}
    with connected(LEGACY, place) as program, place.person() as person:
        assert answered(program, person, "ask_user", {"question": "Goes on?"}, "yes").text == "User answered: yes"
        left(program, person, "And this one?")
        for _, told in failures.values():
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
