"""What an agent is shown: how much of its context the tools take, by which names, and what a result says as data."""

from __future__ import annotations

import json

import pytest
from tests.e2e.ask.house import asks_named
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import WAIT, Place, data_of
from tests.e2e.stdio.pipe import MODERN, Pipe

FORMS: Json = {"elicitation": {}}


def tools_of(
    pipe: Pipe, version: str = "2025-11-25", capabilities: Json | None = None, name: str = "tester"
) -> list[Json]:
    pipe.client = {"name": name, "version": "7"}
    pipe.connect(version, FORMS if capabilities is None else capabilities)
    tools: list[Json] = pipe.request("tools/list")["tools"]
    return tools


def tokens(tools: list[Json]) -> float:
    """A quarter of the characters of the JSON as it is sent: a stated estimate that anybody can repeat."""
    return sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))) for tool in tools) / 4


@pytest.mark.finding("F-91")
def test_the_five_tools_take_at_most_1200_tokens_and_lean_ones_600(place: Place) -> None:
    with place.pipe(program="sayso") as pipe:
        tools = tools_of(pipe)
    assert len(tools) == 5
    assert tokens(tools) <= 1200
    with place.pipe(program="sayso", flags=["--lean"]) as pipe:
        lean = tools_of(pipe)
    assert [tool["name"] for tool in lean] == ["ask_user", "get_answers"]
    assert tokens(lean) <= 600


@pytest.mark.finding("F-91")
def test_the_first_sentence_says_which_of_two_that_overlap_to_take(place: Place) -> None:
    with place.pipe(program="sayso") as pipe:
        first = {tool["name"]: tool["description"].partition(". ")[0] for tool in tools_of(pipe)}
    assert "the right tool for nearly every question" in first["ask_user"]
    assert "else take ask_user" in first["ask_user_questions"]
    assert "for all else take ask_user" in first["question_ask"]


@pytest.mark.finding("F-81")
@pytest.mark.parametrize("profile", ["all", "codenomad"])
def test_gemini_sees_the_tool_under_a_name_that_it_does_not_hide(place: Place, profile: str) -> None:
    with place.pipe(program="sayso", flags=["--profile", profile]) as pipe, place.person() as person:
        names = [tool["name"] for tool in tools_of(pipe, "2025-06-18", {}, "gemini-cli-mcp-client")]
        assert "ask_person" in names
        assert "ask_user" not in names
        call = pipe.begin("tools/call", name="ask_person", arguments={"questions": [{"question": "By that name?"}]})
        person.answer(person.wait_for_ask("By that name?"), "yes")
        assert pipe.response(call)["result"]["structuredContent"]["outcome"] == "answered"


@pytest.mark.finding("F-94")
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_copilot_sees_one_list_whatever_forms_it_declares(place: Place, version: str) -> None:
    lists = []
    declarations: list[Json] = [{}, FORMS, {"elicitation": {"form": {}, "url": {}}}]
    for declared in declarations:
        with place.pipe(program="sayso") as pipe:
            lists.append(tools_of(pipe, version, declared, "copilot-cli"))
    assert lists[0] == lists[1] == lists[2]
    assert "ask_user" in [tool["name"] for tool in lists[0]]


@pytest.mark.finding("F-82")
@pytest.mark.parametrize("asked", [{"question": "How long?"}, {"questions": [{"question": "How long?"}]}])
def test_a_call_without_a_limit_of_its_own_has_none(place: Place, asked: Json) -> None:
    with place.agent(program="sayso") as agent, place.person() as person:
        person.desk.show_up("test", "ada")
        call = agent.call("ask_user", asked)
        ask = person.wait_for_ask("How long?")
        assert (ask.timeout_ms, ask.wait and ask.wait.until) == (None, None)
        person.answer(ask, "long")
        assert data_of(call.result(WAIT))["outcome"] == "answered"


@pytest.mark.finding("F-82")
@pytest.mark.parametrize("asked", [{"question": "In time?"}, {"questions": [{"question": "In time?"}]}])
def test_where_a_limit_ends_the_wait_the_agent_is_told_not_to_guess(place: Place, asked: Json) -> None:
    place.settings["ask_user_timeout"] = "200ms"
    with place.agent(program="sayso") as agent, place.person() as person:
        person.desk.show_up("test", "ada")
        result = agent.call("ask_user", asked).result(WAIT)
        told = data_of(result)
        assert told["outcome"] == "timed_out"
        assert f'still open: do not guess. Call get_answers with ask_id "{told["ask_id"]}"' in told["message"]
        assert told["message"] in str([getattr(part, "text", "") for part in result.content]).replace('\\\\"', '"')
        assert "best judgment" not in told["message"]


@pytest.mark.finding("F-83", "F-89")
@pytest.mark.parametrize("asked", [{"question": "Whose words?"}, {"questions": [{"question": "Whose words?"}]}])
def test_the_data_says_whose_answer_it_is_and_has_it_once(place: Place, asked: Json) -> None:
    with place.agent(program="sayso") as agent, place.person() as person:
        person.desk.show_up("test", "ada")
        call = agent.call("ask_user", asked)
        person.answer(person.wait_for_ask("Whose words?"), "an answer of mine")
        told = data_of(call.result(WAIT))
        assert told["message"].startswith("The person you work for answered this themselves")
        assert json.dumps(told).count("an answer of mine") == 1


@pytest.mark.finding("F-89")
def test_a_reason_is_a_sentence_of_its_own(place: Place) -> None:
    with place.agent(program="sayso") as agent, place.person() as person:
        person.desk.show_up("test", "ada")
        call = agent.call("ask_user", {"question": "Which database?"})
        person.reject(person.wait_for_ask("Which database?"), "see ADR 7")
        assert "Reason: see ADR 7. Do not assume an answer." in data_of(call.result(WAIT))["message"]


@pytest.mark.finding("F-93")
def test_no_questions_beside_a_question_are_no_second_form(place: Place) -> None:
    with place.agent(program="sayso") as agent, place.person() as person:
        told = data_of(
            agent.call("ask_user", {"question": "Alone?", "questions": [], "nonBlocking": True}).result(WAIT)
        )
        assert told["outcome"] == "pending"
        assert len(asks_named(person, "Alone?")) == 1


@pytest.mark.finding("F-93")
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_a_form_that_cannot_be_shown_names_the_tool_that_needs_none(place: Place, version: str) -> None:
    with place.pipe(program="sayso") as pipe:
        pipe.connect(version, {})
        told = pipe.response(pipe.begin("tools/call", name="question_ask", arguments={"question": "Where?"}))
        assert "Call ask_user instead" in json.dumps(told)
