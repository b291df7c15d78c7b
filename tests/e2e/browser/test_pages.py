"""Whose asks are on which page, and finding them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_live import live
from tests.web.house import House, confirm, new_ask, new_house, text

from sayso.asks.crowds import short_name
from sayso.asks.model import Answer, Asker, Settler, State
from sayso.records import replace

ELSEWHERE = Settler(person="grace", surface="terminal")


def test_asks_of_somebody_else_are_on_no_page(house: House, sign_in: SignIn) -> None:
    asker = Asker(client="codex", owner="grace")
    ask = house.hold(new_ask(confirm("For grace alone?"), asker=asker)).ask
    grace, ada = sign_in(user="grace"), sign_in()
    expect(grace.get_by_text("For grace alone?")).to_be_visible()
    expect(ada.get_by_text("Nothing waits for you")).to_be_visible()
    assert ada.goto(f"/asks/{ask.id}").status == 404  # type: ignore[union-attr]
    grace.get_by_role("link", name="For grace alone?").click()
    grace.wait_for_url(f"**/asks/{ask.id}")
    grace.get_by_role("button", name="Yes").click()
    expect(grace.locator("#standing")).to_contain_text("Answered by you")
    ada.goto("/history?q=grace+alone")
    expect(ada.get_by_text("Nothing found")).to_be_visible()


def test_the_history_is_searched_and_turned_over(house: House, sign_in: SignIn) -> None:
    settler, word = Settler(person="ada", surface="browser"), f"paginated-{uuid4()}"
    for number in range(53):
        ask = house.desk.leave(new_ask(text(f"{word} {number:02}?")))
        house.desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=f"{word} reply {number:02}")], settler)
    page = sign_in("/history", java_script_enabled=False)
    page.get_by_role("searchbox").fill(word.upper())
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/history?q=PAGINATED*")
    expect(page.locator(".row-title").first).to_have_text(f"{word} 52?")
    expect(page.locator(".row")).to_have_count(50)
    # Not clicked: a browser may lose a click on a page that it has only just begun to show.
    page.goto(f"/{page.get_by_role('link', name='Older').get_attribute('href')}")
    expect(page.locator(".row-title")).to_have_text([f"{word} 02?", f"{word} 01?", f"{word} 00?"])
    page.get_by_role("searchbox").fill(f"{word} reply 17")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".row-title")).to_have_text([f"{word} 17?"])
    page.get_by_role("link", name=f"{word} 17?").click()
    expect(page.locator(".said")).to_have_text(f"{word} reply 17")


def test_an_ended_ask_of_any_kind_says_what_became_of_it(house: House, sign_in: SignIn) -> None:
    grace = Settler(person="grace", surface="terminal")
    page = sign_in()
    for settle, word in ((house.desk.decline, "Declined"), (house.desk.cancel, "Cancelled")):
        ask = house.ask(confirm())
        settle(ask.id, grace)
        page.goto(f"/asks/{ask.id}")
        expect(page.locator("#standing")).to_contain_text(f"{word} by grace in the terminal")
        expect(page.get_by_role("button", name="Send answer")).to_have_count(0)
        page.get_by_text("Who asks, and what happened").click()
        expect(page.locator(".events")).to_contain_text(f"{word} by grace in the terminal")
    assert house.desk.get(ask.id).state is State.CANCELLED


NOISY = Asker(client="noisy", project="/home/ada/loop", host="h", pid=7, started="1")


@pytest.fixture(scope="module")
def flooded() -> Iterator[House]:
    """A machine on which one agent has thousands of asks open."""
    with new_house() as house:
        house.flood(NOISY, 3000)
        permission = new_ask(confirm("May I delete it?"), title="Bash: rm -rf build", asker=NOISY)
        house.hold(replace(permission, bound=True))
        yield house


@pytest.mark.finding("F-34")
@pytest.mark.parametrize("screen", [{}, PHONE, {"java_script_enabled": False}], ids=["desk", "phone", "plain"])
def test_an_agent_with_thousands_open_is_one_row_that_opens(
    flooded: House, sign_in_to: Callable[..., Page], screen: dict[str, Any]
) -> None:
    honest = flooded.ask(confirm("An honest question?"))
    page = sign_in_to(flooded, **screen)
    rows = page.locator("[data-inbox] .row")
    expect(rows).to_have_count(3)
    # What it wants to do is never folded away.
    expect(page.get_by_role("link", name="Bash: rm -rf build")).to_be_in_viewport()
    expect(page.get_by_role("link", name="An honest question?")).to_be_in_viewport()
    crowd = page.locator(".row.crowd")
    expect(crowd).to_contain_text("noisy in loop")
    expect(crowd).to_contain_text("3,000 questions")
    if screen.get("java_script_enabled", True):
        expect(page.locator("[data-count]")).to_have_text("3")
        expect(page).to_have_title("(3) Inbox · Sayso")
    crowd.get_by_role("link").click()
    expect(page.get_by_role("heading", name="noisy in loop")).to_be_visible()
    expect(page.locator("main .row")).to_have_count(100)
    page.get_by_role("link", name="More questions").click()
    expect(page.locator("main .row").first).to_contain_text("Noise 100?")
    page.get_by_role("link", name="Noise 100?").click()
    expect(page.locator("[data-ask-page]")).to_contain_text("Noise 100?")
    flooded.desk.cancel(honest.id, ELSEWHERE)


def test_who_works_through_what_one_agent_has_open_stays_with_that_one(house: House, sign_in: SignIn) -> None:
    house.ask(confirm("Somebody else's?"))
    for number in range(7):
        house.desk.leave(new_ask(text(f"Name {number}?"), asker=NOISY))
    page = sign_in()
    page.locator(".row.crowd").get_by_role("link").click()
    page.get_by_role("link", name="Name 0?").click()
    page.get_by_role("textbox", name="Name 0?").fill("Quiet!")
    page.get_by_role("button", name="Send answer").click()
    page.get_by_role("link", name="Next question").click()
    expect(page.get_by_role("textbox", name="Name 1?")).to_be_visible()
    page.get_by_role("link", name="‹ noisy").click()
    expect(page.locator("main .row")).to_have_count(6)


@pytest.mark.finding("F-34")
def test_a_row_for_many_stays_folded_and_counts_while_they_come_and_go(house: House, sign_in: SignIn) -> None:
    # Not the agent of an earlier try: it would be told what became of the same questions then.
    noisy = replace(NOISY, host=uuid4().hex)
    house.flood(noisy, 5)
    page = sign_in()
    rows, crowd = page.locator("[data-inbox] .row"), page.locator(".row.crowd")
    expect(rows).to_have_count(5)
    news = house.desk.leave(new_ask(text("Noise 5?"), asker=noisy))
    expect(rows).to_have_count(1)
    expect(crowd).to_contain_text("6 questions")
    expect(page.locator("[data-announce]")).to_have_text("noisy in loop has 6 questions open")
    page.evaluate("document.querySelector('[data-announce]').textContent = 'Quiet'")
    house.desk.leave(new_ask(text("Noise 6?"), asker=noisy))
    expect(crowd).to_contain_text("7 questions")
    expect(crowd).to_contain_text("Noise 6?")
    expect(page.locator("[data-announce]")).to_have_text("Quiet")
    crowd.get_by_role("link").click()
    expect(page.locator("main .row")).to_have_count(7)
    house.desk.cancel(news.id, ELSEWHERE)
    expect(page.locator("main .row")).to_have_count(6)
    expect(page.locator(".page-head")).to_contain_text("6 questions open")
    page.get_by_role("link", name="Noise 0?").click()
    expect(page.locator("#standing")).to_contain_text("At work")
    (first, *_) = [ask for ask in house.desk.inbox() if ask.questions[0].text == "Noise 0?"]
    house.desk.cancel(first.id, ELSEWHERE)
    expect(page.locator("#standing")).to_contain_text("Cancelled by grace")
    expect(page.locator("[data-inbox] .row")).to_have_count(5)
    expect(page.locator("[data-announce]")).to_have_text("")
    page.goto(f"/crowds/{short_name(noisy.crowd)}")
    expect(page.locator("main .row")).to_have_count(5)
    for ask in house.desk.inbox():
        house.desk.cancel(ask.id, ELSEWHERE)
    expect(page.get_by_role("heading", name="Nothing open")).to_be_visible()


def test_what_comes_between_a_page_and_its_stream_is_told_as_news(house: House, sign_in: SignIn) -> None:
    page = live(sign_in())

    def ask_first(route: Route) -> None:
        house.ask(confirm("In between?"))
        route.continue_()

    page.route("**/events*", ask_first, times=1)
    page.reload()
    expect(page.locator("[data-announce]")).to_have_text("New question from claude-code in shop: In between?")


@pytest.mark.finding("F-70")
def test_agents_of_the_same_name_in_one_project_have_rows_that_differ(house: House, sign_in: SignIn) -> None:
    for session in ("0199-aaaaaa", "0199-bbbbbb", "0199-\u202ecccc"):
        branch = f"fix/{session}"
        asker = Asker(client="codex", project="/home/ada/shop", session=session, branch=branch)
        house.ask(confirm(), asker=asker)
    page = sign_in()
    who = page.locator("[data-inbox] .row-who")
    expect(who.nth(0)).to_have_text("codex in shop on fix/0199-aaaaaa")
    assert "\u202e" not in who.nth(2).inner_text()
    facts = page.locator("[data-inbox] .row-facts")
    expect(facts).to_have_count(3)
    expect(facts.nth(0)).to_contain_text("session aaaaaa")
    expect(facts.nth(1)).to_contain_text("session bbbbbb")
    assert "\u202e" not in facts.nth(2).inner_text()
    page.locator("[data-inbox] .row a").nth(1).click()
    expect(page.locator(".eyebrow")).to_contain_text("codex (session bbbbbb) in shop on fix/0199-bbbbbb asked")
    page.get_by_text("Who asks, and what happened").click()
    expect(page.locator(".about")).to_contain_text("fix/0199-bbbbbb")
