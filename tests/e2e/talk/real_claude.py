"""The real Claude Code in the browser, with a scripted model on loopback: `make test-claude` fetches it and runs this.

Not part of `make test`: the program is large. A headless Claude asks by `ask_user`, by its own AskUserQuestion and for
a permission; each is answered on the page, and the model gets what the person said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.cli.program import BIN
from tests.e2e.programs.fetch import programs
from tests.e2e.programs.model import Json, Model, say, use
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, begin, card, new_stage
from tests.e2e.talk.stage import say as go_on
from tests.trusting import trust

from sayso.agents.model import RunState
from sayso.install.hooks import GatePart

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

    def __call__(self, request: Json) -> Json:
        results = [part for message in request["messages"] for part in _parts(message) if part["type"] == "tool_result"]
        self.told = [json.dumps(part["content"]) for part in results]
        return self.steps[len(results)] if len(results) < len(self.steps) else say("That was **all**.")


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [] if isinstance(content, str) else content


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def real(claude: Path, script: Scripted, tmp_path: Path) -> Iterator[Stage]:
    quiet = ("DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
    with Model(script).serving() as model:
        command = ("env", f"ANTHROPIC_BASE_URL={model.url}", "ANTHROPIC_API_KEY=sk-none", *quiet, str(claude))
        with new_stage(relay_dir=str(tmp_path / "relay"), claude_command=" ".join(command)) as stage:
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
    hook.path.write_text(hook.added("{}"))
    page = sign_in("/talk", to=real)
    conversation = begin(page, project, "Do as you are told.")
    _answer(page, "Which approach should I use?", "Option A")
    _answer(page, "Which colour?", "Green")
    change = card(page, str(file))
    expect(change).to_contain_text("+Hello")
    change.get_by_role("button", name="Allow", exact=True).click()
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


def _answer(page: Page, question: str, label: str) -> None:
    asked = card(page, question)
    asked.get_by_label(label).check()
    asked.get_by_role("button", name="Send answer").click()
