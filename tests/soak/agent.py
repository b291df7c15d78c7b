"""An agent of a soak: asks and runs commands turn by turn, starts another server when its own is gone, and asks again
until it knows how each of its questions ended. It writes down all that it was told."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from tests.e2e.stdio.harness import Place
from tests.e2e.stdio.pipe import VERSIONS
from tests.soak import plan
from tests.soak.line import Gone, Json, Line
from tests.soak.plan import Manner, Turn

TURN_SECONDS = 150.0
"""What has not ended by then hangs."""

LOOK = 0.05
MOST_LOG = 5000
FINAL = ("answered", "rejected", "declined", "cancelled")
CLOSED = -32000
"""The code of the error that stands for a response that never came."""

FAILED_PAUSE = 0.2
"""Seconds before an agent calls again after a failure of the machine's."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """How an ask ended, as its agent was told."""

    agent: str
    question: str
    data: Json
    collected: bool = False
    """Whether by `get_answers`, and not by the call itself."""


class Job:
    """Something an agent wants to know the end of. It makes one call at a time."""

    def __init__(self) -> None:
        self.done = False
        self.request: int | None = None
        self.not_before = 0.0
        self.let_go_at: float | None = None
        self.outcomes: Counter[str] = Counter()

    def call(self) -> tuple[str, Json]:
        """The tool and the arguments of the next call."""
        raise NotImplementedError

    def take(self, data: Json) -> None:
        """What a call has brought."""
        raise NotImplementedError

    def rounds(self) -> Json:
        """What a call must bring along beside its arguments."""
        return {}

    def lost(self) -> None:
        """The server is gone, or the call was let go of: nothing will come of it."""
        self.request = None

    def again(self, why: str) -> None:
        self.outcomes[why] += 1
        self.not_before = time.monotonic() + FAILED_PAUSE


class Asking(Job):
    def __init__(self, question: plan.Question, agent: str, tell: Callable[[Told], None]) -> None:
        super().__init__()
        self.question, self._agent, self._tell = question, agent, tell
        self._state = ""
        self._lets_go = question.manner in (Manner.CANCEL, Manner.LEAVE)

    @property
    def leaves(self) -> bool:
        return self.question.manner is Manner.LEAVE

    @property
    def text(self) -> str:
        return f"{self.question.manner} {self.question.name}?"

    def call(self) -> tuple[str, Json]:
        if self._lets_go:
            self.let_go_at, self._lets_go = time.monotonic() + self.question.after, False
        options = [{"label": f"{word} {self.question.name}"} for word in ("yes", "no")]
        return "ask_user_questions", {"questions": [{"question": self.text, "options": options}]}

    def rounds(self) -> Json:
        return {"requestState": self._state} if self._state else {}

    def lost(self) -> None:
        super().lost()
        self._state = ""

    def take(self, data: Json) -> None:
        self._state = str(data.get("requestState", ""))
        outcome = str(data.get("outcome", "round" if self._state else "?"))
        if outcome in FINAL:
            self._tell(Told(agent=self._agent, question=self.text, data=data))
            self.done = True
        elif outcome in ("timed_out", "pending", "failed", "round"):
            self.again(outcome)
        else:
            raise AssertionError(f"an answer that is none: {data}")


class Running(Job):
    def __init__(self, command: plan.Command, ran: str) -> None:
        super().__init__()
        self.command = command
        self._script = f"echo {command.name} >>{ran}; sleep {command.seconds} # {command.name}"
        self.operation = ""
        self.status = ""

    def call(self) -> tuple[str, Json]:
        if not self.command.background:
            return "fg", {"script": self._script}
        if not self.operation:
            return "bg", {"script": self._script}
        return ("cancel" if self.command.cancelled else "await"), {"id": self.operation}

    def lost(self) -> None:
        """A command is never run again: nobody knows whether it began."""
        super().lost()
        if not self.operation:
            self.status, self.done = "unknown", True

    def take(self, data: Json) -> None:
        status = str(data.get("status", ""))
        if self.command.background and not self.operation and status in ("started", "queued"):
            self.operation = str(data["id"])
        elif self.operation:
            self._heard(data)
        else:
            self.status, self.done = status, True

    def _heard(self, data: Json) -> None:
        ended = [each for each in data.get("finished", []) if each["id"] == self.operation]
        status = str(ended[0]["status"] if ended else data.get("status", ""))
        if status in ("completed", "failed", "cancelled", "timed_out", "lost") and (ended or data.get("id")):
            self.status, self.done = status, True
        else:
            # Failed to look, or still on its way to its end.
            self.again(status or "waiting")


class Collecting(Job):
    """Fetches what is owed, answers to asks of which the agent was never told, until there is nothing more."""

    def __init__(self, agent: str, tell: Callable[[Told], None]) -> None:
        super().__init__()
        self._agent, self._tell = agent, tell

    def call(self) -> tuple[str, Json]:
        return "get_answers", {}

    def take(self, data: Json) -> None:
        for each in data.get("answers", []):
            question = each["answers"][0]["question"] if each["answers"] else ""
            self._tell(Told(agent=self._agent, question=question, data=each, collected=True))
        if data.get("answers") or data.get("pending") or "outcome" in data:
            self.again("more")
        else:
            self.done = True


@dataclass
class Notes:
    """What an agent has done and was told."""

    asked: list[Asking] = field(default_factory=list)
    ran: list[Running] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    servers: int = 0
    logs: list[str] = field(default_factory=list)


class Agent:
    """One agent, its plan, and the server that it has just now."""

    def __init__(self, number: int, place: Place, turns: Iterator[Turn], environment: Mapping[str, str]) -> None:
        self.name = f"soak-{number}"
        self.notes = Notes()
        self.line: Line | None = None
        self._given_up = threading.Event()
        self._place, self._turns, self._environment = place, turns, environment
        self._versions = cycle(VERSIONS[number % len(VERSIONS) :] + VERSIONS[: number % len(VERSIONS)])

    def work(self, until: float, given_up: threading.Event) -> None:
        """Take turns until the time is over; then end what is under way, fetch what is owed, and leave."""
        self._given_up = given_up
        while time.monotonic() < until:
            self._see_through(self._jobs(next(self._turns)))
        self._see_through([Collecting(self.name, self.notes.told.append)])
        if self.line:
            self.line.leave()
            self._drop()

    def _jobs(self, turn: Turn) -> list[Job]:
        ran = str(self._place.folder / "ran")
        asking = [Asking(question, self.name, self.notes.told.append) for question in turn.questions]
        running = [Running(command, ran) for command in turn.commands]
        self.notes.asked += asking
        self.notes.ran += running
        return [*asking, *running]

    def _see_through(self, jobs: list[Job]) -> None:
        deadline = time.monotonic() + TURN_SECONDS
        while open_ := [job for job in jobs if not job.done]:
            assert not self._given_up.is_set(), "somebody else has failed"
            assert time.monotonic() < deadline, f"{self.name} hangs on {[_what(job) for job in open_]}:\n{self._log()}"
            try:
                self._step(open_)
            except Gone:
                self._drop()
                for job in open_:
                    job.lost()

    def _step(self, jobs: list[Job]) -> None:
        line = self.line or self._connect()
        now = time.monotonic()
        for job in jobs:
            if job.request is None and now >= job.not_before:
                tool, arguments = job.call()
                params = {"name": tool, "arguments": arguments, **job.rounds()}
                job.request = line.request("tools/call", params)
            elif job.request is not None and job.let_go_at is not None and now >= job.let_go_at:
                self._let_go(line, job, jobs)
                return
        if message := line.next(LOOK):
            self._hear(message, jobs)

    def _let_go(self, line: Line, job: Job, jobs: list[Job]) -> None:
        job.let_go_at = None
        if isinstance(job, Asking) and job.leaves:
            for message in line.leave():
                self._hear(message, jobs)
            raise Gone
        assert job.request is not None
        line.cancel(job.request)
        job.lost()

    def _hear(self, message: Json, jobs: list[Job]) -> None:
        """A response that belongs to one of the jobs. What comes for a cancelled call is of no use to anybody."""
        job = next((job for job in jobs if job.request is not None and job.request == message.get("id")), None)
        if job is None or "method" in message:
            return
        job.request = None
        error = message.get("error", {})
        if error.get("code") == CLOSED:
            job.again("closed")
            return
        assert "result" in message, message
        job.take(_data(message["result"]))

    def _connect(self) -> Line:
        self.notes.servers += 1
        self.line = Line(self._place, self.name, next(self._versions), self._environment)
        self.line.connect()
        return self.line

    def _drop(self) -> None:
        if self.line:
            line, self.line = self.line, None
            line.end()
            self.notes.logs.append(line.log.text)

    def close(self) -> None:
        """Leave nothing behind when the soak has failed."""
        if self.line:
            self.line.signal(signal.SIGKILL)
            self._drop()

    def _log(self) -> str:
        return self.line.log.text[-MOST_LOG:] if self.line else ""


def _data(result: Mapping[str, Any]) -> Json:
    if result.get("resultType") == "input_required":
        return {"requestState": result["requestState"]}
    data: Json = result["structuredContent"]
    return data


def _what(job: Job) -> str:
    name = job.text if isinstance(job, Asking) else job.command.name if isinstance(job, Running) else "get_answers"
    return f"{name} (request {job.request}, so far {dict(job.outcomes)})"
