"""Whatever keys and taps come in whatever order: an ask is answered by a press that was meant for it, or not at all.

The seeds are those that find the most of five faults that were tried, such as hasty taps that count, be it only those
of a mouse, and keys that press the first button, be it only with one modifier. Those of the first test find all five.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.hands import FORMS, STEP, Hands, visit
from tests.e2e.browser.test_meant import permission
from tests.web.house import House, confirm, select, text

from sayso.asks.model import Ask, State


def no_yes(ask: Ask) -> None:
    """Open, or settled with the very words of the field that was for it."""
    if ask.state is State.PENDING:
        return
    outcome = ask.outcome
    assert outcome
    if ask.state is State.REJECTED:
        assert outcome.reason, "a reason was written and sent"
        return
    (answer,) = outcome.answers
    assert answer.chosen in ((), ("deny",)), ask
    assert answer.text or answer.note, "the words of that field"


def arrived(page: Page) -> None:
    """Once another page is there and nothing is on its way, all that was sent has arrived."""
    visit(page, "/settings")


@pytest.mark.finding("F-01", "F-02", "F-03")
@pytest.mark.parametrize("seed", [2, 3])
def test_no_sequence_of_keys_and_hasty_taps_says_yes(house: House, sign_in: SignIn, seed: int) -> None:
    page = sign_in("/settings", **PHONE)
    page.get_by_label("Go on with the next question").check()
    page.get_by_role("button", name="Save").tap()
    expect(page.get_by_text("Saved for this browser.")).to_be_visible()
    asks = [
        permission(house, f"rm -rf {seed}"),
        house.ask(confirm("Delete the old tables now?")),
        house.ask(select()),
        house.ask(confirm("Publish?"), text("Under which name?")),
        permission(house, f"git push --force {seed}"),
    ]
    hands = Hands(page, seed)
    hands.stop_time()
    for ask in asks:
        visit(page, f"/asks/{ask.id}")
        page.locator(FORMS).wait_for()
        hands.tap(2)
        hands.fidget(8)
        no_yes(house.desk.get(ask.id))
    arrived(page)
    for ask in asks:
        no_yes(house.desk.get(ask.id))
    assert hands.acts > 4 * len(asks)


@pytest.mark.finding("F-02", "F-03")
@pytest.mark.parametrize("seed", [0, 2])
def test_no_sequence_of_keys_and_hasty_taps_allows_what_is_being_edited(
    house: House, sign_in: SignIn, seed: int
) -> None:
    edited, looked_at = (permission(house, f"git push {seed} {number}") for number in range(2))
    hands = Hands(sign_in("/settings", **PHONE), seed)
    page = hands.page
    hands.stop_time()
    visit(page, f"/asks/{looked_at.id}?edit=1")
    page.clock.run_for(STEP)
    page.locator("textarea[name=edit]").fill(f"git push --dry-run {seed}")
    hands.press(page.get_by_role("button", name="Look at it as edited"))
    page.get_by_role("button", name="Allow as edited").wait_for()
    hands.tap(3)
    hands.fidget(8)
    visit(page, f"/asks/{edited.id}?edit=1")
    page.locator(FORMS).wait_for()
    hands.tap(2)
    hands.fidget(8)
    arrived(page)
    for ask in (edited, looked_at):
        no_yes(house.desk.get(ask.id))
    assert hands.acts > 8


@pytest.mark.finding("F-03")
def test_whatever_follows_a_press_that_was_meant_reaches_nothing_else(house: House, sign_in: SignIn) -> None:
    page = sign_in("/settings", **PHONE)
    page.get_by_label("Go on with the next question").check()
    page.get_by_role("button", name="Save").tap()
    expect(page.get_by_text("Saved for this browser.")).to_be_visible()
    first, *others = [permission(house, f"make {number}") for number in range(4)]
    hands = Hands(page, seed=0)
    hands.stop_time()
    page.goto(f"/asks/{first.id}")
    hands.press(page.get_by_role("button", name="Allow", exact=True))
    page.wait_for_url("**?sent=*")
    hands.tap(5)
    hands.fidget(5)
    arrived(page)
    assert hands.acts > 4
    assert house.desk.get(first.id).state is State.ANSWERED
    for ask in others:
        no_yes(house.desk.get(ask.id))
