"""When something is wrong with a call or with us: a text that a model can act on, and nothing of our insides."""

from __future__ import annotations

import json

import pytest
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import Place
from tests.e2e.stdio.pipe import MODERN

INSIDES = ("Traceback", "pydantic", "validation error for", "sqlite3.", 'File "/', "errors.pydantic.dev")
VERSIONS = pytest.mark.parametrize("version", ["2025-06-18", MODERN])


def shows_no_insides(message: Json) -> bool:
    return not [word for word in INSIDES if word in json.dumps(message)]


@VERSIONS
def test_a_call_that_is_no_call_is_refused_and_the_server_goes_on(place: Place, version: str) -> None:
    wrong: list[Json] = [
        {},
        {"name": 7},
        {"name": "ask_user", "arguments": "question"},
        {"name": "ask_user", "arguments": ["question"]},
        {"name": "ask_user", "arguments": {"question": "x"}, "requestState": "forged"},
        {"name": "ask_user", "arguments": {"question": "x"}, "inputResponses": {"form": 7}},
    ]
    with place.pipe(program="sayso") as pipe, place.person() as person:
        pipe.connect(version)
        refused = wrong if version == MODERN else wrong[:4]
        for params in refused:
            answer = pipe.response(pipe.begin("tools/call", **params))
            assert answer["error"]["code"] == -32602, answer
            assert shows_no_insides(answer)
        assert pipe.request("tools/list")["tools"]
        assert person.asks() == []


@VERSIONS
def test_a_store_that_cannot_be_used_is_told_as_a_result(place: Place, version: str) -> None:
    place.state.mkdir()
    place.database.write_bytes(b"this is no database" * 100)
    with place.pipe(program="sayso") as pipe:
        pipe.connect(version)
        for name, arguments in {
            "ask_user": {"question": "Where is the store?"},
            "ask_user_questions": {"questions": [{"question": "Where?", "options": ["a", "b"]}]},
            "get_answers": {},
        }.items():
            result = pipe.request("tools/call", name=name, arguments=arguments)
            assert result["isError"] is True
            assert "is damaged or is not a Sayso store" in result["content"][0]["text"]
            assert "No answer was given; do not assume one." in result["content"][0]["text"]
            assert result["structuredContent"]["outcome"] == "failed"
            assert shows_no_insides(result)
        summary = pipe.request("tools/call", name="question_summary", arguments={})
        assert summary["structuredContent"]["count"] == 0


BROKEN = """
import sayso.dialects.promptmanager as dialect

def render(ask):
    raise KeyError("an inside of ours")

dialect.render_united = render
"""


@VERSIONS
def test_a_fault_of_ours_is_a_result_without_our_insides_and_the_ask_is_kept(place: Place, version: str) -> None:
    (place.folder / "sitecustomize.py").write_text(BROKEN)
    with place.pipe(program="sayso", environment={"PYTHONPATH": str(place.folder)}) as pipe, place.person() as person:
        pipe.connect(version)
        call = pipe.begin("tools/call", name="ask_user", arguments={"question": "Will it break?"})
        ask = person.wait_for_ask("Will it break?")
        person.answer(ask, "yes")
        result = pipe.response(call)["result"]
        assert result["isError"] is True
        assert "Sayso failed on this call; its log says why." in result["content"][0]["text"]
        assert "an inside of ours" not in json.dumps(result)
        assert shows_no_insides(result)
        kept = person.wait_until_unattended(ask)
        assert (kept.delivered, kept.answer("1") is not None) == (False, True)
        pipe.log.wait_for("KeyError: 'an inside of ours'")
