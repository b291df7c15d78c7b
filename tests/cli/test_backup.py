"""`sayso backup` and `sayso restore`: all that is kept in one file, and back, into either kind of store."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.program import BIN, SECONDS, SOMEONE, Home, choice
from tests.cli.test_allow import PUSH
from tests.running.processes import eventually

from sayso.asks.model import State
from sayso.backup import PUT_BACK


def backed_up(home: Home, name: str = "saved.db") -> Path:
    ran = home.run("backup", name)
    assert ran.code == 0, ran.err
    file = home.project / name
    assert ran.out == f"{file}\n"
    return file


def test_everything_moves_to_postgresql_and_back(home: Home, postgres_address: str) -> None:
    pending, answered = home.leave(choice("Which database?")), home.leave(choice("Which port?"))
    assert home.run("answer", answered.id, "SQLite").code == 0
    assert home.run("user", "add", "bo").code == 0
    file = backed_up(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    there = {"SAYSO_STORE": postgres_address}
    ran = home.run("restore", "saved.db", **there)
    assert (ran.code, ran.out) == (0, "")
    assert "Put back: 2 asks, 1 user" in ran.err
    assert "The backup was made at 20" in ran.err
    assert [ask["id"] for ask in home.run("list", "--json", **there).data] == [pending.id]
    assert home.run("answer", pending.id, "PostgreSQL", **there).code == 0
    assert home.run("backup", "back.db", **there).code == 0

    replaced = home.run("restore", "back.db", "--replace")
    assert replaced.code == 0, replaced.err
    assert home.ask_of(pending).state is State.ANSWERED
    assert [answer.chosen for answer in home.answers(answered)] == [("1",)]
    assert home.run("log", "verify").code == 0
    kept = next(home.state.glob("before-restore-*.db"))
    assert str(kept) in replaced.err
    assert home.run("restore", str(kept), "--replace").code == 0
    assert home.ask_of(pending).state is State.PENDING
    assert "restored" in home.run("log").out


def test_what_is_there_is_neither_overwritten_nor_replaced_unasked(home: Home) -> None:
    home.leave(choice("Which database?"))
    file = backed_up(home)
    before = file.read_bytes()
    assert "is there already. Name another file." in home.run("backup", "saved.db").error
    assert file.read_bytes() == before
    refused = home.run("restore", "saved.db")
    assert "There is something in the store already: 1 ask." in refused.error
    assert "--replace" in refused.error
    assert home.run("log", "--json").data == []


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "is not a file"), (b"", "is empty"), (b"no store at all", "saved.db is no backup of Sayso, or is damaged")],
)
def test_a_file_that_is_no_backup_changes_nothing(home: Home, content: bytes | None, said: str) -> None:
    ask = home.leave(choice("Which database?"))
    if content is not None:
        (home.project / "saved.db").write_bytes(content)
    assert said in home.run("restore", "saved.db", "--replace").error
    assert home.ask_of(ask).state is State.PENDING
    assert list(home.state.glob("before-restore-*")) == []


@pytest.mark.parametrize(
    "done_to_it",
    [
        "ALTER TABLE drafts RENAME TO others; CREATE VIEW drafts AS SELECT * FROM others, others, others",
        "CREATE TRIGGER more AFTER INSERT ON meta BEGIN DELETE FROM users; END",
        "ALTER TABLE users DROP COLUMN created_at",
        "DROP TABLE drafts",
    ],
    ids=["view", "trigger", "column", "table"],
)
def test_a_backup_that_somebody_has_changed_the_parts_of_is_refused(home: Home, done_to_it: str) -> None:
    ask = home.leave(choice("Which database?"))
    home.run("backup", "saved.db")
    with closing(sqlite3.connect(home.project / "saved.db")) as saved:
        saved.executescript(done_to_it)
    refused = home.run("restore", "saved.db", "--replace")
    assert "saved.db is no backup of Sayso, or is damaged. Nothing was changed." in refused.error
    assert home.ask_of(ask).state is State.PENDING


def test_a_store_that_is_in_use_is_no_backup(home: Home) -> None:
    """What was written last is not in its file yet."""
    ask = home.leave(choice("Which database?"))
    backed_up(home).with_name("saved.db-wal").write_bytes(b"what was written last")
    assert "saved.db is a store that is in use" in home.run("restore", "saved.db", "--replace").error
    assert home.ask_of(ask).state is State.PENDING


def test_a_backup_leaves_to_another_what_that_is_copying(home: Home) -> None:
    folder = home.project / ".sayso-copy-of-another"
    folder.mkdir()
    (folder / "sayso.db").write_bytes(b"half of it")
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        backed_up(home, "first.db")
        assert (folder / "sayso.db").read_bytes() == b"half of it"
    finally:
        os.close(opened)
    backed_up(home, "second.db")
    assert not folder.exists()


def test_a_backup_that_does_not_say_when_it_was_made_is_put_back_all_the_same(home: Home) -> None:
    home.leave(choice("Which database?"))
    home.run("backup", "saved.db")
    with closing(sqlite3.connect(home.project / "saved.db")) as saved:
        saved.executescript("UPDATE meta SET value = 'once' WHERE key = 'backed_up_at'")
    assert home.run("restore", "saved.db", "--replace", "--json").data["made_at"] is None


def test_an_agent_that_waits_goes_on_waiting_and_gets_its_answer(home: Home) -> None:
    with home.start("ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL") as agent:
        ask = home.wait_for_ask()
        backed_up(home)
        assert home.run("restore", "saved.db", "--replace").code == 0
        assert home.run("answer", ask.id, "SQLite").code == 0
        out, err = agent.communicate(timeout=SECONDS)
    assert (agent.returncode, out) == (0, "SQLite\n"), err


def test_what_nobody_waits_for_any_more_can_be_answered_but_a_permission_is_over(home: Home) -> None:
    with home.start("ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL") as agent:
        ask = home.wait_for_ask()
        with home.permission(PUSH) as wanted:
            backed_up(home)
            with home.desk() as desk:
                desk.reject(wanted.id, "not now", SOMEONE)
        assert home.run("answer", ask.id, "SQLite").code == 0
        agent.communicate(timeout=SECONDS)
    assert home.run("restore", "saved.db", "--replace").code == 0
    again = home.ask_of(ask)
    assert (again.state, again.wait) == (State.PENDING, None)
    assert home.ask_of(wanted).state is State.EXPIRED
    assert PUT_BACK in home.run("log", "show", wanted.id).out
    assert home.run("log", "verify").code == 0


def test_the_call_of_an_agent_whose_question_is_not_in_the_backup_ends(home: Home) -> None:
    backed_up(home)
    with home.start("ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL") as agent:
        home.wait_for_ask()
        assert home.run("restore", "saved.db", "--replace").code == 0
        out, err = agent.communicate(timeout=SECONDS)
    assert agent.returncode != 0
    assert (out, "Traceback" in err) == ("", False)
    assert "Error: " in err


@pytest.mark.parametrize("command", [["backup"], ["restore", "saved.db"]])
def test_an_agent_can_do_neither(home: Home, command: list[str]) -> None:
    ran = home.run(*command, CLAUDECODE="1")
    assert ran.code == 5
    assert "what the inbox keeps" in ran.error


def many_asks(home: Home) -> None:
    """So that a copy takes a while."""
    home.leave(choice("long" * 1000))
    with closing(sqlite3.connect(home.state / "sayso.db")) as store, store:
        store.execute("CREATE TEMP TABLE copy AS SELECT * FROM asks")
        for number in range(4_000):
            store.execute("UPDATE copy SET id = ?", (f"{number:032}",))
            store.execute("INSERT INTO asks SELECT * FROM copy")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_copy_that_is_ended_halfway_does_not_stay(home: Home, number: signal.Signals) -> None:
    many_asks(home)
    kept = home.project / ".sayso-copy-of-mine"
    kept.mkdir()
    (kept / "notes").write_text("mine")
    process = subprocess.Popen([BIN / "sayso", "backup", "saved.db"], cwd=home.project, env=home.env)
    eventually(lambda: any(folder != kept for folder in home.project.glob(".sayso-copy-*")))
    process.send_signal(number)
    assert process.wait(SECONDS) != 0
    if number is signal.SIGKILL:
        backed_up(home, "next.db")
        (home.project / "next.db").unlink()
    assert list(home.project.iterdir()) == [kept]
    assert (kept / "notes").read_text() == "mine"
