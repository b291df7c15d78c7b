"""The audit of a proof: `python -m tests.proof.audit FOLDER`. A program of its own that takes nobody's word.

It reads the store by plain SQL, the record of what really ran, and what agents and people were told, and holds each
against the others. It goes through one epoch after the other, each as soon as it has ended and before its asks are
deleted, so that it needs no more memory for a million asks than for ten thousand. Of Sayso it uses nothing but the
table of the steps that an ask can take.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
from tests.proof import report
from tests.proof.ground import FREE, NEVER, Ground
from tests.proof.notes import Json, read

from sayso.asks.life_cycle import PERMISSION, QUESTION, STEPS

SETTLING = {step.name for step in STEPS if step.settles}
STEP_NAMES = {
    (kind, step.name, before.value, (step.after or before).value)
    for step in STEPS
    for before in step.before
    for kind in ([step.kind] if step.kind else [QUESTION, PERMISSION])
}
SETTLED = ("answered", "rejected")
TOKEN = re.compile(r"\b[ti]\.(\d+)\.\w+\.\d+\b")
COMMAND = re.compile(r"\b(?:command|t)\.(\d+)\.\w+\.\d+\b")
QUESTION_TEXT = re.compile(r"\w+ (\d+)\.\w+\.\w+\?")
TALK = re.compile(r"\b(\d+)\.talk\.\w+")
KEPT = {
    "sayso.db",
    "sayso.db-wal",
    "sayso.db-shm",
    "operations",
    "environments",
    "bell",
    "runs",
    "trees",
    "web-addresses",
}
"""What may lie in the state directory."""
NOT_KEPT = "Sayso could not keep what the user decided"
"""How a denial begins that is for want of a store."""
MOST_LOG = 3000


@dataclass(kw_only=True)
class Audit:
    """What is wrong, in words, and what there was to look at."""

    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True)
class Row:
    """An ask as the store has it, with its events."""

    id: str
    version: int
    state: str
    client: str
    body: Json
    outcome: Json
    wait: str | None
    is_permission: bool
    events: tuple[Json, ...]

    @cached_property
    def text(self) -> str:
        return str(self.body["questions"][0]["text"]) if self.body["questions"] else ""

    @cached_property
    def token(self) -> str:
        found = TOKEN.search(json.dumps(self.body.get("wanted"))) if self.is_permission else None
        return found[0] if found else ""

    @property
    def mark(self) -> str | None:
        """What the person said who settled it."""
        if self.state == "rejected" or self.outcome.get("verdict") == "denied":
            return str(self.outcome["reason"])
        return str(self.outcome["answers"][0]["text"]) if self.outcome.get("answers") else None

    @property
    def is_allowed(self) -> bool:
        """Whether what was wanted was allowed, and that counted."""
        given = self.outcome
        return given.get("verdict") == "allowed" and not given.get("void") and given["digest"] == self.body["digest"]

    @property
    def came_to_nothing(self) -> bool:
        """Whether what was decided reached nobody, and whoever looks it up is told so."""
        kinds = [event["kind"] for event in self.events]
        return "unattended" in kinds and "delivered" not in kinds

    @property
    def log(self) -> str:
        return " ".join(
            f"{event['kind']}({event['detail']})" if event["detail"] else event["kind"] for event in self.events
        )

    def __str__(self) -> str:
        return f"{self.token or self.text!r} of {self.client} ({self.id[:8]})"


class Store:
    """What is asked of the store: three queries, row by row."""

    def __init__(self, ground: Ground) -> None:
        self._database: Any
        if ground.server:
            self._database = psycopg.connect(ground.server.address("sayso"))
        else:
            self._database = sqlite3.connect(f"file:{ground.place.database}?mode=ro", uri=True)

    def close(self) -> None:
        self._database.close()

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """As they come, and not all at once."""
        if isinstance(self._database, sqlite3.Connection):
            yield from self._database.execute(query)
            return
        with self._database.cursor(name="audit") as cursor:
            yield from cursor.execute(query)

    def asks(self) -> Iterator[Row]:
        """All asks, each with its events, of which there are no more than one epoch has."""
        known: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for event in self.rows(
            "SELECT ask_id, version, kind, state_before, state_after, detail FROM events ORDER BY ask_id, version"
        ):
            known[event[0]].append(event)
        for row in self.rows(
            "SELECT id, version, state, client, body, outcome, wait_id, permission FROM asks ORDER BY id"
        ):
            ask, version, state, client, body, outcome, wait, permission = row
            told = tuple(
                {"version": each[1], "kind": each[2], "before": each[3], "after": each[4], "detail": each[5]}
                for each in known.pop(ask, ())
            )
            yield Row(
                id=ask,
                version=version,
                state=state,
                client=client,
                body=json.loads(body),
                outcome=json.loads(outcome) if outcome else {},
                wait=wait,
                is_permission=bool(permission),
                events=told,
            )


class Epoch:
    """One epoch, audited."""

    def __init__(self, ground: Ground, folder: Path) -> None:
        self._ground, self._folder, self._number = ground, folder, int(folder.name)
        self.found = Audit()
        self._said: dict[str, list[Json]] = defaultdict(list)
        """What people said, by ask."""
        self._told: dict[str, list[Json]] = defaultdict(list)
        """What agents were told, by ask."""
        self._asked: Counter[tuple[str, str]] = Counter()
        """Which questions agents have, and how often people saw each, at most, for a good reason."""
        self._unsure: set[tuple[str, str]] = set()
        """Those whose call was cut off: what it brought may have been thrown away unread by its own side."""
        self._ended: set[tuple[str, str]] = set()
        self._verdicts: dict[str, Json] = {}
        self._rules: list[Json] = []
        self._commands: dict[str, str] = {}
        self._statuses: dict[str, str] = {}
        self._talks: dict[str, bool] = {}
        """The conversations that people began, and whether they know that it was taken."""
        self._heard_in_talks: dict[str, str | None] = {}
        """What was said to the questions of such conversations."""

    def audit(self) -> Audit:
        self._read_people()
        self._read_agents()
        with closing(Store(self._ground)) as store:
            allowed = self._look_at_asks(store)
            self._look_at_log(store, allowed)
            self._look_at_actions(allowed)
            self._look_at_commands(store)
            self._look_at_talks(store)
        self._look_around()
        return self.found

    def _wrong(self, problem: str) -> None:
        self.found.problems.append(problem)

    # What was noted

    def _read_people(self) -> None:
        for file in sorted(self._folder.glob("people-*.jsonl")):
            by_mark: dict[str, Json] = {}
            for line in read(file):
                if line["t"] == "says":
                    # Unknown until they have heard.
                    by_mark[line["mark"]] = {**line, "heard": None}
                    self._said[line["ask"]].append(by_mark[line["mark"]])
                    self.found.counts["said"] += 1
                    self.found.counts[f"by {line['surface']}"] += 1
                elif line["t"] == "heard":
                    by_mark[line["mark"]]["heard"] = line["heard"]
                else:
                    self._talks[line["name"]] = line["t"] == "talking"

    def _read_agents(self) -> None:
        for line in read(self._folder / "agents.jsonl"):
            match line["t"]:
                case "asks" | "unsure":
                    if line["t"] == "unsure":
                        self._unsure.add((line["agent"], line["question"]))
                    # A call that was cut off may have come through all the same. Then, and only then, people may be
                    # asked once more.
                    self._asked[line["agent"], line["question"]] += 1
                case "told":
                    self._told[line["ask"]].append(line)
                    if not line["collected"]:
                        self._ended.add((line["agent"], line["question"]))
                case "hangs":
                    self._wrong(f"{line['agent']} waited in vain for {line['question']}")
                case "wrong":
                    self._wrong(f"{line['agent']} was told {line['data']} of {line['question']}")
                case "verdict":
                    self._verdicts[line["token"]] = line
                case "rules":
                    self._rules.append(line)
                case "command":
                    self._commands[line["name"]] = line["tool"]
                case "ended":
                    self._statuses[line["name"]] = line["status"]

    # Asks

    def _look_at_asks(self, store: Store) -> dict[str, list[Row]]:
        """The permissions of this epoch, by their tokens."""
        seen: dict[tuple[str, str], list[str]] = defaultdict(list)
        permissions: dict[str, list[Row]] = defaultdict(list)
        for ask in store.asks():
            if not self._is_ours(ask):
                self._look_at_left_over(ask)
                continue
            self.found.counts["asks"] += 1
            self._look_at_events(ask)
            if ask.is_permission:
                self.found.counts["permissions"] += 1
                permissions[ask.token].append(ask)
                self._look_at_verdict(ask)
            elif talk := TALK.search(ask.text):
                if talk[0] in self._heard_in_talks:
                    self._wrong(f"{ask} was asked once, and people were asked twice")
                self._heard_in_talks[talk[0]] = ask.mark
                if ask.state in SETTLED:
                    self._look_at_answer(ask)
            else:
                seen[ask.client, ask.text].append(ask.log)
                self._look_at_answer(ask)
                self._look_at_deliveries(ask)
            self._said.pop(ask.id, None)
            self._told.pop(ask.id, None)
        self._look_at_questions(seen)
        for ask_id, said in self._said.items():
            for each in said:
                if each["heard"]:
                    self._wrong(f"The ask {ask_id[:8]}, to which {each['mark']} said {each['what']}, is gone")
        for ask_id, told in self._told.items():
            self._wrong(
                f"{told[0]['agent']} was told of an ask that is not there ({ask_id[:8]}): {told[0]['question']!r}"
            )
        return permissions

    def _is_ours(self, ask: Row) -> bool:
        """Not of an earlier epoch that was broken off. What nobody knows is ours, and will be named."""
        found = TOKEN.search(ask.token) if ask.is_permission else QUESTION_TEXT.fullmatch(ask.text)
        return found is None or int(found[1]) == self._number

    def _look_at_left_over(self, ask: Row) -> None:
        """Of an epoch that was broken off: what was said and told of it in this one holds all the same."""
        self._look_for_lost(ask, self._said.pop(ask.id, ()))
        self._look_at_told(ask, self._told.pop(ask.id, ()))

    def _look_at_events(self, ask: Row) -> None:
        """Its log is without a gap from its opening to what it is now, and each change is a step that there is."""
        events = ask.events
        kind = PERMISSION if ask.is_permission else QUESTION
        if [event["version"] for event in events] != list(range(1, ask.version + 1)):
            self._wrong(f"{ask} has version {ask.version} and other events: {ask.log}")
        if not events or events[0]["kind"] != "opened" or events[0]["before"] is not None:
            self._wrong(f"{ask} was never opened: {ask.log}")
            return
        for before, after in pairwise(events):
            if after["before"] != before["after"]:
                self._wrong(f"{ask} has a log with a gap: {ask.log}")
            if (kind, after["kind"], after["before"], after["after"]) not in STEP_NAMES:
                self._wrong(f"{ask} took a step that there is not, {after['kind']} from {after['before']}: {ask.log}")
        if events[-1]["after"] != ask.state:
            self._wrong(f"{ask} is {ask.state}, and its log says {events[-1]['after']}")
        settled = sum(event["kind"] in SETTLING for event in events)
        if settled > 1 or bool(settled) != bool(ask.outcome):
            self._wrong(f"{ask} was settled {settled} times: {ask.log}")
        if ask.wait is not None:
            self._wrong(f"{ask} is still waited for: {ask.log}")
        if ask.state in ("pending", "timed_out"):
            self._wrong(f"{ask} has not ended: {ask.log}")

    def _look_at_answer(self, ask: Row) -> None:
        """What was taken is what is kept, and nothing else is."""
        if ask.state not in SETTLED:
            self._wrong(f"{ask} is {ask.state} and not answered: {ask.log}")
        said = {each["mark"]: each for each in self._said.get(ask.id, ())}
        self._compare(ask, said)

    def _compare(self, ask: Row, said: dict[str, Json]) -> None:
        self.found.counts["answers"] += 1
        kept = said.get(ask.mark or "")
        if ask.mark and kept is None:
            self._wrong(f"{ask} holds what nobody said to it: {ask.mark!r}")
        elif kept and kept["heard"] is False:
            self._wrong(f"{ask} holds {ask.mark!r}, whose giver was told that it was not taken")
        self._look_for_lost(ask, said.values())

    def _look_for_lost(self, ask: Row, said: Iterable[Json]) -> None:
        for each in said:
            if each["heard"] and each["what"] not in ("allow", "mistake") and each["mark"] != ask.mark:
                self._wrong(f"{ask} lost {each['mark']!r}, which was taken; it holds {ask.mark!r}")

    def _look_at_deliveries(self, ask: Row) -> None:
        """Each answer reached the agent that asked, as it was given, and no other."""
        told = self._told.get(ask.id, [])
        if not told and (ask.client, ask.text) in self._unsure:
            self.found.counts["cut off unread"] += 1
        elif not told:
            self._wrong(f"{ask}: its answer never reached its agent: {ask.log}")
        self._look_at_told(ask, told)

    def _look_at_told(self, ask: Row, told: Sequence[Json]) -> None:
        for each in told:
            if each["agent"] != ask.client:
                self._wrong(f"{ask} was delivered to {each['agent']}")
            if not each["collected"] and each["question"] != ask.text:
                self._wrong(f"{ask} was delivered as the answer to {each['question']!r}")
            if (each["mark"], each["outcome"]) != (ask.mark, ask.state):
                self._wrong(
                    f"{ask} was delivered as {each['outcome']} {each['mark']!r}; it is {ask.state} {ask.mark!r}"
                )
        for line, times in Counter(each["line"] for each in told).items():
            if times > 1:
                self._wrong(f"{ask} was delivered {times} times on line {line} of {ask.client}: {ask.log}")

    def _look_at_questions(self, seen: dict[tuple[str, str], list[str]]) -> None:
        """Each question was answered to its agent, and people were asked once."""
        for (agent, text), most in self._asked.items():
            times = len(logs := seen.pop((agent, text), []))
            if (agent, text) not in self._ended:
                self._wrong(f"{agent} never heard of {text!r}")
            if not 1 <= times <= most:
                self._wrong(f"{agent} asked {text!r} once, people {times} times: {logs}")
        for (agent, text), logs in seen.items():
            self._wrong(f"Nobody asked {text!r}, but people were asked {len(logs)} times for {agent}: {logs}")

    # Permissions

    def _look_at_verdict(self, ask: Row) -> None:
        """What people decided is what is kept, for what they were shown, and it is what the client was told."""
        said = self._said.get(ask.id, [])
        if ask.outcome.get("verdict") == "allowed":
            yes = [each for each in said if each["what"] == "allow" and each["heard"] is not False]
            if not any(each["digest"] == ask.outcome["digest"] for each in yes):
                self._wrong(f"{ask} is allowed, and nobody allowed that: {ask.log}")
        elif ask.outcome and ask.state in SETTLED:
            self._compare(ask, {each["mark"]: each for each in said})
        for each in said:
            if each["heard"] and each["what"] == "mistake":
                self._wrong(f"{ask}: an allow for something else was taken")
            if each["heard"] and each["what"] == "allow" and ask.outcome.get("verdict") != "allowed":
                self._wrong(f"{ask} lost the yes of {each['mark']}: {ask.log}")
        verdict = self._verdicts.get(ask.token)
        if verdict and verdict["behavior"] == "deny" and ask.is_allowed:
            why = str(verdict.get("why", ""))
            if why.startswith(NOT_KEPT) and ask.came_to_nothing:
                self.found.counts["yes not kept"] += 1
            else:
                self._wrong(f"{ask} was allowed, and its client was told no, {why!r}: {ask.log}")

    def _look_at_log(self, store: Store, permissions: dict[str, list[Row]]) -> None:
        """The log of permissions has no gap; what rules have allowed stands there alone."""
        self._by_rule: set[str] = set()
        self._run: Counter[str] = Counter()
        last: tuple[int, str] | None = None
        for seq, kind, body, previous, hash_ in store.rows(
            "SELECT seq, kind, body, previous, hash FROM permission_log ORDER BY seq"
        ):
            if last and (seq, previous) != (last[0] + 1, last[1]):
                self._wrong(f"The log of permissions has a gap before {seq}")
            last = seq, hash_
            found = TOKEN.search(body)
            if found and int(found[1]) == self._number:
                if kind == "allowed" and json.loads(body).get("surface") == "rule":
                    self._by_rule.add(found[0])
                elif kind in ("run", "handed_over"):
                    self._run[found[0]] += 1

    def _look_at_actions(self, permissions: dict[str, list[Row]]) -> None:
        """Whatever ran was allowed, once, and what was allowed ran."""
        ran: Counter[str] = Counter()
        self._ran = ran
        for line in (self._folder / "ran").read_text().splitlines():
            program, _, token = line.partition(" ")
            ran[token] += 1
            if program != "command":
                self._look_at_action(program, token, permissions.get(token, []))
        self.found.counts["ran"] = ran.total()
        for token, times in ran.items():
            if times > 1:
                self._wrong(f"{token} ran {times} times")
        for token, verdict in self._verdicts.items():
            self._look_at_what_a_client_heard(token, verdict, permissions.get(token, []), ran[token])
        for token, asks in permissions.items():
            if len(asks) > 1:
                self._wrong(f"{token} was wanted once, and people were asked {len(asks)} times")

    def _look_at_action(self, program: str, token: str, asks: list[Row]) -> None:
        if program == NEVER:
            self._wrong(f"{token} ran, which no rule and nobody ever allows")
        if not any(ask.is_allowed for ask in asks) and token not in self._by_rule:
            self._wrong(f"{token} ran, and nobody had allowed it: {[ask.log for ask in asks]}")
        if not self._run[token]:
            self._wrong(f"{token} ran, and the log of permissions does not say so")

    def _look_at_what_a_client_heard(self, token: str, verdict: Json, asks: list[Row], times: int) -> None:
        allowed = verdict["behavior"] == "allow"
        if allowed != bool(times):
            self._wrong(f"The client of {token} heard {verdict['behavior']}, and it ran {times} times")
        if allowed and not any(ask.is_allowed for ask in asks):
            if token not in self._by_rule:
                self._wrong(f"The client of {token} was told that it may, and nobody said so")
            elif verdict["program"] != FREE or "free" not in self._rules_during(verdict["begun"], verdict["ended"]):
                self._wrong(f"{token} was allowed by a rule that did not hold")

    def _rules_during(self, begun: float, ended: float) -> set[str]:
        """Which could have held at any moment in between."""
        held = set()
        for rules, after in zip(self._rules, [*self._rules[1:], None], strict=True):
            if rules["begun"] <= ended and (after is None or after["ended"] >= begun):
                held.add(rules["name"])
        return held

    # Talk

    def _look_at_talks(self, store: Store) -> None:
        """Each message began one run, which has ended, and whose agent heard what was said to its question."""
        said: dict[str, list[str]] = defaultdict(list)
        for run, body in store.rows("SELECT run_id, body FROM run_events WHERE kind = 'text' ORDER BY run_id, seq"):
            said[run].append(str(json.loads(body)["text"]))
        began: Counter[str] = Counter()
        for run, state, prompt in store.rows("SELECT id, state, prompt FROM runs"):
            found = TALK.search(prompt)
            if found is None or int(found[1]) != self._number:
                continue
            name = found[0]
            began[name] += 1
            self.found.counts["talks"] += 1
            if name not in self._talks:
                self._wrong(f"Nobody began the conversation {name}")
            if state == "running":
                self._wrong(f"The conversation {name} is still running")
            if state == "completed":
                self._look_at_talk(name, said[run])
        for name, taken in self._talks.items():
            if began[name] > 1 or (taken and not began[name]):
                self._wrong(f"The conversation {name} was begun once, and {began[name]} runs came of it")

    def _look_at_talk(self, name: str, said: list[str]) -> None:
        mark = self._heard_in_talks.get(name)
        heard = [text for text in said if text.startswith("Heard: ")]
        if [text for text in said if text not in heard] != [f"Begins {name}", f"Ends {name}"]:
            self._wrong(f"The agent of {name} said something else: {said}")
        if len(heard) != 1 or not mark or mark not in heard[0]:
            self._wrong(f"The agent of {name} heard {heard}; {mark!r} was said to it")

    # Commands

    def _look_at_commands(self, store: Store) -> None:
        """Each ran at most once and has ended; what ended well did run, and its agent was told how it ended."""
        states: dict[str, str] = {}
        operations = set()
        for operation, state, body in store.rows("SELECT id, state, body FROM operations"):
            operations.add(operation)
            found = COMMAND.search(body)
            if found is None or int(found[1]) != self._number:
                continue
            self.found.counts["commands"] += 1
            states[found[0]] = state
            if state in ("queued", "running"):
                self._wrong(f"{found[0]} is still {state}")
            if found[0] not in self._commands:
                self._wrong(f"Nobody wanted {found[0]}, which is {state}")
            if state == "completed" and self._ran[found[0]] != 1:
                self._wrong(f"{found[0]} is completed and ran {self._ran[found[0]]} times")
        for name, status in self._statuses.items():
            if states.get(name) != status:
                self._wrong(f"{name} is {states.get(name)}, and its agent was told that it is {status}")
        for folder in (self._ground.place.state / "operations").glob("*"):
            if folder.name not in operations:
                self._wrong(f"The folder operations/{folder.name} belongs to no command")

    # What is left

    def _look_around(self) -> None:
        for pid, words in _processes(self._ground.place.folder):
            self._wrong(f"A process is left over: {pid} {words}")
        state = self._ground.place.state
        for socket in (state / "bell").glob("*"):
            self._wrong(f"A socket is left over: {socket.name}")
        for path in state.iterdir():
            if path.name not in KEPT:
                self._wrong(f"A file is left over: {path.name}")
        for path in state.rglob("*"):
            if path.suffix in (".tmp", ".half", ".new"):
                self._wrong(f"A half-written file is left over: {path.relative_to(state)}")
        with (self._folder / "log").open(errors="replace") as log:
            for line in log:
                if line.startswith("Traceback"):
                    self._wrong(f"A process failed on its own account:\n{line}{log.read(MOST_LOG)}")
                    return


def _processes(folder: Path) -> Iterator[tuple[int, str]]:
    """Whoever was started with something of that folder, or works in it."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            told = (place / "environ").read_bytes() + b"\0" + (place / "cmdline").read_bytes()
            where = os.readlink(place / "cwd")
            if place.name != str(os.getpid()) and (f"{folder}".encode() in told or where.startswith(str(folder))):
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield int(place.name), words
        except OSError:
            continue


def main(folder: Path) -> int:
    """Audit what has ended and was not audited yet; the exit code says whether anything is wrong in all of it."""
    ground = Ground(folder)
    for epoch in ground.epochs():
        if (epoch / "ended.json").exists() and not (epoch / "audit.json").exists():
            found = Epoch(ground, epoch).audit()
            half = epoch / "audit.half"
            half.write_text(json.dumps({"problems": found.problems, "counts": dict(found.counts)}, indent=1))
            half.rename(epoch / "audit.json")
            told = ", ".join(f"{name} {times:,}" for name, times in found.counts.items())
            print(
                f"epoch {int(epoch.name)} audited: {told}",
                *(f"- {each}" for each in found.problems),
                sep="\n",
                flush=True,
            )
    return 1 if report.score(folder).problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
