"""Slack, both ways: its Web API and Socket Mode on loopback with their limits and errors, and real desks behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import ANNA
from tests.chats.office import COLOUR, NAME, Office
from tests.chats.servers.slack import APP_TOKEN, BOT_TOKEN, Posted, Slack, SlackUser, slack
from tests.conftest import OpenStore
from tests.e2e.clients.process import wait_until
from tests.permissions.test_desk import PUSH

from sayso.asks.model import Answer, Kind, Option, Question, State
from sayso.chats import answering, line, service
from sayso.chats.linking import add_chat
from sayso.chats.model import ChatKind
from sayso.errors import ChatFailed
from sayso.permissions.verdict import verdict_of
from sayso.records import replace

TOKENS = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN}


@pytest.fixture
def server() -> Iterator[Slack]:
    with slack() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_time_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(service, "LOOK_EVERY", 0.05)
    monkeypatch.setattr("sayso.chats.slack.AGAIN", 0.05)


@pytest.fixture
def office(open_sqlite: OpenStore, tmp_path: Path, server: Slack) -> Office:
    office = Office(open_sqlite(), tmp_path)
    asyncio.run(add_chat(office.chats, ChatKind.SLACK, TOKENS, f"{server.address}/api"))
    return office


def linked(office: Office, server: Slack) -> SlackUser:
    ada = server.user("UADA")
    ada.writes(office.chats.make_code(ChatKind.SLACK, "ada"))
    assert "You are ada here" in new(server).text
    return ada


def new(server: Slack) -> Posted:
    """The next new message that everybody in its room sees."""
    while not isinstance(found := server.next(), Posted) or found.changed or found.only_for:
        pass
    return found


def ephemeral(server: Slack) -> str:
    """What the one who pressed is told, and nobody else."""
    while not (found := server.next()).only_for:
        pass
    return str(found.text)


def changed(server: Slack) -> Posted:
    while not isinstance(found := server.next(), Posted) or not found.changed:
        pass
    return found


def test_a_question_arrives_and_a_press_answers_it_and_is_acknowledged_afterwards(
    office: Office, server: Slack
) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask(COLOUR)
        sent = new(server)
        assert sent.channel == "DUADA"
        assert "Which colour?\n\n1. Red\n2. Blue: as the sky" in sent.text
        assert list(sent.buttons) == ["Red", "Blue"]
        assert (sent.data["unfurl_links"], sent.data["unfurl_media"], sent.data["parse"]) == (False, False, "none")
        envelope = ada.presses(sent, "Blue")
        after = changed(server)
        assert (after.ts, after.buttons) == (sent.ts, {})
        assert after.text.endswith("Answered by you in Slack: Blue.")
        assert office.answer(ask) == (("b",), None)
        assert office.by(ask) == ("ada", "Slack")
        assert wait_until(lambda: envelope in server.acknowledged, 20)

    office.while_running(work)


def test_words_in_the_thread_of_a_question_are_its_answer(office: Office, server: Slack) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask(NAME)
        sent = new(server)
        ada.writes("not a reply")
        assert new(server).text == answering.WHICH
        ada.writes("<b> & https://x.example", answers=sent, bot_id="B1")
        ada.writes("<b> & more", answers=sent)
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        assert office.answer(ask) == ((), "<b> & more")

    office.while_running(work)


def test_several_questions_are_answered_by_buttons_and_in_the_thread_and_sent_together(
    office: Office, server: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "READING_MS", 0)

    def work() -> None:
        ada, eve = linked(office, server), server.user("UEVE")
        ask = office.ask(COLOUR, replace(NAME, id="2"))
        sent = new(server)
        assert "Question 1 of 2" in sent.text
        eve.presses(sent, "Red")
        assert ephemeral(server) == answering.NOT_YOURS
        ada.presses(sent, "Red")
        while "Question 2 of 2" not in changed(server).text:
            pass  # what a stranger pressed is drawn again as it was
        ada.writes("Sayso", answers=sent)
        while "Send" not in (end := changed(server)).buttons:
            pass
        assert "│ Red" in end.text
        assert "│ Sayso" in end.text
        assert office.state(ask) is State.PENDING
        ada.presses(end, "Send")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        outcome = office.desk.get(ask.id).outcome
        assert outcome
        assert [(each.chosen, each.text) for each in outcome.answers] == [(("r",), None), ((), "Sayso")]

    office.while_running(work)


def test_a_stranger_a_stolen_message_and_a_replayed_button_change_nothing(office: Office, server: Slack) -> None:
    def work() -> None:
        ada, eve = linked(office, server), server.user("UEVE")
        ask = office.ask()
        sent = new(server)
        value = sent.buttons["Yes"]
        eve.presses_value(value, sent)
        assert ephemeral(server) == answering.NOT_YOURS
        eve.presses_value(value, sent, channel=eve.room)
        assert ephemeral(server) == answering.NOT_YOURS
        ada.presses_value(value, sent, ts=server.new_ts())
        assert ephemeral(server) == answering.NOT_YOURS
        for made_up in ("yes", sent.ts, value[:-1] + ("A" if value[-1] != "A" else "B"), value.replace(".o0.", ".o1.")):
            ada.presses_value(made_up, sent)
            assert ephemeral(server) == answering.NOT_OURS
        eve.writes("Yes", answers=sent)
        assert new(server).text == answering.WHO_ARE_YOU
        assert office.state(ask) is State.PENDING
        at = server.new_ts()
        ada.presses_value(value, sent, at=at)
        changed(server)
        version = office.desk.get(ask.id).version
        again = ada.presses_value(value, sent, at=at)
        assert wait_until(lambda: again in server.acknowledged, 20)
        ada.presses_value(value, sent)
        assert ephemeral(server).startswith("Already answered")
        assert office.desk.get(ask.id).version == version

    office.while_running(work)


def test_a_permission_takes_two_presses(office: Office, server: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "READING_MS", 0)

    def work() -> None:
        ada = linked(office, server)
        ask = office.permission()
        sent = new(server)
        assert "Shell command\n│ git push" in sent.exact
        ada.presses(sent, "Allow…")
        asks_again = changed(server)
        assert office.state(ask) is State.PENDING
        ada.presses(asks_again, "Yes, allow it")
        assert changed(server).text.endswith("Allowed by you in Slack.")
        verdict = verdict_of(office.desk.get(ask.id))
        assert verdict
        assert verdict.allows(PUSH)

    office.while_running(work)


def test_a_line_that_slack_ends_is_opened_anew_and_limits_are_kept(office: Office, server: Slack) -> None:
    def work() -> None:
        ada = linked(office, server)
        before = server.opened
        server.disconnect()
        assert wait_until(lambda: server.opened > before, 20)
        server.soon(lambda: server.limited.append("chat.postMessage"))
        ask = office.ask()
        ada.presses(new(server), "Yes")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        server.soon(lambda: server.gone.add("DUADA"))
        office.ask(NAME)
        assert wait_until(lambda: not office.chats.links(), 20)

    office.while_running(work)


def test_hostile_words_ping_nobody_and_answers_elsewhere_are_told(office: Office, server: Slack) -> None:
    def work() -> None:
        linked(office, server)
        options = tuple(Option(id=str(number), label=f"Choice {number}") for number in range(7))
        text = "<!channel> *bold* <https://evil.example|ok> \u202e :smile: & <@UADA>"
        ask = office.ask(Question(id="1", text=text, kind=Kind.SELECT, options=options))
        sent = new(server)
        assert text.replace("\u202e", "<U+202E>") in sent.text
        assert len(sent.buttons) == 7
        assert "<!" not in sent.data["text"]
        office.desk.answer(ask.id, [Answer(question="1", chosen=("1",))], ANNA)
        assert changed(server).text.endswith(f"Answered by {ANNA.person} in the {ANNA.surface}.")

    office.while_running(work)


def test_an_envelope_that_cannot_be_read_is_acknowledged_and_passed_over(
    office: Office, server: Slack, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent, before = new(server), server.opened
        broken = [
            server.say("interactive", {"type": "block_actions", "actions": []}),
            server.say("interactive", {"type": "block_actions", "actions": [{"value": "hunter2"}]}),
            server.say("events_api", {"event": {"type": "message", "user": "UADA", "text": "hunter2"}}),
            server.say("events_api", {"event": ["hunter2"]}),
        ]
        ada.presses(sent, "Yes")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        assert wait_until(lambda: set(broken) <= server.acknowledged, 20)
        assert server.opened == before

    office.while_running(work)
    assert "cannot be read" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_forwarded_code_links_nobody(office: Office, server: Slack) -> None:
    def work() -> None:
        ada = server.user("UADA")
        ada.writes(office.chats.make_code(ChatKind.SLACK, "ada"), attachments=[{"is_share": True}])
        assert new(server).text == answering.FORWARDED
        assert office.chats.links() == []

    office.while_running(work)


def test_tokens_that_slack_does_not_know_add_nothing(open_sqlite: OpenStore, server: Slack, tmp_path: Path) -> None:
    office = Office(open_sqlite(), tmp_path)
    with pytest.raises(ChatFailed, match="does not know these tokens"):
        asyncio.run(
            add_chat(office.chats, ChatKind.SLACK, {**TOKENS, "bot_token": "xoxb-wrong"}, f"{server.address}/api")
        )
    assert office.chats.all() == []
