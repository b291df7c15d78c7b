"""The real programs from npm, in a home of the test's own: `make test-clients` fetches them and runs this file.

Not part of `make test`: they are more than a gigabyte, and some of these tests last seven minutes, as a person does.
What is shown here is that after `sayso install` and nothing else a question is in the inbox, and that its answer
reaches the model in the words that `docs/clients.md` promises.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.program import BIN, SOMEONE, Home
from tests.e2e.clients.install import PINS
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.seats import MODES, SEATS, Client, Seat, at_work, let_pass, until
from tests.e2e.programs.words import as_documented, in_general
from tests.e2e.stdio.test_instant_start import busy_machine

from sayso import process_table
from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, State
from sayso.install.targets import BY_KEY

NAMES = ("claude-code", "codex", "gemini")
QUESTION = "Where do we land?"
THE_ANSWER = "Use the harbour at dawn."
SEAT = {seat.key: seat for seat in SEATS}
EVERY_CLIENT = pytest.mark.parametrize("seat", SEATS, ids=lambda seat: seat.key)
TOUCH: Json = {
    "name": "touch_a_file",
    "description": "Makes a file",
    "command": "touch",
    "subcommand": [
        {
            "name": "default",
            "description": "Makes a file",
            "positional_args": [{"name": "path", "type": "string", "description": "Which", "required": True}],
        }
    ],
}
BETWEEN_NUDGES = 10.0
PATIENCE = 240.0
"""Seconds for a client to start and to ask, on a machine that does much else."""


def connected(machine: Machine, seat: Seat) -> Home:
    """Somebody who has used this client here before runs `sayso install` and nothing else."""
    seat.move_in(machine.home)
    flags = ["--foreground"] if seat.key == "claude-code" else []
    ran = machine.run("sayso", "install", seat.key, *flags)
    assert ran.code == 0, ran.err
    return machine.home


class Talk:
    """A conversation with the scripted model: as soon as it has the tool it asks, and then it is done."""

    def __init__(self, seat: Seat, arguments: Json | None = None, tool: str = "") -> None:
        self._tool = seat.tool.format(tool or seat.ask)
        self._arguments = arguments or {"question": QUESTION}
        self.without_tool = 0
        self.model = Model(self._answer)

    def _answer(self, request: Json) -> Json:
        heard = told(request)
        if heard.results:
            return say("Done.")
        if self._tool not in heard.tools:
            self.without_tool += 1
            return say("Not yet.")
        return use(self._tool, "toolu_ask", self._arguments)

    @property
    def results(self) -> list[str]:
        """What the model saw of the tool's results, in the order in which it saw them."""
        return [result for request in self.model.requests[-1:] for result in told(request).results]


@contextmanager
def looking(home: Home) -> Iterator[AskDesk]:
    """A person with an open inbox."""
    with home.desk() as desk:
        desk.show_up("web", "mira")
        try:
            yield desk
        finally:
            desk.go_away()


def open_asks(desk: AskDesk) -> list[Ask]:
    return [ask for ask in desk.inbox() if ask.state is State.PENDING]


def await_asks(desk: AskDesk, count: int, talk: Talk, client: Client) -> list[Ask]:
    """The open asks, once they are in the inbox. A person at a terminal may have to say more than once that it shall
    go on: many clients begin before their servers are ready."""
    nudges, since = 0, time.monotonic()

    def there() -> bool:
        nonlocal nudges, since
        if talk.without_tool > nudges and time.monotonic() > since + BETWEEN_NUDGES:
            nudges, since = nudges + 1, time.monotonic()
            client.nudge()
        return len(open_asks(desk)) >= count or client.has_ended

    until(PATIENCE, there, lambda: f"{count} asks; the client shows\n{client.shows()}")
    assert not client.has_ended, f"It ended and asked nothing; it said\n{client.shows()}"
    return open_asks(desk)


def give(desk: AskDesk, ask: Ask, text: str = THE_ANSWER) -> None:
    desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=text)], SOMEONE)


@pytest.mark.finding("F-80")
@pytest.mark.finding("F-81")
@pytest.mark.finding("F-83")
@pytest.mark.parametrize("seconds", [5, 150, 400])
@pytest.mark.parametrize("mode", MODES)
@EVERY_CLIENT
def test_a_question_is_in_the_inbox_and_its_late_answer_reaches_the_model_as_the_persons_words(
    machine: Machine, seat: Seat, mode: str, seconds: float
) -> None:
    home, talk = connected(machine, seat), Talk(seat)
    with looking(home) as desk, talk.model.serving(), at_work(seat, mode, home, talk.model.url) as client:
        (ask,) = await_asks(desk, 1, talk, client)
        let_pass(seconds)
        give(desk, ask)
        until(PATIENCE, lambda: talk.results, lambda: f"the answer; the client shows\n{client.shows()}")
        assert in_general(talk.results[0]) == as_documented(seat.key)
        assert [THE_ANSWER in result for result in talk.results] == [True]


@pytest.mark.finding("F-87")
def test_codexs_first_turn_has_the_tools_at_the_first_start_on_a_busy_machine(machine: Machine) -> None:
    seat = SEAT["codex"]
    home, talk = connected(machine, seat), Talk(seat)
    with (
        busy_machine(),
        looking(home) as desk,
        talk.model.serving(),
        at_work(seat, "headless", home, talk.model.url) as client,
    ):
        await_asks(desk, 1, talk, client)
    assert talk.without_tool == 0


@pytest.mark.finding("F-84")
@EVERY_CLIENT
def test_two_sessions_with_the_same_question_get_their_own_answers(machine: Machine, seat: Seat) -> None:
    home, first, second = connected(machine, seat), Talk(seat), Talk(seat)
    with (
        looking(home) as desk,
        first.model.serving(),
        second.model.serving(),
        at_work(seat, "headless", home, first.model.url) as client,
    ):
        (one,) = await_asks(desk, 1, first, client)
        with at_work(seat, "headless", home, second.model.url) as other:
            asks = await_asks(desk, 2, second, other)
            (two,) = (ask for ask in asks if ask.id != one.id)
            give(desk, two, "The second.")
            until(PATIENCE, lambda: second.results, lambda: f"an answer; the client shows\n{other.shows()}")
            give(desk, one, "The first.")
            until(PATIENCE, lambda: first.results, lambda: f"an answer; the client shows\n{client.shows()}")
    assert ["The first." in text for text in (first.results[0], second.results[0])] == [True, False]
    assert ["The second." in text for text in (first.results[0], second.results[0])] == [False, True]


@pytest.mark.parametrize(
    ("dies", "why"), [("alone", "the client let go of the call"), ("with its server", "its process ended")]
)
@EVERY_CLIENT
def test_what_a_killed_client_asked_stays_open_and_the_answer_is_there_when_it_asks_again(
    machine: Machine, seat: Seat, dies: str, why: str
) -> None:
    home, killed, again = connected(machine, seat), Talk(seat), Talk(seat)
    with looking(home) as desk:
        with killed.model.serving(), at_work(seat, "headless", home, killed.model.url) as client:
            (ask,) = await_asks(desk, 1, killed, client)
            server = int(ask.server.partition("-")[0])
            client.die(spared=[server] if dies == "alone" else [])
            until(PATIENCE, lambda: not is_running(server), lambda: "its server to end")
            listed = machine.run("sayso", "list").out
            assert ask.id[:8] in listed
            assert "not waiting" in listed
            # A server that outlives its client knows by itself that nobody listens any more.
            assert desk.events(ask.id)[-1].detail == why
        give(desk, ask)
        with again.model.serving(), at_work(seat, "headless", home, again.model.url) as client:
            until(PATIENCE, lambda: again.results, lambda: f"the answer; the client shows\n{client.shows()}")
            assert open_asks(desk) == []
    assert THE_ANSWER in again.results[0]
    assert as_documented("an answer given earlier") in in_general(again.results[0])


def is_running(pid: int) -> bool:
    process = process_table.find(pid)
    return process is not None and not process.zombie


@pytest.mark.finding("F-80")
@pytest.mark.parametrize("seat", [seat for seat in SEATS if BY_KEY[seat.key].grant], ids=lambda seat: seat.key)
def test_a_tool_that_runs_a_command_is_not_allowed_by_the_install(machine: Machine, seat: Seat) -> None:
    home, talk = connected(machine, seat), Talk(seat, {"path": "made"}, "touch_a_file")
    folder = home.folder / ".config" / "sayso" / "tools"
    folder.mkdir(parents=True)
    (folder / "touch.json").write_text(json.dumps(TOUCH))
    with looking(home) as desk, talk.model.serving(), at_work(seat, "headless", home, talk.model.url) as client:
        until(PATIENCE, lambda: talk.results or talk.without_tool, lambda: f"the call; it shows\n{client.shows()}")
        assert open_asks(desk) == []
    # Some refuse the call; some do not even show what they would not allow, beside what they do.
    assert talk.results or seat.tool.format(seat.ask) in told(talk.model.requests[-1]).tools
    assert not (home.project / "made").exists()


def listing(machine: Machine, name: str) -> str:
    """What the client itself says of its servers, in words or on stderr."""
    ran = machine.run(BY_KEY[name].programs[0], "mcp", "list")
    assert ran.code == 0, ran.err
    return ran.out + ran.err


@pytest.mark.parametrize("name", NAMES)
def test_the_clients_own_listing_shows_sayso_after_install_and_no_more_after_uninstall(
    machine: Machine, name: str
) -> None:
    SEAT[name].move_in(machine.home)
    assert "sayso" not in listing(machine, name).replace(str(machine.home.folder), "")
    ran = machine.run("sayso", "install", name)
    assert ran.code == 0, ran.err
    assert f"by `{BY_KEY[name].programs[0]} mcp add`" in ran.out
    shown = listing(machine, name)
    assert f"{BIN / 'sayso'}" in shown
    assert {"claude-code": "✔ Connected", "codex": "enabled", "gemini": "Connected"}[name] in shown
    assert "already there" in machine.run("sayso", "install", name).out
    checked = machine.run("sayso", "doctor", "--client", name)
    assert checked.code == 0, checked.out
    assert machine.run("sayso", "uninstall", name).code == 0
    assert str(BIN / "sayso") not in listing(machine, name)


def test_codex_takes_the_time_limit_in_seconds(machine: Machine) -> None:
    machine.run("sayso", "install", "codex")
    shown = machine.run("codex", "mcp", "get", "sayso", "--json")
    assert json.loads(shown.out)["tool_timeout_sec"] == 86_400


@pytest.mark.parametrize("name", ["claude-code", "gemini"])
def test_a_project_gets_its_own_entry_by_the_clients_own_command(machine: Machine, name: str) -> None:
    ran = machine.run("sayso", "install", name, "--project")
    assert ran.code == 0, ran.err
    file = machine.home.project / BY_KEY[name].project_file
    assert json.loads(file.read_text())["mcpServers"]["sayso"]["command"] == "sayso"
    assert "sayso: sayso server" in listing(machine, name)


def test_an_ask_answered_after_its_call_ended_reaches_claude_at_its_next_step_once(machine: Machine) -> None:
    home = machine.home
    assert machine.run("sayso", "install", "claude-code", "--hook").code == 0

    def script(request: Json) -> Json:
        results = [part for message in request["messages"] for part in _parts(message) if part["type"] == "tool_result"]
        if not results:
            question = {"question": "Where do we land?", "nonBlocking": True}
            return use("mcp__sayso__ask_user", "toolu_ask", question)
        if len(results) == 1:
            _answer(home)
            return use("Bash", "toolu_bash", {"command": "true", "description": "Do nothing"})
        return say("Done.")

    with Model(script).serving() as model:
        claude = ("claude", "-p", "Go on.", "--allowedTools", "Bash", "mcp__sayso__ask_user", "--model", "sonnet")
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-none", "IS_SANDBOX": "1"}
        ran = machine.run(*claude, **env)
        assert ran.code == 0, ran.out + ran.err
        told = [json.dumps(request["messages"]).count(THE_ANSWER) for request in model.requests]
        assert told == [0, 0, 1]
        assert machine.run(*claude, **env).code == 0
        # The second conversation asks again: the same question is taken up, and nothing is told twice.
        assert json.dumps(model.requests[3]["messages"]).count(THE_ANSWER) == 0


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [] if isinstance(content, str) else content


def _answer(home: Home) -> None:
    with home.desk() as desk:
        for ask in desk.inbox():
            if ask.state is State.PENDING:
                desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=THE_ANSWER)], SOMEONE)


def test_the_plugin_and_the_catalogue_are_valid_for_claude(machine: Machine) -> None:
    root = Path(__file__).parents[3]
    for folder in (root / "packages" / "claude-code", root):
        checked = machine.run("claude", "plugin", "validate", "--strict", str(folder))
        assert checked.code == 0, checked.out + checked.err


def test_the_programs_are_the_pinned_ones(machine: Machine) -> None:
    pinned = json.loads((PINS / "programs" / "package.json").read_text())["dependencies"]
    for name, package in (("claude", "@anthropic-ai/claude-code"), ("codex", "@openai/codex")):
        found = shutil.which(name, path=machine.home.env["PATH"])
        assert found is not None
        assert os.path.dirname(found).endswith(".bin")
        assert pinned[package] in machine.run(name, "--version").out
