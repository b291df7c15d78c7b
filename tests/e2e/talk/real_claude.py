"""The real Claude Code in the browser, with a scripted model on loopback: `make test-claude` fetches it and runs this.

Not part of `make test`: the program is large. A headless Claude asks by `ask_user`, by its own AskUserQuestion and for
a permission; each is answered on the page, and the model gets what the person said.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.cli.program import BIN
from tests.e2e.programs.fetch import programs
from tests.e2e.programs.model import Json, Model, say, use
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, begin, card, new_stage, process_of
from tests.e2e.talk.stage import say as go_on
from tests.trusting import trust
from tests.web.house import USER

from sayso.agents.model import EventKind, RunState
from sayso.asks.model import Settler
from sayso.install.hooks import GatePart
from sayso.permissions.desk import PermissionDesk
from sayso.running.folder import wait as wait_for_end

SECONDS = 90
COLOUR = {"question": "Which colour?", "header": "Colour", "options": [], "multiSelect": False}
NATIVE = {
    **COLOUR,
    "options": [{"label": "Blue", "description": "As the sea"}, {"label": "Green", "description": "As grass"}],
}


@pytest.fixture(scope="module")
def claude() -> Path:
    """The program; fetched once."""
    return programs() / "claude"


class Scripted:
    """What the model does: one step after another, each once the one before it has come back."""

    def __init__(self) -> None:
        self.steps: list[Json] = []
        self.told: list[str] = []
        self.whole = ""

    def __call__(self, request: Json) -> Json:
        results = [part for message in request["messages"] for part in _parts(message) if part["type"] == "tool_result"]
        self.told = [json.dumps(part["content"]) for part in results]
        self.whole = json.dumps(request["messages"])
        return self.steps[len(results)] if len(results) < len(self.steps) else say("That was **all**.")


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [] if isinstance(content, str) else content


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def real(claude: Path, script: Scripted, tmp_path: Path) -> Iterator[Stage]:
    with _stage(claude, script, tmp_path) as stage:
        yield stage


@contextmanager
def _stage(claude: Path, script: Scripted, tmp_path: Path, **settings: str) -> Iterator[Stage]:
    quiet = ("DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
    with Model(script).serving() as model:
        command = ("env", f"ANTHROPIC_BASE_URL={model.url}", "ANTHROPIC_API_KEY=sk-none", *quiet, str(claude))
        with new_stage(relay_dir=str(tmp_path / "relay"), claude_command=" ".join(command), **settings) as stage:
            yield stage


def test_a_real_headless_claude_asks_in_three_ways_and_is_answered_in_the_browser(
    real: Stage, script: Scripted, sign_in: SignIn
) -> None:
    project = real.project(model="sonnet")
    file = real.folder / "shop" / "hello.txt"
    script.steps = [
        use("mcp__ask-user__ask_user", "toolu_1", {"question": "Which approach should I use?", "options": OPTIONS}),
        use("AskUserQuestion", "toolu_2", {"questions": [NATIVE]}),
        use("Write", "toolu_3", {"file_path": str(file), "content": "Hello\n"}),
        use("Bash", "toolu_4", {"command": "touch forbidden", "description": "Make a file"}),
    ]
    # The person's own hook for prompts is there too, and stands back: here they come by the agent's line.
    hook = GatePart(path=real.house.place.home / ".claude" / "settings.json", program=[str(BIN / "sayso")])
    hook.path.parent.mkdir(exist_ok=True)
    # In a terminal they let Claude edit as it likes. That holds there, and was not said of this project.
    hook.path.write_text(hook.added('{"permissions": {"defaultMode": "acceptEdits"}}'))
    page = sign_in("/talk", to=real)
    conversation = begin(page, project, "Do as you are told.")
    _answer(page, "Which approach should I use?", "Option A")
    _answer(page, "Which colour?", "Green")
    change = card(page, str(file))
    expect(change).to_contain_text("+Hello")
    _allow(change)
    refused = card(page, "touch forbidden")
    refused.get_by_role("textbox").fill("Not here")
    refused.get_by_role("button", name="Deny").click()
    run = real.ended(conversation)
    assert run.state is RunState.COMPLETED, run.ending
    assert "Option A" in script.told[0]
    assert "Green" in script.told[1]
    assert file.read_text() == "Hello\n"
    assert "Not here" in script.told[3]
    assert not (real.folder / "shop" / "forbidden").exists()
    assert len(real.house.desk.history()) == 4
    expect(page.locator("#turn-1 .spoken strong")).to_have_text("all")
    summaries = page.locator("[data-card] [data-summary]")
    answered = ["You answered: Option A", "You answered: Green", "You allowed this", "You denied this: Not here"]
    expect(summaries).to_have_text(answered)
    page.reload()
    expect(summaries).to_have_text(answered)
    # The next turn resumes the same conversation: the model sees all that was said before.
    go_on(page, "And now?")
    expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Done")
    assert len(script.told) == 4
    first, second = real.runs.turns(conversation, run.user)
    assert first.session == second.session


def test_a_real_claude_is_steered_interrupted_and_set_otherwise_in_one_process_that_outlives_the_server(
    claude: Path, script: Scripted, tmp_path: Path, sign_in: SignIn
) -> None:
    go, never, file = tmp_path / "go-on", tmp_path / "never", tmp_path / "note.txt"
    # Claude refuses to run a mere sleep.
    wait = {"command": f"sh -c 'until test -e {go}; do sleep 0.1; done'", "description": "Wait"}
    script.steps = [
        use("Bash", "toolu_1", wait),
        use("AskUserQuestion", "toolu_2", {"questions": [NATIVE]}),
        say("First turn done."),
    ]
    with _stage(claude, script, tmp_path, run_rest="1h") as real:
        page = sign_in("/talk", to=real)
        conversation = begin(page, real.project(model="sonnet"), "Begin.")
        _allow(card(page, str(go)))
        expect(card(page, str(go))).to_have_attribute("data-state", "answered")
        agent = process_of(real.latest(conversation))
        go_on(page, "Mind the STEERING.")
        expect(page.locator("[data-spoken]")).to_contain_text("Sent while it works")
        real.house.web.stop(signal.SIGKILL)
        real.house.restart()
        go.touch()
        _answer(page, "Which colour?", "Green")
        expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
        expect(page.locator("[data-spoken]")).to_contain_text("taken up")
        assert script.whole.count("STEERING") == 1
        commands = real.visitor().get(f"/talk/{conversation}/commands").data["options"]
        assert next(each["about"] for each in commands if each["value"] == "/compact")
        # The next turn has the same process; what is chosen while it works holds at once.
        go.unlink()
        script.steps += [
            use("Bash", "toolu_3", wait),
            use("Write", "toolu_4", {"file_path": str(real.folder / "shop" / file.name), "content": "Hello\n"}),
            use("Bash", "toolu_5", {**wait, "command": wait["command"].replace(str(go), str(never))}),
        ]
        del script.steps[2]
        go_on(page, "And now?")
        _allow(card(page, str(go)).last)
        page.get_by_text("Mode, model").click()
        page.get_by_label("Permission mode", exact=True).select_option("acceptEdits")
        page.get_by_role("button", name="Use for the rest of the conversation").click()
        expect(page.get_by_text("You set the permission mode to acceptEdits")).to_be_visible()
        go.touch()
        last = card(page, str(never))
        _allow(last)
        assert (real.folder / "shop" / file.name).read_text() == "Hello\n"
        expect(last).to_have_attribute("data-state", "answered")
        page.get_by_role("button", name="Interrupt").click()
        expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Interrupted.")
        go_on(page, "Enough.")
        expect(page.locator("#turn-3 [data-footer]")).to_contain_text("Done")
        assert process_of(real.latest(conversation)) == agent
        assert real.house.place.run("project", "stop").returncode == 0
        assert wait_for_end(real.latest(conversation).folder, SECONDS) is not None


def test_after_its_plan_is_allowed_a_real_claude_is_shown_in_the_mode_that_it_is_in(
    real: Stage, script: Scripted
) -> None:
    script.steps = [use("ExitPlanMode", "toolu_1", {"plan": "1. Paint it"}), say("Painted.")]
    visitor = real.visitor()
    conversation = visitor.start(real.project(model="sonnet", permission_mode="plan"), "Plan it.")
    asked = real.open_ask(conversation)
    PermissionDesk(real.house.desk).allow(asked.id, asked.digest, Settler(person=USER, surface="browser"))
    run = real.ended(conversation)
    assert (run.state, run.choices.permission_mode) == (RunState.COMPLETED, "default")
    told = [event.body["text"] for event in real.events(run, EventKind.NOTICE)]
    assert told == ["Claude is in default mode now."]


@pytest.mark.finding("F-22")
def test_a_real_claude_runs_no_hook_and_no_server_of_a_clone_until_that_is_trusted(
    real: Stage, script: Scripted
) -> None:
    project, folder, ran = real.project("clone", model="sonnet"), real.folder / "clone", real.folder / "ran"
    ran.mkdir()
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"touch {ran}/{event}"}]}]
        for event in ("SessionStart", "UserPromptSubmit")
    }
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": hooks, "enableAllProjectMcpServers": True, "apiKeyHelper": f"touch {ran}/helper"})
    )
    evil = {"command": "sh", "args": ["-c", f"touch {ran}/server; cat"]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"evil": evil}}))
    script.steps = [say("Nothing.")]
    visitor = real.visitor()
    assert real.ended(visitor.start(project, "Do nothing.")).state is RunState.COMPLETED
    assert list(ran.iterdir()) == []
    trust(real.house.place.state, folder)
    assert real.ended(visitor.start(project, "Do nothing.")).state is RunState.COMPLETED
    assert {"SessionStart", "UserPromptSubmit", "server"} <= {each.name for each in ran.iterdir()}


def _allow(asked: Locator) -> None:
    """A card that has just moved takes no press: then it is pressed once more."""
    allow = asked.get_by_role("button", name="Allow", exact=True)
    for patience in (5_000, SECONDS * 1000):
        allow.scroll_into_view_if_needed()
        allow.click()
        with suppress(AssertionError):
            expect(asked).not_to_have_attribute("data-state", "open", timeout=patience)
            return


def _answer(page: Page, question: str, label: str) -> None:
    asked = card(page, question)
    asked.get_by_label(label).check()
    asked.get_by_role("button", name="Send answer").click()
