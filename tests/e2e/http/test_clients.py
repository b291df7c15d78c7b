"""Every client library over HTTP: connecting, asking, forms, leaving."""

from __future__ import annotations

import pytest
from tests.e2e.clients.driver import FORMS, ClientProgram, ServerAddress
from tests.e2e.clients.events import HOLD, accept
from tests.e2e.http.harness import TOOL, Person, Replica
from tests.e2e.stdio.harness import question

from sayso.asks.model import Ask


@pytest.fixture
def address(server: Replica, token: str) -> ServerAddress:
    return ServerAddress(url=server.mcp, headers={"Authorization": f"Bearer {token}"})


def test_a_client_asks_gets_its_answer_and_lets_go_when_it_leaves(
    client_program: ClientProgram, address: ServerAddress, person: Person, name: str
) -> None:
    connected = client_program.connect(address, elicitation=None)
    assert connected.protocol_version == client_program.kind.protocol_version
    assert TOOL in {tool["name"] for tool in client_program.list_tools()}

    call, ask = _ask(client_program, person, f"Does {name} hear?")
    person.answer(ask, "Yes")
    structured = client_program.wait_result(call).structured
    assert structured["answers"][0]["selected"] == ["Yes"]
    person.wait_until_delivered(ask)

    call, ask = _ask(client_program, person, f"Does {name} wait?")
    client_program.cancel(call)
    assert person.wait_until_unattended(ask).state == "pending"

    _, ask = _ask(client_program, person, f"Does {name} stay?")
    client_program.vanish()
    assert person.wait_until_unattended(ask).state == "pending"


def _ask(client: ClientProgram, person: Person, subject: str) -> tuple[str, Ask]:
    call = client.call_start(TOOL, {"questions": [question(subject)]})
    return call, person.wait_for_ask(subject)


def test_a_form_is_shown_by_the_client_and_its_answer_counts(
    client_program: ClientProgram, address: ServerAddress, person: Person, name: str
) -> None:
    client_program.connect(address, elicitation=FORMS, replies=[HOLD])
    call = client_program.call_start(TOOL, {"questions": [question(f"Does {name} see?")]})
    form = client_program.wait_elicitation()
    assert form.schema is not None
    client_program.reply(form.form, accept({form.schema["required"][0]: "Yes"}))
    structured = client_program.wait_result(call).structured
    assert (structured["answers"][0]["selected"], structured["surface"]) == (["Yes"], "client form")
