"""The page notifies, in a whole browser: the one without windows knows no notifications."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, expect
from tests.e2e.browser.conftest import FLAGS, Chromiums, NewContext, sign_in_context
from tests.e2e.browser.test_live import live
from tests.web.house import House, confirm

NOTIFICATIONS = """async () => {
    const until = Date.now() + 15000;
    const registration = await navigator.serviceWorker.ready;
    for (;;) {
        const shown = await registration.getNotifications();
        if (shown.length || Date.now() > until) return shown.map(one => [one.title, one.body, one.data.path]);
        await new Promise(resolve => setTimeout(resolve, 50));
    }
}"""
"""Those that are shown, once there are any."""


@pytest.fixture(scope="module")
def browser(playwright: Playwright, chromiums: Chromiums) -> Iterator[Browser]:
    with playwright.chromium.launch(executable_path=chromiums.whole, args=FLAGS) as browser:
        yield browser


def test_a_notification_comes_when_nobody_looks_and_leads_to_its_question(
    house: House, new_context: NewContext
) -> None:
    context = new_context(base_url=house.web.address, permissions=["notifications"])
    sign_in_context(context, house)
    page = context.new_page()
    page.goto("/settings")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    page.goto("/")
    live(page)
    # A headless page believes that it has the focus.
    page.evaluate("document.hasFocus = () => false")
    ask = house.ask(confirm("Do you hear me?"))
    expect(page.get_by_role("link", name="Do you hear me?")).to_be_visible()
    assert page.evaluate(NOTIFICATIONS) == [["claude-code in shop asks", "Do you hear me?", f"asks/{ask.id}"]]


def test_no_notification_comes_while_somebody_looks(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address, permissions=["notifications"])
    sign_in_context(context, house)
    page = context.new_page()
    page.goto("/settings")
    page.get_by_role("button", name="Turn on").click()
    page.goto("/")
    live(page)
    house.ask(confirm("Seen anyway?"))
    expect(page.get_by_role("link", name="Seen anyway?")).to_be_visible()
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then(found => found.length)") == 0
