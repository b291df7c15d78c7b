"""Sessions of the real Claude Code and the real Codex in a terminal are taken over on a phone, and handed back.

On a scripted model, after `sayso install … --approvals` and `sayso project add`. `make test-clients` runs this file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from playwright.sync_api import expect
from tests.cli.program import Home
from tests.e2e.browser.conftest import NewContext
from tests.e2e.programs.codex_steps import run
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, say
from tests.e2e.programs.real_codex_gate import DIALOG, Desktop, desktop
from tests.e2e.programs.real_gate import CLAUDE, MANUAL, PATIENCE, installed, on_the_phone
from tests.e2e.programs.seats import Interactive, at_work, until

from sayso.records import replace

__all__ = ["desktop"]
BEGUN, WORKED, SENT, BACK = "Go on.", "Count the boats.", "From the phone.", "In the terminal again."
expect.set_options(timeout=PATIENCE * 1000)


def told_in_order(request: Json, wanted: Sequence[str]) -> bool:
    """Whether the model was told all of this, each once and in this order, by the person."""
    whole = json.dumps([message["content"] for message in request["messages"] if message["role"] == "user"])
    places = [whole.find(words) for words in wanted]
    return -1 not in places and places == sorted(places) and all(whole.count(words) == 1 for words in wanted)


def with_project(machine: Machine, model: Model) -> Home:
    """A home in which Talk starts the same Claude, on the same model."""
    given = [f"{name}={value}" for name, value in CLAUDE.env(model.url).items()]
    settings = {"SAYSO_CLAUDE_COMMAND": " ".join(["env", *given, "claude"])}
    home = installed(replace(machine, home=replace(machine.home, extra={**machine.home.extra, **settings})))
    assert home.run("project", "add", str(home.project)).code == 0
    return home


def test_a_terminal_session_goes_on_on_the_phone_after_its_turn_and_then_in_a_terminal(
    machine: Machine, new_context: NewContext
) -> None:
    go = threading.Event()

    def answer(request: Json) -> Json:
        if WORKED in json.dumps(request["messages"]):
            assert go.wait(PATIENCE)
        return say("That is done.")

    with Model(answer).serving() as model:
        home = with_project(machine, model)
        with (
            at_work(CLAUDE, "interactive", home, model.url, MANUAL) as terminal,
            on_the_phone(home, new_context) as page,
        ):
            assert isinstance(terminal, Interactive)
            until(PATIENCE, lambda: "That is done." in terminal.shows(), terminal.shows)
            terminal.write(WORKED)
            until(PATIENCE, lambda: WORKED in terminal.shows(), terminal.shows)
            terminal.press("Enter")
            until(PATIENCE, lambda: len(model.requests) == 2, terminal.shows)
            terminal.write("Half typed")
            page.get_by_role("link", name="Talk").tap()
            page.locator(".in-terminals").get_by_role("link").tap()
            expect(page.get_by_text(WORKED)).to_be_visible()
            page.get_by_label("Go on here").fill(SENT)
            page.get_by_role("button", name="Take over").tap()
            expect(page.locator(".notice").first).to_contain_text("in the middle of a turn in the terminal")
            assert len(model.requests) == 2, "it has not begun"
            go.set()
            expect(page.locator("#turn-1 .spoken")).to_have_text("That is done.")
            expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
            assert told_in_order(model.requests[-1], [BEGUN, WORKED, SENT])
            assert "Half typed" in terminal.shows()
            page.get_by_text("More", exact=True).tap()
            page.get_by_role("button", name="Hand back to a terminal").tap()
            command = page.locator(".handed-back code").inner_text()
            log = home.folder / "again.log"
            again = Interactive(["sh", "-c", command], home, CLAUDE.env(model.url), log)
            try:
                until(PATIENCE, lambda: SENT in again.shows(), again.shows)
                again.write(BACK)
                until(PATIENCE, lambda: BACK in again.shows(), again.shows)
                again.press("Enter")
                until(PATIENCE, lambda: len(model.requests) == 4, again.shows)
                assert told_in_order(model.requests[-1], [BEGUN, WORKED, SENT, BACK])
            finally:
                again.kill()
            # The terminal that was there first knows nothing of all this, and has lost nothing.
            assert "Half typed" in terminal.shows()
            assert SENT not in terminal.shows()


def test_a_copy_ends_with_what_was_shown_though_the_terminal_has_gone_on_by_then(
    machine: Machine, new_context: NewContext
) -> None:
    with Model(lambda _: say("That is done.")).serving() as model:
        home = with_project(machine, model)
        with (
            at_work(CLAUDE, "interactive", home, model.url, MANUAL) as terminal,
            on_the_phone(home, new_context) as page,
        ):
            assert isinstance(terminal, Interactive)
            until(PATIENCE, lambda: "That is done." in terminal.shows(), terminal.shows)
            page.get_by_role("link", name="Talk").tap()
            page.locator(".in-terminals").get_by_role("link").tap()
            expect(page.locator(".in-terminal")).to_contain_text("That is done.")
            shown = page.locator("[data-shown-step]")
            expect(shown).not_to_have_value("")
            step = shown.input_value()
            terminal.write(WORKED)
            until(PATIENCE, lambda: WORKED in terminal.shows(), terminal.shows)
            terminal.press("Enter")
            # The page follows the terminal, and with it what a copy would end with.
            expect(page.locator(".in-terminal")).to_contain_text(WORKED)
            expect(page.locator(".session-state")).to_contain_text("waits for what is said next")
            expect(shown).not_to_have_value(step)
            # As if it had been pressed before that.
            shown.evaluate("(field, step) => { field.value = step; }", step)
            page.get_by_role("button", name="Take over").tap()
            expect(page.get_by_text("Ready for your next message")).to_be_visible()
            expect(page.get_by_text("Said in the terminal since")).to_be_visible()
            page.get_by_label("Go on").fill(SENT)
            page.get_by_role("button", name="Send", exact=True).tap()
            expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Done")
            asked = model.requests[-1]
            assert told_in_order(asked, [BEGUN, SENT])
            assert WORKED not in json.dumps(asked["messages"])


def test_a_session_of_codex_on_its_shared_server_is_shared_with_the_phone(
    desktop: Desktop, new_context: NewContext
) -> None:
    home = desktop.home
    assert home.run("project", "add", str(home.project), "--agent", "codex").code == 0
    desktop.scripts[SENT] = [run("call_1", "touch shared")]
    with desktop.session("Shared.", say("Seven boats.")) as codex:
        codex.shows("Seven boats.")
        with on_the_phone(home, new_context) as page:
            page.get_by_role("link", name="Talk").tap()
            # It has asked nothing so far.
            page.locator(".in-terminals").get_by_role("link").last.tap()
            expect(page.locator(".in-terminal")).to_contain_text("Seven boats.")
            expect(page.get_by_text("takes part in this very session")).to_be_visible()
            page.get_by_role("button", name="Take over").tap()
            expect(page.get_by_text("Ready for your next message")).to_be_visible()
            page.get_by_label("Go on").fill(SENT)
            page.get_by_role("button", name="Send", exact=True).tap()
            # The terminal shows it, and what it asks stands in the terminal, in the inbox and in the conversation.
            codex.shows(SENT)
            codex.shows(DIALOG)
            expect(page.locator("[data-card][data-state=open]")).to_contain_text("touch shared")
            (ask,) = codex.prompt()
            codex.allow(ask)
            expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Done")
            assert (home.project / "shared").exists()
            # What is said in the terminal is a turn here.
            codex.says(BACK)
            expect(page.locator("#turn-3 .elsewhere")).to_contain_text(BACK)
            expect(page.locator("#turn-3 [data-footer]")).to_contain_text("Done")
            page.locator(".about-talk summary").tap()
            page.get_by_role("button", name="Hand back to a terminal").tap()
            expect(page.locator(".handed-back")).to_contain_text("goes on in the terminal")
            before = len(desktop.model.requests)
            codex.says("Alone again.")
            until(PATIENCE, lambda: len(desktop.model.requests) > before, codex.client.shows)
            until(PATIENCE, lambda: codex.client.shows().count("Worked for") == 4, codex.client.shows)
            page.get_by_label("Go on").fill(WORKED)
            page.get_by_role("button", name="Send", exact=True).tap()
            expect(page.locator("#turn-4 .elsewhere").first).to_contain_text("Alone again.")
            codex.shows(WORKED)
            expect(page.locator("#turn-4 [data-footer]")).to_contain_text("Done")
