"""A stand-in for the server that sessions of Codex share, with one session in a terminal, in the words of the real one,
0.166. It serves clients one after the other; what the terminal does, the test says."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.asks.samples import living
from tests.cli.codex_server import FakeCodex, Json
from tests.e2e.talk.stage import Stage

from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.processes import name_of
from sayso.records import replace
from sayso.roster import agent_id
from sayso.text import iso_time


class SharedSession(FakeCodex):
    """The session, its file, and whoever takes part in it."""

    def __init__(self, path: Path, project: Path, folder: Path) -> None:
        self.name = str(uuid.uuid4())
        self.file = folder / f"rollout-2026-11-16T11-51-15-{self.name}.jsonl"
        self._turns, self._one_at_a_time = itertools.count(1), threading.RLock()
        self.messages: list[Json] = []
        """What clients have asked for, but for the greetings, once it has been done."""
        self.turn: Json | None = None
        """The one that goes on."""
        super().__init__(path, project)

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            with closing(line):
                if self._shake_hands(line):
                    self._line = line
                    self._serve()

    @property
    def line(self) -> Any:
        return self._line

    def _serve(self) -> None:
        try:
            while True:
                said = self.hear()
                if "id" in said and "method" in said:
                    with self._one_at_a_time:
                        self.say(id=said["id"], result=self._result(said["method"], said["params"]))
                        self._then(said["method"], said["params"])
        except (OSError, ValueError):
            self._line = None

    def _result(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                return {"codexHome": str(self.path.parent)}
            case "thread/resume":
                status: Json = {"type": "active" if self.turn else "idle", "activeFlags": []}
                thread = {"id": self.name, "cwd": str(self._project), "cliVersion": "0.166.0", "status": status}
                return {"thread": thread, "model": "m", "initialTurnsPage": {"data": [self.turn] if self.turn else []}}
            case "turn/start":
                return {"turn": {"id": "turn-next", "items": [], "status": "inProgress"}}
        return {}

    def _then(self, method: str, params: Json) -> None:
        match method:
            case "turn/start" | "turn/steer":
                self.is_told(params["input"][-1]["text"], params["clientUserMessageId"])
                self.messages.append(params)
            case "turn/interrupt":
                self.ends("interrupted")
                self.messages.append(params)

    # What happens in the session

    def is_told(self, text: str, client: str = "the terminal") -> None:
        """Somebody says something: that begins a turn, or is taken up by the one that goes on."""
        with self._one_at_a_time:
            if self.turn is None:
                self.turn = {"id": f"turn-{next(self._turns)}", "items": [], "status": "inProgress"}
                self._note("task_started")
                self._tell("turn/started", turn=self.turn)
            item = {"type": "userMessage", "id": "u", "clientId": client, "content": [{"type": "text", "text": text}]}
            self.turn["items"].append(item)
            self._note("item_completed", item={"type": "UserMessage", "content": item["content"]})
            self._tell("item/started", item=item)

    def says(self, text: str) -> None:
        with self._one_at_a_time:
            self._note("item_completed", item={"type": "AgentMessage", "content": [{"type": "Text", "text": text}]})
            self._tell("item/completed", item={"type": "agentMessage", "id": "m", "text": text})

    def ends(self, status: str = "completed") -> None:
        with self._one_at_a_time:
            assert self.turn
            self._note("task_complete")
            ended, self.turn = {**self.turn, "status": status}, None
            self._tell("turn/completed", turn=ended, turnId=ended["id"])

    def _tell(self, method: str, **params: Any) -> None:
        if self._line:
            turn = {"turnId": self.turn["id"]} if self.turn else {}
            self.say(method=method, params={"threadId": self.name, **turn, **params})

    def _note(self, kind: str, **more: Any) -> None:
        assert self.turn
        payload = {"type": kind, "turn_id": self.turn["id"], **more}
        entry = {"timestamp": iso_time(now_ms()), "type": "event_msg", "payload": payload}
        with self.file.open("a") as file:
            file.write(json.dumps(entry, separators=(",", ":")) + "\n")


@contextmanager
def shared_session(stage: Stage, project: str) -> Iterator[tuple[SharedSession, str]]:
    """A session in a terminal that shares its server, and its page."""
    folder = stage.house.place.home / ".codex" / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True, exist_ok=True)
    path = stage.folder / f"{project}.sock"
    session = SharedSession(path, stage.folder / project, folder)
    words = [sys.executable, "-c", "import sys; sys.stdin.read()", "app-server", "--listen", f"unix://{path}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as server:
        try:
            name = name_of(server.pid)
            assert name
            asker = living(session=session.name, project=str(stage.folder / project))
            asker = replace(asker, client="codex-mcp-client", pid=name.pid, started=name.started)
            with closing(open_desks(stage.house.place.config())) as desks:
                desks.roster.note_gate(asker, "")
            yield session, f"/agents/{agent_id(asker)}"
        finally:
            session.close()
            server.terminate()
            session.file.unlink(missing_ok=True)
