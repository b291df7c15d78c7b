"""A short proof, and whether its audit can fail: each kind of fault is planted into what the proof has left, and the
audit has to name it."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.proof.agent import Tally
from tests.proof.audit import TOKEN, Audit, Epoch
from tests.proof.audit import main as audit_all
from tests.proof.epoch import clean, note_end, play
from tests.proof.ground import FREE, NEVER, RUN, Ground, Told
from tests.proof.notes import Json, Notes, read
from tests.proof.report import score

ASKS = 200
SECONDS = 40.0
"""After which no more is asked, however slow the machine is."""
LEAST = 30


@pytest.fixture(scope="module")
def finished() -> Iterator[Ground]:
    """What a short proof has left, before anything of it is deleted."""
    seed = random.SystemRandom().randrange(1_000_000)
    with tempfile.TemporaryDirectory(prefix="sayso-test-", dir="/tmp") as name:
        ground = Ground.new(Path(name) / "proof", Told(seed=seed, asks_per_kill=40))
        tally, begun = Tally(), time.monotonic()

        def enough() -> bool:
            is_late, counts = time.monotonic() - begun > SECONDS, tally.counts
            has_all = counts["answers"] >= LEAST and counts["allow"] >= 5 and counts["deny"] >= 1
            return has_all and (is_late or tally.asks >= ASKS)

        epoch = ground.new_epoch()
        asyncio.run(play(ground, epoch, tally, enough))
        note_end(epoch, tally, time.monotonic() - begun)
        yield ground


@pytest.mark.timeout(600)
def test_nothing_is_lost_doubled_crossed_or_invented_while_processes_die_and_machines_fail(finished: Ground) -> None:
    found = Epoch(finished, finished.epochs()[0]).audit()
    assert not found.problems, f"`make proof SEED={finished.told.seed}` makes the same choices.\n{_told(found)}"
    assert found.counts["answers"] >= LEAST
    assert found.counts["ran"] > 0


def _told(found: Audit) -> str:
    return "\n".join(found.problems)


class Left:
    """A copy of what a proof has left, to be spoilt."""

    def __init__(self, ground: Ground, folder: Path) -> None:
        shutil.copytree(ground.folder, folder, symlinks=True)
        self.ground = Ground(folder)
        self.epoch = self.ground.epochs()[0]

    def audit(self) -> Audit:
        return Epoch(self.ground, self.epoch).audit()

    # The store

    def change(self, statement: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.ground.place.database)) as store, store:
            assert store.execute(statement, values).rowcount > 0

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.ground.place.database)) as store:
            return store.execute(query).fetchall()

    def answered(self) -> list[tuple[str, Json]]:
        """Ids of questions that somebody has answered, with what they said. Not of those whose call was cut off."""
        unsure = {(line["agent"], line["question"]) for line in self.notes("unsure")}
        agents = {line["agent"] for line in self.notes("asks")}
        query = "SELECT id, outcome, client, body FROM asks WHERE permission = 0 AND state = 'answered' ORDER BY id"
        return [
            (ask, json.loads(outcome))
            for ask, outcome, client, body in self.rows(query)
            if client in agents and (client, json.loads(body)["questions"][0]["text"]) not in unsure
        ]

    # What was noted

    def note(self, **line: Any) -> None:
        notes = Notes(self.epoch / "agents.jsonl")
        notes.add(**line)
        notes.close()

    def notes(self, kind: str) -> list[Json]:
        return [line for line in read(self.epoch / "agents.jsonl") if line["t"] == kind]

    def rewrite(self, file: Path, change: Callable[[Json], Json]) -> None:
        lines = [change(line) for line in read(file)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def ran(self, *lines: str) -> None:
        with (self.epoch / "ran").open("a") as record:
            record.writelines(f"{line}\n" for line in lines)


def _lose_an_ask(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.change("DELETE FROM events WHERE ask_id = ?", ask)
    left.change("DELETE FROM asks WHERE id = ?", ask)


def _lose_a_delivery(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.rewrite(left.epoch / "agents.jsonl", lambda line: {**line, "t": "-"} if line.get("ask") == ask else line)


def _invent_an_answer(left: Left) -> None:
    (ask, outcome), *_ = left.answered()
    outcome["answers"][0]["text"] = "yes"
    left.change("UPDATE asks SET outcome = ? WHERE id = ?", json.dumps(outcome), ask)


def _swap_two_answers(left: Left) -> None:
    (first, said), (second, also), *_ = left.answered()
    left.change("UPDATE asks SET outcome = ? WHERE id = ?", json.dumps(also), first)
    left.change("UPDATE asks SET outcome = ? WHERE id = ?", json.dumps(said), second)


def _take_what_was_refused(left: Left) -> None:
    (_, outcome), *_ = left.answered()
    mark = outcome["answers"][0]["text"]
    for file in left.epoch.glob("people-*.jsonl"):
        left.rewrite(
            file, lambda line: {**line, "heard": False} if (line["t"], line.get("mark")) == ("heard", mark) else line
        )


def _deliver_to_another(left: Left) -> None:
    told = left.notes("told")[0]
    left.note(**{**told, "agent": "agent-9", "line": 99})


def _deliver_twice(left: Left) -> None:
    released = {ask for (ask,) in left.rows("SELECT ask_id FROM events WHERE kind = 'unattended'")}
    left.note(**next(told for told in left.notes("told") if told["ask"] not in released))


def _deliver_something_else(left: Left) -> None:
    left.note(**{**left.notes("told")[0], "mark": "no", "line": 99})


def _settle_twice(left: Left) -> None:
    (ask, _), *_ = left.answered()
    version = len(left.rows(f"SELECT 1 FROM events WHERE ask_id = '{ask}'")) + 1
    left.change(
        "INSERT INTO events SELECT ask_id, ?, at, kind, state_after, state_after, person, surface, detail FROM events "
        "WHERE ask_id = ? AND kind = 'answered'",
        version,
        ask,
    )
    left.change("UPDATE asks SET version = ? WHERE id = ?", version, ask)


def _take_another_step(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.change("UPDATE events SET kind = 'agreed' WHERE ask_id = ? AND kind = 'answered'", ask)


def _lose_an_event(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.change("DELETE FROM events WHERE ask_id = ? AND version = 2", ask)


def _leave_a_wait(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.change("UPDATE asks SET wait_id = 'w' WHERE id = ?", ask)


def _leave_it_open(left: Left) -> None:
    (ask, _), *_ = left.answered()
    left.change("UPDATE asks SET state = 'pending' WHERE id = ?", ask)


def _hang(left: Left) -> None:
    left.note(t="hangs", agent="agent-0", question="plain 1.0.1?")


def _ask_twice(left: Left) -> None:
    (ask, _), *_ = left.answered()
    columns = [row[1] for row in left.rows("SELECT * FROM pragma_table_info('asks')") if row[1] != "id"]
    names = ", ".join(columns)
    left.change(f"INSERT INTO asks (id, {names}) SELECT 'f' || id, {names} FROM asks WHERE id = ?", ask)


def _forget_a_question(left: Left) -> None:
    left.note(t="asks", agent="agent-0", question="plain 1.0.999999?")


def _act_without_an_allow(left: Left) -> None:
    left.ran(f"{RUN} t.1.0.999999")


def _act_twice(left: Left) -> None:
    left.ran((left.epoch / "ran").read_text().splitlines()[0])


def _act_against_a_rule(left: Left) -> None:
    left.ran(f"{NEVER} t.1.0.999999")


def _act_after_a_no(left: Left) -> None:
    verdict = next(line for line in left.notes("verdict") if line["behavior"] != "allow")
    left.ran(f"{RUN} {verdict['token']}")


def _allow_by_nobody(left: Left) -> None:
    left.note(t="verdict", token="t.1.0.999999", program=RUN, behavior="allow", begun=0, ended=0)


def _turn_a_yes_into_a_no(left: Left) -> None:
    """What the client was told, of something that was allowed."""
    (allowed,) = left.rows('SELECT body FROM asks WHERE outcome LIKE \'%"verdict": "allowed"%\' LIMIT 1')
    token = TOKEN.search(allowed[0])
    assert token
    left.note(t="verdict", token=token[0], program=RUN, behavior="deny", begun=0, ended=0)


def _lose_a_yes(left: Left) -> None:
    rows = left.rows('SELECT id, outcome FROM asks WHERE outcome LIKE \'%"verdict": "allowed"%\'')
    for ask, outcome in rows:
        changed = {**json.loads(outcome), "verdict": "denied", "reason": ""}
        left.change("UPDATE asks SET outcome = ? WHERE id = ?", json.dumps(changed), ask)


def _allow_by_a_rule_of_yesterday(left: Left) -> None:
    body = json.dumps({"surface": "rule", "title": f"Bash: {FREE} t.1.0.999999"})
    left.change(
        "INSERT INTO permission_log SELECT seq + 1, at, 'allowed', '', '', project, owner, '', ?, hash, 'h' "
        "FROM permission_log ORDER BY seq DESC LIMIT 1",
        body,
    )
    left.rewrite(left.epoch / "agents.jsonl", lambda line: {**line, "name": "asked"} if line["t"] == "rules" else line)
    left.note(t="verdict", token="t.1.0.999999", program=FREE, behavior="allow", begun=0, ended=0)


def _take_from_the_log(left: Left) -> None:
    left.change("DELETE FROM permission_log WHERE seq = (SELECT min(seq) + 1 FROM permission_log)")


def _tell_a_wrong_end(left: Left) -> None:
    left.note(t="ended", name="command.1.0.999999", status="completed")


def _run_what_nobody_wanted(left: Left) -> None:
    operation = "INSERT INTO operations (id, version, state, tool, parent, background, agent, client, project, owner, "
    operation += (
        "host, process, body, bytes, created_at, changed_at) VALUES ('o', 1, 'completed', 'bg', '', 1, '', '', "
    )
    left.change(f"{operation} '', '', '', '', ?, 0, 1, 1)", json.dumps({"argv": ["command.1.0.999999"]}))


def _talk(left: Left, prompt: str) -> None:
    """A run that has ended well, of which nothing else is known."""
    project = left.ground.known["project"]
    left.change(
        "INSERT INTO runs (id, version, state, project_id, user_name, conversation, turn, agent, session, host, "
        "process, prompt, seen, events, started_at, changed_at) "
        "VALUES ('r', 1, 'completed', ?, '', 'r', 1, '', '', '', '', ?, 0, 0, 1, 1)",
        project,
        prompt,
    )


def _lose_a_talk(left: Left) -> None:
    notes = Notes(left.epoch / "people-bob-9.jsonl")
    notes.add(t="talking", name="1.talk.9x9")
    notes.close()


def _begin_a_talk_by_itself(left: Left) -> None:
    _talk(left, "say Begins 1.talk.9x9")


def _say_something_else_in_a_talk(left: Left) -> None:
    _lose_a_talk(left)
    _talk(left, "say Begins 1.talk.9x9")


def _leave_a_socket(left: Left) -> None:
    bell = left.ground.place.state / "bell"
    bell.mkdir(exist_ok=True)
    (bell / "1-1.sock").touch()


def _leave_half_a_file(left: Left) -> None:
    (left.ground.place.state / "environments").mkdir(exist_ok=True)
    (left.ground.place.state / "environments" / "a.half").touch()


def _leave_a_file(left: Left) -> None:
    (left.ground.place.state / "core").touch()


def _fail(left: Left) -> None:
    (left.epoch / "log").write_text("Traceback (most recent call last):\n  KeyError\n")


PLANTED = (
    (_lose_an_ask, "is gone"),
    (_lose_a_delivery, "never reached its agent"),
    (_invent_an_answer, "holds what nobody said to it"),
    (_swap_two_answers, "holds what nobody said to it"),
    (_take_what_was_refused, "whose giver was told that it was not taken"),
    (_deliver_to_another, "was delivered to agent-9"),
    (_deliver_twice, "was delivered 2 times"),
    (_deliver_something_else, "was delivered as"),
    (_settle_twice, "was settled 2 times"),
    (_take_another_step, "took a step that there is not"),
    (_lose_an_event, "other events"),
    (_leave_a_wait, "is still waited for"),
    (_leave_it_open, "has not ended"),
    (_hang, "waited in vain"),
    (_ask_twice, "people 2 times"),
    (_forget_a_question, "never heard of"),
    (_act_without_an_allow, "nobody had allowed it"),
    (_act_twice, "ran 2 times"),
    (_act_against_a_rule, "which no rule and nobody ever allows"),
    (_act_after_a_no, "and it ran 1 times"),
    (_allow_by_nobody, "nobody said so"),
    (_turn_a_yes_into_a_no, "its client was told no"),
    (_lose_a_yes, "lost the yes"),
    (_allow_by_a_rule_of_yesterday, "a rule that did not hold"),
    (_take_from_the_log, "has a gap"),
    (_tell_a_wrong_end, "its agent was told that it is completed"),
    (_run_what_nobody_wanted, "Nobody wanted command"),
    (_lose_a_talk, "0 runs came of it"),
    (_begin_a_talk_by_itself, "Nobody began the conversation"),
    (_say_something_else_in_a_talk, "said something else"),
    (_leave_a_socket, "A socket is left over"),
    (_leave_half_a_file, "A half-written file is left over"),
    (_leave_a_file, "A file is left over: core"),
    (_fail, "failed on its own account"),
)


@pytest.mark.parametrize(("plant", "named"), PLANTED, ids=[plant.__name__[1:] for plant, _ in PLANTED])
def test_the_audit_names_each_fault(
    finished: Ground, tmp_path: Path, plant: Callable[[Left], None], named: str
) -> None:
    left = Left(finished, tmp_path / "left")
    plant(left)
    assert named in _told(left.audit())


def test_the_audit_names_a_process_that_is_left(finished: Ground, tmp_path: Path) -> None:
    left = Left(finished, tmp_path / "left")
    with subprocess.Popen(["sleep", "60"], cwd=left.ground.place.project) as sleeping:
        try:
            assert f"A process is left over: {sleeping.pid}" in _told(left.audit())
        finally:
            sleeping.kill()


def test_what_was_audited_can_be_deleted_and_counts_on(finished: Ground, tmp_path: Path) -> None:
    left = Left(finished, tmp_path / "left")
    assert audit_all(left.ground.folder) == 0
    counted = score(left.ground.folder)
    clean(left.ground)
    assert left.rows("SELECT count(*) FROM asks") == [(0,)]
    # An epoch that has been looked at is not looked at again: its asks are gone.
    assert audit_all(left.ground.folder) == 0
    assert score(left.ground.folder) == counted
    assert counted.asks >= LEAST
    assert left.ground.new_epoch().name == "000002"


def test_what_is_left_of_an_epoch_that_was_broken_off_may_be_answered_in_the_next(
    finished: Ground, tmp_path: Path
) -> None:
    left = Left(finished, tmp_path / "left")
    (ask, outcome), *_ = left.answered()
    ((body,),) = left.rows(f"SELECT body FROM asks WHERE id = '{ask}'")
    asked, earlier = json.loads(body)["questions"][0]["text"], "plain 0.0.1?"
    left.change("UPDATE asks SET body = replace(body, ?, ?) WHERE id = ?", asked, earlier, ask)

    def as_it_would_be(line: Json) -> Json:
        if line.get("question") != asked:
            return line
        return {**line, "question": earlier} if line["t"] == "told" else {**line, "t": "-"}

    left.rewrite(left.epoch / "agents.jsonl", as_it_would_be)
    assert left.audit().problems == []
    outcome["answers"][0]["text"] = "yes"
    left.change("UPDATE asks SET outcome = ? WHERE id = ?", json.dumps(outcome), ask)
    assert "which was taken; it holds" in _told(left.audit())
    assert "was delivered as" in _told(left.audit())
