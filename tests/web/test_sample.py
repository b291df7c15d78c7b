"""Sample questions: one at a time for each person, and none that stays."""

from __future__ import annotations

import signal

import pytest
from tests.e2e.clients.process import wait_until
from tests.web.house import USER, WAIT, House, new_house
from tests.web.test_push import SignedIn

from sayso.asks.model import Answer, Ask, Settler
from sayso.errors import NotFound


def test_a_second_press_asks_nothing_more_until_the_sample_is_answered(house: House) -> None:
    browser, other = SignedIn(house), SignedIn(house, "grace")
    first = sample(house, browser)
    assert sample(house, browser) == first
    assert sample(house, other, "grace").id != first.id
    answer(house, first)
    assert wait_until(lambda: house.desk.get(first.id).delivered_at is not None, WAIT)
    assert sample(house, browser).id != first.id
    assert is_gone(house, first)


@pytest.mark.parametrize("answered", [False, True])
def test_a_sample_that_a_killed_server_has_left_behind_makes_room_for_the_next(answered: bool) -> None:
    with new_house() as house:
        browser = SignedIn(house)
        left = sample(house, browser)
        house.web.stop(signal.SIGKILL)
        if answered:
            answer(house, left)
        house.restart()
        assert sample(house, browser).id != left.id
        assert is_gone(house, left)


def sample(house: House, browser: SignedIn, user: str = USER) -> Ask:
    """What this person is asked after a press of the button."""
    assert browser.post("/sample").status == 303
    (ask,) = house.desk.inbox(person=user)
    assert ask.attended
    return ask


def answer(house: House, ask: Ask) -> None:
    house.desk.answer(ask.id, [Answer(question="1", chosen=("pear",))], Settler(person=USER, surface="tests"))


def is_gone(house: House, ask: Ask) -> bool:
    try:
        house.desk.get(ask.id)
    except NotFound:
        return True
    return False
