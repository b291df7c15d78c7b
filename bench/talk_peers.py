"""Driving a real agent from a page: Sayso beside HAPI, in turns, with the same Claude Code on a scripted model; and
Codex and Gemini through Sayso. The agents come from npm, about a gigabyte, and are kept for the next time.

A round is a message, a command that the agent wants to run, a yes, and the agent's last word. The agent is there
before the first round that counts. Usage: python -m bench.talk_peers [--rounds N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import queue
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil
from bench.tables import setting, table
from bench.talk_crowd import cold_stage
from bench.wire import own_memory
from playwright.sync_api import sync_playwright
from scripts.install_browser import find
from tests.e2e.browser.conftest import FLAGS, sign_in_context
from tests.e2e.clients.install import CACHE
from tests.e2e.programs.fetch import node, programs
from tests.e2e.programs.model import Json, Model, say, told
from tests.e2e.talk.real_agents import CLAUDE, CODEX, GEMINI, RealAgent, claude_variables, commands, move_in, project_of
from tests.e2e.talk.stage import Stage, Visitor

from bench import hapi
from sayso import __version__
from sayso.running.folder import read_runner

PATIENCE = 180.0
PAGE_SECONDS = 8.0
"""In which a page that was opened asks for all that it wants."""
AIMS = {"send to model request": 150, "model request to card": 150, "click to command": 100}
"""Milliseconds, each the median."""
PROGRAMS = str(CACHE / "programs-")
"""With which the paths of programs from npm begin. To know it, nobody has to fetch them."""


class Script:
    """A model that wants one command for each message, which notes when it runs, and then says that it is done."""

    def __init__(self, agent: RealAgent, folder: Path) -> None:
        self._agent, self._folder = agent, folder
        self.round = 0
        self.requests: dict[int, list[float]] = {}

    def __call__(self, request: Json) -> Json:
        done = len(told(request).results)
        if done > self.round:
            return say("Done.")
        self.requests.setdefault(done, []).append(time.time())
        return self._agent.run(f"toolu_{done}", f"date +%s%N > {self.ran(done)}")

    def message(self) -> str:
        """With which this round begins."""
        return f"Message {self.round}."

    def ran(self, number: int) -> Path:
        return self._folder / f"{self._agent.key}-{number}"

    def running_at(self) -> float:
        """When the command of this round ran."""
        give_up = time.monotonic() + PATIENCE
        while not (text := _text_of(self.ran(self.round))).endswith("\n"):
            assert time.monotonic() < give_up, "the command never ran"
            time.sleep(0.01)
        return int(text) / 1e9


def _text_of(file: Path) -> str:
    return file.read_text() if file.exists() else ""


class Heard:
    """What comes on an event stream, each with the moment when it came."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._messages: queue.Queue[tuple[float, dict[str, Any]]] = queue.Queue()
        self._reply = urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=PATIENCE)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._reply:
            if line.startswith(b"data: {"):
                self._messages.put((time.time(), json.loads(line[6:])))

    def next(self, found: Callable[[dict[str, Any]], str]) -> tuple[float, str]:
        """The first message in which there is what is looked for."""
        while True:
            at, message = self._messages.get(timeout=PATIENCE)
            if what := found(message):
                return at, what


class Talker(Protocol):
    """One agent behind one page."""

    script: Script

    @property
    def version(self) -> str: ...

    def say(self, text: str) -> None: ...

    def card(self) -> tuple[float, str]:
        """When a permission to decide on was told to the page, and its name."""

    def allow(self, card: str) -> None: ...

    def await_end(self) -> None:
        """Until the turn is over."""

    def memory(self) -> str:
        """Of the server and of what each session has besides its agent."""

    def first_page(self) -> str: ...


class SaysoTalker:
    version = __version__

    def __init__(self, stage: Stage, script: Script, project: int) -> None:
        self.script, self._stage, self._project = script, stage, project
        self._visitor: Visitor = stage.visitor()
        self._conversation = ""

    def say(self, text: str) -> None:
        if self._conversation:
            assert self._visitor.go_on(self._conversation, text).status == 303
            return
        self._conversation = self._visitor.start(self._project, text)
        web = self._stage.house.web
        url = f"http://127.0.0.1:{web.port}/talk/{self._conversation}/events?after=1.0"
        self._heard = Heard(url, {"Host": web.host, "Cookie": self._visitor.cookie})

    def card(self) -> tuple[float, str]:
        return self._heard.next(lambda message: str(message["ask"]) if message["type"] == "ask" else "")

    def allow(self, card: str) -> None:
        digest = self._stage.house.desk.get(card).digest
        assert self._visitor.post(f"/asks/{card}", settle="allow-once", digest=digest).status == 303

    def await_end(self) -> None:
        self._heard.next(lambda message: "over" if message["type"] == "footer" and not message["running"] else "")

    def memory(self) -> str:
        runner = read_runner(self._stage.latest(self._conversation).folder)
        assert runner
        family = [psutil.Process(runner.pid), *psutil.Process(runner.pid).children(recursive=True)]
        return _memory([psutil.Process(self._stage.house.web.pid)], family)

    def first_page(self) -> str:
        house = self._stage.house
        return _first_page(house.web.address, f"/talk/{self._conversation}", lambda each: sign_in_context(each, house))


class HapiTalker:
    def __init__(self, running: hapi.Hapi, script: Script) -> None:
        self.script, self._hapi, self.version = script, running, running.version
        self._heard = Heard(running.stream, {})
        self._cards: set[str] = set()

    def say(self, text: str) -> None:
        self._hapi.say(text)

    def card(self) -> tuple[float, str]:
        at, name = self._heard.next(self._new_request)
        self._cards.add(name)
        return at, name

    def _new_request(self, message: Mapping[str, Any]) -> str:
        state = (message.get("data") or {}).get("agentState") if message["type"] == "session-updated" else None
        requests = ((state or {}).get("value") or {}).get("requests") or {}
        return next((name for name in requests if name not in self._cards), "")

    def allow(self, card: str) -> None:
        self._hapi.allow(card)

    def await_end(self) -> None:
        self._heard.next(lambda message: "over" if '"type": "ready"' in json.dumps(message) else "")

    def memory(self) -> str:
        everything = self._hapi.processes()
        server = [each for each in everything if each.pid == self._hapi.hub or each.cmdline()[1:2] == ["runner"]]
        return _memory(server, [each for each in everything if each not in server])

    def first_page(self) -> str:
        return _first_page(self._hapi.page, "", lambda _: None)


def _memory(server: Sequence[psutil.Process], session: Sequence[psutil.Process]) -> str:
    besides = [each for each in session if not _is_agent(each)]
    both = (sum(map(own_memory, server)) / 1e6, sum(map(own_memory, besides)) / 1e6)
    return "{:.0f} MB, {:.0f} MB a session".format(*both)


def _is_agent(process: psutil.Process) -> bool:
    """Whether it is a program from npm, also one that node runs."""
    program, place = process.exe(), PROGRAMS
    return place in program or (Path(program).name == "node" and place in " ".join(process.cmdline()))


def _first_page(address: str, path: str, sign_in: Callable[[Any], object]) -> str:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        context = browser.new_context(base_url=address)
        sign_in(context)
        page = context.new_page()
        network = context.new_cdp_session(page)
        requests: list[object] = []
        sizes: list[int] = []
        network.on("Network.requestWillBeSent", lambda request: requests.append(request["requestId"]))
        network.on("Network.dataReceived", lambda data: sizes.append(data["encodedDataLength"]))
        network.send("Network.enable")
        page.goto(path or address, wait_until="load")
        page.wait_for_timeout(PAGE_SECONDS * 1000)
        browser.close()
    return f"{sum(sizes) / 1000:,.0f} kB, {len(requests)} requests"


@dataclass(kw_only=True)
class Figures:
    """Milliseconds of each round, by what took them."""

    version: str
    took: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in AIMS})
    memory: str = "-"
    page: str = "-"


def one_round(talker: Talker, number: int) -> dict[str, float]:
    script = talker.script
    script.round = number
    sent = time.time()
    talker.say(script.message())
    shown, card = talker.card()
    asked = script.requests[number]
    clicked = time.time()
    talker.allow(card)
    ran = script.running_at()
    talker.await_end()
    took = (asked[0] - sent, shown - asked[-1], ran - clicked)
    return {name: seconds * 1000 for name, seconds in zip(AIMS, took, strict=True)}


def measure(talkers: Mapping[str, Talker], rounds: int) -> dict[str, Figures]:
    figures = {name: Figures(version=talker.version) for name, talker in talkers.items()}
    for number in range(rounds + 1):
        for name, talker in talkers.items():
            took = one_round(talker, number)
            for what, value in took.items() if number else ():
                figures[name].took[what].append(value)
    for name, talker in talkers.items():
        figures[name].memory = talker.memory()
        figures[name].page = talker.first_page()
    return figures


# Who is measured


@contextmanager
def sayso_with(agent: RealAgent, folder: Path) -> Iterator[Talker]:
    script = Script(agent, folder)
    with (
        Model(script).serving() as model,
        cold_stage(**commands(model.url), run_rest="1h", most_runs="20") as stage,
    ):
        move_in(agent, stage, model.url)
        try:
            yield SaysoTalker(stage, script, project_of(agent, stage, model.url, "shop"))
        finally:
            stage.house.place.run("project", "stop")


@contextmanager
def hapi_with_claude(folder: Path) -> Iterator[Talker]:
    script, place, project = Script(CLAUDE, folder), folder / "hapi", folder / "shop"
    project.mkdir()
    path = f"{programs()}:{node().node.parent}:/usr/bin:/bin"
    with (
        Model(script).serving() as model,
        hapi.running(place, project, {**claude_variables(model.url), "PATH": path}) as running,
    ):
        yield HapiTalker(running, script)


HAPI = "HAPI, Claude Code"
CONTENDERS: dict[str, Callable[[Path], AbstractContextManager[Talker]]] = {
    HAPI: hapi_with_claude,
    "Sayso, Claude Code": lambda folder: sayso_with(CLAUDE, folder),
    "Sayso, Codex": lambda folder: sayso_with(CODEX, folder),
    "Sayso, Gemini": lambda folder: sayso_with(GEMINI, folder),
}


def shown(figures: Mapping[str, Figures]) -> str:
    """The medians, with the slowest in brackets."""
    head = ["", "version", *(f"{what}, ms" for what in AIMS), "memory", "first page"]
    rows = [
        [name, each.version, *map(_median, each.took.values()), each.memory, each.page]
        for name, each in figures.items()
    ]
    return table(head, [*rows, ["aim", "", *(f"{most}" for most in AIMS.values()), "stay", "stay"]])


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} ({max(values):.0f})"


ABOUT = """\
Medians of {rounds} rounds in turns, in brackets the slowest of them. The page is its event stream, and the model
answers at once. The agent's own share is in each figure, the same for both pages: what it does before it asks its
model, and before it asks for a permission. Memory: what the server, and what stands between it and one agent, hold for
themselves, without the agent. The aims are for a quiet machine."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    given = parser.parse_args()
    absent: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="sayso-bench-", dir="/tmp", ignore_cleanup_errors=True) as name,
        ExitStack() as all_,
    ):
        talkers: dict[str, Talker] = {}
        for number, contender in enumerate(given.only):
            folder = Path(name).resolve() / str(number)
            folder.mkdir()
            try:
                talkers[contender] = all_.enter_context(CONTENDERS[contender](folder))
            except (OSError, subprocess.SubprocessError) as error:
                absent.append(f"Not measured: {contender}. {error}")
        figures = measure(talkers, given.rounds)
    print(f"{setting()}\n\n{shown(figures)}\n\n{ABOUT.format(rounds=given.rounds)}")
    print(*(f"\n{line}" for line in absent), sep="\n", end="")


if __name__ == "__main__":
    main()
