"""Two tabs of one person: what is sent in one never takes from the other what was written there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import SignIn
from tests.e2e.browser.test_live import live
from tests.e2e.browser.test_meant import HANGING
from tests.web.house import USER, House, select, text

from sayso.asks.draft import Said, from_json, to_json
from sayso.records import replace


@pytest.mark.finding("F-53")
def test_a_second_tab_keeps_its_words_when_the_first_one_sends(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text())
    first = live(sign_in(f"/asks/{ask.id}"))
    second = first.context.new_page()
    second.goto(f"/asks/{ask.id}")
    live(second)
    second.get_by_role("textbox", name="Question").fill("A long thought of the second tab")
    expect(second.locator("[data-draft-note]")).to_have_text("Kept as a draft")
    # What it sends is what was entered there alone.
    first.evaluate(HANGING)
    first.get_by_role("textbox", name="Question").fill("Short")
    first.get_by_role("button", name="Send answer").click()
    expect(first.locator("#standing")).to_contain_text("Answered by you")
    expect(second.locator("#standing")).to_contain_text("Answered by you")
    unsent = second.locator(".unsent")
    expect(unsent).to_contain_text("This was not sent.")
    expect(unsent).to_contain_text("A long thought of the second tab")
    second.reload()
    expect(unsent).to_contain_text("A long thought of the second tab")


def test_what_is_entered_in_two_places_stands_in_both(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Which town?", "Ulm", "Bonn"))
    page = live(sign_in(f"/asks/{ask.id}"))
    words, note = page.locator("[data-own]"), page.locator("[data-draft-note]")
    words.fill("Own town")
    expect(note).to_have_text("Kept as a draft")
    terminal = from_json(ask, house.desk.draft(ask.id, USER))
    question = ask.questions[0]
    more = Said(text="Own town and three long sentences", own=True, note="by Monday")
    house.desk.keep_draft(ask.id, USER, to_json(ask, replace(terminal.put(question, more), unclear="Which river?")))
    words.press("End")
    words.press_sequentially("!")
    expect(words).to_have_value("Own town and three long sentences!")
    expect(page.locator("[name=q0-note]")).to_have_value("by Monday")
    told = "You had entered more elsewhere: it stands here now as well"
    expect(note).to_have_text(f"Kept as a draft. {told}")
    words.press_sequentially("?")
    expect(note).to_have_text(f"Kept as a draft. {told}")
    kept = from_json(ask, house.desk.draft(ask.id, USER))
    assert kept.of(question).text == "Own town and three long sentences!?"
    assert kept.of(question).note == "by Monday"
    assert kept.unclear == "Which river?"
