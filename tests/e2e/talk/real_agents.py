"""The real Claude Code, Codex and Gemini in Talk, on scripted models: how each is set up, and how its model names what
it does. What they do is the same for all, so that one table of tests is for each of them."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from tests.e2e.programs import codex_steps
from tests.e2e.programs.fetch import node, programs
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.seats import SEATS
from tests.e2e.talk.stage import Stage, new_stage
from tests.web.house import WAIT

from sayso.agents.acp import PROGRAMS
from sayso.running.folder import wait as wait_for_end

QUIET = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
PRESS = 5_000
"""Milliseconds in which a press is usually taken."""
CODEX_SETTINGS = """\
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "A_KEY"
"""


@dataclass(frozen=True, kw_only=True)
class RealAgent:
    """One of them. `run` makes a use of its shell for which it has to ask."""

    key: str
    run: Callable[[str, str], Json]
    ask: str
    steers: bool = True
    takes_pictures_at_once: bool = True
    """Else it has to be talked with first, and tells."""


def _shell(tool: str) -> Callable[[str, str], Json]:
    return lambda call, line: use(tool, call, {"command": line, "description": "Needed"})


CLAUDE = RealAgent(key="claude", run=_shell("Bash"), ask="mcp__ask-user__ask_user")
CODEX = RealAgent(key="codex", run=codex_steps.run, ask="mcp__ask_user/ask_user")
GEMINI = RealAgent(
    key="gemini",
    run=_shell("run_shell_command"),
    ask="mcp_ask-user_ask_person",
    steers=False,
    takes_pictures_at_once=False,
)


def words(variables: dict[str, str], *command: str) -> tuple[str, ...]:
    return ("env", *(f"{name}={value}" for name, value in variables.items()), *command)


def claude_variables(url: str) -> dict[str, str]:
    return {**QUIET, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-none"}


def commands(url: str) -> dict[str, str]:
    """The settings that name the programs."""
    claude = words(claude_variables(url), str(programs() / "claude"))
    codex = words({"A_KEY": "none"}, str(programs() / "codex"))
    return {"claude_command": " ".join(claude), "codex_command": " ".join(codex)}


def move_in(agent: RealAgent, stage: Stage, url: str) -> None:
    """What the home of somebody has who uses it."""
    home = stage.house.place.home
    if agent.key == "codex":
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(CODEX_SETTINGS.format(url=url))
    if agent.key == "gemini":
        (home / ".gemini").mkdir()
        chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(chosen))


def project_of(agent: RealAgent, stage: Stage, url: str, name: str) -> int:
    match agent.key:
        case "claude":
            return stage.project(name, model="sonnet")
        case "codex":
            return stage.project(name, agent="codex", permission_mode="default")
    (seat,) = (seat for seat in SEATS if seat.key == agent.key)
    program, *rest = PROGRAMS[agent.key].command
    variables = {**QUIET, **seat.env(url), "PATH": f"{node().node.parent}:/usr/bin:/bin"}
    command = words(variables, str(programs() / program), *rest, "-m", "gemini-2.5-pro")
    return stage.project(name, agent=agent.key, command=command)


@dataclass(kw_only=True)
class RealTalk:
    """A stage with one of them, whose model does what the first words of a conversation name."""

    agent: RealAgent
    stage: Stage
    model: Model
    scripts: dict[str, list[Json]] = field(default_factory=dict)

    def answer(self, request: Json) -> Json:
        heard = told(request)
        blocks = next((blocks for words, blocks in self.scripts.items() if words in heard.whole), [])
        done = len(heard.results)
        return blocks[done] if done < len(blocks) else say("Done.")

    def heard(self) -> str:
        """All that the model was told last."""
        return told(self.model.requests[-1]).whole

    def project(self, name: str) -> int:
        return project_of(self.agent, self.stage, self.model.url, name)

    def kill_server(self) -> None:
        """As the machine might; the page comes back to the next one by itself."""
        self.stage.house.web.stop(signal.SIGKILL)
        self.stage.house.restart()


@contextmanager
def real_talk(agent: RealAgent, relay: str) -> Iterator[RealTalk]:
    talks: list[RealTalk] = []
    with (
        Model(lambda request: talks[0].answer(request)).serving() as model,
        new_stage(relay_dir=relay, run_rest="1h", **commands(model.url)) as stage,
    ):
        talks.append(RealTalk(agent=agent, stage=stage, model=model))
        move_in(agent, stage, model.url)
        yield talks[0]
        left = [*stage.runs.open_here(), *stage.runs.resting_here()]
        assert stage.house.place.run("project", "stop").returncode == 0
        assert all(wait_for_end(run.folder, WAIT) for run in left)


# On the page


def allow(asked: Locator, patience: float) -> None:
    press(asked, "Allow", patience)


def press(asked: Locator, name: str, patience: float) -> None:
    """A card that has just come or moved takes no press: it is pressed until it has taken one."""
    button, give_up = asked.get_by_role("button", name=name, exact=True), time.monotonic() + patience
    while True:
        with suppress(PlaywrightTimeout):
            button.scroll_into_view_if_needed(timeout=PRESS)
            button.click(timeout=PRESS)
        with suppress(AssertionError):
            expect(asked).not_to_have_attribute("data-state", "open", timeout=PRESS)
            return
        assert time.monotonic() < give_up, "no press was taken"


def over(page: Page, turn: int, how: str = "Done") -> None:
    expect(page.locator(f"#turn-{turn} [data-footer]")).to_contain_text(how)
