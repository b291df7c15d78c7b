"""The prompts of the real opencode, Qwen Code and Copilot CLI in the inbox, after `sayso install CLIENT --approvals`.

On a scripted model. Each program takes long to start, so a test goes several ways with one session of it.
`make test-clients` runs this file.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from tests.cli.program import SOMEONE, Home
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, use
from tests.e2e.programs.real_gate import PATIENCE, Session, one_after_another
from tests.e2e.programs.seats import SEATS, at_work, until

from sayso.asks.model import Answer, Ask, State
from sayso.permissions.desk import PermissionDesk


@dataclass(frozen=True, kw_only=True)
class GatedClient:
    """How a client's model names the tool that runs a command, and how its own prompt looks."""

    key: str
    shell: str
    dialog: str
    denied: str
    """What its model is told of a denial, with `{}` for our words."""
    more: tuple[str, ...] = ()

    def touch(self, file: str) -> Json:
        return use(self.shell, f"toolu_{file}", {"command": f"touch {file}", "description": "Make a file"})


OPENCODE = GatedClient(key="opencode", shell="bash", dialog="Permission required", denied="{}")
QWEN = GatedClient(
    key="qwen",
    shell="run_shell_command",
    dialog="Allow execution",
    denied="{}",
    more=("--approval-mode", "default"),
)
COPILOT = GatedClient(
    key="copilot",
    shell="bash",
    dialog="Do you want to run this command?",
    denied="Permission denied by a PermissionRequest hook: {}",
)
ALL = pytest.mark.parametrize("client", [OPENCODE, QWEN, COPILOT], ids=lambda client: client.key)
HELD = pytest.mark.parametrize("client", [QWEN, COPILOT], ids=lambda client: client.key)
START_SECONDS = 300
"""opencode fetches a package of its own when it first sees a plugin."""
NO = "The user did not allow this. They said: use the other pier"
ASKS_ALL = {"permission": {"bash": "ask"}}
"""opencode allows commands by itself unless somebody has said otherwise."""


@contextmanager
def session(
    machine: Machine, client: GatedClient, where: str, *blocks: Json, mode: str = "interactive"
) -> Iterator[Session]:
    """`where` is the person: away or back."""
    (seat,) = (seat for seat in SEATS if seat.key == client.key)
    home = machine.home
    seat.move_in(home)
    if client is OPENCODE:
        config = home.folder / ".config" / "opencode" / "opencode.json"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps(ASKS_ALL))
    for words in (("install", client.key, "--approvals"), (where,)):
        ran = machine.run("sayso", *words)
        assert ran.code == 0, ran.err
    with (
        home.desk() as desk,
        Model(one_after_another(*blocks)).serving() as model,
        at_work(seat, mode, home, model.url, client.more) as program,
    ):
        until(START_SECONDS, lambda: model.requests, program.shows)
        yield Session(client=program, desk=desk, model=model)


def denied(at: Session, ask: Ask) -> None:
    PermissionDesk(at.desk).deny(ask.id, SOMEONE, "use the other pier")


def made(home: Home, file: str) -> bool:
    return (home.project / file).exists()


def ends_elsewhere(at: Session, ask: Ask, how: str) -> None:
    end = at.ended(ask)
    assert end.outcome is not None
    assert end.outcome.reason == how


@ALL
def test_what_is_allowed_in_the_inbox_runs_and_a_denial_reaches_the_model_with_its_words(
    machine: Machine, client: GatedClient
) -> None:
    with session(machine, client, "away", client.touch("one"), client.touch("two")) as at:
        first = at.prompt()
        assert first.asker.session
        at.allow(first)
        at.told(1)
        assert made(machine.home, "one")
        assert at.ended(first).delivered
        denied(at, at.prompt())
        assert client.denied.format(NO) in at.told(2)
        assert not made(machine.home, "two")


def test_a_permission_decided_in_the_terminal_of_opencode_leaves_the_inbox_which_says_how(machine: Machine) -> None:
    with session(machine, OPENCODE, "back", OPENCODE.touch("one"), OPENCODE.touch("two")) as at:
        first = at.prompt()
        at.shows(OPENCODE.dialog)
        at.press("Enter")
        ends_elsewhere(at, first, "allowed in the terminal of opencode")
        at.told(1)
        assert made(machine.home, "one")
        second = at.prompt()
        at.shows("touch two")
        at.press("Escape")
        ends_elsewhere(at, second, "denied in the terminal of opencode")
        assert not made(machine.home, "two")


def test_questions_of_opencode_are_answered_in_the_inbox(machine: Machine) -> None:
    options = [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}]
    question = {"question": "Which harbour?", "header": "Harbour", "options": options, "multiple": False}
    with session(machine, OPENCODE, "back", use("question", "toolu_1", {"questions": [question]})) as at:
        ask = at.prompt()
        at.desk.answer(ask.id, [Answer(question="1", text="The new one")], SOMEONE)
        assert '"Which harbour?"="The new one"' in at.told()
        assert at.ended(ask).delivered


def test_opencode_without_a_terminal_rejects_by_itself_and_nothing_is_left_in_the_inbox(machine: Machine) -> None:
    with session(machine, OPENCODE, "away", OPENCODE.touch("one"), mode="headless") as at:
        until(PATIENCE, lambda: at.client.has_ended, at.client.shows)
        until(PATIENCE, lambda: not at.asks(), at.client.shows)
    assert not made(machine.home, "one")


@HELD
def test_while_the_person_is_here_the_clients_own_prompt_comes_and_nothing_is_in_the_inbox(
    machine: Machine, client: GatedClient
) -> None:
    with session(machine, client, "back", client.touch("one")) as at:
        at.shows(client.dialog)
        assert at.asks() == []
        assert not made(machine.home, "one")


@HELD
def test_a_prompt_that_waits_in_the_inbox_comes_to_the_terminal_when_the_person_is_back(
    machine: Machine, client: GatedClient
) -> None:
    with session(machine, client, "away", client.touch("one")) as at:
        ask = at.prompt()
        assert machine.run("sayso", "back").code == 0
        at.shows(client.dialog)
        assert at.ended(ask).state is State.EXPIRED
        assert not made(machine.home, "one")


def test_copilot_without_a_terminal_asks_in_the_inbox_whether_the_person_is_here_or_not(machine: Machine) -> None:
    with session(machine, COPILOT, "back", COPILOT.touch("one"), mode="headless") as at:
        at.allow(at.prompt())
        at.told()
    assert made(machine.home, "one")


@ALL
def test_a_killed_client_leaves_no_gate_and_no_prompt_behind(machine: Machine, client: GatedClient) -> None:
    with session(machine, client, "away", client.touch("one")) as at:
        ask = at.prompt()
        os.kill(ask.asker.pid, signal.SIGKILL)
        assert at.ended(ask).state is State.EXPIRED
    assert not made(machine.home, "one")
