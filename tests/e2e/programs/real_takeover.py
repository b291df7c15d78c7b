"""A session of the real Claude Code in a terminal is taken over on a phone, and handed back to a terminal.

On a scripted model, after `sayso install claude-code --approvals` and `sayso project add`. `make test-clients` runs
this file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from playwright.sync_api import expect
from tests.e2e.browser.conftest import NewContext
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, say
from tests.e2e.programs.real_gate import CLAUDE, MANUAL, PATIENCE, installed, on_the_phone
from tests.e2e.programs.seats import Interactive, at_work, until

from sayso.records import replace

BEGUN, WORKED, SENT, BACK = "Go on.", "Count the boats.", "From the phone.", "In the terminal again."
expect.set_options(timeout=PATIENCE * 1000)


def told_in_order(request: Json, wanted: Sequence[str]) -> bool:
    """Whether the model was told all of this, each once and in this order, by the person."""
    whole = json.dumps([message["content"] for message in request["messages"] if message["role"] == "user"])
    places = [whole.find(words) for words in wanted]
    return -1 not in places and places == sorted(places) and all(whole.count(words) == 1 for words in wanted)


def test_a_terminal_session_goes_on_on_the_phone_after_its_turn_and_then_in_a_terminal(
    machine: Machine, new_context: NewContext
) -> None:
    go = threading.Event()

    def answer(request: Json) -> Json:
        if WORKED in json.dumps(request["messages"]):
            assert go.wait(PATIENCE)
        return say("That is done.")

    with Model(answer).serving() as model:
        given = [f"{name}={value}" for name, value in CLAUDE.env(model.url).items()]
        settings = {"SAYSO_CLAUDE_COMMAND": " ".join(["env", *given, "claude"])}
        home = installed(replace(machine, home=replace(machine.home, extra={**machine.home.extra, **settings})))
        assert home.run("project", "add", str(home.project)).code == 0
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
