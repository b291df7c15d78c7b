"""What those who run the server look at: is it up, can it work, and its numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2
import pytest
from tests.e2e.clients.process import wait_until
from tests.e2e.http.harness import (
    TOOL,
    WAIT,
    Person,
    Place,
    Replica,
    agent,
    as_browser,
    bearer,
    message,
    new_token,
    number,
    replica,
    sign_in,
)
from tests.e2e.stdio.harness import data_of, new_place, question
from tests.postgres import Server

from sayso.store import open_store

DOCUMENT = Path(__file__).parents[3] / "docs" / "teams.md"
SOON = 6.0
"""Seconds in which even a busy machine says that its store is away: fewer than a connection would be waited for."""
SAMPLE = re.compile(r"[a-z_]+(\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*\})? -?[0-9.e+]+")


@pytest.mark.parametrize("probe", ["healthz", "readyz"])
def test_a_server_that_works_says_so_to_anybody(server: Replica, http: httpx2.Client, probe: str) -> None:
    response = http.get(f"{server.address}/{probe}", headers={"X-Forwarded-For": "203.0.113.9"})
    assert (response.status_code, response.text) == (200, "ok\n")


def test_a_server_whose_store_is_away_is_up_but_not_ready(restartable: Server, http: httpx2.Client) -> None:
    with restartable.new_database() as database, new_place(store=database) as place, replica(place) as server:
        restartable.stop()
        try:
            away = http.get(f"{server.address}/readyz")
            uncounted = http.get(f"{server.address}/metrics")
            refused = http.post(server.mcp, headers=bearer("any"), json={})
            up = http.get(f"{server.address}/healthz")
        finally:
            restartable.start()
        for told in (away, uncounted):
            assert (told.status_code, told.text) == (503, "the store does not answer\n")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "postgresql" not in refused.text
        assert up.status_code == 200
        assert wait_until(lambda: http.get(f"{server.address}/readyz").status_code == 200, WAIT)


def test_a_server_whose_store_a_newer_version_has_changed_is_not_ready(place: Place, http: httpx2.Client) -> None:
    with replica(place) as server:
        assert http.get(f"{server.address}/readyz").status_code == 200
        store = open_store(place.config())
        store.write(lambda tx: tx.run("put_meta", key="schema_version", value="999"))
        store.close()
        told = http.get(f"{server.address}/readyz")
        assert (told.status_code, http.get(f"{server.address}/healthz").status_code) == (503, 200)
        assert "upgrade this server" in told.text


def test_while_the_database_is_away_agents_and_people_hear_so_soon_and_all_goes_on_when_it_is_back(
    restartable: Server,
) -> None:
    with (
        restartable.new_database() as database,
        new_place(store=database) as place,
        replica(place) as server,
        httpx2.Client(timeout=SOON) as http,
    ):
        agent_headers = bearer(new_token(place, "builder"))
        assert sign_in(http, server, json.loads(place.run("web", "--link", "--json").stdout)["link"]) == 303

        def knock() -> int:
            """Without a session it is refused, but by somebody who knows the token."""
            return http.post(server.mcp, headers=agent_headers, json=message("ping")).status_code

        metrics = f"{server.address}/metrics"
        pages = [f"{server.address}{path}" for path in ("/", "/commands", "/api/asks")]

        def looks() -> list[int]:
            """As a browser sees the pages, and Prometheus the numbers."""
            seen = [http.get(page, headers=as_browser(server.page)).status_code for page in pages]
            return [*seen, http.get(metrics).status_code]

        assert [knock(), *looks()] == [400, 200, 200, 200, 200]
        restartable.stop()
        try:
            told = [knock(), *looks(), knock()]
        finally:
            restartable.start()
        assert told == [503] * 6
        assert wait_until(lambda: knock() == 400, WAIT)
        assert looks() == [200] * 4


def test_the_numbers_tell_of_asks_calls_and_times(
    server: Replica, token: str, name: str, mode: str, person: Person, http: httpx2.Client
) -> None:
    waiting = f'sayso_calls_open{{tool="{TOOL}"}}'
    done = f'sayso_call_seconds_count{{tool="{TOOL}"}}'
    before = {sample: number(http, server, sample) for sample in (done, 'sayso_asks{state="answered"}')}
    with agent(server.mcp, token, mode) as asking:
        call = asking.ask(question(f"How many, {name}?"))
        ask = person.wait_for_ask(f"How many, {name}?")
        assert number(http, server, waiting) == 1
        assert number(http, server, 'sayso_asks{state="pending"}') >= 1
        person.answer(ask, "Yes")
        data_of(call.result(WAIT))
        person.wait_until_delivered(ask)
    assert {sample: number(http, server, sample) - was for sample, was in before.items()} == dict.fromkeys(before, 1)
    assert number(http, server, waiting) == 0
    assert number(http, server, 'sayso_handovers_total{written="yes"}') >= 1


def test_the_numbers_hold_no_text_and_no_name_of_anyone(
    server: Replica, token: str, name: str, person: Person, http: httpx2.Client
) -> None:
    with agent(server.mcp, token) as asking:
        call = asking.ask(question(f"A secret of {name}?"))
        person.answer(person.wait_for_ask(f"A secret of {name}?"), "in-my-words")
        call.result(WAIT)
        asking.call(f"no-such-tool-{name}", {}).exception(WAIT)
    text = http.get(f"{server.address}/metrics").text
    for secret in (token, name, "in-my-words", "secret"):
        assert secret not in text
    for line in text.splitlines():
        assert line.startswith("# ") or SAMPLE.fullmatch(line), line
    assert number(http, server, 'sayso_calls_open{tool="unknown"}') == 0


def test_every_number_is_documented(server: Replica, http: httpx2.Client) -> None:
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", http.get(f"{server.address}/metrics").text, re.M))
    documented = dict(re.findall(r"^\| `(sayso_\w+)` \| (\w+) \|", DOCUMENT.read_text(), re.M))
    assert documented == kinds


def test_the_numbers_are_for_this_machine_and_for_tokens(server: Replica, token: str, http: httpx2.Client) -> None:
    address, from_elsewhere = f"{server.address}/metrics", {"X-Forwarded-For": "203.0.113.9"}
    assert http.get(address).status_code == 200
    refused = http.get(address, headers=from_elsewhere)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="sayso"')
    assert http.get(address, headers={**from_elsewhere, **bearer(token)}).status_code == 200
