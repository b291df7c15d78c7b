"""The page lives: what happens elsewhere appears, what a person has entered stays, the server may come and go."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect
from tests.e2e.browser.conftest import PHONE, NewContext, SignIn, sign_in_context
from tests.e2e.browser.streams import DEAF, go_deaf
from tests.e2e.clients.process import wait_until
from tests.e2e.stdio.pipe import MODERN
from tests.web.house import USER, WAIT, House, answers_of, confirm, multi_select, new_ask, select, text

from sayso.asks.model import Answer, Settler, State
from sayso.web.boards import DRAWN

pytestmark = pytest.mark.usefixtures("read_quickly")

SignInTo = Callable[..., Page]
ELSEWHERE = Settler(person="grace", surface="terminal")


def live(page: Page) -> Page:
    """The page once its event stream, or that of another tab, has told it what there is."""
    expect(page.locator("[data-count]")).to_have_text(re.compile("[0-9]"))
    return page


def half_fill(page: Page) -> None:
    page.get_by_role("textbox", name="Question 1").fill("half an ans")
    page.get_by_role("radio", name="Green").check()
    page.get_by_role("checkbox", name="Blue").last.check()


def is_half_filled(page: Page) -> None:
    expect(page.get_by_role("textbox", name="Question 1")).to_have_value("half an ans")
    expect(page.get_by_role("radio", name="Green")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Blue").last).to_be_checked()


# New asks


def test_a_new_ask_appears_without_a_reload(house: House, sign_in: SignIn) -> None:
    page = live(sign_in())
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    page.evaluate("window.untouched = true")
    house.ask(confirm("Is this seen at once?"))
    expect(page.get_by_role("link", name="Is this seen at once?")).to_be_visible()
    expect(page.get_by_text("Nothing waits for you")).to_be_hidden()
    expect(page).to_have_title("(1) Inbox · Sayso")
    expect(page.locator("[data-announce]")).to_contain_text("New question from claude-code in shop")
    assert page.evaluate("window.untouched")


def test_asks_stand_in_the_order_they_came_and_leave_when_they_are_settled(house: House, sign_in: SignIn) -> None:
    first, second = house.ask(confirm("First?")), house.ask(confirm("Second?"))
    page = live(sign_in())
    house.ask(confirm("Third?"))
    expect(page.locator("[data-inbox] .row-title")).to_have_text(["First?", "Second?", "Third?"])
    house.desk.reject(second.id, "", ELSEWHERE)
    expect(page.locator("[data-inbox] .row-title")).to_have_text(["First?", "Third?"])
    house.desk.reject(first.id, "", ELSEWHERE)
    expect(page).to_have_title("(1) Inbox · Sayso")


def test_a_new_ask_leaves_a_half_filled_form_as_it_is(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text(), select(), multi_select())
    page = live(sign_in(f"/asks/{ask.id}"))
    half_fill(page)
    box = page.get_by_role("textbox", name="Question 1")
    box.focus()
    form = page.locator("form[data-answer]").element_handle()
    house.ask(confirm("Something new?"))
    expect(page.locator(".beside").get_by_role("link", name="Something new?")).to_be_visible()
    is_half_filled(page)
    expect(box).to_be_focused()
    assert form.evaluate("form => form.isConnected"), "it is the very same form"


def test_the_focus_stays_on_an_ask_whose_row_is_renewed(house: House, sign_in: SignIn) -> None:
    held = house.hold(new_ask(confirm("Still there?")))
    page = live(sign_in())
    page.get_by_role("link", name="Still there?").focus()
    house.desk.release(held, "the client went away")
    expect(page.get_by_text("Not waiting")).to_be_visible()
    expect(page.get_by_role("link", name="Still there?")).to_be_focused()


def test_an_inbox_of_very_many_asks_is_shown_in_pages(house: House, sign_in: SignIn) -> None:
    asks = [house.desk.leave(new_ask(confirm(f"Number {number}?"))) for number in range(103)]
    page = live(sign_in())
    expect(page.locator("[data-inbox] .row")).to_have_count(100)
    expect(page).to_have_title("(100+) Inbox · Sayso")
    # That the page came with some of them, and fetched the others, is no news.
    expect(page.locator(".row.new")).to_have_count(0)
    expect(page.locator("[data-announce]")).to_be_empty()
    house.desk.reject(asks[50].id, "", ELSEWHERE)
    expect(page.locator("[data-inbox] .row-title").nth(50)).to_have_text("Number 51?")
    expect(page.locator("[data-inbox] .row-title").last).to_have_text("Number 100?")
    more = page.get_by_role("link", name="More questions")
    # Rows are laid out as one comes near them, by which what is below them moves.
    more.scroll_into_view_if_needed()
    expect(more).to_be_in_viewport()
    more.click()
    expect(page.locator(".row-title")).to_have_text(["Number 100?", "Number 101?", "Number 102?"])
    page.get_by_role("link", name="Number 102?").click()
    expect(page.locator(".beside .row")).to_have_count(100)


def test_what_a_long_inbox_came_without_is_a_link_away_where_there_are_no_scripts(
    house: House, sign_in: SignIn
) -> None:
    for number in range(103):
        house.desk.leave(new_ask(confirm(f"Number {number}?")))
    page = sign_in(java_script_enabled=False)
    rows = page.locator("[data-inbox] .row")
    expect(rows).to_have_count(DRAWN)
    # By its key: it moves while rows are laid out as one comes near them.
    page.get_by_role("link", name="More questions").press("Enter")
    expect(rows).to_have_count(100)
    expect(rows.nth(DRAWN)).to_be_in_viewport()
    expect(rows.first).not_to_be_in_viewport()
    page.get_by_role("link", name="More questions").press("Enter")
    expect(page.locator(".row-title")).to_have_text(["Number 100?", "Number 101?", "Number 102?"])


def test_of_a_long_inbox_only_what_came_after_its_page_is_news(house: House, sign_in: SignIn) -> None:
    for number in range(DRAWN + 2):
        house.desk.leave(new_ask(confirm(f"Number {number}?")))
    page = live(sign_in())

    def ask_first(route: Route) -> None:
        house.ask(confirm("Just now?"))
        route.continue_()

    page.route("**/events?*", ask_first, times=1)
    page.reload()
    expect(page.locator("[data-inbox] .row")).to_have_count(DRAWN + 3)
    expect(page.locator(".row.new .row-title")).to_have_text("Just now?")
    expect(page.locator("[data-announce]")).to_have_text(re.compile("^New question from .*: Just now\\?$"))


# What becomes of the ask that is being answered


def test_an_ask_answered_elsewhere_is_shown_with_its_answer_and_nothing_entered_is_lost(
    house: House, sign_in: SignIn
) -> None:
    ask = house.ask(text(), select(), multi_select())
    page = live(sign_in(f"/asks/{ask.id}"))
    half_fill(page)
    chosen = [
        Answer(question=question.id, text=f"from elsewhere {place}") for place, question in enumerate(ask.questions)
    ]
    house.desk.answer(ask.id, chosen, ELSEWHERE)
    expect(page.locator("#standing")).to_contain_text("Answered by grace in the terminal")
    expect(page.get_by_text("from elsewhere 0")).to_be_visible()
    expect(page.locator(".unsent")).to_contain_text("This was not sent.")
    expect(page.locator(".unsent .said")).to_have_text(["half an ans", "Green", "Blue"])
    expect(page.get_by_role("button", name="Send answers")).to_have_count(0)


def test_an_agent_that_stops_waiting_is_told_of_while_one_types(house: House, sign_in: SignIn) -> None:
    held = house.hold(new_ask(text(), select(), multi_select()))
    page = live(sign_in(f"/asks/{held.ask.id}"))
    expect(page.locator("#standing")).to_contain_text("claude-code waits for your answer.")
    half_fill(page)
    house.desk.release(held, "the client went away")
    expect(page.locator("#standing")).to_contain_text("claude-code is not waiting now. You can still answer")
    is_half_filled(page)


@pytest.mark.finding("F-88")
def test_a_form_that_stands_open_at_an_agent_and_an_agent_that_works_on_are_told_of(
    house: House, sign_in: SignIn
) -> None:
    page = live(sign_in())
    with house.place.pipe(program="sayso", environment={"SAYSO_FORMS": "always"}) as pipe:
        pipe.connect(MODERN, {"elicitation": {}})
        pipe.request("tools/call", name="ask_user", arguments={"question": "In a form?"})
        row = page.locator("[data-inbox] .row", has_text="In a form?")
        expect(row.locator(".pill")).to_have_text("In its form")
        left = {"question": "For later?", "nonBlocking": True}
        pipe.request("tools/call", name="ask_user", arguments=left)
        expect(page.locator("[data-inbox] .row", has_text="For later?").locator(".pill")).to_have_text("At work")
        page.get_by_role("link", name="In a form?").click()
        standing = page.locator("#standing")
        expect(standing).to_contain_text("tester shows this in a form of its own. You can answer here too")
        page.locator("form[data-answer] textarea").first.fill("Here")
        page.get_by_role("button", name="Send answer").click()
        expect(page.get_by_text("tester still shows its own form. It gets this when that is closed.")).to_be_visible()
        page.get_by_role("link", name="For later?").first.click()
        expect(standing).to_contain_text("tester went on without waiting.")
    expect(standing).to_contain_text("tester is not waiting now.")


def test_the_death_of_an_agents_process_is_noticed(own_house: House, sign_in_to: SignInTo) -> None:
    agent = subprocess.Popen(
        [Path(sys.executable).parent / "sayso", "ask", "--confirm", "Are you there?"],
        env=own_house.place.environment,
        cwd=own_house.place.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    page = sign_in_to(own_house)
    expect(page.locator("[data-inbox] .row-kind.waiting")).to_be_visible()
    agent.kill()
    agent.wait(30)
    expect(page.locator("[data-inbox] .pill")).to_have_text("Not waiting")


def test_a_timed_out_ask_says_so_and_is_answered_late(house: House, sign_in: SignIn) -> None:
    held = house.hold(new_ask(confirm(), timeout_ms=600_000))
    page = live(sign_in(f"/asks/{held.ask.id}"))
    expect(page.locator("#standing")).to_contain_text("Its wait ends in 9 minutes")
    house.desk.time_out(held)
    expect(page.locator("#standing")).to_contain_text("claude-code's wait ran out. You can still answer, late")
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you in the browser, after the agent's wait")
    expect(page.locator("#standing")).to_contain_text("It gets this when it asks the same again.")
    outcome = house.desk.get(held.ask.id).outcome
    assert outcome is not None
    assert outcome.late


def test_an_answer_taken_after_a_while_is_shown_as_taken(house: House, sign_in: SignIn) -> None:
    held = house.hold(new_ask(confirm()))
    page = live(sign_in(f"/asks/{held.ask.id}"))
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#standing")).to_contain_text("Waiting for claude-code to fetch it.")
    house.desk.delivered(held)
    expect(page.locator("#standing")).to_contain_text("claude-code received it.")


# Drafts


def test_a_draft_survives_an_immediate_reload(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text(), select(), multi_select())
    page = live(sign_in(f"/asks/{ask.id}"))
    half_fill(page)
    page.reload()
    is_half_filled(page)


def test_a_draft_goes_on_in_another_browser_even_without_script(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text(), select(), multi_select())
    page = live(sign_in(f"/asks/{ask.id}"))
    half_fill(page)
    page.get_by_text("Reject instead").click()
    page.get_by_label("Why?").fill("perhaps")
    expect(page.get_by_text("Kept as a draft")).to_be_visible()
    elsewhere = sign_in(f"/asks/{ask.id}", java_script_enabled=False)
    is_half_filled(elsewhere)
    expect(elsewhere.get_by_label("Why?")).to_have_value("perhaps")


def test_a_draft_is_nobody_elses_and_goes_with_the_answer(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text())
    page = live(sign_in(f"/asks/{ask.id}"))
    page.get_by_role("textbox", name="Question").fill("a secret thought")
    expect(page.get_by_text("Kept as a draft")).to_be_visible()
    other = sign_in(f"/asks/{ask.id}", user="grace")
    expect(other.get_by_role("textbox", name="Question")).to_have_value("")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    assert house.desk.draft(ask.id, "ada") == ""
    assert page.evaluate("Object.keys(localStorage).filter(key => key.includes(':draft:'))") == []


# Two people, many tabs


@pytest.mark.parametrize("script", [True, False])
def test_of_two_browsers_that_send_at_once_one_wins_and_the_other_is_told(
    house: House, sign_in: SignIn, script: bool
) -> None:
    ask = house.ask(select())
    ada = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    grace = sign_in(f"/asks/{ask.id}", user="grace", java_script_enabled=script)
    if script:
        # As if nothing had told her page yet.
        grace.route("**/events?*", lambda route: route.abort())
        grace.reload()
        # Else that may move what she clicks on, and a click on what has just moved is not taken.
        expect(grace.get_by_text("The server is away.")).to_be_visible()
        for page in (ada, grace):
            expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
    ada.get_by_text("Red", exact=True).click()
    grace.get_by_text("Blue", exact=True).click()
    ada.get_by_role("button", name="Send answer").click()
    expect(ada.locator("#standing")).to_contain_text("Answered by you")
    grace.get_by_role("button", name="Send answer").click()
    expect(grace.get_by_role("alert")).to_contain_text("Not sent. It was answered by ada in the browser already.")
    expect(grace.locator("#standing")).to_contain_text("Answered by ada in the browser")
    expect(grace.locator(".unsent .said")).to_have_text("Blue")
    assert answers_of(house.desk.get(ask.id))[0].chosen == ("option 0",)


def test_of_many_who_answer_in_the_same_moment_exactly_one_wins(house: House) -> None:
    ask = house.ask(select())
    tokens = {user: house.session(user) for user in (f"user{number}" for number in range(8))}

    def answer(user: str) -> int:
        given = {"answers": [{"question": ask.questions[0].id, "chosen": ["option 1"]}]}
        headers = {"Authorization": f"Bearer {tokens[user]}"}
        return house.web.call("POST", f"/api/asks/{ask.id}/answer", data=given, headers=headers).status

    with ThreadPoolExecutor(8) as people:
        assert sorted(people.map(answer, tokens)) == [200] + [409] * 7


def test_ten_tabs_share_one_event_stream_and_all_of_them_live(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    streams = count_streams(context)
    tabs = [context.new_page() for _ in range(10)]
    for tab in tabs:
        tab.goto("/")
    live(tabs[0])
    house.ask(confirm("Seen in every tab?"))
    for tab in tabs:
        expect(tab.get_by_role("link", name="Seen in every tab?")).to_be_visible()
    assert len(streams) == 1
    leader = next(tab for tab in tabs if tab == streams[0].frame.page)
    leader.close()
    house.ask(confirm("And when that tab is closed?"))
    for tab in tabs:
        if tab != leader:
            expect(tab.get_by_role("link", name="And when that tab is closed?")).to_be_visible()
    assert len(streams) == 2, "one other tab took over"


def count_streams(context: BrowserContext) -> list[Request]:
    streams: list[Request] = []
    context.on("request", lambda request: streams.append(request) if "/events?" in request.url else None)
    return streams


def test_a_tab_that_opens_later_is_told_what_the_others_know(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    first = context.new_page()
    first.goto("/")
    live(first)
    house.ask(confirm("Known already?"))
    expect(first.get_by_role("link", name="Known already?")).to_be_visible()
    second = context.new_page()
    second.goto("/settings")
    expect(second.locator("[data-count]")).to_have_text("1")


def test_a_tab_that_is_looked_at_does_not_wait_for_one_that_sleeps(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    sleeper, page = context.new_page(), context.new_page()
    sleeper.goto("/")
    live(sleeper)
    context.new_cdp_session(sleeper).send("Page.setWebLifecycleState", {"state": "frozen"})
    page.goto("/")
    house.ask(confirm("Is anybody awake?"))
    expect(page.get_by_role("link", name="Is anybody awake?")).to_be_visible()
    house.ask(confirm("Still awake?"))
    expect(page.get_by_role("link", name="Still awake?")).to_be_visible()


def test_where_a_browser_has_no_locks_each_visible_tab_lives_by_itself(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    context.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto("/")
        live(tab)
    house.ask(confirm("Without locks?"))
    for tab in tabs:
        expect(tab.get_by_role("link", name="Without locks?")).to_be_visible()


# The server comes and goes


def test_a_server_restarted_in_the_middle_of_a_form_takes_the_answer(own_house: House, sign_in_to: SignInTo) -> None:
    ask = own_house.ask(text(), select(), multi_select())
    page = live(sign_in_to(own_house, f"/asks/{ask.id}"))
    half_fill(page)
    own_house.web.stop(signal.SIGKILL)
    expect(page.get_by_text("The server is away.")).to_be_visible()
    page.get_by_role("textbox", name="Question 1").press_sequentially("wer")
    page.get_by_role("button", name="Send answers").click()
    expect(page.get_by_role("alert")).to_contain_text("It is not known whether this arrived.")
    own_house.restart()
    expect(page.get_by_text("The server is away.")).to_be_hidden()
    expect(page.get_by_role("alert")).to_contain_text("Not sent. It did not arrive. What you entered is still here")
    own_house.ask(confirm("Asked meanwhile?"))
    expect(page.locator(".beside").get_by_role("link", name="Asked meanwhile?")).to_be_visible()
    page.get_by_role("button", name="Send answers").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you in the browser")
    first, second, third = answers_of(own_house.desk.get(ask.id))
    assert (first.text, second.chosen, third.chosen) == ("half an answer", ("option 1",), ("option 2",))


def test_what_was_typed_without_a_network_is_on_the_server_soon_after_without_another_word(
    house: House, sign_in: SignIn
) -> None:
    ask = house.ask(text("Which words?"))
    page = sign_in(f"/asks/{ask.id}", **PHONE)
    field, note = page.get_by_role("textbox", name="Question"), page.locator("[data-draft-note]")
    field.fill("abc")
    expect(note).to_have_text("Kept as a draft")
    page.context.set_offline(True)
    field.press_sequentially(" def")
    expect(note).to_have_text("Kept in this browser only, because the server cannot be reached")
    page.context.set_offline(False)
    expect(note).to_have_text("Kept as a draft")
    assert "abc def" in str(house.desk.draft(ask.id, USER))


def test_what_was_entered_while_the_server_was_away_survives_a_reload(own_house: House, sign_in_to: SignInTo) -> None:
    ask = own_house.ask(text())
    page = live(sign_in_to(own_house, f"/asks/{ask.id}"))
    own_house.web.stop(signal.SIGKILL)
    expect(page.get_by_text("The server is away.")).to_be_visible()
    page.get_by_role("textbox", name="Question").fill("typed in the dark")
    own_house.restart()
    page.goto(f"{own_house.web.address}/asks/{ask.id}")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("typed in the dark")


TELL_THE_NOTE = """
const note = document.querySelector("[data-draft-note]");
new MutationObserver(() => console.log(note.textContent)).observe(note, { childList: true });
"""


def test_what_was_entered_last_is_there_though_the_next_page_was_made_before_it_was_kept(
    house: House, sign_in: SignIn
) -> None:
    ask = house.ask(text())
    page = live(sign_in(f"/asks/{ask.id}"))
    before = page.evaluate("fetch(location).then((reply) => reply.text())")
    page.evaluate(TELL_THE_NOTE)
    held: dict[str, Route] = {}
    page.route(re.compile(f"/asks/{ask.id}"), lambda route: held.update({route.request.method: route}))
    page.get_by_role("textbox", name="Question").fill("typed at the last moment")
    assert wait_until(lambda: bool(page.context.cookies() and "POST" in held), WAIT)
    page.evaluate("setTimeout(() => location.reload())")
    assert wait_until(lambda: bool(page.context.cookies() and "GET" in held), WAIT)
    with page.expect_console_message(lambda message: message.text == "Kept as a draft"):
        held["POST"].continue_()
    with page.expect_event("domcontentloaded"):
        held["GET"].fulfill(body=before, content_type="text/html; charset=utf-8")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("typed at the last moment")


def test_what_was_entered_in_the_dark_for_an_ask_that_ended_is_shown_as_not_sent(
    own_house: House, sign_in_to: SignInTo
) -> None:
    ask = own_house.ask(text())
    page = live(sign_in_to(own_house, f"/asks/{ask.id}"))
    own_house.web.stop(signal.SIGKILL)
    expect(page.get_by_text("The server is away.")).to_be_visible()
    page.get_by_role("textbox", name="Question").fill("too late, but not lost")
    own_house.desk.reject(ask.id, "", ELSEWHERE)
    page.close()
    own_house.restart()
    again = page.context.new_page()
    again.goto(f"/asks/{ask.id}")
    expect(again.locator(".unsent .said")).to_have_text("too late, but not lost")


def test_a_stream_that_dies_without_a_word_is_noticed_by_its_silence(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    context.add_init_script(DEAF)
    page = context.new_page()
    page.clock.install()
    ask = house.ask(confirm())
    page.goto(f"/asks/{ask.id}")
    live(page)
    go_deaf(page)
    house.desk.reject(ask.id, "", ELSEWHERE)
    page.clock.fast_forward(40_000)
    expect(page.locator("#standing")).to_contain_text("Rejected by grace in the terminal")


def test_a_server_that_does_not_answer_at_all_is_told_of(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    context.add_init_script(DEAF)
    page = context.new_page()
    page.clock.install()
    page.goto("/")
    live(page)
    held: list[Route] = []
    page.route("**/events?*", lambda route: held.append(route))
    go_deaf(page)
    page.clock.fast_forward(40_000)
    expect(page.get_by_text("The server is away.")).to_be_visible()
    page.unroute_all()
    page.clock.fast_forward(20_000)
    expect(page.get_by_text("The server is away.")).to_be_hidden()


def test_a_look_that_fails_is_made_again_without_another_event(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm())
    page = live(sign_in(f"/asks/{ask.id}"))
    page.route(f"**/asks/{ask.id}", lambda route: route.abort())
    house.desk.reject(ask.id, "", ELSEWHERE)
    expect(page.get_by_text("The server is away.")).to_be_visible()
    page.unroute_all()
    expect(page.locator("#standing")).to_contain_text("Rejected by grace in the terminal")
    expect(page.get_by_text("The server is away.")).to_be_hidden()


def test_nothing_that_happened_while_the_stream_was_cut_is_missed(own_house: House, sign_in_to: SignInTo) -> None:
    gone, stays = own_house.ask(confirm("Goes away?")), own_house.ask(confirm("Stays?"))
    page = live(sign_in_to(own_house))
    own_house.web.stop()
    own_house.desk.reject(gone.id, "", ELSEWHERE)
    own_house.ask(confirm("Came meanwhile?"))
    own_house.restart()
    expect(page.locator("[data-inbox] .row-title")).to_have_text(["Stays?", "Came meanwhile?"])
    assert own_house.desk.get(stays.id).state is State.PENDING


def test_a_stopping_server_ends_its_streams_at_once_and_leaves_nothing_behind(
    own_house: House, sign_in_to: SignInTo
) -> None:
    live(sign_in_to(own_house))
    bells = own_house.place.state / "bell"
    assert wait_until(lambda: bool(own_house.desk.open_surfaces()), WAIT)
    assert [surface.surface for surface in own_house.desk.open_surfaces()] == ["browser"]
    before = set(os.listdir(bells))
    assert own_house.web.stop(signal.SIGINT) == 0
    assert "Traceback" not in own_house.web.said
    assert own_house.desk.open_surfaces() == []
    assert len(set(os.listdir(bells))) == len(before) - 1
    assert not any(own_house.place.config().web_addresses_dir.iterdir())


# Being told


def test_the_badge_counts_what_is_open(house: House, new_context: NewContext) -> None:
    context = new_context(base_url=house.web.address)
    sign_in_context(context, house)
    context.add_init_script("navigator.setAppBadge = async count => { window.badge = count; }")
    page = context.new_page()
    page.goto("/")
    ask = house.ask(confirm())
    page.wait_for_function("() => window.badge === 1")
    house.desk.reject(ask.id, "", ELSEWHERE)
    page.wait_for_function("() => window.badge === 0")


def test_the_page_can_be_installed(house: House, sign_in: SignIn) -> None:
    page = sign_in()
    manifest = json.loads(house.web.call("GET", "/manifest.webmanifest").text)
    assert (manifest["start_url"], manifest["display"]) == ("./", "standalone")
    fetched = "async src => { const got = await fetch(src); return [got.status, got.headers.get('content-type')]; }"
    for icon in manifest["icons"]:
        assert page.evaluate(fetched, icon["src"]) == [200, icon["type"]]
    client = page.context.new_cdp_session(page)
    problems = {error["errorId"] for error in client.send("Page.getInstallabilityErrors")["installabilityErrors"]}
    assert problems <= {"in-incognito"}, "nothing but that the tests' browsers forget everything"
