"""What was opened is closed again where one is: by Back, and from its end."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_meant import permission
from tests.e2e.clients.process import wait_until
from tests.web.house import WAIT, House, confirm, text

pytestmark = pytest.mark.usefixtures("read_quickly")


def rests(page: Page) -> None:
    """Once the history is where it was: going back in it comes later than the press that led to it."""
    there = "!history.state?.over && history.scrollRestoration === 'auto'"
    assert wait_until(lambda: page.evaluate(there), WAIT)


def test_back_closes_the_help_and_leaves_what_was_typed(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("Which name?"))
    page = sign_in("/", **PHONE)
    page.goto(f"/asks/{ask.id}")
    page.get_by_role("textbox", name="Question").fill("Ochre")
    page.get_by_role("heading", name="Which name?").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(f"{house.address_of()}/asks/{ask.id}")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Ochre")
    page.go_back()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


@pytest.mark.parametrize("how", ["its button", "Escape", "the key", "the key, many times"])
def test_what_was_closed_otherwise_takes_no_step_back(house: House, sign_in: SignIn, how: str) -> None:
    ask = house.ask(confirm("One step?"))
    page = sign_in("/")
    page.goto(f"/asks/{ask.id}")
    dialog = page.get_by_role("dialog", name="Keys")
    for shown in (1, 0) * 4 if how.endswith("times") else ():
        page.keyboard.press("?")
        expect(dialog).to_have_count(shown)
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    if how == "its button":
        dialog.get_by_role("button", name="Close").click()
    else:
        page.keyboard.press("Escape" if how == "Escape" else "?")
    expect(dialog).to_have_count(0)
    rests(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", name="One step?")).to_be_visible()


def test_a_page_that_was_loaded_anew_while_something_was_open_takes_no_step_back(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Loaded anew?"))
    page = sign_in("/")
    page.goto(f"/asks/{ask.id}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Loaded anew?")).to_be_visible()
    rests(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


def test_back_leads_out_of_choosing_rows_one_step_at_a_time(house: House, sign_in: SignIn) -> None:
    for number in range(3):
        house.ask(confirm(f"Number {number}?"))
    page = sign_in("/settings", **PHONE)
    page.goto("/")
    page.get_by_role("button", name="Select").tap()
    page.get_by_role("checkbox").first.check()
    marked = page.locator("[data-marked]")
    marked.get_by_role("button", name="Snooze").tap()
    expect(page.get_by_role("dialog", name="Snooze")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(marked).to_contain_text("1 marked")
    page.go_back()
    expect(marked).to_have_count(0)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_what_is_closed_leaves_the_page_where_it_was_scrolled_to(house: House, sign_in: SignIn) -> None:
    for number in range(20):
        house.ask(confirm(f"Number {number}?"))
    page = sign_in("/", viewport={"width": 1280, "height": 400})
    for place in (300, 500):
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.evaluate("place => scrollTo(0, place)", place)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    rests(page)
    assert page.evaluate("scrollY") == 500


# What is long


@pytest.mark.parametrize(("options", "key"), [(PHONE, ""), ({}, "Enter"), ({}, "Space")])
def test_a_long_row_is_folded_where_one_has_read_to_its_end(
    house: House, sign_in: SignIn, options: dict[str, Any], key: str
) -> None:
    house.ask(confirm("Before it?"))
    ask = permission(house, "\n".join(f"echo {number}" for number in range(60)))
    house.ask(confirm("After it?"))
    page = sign_in("/", **options)
    row = page.locator(f"[data-ask='{ask.id}']")
    fold = row.locator("details.row-open")
    fold.get_by_text("Show all of it here").click()
    end = fold.locator("> [data-fold]")
    end.scroll_into_view_if_needed()
    expect(end).to_have_text("Fold")
    box, deny = end.bounding_box(), row.get_by_role("button", name="Deny").bounding_box()
    assert box
    assert deny
    assert box["height"] >= 44
    assert box["y"] > deny["y"], "it is at the end"
    expect(row.locator("> a")).not_to_be_in_viewport()
    if key:
        end.focus()
        page.keyboard.press(key)
    else:
        end.tap()
    expect(row.get_by_role("button", name="Deny")).to_be_hidden()
    expect(row.locator("> a")).to_be_in_viewport(ratio=1)
    expect(fold.locator("> summary")).to_be_focused()


def test_what_is_short_has_no_second_way_to_be_folded(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "make short && " + "true && " * 60 + "true")
    page = sign_in("/")
    row = page.locator(f"[data-ask='{ask.id}']")
    row.get_by_text("Show all of it here").click()
    expect(row.get_by_role("button", name="Deny")).to_be_visible()
    expect(row.get_by_role("button", name="Fold")).to_have_count(0)
