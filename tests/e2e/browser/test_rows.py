"""Answered and rejected from the list: by one tap or one key, with time to undo it, and never by accident."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_meant import permission
from tests.e2e.clients.process import wait_until
from tests.web.house import USER, WAIT, House, answers_of, confirm, select

from sayso.asks.draft import Draft, to_json
from sayso.asks.model import CLIENT_FORM, Ask, Asker, Settler, State
from sayso.permissions.verdict import Decision, verdict_of

UNDO = 5_100
"""Milliseconds after which nothing can be undone any more."""
STILL = 800
"""Milliseconds for which something must have been there to be pressed."""

WHOLE = "one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight"


def inbox(sign_in: SignIn, **options: object) -> Page:
    """An inbox whose rows can be pressed, and whose clock the test can put forward."""
    page = sign_in("/healthz", **options)
    page.clock.install()
    page.goto("/")
    expect(page.locator("[data-count]")).to_be_visible()
    expect(page.locator("[data-inbox] [data-guard][aria-disabled=true]")).to_have_count(0)
    return page


def stop_the_clock(page: Page) -> None:
    """From here on time goes by where the test says so. What is there can be pressed."""
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    for _ in range(100):
        page.clock.run_for(STILL)
        if page.locator("[data-guard][aria-disabled=true]").count() == 0:
            return


def row_of(page: Page, words: str) -> Locator:
    return page.locator("[data-inbox] > .row", has_text=words)


def middle(control: Locator) -> tuple[float, float]:
    box = control.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def settled(house: House, ask: Ask) -> Ask:
    """Once it is."""
    wait_until(lambda: house.desk.get(ask.id).state is not State.PENDING, WAIT)
    return house.desk.get(ask.id)


def test_one_tap_answers_a_short_question_when_it_was_not_undone(house: House, sign_in: SignIn) -> None:
    asked = "Which colour shall the buttons have, on every page and in every mail, but for those that delete?"
    ask = house.ask(select(asked, "Red", "Green"))
    page = inbox(sign_in, **PHONE)
    row = row_of(page, asked)
    assert row.locator(".row-title").evaluate(WHOLE), "what one tap answers is read whole"
    row.get_by_role("button", name="Red").tap()
    expect(page.get_by_text("Red: sent in 5 seconds")).to_be_visible()
    page.clock.fast_forward(STILL)
    page.get_by_role("button", name="Undo").tap()
    expect(page.get_by_text("Red: Undone. Nothing was sent.")).to_be_visible()
    page.clock.fast_forward(UNDO)
    expect(row.get_by_role("button", name="Green")).to_be_enabled()
    assert house.desk.get(ask.id).state is State.PENDING
    row.get_by_role("button", name="Green").tap()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.clock.fast_forward(UNDO)
    assert answers_of(settled(house, ask))[0].chosen == ("option 1",)
    expect(row).to_have_count(0)


def test_a_hasty_undo_counts_at_once(house: House, sign_in: SignIn) -> None:
    asks = [house.ask(confirm(f"Drop table {number}?")) for number in range(3)]
    page = inbox(sign_in, **PHONE)
    stop_the_clock(page)
    row_of(page, "Drop table 0?").get_by_role("button", name="Yes").tap()
    page.get_by_role("button", name="Undo").tap()
    expect(page.get_by_text("Yes: Undone. Nothing was sent.")).to_be_visible()
    page.get_by_role("button", name="Select").tap()
    for number in (1, 2):
        row_of(page, f"Drop table {number}?").locator("> a").tap()
    page.clock.run_for(STILL)
    # At its other end than the one where Undo comes.
    page.get_by_role("button", name="Reject all 2").tap(position={"x": 5, "y": 20})
    page.get_by_role("button", name="Undo").tap()
    expect(page.get_by_text("Reject all 2: Undone. Nothing was sent.")).to_be_visible()
    page.clock.run_for(2 * UNDO)
    assert {house.desk.get(ask.id).state for ask in asks} == {State.PENDING}


def test_a_second_tap_neither_undoes_an_answer_nor_gives_another(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Which of three?", "Red", "Green", "Blue"))
    page = inbox(sign_in, **PHONE)
    row, undo = row_of(page, "Which of three?"), page.get_by_role("button", name="Undo")
    row.locator("fieldset").evaluate("one => (one.style.justifyContent = 'end')")
    blue = row.get_by_role("button", name="Blue")
    x, y = middle(blue)
    # Undo comes right where it is answered, as it does on a page that is scrolled there.
    page.locator("[data-held]").evaluate("(held, top) => (held.style.inset = `${top}px 0.3rem auto`)", y - 45)
    stop_the_clock(page)
    page.touchscreen.tap(x, y)
    expect(undo).to_be_visible()
    assert undo.evaluate("undo => undo.getClientRects().length === 1 && undo.scrollWidth <= undo.clientWidth")
    assert undo.evaluate("(undo, [x, y]) => document.elementFromPoint(x, y) === undo", [x, y])
    # The very same tap, once more.
    page.touchscreen.tap(x, y)
    expect(page.get_by_text("Blue: sent in 5 seconds")).to_be_visible()
    page.clock.run_for(STILL)
    page.touchscreen.tap(x, y)
    expect(page.get_by_text("Blue: Undone. Nothing was sent.")).to_be_visible()
    # And the same once more: what has come back takes no press yet, not by a key either.
    page.touchscreen.tap(x, y)
    blue.dispatch_event("click", {"detail": 1})
    row.locator("> a").focus()
    page.keyboard.press("2")
    expect(undo).to_have_count(0)
    page.clock.run_for(2 * UNDO)
    assert house.desk.get(ask.id).state is State.PENDING


def test_yes_and_no_have_the_same_places_whatever_side_a_question_is_read_from(house: House, sign_in: SignIn) -> None:
    asked = ["Delete it now?", "هل تريد حذف قاعدة البيانات الآن؟", "האם למחוק את הטבלאות?"]
    asks = [house.ask(confirm(words)) for words in asked]
    page = inbox(sign_in, **PHONE)
    places = {_places(row_of(page, words)) for words in asked}
    assert len(places) == 1, places
    for ask in asks:
        page.goto(f"/asks/{ask.id}")
        places.add(_places(page.locator("form[data-answer]")))
    assert len(places) == 2, places
    assert all(yes < no for yes, no in places)


def _places(answers: Locator) -> tuple[float, float]:
    yes, no = (middle(answers.get_by_role("button", name=name, exact=True))[0] for name in ("Yes", "No"))
    return yes, no


def test_the_seconds_in_which_an_answer_can_be_undone_are_counted(house: House, sign_in: SignIn) -> None:
    house.ask(confirm("Counted?"))
    page = inbox(sign_in)
    stop_the_clock(page)
    row_of(page, "Counted?").get_by_role("button", name="Yes").click()
    seen = page.locator("[data-held-of] [aria-hidden]")
    expect(seen).to_have_text("sent in 5 seconds")
    page.clock.run_for(1_010)
    expect(seen).to_have_text("sent in 4 seconds")
    page.clock.run_for(3_000)
    expect(seen).to_have_text("sent in 1 second")
    # Who hears the page is not told of each.
    expect(page.locator("[data-held-of] .unseen")).to_have_text("sent in 5 seconds")


def test_what_can_be_undone_is_read_in_large_letters(house: House, sign_in: SignIn) -> None:
    house.ask(confirm("Delete the old tables now?"))
    page = inbox(sign_in, **PHONE)
    page.locator("html").evaluate("html => (html.style.fontSize = '200%')")
    expect(page.locator("[data-inbox] [data-guard][aria-disabled=true]")).to_have_count(0)
    row_of(page, "old tables").get_by_role("button", name="Yes").tap()
    held = page.locator("[data-held-of]")
    words, undo = held.locator("p").bounding_box(), held.get_by_role("button", name="Undo").bounding_box()
    assert words
    assert undo
    assert words["width"] > 250
    assert undo["y"] >= words["y"] + words["height"]


def test_an_answer_that_is_held_keeps_its_undo_when_its_row_goes(house: House, sign_in: SignIn) -> None:
    noisy = Asker(client="noisy", session="s-9", project="/tmp/loop", host="h", pid=1, started="1")
    ask = house.ask(confirm("Delete the old tables today?"), asker=noisy)
    page = inbox(sign_in)
    stop_the_clock(page)
    row_of(page, "today?").get_by_role("button", name="Yes").click()
    for number in range(12):
        house.ask(confirm(f"More {number}?"), asker=noisy)
    expect(row_of(page, "today?")).to_have_count(0)
    held = page.locator("[data-held-of]")
    expect(held).to_contain_text("Delete the old tables today?")
    expect(held).to_contain_text("Yes: sent in 5 seconds")
    page.keyboard.press("u")
    expect(held).to_contain_text("Yes: Undone. Nothing was sent.")
    page.clock.run_for(2 * UNDO)
    expect(held).to_have_count(0)
    assert house.desk.get(ask.id).state is State.PENDING


def test_an_answer_that_somebody_gives_first_ends_the_undo_of_another_at_once(house: House, sign_in: SignIn) -> None:
    asks = [house.ask(confirm(f"Drop table {name}?")) for name in ("one", "two", "three", "four")]
    page, sent = inbox(sign_in, **PHONE), list[str]()
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    stop_the_clock(page)
    grace, held = Settler(person="grace", surface="terminal"), page.locator("[data-held-of]")
    row_of(page, "table one?").get_by_role("button", name="Yes").tap()
    expect(held).to_contain_text("Yes: sent in 5 seconds")
    house.desk.reject(asks[0].id, "", grace)
    expect(held).to_contain_text("Yes: Not sent. It was rejected by grace in the terminal already.")
    expect(held.get_by_role("button")).to_have_count(0)
    page.clock.run_for(2 * UNDO)
    expect(held).to_have_count(0)
    row_of(page, "table two?").get_by_role("button", name="No").tap()
    house.desk.withdraw(asks[1].id, Settler(person="", surface=CLIENT_FORM), "answered there")
    expect(held).to_contain_text("No: Not sent. It was withdrawn through claude-code's own form already.")
    page.clock.run_for(2 * UNDO)
    # Of several, one that is left can still be rejected.
    page.get_by_role("button", name="Select").tap()
    for name in ("three", "four"):
        row_of(page, f"table {name}?").locator("> a").tap()
    page.clock.run_for(STILL)
    page.get_by_role("button", name="Reject all 2").tap(position={"x": 5, "y": 20})
    house.desk.reject(asks[2].id, "", grace)
    expect(row_of(page, "table three?")).to_have_count(0)
    expect(held).to_contain_text("Reject all 2: sent in 5 seconds")
    house.desk.reject(asks[3].id, "", grace)
    expect(held).to_contain_text("Reject all 2: Not sent. None of these is open any more.")
    page.clock.run_for(2 * UNDO)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not [url for url in sent if "/asks/" in url]


def test_a_press_in_a_row_that_did_not_arrive_is_not_said_to_have_been_written(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Pressed in a tunnel?", "Yes", "No"))
    page = inbox(sign_in, **PHONE)
    row = row_of(page, "Pressed in a tunnel?")
    page.route(re.compile("/asks/[0-9a-f]+$"), lambda route: route.abort())
    row.get_by_role("button", name="Yes").tap()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.clock.fast_forward(UNDO)
    expect(row.get_by_role("alert")).to_have_text("Not sent. It did not arrive. Press again to send it.")
    page.unroute_all()
    stop_the_clock(page)
    row.get_by_role("button", name="Yes").tap()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.clock.run_for(UNDO)
    assert answers_of(settled(house, ask))[0].chosen == ("option 0",)


def test_who_leaves_the_page_has_not_undone_the_answer(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Shall I go on?"))
    page = inbox(sign_in)
    row_of(page, "Shall I go on?").get_by_role("button", name="Yes").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.goto("/settings")
    assert answers_of(settled(house, ask))[0].chosen == ("yes",)


def test_without_a_script_a_press_in_a_row_answers(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Without a script?"))
    page = sign_in(java_script_enabled=False)
    row_of(page, "Without a script?").get_by_role("button", name="No").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    assert answers_of(house.desk.get(ask.id))[0].chosen == ("no",)


def test_what_was_begun_on_its_page_is_not_lost_by_a_tap_in_the_list(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Half answered?"))
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_text("Add a note").click()
    page.get_by_role("textbox", name="A note").fill("only on Friday")
    expect(page.locator("[data-draft-note]")).to_have_text("Kept as a draft")
    listed = inbox(sign_in)
    row = row_of(listed, "Half answered?")
    row.get_by_role("button", name="Yes").click()
    expect(listed.get_by_role("button", name="Undo")).to_be_visible()
    listed.clock.fast_forward(UNDO)
    expect(row.get_by_role("alert")).to_contain_text("You began to answer this on its page.")
    assert house.desk.get(ask.id).state is State.PENDING


def test_keys_answer_the_row_that_has_the_focus_and_never_allow(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("By a key?"))
    wanted = permission(house, "make keys")
    page = inbox(sign_in)
    # Nothing has the focus; then other keys are held; then the row is one that no key answers.
    for key in ("y", "j", "Control+y", "Alt+1", "j", "y", "1"):
        page.keyboard.press(key)
    page.keyboard.press("k")
    expect(row_of(page, "By a key?").locator("> a")).to_be_focused()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.keyboard.press("y")
    expect(page.get_by_text("Yes: sent in 5 seconds")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("Yes: Undone. Nothing was sent.")).to_be_visible()
    page.clock.fast_forward(UNDO)
    expect(page.locator("[data-inbox] [data-guard][aria-disabled=true]")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.get_by_text("No: sent in 5 seconds")).to_be_visible()
    page.keyboard.press("Enter")
    page.clock.fast_forward(UNDO)
    assert answers_of(settled(house, ask))[0].chosen == ("no",)
    assert house.desk.get(wanted.id).state is State.PENDING


def test_a_key_meant_for_a_row_that_is_gone_answers_no_other(house: House, sign_in: SignIn) -> None:
    first, last = house.ask(confirm("Delete it all?")), house.ask(confirm("Is tea nice?"))
    page = inbox(sign_in)
    stop_the_clock(page)
    row_of(page, "Is tea nice?").locator("a").first.focus()
    house.desk.cancel(last.id, Settler(person="grace", surface="terminal"))
    expect(row_of(page, "Delete it all?").locator("a").first).to_be_focused()
    page.keyboard.press("y")
    page.clock.run_for(UNDO)
    expect(page.locator("[data-held]")).to_be_empty()
    assert house.desk.get(first.id).state is State.PENDING
    page.keyboard.press("y")
    expect(page.locator("[data-held]")).to_contain_text("Yes")


def test_keys_choose_on_the_page_of_a_question_and_are_letters_in_a_field(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Which one by number?"))
    page = sign_in(f"/asks/{ask.id}")
    expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="Green")).to_be_checked()
    page.get_by_role("textbox", name="Other").press_sequentially("1?jx")
    expect(page.get_by_role("textbox", name="Other")).to_have_value("1?jx")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("radio", name="Green").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert house.desk.get(ask.id).state is State.PENDING


def test_keys_lead_to_yes_and_no_on_the_page_of_a_question_and_enter_sends(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Sent by no letter?"))
    page = sign_in(f"/asks/{ask.id}")
    expect(page.locator("form[data-answer] .button:visible")).to_have_text(["Yes", "No"])
    expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
    for key, label in (("1", "Yes"), ("2", "No"), ("y", "Yes"), ("n", "No")):
        page.keyboard.press(key)
        expect(page.get_by_role("button", name=label, exact=True)).to_be_focused()
    assert house.desk.get(ask.id).state is State.PENDING
    expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    assert answers_of(settled(house, ask))[0].chosen == ("no",)


def test_words_typed_into_nothing_answer_nothing_and_a_note_takes_them(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Answered by words?"))
    page = sign_in("/healthz")
    page.clock.install()
    page.goto(f"/asks/{ask.id}")
    expect(page.locator("[data-count]")).to_be_visible()
    stop_the_clock(page)
    page.keyboard.type("n")
    page.keyboard.press("Enter")
    for words in ("try again", "y es", "on monday"):
        page.keyboard.type(words)
        page.clock.run_for(STILL)
        page.keyboard.press("Enter")
    page.clock.run_for(STILL)
    page.get_by_text("Add a note").click()
    expect(page.get_by_role("textbox", name="A note")).to_be_focused()
    page.keyboard.type("maybe later")
    expect(page.get_by_role("textbox", name="A note")).to_have_value("maybe later")
    assert house.desk.get(ask.id).state is State.PENDING


def test_marked_rows_are_rejected_together_and_no_others(house: House, sign_in: SignIn) -> None:
    asks = [house.ask(confirm(f"Number {number}?")) for number in range(3)]
    page = inbox(sign_in)
    for key in ("j", "x", "j", "j", "x"):
        page.keyboard.press(key)
    expect(page.get_by_text("2 marked")).to_be_visible()
    # What the rows offer is not for a thumb that marks.
    expect(page.locator("[data-inbox] form[inert]")).to_have_count(3)
    page.keyboard.press("y")
    _reject_marked(page)
    expect(page.get_by_text("marked")).to_have_count(0)
    expect(page.locator("[data-inbox] form[inert]")).to_have_count(2)
    expect(row_of(page, "Number 1?").locator("form[inert]")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_text("Reject all 2: Undone. Nothing was sent.")).to_be_visible()
    expect(page.get_by_text("2 marked")).to_be_visible()
    page.clock.fast_forward(UNDO)
    assert {house.desk.get(ask.id).state for ask in asks} == {State.PENDING}
    _reject_marked(page)
    page.clock.fast_forward(UNDO)
    expect(page.get_by_text("Reject all 2: sent, 2 rejected")).to_be_visible()
    expect(page.locator("[data-inbox] > .row")).to_have_count(1)
    assert [house.desk.get(ask.id).state for ask in asks] == [State.REJECTED, State.PENDING, State.REJECTED]


def test_permissions_that_are_marked_beside_questions_are_denied_with_them(house: House, sign_in: SignIn) -> None:
    question, wanted = house.ask(confirm("Go on?")), permission(house, "rm -rf /srv/1")
    page = inbox(sign_in)
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    _reject_marked(page)
    page.clock.fast_forward(UNDO)
    expect(page.get_by_text("Reject all 2: sent, 2 rejected")).to_be_visible()
    expect(page.locator("[data-inbox] > .row")).to_have_count(0)
    assert house.desk.get(question.id).state is State.REJECTED
    verdict = verdict_of(house.desk.get(wanted.id))
    assert verdict
    assert verdict.decision is Decision.DENIED


def test_who_leaves_the_page_has_rejected_what_was_marked_and_hears_what_could_not_be(
    house: House, sign_in: SignIn
) -> None:
    begun, ask = house.ask(confirm("Begun?")), house.ask(confirm("Left?"))
    page = inbox(sign_in)
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    _reject_marked(page)
    house.desk.keep_draft(begun.id, USER, to_json(begun, Draft(reason="Not like this")))
    page.goto("/settings")
    assert settled(house, ask).state is State.REJECTED
    page.clock.fast_forward(UNDO)
    expect(page.get_by_role("alert")).to_have_text(re.compile(r"^“Begun\?” was not rejected when you left the page\."))
    assert house.desk.get(begun.id).state is State.PENDING
    house.desk.reject(begun.id, "", Settler(person=USER, surface="terminal"))
    page.reload()
    page.clock.fast_forward(UNDO)
    expect(page.get_by_role("alert")).to_have_count(0)
    late = [house.ask(confirm(f"Late {number}?")) for number in range(2)]
    page = inbox(sign_in)
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    _reject_marked(page)
    house.desk.reject(late[0].id, "Before you", Settler(person="grace", surface="terminal"))
    expect(row_of(page, "Late 0?")).to_have_count(0)
    page.clock.fast_forward(UNDO)
    expect(page.get_by_role("alert")).to_contain_text("“Late 0?” was not rejected. ")
    expect(page.get_by_role("alert")).to_contain_text("It was rejected by grace in the terminal already.")
    assert settled(house, late[1]).state is State.REJECTED


def _reject_marked(page: Page) -> None:
    expect(page.locator("[data-marked]")).not_to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Reject all 2").click()
    expect(page.get_by_text("Reject all 2: sent in 5 seconds")).to_be_visible()


def test_a_no_in_a_row_that_came_after_a_yes_is_said_to_be_none_in_view(house: House, sign_in: SignIn) -> None:
    """The row is gone by then, and whoever sees nothing of it takes it for denied."""
    for number in range(8):
        house.ask(confirm(f"Question {number}?"))
    ask, held = permission(house, "make deploy"), list[Route]()
    page = sign_in(**PHONE)
    row = page.locator(f'.row[data-ask="{ask.id}"]')
    page.route(re.compile("/asks/[0-9a-f]+$"), lambda route: held.append(route))
    row.get_by_role("button", name="Deny").click()
    expect(row.get_by_role("button", name="Sending…")).to_be_visible()
    other = sign_in(f"/asks/{ask.id}")
    other.get_by_role("button", name="Allow", exact=True).click()
    expect(other.locator("body")).to_contain_text("Allowed by you")
    expect(row).to_have_count(0)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    held[0].continue_()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("“Deny” was not sent to “Allow Bash: make deploy?” It was allowed by you")
    expect(told).to_be_in_viewport()
    told.get_by_role("button", name="OK").click()
    expect(told).to_have_count(0)
