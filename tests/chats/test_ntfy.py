"""ntfy, both ways: a server on loopback with its topics, streams and limits, and real desks behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import ANNA
from tests.chats.office import COLOUR, NAME, Office
from tests.chats.servers.ntfy import TOKEN, Ntfy, Published, ntfy
from tests.conftest import OpenStore
from tests.e2e.clients.process import wait_until

from sayso.asks.model import Answer, Kind, Option, Question, State
from sayso.chats import line, service
from sayso.chats.linking import add_chat, invite
from sayso.chats.model import ChatKind
from sayso.errors import ChatFailed


@pytest.fixture
def server() -> Iterator[Ntfy]:
    with ntfy(TOKEN) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_time_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(service, "LOOK_EVERY", 0.05)
    monkeypatch.setattr("sayso.chats.ntfy.AGAIN", 0.05)


@pytest.fixture
def office(open_sqlite: OpenStore, tmp_path: Path, server: Ntfy) -> Office:
    office = Office(open_sqlite(), tmp_path)
    asyncio.run(add_chat(office.chats, ChatKind.NTFY, {"token": TOKEN}, server.address))
    return office


def linked(office: Office, server: Ntfy) -> str:
    """The topic of ada, who has subscribed to it and pressed the button that came."""
    asyncio.run(invite(office.chats, ChatKind.NTFY, "ada"))
    asked = server.next()
    server.press(asked, "Link this device")
    assert "You are ada here" in server.next().text
    (link,) = office.chats.links()
    assert link.room == asked.topic
    return link.room


def replies(office: Office) -> str:
    (chat,) = office.chats.all()
    return chat.access["replies"]


def test_a_question_arrives_and_a_press_on_the_phone_answers_it(office: Office, server: Ntfy) -> None:
    def work() -> None:
        topic = linked(office, server)
        ask = office.ask(COLOUR)
        sent = server.next()
        assert (sent.topic, sent.title) == (topic, "codex in shop asks")
        assert sent.text.startswith("Which colour?\n\n1. Red\n2. Blue: as the sky")
        assert list(sent.buttons) == ["Red", "Blue"]
        server.press(sent, "Blue")
        after = server.next()
        assert (after.replaces, after.buttons) == (sent.id, {})
        assert after.text.endswith("Answered by you in ntfy: Blue.")
        assert office.answer(ask) == (("b",), None)
        assert office.by(ask) == ("ada", "ntfy")

    office.while_running(work)


def test_a_stranger_a_stolen_message_and_a_replayed_button_change_nothing(office: Office, server: Ntfy) -> None:
    def work() -> None:
        linked(office, server)
        ask = office.ask()
        sent = server.next()
        token, where = sent.buttons["Yes"]["body"], replies(office)
        # Whoever knows where replies go, and not what was sent to ada: what is made up, and what is taken from names.
        for made_up in (
            "yes",
            sent.id,
            ask.id,
            token[:-1] + ("A" if token[-1] != "A" else "B"),
            token.replace(".o0.", ".o1."),
            "\x00",
            "x" * 4000,
        ):
            server.publish(where, made_up)
        other = office.ask(NAME)
        server.next()
        assert (office.state(ask), office.state(other)) == (State.PENDING, State.PENDING)
        server.press(sent, "Yes")
        after = server.next()
        assert after.replaces == sent.id
        version = office.desk.get(ask.id).version
        server.publish(where, token)
        said = server.next()
        assert said.text.startswith("Already answered")
        assert said.buttons == {}
        server.publish(where, sent.buttons["No"]["body"])
        assert server.next().text.startswith("Already answered")
        assert office.desk.get(ask.id).version == version
        assert office.answer(ask) == (("yes",), None)

    office.while_running(work)


def test_nothing_is_allowed_by_ntfy_whoever_reads_the_topic(office: Office, server: Ntfy) -> None:
    def work() -> None:
        linked(office, server)
        ask = office.permission()
        sent = server.next()
        assert sent.buttons == {}
        assert f"sayso allow {ask.id[:8]}" in sent.text
        office.ask(NAME)
        words = server.next()
        assert words.buttons == {}
        four = tuple(Option(id=str(number), label=str(number)) for number in range(4))
        office.ask(Question(id="1", text="Which?", kind=Kind.SELECT, options=four))
        assert server.next().buttons == {}
        office.desks.permissions.deny(ask.id, ANNA)
        assert server.next().text.endswith(f"Denied by {ANNA.person} in the {ANNA.surface}.")

    office.while_running(work)


def test_what_was_pressed_while_nobody_listened_counts_once(office: Office, server: Ntfy) -> None:
    found: list[Published] = []

    def ask() -> None:
        linked(office, server)
        office.ask()
        found.append(server.next())

    office.while_running(ask)
    (open_ask,) = office.desk.inbox()
    server.press(found[0], "Yes")
    assert office.state(open_ask) is State.PENDING

    def answered() -> None:
        assert wait_until(lambda: office.state(open_ask) is State.ANSWERED, 20)
        assert server.next().replaces == found[0].id
        server.break_streams()
        assert wait_until(lambda: server.streams >= 3, 20)

    office.while_running(answered)
    (chat,) = office.chats.all()
    assert chat.read_to == server.cache[-2]["id"]


def test_a_link_is_good_once_and_limits_are_kept(office: Office, server: Ntfy) -> None:
    def work() -> None:
        asyncio.run(invite(office.chats, ChatKind.NTFY, "ada"))
        asked = server.next()
        server.press(asked, "Link this device")
        assert "You are ada here" in server.next().text
        first = office.chats.links()
        server.press(asked, "Link this device")
        assert "You are ada here" in server.next().text
        server.soon(lambda: setattr(server, "limited", 1))
        ask = office.ask()
        server.press(server.next(), "Yes")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        assert office.chats.links() == first

    office.while_running(work)


def test_an_answer_elsewhere_is_told_and_long_questions_are_only_announced(office: Office, server: Ntfy) -> None:
    def work() -> None:
        linked(office, server)
        ask = office.ask()
        server.next()
        office.desk.answer(ask.id, [Answer(question="1", chosen=("yes",))], ANNA)
        assert server.next().text.endswith(f"Answered by {ANNA.person} in the {ANNA.surface}.")
        office.ask(Question(id="1", text="é" * 3000, kind=Kind.CONFIRM))
        sent = server.next()
        assert sent.buttons == {}
        assert "attachment" not in sent.data

    office.while_running(work)


def test_a_token_that_does_not_open_the_server_adds_nothing(
    open_sqlite: OpenStore, server: Ntfy, tmp_path: Path
) -> None:
    office = Office(open_sqlite(), tmp_path)
    with pytest.raises(ChatFailed, match="does not let Sayso in"):
        asyncio.run(add_chat(office.chats, ChatKind.NTFY, {"token": "tk_wrong"}, server.address))
    assert office.chats.all() == []
