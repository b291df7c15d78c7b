"""An agent that Talk started cannot make itself a person: no link, no token, no user. What it tries is recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.e2e.talk.stage import Stage

SAYSO = Path(sys.executable).parent / "sayso"
OTHER = "grace"
TRIES = (
    ("web", "--api-token", "--user", OTHER),
    ("web", "--link", "--user", OTHER),
    ("user", "add", "myself"),
    ("token", "add", "mine", "--user", OTHER),
)


@pytest.mark.finding("F-32")
def test_an_agent_of_one_user_cannot_become_another(stage: Stage) -> None:
    stage.house.accounts.add_user(OTHER)
    users = {user.name for user in stage.house.accounts.users()}
    # As an agent that wants to hide where it comes from would do it.
    bare = "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID"
    steps = [f"shell {bare} sh -c '{SAYSO} {' '.join(words)}; exit $?'" for words in TRIES]
    conversation = stage.visitor().start(stage.project("becoming"), *steps)
    said = stage.texts(stage.ended(conversation))
    assert len(said) == len(TRIES)
    for text in said:
        assert text.startswith("5: "), text
        assert "started by an agent (it descends from process" in text
        assert "This attempt was recorded." in text
    assert {user.name for user in stage.house.accounts.users()} == users
    assert stage.house.accounts.tokens() == []
    assert stage.house.accounts.sessions(OTHER) == []
    listed = stage.house.place.run("user", "list")
    assert listed.stderr.count("an agent tried to") == len(TRIES)
    assert "an agent tried to make sign-in links or API tokens" in stage.visitor().get("/settings").text


@pytest.mark.finding("F-32")
def test_a_person_can_while_an_agent_runs(stage: Stage) -> None:
    go_on = stage.folder / "go-on"
    conversation = stage.visitor().start(stage.project("meanwhile"), f"wait {go_on}")
    stage.until_true(lambda: not stage.latest(conversation).state.ended)
    made = stage.house.place.run("web", "--link", "--user", "ada", "--json")
    go_on.touch()
    stage.ended(conversation)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["user"] == "ada"
