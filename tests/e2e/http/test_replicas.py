"""Any number of servers on one PostgreSQL behave as one, also while one of them dies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from tests.e2e.http.harness import (
    TOOL,
    WAIT,
    Person,
    Place,
    Replica,
    agent,
    as_browser,
    bearer,
    connected,
    new_token,
    new_tokens,
    replica,
    sign_in,
)
from tests.e2e.http.proxy import round_robin
from tests.e2e.stdio.harness import data_of, new_place, question

from sayso.asks.model import Ask

CROWD = 100
PATIENCE = 90.0
"""Seconds for everything; a busy machine needs most of them."""


@pytest.fixture
def place(postgres_address: str) -> Iterator[Place]:
    with new_place(store=postgres_address, max_open_asks=str(CROWD)) as place:
        yield place


@pytest.fixture
def replicas(place: Place) -> Iterator[tuple[Replica, Replica]]:
    with ExitStack() as running:
        yield running.enter_context(replica(place)), running.enter_context(replica(place))


def pid_of(ask: Ask) -> int:
    assert ask.wait is not None
    return int(ask.wait.process.partition("-")[0])


class PersonAtBoth:
    """A person who answers through the API of each replica in turn, and through another where one is away."""

    def __init__(self, http: httpx2.AsyncClient, replicas: Sequence[Replica], token: str) -> None:
        self._http, self._turns, self._count = http, cycle(replicas), len(replicas)
        self._headers = {"Authorization": f"Bearer {token}"}
        self.answered: set[str] = set()
        self.through: Counter[int] = Counter()

    async def answer_all(self, count: int) -> None:
        """Until so many asks have been answered."""
        while len(self.answered) < count:
            for ask in await self._open():
                if ask["id"] not in self.answered and len(self.answered) < count:
                    await self._answer(ask)

    async def _open(self) -> list[dict[str, Any]]:
        page, _ = await self._somewhere(lambda address: self._http.get(f"{address}/api/asks", headers=self._headers))
        asks: list[dict[str, Any]] = page.json()["asks"]
        return asks

    async def _answer(self, ask: dict[str, Any]) -> None:
        (asked,) = ask["questions"]
        body = {"answers": [{"question": asked["id"], "chosen": [asked["options"][0]["id"]]}]}
        path = f"/api/asks/{ask['id']}/answer"
        done, where = await self._somewhere(
            lambda address: self._http.post(f"{address}{path}", headers=self._headers, json=body)
        )
        # Settled before: by a request whose replica died before it could say so.
        assert done.status_code in (200, 409), done.text
        self.answered.add(ask["id"])
        self.through[where.port] += 1

    async def _somewhere(self, request: Callable[[str], Awaitable[httpx2.Response]]) -> tuple[httpx2.Response, Replica]:
        while True:
            where = next(self._turns)
            with suppress(httpx2.TransportError):
                return await request(where.address), where


async def ask_until_answered(address: str, token: str, number: int, answers: dict[int, Any]) -> None:
    """An agent, which calls again when its connection breaks."""
    asked = question(f"Number {number}?", f"yes {number}", "no")
    while number not in answers:
        with suppress(Exception):
            async with connected(address, token) as client:
                await client.list_tools()  # else this client would ask for them before it gives us a result
                outcome = data_of(await client.call_tool(TOOL, {"questions": [asked]}))
                if outcome["outcome"] == "answered":
                    answers[number] = outcome
                    return
        await anyio.sleep(0.2)


async def _all_open(person: Person) -> list[Ask]:
    await anyio.to_thread.run_sync(
        lambda: person.wait_until(lambda: person.desk.inbox_size() == CROWD or None, PATIENCE)
    )
    return await anyio.to_thread.run_sync(person.inbox)


def test_a_hundred_agents_each_get_their_answer_while_a_replica_is_killed(
    place: Place, replicas: tuple[Replica, Replica]
) -> None:
    one, other = replicas
    tokens = new_tokens(place, (f"agent-{number}" for number in range(CROWD)))
    secret = place.run("web", "--api-token").stdout.strip()
    answers: dict[int, Any] = {}

    async def everything(person: Person, proxy: str) -> set[int]:
        async with httpx2.AsyncClient(timeout=WAIT) as http, anyio.create_task_group() as agents:
            at_both = PersonAtBoth(http, replicas, secret)
            for number, token in enumerate(tokens):
                agents.start_soon(ask_until_answered, f"{proxy}/mcp", token, number, answers)
            asks = await _all_open(person)
            await at_both.answer_all(CROWD // 4)
            await anyio.to_thread.run_sync(one.kill)
            await at_both.answer_all(CROWD // 2)
            await anyio.to_thread.run_sync(one.start_again)
            await at_both.answer_all(CROWD)
            assert set(at_both.through) == {one.port, other.port}
        return {pid_of(ask) for ask in asks}

    before = {each.process.pid for each in replicas}
    with place.person() as person, round_robin(one.port, other.port) as proxy:
        with anyio.from_thread.start_blocking_portal() as portal:
            assert portal.call(_within, PATIENCE, everything, person, proxy) == before
        told = [[event.kind for event in person.desk.events(ask.id)].count("answered") for ask in person.asks()]
    assert told == [1] * CROWD
    assert {number: outcome["answers"][0]["selected"] for number, outcome in answers.items()} == {
        number: [f"yes {number}"] for number in range(CROWD)
    }


async def _within(seconds: float, work: Callable[..., Awaitable[set[int]]], *args: Any) -> set[int]:
    with anyio.fail_after(seconds):
        return await work(*args)


def test_an_ask_made_on_stdio_is_answered_through_a_replica_and_the_other_way_round(
    place: Place, replicas: tuple[Replica, Replica]
) -> None:
    one, other = replicas
    secret = place.run("web", "--api-token").stdout.strip()
    with place.agent() as on_stdio, agent(one.mcp, new_token(place, "a")) as over_http, place.person() as person:
        calls = {"stdio": on_stdio.ask(question("stdio?")), "http": over_http.ask(question("http?"))}
        asks = {name: person.wait_for_ask(f"{name}?") for name in calls}
        with httpx2.Client(timeout=WAIT, headers={"Authorization": f"Bearer {secret}"}) as http:
            for ask in asks.values():
                chosen = {"question": ask.questions[0].id, "chosen": [ask.questions[0].options[0].id]}
                done = http.post(f"{other.address}/api/asks/{ask.id}/answer", json={"answers": [chosen]})
                assert done.status_code == 200, done.text
        for name, call in calls.items():
            assert data_of(call.result(WAIT))["ask_id"] == asks[name].id


def test_a_revoked_user_is_out_at_every_replica_at_once_and_so_are_their_agents(
    place: Place, replicas: tuple[Replica, Replica]
) -> None:
    one, other = replicas
    token = new_token(place, "hers", user="grace")
    new_token(place, "yours")
    secret = place.run("web", "--api-token", "--user", "grace").stdout.strip()
    made = [place.run("web", "--link", "--user", "grace", "--json").stdout for _ in replicas]
    link, unused = (str(json.loads(each)["link"]) for each in made)
    session = {"Authorization": f"Bearer {secret}"}
    with httpx2.Client(timeout=WAIT) as http, agent(one.mcp, token) as asking, place.person() as person:
        for each in replicas:
            assert http.get(f"{each.address}/api/me", headers=session).status_code == 200
        assert sign_in(http, other, link) == 303
        call = asking.ask(question("Still there?"))
        ask = person.wait_for_ask("Still there?")
        with http.stream("GET", f"{other.address}/events", headers=as_browser(link)) as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("event: inbox"))
            assert place.run("user", "revoke", "grace").returncode == 0
            assert next(line for line in lines if line == "event: bye")
        for each in replicas:
            assert http.get(f"{each.address}/api/me", headers=session).status_code == 401
            assert http.get(f"{each.address}/", headers=as_browser(link)).status_code == 401
            assert http.post(each.mcp, headers=bearer(token), json={}).status_code == 401
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the client makes of a call that was cut off
            call.result(WAIT)
        person.wait_until(lambda: person.desk.get(ask.id).wait is None or None, WAIT)
        assert sign_in(http, other, unused) == 403
    listed = {each["name"]: each["revoked_at"] for each in json.loads(place.run("token", "list", "--json").stdout)}
    assert listed["hers"]
    assert listed["yours"] is None
