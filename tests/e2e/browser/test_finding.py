"""Found as one types, in place, and without a script by the form; and what a row of the history says."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import SignIn
from tests.e2e.browser.test_meant import permission
from tests.web.house import House, confirm, select, text

from sayso.asks.model import Answer, Settler
from sayso.permissions.desk import PermissionDesk

ADA, GRACE = Settler(person="ada", surface="browser"), Settler(person="grace", surface="terminal")


def past(house: House, fruit: str) -> None:
    ask = house.ask(select(f"Which {fruit} for the cake?", "Apple", "Pear", "Plum"))
    house.desk.answer(ask.id, [Answer(question=ask.questions[0].id, chosen=("option 1",))], ADA)


def say(page: Page, words: str) -> None:
    page.get_by_role("searchbox").press_sequentially(words)


def test_the_history_says_what_was_decided_by_whom_and_what_else_could_have_been(house: House, sign_in: SignIn) -> None:
    past(house, "passionfruit")
    other = house.ask(select("Which tea at noon?", "Green", "Black"))
    house.desk.reject(other.id, "None at all", GRACE)
    never = house.ask(confirm("Drop the sugar?"))
    house.desk.reject(never.id, "", GRACE)
    PermissionDesk(house.desk).deny(permission(house, "rm -rf teapots").id, GRACE, "They are full")
    page = sign_in("/history?q=for+the+cake")
    row = page.locator(".row", has_text="Which passionfruit for the cake?")
    expect(row.locator(".row-said")).to_have_text("Pear")
    expect(row.locator(".row-not")).to_have_text("not chosen: Apple, Plum")
    expect(row).to_contain_text("by you in the browser")
    page.goto("/history?q=tea+at+noon")
    row = page.locator(".row", has_text="Which tea at noon?")
    expect(row.locator(".row-said")).to_have_text("None at all")
    expect(row.locator(".row-not")).to_have_text("offered: Green, Black")
    expect(row).to_contain_text("by grace in the terminal")
    page.goto("/history?q=teapots")
    expect(page.locator(".row .row-said").first).to_have_text("They are full")
    page.goto(f"/asks/{never.id}")
    expect(page.get_by_role("list", name="Offered").get_by_role("listitem")).to_have_text(["Yes", "No"])


def test_the_history_is_searched_as_one_types(house: House, sign_in: SignIn) -> None:
    for fruit in ("quince", "medlar"):
        past(house, fruit)
    page = sign_in("/history")
    say(page, "quince")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("[data-found]")).to_have_text("1 found.")
    expect(page.get_by_role("searchbox")).to_be_focused()
    assert page.url.endswith("history?q=quince")
    say(page, " that nobody has")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    expect(page.locator("[data-found]")).to_have_text("Nothing found.")
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".row", has_text="medlar").first).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_the_inbox_is_searched_by_words_and_by_agent(house: House, sign_in: SignIn, script: bool) -> None:
    for number in range(6):
        house.ask(text(f"Ordinary {number}?"))
    house.ask(confirm("Rename the zebra?"))
    page = sign_in(java_script_enabled=script)
    rows = page.locator(".row").locator("visible=true")
    expect(rows).to_have_count(7)
    say(page, "ZEBRA")
    if not script:
        page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    expect(rows.get_by_role("button", name="Yes")).to_be_visible()
    page.get_by_role("searchbox").fill("claude")
    if not script:
        page.get_by_role("button", name="Search").click()
        expect(rows).to_have_count(7)
        return
    expect(page.locator("[data-found]")).to_have_text("7 found.")
    # What comes meanwhile is found as well, and what is cleared shows all again.
    house.ask(confirm("One more?"))
    expect(rows).to_have_count(8)
    page.get_by_role("searchbox").fill("")
    expect(page.locator("[data-inbox] > .row")).to_have_count(8)
    expect(rows).to_have_count(8)


@pytest.mark.parametrize("script", [True, False])
def test_a_sample_question_is_asked_answered_and_told_as_received(house: House, sign_in: SignIn, script: bool) -> None:
    user = "newcomer" if script else "beginner"
    page = sign_in(user=user, java_script_enabled=script)
    page.get_by_role("button", name="Try a sample question").click()
    row = page.locator(".row", has_text="This is a sample question")
    expect(row).to_contain_text("Sayso sample")
    (ask,) = house.desk.inbox(person=user)
    assert not ask.is_permission
    assert ask.attended
    assert house.desk.inbox(person="somebody else") == []
    page.goto(f"/asks/{ask.id}")
    page.get_by_label("Pear").check()
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Sayso sample received it.")).to_be_visible()


def test_single_keys_are_off_for_who_has_turned_them_off(house: House, sign_in: SignIn) -> None:
    house.ask(confirm("Really?"))
    page = sign_in("/settings")
    keys = page.get_by_role("group", name="Keys such as j, y and 1")
    keys.get_by_label("Off").check()
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_text("Saved for this browser.")).to_be_visible()
    expect(keys.get_by_label("Off")).to_be_checked()
    page.goto("/")
    expect(page.locator("[data-count]")).to_have_text("1")
    for key in "jkyn1xz/?":
        page.keyboard.press(key)
    expect(page.locator("dialog, [data-marked], [data-held-of]")).to_have_count(0)
    assert page.url.endswith("/")
    page.goto("/settings")
    keys.get_by_label("On").check()
    page.get_by_role("button", name="Save").first.click()
    page.goto("/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
