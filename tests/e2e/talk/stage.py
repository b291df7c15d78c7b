"""What the tests of Talk stand on: a machine with a web page, projects, and a stand-in for Claude that does as told."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import psutil
from playwright.sync_api import Locator, Page
from tests.e2e.stdio.folders import PROGRAMS
from tests.orphan import Orphan
from tests.web.house import USER, WAIT, House, Reply, new_house

from sayso.agents.desk import RunDesk
from sayso.agents.model import EventKind, Options, Run, RunEvent
from sayso.agents.projects import Projects
from sayso.asks.model import Ask
from sayso.running.folder import wait
from sayso.store import Store, open_store

T = TypeVar("T")
STAND_IN = Path(__file__).parent / "claude.py"
PATIENCE = 120.0
"""Seconds for what an agent does: it starts with a whole server behind it, which takes its time on a busy machine."""
OPTIONS = [{"label": "Option A", "description": "Simple but limited"}, {"label": "Option B"}]


class Visitor:
    """A person who is signed in, by HTTP alone."""

    def __init__(self, house: House, user: str) -> None:
        self._house, self.cookie = house, f"{house.cookie_name}={house.session(user)}"
        self._host = house.host_of(user)

    def get(self, path: str) -> Reply:
        return self._house.web.call("GET", path, cookie=self.cookie, host=self._host)

    def heads(self, *paths: str) -> list[int]:
        """How each is answered of which the head alone is asked for, one after the other on the same line."""
        statuses = []
        with closing(http.client.HTTPConnection("127.0.0.1", self._house.web.port, timeout=WAIT)) as line:
            for path in paths:
                line.request("HEAD", path, headers={"Cookie": self.cookie, "Host": self._host})
                with line.getresponse() as reply:
                    statuses.append(reply.status)
        return statuses

    def post(self, path: str, **form: str) -> Reply:
        sent = {"csrf": self.csrf, **form}
        return self._house.web.call("POST", path, cookie=self.cookie, form=sent, host=self._host)

    def post_with(self, path: str, picture: bytes, **form: str) -> Reply:
        """The same as a form with a file."""
        fields = [f'name="{name}"\r\n\r\n{value}'.encode() for name, value in {"csrf": self.csrf, **form}.items()]
        fields.append(b'name="picture"; filename="a"\r\n\r\n' + picture)
        body = b"".join(b"--edge\r\nContent-Disposition: form-data; " + field + b"\r\n" for field in fields)
        headers = {"Content-Type": "multipart/form-data; boundary=edge"}
        web, body = self._house.web, body + b"--edge--\r\n"
        return web.call("POST", path, cookie=self.cookie, body=body, headers=headers, host=self._host)

    @contextmanager
    def stream(self, path: str) -> Iterator[Iterator[dict[str, Any]]]:
        """What an event stream says, message by message."""
        line = http.client.HTTPConnection("127.0.0.1", self._house.web.port, timeout=WAIT)
        with closing(line):
            line.request("GET", path, headers={"Cookie": self.cookie, "Host": self._host})
            reply = line.getresponse()
            assert reply.status == 200, reply.read()
            yield (json.loads(text[6:]) for text in reply if text.startswith(b"data: {"))

    def send_json(self, path: str, data: object) -> Reply:
        headers = {"X-CSRF-Token": self.csrf}
        return self._house.web.call("POST", path, cookie=self.cookie, data=data, headers=headers, host=self._host)

    def start(self, project: int, *steps: str) -> str:
        """Begin a conversation; its id."""
        reply = self.post("/talk", project=str(project), prompt="\n".join(steps))
        assert reply.status == 303, reply.text
        return reply.headers["location"].removeprefix("/talk/")

    def go_on(self, conversation: str, *steps: str) -> Reply:
        return self.post(f"/talk/{conversation}", prompt="\n".join(steps))

    @cached_property
    def csrf(self) -> str:
        return self.get("/settings").text.partition('name="csrf" value="')[2].partition('"')[0]


class Stage:
    """A house in which agents can be started."""

    def __init__(self, house: House, store: Store) -> None:
        self.house, self.store = house, store
        self.runs = RunDesk(store, house.place.config().runs_dir)
        self.projects = Projects(store)
        self.folder = house.place.folder

    @property
    def relay_dir(self) -> Path:
        return self.house.place.config().relay_dir

    def project(self, name: str = "shop", owner: str = USER, **options: Any) -> int:
        """A project with a directory of its own."""
        directory = self.folder / name
        directory.mkdir(parents=True, exist_ok=True)
        self.house.accounts.add_user(owner)
        return self.projects.add(owner, directory, name=name, options=Options(**options)).id

    def impatient_project(self, seconds: int) -> int:
        """One whose agents wait for a shorter time than anyone can set."""
        number = self.project("impatient")
        project = self.projects.of(USER, number)
        place = {"owner": USER, "host": project.host, "directory": str(project.directory)}
        options = json.dumps({"askUserTimeout": seconds})
        self.store.write(lambda tx: tx.run("add_project", **place, name="impatient", options=options, now=1))
        return number

    def visitor(self, user: str = USER) -> Visitor:
        return Visitor(self.house, user)

    # Looking

    def latest(self, conversation: str, user: str = USER) -> Run:
        return self.runs.turns(conversation, user)[-1]

    def ended(self, conversation: str, user: str = USER) -> Run:
        """The latest run once it has ended."""
        return self.until(lambda: run if (run := self.latest(conversation, user)).state.ended else None)

    def events(self, run: Run, kind: EventKind) -> list[RunEvent]:
        return [event for event in self.runs.events(run.id, most=100_000) if event.kind is kind]

    def texts(self, run: Run) -> list[str]:
        return [event.body["text"] for event in self.events(run, EventKind.TEXT)]

    def open_ask(self, conversation: str) -> Ask:
        """The ask of a run that can be answered, once there is one."""

        def look() -> Ask | None:
            run = self.latest(conversation)
            return next((ask for ask in self.house.desk.inbox(most=1000) if ask.asker.run == run.id), None)

        return self.until(look)

    def until(self, look: Callable[[], T | None]) -> T:
        """What a look finds, after each ring of the bell."""
        bell, give_up = self.store.bell(), time.monotonic() + PATIENCE
        while (found := look()) is None:
            assert time.monotonic() < give_up, "it never happened"
            bell.wait(0.2)
        return found

    def until_true(self, look: Callable[[], bool]) -> None:
        self.until(lambda: True if look() else None)

    def _stop_as_a_person(self) -> None:
        """No agent may, and whoever has started a server passes for one, as the tests have."""
        place, pipe = self.house.place, subprocess.PIPE
        options: dict[str, Any] = {"cwd": place.project, "env": place.environment, "text": True}
        command = [str(PROGRAMS / "sayso"), "project", "stop"]
        with Orphan(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT, **options) as stopped:
            stopped.wait(WAIT)

    def dismiss_all(self) -> None:
        """End the agents that are left, at work or waiting for a message: without a server they would stay."""
        left = [*self.runs.open_here(), *self.runs.resting_here()]
        if left:
            self._stop_as_a_person()
            # One that was only about to be started ends once it was.
            self.until_true(lambda: not self.runs.open_here())
            assert all(wait(run.folder, PATIENCE) for run in left)


@contextmanager
def new_stage(**settings: str) -> Iterator[Stage]:
    # Where nobody wants to see an agent wait for the next message, none does.
    defaults = {"claude_command": f"{sys.executable} {STAND_IN}", "most_runs": "20", "run_rest": "1ms"}
    with new_house(**{**defaults, **settings}) as house, closing(open_store(house.place.config())) as store:
        stage = Stage(house, store)
        try:
            yield stage
        finally:
            stage.dismiss_all()


# In the browser


def begin(page: Page, project: int, *steps: str) -> str:
    """Start a conversation on the page; its id."""
    page.goto("/talk")
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("\n".join(steps))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/talk/*")
    return page.url.rpartition("/")[2]


def say(page: Page, *steps: str) -> None:
    """The next turn."""
    page.get_by_label("Go on").fill("\n".join(steps))
    page.get_by_role("button", name="Send", exact=True).click()


def card(page: Page, text: str) -> Locator:
    return page.locator("[data-card]", has_text=text)


def ask(question: str, **more: Any) -> str:
    """A step in which the agent asks."""
    return f"ask {json.dumps({'question': question, **more})}"


def permit(tool: str, **given: Any) -> str:
    return f"permit {tool} {json.dumps(given)}"


def process_of(run: Run) -> psutil.Process:
    """The process of a run's agent."""
    name = json.loads((run.folder / "runner.json").read_text())
    (agent,) = [child for child in psutil.Process(name["pid"]).children() if child.is_running()]
    return agent
