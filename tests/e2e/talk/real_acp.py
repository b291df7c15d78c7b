"""The real Gemini, opencode, Copilot and Qwen in Talk, by ACP, each on a scripted model: `make test-clients`
fetches them and runs this. Each takes long to start, so one conversation goes all the ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.programs.fetch import node, programs
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.seats import SEATS, until
from tests.e2e.talk.stage import Stage, new_stage, process_of
from tests.trusting import trust
from tests.web.house import USER, WAIT

from sayso.agents.acp import PROGRAMS
from sayso.agents.model import EventKind, Run, RunState
from sayso.asks.model import Answer, Ask, Settler, State
from sayso.permissions.desk import PermissionDesk
from sayso.running.folder import wait

BY = Settler(person=USER, surface="web")
PATIENCE = 240
"""Seconds. They take long to start where several do at once."""
FIRST, DENIED, HELD, RESUMED = "FIRST-MESSAGE", "DENIED-MESSAGE", "HELD-MESSAGE", "RESUMED-MESSAGE"

YOUNG = "Gemini would lose a conversation that it takes up in the minute in which that began."


@dataclass(frozen=True, kw_only=True)
class RealAgent:
    """How its model names the tools, and what of the tests is not so with it."""

    key: str
    shell: str
    ask: str
    options: tuple[str, ...] = ()
    tells_input: bool = True

    def run(self, command: str) -> Json:
        return use(self.shell, f"toolu_{command[-5:].strip()}", {"command": command, "description": "Make a file"})


REAL = (
    RealAgent(
        key="gemini",
        shell="run_shell_command",
        ask="mcp_ask-user_ask_person",
        options=("-m", "gemini-2.5-pro"),
        tells_input=False,
    ),
    RealAgent(key="opencode", shell="bash", ask="ask-user_ask_user"),
    RealAgent(key="copilot", shell="bash", ask="ask-user-ask_user"),
    RealAgent(
        key="qwen", shell="run_shell_command", ask="mcp__ask-user__ask_user", options=("--auth-type", "anthropic")
    ),
)


class Script:
    """What the model does: it goes by what it was told last, so that a client may ask it more often than it must."""

    def __init__(self, agent: RealAgent) -> None:
        self._agent = agent
        self.whole = ""

    def __call__(self, request: Json) -> Json:
        heard = told(request)
        self.whole, results = heard.whole, len(heard.results)
        if RESUMED in heard.whole:
            return say("Resumed.")
        if HELD in heard.whole:
            return self._agent.run("touch three")
        if DENIED in heard.whole:
            return self._agent.run("touch two") if results == 2 else say("Heard.")
        steps = [self._agent.run("touch one"), use(self._agent.ask, "toolu_ask", {"question": "Which colour?"})]
        return steps[results] if results < len(steps) else say("First.")


@contextmanager
def _stage(agent: RealAgent, script: Script, tmp_path: Path) -> Iterator[tuple[Stage, int]]:
    (seat,) = (seat for seat in SEATS if seat.key == agent.key)
    relay = str(tmp_path / "relay")
    with Model(script).serving() as model, new_stage(relay_dir=relay, run_rest="1h") as stage:
        name, *rest = PROGRAMS[agent.key].command
        found = f"PATH={node().node.parent}:/usr/bin:/bin"
        assigned = [f"{key}={value}" for key, value in {"DISABLE_TELEMETRY": "1", **seat.env(model.url)}.items()]
        command = ("env", found, *assigned, str(programs() / name), *rest, *agent.options)
        project = stage.project("shop", agent=agent.key, command=command)
        for file, content in seat.files(stage.folder / "shop").items():
            if file.endswith("trustedFolders.json"):
                continue  # somebody who has never worked there with it
            path = stage.house.place.home / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        try:
            yield stage, project
        finally:
            left = [*stage.runs.open_here(), *stage.runs.resting_here()]
            assert stage.house.place.run("project", "stop").returncode == 0
            assert all(wait(run.folder, WAIT) for run in left)


BROUGHT = {"gemini": ".gemini/settings.json", "opencode": "opencode.json"}
"""Where a project has each of them start MCP servers."""


def _server(agent: RealAgent, *command: str) -> Json:
    if agent.key == "gemini":
        return {"mcpServers": {"theirs": {"command": command[0], "args": command[1:]}}}
    return {"mcp": {"theirs": {"type": "local", "command": command}}}


def _asked(stage: Stage, conversation: str, *before: Ask) -> Ask:
    known = {ask.id for ask in before}

    def asks() -> list[Ask]:
        run = stage.latest(conversation).id
        return [ask for ask in stage.house.desk.inbox() if ask.asker.run == run and ask.id not in known]

    until(PATIENCE, asks, lambda: _told(stage, conversation))
    return asks()[0]


def _ended(stage: Stage, conversation: str) -> Run:
    until(PATIENCE, lambda: stage.latest(conversation).state.ended, lambda: _told(stage, conversation))
    return stage.latest(conversation)


def _told(stage: Stage, conversation: str) -> str:
    return "\n".join(f"{event.kind} {event.body}" for event in stage.runs.events(stage.latest(conversation).id))


def _how(run: Run) -> tuple[RunState, str]:
    assert run.ending is not None
    return run.state, run.ending.message


@pytest.mark.parametrize("agent", REAL, ids=lambda agent: agent.key)
def test_a_real_agent_is_allowed_denied_asked_interrupted_and_resumed(agent: RealAgent, tmp_path: Path) -> None:
    script = Script(agent)
    with _stage(agent, script, tmp_path) as (stage, project):
        visitor, permissions, folder = stage.visitor(), PermissionDesk(stage.house.desk), stage.folder / "shop"
        conversation = visitor.start(project, FIRST)
        first = _asked(stage, conversation)
        assert first.wanted is not None
        action = first.wanted["action"]
        assert (action["kind"], action["data"]["input"]["command"]) == ("shell", "touch one")
        assert ("not_told" not in action["data"]) is agent.tells_input
        permissions.allow(first.id, first.digest, BY)
        question = _asked(stage, conversation, first)
        assert question.questions[0].text == "Which colour?"
        stage.house.desk.answer(question.id, [Answer(question=question.questions[0].id, text="Sea green")], BY)
        run = _ended(stage, conversation)
        assert _how(run) == (RunState.COMPLETED, "")
        assert stage.texts(run)[-1] == "First."
        assert "Sea green" in script.whole
        assert (folder / "one").exists()
        adapter = process_of(run)

        assert visitor.go_on(conversation, DENIED).status == 303
        permissions.deny(_asked(stage, conversation, first, question).id, BY, "use the other pier")
        run = _ended(stage, conversation)
        assert _how(run) == (RunState.COMPLETED, "")
        assert "use the other pier" in script.whole
        assert not (folder / "two").exists()
        assert process_of(run) == adapter

        assert visitor.go_on(conversation, HELD).status == 303
        held = _asked(stage, conversation)
        assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
        assert _how(_ended(stage, conversation)) == (RunState.STOPPED, "Interrupted.")
        assert stage.house.desk.get(held.id).state is State.EXPIRED
        assert process_of(stage.latest(conversation)) == adapter

        assert stage.house.place.run("project", "stop").returncode == 0
        assert wait(stage.latest(conversation).folder, WAIT)
        assert not adapter.is_running()
        assert visitor.go_on(conversation, RESUMED).status == 303
        run = _ended(stage, conversation)
        assert _how(run) == (RunState.COMPLETED, "")
        assert stage.texts(run) == ["Resumed."]
        assert FIRST in script.whole
        notices = [notice.body["text"] for notice in stage.events(run, EventKind.NOTICE)]
        # Gemini waits for the end of the minute, unless that has come meanwhile.
        assert not [text for text in notices if agent.key != "gemini" or not text.startswith(YOUNG)]
        assert not (folder / "three").exists()


@pytest.mark.parametrize("agent", [agent for agent in REAL if agent.key in BROUGHT], ids=lambda agent: agent.key)
def test_what_an_untrusted_project_brings_is_not_used_by_a_real_agent(agent: RealAgent, tmp_path: Path) -> None:
    name = BROUGHT[agent.key]
    with _stage(agent, Script(agent), tmp_path) as (stage, project):
        used, file = tmp_path / "used", stage.folder / "shop" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(_server(agent, "touch", str(used))))
        visitor = stage.visitor()
        conversation = visitor.start(project, RESUMED)
        run = _ended(stage, conversation)
        assert stage.texts(run) == ["Resumed."]
        assert f"without what this project brings ({name})" in stage.events(run, EventKind.NOTICE)[0].body["text"]
        assert not used.exists()
        trust(stage.house.place.config().state_dir, stage.folder / "shop")
        assert visitor.go_on(conversation, RESUMED).status == 303
        _ended(stage, conversation)
        until(PATIENCE, used.exists, lambda: _told(stage, conversation))
