"""The desk of runs: the only place where a run changes state.

The page sees nothing but what is kept here, so a run belongs to no browser tab; its agent is held by a runner, so it
does not depend on one server process either.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from sayso import sent_once
from sayso.agents import queue, rows
from sayso.agents.marks import ConversationMarks, read_marks
from sayso.agents.model import (
    Conversation,
    ConversationStamp,
    Ending,
    EventKind,
    NewEvent,
    NewRun,
    Picture,
    Project,
    Run,
    RunChoices,
    RunEvent,
    RunState,
    Saying,
    Spoken,
)
from sayso.clock import FAR_FUTURE
from sayso.detached import DetachedDesk, DetachedQueries
from sayso.errors import NotFound, RunGoesOn, RunHasEnded, TooManyRuns
from sayso.records import replace
from sayso.running import folder as runner_folder
from sayso.store import Row, Transaction

_SEARCHED_AT_ONCE = 1_000
"""Turns."""
"""Turns that a search looks through, the newest first."""
_KILLED_WITHIN = 15.0
"""Seconds in which an agent that could not be halted must be dead."""


class RunDesk(DetachedDesk[Run]):
    """Opens, feeds and ends runs."""

    queries = DetachedQueries(by_id="run_by_id", change="change_run", open_here="open_runs_here", delete="delete_run")

    @cached_property
    def queue(self) -> queue.MessageQueue:
        """The messages that wait until their agents are free."""
        return queue.MessageQueue(self._store, self._clock)

    @cached_property
    def marks(self) -> ConversationMarks:
        """What people have made of their conversations."""
        return ConversationMarks(self._store, self._clock)

    @property
    def process(self) -> str:
        """The name of this process, as the runs know it that it follows."""
        return self._store.bell().process

    # Running

    def open(self, new: NewRun, *, most: int) -> Run:
        """A new run, followed by this process. TooManyRuns beyond `most` of its user; RunGoesOn while the last turn
        of its conversation has not ended; NotFound where a queued message is not there any more."""
        project = new.project

        def work(tx: Transaction) -> Run:
            tx.run("lock_user", name=project.owner)
            if len(tx.all("open_runs", user_name=project.owner)) >= most:
                raise TooManyRuns(
                    f"{most} of your agents are at work, which is as many as may be. Wait for one to end, or stop it."
                )
            before = self._turn_before(tx, new)
            sent_once.take(tx, new.attempt, self._clock())
            queued = queue.take(tx, new.conversation, new.queued) if new.queued else None
            choices = self._choices(tx, new, before)
            wanted = replace(new, prompt=new.prompt or (queued.text if queued else ""), choices=choices)
            joins = before if before and new.line == before.line else None
            run_id = self._insert_run(tx, wanted, before, joins)
            sent_once.note(tx, new.attempt, before.conversation if before else run_id)
            if before:
                # Whoever goes on with what they had put away wants to see it.
                tx.run("archive_conversation", id=before.conversation, at=None)
            if before and before.state is RunState.COMPLETED:
                tx.run("pass_queue_on", conversation=before.conversation, after_run=before.id, next_run=run_id)
            if pictures := new.pictures or (queued.pictures if queued else ()):
                shown = NewEvent(kind=EventKind.PICTURES, pictures=pictures)
                self._insert(tx, run_id, [shown], tx.one("append_events", id=run_id, count=1))
            return self._get(tx, run_id)

        return self._store.write(work)

    def _turn_before(self, tx: Transaction, new: NewRun) -> Run | None:
        """The last turn of the conversation that goes on with this one. RunGoesOn if that has not ended."""
        if not (earlier := self._turns(tx, new.conversation, new.project.owner) if new.conversation else []):
            return None
        if not earlier[-1].state.ended:
            raise RunGoesOn("The agent is still at work on your last message. Wait for it to end, or stop it.")
        return earlier[-1]

    def _choices(self, tx: Transaction, new: NewRun, before: Run | None) -> RunChoices:
        """What is chosen for this turn; what nobody said is as in the one before."""
        if before:
            choices = new.choices or before.choices
            # Whoever goes on with what is shared has not handed it back any more.
            copies = "" if choices.joins else choices.copies
            return replace(choices, directory=before.choices.directory, copies=copies)
        choices = new.choices or RunChoices()
        if choices.joins:
            self._check_joined_by_none(tx, choices.joins, new.project)
        return choices

    def open_unbidden(self, before: Run, token: str) -> Run:
        """A new run for an agent that has begun another turn though nobody said anything to it after `before`, its
        last one. RunGoesOn if somebody has, or another server was first."""

        def work(tx: Transaction) -> Run:
            tx.run("lock_user", name=before.user)
            latest = self._turns(tx, before.conversation, before.user)[-1]
            if latest.id != before.id or not latest.state.ended:
                raise RunGoesOn("The conversation has gone on meanwhile.")
            new = NewRun(
                project=before.project,
                prompt="",
                token=token,
                conversation=before.conversation,
                line=before.line,
                choices=before.choices,
            )
            return self._get(tx, self._insert_run(tx, new, latest, latest))

        return self._store.write(work)

    def active(self, token: str) -> Run | None:
        """The run that is now streaming with this token, with its project and its user."""
        return next(iter(self._all("run_by_token", token=token)), None) if token else None

    def append(self, run_id: str, *events: NewEvent) -> None:
        """Add events to a run. The bell rings, and every page that shows the run takes them in."""

        def work(tx: Transaction) -> None:
            self._insert(tx, run_id, events, tx.one("append_events", id=run_id, count=len(events)))

        if events:
            self._store.write(work)

    def note_ask(self, run_id: str, ask_id: str) -> None:
        """Have an ask shown in the conversation, as a card in its place. Its asker's owner must be the run's user."""
        self.append(run_id, NewEvent(kind=EventKind.ASK, body={"ask": ask_id}))

    def shows_ask(self, run_id: str, ask_id: str) -> bool:
        """Whether an ask has its card in the conversation."""
        return any(event.body["ask"] == ask_id for event in self.events_of(run_id, EventKind.ASK))

    def take_in(
        self, run_id: str, events: Sequence[NewEvent], *, seen: int, over: tuple[RunState, Ending] | None = None
    ) -> Run:
        """Add what the agent printed up to byte `seen`, all in one step, so that nothing is taken in twice; only the
        process that follows the run can. A whole text takes the place of the parts of it that came before. A turn that
        is `over` ends with it, unless something was said to the agent that it has yet to take up."""
        process = self._store.bell().process
        taken = sum(event.kind is EventKind.TAKEN and bool(event.body.get("message")) for event in events)

        def work(tx: Transaction) -> Run:
            if any(event.kind in (EventKind.TEXT, EventKind.RESULT) for event in events):
                tx.run("drop_deltas", run_id=run_id)
            counted = tx.one("take_in", id=run_id, process=process, count=len(events), seen=seen, taken=taken)
            self._insert(tx, run_id, events, counted)
            run = self._get(tx, run_id)
            if over is None or run.untaken > 0 or run.ended_at is not None:
                return run
            return self._change(tx, self._as_ended(run, *over), run)

        # What was printed can be read again.
        return self._store.note(work) if over is None else self._store.write(work)

    # Speaking

    def say(self, run_id: str, said: Spoken, *, by: str, attempt: str = "", queued: str = "") -> Run:
        """Keep what somebody says to an agent at work; its number is the run's `said` then. RunHasEnded if it is not
        at work any more. With the id of a message that was queued, that one does not wait any more."""
        messages = int(said.what is Saying.MESSAGE)

        def work(tx: Transaction) -> Run:
            sent_once.take(tx, attempt, self._clock())
            run = self._get(tx, run_id)
            taken = queue.take(tx, run.conversation, queued) if queued else said
            choices = _chosen(run.choices, said)
            row = tx.one("say_to_run", id=run_id, messages=messages, choices=choices, now=self._clock())
            if row is None:
                raise RunHasEnded("The agent has ended its turn.")
            body = {"number": row["said"], "what": said.what, "text": said.text or taken.text, "by": by}
            counted = tx.one("append_events", id=run_id, count=1)
            self._insert(tx, run_id, [NewEvent(kind=EventKind.SAID, body=body, pictures=taken.pictures)], counted)
            return self._get(tx, run_id)

        return self._store.write(work)

    def choose(self, run_id: str, said: Spoken) -> None:
        """Keep a mode or a model that is to hold from the next turn on."""

        def work(tx: Transaction) -> None:
            tx.wake_only()
            tx.run("choose_for_run", id=run_id, choices=_chosen(self._get(tx, run_id).choices, said))

        self._store.write(work)

    def rest_if_silent(self, run_id: str) -> Run:
        """End a turn that only takes over, unless something was said to its agent meanwhile."""

        def end(run: Run) -> Run:
            return run if run.said > 1 else self._as_ended(run, RunState.COMPLETED, Ending())

        return self._edit(run_id, end)

    def go_on_from(self, run_id: str, *events: NewEvent, **choices: str) -> Run:
        """Keep what a conversation goes on from, by the names of RunChoices, and what was said there."""

        def work(tx: Transaction) -> Run:
            chosen = replace(self._get(tx, run_id).choices, **choices)
            tx.run("choose_for_run", id=run_id, choices=rows.choices_text(chosen))
            self._insert(tx, run_id, events, tx.one("append_events", id=run_id, count=len(events)))
            return self._get(tx, run_id)

        return self._store.write(work)

    def hand_back(self, run: Run, *, last_step: str = "") -> Run:
        """Leave the session of a conversation to a terminal, with its last step here. RunGoesOn while its agent is at
        work, or if it has gone on since."""

        def work(tx: Transaction) -> Run:
            tx.wake_only()
            tx.run("lock_user", name=run.user)
            latest = self._turns(tx, run.conversation, run.user)[-1]
            if not latest.state.ended or latest.id != run.id:
                raise RunGoesOn("The agent is still at work. Wait for the end of its turn, or stop it.")
            # What was taken over, and nothing said to, is still the session of its terminal.
            session = latest.session or latest.to_copy
            if not session:
                raise NotFound("There is nothing to hand back: the agent has not begun its session.")
            if not latest.session:
                self._change(tx, replace(latest, session=session), latest)
            began_from, began_to = latest.taken_from
            choices = replace(
                latest.choices, copies=session, copied_to=last_step, began_from=began_from, began_to=began_to
            )
            tx.run("choose_for_run", id=latest.id, choices=rows.choices_text(choices))
            return self._get(tx, latest.id)

        return self._store.write(work)

    def said(self, run: Run, *, after: int) -> list[tuple[int, Spoken]]:
        """What was said to the agent of this run beyond the number `after`, in order, with the prompt that began it."""
        return _said_in(run, self.events_of(run.id, EventKind.SAID), after)

    def to_be_said(self, run: Run, *, after: int) -> list[tuple[int, Spoken]]:
        """The same with the pictures that go with it."""
        later = self.events_of(run.id, EventKind.SAID)
        pictured = {event.body["number"]: event for event in later if event.body.get("pictures")}
        for event in self.events_of(run.id, EventKind.PICTURES):
            pictured[run.said - len(later)] = event
        return [
            (number, replace(each, pictures=self._pictures(pictured[number])) if number in pictured else each)
            for number, each in _said_in(run, later, after)
        ]

    def _pictures(self, event: RunEvent) -> tuple[Picture, ...]:
        return tuple(self.picture(event.run, event.seq, number) for number in range(event.body["pictures"]))

    def picture(self, run_id: str, seq: int, number: int) -> Picture:
        """One picture of an event."""
        row = self._store.one("picture", run_id=run_id, seq=seq, number=number)
        if row is None:
            raise _no_such_run()
        return Picture(media=row["media"], data=base64.b64decode(row["data"]))

    def start_line(self, run_id: str, *, token: str) -> Run:
        """The process that was to be spoken to is gone and has heard nothing of this run, which gets one of its own.
        What was said is numbered anew."""

        def work(tx: Transaction) -> Run:
            tx.wake_only()
            said = [rows.read_event(row) for row in tx.all("run_events_of_kind", run_id=run_id, kind=EventKind.SAID)]
            for number, event in enumerate(said, start=2):
                body = json.dumps({**event.body, "number": number})
                tx.run("change_run_event", run_id=run_id, seq=event.seq, body=body)
            messages = 1 + sum(event.body["what"] == Saying.MESSAGE for event in said)
            tx.run("start_line", id=run_id, said=1 + len(said), messages=messages, token=token, now=self._clock())
            return self._get(tx, run_id)

        return self._store.write(work)

    def note_session(self, run_id: str, session: str) -> Run:
        """The agent's own name for the conversation."""
        return self._edit(run_id, lambda run: replace(run, session=session))

    def halt(self, run_id: str, by: str) -> bool:
        """Note who wants the run to end, and see to it that its agent does nothing more. False where it may: when it
        runs on another machine, whose server ends it then."""
        run = self._note_stop(run_id, by)
        if run.state.ended:
            return True
        if run.host != self._host:
            return False
        if runner_folder.freeze(run.folder):
            return True
        runner_folder.cancel(run.folder)
        return runner_folder.wait(run.folder, _KILLED_WITHIN) is not None

    def want_stopped(self, run_id: str, by: str) -> Run:
        """Note who wants the run to end, and have its runner end all its processes, if it is on this machine."""
        return self._cancel(self._note_stop(run_id, by))

    def dismiss(self, run: Run) -> None:
        """End an agent that waits for another turn."""
        runner_folder.cancel(run.folder)

    def _note_stop(self, run_id: str, by: str) -> Run:
        return self._edit(run_id, lambda run: run if run.stopped_by else replace(run, stopped_by=by))

    def end(self, run_id: str, state: RunState, ending: Ending) -> Run:
        """The agent has ended. Its token is forgotten; what has ended stays as it is."""
        return self._edit(run_id, lambda run: self._as_ended(run, state, ending))

    def _as_ended(self, run: Run, state: RunState, ending: Ending) -> Run:
        return replace(run, state=state, ending=ending, token="", ended_at=self._clock())

    def adopt_orphans(self) -> list[Run]:
        """The runs on this machine that no living process follows; this process does from now on."""
        return self._adopt(self._orphans())

    # Looking

    def open_of(self, user: str) -> list[Run]:
        """The runs of a user that have not ended."""
        return self._all("open_runs", user_name=user)

    def resting_here(self) -> list[Run]:
        """The last turns of the agents on this machine that wait for another."""
        lines = [line for line in self._lines_at_rest() if runner_folder.is_running(self.folder_of(line))]
        return [run for line in lines for run in self._all("latest_on_line", line=line)]

    def died_at_rest(self) -> list[Run]:
        """The last turns of the agents on this machine that nobody cleared away after, though their runner is gone."""
        lines = [line for line in self._lines_at_rest() if not runner_folder.is_running(self.folder_of(line))]
        found = [run for line in lines for run in self._all("latest_on_line", line=line)]
        return [run for run in found if run.state.ended and run.host == self._host]

    def _lines_at_rest(self) -> list[str]:
        # The folders first: a run is there before its folder is.
        folders = [folder.name for folder in self._folders.glob("*")]
        at_work = {run.line for run in self.open_here()}
        return [line for line in folders if line not in at_work]

    def on_line(self, line: str) -> Run | None:
        """The turn that an agent's process is at, or was at last."""
        return next(iter(self._all("latest_on_line", line=line)), None)

    def latest_in_session(self, session: str, user: str) -> Run | None:
        """The last turn of the user's conversation that has this session, where there is one."""
        return self._store.read(lambda tx: self._latest_in_session(tx, session, user)) if session else None

    def taken_over_from(self, session: str, user: str) -> list[Conversation]:
        """The user's conversations that were taken over from this session, the newest first. It has a plain name."""

        def work(tx: Transaction) -> list[Conversation]:
            found = tx.all("taken_over_from", user_name=user, named=f'%"{session}"%')
            rows = [tx.one("conversation_by_id", id=row["id"]) for row in found]
            return [self._conversation(tx, row) for row in rows if row]

        return self._store.read(work)

    def joined_to(self, session: str) -> list[Run]:
        """The turns of this machine that go on in a session which a terminal shares."""
        return [run for run in self.open_here() if run.choices.joins == session]

    def turns(self, conversation: str, user: str) -> list[Run]:
        """The turns of a user's conversation, in order. One that is somebody else's is not found."""
        return self._store.read(lambda tx: self._turns(tx, conversation, user))

    def conversations(self, user: str, *, before: Run | None = None, most: int = 50) -> list[Conversation]:
        """A page of a user's conversations, the one that was last spoken in first."""
        return self._listed(user, before, most, archived=0)

    def archived(self, user: str, *, before: Run | None = None, most: int = 50) -> list[Conversation]:
        """A page of those that the user has put away."""
        return self._listed(user, before, most, archived=1)

    def _listed(self, user: str, before: Run | None, most: int, *, archived: int) -> list[Conversation]:
        place = {"before_time": before.started_at if before else FAR_FUTURE, "before_id": before.id if before else ""}

        def work(tx: Transaction) -> list[Conversation]:
            found = tx.all("conversations", user_name=user, **place, archived=archived, most=most)
            return [self._conversation(tx, row) for row in found]

        return self._store.read(work)

    def search(self, user: str, words: Sequence[str], *, most: int = 50) -> list[Conversation]:
        """A user's conversations in whose name or messages all of these words are, whether put away or not."""
        wanted = [word.casefold() for word in words]

        def work(tx: Transaction) -> list[Conversation]:
            missing: dict[str, set[str]] = {}
            """The words that each conversation has not been found to have; those last spoken in are first."""
            for conversation, text in _texts_of(tx, user):
                left = missing.setdefault(conversation, set(wanted))
                if left:
                    text = text.casefold()
                    left -= {word for word in left if word in text}
            found = [each for each, left in missing.items() if not left]
            rows = [tx.one("conversation_by_id", id=each) for each in found[:most]]
            return [self._conversation(tx, row) for row in rows if row]

        return self._store.read(work)

    def conversation_versions(self, user: str, *, most: int) -> dict[tuple[object, ...], int]:
        """The latest turn of each of these conversations, its version and its marks, and how many events it has had:
        whether the list has changed since one looked."""
        found = self._store.all("conversation_versions", user_name=user, most=most)
        return {tuple(row[name] for name in ("id", "version", "title", "seen_at")): row["events"] for row in found}

    def last_said_or_done(self, runs: Iterable[str]) -> dict[str, RunEvent]:
        """The last event of each of these runs in which somebody says something or the agent uses a tool. One trip for
        all."""

        def work(tx: Transaction) -> dict[str, RunEvent]:
            found = (tx.one("last_said_or_done", run_id=run_id) for run_id in runs)
            return {row["run_id"]: rows.read_event(row) for row in found if row}

        return self._store.read(work)

    def stamps(self, conversations: Iterable[str]) -> dict[str, ConversationStamp]:
        """One for each of these conversations, which differs from the last one whenever anything is new in it. One trip
        for all."""
        return self._store.read(lambda tx: {each: self._stamp(tx, each) for each in conversations})

    def is_there(self, conversation: str) -> bool:
        """Whether it was not deleted yet; a conversation has the name of its first run."""
        return self._store.one(self.queries.by_id, id=conversation) is not None

    def last_event(self, run_id: str) -> int:
        """The number of the last thing that happened in a run."""
        row = self._store.one(self.queries.by_id, id=run_id)
        return int(row["events"]) if row else 0

    def events(self, run_id: str, *, after: int = 0, most: int = 500) -> list[RunEvent]:
        """What happened in a run after the event with this number."""
        found = self._store.all("run_events", run_id=run_id, after=after, most=most)
        return [rows.read_event(row) for row in found]

    def events_of(self, run_id: str, kind: EventKind) -> list[RunEvent]:
        """All events of one kind."""
        found = self._store.all("run_events_of_kind", run_id=run_id, kind=kind)
        return [rows.read_event(row) for row in found]

    def offers(self, project: Project) -> Mapping[str, Any] | None:
        """What its agent told last of what can be chosen, to this user. Of one that is known by nothing but its
        command, in this very project."""
        only = project.id if project.options.command else None
        wanted = {"user_name": project.owner, "agent": project.options.agent, "project_id": only}
        row = self._store.one("latest_offers", **wanted)
        return rows.read_event(row).body if row else None

    def collect(self, age_ms: int, ending: threading.Event) -> int:
        """Delete conversations of this machine that ended long ago."""
        return self._collect(ending, "old_runs", ended_before=self._clock() - age_ms)

    # Within a transaction

    def _insert_run(self, tx: Transaction, new: NewRun, before: Run | None, joins: Run | None) -> str:
        """Its id. `joins` is the turn before, if its agent is still there and has this one too. The first thing that is
        said to a process is a message, or a greeting where there is none."""
        run_id, messages = os.urandom(12).hex(), int(bool(new.prompt))
        tx.run(
            "insert_run",
            id=run_id,
            project_id=new.project.id,
            user_name=new.project.owner,
            conversation=new.conversation or run_id,
            turn=before.turn + 1 if before else 1,
            token=new.token,
            agent=new.project.options.agent,
            session=before.session if before else (new.choices.joins if new.choices else ""),
            host=self._host,
            process=self.process,
            prompt=json.dumps(new.prompt),
            now=self._clock(),
            line=joins.line if joins else run_id,
            said=joins.said + messages if joins else 1,
            untaken=messages,
            seen=joins.seen if joins else 0,
            choices=rows.choices_text(new.choices or RunChoices()),
        )
        return run_id

    def _insert(self, tx: Transaction, run_id: str, events: Sequence[NewEvent], counted: Row | None) -> None:
        if counted is None:
            raise _no_such_run()
        tx.wake_only()  # no process waits for an ask because of it
        first, now = counted["events"] - len(events) + 1, self._clock()
        for seq, event in enumerate(events, start=first):
            body = {**event.body, "pictures": len(event.pictures)} if event.pictures else event.body
            tx.run("insert_run_event", run_id=run_id, seq=seq, at=now, kind=event.kind, body=json.dumps(body))
            for number, picture in enumerate(event.pictures):
                data = base64.b64encode(picture.data).decode()
                tx.run("insert_picture", run_id=run_id, seq=seq, number=number, media=picture.media, data=data)

    def _turns(self, tx: Transaction, conversation: str, user: str) -> list[Run]:
        found = [self._read(tx, row) for row in tx.all("turns_of", conversation=conversation)]
        if not found or found[0].user != user:
            raise _no_such_run()
        return found

    def _latest_in_session(self, tx: Transaction, session: str, user: str) -> Run | None:
        found = [self._read(tx, row) for row in tx.all("latest_in_session", session=session, user_name=user)]
        return next((run for run in found if self._turns(tx, run.conversation, user)[-1].id == run.id), None)

    def _check_joined_by_none(self, tx: Transaction, session: str, project: Project) -> None:
        """What is said in a session that is shared is told in one conversation of a project."""
        there = self._latest_in_session(tx, session, project.owner)
        if there and there.choices.joins and there.project.id == project.id:
            raise RunGoesOn("Another conversation takes part in this session already. Go on there.")

    def _stamp(self, tx: Transaction, conversation: str) -> ConversationStamp:
        row = tx.one("conversation_stamp", conversation=conversation)
        assert row is not None
        waiting = tx.all("queued_messages", conversation=conversation) if row["queued"] else ()
        queued = tuple((message["id"], message["after_run"], message["text"]) for message in waiting)
        counts = (row["turns"], row["versions"], row["events"])
        return ConversationStamp(latest=row["latest"] or "", seen=(*counts, queued))

    def _read(self, tx: Transaction, row: Row) -> Run:
        project = tx.one("project_by_id", id=row["project_id"])
        assert project is not None
        return rows.read_run(row, rows.read_project(project), self.folder_of(row["line"] or row["id"]))

    def _conversation(self, tx: Transaction, row: Row) -> Conversation:
        latest, marks = self._read(tx, row), read_marks(row)
        prompt, events = json.loads(row["first_prompt"]), row["events"]
        return Conversation(id=latest.conversation, first_prompt=prompt, latest=latest, events=events, marks=marks)

    def _columns(self, process: Run) -> dict[str, Any]:
        return rows.changes(process)

    def _not_found(self, process_id: str) -> NotFound:
        return _no_such_run()


def _said_in(run: Run, later: Sequence[RunEvent], after: int) -> list[tuple[int, Spoken]]:
    """The prompt that began a run, unless nobody did, and what was said `later`; each with its number."""
    bodies = [event.body for event in later]
    said = [(body["number"], Spoken(what=Saying(body["what"]), text=body["text"])) for body in bodies]
    if not run.is_unbidden:
        said.insert(0, (run.said - len(later), Spoken(what=Saying.MESSAGE, text=run.prompt, begins=True)))
    return [(number, each) for number, each in said if number > after]


def _chosen(choices: RunChoices, said: Spoken) -> str:
    """What holds for the rest of the conversation once this is said."""
    match said.what:
        case Saying.MODE:
            choices = replace(choices, permission_mode=said.text)
        case Saying.MODEL:
            choices = replace(choices, model=said.text)
    return rows.choices_text(choices)


def _no_such_run() -> NotFound:
    """The same for a conversation that was never there, is there no more, or is somebody else's."""
    return NotFound("There is no such conversation here. Old ones are deleted after a while.")


def _texts_of(tx: Transaction, user: str) -> Iterator[tuple[str, str]]:
    """All names of a user's conversations and all messages, each with its conversation, the newest turns first."""
    before: dict[str, object] = {"before_time": FAR_FUTURE, "before_id": ""}
    while turns := tx.all("texts_of_conversations", user_name=user, **before, most=_SEARCHED_AT_ONCE):
        for row in turns:
            yield row["conversation"], json.loads(row["title"] or '""')
            yield row["conversation"], json.loads(row["prompt"])
        last = turns[-1]
        up_to = {"last_time": last["started_at"], "last_id": last["id"]}
        for row in tx.all("said_in_conversations", user_name=user, **before, **up_to):
            body = json.loads(row["body"])
            if body["what"] == Saying.MESSAGE:
                yield row["conversation"], body["text"]
        before = {"before_time": last["started_at"], "before_id": last["id"]}
