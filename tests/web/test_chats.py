"""Chats with the real `sayso web`: linked on the settings page, asked and answered in Telegram, and nobody else's."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

import pytest
from tests.chats.servers.telegram import TOKEN, Sent, Telegram, telegram
from tests.e2e.clients.process import wait_until
from tests.web.house import House, confirm, new_house
from tests.web.test_push import SignedIn

from sayso.asks.model import State
from sayso.chats.model import ChatKind


@pytest.fixture
def server() -> Iterator[Telegram]:
    with telegram() as server:
        yield server


def message(server: Telegram) -> Sent:
    while not isinstance(found := server.next(), Sent):
        pass
    return found


@pytest.fixture
def house() -> Iterator[House]:
    with new_house() as house:
        yield house


def test_a_chat_is_linked_on_the_settings_page_asked_and_answered_whoever_is_killed(
    house: House, server: Telegram
) -> None:
    browser, phone, chats = SignedIn(house), server.user(501, "ada_l"), house.chats
    assert "Link me in Telegram" not in browser.get("/settings").text
    chats.add(ChatKind.TELEGRAM, {"token": TOKEN, "server": server.address, "name": "@sayso_bot"})
    page = browser.get("/settings").text
    assert "Link me in Telegram" in page
    assert TOKEN not in page
    shown = browser.post("/chats/link", chat="telegram").text
    (code,) = re.findall(r"<code>([2-9A-Z]{4}-[2-9A-Z]{4})</code>", shown)
    assert f"https://t.me/sayso_bot?start={code.replace('-', '')}" in shown
    phone.writes(code)
    assert "You are ada here" in message(server).text
    assert "as @ada_l" in browser.get("/settings").text
    ask = house.ask(confirm())
    phone.presses(message(server), "Yes")
    assert wait_until(lambda: house.desk.get(ask.id).state is State.ANSWERED, 60)
    outcome = house.desk.get(ask.id).outcome
    assert outcome
    assert (outcome.person, outcome.surface) == ("ada", "Telegram")
    # What was pressed while nobody was there is taken by the next server, once.
    ask = house.ask(confirm("Once more?"))
    while (sent := message(server)).edits or "Once more?" not in sent.text:
        pass
    # Else the next server cannot know where it was sent to, and sends it anew.
    assert wait_until(
        lambda: any(one.ask == ask.id and one.place for one in chats.open_messages(ChatKind.TELEGRAM)), 60
    )
    house.web.stop(signal.SIGKILL)
    phone.presses(sent, "No")
    house.restart()
    assert wait_until(lambda: house.desk.get(ask.id).state is State.ANSWERED, 60)
    assert [event.kind for event in house.desk.events(ask.id)].count("answered") == 1
    assert TOKEN not in house.web.said
    _wishes_and_links_are_ones_own(house)


def _wishes_and_links_are_ones_own(house: House) -> None:
    chats = house.chats
    (link,) = chats.links()
    ada, grace = SignedIn(house), SignedIn(house, "grace")
    wishes = {"link": link.id, "kind": "permission", "quiet_from": "22:00", "quiet_until": "07:00", "not_from": "a, b"}
    assert ada.post("/chats/wishes", **wishes).headers["location"].endswith("/settings?chat=saved#chats")
    (kept,) = chats.links()
    assert (kept.wishes.kinds, kept.wishes.not_from, kept.wishes.quiet_from) == (("permission",), ("a", "b"), "22:00")
    assert "@ada_l" not in grace.get("/settings").text
    assert grace.post("/chats/wishes", **{**wishes, "kind": "question"}).status == 404
    assert grace.post("/chats/unlink", link=link.id).status == 404
    assert ada.post("/chats/unlink", link=link.id, csrf="").status == 403
    assert chats.links() == [kept]
    assert ada.post("/chats/unlink", link=link.id).headers["location"].endswith("/settings?chat=ended#chats")
    assert chats.links() == []
