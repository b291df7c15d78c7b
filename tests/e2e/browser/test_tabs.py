"""Two tabs of one person: what is sent in one never takes from the other what was written there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import SignIn
from tests.e2e.browser.test_live import live
from tests.web.house import House, text


@pytest.mark.finding("F-53")
def test_a_second_tab_keeps_its_words_when_the_first_one_sends(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text())
    first = live(sign_in(f"/asks/{ask.id}"))
    second = first.context.new_page()
    second.goto(f"/asks/{ask.id}")
    live(second)
    second.get_by_role("textbox", name="Question").fill("A long thought of the second tab")
    expect(second.locator("[data-draft-note]")).to_have_text("Kept as a draft")
    first.get_by_role("textbox", name="Question").fill("Short")
    first.get_by_role("button", name="Send answer").click()
    expect(first.locator("#standing")).to_contain_text("Answered by you")
    expect(second.locator("#standing")).to_contain_text("Answered by you")
    unsent = second.locator(".unsent")
    expect(unsent).to_contain_text("This was not sent.")
    expect(unsent).to_contain_text("A long thought of the second tab")
    second.reload()
    expect(unsent).to_contain_text("A long thought of the second tab")
