"""The prompts of the real Claude Code in the inbox, after `sayso install claude-code --approvals` and nothing else.

On a scripted model, in a real terminal and without one. `make test-clients` runs this file.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect
from tests.cli.program import SOMEONE, Home
from tests.e2e.browser.conftest import PHONE, NewContext
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, Script, say, told, use
from tests.e2e.programs.seats import SEATS, Client, Interactive, at_work, until

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, State
from sayso.errors import AlreadySettled
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.verdict import Decision, verdict_of
from sayso.processes import name_of

(CLAUDE,) = (seat for seat in SEATS if seat.key == "claude-code")
PATIENCE = 120.0
MANUAL = ("--permission-mode", "default")
"""Its own default decides most prompts by a model of its own."""
BASH: Json = {"command": "touch made", "description": "Make a file"}
QUESTIONS: Json = {
    "questions": [
        {
            "question": "Which harbour?",
            "header": "Harbour",
            "options": [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}],
            "multiSelect": False,
        }
    ]
}
BOATS: Json = {
    "question": "Which boats?",
    "header": "Boats",
    "options": [{"label": f"The {name} one", "description": ""} for name in ("old", "new", "red")],
    "multiSelect": True,
}
DIALOG = "Do you want to proceed?"


def one_after_another(*blocks: Json) -> Script:
    """Uses these tools, and then is done."""

    def answer(request: Json) -> Json:
        done = len(told(request).results)
        return blocks[done] if done < len(blocks) else say("Done.")

    return answer


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session of Claude Code, and the desk of the person whose inbox it asks in."""

    client: Client
    desk: AskDesk
    model: Model

    def asks(self) -> list[Ask]:
        return [ask for ask in self.desk.inbox() if ask.state is State.PENDING]

    def prompt(self) -> Ask:
        until(PATIENCE, lambda: len(self.asks()) == 1, lambda: f"a prompt; it shows\n{self.client.shows()}")
        return self.asks()[0]

    def allow(self, ask: Ask) -> None:
        PermissionDesk(self.desk).allow(ask.id, ask.digest, SOMEONE)

    def shows(self, text: str) -> None:
        until(PATIENCE, lambda: text in self.client.shows(), lambda: f"{text!r} in\n{self.client.shows()}")

    def press(self, key: str) -> None:
        assert isinstance(self.client, Interactive)
        self.client.press(key)

    def told(self, use: int = 1) -> str:
        """What the model was told of a use of a tool."""
        until(PATIENCE, lambda: len(self._results) >= use, lambda: f"a result; it shows\n{self.client.shows()}")
        return self._results[use - 1]

    @property
    def _results(self) -> list[str]:
        return [result for request in self.model.requests[-1:] for result in told(request).results]

    def ended(self, ask: Ask) -> Ask:
        """The ask, once it is over and its gate has gone."""

        def is_over() -> bool:
            self.desk.release_the_dead()
            return self.desk.get(ask.id).state is not State.PENDING

        until(PATIENCE, is_over, lambda: "the end of the prompt")
        gate = int(ask.server.partition("-")[0])
        until(PATIENCE, lambda: name_of(gate) is None, lambda: "the gate to end")
        return self.desk.get(ask.id)


def installed(machine: Machine) -> Home:
    CLAUDE.move_in(machine.home)
    ran = machine.run("sayso", "install", "claude-code", "--approvals")
    assert ran.code == 0, ran.err
    return machine.home


@contextmanager
def scripted(home: Home, mode: str, script: Script, more: tuple[str, ...] = MANUAL) -> Iterator[Session]:
    with (
        home.desk() as desk,
        Model(script).serving() as model,
        at_work(CLAUDE, mode, home, model.url, more) as client,
    ):
        yield Session(client=client, desk=desk, model=model)


def session(home: Home, mode: str, *blocks: Json) -> AbstractContextManager[Session]:
    return scripted(home, mode, one_after_another(*blocks))


def test_a_permission_allowed_in_the_inbox_closes_the_dialog_in_the_terminal_and_runs(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        assert ask.asker.version
        claude.allow(ask)
        claude.shows("Allowed by PermissionRequest hook")
        claude.told()
        assert DIALOG not in claude.client.shows()
        assert (home.project / "made").exists()
        assert claude.ended(ask).delivered


def test_a_denial_in_the_inbox_reaches_the_model_with_its_words(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        PermissionDesk(claude.desk).deny(ask.id, SOMEONE, "use the other pier")
        assert claude.told() == "The user did not allow this. They said: use the other pier"
        assert not (home.project / "made").exists()


@pytest.mark.parametrize(("key", "how"), [("1", "allowed"), ("Escape", "denied")])
def test_a_permission_decided_in_the_terminal_leaves_the_inbox_which_says_how(
    machine: Machine, key: str, how: str
) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        claude.press(key)
        end = claude.ended(ask)
        assert end.outcome is not None
        assert end.outcome.reason == f"{how} in the terminal of Claude Code"
        found = verdict_of(end)
        assert found is not None
        assert found.decision is Decision.ELSEWHERE
        assert (home.project / "made").exists() == (how == "allowed")
        with pytest.raises(AlreadySettled):
            claude.allow(ask)


SLOW: Json = {"command": "until [ -e go ]; do sleep 0.1; done; touch made", "description": "Make a file later"}


def noted(claude: Session, ask: Ask) -> str:
    outcome = claude.desk.get(ask.id).outcome
    return outcome.noted if outcome else ""


ALLOWED_THERE = (
    "Claude Code's own record says that it was allowed in its terminal before the no given here arrived, and done"
)


def test_a_no_that_comes_after_a_yes_in_the_terminal_stays_with_a_note_that_it_was_done(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", SLOW)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        claude.press("1")
        until(PATIENCE, lambda: DIALOG not in claude.client.shows(), lambda: "the dialog to close")
        PermissionDesk(claude.desk).deny(ask.id, SOMEONE, "use the other pier")
        claude.ended(ask)
        (home.project / "go").touch()
        claude.told()
        until(PATIENCE, lambda: noted(claude, ask) == ALLOWED_THERE, lambda: f"a note; there is {noted(claude, ask)!r}")
        end = verdict_of(claude.desk.get(ask.id))
        assert end is not None
        assert (end.decision, end.because) == (Decision.DENIED, "use the other pier")
        assert (home.project / "made").exists()


def test_where_both_decide_at_once_the_record_says_what_was_done(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        claude.press("1")
        with suppress(AlreadySettled):
            PermissionDesk(claude.desk).deny(ask.id, SOMEONE, "use the other pier")
        was_done = "use the other pier" not in claude.told()
        assert (home.project / "made").exists() == was_done

        def is_said() -> bool:
            end = verdict_of(claude.desk.get(ask.id))
            is_elsewhere = end is not None and end.decision is Decision.ELSEWHERE
            return (is_elsewhere or noted(claude, ask) == ALLOWED_THERE) == was_done

        until(PATIENCE, is_said, lambda: "the record to say what was done")


def test_an_esc_that_stops_an_allowed_command_leaves_the_allow_as_handed_over(machine: Machine) -> None:
    home = installed(machine)
    began: Json = {"command": "touch made; sleep 600", "description": "Make a file, and wait"}
    with session(home, "interactive", use("Bash", "toolu_1", began)) as claude:
        ask = claude.prompt()
        claude.shows(DIALOG)
        claude.allow(ask)
        until(PATIENCE, (home.project / "made").exists, lambda: "the command to begin")
        claude.press("Escape")
        claude.shows("Interrupted")
        end = verdict_of(claude.desk.get(ask.id))
        assert end is not None
        assert (end.decision, noted(claude, ask)) == (Decision.ALLOWED, "")
    assert "handed over" in home.run("log").out


def test_questions_of_its_own_tool_are_answered_in_the_inbox_or_in_the_terminal(machine: Machine) -> None:
    home = installed(machine)
    with session(
        home, "interactive", use("AskUserQuestion", "toolu_1", QUESTIONS), use("AskUserQuestion", "toolu_2", QUESTIONS)
    ) as claude:
        ask = claude.prompt()
        claude.shows("Which harbour?")
        claude.desk.answer(ask.id, [Answer(question="1", text="The new one")], SOMEONE)
        assert '"Which harbour?"="The new one"' in claude.told()
        assert claude.ended(ask).delivered
        again = claude.prompt()
        claude.shows("2. South")
        claude.press("2")
        end = claude.ended(again)
        assert end.outcome is not None
        assert end.outcome.reason == "answered in the terminal of Claude Code"
        assert '"Which harbour?"="South"' in claude.told(2)


@contextmanager
def on_the_phone(home: Home, new_context: NewContext) -> Iterator[Page]:
    """The inbox of a `sayso web` of this home, on a phone that has followed its link."""
    web = home.start("web", "--json")
    try:
        assert web.stdout is not None
        said = "".join(iter(web.stdout.readline, "}\n")) + "}"
        page = new_context(**PHONE).new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(json.loads(said)["link"])
        page.get_by_role("button", name="Sign in").tap()
        yield page
    finally:
        web.terminate()
        web.communicate(timeout=PATIENCE)


def test_questions_of_its_own_tool_are_answered_on_a_phone(machine: Machine, new_context: NewContext) -> None:
    home = installed(machine)
    two = {"questions": [*QUESTIONS["questions"], BOATS]}
    with (
        on_the_phone(home, new_context) as page,
        session(home, "interactive", use("AskUserQuestion", "toolu_1", two)) as claude,
    ):
        page.get_by_role("link", name="Which harbour?").tap()
        claude.shows("Which harbour?")
        page.get_by_text("South", exact=True).tap()
        page.get_by_text("The old one", exact=True).tap()
        page.get_by_text("The red one", exact=True).tap()
        page.get_by_role("button", name="Send answers").tap()
        assert '"Which harbour?"="South"' in claude.told()
        assert '"Which boats?"="The old one, The red one"' in claude.told()
        expect(page.locator("#standing")).to_contain_text("Answered by you in the browser", timeout=PATIENCE * 1000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "no sideways scrolling"
        until(PATIENCE, lambda: "2. South" not in claude.client.shows(), lambda: "the dialog to close")


def test_a_plan_is_read_and_allowed_in_the_inbox(machine: Machine) -> None:
    home, text = installed(machine), "# The plan\n\n1. Dig\n2. Fill\n"

    def script(request: Json) -> Json:
        match len(told(request).results):
            case 0:
                found = re.search(r'/[^"\s\\]*plans/[\w-]+\.md', told(request).whole)
                assert found is not None
                return use("Write", "toolu_1", {"file_path": found[0], "content": text})
            case 1:
                return use("ExitPlanMode", "toolu_2", {})
        return say("Done.")

    with scripted(home, "interactive", script, ("--permission-mode", "plan")) as claude:
        ask = claude.prompt()
        assert ask.wanted is not None
        assert ask.wanted["action"]["data"]["input"]["plan"] == text
        claude.allow(ask)
        assert "User has approved your plan" in claude.told(2)


def test_an_edit_comes_with_its_diff(machine: Machine) -> None:
    home = installed(machine)
    file = home.project / "port.txt"
    with session(home, "headless", use("Write", "toolu_1", {"file_path": str(file), "content": "8080\n"})) as claude:
        ask = claude.prompt()
        assert ask.wanted is not None
        assert "+8080" in ask.wanted["action"]["data"]["diff"]
        claude.allow(ask)
        claude.told()
    assert file.read_text() == "8080\n"


def test_two_sessions_in_one_project_never_cross(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as first:
        one = first.prompt()
        with session(home, "headless", use("Bash", "toolu_1", BASH)) as second:
            until(PATIENCE, lambda: len(second.asks()) == 2, second.client.shows)
            (two,) = (ask for ask in second.asks() if ask.id != one.id)
            assert one.digest == two.digest
            assert one.asker.session != two.asker.session
            PermissionDesk(second.desk).deny(two.id, SOMEONE, "not you")
            assert second.told() == "The user did not allow this. They said: not you"
            assert [ask.id for ask in first.asks()] == [one.id]
        first.allow(one)
        first.told()
    assert (home.project / "made").exists()


def test_without_a_terminal_and_without_any_flag_of_ours_it_asks_in_the_inbox(machine: Machine) -> None:
    home = installed(machine)
    with scripted(home, "headless", one_after_another(use("Bash", "toolu_1", BASH)), more=()) as claude:
        ask = claude.prompt()
        claude.allow(ask)
        claude.told()
    assert (home.project / "made").exists()


def test_with_the_permission_tool_the_same_is_asked_once(machine: Machine) -> None:
    home = installed(machine)
    file = home.folder / "mcp.json"
    server = {"type": "stdio", "command": "sayso", "args": ["server", "--approve"], "alwaysLoad": True}
    file.write_text(json.dumps({"mcpServers": {"permits": server}}))
    tool = ("--mcp-config", str(file), "--permission-prompt-tool", "mcp__permits__approve")
    with scripted(home, "headless", one_after_another(use("Bash", "toolu_1", BASH)), (*MANUAL, *tool)) as claude:
        claude.allow(claude.prompt())
        claude.told()
        with home.desk() as desk:
            assert len(desk.history()) == 1
    assert (home.project / "made").exists()


def test_a_session_is_at_work_from_its_begin_to_its_end_without_having_asked_anything(machine: Machine) -> None:
    home = installed(machine)

    def at_work() -> set[str]:
        return {each["id"] for each in home.run("agents", "--json").data}

    with session(home, "interactive") as claude:
        claude.shows("Done.")
        until(PATIENCE, lambda: len(at_work()) == 1, lambda: f"the session; there are {at_work()}")
        first = at_work()
        assert isinstance(claude.client, Interactive)
        claude.client.write("/clear")
        claude.shows("/clear")
        claude.press("Enter")
        until(
            PATIENCE,
            lambda: len(at_work()) == 1 and not at_work() & first,
            lambda: f"another session than {first}; there are {at_work()}",
        )
    until(PATIENCE, lambda: not at_work(), lambda: f"its end; there are {at_work()}")


def started_agent(request: Json) -> Json:
    """A model that starts an agent in the background, which wants to run a command."""
    asked, done = told(request).whole, told(request).results
    if done:
        return say("Done.")
    if "You are the worker." in asked and "Go on." not in asked:
        return use("Bash", "toolu_2", BASH)
    given = {"description": "worker", "prompt": "You are the worker.", "subagent_type": "general-purpose"}
    return use("Agent", "toolu_1", given)


@pytest.mark.parametrize("where", ["away", "back"])
def test_of_an_agent_in_the_background_the_prompt_comes_to_where_the_person_is(machine: Machine, where: str) -> None:
    home = installed(machine)
    assert machine.run("sayso", where).code == 0
    with scripted(home, "interactive", started_agent) as claude:
        if where == "away":
            claude.allow(claude.prompt())
            until(PATIENCE, (home.project / "made").exists, claude.client.shows)
        else:
            claude.shows(DIALOG)
            assert claude.asks() == []


def test_what_is_asked_after_clear_is_another_sessions(machine: Machine) -> None:
    home, question = installed(machine), {"question": "Where do we land?", "nonBlocking": True}
    with session(home, "interactive", use("mcp__sayso__ask_user", "toolu_1", question)) as claude:
        before = claude.prompt()
        assert isinstance(claude.client, Interactive)
        claude.shows("Done.")
        claude.client.write("/clear")
        claude.shows("/clear")
        claude.press("Enter")
        until(PATIENCE, lambda: "Done." not in claude.client.shows(), claude.client.shows)
        claude.client.write("Once more.")
        claude.press("Enter")

        def sessions() -> set[str]:
            return {ask.asker.session for ask in claude.asks()}

        until(PATIENCE, lambda: sessions() - {before.asker.session}, claude.client.shows)


def test_a_killed_client_leaves_no_gate_and_no_prompt_behind(machine: Machine) -> None:
    home = installed(machine)
    with session(home, "interactive", use("Bash", "toolu_1", BASH)) as claude:
        ask = claude.prompt()
        os.kill(ask.asker.pid, signal.SIGKILL)
        assert claude.ended(ask).state is State.EXPIRED
