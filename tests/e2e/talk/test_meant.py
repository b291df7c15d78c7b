"""In a conversation, too, nobody says yes by accident."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_meant import arrive, stand_still, tap_hastily
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit, say

from sayso.agents.model import EventKind


@pytest.mark.finding("F-01")
def test_control_and_enter_in_the_field_for_a_no_says_no(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), permit("Bash", command="rm -rf important"))
    wanted = card(page, "rm -rf important")
    words = wanted.get_by_label("Or say no.")
    expect(wanted.locator("form")).not_to_have_attribute("aria-disabled", "true")
    # With nothing written, no key says anything.
    words.press("Control+Enter")
    words.press_sequentially("No! Never delete that.")
    words.press("Enter")
    for name in ("Allow", "Allow this exact thing for the rest of the run"):
        expect(wanted.get_by_role("button", name=name, exact=True)).to_have_attribute("disabled", "")
    words.press("Control+Enter")
    (text,) = stage.texts(stage.ended(conversation))
    assert text.startswith("Denied Bash: The user did not allow this. They said: No! Never delete that.")


@pytest.mark.finding("F-54")
def test_the_enter_key_in_other_words_begins_a_new_line(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), ask("Which one?", options=OPTIONS))
    one = card(page, "Which one?")
    other = one.get_by_role("textbox", name="Other")
    other.press_sequentially("Half a wor")
    other.press("Enter")
    other.press_sequentially("d")
    expect(other).to_have_value("Half a wor\nd")
    one.get_by_role("radio", name="Other").press("Enter")
    assert stage.open_ask(conversation)
    one.get_by_role("button", name="Send answer").click()
    assert stage.texts(stage.ended(conversation)) == ["Heard: User answered: Half a wor\nd"]


@pytest.mark.finding("F-03")
def test_a_second_tap_never_allows_the_permission_that_comes_under_the_finger(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in(**PHONE)
    page.clock.install()
    wanted = [permit("Bash", command=f"make step-{number}") for number in range(4)]
    conversation = begin(page, stage.project(), *wanted)
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_enabled()
    run = stand_still(page)
    allow.tap()
    tap_hastily(page, card(page, "step-1").locator("button[value=allow-once]"))
    expect(card(page, "step-1")).to_have_attribute("data-state", "open")
    allowed = stage.events(stage.latest(conversation), EventKind.TOOL_RESULT)
    assert len(allowed) == 1
    # What could be read, and then moved, is there as if it were new.
    page.clock.run_for(1000)
    page.evaluate("dispatchEvent(new Event('sayso:moved'))")
    tap_hastily(page, card(page, "step-1").locator("button[value=allow-once]"))
    run()
    for number, name in enumerate(("Deny", "Allow", "Allow"), 1):
        button = card(page, f"step-{number}").get_by_role("button", name=name, exact=True)
        # It counts how long the button itself could be seen, and whether the hand has left the last one.
        button.scroll_into_view_if_needed()
        page.mouse.move(1, 1)
        button.tap()
    said = [text.partition(":")[0] for text in stage.texts(stage.ended(conversation))]
    assert said == ["Allowed Bash", "Denied Bash", "Allowed Bash", "Allowed Bash"]


UNCOVERED = """alert => {
  const { left, width, top, height } = alert.getBoundingClientRect();
  return alert.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def test_while_a_yes_is_on_its_way_the_card_is_locked_and_given_up_it_never_counts(
    stage: Stage, sign_in: SignIn
) -> None:
    page = sign_in()
    page.clock.install()
    conversation = begin(page, stage.project(), permit("Bash", command="rm -rf important"))
    wanted, held = card(page, "rm -rf important"), list[Route]()
    page.route(re.compile("/asks/[0-9a-f]+$"), lambda route: held.append(route))
    wanted.get_by_role("button", name="Allow", exact=True).click()
    expect(wanted.get_by_role("button", name="Sending…")).to_be_disabled()
    deny = wanted.get_by_role("button", name="Deny", exact=True)
    expect(deny).to_be_disabled()
    page.route("**/attempts", lambda route: route.abort())
    page.set_viewport_size({"width": 390, "height": 500})
    page.evaluate("scrollTo(0, 0)")
    page.clock.fast_forward(20_000)
    alert = wanted.get_by_role("alert")
    expect(alert).to_contain_text("It is not known whether this arrived.")
    assert alert.evaluate(UNCOVERED)
    expect(deny).to_be_disabled()
    page.unroute("**/attempts")
    expect(alert).to_contain_text("Not sent. It did not arrive.")
    expect(page.locator("[data-talk-status]")).to_have_text("")
    # Only now may it come, as far as the browser has not given it up.
    page.unroute_all()
    assert stage.open_ask(conversation)
    deny.click()
    (text,) = stage.texts(stage.ended(conversation))
    assert text.startswith("Denied Bash")


def test_a_conversation_is_started_once_and_the_form_says_that_it_is_on_its_way(stage: Stage, sign_in: SignIn) -> None:
    project, held = stage.project("once"), list[Route]()
    page = sign_in()
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("say Started once")
    page.route("**/talk", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    with page.expect_request("**/talk"):
        page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Sending…")).to_be_disabled()
    expect(page.get_by_label("What should it do?")).to_be_disabled()
    (sent,) = held
    assert arrive(stage.house, page, sent.request).status == 201
    # Only the reply was lost: the page finds what was begun, and what was written does not come back.
    sent.abort()
    page.wait_for_url("**/talk/*")
    expect(page.locator("#turn-1 .spoken")).to_have_text("Started once")
    page.goto("/talk")
    expect(page.get_by_label("What should it do?")).to_have_value("")
    expect(page.get_by_role("link", name="say Started once")).to_have_count(1)


@pytest.mark.parametrize("arrives", [True, False])
def test_a_page_that_is_loaded_again_before_it_knew_finds_what_it_had_begun(
    stage: Stage, sign_in: SignIn, arrives: bool
) -> None:
    project, held = stage.project(f"reloaded {arrives}"), list[Route]()
    page = sign_in()
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill(f"say Begun {arrives}")
    page.route("**/talk", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    with page.expect_request("**/talk") as sent:
        page.get_by_role("button", name="Start").click()
    if arrives:
        assert arrive(stage.house, page, sent.value).status == 201
    page.reload()
    if arrives:
        page.wait_for_url("**/talk/*")
        expect(page.locator("#turn-1 .spoken")).to_have_text("Begun True")
    else:
        expect(page.get_by_role("alert")).to_contain_text("Not sent. It did not arrive.")
        page.unroute_all()
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/talk/*")
    page.goto("/talk")
    expect(page.get_by_label("What should it do?")).to_have_value("")
    expect(page.get_by_role("link", name=f"say Begun {arrives}")).to_have_count(1)


def test_an_answer_that_was_on_its_way_when_the_page_was_loaded_again_is_not_said_to_be_unsent(
    stage: Stage, sign_in: SignIn
) -> None:
    page, held = sign_in(), list[Route]()
    begin(page, stage.project(), ask("Which harbour?"))
    card(page, "Which harbour?").get_by_role("textbox").fill("The southern one")
    page.route("**/claude/submit-answer*", lambda route: held.append(route))
    with page.expect_request("**/claude/submit-answer*") as sent:
        card(page, "Which harbour?").get_by_role("button", name="Send answer").click()
    assert arrive(stage.house, page, sent.value).status == 200
    page.reload()
    expect(page.get_by_text("Heard: User answered: The southern one")).to_be_visible()
    expect(card(page, "Which harbour?")).to_have_attribute("data-state", "answered")
    expect(page.locator("[data-unsent]")).to_have_count(0)


def test_why_a_conversation_was_not_started_is_told_in_place(stage: Stage, sign_in: SignIn) -> None:
    project = stage.project("gone")
    page = sign_in()
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("say Nothing")
    stage.projects.remove(project)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("project")
    expect(page.get_by_label("What should it do?")).to_have_value("say Nothing")
    expect(page.get_by_role("button", name="Start")).to_be_enabled()


def test_a_turn_whose_reply_was_lost_is_not_sent_twice(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), "say Hello")
    stage.ended(conversation)

    def lose_the_reply(route: Route) -> None:
        arrive(stage.house, page, route.request)
        route.abort()

    page.route(f"**/talk/{conversation}", lose_the_reply)
    say(page, "say Once")
    expect(page.locator("#turn-2 .spoken")).to_have_text("Once")
    expect(page.get_by_label("Go on")).to_have_value("")
    assert stage.latest(conversation).turn == 2


COVERED = """() => [...document.querySelectorAll("[data-state=open] :is(button, textarea, label)")].filter((one) => {
  one.scrollIntoView({ block: "nearest" });
  const { left, width, top, height } = one.getBoundingClientRect();
  const found = one.checkVisibility() && document.elementFromPoint(left + width / 2, top + height / 2);
  return found && found.closest("[data-pinned]");
}).map((one) => one.textContent.trim() || one.name)"""
"""What is covered when it is scrolled to, as a browser does for whoever goes there by a key or a finger."""


@pytest.mark.parametrize("height", [844, 420], ids=["a whole screen", "above a keyboard"])
def test_the_field_for_messages_never_covers_what_is_asked_however_long_it_has_grown(
    stage: Stage, sign_in: SignIn, height: int
) -> None:
    page = sign_in(**{**PHONE, "viewport": {"width": 390, "height": height}})
    many = [{"label": f"Option {number}", "description": "A word about it. " * 4} for number in range(9)]
    begin(page, stage.project(), "say " + "Long. " * 400, ask("Which one?", options=many))
    expect(card(page, "Which one?")).to_be_visible()
    assert page.evaluate(COVERED) == []
    page.get_by_label("Go on").fill("A line.\n" * 12)
    assert page.evaluate(COVERED) == []
    page.get_by_role("button", name="Queue").tap()
    expect(page.locator("[data-queued]")).to_be_visible()
    page.get_by_label("Go on").fill("A line.\n" * 12)
    card(page, "Which one?").get_by_role("textbox", name="Other").focus()
    assert page.evaluate(COVERED) == []


def test_without_a_script_the_field_for_messages_never_covers_what_is_asked(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in(**{**PHONE, "java_script_enabled": False})
    conversation = begin(page, stage.project(), "say " + "Long. " * 400, permit("Bash", command="make"))
    stage.open_ask(conversation)
    page.get_by_role("link", name="Show what is new").click()
    page.get_by_label("Go on").fill("A line.\n" * 12)
    page.get_by_role("button", name="Allow", exact=True).scroll_into_view_if_needed()
    dock, allow = page.locator(".dock").bounding_box(), card(page, "make").bounding_box()
    assert dock
    assert allow
    assert dock["y"] >= allow["y"] + allow["height"]
    page.get_by_role("button", name="Allow", exact=True).click()
    assert stage.texts(stage.ended(conversation))[-1].startswith("Allowed Bash")


def test_a_no_that_came_after_a_yes_from_elsewhere_is_said_to_be_none(stage: Stage, sign_in: SignIn) -> None:
    page, held = sign_in(), list[Route]()
    conversation = begin(page, stage.project(), permit("Bash", command="make deploy"))
    wanted = card(page, "make deploy")
    page.route(re.compile("/asks/[0-9a-f]+$"), lambda route: held.append(route))
    wanted.get_by_role("button", name="Deny", exact=True).click()
    expect(wanted.get_by_role("button", name="Sending…")).to_be_visible()
    other = sign_in(f"/talk/{conversation}")
    card(other, "make deploy").get_by_role("button", name="Allow", exact=True).click()
    stage.ended(conversation)
    expect(wanted).to_contain_text("You allowed this")
    held[0].continue_()
    expect(wanted.get_by_role("alert")).to_have_text(
        "“Deny” was not sent. It was allowed by you in the browser already."
    )
