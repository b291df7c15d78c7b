"""A page keeps notifications back only while somebody can be looking at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.e2e.ask.house import LEGACY, connected
from tests.e2e.ask.test_notifications import noted, noting
from tests.e2e.browser.test_live import live
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.process import wait_until
from tests.web.house import WAIT, House, new_house

SignInTo = Callable[..., Page]


def show(page: Page, state: str) -> None:
    """A browser without windows shows every tab: put this one in front, or behind another, as its page is told it."""
    page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            Object.defineProperty(document, "hidden", { value: state === "hidden", configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def looked_at(house: House) -> None:
    assert wait_until(lambda: bool(house.desk.open_surfaces()), WAIT), "nobody counts as looking"


def forgotten(house: House) -> None:
    assert wait_until(lambda: not house.desk.open_surfaces(), WAIT), "somebody still counts as looking"


@contextmanager
def agent(house: House) -> Iterator[tuple[ClientProgram, Path]]:
    """One whose person has a command told, and the folder of what it was told."""
    command, notes = noting(house.place)
    with connected(LEGACY, house.place, notify_command=command, forms="never") as program:
        yield program, notes


def leave(program: ClientProgram, question: str) -> None:
    program.call("ask_user", {"question": question, "nonBlocking": True})


@pytest.mark.finding("F-57")
def test_a_hidden_tab_silences_no_notification(own_house: House, sign_in_to: SignInTo) -> None:
    page = live(sign_in_to(own_house))
    looked_at(own_house)
    with agent(own_house) as (program, notes):
        show(page, "hidden")
        forgotten(own_house)
        leave(program, "Hidden behind another tab?")
        (note,) = noted(notes)
        assert "Hidden behind another tab?" in note
        show(page, "visible")
        looked_at(own_house)


@pytest.mark.finding("F-57")
def test_a_forgotten_tab_silences_no_notification_until_it_is_used_again(sign_in_to: SignInTo) -> None:
    with new_house(away_after="2s") as house:
        page = live(sign_in_to(house))
        forgotten(house)
        with agent(house) as (program, notes):
            leave(program, "Forgotten over lunch?")
            (note,) = noted(notes)
            assert "Forgotten over lunch?" in note

        def moved() -> bool:
            page.mouse.wheel(0, 1)
            page.keyboard.press("Shift")
            return bool(house.desk.open_surfaces())

        assert wait_until(moved, WAIT)


@pytest.mark.finding("F-57")
def test_one_tab_in_front_counts_whichever_holds_the_stream(own_house: House, sign_in_to: SignInTo) -> None:
    first = live(sign_in_to(own_house))
    second = first.context.new_page()
    second.goto("/history")
    live(second)
    looked_at(own_house)
    with first.expect_response("**/sight"):
        show(first, "hidden")
    assert own_house.desk.open_surfaces()
    with second.expect_response("**/sight"):
        show(second, "hidden")
    forgotten(own_house)


def test_a_page_counts_again_when_its_server_was_restarted(own_house: House, sign_in_to: SignInTo) -> None:
    live(sign_in_to(own_house))
    looked_at(own_house)
    own_house.web.stop()
    forgotten(own_house)
    own_house.restart()
    looked_at(own_house)
