"""A stand-in for `codex app-server` on its standard streams, with the messages that were recorded from the real one,
0.166: threads that can be resumed, turns that can be steered and interrupted, approvals, its own questions.

A message is its script, one step a line, a word and what belongs to it; any other words it says back.

    say TEXT            says it, first in parts and then whole
    command LINE        wants to run it
    change FILE TEXT    wants to write the file
    question JSON       asks by its own tool
    take-back LINE      wants to run it, and then wants it no more
    plan STEP …         has a plan
    wait FILE           waits until the file is there
    child FILE          starts a process that ignores SIGTERM, and notes its pid in the file
    settings            says when it asks, its sandbox and its model
    exit N, lose        misbehaves
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

PATIENCE = 120.0
Json = dict[str, Any]


class InterruptedTurn(Exception):
    """The person wants it to stop what it does."""


class Server:
    """One client's line: what comes is sorted into what a turn waits for, and what is answered at once."""

    def __init__(self) -> None:
        self.thread = self.turn = ""
        self.is_known = False
        """Whether there were turns before this one."""
        self.settings: Json = {}
        self.starts: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self.more: queue.SimpleQueue[Json] = queue.SimpleQueue()
        self.interrupted = threading.Event()
        self._answers: dict[int, queue.SimpleQueue[Json]] = {}
        self._ids, self._turns, self._speaking = itertools.count(), itertools.count(1), threading.Lock()
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def put(self, **message: Any) -> None:
        with self._speaking:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.put(method=method, params={"threadId": self.thread, **params})

    def ask(self, method: str, **params: Any) -> Json:
        """What the client answers."""
        number = self.request(method, **params)
        answers = self._answers[number]
        until(lambda: not answers.empty(), self)
        self.tell("serverRequest/resolved", requestId=number)
        return answers.get()

    def request(self, method: str, **params: Any) -> int:
        number = next(self._ids)
        self._answers[number] = queue.SimpleQueue()
        about = {"threadId": self.thread, "turnId": self.turn, "itemId": f"call_{number}", "startedAtMs": 1}
        self.put(method=method, id=number, params={**about, **params})
        return number

    def _read(self) -> None:
        for line in sys.stdin:
            said = json.loads(line)
            if "method" not in said:
                self._answers[said["id"]].put(said.get("result") or {})
            elif "id" in said:
                self._serve(said["id"], said["method"], said["params"])
        self.starts.put(None)

    def _serve(self, number: int, method: str, params: Json) -> None:
        with self._lock:
            try:
                self.put(id=number, result=self._result(method, params))
            except LookupError as error:
                self.put(id=number, error={"code": -32600, "message": str(error.args[0])})
                return
            if method == "turn/start":
                self.tell("turn/started", turn={"id": self.turn, "items": [], "status": "inProgress"})
                self.starts.put(params)

    def _result(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                assert params["capabilities"]["experimentalApi"], params
                return {"userAgent": "codex/0.166.0", "codexHome": str(Path.home())}
            case "thread/start" | "thread/resume":
                return self._join(params)
            case "turn/start":
                assert params["threadId"] == self.thread, params
                self.settings |= {key: value for key, value in params.items() if key not in ("input", "threadId")}
                self.interrupted.clear()
                self.turn = f"turn-{next(self._turns)}"
                return {"turn": {"id": self.turn, "items": [], "status": "inProgress"}}
            case "turn/steer":
                if params["expectedTurnId"] != self.turn:
                    raise LookupError("no active turn to steer")
                self.more.put(params)
                return {"turnId": self.turn}
            case "turn/interrupt":
                self.interrupted.set()
                return {}
            case "thread/backgroundTerminals/list":
                return {"data": [], "nextCursor": None}
        raise LookupError(f"unknown method {method}")

    def _join(self, params: Json) -> Json:
        self.thread, self.is_known = params.get("threadId") or str(uuid.uuid4()), "threadId" in params
        memory = Path.home() / f"{self.thread}.codex"
        if self.is_known and not memory.exists():
            raise LookupError(f"no rollout found for thread id {self.thread}")
        memory.touch()
        assert params["cwd"] == os.getcwd(), params
        self.settings = {key: params[key] for key in ("approvalPolicy", "sandbox", "model") if key in params}
        thread = {"id": self.thread, "cwd": params["cwd"], "cliVersion": "0.166.0", "status": {"type": "idle"}}
        return {"thread": thread, "model": params.get("model", "stand-in-1")}

    def take_more(self) -> Json | None:
        """What the turn was steered with; without any it is over, and takes no more."""
        with self._lock:
            if not self.more.empty():
                return self.more.get()
            self.turn = ""
            return None


def until(there: Any, server: Server) -> None:
    give_up = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < give_up
        if server.interrupted.is_set():
            raise InterruptedTurn
        time.sleep(0.005)


class Item:
    """One thing that it does, told as it begins and ends."""

    numbers = itertools.count(1)

    def __init__(self, server: Server, kind: str, **item: Any) -> None:
        self.id = f"item_{next(self.numbers)}"
        self._server, self._item = server, {"type": kind, "id": self.id, **item}
        server.tell("item/started", item={**self._item, "status": "inProgress"}, turnId=server.turn)

    def end(self, **more: Any) -> None:
        self._server.tell("item/completed", item={**self._item, **more}, turnId=self._server.turn)


def say(server: Server, text: str) -> None:
    item = Item(server, "agentMessage", text="")
    for part in (text[: len(text) // 2], text[len(text) // 2 :]):
        server.tell("item/agentMessage/delta", itemId=item.id, turnId=server.turn, delta=part)
    item.end(text=text)


def run(server: Server, line: str) -> None:
    item = Item(server, "commandExecution", command=f"/bin/bash -lc '{line}'", cwd=os.getcwd(), commandActions=[])
    told = server.ask("item/commandExecution/requestApproval", **_wanted(item, line))
    if told.get("decision") != "accept":
        item.end(status="declined")
        say(server, f"Declined {line}")
        return
    ran = subprocess.run(line, shell=True, capture_output=True, text=True)
    status = "completed" if ran.returncode == 0 else "failed"
    item.end(status=status, aggregatedOutput=ran.stdout + ran.stderr, exitCode=ran.returncode)
    say(server, f"Ran {line}")


def _wanted(item: Item, line: str) -> Json:
    whole = {"command": f"/bin/bash -lc '{line}'", "cwd": os.getcwd(), "reason": "Needed", "kind": "command"}
    return {**whole, "itemId": item.id, "availableDecisions": ["accept", "cancel"]}


def change(server: Server, file: Path, text: str) -> None:
    changes = [{"path": str(file), "kind": {"type": "add"}, "diff": f"{text}\n"}]
    item = Item(server, "fileChange", changes=changes)
    told = server.ask("item/fileChange/requestApproval", itemId=item.id, reason=None, grantRoot=None)
    if told.get("decision") == "accept":
        file.write_text(f"{text}\n")
    item.end(status="completed" if told.get("decision") == "accept" else "declined")


def start_child(file: Path) -> None:
    words = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(300)"
    child = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout
    child.stdout.readline()
    file.write_text(str(child.pid))


def perform(server: Server, word: str, rest: str) -> None:
    match word:
        case "say":
            say(server, rest)
        case "command":
            run(server, rest)
        case "change":
            name, _, text = rest.partition(" ")
            change(server, Path(name), text)
        case "question":
            told = server.ask("item/tool/requestUserInput", questions=[json.loads(rest)], isBlocking=True)
            say(server, f"Heard: {json.dumps(told)}")
        case "take-back":
            item = Item(server, "commandExecution", command=rest, cwd=os.getcwd(), commandActions=[])
            number = server.request("item/commandExecution/requestApproval", **_wanted(item, rest))
            until((Path(os.getcwd()) / "take-it-back").exists, server)
            server.tell("serverRequest/resolved", requestId=number)
            item.end(status="declined")
        case "plan":
            steps = [{"step": step, "status": "pending"} for step in rest.split()]
            server.tell(
                "turn/plan/updated", turnId=server.turn, plan=[{**steps[0], "status": "inProgress"}, *steps[1:]]
            )
        case "wait":
            until(Path(rest).exists, server)
        case "child":
            start_child(Path(rest))
        case "settings":
            say(server, json.dumps(server.settings, sort_keys=True))
        case "exit":
            print("something is wrong with me", file=sys.stderr)
            os._exit(int(rest))
        case "lose":
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            say(server, f"{'Again' if server.is_known else 'First'}: {word} {rest}".strip())


def turn(server: Server, given: Json | None) -> None:
    """Do as one message says, and as those say that come meanwhile. What an interrupt is quicker than is lost."""
    number, status = server.turn, "completed"
    try:
        while given is not None:
            Item(server, "userMessage", clientId=given.get("clientUserMessageId"), content=given["input"]).end()
            for line in given["input"][-1]["text"].strip().splitlines():
                perform(server, *line.partition(" ")[::2])
            given = server.take_more()
    except InterruptedTurn:
        status, server.turn, server.more = "interrupted", "", queue.SimpleQueue()
    usage = {"last": {"totalTokens": 1200}, "total": {"totalTokens": 5000}, "modelContextWindow": 200_000}
    server.tell("thread/tokenUsage/updated", turnId=number, tokenUsage=usage)
    server.tell("turn/completed", turn={"id": number, "items": [], "status": status, "error": None})


def main() -> None:
    assert sys.argv[1] == "app-server", sys.argv
    server = Server()
    while (start := server.starts.get()) is not None:
        turn(server, start)
        server.is_known = True


if __name__ == "__main__":
    main()
