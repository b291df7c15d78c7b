"""What a client sees of `auq server` before it calls anything: who it is and the one tool it has."""

from __future__ import annotations

import mcp_types as types
import pytest
from tests.e2e.stdio.harness import MODES, TOOL, WAIT, Agent, Person, Place, question

from sayso import __version__


@pytest.fixture
def tool(agent: Agent) -> types.Tool:
    (tool,) = agent.tools()
    return tool


@pytest.fixture
def hints(tool: types.Tool) -> types.ToolAnnotations:
    assert tool.annotations is not None
    return tool.annotations


@pytest.mark.requirement("A-01")
def test_auq_server_answers_a_client_on_stdin_and_stdout(agent: Agent) -> None:
    modern = agent.client.protocol_version == "2026-07-28"
    assert modern or agent.client.protocol_version == "2025-11-25"
    assert agent.client.server_capabilities.tools is not None


@pytest.mark.requirement("A-03")
def test_auq_server_is_called_ask_user_questions(agent: Agent) -> None:
    assert agent.client.server_info is not None
    assert agent.client.server_info.name == "AskUserQuestions"


@pytest.mark.requirement("A-04")
def test_auq_server_tells_a_model_how_to_use_it(agent: Agent) -> None:
    assert agent.client.instructions is not None
    assert agent.client.instructions.strip()


@pytest.mark.requirement("A-05")
def test_auq_server_reports_the_version_of_the_package(agent: Agent) -> None:
    assert agent.client.server_info is not None
    assert agent.client.server_info.version == __version__


@pytest.mark.requirement("A-06", "A-11")
def test_the_only_tool_is_listed_as_soon_as_a_client_connects(agent: Agent) -> None:
    assert [tool.name for tool in agent.tools()] == ["ask_user_questions"]


@pytest.mark.requirement("A-07")
def test_the_description_says_what_the_tool_is_for_and_how_to_use_it(tool: types.Tool) -> None:
    assert tool.description is not None
    for word in ("Ask the user", "Use it when", "options", "blocks until the user answers"):
        assert word in tool.description


@pytest.mark.requirement("A-08")
def test_the_tool_says_that_it_reaches_into_the_world(hints: types.ToolAnnotations) -> None:
    assert hints.open_world_hint is True


@pytest.mark.requirement("A-09")
def test_the_tool_does_not_claim_to_be_read_only(hints: types.ToolAnnotations) -> None:
    assert hints.read_only_hint is False


@pytest.mark.requirement("A-10")
def test_the_tool_says_that_it_is_idempotent(hints: types.ToolAnnotations) -> None:
    assert hints.idempotent_hint is True


@pytest.mark.requirement("A-12")
def test_the_input_schema_is_an_object_with_an_array_of_questions(tool: types.Tool) -> None:
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["required"] == ["questions"]
    questions = tool.input_schema["properties"]["questions"]
    assert (questions["type"], questions["minItems"], questions["maxItems"]) == ("array", 1, 4)


def test_sayso_server_shows_the_tool_beside_the_others_under_its_own_name(mode: str, place: Place) -> None:
    with place.agent(mode, program="sayso") as agent, place.person() as person:
        assert agent.client.server_info is not None
        assert agent.client.server_info.name == "sayso"
        assert {TOOL, "ask_user", "get_answers"} <= {tool.name for tool in agent.tools()}
        _is_answered(agent, person)


def test_a_profile_makes_one_program_the_other(place: Place) -> None:
    with place.agent(MODES[0], program="sayso", flags=["--profile", "auq"]) as agent:
        assert agent.client.server_info is not None
        assert agent.client.server_info.name == "AskUserQuestions"
        assert [tool.name for tool in agent.tools()] == [TOOL]


def _is_answered(agent: Agent, person: Person) -> None:
    call = agent.ask({"question": "Both words?", "options": ["yes", "no"]}, question("Is the other word fine too?"))
    person.answer(person.wait_for_ask("Both words?"), "yes", "No")
    assert not call.result(WAIT).is_error


@pytest.mark.finding("F-70")
def test_an_agent_is_known_by_the_branch_of_its_worktree(place: Place) -> None:
    (place.project / ".git").write_text("gitdir: ../shop.git/worktrees/one\n")
    inner = place.project.parent / "shop.git" / "worktrees" / "one"
    inner.mkdir(parents=True)
    with place.agent() as agent, place.person() as person:
        for branch in ("feature-a", "feature-b"):
            (inner / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
            agent.ask(question(f"On {branch}?"))
            assert person.wait_for_ask(f"On {branch}?").asker.branch == branch
