"""Turns what one agent prints into events of its run, and its end into the run's end. Plain code, called in steps.

Agents may print garbage, without end, or lines of any length: each step takes in a bounded part, and what is too much
ends the run with a message that says so.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from sayso import untrusted_json
from sayso.agents.agent import ParsedLine, number_of, shortened
from sayso.agents.desk import RunDesk
from sayso.agents.kinds import AGENTS
from sayso.agents.lines import PassedOver, RunOutput
from sayso.agents.model import Ending, EventKind, NewEvent, Run, RunState, Saying, Spoken
from sayso.errors import StoreError
from sayso.records import replace
from sayso.running import output
from sayso.running.folder import Status
from sayso.running.program import in_short
from sayso.text import printable, quoted

logger = logging.getLogger(__name__)

MOST_EVENTS = 20_000
"""Events of one run; an agent that prints more has lost its way."""
MOST_GARBAGE = 20
"""Lines that are not JSON and are shown; the others are counted."""
_STDERR_TAIL = 2_000
_SESSION = re.compile(r"[A-Za-z0-9][\w.:-]{0,199}", re.ASCII)
"""What may be handed back to the agent's program as a word of its command line."""
_DOING = {EventKind.DELTA, EventKind.TEXT, EventKind.THINKING, EventKind.TOOL, EventKind.ELSEWHERE}
_WHOLE = {EventKind.TEXT, EventKind.RESULT}
_CHOSEN_BY_AGENTS = ("default", "acceptEdits", "plan")
_WENT_ON = "You interrupted it. It went on, and has ended its turn by itself since."


_LET_GO = "{agent} was let go of here. Its turn goes on in the terminal, if it was not interrupted."


class Follower:
    """Follows one run, from where it was left."""

    def __init__(self, runs: RunDesk, run: Run) -> None:
        self.run = run
        self._runs, self._agent = runs, AGENTS[run.agent]
        self._lines = RunOutput(run.folder, run.seen)
        self._events = 0
        self._garbage = 0
        self._too_much = ""
        self._account: Ending | None = None
        self._over: Ending | None = None
        """The agent's account of a turn after which it has taken up nothing more."""

    @property
    def turn_is_over(self) -> bool:
        return self.run.state.ended

    def step(self) -> bool:
        """Take in a part of what is new. Whether there was any."""
        return self._take_in(self._lines.read)

    def end(self, status: Status) -> Run:
        """The agent has ended: take in the rest and end the run."""
        while self.step():
            pass
        self._take_in(self._lines.rest)
        self._runs.append(self.run.id, *self._hidden_garbage())
        return self._runs.end(self.run.id, *self._ending(status))

    def _take_in(self, read: Callable[[], Iterable[bytes | PassedOver]]) -> bool:
        taken: list[NewEvent] = []
        before, read_to = self._lines.place, self._lines.read_to
        try:
            for line in read():
                self._hear(line, taken)
            if taken or self._lines.place > before:
                over = self._turn_ending() if self._over else None
                taken += self._hidden_garbage() if over else ()
                self.run = self._runs.take_in(self.run.id, taken, seen=self._lines.place, over=over)
        except StoreError:
            # What was read and not kept is read again.
            self._lines = RunOutput(self.run.folder, before)
            raise
        self._events += len(taken)
        if self._events > MOST_EVENTS:
            self._give_up(f"It printed more than {MOST_EVENTS:,} messages in one turn")
        return self._lines.read_to > read_to

    def _hidden_garbage(self) -> tuple[NewEvent, ...]:
        hidden, self._garbage = self._garbage - MOST_GARBAGE, 0
        return (_notice(f"{hidden:,} more lines that were not JSON are not shown."),) if hidden > 0 else ()

    def _hear(self, line: bytes | PassedOver, taken: list[NewEvent]) -> None:
        if isinstance(line, PassedOver):
            taken.append(_notice(f"A line of {line.size:,} bytes was too long and is not shown."))
            if line.too_fast:
                self._give_up("It printed faster than can be taken in")
            return
        if not line.strip() or self._too_much:
            return
        said = _parsed(line)
        if said is None:
            self._garbage += 1
            if self._garbage <= MOST_GARBAGE:
                taken.append(_notice(f"Not a message: {quoted(line[:400].decode(errors='replace'), 300)}"))
            return
        self._take(self._agent.hear(said), taken)

    def _take(self, heard: ParsedLine, taken: list[NewEvent]) -> None:
        for event in heard.events:
            _add(taken, event)
        taken += self._took_up(heard)
        taken += self._changed_mode(heard.mode)
        self._account = heard.ending or self._account
        self._over = heard.ending or self._over
        if _SESSION.fullmatch(heard.session) and heard.session != self.run.session:
            self.run = self._runs.note_session(self.run.id, heard.session)

    def _took_up(self, heard: ParsedLine) -> Iterator[NewEvent]:
        """What the agent says about what it was told."""
        for number in {number_of(self.run.line, name) for name in heard.taken} - {None} - self._taken:
            self._over = None
            self._taken.add(number)
            yield NewEvent(kind=EventKind.TAKEN, body={"number": number, "message": True})
        if number := number_of(self.run.line, heard.done):
            yield NewEvent(kind=EventKind.TAKEN, body={"number": number, "message": False})
            if heard.refused:
                self._take_back(number)
                yield _notice(f"{self._agent.label} did not do what you asked: {heard.refused}")

    def _changed_mode(self, mode: str) -> Iterator[NewEvent]:
        """The agent has left a mode by itself, as after a plan that was allowed. That holds for the rest of the
        conversation. But what a person has just chosen comes first, and to ask for nothing no agent chooses."""
        if mode not in _CHOSEN_BY_AGENTS:
            return
        run = self._runs.get(self.run.id)
        wanted = {number for number, said in self._runs.said(run, after=0) if said.what is Saying.MODE}
        told = {event.body["number"] for event in self._runs.events_of(run.id, EventKind.TAKEN)}
        if mode != (run.options.permission_mode or "default") and not wanted - told:
            self._runs.choose(run.id, Spoken(what=Saying.MODE, text=mode))
            yield _notice(f"{self._agent.label} is in {mode} mode now.")

    def _take_back(self, number: int) -> None:
        """What the agent will not have must not hold for the rest of the conversation either."""
        refused = dict(self._runs.said(self.run, after=0)).get(number)
        if refused and refused.what in (Saying.MODE, Saying.MODEL):
            self._runs.choose(self.run.id, replace(refused, text=""))

    @cached_property
    def _taken(self) -> set[int | None]:
        """The numbers of the messages that the agent has taken up, also before another server."""
        return {event.body["number"] for event in self._runs.events_of(self.run.id, EventKind.TAKEN)}

    def _give_up(self, why: str) -> None:
        if not self._too_much:
            self._too_much = why
            logger.warning("Run %s is stopped: %s", self.run.id, why)
            self._runs.want_stopped(self.run.id, "")

    # How it ended

    def _turn_ending(self) -> tuple[RunState, Ending]:
        """How a turn ended whose agent is still there."""
        account = self._over or Ending()
        if any(said.what is Saying.INTERRUPT for _, said in self._runs.said(self.run, after=0)):
            # Whoever interrupts it wants what they have queued held, also where it went on with what it had been sent.
            return RunState.STOPPED, replace(account, message="Interrupted." if account.message else _WENT_ON)
        return (RunState.FAILED if account.message else RunState.COMPLETED), account

    def _ending(self, status: Status) -> tuple[RunState, Ending]:
        # Another server may have heard the agent's own account.
        self._account = self._account or self._kept_account()
        account = self._account or Ending()
        state, message = self._verdict(status, account)
        ending = Ending(message=message, exit_code=status.exit_code, cost_usd=account.cost_usd, turns=account.turns)
        return state, ending

    def _verdict(self, status: Status, account: Ending) -> tuple[RunState, str]:
        label = self._agent.label
        if self._too_much:
            return RunState.FAILED, f"{self._too_much}, so it was stopped."
        match status.reason:
            case "spawn_failed":
                return RunState.FAILED, f"{label} could not be started: {in_short(status.text)} {self._agent.install}"
            case "timed_out":
                return RunState.FAILED, "It ran longer than run_timeout allows and was stopped."
            case "cancelled":
                by = self._runs.get(self.run.id).stopped_by
                if self.run.choices.joins:
                    return RunState.STOPPED, _LET_GO.format(agent=label)
                return RunState.STOPPED, f"Stopped by {by}." if by else "Stopped from outside: its process was ended."
            case "lost":
                return RunState.LOST, (
                    "The agent's process is gone without a word: it was killed, or the machine was restarted. Send "
                    "another message to go on with the conversation."
                )
        if status.exit_code == 0 and self._account and not account.message:
            return RunState.COMPLETED, ""
        return RunState.FAILED, self._failure(status, account)

    def _kept_account(self) -> Ending | None:
        for event in self._runs.events(self.run.id, most=2 * MOST_EVENTS):
            if event.kind is EventKind.RESULT:
                told = {name: event.body.get(name) for name in ("cost_usd", "turns")}
                return Ending(message=event.body.get("text", "") if event.body["error"] else "", **told)
        return None

    def _failure(self, status: Status, account: Ending) -> str:
        if account.message:
            return account.message
        if status.exit_code == 0:
            return f"{self._agent.label} ended without saying how its turn went." + self._last_words()
        return f"{self._agent.label} ended with {status.ended_with}." + self._last_words()

    def _last_words(self) -> str:
        """The end of what it printed to stderr."""
        told = printable(output.tail(self.run.folder, "stderr", limit=_STDERR_TAIL).text).strip()
        return f" It said: {told}" if told else ""


def has_gone_on(run: Run) -> bool:
    """Whether an agent whose turn is over has done something since."""
    agent, lines = AGENTS[run.agent], RunOutput(run.folder, run.seen).read()
    said = [_parsed(line) for line in lines if isinstance(line, bytes)]
    return any(event.kind in _DOING for each in said if each for event in agent.hear(each).events)


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        said = untrusted_json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _add(taken: list[NewEvent], event: NewEvent) -> None:
    """Add an event; parts of a text join, and give way to the whole of it."""
    if event.kind is EventKind.DELTA and taken and taken[-1].kind is EventKind.DELTA:
        event = NewEvent(kind=EventKind.DELTA, body={"text": taken.pop().body["text"] + event.body["text"]})
    elif event.kind in _WHOLE:
        taken[:] = [earlier for earlier in taken if earlier.kind is not EventKind.DELTA]
    taken.append(event)


def _notice(text: str) -> NewEvent:
    return NewEvent(kind=EventKind.NOTICE, body={"text": shortened(text, 2_000)})
