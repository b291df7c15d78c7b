"""The prompts of the real Codex in the inbox, after `sayso install codex --approvals` and trust in its hooks.

On a scripted model, in real terminals: sessions that share Codex's server, and one that does not. `make test-clients`
runs this file.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.cli.program import SOMEONE, Home
from tests.e2e.programs.codex_steps import QUESTION, SHOP, run
from tests.e2e.programs.machine import Machine, new_machine
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.seats import Interactive, until

from sayso import process_table
from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, State
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.verdict import Decision, verdict_of
from sayso.processes import name_of

PATIENCE = 120.0
DIALOG = "Would you like to run the following command?"
TOOL_DIALOG = "Allow the shop MCP server to run tool"
REVIEW = "Hooks need review"


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """A home in which somebody uses Codex, with a model that does what the first words of a session name."""

    home: Home
    model: Model
    scripts: dict[str, Sequence[Json]] = field(default_factory=dict)

    @contextmanager
    def session(self, words: str, *blocks: Json, more: Sequence[str] = ()) -> Iterator[Session]:
        self.scripts[words] = blocks
        log = self.home.folder / f"{words}.log"
        client = Interactive(["codex", *more, words], self.home, {"A_KEY": "none"}, log)
        try:
            with self.home.desk() as desk:
                yield Session(client=client, desk=desk, desktop=self, words=words)
        finally:
            client.kill()

    def of(self, request: Json) -> str:
        """Which session a request is of."""
        whole = told(request).whole
        return next((words for words in self.scripts if f'"{words}"' in whole), "")

    def answer(self, request: Json) -> Json:
        blocks = self.scripts.get(self.of(request), ())
        done = len(told(request).results)
        return blocks[done] if done < len(blocks) else say("Done.")

    def processes(self, words: str) -> list[int]:
        """What runs for this home with these words."""
        found = (process.pid for process in process_table.everyone())
        here = str(self.home.folder).encode()
        lines = {pid: " ".join(process_table.command_line(pid)) for pid in found}
        return [pid for pid, line in lines.items() if words in line and here in process_table.environment(pid)]


@dataclass(frozen=True, kw_only=True)
class Session:
    client: Interactive
    desk: AskDesk
    desktop: Desktop
    words: str

    def asks(self) -> list[Ask]:
        return [ask for ask in self.desk.inbox() if ask.state is State.PENDING]

    def prompt(self, count: int = 1) -> list[Ask]:
        until(PATIENCE, lambda: len(self.asks()) == count, lambda: f"{count} prompts; it shows\n{self.client.shows()}")
        return self.asks()

    def says(self, text: str) -> None:
        """Type it at the terminal."""
        self.client.write(text)
        self.shows(text)
        self.client.press("Enter")

    def allow(self, ask: Ask) -> None:
        PermissionDesk(self.desk).allow(ask.id, ask.digest, SOMEONE)

    def shows(self, text: str) -> None:
        until(PATIENCE, lambda: text in self.client.shows(), lambda: f"{text!r} in\n{self.client.shows()}")

    def told(self, use: int = 1) -> str:
        """All that the model was told with the result of a use of a tool."""

        def found() -> list[Json]:
            mine = [each for each in self.desktop.model.requests if self.desktop.of(each) == self.words]
            return [each for each in mine if len(told(each).results) >= use]

        until(PATIENCE, found, lambda: f"a result; it shows\n{self.client.shows()}")
        return told(found()[0]).whole

    def ended(self, ask: Ask) -> Ask:
        def is_over() -> bool:
            self.desk.release_the_dead()
            return self.desk.get(ask.id).state is not State.PENDING

        until(PATIENCE, is_over, lambda: f"the end of the prompt; it shows\n{self.client.shows()}")
        return self.desk.get(ask.id)

    def how(self, ask: Ask) -> str:
        """How it was decided in the terminal."""
        end = self.ended(ask)
        found = verdict_of(end)
        assert found is not None
        assert found.decision is Decision.ELSEWHERE
        return found.because


def settings(home: Home, url: str) -> str:
    return f"""\
model = "scripted"
model_provider = "scripted"
sandbox_mode = "read-only"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "A_KEY"
[mcp_servers.shop]
command = "{sys.executable}"
args = ["{home.folder / ".codex" / "shop.py"}"]
[projects."{home.project}"]
trust_level = "trusted"
"""


@pytest.fixture(scope="module")
def desktop(fetched: Path) -> Iterator[Desktop]:
    """Somebody who has used Codex here installs what brings its prompts to the inbox, and trusts its hooks."""
    with new_machine(fetched) as machine:
        scripts: dict[str, Sequence[Json]] = {}
        model = Model(lambda request: found.answer(request))
        found = Desktop(home=machine.home, model=model, scripts=scripts)
        with model.serving():
            folder = machine.home.folder / ".codex"
            folder.mkdir()
            (folder / "shop.py").write_text(SHOP)
            (folder / "config.toml").write_text(settings(machine.home, model.url))
            install(machine)
            with found.session("Begin.") as first:
                first.shows(REVIEW)
                first.client.press("2")
                first.client.press("Enter")
                first.shows("Done.")
            try:
                yield found
            finally:
                for pid in [*found.processes("app-server"), *found.processes("gate codex")]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


def install(machine: Machine) -> None:
    ran = machine.run("sayso", "install", "codex", "--approvals")
    assert ran.code == 0, ran.err
    assert REVIEW in ran.out + ran.err


def test_a_permission_allowed_in_the_inbox_closes_the_prompt_in_the_terminal_and_runs(desktop: Desktop) -> None:
    with desktop.session("One.", run("call_1", "touch one")) as codex:
        (ask,) = codex.prompt()
        codex.shows(DIALOG)
        codex.allow(ask)
        codex.told()
        codex.shows("Done.")
        assert DIALOG not in codex.client.shows()
        assert (desktop.home.project / "one").exists()
        assert codex.ended(ask).delivered


def test_a_denial_in_the_inbox_reaches_the_model_with_its_words(desktop: Desktop) -> None:
    with desktop.session("Two.", run("call_1", "touch two")) as codex:
        (ask,) = codex.prompt()
        codex.shows(DIALOG)
        PermissionDesk(codex.desk).deny(ask.id, SOMEONE, "use the other pier")
        assert "They said: use the other pier" in codex.told()
        assert not (desktop.home.project / "two").exists()


def test_a_denial_without_words_is_told_to_the_model_by_codex_itself(desktop: Desktop) -> None:
    with desktop.session("Nine.", run("call_1", "touch nine")) as codex:
        (ask,) = codex.prompt()
        codex.shows(DIALOG)
        PermissionDesk(codex.desk).deny(ask.id, SOMEONE, "")
        told = codex.told()
        assert "rejected by user" in told
        assert "About `" not in told
        assert not (desktop.home.project / "nine").exists()


@pytest.mark.parametrize(("key", "how"), [("y", "allowed"), ("Escape", "denied")])
def test_a_permission_decided_in_the_terminal_leaves_the_inbox_which_says_how(
    desktop: Desktop, key: str, how: str
) -> None:
    with desktop.session(f"Three {how}.", run("call_1", f"touch three-{how}")) as codex:
        (ask,) = codex.prompt()
        codex.shows(DIALOG)
        codex.client.press(key)
        assert codex.how(ask) == f"{how} in the terminal of Codex"
        assert (desktop.home.project / f"three-{how}").exists() == (how == "allowed")


def test_a_change_of_files_comes_with_its_diff_and_is_made_when_it_is_allowed(desktop: Desktop) -> None:
    file = desktop.home.project / "port.txt"
    file.write_text("host\n80\n")
    patch = "*** Begin Patch\n*** Update File: port.txt\n@@\n host\n-80\n+8080\n*** End Patch"
    with desktop.session(
        "Four.", use("exec_command", "call_1", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF\n"})
    ) as codex:
        (ask,) = codex.prompt()
        assert ask.wanted is not None
        action = ask.wanted["action"]
        assert action["data"]["input"] == {"file_path": str(file), "change": "update"}
        assert action["data"]["diff"].endswith(" host\n-80\n+8080")
        codex.allow(ask)
        codex.told()
    assert file.read_text() == "host\n8080\n"


def test_a_call_of_an_mcp_tool_is_allowed_and_denied_in_the_inbox(desktop: Desktop) -> None:
    north, south = ({"where": where} for where in ("north", "south"))
    with desktop.session(
        "Thirteen.", use("mcp__shop/deploy", "call_1", north), use("mcp__shop/deploy", "call_2", south)
    ) as codex:
        (ask,) = codex.prompt()
        codex.shows(TOOL_DIALOG)
        assert ask.wanted is not None
        assert ask.wanted["action"]["tool"] == "mcp__shop__deploy"
        assert ask.wanted["action"]["data"]["input"] == north
        codex.allow(ask)
        assert "It is deployed." in codex.told()
        assert codex.ended(ask).delivered
        (again,) = codex.prompt()
        PermissionDesk(codex.desk).deny(again.id, SOMEONE, "use the other pier")
        assert "They said: use the other pier" in codex.told(2)
        codex.shows("Done.")
        assert TOOL_DIALOG not in codex.client.shows()


@pytest.mark.parametrize(("key", "how"), [("Enter", "allowed"), ("Escape", "decided")])
def test_a_call_of_an_mcp_tool_decided_in_the_terminal_leaves_the_inbox(desktop: Desktop, key: str, how: str) -> None:
    with desktop.session(f"Fourteen {how}.", use("mcp__shop/deploy", "call_1", {"where": how})) as codex:
        (ask,) = codex.prompt()
        codex.shows(TOOL_DIALOG)
        codex.client.press(key)
        assert codex.how(ask) == f"{how} in the terminal of Codex"


@pytest.mark.finding("F-70")
def test_two_sessions_in_one_project_never_cross(desktop: Desktop) -> None:
    line = "echo crossed >> five"
    with (
        desktop.session("Five.", run("call_1", line)) as first,
        desktop.session("Six.", run("call_1", line)) as second,
    ):
        one, two = first.prompt(2)
        assert one.digest == two.digest
        assert one.asker.session != two.asker.session
        PermissionDesk(first.desk).deny(one.id, SOMEONE, "not you")
        until(
            PATIENCE,
            lambda: [DIALOG in each.client.shows() for each in (first, second)].count(False) == 1,
            lambda: f"one prompt to close\n{first.client.shows()}\n{second.client.shows()}",
        )
        assert [ask.id for ask in first.asks()] == [two.id]
        first.allow(two)
        first.told()
        second.told()
    assert (desktop.home.project / "five").read_text() == "crossed\n"


def test_questions_of_its_own_tool_are_answered_in_the_inbox(desktop: Desktop) -> None:
    with desktop.session("Seven.") as codex:
        codex.shows("Done.")
        desktop.scripts["Plan it."] = [use("request_user_input", "call_1", {"questions": [QUESTION]})]
        desktop.scripts["Seven."] = desktop.scripts["Plan it."]
        codex.client.press("BTab")
        codex.shows("Plan")
        codex.client.write("Plan it.")
        codex.shows("› Plan it.")
        codex.client.press("Enter")
        (ask,) = codex.prompt()
        codex.shows("Which harbour?")
        codex.desk.answer(ask.id, [Answer(question="harbour", chosen=("2",))], SOMEONE)
        assert "South" in json.dumps(codex.told())
        assert codex.ended(ask).delivered


def test_a_session_whose_terminal_was_killed_goes_on_and_is_decided_in_the_inbox(desktop: Desktop) -> None:
    with desktop.session("Twelve.", run("call_1", "touch twelve")) as codex:
        (ask,) = codex.prompt()
        for pid in desktop.processes("Twelve."):
            os.kill(pid, signal.SIGKILL)
        codex.allow(ask)
        until(PATIENCE, (desktop.home.project / "twelve").exists, lambda: "the command to run")
        assert codex.ended(ask).delivered


def test_a_killed_gate_leaves_the_prompt_to_the_terminal_and_the_next_one_is_asked_again(desktop: Desktop) -> None:
    with desktop.session("Eight.", run("call_1", "touch eight-1"), run("call_2", "touch eight-2")) as codex:
        (ask,) = codex.prompt()
        codex.shows(DIALOG)
        os.kill(int(ask.server.partition("-")[0]), signal.SIGKILL)
        assert codex.ended(ask).state is State.EXPIRED
        assert DIALOG in codex.client.shows()
        codex.client.press("y")
        (again,) = codex.prompt()
        codex.allow(again)
        codex.told(2)
    assert (desktop.home.project / "eight-2").exists()


def test_without_the_shared_server_a_prompt_is_held_while_the_person_is_away(desktop: Desktop) -> None:
    assert desktop.home.run("away").code == 0
    with desktop.session("Ten.", run("call_1", "touch ten"), more=["--no-daemon"]) as codex:
        (ask,) = codex.prompt()
        assert DIALOG not in codex.client.shows()
        codex.allow(ask)
        codex.told()
    assert (desktop.home.project / "ten").exists()


def test_without_the_shared_server_its_own_prompt_comes_at_once_while_the_person_is_here(desktop: Desktop) -> None:
    assert desktop.home.run("back").code == 0
    with desktop.session("Eleven.", run("call_1", "touch eleven"), more=["--no-daemon"]) as codex:
        codex.shows(DIALOG)
        assert codex.asks() == []
        codex.client.press("y")
        codex.told()
    assert (desktop.home.project / "eleven").exists()


def test_a_killed_server_leaves_no_gate_and_no_prompt_behind(desktop: Desktop) -> None:
    with desktop.session("Nine.", run("call_1", "touch nine")) as codex:
        (ask,) = codex.prompt()
        gate = int(ask.server.partition("-")[0])
        os.kill(ask.asker.pid, signal.SIGKILL)
        assert codex.ended(ask).state is State.EXPIRED
        until(PATIENCE, lambda: name_of(gate) is None, lambda: "the gate to end")
        assert list((desktop.home.state / "gates").iterdir()) == []
    assert not (desktop.home.project / "nine").exists()
