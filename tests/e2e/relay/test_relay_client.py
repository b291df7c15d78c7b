"""`sayso server` under ASK_USER_CONFIG, driven by a real MCP client, against our web server and a plain old relay."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from tests.e2e.relay.kit import FILE, NO_TOKEN, OPTIONS, Bench, new_bench, start_fails, under, written
from tests.e2e.relay.old_relay import old_relay
from tests.e2e.stdio.harness import MODES, WAIT, Agent, Person, data_of, new_place, text_of
from tests.test_pictures import PNG

from sayso.text import iso_time

TIMED_OUT = "User did not respond within the timeout period. Proceeding with your best judgment."


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with new_bench() as bench:
        yield bench


@pytest.fixture(scope="module")
def person(bench: Bench) -> Iterator[Person]:
    with bench.place.person() as person:
        yield person


@pytest.mark.requirement("P-14", "P-15", "P-21", "P-22")
@pytest.mark.parametrize("mode", MODES)
def test_questions_go_through_the_relay_and_answers_come_back(bench: Bench, person: Person, mode: str) -> None:
    run = bench.run()
    environment = under(bench.relay_file(run))
    with bench.place.agent(mode, program="sayso", environment=environment, name="claude-code") as agent:
        assert agent.client.server_info is not None
        assert (agent.client.server_info.name, agent.client.server_info.version) == ("ask-user", "1.0.0")
        assert [tool.name for tool in agent.tools()] == ["ask_user"]
        choice = agent.call("ask_user", {"question": "Which?", "options": OPTIONS})
        asked = person.wait_for_ask("Which?")
        assert (asked.tool, asked.asker.run) == ("relay-question", run.id)
        assert bench.submit(run, ask=asked.id, answer="Option A", selectedOptions=[0]).status == 200
        chosen, ask = choice.result(WAIT), bench.desk.get(asked.id)
        assert text_of(chosen) == "User selected: Option A"
        assert (data_of(chosen)["asked_at"], data_of(chosen)["answered_by"]) == (iso_time(ask.created_at), "ada")
        (bench.place.project / "one.png").write_bytes(PNG)
        pictured = agent.call(
            "ask_user", {"question": "Which look?", "options": [{"label": "One", "image": "one.png"}]}
        )
        asked = person.wait_for_ask("Which look?")
        (option,) = asked.questions[0].options
        assert option.picture
        assert bench.desk.attachment(asked.id, option.picture.id)[1] == PNG
        assert bench.submit(run, ask=asked.id, answer="One", selectedOptions=[0]).status == 200
        assert text_of(pictured.result(WAIT)) == "User selected: One"
        missing = {"question": "Which look?", "options": [{"label": "One", "image": "two.png"}]}
        assert "two.png" in text_of(agent.call("ask_user", missing).result(WAIT))
        several = agent.call("ask_user", {"question": "Which all?", "options": OPTIONS, "multiSelect": True})
        person.wait_for_ask("Which all?")
        assert bench.submit(run, answer="Option A, Option B, tea", selectedOptions=[0, 1]).status == 200
        assert text_of(several.result(WAIT)) == "User selected: Option A, Option B\nUser answered: tea"
        rejected = agent.call("ask_user", {"question": "May I?"})
        person.reject(person.wait_for_ask("May I?"), "not today")
        told = rejected.result(WAIT)
        assert "not today" in text_of(told)
        assert data_of(told)["outcome"] == "rejected"
        wrong = agent.call("ask_user", {"question": ""}).result(WAIT)
        assert (wrong.is_error, text_of(wrong).startswith("question: ")) == (True, True)
    assert agent.exit_code == 0


def test_of_two_questions_at_once_the_newer_is_asked_and_the_older_ends_as_superseded(
    bench: Bench, person: Person
) -> None:
    run = bench.run()
    with bench.place.agent(program="sayso", environment=under(bench.relay_file(run))) as agent:
        older = agent.call("ask_user", {"question": "The older?"})
        first = person.wait_for_ask("The older?")
        newer = agent.call("ask_user", {"question": "The newer?"})
        second = person.wait_for_ask("The newer?")
        told = older.result(WAIT)
        assert text_of(told) == "A newer question took the place of this one."
        assert data_of(told)["outcome"] == "superseded"
        assert bench.submit(run, ask=first.id, answer="to the older").status == 409
        assert bench.submit(run, ask=second.id, answer="to the newer").status == 200
        assert text_of(newer.result(WAIT)) == "User answered: to the newer"


def test_a_server_that_is_restarted_and_elsewhere_is_found_again(bench: Bench, person: Person) -> None:
    run = bench.run()
    with bench.place.agent(program="sayso", environment=under(bench.relay_file(run))) as agent:
        asked = agent.call("ask_user", {"question": "Still waiting?"})
        ask = person.wait_for_ask("Still waiting?")
        bench.house.web.stop()
        person.wait_until_unattended(ask)
        bench.restart_elsewhere()
        bench.relay_file(run)
        person.wait_for_change(ask, lambda now: now.wait is not None)
        assert bench.submit(run, answer="Yes, I am").status == 200
        assert text_of(asked.result(WAIT)) == "User answered: Yes, I am"


@pytest.mark.requirement("P-25")
def test_a_refusal_of_the_relay_is_an_error_to_the_agent(bench: Bench) -> None:
    run = bench.run()
    with bench.place.agent(program="sayso", environment=under(bench.relay_file(run))) as agent:
        bench.end(run)
        told = agent.call("ask_user", {"question": "Let me?"}).result(WAIT)
        assert told.is_error
        assert "The relay refused this question (403): There is no active stream" in text_of(told)
        assert "do not assume one" in text_of(told)


@pytest.mark.finding("F-49")
@pytest.mark.requirement("P-19", "P-21", "P-22", "P-23", "P-24")
def test_a_relay_that_knows_no_better_is_polled_every_two_seconds_and_no_oftener() -> None:
    with new_place() as place, old_relay() as relay:
        file = written(place.folder, apiUrl=relay.address + "/")
        before = place.files()
        with place.agent(program="sayso", environment={**under(file), "HTTP_PROXY": "http://192.0.2.1:9"}) as agent:
            relay.answer, relay.answer_after = {"answer": "Option B", "selectedOptions": [1]}, 2
            asked = agent.call("ask_user", {"question": "Which?", "options": OPTIONS})
            assert text_of(asked.result(WAIT)) == "User selected: Option B"
            posted, *polls = relay.seen
            assert (posted.method, posted.target) == ("POST", "/claude/relay-question?p=5")
            assert posted.body == {
                "streamToken": FILE["streamToken"],
                "question": "Which?",
                "options": OPTIONS,
                "multiSelect": False,
            }
            assert posted.headers["x-csrf-token"] == "abc123"
            path, _, query = polls[0].target.partition("?")
            assert path == "/claude/poll-answer"
            assert {"p=5", f"streamToken={FILE['streamToken']}"} <= set(query.split("&"))
            times = [poll.at for poll in polls]
            assert len(times) == 3
            assert all(later - earlier > 1.5 for earlier, later in pairwise(times))
            relay.answer = {"answer": "in my own words", "selectedOptions": []}
            assert _said(agent, "And?", options=OPTIONS) == "User answered: in my own words"
            relay.status = 403
            refused = agent.call("ask_user", {"question": "Which?"}).result(WAIT)
            assert (refused.is_error, "(403): Forbidden" in text_of(refused)) == (True, True)
        assert agent.exit_code == 0
        assert place.files() == before, "a relay client keeps no state"


def _said(agent: Agent, question: str, **more: Any) -> str:
    return text_of(agent.call("ask_user", {"question": question, **more}).result(WAIT))


@pytest.mark.requirement("P-24")
@pytest.mark.parametrize("reachable", [True, False])
def test_nobody_answering_and_nobody_there_are_both_timeouts(reachable: bool) -> None:
    with new_place() as place, old_relay() as relay:
        address = relay.address if reachable else f"http://127.0.0.1:{_free_port()}"
        file = written(place.folder, apiUrl=address, timeout=1)
        with place.agent(program="sayso", environment=under(file)) as agent:
            told = agent.call("ask_user", {"question": "Hello?"}).result(WAIT)
            assert (told.is_error, text_of(told)) == (True, TIMED_OUT)


def test_a_question_put_while_the_relay_is_away_is_asked_when_it_is_back_within_the_time_that_a_person_has() -> None:
    with new_place() as place, old_relay() as relay:
        relay.status, relay.answer = 503, {"answer": "here again", "selectedOptions": []}
        with place.agent(program="sayso", environment=under(written(place.folder, apiUrl=relay.address))) as agent:
            asked = agent.call("ask_user", {"question": "Hello?"})
            # More than ten seconds, in which a server on a busy machine may be restarting.
            assert relay.put_often.wait(WAIT)
            relay.status = 200
            assert text_of(asked.result(WAIT)) == "User answered: here again"


@pytest.mark.requirement("P-16")
@pytest.mark.parametrize(("given", "seconds"), [({}, 300), ({"timeout": 77}, 77)])
def test_a_client_hears_how_long_its_question_can_wait_which_is_300_seconds_by_default(
    given: dict[str, int], seconds: int
) -> None:
    with new_place(heartbeat="100ms") as place, old_relay() as relay:
        file = place.folder / "ask-user.json"
        says = {name: value for name, value in FILE.items() if name != "timeout"}
        file.write_text(json.dumps({**says, "apiUrl": relay.address, **given}))
        with place.pipe(program="sayso", environment=under(file)) as pipe:
            pipe.connect("2025-11-25")
            asked = {"name": "ask_user", "arguments": {"question": "Hello?"}, "_meta": {"progressToken": "p"}}
            pipe.begin("tools/call", **asked)
            told = pipe.next()
            assert told["method"] == "notifications/progress"
            assert told["params"]["total"] == seconds


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.requirement("P-14", "P-15", "P-17", "P-18")
def test_a_file_that_does_not_fit_ends_the_server_at_once_with_a_word_on_why() -> None:
    with new_place() as place:
        assert "streamToken is null; it must be a UUID" in start_fails(place, written(place.folder, streamToken=None))
        far = start_fails(place, written(place.folder, apiUrl="http://192.0.2.1:8080"))
        assert "questions must not leave this machine" in far
        assert "cannot be read" in start_fails(place, place.folder / "nowhere.json")
        assert place.files() == set()


@pytest.mark.requirement("P-20")
def test_an_agent_whose_server_cannot_start_hears_so_at_once_and_goes_on_with_its_others() -> None:
    with new_place() as place:
        bad = written(place.folder, streamToken=NO_TOKEN.replace("0", "x"))
        with place.agent(program="auq") as other:
            with pytest.raises(BaseExceptionGroup), place.agent(program="sayso", environment=under(bad)):
                pass
            assert [tool.name for tool in other.tools()] == ["ask_user_questions"]


def test_a_profile_that_was_asked_for_is_served_whatever_the_file_says() -> None:
    with new_place(profile="auq") as place:
        with place.pipe(program="sayso", environment=under(written(place.folder))) as pipe:
            told = pipe.connect("2025-11-25")
            assert told["serverInfo"]["name"] == "ask-user", "a setting for all servers is not meant for this one"
        environment = under(place.folder / "nowhere.json")
        with place.agent(program="sayso", flags=["--profile", "codenomad"], environment=environment) as agent:
            assert agent.client.server_info is not None
            assert agent.client.server_info.name == "CodeNomad"
