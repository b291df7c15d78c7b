"""What a press or a code from a chat does where the chat itself tells nothing of it: too late, not theirs, guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.chats.office import Office

from sayso.asks.mark import mark
from sayso.asks.model import Ask, State
from sayso.chats import answering, wording
from sayso.chats.answering import ChatAnswers
from sayso.chats.model import ChatKind, ChatLink, Pressed, Wrote
from sayso.chats.tokens import new_id, sealed
from sayso.clock import now_ms
from sayso.store import Store

TELEGRAM, KEY = ChatKind.TELEGRAM, b"key"


class Chat:
    """ada's, in which everything was sent by us. `later` is how far its clock is ahead."""

    def __init__(self, office: Office) -> None:
        self._office, self.later, self._presses = office, 0, 0
        desks = office.desks
        desks.chats.add(TELEGRAM, {"token": "1:a"})
        found = desks.chats.redeem(TELEGRAM, desks.chats.make_code(TELEGRAM, "ada"), "1", "1", "")
        assert found
        self._link: ChatLink = found
        self.answers = ChatAnswers(desks.chats, desks.asks, desks.permissions, KEY, lambda: now_ms() + self.later)

    def send(self, ask: Ask) -> str:
        message = new_id()
        self._office.chats.begin_message(message, self._link, ask.id, mark(ask), ask.digest)
        return message

    def press(self, message: str, choice: str) -> str:
        self._presses += 1
        press = Pressed(id=str(self._presses), token=sealed(KEY, message, choice), account="1", room="1", place="9")
        return self.answers.pressed(TELEGRAM, press).text


@pytest.fixture
def office(store: Store, tmp_path: Path) -> Office:
    return Office(store, tmp_path)


def test_the_second_press_of_an_allow_counts_only_soon_after_the_first(office: Office) -> None:
    chat, ask = Chat(office), office.permission()
    message = chat.send(ask)
    assert chat.press(message, wording.ALLOW) == answering.LOOK_FIRST
    chat.later += 10 * 60_000 + 1
    assert chat.press(message, wording.SURE) == answering.LOOK_FIRST
    assert office.state(ask) is State.PENDING
    chat.later += 1_000
    assert chat.press(message, wording.SURE) == answering.SENT
    assert office.state(ask) is State.ANSWERED


def test_what_is_for_somebody_else_is_answered_by_no_button(office: Office) -> None:
    chat, ask = Chat(office), office.ask(owner="grace")
    assert chat.press(chat.send(ask), "o1") == answering.NOT_YOURS
    assert office.state(ask) is State.PENDING


def test_who_guesses_codes_under_many_names_has_to_wait_too(office: Office) -> None:
    chat = Chat(office)

    def told(account: int) -> str:
        wrote = Wrote(id=str(account), account=str(account), room=str(account), text="ABCD-EFGH")
        return chat.answers.wrote(TELEGRAM, wrote).text

    assert {told(account) for account in range(100, 200)} == {answering.WRONG_CODE}
    assert told(200) == answering.WAIT
