"""Whose asks are on which page, and finding them again."""

from __future__ import annotations

import pytest
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


@pytest.mark.finding("F-70")
def test_agents_of_the_same_name_in_one_project_have_rows_that_differ(house: House, sign_in: SignIn) -> None:
    for session in ("0199-aaaaaa", "0199-bbbbbb", "0199-\u202ecccc"):
        house.ask(confirm(), asker=Asker(client="codex", project="/home/ada/shop", session=session))
    facts = sign_in().locator("[data-inbox] .row-facts")
    expect(facts).to_have_count(3)
    expect(facts.nth(0)).to_contain_text("session aaaaaa")
    expect(facts.nth(1)).to_contain_text("session bbbbbb")
    assert "\u202e" not in facts.nth(2).inner_text()
