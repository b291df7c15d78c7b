"""Put off from the list and from a page, by key, by finger and without a script; and back again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_rows import UNDO, inbox, row_of, settled
from tests.web.house import USER, House, confirm, new_ask, select, text

from sayso.asks.model import Asker, Settler, State

pytestmark = pytest.mark.usefixtures("read_quickly")


def long_press(page: Page, words: str, right: int = 80) -> None:
    """A finger that rests on a row, and then leaves it."""
    link = row_of(page, words).locator("> a")
    box = link.bounding_box()
    assert box
    at = {"x": box["x"] + right, "y": box["y"] + 20}
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    expect(page.locator("[data-marked]")).to_be_visible()
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_z_puts_the_row_off_until_it_is_undone_or_shown_again(house: House, sign_in: SignIn) -> None:
    later, other = house.ask(text("Later?")), house.ask(text("Now?"))
    page = sign_in()
    expect(page.locator("[data-count]")).to_have_text("2")
    page.keyboard.press("j")
    page.keyboard.press("z")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("2")
    expect(row_of(page, "Later?")).to_have_count(0)
    expect(page.locator("[data-count]")).to_have_text("1")
    expect(page.get_by_role("link", name="1 snoozed")).to_be_visible()
    assert [one.ask.id for one in house.desk.snoozed(USER)] == [later.id]
    assert house.desk.get(later.id).attended
    # The list may know before the page has heard that its own press was taken.
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("u")
    expect(row_of(page, "Later?")).to_be_visible()
    expect(page.get_by_role("link", name="1 snoozed")).to_be_hidden()
    house.desk.snooze(other.id, USER, house.desk.get(other.id).created_at + 3_600_000)
    expect(row_of(page, "Now?")).to_have_count(0)
    page.get_by_role("link", name="1 snoozed").click()
    expect(page.get_by_text("Now?")).to_be_visible()
    page.get_by_role("button", name="Show now").click()
    expect(page.get_by_role("heading", name="Nothing is snoozed")).to_be_visible()
    assert house.desk.snoozed(USER) == []


def test_what_was_settled_while_it_was_put_off_is_not_said_to_be_back(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("Later, or never?"))
    page = sign_in()
    for key in ("j", "z", "2"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    house.desk.reject(ask.id, "", Settler(person="grace", surface="terminal"))
    page.keyboard.press("u")
    expect(page.locator("[data-held]")).to_have_text("It was rejected by grace in the terminal already.")


@pytest.mark.parametrize("script", [True, False])
def test_a_page_puts_its_ask_off_and_says_so(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(text("Which name?"))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_text("Snooze", exact=True).click()
    page.get_by_role("button", name="Tomorrow, 8:00").click()
    expect(page.get_by_text("Snoozed until")).to_be_visible()
    expect(page.get_by_role("link", name="1 snoozed")).to_be_visible()
    (snoozed,) = house.desk.snoozed(USER)
    assert snoozed.ask.id == ask.id
    page.goto(f"/asks/{ask.id}")
    expect(page.get_by_text("You can answer all the same")).to_be_visible()
    page.get_by_role("button", name="Back to the inbox with it").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert house.desk.snoozed(USER) == []


def test_what_has_no_time_left_is_not_put_off_and_the_page_says_why(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("Quickly?"), timeout_ms=120_000)
    page = sign_in()
    row_of(page, "Quickly?").locator("> a").focus()
    page.keyboard.press("z")
    page.get_by_role("button", name="1 hour").click()
    expect(page.get_by_text("too short to put it off")).to_be_visible()
    expect(row_of(page, "Quickly?")).to_be_visible()
    assert house.desk.get(ask.id).state is State.PENDING


def test_a_long_press_marks_rows_and_a_thumb_rejects_them(house: House, sign_in: SignIn) -> None:
    one, two, kept = (house.ask(select(f"{name} colour?")) for name in ("First", "Second", "Third"))
    page = inbox(sign_in, **PHONE)
    # On its icon, in whose place a box to tick comes under the finger.
    long_press(page, "First colour?", right=16)
    expect(page.get_by_text("1 marked")).to_be_visible()
    expect(page).to_have_url(page.url)
    row_of(page, "Second colour?").locator("> a").tap()
    bar = page.locator("[data-marked]")
    expect(bar.get_by_text("2 marked")).to_be_visible()
    box, tabs = bar.bounding_box(), page.locator(".main-nav").bounding_box()
    assert box
    assert tabs
    assert box["y"] > 844 / 2
    assert box["y"] + box["height"] <= tabs["y"]
    reject = bar.get_by_role("button", name="Reject all 2")
    assert min(reject.bounding_box().values(), default=0) >= 0  # type: ignore[union-attr]
    page.clock.fast_forward(1000)
    # Beside the words of a row that is to be marked: nothing there is pressed.
    options = row_of(page, "Third colour?").locator("[data-row-answers]").bounding_box()
    assert options
    page.touchscreen.tap(options["x"] + 100, options["y"] + 25)
    expect(bar.get_by_text("3 marked")).to_be_visible()
    row_of(page, "Third colour?").locator("> a").tap()
    page.clock.fast_forward(1000)
    reject.tap()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(bar).to_have_count(0)
    page.clock.fast_forward(UNDO)
    assert {settled(house, ask).state for ask in (one, two)} == {State.REJECTED}
    assert house.desk.get(kept.id).state is State.PENDING


def test_all_that_one_agent_has_open_or_a_search_has_found_is_marked_and_rejected_together(
    house: House, sign_in: SignIn
) -> None:
    noisy = Asker(client="codex", project="/home/ada/shop", host="here", leader="42")
    gone, *many = (house.hold(new_ask(text(f"Number {number}?"), asker=noisy)).ask for number in range(7))
    cakes, tea = [house.ask(text(f"{name} cake?")) for name in ("First", "Second")], house.ask(text("Tea?"))
    page = inbox(sign_in, **PHONE)
    bar, select_rows = page.locator("[data-marked]"), page.get_by_role("button", name="Select")
    select_rows.tap()
    expect(bar.get_by_role("button", name="Done")).to_be_visible()
    expect(bar.get_by_role("button", name="Mark all")).to_be_hidden()
    row_of(page, "7 questions").locator("> a").tap()
    select_rows.tap()
    bar.get_by_role("button", name="Mark all 7").tap()
    expect(bar.get_by_text("7 marked")).to_be_visible()
    # The list is drawn again, and what has not changed stays marked.
    house.desk.cancel(gone.id, Settler(person="grace", surface="terminal"))
    expect(bar.get_by_text("6 marked")).to_be_visible()
    page.clock.fast_forward(1000)
    bar.get_by_role("button", name="Reject all 6").tap()
    page.clock.fast_forward(1000)
    page.get_by_role("button", name="Undo").tap()
    page.clock.fast_forward(1000)
    bar.get_by_role("button", name="Reject all 6").tap()
    page.clock.fast_forward(UNDO)
    assert {settled(house, ask).state for ask in many} == {State.REJECTED}
    expect(page.get_by_role("heading", name="Nothing open")).to_be_visible()
    page.goto("/?q=cake")
    select_rows.tap()
    bar.get_by_role("button", name="Mark all 2").tap()
    page.clock.fast_forward(1000)
    bar.get_by_role("button", name="Reject all 2").tap()
    page.clock.fast_forward(UNDO)
    assert {settled(house, ask).state for ask in cakes} == {State.REJECTED}
    assert house.desk.get(tea.id).state is State.PENDING


def test_select_offers_a_box_in_each_row_and_snoozes_what_is_marked(house: House, sign_in: SignIn) -> None:
    for name in ("First", "Second"):
        house.ask(confirm(f"{name}?"))
    page = sign_in()
    page.get_by_role("button", name="Select").click()
    for name in ("First", "Second"):
        page.get_by_role("checkbox", name=f"Mark: {name}?").check()
    page.locator("[data-marked]").get_by_role("button", name="Snooze").click()
    page.get_by_role("button", name="20 minutes").click()
    expect(page.get_by_role("link", name="2 snoozed")).to_be_visible()
    assert len(house.desk.snoozed(USER)) == 2
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-count]")).to_have_text("2")


def test_all_that_one_agent_has_open_is_put_off_together(house: House, sign_in: SignIn) -> None:
    noisy = Asker(client="codex", project="/home/ada/shop", host="here", leader="42")
    for number in range(7):
        house.hold(new_ask(text(f"Number {number}?"), asker=noisy))
    page = sign_in()
    row_of(page, "7 questions").locator("> a").focus()
    page.keyboard.press("z")
    page.get_by_role("button", name="3 hours").click()
    expect(page.get_by_role("link", name="7 snoozed")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    # The list may know before the page has heard that its own press was taken.
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("u")
    expect(row_of(page, "7 questions")).to_be_visible()
