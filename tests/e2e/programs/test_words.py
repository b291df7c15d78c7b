"""What the page says of results is what an agent gets: the same words that the real clients are then held to."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from tests.cli.program import SOMEONE
from tests.e2e.programs.words import as_documented, in_general
from tests.e2e.stdio.harness import Place, data_of, new_place, text_of
from tests.e2e.terminal.harness import until

from sayso.asks.desk import Desk
from sayso.asks.model import Answer, Ask
from sayso.install.targets import TARGETS
from sayso.store import open_store

TRIED = ("claude-code", "codex", "gemini", "opencode", "qwen", "copilot")


def _answer(place: Place, text: str) -> None:
    with closing(open_store(place.config())) as store:
        desk = Desk(store)

        def the_ask() -> Ask | None:
            return next(iter(desk.inbox()), None)

        ask = until(the_ask, lambda: "the ask")
        assert ask is not None
        desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=text)], SOMEONE)


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


def test_every_client_that_can_be_connected_is_in_the_table_of_what_was_tried() -> None:
    from tests.e2e.programs.words import PAGE

    table = PAGE.partition("<!-- tried -->")[2].partition("<!-- end of tried -->")[0]
    assert [target.title for target in TARGETS if f"| {target.title} |" not in table] == []
