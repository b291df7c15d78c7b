"""What the tests of the relay stand on: runs without an agent, and the two sides of the relay by hand over HTTP.

A run is opened at the desk, in the tests' own process, which follows it as a web server would. Nothing is started: what
an agent's MCP server says is said by the tests, or by a real server that they start.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.stdio.harness import WAIT, Place
from tests.orphan import Orphan
from tests.web.house import USER, House, Reply, Web, new_house

from sayso.agents import relay_file
from sayso.agents.desk import RunDesk
from sayso.agents.model import Ending, NewRun, Options, Project, Run, RunState
from sayso.agents.projects import Projects
from sayso.asks.desk import AskDesk
from sayso.asks.model import Settler
from sayso.store import open_store
from sayso.web.sessions import masked

OPTIONS = [{"label": "Option A", "description": "Simple but limited"}, {"label": "Option B"}]
ADA = Settler(person=USER, surface="terminal")
NO_TOKEN = "00000000-0000-4000-8000-000000000000"
FILE = {
    "apiUrl": "http://127.0.0.1:9",
    "streamToken": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
    "userId": 1,
    "projectId": 5,
    "csrfToken": "abc123",
    "timeout": 300,
}
"""What the file says to an MCP server, unless a test says otherwise."""


class Bench:
    """A web server, and runs in a project of its user's."""

    def __init__(self, house: House) -> None:
        self.house, self.place = house, house.place
        config = self.place.config()
        self._store = open_store(config)
        self.runs, self.desk = RunDesk(self._store, config.runs_dir), AskDesk(self._store)
        self.project = self.add_project(USER)
        self._secret = house.session()

    def add_project(self, owner: str, **options: Any) -> Project:
        self.house.accounts.add_user(owner)
        folder = self.place.folder / f"project-{uuid.uuid4().hex[:6]}"
        folder.mkdir()
        return Projects(self._store).add(owner, folder, options=Options(**options))

    def impatient_project(self, seconds: int) -> Project:
        """One whose agents wait for a shorter time than anyone can set."""
        project = self.add_project(USER)
        options = json.dumps({"askUserTimeout": seconds})
        with closing(sqlite3.connect(self.place.database, timeout=30)) as database, database:
            database.execute("UPDATE projects SET options = ? WHERE id = ?", (options, project.id))
        return project

    def run(self, project: Project | None = None) -> Run:
        """A run that is on."""
        new = NewRun(project=project or self.project, prompt="Do it.", token=str(uuid.uuid4()))
        return self.runs.open(new, most=1000)

    def end(self, run: Run) -> None:
        self.runs.end(run.id, RunState.COMPLETED, Ending())

    def close(self) -> None:
        self._store.close()

    def restart_elsewhere(self) -> None:
        """The same web server once more, on another port. Some asks come from servers that the tests have started."""
        self.house.web = Web(self.place, "--port", "0", "--user", USER, start=Orphan)

    # An MCP server's side

    def relay(self, run: Run, question: str = "Which?", put: str = "", **more: Any) -> str:
        """Relay a question, by the name that its server has for it: the id of its ask."""
        body = {"streamToken": run.token, "question": question, "options": OPTIONS, "multiSelect": False, **more}
        headers = {relay_file.PUT_HEADER: put} if put else {}
        reply = self.house.web.call("POST", f"/claude/relay-question?p={run.project.id}", data=body, headers=headers)
        assert reply.status == 200, reply.text
        return str(reply.data["ask"])

    def poll(self, run: Run, query: str = "") -> Reply:
        path = f"/claude/poll-answer?p={run.project.id}&streamToken={run.token}{query}"
        return self.house.web.call("GET", path)

    def relay_file(self, run: Run, **changes: Any) -> Path:
        """The file by which a real MCP server finds the relay."""
        values = {
            "api_url": f"http://127.0.0.1:{self.house.web.port}",
            "stream_token": run.token,
            "user_id": run.user,
            "project_id": run.project.id,
            "csrf_token": relay_file.csrf_token(self._store.secret(relay_file.KEY), run.token),
            "timeout": 60,
        }
        return relay_file.write(self.place.folder / "relay", relay_file.RelayFile(**{**values, **changes}))

    # A browser's side

    def submit(self, run: Run, *, secret: str = "", csrf: str | None = None, **body: Any) -> Reply:
        secret = secret or self._secret
        session = self.house.accounts.session(secret)
        assert session is not None
        return self.house.web.call(
            "POST",
            f"/claude/submit-answer?p={run.project.id}",
            data={"streamToken": run.token, **body},
            headers={"X-CSRF-Token": masked(session.csrf) if csrf is None else csrf},
            cookie=f"{self.house.cookie_name}={secret}",
            host=self.house.host_of(session.user),
        )

    def age(self, ask_id: str, seconds: int) -> None:
        """Let an ask have been asked, and ended, so much earlier."""
        with closing(sqlite3.connect(self.place.database, timeout=30)) as database, database:
            database.execute(
                "UPDATE asks SET created_at = created_at - ?1, ended_at = ended_at - ?1 WHERE id = ?2",
                (seconds * 1000, ask_id),
            )


@contextmanager
def new_bench(**settings: str) -> Iterator[Bench]:
    with new_house(**settings) as house:
        bench = Bench(house)
        try:
            yield bench
        finally:
            bench.close()


def refusal(reply: Reply) -> str:
    """What a refused request was told; it is JSON whatever the reason."""
    return str(json.loads(reply.text)["error"])


def under(file: Path) -> dict[str, str]:
    """The environment of an agent's server. Its home is another than that of whoever starts `sayso web` here, which
    would otherwise count as something that the agent started."""
    return {relay_file.VARIABLE: str(file), "HOME": str(file.parent)}


def written(folder: Path, **changes: Any) -> Path:
    file = folder / "ask-user.json"
    file.write_text(json.dumps({**FILE, **changes}))
    return file


def start_fails(place: Place, file: Path, heard: bytes = b"") -> str:
    """What a server says that cannot start. It does not wait for a client: its input stays open after what it hears."""
    reading, writing = os.pipe()
    os.write(writing, heard)
    try:
        done = subprocess.run(
            [Path(sys.executable).parent / "sayso", "server"],
            cwd=place.project,
            env={**place.environment, **under(file)},
            stdin=reading,
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert str(file) in done.stderr
    return done.stderr
