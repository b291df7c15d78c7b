"""Whose asks are on which page, and finding them again."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.e2e.browser.conftest import SignIn
from tests.web.house import House, confirm, new_ask, text

from sayso.asks.model import Answer, Asker, Settler, State


def test_asks_of_somebody_else_are_on_no_page(house: House, sign_in: SignIn) -> None:
    asker = Asker(client="codex", owner="grace")
    ask = house.hold(new_ask(confirm("For grace alone?"), asker=asker)).ask
    grace, ada = sign_in(user="grace"), sign_in()
    expect(grace.get_by_text("For grace alone?")).to_be_visible()
    expect(ada.get_by_text("Nothing waits for you")).to_be_visible()
    assert ada.goto(f"/asks/{ask.id}").status == 404  # type: ignore[union-attr]
    grace.get_by_role("link", name="For grace alone?").click()
    grace.get_by_text("Yes", exact=True).click()
    grace.get_by_role("button", name="Send answer").click()
    expect(grace.locator("#standing")).to_contain_text("Answered by you")
    ada.goto("/history?q=grace+alone")
    expect(ada.get_by_text("Nothing found")).to_be_visible()


def test_the_history_is_searched_and_turned_over(house: House, sign_in: SignIn) -> None:
    settler = Settler(person="ada", surface="browser")
    for number in range(53):
        ask = house.desk.leave(new_ask(text(f"Paginated {number:02}?")))
        house.desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=f"reply {number:02}")], settler)
    page = sign_in("/history", java_script_enabled=False)
    page.get_by_role("searchbox").fill("paginated")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".row-title").first).to_have_text("Paginated 52?")
    expect(page.locator(".row")).to_have_count(50)
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".row-title")).to_have_text(["Paginated 02?", "Paginated 01?", "Paginated 00?"])
    page.get_by_role("searchbox").fill("reply 17")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".row-title")).to_have_text(["Paginated 17?"])
    page.get_by_role("link", name="Paginated 17?").click()
    expect(page.locator(".said")).to_have_text("reply 17")


def test_an_ended_ask_of_any_kind_says_what_became_of_it(house: House, sign_in: SignIn) -> None:
    grace = Settler(person="grace", surface="terminal")
    page = sign_in()
    for settle, word in ((house.desk.decline, "Declined"), (house.desk.cancel, "Cancelled")):
        ask = house.ask(confirm())
        settle(ask.id, grace)
        page.goto(f"/asks/{ask.id}")
        expect(page.locator("#standing")).to_contain_text(f"{word} by grace in terminal")
        expect(page.get_by_role("button", name="Send answer")).to_have_count(0)
        page.get_by_text("Who asks, and what happened").click()
        expect(page.locator(".events")).to_contain_text(f"{word} by grace in terminal")
    assert house.desk.get(ask.id).state is State.CANCELLED
