"""Under ASK_USER_CONFIG the first answers come as quickly as always, and are those of this start."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.e2e.relay.kit import FILE, start_fails, under, written
from tests.e2e.stdio.harness import Place, new_place
from tests.e2e.stdio.pipe import MODERN


def test_the_first_answers_depend_on_whether_there_is_a_relay() -> None:
    with new_place() as place:
        file = written(place.folder)
        assert "ask_user_questions" in _first_answers(place, {})[1]
        assert _first_answers(place, under(file)) == ("ask-user", ["ask_user"])
        # A new run has a new file of another name; that alone makes no other answers.
        other = place.folder / "other.json"
        other.write_text(json.dumps({**FILE, "streamToken": "b1b2c3d4-e5f6-7890-abcd-ef1234567890"}))
        assert _first_answers(place, under(other)) == ("ask-user", ["ask_user"])


WRONG: dict[str, Any] = {
    "apiUrl": "http://192.0.2.1:80",
    "streamToken": "not-a-token",
    "userId": True,
    "projectId": None,
    "csrfToken": 7,
    "timeout": "soon",
}


SAID = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tester", "version": "7"}}
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": SAID}).encode()


@pytest.mark.finding("F-41")
@pytest.mark.requirement("P-17", "P-20")
def test_a_file_that_does_not_fit_ends_the_server_before_it_says_anything() -> None:
    with new_place() as place:
        with place.pipe(program="sayso", environment=under(written(place.folder))) as pipe:
            pipe.send_line(HELLO)
            pipe.response(1)
        for name, wrong in WRONG.items():
            assert name in start_fails(place, written(place.folder, **{name: wrong}), HELLO + b"\n")


@pytest.mark.finding("F-40")
@pytest.mark.parametrize("content", ["{", '{"apiUrl":', '{"a":1,}', "", "[]", "\x00"])
def test_a_file_that_is_no_json_ends_a_later_start_as_it_ends_the_first(content: str) -> None:
    with new_place() as place:
        _first_answers(place, under(written(place.folder)))
        broken = place.folder / "broken.json"
        broken.write_text(content)
        broken.chmod(0o600)
        start_fails(place, broken)


def _first_answers(place: Place, environment: dict[str, str]) -> tuple[str, list[str]]:
    with place.pipe(program="sayso", environment=environment) as pipe:
        hello = pipe.connect(MODERN)
        tools = [tool["name"] for tool in pipe.request("tools/list")["tools"]]
        return str(hello["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]), tools
