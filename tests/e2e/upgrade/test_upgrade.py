"""Whoever comes from 0.1.0 finds everything again: open questions, answers that are under way, commands that ran."""

from __future__ import annotations

import html
import json
from typing import Any

import httpx2
from tests.e2e.http.harness import TOOL, WAIT, Place, agent, as_browser, bearer, replica, sign_in
from tests.e2e.stdio.harness import data_of
from tests.e2e.upgrade.old_store import CLIENT, DATABASE, DATABASE_WORDS, RENAME, RENAME_WORDS, SHIP, SHIP_WORDS
from tests.running.processes import with_argument

DRAFT = "Only the public ones"
SCRIPTS = ("echo pumped; sleep 2; echo dry", "echo begun; sleep 600")


def told(place: Place, *words: str) -> Any:
    """What the command line prints as JSON."""
    ran = place.run(*words, "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def words_of(asks: list[dict[str, Any]]) -> list[str]:
    return [ask["questions"][0]["question"] for ask in asks]


def test_what_was_open_is_in_the_inbox_and_nobody_waits_for_it(old: Place, http: httpx2.Client) -> None:
    listed = told(old, "list")
    assert words_of(listed) == [SHIP_WORDS, RENAME_WORDS]
    secret = old.run("web", "--api-token").stdout.strip()
    with replica(old) as server:
        asks = http.get(f"{server.address}/api/asks", headers=bearer(secret)).json()["asks"]
    assert [ask["id"] for ask in asks] == [ask["id"] for ask in listed]
    assert {(ask["status"], ask["attended"]) for ask in [*asks, *listed]} == {("pending", False)}


def test_an_agent_on_http_that_calls_again_with_its_token_waits_for_what_it_had_asked(old: Place, token: str) -> None:
    with replica(old) as server, old.person() as person, agent(server.mcp, token, name=CLIENT) as builder:
        left = next(ask for ask in person.inbox() if ask.questions[0].text == SHIP_WORDS)
        call = builder.call(TOOL, SHIP)
        ask = person.wait_for_ask(SHIP_WORDS)
        assert ask.id == left.id
        person.answer(ask, "Yes")
        outcome = data_of(call.result(WAIT))
        person.wait_until_delivered(ask)
        assert [each.questions[0].text for each in person.asks()].count(SHIP_WORDS) == 1
    assert (outcome["outcome"], outcome["ask_id"]) == ("answered", left.id)
    assert outcome["answers"][0]["selected"] == ["Yes"]


def test_an_agent_on_stdio_that_calls_again_waits_for_what_it_had_asked(old: Place) -> None:
    with old.agent(name=CLIENT) as agent, old.person() as person:
        left = next(ask for ask in person.inbox() if ask.questions[0].text == RENAME_WORDS)
        call = agent.call(TOOL, RENAME)
        ask = person.wait_for_ask(RENAME_WORDS)
        assert ask.id == left.id
        person.answer(ask, DRAFT)
        assert data_of(call.result(WAIT))["answers"][0]["text"] == DRAFT
        assert [each.questions[0].text for each in person.asks()].count(RENAME_WORDS) == 1


def test_an_answer_that_0_1_0_could_not_hand_over_is_the_result_of_the_same_call(old: Place, token: str) -> None:
    with replica(old) as server, old.person() as person, agent(server.mcp, token, name=CLIENT) as builder:
        outcome = data_of(builder.call(TOOL, DATABASE).result(WAIT))
        assert (outcome["outcome"], outcome["answers"][0]["selected"]) == ("answered", ["PostgreSQL"])
        person.wait_until_delivered(person.desk.get(outcome["ask_id"]))
        assert words_of(told(old, "list")) == [SHIP_WORDS, RENAME_WORDS]


def test_an_answer_that_0_1_0_could_not_hand_over_is_there_for_get_answers_once(old: Place, token: str) -> None:
    with replica(old) as server, agent(server.mcp, token, name=CLIENT) as builder:
        first, again = (data_of(builder.call("get_answers", {}).result(WAIT)) for _ in range(2))
    answers = [(each["outcome"], each["answers"][0]["selected"]) for each in first["answers"]]
    assert answers == [("answered", ["PostgreSQL"])]
    assert again["answers"] == []
    assert len(first["pending"]) == 1


def test_the_history_has_what_ended_and_what_was_said(old: Place) -> None:
    ended = told(old, "history")
    said = {
        ask["questions"][0]["question"]: (ask["status"], ask["delivered"], _said(ask["outcome"]))
        for ask in ended
        if ask["tool"] != "approve"
    }
    assert said == {
        DATABASE_WORDS: ("answered", False, "PostgreSQL"),
        "Delivered long ago?": ("answered", True, "Yes"),
        "Rejected long ago?": ("rejected", True, "not now"),
    }
    (permission,) = [ask for ask in ended if ask["tool"] == "approve"]
    assert (permission["status"], permission["title"]) == ("expired", "Allow Bash: rm -rf build?")
    assert words_of(told(old, "history", "--search", "postgresql")) == [DATABASE_WORDS]
    assert words_of(told(old, "history", "--search", "not now")) == ["Rejected long ago?"]


def _said(outcome: dict[str, Any]) -> str:
    return str(outcome["reason"] or outcome["answers"][0]["selected"][0])


def test_half_an_answer_that_was_entered_in_0_1_0_is_still_in_the_page(old: Place, http: httpx2.Client) -> None:
    (ask,) = [each for each in told(old, "list") if words_of([each]) == [RENAME_WORDS]]
    with replica(old) as server:
        assert sign_in(http, server, told(old, "web", "--link")["link"]) == 303
        page = http.get(f"{server.address}/asks/{ask['id']}", headers=as_browser(server.page))
    assert DRAFT in html.unescape(page.text)


def test_a_command_that_ended_while_nobody_looked_has_its_result_and_one_that_was_killed_is_lost(old: Place) -> None:
    lost, finished = told(old, "ops", "list")
    assert (finished["status"], finished["exit_code"], finished["stdout"]) == ("completed", 0, "pumped\ndry\n")
    assert (lost["status"], lost["exit_code"], lost["stdout"]) == ("lost", None, "begun\n")
    assert told(old, "ops", "list", "--running") == []
    assert not [pid for script in SCRIPTS for pid in with_argument(script)]


def test_users_and_tokens_are_as_they_were(old: Place) -> None:
    users = {each["name"]: each["revoked_at"] is None for each in told(old, "user", "list")}
    assert users == {"ada": True, "bob": False}
    (builder,) = told(old, "token", "list")
    assert (builder["name"], builder["user"], builder["project"]) == ("builder", "ada", "/home/ada/shop")
    assert builder["revoked_at"] is None
    kept_out = old.run("web", "--link", "--user", "bob")
    assert kept_out.returncode != 0
    assert "bob" in kept_out.stderr


def test_the_doctor_and_the_log_find_nothing_wrong_in_the_store(old: Place, kind: str) -> None:
    findings = json.loads(old.run("doctor", "--json").stdout)["findings"]
    levels = {each["subject"]: each["level"] for each in findings}
    store = {"sqlite": "store", "postgres": "postgresql"}[kind]
    assert [levels[subject] for subject in (store, "state", "bell")] == ["ok"] * 3
    verified = told(old, "log", "verify")
    assert (verified["whole"], verified["faults"]) == (True, [])
