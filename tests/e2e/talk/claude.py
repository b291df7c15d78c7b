"""A stand-in for `claude -p --input-format stream-json`: takes messages on stdin, prints stream-json, and starts the
MCP server it is given. As the real one (2.1.325) does, it says which message it has taken up, takes further ones
between two steps, answers control requests at once, and ends when its input does.

A message is its script, one step a line, a word and what belongs to it:

    say TEXT            says it, first in parts and then whole
    part TEXT           says the beginning of something
    tool NAME JSON      uses a tool of its own, which gives back "ok"
    look FILE           reads a picture by its tool
    pictures            says which pictures it was sent last
    ask JSON            calls ask_user of its MCP server and says what came of it; several in a row run at the same time
    native JSON         asks by its own AskUserQuestion, through the permission prompt
    permit NAME JSON    wants to use a tool that needs a permission
    touchy FILE         asks and wants a permission, ignores SIGTERM, and writes the file as soon as it hears anything
    ponder FILE         from now on, when it has an answer, does nothing until the file is there
    wait FILE           waits until the file is there
    later FILE STEPS    once the file is there, begins a turn by itself with these steps, with \\n between them
    shell COMMAND       runs it in a shell, and says what it printed and its exit code
    child FILE          starts a process that ignores SIGTERM, and notes its pid in the file
    environment FILE    writes its environment and its command line to the file
    forget              goes on in a new session, which has cost nothing yet
    cost USD            counts from now on what it costs from there
    remember            says what it was told in earlier turns of the conversation
    settings            says its permission mode and its model
    pace N SECONDS      says N short things, with that time between them
    stream N            says N short things, as fast as it can
    garbage N, huge N, flood N, exit N, lose      misbehaves

{now} in what it says or asks becomes the time at that moment, in milliseconds since 1970.
With STAND_IN_SCRIPT in the environment the script is in that file, and the prompt may say anything.
"""

from __future__ import annotations

import base64
import hashlib
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
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

PATIENCE = 120.0
interrupted = threading.Event()
speaking = threading.Lock()
VERSION = "2.1.325"
COST = 0.0123
"""What each turn costs, in US dollars."""


class Server:
    """One MCP server, spoken to by hand as Claude's own client does over stdio."""

    def __init__(self, name: str, entry: dict[str, Any]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [entry["command"], *entry["args"]],
            env={**os.environ, **entry.get("env", {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ids = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self.ended: Future[None] = Future()
        threading.Thread(target=self._read, daemon=True).start()
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "claude-code", "version": VERSION},
        }
        self.request("initialize", hello).result(PATIENCE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = [tool["name"] for tool in self.request("tools/list", {}).result(PATIENCE)["result"]["tools"]]

    def call(self, tool: str, arguments: dict[str, Any]) -> Future[dict[str, Any]]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def request(self, method: str, params: dict[str, Any]) -> Future[dict[str, Any]]:
        number = next(self._ids)
        future: Future[dict[str, Any]] = Future()
        self._waiting[number] = future
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return future

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(PATIENCE)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self._waiting.pop(message["id"]).set_result(message)
        self.ended.set_result(None)


class Interrupted(Exception):
    """The person wants it to stop what it does."""


class Input:
    """What comes on stdin."""

    def __init__(self, claude: Claude) -> None:
        self._claude = claude
        self.messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            said = json.loads(line)
            if said["type"] == "control_request":
                self._obey(said["request_id"], said["request"])
            else:
                assert said["type"] == "user", said
                self.messages.put(said)
        self.messages.put(None)

    def _obey(self, name: str, request: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"subtype": "success", "request_id": name, "response": {}}
        match request["subtype"]:
            case "initialize":
                known = {"name": "compact", "description": "Clear\u202e the history", "argumentHint": ""}
                commands = [known, {"name": "review", "description": "Review a change"}]
                models = [{"value": "default"}, {"value": "stand-in-2"}, {"value": "--flag"}, {}]
                reply["response"] = {"commands": commands, "models": models}
            case "interrupt":
                interrupted.set()
            case "set_permission_mode" if request["mode"] == "none":
                reply = {"subtype": "error", "request_id": name, "error": "No such mode"}
            case "set_permission_mode":
                self._claude.mode = request["mode"]
            case "set_model":
                self._claude.model = request["model"]
        self._claude.put({"type": "control_response", "response": reply})

    def more(self) -> list[dict[str, Any]]:
        """What has come by now."""
        found = []
        while not self.messages.empty():
            message = self.messages.get()
            if message is None:
                self.messages.put(None)
                break
            found.append(message)
        return found


class Claude:
    """One conversation."""

    def __init__(self, flags: list[str]) -> None:
        self.flags = flags
        self.mode, self.model = self._flag("--permission-mode"), self._flag("--model")
        self.pictures: list[dict[str, Any]] = []
        self.session = self._flag("--resume") or str(uuid.uuid4())
        if "--fork-session" in flags:
            before, self.session = self._memory, str(uuid.uuid4())
            self._memory.write_bytes(before.read_bytes() if before.exists() else b"")
        self.cost = self._cost_so_far()
        self._servers: list[Server] = []
        self._trouble: list[str] = []
        self.ponders: Path | None = None
        self.heard = Input(self)

    def _flag(self, name: str) -> str:
        return self.flags[self.flags.index(name) + 1] if name in self.flags else ""

    def put(self, message: dict[str, Any]) -> None:
        with speaking:
            sys.stdout.write(json.dumps({**message, "session_id": self.session}) + "\n")
            sys.stdout.flush()

    def take_up(self, message: dict[str, Any]) -> str:
        if "woken" in message:
            return str(message["woken"])
        self.put({**message, "isReplay": True})
        content = message["message"]["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        self.pictures = [block["source"] for block in blocks if block["type"] == "image"] or self.pictures
        (text,) = [str(block["text"]) for block in blocks if block["type"] == "text"]
        return text

    def start_servers(self) -> None:
        config = self._flag("--mcp-config")
        for name, entry in (json.loads(Path(config).read_text())["mcpServers"] if config else {}).items():
            try:
                self._servers.append(Server(name, entry))
            except (OSError, ValueError, KeyError, TimeoutError):
                self._trouble.append(name)

    def begin(self) -> None:
        told = [{"name": server.name, "status": "connected"} for server in self._servers]
        told += [{"name": name, "status": "failed"} for name in self._trouble]
        tools = [f"mcp__{server.name}__{tool}" for server in self._servers for tool in server.tools]
        prompt_tool = self._flag("--permission-prompt-tool")
        shown = [tool for tool in tools if tool != prompt_tool] + (["AskUserQuestion"] if prompt_tool else [])
        self.put({"type": "system", "subtype": "init", "model": "stand-in-1", "tools": shown, "mcp_servers": told})

    def say(self, text: str) -> None:
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            self.begin_to_say(part)
        self._assistant({"type": "text", "text": text})

    def begin_to_say(self, part: str) -> None:
        delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": part}}
        self.put({"type": "stream_event", "event": delta})

    def report(self, text: str) -> None:
        """Say what came of a step, unless the script is one to be looked at."""
        if "STAND_IN_SCRIPT" not in os.environ:
            self.say(text)

    def use(self, name: str, given: dict[str, Any]) -> str:
        tool_use = f"toolu_{uuid.uuid4().hex[:12]}"
        self._assistant({"type": "tool_use", "id": tool_use, "name": name, "input": given})
        return tool_use

    def gave(self, tool_use: str, text: str, *, failed: bool = False) -> None:
        self._give(tool_use, {"type": "text", "text": text}, failed=failed)

    def show(self, tool_use: str, file: Path) -> None:
        """A tool's result that is a picture, as that of Read."""
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(file.read_bytes()).decode()}
        self._give(tool_use, {"type": "image", "source": source}, failed=False)

    def _give(self, tool_use: str, content: dict[str, Any], *, failed: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": tool_use, "content": [content]}
        self.put({"type": "user", "message": {"role": "user", "content": [{**block, "is_error": failed}]}})

    def ask(self, *questions: dict[str, Any]) -> None:
        """Put all of them at once, as a model that calls several tools in one message."""
        server = self._servers[0]
        calls = [(self.use(f"mcp__{server.name}__ask_user", each), server.call("ask_user", each)) for each in questions]
        for tool_use, call in calls:
            result = outcome(call)["result"]
            if self.ponders:
                await_file(self.ponders)
            text = result["content"][0]["text"]
            self.gave(tool_use, text, failed=result.get("isError", False))
            self.report(f"Heard: {text}")

    def permit(self, name: str, given: dict[str, Any]) -> None:
        _, server_name, tool = self._flag("--permission-prompt-tool").split("__")
        server = next(each for each in self._servers if each.name == server_name)
        tool_use = self.use(name, given)
        wanted = {"tool_name": name, "input": given, "tool_use_id": tool_use}
        told = json.loads(outcome(server.call(tool, wanted))["result"]["content"][0]["text"])
        if told["behavior"] == "allow":
            self.gave(tool_use, f"Allowed: {json.dumps(told['updatedInput'], sort_keys=True)}")
            self.report(f"Allowed {name}")
        else:
            self.gave(tool_use, told["message"], failed=True)
            self.report(f"Denied {name}: {told['message']}")

    def be_touchy(self, file: Path) -> None:
        """Take the first word that comes, whatever it is, for a reason to go on."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        server = self._servers[0]
        wanted = {"tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "toolu_touchy"}
        calls = [server.call("ask_user", {"question": "Shall I?"}), server.call("approve", wanted)]
        words: list[Future[Any]] = [*calls, server.ended]
        for word in words:
            word.add_done_callback(lambda _: file.write_text("it went on"))
        self.say("Waiting")
        time.sleep(PATIENCE)

    def leave(self) -> None:
        for server in self._servers:
            server.close()

    def end(self, prompt: str, ending: dict[str, Any]) -> None:
        with self._memory.open("a") as memory:
            memory.write(json.dumps(prompt) + "\n")
        # As Claude does, it counts on from what the session had cost before.
        cost = round(self.cost + COST, 4)
        self._cost_file.write_text(str(cost))
        self.cost = cost
        self.put({"type": "result", "duration_ms": 1234, "num_turns": 2, **ending, "total_cost_usd": cost})

    def forget(self) -> None:
        self.session, self.cost = str(uuid.uuid4()), 0.0

    @property
    def _memory(self) -> Path:
        return Path.home() / f"{self.session}.txt"

    @property
    def _cost_file(self) -> Path:
        return Path.home() / f"{self.session}.cost"

    def _cost_so_far(self) -> float:
        return float(self._cost_file.read_text()) if self._cost_file.exists() else 0.0

    def remembered(self) -> list[str]:
        return [json.loads(line) for line in self._memory.read_text().splitlines()] if self._memory.exists() else []

    def _assistant(self, block: dict[str, Any]) -> None:
        message = {"id": f"msg_{uuid.uuid4().hex[:8]}", "role": "assistant", "content": [block]}
        self.put({"type": "assistant", "message": message, "parent_tool_use_id": None})


def steps(prompt: str) -> Iterator[tuple[str, list[str]]]:
    """The steps; asks that follow each other are one."""
    lines = [line.partition(" ")[::2] for line in prompt.strip().splitlines()]
    for word, group in itertools.groupby(lines, key=lambda line: line[0]):
        rests = [rest for _, rest in group]
        yield from [(word, rests)] if word == "ask" else [(word, [rest]) for rest in rests]


def timed(text: str) -> str:
    return text.replace("{now}", str(int(time.time() * 1000)))


def await_file(file: Path) -> None:
    until(file.exists)


def outcome(call: Future[dict[str, Any]]) -> dict[str, Any]:
    until(call.done)
    return call.result()


def until(there: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < give_up
        if interrupted.is_set():
            raise Interrupted
        time.sleep(0.005)


def wake_later(claude: Claude, file: Path, step: str) -> None:
    """As a command does that was left running in the background, when it ends."""
    give_up = time.monotonic() + PATIENCE
    while not file.exists() and time.monotonic() < give_up:
        time.sleep(0.005)
    claude.heard.messages.put({"woken": step.replace("\\n", "\n")})


def start_child(file: Path) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(300)",
        ],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout
    child.stdout.readline()
    file.write_text(str(child.pid))


def misbehave(claude: Claude, word: str, rest: str) -> None:
    match word:
        case "garbage":
            for number in range(int(rest)):
                print(f"this is no JSON {number} \x1b[31m<script>", flush=True)
        case "huge":
            claude.put({"type": "noise", "text": "x" * int(rest)})
        case "flood":
            line = json.dumps({"type": "noise", "text": "y" * 1000}) + "\n"
            for _ in range(int(rest)):
                sys.stdout.write(line)
        case "exit":
            print("something is wrong with me", file=sys.stderr)
            sys.exit(int(rest))
        case "lose":
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            claude.say(f"I do not understand: {word}")


def perform(claude: Claude, word: str, rests: list[str]) -> None:
    rest = rests[0]
    match word:
        case "say":
            claude.say(timed(rest).replace("\\n", "\n"))
        case "part":
            claude.begin_to_say(rest)
        case "pace" | "stream":
            count, _, seconds = rest.partition(" ")
            for number in range(int(count)):
                claude.say(timed(f"Line {number} at {{now}}"))
                time.sleep(float(seconds or 0))
        case "tool":
            name, _, given = rest.partition(" ")
            claude.gave(claude.use(name, json.loads(given)), "ok")
        case "look":
            claude.show(claude.use("Read", {"file_path": rest}), Path(rest))
        case "pictures":
            sent = ((each["media_type"], base64.b64decode(each["data"])) for each in claude.pictures)
            claude.say(" ".join(f"{media} {hashlib.sha256(data).hexdigest()[:8]}" for media, data in sent))
        case "ask":
            claude.ask(*(json.loads(timed(each)) for each in rests))
        case "native":
            claude.permit("AskUserQuestion", json.loads(rest))
        case "permit":
            name, _, given = rest.partition(" ")
            claude.permit(name, json.loads(given))
        case "touchy":
            claude.be_touchy(Path(rest))
        case "ponder":
            claude.ponders = Path(rest)
        case "wait":
            await_file(Path(rest))
        case "later":
            file, _, step = rest.partition(" ")
            threading.Thread(target=wake_later, args=(claude, Path(file), step), daemon=True).start()
        case "shell":
            ran = subprocess.run(rest, shell=True, capture_output=True, text=True)
            claude.say(f"{ran.returncode}: {ran.stdout}{ran.stderr}")
        case "child":
            start_child(Path(rest))
        case "environment":
            relay = Path(os.environ.get("ASK_USER_CONFIG", "/nowhere"))
            told = json.loads(relay.read_text()) if relay.exists() else None
            noted = {"environment": dict(os.environ), "argv": claude.flags, "relay": told, "pid": os.getpid()}
            Path(rest).write_text(json.dumps(noted))
        case "forget":
            claude.forget()
        case "cost":
            claude.cost = float(rest)
        case "settings":
            claude.say(f"Mode {claude.mode}, model {claude.model}")
        case "remember":
            claude.say(f"Before: {json.dumps(claude.remembered())}")
        case _:
            misbehave(claude, word, rest)


DONE = {"subtype": "success", "is_error": False, "result": "done"}
ABORTED = {
    "subtype": "error_during_execution",
    "is_error": True,
    "errors": ["aborted"],
    "terminal_reason": "aborted_tools",
}


def turn(claude: Claude, heard: Input, first: dict[str, Any]) -> None:
    """Do as one message says, and as those say that come meanwhile."""
    claude.begin()
    script = os.environ.get("STAND_IN_SCRIPT")
    prompt = claude.take_up(first)
    to_do = deque(steps(Path(script).read_text() if script else prompt))
    ending = DONE
    try:
        while to_do:
            perform(claude, *to_do.popleft())
            for message in heard.more():
                to_do.extend(steps(claude.take_up(message)))
    except Interrupted:
        ending = ABORTED
    interrupted.clear()
    claude.end(prompt, ending)


def main() -> None:
    flags = sys.argv[1:]
    assert flags[:3] == ["-p", "--input-format", "stream-json"], flags
    assert {"--verbose", "--replay-user-messages"} <= set(flags), flags
    claude = Claude(flags)
    claude.start_servers()
    while (message := claude.heard.messages.get()) is not None:
        turn(claude, claude.heard, message)
    claude.leave()


if __name__ == "__main__":
    main()
