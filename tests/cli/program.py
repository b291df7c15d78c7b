"""The real program, run as people run it: in a process of its own, with a home and a state folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import warm
from tests.asks.samples import AGENT, flood
from tests.trusting import trust

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, Settler
from sayso.clock import Clock, now_ms
from sayso.permissions.action import Action, AllowScope, asking
from sayso.store.sqlite import SqliteStore

BIN = Path(sys.executable).parent
SECONDS = 60
SOMEONE = Settler(person="mira", surface="terminal")


@dataclass(frozen=True, kw_only=True)
class Home:
    """A person's machine as the program sees it."""

    folder: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "TMPDIR": str(self.folder),
            "PYTHONWARNINGS": "error",
            "SAYSO_STATE_DIR": str(self.state),
            "SAYSO_PERSON": "ada",
            **self.extra,
        }

    def trust(self) -> None:
        """The person has looked at the project and trusts it as it is now."""
        trust(self.state, self.project)

    def run(self, *arguments: str, program: str = "sayso", stdin: str | bytes = "", **env: str) -> Ran:
        """Run it to its end."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        surroundings = {**self.env, **env}
        ran = warm.run(BIN / program, arguments, given=given, cwd=self.project, env=surroundings, seconds=SECONDS)
        return Ran(code=ran.returncode, out=ran.stdout.decode(), err=ran.stderr.decode())

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start it and go on."""
        return warm.start(
            [BIN / "sayso", *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.project,
            env=self.env,
            text=True,
        )

    @contextmanager
    def desk(
        self, *, clock: Clock = now_ms, keeps_history: Callable[[Ask], bool] = lambda _: True
    ) -> Iterator[AskDesk]:
        """The desk of the store that the program uses."""
        with closing(self._store()) as store:
            yield AskDesk(store, clock=clock, keeps_history=keeps_history)

    def wait_for_ask(self) -> Ask:
        """The first open ask that somebody waits for, once there is one."""
        deadline = time.monotonic() + SECONDS
        with closing(self._store()) as store:
            bell, desk = store.bell(), AskDesk(store)
            while not (waiting := [ask for ask in desk.inbox() if ask.wait]):
                assert time.monotonic() < deadline, "the ask never came"
                bell.wait(1.0)
            return waiting[0]

    def _store(self) -> SqliteStore:
        return SqliteStore(self.state / "sayso.db", self.state / "bell")

    def leave(self, *questions: Question, title: str = "", asker: Asker | None = None) -> Ask:
        """An open ask that no agent waits for."""
        by = asker or Asker(client="claude-code", version="2.1", project=str(self.project))
        with self.desk() as desk:
            return desk.leave(NewAsk(tool="ask_user_questions", questions=questions, asker=by, title=title))

    def flood(self, count: int) -> None:
        """So many asks of one agent."""
        with closing(self._store()) as store:
            flood(store, AGENT, count)

    @contextmanager
    def permission(
        self,
        action: Action,
        scopes: Sequence[AllowScope] = (AllowScope.ONCE,),
        asker: Asker | None = None,
        *,
        takes_changes: bool = False,
    ) -> Iterator[Ask]:
        """An agent that waits for a permission."""
        by = asker or Asker(client="claude-code", version="2.1", project=str(self.project))
        options = (Option(id="allow", label="Allow"), Option(id="deny", label="Deny"))
        question = Question(id="decision", text="May it?", kind=Kind.SELECT, options=options)
        new = NewAsk(tool="approve", title=f"Allow {action.title}?", questions=(question,), asker=by)
        with closing(self._store()) as store:
            yield AskDesk(store).hold(asking(new, action, scopes, takes_changes=takes_changes)).ask

    def ask_of(self, ask: Ask) -> Ask:
        with self.desk() as desk:
            return desk.get(ask.id)

    def answers(self, ask: Ask) -> Sequence[Answer]:
        outcome = self.ask_of(ask).outcome
        assert outcome is not None
        return outcome.answers


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that says what is wrong."""
        lines = [line for line in self.err.splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


def choice(text: str = "Which database?", *labels: str, kind: Kind = Kind.SELECT, id: str = "1") -> Question:
    options = tuple(Option(id=str(n), label=label) for n, label in enumerate(labels or ("SQLite", "PostgreSQL"), 1))
    return Question(id=id, text=text, kind=kind, options=options)


def several(*labels: str, id: str = "1") -> Question:
    return choice("Which checks?", *labels, kind=Kind.MULTI_SELECT, id=id)


def confirm(text: str = "Deploy?", id: str = "1") -> Question:
    return Question(id=id, text=text, kind=Kind.CONFIRM)


def text(question: str = "Why?", id: str = "1", *, required: bool = True) -> Question:
    return Question(id=id, text=question, required=required)
