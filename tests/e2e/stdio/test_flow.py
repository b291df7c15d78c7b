from tests.e2e.stdio.harness import *
import pytest
@pytest.mark.requirement("A-13")
def test_x(agent: Agent, person, shared_place):
    call = agent.ask(question("Go?"))
    ask = person.wait_for_ask("Go?")
    person.answer(ask, "Yes")
    r = call.result(WAIT)
    print(r)
    print(agent.client.server_info, agent.client.protocol_version, agent.server.pid)
    person.wait_until_delivered(ask)
    print(shared_place.show(ask.id))
    print(agent.log.text)
