"""The page notifies, in a whole browser: the one without windows knows no notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect
from tests.e2e.browser.conftest import FLAGS, Chromiums, NewContext, sign_in_context
from tests.e2e.browser.test_live import live
from tests.e2e.clients.process import wait_until
from tests.web.house import USER, House, confirm

from sayso.web.push_messages import PushMessage, of_ask, of_settled

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
    page.evaluate(
        "() => { PushManager.prototype.subscribe = async () => { throw new DOMException('', 'AbortError') } }"
    )
    page.get_by_role("button", name="Tell this browser").click()
    expect(page.get_by_text("This browser's push service did not take it. Try again")).to_be_visible()
    expect(page.get_by_role("button", name="Tell this browser")).to_be_visible()
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


DELIVERED = """async ([title, tag]) => {
    const until = Date.now() + 30000;
    const registration = await navigator.serviceWorker.ready;
    for (;;) {
        const [shown] = await registration.getNotifications({ tag });
        if (shown?.title === title) return [shown.body, shown.actions.map(one => one.title)];
        if (Date.now() > until) return null;
        await new Promise(resolve => setTimeout(resolve, 50));
    }
}"""
"""What is shown under a tag, once it has this title."""
CHOSEN = """async ([tag, place]) => {
    const [shown] = await registration.getNotifications({ tag });
    await answer(shown, place);
}"""
"""What the worker does when a button of a notification is pressed: no program can press it here."""


class PushedTo:
    """A page whose worker is handed messages as a push service would."""

    def __init__(self, context: BrowserContext, house: House) -> None:
        self.page = context.new_page()
        self.page.goto("/settings")
        self._line = context.new_cdp_session(self.page)
        self._registrations: list[str] = []
        self._line.on("ServiceWorker.workerRegistrationUpdated", self._note)
        self._line.send("ServiceWorker.enable")
        with context.expect_event("serviceworker") as started:
            self.page.evaluate(
                "navigator.serviceWorker.register('worker.js').then(() => navigator.serviceWorker.ready)"
            )
        self.worker = started.value
        assert wait_until(lambda: self.page.evaluate("true") and bool(self._registrations), 30)
        self._origin = house.web.address

    def _note(self, told: dict[str, Any]) -> None:
        self._registrations += [each["registrationId"] for each in told["registrations"] if not each["isDeleted"]]

    def push(self, message: PushMessage) -> None:
        data = message.as_bytes(waiting=1).decode()
        place = {"origin": self._origin, "registrationId": self._registrations[-1]}
        self._line.send("ServiceWorker.deliverPushMessage", {**place, "data": data})

    def shown(self, title: str, tag: str) -> Any:
        return self.page.evaluate(DELIVERED, [title, tag])


def test_a_push_shows_a_short_question_and_a_press_on_an_option_answers_it(
    house: House, new_context: NewContext
) -> None:
    context = new_context(base_url=house.web.address, permissions=["notifications"])
    sign_in_context(context, house)
    pushed = PushedTo(context, house)
    ask = house.ask(confirm("Ship it now?"))
    pushed.push(of_ask(ask))
    assert pushed.shown("claude-code in shop asks", ask.id) == ["Ship it now?", ["Yes", "No"]]
    pushed.worker.evaluate(CHOSEN, [ask.id, "1"])
    settled = house.desk.get(ask.id)
    assert settled.outcome
    assert (settled.outcome.answers[0].chosen, settled.outcome.person) == (("no",), USER)

    # The same button once more changes nothing, and says so.
    pushed.worker.evaluate(CHOSEN, [ask.id, "0"])
    assert pushed.shown("claude-code in shop asks", ask.id)[0] == "“Yes” was not taken. Open the question to see why."
    assert house.desk.get(ask.id) == settled
    pushed.push(of_settled(of_ask(ask)))
    pushed.page.wait_for_function(
        "async tag => !(await (await navigator.serviceWorker.ready).getNotifications({ tag })).length", arg=ask.id
    )
