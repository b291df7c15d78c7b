"""`sayso chat`: adding one, linking oneself and looking at it, against a bot's API on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.chats.servers.telegram import TOKEN, Telegram, telegram
from tests.cli.program import Home


@pytest.fixture
def server() -> Iterator[Telegram]:
    with telegram() as server:
        yield server


def test_a_chat_is_added_linked_listed_and_removed(home: Home, server: Telegram) -> None:
    assert "There are no chats yet" in home.run("chat", "list").err
    added = home.run("chat", "add", "telegram", "--server", server.address, stdin=f"{TOKEN}\n")
    assert added.code == 0, added.err
    assert "Sayso is @sayso_of_ada_bot there" in added.err
    assert TOKEN not in added.out + added.err
    link = json.loads(home.run("chat", "link", "telegram", "--json").out)
    assert link["address"] == f"https://t.me/sayso_of_ada_bot?start={link['code'].replace('-', '')}"
    plain = home.run("chat", "link", "telegram")
    assert len(plain.out.strip()) == len(link["code"])
    (listed,) = json.loads(home.run("chat", "list", "--json").out)
    assert (listed["chat"], listed["name"], listed["at_work"]) == ("telegram", "@sayso_of_ada_bot", False)
    assert TOKEN not in json.dumps(listed)
    examined = json.loads(home.run("doctor", "--json").out)
    (found,) = [each for each in examined["findings"] if each["subject"] == "chats"]
    assert (found["level"], found["fix"]) == ("warning", "sayso chat link telegram")
    assert home.run("chat", "test").code == 3
    assert "vergessen" in home.run("chat", "remove", "telegram", SAYSO_LANGUAGE="de").err
    assert "There is no chat 'telegram' yet. Add it with" in home.run("chat", "link", "telegram").err


def test_a_token_that_is_wrong_or_missing_adds_nothing(home: Home, server: Telegram) -> None:
    wrong = home.run("chat", "add", "telegram", "--server", server.address, stdin="110201543:wrong\n")
    assert wrong.code == 1
    assert "Telegram does not know this bot's token" in wrong.err
    missing = home.run("chat", "add", "telegram", stdin="\n")
    assert missing.code == 2
    assert "token: is empty" in missing.err
    nowhere = home.run("chat", "add", "telegram", "--server", "http://127.0.0.1:9", stdin=f"{TOKEN}\n")
    assert nowhere.code == 1
    assert TOKEN not in nowhere.err
    assert json.loads(home.run("chat", "list", "--json").out) == []


def test_an_agent_adds_and_links_no_chat(home: Home) -> None:
    for words in (("add", "telegram"), ("link", "telegram"), ("remove", "telegram"), ("unlink", "1")):
        refused = home.run("chat", *words, CLAUDECODE="1")
        assert refused.code == 5, refused.err
