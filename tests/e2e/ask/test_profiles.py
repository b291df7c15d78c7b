"""What each profile shows: one seed's tools to the letter, or all of them, told apart for a model."""

from __future__ import annotations

import re

import pytest
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import Place
from tests.e2e.stdio.pipe import MODERN

ASK_TOOLS = ["ask_user", "ask_user_questions", "get_answers", "question_ask", "question_summary"]
PROFILES: dict[str, tuple[str, list[str]]] = {
    "auq": ("AskUserQuestions", ["ask_user_questions"]),
    "codenomad": ("CodeNomad", ["ask_user"]),
    "promptmanager": ("ask-user", ["ask_user"]),
    "swissarmyhammer": ("swissarmyhammer", ["question_ask", "question_summary"]),
}


def listed(place: Place, profile: str, version: str = MODERN) -> tuple[Json, dict[str, Json]]:
    """What the server says of itself, and its tools by name."""
    with place.pipe(program="sayso", flags=["--profile", profile]) as pipe:
        hello = pipe.connect(version, {"elicitation": {}})
        tools = pipe.request("tools/list")["tools"]
    info = hello.get("serverInfo") or hello["_meta"]["io.modelcontextprotocol/serverInfo"]
    return info, {tool["name"]: tool for tool in tools}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_strict_profile_shows_its_seeds_tools_and_no_others(place: Place, profile: str) -> None:
    info, tools = listed(place, profile, "2025-11-25")
    name, names = PROFILES[profile]
    assert (info["name"], list(tools)) == (name, names)
    assert place.files() == set(), "listing leaves nothing behind"


@pytest.fixture(scope="module")
def united(request: pytest.FixtureRequest) -> dict[str, Json]:
    place: Place = request.getfixturevalue("machine")
    return {name: tool for name, tool in listed(place, "all")[1].items() if name in ASK_TOOLS}


def test_the_united_profile_shows_them_all(united: dict[str, Json]) -> None:
    assert list(united) == ASK_TOOLS


def test_every_description_fits_into_two_kilobytes(united: dict[str, Json]) -> None:
    assert {
        name: len(tool["description"].encode())
        for name, tool in united.items()
        if len(tool["description"].encode()) >= 2048
    } == {}


def test_the_tools_are_told_apart_in_their_first_sentence(united: dict[str, Json]) -> None:
    first = {name: re.split(r"(?<=[.:])\s", tool["description"])[0] for name, tool in united.items()}
    assert len(set(first.values())) == len(first)
    for name, words in {
        "ask_user": "anything",
        "ask_user_questions": "multiple-choice",
        "get_answers": "asked earlier",
        "question_ask": "form of your own client",
        "question_summary": "Read back",
    }.items():
        assert words in first[name]


def test_the_descriptions_say_when_to_use_a_tool_and_when_not(united: dict[str, Json]) -> None:
    for name in ("ask_user", "ask_user_questions"):
        about = united[name]["description"]
        assert "Use it when" in about
        assert "Do not use it for" in about
        assert "If the call moves to the background, wait for its result; do not act on a guess." in about


def test_no_input_schema_is_a_choice_between_schemas_at_its_top(united: dict[str, Json]) -> None:
    for tool in united.values():
        assert tool["inputSchema"]["type"] == "object"
        assert not tool["inputSchema"].keys() & {"oneOf", "anyOf", "allOf", "not", "$ref"}


def test_the_ask_tools_are_always_loaded_and_never_marked_as_needing_a_dialog(united: dict[str, Json]) -> None:
    for tool in united.values():
        assert tool["_meta"] == {"anthropic/alwaysLoad": True}


def test_a_listing_depends_on_the_client_and_must_not_be_shared(place: Place) -> None:
    with place.pipe(program="sayso") as pipe:
        pipe.connect(MODERN)
        result = pipe.request("tools/list")
        assert (result["cacheScope"], result["ttlMs"]) == ("private", 0)
        assert "question_ask" not in [tool["name"] for tool in result["tools"]]
        pipe.meta["io.modelcontextprotocol/clientCapabilities"] = {"elicitation": {}}
        assert "question_ask" in [tool["name"] for tool in pipe.request("tools/list")["tools"]]
