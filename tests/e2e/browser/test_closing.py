"""What was opened is closed again where one is."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_meant import permission
from tests.web.house import House, confirm

pytestmark = pytest.mark.usefixtures("read_quickly")


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
