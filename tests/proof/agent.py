"""The agents of a proof: each keeps many calls open at a time, starts another server when its own is gone, and calls
again until it knows how each of its questions ended. What they were told is noted line by line."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count, cycle
from typing import Any

from tests.e2e.stdio.pipe import VERSIONS
from tests.proof.ground import AGENTS, FREE, NEVER, RUN, Ground
from tests.proof.lines import Gone, Line, Pipe, Refused, Remote, ended
from tests.proof.notes import Json, Notes

HANGS = 240.0
"""Seconds. A call that has not ended by then hangs."""
AGAIN = 0.1
"""Seconds before an agent calls again."""
WINDOW, REMOTE_WINDOW = 24, 8
"""How many calls an agent has open at a time."""
FINAL = ("answered", "rejected", "declined", "cancelled")
ENDED = ("completed", "failed", "cancelled", "timed_out", "lost")


class Tally:
    """What there was so far, for the running score."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.problems = 0

    @property
    def asks(self) -> int:
        return self.counts["questions"] + self.counts["permissions"]


class Agent:
    """One agent. Those above a certain number come over HTTP, and ask only."""

    def __init__(self, number: int, ground: Ground, epoch: int, notes: Notes, tally: Tally, log: int) -> None:
        self.number, self.name = number, f"agent-{number}"
        self.is_remote = number >= AGENTS
        self.line: Line | None = None
        self.over = False
        self._ground, self._epoch, self._notes, self._tally, self._log = ground, epoch, notes, tally, log
        self._chance = random.Random(f"{ground.told.seed} {epoch} agent {number}")
        self._versions: Iterator[str] = cycle(VERSIONS[number % len(VERSIONS) :] + VERSIONS[: number % len(VERSIONS)])
        self._lines, self._names = count(1), count(1)
        self._connecting = asyncio.Lock()
        self._reaped: set[asyncio.Task[int]] = set()

    async def work(self) -> None:
        """Until `over` is set, and then until all is ended that was begun."""
        window = REMOTE_WINDOW if self.is_remote else WINDOW
        async with asyncio.TaskGroup() as group:
            for _ in range(window):
                group.create_task(self._jobs())

    async def _jobs(self) -> None:
        while not self.over:
            await self._choose()(f"{self._epoch}.{self.number}.{next(self._names)}")

    def _choose(self) -> Callable[[str], Any]:
        chance = self._chance.random()
        if self.is_remote or chance < 0.87:
            return self._question
        if chance < 0.97:
            return self._permission
        return self._approved if chance < 0.98 else self._command

    # Questions

    async def _question(self, name: str) -> None:
        manner = self._chance.choices(("plain", "cancel", "slow", "common", "leave"), (300, 12, 3, 12, 1))[0]
        if manner == "common":
            # All agents ask it word for word, each once.
            name = f"{self._epoch}.common.{name.rpartition('.')[2]}"
        text = f"{manner} {name}?"
        options = [{"label": f"{word} {name}"} for word in ("yes", "no")]
        arguments = {"questions": [{"question": text, "options": options}]}
        self._notes.add(t="asks", agent=self.name, question=text)
        self._tally.counts["questions"] += 1
        state, lets_go = "", manner in ("cancel", "leave")
        begun = time.monotonic()
        while True:
            rounds = {"requestState": state} if state else {}
            seconds = self._chance.uniform(0, 0.3) if lets_go else HANGS
            line, data = await self._call("ask_user_questions", arguments, rounds, seconds, leaves=manner == "leave")
            lets_go = False
            state = str(data.get("requestState", ""))
            outcome = str(data.get("outcome", ""))
            if outcome in FINAL:
                self._told(line, text, data, collected=False)
                self._tally.counts["answers"] += 1
                return
            if outcome == "failed" or data.get("cut"):
                self._notes.add(t="unsure", agent=self.name, question=text)
            elif outcome in ("invalid", "expired", "superseded"):
                self._notes.add(t="wrong", agent=self.name, question=text, data=data)
                return
            if time.monotonic() - begun > HANGS:
                self.note_hang(text)
                return
            if not state:
                await asyncio.sleep(AGAIN)

    def _told(self, line: int, question: str, data: Mapping[str, Any], *, collected: bool) -> None:
        outcome = str(data["outcome"])
        mark = data["reason"] if outcome == "rejected" else data["answers"][0]["text"] if data.get("answers") else None
        told = {"ask": data["ask_id"], "outcome": outcome, "mark": mark, "collected": collected}
        self._notes.add(t="told", agent=self.name, line=line, question=question, **told)

    async def collect(self) -> None:
        """Fetch what is owed, answers to asks of which the agent was never told, until there is nothing more."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end:
            line, data = await self._call("get_answers", {})
            for each in data.get("answers", []):
                self._told(line, each["answers"][0]["question"] if each["answers"] else "", each, collected=True)
            if data.keys() >= {"answers"} and not data["answers"] and not data.get("pending"):
                return
            await asyncio.sleep(AGAIN)
        self.note_hang("get_answers")

    # Permissions

    async def _permission(self, name: str) -> None:
        """What Claude Code does with its permission prompts: ask, and do what was allowed."""
        token, program = wanted(self._chance, name)
        command = f"{program} {token}"
        self._tally.counts["permissions"] += 1
        begun = time.monotonic()
        _, data = await self._call("approve", {"tool_name": "Bash", "input": {"command": command}})
        behavior, why = _verdict(data)
        self.note_verdict(token, program, behavior, begun, why)
        if behavior == "allow":
            await run(self._ground, command)

    def note_verdict(self, token: str, program: str, behavior: str, begun: float, why: str) -> None:
        window = {"begun": begun, "ended": time.monotonic()}
        self._notes.add(t="verdict", token=token, program=program, behavior=behavior, why=why, **window)
        self._tally.counts[behavior] += 1

    def note_hang(self, what: str) -> None:
        self._notes.add(t="hangs", agent=self.name, question=what)

    def counted(self, what: str) -> None:
        self._tally.counts[what] += 1

    # Commands

    async def _approved(self, name: str) -> None:
        """A command that Sayso runs itself, once it is allowed. A call that was lost is not repeated."""
        token = f"t.{name}"
        tool = self._chance.choice(["waited", "later"])
        self._tally.counts["permissions"] += 1
        self._notes.add(t="command", name=token, tool=tool)
        await self._call(tool, {"token": token})

    async def _command(self, name: str) -> None:
        name = f"command.{name}"
        tool = self._chance.choice(["fg", "bg", "bg"])
        is_cancelled, seconds = self._chance.random() < 0.2, round(self._chance.uniform(0, 1), 2)
        ran = self._ground.folder / "now" / "ran"
        script = f"echo command {name} >>{ran}; sleep {seconds} # {name}"
        self._tally.counts["commands"] += 1
        self._notes.add(t="command", name=name, tool=tool)
        _, data = await self._call(tool, {"script": script})
        if tool == "fg" or data.get("status") not in ("started", "queued"):
            return
        operation, status = str(data["id"]), ""
        end = time.monotonic() + HANGS
        while status not in ENDED:
            if time.monotonic() > end:
                self.note_hang(name)
                return
            _, data = await self._call("cancel" if is_cancelled else "await", {"id": operation})
            found = [each for each in data.get("finished", []) if each["id"] == operation]
            if found or data.get("id"):
                status = str(found[0]["status"] if found else data.get("status", ""))
            if status not in ENDED:
                await asyncio.sleep(AGAIN)
        self._notes.add(t="ended", name=name, status=status)

    # Calling

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        rounds: Mapping[str, Any] | None = None,
        seconds: float = HANGS,
        *,
        leaves: bool = False,
    ) -> tuple[int, Json]:
        """What a call has brought, on which line; nothing if the line has gone or the call was let go of."""
        try:
            line = await self._connected()
        except Gone:
            await asyncio.sleep(AGAIN)
            return 0, {}
        request, coming = line.begin("tools/call", {"name": tool, "arguments": arguments, **(rounds or {})})
        done, _ = await asyncio.wait([coming], timeout=seconds)
        if not done and leaves and not self.is_remote:
            await self._leave(line)
        elif not done:
            if seconds == HANGS:
                self.note_hang(json.dumps(arguments))
            line.cancel(request)
            if self.is_remote:
                return line.number, {"cut": True}
        if not coming.done() or coming.cancelled():
            return line.number, {"cut": True} if self.is_remote else {}
        if error := coming.exception():
            if not isinstance(error, Gone):
                raise error
            self._drop(line)
            return line.number, {"cut": True} if self.is_remote and not isinstance(error, Refused) else {}
        message = coming.result()
        if "result" not in message:
            return line.number, {"cut": True} if self.is_remote else {}
        return line.number, _data(message["result"])

    async def _connected(self) -> Line:
        async with self._connecting:
            if self.line is None:
                # Two of its servers at a time would be two agents.
                await self._all_reaped()
                line = self._new_line()
                try:
                    await line.connect()
                except BaseException:
                    self._forget(line)
                    raise
                self.line = line
            return self.line

    def _new_line(self) -> Line:
        number, version = next(self._lines), next(self._versions)
        if self.is_remote:
            return Remote(self._ground, self.name, number, version)
        self._tally.counts["servers"] += 1
        # Kept at once, so that a server can be killed while it starts.
        self.starting = Pipe(self._ground, self.name, self.number, number, version, self._log)
        return self.starting

    async def _leave(self, line: Line) -> None:
        async with self._connecting:
            if self.line is line:
                self.line = None
            await line.leave()
            self._forget(line)
            await self._all_reaped()

    async def _all_reaped(self) -> None:
        await asyncio.gather(*self._reaped)

    def _drop(self, line: Line) -> None:
        if self.line is line:
            self.line = None
            self._forget(line)

    def _forget(self, line: Line) -> None:
        """It is ending, or has ended: only its shell is to be taken back."""
        if isinstance(line, Pipe):
            line.cut()
            task = asyncio.ensure_future(ended(line.process))
            self._reaped.add(task)
            task.add_done_callback(self._reaped.discard)

    async def close(self) -> None:
        if self.line:
            await self._leave(self.line)
        await self._all_reaped()

    @property
    def pipe(self) -> Pipe | None:
        """The server of its own, once there was one."""
        return None if self.is_remote else getattr(self, "starting", None)


def wanted(chance: random.Random, name: str) -> tuple[str, str]:
    """A token, and the program that is to be run with it. What begins with an i is ignored by everybody."""
    program = chance.choices((RUN, FREE, NEVER), (7, 2, 1))[0]
    return ("i." if program == RUN and chance.random() < 0.04 else "t.") + name, program


async def run(ground: Ground, command: str) -> None:
    """What a client does with an allow."""
    await ended(_shell(ground, command))


def _shell(ground: Ground, command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", command], cwd=ground.place.project, env=ground.environment)


def _data(result: Mapping[str, Any]) -> Json:
    if result.get("resultType") == "input_required":
        return {"requestState": result["requestState"]}
    if "structuredContent" in result:
        data: Json = result["structuredContent"]
        return data
    return {"text": result["content"][0]["text"]}


def _verdict(data: Mapping[str, Any]) -> tuple[str, str]:
    """What a call of `approve` was told, and why; `unknown` if it was lost."""
    told = json.loads(data.get("text") or "{}")
    return told.get("behavior", "unknown"), told.get("message", "")
