"""Replicas are replaced one after the other while agents wait at them (docs/teams.md, Upgrading)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
from tests.e2e.clients.process import wait_until
from tests.e2e.http.harness import TOOL, WAIT, Agent, Place, Replica, agent, as_browser, replica, sign_in
from tests.e2e.stdio.harness import data_of, question
from tests.e2e.upgrade.old_store import CLIENT, RENAME, RENAME_WORDS, SHIP, SHIP_WORDS

LATER = Path(__file__).with_name("later.py")
USUAL = 12
"""Questions after which every connection of a server has its queries ready."""
PAGES = ("/", "/snoozed", "/history", "/log", "/rules", "/agents", "/commands", "/talk", "/settings")


class Later(Replica):
    """A `sayso web` of a newer version."""

    @staticmethod
    def begin(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, LATER, *command[1:]], **options)


class PersonAt:
    """A person who looks and answers at whichever replica."""

    def __init__(self, http: httpx2.Client, secret: str) -> None:
        self._http, self._headers = http, {"Authorization": f"Bearer {secret}"}

    def inbox(self, server: Replica) -> list[dict[str, Any]]:
        asks: list[dict[str, Any]] = self._http.get(f"{server.address}/api/asks", headers=self._headers).json()["asks"]
        return asks

    def waiting(self, server: Replica, text: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = []

        def look() -> bool:
            fits = [each for each in self.inbox(server) if each["questions"][0]["question"] == text]
            found[:] = [each for each in fits if each["attended"]]
            return bool(found)

        assert wait_until(look, WAIT), self.inbox(server)
        (ask,) = found
        return ask

    def answer(self, server: Replica, ask: dict[str, Any]) -> None:
        """With the first option."""
        (asked,) = ask["questions"]
        body = {"answers": [{"question": asked["id"], "chosen": [asked["options"][0]["id"]]}]}
        done = self._http.post(f"{server.address}/api/asks/{ask['id']}/answer", headers=self._headers, json=body)
        assert done.status_code == 200, done.text


def chosen(result: Any) -> list[str]:
    selected: list[str] = data_of(result)["answers"][0]["selected"]
    return selected


def pages(http: httpx2.Client, server: Replica) -> list[int]:
    return [http.get(f"{server.address}{page}", headers=as_browser(server.page)).status_code for page in PAGES]


def ask_and_answer(person: PersonAt, server: Replica, asking: Agent, text: str) -> None:
    call = asking.ask(question(text))
    person.answer(server, person.waiting(server, text))
    assert chosen(call.result(WAIT)) == ["Yes"]


def test_who_waits_at_an_older_server_gets_the_answer_that_is_given_at_a_newer_one(
    old: Place, token: str, http: httpx2.Client
) -> None:
    person = PersonAt(http, old.run("web", "--api-token").stdout.strip())
    with (
        replica(old) as before,
        agent(before.mcp, token, name=CLIENT) as builder,
        old.agent(name=CLIENT) as on_stdio,
    ):
        for number in range(USUAL):
            ask_and_answer(person, before, builder, f"As usual, number {number}?")
        calls = {SHIP_WORDS: builder.call(TOOL, SHIP), RENAME_WORDS: on_stdio.call(TOOL, RENAME)}
        asks = {words: person.waiting(before, words) for words in calls}
        with replica(old, of=Later) as after:
            for words, call in calls.items():
                assert person.waiting(after, words)["id"] == asks[words]["id"]
                person.answer(after, asks[words])
                assert chosen(call.result(WAIT)) == ["Yes"]
            assert person.inbox(after) == []


def test_an_older_server_is_taken_out_of_service_and_goes_on_until_it_is_replaced(
    old: Place, token: str, http: httpx2.Client
) -> None:
    person = PersonAt(http, old.run("web", "--api-token").stdout.strip())
    with replica(old) as before, agent(before.mcp, token, name=CLIENT) as builder:
        assert sign_in(http, before, json.loads(old.run("web", "--link", "--json").stdout)["link"]) == 303
        for number in range(USUAL):
            ask_and_answer(person, before, builder, f"As usual, number {number}?")
            assert pages(http, before) == [200] * len(PAGES)
        call = builder.call(TOOL, SHIP)
        left = person.waiting(before, SHIP_WORDS)
        with replica(old, of=Later) as after, agent(after.mcp, token, name=CLIENT) as moved:
            told = [http.get(f"{before.address}/{probe}") for probe in ("readyz", "healthz")]
            assert [each.status_code for each in told] == [503, 200]
            assert "upgrade this server" in told[0].text
            refused = old.run("list")
            assert refused.returncode != 0
            assert "Upgrade Sayso here" in refused.stderr
            # Whoever is still sent there, is served.
            ask_and_answer(person, before, builder, "Still at the old one?")
            assert pages(http, before) == [200] * len(PAGES)
            ask_and_answer(person, after, moved, "And at the new one?")
            assert before.stop() == 0
            with suppress(Exception):
                call.result(WAIT)
            again = moved.call(TOOL, SHIP)
            assert person.waiting(after, SHIP_WORDS)["id"] == left["id"]
            person.answer(after, left)
            assert chosen(again.result(WAIT)) == ["Yes"]
