"""A machine that does not do its part: each fault is one clear error, nothing half-made stays, and all is well again
once it is fixed, without a new server."""

from __future__ import annotations

import ctypes
import os
import resource
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.disks import other_than
from tests.e2e.stdio.harness import WAIT, Agent, Place, data_of, new_place, question, text_of
from tests.postgres import Server
from tests.trusting import trust

from sayso.asks.model import State

# The config


BAD_CONFIGS = {
    "profile = ": "is not valid TOML",
    "ask_timeout = 'soon'": "ask_timeout is 'soon'",
    "max_questions = 0": "max_questions is 0",
    "profil = 'auq'": "there is no setting 'profil'. Did you mean profile?",
    "profile = 'aqu'": "profile is 'aqu'",
    "store = 7": "store is 7",
}


@pytest.mark.parametrize("toml", BAD_CONFIGS)
def test_a_bad_config_file_is_one_line_on_stderr_and_exit_code_2(place: Place, toml: str) -> None:
    file = place.home / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(toml)
    done = place.run("server")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert str(file) in line
    assert BAD_CONFIGS[toml] in line
    assert not place.state.exists()


@pytest.mark.parametrize("arguments", [["--profile", "aqu"], ["--ask-timeout", "soon"], ["--max-options", "1"]])
def test_a_bad_flag_is_one_line_on_stderr_and_exit_code_2(place: Place, arguments: list[str]) -> None:
    done = place.run("server", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert arguments[1] in line


def test_a_project_cannot_choose_where_answers_go(place: Place) -> None:
    file = place.project / ".sayso" / "config.toml"
    file.parent.mkdir()
    file.write_text("store = 'postgresql://elsewhere/x'")
    trust(place.state, place.project)
    done = place.run("server")
    assert (done.returncode, done.stdout) == (2, "")
    assert "store may not be set by a project" in done.stderr


# The state directory


def fails(agent: Agent, text: str, *words: str) -> None:
    """A call ends as an error that explains itself, and the log tells of it."""
    result = agent.ask(question(text)).result(WAIT)
    assert result.is_error
    assert data_of(result)["outcome"] == "failed"
    for word in (*words, "No answer was given; do not assume one."):
        assert word in text_of(result)
    assert "\n" not in text_of(result)
    agent.log.wait_for("Session failed: ")
    assert "Traceback" not in agent.log.text


def works(agent: Agent, place: Place, text: str) -> None:
    """A call is answered, it is the only one with this text that was ever opened, and the server has nothing more to
    write about it."""
    call = agent.ask(question(text))
    with place.person() as person:
        ask = person.wait_for_ask(text)
        person.answer(ask, "Yes")
        assert data_of(call.result(WAIT))["outcome"] == "answered"
        person.wait_until_delivered(ask)
        assert [each.questions[0].text for each in person.asks()].count(text) == 1


def a_file_for_a_folder(place: Place) -> Callable[[], None]:
    place.state.write_text("in the way")
    return place.state.unlink


def a_folder_for_a_file(place: Place) -> Callable[[], None]:
    place.database.mkdir(parents=True)
    return place.database.rmdir


def garbage(place: Place) -> Callable[[], None]:
    place.state.mkdir()
    place.database.write_bytes(os.urandom(100_000))
    return place.database.unlink


def exchange(one: Path, other: Path) -> None:
    """Have each be the other in one step: where nothing is for a moment, the server may begin anew."""
    here, swapped = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    done = ctypes.CDLL(None, use_errno=True).renameat2(here, os.fsencode(one), here, os.fsencode(other), swapped)
    assert done == 0, os.strerror(ctypes.get_errno())


def another_program(place: Place) -> Callable[[], None]:
    place.state.mkdir()
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    return place.database.unlink


def a_newer_sayso(place: Place) -> Callable[[], None]:
    place.state.mkdir()
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute("INSERT INTO meta VALUES ('schema_version', '999')")
    return place.database.unlink


BROKEN: dict[Callable[[Place], Callable[[], None]], str] = {
    a_file_for_a_folder: "cannot be used: File exists",
    a_folder_for_a_file: "Is a directory",
    garbage: "damaged or is not a Sayso store",
    another_program: "is not a Sayso store",
    a_newer_sayso: "schema version 999",
}


def test_an_unusable_state_directory_fails_the_call_and_not_the_server(place: Place) -> None:
    with place.agent() as agent:
        for break_it, words in BROKEN.items():
            fix = break_it(place)
            fails(agent, f"Is it {break_it.__name__}?", str(place.state), words)
            fails(agent, f"Is it still {break_it.__name__}?", str(place.state), words)
            fix()
            works(agent, place, f"Is it {break_it.__name__}?")
            place.state.rename(place.folder / break_it.__name__)


AS_ANYBODY = """
import ctypes, os, sys
DROP, DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(DROP, DAC_OVERRIDE)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Even root then needs permission to write into a folder."""


def an_empty_folder(place: Place) -> None:
    place.state.mkdir()


def a_store_in_use(place: Place) -> None:
    with place.person():
        """Opening it makes it."""


@pytest.mark.parametrize("prepare", [an_empty_folder, a_store_in_use])
def test_a_read_only_state_directory_fails_the_call_and_not_the_server(
    place: Place, prepare: Callable[[Place], None]
) -> None:
    prepare(place)
    for path in (*place.state.rglob("*"), place.state):
        path.chmod(0o500 if path.is_dir() else 0o400)
    place.launcher = [sys.executable, "-c", AS_ANYBODY]
    with place.agent() as agent:
        fails(agent, "May I write?", str(place.state))
        place.state.chmod(0o700)
        for path in place.state.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        works(agent, place, "May I write?")


def test_a_store_that_is_damaged_while_the_server_runs_fails_calls_until_it_is_put_right(place: Place) -> None:
    with place.agent() as agent:
        works(agent, place, "Before?")
        damaged = place.folder / "damaged"
        damaged.mkdir()
        (damaged / place.database.name).write_bytes(os.urandom(100_000))
        exchange(place.state, damaged)
        fails(agent, "Meanwhile?", str(place.database), "damaged or is not a Sayso store")
        exchange(place.state, damaged)
        works(agent, place, "After?")
        with place.person() as person:
            assert {ask.questions[0].text for ask in person.asks()} == {"Before?", "After?"}


def test_a_disk_that_is_gone_for_a_while_fails_calls_and_what_was_asked_before_is_answered(place: Place) -> None:
    with other_than(place.folder) as disk:
        disk.mount(place.state)
        with place.agent() as agent:
            waiting = agent.ask(question("Still there?"))
            with place.person() as person:
                ask = person.wait_for_ask("Still there?")
            disk.unmount()
            fails(agent, "Meanwhile?", "No other store is made in its place")
            assert not place.database.exists()
            disk.mount(place.state)
            works(agent, place, "After?")
            with place.person() as person:
                person.answer(ask, "Yes")
            assert data_of(waiting.result(WAIT))["outcome"] == "answered"


def test_a_full_disk_fails_the_call_and_not_the_server(place: Place) -> None:
    text = "x" * 500_000
    with place.agent() as agent:
        works(agent, place, "Is there room?")
        unlimited = resource.prlimit(agent.server.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        fails(agent, text, str(place.database))
        with place.person() as person:
            assert [each.questions[0].text for each in person.asks()] == ["Is there room?"]
        resource.prlimit(agent.server.pid, resource.RLIMIT_FSIZE, unlimited)
        works(agent, place, text)


# The store on another machine


def test_a_database_that_nobody_serves_fails_the_call_until_somebody_does(
    postgres: Server, postgres_address: str
) -> None:
    with new_place() as place:
        socket_folder = place.folder / "socket"
        name = conninfo_to_dict(postgres_address)["dbname"]
        place.settings["store"] = f"postgresql://postgres:secret@/{name}?host={socket_folder}"
        with place.agent() as agent:
            fails(agent, "Is it served?", "The store at postgresql://", "Check that the server runs")
            assert "secret" not in agent.log.text
            socket_folder.symlink_to(postgres.folder)
            works(agent, place, "Is it served?")


def test_a_waiting_call_outlives_a_database_that_cuts_every_connection(postgres: Server, postgres_address: str) -> None:
    name = conninfo_to_dict(postgres_address)["dbname"]
    with new_place(store=postgres_address) as place, place.agent() as agent:
        call = agent.ask(question("Are you still there?"))
        with place.person() as person:
            ask = person.wait_for_ask("Are you still there?")
        with psycopg.connect(postgres.address("postgres"), autocommit=True) as owner:
            cut = owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            assert cut.rowcount > 0
        with place.person() as person:
            person.answer(ask, "Yes")
            assert data_of(call.result(WAIT))["answers"][0]["selected"] == ["Yes"]
            assert person.wait_until_delivered(ask).state is State.ANSWERED
            assert [each.id for each in person.asks()] == [ask.id]
        works(agent, place, "And now?")
