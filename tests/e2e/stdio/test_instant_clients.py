"""Every client program on a server that answered at once: forms, cancels, progress and changed tools as ever."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.e2e.ask.house import asks_named, connected, form_about
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import HOLD, CallCancelled, Json, accept
from tests.e2e.clients.kinds import CLIENTS, ClientKind
from tests.e2e.run.kit import write_tool
from tests.e2e.stdio.harness import Place, new_place


@pytest.fixture(scope="module")
def machine() -> Iterator[Place]:
    with new_place(log_level="debug", heartbeat="100ms", form_reaction="300ms") as place:
        write_tool(place, "greet", description="Say hello.", command="echo")
        yield place


@pytest.fixture(params=[pytest.param(kind, id=kind.id) for kind in CLIENTS])
def client(request: pytest.FixtureRequest, machine: Place) -> Iterator[ClientProgram]:
    """A client that has got its tools from the plain loop."""
    kind: ClientKind = request.param
    with connected(kind, machine, name=kind.id) as program:
        assert {"ask_user", "question_ask", "greet"} <= {tool["name"] for tool in program.list_tools()}
        yield program


def colour(text: str) -> Json:
    return {"questions": [{"id": "colour", "question": text, "type": "select", "options": ["Red", "Blue"]}]}


def test_all_that_a_session_can_do_works_behind_the_first_answers(client: ClientProgram, machine: Place) -> None:
    with machine.person() as person:
        # The client's own form
        client.answer_with(HOLD)
        key = client.call_start("ask_user", colour("In a form?"))
        client.reply(form_about(client, "In a form?").form, accept({"q1": "Blue"}))
        assert json.loads(client.wait_result(key).text)["answers"] == [{"questionId": "colour", "values": ["Blue"]}]

        # Progress, and an answer from elsewhere
        person.desk.show_up("test", "ada")
        text = f"From the inbox, {client.kind.id}?"
        asked = {"question": text, "options": [{"label": "Red"}, {"label": "Blue"}]}
        if not client.kind.sees_withdrawal:
            client.answer_with()
        key = client.call_start("ask_user", asked, progress=True)
        ask = person.wait_for_ask(text)
        client.wait_progress(key)
        person.answer(ask, "Red")
        assert client.wait_result(key).text == "User selected: Red"

        # A cancelled call
        text = f"Never mind, {client.kind.id}?"
        key = client.call_start("ask_user", {**asked, "question": text})
        ask = person.wait_for_ask(text)
        client.cancel(key)
        with pytest.raises(CallCancelled):
            client.wait_result(key)
        person.wait_until_unattended(ask)
        assert len(asks_named(person, text)) == 1
        person.desk.go_away()

        # Tools that change
        client.watch_tools()
        write_tool(machine, f"new-{client.kind.id}".replace(".", "-"), description="New.", command="echo")
        client.wait_event(lambda event: event.kind == "tools_changed")
        assert f"new-{client.kind.id}".replace(".", "-") in {tool["name"] for tool in client.list_tools()}
