"""The agents at work on the page, and the switch by which a person is away or back."""

from __future__ import annotations

from contextlib import closing

import pytest
from playwright.sync_api import expect
from tests.asks.samples import living
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_live import live
from tests.web.house import House, confirm, new_ask

from sayso.asks.model import Asker, Settler
from sayso.desks import open_desks
from sayso.records import replace

pytestmark = pytest.mark.usefixtures("read_quickly")

ADA = Settler(person="ada", surface="terminal")


def at_work(house: House, session: str, doing: str) -> Asker:
    """An agent that lives as long as this test."""
    asker = living(session=session, project="/home/ada/shop", branch="main")
    with closing(open_desks(house.place.config())) as desks:
        desks.roster.note_gate(asker, doing)
    return asker


@pytest.mark.finding("F-70")
def test_agents_at_work_are_told_apart_and_lead_to_what_they_ask(house: House, sign_in: SignIn) -> None:
    first = at_work(house, "session-of-111111", "Bash: npm test <b>bold</b>")
    at_work(house, "session-of-222222", "")
    page = live(sign_in("/agents", **PHONE))
    rows = page.locator("[data-agents] > .row")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="session 111111")).to_contain_text("Last: Bash: npm test <b>bold</b>")
    # They stand beside the conversations of Talk as well, and are live there.
    talk = live(sign_in("/talk"))
    elsewhere = talk.locator(".in-terminals").get_by_role("listitem")
    expect(elsewhere).to_have_count(2)
    at_work(house, "session-of-222222", "")
    asked = house.hold(new_ask(confirm("Shall I deploy?"), asker=replace(first, session="session-of-222222"))).ask
    expect(rows.first).to_contain_text("Waits for you")
    expect(rows.first).to_contain_text("Shall I deploy?")
    expect(elsewhere.first).to_contain_text("Shall I deploy?")
    expect(elsewhere).to_have_count(2)
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="claude-code in shop")).to_be_visible()
    page.get_by_role("link", name="Shall I deploy?").first.click()
    expect(page).to_have_url(f"{house.address_of()}/asks/{asked.id}")


def test_how_much_an_agent_has_open_is_told_however_much_that_is(house: House, sign_in: SignIn) -> None:
    asker = replace(at_work(house, "session-of-333333", ""), leader="3")
    for number in range(7):
        house.hold(new_ask(confirm(f"Number {number}?"), asker=asker))
    # The page itself, and what keeps it up.
    page = sign_in("/agents", java_script_enabled=False)
    expect(page.locator("[data-agents] > .row", has_text="333333")).to_contain_text("7 open")
    page = live(sign_in("/agents"))
    row = page.locator("[data-agents] > .row", has_text="333333")
    expect(row).to_contain_text("7 open")
    house.hold(new_ask(confirm("One more?"), asker=asker))
    expect(row).to_contain_text("8 open")
    expect(row).to_contain_text("Waits for you")


def test_the_switch_says_away_and_back_on_every_tab(house: House, sign_in: SignIn) -> None:
    page = live(sign_in("/"))
    other = page.context.new_page()
    live_other = other.locator("[data-absent]")
    other.goto("/history")
    page.get_by_role("button", name="I’m away").click()
    for banner in (page.locator("[data-absent]"), live_other):
        expect(banner).to_contain_text("You are away since")
    with closing(open_desks(house.place.config())) as desks:
        assert desks.presence.absence("ada")
    other.get_by_role("button", name="I’m back").click()
    for banner in (page.locator("[data-absent]"), live_other):
        expect(banner).to_be_hidden()
    expect(page.get_by_role("button", name="I’m away")).to_be_visible()
