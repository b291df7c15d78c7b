"""What the page says of results is what an agent gets: the same words that the real clients are then held to."""

from __future__ import annotations

import json

import pytest
from mcp.types import TextContent
from tests.cli.program import SOMEONE
from tests.e2e.programs.words import as_documented, in_general
from tests.e2e.stdio.harness import Place, data_of, new_place, text_of

from sayso.asks.model import Answer
from sayso.install.targets import TARGETS

TRIED = ("claude-code", "codex", "gemini", "opencode", "qwen", "copilot")


def _answer(place: Place, text: str) -> None:
    with place.person() as person:
        ask = person.wait_for_ask("Where do we land?")
        person.desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=text)], SOMEONE)


@pytest.mark.finding("F-80")
@pytest.mark.finding("F-83")
def test_the_words_on_the_page_are_those_that_an_agent_gets() -> None:
    with new_place() as place, place.agent(program="sayso") as agent:
        asked = agent.call("ask_user", {"question": "Where do we land?"})
        _answer(place, "Use the harbour at dawn.")
        got = asked.result(timeout=60)
    text, data = text_of(got), json.loads(in_general(json.dumps(data_of(got), ensure_ascii=False)))
    assert in_general(text) == as_documented("opencode")
    assert data == json.loads(as_documented("claude-code"))
    shown = {client: as_documented(client) for client in TRIED}
    for client, words in shown.items():
        assert "Use the harbour at dawn." in words, client


def test_the_next_session_reads_when_the_answer_was_given_that_a_killed_one_had_asked_for() -> None:
    asked = {"question": "Where do we land?"}
    with new_place() as place:
        with place.agent(program="sayso") as killed:
            lost = killed.call("ask_user", asked)
            with place.person() as person:
                person.wait_for_ask("Where do we land?")
            killed.server.kill()
            assert lost.exception(timeout=60)
        _answer(place, "Use the harbour at dawn.")
        with place.agent(program="sayso") as agent:
            got = agent.call("ask_user", asked).result(timeout=60)
    told = as_documented("an answer given earlier")
    texts = [in_general(block.text) for block in got.content if isinstance(block, TextContent)]
    # Each on a line of its own: Copilot puts them together with nothing between them.
    assert texts == [as_documented("opencode"), f"\n{told}"]
    assert in_general(data_of(got)["given_earlier"]) == told


def test_every_client_that_can_be_connected_is_in_the_table_of_what_was_tried() -> None:
    from tests.e2e.programs.words import PAGE

    table = PAGE.partition("<!-- tried -->")[2].partition("<!-- end of tried -->")[0]
    assert [target.title for target in TARGETS if f"| {target.title} |" not in table] == []
