"""A stand-in for an agent that speaks ACP on stdio, as Gemini, opencode, Copilot and Qwen do: one JSON-RPC message a
line. As the real ones, it asks by `session/request_permission`, goes on or ends its turn after a no, cancels what it
does at `session/cancel`, and tells the whole conversation again when a session is loaded.

A message is its script, one step a line, a word and what belongs to it:

    say TEXT            says it in two parts
    think TEXT          thinks it
    plan A | B          makes a plan of which A is done
    tool NAME           uses a tool that needs no permission
    run COMMAND         wants to run a command; the widest option comes first
    untold COMMAND      the same, but without the tool's input
    always COMMAND      the same, but nothing can be allowed just once
    edit FILE TEXT      wants to write a file
    question TEXT       asks as Qwen does
    wait FILE           waits until the file is there
    child FILE          starts a process that ignores SIGTERM, and notes its pid in the file
    environment FILE    writes its environment, its command line and what the session was begun with to the file
    settings            says its mode and its model
    pictures            says which pictures came with the message
    remember            says what it was told in earlier turns
    garbage N, exit N, lose, ask-client      misbehaves

With the flags `--no-load` and `--ends-at-no` it cannot load a session, and ends its turn at a no.
"""

from __future__ import annotations

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

Json = dict[str, Any]
PATIENCE = 120.0
OPTIONS = [
    {"optionId": "every", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "this", "name": "Allow", "kind": "allow_once"},
    {"optionId": "stop", "name": "Reject", "kind": "reject_once"},
]
speaking = threading.Lock()


class Cancelled(Exception):
    """The client wants it to stop what it does."""


def put(message: Json) -> None:
    with speaking:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


class Agent:
    """One session."""

    def __init__(self, flags: list[str]) -> None:
        self.flags = flags
        self.session = ""
        self.begun_with: Json = {}
        self.mode, self.model = "default", "stand-in-1"
        self.pictures: list[str] = []
        self.cancelled = threading.Event()
        self.replies: dict[str, queue.SimpleQueue[Json]] = {}
        self.prompts: queue.SimpleQueue[Json | None] = queue.SimpleQueue()

    # What the client wants

    def listen(self) -> None:
        for line in sys.stdin:
            said = json.loads(line)
            if "method" not in said:
                self.replies.get(said["id"], queue.SimpleQueue()).put(said)
            elif said["method"] == "session/cancel":
                self.cancelled.set()
            elif said["method"] == "session/prompt":
                self.prompts.put(said)
            else:
                self.serve(said["id"], said["method"], said["params"])
        self.prompts.put(None)

    def serve(self, number: int, method: str, params: Json) -> None:
        modes = {"currentModeId": self.mode, "availableModes": [{"id": "default"}, {"id": "autoEdit"}, {"id": "plan"}]}
        models = {"currentModelId": self.model, "availableModels": [{"modelId": "stand-in-1"}, {"modelId": "haiku"}]}
        match method:
            case "initialize":
                assert params["protocolVersion"] == 1, params
                able = {"loadSession": "--no-load" not in self.flags, "promptCapabilities": {"image": True}}
                told = {"name": "stand-in", "version": "1.0"}
                put({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": told}})
            case "session/new" if "--signed-out" in self.flags:
                put({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
            case "session/new":
                self.session, self.begun_with = str(uuid.uuid4()), params
                put({"id": number, "result": {"sessionId": self.session, "modes": modes, "models": models}})
            case "session/load":
                self.session, self.begun_with = params["sessionId"], params
                for prompt in self.remembered():
                    self.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": prompt}})
                    self.say("This was said before")
                put({"id": number, "result": {"modes": modes, "models": models}})
            case "session/set_mode" if params["modeId"] in ("default", "autoEdit", "plan"):
                self.mode = params["modeId"]
                put({"id": number, "result": {}})
            case "session/set_model":
                self.model = params["modelId"]
                put({"id": number, "result": {}})
            case _:
                put({"id": number, "error": {"code": -32602, "message": f"Cannot do {method}"}})

    # What it tells and asks

    def update(self, update: Json) -> None:
        put({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def chunk(self, kind: str, text: str) -> None:
        self.update({"sessionUpdate": f"agent_{kind}_chunk", "content": {"type": "text", "text": text}})

    def say(self, text: str) -> None:
        half = len(text) // 2
        for part in (text[:half], text[half:]):
            self.chunk("message", part)
        self.update({"sessionUpdate": "usage_update", "used": 1000, "size": 200_000})

    def use(self, title: str, status: str, **more: Any) -> Json:
        call = {"toolCallId": f"call_{uuid.uuid4().hex[:8]}", "title": title, "status": status, **more}
        if status != "pending":
            self.update({"sessionUpdate": "tool_call", **call})
        return call

    def gave(self, call: Json, status: str, text: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        told = {"toolCallId": call["toolCallId"], "status": status, "content": content}
        self.update({"sessionUpdate": "tool_call_update", **told})

    def permit(self, call: Json, options: list[Json]) -> Json:
        number = uuid.uuid4().hex[:8]
        self.replies[number] = queue.SimpleQueue()
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        put({"id": number, "method": "session/request_permission", "params": params})
        while True:
            try:
                reply: Json = self.replies[number].get(timeout=0.02)["result"]
            except queue.Empty:
                if self.cancelled.is_set():
                    raise Cancelled from None
                continue
            if reply["outcome"]["outcome"] == "cancelled" and self.cancelled.is_set():
                raise Cancelled
            return reply

    def want(self, call: Json, options: list[Json] = OPTIONS) -> bool:
        chosen = self.permit(call, options)["outcome"].get("optionId")
        assert chosen != "every", "nobody said that"
        if chosen == "this":
            return True
        self.gave(call, "failed", "The user rejected it")
        if "--ends-at-no" in self.flags:
            raise Cancelled
        self.say(f"Denied {call['title']}")
        return False

    def run(self, command: str, *, options: list[Json] = OPTIONS, **more: Any) -> None:
        call = self.use(command, "pending", kind="execute", **more)
        if self.want(call, options):
            ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            self.gave(call, "completed", ran.stdout)
            self.say(f"Ran {command}")

    def edit(self, file: str, text: str) -> None:
        diff = {"type": "diff", "path": file, "oldText": "", "newText": text}
        given = {"filePath": file, "content": text}
        call = self.use(f"Write {file}", "pending", kind="edit", rawInput=given, content=[diff])
        if self.want(call):
            Path(file).write_text(text)
            self.gave(call, "completed", "Written")

    def question(self, text: str) -> None:
        asked = [{"question": text, "header": "Q", "options": [{"label": "North"}, {"label": "South"}]}]
        meta = {"toolName": "ask_user_question", "qwenQuestions": asked}
        call = self.use("Questions", "pending", kind="think", rawInput={"questions": asked}, _meta=meta)
        reply = self.permit(call, OPTIONS[1:])
        self.say(f"Heard: {json.dumps(reply.get('answers'))} {reply['outcome'].get('optionId', 'nothing')}")

    # A turn

    def wait(self, file: Path) -> None:
        give_up = time.monotonic() + PATIENCE
        while not file.exists():
            assert time.monotonic() < give_up
            if self.cancelled.is_set():
                raise Cancelled
            time.sleep(0.005)

    def take(self, prompt: Json) -> None:
        *pictures, said = prompt["params"]["prompt"]
        text = said["text"]
        self.pictures = [each["mimeType"] for each in pictures]
        self.cancelled.clear()
        reason = "end_turn"
        try:
            for line in text.splitlines():
                self.perform(*line.partition(" ")[::2])
        except Cancelled:
            reason = "cancelled"
        with self._memory.open("a") as memory:
            memory.write(json.dumps(text) + "\n")
        put({"id": prompt["id"], "result": {"stopReason": reason}})

    @property
    def _memory(self) -> Path:
        return Path.home() / f"{self.session}.txt"

    def remembered(self) -> list[str]:
        return [json.loads(line) for line in self._memory.read_text().splitlines()] if self._memory.exists() else []

    def perform(self, word: str, rest: str) -> None:
        match word:
            case "say":
                self.say(rest)
            case "think":
                self.chunk("thought", rest)
            case "plan":
                done, left = rest.split(" | ")
                entries = [{"content": done, "status": "completed"}, {"content": left, "status": "pending"}]
                self.update({"sessionUpdate": "plan", "entries": entries})
            case "tool":
                self.gave(self.use(rest, "in_progress", kind="read", rawInput={"path": "a.py"}), "completed", "ok")
            case "run":
                self.run(rest, rawInput={"command": rest, "description": "As told"})
            case "untold":
                self.run(rest)
            case "always":
                self.run(rest, rawInput={"command": rest}, options=[OPTIONS[0], OPTIONS[2]])
            case "edit":
                self.edit(*rest.split(" ", 1))
            case "question":
                self.question(rest)
            case "wait":
                self.wait(Path(rest))
            case "pictures":
                self.say(f"Pictures: {' '.join(self.pictures)}")
            case "settings":
                self.say(f"Mode {self.mode}, model {self.model}")
            case "remember":
                self.say(f"Before: {json.dumps(self.remembered())}")
            case "environment":
                noted = {"environment": dict(os.environ), "argv": sys.argv, "session": self.begun_with}
                Path(rest).write_text(json.dumps(noted))
            case _:
                self.misbehave(word, rest)

    def misbehave(self, word: str, rest: str) -> None:
        match word:
            case "child":
                start_child(Path(rest))
            case "garbage":
                for number in range(int(rest)):
                    print(f"this is no JSON {number} \x1b[31m<script>", flush=True)
            case "ask-client":
                put({"id": "odd", "method": "terminal/create", "params": {}})
            case "exit":
                print("something is wrong with me", file=sys.stderr)
                os._exit(int(rest))
            case "lose":
                os.kill(os.getpid(), signal.SIGKILL)
            case _:
                self.say(f"I do not understand: {word}")


def start_child(file: Path) -> None:
    wait = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(300)"
    child = subprocess.Popen([sys.executable, "-c", wait], stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    file.write_text(str(child.pid))


def main() -> None:
    agent = Agent(sys.argv[1:])
    threading.Thread(target=agent.listen, daemon=True).start()
    while (prompt := agent.prompts.get()) is not None:
        agent.take(prompt)


if __name__ == "__main__":
    main()
