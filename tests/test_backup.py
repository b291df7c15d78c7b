"""What a restore must not bring back: what was under way, who was shut out, and what was given to somebody already."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import memory

from sayso.accounts import Accounts
from sayso.agents.desk import RunDesk
from sayso.agents.model import Ending, NewRun, Options, RunState
from sayso.agents.projects import Projects
from sayso.agents.queue import MessageQueue
from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Asker, Kind, NewAsk, Question, Settler, State
from sayso.backup import back_up, restore
from sayso.clock import now_ms
from sayso.config import Config, load
from sayso.errors import BackupRefused
from sayso.permissions import session_rules
from sayso.permissions.session_rules import SessionRule
from sayso.store import Store, open_store

QUESTION = Question(id="1", text="Deploy now?", kind=Kind.CONFIRM)
NEW = NewAsk(tool="ask", questions=(QUESTION,), asker=Asker(client="claude-code", project="/shop"))


class Place:
    """A store, and a backup of it."""

    def __init__(self, folder: Path) -> None:
        self._file, self._before = folder / "saved.db", folder / "before.db"
        (folder / "project").mkdir()
        environ = {"HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state")}
        self.project = folder / "project"
        self.config: Config = load(environ=environ, cwd=self.project)
        self.store: Store = open_store(self.config)
        self.asks, self.accounts = AskDesk(self.store), Accounts(self.store)
        self.runs, self.queue = RunDesk(self.store, folder / "runs"), MessageQueue(self.store)

    def back_up(self) -> None:
        back_up(self.config, self._file, lambda *_: None)

    def restore(self) -> None:
        restore(self.config, self._file, self._before, "ada", lambda *_: None)


@pytest.fixture
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir=memory.SHORT) as folder:
        place = Place(Path(folder))
        yield place
        place.store.close()


def test_an_answer_that_its_agent_has_is_not_given_to_it_once_more(place: Place) -> None:
    ask = place.asks.leave(NEW)
    place.asks.answer(ask.id, [Answer(question="1", chosen=("yes",))], Settler(person="ada", surface="terminal"))
    place.back_up()
    held = place.asks.hold(NEW)
    assert held.ask.id == ask.id
    assert place.asks.delivered(held).delivered
    place.restore()
    assert place.asks.get(ask.id).delivered
    again = place.asks.hold(NEW)
    assert again.ask.id != ask.id
    place.asks.release(again, "done")


def test_a_backup_can_be_on_a_disk_without_links(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on most that one carries about; a real one cannot be had in every place these tests run."""

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    kept = place.asks.leave(NEW)
    place.back_up()
    place.asks.cancel(kept.id, Settler(person="ada", surface="terminal"))
    with pytest.raises(BackupRefused, match="is there already"):
        place.back_up()
    place.restore()
    assert place.asks.get(kept.id).state is State.PENDING


def test_an_agent_that_was_at_work_is_not_started_again_and_nothing_queued_is_sent_unasked(place: Place) -> None:
    place.accounts.add_user("ada")
    project = Projects(place.store).add("ada", place.project, options=Options())
    run = place.runs.open(NewRun(project=project, prompt="Deploy", token=str(uuid.uuid4())), most=9)
    place.queue.add(run, "And then this")
    place.back_up()
    place.runs.want_stopped(run.id, "ada")
    place.queue.remove(run, place.queue.of(run.conversation)[0].id)
    place.runs.end(run.id, RunState.STOPPED, Ending())
    place.restore()
    restored = place.runs.get(run.id)
    assert (restored.state, restored.token) == (RunState.LOST, "")
    assert restored.ending is not None
    assert "backup" in restored.ending.message
    assert place.runs.open_here() == []
    [message] = place.queue.of(run.conversation)
    assert (message.text, message.is_held(restored)) == ("And then this", True)


def test_what_is_under_way_all_the_time_goes_on(place: Place) -> None:
    place.accounts.add_user("ada")
    project = Projects(place.store).add("ada", place.project, options=Options())
    run = place.runs.open(NewRun(project=project, prompt="Deploy", token=str(uuid.uuid4())), most=9)
    place.queue.add(run, "And then this")
    place.back_up()
    place.restore()
    assert place.runs.get(run.id).state is RunState.RUNNING
    [message] = place.queue.of(run.conversation)
    assert not message.is_held(run)


def test_who_was_shut_out_since_then_stays_out(place: Place) -> None:
    place.accounts.add_user("zoe")
    place.accounts.add_user("bo")
    token = place.accounts.add_token("builder", user="zoe", project="/shop")
    session = place.accounts.redeem(place.accounts.make_link("zoe"), "a browser")
    place.back_up()
    place.accounts.revoke_user("zoe")
    place.restore()
    users = {user.name: user.revoked_at is None for user in place.accounts.users()}
    assert users == {"zoe": False, "bo": True}
    assert place.accounts.session(session) is None
    assert place.accounts.token(token) is None


def test_who_is_signed_in_stays_so_but_for_those_whom_the_backup_does_not_know(place: Place) -> None:
    place.accounts.add_user("zoe")
    place.back_up()
    place.accounts.add_user("bo")
    signed_in = {name: place.accounts.redeem(place.accounts.make_link(name), "a browser") for name in ("zoe", "bo")}
    place.restore()
    zoe = place.accounts.session(signed_in["zoe"])
    assert (zoe.user if zoe else "", place.accounts.session(signed_in["bo"])) == ("zoe", None)
    place.accounts.add_user("bo")  # perhaps somebody else of that name
    assert place.accounts.session(signed_in["bo"]) is None


def test_a_rule_for_one_session_that_was_ended_since_then_stays_ended(place: Place) -> None:
    def rule(name: str) -> SessionRule:
        who = {
            "person": "ada",
            "client": "claude-code",
            "host": "here",
            "project": "/shop",
            "session": "s",
            "owner": "",
        }
        return SessionRule(id=name, patterns=("Bash(npm test)",), ask="a", process="1 2", created_at=now_ms(), **who)

    for name in ("ended", "held"):
        place.store.write(lambda tx, name=name: session_rules.add(tx, rule(name)))  # type: ignore[misc]
    place.back_up()
    by = Settler(person="ada", surface="terminal")
    assert place.store.write(lambda tx: session_rules.end(tx, rule("ended"), by, now_ms()))
    place.restore()
    found = place.store.read(lambda tx: session_rules.everyone(tx, now_ms()))
    assert [each.id for each in found] == ["held"]


def test_what_may_be_done_once_only_and_was_done_is_not_done_again(place: Place) -> None:
    assert place.store.claim("before", now_ms())
    place.back_up()
    assert place.store.claim("since then", now_ms())
    place.restore()
    assert [place.store.claim(key, now_ms()) for key in ("before", "since then", "new")] == [False, False, True]


def test_pictures_and_files_of_answers_come_back_with_their_ask(place: Place) -> None:
    ask = place.asks.leave(NEW)
    added = place.asks.add_attachment(ask.id, "ada", "notes.txt", b"All of them. " * 100_000)
    answer = Answer(question="1", chosen=("yes",), attachments=(added,))
    place.asks.answer(ask.id, [answer], Settler(person="ada", surface="terminal"))
    place.back_up()
    place.store.write(lambda tx: tx.run("drop_attachments", ask_id=ask.id))
    place.restore()
    assert place.asks.attachment(ask.id, added.id) == (added, b"All of them. " * 100_000)
